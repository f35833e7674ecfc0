//! The prompts of a round.

use super::{Run, in_words};
use crate::error::Result;
use crate::event::Reporter;
use crate::judge::coverage::{Missed, Way};
use crate::llm::model_session::{Caller, ModelSession, Question, Traced};
use crate::llm::{Prompt, Reply};
use crate::store::Store;
use crate::test_record::TestCategory;
use crate::testgen::run::prompt::{Round, Subject};

impl Run<'_, '_> {
    pub(super) fn prompt(&mut self, reflects: bool, wanted: usize) -> Result<Prompt> {
        let shown = self.suite.tests.iter().filter(|known| !known.hidden);
        let tests: Vec<_> = shown.map(|known| &known.test).collect();
        let uncovered: Vec<String> = self.reached.missed.iter().map(missed).collect();
        let survivors = self.shown_survivors();
        let round = Round {
            wanted,
            tests: &tests,
            uncovered: &uncovered,
            survivors: &survivors,
            dropped: &self.unusable,
            reflection: self.reflection.as_deref(),
        };
        let target = self.planned.target.as_deref();
        let subject = Subject {
            function: &self.planned.function,
            schema: &self.schema,
            environment: &self.environment,
            target,
        };
        let (config, role) = (self.request.config, if reflects { "testgen-reflect" } else { "testgen" });
        let attempt = self.attempts.entry(role.to_owned()).or_default();
        *attempt += 1;
        let prompt = match reflects {
            true => self.templates.reflection(config, &subject, (self.category, &round), *attempt),
            false => self.templates.tests(config, &subject, (self.category, &round), *attempt),
        };
        if !reflects {
            // The reflection was about the round before this one.
            self.reflection = None;
        }
        prompt
    }

    pub(super) fn question(
        &self,
        (store, models): (&mut Store, &mut ModelSession),
        prompt: Prompt,
        reporter: &mut dyn Reporter,
    ) -> Result<std::result::Result<Reply, String>> {
        let (function, interrupt) = (&self.planned.function, self.instruments.interrupt());
        let question = Question { function, traced: Traced::default(), prompt };
        models.ask_for_parts(Caller { store, reporter, interrupt }, question)
    }

    /// Surviving mutants that a prompt may show, a line each; those of callees if tests of category Integration are
    /// wanted.
    pub(super) fn shown_survivors(&self) -> Vec<String> {
        let bench = &self.instruments.bench;
        let mut numbers = self.survivors();
        if self.category == TestCategory::Integration {
            numbers.extend(self.survivors_over_callees());
        }
        let mutants = numbers.into_iter().filter_map(|number| bench.mutant(number));
        let shown = mutants.filter(|mutant| !self.instruments.is_hidden(mutant.id.as_bytes()));
        shown.map(in_words).collect()
    }
}

/// A branch that no test takes, for a prompt.
fn missed(missed: &Missed) -> String {
    let never = match missed.way {
        Way::True => "never holds",
        Way::False => "always holds",
        Way::Run => "never runs",
    };
    format!("line {}: `{}` {never}", missed.line, missed.code)
}
