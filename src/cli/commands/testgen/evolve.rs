//! `cargo implfuzz testgen evolve`

use super::generate::Work;
use crate::cli::filter;
use crate::cli::session::Session;
use crate::config::TEST_ROLES;
use crate::error::{ExitCode, Result};
use crate::judge::Judge;
use crate::llm::model_session::{Asks, ModelSession};
use crate::project::Project;
use crate::report::one_line;
use crate::store::{RunOutcome, Store};
use crate::symbol::SymbolName;
use crate::test_record::{ConfigId, EvolutionRound, ScorePair, TestGenConfig, TestGenContext, TestGenRun};
use crate::testgen::evolve::{Evolved, Request, Resources, evolve};
use crate::testgen::run::models::{configured, settings};
use crate::testgen::run::prompt::Templates;
use serde_json::json;
use std::fmt::Write;

/// Improve the current configuration: a model proposes changes, and each is kept only if it scores better
#[derive(Debug, clap::Args)]
pub struct Args {
    /// At least two functions on which to compare configurations
    #[arg(long, value_name = "SYMBOL", num_args = 1.., value_delimiter = ',', required = true)]
    symbols: Vec<String>,
    /// Number of changes to ask for
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Test categories: benchmark (all five), commander (existence, correctness, boundary), mecha_coder (correctness,
    /// boundary), or a comma-separated list
    #[arg(long, value_name = "CONTEXT", default_value = "benchmark")]
    context: TestGenContext,
}

pub(super) fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    let mut reporter = session.reporter();
    let (project, mut store) = session.open_to_run(reporter.as_mut())?;
    let planned = filter::named(&project, &args.symbols)?;
    let judge = Judge::new(&project, &session.interrupt);
    let templates = Templates::load(Some(&project.workspace.root().join("prompts")))?;
    let config = settings(&project.config, &store.testgen_config_in_use()?.config);
    let command = format!("testgen evolve {}", args.symbols.join(" "));
    let asks = Asks { command: &command, roles: &TEST_ROLES[2..], config: &config, workflow: None };
    let mut models = ModelSession::open(&project.workspace, &mut store, asks, &session.interrupt)?;
    let id = models.id;
    let functions: Vec<_> = planned.iter().map(|planned| &planned.function).collect();
    let request = Request {
        functions: &functions,
        rounds: args.rounds,
        profiles: &configured(&project.config),
        choose: &|models, config| {
            let set = settings(&project.config, config);
            models.choose(project.workspace.root(), &TEST_ROLES[2..], &set, &session.interrupt)
        },
        templates: &templates,
        interrupt: &session.interrupt,
    };
    let mut runner =
        |resources: &mut Resources, config: &TestGenConfig, number: ConfigId, name: &SymbolName| {
            run_with((&project, &judge), resources, (config, number, &args.context), name)
        };
    let mut resources = Resources { store: &mut store, models: &mut models, reporter: reporter.as_mut() };
    let evolved = evolve(&mut resources, &request, &mut runner);
    let Evolved { rounds, is_broken_off } = models.or_finish(&mut store, evolved)?;
    store.finish_run(id, RunOutcome::Done)?;
    drop(reporter);
    session
        .screen
        .result("testgen-evolve", &json!({ "rounds": rounds }), || rounds.iter().map(text).collect());
    let is_scored = |pair: &ScorePair| pair.incumbent.is_some() && pair.candidate.is_some();
    let is_compared = rounds.iter().flat_map(|round| &round.scores).all(is_scored);
    Ok(if is_broken_off || !is_compared { ExitCode::Incomplete } else { ExitCode::Ok })
}

/// One run with a configuration, with the models that it names, in a model session and store run of its own. Its
/// cost counts against the command's budget.
fn run_with(
    (project, judge): (&Project, &Judge),
    resources: &mut Resources,
    (config, number, context): (&TestGenConfig, ConfigId, &TestGenContext),
    name: &SymbolName,
) -> Result<TestGenRun> {
    let planned = project.find(name.as_str())?;
    let set = settings(&project.config, config);
    let command = format!("testgen evolve: configuration {} on {name}", number.0);
    let asks = Asks { command: &command, roles: &TEST_ROLES[..2], config: &set, workflow: None };
    let store: &mut Store = resources.store;
    let mut models = ModelSession::open(&project.workspace, store, asks, judge.interrupt)?;
    std::mem::swap(&mut models.budget, &mut resources.models.budget);
    let reporter = &mut *resources.reporter;
    let mut work = Work { project, judge, store: &mut *store, models: &mut models, reporter, context };
    let generated = work.run(planned, number, config);
    std::mem::swap(&mut models.budget, &mut resources.models.budget);
    let generated = models.or_finish(store, generated)?;
    store.finish_run(models.id, RunOutcome::Done)?;
    Ok(generated.run)
}

fn text(round: &EvolutionRound) -> String {
    let points =
        |points: Option<f64>| points.map_or("unmeasured".to_owned(), |points| format!("{points:+.1}"));
    let mut text =
        format!("round {}: {} by {}: ", round.round, round.change.kind.word(), one_line(&round.model));
    let verdict = if round.accepted { "accepted" } else { "not accepted" };
    // Writing to a string never fails.
    _ = writeln!(text, "{verdict}: {}", one_line(&round.reason));
    if let Some(to) = &round.to {
        let (gain, low) = (points(round.mean_gain), points(round.lower_bound));
        _ = writeln!(
            text,
            "  {} → {}: mean gain {gain} points, at least {low}",
            round.from.version, to.version
        );
    }
    for pair in &round.scores {
        let score = |score: Option<u32>| score.map_or("none".to_owned(), |score| score.to_string());
        _ = writeln!(text, "  {}: {} → {}", pair.symbol, score(pair.incumbent), score(pair.candidate));
    }
    text
}
