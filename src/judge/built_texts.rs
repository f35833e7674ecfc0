//! Which texts the builds of a run had. A file may change during the run and change back, so that a build has another text
//! than the tree has before and after it.

use super::Judge;
use super::c_side::CSide;
use crate::digest::sha256;
use crate::error::Result;
use crate::project::FunctionPlan;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The texts of all builds since the last [`Judge::forget_builds`].
#[derive(Debug, Default)]
pub struct BuiltTexts {
    /// Hashes of the texts of each module.
    modules: BTreeMap<String, BTreeSet<String>>,
    /// C as it was, where it was not what the analysis had read.
    c: BTreeMap<String, Rc<CSide>>,
}

impl Judge<'_> {
    /// Remembers what an overlay has before it is built, except for files that are replaced.
    pub(super) fn remember_build(&self, overlay: &Path, replaced: &[(PathBuf, String)]) -> Result<()> {
        let names = self.names()?;
        let changed = self.changed_c()?;
        let mut built = self.built.borrow_mut();
        if let Some((hash, side)) = changed {
            built.c.insert(hash, side);
        }
        for module in names.by_module.keys() {
            let file = PathBuf::from(format!("src/{module}.rs"));
            if !replaced.iter().any(|(path, _)| *path == file) {
                let hash = fs_err::read(overlay.join(&file)).map(sha256)?;
                built.modules.entry((*module).to_owned()).or_default().insert(hash);
            }
        }
        Ok(())
    }

    /// Whether all builds had this text of the function's module, the tree's text of each module of the ports that it calls,
    /// and C text of this hash for it, which is that of the analysis.
    pub fn was_built_from(&self, planned: &FunctionPlan, module: &str, c: &str) -> Result<bool> {
        let names = self.names()?;
        let called = self.ports_called(planned)?;
        let called = called.iter().filter_map(|name| names.functions.get(name.as_str()));
        let called: BTreeSet<&str> = called.map(|other| other.function.module.as_str()).collect();
        if !self.is_c_as_read(planned, c)? {
            return Ok(false);
        }
        let built = self.built.borrow();
        let own = built.modules.get(&planned.function.module);
        let is_one = |module: &str| {
            let now = self.project.module(module).map(|module| sha256(module.text())).unwrap_or_default();
            built.modules.get(module).is_none_or(|texts| texts.iter().all(|text| *text == now))
        };
        Ok(own.is_none_or(|texts| texts.iter().all(|text| text == module))
            && called.into_iter().all(is_one)
            && built.c.values().all(|side| side.hash(&planned.function) == c))
    }

    /// Whether this hash of a function's C text is that of the analysis, which knows what the text leads to.
    pub fn is_c_as_read(&self, planned: &FunctionPlan, c: &str) -> Result<bool> {
        Ok(self.c_side()?.hash(&planned.function) == c)
    }

    /// Whether a build had other C text than the analysis.
    pub(super) fn had_other_c(&self) -> bool {
        !self.built.borrow().c.is_empty()
    }

    /// Forgets which texts earlier builds had.
    pub fn forget_builds(&self) {
        *self.built.borrow_mut() = BuiltTexts::default();
    }

    /// C as it stands now, with a hash of its files; `None` while these are as the analysis read them.
    pub(super) fn changed_c(&self) -> Result<Option<(String, Rc<CSide>)>> {
        let root = self.project.root()?;
        if self.project.c_files.changed(root).next().is_none() {
            return Ok(None);
        }
        let hash = self.project.c_files.hash_now(root);
        let mut known = self.changed_c.borrow_mut();
        match known.as_ref().filter(|(of, _)| *of == hash) {
            Some(known) => Ok(Some(known.clone())),
            None => Ok(Some(known.insert((hash, Rc::new(CSide::as_it_stands(self.project)?))).clone())),
        }
    }
}
