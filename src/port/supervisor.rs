//! Who does what next while one function is ported. Pure: [`next`] reads the state, [`apply`] changes it, neither does
//! anything else.
//!
//! Every question that a fix costs is paid for when its reason arises, out of one counter, in [`apply`] alone; so no
//! limit can be exceeded. Where what was asked first comes to an end, the next one goes on: after c2rust a model, after a
//! model the one behind it in its role's list, each with limits of its own.
//!
//! The words are in `step`; what a fix is told lives in `feedback`; who carries the steps out lives elsewhere; how a step is
//! told in a trace is in `trace`.

mod step;
mod trace;

pub use crate::store::Phase;
pub use step::{Circle, Node, Outcome, Step, StopReason, Why};
pub use trace::why;

use crate::config::{Limits, Maker};
use std::collections::BTreeMap;

/// How often one step may be entered, whatever the other limits say.
pub const NODE_VISITS: u32 = 10;
/// How often one failure may be left by fixes on end.
const SAME_FAILURES: u32 = 2;
/// Executions of the run that comes before the real one.
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

/// Whom a port may turn to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Makers {
    /// c2rust translates before any model is asked.
    pub c2rust: bool,
    /// How many models each role has, from the cheapest to the strongest; without any, none is asked.
    pub prototypers: usize,
    pub enhancers: usize,
}

/// Where the port of one function stands.
#[derive(Debug, Clone)]
pub struct PortState {
    limits: Limits,
    makers: Makers,
    /// Who made the last candidate, or is to make the next one.
    maker: Maker,
    /// Which model of its role is asked, from 0.
    rank: usize,
    /// How whoever was asked before came to an end.
    before: Option<StopReason>,
    stage: Stage,
    phase: Phase,
    /// The candidate is accepted, and is put into a tree that has moved: it is audited, built and tried there, no more.
    settling: bool,
    counters: Counters,
    visits: BTreeMap<Node, u32>,
    last_key: Option<String>,
    /// How many fixes on end have left the last failure.
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

    /// What was paid for so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// How often `node` was left with an outcome.
    pub fn visits(&self, node: Node) -> u32 {
        self.visits.get(&node).copied().unwrap_or(0)
    }

    /// Who made the last candidate, or is to make the next one.
    pub fn maker(&self) -> Maker {
        self.maker
    }

    /// Which model of its role is asked, from 0.
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

/// Whether the candidate is accepted but for a look at the tree that it comes into.
pub fn is_settling(state: &PortState) -> bool {
    state.settling
}

/// The next step. Asking twice without an outcome between gives the same answer.
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

/// Takes the outcome of the step that [`next`] gave. An outcome that no such step can have ends the port as a defect;
/// after an end nothing changes any more.
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

/// Where an outcome of a node leads.
fn came(state: &mut PortState, node: Node, outcome: Outcome) -> Stage {
    *state.visits.entry(node).or_default() += 1;
    // What is refuted was called, too; a run that called only one side is vacuous.
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
    }
}

/// After a question to a model.
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
                // Same question again: what the candidate needs has not changed.
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

/// The candidate is not good enough: a fix, if one can still be paid for and fixes have changed anything.
fn failed(state: &mut PortState, why: Why, key: String) -> Stage {
    state.settling = false;
    state.stage = Stage::Failed(why);
    if state.maker == Maker::C2rust {
        // It would say the same again.
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

/// Whoever was asked comes to an end: the next one goes on, where there is one. With a candidate that needs a fix it is the
/// enhancer's next model; else the prototyper's begins anew.
fn ended(state: &mut PortState, reason: StopReason) -> Stage {
    let Makers { prototypers, enhancers, .. } = state.makers;
    let (rank, stage) = match (state.maker, &state.stage) {
        // Its text helps no model: the C text says the same, and better.
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
