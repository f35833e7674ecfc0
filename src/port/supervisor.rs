//! Chooses the next step in the port of one function. Pure: [`next`] reads the state, [`apply`] changes it, and
//! neither has other effects.
//!
//! Each fix is charged to one counter when its reason arises, in [`apply`] alone, so that no limit can be exceeded.
//! When a candidate source ends, the next one continues: after c2rust a model, after a model the next one of its
//! role, each with limits of its own.
//!
//! `step` defines the types; `feedback` writes the text for a fix; `step_loop` takes the steps; `trace`
//! describes a step for the trace.

mod step;
mod trace;

pub use crate::store::Phase;
pub use step::{Circle, Node, Outcome, Step, StopReason, Why};
pub use trace::why;

use crate::config::{Limits, Maker};
use crate::verdict::CFaultKind;
use std::collections::BTreeMap;

/// Largest number of visits to one step, whatever the other limits are.
pub const NODE_VISITS: u32 = 10;
/// Largest number of consecutive fixes that leave the same failure.
const SAME_FAILURES: u32 = 2;
/// Executions of the short run before the campaign.
pub const SMOKE_EXECUTIONS: u64 = 100;

/// Numbers of charged fixes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    pub compile_fixes: u32,
    /// For audit rejections, unusable replies and inconclusive runs.
    pub validation_fixes: u32,
    /// For counterexamples.
    pub repairs: u32,
}

/// Why a harness does not judge a candidate, which drivers then judge alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lost {
    /// C's fault.
    Fault(CFaultKind),
    /// Its run called only one side, or none, or did not come to its end.
    Inconclusive,
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
    next: Step,
    phase: Phase,
    /// The candidate is accepted, but the tree has changed: it is only audited, built and tried briefly there, unless it
    /// calls other code now.
    settling: bool,
    /// Whether a harness judges the present candidate. Without one, only the acceptance run, inside of drivers'
    /// executions, tries it.
    has_harness: bool,
    /// Whether one judges each new candidate.
    begins_with_harness: bool,
    /// Whether drivers can judge alone.
    has_drivers: bool,
    /// Why the harness no longer judges the candidate.
    lost: Option<Lost>,
    counters: Counters,
    visits: BTreeMap<Node, u32>,
    /// How often the tree changed before the accepted candidate was in it.
    moves: u32,
    last_key: Option<String>,
    /// Number of consecutive fixes that have left the last failure.
    repeated: u32,
    candidates: Vec<String>,
}

impl PortState {
    /// A port that has no candidate yet.
    pub fn new(limits: Limits, makers: Makers) -> Self {
        let (maker, next) = match makers.c2rust {
            true => (Maker::C2rust, Step::Translate),
            false => (Maker::Model, Step::AskPrototyper { reply_problem: None }),
        };
        Self {
            limits,
            makers,
            maker,
            rank: 0,
            before: None,
            next,
            phase: Phase::Compilation,
            settling: false,
            has_harness: true,
            begins_with_harness: true,
            has_drivers: false,
            lost: None,
            counters: Counters::default(),
            visits: BTreeMap::new(),
            moves: 0,
            last_key: None,
            repeated: 0,
            candidates: Vec::new(),
        }
    }

    /// The same for a function that has no harness.
    #[must_use]
    pub fn without_harness(self) -> Self {
        Self { has_harness: false, begins_with_harness: false, ..self }
    }

    /// The same for a function that drivers can judge alone, if the harness cannot.
    #[must_use]
    pub fn with_drivers(self) -> Self {
        Self { has_drivers: true, ..self }
    }

    /// Whether harness runs try the candidate before its acceptance.
    pub fn has_harness(&self) -> bool {
        self.has_harness
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
    state.next.clone()
}

/// Applies the outcome of the step that [`next`] gave. An outcome that this step cannot have ends the port as a
/// defect; after the end nothing changes.
pub fn apply(state: &mut PortState, outcome: Outcome) {
    match Node::from(&state.next) {
        Node::Done if outcome == Outcome::TreeMoved => {
            state.next = Step::Audit;
            state.settling = true;
            state.moves += 1;
        }
        Node::Done | Node::Stop => return,
        node => state.next = came(state, node, outcome),
    }
    let node = Node::from(&state.next);
    let visits = if state.settling { state.moves } else { state.visits(node) };
    if visits >= NODE_VISITS {
        state.next = ended(state, StopReason::Loop(Circle::SameStep(node)));
    }
}

/// The next step after an outcome of a step.
fn came(state: &mut PortState, node: Node, outcome: Outcome) -> Step {
    // Checks in a changed tree are no attempts: `moves` limits them.
    *state.visits.entry(node).or_default() += u32::from(!state.settling);
    // A refutation also called both sides; a run that called only one side is vacuous.
    let ran = matches!(outcome, Outcome::Unrefuted | Outcome::Refuted(_));
    let accepting = matches!(outcome, Outcome::AcceptanceUnrefuted | Outcome::AcceptanceRefuted(_));
    if ran && matches!(node, Node::Smoke | Node::Fuzz) || accepting && node == Node::Accept {
        state.phase = Phase::Optimization;
    }
    match (node, outcome) {
        (_, Outcome::BudgetExhausted) => Step::Stop(StopReason::Budget),
        (Node::Audit, Outcome::ContractChanged) => Step::Stop(StopReason::ContractChanged),
        (Node::Smoke | Node::Fuzz | Node::Accept, Outcome::CFault(fault))
            if state.has_harness && state.has_drivers =>
        {
            drivers_alone(state, Lost::Fault(fault))
        }
        (Node::Smoke | Node::Fuzz | Node::Accept, Outcome::CFault(fault)) => {
            Step::Stop(StopReason::CFault(fault))
        }
        (Node::Translate, Outcome::NotTranslated(_)) => ended(state, StopReason::NotTranslated),
        (Node::Translate, Outcome::CandidateReceived(text)) => {
            state.candidates.push(text);
            Step::Audit
        }
        (Node::AskPrototyper | Node::AskEnhancer, outcome) => answered(state, outcome),
        // What judged the accepted candidate judges it in the changed tree.
        (Node::Audit, Outcome::AuditPassed) if state.settling => Step::Build,
        (Node::Audit, Outcome::AuditPassed | Outcome::AuditPassedWithOtherCode) => {
            // A fault that one candidate met says nothing of the next one.
            (state.has_harness, state.lost) = (state.begins_with_harness, None);
            // What was judged is not what would be recorded, so all of it is judged again. `moves` limits that.
            if std::mem::take(&mut state.settling) {
                state.visits.clear();
            }
            Step::Build
        }
        // After the build the linkage proof reads the object files, which may show what the source did not.
        (Node::Audit | Node::Build, Outcome::AuditRejected(key)) => failed(state, Why::RejectedByAudit, key),
        (Node::Build, Outcome::Built) if state.has_harness => Step::Smoke,
        (Node::Build, Outcome::Built) => Step::Accept,
        (Node::Build, Outcome::DoesNotCompile(key)) => failed(state, Why::DoesNotCompile, key),
        // What drivers said may be about other callees.
        (Node::Smoke, Outcome::Unrefuted | Outcome::Vacuous) if state.settling && state.has_drivers => {
            Step::Accept
        }
        (Node::Smoke, Outcome::Unrefuted | Outcome::Vacuous) if state.settling => Step::Done,
        // C may reject all inputs of such a short run, so the campaign decides.
        (Node::Smoke, Outcome::Unrefuted | Outcome::Vacuous) => Step::Fuzz,
        (Node::Fuzz, Outcome::Unrefuted) => Step::Accept,
        (Node::Smoke | Node::Fuzz, Outcome::Refuted(key)) => failed(state, Why::Refuted, key),
        // Most often C accepts no input of its harness, and no other candidate would help. A port can bring it about, so
        // the grade stays weak at best.
        (Node::Fuzz | Node::Accept, Outcome::Vacuous) if state.has_harness && state.has_drivers => {
            drivers_alone(state, Lost::Inconclusive)
        }
        (Node::Fuzz | Node::Accept, Outcome::Vacuous) => failed(state, Why::Vacuous, "vacuous".into()),
        (Node::Accept, Outcome::AcceptanceUnrefuted) => Step::Done,
        (Node::Accept, Outcome::AcceptanceRefuted(key)) => failed(state, Why::Refuted, key),
        _ => Step::Stop(StopReason::Defect),
    }
}

/// Goes on without the harness.
fn drivers_alone(state: &mut PortState, lost: Lost) -> Step {
    (state.has_harness, state.lost) = (false, Some(lost));
    Step::Accept
}

/// The next step after a question to a model.
fn answered(state: &mut PortState, outcome: Outcome) -> Step {
    match outcome {
        Outcome::CandidateReceived(text) => {
            let known = state.candidates.iter().any(|old| old.trim() == text.trim());
            if known {
                // The next model sees the last candidate that was judged, which the feedback is about.
                return ended(state, StopReason::Loop(Circle::SameText));
            }
            state.candidates.push(text);
            Step::Audit
        }
        Outcome::ReplyUnusable(problem) => {
            let spent = &mut state.counters.validation_fixes;
            if !pay(spent, state.limits.validation_fixes) {
                return ended(state, StopReason::ReplyUnusable);
            }
            // Ask the same again: the candidate still needs the same.
            let reply_problem = Some(problem);
            match state.next {
                Step::AskEnhancer { why, repeated, .. } => Step::AskEnhancer { why, repeated, reply_problem },
                _ => Step::AskPrototyper { reply_problem },
            }
        }
        Outcome::ModelTruncated => ended(state, StopReason::ModelTruncated),
        Outcome::ModelRefused => ended(state, StopReason::ModelRefused),
        Outcome::ModelTimedOut => ended(state, StopReason::ModelTimedOut),
        Outcome::ModelFailed => ended(state, StopReason::ModelFailed),
        _ => Step::Stop(StopReason::Defect),
    }
}

/// The candidate failed: charge a fix, if the limits allow one and fixes have changed anything.
fn failed(state: &mut PortState, why: Why, key: String) -> Step {
    state.settling = false;
    state.next = fix(why, false);
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
    if pay(spent, limit) { fix(why, state.repeated > 0) } else { ended(state, why.into()) }
}

/// The question for a fix, which is already charged.
fn fix(why: Why, repeated: bool) -> Step {
    Step::AskEnhancer { why, repeated, reply_problem: None }
}

/// Ends the current candidate source; the next one continues, if there is one. If a candidate needs a fix, the next
/// enhancer model gets it; otherwise the next prototyper starts anew.
fn ended(state: &mut PortState, reason: StopReason) -> Step {
    let Makers { prototypers, enhancers, .. } = state.makers;
    let anew = Step::AskPrototyper { reply_problem: None };
    let (rank, next) = match (state.maker, &state.next) {
        // c2rust's text does not help a model: the C text says the same more clearly.
        (Maker::C2rust, _) if prototypers > 0 => (0, anew),
        (Maker::Model, Step::AskEnhancer { why, .. }) if enhancers > state.rank + 1 => {
            (state.rank + 1, fix(*why, false))
        }
        (Maker::Model, _) if prototypers > state.rank + 1 => (state.rank + 1, anew),
        _ => return Step::Stop(reason),
    };
    state.maker = Maker::Model;
    state.rank = rank;
    state.before = Some(reason);
    state.counters = Counters::default();
    state.visits.clear();
    state.moves = 0;
    state.last_key = None;
    state.repeated = 0;
    state.settling = false;
    next
}

fn pay(spent: &mut u32, limit: u32) -> bool {
    let left = *spent < limit;
    *spent += u32::from(left);
    left
}

#[cfg(test)]
mod tests;
