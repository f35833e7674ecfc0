//! One judgement: what `verify` and `status` say of a function, as a row of their tables and as JSON (docs/formats.md).

use super::trial::Ask;
use crate::evidence::status::Trouble;
use crate::project::FunctionPlan;
use crate::store::FindingId;
use crate::symbol::SymbolName;
use crate::verdict::{CFault, Finding, Grade, Proofs, RunStats};
use serde::Serialize;

/// The judgement of one symbol.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Judgement {
    pub symbol: SymbolName,
    pub file: String,
    pub line: u32,
    pub grade: Grade,
    /// Why the grade is not better, where the grade alone does not show it.
    pub reason: Option<String>,
    pub proofs: Proofs,
    pub executions: Option<u64>,
    /// Calls in drivers' executions in which it did what C does, where the grade rests on them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_place: Option<u64>,
    /// From 0 to 1.
    pub accept_rate: Option<f64>,
    /// The time of the campaign, if it ran just now.
    pub millis: Option<u64>,
    /// The time of the isolated replay, and of its last part, with the port as it ships, if they ran just now.
    pub replay_millis: Option<u64>,
    pub shipped_millis: Option<u64>,
    /// The number of inputs that the contract has, if this run tried them all.
    pub space: Option<u64>,
    /// Functions that it calls and that still run as C.
    pub callees_in_c: Vec<SymbolName>,
    pub provenance: Option<String>,
    /// A person wrote the contract, and so decided which inputs are tried.
    pub contract_edited: bool,
    /// The contract follows from calls that drivers made, and not from the C text alone.
    pub contract_learned: bool,
    /// How the last run left it, where it has no port.
    pub last_run: Option<String>,
    /// A problem of a port that was not judged just now.
    #[serde(skip)]
    pub trouble: Option<Trouble>,
    /// Why the port is judged again before another port builds on it although its record holds.
    #[serde(skip)]
    pub unconfirmed: Option<String>,
    #[serde(skip)]
    pub finding: Option<(FindingId, Finding)>,
    /// The C faults that the run found.
    #[serde(skip)]
    pub c_faults: Vec<(FindingId, CFault)>,
    /// C itself is the reason why no port of it can be judged.
    #[serde(skip)]
    pub c_fault: bool,
}

impl Judgement {
    pub(super) fn new(planned: &FunctionPlan, grade: Grade, reason: Option<String>) -> Self {
        Self {
            symbol: planned.function.name.clone(),
            file: planned.function.place.file.to_string(),
            line: planned.function.place.line,
            grade,
            reason,
            // A contract that a model proposed is not a person's; another remark reports it.
            contract_learned: planned.learned,
            contract_edited: planned.edited
                && planned.judgeable.contract().is_none_or(|contract| contract.proposed_by.is_none()),
            ..Self::default()
        }
    }

    /// How thoroughly a run must judge this port before it builds on it; `None` for a refuted port.
    pub fn ask(&self) -> Option<Ask> {
        match self.trouble {
            Some(Trouble::Refuted) => None,
            None if self.grade.holds() && self.unconfirmed.is_none() => {
                Some(Ask::Short(Box::new(self.clone())))
            }
            _ => Some(Ask::Whole),
        }
    }

    /// Whether a short run is enough before another port builds on it.
    pub fn is_confirmed(&self) -> bool {
        matches!(self.ask(), Some(Ask::Short(_)))
    }

    pub(super) fn with(mut self, stats: &RunStats) -> Self {
        self.executions = Some(stats.executions);
        self.in_place = (stats.in_place > 0).then_some(stats.in_place);
        self.accept_rate = stats.accept_rate();
        (self.millis, self.space) = (Some(stats.millis), stats.space);
        (self.replay_millis, self.shipped_millis) = (Some(stats.replay_millis), Some(stats.shipped_millis));
        self
    }
}
