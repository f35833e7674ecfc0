//! `cargo implfuzz testgen evolution`

use super::stats::{Versions, configuration, versions};
use crate::cli::session::Session;
use crate::cli::tables::cells::{date, gain, known};
use crate::error::{ExitCode, Result};
use crate::report::{Table, one_line};
use crate::store::EvolutionRow;
use serde_json::json;

/// List the rounds of `testgen evolve`: each proposed change, its gain, and why it was accepted or rejected
#[derive(Debug, clap::Args)]
pub struct Args {}

pub(super) fn run(session: &Session, _: &Args) -> Result<ExitCode> {
    let (_, store) = session.look()?;
    let (rounds, versions) = (store.testgen_evolution()?, versions(&store)?);
    session.screen.result("testgen-evolution", &json!({ "rounds": rounds }), || {
        if rounds.is_empty() { "no round of evolution yet\n".into() } else { text(&rounds, &versions) }
    });
    Ok(ExitCode::Ok)
}

fn text(rounds: &[EvolutionRow], versions: &Versions) -> String {
    let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
    Table::of(rounds)
        .right("round", |round| round.id.to_string())
        .left("date (UTC)", |round| date(round.created_at))
        .left("from", |round| configuration(versions, round.from.0))
        .left("to", |round| known(round.to, |to| configuration(versions, to.0)))
        .left("type", |round| round.change.kind.word().to_owned())
        .right("expected", |round| gain(round.change.expected_improvement))
        .right("actual", |round| gain(round.actual_improvement))
        .right("at least", |round| gain(round.lower_bound))
        .right("pairs", |round| known(round.scores.as_ref(), |scores| scores.len().to_string()))
        .left("accepted", |round| yes(round.accepted))
        .left("reason", |round| one_line(&round.reason))
        .text()
}
