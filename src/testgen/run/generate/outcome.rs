//! The end of a run: its measurements, their analysis, and the tests to keep.

use super::{Ended, Request, Run, in_words};
use crate::contract::archetype::Archetype;
use crate::error::{Error, ErrorKind};
use crate::fuzz::campaign::Campaign;
use crate::symbol::SymbolName;
use crate::test_record::{GeneratedTest, Proposed, TestCategory, TestGenRun};
use crate::testgen::run::exportable::left_out;
use crate::testgen::run::instruments::Reached;
use crate::testgen::run::measures;
use crate::testgen::run::planted_cheats::Cheat;
use crate::testgen::run::predicted::{bears_out, says_something};
use crate::testgen::run::rounds::IterationState;
use crate::testgen::run::suite::Suite;
use crate::testgen::score::{Measures, ParameterUse, PlantedCheat, Prediction, Reflected, TestGenScore};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// The result of a run.
#[derive(Debug)]
pub struct Generated {
    pub symbol: SymbolName,
    pub suite: Suite,
    /// Tests of category Existence, which are compiled but not run.
    pub existence: Vec<GeneratedTest>,
    /// Indexes of the kept tests in the suite.
    pub kept: BTreeSet<usize>,
    pub cheats: Vec<PlantedCheat>,
    pub reached: Reached,
    /// The mutants that tests should kill, by number, with lines and changes; empty where no mutant could be run.
    pub mutants: BTreeMap<usize, String>,
    /// The mutants that no test kills.
    pub survivors: Vec<String>,
    /// The mutants of callees, likewise.
    pub callee_mutants: BTreeMap<usize, String>,
    pub callee_survivors: Vec<String>,
    /// The run as it is stored.
    pub run: TestGenRun,
    pub score: TestGenScore,
    /// The reason of the end.
    pub why: String,
    /// The run asked all its questions.
    pub is_whole: bool,
    /// The error that ended it early, or Ctrl-C; the caller reports it after storing the run.
    pub broken_off: Option<Error>,
    /// Whether planted cheats were run.
    pub has_cheats: bool,
    /// Why no mutant was run; `None` if some were.
    pub without_mutants: Option<String>,
    /// Reads inputs, and runs C on them.
    pub campaign: Campaign,
}

/// The planted cheats, and the tests' use of each parameter.
type Together = (Vec<Cheat>, Vec<ParameterUse>);

impl Run<'_, '_> {
    /// Makes the measurements that need all tests, unless the run was interrupted, and analyses the result.
    pub(super) fn finish(
        mut self,
        state: &IterationState,
        categories: &[TestCategory],
        ended: Ended,
    ) -> Generated {
        let function = &self.planned.function;
        // `max_total_seconds` limits the questions; measurements after the last one do not count.
        let duration_ms = self.elapsed();
        let (together, ended) = self.together(ended);
        let has_cheats = together.is_some();
        let (planted, parameters) = together.unwrap_or_default();
        let tests = self.suite.tests.iter().map(|known| known.test.category);
        let predictions = self.suite.tests.iter().filter_map(|known| {
            let predicted =
                known.test.predicted_output.as_ref().filter(|predicted| says_something(predicted))?;
            let agreed = bears_out(&known.left.value, predicted);
            Some(Prediction { confidence: known.test.confidence, agreed })
        });
        let proposed = Proposed {
            valid: (self.suite.tests.len() + self.existence.len()) as u64,
            dropped: self.suite.dropped.len() as u64,
            duplicates: self.suite.duplicates.len() as u64,
        };
        let has_mutants = !self.instruments.telling().is_empty();
        let has_any = has_mutants || !self.instruments.telling_over_callees().is_empty();
        let kept = self.suite.kept(has_any, &left_out(self.project, self.planned, &self.suite.tests));
        // Only kept tests can reject a cheat.
        let cheats = measures::rejected(&planted, (function, self.contract), &self.suite, &kept);
        let reflected = self.survivors_before.as_ref().filter(|_| has_mutants && self.reflections > 0);
        let reflection = reflected.map(|before| Reflected {
            survivors_before: before.len() as u64,
            killed_after: before.intersection(&self.suite.killed()).count() as u64,
        });
        let measures = Measures {
            categories: categories.to_vec(),
            tests: self.existence.iter().map(|test| test.category).chain(tests).collect(),
            mutants: self.killed_of(&self.instruments.telling()),
            callees: self.killed_of(&self.instruments.telling_over_callees()),
            branches: self.reached.share.value().copied(),
            cheats: cheats.clone(),
            parameters,
            reflection,
            tokens: state.tokens,
            proposed,
            predictions: predictions.collect(),
        };
        let analysis = crate::testgen::score::analyse(&measures);
        let mutants = self.in_words(self.instruments.telling());
        let callee_mutants = self.in_words(self.instruments.telling_over_callees());
        let (survivors, callee_survivors) = (self.survivors(), self.survivors_over_callees());
        let (score, kind) = (TestGenScore::of(&analysis), Archetype::of(self.contract));
        let Request { run_id, session, number, context, .. } = self.request;
        let run = TestGenRun {
            session: Some(session),
            task_type: kind.map(|kind| kind.text().to_owned()),
            context: context.clone(),
            proposed,
            kept: (kept.len() + self.existence.len()) as u64,
            rounds: state.total_rounds,
            reflections: self.reflections,
            analysis,
            self_assessment: self.self_assessment,
            tokens: state.tokens,
            duration_ms,
            score: score.total,
            ..TestGenRun::unmeasured(run_id.clone(), number, function.key.clone(), Timestamp::now())
        };
        Generated {
            symbol: function.name.clone(),
            run,
            kept,
            cheats,
            survivors: self.in_words(survivors).into_values().collect(),
            callee_survivors: self.in_words(callee_survivors).into_values().collect(),
            mutants,
            callee_mutants,
            score,
            is_whole: matches!(ended, Ended::Over(_)),
            why: match &ended {
                Ended::Over(why) => (*why).to_owned(),
                Ended::Silence(why) => format!("the model did not answer: {why}"),
                Ended::BrokenOff(error) if error.kind() == ErrorKind::Interrupted => {
                    "it was interrupted".to_owned()
                }
                Ended::BrokenOff(error) => format!("it broke off: {error}"),
            },
            broken_off: match ended {
                Ended::BrokenOff(error) => Some(error),
                Ended::Over(_) | Ended::Silence(_) => None,
            },
            has_cheats,
            without_mutants: self.instruments.without_mutants().cloned(),
            campaign: self.instruments.campaign.clone(),
            existence: self.existence,
            reached: self.reached,
            suite: self.suite,
        }
    }

    /// Measures planted cheats and parameters, which runs C on all tests again; `None` if this or the run was
    /// interrupted.
    fn together(&mut self, ended: Ended) -> (Option<Together>, Ended) {
        if matches!(ended, Ended::BrokenOff(_)) {
            return (None, ended);
        }
        if self.suite.tests.is_empty() {
            return (Some(Default::default()), ended);
        }
        let function = (&self.planned.function, self.contract);
        let measured = measures::cheats(&self.instruments, function, &mut self.suite).and_then(|planted| {
            Ok((planted, measures::parameters(&self.instruments, function, &self.suite)?))
        });
        match measured {
            Ok(measured) => (Some(measured), ended),
            Err(error) => {
                // Partial results are inconclusive.
                self.suite.tests.iter_mut().for_each(|known| known.cheats.clear());
                self.suite.known_answer = None;
                (None, Ended::BrokenOff(error))
            }
        }
    }

    fn in_words(&self, numbers: BTreeSet<usize>) -> BTreeMap<usize, String> {
        let words = |number: usize| Some((number, in_words(self.instruments.bench.mutant(number)?)));
        numbers.into_iter().filter_map(words).collect()
    }
}
