//! The reasons of steps in a trace. Pure, like the whole supervisor.

use super::{Circle, Lost, NODE_VISITS, Node, PortState, SAME_FAILURES, Step, StopReason, Why};
use crate::config::Maker;

/// The reason for `step`, which must be the state's next one.
pub fn why(state: &PortState, step: &Step) -> String {
    match step {
        Step::Translate => "c2rust is tried before any model".into(),
        Step::AskPrototyper { .. } | Step::AskEnhancer { .. } if is_first(state) => after(state),
        Step::AskPrototyper { reply_problem: None } => "there is no candidate yet".into(),
        Step::AskPrototyper { .. } => format!("the reply was unusable: {}", fix(state, UNUSABLE)),
        Step::AskEnhancer { why, reply_problem: Some(_), .. } => {
            format!("the reply was unusable: {}; the candidate {}", fix(state, UNUSABLE), lacks(state, *why))
        }
        Step::AskEnhancer { why, repeated, .. } => {
            let again = if *repeated { "; the last fix left the same failure" } else { "" };
            format!("the candidate {}: {}{again}", lacks(state, *why), fix(state, *why))
        }
        Step::Audit | Step::Build | Step::Smoke | Step::Accept if state.settling => {
            "it is accepted, but other ports entered the tree, or files changed, meanwhile: it is checked again there".into()
        }
        Step::Audit => "a new candidate: nothing is built before the audit".into(),
        Step::Build => "the audit found nothing".into(),
        Step::Smoke => "it is built, and passed the linkage proof: a short run first".into(),
        Step::Fuzz => "the short run did not refute it".into(),
        Step::Accept if let Some(lost) = state.lost => {
            let why = match lost {
                Lost::Fault(fault) => {
                    format!("C, and not the port, is at fault in its harness ({})", fault.word())
                }
                Lost::Inconclusive => "the run of its harness was inconclusive".to_owned(),
            };
            format!("{why}: drivers judge it in place")
        }
        Step::Accept if !state.has_harness => {
            "it is built, and passed the linkage proof: drivers judge it in place".into()
        }
        Step::Accept => "the run of the loop did not refute it".into(),
        Step::Done if !state.has_harness => "no execution of a driver refuted it".into(),
        Step::Done => "neither the acceptance run nor the hidden gate refuted it".into(),
        Step::Stop(reason) => why_stopped(state, *reason),
    }
}

/// Whether a new candidate source is asked for the first time after another one.
fn is_first(state: &PortState) -> bool {
    state.before.is_some() && state.visits(Node::AskPrototyper) + state.visits(Node::AskEnhancer) == 0
}

/// Why the next candidate source is asked.
fn after(state: &PortState) -> String {
    let how = match (&state.before, state.rank) {
        (Some(StopReason::NotTranslated), 0) => return "c2rust has no candidate: a model is asked".into(),
        (Some(reason), 0) => {
            return format!("c2rust's candidate ended as {}: a model is asked", reason.word());
        }
        (reason, _) => reason.map_or("given up", StopReason::word),
    };
    let (own, all, goes_on) = match state.next {
        Step::AskEnhancer { .. } => (state.rank + 1, state.makers.enhancers, "goes on with its candidate"),
        _ => (state.rank + 1, state.makers.prototypers, "begins anew"),
    };
    format!("the model before ended as {how}: model {own} of {all} {goes_on}")
}

/// An unusable reply is charged like an inconclusive run.
const UNUSABLE: Why = Why::Vacuous;

fn why_stopped(state: &PortState, reason: StopReason) -> String {
    let spent = |why: Why| {
        if state.maker == Maker::C2rust {
            return format!("the candidate {}, and no model may be asked", lacks(state, why));
        }
        let (word, _, limit) = paid(state, why);
        format!("the candidate {}, and no {word} is left of {limit}", lacks(state, why))
    };
    match reason {
        StopReason::DoesNotCompile => spent(Why::DoesNotCompile),
        StopReason::RejectedByAudit => spent(Why::RejectedByAudit),
        StopReason::Refuted => spent(Why::Refuted),
        StopReason::TargetNotCalled => spent(Why::Vacuous),
        StopReason::CFault(fault) => format!("not the port's: {}", fault.told()),
        StopReason::NotTranslated => "c2rust has no candidate, and no model may be asked".into(),
        StopReason::ReplyUnusable => {
            let (word, _, limit) = paid(state, UNUSABLE);
            format!("the reply was unusable, and no {word} is left of {limit}")
        }
        StopReason::ModelTruncated => "the reply was cut off".into(),
        StopReason::ModelRefused => "the model refused".into(),
        StopReason::ModelTimedOut => "the model did not answer in time".into(),
        StopReason::ContractChanged => "its C code, contract or harness changed while it was ported".into(),
        StopReason::ModelFailed => "the provider refused the request".into(),
        StopReason::Budget => "the budget has no room for the next call".into(),
        StopReason::Loop(Circle::SameText) => "the candidate repeats an earlier one".into(),
        StopReason::Loop(Circle::SameFailure) => {
            format!("{SAME_FAILURES} consecutive fixes left the same failure")
        }
        StopReason::Loop(Circle::SameStep(node)) => {
            let step: &str = node.into();
            format!("`{step}` was done {NODE_VISITS} times")
        }
        StopReason::Defect => "an outcome that the step cannot have: a defect of this tool".into(),
    }
}

/// The fault of a candidate, to follow "the candidate".
fn lacks(state: &PortState, why: Why) -> &'static str {
    match why {
        Why::RejectedByAudit => "was rejected by the audit",
        Why::DoesNotCompile => "does not compile",
        Why::Refuted => "was refuted",
        Why::Vacuous if !state.has_harness => "was inconclusive where drivers call it",
        Why::Vacuous => "was inconclusive: one side was never called",
    }
}

/// The name of the fix charged for this reason, the number charged, and the limit.
fn paid(state: &PortState, why: Why) -> (&'static str, u32, u32) {
    let (counters, limits) = (state.counters, &state.limits);
    match why {
        Why::DoesNotCompile => ("compile fix", counters.compile_fixes, limits.compile_fixes),
        Why::RejectedByAudit | Why::Vacuous => {
            ("validation fix", counters.validation_fixes, limits.validation_fixes)
        }
        Why::Refuted => ("repair", counters.repairs, limits.repairs),
    }
}

/// The last charged fix for this reason.
fn fix(state: &PortState, why: Why) -> String {
    let (word, spent, limit) = paid(state, why);
    format!("{word} {spent} of {limit}")
}
