//! `cargo implfuzz testgen runs`

use super::stats::{Versions, configuration, versions};
use super::{name, named, one_run};
use crate::cli::session::Session;
use crate::cli::tables::cells::{date, in_seconds, number, share};
use crate::error::{ExitCode, Result};
use crate::project::Project;
use crate::report::{Table, printable};
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
    let (project, store) = session.look()?;
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
    let table = Table::of(runs)
        .left("run", |run| run.run_id.to_string())
        .left("date (UTC)", |run| date(run.created_at))
        .left("symbol", |run| printable(&name(project, &run.symbol)))
        .left("configuration", |run| configuration(versions, run.config.0))
        .right("score", |run| number(run.score))
        .right("comprehensiveness", |run| share(run.analysis.comprehensiveness))
        .right("valid", |run| run.proposed.valid.to_string())
        .right("dropped", |run| run.proposed.dropped.to_string())
        .right("duplicate", |run| run.proposed.duplicates.to_string())
        .right("kept", |run| run.kept.to_string())
        .right("tokens", |run| run.tokens.to_string())
        .right("seconds", |run| in_seconds(Some(run.duration_ms as f64)));
    format!("{}\nshow one: cargo implfuzz testgen runs <run>\n", table.text())
}
