//! `cargo implfuzz testgen evolution`

use super::Session;
use super::cells::{UNMEASURED, date, gain, known};
use super::stats::{Versions, configuration, versions};
use crate::error::{ExitCode, Result};
use crate::project::Project;
use crate::report::{Column, one_line, table};
use crate::store::EvolutionRow;
use serde_json::json;

/// List the rounds of `testgen evolve`: each proposed change, its gain, and why it was accepted or rejected
#[derive(Debug, clap::Args)]
pub struct Args {}

pub(super) fn run(session: &Session, _: &Args) -> Result<ExitCode> {
    let project = Project::look(&session.options, &session.interrupt)?;
    let store = session.store(&project)?;
    let (rounds, versions) = (store.testgen_evolution()?, versions(&store)?);
    session.screen.result("testgen-evolution", &json!({ "rounds": rounds }), || {
        if rounds.is_empty() { "no round of evolution yet\n".into() } else { text(&rounds, &versions) }
    });
    Ok(ExitCode::Ok)
}

fn text(rounds: &[EvolutionRow], versions: &Versions) -> String {
    let columns = [
        Column::right("round"),
        Column::left("date (UTC)"),
        Column::left("from"),
        Column::left("to"),
        Column::left("type"),
        Column::right("expected"),
        Column::right("actual"),
        Column::right("at least"),
        Column::right("pairs"),
        Column::left("accepted"),
        Column::left("reason"),
    ];
    let row = |round: &EvolutionRow| {
        vec![
            round.id.to_string(),
            date(round.created_at),
            configuration(versions, round.from.0),
            round.to.map_or_else(|| UNMEASURED.to_owned(), |to| configuration(versions, to.0)),
            round.change.kind.word().to_owned(),
            gain(round.change.expected_improvement),
            gain(round.actual_improvement),
            gain(round.lower_bound),
            known(round.scores.as_ref(), |scores| scores.len().to_string()),
            if round.accepted { "yes".into() } else { "no".into() },
            one_line(&round.reason),
        ]
    };
    table(&columns, &rounds.iter().map(row).collect::<Vec<_>>(), None)
}
