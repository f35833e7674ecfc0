//! The supervisor's types: steps, their outcomes, and the ends of a port.

use crate::verdict::CFaultKind;

/// The next action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Have c2rust translate the C text.
    Translate,
    /// Ask for a first candidate; `reply_problem` is the fault of the last reply, if any.
    AskPrototyper {
        reply_problem: Option<String>,
    },
    /// Ask for a fix. `repeated`: the last fix left the same failure.
    AskEnhancer {
        why: Why,
        repeated: bool,
        reply_problem: Option<String>,
    },
    /// Check the source rules.
    Audit,
    Build,
    /// Fuzz for `SMOKE_EXECUTIONS`, to find gross errors quickly.
    Smoke,
    Fuzz,
    /// Run the acceptance run.
    Accept,
    /// The last candidate is accepted.
    Done,
    Stop(StopReason),
}

/// Steps whose visits are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    Translator,
    Prototyper,
    Enhancer,
    Audit,
    Build,
    Smoke,
    Fuzz,
    Accept,
}

impl Step {
    /// The node of this step; `None` for the two ends.
    pub fn node(&self) -> Option<Node> {
        Some(match self {
            Self::Translate => Node::Translator,
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

/// Why a candidate needs a fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    RejectedByAudit,
    DoesNotCompile,
    /// It differs from the C original.
    Refuted,
    /// The run was inconclusive: one of the two sides was never called.
    Vacuous,
}

/// A way in which a port makes no progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Circle {
    /// A candidate has the same text as an earlier one.
    SameText,
    /// Two consecutive fixes left the same failure.
    SameFailure,
    /// A step was visited too often.
    SameStep(Node),
}

/// Why a port ends without an accepted candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    DoesNotCompile,
    RejectedByAudit,
    Refuted,
    TargetNotCalled,
    /// A C fault prevents judging the port: no fix is charged, and no model is asked.
    CFault(CFaultKind),
    /// c2rust has no candidate.
    NotTranslated,
    ReplyUnusable,
    ModelTruncated,
    ModelRefused,
    /// The tokens, money or time of the budget are used up.
    Budget,
    /// The port makes no progress.
    Loop(Circle),
    /// The outcome does not belong to the step: a defect of this tool.
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
            Self::CFault(fault) => fault.word(),
            Self::NotTranslated => "not-translated",
            Self::ReplyUnusable => "reply-unusable",
            Self::ModelTruncated => "model-truncated",
            Self::ModelRefused => "model-refused",
            Self::Budget => "budget",
            Self::Loop(_) => "loop",
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

/// The outcome of a step. Keys are normalised, so that the same failure has the same key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The text of the candidate.
    CandidateReceived(String),
    /// c2rust has no candidate, with the reason.
    NotTranslated(String),
    /// The fault of the reply, in words for the next prompt.
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
    /// An input distinguished both sides, because of a C fault.
    CFault(CFaultKind),
    AcceptanceUnrefuted,
    AcceptanceRefuted(String),
    BudgetExhausted,
    /// Other ports came into the tree after the accepted candidate's overlay was made.
    TreeMoved,
}
