//! The mutants of one function in a binary that runs them on chosen inputs.

use super::builds::{build, make};
use crate::c::mutants::{Mutant, Plant, SATURATING};
use crate::error::Result;
use crate::event::{Event, Reporter};
use crate::judge::Judge;
use crate::project::FunctionPlan;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// A binary with the mutants of a function, and facts about them.
#[derive(Debug, Clone)]
pub struct Bench {
    pub binary: PathBuf,
    /// Index n has the mutant with number n + 1.
    pub mutants: Vec<Mutant>,
    /// Numbers of the equivalent mutants, according to the compiler or a person.
    pub same: BTreeSet<usize>,
    /// The number of the copy that saturates where C wraps: a planted cheat, not a mutant.
    pub saturating: Option<usize>,
    /// Numbers of copies of the function over a mutated callee, which measure tests of category Integration. Each
    /// maps to the number of the function over the same callee unmutated, which is not a mutant.
    pub over_callees: BTreeMap<usize, usize>,
    /// Numbers of copies over a callee whose unmutated copy already differs from C: they are inconclusive.
    void: BTreeSet<usize>,
    /// Why no mutant of the function's own text can be killed.
    pub without: Option<String>,
}

impl Bench {
    /// Builds the bench, or reuses an earlier build.
    pub fn build(judge: &Judge, planned: &FunctionPlan, reporter: &mut dyn Reporter) -> Result<Self> {
        reporter.event(Event::StepStarted { step: "building mutants of C".into(), total: None });
        let made = make(judge, &[planned], Plant::ForTests)?;
        let binary = build(judge, &[planned], &made)?;
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
        let message = format!("{own} mutants of {name} built, and {callees} of its callees");
        reporter.event(Event::StepFinished { message });
        Ok(bench)
    }

    /// Why its own text has no mutant to kill; `none_made` is the reason if there are no copies at all.
    fn without(&self, none_made: Option<&String>) -> Option<String> {
        self.telling().is_empty().then(|| match (self.own().len(), none_made) {
            (0, Some(why)) => why.clone(),
            (0, None) => "no small change changes its behaviour".to_owned(),
            (own, _) => {
                format!(
                    "all of its {own} mutants compile to the code of the original or are marked as equivalent"
                )
            }
        })
    }

    /// Numbers of the mutants of the function's own text.
    fn own(&self) -> BTreeSet<usize> {
        let beside: BTreeSet<usize> =
            self.over_callees.iter().flat_map(|(number, plain)| [*number, *plain]).collect();
        // The list has the cheat even if it compiles to the function's own code.
        let all = (1..).zip(&self.mutants).filter(|(_, mutant)| mutant.id != SATURATING);
        all.map(|(number, _)| number).filter(|number| !beside.contains(number)).collect()
    }

    /// Numbers of the own mutants that tests should kill.
    pub fn telling(&self) -> BTreeSet<usize> {
        &self.own() - &self.same
    }

    /// Numbers of the copies over a mutated callee that tests should kill.
    pub fn telling_over_callees(&self) -> BTreeSet<usize> {
        let callees: BTreeSet<usize> = self.over_callees.keys().copied().collect();
        &(&callees - &self.same) - &self.void
    }

    /// Excludes callees whose unmutated copy was distinguished from C: their mutants are inconclusive.
    pub fn note(&mut self, told: &BTreeSet<usize>) {
        for (number, plain) in &self.over_callees {
            if told.contains(plain) {
                self.void.extend([*number, *plain]);
            }
        }
    }

    /// Numbers of the inconclusive copies.
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

    /// Two own mutants, the cheat, a callee unmutated and with two mutants, and another callee unmutated and with
    /// one.
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
        // The cheat is still in the list.
        let equivalent = bench(&[1, 2, 3]);
        assert_eq!(equivalent.telling(), BTreeSet::new());
        assert!(
            equivalent
                .without(None)
                .unwrap()
                .contains("all of its 2 mutants compile to the code of the original")
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
