//! `cargo implfuzz testgen runs`

use super::cells::{count, date, seconds, share};
use super::stats::{Versions, configuration, versions};
use super::{Session, name, named, one_run};
use crate::error::{ExitCode, Result};
use crate::project::Project;
use crate::report::{Column, printable, table};
use crate::test_record::TestGenRun;
use serde_json::json;

/// List runs, newest first, or show one in full
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show the measurements, score and tests of this run
    #[arg(value_name = "RUN_ID", conflicts_with_all = ["symbol", "limit"])]
    run: Option<String>,
    /// List only runs on this function
    #[arg(long, value_name = "NAME")]
    symbol: Option<String>,
    /// List at most N runs
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

pub(super) fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    if let Some(id) = &args.run {
        return one_run::show(session, id);
    }
    let project = Project::look(&session.options, &session.interrupt)?;
    let store = session.store(&project)?;
    let symbol = args.symbol.as_deref().map(|name| project.find(name)).transpose()?;
    let runs = store.recent_testgen_runs(args.limit, symbol.map(|planned| &planned.function.key))?;
    let versions = versions(&store)?;
    let values: Vec<_> = runs.iter().map(|run| named(&project, run)).collect();
    session.screen.result("testgen-runs", &json!({ "runs": values }), || {
        if runs.is_empty() { "no runs\n".into() } else { text(&project, &runs, &versions) }
    });
    Ok(ExitCode::Ok)
}

fn text(project: &Project, runs: &[TestGenRun], versions: &Versions) -> String {
    let columns = [
        Column::left("run"),
        Column::left("date (UTC)"),
        Column::left("symbol"),
        Column::left("configuration"),
        Column::right("score"),
        Column::right("comprehensiveness"),
        Column::right("valid"),
        Column::right("dropped"),
        Column::right("duplicate"),
        Column::right("kept"),
        Column::right("tokens"),
        Column::right("seconds"),
    ];
    let row = |run: &TestGenRun| {
        vec![
            run.run_id.to_string(),
            date(run.created_at),
            printable(&name(project, &run.symbol)),
            configuration(versions, run.config.0),
            count(run.score),
            share(run.analysis.comprehensiveness),
            run.proposed.valid.to_string(),
            run.proposed.dropped.to_string(),
            run.proposed.duplicates.to_string(),
            run.kept.to_string(),
            run.tokens.to_string(),
            seconds(Some(run.duration_ms as f64)),
        ]
    };
    let rows: Vec<_> = runs.iter().map(row).collect();
    format!("{}\nshow one: cargo implfuzz testgen runs <run>\n", table(&columns, &rows, None))
}
