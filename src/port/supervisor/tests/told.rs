//! The supervisor's reasons for steps and ends, for `port --explain`.

use super::*;

#[test]
fn every_step_says_why_it_is_taken() {
    use Outcome as O;
    let told = |state: &PortState| why(state, &next(state));
    let key = || "k".to_owned();
    for (node, expected) in [
        (Node::AskPrototyper, "there is no candidate yet"),
        (Node::Audit, "a new candidate: nothing is built before the audit"),
        (Node::AskEnhancer, "the candidate was rejected by the audit: validation fix 1 of 2"),
        (Node::Build, "the audit found nothing"),
        (Node::Smoke, "it is built, and passed the linkage proof: a short run first"),
        (Node::Fuzz, "the short run did not refute it"),
        (Node::Accept, "the run of the loop did not refute it"),
    ] {
        assert_eq!(told(&after(&path(node))), expected);
    }
    let build = path(Node::Build);
    for (before, outcomes, expected) in [
        (vec![], vec![O::ReplyUnusable("p".into())], "the reply was unusable: validation fix 1 of 2"),
        (
            vec![],
            vec![O::ReplyUnusable("p".into()); 3],
            "the reply was unusable, and no validation fix is left of 2",
        ),
        (vec![], vec![O::ModelTruncated], "the reply was cut off"),
        (vec![], vec![O::ModelRefused], "the model refused"),
        (vec![], vec![O::ModelTimedOut], "the model did not answer in time"),
        (vec![], vec![O::ModelFailed], "the provider refused the request"),
        (vec![], vec![O::BudgetExhausted], "the budget has no room for the next call"),
        (vec![], vec![O::Built], "an outcome that the step cannot have: a defect of this tool"),
        (path(Node::AskEnhancer), vec![candidate(1)], "the candidate repeats an earlier one"),
        (
            path(Node::AskEnhancer),
            vec![O::ReplyUnusable("p".into())],
            "the reply was unusable: validation fix 2 of 2; the candidate was rejected by the audit",
        ),
        (build.clone(), vec![O::DoesNotCompile(key())], "the candidate does not compile: compile fix 1 of 3"),
        (
            build,
            vec![O::DoesNotCompile(key()), candidate(2), O::AuditPassed, O::DoesNotCompile(key())],
            "the candidate does not compile: compile fix 2 of 3; the last fix left the same failure",
        ),
        (path(Node::Fuzz), vec![O::Refuted(key())], "the candidate was refuted: repair 1 of 3"),
        (
            path(Node::Fuzz),
            vec![O::Vacuous],
            "the candidate was inconclusive: one side was never called: validation fix 1 of 2",
        ),
        (
            path(Node::Accept),
            vec![O::AcceptanceUnrefuted],
            "neither the acceptance run nor the hidden gate refuted it",
        ),
    ] {
        assert_eq!(told(&after(&[before, outcomes].concat())), expected);
    }
}

#[test]
fn every_end_says_which_limit_it_met() {
    let key = || "k".to_owned();
    for (node, outcome, expected) in [
        (Node::Build, Outcome::DoesNotCompile(key()), "does not compile, and no compile fix is left of 3"),
        (
            Node::Audit,
            Outcome::AuditRejected(key()),
            "was rejected by the audit, and no validation fix is left of 2",
        ),
        (
            Node::Fuzz,
            Outcome::Vacuous,
            "was inconclusive: one side was never called, and no validation fix is left of 2",
        ),
        (Node::Accept, Outcome::AcceptanceRefuted(key()), "was refuted, and no repair is left of 3"),
    ] {
        let state = failing_at(node, &outcome).1;
        assert_eq!(why(&state, &next(&state)), format!("the candidate {expected}"));
    }
    let mut state = PortState::new(Limits { compile_fixes: 1_000, ..Limits::default() }, ONE);
    for n in 0..NODE_VISITS {
        for outcome in [candidate(n), Outcome::AuditPassed, Outcome::DoesNotCompile(n.to_string())] {
            apply(&mut state, outcome);
        }
    }
    apply(&mut state, candidate(99));
    assert_eq!(next(&state), Step::Stop(StopReason::Loop(Circle::SameStep(Node::Audit))));
    assert_eq!(why(&state, &next(&state)), "`audit` was done 10 times");
    let same = |_: u32| Outcome::DoesNotCompile("k".into());
    let state = failing(PortState::new(Limits::default(), ONE), Node::Build, &same).1;
    assert_eq!(why(&state, &next(&state)), "2 consecutive fixes left the same failure");
}

#[test]
fn a_function_without_a_harness_goes_from_the_build_to_the_drivers() {
    let mut state = PortState::new(Limits::default(), ONE).without_harness();
    path(Node::Smoke).iter().for_each(|outcome| apply(&mut state, outcome.clone()));
    let told = |state: &PortState| why(state, &next(state));
    assert_eq!(next(&state), Step::Accept);
    assert_eq!(told(&state), "it is built, and passed the linkage proof: drivers judge it in place");
    let mut inconclusive = state.clone();
    apply(&mut inconclusive, Outcome::Vacuous);
    assert_eq!(
        told(&inconclusive),
        "the candidate was inconclusive where drivers call it: validation fix 1 of 2"
    );
    let mut refuted = state.clone();
    apply(&mut refuted, Outcome::AcceptanceRefuted("k".into()));
    assert_eq!(next(&refuted), enhancer(Why::Refuted));
    apply(&mut state, Outcome::AcceptanceUnrefuted);
    assert_eq!((next(&state), phase(&state)), (Step::Done, Phase::Optimization));
    assert_eq!(told(&state), "no execution of a driver refuted it");
    // In a changed tree it is judged again as a whole.
    apply(&mut state, Outcome::TreeMoved);
    for outcome in [Outcome::AuditPassed, Outcome::Built] {
        apply(&mut state, outcome);
    }
    assert_eq!(next(&state), Step::Accept);
}
