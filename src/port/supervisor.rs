//! Who does what next while one function is ported. Pure: [`next`] reads the state, [`apply`] changes it, neither does
//! anything else.
//!
//! Every question that a fix costs is paid for when its reason arises, out of one counter, in [`apply`] alone; so no
//! limit can be exceeded. What a fix is told lives in `feedback`; who carries the steps out lives elsewhere.

use crate::config::Limits;
use std::collections::BTreeMap;

/// How often one step may be entered, whatever the other limits say.
pub const NODE_VISITS: u32 = 10;
/// Executions of the run that comes before the real one.
pub const SMOKE_EXECUTIONS: u64 = 100;

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Ask for a first candidate; `reply_problem` is what was wrong with the last reply, if there was one.
    AskPrototyper {
        reply_problem: Option<String>,
    },
    /// Ask for a better candidate. `repeated`: the last fix left the same failure.
    AskEnhancer {
        why: Why,
        repeated: bool,
        reply_problem: Option<String>,
    },
    /// Look for what no candidate may do.
    Audit,
    Build,
    /// Fuzz for [`SMOKE_EXECUTIONS`], to find coarse errors at once.
    Smoke,
    Fuzz,
    /// Run the acceptance.
    Accept,
    /// The last candidate is accepted.
    Done,
    Stop(StopReason),
}

/// Steps that are entered and counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    Prototyper,
    Enhancer,
    Audit,
    Build,
    Smoke,
    Fuzz,
    Accept,
}

impl Step {
    /// The node that this step enters; none for the two ends.
    pub fn node(&self) -> Option<Node> {
        Some(match self {
            Self::AskPrototyper { .. } => Node::Prototyper,
            Self::AskEnhancer { .. } => Node::Enhancer,
            Self::Audit => Node::Audit,
            Self::Build => Node::Build,
            Self::Smoke => Node::Smoke,
            Self::Fuzz => Node::Fuzz,
            Self::Accept => Node::Accept,
            Self::Done | Self::Stop(_) => return None,
        })
    }
}

/// Why a candidate is not good enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    RejectedByAudit,
    DoesNotCompile,
    /// The C original disagrees.
    Refuted,
    /// The run said nothing: one of the two sides was never called.
    Vacuous,
}

/// Why a port ends without an accepted candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    DoesNotCompile,
    RejectedByAudit,
    Refuted,
    TargetNotCalled,
    ReplyUnusable,
    ModelTruncated,
    ModelRefused,
    /// Tokens, money or time are spent.
    Budget,
    /// The same candidate twice, or a step entered too often.
    Loop,
    /// An outcome that does not belong to the step: a defect of this tool.
    Defect,
}

impl StopReason {
    /// One word, as in tables, JSON and the database.
    pub fn word(self) -> &'static str {
        match self {
            Self::DoesNotCompile => "does-not-compile",
            Self::RejectedByAudit => "rejected-by-audit",
            Self::Refuted => "refuted",
            Self::TargetNotCalled => "target-not-called",
            Self::ReplyUnusable => "reply-unusable",
            Self::ModelTruncated => "model-truncated",
            Self::ModelRefused => "model-refused",
            Self::Budget => "budget",
            Self::Loop => "loop",
            Self::Defect => "defect",
        }
    }
}

impl From<Why> for StopReason {
    fn from(why: Why) -> Self {
        match why {
            Why::RejectedByAudit => Self::RejectedByAudit,
            Why::DoesNotCompile => Self::DoesNotCompile,
            Why::Refuted => Self::Refuted,
            Why::Vacuous => Self::TargetNotCalled,
        }
    }
}

/// What came of a step. Keys are normalised, so that the same failure has the same key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The text of the candidate.
    CandidateReceived(String),
    /// What is wrong with the reply, in words for the next prompt.
    ReplyUnusable(String),
    ModelTruncated,
    ModelRefused,
    AuditPassed,
    AuditRejected(String),
    Built,
    DoesNotCompile(String),
    Unrefuted,
    Refuted(String),
    Vacuous,
    AcceptanceUnrefuted,
    AcceptanceRefuted(String),
    BudgetExhausted,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Stage {
    /// No candidate yet.
    Empty,
    Received,
    Audited,
    Built,
    Smoked,
    Fuzzed,
    /// The candidate needs a fix, which is paid for.
    Failed(Why),
    Accepted,
    Stopped(StopReason),
}

/// How often something was paid for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    pub compile_fixes: u32,
    /// For audit rejections, unusable replies and runs that say nothing.
    pub validation_fixes: u32,
    /// For counterexamples.
    pub repairs: u32,
}

/// Where the port of one function stands.
#[derive(Debug, Clone)]
pub struct PortState {
    limits: Limits,
    stage: Stage,
    counters: Counters,
    visits: BTreeMap<Node, u32>,
    last_key: Option<String>,
    repeated: bool,
    reply_problem: Option<String>,
    candidates: Vec<String>,
}

impl PortState {
    /// A port that has no candidate yet.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            stage: Stage::Empty,
            counters: Counters::default(),
            visits: BTreeMap::new(),
            last_key: None,
            repeated: false,
            reply_problem: None,
            candidates: Vec::new(),
        }
    }

    /// What was paid for so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// How often `node` was left with an outcome.
    pub fn visits(&self, node: Node) -> u32 {
        self.visits.get(&node).copied().unwrap_or(0)
    }

    /// The candidate that is being judged.
    pub fn candidate(&self) -> Option<&str> {
        self.candidates.last().map(String::as_str)
    }
}

/// The next step. Asking twice without an outcome between gives the same answer.
pub fn next(state: &PortState) -> Step {
    let reply_problem = state.reply_problem.clone();
    let step = match state.stage {
        Stage::Stopped(reason) => Step::Stop(reason),
        Stage::Accepted => Step::Done,
        Stage::Empty => Step::AskPrototyper { reply_problem },
        Stage::Failed(why) => Step::AskEnhancer { why, repeated: state.repeated, reply_problem },
        Stage::Received => Step::Audit,
        Stage::Audited => Step::Build,
        Stage::Built => Step::Smoke,
        Stage::Smoked => Step::Fuzz,
        Stage::Fuzzed => Step::Accept,
    };
    match step.node() {
        Some(node) if state.visits(node) >= NODE_VISITS => Step::Stop(StopReason::Loop),
        _ => step,
    }
}

/// Takes the outcome of the step that [`next`] gave. An outcome that no such step can have ends the port as a defect;
/// after an end nothing changes any more.
pub fn apply(state: &mut PortState, outcome: Outcome) {
    let Some(node) = next(state).node() else { return };
    *state.visits.entry(node).or_default() += 1;
    state.stage = match (node, outcome) {
        (_, Outcome::BudgetExhausted) => Stage::Stopped(StopReason::Budget),
        (Node::Prototyper | Node::Enhancer, outcome) => answered(state, outcome),
        (Node::Audit, Outcome::AuditPassed) => Stage::Audited,
        // After the build the object files are read: what no path told may show there.
        (Node::Audit | Node::Build, Outcome::AuditRejected(key)) => failed(state, Why::RejectedByAudit, key),
        (Node::Build, Outcome::Built) => Stage::Built,
        (Node::Build, Outcome::DoesNotCompile(key)) => failed(state, Why::DoesNotCompile, key),
        // So few executions may all be inputs that C rejects: the real run decides.
        (Node::Smoke, Outcome::Unrefuted | Outcome::Vacuous) => Stage::Smoked,
        (Node::Fuzz, Outcome::Unrefuted) => Stage::Fuzzed,
        (Node::Smoke | Node::Fuzz, Outcome::Refuted(key)) => failed(state, Why::Refuted, key),
        (Node::Fuzz | Node::Accept, Outcome::Vacuous) => failed(state, Why::Vacuous, "vacuous".into()),
        (Node::Accept, Outcome::AcceptanceUnrefuted) => Stage::Accepted,
        (Node::Accept, Outcome::AcceptanceRefuted(key)) => failed(state, Why::Refuted, key),
        _ => Stage::Stopped(StopReason::Defect),
    };
}

/// After a question to a model.
fn answered(state: &mut PortState, outcome: Outcome) -> Stage {
    match outcome {
        Outcome::CandidateReceived(text) => {
            state.reply_problem = None;
            let known = state.candidates.iter().any(|old| old.trim() == text.trim());
            state.candidates.push(text);
            if known { Stage::Stopped(StopReason::Loop) } else { Stage::Received }
        }
        Outcome::ReplyUnusable(problem) => {
            state.reply_problem = Some(problem);
            let spent = &mut state.counters.validation_fixes;
            if pay(spent, state.limits.validation_fixes) {
                // Same question again: what the candidate needs has not changed.
                state.stage.clone()
            } else {
                Stage::Stopped(StopReason::ReplyUnusable)
            }
        }
        Outcome::ModelTruncated => Stage::Stopped(StopReason::ModelTruncated),
        Outcome::ModelRefused => Stage::Stopped(StopReason::ModelRefused),
        _ => Stage::Stopped(StopReason::Defect),
    }
}

/// The candidate is not good enough: a fix, if one can still be paid for.
fn failed(state: &mut PortState, why: Why, key: String) -> Stage {
    state.repeated = state.last_key.as_ref() == Some(&key);
    state.last_key = Some(key);
    let (spent, limit) = match why {
        Why::DoesNotCompile => (&mut state.counters.compile_fixes, state.limits.compile_fixes),
        Why::RejectedByAudit | Why::Vacuous => {
            (&mut state.counters.validation_fixes, state.limits.validation_fixes)
        }
        Why::Refuted => (&mut state.counters.repairs, state.limits.repairs),
    };
    if pay(spent, limit) { Stage::Failed(why) } else { Stage::Stopped(why.into()) }
}

fn pay(spent: &mut u32, limit: u32) -> bool {
    let left = *spent < limit;
    *spent += u32::from(left);
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn candidate(n: u32) -> Outcome {
        Outcome::CandidateReceived(format!("fn f() {{ {n} }}"))
    }

    fn after(outcomes: &[Outcome]) -> PortState {
        let mut state = PortState::new(Limits::default());
        outcomes.iter().for_each(|outcome| apply(&mut state, outcome.clone()));
        state
    }

    fn enhancer(why: Why) -> Step {
        Step::AskEnhancer { why, repeated: false, reply_problem: None }
    }

    /// Outcomes that lead to the step before which each row of the table stands.
    fn path(node: Node) -> Vec<Outcome> {
        let to = [
            (Node::Prototyper, candidate(1)),
            (Node::Audit, Outcome::AuditPassed),
            (Node::Build, Outcome::Built),
            (Node::Smoke, Outcome::Unrefuted),
            (Node::Fuzz, Outcome::Unrefuted),
        ];
        let until = match node {
            Node::Prototyper => 0,
            Node::Audit | Node::Enhancer => 1,
            Node::Build => 2,
            Node::Smoke => 3,
            Node::Fuzz => 4,
            Node::Accept => 5,
        };
        let mut path: Vec<Outcome> = to.into_iter().take(until).map(|(_, outcome)| outcome).collect();
        if node == Node::Enhancer {
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
            (Node::Prototyper, candidate(2), Step::Audit),
            (
                Node::Prototyper,
                O::ReplyUnusable("p".into()),
                Step::AskPrototyper { reply_problem: Some("p".into()) },
            ),
            (Node::Prototyper, O::ModelTruncated, stop(StopReason::ModelTruncated)),
            (Node::Prototyper, O::ModelRefused, stop(StopReason::ModelRefused)),
            (Node::Prototyper, O::BudgetExhausted, stop(StopReason::Budget)),
            (Node::Prototyper, O::Built, stop(StopReason::Defect)),
            (Node::Enhancer, candidate(2), Step::Audit),
            (Node::Enhancer, candidate(1), stop(StopReason::Loop)),
            (
                Node::Enhancer,
                O::ReplyUnusable("p".into()),
                Step::AskEnhancer {
                    why: Why::RejectedByAudit,
                    repeated: false,
                    reply_problem: Some("p".into()),
                },
            ),
            (Node::Enhancer, O::ModelTruncated, stop(StopReason::ModelTruncated)),
            (Node::Enhancer, O::ModelRefused, stop(StopReason::ModelRefused)),
            (Node::Enhancer, O::BudgetExhausted, stop(StopReason::Budget)),
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
            (Node::Smoke, O::AcceptanceUnrefuted, stop(StopReason::Defect)),
            (Node::Fuzz, O::Unrefuted, Step::Accept),
            (Node::Fuzz, O::Vacuous, enhancer(Why::Vacuous)),
            (Node::Fuzz, O::Refuted(key()), enhancer(Why::Refuted)),
            (Node::Fuzz, O::AcceptanceUnrefuted, stop(StopReason::Defect)),
            (Node::Accept, O::AcceptanceUnrefuted, Step::Done),
            (Node::Accept, O::AcceptanceRefuted(key()), enhancer(Why::Refuted)),
            (Node::Accept, O::Vacuous, enhancer(Why::Vacuous)),
            (Node::Accept, O::Unrefuted, stop(StopReason::Defect)),
            (Node::Accept, O::BudgetExhausted, stop(StopReason::Budget)),
        ];
        for (node, outcome, step) in table {
            let mut state = after(&path(node));
            assert_eq!(next(&state).node(), Some(node));
            apply(&mut state, outcome.clone());
            assert_eq!(next(&state), step, "{node:?} then {outcome:?}");
        }
    }

    /// Fails new candidates with `outcome` at `node` until the port ends; how many fixes there were, and the end.
    fn fail_at(node: Node, outcome: &Outcome) -> (u32, Step) {
        let mut state = PortState::new(Limits::default());
        for round in 0..50 {
            for mut step in path(node) {
                if matches!(step, Outcome::CandidateReceived(_)) {
                    step = candidate(round);
                }
                apply(&mut state, step);
            }
            apply(&mut state, outcome.clone());
            if next(&state).node().is_none() {
                return (round, next(&state));
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
            (Node::Prototyper, Outcome::ReplyUnusable(key()), 2, StopReason::ReplyUnusable),
        ] {
            assert_eq!(fail_at(node, &outcome), (fixes, Step::Stop(reason)), "{outcome:?}");
        }
    }

    #[test]
    fn a_step_entered_too_often_is_a_loop_whatever_the_limits() {
        let mut state = PortState::new(Limits { compile_fixes: 1_000, ..Limits::default() });
        let mut built = 0;
        while next(&state).node().is_some() {
            apply(&mut state, candidate(built));
            apply(&mut state, Outcome::AuditPassed);
            apply(&mut state, Outcome::DoesNotCompile(format!("{built}")));
            built += 1;
        }
        assert_eq!(next(&state), Step::Stop(StopReason::Loop));
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

    /// Something that `node` can have as its outcome; small dice go on, large ones do not.
    fn outcome_of(node: Node, dice: u8, n: u32) -> Outcome {
        use Outcome as O;
        let key = (n % 3).to_string();
        let (forward, other) = match node {
            Node::Prototyper | Node::Enhancer => {
                (candidate(n), vec![O::ReplyUnusable(key), O::ModelTruncated])
            }
            Node::Audit => (O::AuditPassed, vec![O::AuditRejected(key)]),
            Node::Build => (O::Built, vec![O::DoesNotCompile(key.clone()), O::AuditRejected(key)]),
            Node::Smoke | Node::Fuzz => (O::Unrefuted, vec![O::Refuted(key), O::Vacuous]),
            Node::Accept => (O::AcceptanceUnrefuted, vec![O::AcceptanceRefuted(key), O::Vacuous]),
        };
        match dice {
            0..=59 => forward,
            60..=98 => other[dice as usize % other.len()].clone(),
            // Of some other step, most often.
            _ => [O::Unrefuted, O::AcceptanceUnrefuted, O::Built, O::BudgetExhausted][n as usize % 4].clone(),
        }
    }

    proptest! {
        #[test]
        fn every_walk_ends_within_its_limits_and_skips_nothing(
            dice in prop::collection::vec((0..100u8, 0..1_000u32), 7 * NODE_VISITS as usize + 1),
            compile_fixes in 0..20u32, validation_fixes in 0..20u32, repairs in 0..20u32,
        ) {
            let limits = Limits { compile_fixes, validation_fixes, repairs };
            let mut state = PortState::new(limits);
            // Since the last candidate.
            let mut seen: Vec<Outcome> = Vec::new();
            for (dice, n) in dice {
                let step = next(&state);
                let Some(node) = step.node() else { break };
                let outcome = outcome_of(node, dice, n);
                let has = |wanted: &Outcome| seen.contains(wanted);
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
                let paid = state.counters();
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
            // There were as many dice as there can be visits.
            prop_assert!(next(&state).node().is_none(), "{:?} did not end", state);
        }
    }
}
