//! `cargo implfuzz testgen generate`

use super::shown::{self, StoredRun};
use super::{config, named};
use crate::cli::filter;
use crate::cli::session::Session;
use crate::config::TEST_ROLES;
use crate::contract::archetype::Archetype;
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::event::{Event, Reporter};
use crate::judge::Judge;
use crate::llm::model_session::{Asks, ModelSession};
use crate::project::{FunctionPlan, Project};
use crate::store::{ConfigRow, RunOutcome, Store};
use crate::test_record::{ConfigId, TestCategory, TestGenConfig, TestGenContext, TestGenEvent};
use crate::testgen::run::generate::{Generated, Request, generate};
use crate::testgen::run::models::settings;
use crate::testgen::run::results::{self, Which, Written};
use serde_json::{Value, json};

/// Generate tests with a model, and keep those that improve the suite
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Functions, as `list` names them
    #[arg(required_unless_present_any = ["all", "task"])]
    symbols: Vec<String>,
    /// Function, given as an option instead of an argument; may be repeated
    #[arg(long, value_name = "SYMBOL")]
    task: Vec<String>,
    /// Select all functions that have a harness
    #[arg(long, conflicts_with_all = ["symbols", "task"])]
    all: bool,
    /// Test categories: benchmark (all five), commander (existence, correctness, boundary), mecha_coder (correctness,
    /// boundary), or a comma-separated list
    #[arg(long, value_name = "CONTEXT", default_value = "benchmark")]
    context: TestGenContext,
    /// Number or hash prefix of the configuration, or `current` [default: the current configuration until it has a score in
    /// this context; then the one that scores best for the kind of function, or else for all kinds]
    #[arg(long, value_name = "ID")]
    with: Option<String>,
    /// Do not write a test file or seeds
    #[arg(long)]
    no_export: bool,
    /// Write every exchange with the model into this directory
    #[arg(long, value_name = "DIR")]
    record: Option<std::path::PathBuf>,
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    let mut session = session.clone();
    if let Some(dir) = &args.record {
        // Relative to the user's current directory, not to the repository.
        session.options.settings.record_dir = Some(std::path::absolute(dir)?);
    }
    let mut reporter = session.reporter();
    let (project, mut store) = session.open_to_run(reporter.as_mut())?;
    let wanted = select(&project, args)?;
    let rows =
        wanted.iter().map(|planned| configuration(&mut store, planned, args)).collect::<Result<Vec<_>>>()?;
    let judge = Judge::new(&project, &session.interrupt);
    let set =
        rows.first().map_or_else(|| project.config.clone(), |row| settings(&project.config, &row.config));
    let roles = if asks_models(&args.context) { &TEST_ROLES[..2] } else { &[] };
    let names: Vec<&str> = wanted.iter().map(|planned| planned.function.name.as_str()).collect();
    let command = format!("testgen generate {}", if args.all { "--all".to_owned() } else { names.join(" ") });
    let asks = Asks { command: &command, roles, config: &set, workflow: None };
    let mut models = ModelSession::open(&project.workspace, &mut store, asks, &session.interrupt)
        .map_err(without_model)?;
    let mut work = Work {
        project: &project,
        judge: &judge,
        store: &mut store,
        models: &mut models,
        reporter: reporter.as_mut(),
        context: &args.context,
    };
    let (all, ended) = work.each(&wanted, &rows, args.no_export);
    let ended = models.or_finish(&mut store, ended);
    if ended.is_ok() {
        store.finish_run(models.id, RunOutcome::Done)?;
    }
    drop(reporter);
    let values: Vec<Value> = all.iter().map(|kept| as_json(&project, kept)).collect();
    if ended.is_ok() || !all.is_empty() {
        let text = || all.iter().map(shown::kept).collect();
        session.screen.result("testgen", &json!({ "runs": values }), text);
    }
    ended?;
    Ok(if all.iter().all(is_whole) { ExitCode::Ok } else { ExitCode::Incomplete })
}

fn asks_models(context: &TestGenContext) -> bool {
    context.categories().into_iter().any(TestCategory::is_asked)
}

/// The configuration for a function.
fn configuration(store: &mut Store, planned: &FunctionPlan, args: &Args) -> Result<ConfigRow> {
    match args.with.as_deref() {
        Some("current") => store.testgen_config_in_use(),
        Some(text) => config::find(store, text),
        None => {
            let kind = planned.judgeable.contract().and_then(Archetype::of);
            store.testgen_config_for(kind.map(Archetype::text), &args.context)
        }
    }
}

/// Where no model can be asked, there are tests that need none.
fn without_model(error: Error) -> Error {
    if error.kind() != ErrorKind::Config {
        return error;
    }
    let help = error.help_text().map_or_else(String::new, |help| format!("{help} · "));
    // The first help of an error stays, so that this is another error.
    Error::new(error.kind(), error.to_string())
        .help(format!("{help}--context existence asks no model: it tests that functions and types exist"))
}

/// Whether a run is complete: models were asked for everything, and there is a score if any category needs a model.
fn is_whole(kept: &StoredRun) -> bool {
    let run = &kept.generated.run;
    kept.generated.is_whole && (!asks_models(&run.context) || run.score.is_some())
}

fn select<'p>(project: &'p Project, args: &Args) -> Result<Vec<&'p FunctionPlan>> {
    if !args.all {
        return filter::named(project, &[&args.symbols[..], &args.task].concat());
    }
    Ok(project.planned.iter().filter(|planned| planned.judgeable.contract().is_some()).collect())
}

/// Everything that the generation of tests works with.
pub(super) struct Work<'a, 'p> {
    pub project: &'a Project,
    pub judge: &'a Judge<'p>,
    pub store: &'a mut Store,
    pub models: &'a mut ModelSession,
    pub reporter: &'a mut dyn Reporter,
    pub context: &'a TestGenContext,
}

impl Work<'_, '_> {
    /// Generates tests for each function in turn; the results before a failure are returned with it.
    fn each(
        &mut self,
        wanted: &[&FunctionPlan],
        rows: &[ConfigRow],
        no_export: bool,
    ) -> (Vec<StoredRun>, Result<()>) {
        let mut all = Vec::new();
        let mut last = rows.first().map(|row| row.id);
        for ((index, planned), row) in (1..).zip(wanted).zip(rows) {
            // Another configuration may name another model.
            if last.replace(row.id) != Some(row.id) && asks_models(self.context) {
                let set = settings(&self.project.config, &row.config);
                let root = self.project.workspace.root();
                if let Err(error) = self.models.choose(root, &TEST_ROLES[..2], &set, self.judge.interrupt) {
                    return (all, Err(error));
                }
            }
            let (symbol, total) = (planned.function.name.clone(), wanted.len());
            self.reporter.event(Event::SymbolStarted { symbol: symbol.clone(), work: "tests", index, total });
            let kept = match self.one(planned, row, no_export) {
                Ok(kept) => kept,
                Err(error) => return (all, Err(error)),
            };
            let summary = shown::summary(&kept.generated.run);
            self.reporter.event(Event::SymbolFinished { symbol, ok: is_whole(&kept), grade: None, summary });
            all.push(kept);
        }
        (all, Ok(()))
    }

    /// Generates, stores and writes the tests of one function.
    fn one(&mut self, planned: &FunctionPlan, row: &ConfigRow, no_export: bool) -> Result<StoredRun> {
        let generated = self.run(planned, row.id, &row.config)?;
        results::note_best(self.store, &generated.run)?;
        if no_export {
            return Ok(StoredRun { generated, written: None });
        }
        if generated.kept.is_empty() && results::has_file(self.project, planned) {
            let name = &planned.function.name;
            let text = format!("no new test of {name} was kept: its test file stays as it was");
            self.reporter.event(Event::Note { text });
            return Ok(StoredRun { generated, written: None });
        }
        let written = match self.best(planned, &generated)? {
            Some(written) => written,
            None => {
                let run_id = &generated.run.run_id;
                let tests = self.store.testgen_tests(run_id)?;
                let tests = (run_id, &tests[..], Which::Kept);
                results::write((self.project, self.judge), planned, &generated.campaign, tests)?
            }
        };
        Ok(StoredRun { generated, written: Some(written) })
    }

    /// Writes the tests of an earlier, better run instead, if C still gives the same answers; otherwise `None`.
    fn best(&mut self, planned: &FunctionPlan, generated: &Generated) -> Result<Option<Written>> {
        let best = self.store.best_testgen_run(&planned.function.key)?;
        let Some(best) = best.filter(|best| best.run_id != generated.run.run_id) else { return Ok(None) };
        let campaign = &generated.campaign;
        let tests = self.store.testgen_tests(&best.run_id)?;
        let (same, differing) =
            results::confirmed((&self.project.library, self.judge), planned, campaign, (tests, Which::Kept))?;
        if !differing.is_empty() {
            let (name, others) = (&planned.function.name, differing.len());
            let text = format!(
                "C now gives different results for {others} of the tests of {}, so the tests of this run were written; `cargo implfuzz testgen export {name}` writes the others",
                best.run_id
            );
            self.reporter.event(Event::Note { text });
            return Ok(None);
        }
        let tests = (&best.run_id, &same[..], Which::Kept);
        results::write((self.project, self.judge), planned, campaign, tests).map(Some)
    }

    /// Generates and stores the tests of one function. A failure is also an event.
    pub(super) fn run(
        &mut self,
        planned: &FunctionPlan,
        number: ConfigId,
        config: &TestGenConfig,
    ) -> Result<Generated> {
        let generated = self.watched(planned, number, config);
        if let Err(error) = &generated {
            self.tell(planned, TestGenEvent::Error { why: error.to_string() });
        }
        generated
    }

    fn tell(&mut self, planned: &FunctionPlan, event: TestGenEvent) {
        self.reporter.event(Event::TestGen { symbol: planned.function.name.clone(), event });
    }

    fn watched(
        &mut self,
        planned: &FunctionPlan,
        number: ConfigId,
        config: &TestGenConfig,
    ) -> Result<Generated> {
        let (id, context) = (results::run_id(), self.context);
        let categories = config.ordered(context);
        self.tell(planned, TestGenEvent::Start { run_id: id.to_string(), config: number.0, categories });
        let request = Request { run_id: &id, session: self.models.id.0, number, config, context };
        let (work, function) = ((self.project, &mut *self.store), (self.judge, planned));
        let mut generated = generate(work, function, self.models, request, self.reporter)?;
        let stored = results::store(self.store, &mut generated);
        let broken_off = generated.broken_off.take().or_else(|| self.judge.interrupt.check().err());
        if let Some(error) = broken_off {
            // If storing fails too, the first error is reported.
            if stored.is_ok() {
                let text = format!("the results so far are stored: cargo implfuzz testgen runs {id}");
                self.reporter.event(Event::Note { text });
            }
            return Err(error);
        }
        stored?;
        let event = TestGenEvent::Complete {
            run_id: id.to_string(),
            score: generated.run.score,
            tests: generated.suite.tests.len() + generated.existence.len(),
            kept: usize::try_from(generated.run.kept).unwrap_or(usize::MAX),
        };
        self.tell(planned, event);
        Ok(generated)
    }
}

fn as_json(project: &Project, kept: &StoredRun) -> Value {
    let StoredRun { generated, written } = kept;
    json!({
        "run": named(project, &generated.run), "score": generated.score, "ended": generated.why, "cheats": generated.cheats,
        "mutants": generated.mutants.len(), "without_mutants": generated.without_mutants,
        "callee_mutants": generated.callee_mutants.len(), "callee_survivors": generated.callee_survivors,
        "survivors": generated.survivors, "missed": generated.reached.missed, "written": written,
        "dropped": generated.suite.dropped.iter()
            .map(|dropped| json!({ "id": dropped.test.id, "input": dropped.test.input, "why": dropped.why }))
            .collect::<Vec<_>>(),
    })
}
