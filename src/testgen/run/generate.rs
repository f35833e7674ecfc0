//! One run: asks a model, runs and measures its tests on C, and puts the gaps into the next question, until the
//! state machine in `rounds` ends it. `outcome` makes the result.

mod outcome;
mod question;

pub use outcome::Generated;

use super::environment::EnvironmentInfo;
use super::existence;
use super::instruments::{Instruments, Reached};
use super::prompt::Templates;
use super::reply;
use super::rounds::{Done, IterationState, Next, aim, apply, next};
use super::schema::{Schema, Sources};
use super::suite::{Dropped, Suite, Test};
use crate::c::mutants::Mutant;
use crate::contract::types::Contract;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::fuzz::evaluate_inputs::Outcome;
use crate::judge::Judge;
use crate::llm::model_session::ModelSession;
use crate::project::{FunctionPlan, Project};
use crate::store::Store;
use crate::symbol::SymbolName;
use crate::test_record::{
    ConfigId, GeneratedTest, RunId, TestCategory, TestGenAnalysis, TestGenConfig, TestGenContext,
    TestGenEvent, TestVerdict, free_id,
};
use crate::testgen::score::Measures;
use crate::verdict::{Measured, Share};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// The parameters of a run.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    pub run_id: &'a RunId,
    /// The tool's run that this is part of.
    pub session: i64,
    pub number: ConfigId,
    pub config: &'a TestGenConfig,
    pub context: &'a TestGenContext,
}

/// Generates tests for a function with a contract.
///
/// # Errors
/// `Usage` without a contract. Once there is a test, later errors and Ctrl-C are returned in
/// [`Generated::broken_off`] instead.
pub fn generate(
    (project, store): (&Project, &mut Store),
    (judge, planned): (&Judge, &FunctionPlan),
    models: &mut ModelSession,
    request: Request,
    reporter: &mut dyn Reporter,
) -> Result<Generated> {
    let name = &planned.function.name;
    let contract = planned.judgeable.contract().ok_or_else(|| {
        Error::new(ErrorKind::Usage, format!("{name} has no harness, so nothing can run its tests"))
            .help(format!("cargo implfuzz contract {name} shows what is missing"))
    })?;
    let instruments = Instruments::build(judge, planned, reporter)?;
    // One-time builds do not count as time of the run.
    let begun = Instant::now();
    let templates = Templates::load(Some(&project.workspace.root().join("prompts")))?;
    let weight = request.config.environment_weight;
    let environment = EnvironmentInfo::collect(project, planned, weight, judge.interrupt)?;
    let other = |other: &SymbolName| {
        let found = project.planned.iter().find(|planned| planned.function.name == *other)?;
        Some((&found.function, found.judgeable.contract()?))
    };
    let sources = Sources { library: &project.library, function: &planned.function, contract, other: &other };
    let schema = Schema::of(&sources);
    let categories = request.config.ordered(request.context);
    let existence = match categories.contains(&TestCategory::Existence) {
        true => existence::tests(&project.library, planned),
        false => Vec::new(),
    };
    let asked = categories.iter().copied().filter(|category| category.is_asked());
    let mut state = IterationState::new(asked.collect());
    state.tests = counted(&Suite::default(), &existence);
    let mut run = Run {
        project,
        planned,
        contract,
        request,
        instruments,
        templates,
        environment,
        schema,
        suite: Suite::default(),
        existence,
        attempts: BTreeMap::new(),
        unusable: Vec::new(),
        reflection: None,
        reflections: 0,
        survivors_before: None,
        self_assessment: None,
        category: categories.first().copied().unwrap_or(TestCategory::Correctness),
        reached: Reached { share: Measured::No("no test was run".into()), missed: Vec::new() },
        begun,
    };
    let ended = match run.rounds(&mut state, (store, models), reporter) {
        // Keep the tests that were paid for.
        Err(error) if error.kind() == ErrorKind::Interrupted || !run.suite.tests.is_empty() => {
            Ended::BrokenOff(error)
        }
        other => other?,
    };
    Ok(run.finish(&state, &categories, ended))
}

/// The end of a run.
enum Ended {
    /// A regular end, with the reason in words.
    Over(&'static str),
    /// The model did not answer, with the reason.
    Silence(String),
    /// Ctrl-C, or an error after which the run could not continue.
    BrokenOff(Error),
}

struct Run<'a, 'p> {
    project: &'a Project,
    planned: &'a FunctionPlan,
    contract: &'a Contract,
    request: Request<'a>,
    instruments: Instruments<'a, 'p>,
    templates: Templates,
    environment: EnvironmentInfo,
    schema: Schema,
    suite: Suite,
    existence: Vec<GeneratedTest>,
    /// Number of questions by role.
    attempts: BTreeMap<String, u32>,
    /// Parts of the last reply that could not be used, with reasons.
    unusable: Vec<String>,
    reflection: Option<String>,
    reflections: u32,
    /// Surviving mutants at the first reflection.
    survivors_before: Option<BTreeSet<usize>>,
    /// The model's last assessment of its tests.
    self_assessment: Option<f64>,
    /// The category that was asked for last.
    category: TestCategory,
    reached: Reached,
    begun: Instant,
}

impl Run<'_, '_> {
    /// Takes step after step; returns the reason of the end.
    fn rounds(
        &mut self,
        state: &mut IterationState,
        (store, models): (&mut Store, &mut ModelSession),
        reporter: &mut dyn Reporter,
    ) -> Result<Ended> {
        let config = self.request.config;
        loop {
            let step = next(state, config);
            let before = models.budget.of_symbol(&self.planned.function.name).0;
            let answered = match step {
                Next::Done(why) => return Ok(Ended::Over(why.words())),
                Next::Reflect => self.reflect((store, models), reporter),
                Next::Ask { category, wanted, round } => {
                    self.category = category;
                    self.ask((store, models), (wanted, round, state.total_rounds + 1, false), reporter)
                }
                Next::Refine { wanted } => {
                    self.category = aim(&state.order, &self.analysis()).unwrap_or(self.category);
                    self.ask(
                        (store, models),
                        (wanted, state.refinements + 1, state.total_rounds + 1, true),
                        reporter,
                    )
                }
            };
            let tokens = models.budget.of_symbol(&self.planned.function.name).0.saturating_sub(before);
            if !matches!(answered, Ok(Ok(()))) {
                // A truncated reply whose repetition failed must be charged, too.
                state.tokens = state.tokens.saturating_add(tokens);
            }
            if let Err(why) = answered? {
                self.tell(reporter, TestGenEvent::Error { why: why.clone() });
                return Ok(Ended::Silence(why));
            }
            let done = Done { tokens, elapsed_ms: self.elapsed() };
            let tests = counted(&self.suite, &self.existence);
            *state = apply(state.clone(), config, step, done, tests, self.analysis().comprehensiveness);
        }
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn tell(&self, reporter: &mut dyn Reporter, event: TestGenEvent) {
        reporter.event(Event::TestGen { symbol: self.planned.function.name.clone(), event });
    }

    /// Mutants that no test kills.
    fn survivors(&self) -> BTreeSet<usize> {
        &self.instruments.telling() - &self.suite.killed()
    }

    /// Mutants of callees that no test kills.
    fn survivors_over_callees(&self) -> BTreeSet<usize> {
        &self.instruments.telling_over_callees() - &self.suite.killed()
    }

    /// The share of these mutants that the tests kill.
    fn killed_of(&self, telling: &BTreeSet<usize>) -> Option<Share> {
        let reached = telling.intersection(&self.suite.killed()).count() as u64;
        // Without a test nothing was run.
        let is_measured = !(telling.is_empty() || self.suite.tests.is_empty());
        is_measured.then_some(Share { reached, total: telling.len() as u64 })
    }

    /// The current analysis, from mutants and branches alone.
    fn analysis(&self) -> TestGenAnalysis {
        let measures = Measures {
            mutants: self.killed_of(&self.instruments.telling()),
            callees: self.killed_of(&self.instruments.telling_over_callees()),
            branches: self.reached.share.value().copied(),
            ..Measures::default()
        };
        crate::testgen::score::analyse(&measures)
    }

    /// Asks for tests and runs them; the inner `Err` says why there is no answer.
    fn ask(
        &mut self,
        (store, models): (&mut Store, &mut ModelSession),
        (wanted, round, total_rounds, refinement): (usize, u32, u32, bool),
        reporter: &mut dyn Reporter,
    ) -> Result<std::result::Result<(), String>> {
        let category = self.category;
        self.tell(reporter, TestGenEvent::Progress { category, round, total_rounds, refinement });
        let prompt = self.prompt(false, wanted)?;
        let reply = match self.question((store, models), prompt, reporter)? {
            Ok(reply) => reply,
            Err(why) => return Ok(Err(why)),
        };
        let entries = reply::read(&reply.text, category);
        self.unusable = entries.problems;
        for why in entries.unreadable {
            self.drop_unreadable(category, why, reporter);
        }
        self.add(entries.tests, wanted, reporter)?;
        Ok(Ok(()))
    }

    /// Asks what the last round has missed.
    fn reflect(
        &mut self,
        (store, models): (&mut Store, &mut ModelSession),
        reporter: &mut dyn Reporter,
    ) -> Result<std::result::Result<(), String>> {
        let survivors = self.survivors();
        self.survivors_before.get_or_insert(survivors);
        if self.shown_survivors().is_empty() && self.reached.missed.is_empty() && self.unusable.is_empty() {
            // There is nothing to reflect on.
            return Ok(Ok(()));
        }
        let prompt = self.prompt(true, 0)?;
        let reply = match self.question((store, models), prompt, reporter)? {
            Ok(reply) => reply,
            Err(why) => return Ok(Err(why)),
        };
        self.reflections += 1;
        let text = reply.text.trim().to_owned();
        self.self_assessment = reply::self_assessment(&text).or(self.self_assessment);
        self.tell(reporter, TestGenEvent::Reflection { text: text.clone() });
        self.reflection = Some(text);
        Ok(Ok(()))
    }

    /// Runs the proposed tests; valid new ones become tests, up to the requested number.
    fn add(
        &mut self,
        proposed: Vec<GeneratedTest>,
        wanted: usize,
        reporter: &mut dyn Reporter,
    ) -> Result<()> {
        let inputs: Vec<_> = proposed.iter().map(|test| test.input.clone()).collect();
        let outcomes = self.instruments.measure(&inputs)?;
        let mut fresh = Vec::new();
        for (test, mut outcome) in proposed.into_iter().zip(outcomes) {
            if fresh.len() == wanted && outcome.is_ok() {
                outcome = Err(format!("only {wanted} were asked for"));
            }
            self.take(test.as_proposal(), outcome, &mut fresh, reporter);
        }
        let bytes: Vec<&Vec<u8>> = fresh.iter().map(|known| &known.bytes).collect();
        // A test that C has answered is kept even if the mutants cannot be run.
        let (kills, run) = match self.instruments.kills(&bytes) {
            Ok(kills) => (kills, Ok(())),
            Err(error) => (vec![None; fresh.len()], Err(error)),
        };
        let telling = self.instruments.telling();
        for (mut known, kills) in fresh.into_iter().zip(kills) {
            let told = kills.iter().flatten().filter(|number| telling.contains(number)).count();
            let verdict = TestVerdict::Valid { kills: told };
            known.kills = kills;
            let (id, category) = (known.test.id.clone(), known.test.category);
            self.tell(reporter, TestGenEvent::Test { id, category, verdict });
            self.suite.tests.push(known);
        }
        run?;
        self.suite.forget(self.instruments.bench.void());
        let all: Vec<&Vec<u8>> = self.suite.tests.iter().map(|known| &known.bytes).collect();
        if !all.is_empty() {
            self.reached = self.instruments.reached(&all)?;
        }
        Ok(())
    }

    /// Counts an unreadable entry of a reply as a proposed and dropped test.
    fn drop_unreadable(&mut self, category: TestCategory, why: String, reporter: &mut dyn Reporter) {
        let id = format!("unreadable-{}", self.suite.dropped.len() + 1);
        let mut test = GeneratedTest::new(id, category);
        test.id = self.free_id(&test, &[]);
        let id = test.id.clone();
        self.suite.dropped.push(Dropped { test, why: why.clone() });
        self.tell(reporter, TestGenEvent::Test { id, category, verdict: TestVerdict::Dropped { why } });
    }

    /// Classifies one test: dropped, duplicate, or new.
    fn take(
        &mut self,
        mut test: GeneratedTest,
        outcome: Outcome,
        fresh: &mut Vec<Test>,
        reporter: &mut dyn Reporter,
    ) {
        test.id = self.free_id(&test, fresh);
        let (id, category) = (test.id.clone(), test.category);
        let verdict = match outcome {
            Err(why) => {
                self.unusable.push(format!("{id}: {} ({why})", test.input));
                self.suite.dropped.push(Dropped { test, why: why.clone() });
                TestVerdict::Dropped { why }
            }
            Ok((read, _)) if self.suite.has(&read.canonical) || has(fresh, &read.canonical) => {
                self.unusable.push(format!("{id}: {} (duplicate)", read.canonical));
                self.suite.duplicates.push(test);
                TestVerdict::Duplicate
            }
            Ok((read, left)) => {
                test.input = read.canonical;
                test.expected_output = Some(left.value.clone());
                let hidden = self.instruments.is_hidden(&read.bytes);
                let (kills, cheats) = (None, BTreeSet::new());
                let shows_effect = None;
                fresh.push(Test { test, bytes: read.bytes, left, kills, cheats, shows_effect, hidden });
                return;
            }
        };
        self.tell(reporter, TestGenEvent::Test { id, category, verdict });
    }

    fn free_id(&self, test: &GeneratedTest, fresh: &[Test]) -> String {
        // Each reported test, even a dropped one, can be found in the store under this id.
        let Suite { tests, dropped, duplicates, .. } = &self.suite;
        let dropped = dropped.iter().map(|dropped| &dropped.test);
        let known = tests.iter().chain(fresh).map(|known| &known.test);
        let known = self.existence.iter().chain(known).chain(dropped).chain(duplicates);
        let taken: BTreeSet<&str> = known.map(|known| known.id.as_str()).collect();
        free_id(&test.id, test.category, &|id| taken.contains(id))
    }
}

fn has(fresh: &[Test], input: &serde_json::Value) -> bool {
    fresh.iter().any(|known| known.test.input == *input)
}

fn counted(suite: &Suite, existence: &[GeneratedTest]) -> BTreeMap<TestCategory, usize> {
    let mut counts = BTreeMap::new();
    let all = suite.tests.iter().map(|known| known.test.category);
    for category in all.chain(existence.iter().map(|test| test.category)) {
        *counts.entry(category).or_default() += 1;
    }
    counts
}

fn in_words(mutant: &Mutant) -> String {
    format!("line {}: {}", mutant.line, mutant.what)
}
