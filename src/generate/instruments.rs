//! What measures the tests of one symbol: its harness with mutants of C beside it, and a build that counts branches. Both are built
//! once for a run; no port is called.

use crate::adequacy::Bench;
use crate::error::Result;
use crate::event::Reporter;
use crate::fuzz::gate::HeldBack;
use crate::fuzz::measure::Outcome;
use crate::fuzz::run::Campaign;
use crate::judge::Judge;
use crate::process::Interrupt;
use crate::project::Planned;
use crate::reach::{Counting, Missed, Side};
use crate::verdict::{Measured, Share};
use serde_json::Value;
use std::collections::BTreeSet;

/// All that is run for one symbol.
pub struct Instruments<'a, 'p> {
    judge: &'a Judge<'p>,
    planned: &'a Planned,
    pub campaign: Campaign,
    pub bench: Bench,
    counting: Counting,
    held_back: HeldBack,
}

/// How much of the C function some inputs reach.
#[derive(Debug, Clone)]
pub struct Reached {
    pub share: Measured<Share>,
    /// Ways that were not taken, but for those that nothing can take.
    pub missed: Vec<Missed>,
}

impl<'a, 'p> Instruments<'a, 'p> {
    /// Builds both.
    ///
    /// # Errors
    /// Those of the builds, and Ctrl-C.
    pub fn build(judge: &'a Judge<'p>, planned: &'a Planned, reporter: &mut dyn Reporter) -> Result<Self> {
        let bench = Bench::build(judge, planned, reporter)?;
        let counting = Counting::build(judge, reporter)?;
        let own = judge.campaign(&bench.binary, planned);
        let campaign = Campaign { work: own.work.join("testgen"), ..own };
        let held_back = judge.held_back(planned)?;
        Ok(Self { judge, planned, campaign, bench, counting, held_back })
    }

    /// Runs C twice on each input.
    ///
    /// # Errors
    /// Those of starting the fuzz process, and Ctrl-C.
    pub fn measure(&self, inputs: &[Value]) -> Result<Vec<Outcome>> {
        self.campaign.measure(inputs, self.judge.interrupt)
    }

    /// For each input the numbers of the mutants that it tells from C. Where they could not all be run, mutants say nothing any more.
    ///
    /// # Errors
    /// Those of starting the fuzz process, and Ctrl-C.
    pub fn kills(&mut self, inputs: &[&Vec<u8>]) -> Result<Vec<BTreeSet<usize>>> {
        let none = vec![BTreeSet::new(); inputs.len()];
        if self.bench.without.is_some() || inputs.is_empty() {
            return Ok(none);
        }
        Ok(match self.campaign.told_by(inputs, &self.bench.same, self.judge.interrupt)? {
            Measured::Yes(kills) => kills,
            Measured::No(why) => {
                self.bench.without = Some(why);
                none
            }
        })
    }

    /// Numbers of the mutants that a test should tell from C; none where they say nothing.
    pub fn telling(&self) -> BTreeSet<usize> {
        match self.bench.without {
            Some(_) => BTreeSet::new(),
            None => self.bench.telling(),
        }
    }

    /// How much of the C function all these inputs together reach.
    ///
    /// # Errors
    /// Those of running the process, and Ctrl-C.
    pub fn reached(&self, inputs: &[&Vec<u8>]) -> Result<Reached> {
        let side = self.counting.of_inputs(self.judge, self.planned, inputs)?;
        let missed = match &side {
            Side::Measured(covered) => covered.missed.iter().filter(|way| !way.impossible).cloned().collect(),
            Side::Unmeasured { .. } => Vec::new(),
        };
        Ok(Reached { share: side.share(), missed })
    }

    /// Ctrl-C.
    pub fn interrupt(&self) -> &'a Interrupt {
        self.judge.interrupt
    }

    /// Whether no prompt may show it: about half of all inputs and mutants.
    pub fn is_hidden(&self, bytes: &[u8]) -> bool {
        self.held_back.holds(bytes)
    }
}
