//! Faults of C in a harness: they are not the port's.

use super::*;

#[test]
fn what_c_does_wrong_costs_no_fix() {
    for node in [Node::Smoke, Node::Fuzz, Node::Accept] {
        for fault in [CFaultKind::Breaks, CFaultKind::Hangs, CFaultKind::Differs] {
            let mut state = after(&path(node));
            apply(&mut state, Outcome::CFault(fault));
            assert_eq!(state.counters, Counters::default());
            assert_eq!(next(&state), Step::Stop(StopReason::CFault(fault)));
            assert!(why(&state, &next(&state)).starts_with("not the port's: "));
        }
    }
}

#[test]
fn what_c_does_wrong_in_the_harness_leaves_the_judgement_to_drivers() {
    for node in [Node::Smoke, Node::Fuzz, Node::Accept] {
        let mut state = PortState::new(Limits::default(), ONE).with_drivers();
        path(node).into_iter().for_each(|outcome| apply(&mut state, outcome));
        apply(&mut state, Outcome::CFault(CFaultKind::Breaks));
        assert_eq!((next(&state), state.counters), (Step::Accept, Counters::default()));
        assert!(why(&state, &next(&state)).contains("drivers judge it in place"));
        let mut again = state.clone();
        apply(&mut again, Outcome::CFault(CFaultKind::Breaks));
        assert_eq!(next(&again), Step::Stop(StopReason::CFault(CFaultKind::Breaks)));
        // The harness judges the next candidate all the same.
        apply(&mut state, Outcome::AcceptanceRefuted("k".into()));
        for outcome in [candidate(2), Outcome::AuditPassed, Outcome::Built] {
            apply(&mut state, outcome);
        }
        assert_eq!(next(&state), Step::Smoke);
    }
}

#[test]
fn an_inconclusive_harness_leaves_the_judgement_to_drivers_and_asks_no_model() {
    for node in [Node::Fuzz, Node::Accept] {
        let mut state = PortState::new(Limits::default(), ONE).with_drivers();
        path(node).into_iter().for_each(|outcome| apply(&mut state, outcome));
        apply(&mut state, Outcome::Vacuous);
        assert_eq!((next(&state), state.counters), (Step::Accept, Counters::default()));
        let told = why(&state, &next(&state));
        assert_eq!(told, "the run of its harness was inconclusive: drivers judge it in place");
        // Where they, too, say nothing of it, another candidate may do better.
        apply(&mut state, Outcome::Vacuous);
        assert_eq!(next(&state), enhancer(Why::Vacuous));
    }
}
