//! Who does what next while one function is ported. Pure: [`next`] reads the state, [`apply`] changes it, neither does
//! anything else.
//!
//! Every question that a fix costs is paid for when its reason arises, out of one counter, in [`apply`] alone; so no
//! limit can be exceeded. What a fix is told lives in `feedback`; who carries the steps out lives elsewhere; how a step
//! is told in a trace is in `trace`.

mod trace;

pub use trace::why;

use crate::config::Limits;
use crate::verdict::CFault;
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
    /// C alone is the reason why its port cannot be judged: no fix is paid for, and nobody is asked.
    NotThePort(CFault),
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
            Self::NotThePort(fault) => fault.word(),
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
    /// An input told both sides apart, and C alone is the reason.
    NotThePort(CFault),
    AcceptanceUnrefuted,
    AcceptanceRefuted(String),
    BudgetExhausted,
    /// Other ports came into the tree after the accepted candidate was put into a copy of it.
    TreeMoved,
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

/// The two halves of a port, by which its cost is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Until a candidate was built and linked, and a run has called it and the C original.
    Compilation,
    /// From then on, whatever becomes of later candidates.
    Optimization,
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
    phase: Phase,
    /// The candidate is accepted, and is put into a tree that has moved: it is audited, built and tried there, no more.
    settling: bool,
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
            phase: Phase::Compilation,
            settling: false,
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
    let step = due(state);
    match step.node() {
        Some(node) if state.visits(node) >= NODE_VISITS => Step::Stop(StopReason::Loop),
        _ => step,
    }
}

/// The phase that the next step belongs to.
pub fn phase(state: &PortState) -> Phase {
    state.phase
}

/// Whether the candidate is accepted but for a look at the tree that it comes into.
pub fn is_settling(state: &PortState) -> bool {
    state.settling
}

/// What the stage asks for, however often that was done before.
fn due(state: &PortState) -> Step {
    let reply_problem = state.reply_problem.clone();
    match state.stage {
        Stage::Stopped(reason) => Step::Stop(reason),
        Stage::Accepted => Step::Done,
        Stage::Empty => Step::AskPrototyper { reply_problem },
        Stage::Failed(why) => Step::AskEnhancer { why, repeated: state.repeated, reply_problem },
        Stage::Received => Step::Audit,
        Stage::Audited => Step::Build,
        Stage::Built => Step::Smoke,
        Stage::Smoked => Step::Fuzz,
        Stage::Fuzzed => Step::Accept,
    }
}

/// Takes the outcome of the step that [`next`] gave. An outcome that no such step can have ends the port as a defect;
/// after an end nothing changes any more.
pub fn apply(state: &mut PortState, outcome: Outcome) {
    if outcome == Outcome::TreeMoved && state.stage == Stage::Accepted {
        state.stage = Stage::Received;
        state.settling = true;
        return;
    }
    let Some(node) = next(state).node() else { return };
    *state.visits.entry(node).or_default() += 1;
    // What is refuted was called, too; a run that called only one side is vacuous.
    let ran = matches!(outcome, Outcome::Unrefuted | Outcome::Refuted(_));
    if ran && matches!(node, Node::Smoke | Node::Fuzz) {
        state.phase = Phase::Optimization;
    }
    state.stage = match (node, outcome) {
        (_, Outcome::BudgetExhausted) => Stage::Stopped(StopReason::Budget),
        (Node::Smoke | Node::Fuzz | Node::Accept, Outcome::NotThePort(fault)) => {
            Stage::Stopped(StopReason::NotThePort(fault))
        }
        (Node::Prototyper | Node::Enhancer, outcome) => answered(state, outcome),
        (Node::Audit, Outcome::AuditPassed) => Stage::Audited,
        // After the build the object files are read: what no path told may show there.
        (Node::Audit | Node::Build, Outcome::AuditRejected(key)) => failed(state, Why::RejectedByAudit, key),
        (Node::Build, Outcome::Built) => Stage::Built,
        (Node::Build, Outcome::DoesNotCompile(key)) => failed(state, Why::DoesNotCompile, key),
        // So few executions may all be inputs that C rejects: the real run decides.
        (Node::Smoke, Outcome::Unrefuted | Outcome::Vacuous) if state.settling => Stage::Accepted,
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
    state.settling = false;
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
mod tests;
