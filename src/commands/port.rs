//! `cargo implfuzz port`

use super::{Session, Which, explain, rows};
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::judge::Judge;
use crate::port::run::{self, End, Order};
use crate::report::{finding, finding_json};
use serde_json::json;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Lets a model port functions, each judged by fuzzing against the C original
///
/// A port is written into the tree only when audit, build and fuzzing find nothing against it; otherwise the tree stays as it was.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
    /// Write every exchange with the model into this directory, for the `replay` provider
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// Port so many functions at a time: models are waited for side by side, and as many compute as there are cores
    #[arg(short, long, value_name = "N", default_value = "1")]
    jobs: NonZeroUsize,
    /// Port nothing: print the steps that the last run took for these functions, each with the reason
    #[arg(long, conflicts_with = "record")]
    explain: bool,
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    if args.explain {
        return explain::run(session, &args.which);
    }
    let mut options = session.options.clone();
    if let Some(dir) = &args.record {
        let dir = std::path::absolute(dir)?;
        options.overrides.push(format!("llm.record_dir={:?}", dir.display().to_string()));
    }
    let session = Session { options, ..session.clone() };
    let mut reporter = session.reporter();
    let (project, mut store) = session.open(reporter.as_mut())?;
    let wanted = args.which.select(&project)?;
    if wanted.is_empty() {
        return Err(Error::new(ErrorKind::Usage, "the library has no function that can be ported")
            .help("`cargo implfuzz list` shows why"));
    }
    let command = args.which.words("port");
    let judge = Judge::new(&project, &session.interrupt);
    let order = Order { wanted: &wanted, command: &command, jobs: args.jobs.get() };
    let (results, totals) = run::port(&project, &mut store, order, judge, reporter.as_mut())?;
    drop(reporter);
    let findings: Vec<_> = results
        .iter()
        .filter_map(|r| Some(json!({ "symbol": r.symbol, "finding": finding_json(r.finding.as_ref()?) })))
        .collect();
    session.screen.result(
        "port",
        &json!({ "symbols": results, "findings": findings, "model": rows::spent_json(&totals) }),
        || {
            let mut text = String::new();
            for (result, found) in results.iter().filter_map(|r| Some((r, r.finding.as_ref()?))) {
                text += &finding(&result.symbol, found, None);
                text += &format!("all that was found: cargo implfuzz findings list {}\n\n", result.symbol);
            }
            format!("{text}{}\n{}\n", rows::ports(&results), rows::spent(&totals))
        },
    );
    let failed = |end: End| results.iter().any(|r| r.end == end);
    let refuted = results.iter().any(|r| r.end == End::Failed && r.finding.is_some());
    Ok(match () {
        () if failed(End::Budget) => ExitCode::Budget,
        () if refuted => ExitCode::Divergence,
        () if failed(End::StoppedByC) => ExitCode::CBug,
        () if failed(End::Failed)
            || failed(End::Skipped)
            || (failed(End::NotJudgeable) && !args.which.all) =>
        {
            ExitCode::Incomplete
        }
        () => ExitCode::Ok,
    })
}
