//! Tests each transition and each limit, and random walks.

mod faults;
mod makers;
mod settling;
mod told;

use super::*;
use crate::verdict::CFaultKind;
use proptest::prelude::*;

fn candidate(n: u32) -> Outcome {
    Outcome::CandidateReceived(format!("fn f() {{ {n} }}"))
}

/// Models only, one for each role.
const ONE: Makers = Makers { c2rust: false, prototypers: 1, enhancers: 1 };

fn after(outcomes: &[Outcome]) -> PortState {
    after_with(ONE, outcomes)
}

fn after_with(makers: Makers, outcomes: &[Outcome]) -> PortState {
    let mut state = PortState::new(Limits::default(), makers);
    outcomes.iter().for_each(|outcome| apply(&mut state, outcome.clone()));
    state
}

fn enhancer(why: Why) -> Step {
    Step::AskEnhancer { why, repeated: false, reply_problem: None }
}

/// Outcomes that lead to the step that each row of the table is about.
fn path(node: Node) -> Vec<Outcome> {
    let to = [
        (Node::AskPrototyper, candidate(1)),
        (Node::Audit, Outcome::AuditPassed),
        (Node::Build, Outcome::Built),
        (Node::Smoke, Outcome::Unrefuted),
        (Node::Fuzz, Outcome::Unrefuted),
    ];
    let until = match node {
        Node::Translate | Node::AskPrototyper => 0,
        Node::Audit | Node::AskEnhancer => 1,
        Node::Build => 2,
        Node::Smoke => 3,
        Node::Fuzz => 4,
        Node::Accept => 5,
        Node::Done | Node::Stop => unreachable!("an end leads nowhere"),
    };
    let mut path: Vec<Outcome> = to.into_iter().take(until).map(|(_, outcome)| outcome).collect();
    if node == Node::AskEnhancer {
        path.push(Outcome::AuditRejected("k".into()));
    }
    path
}

#[test]
fn every_edge() {
    use Outcome as O;
    let key = || "k2".to_owned();
    let stop = Step::Stop;
    let table = [
        (Node::AskPrototyper, candidate(2), Step::Audit),
        (
            Node::AskPrototyper,
            O::ReplyUnusable("p".into()),
            Step::AskPrototyper { reply_problem: Some("p".into()) },
        ),
        (Node::AskPrototyper, O::ModelTruncated, stop(StopReason::ModelTruncated)),
        (Node::AskPrototyper, O::ModelRefused, stop(StopReason::ModelRefused)),
        (Node::AskPrototyper, O::ModelTimedOut, stop(StopReason::ModelTimedOut)),
        (Node::AskPrototyper, O::ModelFailed, stop(StopReason::ModelFailed)),
        (Node::AskPrototyper, O::BudgetExhausted, stop(StopReason::Budget)),
        (Node::AskPrototyper, O::Built, stop(StopReason::Defect)),
        (Node::AskPrototyper, O::NotTranslated("w".into()), stop(StopReason::Defect)),
        (Node::AskEnhancer, candidate(2), Step::Audit),
        (Node::AskEnhancer, candidate(1), stop(StopReason::Loop(Circle::SameText))),
        (
            Node::AskEnhancer,
            O::ReplyUnusable("p".into()),
            Step::AskEnhancer { why: Why::RejectedByAudit, repeated: false, reply_problem: Some("p".into()) },
        ),
        (Node::AskEnhancer, O::ModelTruncated, stop(StopReason::ModelTruncated)),
        (Node::AskEnhancer, O::ModelRefused, stop(StopReason::ModelRefused)),
        (Node::AskEnhancer, O::ModelTimedOut, stop(StopReason::ModelTimedOut)),
        (Node::AskEnhancer, O::BudgetExhausted, stop(StopReason::Budget)),
        (Node::Audit, O::AuditPassed, Step::Build),
        (Node::Audit, O::AuditRejected(key()), enhancer(Why::RejectedByAudit)),
        (Node::Audit, O::Built, stop(StopReason::Defect)),
        (Node::Build, O::Built, Step::Smoke),
        (Node::Build, O::DoesNotCompile(key()), enhancer(Why::DoesNotCompile)),
        (Node::Build, O::AuditRejected(key()), enhancer(Why::RejectedByAudit)),
        (Node::Build, O::Unrefuted, stop(StopReason::Defect)),
        (Node::Smoke, O::Unrefuted, Step::Fuzz),
        (Node::Smoke, O::Vacuous, Step::Fuzz),
        (Node::Smoke, O::Refuted(key()), enhancer(Why::Refuted)),
        (Node::Smoke, O::CFault(CFaultKind::Breaks), stop(StopReason::CFault(CFaultKind::Breaks))),
        (Node::Smoke, O::CFault(CFaultKind::Differs), stop(StopReason::CFault(CFaultKind::Differs))),
        (Node::Smoke, O::AcceptanceUnrefuted, stop(StopReason::Defect)),
        (Node::Fuzz, O::Unrefuted, Step::Accept),
        (Node::Fuzz, O::Vacuous, enhancer(Why::Vacuous)),
        (Node::Fuzz, O::Refuted(key()), enhancer(Why::Refuted)),
        (Node::Fuzz, O::CFault(CFaultKind::Breaks), stop(StopReason::CFault(CFaultKind::Breaks))),
        (Node::Fuzz, O::CFault(CFaultKind::Hangs), stop(StopReason::CFault(CFaultKind::Hangs))),
        (Node::Fuzz, O::AcceptanceUnrefuted, stop(StopReason::Defect)),
        (Node::Accept, O::AcceptanceUnrefuted, Step::Done),
        (Node::Accept, O::AcceptanceRefuted(key()), enhancer(Why::Refuted)),
        (Node::Accept, O::Vacuous, enhancer(Why::Vacuous)),
        (Node::Accept, O::CFault(CFaultKind::Differs), stop(StopReason::CFault(CFaultKind::Differs))),
        (Node::Accept, O::Unrefuted, stop(StopReason::Defect)),
        // Before C has run there is no C fault; a changed tree matters only to an accepted candidate.
        (Node::Audit, O::CFault(CFaultKind::Breaks), stop(StopReason::Defect)),
        (Node::Build, O::CFault(CFaultKind::Breaks), stop(StopReason::Defect)),
        (Node::AskEnhancer, O::CFault(CFaultKind::Breaks), stop(StopReason::Defect)),
        (Node::Audit, O::TreeMoved, stop(StopReason::Defect)),
        (Node::Accept, O::TreeMoved, stop(StopReason::Defect)),
        (Node::Accept, O::BudgetExhausted, stop(StopReason::Budget)),
    ];
    for (node, outcome, step) in table {
        let mut state = after(&path(node));
        assert_eq!(Node::from(&next(&state)), node);
        apply(&mut state, outcome.clone());
        assert_eq!(next(&state), step, "{node:?} then {outcome:?}");
    }
}

/// Fails new candidates with `outcome` at `node` until the port ends; returns the number of fixes, and the end.
fn fail_at(node: Node, outcome: &Outcome) -> (u32, Step) {
    let (fixes, state) = failing_at(node, outcome);
    (fixes, next(&state))
}

/// The same, with the final state. Each failure has a key of its own.
fn failing_at(node: Node, outcome: &Outcome) -> (u32, PortState) {
    failing(PortState::new(Limits::default(), ONE), node, &|round| numbered(outcome, round))
}

/// The outcome with the number appended to its key.
fn numbered(outcome: &Outcome, n: u32) -> Outcome {
    match outcome.clone() {
        Outcome::DoesNotCompile(key) => Outcome::DoesNotCompile(format!("{key}{n}")),
        Outcome::AuditRejected(key) => Outcome::AuditRejected(format!("{key}{n}")),
        Outcome::Refuted(key) => Outcome::Refuted(format!("{key}{n}")),
        Outcome::AcceptanceRefuted(key) => Outcome::AcceptanceRefuted(format!("{key}{n}")),
        other => other,
    }
}

/// Fails new candidates at `node` until the port ends.
fn failing(mut state: PortState, node: Node, outcome: &dyn Fn(u32) -> Outcome) -> (u32, PortState) {
    for round in 0..50 {
        for mut step in path(node) {
            if matches!(step, Outcome::CandidateReceived(_)) {
                step = candidate(round);
            }
            apply(&mut state, step);
        }
        apply(&mut state, outcome(round));
        if next(&state).is_end() {
            return (round, state);
        }
    }
    panic!("it never ends");
}

#[test]
fn every_limit_stops_with_its_reason() {
    let key = || "k".to_owned();
    for (node, outcome, fixes, reason) in [
        (Node::Build, Outcome::DoesNotCompile(key()), 3, StopReason::DoesNotCompile),
        (Node::Audit, Outcome::AuditRejected(key()), 2, StopReason::RejectedByAudit),
        (Node::Fuzz, Outcome::Vacuous, 2, StopReason::TargetNotCalled),
        (Node::Fuzz, Outcome::Refuted(key()), 3, StopReason::Refuted),
        (Node::Accept, Outcome::AcceptanceRefuted(key()), 3, StopReason::Refuted),
        (Node::AskPrototyper, Outcome::ReplyUnusable(key()), 2, StopReason::ReplyUnusable),
    ] {
        assert_eq!(fail_at(node, &outcome), (fixes, Step::Stop(reason)), "{outcome:?}");
    }
}

#[test]
fn a_step_entered_too_often_is_a_loop_whatever_the_limits() {
    let mut state = PortState::new(Limits { compile_fixes: 1_000, ..Limits::default() }, ONE);
    let mut built = 0;
    while !next(&state).is_end() {
        apply(&mut state, candidate(built));
        apply(&mut state, Outcome::AuditPassed);
        apply(&mut state, Outcome::DoesNotCompile(format!("{built}")));
        built += 1;
    }
    // The tenth build failed, and there is no eleventh.
    assert_eq!(next(&state), Step::Stop(StopReason::Loop(Circle::SameStep(Node::Audit))));
    assert_eq!(state.visits(Node::Build), NODE_VISITS);
}

#[test]
fn a_failure_that_a_fix_left_as_it_was_is_told() {
    let failure = || Outcome::DoesNotCompile("E0308".into());
    let once = [candidate(1), Outcome::AuditPassed, failure()];
    let twice = [candidate(2), Outcome::AuditPassed, failure()];
    let state = after(&[once, twice].concat());
    let why = Why::DoesNotCompile;
    assert_eq!(next(&state), Step::AskEnhancer { why, repeated: true, reply_problem: None });
}

#[test]
fn two_fixes_that_leave_the_same_failure_are_a_circle() {
    for (node, outcome) in [
        (Node::Build, Outcome::DoesNotCompile("k".into())),
        (Node::Fuzz, Outcome::Refuted("k".into())),
        (Node::Accept, Outcome::AcceptanceRefuted("k".into())),
    ] {
        let (fixes, state) = failing(PortState::new(Limits::default(), ONE), node, &|_| outcome.clone());
        assert_eq!(
            (fixes, next(&state)),
            (2, Step::Stop(StopReason::Loop(Circle::SameFailure))),
            "{outcome:?}"
        );
        // A different failure in between is progress.
        let other = |n: u32| if n % 2 == 1 { numbered(&outcome, n) } else { outcome.clone() };
        let (fixes, state) = failing(PortState::new(Limits::default(), ONE), node, &other);
        assert_eq!(fixes, 3, "{:?}", next(&state));
    }
    // If the limit is reached at the same time, the limit ends the port.
    let outcome = Outcome::AuditRejected("k".into());
    let (fixes, state) = failing(PortState::new(Limits::default(), ONE), Node::Audit, &|_| outcome.clone());
    assert_eq!((fixes, next(&state)), (2, Step::Stop(StopReason::RejectedByAudit)));
}

/// A possible outcome of `node`: a small `dice` continues, a large one does not.
fn outcome_of(node: Node, dice: u8, n: u32) -> Outcome {
    use Outcome as O;
    let key = (n % 3).to_string();
    let (forward, other) = match node {
        Node::Translate => (candidate(n), vec![O::NotTranslated(key)]),
        Node::AskPrototyper | Node::AskEnhancer => {
            (candidate(n), vec![O::ReplyUnusable(key), O::ModelTruncated])
        }
        Node::Audit => (O::AuditPassed, vec![O::AuditRejected(key)]),
        Node::Build => (O::Built, vec![O::DoesNotCompile(key.clone()), O::AuditRejected(key)]),
        Node::Smoke | Node::Fuzz => {
            (O::Unrefuted, vec![O::Refuted(key), O::Vacuous, O::CFault(CFaultKind::Breaks)])
        }
        Node::Accept => (
            O::AcceptanceUnrefuted,
            vec![O::AcceptanceRefuted(key), O::Vacuous, O::CFault(CFaultKind::Hangs)],
        ),
        Node::Done | Node::Stop => unreachable!("an end has no outcome"),
    };
    match dice {
        0..=59 => forward,
        60..=98 => other[dice as usize % other.len()].clone(),
        // Mostly an outcome of another step.
        _ => [O::Unrefuted, O::AcceptanceUnrefuted, O::Built, O::BudgetExhausted][n as usize % 4].clone(),
    }
}

proptest! {
    #[test]
    fn every_walk_ends_within_its_limits_and_skips_nothing(
        dice in prop::collection::vec((0..100u8, 0..1_000u32), 3 * 7 * NODE_VISITS as usize + 8),
        c2rust in any::<bool>(), prototypers in 1..=3usize, enhancers in 1..=3usize,
        compile_fixes in 0..20u32, validation_fixes in 0..20u32, repairs in 0..20u32,
    ) {
        let limits = Limits { compile_fixes, validation_fixes, repairs, ..Limits::default() };
        let makers = Makers { c2rust, prototypers, enhancers };
        let mut state = PortState::new(limits, makers);
        // Since the last candidate.
        let mut seen: Vec<Outcome> = Vec::new();
        for (dice, n) in dice {
            let step = next(&state);
            if step.is_end() {
                break;
            }
            let node = Node::from(&step);
            let outcome = outcome_of(node, dice, n);
            let has = |wanted: &Outcome| seen.contains(wanted);
            prop_assert!(step != Step::Translate || state.maker() == Maker::C2rust);
            prop_assert!(state.rank() < prototypers.max(enhancers));
            match step {
                Step::Build => prop_assert!(has(&Outcome::AuditPassed)),
                Step::Smoke | Step::Fuzz => prop_assert!(has(&Outcome::AuditPassed) && has(&Outcome::Built)),
                Step::Accept => prop_assert!(has(&Outcome::Built) && seen.last() == Some(&Outcome::Unrefuted)),
                _ => {}
            }
            if matches!(outcome, Outcome::CandidateReceived(_)) {
                seen.clear();
            }
            seen.push(outcome.clone());
            apply(&mut state, outcome);
            let paid = state.counters;
            prop_assert!(paid.compile_fixes <= compile_fixes);
            prop_assert!(paid.validation_fixes <= validation_fixes);
            prop_assert!(paid.repairs <= repairs);
            prop_assert!(state.visits(node) <= NODE_VISITS);
            if next(&state) == Step::Done {
                let order: Vec<&Outcome> = seen.iter().skip(1).collect();
                let last = [&Outcome::AuditPassed, &Outcome::Built];
                prop_assert_eq!(&order[..2], &last);
                prop_assert_eq!(order.len(), 5);
                prop_assert_eq!(order[3], &Outcome::Unrefuted);
            }
        }
        // There were as many dice as possible visits.
        prop_assert!(next(&state).is_end(), "{:?} did not end", state);
    }
}

#[test]
fn the_phase_changes_when_both_sides_were_called_and_stays() {
    use Outcome as O;
    let key = || "k".to_owned();
    let table = [
        (Node::AskPrototyper, candidate(2), Phase::Compilation),
        (Node::Audit, O::AuditPassed, Phase::Compilation),
        (Node::Build, O::Built, Phase::Compilation),
        (Node::Build, O::DoesNotCompile(key()), Phase::Compilation),
        (Node::Smoke, O::Vacuous, Phase::Compilation),
        (Node::Smoke, O::BudgetExhausted, Phase::Compilation),
        (Node::Smoke, O::Unrefuted, Phase::Optimization),
        (Node::Smoke, O::Refuted(key()), Phase::Optimization),
        (Node::Fuzz, O::Vacuous, Phase::Optimization),
        (Node::Accept, O::Vacuous, Phase::Optimization),
    ];
    for (node, outcome, expected) in table {
        let mut state = after(&path(node));
        apply(&mut state, outcome.clone());
        assert_eq!(phase(&state), expected, "{node:?} then {outcome:?}");
    }
    // The short run was inconclusive; the next one called both sides.
    let vacuous = [&path(Node::Smoke)[..], &[O::Vacuous]].concat();
    assert_eq!(phase(&after(&[&vacuous[..], &[O::Vacuous]].concat())), Phase::Compilation);
    let refuted = [&vacuous[..], &[O::Refuted(key())]].concat();
    assert_eq!(phase(&after(&refuted)), Phase::Optimization);
    let later = [&refuted[..], &[candidate(2), O::AuditPassed, O::DoesNotCompile(key())]].concat();
    assert_eq!(phase(&after(&later)), Phase::Optimization, "a repair is part of the second phase");
}
