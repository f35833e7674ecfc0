//! What drivers' executions say of ports: more evidence beside that of harnesses, and the only one where a function has
//! no harness.

mod found;
mod grounds;
mod judged;

pub use grounds::Grounds;

use super::Judging;
use super::mutation_score::Adequacy;
use crate::drivers::{self, Inputs, Report};
use crate::error::{ErrorKind, Result};
use crate::event::Event;
use crate::project::FunctionPlan;
use crate::symbol::SymbolKey;
use crate::verdict::{Finding, Measured, Proofs, Share};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Drivers, as they were when they judged.
#[derive(Debug, Clone, Default)]
pub struct DriversUsed {
    /// Relative to the root.
    pub files: Vec<String>,
    /// Of their texts and of how they were built.
    pub hash: String,
}

/// What drivers' executions say of one port.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// Calls with different arguments in which the port did what C does.
    pub calls: u64,
    /// The drivers that reach the function.
    pub drivers: DriversUsed,
    pub finding: Option<Finding>,
    /// A difference that may be right, in words.
    pub unclear: Option<String>,
    /// Why the runs say nothing, where they ended early and the port is not at fault.
    pub broke: Option<String>,
    /// Whether no new input reaches the function.
    pub without_new: bool,
    /// What C asks the system for in calls that are not judged for it.
    pub outside: Option<String>,
    /// How well these executions tell mutants of C from it.
    pub worth: Adequacy,
    /// Branches of C in the judged calls.
    pub branches: Measured<Share>,
    /// Inputs on which a driver leaves the same with the port in C's place.
    pub whole: Measured<Share>,
}

/// This evidence, and the proofs of a harness with what it adds.
#[derive(Debug)]
pub struct Joined<'e> {
    pub evidence: &'e Evidence,
    pub proofs: Proofs,
    /// Why the harness can judge no port, if it cannot.
    pub unsound: Option<String>,
}

impl Evidence {
    /// The proofs without a harness.
    pub fn proofs(&self) -> Proofs {
        Proofs { kills: self.worth.kills(), apart: self.whole.clone(), branches: self.branches.clone() }
    }

    /// The proofs with those of a harness: a mutant is killed if either kills it.
    pub fn joined(
        &self,
        proofs: &Proofs,
        (harness, unsound): (Option<&Adequacy>, Option<String>),
    ) -> Joined<'_> {
        let kills = match harness.filter(|harness| harness.kills().value().is_some()) {
            Some(harness) => harness.with_kills_of(&self.worth).kills(),
            None => self.worth.kills(),
        };
        let better = |a: &Measured<Share>, b: &Measured<Share>| {
            let ratio = |one: &Measured<Share>| one.value().map(|share| share.ratio());
            if ratio(b) > ratio(a) { b.clone() } else { a.clone() }
        };
        let apart = if proofs.apart.value().is_some() { &proofs.apart } else { &self.whole };
        let proofs =
            Proofs { kills, apart: apart.clone(), branches: better(&proofs.branches, &self.branches) };
        Joined { evidence: self, proofs, unsound }
    }
}

impl Judging<'_, '_> {
    /// The repository's drivers with their inputs. `None` where there are none, or where none can be built, of which a
    /// warning says why.
    ///
    /// # Errors
    /// Failures of our own, and Ctrl-C.
    pub fn drivers(&mut self) -> Result<Option<Rc<Report>>> {
        let judge = self.judge;
        if !drivers::has_drivers(judge.project)? {
            return Ok(None);
        }
        let found = drivers::run(judge.project, Inputs::Kept, judge.interrupt, self.reporter);
        Ok(self.warned(found)?.map(Rc::new))
    }

    /// What drivers' executions say of these ports, which stand in the tree. A port that no driver reaches is left out.
    ///
    /// # Errors
    /// Failures of our own, and Ctrl-C.
    pub fn in_place(&mut self, ports: &[&FunctionPlan]) -> Result<BTreeMap<SymbolKey, Evidence>> {
        if ports.is_empty() {
            return Ok(BTreeMap::new());
        }
        let Some(report) = self.drivers()? else { return Ok(BTreeMap::new()) };
        let judged = Grounds::lay(self, &report, ports).and_then(|grounds| grounds.judge(self, ports, None));
        Ok(self.warned(judged)?.unwrap_or_default())
    }

    /// Turns a failure of the drivers into a warning: there is no evidence of theirs then.
    pub fn warned<T>(&mut self, found: Result<T>) -> Result<Option<T>> {
        match found {
            Err(error) if matches!(error.kind(), ErrorKind::C | ErrorKind::Environment) => {
                let text = format!("drivers judge no port: {error}");
                let help = error.help_text().map(str::to_owned);
                self.reporter.event(Event::Warning { text, help });
                Ok(None)
            }
            found => found.map(Some),
        }
    }
}
