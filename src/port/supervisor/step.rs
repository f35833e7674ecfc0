//! What the supervisor speaks of: steps, what comes of them, and the ends of a port.

use crate::verdict::CFaultKind;

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Have c2rust translate the C text.
    Translate,
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
    /// Fuzz for `SMOKE_EXECUTIONS`, to find coarse errors at once.
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
    /// The node that this step enters; none for the two ends.
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

/// How a port goes round in circles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Circle {
    /// A candidate came that was there before.
    SameText,
    /// Two fixes on end left the same failure.
    SameFailure,
    /// A step was entered too often.
    SameStep(Node),
}

/// Why a port ends without an accepted candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    DoesNotCompile,
    RejectedByAudit,
    Refuted,
    TargetNotCalled,
    /// C alone is the reason why its port cannot be judged: no fix is paid for, and nobody is asked.
    CFault(CFaultKind),
    /// c2rust has no candidate.
    NotTranslated,
    ReplyUnusable,
    ModelTruncated,
    ModelRefused,
    /// Tokens, money or time are spent.
    Budget,
    /// It goes round in circles.
    Loop(Circle),
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

/// What came of a step. Keys are normalised, so that the same failure has the same key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The text of the candidate.
    CandidateReceived(String),
    /// c2rust has none, for this reason.
    NotTranslated(String),
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
    CFault(CFaultKind),
    AcceptanceUnrefuted,
    AcceptanceRefuted(String),
    BudgetExhausted,
    /// Other ports came into the tree after the accepted candidate was put into a copy of it.
    TreeMoved,
}
