//! Where the inputs are on which ports differed from C: committed, or private until a candidate is accepted.

use super::Judge;
use crate::drivers;
use crate::error::Result;
use crate::platform::workspace::write_atomic;
use crate::project::FunctionPlan;
use crate::symbol::SymbolName;
use crate::verdict::Finding;
use fs_err as fs;
use std::path::{Path, PathBuf};

impl Judge<'_> {
    /// The directory of a symbol's committed counterexamples.
    pub fn seeds(&self, name: &SymbolName) -> PathBuf {
        self.project.rust_dir().join("fuzz/seeds").join(format!("fuzz_{name}"))
    }

    /// Where the input of a finding about a port in the tree is committed: with the harness, or with its driver.
    pub fn committed_seeds(&self, planned: &FunctionPlan, finding: &Finding) -> PathBuf {
        match &finding.place {
            Some(place) => drivers::committed(self.project, &place.driver),
            None => self.seeds(&planned.function.name),
        }
    }

    /// The directory of counterexamples to candidates, until a candidate is accepted.
    pub fn private_seeds(&self, name: &SymbolName) -> PathBuf {
        self.project.workspace.cache().join("seeds").join(name.as_str())
    }

    /// Like [`Judge::private_seeds`], for counterexamples that no prompt may show.
    pub fn hidden_seeds(&self, name: &SymbolName) -> PathBuf {
        self.project.workspace.cache().join("hidden").join(name.as_str())
    }

    /// Like [`Judge::private_seeds`], for inputs of this driver. A driver's inputs are no harness's.
    pub fn private_driver_seeds(&self, name: &SymbolName, driver: &str) -> PathBuf {
        self.of_drivers(name).join(drivers::folder_of(driver))
    }

    fn of_drivers(&self, name: &SymbolName) -> PathBuf {
        self.project.workspace.cache().join("driver-seeds").join(name.as_str())
    }

    /// Moves the counterexamples to candidates into the tree, to be committed with the accepted port.
    pub fn publish_seeds(&self, name: &SymbolName) -> Result<()> {
        let seeds = self.seeds(name);
        move_files(&self.private_seeds(name), &seeds)?;
        move_files(&self.hidden_seeds(name), &seeds)?;
        let of_drivers = self.of_drivers(name);
        if of_drivers.is_dir() {
            for entry in fs::read_dir(of_drivers)? {
                let from = entry?.path();
                let driver = from.file_name().unwrap_or_default();
                move_files(&from, &drivers::all_committed(self.project).join(driver))?;
            }
        }
        Ok(())
    }
}

fn move_files(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        write_atomic(&to.join(path.file_name().unwrap_or_default()), &fs::read(&path)?)?;
        fs::remove_file(&path)?;
    }
    Ok(())
}
