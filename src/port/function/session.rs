//! What the functions of a run share: models, the store, the measurements for proofs.

use crate::error::Result;
use crate::event::Reporter;
use crate::evidence::fingerprint::Fingerprint;
use crate::judge::in_place;
use crate::judge::proofs::Grounds;
use crate::judge::{Judge, Judging};
use crate::llm::model_session::ModelSession;
use crate::platform::process::Interrupt;
use crate::port::c2rust::{Text, Transpiler};
use crate::port::plan::redo::Redo;
use crate::port::plan::resume::{Plan, Standing};
use crate::port::prompt::Templates;
use crate::project::ported::Ported;
use crate::project::{FunctionPlan, Project};
use crate::store::Store;
use crate::symbol::{RelPath, SymbolKey};
use std::collections::BTreeMap;
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
    /// The drivers that judge in place, beside harnesses or in their stead.
    pub place: Option<Rc<in_place::Grounds>>,
    /// The action for each requested function.
    pub plans: BTreeMap<SymbolKey, Plan>,
    /// The judgements of existing ports.
    pub standing: Standing,
    /// What stood in the tree for each function before anything was asked.
    pub beginnings: BTreeMap<SymbolKey, Beginning>,
    /// Which existing ports are written anew.
    pub redo: Redo,
    /// c2rust, which is tried before any model.
    pub transpiler: Option<Arc<Transpiler>>,
    /// c2rust's text of each unit.
    pub translated: BTreeMap<RelPath, std::result::Result<Rc<Text>, String>>,
    /// The budget allows no further questions.
    pub exhausted: bool,
    /// How many functions in a row were given up because no model answered.
    pub unanswered: u32,
    /// Stops other threads: set by the user's Ctrl-C, or when the run fails.
    pub stop: Interrupt,
    /// Number of ports that this run has put into the tree.
    pub tree: u64,
}

/// What stood in the tree for a function when its pass began.
#[derive(Debug, Clone)]
pub struct Beginning {
    pub fingerprint: Fingerprint,
    pub had_port: bool,
}

impl Beginning {
    /// What stands in the tree now.
    pub fn of(judge: &Judge, planned: &FunctionPlan) -> Result<Self> {
        let had_port = judge.project.ported(&planned.function) == Ported::Yes;
        Ok(Self { fingerprint: judge.fingerprint(planned)?, had_port })
    }
}

impl<'p> Session<'p> {
    /// A session in which nothing is planned yet.
    pub fn new(
        judge: Judge<'p>,
        store: &'p mut Store,
        reporter: &'p mut dyn Reporter,
        models: &'p mut ModelSession,
        templates: &'p Templates,
        transpiler: Option<&Arc<Transpiler>>,
    ) -> Self {
        Self {
            project: judge.project,
            stop: judge.interrupt.child(),
            judge,
            store,
            reporter,
            models,
            templates,
            grounds: Grounds::default(),
            place: None,
            plans: BTreeMap::new(),
            standing: Standing::default(),
            beginnings: BTreeMap::new(),
            redo: Redo::No,
            transpiler: transpiler.cloned(),
            translated: BTreeMap::new(),
            exhausted: false,
            unanswered: 0,
            tree: 0,
        }
    }

    /// The judge at work in this run.
    pub fn judging(&mut self) -> Judging<'_, 'p> {
        Judging { judge: &self.judge, store: self.store, reporter: self.reporter, run: Some(self.models.id) }
    }
}
