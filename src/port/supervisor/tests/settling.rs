//! A candidate that was accepted while other ports entered the tree: it is looked at again there.

use super::*;

/// Outcomes that lead to an accepted candidate and then a changed tree.
fn moved() -> Vec<Outcome> {
    [&path(Node::Accept)[..], &[Outcome::AcceptanceUnrefuted, Outcome::TreeMoved]].concat()
}

#[test]
fn every_edge_of_a_port_that_settles_in_a_tree_that_moved() {
    use Outcome as O;
    let key = || "k2".to_owned();
    let stop = Step::Stop;
    let (audited, built) = (vec![O::AuditPassed], vec![O::AuditPassed, O::Built]);
    let table = [
        (vec![], O::AuditPassed, Step::Build, true),
        // What was judged called other code, so it is judged anew.
        (vec![], O::AuditPassedWithOtherCode, Step::Build, false),
        (vec![], O::AuditRejected(key()), enhancer(Why::RejectedByAudit), false),
        (vec![], O::ContractChanged, stop(StopReason::ContractChanged), true),
        (vec![], O::TreeMoved, stop(StopReason::Defect), true),
        (audited.clone(), O::Built, Step::Smoke, true),
        (audited.clone(), O::DoesNotCompile(key()), enhancer(Why::DoesNotCompile), false),
        (audited, O::AuditRejected(key()), enhancer(Why::RejectedByAudit), false),
        // It was fuzzed before, so a short run is enough, even one in which C rejects every input.
        (built.clone(), O::Unrefuted, Step::Done, true),
        (built.clone(), O::Vacuous, Step::Done, true),
        (built.clone(), O::Refuted(key()), enhancer(Why::Refuted), false),
        (built.clone(), O::CFault(CFaultKind::Differs), stop(StopReason::CFault(CFaultKind::Differs)), true),
        (built.clone(), O::BudgetExhausted, stop(StopReason::Budget), true),
        (built, O::AcceptanceUnrefuted, stop(StopReason::Defect), true),
    ];
    for (then, outcome, step, settles) in table {
        let mut state = after(&[moved(), then].concat());
        assert!(is_settling(&state), "{outcome:?}");
        apply(&mut state, outcome.clone());
        assert_eq!((next(&state), is_settling(&state)), (step, settles), "{outcome:?}");
    }
}

#[test]
fn where_drivers_judge_too_they_judge_again_in_a_tree_that_moved() {
    use Outcome as O;
    let built = [&moved()[..], &[O::AuditPassed, O::Built]].concat();
    for (smoke, then, step) in [
        (O::Unrefuted, O::AcceptanceUnrefuted, Step::Done),
        (O::Vacuous, O::AcceptanceUnrefuted, Step::Done),
        (O::Unrefuted, O::AcceptanceRefuted("k2".into()), enhancer(Why::Refuted)),
        // The harness says nothing any more, and drivers that say nothing are not enough.
        (O::CFault(CFaultKind::Differs), O::Vacuous, enhancer(Why::Vacuous)),
    ] {
        let mut state = PortState::new(Limits::default(), ONE).with_drivers();
        built.iter().for_each(|outcome| apply(&mut state, outcome.clone()));
        apply(&mut state, smoke.clone());
        assert_eq!((next(&state), is_settling(&state)), (Step::Accept, true), "{smoke:?}");
        apply(&mut state, then.clone());
        assert_eq!(next(&state), step, "{smoke:?} {then:?}");
    }
}

#[test]
fn a_tree_may_move_again_and_what_fails_in_it_is_fuzzed_whole_again() {
    use Outcome as O;
    let look = [O::AuditPassed, O::Built, O::Unrefuted];
    let state = after(&[&moved()[..], &look, &[O::TreeMoved]].concat());
    assert_eq!((next(&state), is_settling(&state)), (Step::Audit, true));
    let failed = [&moved()[..], &look[..2], &[O::Refuted("k".into()), candidate(2)], &look].concat();
    assert_eq!(next(&after(&failed)), Step::Fuzz, "a new candidate was let in without its runs");
    // However often the tree changes, the port ends.
    let mut state = after(&moved());
    for _ in 0..NODE_VISITS {
        look.iter().for_each(|outcome| apply(&mut state, outcome.clone()));
        apply(&mut state, O::TreeMoved);
    }
    assert_eq!(next(&state), Step::Stop(StopReason::Loop(Circle::SameStep(Node::Audit))));
}

#[test]
fn what_drivers_alone_accepted_they_alone_judge_in_a_tree_that_moved() {
    use Outcome as O;
    let mut state = PortState::new(Limits::default(), ONE).with_drivers();
    let alone = [&path(Node::Fuzz)[..], &[O::Vacuous, O::AcceptanceUnrefuted, O::TreeMoved]].concat();
    alone.iter().for_each(|outcome| apply(&mut state, outcome.clone()));
    for outcome in [O::AuditPassed, O::Built] {
        apply(&mut state, outcome);
    }
    assert_eq!((next(&state), state.has_harness()), (Step::Accept, false));
    apply(&mut state, O::Vacuous);
    assert_eq!(next(&state), enhancer(Why::Vacuous), "nothing judged it");
}

#[test]
fn what_calls_other_code_now_is_fuzzed_whole_again() {
    use Outcome as O;
    let anew = [&moved()[..], &[O::AuditPassedWithOtherCode, O::Built, O::Unrefuted]].concat();
    assert_eq!((next(&after(&anew)), is_settling(&after(&anew))), (Step::Fuzz, false));
}

#[test]
fn checks_in_a_changed_tree_are_no_attempts() {
    use Outcome as O;
    let limits = Limits { compile_fixes: 8, ..Limits::default() };
    let mut state = PortState::new(limits, ONE);
    for n in 0..8 {
        for outcome in [candidate(n), O::AuditPassed, O::DoesNotCompile(n.to_string())] {
            apply(&mut state, outcome);
        }
    }
    let accepted =
        [candidate(8), O::AuditPassed, O::Built, O::Unrefuted, O::Unrefuted, O::AcceptanceUnrefuted];
    for outcome in accepted.iter().chain(&[O::TreeMoved, O::AuditPassed, O::Built, O::Unrefuted]) {
        apply(&mut state, outcome.clone());
    }
    assert_eq!(next(&state), Step::Done);
}
