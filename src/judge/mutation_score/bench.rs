//! The mutants of one function, built to be run on inputs that somebody chose.

use super::{build, make};
use crate::c::mutants::{Mutant, Plant, SATURATING};
use crate::error::Result;
use crate::event::{Event, Reporter};
use crate::judge::Judge;
use crate::project::FunctionPlan;
use std::collections::{BTreeMap, BTreeSet};
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
    /// Numbers of those that are the function over a changed callee, which tests of category Integration are measured by, each with the
    /// number of the function over the same callee unchanged, which is no mutant.
    pub over_callees: BTreeMap<usize, usize>,
    /// Numbers of those over a callee that differs from C unchanged: they say nothing.
    void: BTreeSet<usize>,
    /// Why no test can tell a change of its own text from C.
    pub without: Option<String>,
}

impl Bench {
    /// Builds it; what was built before is used again.
    ///
    /// # Errors
    /// Those of the build, and Ctrl-C.
    pub fn build(judge: &Judge, planned: &FunctionPlan, reporter: &mut dyn Reporter) -> Result<Self> {
        reporter.event(Event::StepStarted { step: "building mutants of C".into(), total: None });
        let made = make(judge.project, judge, (&[planned], Plant::ForTests))?;
        let binary = build(judge.project, judge, &made)?;
        let name = &planned.function.name;
        let mutants = made.of.get(name).cloned().unwrap_or_default();
        let marked = planned.judgeable.contract().into_iter().flat_map(|contract| &contract.equivalent);
        let ids: BTreeSet<&str> = marked.map(|equivalent| equivalent.mutant.as_str()).collect();
        let by_word = (1..).zip(&mutants).filter(|(_, mutant)| ids.contains(mutant.id.as_str()));
        let by_word: BTreeSet<usize> = by_word.map(|(number, _)| number).collect();
        let same = made.same.get(name).cloned().unwrap_or_default();
        let mut bench = Self {
            binary,
            mutants,
            same: &same | &by_word,
            saturating: made.planted.get(name).copied(),
            over_callees: made.over_callees.get(name).cloned().unwrap_or_default(),
            void: BTreeSet::new(),
            without: None,
        };
        bench.without = bench.without(made.without.get(name));
        let (own, callees) = (bench.own().len(), bench.over_callees.len());
        let message = format!("{own} mutants of {name} built, and {callees} of what it calls");
        reporter.event(Event::StepFinished { message });
        Ok(bench)
    }

    /// Why its own text has no mutant that a test should tell; `none_made` says why there is no copy at all.
    fn without(&self, none_made: Option<&String>) -> Option<String> {
        self.telling().is_empty().then(|| match (self.own().len(), none_made) {
            (0, Some(why)) => why.clone(),
            (0, None) => "no small change makes another function of it".to_owned(),
            (own, _) => {
                format!("all of its {own} mutants are the function's own code, or marked as equivalent")
            }
        })
    }

    /// Numbers of the small changes of its own text.
    fn own(&self) -> BTreeSet<usize> {
        let beside: BTreeSet<usize> =
            self.over_callees.iter().flat_map(|(number, plain)| [*number, *plain]).collect();
        // The cheat stands in the list also where it is the function's own code.
        let all = (1..).zip(&self.mutants).filter(|(_, mutant)| mutant.id != SATURATING);
        all.map(|(number, _)| number).filter(|number| !beside.contains(number)).collect()
    }

    /// Numbers of those that a test should tell from C.
    pub fn telling(&self) -> BTreeSet<usize> {
        &self.own() - &self.same
    }

    /// Numbers of those over a changed callee that a test should tell from C.
    pub fn telling_over_callees(&self) -> BTreeSet<usize> {
        let callees: BTreeSet<usize> = self.over_callees.keys().copied().collect();
        &(&callees - &self.same) - &self.void
    }

    /// Takes note of what was told from C: where an unchanged callee was, its changes say nothing.
    pub fn note(&mut self, told: &BTreeSet<usize>) {
        for (number, plain) in &self.over_callees {
            if told.contains(plain) {
                self.void.extend([*number, *plain]);
            }
        }
    }

    /// Numbers of those that say nothing.
    pub fn void(&self) -> &BTreeSet<usize> {
        &self.void
    }

    /// The mutant with this number.
    pub fn mutant(&self, number: usize) -> Option<&Mutant> {
        self.mutants.get(number.checked_sub(1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two own changes, the cheat, a callee unchanged and with two changes, and another callee likewise with one.
    fn bench(same: &[usize]) -> Bench {
        let mutant = |id: &str| Mutant { id: id.to_owned(), line: 1, what: String::new() };
        let ids = ["a", "b", SATURATING, "f:unchanged", "g:unchanged", "f:a", "f:b", "g:a"];
        Bench {
            binary: PathBuf::new(),
            mutants: ids.map(mutant).into(),
            same: same.iter().copied().collect(),
            saturating: (!same.contains(&3)).then_some(3),
            over_callees: BTreeMap::from([(6, 4), (7, 4), (8, 5)]),
            void: BTreeSet::new(),
            without: None,
        }
    }

    #[test]
    fn where_all_of_its_own_changes_are_equivalent_that_is_said() {
        assert_eq!(bench(&[]).telling(), BTreeSet::from([1, 2]));
        assert_eq!(bench(&[1]).without(None), None);
        // The cheat is in the list all the same.
        let equivalent = bench(&[1, 2, 3]);
        assert_eq!(equivalent.telling(), BTreeSet::new());
        assert!(
            equivalent.without(None).unwrap().contains("all of its 2 mutants are the function's own code")
        );
        let none = Bench { mutants: Vec::new(), over_callees: BTreeMap::new(), ..bench(&[]) };
        assert_eq!(none.without(Some(&"why".to_owned())), Some("why".to_owned()));
        assert!(none.without(None).unwrap().contains("no small change"));
    }

    #[test]
    fn a_callee_that_differs_unchanged_takes_its_changes_with_it_and_no_others() {
        let mut bench = bench(&[7]);
        bench.note(&BTreeSet::from([1, 6]));
        assert_eq!(bench.telling_over_callees(), BTreeSet::from([6, 8]));
        bench.note(&BTreeSet::from([4]));
        assert_eq!(
            (bench.telling_over_callees(), bench.telling()),
            (BTreeSet::from([8]), BTreeSet::from([1, 2]))
        );
        assert_eq!(bench.void(), &BTreeSet::from([4, 6, 7]));
    }
}
