//! `cargo implfuzz testgen evolve`

use super::generate::run_once;
use super::{Session, each_once};
use crate::config::TEST_ROLES;
use crate::error::{ExitCode, Result};
use crate::evolve::{Evolved, Hands, Request, evolve};
use crate::generate::models::{configured, settings};
use crate::generate::prompt::Templates;
use crate::judge::Judge;
use crate::port::desk::{Asks, Desk};
use crate::project::Project;
use crate::report::one_line;
use crate::store::{RunOutcome, Store};
use crate::symbol::SymbolName;
use crate::testgen::{ConfigId, EvolutionRound, ScorePair, TestGenConfig, TestGenContext, TestGenRun};
use serde_json::json;
use std::fmt::Write;

/// Lets the current configuration evolve: a model proposes changes, and one is kept where it wins on the same functions
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Functions that configurations are compared on, at least two; what is named twice counts once
    #[arg(long, value_name = "SYMBOL", num_args = 1.., value_delimiter = ',', required = true)]
    symbols: Vec<String>,
    /// How many changes are asked for
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Which categories: benchmark (all five), commander, mecha_coder, or some with commas between them
    #[arg(long, value_name = "CONTEXT", default_value = "benchmark")]
    context: TestGenContext,
}

pub(super) fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    let mut reporter = session.reporter();
    let (project, mut store) = session.open(reporter.as_mut())?;
    let planned = each_once(&project, &args.symbols)?;
    let judge = Judge::new(&project, &session.interrupt);
    let templates = Templates::load(Some(&project.workspace.root().join("prompts")))?;
    let config = settings(&project.config, &store.testgen_config_in_use()?.config);
    let asks = Asks { roles: &TEST_ROLES[2..], config: &config, phase: None };
    let command = format!("testgen evolve {}", args.symbols.join(" "));
    let mut desk = Desk::open(&project, &mut store, (&command, asks), &session.interrupt)?;
    let id = desk.id;
    let functions: Vec<_> = planned.iter().map(|planned| &planned.function).collect();
    let request = Request {
        functions: &functions,
        rounds: args.rounds,
        profiles: &configured(&project.config),
        choose: &|desk, config| {
            let set = settings(&project.config, config);
            desk.choose(project.workspace.root(), (&TEST_ROLES[2..], &set), &session.interrupt)
        },
        templates: &templates,
        interrupt: &session.interrupt,
    };
    let mut runner = |hands: &mut Hands, config: &TestGenConfig, number: ConfigId, name: &SymbolName| {
        run_with((&project, &judge), hands, (config, number, &args.context), name)
    };
    let mut hands = Hands { store: &mut store, desk: &mut desk, reporter: reporter.as_mut() };
    let evolved = evolve(&mut hands, &request, &mut runner);
    let Evolved { rounds, is_broken_off } = desk.or_finish(&mut store, evolved)?;
    store.finish_run(id, RunOutcome::Done)?;
    drop(reporter);
    session
        .screen
        .result("testgen-evolve", &json!({ "rounds": rounds }), || rounds.iter().map(text).collect());
    let is_scored = |pair: &ScorePair| pair.incumbent.is_some() && pair.candidate.is_some();
    let is_compared = rounds.iter().flat_map(|round| &round.scores).all(is_scored);
    Ok(if is_broken_off || !is_compared { ExitCode::Incomplete } else { ExitCode::Ok })
}

/// One run with a configuration, by the models that it names: of a desk, and a run in the store, of its own. What it spends is of the
/// command's budget.
fn run_with(
    (project, judge): (&Project, &Judge),
    hands: &mut Hands,
    (config, number, context): (&TestGenConfig, ConfigId, &TestGenContext),
    name: &SymbolName,
) -> Result<TestGenRun> {
    let planned = project.find(name.as_str())?;
    let set = settings(&project.config, config);
    let asks = Asks { roles: &TEST_ROLES[..2], config: &set, phase: None };
    let command = format!("testgen evolve: configuration {} on {name}", number.0);
    let store: &mut Store = hands.store;
    let mut desk = Desk::open(project, store, (&command, asks), judge.interrupt)?;
    let with = (number, config, context);
    std::mem::swap(&mut desk.budget, &mut hands.desk.budget);
    let kept = run_once((project, &mut *store), (judge, planned), &mut desk, with, hands.reporter);
    std::mem::swap(&mut desk.budget, &mut hands.desk.budget);
    let kept = desk.or_finish(store, kept)?;
    store.finish_run(desk.id, RunOutcome::Done)?;
    Ok(kept.run)
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
