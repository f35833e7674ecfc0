//! Unreachable parts of functions according to the optimiser. Each unit is compiled for this once, and only if some
//! part was not reached.

use crate::c::optimised::optimised;
use crate::error::Result;
use crate::fuzz::coverage::Optimised;
use crate::judge::Judge;
use crate::project::FunctionPlan;
use crate::symbol::RelPath;
use camino::Utf8Path;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The optimised text of units, loaded on demand.
#[derive(Debug, Default)]
pub struct Proved(RefCell<BTreeMap<RelPath, Option<String>>>);

impl Proved {
    /// The optimiser's facts about a function; `None` where the compiler's output is not understood.
    pub fn of(&self, judge: &Judge, planned: &FunctionPlan) -> Result<Option<Optimised>> {
        let project = judge.project;
        let root = Utf8Path::from_path(project.workspace.root());
        let unit = project.library.unit_of.get(&planned.function.key);
        let (Some(root), Some(unit)) = (root, unit) else { return Ok(None) };
        let mut known = self.0.borrow_mut();
        if !known.contains_key(unit) {
            let cc = &project.toolchain(judge.interrupt)?.cc.path;
            let scratch = project.workspace.cache().join("coverage/optimised");
            let text = optimised(root, (&project.library, unit), (cc, &scratch), judge.interrupt)?;
            known.insert(unit.clone(), text);
        }
        let text = known.get(unit).and_then(Option::as_deref);
        Ok(text.and_then(|text| Optimised::of(text, &planned.function.c_name)))
    }
}
