//! What the symbols of a run share: who is asked, the store, the grounds of proofs.

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

/// Everything that the symbols of a run share.
pub struct Session<'p> {
    pub project: &'p Project,
    pub judge: Judge<'p>,
    pub store: &'p mut Store,
    pub reporter: &'p mut dyn Reporter,
    pub models: &'p mut ModelSession,
    pub templates: &'p Templates,
    /// What proofs rest on, measured before any model was asked.
    pub grounds: Grounds,
    /// What is done about each function that is asked for.
    pub plans: BTreeMap<SymbolKey, Plan>,
    /// The ports that stood before.
    pub standing: Standing,
    /// What is tried before any model is asked.
    pub transpiler: Option<Arc<Transpiler>>,
    /// What it made of each unit.
    pub translated: BTreeMap<RelPath, std::result::Result<Rc<Text>, String>>,
    /// No further symbol can be asked about.
    pub exhausted: bool,
    /// Ends the work of other threads: set with the user's Ctrl-C, and where the run fails.
    pub stop: Interrupt,
    /// How many ports this run has put into the tree.
    pub tree: u64,
}

impl Session<'_> {
    /// What a model answered: charged and stored.
    pub fn heard(&mut self, function: &Function, exchange: &Exchange, traced: (usize, Traced)) -> Result<()> {
        self.models.heard((self.store, self.reporter), function, exchange, traced)
    }

    /// Stores what this run found out about C, and says it.
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
