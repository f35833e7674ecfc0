//! The order of candidate sources: c2rust before models, a cheap model before a strong one.

use super::*;

const FIRST: Makers = Makers { c2rust: true, ..ONE };
const ALONE: Makers = Makers { c2rust: true, prototypers: 0, enhancers: 0 };

/// Outcomes from c2rust's candidate to the step that each row of the table is about.
fn translated(node: Node) -> Vec<Outcome> {
    // The path is that of a model's candidate, except for the first step.
    if node == Node::Translate { Vec::new() } else { path(node) }
}

fn told(state: &PortState) -> String {
    why(state, &next(state))
}

#[test]
fn every_edge_of_a_candidate_of_c2rust() {
    use Outcome as O;
    let key = || "k".to_owned();
    let stop = Step::Stop;
    let model = || Step::AskPrototyper { reply_problem: None };
    let refused = |word: &str| format!("c2rust's candidate ended as {word}: a model is asked");
    // The next step with a model as next source, the reason, and the next step without one.
    let table = [
        (
            Node::Translate,
            candidate(1),
            Step::Audit,
            "a new candidate: nothing is built before the audit".into(),
            Step::Audit,
        ),
        (
            Node::Translate,
            O::NotTranslated("w".into()),
            model(),
            "c2rust has no candidate: a model is asked".into(),
            stop(StopReason::NotTranslated),
        ),
        (
            Node::Audit,
            O::AuditRejected(key()),
            model(),
            refused("rejected-by-audit"),
            stop(StopReason::RejectedByAudit),
        ),
        (
            Node::Build,
            O::DoesNotCompile(key()),
            model(),
            refused("does-not-compile"),
            stop(StopReason::DoesNotCompile),
        ),
        (
            Node::Build,
            O::AuditRejected(key()),
            model(),
            refused("rejected-by-audit"),
            stop(StopReason::RejectedByAudit),
        ),
        (Node::Smoke, O::Refuted(key()), model(), refused("refuted"), stop(StopReason::Refuted)),
        (Node::Fuzz, O::Refuted(key()), model(), refused("refuted"), stop(StopReason::Refuted)),
        (Node::Fuzz, O::Vacuous, model(), refused("target-not-called"), stop(StopReason::TargetNotCalled)),
        (Node::Accept, O::AcceptanceRefuted(key()), model(), refused("refuted"), stop(StopReason::Refuted)),
    ];
    for (node, outcome, step, why, alone) in table {
        let outcomes = [&translated(node)[..], std::slice::from_ref(&outcome)].concat();
        let (state, lone) = (after_with(FIRST, &outcomes), after_with(ALONE, &outcomes));
        assert_eq!((next(&state), told(&state)), (step, why), "{node:?} then {outcome:?}");
        assert_eq!(next(&lone), alone, "{node:?} then {outcome:?}");
        // Nothing was charged to the limits of a model.
        assert_eq!(state.counters, Counters::default());
    }
}

#[test]
fn what_is_nobodys_fault_ends_a_port_of_c2rust_too() {
    let stop = Step::Stop;
    for (node, outcome, step) in [
        (Node::Fuzz, Outcome::CFault(CFaultKind::Breaks), stop(StopReason::CFault(CFaultKind::Breaks))),
        (Node::Translate, Outcome::Built, stop(StopReason::Defect)),
        (Node::Accept, Outcome::AcceptanceUnrefuted, Step::Done),
    ] {
        let state = after_with(FIRST, &[&translated(node)[..], &[outcome]].concat());
        assert_eq!((next(&state), state.maker()), (step, Maker::C2rust));
    }
}

#[test]
fn a_candidate_of_c2rust_that_fails_in_a_tree_that_moved_makes_room_for_a_model() {
    let accepted =
        [&translated(Node::Accept)[..], &[Outcome::AcceptanceUnrefuted, Outcome::TreeMoved]].concat();
    let failed = [&accepted[..], &[Outcome::AuditRejected("k".into())]].concat();
    let state = after_with(FIRST, &failed);
    assert_eq!((next(&state), is_settling(&state)), (Step::AskPrototyper { reply_problem: None }, false));
    assert_eq!(next(&after_with(FIRST, &accepted)), Step::Audit);
}

#[test]
fn c2rust_is_told_as_it_is() {
    let state = after_with(FIRST, &[]);
    assert_eq!((next(&state), told(&state)), (Step::Translate, "c2rust is tried before any model".into()));
    let alone = after_with(ALONE, &[Outcome::NotTranslated("w".into())]);
    assert_eq!(told(&alone), "c2rust has no candidate, and no model may be asked");
    let alone = after_with(ALONE, &[candidate(1), Outcome::AuditRejected("k".into())]);
    assert_eq!(told(&alone), "the candidate was rejected by the audit, and no model may be asked");
    // After its first question, a model's trace is as usual.
    let state = after_with(FIRST, &[Outcome::NotTranslated("w".into()), Outcome::ReplyUnusable("p".into())]);
    assert_eq!(told(&state), "the reply was unusable: validation fix 1 of 2");
}

#[test]
fn where_a_model_comes_to_an_end_the_next_one_of_its_role_goes_on() {
    use Outcome as O;
    let both = Makers { c2rust: false, prototypers: 2, enhancers: 2 };
    let does_not_compile = |n: u32| O::DoesNotCompile(format!("k{n}"));
    let until = |makers: Makers, node: Node, outcome: &dyn Fn(u32) -> O| {
        failing(PortState::new(Limits::default(), makers), node, outcome)
    };
    // Four candidates of the cheap model, then three fixes of the next one, then the end.
    let (rounds, state) = until(both, Node::Build, &does_not_compile);
    assert_eq!((rounds, next(&state), state.rank()), (7, Step::Stop(StopReason::DoesNotCompile), 1));
    for (makers, outcomes, step, rank, why) in [
        // If a candidate needs a fix, the next enhancer model continues with it.
        (
            both,
            [path(Node::AskEnhancer), vec![O::ModelRefused]].concat(),
            enhancer(Why::RejectedByAudit),
            1,
            "the model before ended as model-refused: model 2 of 2 goes on with its candidate",
        ),
        (
            both,
            [path(Node::AskEnhancer), vec![candidate(1)]].concat(),
            enhancer(Why::RejectedByAudit),
            1,
            "the model before ended as loop: model 2 of 2 goes on with its candidate",
        ),
        // Without one, or without another enhancer model, the next prototyper starts anew.
        (
            both,
            vec![O::ReplyUnusable("p".into()); 3],
            Step::AskPrototyper { reply_problem: None },
            1,
            "the model before ended as reply-unusable: model 2 of 2 begins anew",
        ),
        (
            Makers { prototypers: 3, ..ONE },
            [path(Node::AskEnhancer), vec![O::ModelTruncated]].concat(),
            Step::AskPrototyper { reply_problem: None },
            1,
            "the model before ended as model-truncated: model 2 of 3 begins anew",
        ),
        // No source is left.
        (
            Makers { enhancers: 3, ..ONE },
            vec![O::ModelRefused],
            Step::Stop(StopReason::ModelRefused),
            0,
            "the model refused",
        ),
        // Another model cannot help with these, so none is asked.
        (
            both,
            vec![O::BudgetExhausted],
            Step::Stop(StopReason::Budget),
            0,
            "the budget has no room for the next call",
        ),
        (
            both,
            [path(Node::Fuzz), vec![O::CFault(CFaultKind::Hangs)]].concat(),
            Step::Stop(StopReason::CFault(CFaultKind::Hangs)),
            0,
            "not the port's: C does not return in time",
        ),
    ] {
        let state = after_with(makers, &outcomes);
        assert_eq!((next(&state), state.rank()), (step, rank), "{outcomes:?}");
        if !matches!(next(&state), Step::Stop(StopReason::CFault(_))) {
            assert_eq!(told(&state), why);
        }
    }
}

#[test]
fn a_stronger_model_has_limits_of_its_own_and_knows_what_was_there() {
    let makers = Makers { c2rust: false, prototypers: 2, enhancers: 1 };
    let mut state = PortState::new(Limits::default(), makers);
    for outcome in [candidate(1), Outcome::AuditPassed, Outcome::DoesNotCompile("k".into()), candidate(1)] {
        apply(&mut state, outcome);
    }
    // The same text was proposed again: the next source starts with nothing charged.
    assert_eq!((state.rank(), state.counters, state.visits(Node::Audit)), (1, Counters::default(), 0));
    apply(&mut state, candidate(1));
    assert_eq!(next(&state), Step::Stop(StopReason::Loop(Circle::SameText)));
}
