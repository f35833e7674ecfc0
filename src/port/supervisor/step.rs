//! The supervisor's types: steps, their outcomes, and the ends of a port.

use crate::verdict::CFaultKind;

/// The next action. Visits are counted by its kind, the node.
#[derive(Debug, Clone, PartialEq, Eq, strum::EnumDiscriminants)]
#[strum_discriminants(name(Node), derive(PartialOrd, Ord, strum::IntoStaticStr))]
#[strum_discriminants(strum(serialize_all = "kebab-case"), doc = "The kind of a step.")]
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

impl Step {
    /// One word, as in the trace.
    pub fn word(&self) -> &'static str {
        Node::from(self).into()
    }

    /// Whether the port ends with it.
    pub fn is_end(&self) -> bool {
        matches!(self, Self::Done | Self::Stop(_))
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
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
    ModelTimedOut,
    /// The provider refuses this request.
    ModelFailed,
    /// The contract or the harness changed while the function was ported.
    ContractChanged,
    /// The tokens, money or time of the budget are used up.
    Budget,
    /// The port makes no progress.
    Loop(Circle),
    /// The outcome does not belong to the step: a defect of this tool.
    Defect,
}

impl StopReason {
    /// Whether the answers of the models are the reason. A budget, a provider or C itself may be different in the next run.
    pub fn is_of_answers(self) -> bool {
        match self {
            Self::DoesNotCompile
            | Self::RejectedByAudit
            | Self::Refuted
            | Self::ReplyUnusable
            | Self::Loop(_) => true,
            Self::TargetNotCalled
            | Self::CFault(_)
            | Self::NotTranslated
            | Self::ModelTruncated
            | Self::ModelRefused
            | Self::ModelTimedOut
            | Self::ModelFailed
            | Self::ContractChanged
            | Self::Budget
            | Self::Defect => false,
        }
    }

    /// One word, as in tables, JSON and the database.
    pub fn word(self) -> &'static str {
        match self {
            Self::CFault(fault) => fault.word(),
            reason => reason.into(),
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
#[derive(Debug, Clone, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Outcome {
    /// The text of the candidate.
    #[strum(to_string = "candidate")]
    CandidateReceived(String),
    /// c2rust has no candidate, with the reason.
    NotTranslated(String),
    /// The fault of the reply, in words for the next prompt.
    ReplyUnusable(String),
    ModelTruncated,
    ModelRefused,
    /// There was no complete answer in time.
    ModelTimedOut,
    /// The provider refused this request.
    ModelFailed,
    #[strum(to_string = "passed")]
    AuditPassed,
    /// The audit passed, but the accepted candidate now calls other code than when it was judged.
    #[strum(to_string = "passed")]
    AuditPassedWithOtherCode,
    /// The contract or the harness is not the one that the run has read.
    ContractChanged,
    #[strum(to_string = "rejected-by-audit")]
    AuditRejected(String),
    Built,
    DoesNotCompile(String),
    Unrefuted,
    Refuted(String),
    Vacuous,
    /// An input distinguished both sides, because of a C fault.
    CFault(CFaultKind),
    #[strum(to_string = "accepted")]
    AcceptanceUnrefuted,
    #[strum(to_string = "refuted")]
    AcceptanceRefuted(String),
    #[strum(to_string = "budget")]
    BudgetExhausted,
    /// The tree has changed since the accepted candidate was spliced: another port came, or someone edited a file.
    TreeMoved,
}

impl Outcome {
    /// One word, as in the trace and in the list of attempts.
    pub fn word(&self) -> &'static str {
        match self {
            Self::CFault(fault) => fault.word(),
            outcome => outcome.into(),
        }
    }
}
