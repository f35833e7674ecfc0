//! The end of a run: what was measured in it, what follows from that, and which tests are kept.

use super::{Run, in_words};
use crate::error::Result;
use crate::fuzz::run::Campaign;
use crate::generate::instruments::Reached;
use crate::generate::measures;
use crate::generate::rounds::IterationState;
use crate::generate::suite::Suite;
use crate::generate::values::same;
use crate::symbol::SymbolName;
use crate::testgen::{
    GeneratedTest, Measures, PlantedCheat, Prediction, Proposed, Reflected, TestCategory, TestGenAnalysis,
    TestGenScore,
};
use std::collections::{BTreeMap, BTreeSet};

/// What came of a run.
#[derive(Debug)]
pub struct Generated {
    pub symbol: SymbolName,
    pub suite: Suite,
    /// Of category Existence; they are not run, but compiled.
    pub existence: Vec<GeneratedTest>,
    /// Places in the suite of the tests that are kept.
    pub kept: BTreeSet<usize>,
    pub cheats: Vec<PlantedCheat>,
    pub reached: Reached,
    /// All mutants by their numbers, with lines and what they change.
    pub mutants: BTreeMap<usize, String>,
    /// Those that no test tells from C.
    pub survivors: Vec<String>,
    pub analysis: TestGenAnalysis,
    pub score: TestGenScore,
    pub proposed: Proposed,
    pub rounds: u32,
    pub reflections: u32,
    pub tokens: u64,
    pub duration_ms: u64,
    /// Why it ended.
    pub why: String,
    /// Why no mutant was run, where none was.
    pub without_mutants: Option<String>,
    /// Reads inputs, and runs C on them.
    pub campaign: Campaign,
}

impl Run<'_, '_> {
    /// Measures what can only be measured with all tests there.
    pub(super) fn finish(
        mut self,
        state: &IterationState,
        categories: &[TestCategory],
        why: String,
    ) -> Result<Generated> {
        let function = &self.planned.function;
        let cheats = measures::cheats(&self.instruments, (function, self.contract), &mut self.suite)?;
        let parameters = measures::parameters(&self.instruments, self.contract, &self.suite)?;
        let tests = self.suite.tests.iter().map(|known| known.test.category);
        let predictions = self.suite.tests.iter().filter_map(|known| {
            let predicted = known.test.predicted_output.as_ref()?;
            let agreed = agrees(predicted, &known.left.value);
            Some(Prediction { confidence: known.test.confidence, agreed })
        });
        let proposed = Proposed {
            valid: self.suite.tests.len() as u64,
            dropped: self.suite.dropped.len() as u64,
            duplicates: self.suite.duplicates.len() as u64,
        };
        let reflection =
            self.survivors_before.as_ref().filter(|_| self.reflections > 0).map(|before| Reflected {
                survivors_before: before.len() as u64,
                killed_after: before.intersection(&self.suite.killed()).count() as u64,
            });
        let measures = Measures {
            categories: categories.to_vec(),
            tests: self.existence.iter().map(|test| test.category).chain(tests).collect(),
            mutants: self.kill_rate(),
            branches: self.reached.share.value().copied(),
            cheats: cheats.clone(),
            parameters,
            reflection,
            tokens: state.tokens,
            proposed,
            predictions: predictions.collect(),
        };
        let analysis = TestGenAnalysis::of(&measures);
        let bench = &self.instruments.bench;
        let words = |number: usize| Some((number, in_words(bench.mutant(number)?)));
        let mutants: BTreeMap<usize, String> = bench.telling().into_iter().filter_map(words).collect();
        let survivors = self.survivors();
        Ok(Generated {
            symbol: function.name.clone(),
            kept: self.suite.kept(),
            cheats,
            survivors: survivors.iter().filter_map(|number| mutants.get(number).cloned()).collect(),
            mutants,
            score: TestGenScore::of(&analysis),
            analysis,
            proposed,
            rounds: state.total_rounds,
            reflections: self.reflections,
            tokens: state.tokens,
            duration_ms: self.elapsed(),
            why,
            without_mutants: bench.without.clone(),
            campaign: self.instruments.campaign.clone(),
            existence: self.existence,
            reached: self.reached,
            suite: self.suite,
        })
    }
}

/// Whether C left what was predicted, as far as the prediction goes: keys that it leaves out are not held against it.
fn agrees(predicted: &serde_json::Value, left: &serde_json::Value) -> bool {
    match (predicted.as_object(), left.as_object()) {
        (Some(fields), Some(left)) if !fields.is_empty() => {
            fields.iter().all(|(name, value)| left.get(name).is_some_and(|left| same(value, left)))
        }
        // Models often say the returned value alone.
        (None, Some(left)) => left.get("return").is_some_and(|left| same(predicted, left)),
        _ => same(predicted, left),
    }
}
