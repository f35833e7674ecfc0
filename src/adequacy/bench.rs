//! The mutants of one function, built to be run on inputs that somebody chose.

use super::{build, make};
use crate::c::mutants::{Mutant, Plant};
use crate::error::Result;
use crate::event::{Event, Reporter};
use crate::judge::Judge;
use crate::project::Planned;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A binary with the mutants of a function, and what is known of them.
#[derive(Debug, Clone)]
pub struct Bench {
    pub binary: PathBuf,
    /// The mutant with the number n + 1 in the table stands at n.
    pub mutants: Vec<Mutant>,
    /// Numbers of those that are no other function, by the compiler or the word of a person.
    pub same: BTreeSet<usize>,
    /// The number of the one that saturates where C wraps: a planted cheat, and no mutant.
    pub saturating: Option<usize>,
    /// Numbers of those that are the function over a changed callee: what tests of category Integration are measured by.
    pub over_callees: BTreeSet<usize>,
    /// Why there are none.
    pub without: Option<String>,
}

impl Bench {
    /// Builds it; what was built before is used again.
    ///
    /// # Errors
    /// Those of the build, and Ctrl-C.
    pub fn build(judge: &Judge, planned: &Planned, reporter: &mut dyn Reporter) -> Result<Self> {
        reporter.event(Event::StepStarted { step: "building mutants of C".into(), total: None });
        let made = make(judge.project, judge, (&[planned], Plant::ForTests))?;
        let binary = build(judge.project, judge, &made)?;
        let name = &planned.function.name;
        let mutants = made.of.get(name).cloned().unwrap_or_default();
        let message = format!("{} mutants of {name} built", mutants.len());
        reporter.event(Event::StepFinished { message });
        let marked = planned.judgeable.contract().into_iter().flat_map(|contract| &contract.equivalent);
        let ids: BTreeSet<&str> = marked.map(|equivalent| equivalent.mutant.as_str()).collect();
        let by_word = (1..).zip(&mutants).filter(|(_, mutant)| ids.contains(mutant.id.as_str()));
        let by_word: BTreeSet<usize> = by_word.map(|(number, _)| number).collect();
        let same = made.same.get(name).cloned().unwrap_or_default();
        let over_callees = made.over_callees.get(name).cloned().unwrap_or_default();
        let planted = usize::from(made.planted.contains_key(name)) + over_callees.len();
        let without = (mutants.len() == planted).then(|| {
            made.without
                .get(name)
                .cloned()
                .unwrap_or_else(|| "no small change makes another function of it".into())
        });
        let saturating = made.planted.get(name).copied();
        Ok(Self { binary, mutants, same: &same | &by_word, saturating, over_callees, without })
    }

    /// Numbers of those that a test should tell from C.
    pub fn telling(&self) -> BTreeSet<usize> {
        let is_one = |number: &usize| !self.same.contains(number) && self.saturating != Some(*number);
        (1..=self.mutants.len()).filter(is_one).filter(|number| !self.over_callees.contains(number)).collect()
    }

    /// Numbers of those over a changed callee that a test should tell from C.
    pub fn telling_over_callees(&self) -> BTreeSet<usize> {
        &self.over_callees - &self.same
    }

    /// The mutant with this number.
    pub fn mutant(&self, number: usize) -> Option<&Mutant> {
        self.mutants.get(number.checked_sub(1)?)
    }
}
