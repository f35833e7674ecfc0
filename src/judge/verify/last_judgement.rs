//! The last verdict on each function, without building or running anything: its status as in `check`, as a
//! [`Judgement`].

use super::Judgement;
use crate::contract::types::Judgeable;
use crate::drivers::{self, KnownReach};
use crate::error::Result;
use crate::evidence::lock::Entry;
use crate::evidence::status::{SymbolStatus, status};
use crate::project::{FunctionPlan, Project};
use crate::store::{FindingRow, LastEnd, LastVerdict, Side, Store};
use crate::symbol::SymbolName;
use crate::verdict::Grade;

/// The status of these functions. The store adds this machine's history, which changes no grade.
pub fn known(project: &Project, store: &Store, wanted: &[&FunctionPlan]) -> Result<Vec<Judgement>> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let all = status(project.workspace.root(), &project.config, None)?;
    let (ends, reach) = (store.ends()?, drivers::known_reach(project)?);
    let known = |planned: &&FunctionPlan| {
        let mut judgement = one(store, planned, all.of(planned.function.name.as_str()))?;
        if judgement.grade == Grade::Stub && planned.judgeable.contract().is_none() {
            judgement.reason = judgement.reason.map(|why| with_drivers(why, reach.as_ref(), planned));
        }
        let end = ends.get(&planned.function.key).filter(|_| judgement.grade == Grade::Stub);
        Ok(Judgement { last_run: end.map(LastEnd::text), ..judgement })
    };
    wanted.iter().map(known).collect()
}

/// Why a function has no harness, with what is known of drivers.
pub(super) fn with_drivers(why: String, reach: Option<&KnownReach>, planned: &FunctionPlan) -> String {
    match reach.map(|reach| reach.of(&planned.function)) {
        Some(reach) => format!("{why}; {}", reach.remark()),
        None => why,
    }
}

pub(super) fn one(store: &Store, planned: &FunctionPlan, status: Option<&SymbolStatus>) -> Result<Judgement> {
    let not_yet = match &planned.judgeable {
        Judgeable::NotYet(why) => Some(why.clone()),
        Judgeable::Yes(_) => None,
    };
    let Some(status) = status else { return Ok(Judgement::new(planned, Grade::Stub, not_yet)) };
    // Where drivers have judged a port, it needs no harness.
    let reason = status.reason().or_else(|| not_yet.filter(|_| status.entry.is_none()));
    let judgement = Judgement::new(planned, status.grade(), reason);
    let trouble = status.problem.as_ref().map(|problem| problem.trouble);
    let Some(entry) = &status.entry else { return Ok(Judgement { trouble, ..judgement }) };
    let key = &planned.function.key;
    Ok(Judgement {
        trouble,
        unconfirmed: unconfirmed(entry, store.last_verdict(key)?.as_ref(), &store.findings(Some(key))?),
        proofs: entry.proofs(),
        executions: Some(entry.executions),
        in_place: entry.in_place,
        accept_rate: entry.accept_rate,
        callees_in_c: entry.callees_in_c.iter().map(SymbolName::new).collect(),
        provenance: Some(entry.provenance.clone()),
        ..judgement
    })
}

/// Why a port is judged again before another port builds on it although its record holds: this machine did not
/// produce the verdict.
fn unconfirmed(entry: &Entry, last: Option<&LastVerdict>, findings: &[FindingRow]) -> Option<String> {
    let about = &entry.fingerprint;
    let is_text = |hash: &str| hash == about.rust;
    if last.is_some_and(|last| !last.seal.is_empty() && last.seal == entry.seal) {
        return None;
    }
    let is_of_port =
        |row: &&FindingRow| row.side == Side::Port && row.candidate_sha256.as_deref().is_some_and(is_text);
    let found = findings.iter().rev().find(is_of_port);
    let found = found.map(|row| format!("{}: {}", row.finding.class, row.finding.what));
    let refuted = last.filter(|last| last.grade == Grade::Refuted && is_text(&last.rust_hash));
    Some(match found.or_else(|| refuted.map(|last| last.shortcomings.join("; "))) {
        Some(why) if why.is_empty() => "a run on this machine refuted this text".to_owned(),
        Some(why) => format!("a run on this machine refuted this text ({why})"),
        None => "no run on this machine has judged it".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::fingerprint::Fingerprint;
    use crate::store::FindingId;
    use crate::symbol::SymbolKey;
    use crate::verdict::{Finding, FindingClass};

    fn entry() -> Entry {
        let [c, contract, harness, rust] = ["c", "k", "h", "r"].map(str::to_owned);
        let fingerprint = Fingerprint { c, contract, harness, rust, ..Fingerprint::default() };
        Entry { grade: Grade::Verified, fingerprint, seal: "s".into(), ..Entry::default() }
    }

    /// The last verdict of this machine, on the same texts except for what `change` alters.
    fn last(grade: Grade, change: impl FnOnce(&mut LastVerdict)) -> LastVerdict {
        let about = entry().fingerprint;
        let mut last = LastVerdict {
            symbol: SymbolKey("f".into()),
            c_hash: about.c,
            contract_hash: about.contract,
            harness_hash: about.harness,
            rust_hash: about.rust,
            seal: "s".into(),
            grade,
            shortcomings: Vec::new(),
        };
        change(&mut last);
        last
    }

    fn finding(side: Side, candidate: &str) -> FindingRow {
        FindingRow {
            id: FindingId(1),
            symbol: SymbolKey("f".into()),
            side,
            finding: Finding {
                class: FindingClass::Mismatch,
                what: "it".into(),
                input: Vec::new(),
                args: Vec::new(),
                oracle: Vec::new(),
                subject: Vec::new(),
                place: None,
            },
            run: None,
            candidate_sha256: Some(candidate.into()),
            fault: None,
            report: String::new(),
            explanation: None,
            reachability: None,
            created: jiff::Timestamp::UNIX_EPOCH,
        }
    }

    const NEW: Option<&str> = Some("no run on this machine has judged it");

    #[test]
    fn a_record_is_confirmed_by_the_verdict_that_led_to_it() {
        let seen = |last: Option<LastVerdict>| unconfirmed(&entry(), last.as_ref(), &[]);
        assert_eq!(seen(None).as_deref(), NEW);
        assert_eq!(seen(Some(last(Grade::Verified, |_| ()))), None);
        // Another machine may have judged the same text over other ports, inputs and drivers; and older versions of the tool
        // noted no seal.
        for seal in ["other", ""] {
            assert_eq!(seen(Some(last(Grade::Verified, |e| e.seal = seal.into()))).as_deref(), NEW);
        }
        let unsealed = Entry { seal: String::new(), ..entry() };
        let last = last(Grade::Verified, |e| e.seal.clear());
        assert_eq!(unconfirmed(&unsealed, Some(&last), &[]).as_deref(), NEW);
    }

    #[test]
    fn a_text_that_was_refuted_here_is_judged_again() {
        let of_this = [finding(Side::Port, "r")];
        let refuted = Some("a run on this machine refuted this text (mismatch: it)".to_owned());
        assert_eq!(unconfirmed(&entry(), None, &of_this), refuted);
        let other = last(Grade::Verified, |e| (e.rust_hash, e.seal) = ("other".into(), "other".into()));
        assert_eq!(unconfirmed(&entry(), Some(&other), &of_this), refuted);
        // A refutation by the audit or the linkage proof has no finding.
        let by_audit = last(Grade::Refuted, |e| e.seal = "other".into());
        let why = unconfirmed(&entry(), Some(&by_audit), &[]).unwrap();
        assert!(why.contains("refuted"), "{why}");
        // Findings on another text or on C do not count; a later verdict on this text has priority.
        let others = [finding(Side::Port, "other"), finding(Side::C, "r")];
        assert_eq!(unconfirmed(&entry(), None, &others).as_deref(), NEW);
        assert_eq!(unconfirmed(&entry(), Some(&last(Grade::Verified, |_| ())), &of_this), None);
    }
}
