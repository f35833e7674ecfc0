use super::*;
use crate::store::FindingId;
use crate::symbol::SymbolKey;
use crate::verdict::{Finding, FindingClass, RunStats};

fn now() -> judge::Hashes {
    judge::Hashes { c: "c".into(), contract: "k".into(), harness: "h".into(), rust: "r".into() }
}

fn entry(grade: Grade) -> Entry {
    Entry { grade, ..Entry::default() }
}

/// Evidence about the tree, but for what `change` does to it.
fn evidence(grade: Grade, change: impl FnOnce(&mut Evidence)) -> Evidence {
    let now = now();
    let mut evidence = Evidence {
        c_hash: now.c,
        contract_hash: now.contract,
        harness_hash: now.harness,
        rust_hash: now.rust,
        ..Evidence::of_run(SymbolKey("f".into()), grade, &RunStats::default())
    };
    change(&mut evidence);
    evidence
}

fn here(evidence: &Evidence) -> Here {
    let stale = stale_reason(evidence, &now());
    Here { stale, explained: is_explained(evidence, &now()), evidence: evidence.clone() }
}

fn finding(side: Side, candidate: &str) -> FindingRow {
    let input = Vec::new();
    let class = FindingClass::Mismatch;
    FindingRow {
        id: FindingId(1),
        symbol: SymbolKey("f".into()),
        side,
        finding: Finding {
            class,
            what: "it".into(),
            input,
            args: Vec::new(),
            oracle: Vec::new(),
            subject: Vec::new(),
        },
        run: None,
        candidate_sha256: Some(candidate.into()),
        fault: None,
        report: String::new(),
        explanation: None,
        created: jiff::Timestamp::UNIX_EPOCH,
    }
}

/// The grade that is told where the store has this, the lock an entry of this grade that fits the tree, and these were found.
fn told(stored: Option<&Evidence>, lock: Grade, findings: &[FindingRow]) -> (&'static str, Grade) {
    let entry = entry(lock);
    let refuted = refuted_before(stored, findings, &now().rust);
    match believed(stored.map(here), Some((&entry, None)), refuted) {
        Believed::Lock(entry, None) => ("lock", entry.grade),
        Believed::Lock(_, Some(_)) => ("lock", Grade::Stale),
        Believed::Store(evidence, None) => ("store", evidence.grade),
        Believed::Store(_, Some(_)) => ("store", Grade::Stale),
        Believed::Nobody => ("nobody", Grade::Unjudged),
    }
}

#[test]
fn the_lock_is_believed_where_the_store_is_of_another_rust_text_contract_or_c_text() {
    let changes: [fn(&mut Evidence); 4] = [
        |e| e.rust_hash = "other".into(),
        |e| e.c_hash = "other".into(),
        // The harness follows the contract.
        |e| (e.contract_hash, e.harness_hash) = ("other".into(), "other".into()),
        |e| (e.rust_hash, e.contract_hash, e.harness_hash) = ("other".into(), "other".into(), "other".into()),
    ];
    for change in changes {
        let stored = evidence(Grade::Weak, change);
        assert_eq!(told(Some(&stored), Grade::Verified, &[]), ("lock", Grade::Verified));
        assert_eq!(told(Some(&stored), Grade::Refuted, &[]), ("lock", Grade::Refuted));
    }
    assert_eq!(told(None, Grade::Verified, &[]), ("lock", Grade::Verified));
}

#[test]
fn a_harness_of_another_tool_makes_both_stale() {
    let stored = evidence(Grade::Verified, |e| e.harness_hash = "other".into());
    assert_eq!(told(Some(&stored), Grade::Verified, &[]), ("store", Grade::Stale));
    let stored =
        evidence(Grade::Verified, |e| (e.harness_hash, e.rust_hash) = ("other".into(), "other".into()));
    assert_eq!(told(Some(&stored), Grade::Verified, &[]), ("store", Grade::Stale));
}

#[test]
fn a_text_that_was_refuted_here_is_never_verified_by_the_lock() {
    let of_this = [finding(Side::Port, "r")];
    let elsewhere = evidence(Grade::Weak, |e| e.rust_hash = "other".into());
    assert_eq!(told(Some(&elsewhere), Grade::Verified, &of_this), ("lock", Grade::Stale));
    assert_eq!(told(None, Grade::Verified, &of_this), ("lock", Grade::Stale));
    assert_eq!(told(None, Grade::Refuted, &of_this), ("lock", Grade::Refuted));
    // By the audit or by linkage there is no finding.
    let refuted = |change: fn(&mut Evidence)| evidence(Grade::Refuted, change);
    let under_another = refuted(|e| (e.contract_hash, e.harness_hash) = ("other".into(), "other".into()));
    assert_eq!(told(Some(&under_another), Grade::Verified, &[]), ("lock", Grade::Stale));
    assert_eq!(told(Some(&refuted(|_| ())), Grade::Verified, &[]), ("store", Grade::Refuted));

    let of_others = [finding(Side::Port, "other"), finding(Side::C, "r")];
    assert_eq!(told(Some(&elsewhere), Grade::Verified, &of_others), ("lock", Grade::Verified));
    let other_text = refuted(|e| e.rust_hash = "other".into());
    assert_eq!(told(Some(&other_text), Grade::Verified, &of_others), ("lock", Grade::Verified));
    // What was judged after it, and is about the tree, is newer.
    let fresh = evidence(Grade::Verified, |_| ());
    assert_eq!(told(Some(&fresh), Grade::Verified, &of_this), ("store", Grade::Verified));
}

#[test]
fn a_lock_about_another_tree_is_stale_and_makes_the_store_stale() {
    let entry = entry(Grade::Verified);
    let stale = || Some((&entry, Some("it changed".to_owned())));
    assert!(matches!(believed(None, stale(), None), Believed::Lock(_, Some(_))));
    let fresh = evidence(Grade::Verified, |_| ());
    assert!(
        matches!(believed(Some(here(&fresh)), stale(), None), Believed::Store(_, Some(why)) if why == "it changed")
    );
    let other = evidence(Grade::Verified, |e| e.rust_hash = "other".into());
    assert!(matches!(believed(Some(here(&other)), stale(), None), Believed::Store(_, Some(_))));
    assert!(matches!(believed(None, None, None), Believed::Nobody));
}

/// As after a kill between the store and the lock, or where a commit without the entry is checked out.
#[test]
fn evidence_of_which_the_lock_has_no_entry_is_stale() {
    let of_store = |grade| {
        let stored = here(&evidence(grade, |_| ()));
        match believed(Some(stored), None, None) {
            Believed::Store(_, stale) => stale,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(of_store(Grade::Verified).as_deref(), Some("implfuzz.lock has no entry of it"));
    assert_eq!(of_store(Grade::Refuted), None);
    let other = here(&evidence(Grade::Verified, |e| e.rust_hash = "other".into()));
    let told = believed(Some(other), None, None);
    assert!(matches!(told, Believed::Store(_, Some(why)) if why.contains("the Rust text changed")));
}
