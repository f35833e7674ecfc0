//! Measures the tests of one symbol: its harness with mutants of C, and a build that counts branches. Both are
//! built once per run; no port is called.

use crate::error::Result;
use crate::event::Reporter;
use crate::fuzz::campaign::Campaign;
use crate::fuzz::evaluate_inputs::{Kills, Outcome};
use crate::fuzz::held_back::HeldBack;
use crate::judge::Judge;
use crate::judge::coverage::{Counting, Missed, Side, Sides};
use crate::judge::mutation_score::Bench;
use crate::platform::process::Interrupt;
use crate::project::FunctionPlan;
use crate::verdict::{Measured, Share};
use serde_json::Value;
use std::collections::BTreeSet;

/// The builds for one symbol.
pub struct Instruments<'a, 'p> {
    judge: &'a Judge<'p>,
    planned: &'a FunctionPlan,
    pub campaign: Campaign,
    pub bench: Bench,
    counting: Counting,
    held_back: HeldBack,
    /// Why mutants are inconclusive, if they could not all be run.
    broken: Option<String>,
}

/// The coverage of the C function by some inputs.
#[derive(Debug, Clone)]
pub struct Reached {
    pub share: Measured<Share>,
    /// Branches that were not taken, without unreachable ones.
    pub missed: Vec<Missed>,
}

impl<'a, 'p> Instruments<'a, 'p> {
    /// Builds the harness with mutants and the coverage build.
    pub fn build(
        judge: &'a Judge<'p>,
        planned: &'a FunctionPlan,
        reporter: &mut dyn Reporter,
    ) -> Result<Self> {
        let bench = Bench::build(judge, planned, reporter)?;
        let counting = Counting::build(judge, &[planned], Sides::C, reporter)?;
        let own = judge.campaign(&bench.binary, planned);
        let campaign = Campaign { work: own.work.join("testgen"), ..own };
        let held_back = judge.held_back(planned)?;
        Ok(Self { judge, planned, campaign, bench, counting, held_back, broken: None })
    }

    /// Runs C twice on each input.
    pub fn measure(&self, inputs: &[Value]) -> Result<Vec<Outcome>> {
        self.campaign.measure(inputs, self.judge.interrupt)
    }

    /// C's results on call sequences that the tool made; calls in them may lack their handles.
    pub fn ran(&self, inputs: &[Value]) -> Result<Vec<Outcome>> {
        self.campaign.ran(inputs, self.judge.interrupt)
    }

    /// For each input, the numbers of the mutants that it kills. If they could not all be run, mutants are
    /// inconclusive from then on.
    pub fn kills(&mut self, inputs: &[&Vec<u8>]) -> Result<Vec<Kills>> {
        let none = vec![None; inputs.len()];
        if self.bench.mutants.is_empty() || self.broken.is_some() || inputs.is_empty() {
            return Ok(none);
        }
        let table = (self.bench.mutants.len() + 1, &self.bench.same);
        Ok(match self.campaign.told_by(inputs, table, self.judge.interrupt)? {
            Measured::Yes(kills) => {
                kills.iter().flatten().for_each(|kills| self.bench.note(kills));
                kills
            }
            Measured::No(why) => {
                self.broken = Some(why);
                none
            }
        })
    }

    /// Numbers of the mutants that tests should kill; empty where mutants are inconclusive.
    pub fn telling(&self) -> BTreeSet<usize> {
        self.unless_broken(self.bench.telling())
    }

    /// Numbers of the mutants of callees that tests should kill; empty where mutants are inconclusive.
    pub fn telling_over_callees(&self) -> BTreeSet<usize> {
        self.unless_broken(self.bench.telling_over_callees())
    }

    /// The number of the cheat that is built like a mutant, if it could be built.
    pub fn saturating(&self) -> Option<usize> {
        self.bench.saturating.filter(|_| self.broken.is_none())
    }

    /// Why no mutant of the function was run; `None` if some were.
    pub fn without_mutants(&self) -> Option<&String> {
        self.broken.as_ref().or(self.bench.without.as_ref())
    }

    fn unless_broken(&self, numbers: BTreeSet<usize>) -> BTreeSet<usize> {
        if self.broken.is_some() { BTreeSet::new() } else { numbers }
    }

    /// The coverage of the C function by all these inputs together.
    pub fn reached(&self, inputs: &[&Vec<u8>]) -> Result<Reached> {
        let side = self.counting.of_inputs(self.judge, self.planned, inputs)?;
        let missed = match &side {
            Side::Measured(covered) => covered.missed.iter().filter(|way| !way.impossible).cloned().collect(),
            Side::Unmeasured { .. } => Vec::new(),
        };
        Ok(Reached { share: side.share(), missed })
    }

    /// The flag that Ctrl-C sets.
    pub fn interrupt(&self) -> &'a Interrupt {
        self.judge.interrupt
    }

    /// Whether no prompt may show this input or mutant: true for about half of them.
    pub fn is_hidden(&self, bytes: &[u8]) -> bool {
        self.held_back.holds(bytes)
    }
}
