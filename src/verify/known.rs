//! What is known of every function without building or running anything: from the store, else from the lock.

use super::Judgement;
use super::trial::audit_reason;
use crate::contract::types::Judgeable;
use crate::error::Result;
use crate::judge::{self, Judge};
use crate::lock::{Entry, Hashes, LOCK_FILE, Lock};
use crate::ported::{PortModule, Ported};
use crate::project::{Planned, Project};
use crate::store::{Evidence, FindingRow, Side, Store};
use crate::symbol::SymbolName;
use crate::verdict::Grade;

/// What the store, the lock and the tree say of every function.
///
/// # Errors
/// Those of reading them.
pub fn status(project: &Project, store: &Store, judge: &Judge) -> Result<Vec<Judgement>> {
    known(project, store, judge, &project.planned.iter().collect::<Vec<_>>())
}

/// The same of these functions.
///
/// # Errors
/// Those of reading them.
pub fn known(project: &Project, store: &Store, judge: &Judge, wanted: &[&Planned]) -> Result<Vec<Judgement>> {
    let lock = Lock::load(project.workspace.root())?.unwrap_or_default();
    let entry = |planned: &Planned| lock.symbols.get(planned.function.name.as_str());
    wanted.iter().map(|planned| one(store, judge, planned, entry(planned))).collect()
}

/// The same of one function.
pub(super) fn of_one(store: &Store, judge: &Judge, planned: &Planned) -> Result<Judgement> {
    let lock = Lock::load(judge.project.workspace.root())?.unwrap_or_default();
    one(store, judge, planned, lock.symbols.get(planned.function.name.as_str()))
}

fn one(store: &Store, judge: &Judge, planned: &Planned, entry: Option<&Entry>) -> Result<Judgement> {
    let reason = match &planned.judgeable {
        Judgeable::NotYet(why) => Some(why.clone()),
        Judgeable::Yes(_) => None,
    };
    match judge.project.ported(&planned.function) {
        Ported::Yes => {}
        Ported::Stub | Ported::Missing => return Ok(Judgement::new(planned, Grade::Stub, reason)),
    }
    let stored = store.evidence(&planned.function.key)?;
    if stored.is_none() && entry.is_none() {
        let grade = if reason.is_some() { Grade::Unverifiable } else { Grade::Unjudged };
        return Ok(Judgement::new(planned, grade, reason));
    }
    let module = judge.project.module(&planned.function.module)?;
    let now = judge.committed_hashes(planned, &module)?;
    let committed = entry.map(|entry| {
        let mixed = entry.mixed().map(str::to_owned);
        (entry, mixed.or_else(|| changed(&entry.hashes, &now)))
    });
    let findings = store.findings(Some(&planned.function.key))?;
    let refuted = refuted_before(stored.as_ref(), &findings, &now.rust);
    let here = match stored {
        Some(evidence) => {
            let now = judge.hashes(planned, &module)?;
            Some(Here {
                stale: stale_reason(&evidence, &now),
                explained: is_explained(&evidence, &now),
                evidence,
            })
        }
        None => None,
    };
    match believed(here, committed, refuted) {
        Believed::Lock(entry, stale) => Ok(of_entry(planned, entry, stale)),
        Believed::Store(evidence, stale) => {
            of_evidence((store, judge), planned, (*evidence, &module), (stale, reason))
        }
        Believed::Nobody => Ok(Judgement::new(planned, Grade::Unjudged, reason)),
    }
}

/// What the store of this machine has of a port, beside what stands in the tree.
struct Here {
    evidence: Evidence,
    stale: Option<String>,
    explained: bool,
}

/// Whose word counts, and why it is stale, where it is.
#[derive(Debug)]
enum Believed<'e> {
    Store(Box<Evidence>, Option<String>),
    Lock(&'e Entry, Option<String>),
    Nobody,
}

/// Of the store and the lock, each beside the tree, who is believed. `refuted`: the text in the tree was refuted here once; what
/// the lock says for it then counts no more until it is judged again.
fn believed(
    here: Option<Here>,
    committed: Option<(&Entry, Option<String>)>,
    refuted: Option<String>,
) -> Believed<'_> {
    let against = |entry: &Entry| refuted.filter(|_| entry.grade != Grade::Refuted);
    match (here, committed) {
        (None, None) => Believed::Nobody,
        (None, Some((entry, None))) => Believed::Lock(entry, against(entry)),
        (None, Some((entry, stale))) => Believed::Lock(entry, stale),
        // The database is of another text, which may be newer: what is committed is about this one.
        (Some(Here { stale: Some(_), explained: true, .. }), Some((entry, None))) => {
            Believed::Lock(entry, against(entry))
        }
        (Some(Here { evidence, stale, .. }), committed) => {
            let of_lock = match committed {
                Some((_, stale)) => stale,
                // Called ports and committed inputs are compared by the lock alone; a refutation fears neither.
                None => (evidence.grade != Grade::Refuted).then(|| format!("{LOCK_FILE} has no entry of it")),
            };
            Believed::Store(Box::new(evidence), stale.or(of_lock))
        }
    }
}

/// Whether what is in the tree makes the store's evidence stale. A harness that changed while its contract did not is this tool's,
/// and what was committed is as old.
fn is_explained(evidence: &Evidence, now: &judge::Hashes) -> bool {
    evidence.contract_hash != now.contract || evidence.harness_hash == now.harness
}

/// What a run on this machine had against the text with this hash, under whatever contract and harness.
fn refuted_before(stored: Option<&Evidence>, findings: &[FindingRow], rust_hash: &str) -> Option<String> {
    let is_of_port =
        |row: &&FindingRow| row.side == Side::Port && row.candidate_sha256.as_deref() == Some(rust_hash);
    let found = findings.iter().rev().find(is_of_port);
    let found = found.map(|row| format!("{}: {}", row.finding.class, row.finding.what));
    let judged =
        stored.filter(|evidence| evidence.grade == Grade::Refuted && evidence.rust_hash == rust_hash);
    let judged = || judged.map(|evidence| evidence.shortcomings.join("; "));
    let why = found.or_else(judged)?;
    let why = if why.is_empty() { why } else { format!(" ({why})") };
    Some(format!("this text was refuted here{why}, which implfuzz.lock does not know"))
}

/// What the store says of a port; `reason` is why no harness can judge it.
fn of_evidence(
    (store, judge): (&Store, &Judge),
    planned: &Planned,
    (evidence, module): (Evidence, &PortModule),
    (stale, reason): (Option<String>, Option<String>),
) -> Result<Judgement> {
    let reason = match (&stale, evidence.grade) {
        (None, Grade::Refuted) => refuted_by(store, judge, planned, (&evidence, module.text()))?,
        (None, _) if !evidence.shortcomings.is_empty() => Some(evidence.shortcomings.join("; ")),
        _ => reason,
    };
    Ok(Judgement {
        grade: if stale.is_some() { Grade::Stale } else { evidence.grade },
        reason: stale.or(reason),
        proofs: evidence.proofs,
        executions: Some(evidence.executions),
        accept_rate: evidence.accept_rate,
        callees_in_c: judge.callees_in_c(planned)?,
        provenance: Some(evidence.provenance),
        ..Judgement::new(planned, evidence.grade, None)
    })
}

/// What the lock says of a port of whose text, or of which, the store knows nothing: it was judged on another machine, or before.
fn of_entry(planned: &Planned, entry: &Entry, stale: Option<String>) -> Judgement {
    let grade = if stale.is_some() { Grade::Stale } else { entry.grade };
    let shortcomings = Some(entry.shortcomings.join("; ")).filter(|text| !text.is_empty());
    Judgement {
        of_lock: true,
        executions: Some(entry.executions),
        accept_rate: entry.accept_rate,
        callees_in_c: entry.callees_in_c.iter().map(SymbolName::new).collect(),
        provenance: Some(entry.provenance.clone()),
        ..Judgement::new(planned, grade, stale.or(shortcomings))
    }
}

/// What refutes a port: the last finding about its text, else what the audit says of it.
fn refuted_by(
    store: &Store,
    judge: &Judge,
    planned: &Planned,
    (evidence, module_text): (&Evidence, &str),
) -> Result<Option<String>> {
    let findings = store.findings(Some(&planned.function.key))?;
    let of_this_text = |f: &&FindingRow| f.candidate_sha256.as_deref() == Some(&evidence.rust_hash);
    if let Some(row) = findings.iter().rev().find(of_this_text) {
        return Ok(Some(format!("{}: {}", row.finding.class, row.finding.what)));
    }
    let report = judge.audit(planned, module_text)?;
    let by_audit = (!report.problems.is_empty()).then(|| audit_reason(judge, planned, &report));
    Ok(by_audit.or_else(|| Some(evidence.shortcomings.join("; ")).filter(|text| !text.is_empty())))
}

fn stale_reason(evidence: &Evidence, now: &judge::Hashes) -> Option<String> {
    told(&[
        ("the C text", evidence.c_hash != now.c),
        ("the contract", evidence.contract_hash != now.contract),
        ("the harness", evidence.harness_hash != now.harness),
        ("the Rust text", evidence.rust_hash != now.rust),
    ])
}

/// What of the committed hashes is another than now.
fn changed(then: &Hashes, now: &Hashes) -> Option<String> {
    told(&[
        ("the C text", then.c != now.c),
        ("the contract", then.contract != now.contract),
        ("the harness", then.harness != now.harness),
        ("the Rust text", then.rust != now.rust),
        ("a port that it calls", then.rust_calls != now.rust_calls),
        ("the committed inputs", then.seeds != now.seeds),
    ])
}

fn told(parts: &[(&str, bool)]) -> Option<String> {
    let changed: Vec<&str> = parts.iter().filter(|(_, changed)| *changed).map(|(what, _)| *what).collect();
    (!changed.is_empty()).then(|| format!("{} changed since it was judged", changed.join(" and ")))
}

#[cfg(test)]
mod tests;
