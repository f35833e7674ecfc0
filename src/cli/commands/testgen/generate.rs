//! `cargo implfuzz testgen generate`

use super::shown::{self, StoredRun};
use super::{config, named};
use crate::cli::commands::{Session, filter};
use crate::config::TEST_ROLES;
use crate::contract::archetype::Archetype;
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::event::{Event, Reporter};
use crate::judge::Judge;
use crate::llm::model_session::{Asks, ModelSession};
use crate::project::{FunctionPlan, Project};
use crate::store::{ConfigRow, RunOutcome, Store};
use crate::test_record::{ConfigId, TestCategory, TestGenConfig, TestGenContext, TestGenEvent};
use crate::testgen::run::generate::{Request, generate};
use crate::testgen::run::models::settings;
use crate::testgen::run::results::{self, Label, Which, Written};
use serde_json::{Value, json};

/// Generate tests with a model, and keep those that improve the suite
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Functions, as `list` names them
    #[arg(required_unless_present_any = ["all", "task"])]
    symbols: Vec<String>,
    /// Function, as a named option; may be repeated
    #[arg(long, value_name = "SYMBOL")]
    task: Vec<String>,
    /// Select all functions that have a harness
    #[arg(long, conflicts_with_all = ["symbols", "task"])]
    all: bool,
    /// Test categories: benchmark (all five), commander, mecha_coder, or a comma-separated list
    #[arg(long, value_name = "CONTEXT", default_value = "benchmark")]
    context: TestGenContext,
    /// Number or hash prefix of the configuration, or `current` [default: the current one, or the built-in one if none is
    /// current; for kinds of function that it has a score for in this context, the configuration with the best mean score]
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
    let (project, mut store) = session.open(reporter.as_mut())?;
    let wanted = select(&project, args)?;
    let rows =
        wanted.iter().map(|planned| configuration(&mut store, planned, args)).collect::<Result<Vec<_>>>()?;
    let judge = Judge::new(&project, &session.interrupt);
    let set =
        rows.first().map_or_else(|| project.config.clone(), |row| settings(&project.config, &row.config));
    let roles = if asks_models(args) { &TEST_ROLES[..2] } else { &[] };
    let names: Vec<&str> = wanted.iter().map(|planned| planned.function.name.as_str()).collect();
    let command = format!("testgen generate {}", if args.all { "--all".to_owned() } else { names.join(" ") });
    let asks = Asks { command: &command, roles, config: &set, workflow: None };
    let mut models = ModelSession::open(&project.workspace, &mut store, asks, &session.interrupt)
        .map_err(without_model)?;
    let (all, ended) =
        each((&project, &mut store), (&judge, &wanted), &mut models, (&rows, args), reporter.as_mut());
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

fn asks_models(args: &Args) -> bool {
    args.context.categories().into_iter().any(TestCategory::is_asked)
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
    let run = &kept.run;
    let asks_nobody = !run.context.categories().into_iter().any(TestCategory::is_asked);
    kept.generated.is_whole && (asks_nobody || run.score.is_some())
}

fn select<'p>(project: &'p Project, args: &Args) -> Result<Vec<&'p FunctionPlan>> {
    if !args.all {
        return filter::named(project, &[&args.symbols[..], &args.task].concat());
    }
    Ok(project.planned.iter().filter(|planned| planned.judgeable.contract().is_some()).collect())
}

/// Generates tests for each function in turn; the results before a failure are returned with it.
fn each(
    (project, store): (&Project, &mut Store),
    (judge, wanted): (&Judge, &[&FunctionPlan]),
    models: &mut ModelSession,
    (rows, args): (&[ConfigRow], &Args),
    reporter: &mut dyn Reporter,
) -> (Vec<StoredRun>, Result<()>) {
    let mut all = Vec::new();
    let mut last = rows.first().map(|row| row.id);
    for ((index, planned), row) in wanted.iter().enumerate().zip(rows) {
        // Another configuration may name another model.
        if last.replace(row.id) != Some(row.id) && asks_models(args) {
            let set = settings(&project.config, &row.config);
            let root = project.workspace.root();
            if let Err(error) = models.choose(root, &TEST_ROLES[..2], &set, judge.interrupt) {
                return (all, Err(error));
            }
        }
        let symbol = planned.function.name.clone();
        reporter.event(Event::SymbolStarted {
            symbol: symbol.clone(),
            work: "tests",
            index: index + 1,
            total: wanted.len(),
        });
        let kept = match one((project, &mut *store), (judge, planned), models, (row, args), reporter) {
            Ok(kept) => kept,
            Err(error) => return (all, Err(error)),
        };
        let summary = shown::summary(&kept.run);
        reporter.event(Event::SymbolFinished { symbol, ok: is_whole(&kept), grade: None, summary });
        all.push(kept);
    }
    (all, Ok(()))
}

/// Generates, stores and writes the tests of one function.
fn one(
    (project, store): (&Project, &mut Store),
    (judge, planned): (&Judge, &FunctionPlan),
    models: &mut ModelSession,
    (row, args): (&ConfigRow, &Args),
    reporter: &mut dyn Reporter,
) -> Result<StoredRun> {
    let with = (row.id, &row.config, &args.context);
    let kept = run_once((project, store), (judge, planned), models, with, reporter)?;
    results::note_best(store, &kept.run)?;
    if args.no_export {
        return Ok(kept);
    }
    if kept.generated.kept.is_empty() && results::has_file(project, planned) {
        let text =
            format!("no new test of {} was kept: its test file stays as it was", planned.function.name);
        reporter.event(Event::Note { text });
        return Ok(kept);
    }
    let written = match best((project, store), (judge, planned), &kept, reporter)? {
        Some(written) => written,
        None => {
            let tests = store.testgen_tests(&kept.run.run_id)?;
            let tests = (&kept.run.run_id, &tests[..], Which::Kept);
            results::write((project, judge), planned, &kept.generated.campaign, tests)?
        }
    };
    Ok(StoredRun { written: Some(written), ..kept })
}

/// Writes the tests of an earlier, better run instead, if C still gives the same answers; otherwise `None`.
fn best(
    (project, store): (&Project, &Store),
    (judge, planned): (&Judge, &FunctionPlan),
    kept: &StoredRun,
    reporter: &mut dyn Reporter,
) -> Result<Option<Written>> {
    let best = store.best_testgen_run(&planned.function.key)?;
    let Some(best) = best.filter(|best| best.run_id != kept.run.run_id) else { return Ok(None) };
    let campaign = &kept.generated.campaign;
    let tests = store.testgen_tests(&best.run_id)?;
    let (same, differing) =
        results::confirmed((&project.library, judge), planned, campaign, (tests, Which::Kept))?;
    if !differing.is_empty() {
        let (name, others) = (&planned.function.name, differing.len());
        let text = format!(
            "C now gives different results for {others} of the tests of {}, so the tests of this run were written; `cargo implfuzz testgen export {name}` writes the others",
            best.run_id
        );
        reporter.event(Event::Note { text });
        return Ok(None);
    }
    results::write((project, judge), planned, campaign, (&best.run_id, &same, Which::Kept)).map(Some)
}

/// Generates and stores the tests of one function. A failure is also an event.
pub(super) fn run_once(
    (project, store): (&Project, &mut Store),
    (judge, planned): (&Judge, &FunctionPlan),
    models: &mut ModelSession,
    with: (ConfigId, &TestGenConfig, &TestGenContext),
    reporter: &mut dyn Reporter,
) -> Result<StoredRun> {
    let kept = watched((project, store), (judge, planned), models, with, reporter);
    if let Err(error) = &kept {
        let event = TestGenEvent::Error { why: error.to_string() };
        reporter.event(Event::TestGen { symbol: planned.function.name.clone(), event });
    }
    kept
}

fn watched(
    (project, store): (&Project, &mut Store),
    (judge, planned): (&Judge, &FunctionPlan),
    models: &mut ModelSession,
    (number, config, context): (ConfigId, &TestGenConfig, &TestGenContext),
    reporter: &mut dyn Reporter,
) -> Result<StoredRun> {
    let symbol = planned.function.name.clone();
    let id = results::run_id();
    let start =
        TestGenEvent::Start { run_id: id.to_string(), config: number.0, categories: config.ordered(context) };
    reporter.event(Event::TestGen { symbol: symbol.clone(), event: start });
    let request = Request { config, context };
    let mut generated = generate((project, &mut *store), (judge, planned), models, request, reporter)?;
    let label = Label { id, session: models.id.0, config: number, context };
    let stored = results::store(store, planned, &generated, label);
    let broken_off = generated.broken_off.take().or_else(|| judge.interrupt.check().err());
    if let Some(error) = broken_off {
        // If storing fails too, the first error is reported.
        if let Ok(run) = &stored {
            let text = format!("the results so far are stored: cargo implfuzz testgen runs {}", run.run_id);
            reporter.event(Event::Note { text });
        }
        return Err(error);
    }
    let run = stored?;
    let event = TestGenEvent::Complete {
        run_id: run.run_id.to_string(),
        score: run.score,
        tests: generated.suite.tests.len() + generated.existence.len(),
        kept: usize::try_from(run.kept).unwrap_or(usize::MAX),
    };
    reporter.event(Event::TestGen { symbol, event });
    Ok(StoredRun { run, generated, written: None })
}

fn as_json(project: &Project, kept: &StoredRun) -> Value {
    let StoredRun { run, generated, written } = kept;
    json!({
        "run": named(project, run), "score": generated.score, "ended": generated.why, "cheats": generated.cheats,
        "mutants": generated.mutants.len(), "without_mutants": generated.without_mutants,
        "callee_mutants": generated.callee_mutants.len(), "callee_survivors": generated.callee_survivors,
        "survivors": generated.survivors, "missed": generated.reached.missed, "written": written,
        "dropped": generated.suite.dropped.iter()
            .map(|dropped| json!({ "id": dropped.test.id, "input": dropped.test.input, "why": dropped.why }))
            .collect::<Vec<_>>(),
    })
}
