//! What the functions of a run share: models, the store, the measurements for proofs.

use super::prompt::Templates;
use super::resume::{Plan, Standing};
use crate::error::Result;
use crate::event::Reporter;
use crate::judge::Judge;
use crate::judge::findings;
use crate::judge::proofs::Grounds;
use crate::llm::Exchange;
use crate::llm::model_session::{ModelSession, Traced};
use crate::platform::process::Interrupt;
use crate::port::c2rust::{Text, Transpiler};
use crate::project::{FunctionPlan, Project};
use crate::store::{FindingId, Store};
use crate::symbol::{Function, RelPath, SymbolKey};
use crate::verdict::{CFault, Finding};
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// What the functions of a run share.
pub struct Session<'p> {
    pub project: &'p Project,
    pub judge: Judge<'p>,
    pub store: &'p mut Store,
    pub reporter: &'p mut dyn Reporter,
    pub models: &'p mut ModelSession,
    pub templates: &'p Templates,
    /// The measurements for proofs, made before any model was asked.
    pub grounds: Grounds,
    /// The action for each requested function.
    pub plans: BTreeMap<SymbolKey, Plan>,
    /// The judgements of existing ports.
    pub standing: Standing,
    /// c2rust, which is tried before any model.
    pub transpiler: Option<Arc<Transpiler>>,
    /// c2rust's text of each unit.
    pub translated: BTreeMap<RelPath, std::result::Result<Rc<Text>, String>>,
    /// The budget allows no further questions.
    pub exhausted: bool,
    /// Stops other threads: set by the user's Ctrl-C, or when the run fails.
    pub stop: Interrupt,
    /// Number of ports that this run has put into the tree.
    pub tree: u64,
}

impl Session<'_> {
    /// Charges and stores a model's answer.
    pub fn heard(&mut self, function: &Function, exchange: &Exchange, traced: (usize, Traced)) -> Result<()> {
        self.models.heard((self.store, self.reporter), function, exchange, traced)
    }

    /// Stores a C fault of this run, and reports it.
    pub fn keep_c_fault(&mut self, planned: &FunctionPlan, found: &CFault) -> Result<FindingId> {
        findings::keep_c_fault((self.store, Some(self.models.id)), planned, found, self.reporter)
    }

    /// Stores a finding of this run.
    pub fn record_finding(
        &mut self,
        planned: &FunctionPlan,
        found: (&Finding, &str),
        dir: &Path,
    ) -> Result<()> {
        self.judge.record_finding(self.store, self.models.id, planned, found, dir).map(drop)
    }
}
