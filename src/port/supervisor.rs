//! Chooses the next step in the port of one function. Pure: [`next`] reads the state, [`apply`] changes it, and
//! neither has other effects.
//!
//! Each fix is charged to one counter when its reason arises, in [`apply`] alone, so that no limit can be exceeded.
//! When a candidate source ends, the next one continues: after c2rust a model, after a model the next one of its
//! role, each with limits of its own.
//!
//! `step` defines the types; `feedback` writes the text for a fix; `port_function` takes the steps; `trace`
//! describes a step for the trace.

mod step;
mod trace;

pub use crate::store::Phase;
pub use step::{Circle, Node, Outcome, Step, StopReason, Why};
pub use trace::why;

use crate::config::{Limits, Maker};
use std::collections::BTreeMap;

/// Largest number of visits to one step, whatever the other limits are.
pub const NODE_VISITS: u32 = 10;
/// Largest number of consecutive fixes that leave the same failure.
const SAME_FAILURES: u32 = 2;
/// Executions of the short run before the campaign.
pub const SMOKE_EXECUTIONS: u64 = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Stage {
    /// c2rust has not translated yet.
    Untranslated,
    /// No candidate yet.
    Empty,
    Received,
    Audited,
    Built,
    Smoked,
    Fuzzed,
    /// The candidate needs a fix, which is already charged.
    Failed(Why),
    Accepted,
    Stopped(StopReason),
}

/// Numbers of charged fixes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    pub compile_fixes: u32,
    /// For audit rejections, unusable replies and inconclusive runs.
    pub validation_fixes: u32,
    /// For counterexamples.
    pub repairs: u32,
}

/// The candidate sources of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Makers {
    /// c2rust translates before any model is asked.
    pub c2rust: bool,
    /// Number of models of each role, from the cheapest to the strongest; with none, no model is asked.
    pub prototypers: usize,
    pub enhancers: usize,
}

/// The state of one function's port.
#[derive(Debug, Clone)]
pub struct PortState {
    limits: Limits,
    makers: Makers,
    /// The source of the last candidate, or of the next one.
    maker: Maker,
    /// Index of the model in its role's list.
    rank: usize,
    /// Why the previous candidate source ended.
    before: Option<StopReason>,
    stage: Stage,
    phase: Phase,
    /// The candidate is accepted, but the tree has changed: it is only audited, built and tried briefly there.
    settling: bool,
    counters: Counters,
    visits: BTreeMap<Node, u32>,
    last_key: Option<String>,
    /// Number of consecutive fixes that have left the last failure.
    repeated: u32,
    reply_problem: Option<String>,
    candidates: Vec<String>,
}

impl PortState {
    /// A port that has no candidate yet.
    pub fn new(limits: Limits, makers: Makers) -> Self {
        let (maker, stage) = match makers.c2rust {
            true => (Maker::C2rust, Stage::Untranslated),
            false => (Maker::Model, Stage::Empty),
        };
        Self {
            limits,
            makers,
            maker,
            rank: 0,
            before: None,
            stage,
            phase: Phase::Compilation,
            settling: false,
            counters: Counters::default(),
            visits: BTreeMap::new(),
            last_key: None,
            repeated: 0,
            reply_problem: None,
            candidates: Vec::new(),
        }
    }

    /// The charges so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Number of outcomes of `node`.
    pub fn visits(&self, node: Node) -> u32 {
        self.visits.get(&node).copied().unwrap_or(0)
    }

    /// The source of the last candidate, or of the next one.
    pub fn maker(&self) -> Maker {
        self.maker
    }

    /// Index of the model in its role's list.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// The candidate that is being judged.
    pub fn candidate(&self) -> Option<&str> {
        self.candidates.last().map(String::as_str)
    }
}

/// The phase that the next step belongs to.
pub fn phase(state: &PortState) -> Phase {
    state.phase
}

/// Whether the candidate is accepted and only needs checks in the changed tree.
pub fn is_settling(state: &PortState) -> bool {
    state.settling
}

/// The next step. Without an outcome in between, the answer stays the same.
pub fn next(state: &PortState) -> Step {
    let reply_problem = state.reply_problem.clone();
    match state.stage {
        Stage::Stopped(reason) => Step::Stop(reason),
        Stage::Accepted => Step::Done,
        Stage::Untranslated => Step::Translate,
        Stage::Empty => Step::AskPrototyper { reply_problem },
        Stage::Failed(why) => Step::AskEnhancer { why, repeated: state.repeated > 0, reply_problem },
        Stage::Received => Step::Audit,
        Stage::Audited => Step::Build,
        Stage::Built => Step::Smoke,
        Stage::Smoked => Step::Fuzz,
        Stage::Fuzzed => Step::Accept,
    }
}

/// Applies the outcome of the step that [`next`] gave. An outcome that this step cannot have ends the port as a
/// defect; after the end nothing changes.
pub fn apply(state: &mut PortState, outcome: Outcome) {
    if outcome == Outcome::TreeMoved && state.stage == Stage::Accepted {
        state.stage = Stage::Received;
        state.settling = true;
    } else {
        let Some(node) = next(state).node() else { return };
        state.stage = came(state, node, outcome);
    }
    if let Some(node) = next(state).node().filter(|node| state.visits(*node) >= NODE_VISITS) {
        state.stage = ended(state, StopReason::Loop(Circle::SameStep(node)));
    }
}

/// The next stage after an outcome of a node.
fn came(state: &mut PortState, node: Node, outcome: Outcome) -> Stage {
    *state.visits.entry(node).or_default() += 1;
    // A refutation also called both sides; a run that called only one side is vacuous.
    let ran = matches!(outcome, Outcome::Unrefuted | Outcome::Refuted(_));
    if ran && matches!(node, Node::Smoke | Node::Fuzz) {
        state.phase = Phase::Optimization;
    }
    match (node, outcome) {
        (_, Outcome::BudgetExhausted) => Stage::Stopped(StopReason::Budget),
        (Node::Smoke | Node::Fuzz | Node::Accept, Outcome::CFault(fault)) => {
            Stage::Stopped(StopReason::CFault(fault))
        }
        (Node::Translator, Outcome::NotTranslated(_)) => ended(state, StopReason::NotTranslated),
        (Node::Translator, Outcome::CandidateReceived(text)) => {
            state.candidates.push(text);
            Stage::Received
        }
        (Node::Prototyper | Node::Enhancer, outcome) => answered(state, outcome),
        (Node::Audit, Outcome::AuditPassed) => Stage::Audited,
        // After the build the linkage proof reads the object files, which may show what the source did not.
        (Node::Audit | Node::Build, Outcome::AuditRejected(key)) => failed(state, Why::RejectedByAudit, key),
        (Node::Build, Outcome::Built) => Stage::Built,
        (Node::Build, Outcome::DoesNotCompile(key)) => failed(state, Why::DoesNotCompile, key),
        // C may reject all inputs of such a short run, so the campaign decides.
        (Node::Smoke, Outcome::Unrefuted | Outcome::Vacuous) if state.settling => Stage::Accepted,
        (Node::Smoke, Outcome::Unrefuted | Outcome::Vacuous) => Stage::Smoked,
        (Node::Fuzz, Outcome::Unrefuted) => Stage::Fuzzed,
        (Node::Smoke | Node::Fuzz, Outcome::Refuted(key)) => failed(state, Why::Refuted, key),
        (Node::Fuzz | Node::Accept, Outcome::Vacuous) => failed(state, Why::Vacuous, "vacuous".into()),
        (Node::Accept, Outcome::AcceptanceUnrefuted) => Stage::Accepted,
        (Node::Accept, Outcome::AcceptanceRefuted(key)) => failed(state, Why::Refuted, key),
        _ => Stage::Stopped(StopReason::Defect),
    }
}

/// The next stage after a question to a model.
fn answered(state: &mut PortState, outcome: Outcome) -> Stage {
    match outcome {
        Outcome::CandidateReceived(text) => {
            state.reply_problem = None;
            let known = state.candidates.iter().any(|old| old.trim() == text.trim());
            state.candidates.push(text);
            if known { ended(state, StopReason::Loop(Circle::SameText)) } else { Stage::Received }
        }
        Outcome::ReplyUnusable(problem) => {
            state.reply_problem = Some(problem);
            let spent = &mut state.counters.validation_fixes;
            if pay(spent, state.limits.validation_fixes) {
                // Ask the same again: the candidate still needs the same.
                state.stage.clone()
            } else {
                ended(state, StopReason::ReplyUnusable)
            }
        }
        Outcome::ModelTruncated => ended(state, StopReason::ModelTruncated),
        Outcome::ModelRefused => ended(state, StopReason::ModelRefused),
        _ => Stage::Stopped(StopReason::Defect),
    }
}

/// The candidate failed: charge a fix, if the limits allow one and fixes have changed anything.
fn failed(state: &mut PortState, why: Why, key: String) -> Stage {
    state.settling = false;
    state.stage = Stage::Failed(why);
    if state.maker == Maker::C2rust {
        // c2rust would give the same text again.
        return ended(state, why.into());
    }
    state.repeated = if state.last_key.as_ref() == Some(&key) { state.repeated + 1 } else { 0 };
    state.last_key = Some(key);
    let (spent, limit) = match why {
        Why::DoesNotCompile => (&mut state.counters.compile_fixes, state.limits.compile_fixes),
        Why::RejectedByAudit | Why::Vacuous => {
            (&mut state.counters.validation_fixes, state.limits.validation_fixes)
        }
        Why::Refuted => (&mut state.counters.repairs, state.limits.repairs),
    };
    if *spent < limit && state.repeated >= SAME_FAILURES {
        return ended(state, StopReason::Loop(Circle::SameFailure));
    }
    if pay(spent, limit) { Stage::Failed(why) } else { ended(state, why.into()) }
}

/// Ends the current candidate source; the next one continues, if there is one. If a candidate needs a fix, the next
/// enhancer model gets it; otherwise the next prototyper starts anew.
fn ended(state: &mut PortState, reason: StopReason) -> Stage {
    let Makers { prototypers, enhancers, .. } = state.makers;
    let (rank, stage) = match (state.maker, &state.stage) {
        // c2rust's text does not help a model: the C text says the same more clearly.
        (Maker::C2rust, _) if prototypers > 0 => (0, Stage::Empty),
        (Maker::Model, Stage::Failed(why)) if enhancers > state.rank + 1 => {
            (state.rank + 1, Stage::Failed(*why))
        }
        (Maker::Model, _) if prototypers > state.rank + 1 => (state.rank + 1, Stage::Empty),
        _ => return Stage::Stopped(reason),
    };
    state.maker = Maker::Model;
    state.rank = rank;
    state.before = Some(reason);
    state.counters = Counters::default();
    state.visits.clear();
    state.last_key = None;
    state.repeated = 0;
    state.reply_problem = None;
    state.settling = false;
    stage
}

fn pay(spent: &mut u32, limit: u32) -> bool {
    let left = *spent < limit;
    *spent += u32::from(left);
    left
}

#[cfg(test)]
mod tests;
