//! `cargo implfuzz verify`

use super::shard::Shard;
use super::{Session, Which, rows};
use crate::check;
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::fuzz::run::Budget;
use crate::judge::Judge;
use crate::ported::Ported;
use crate::project::{Planned, Project};
use crate::report::{finding, finding_json};
use crate::verify;
use serde_json::json;
use std::collections::BTreeSet;

/// Judges ports as they stand in the tree, whoever wrote them: audit, build, fuzzing against the C original
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
    /// What `check` calls stale or unjudged, or the audit rejects
    #[arg(long, group = "Which")]
    stale: bool,
    /// Of these, only part I of N: for N machines that share the work
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Fuzz each for so long [default: fuzz.accept_seconds]
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// End each run after so many executions
    #[arg(long, value_name = "N")]
    runs: Option<u64>,
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    let mut reporter = session.reporter();
    let (project, mut store) = session.open(reporter.as_mut())?;
    let mut wanted = args.which.select(&project)?;
    if args.which.all {
        wanted.retain(|p| project.ported(&p.function) == Ported::Yes);
        if wanted.is_empty() {
            return Err(Error::new(
                ErrorKind::Usage,
                "no function has a body in Rust yet: there is nothing to verify",
            )
            .help("`cargo implfuzz port <symbol>`, or write one in place of its stub"));
        }
    }
    if args.stale {
        wanted = stale(&project)?;
    }
    if let Some(shard) = args.shard {
        shard.keep(&mut wanted, |planned| planned.function.name.as_str());
    }
    let judge = Judge::new(&project, &session.interrupt);
    let normal = judge.acceptance_budget();
    let budget = Budget {
        seconds: args.seconds.unwrap_or(normal.seconds),
        executions: args.runs.or(normal.executions),
    };
    let command = if args.stale { "verify --stale".to_owned() } else { args.which.words("verify") };
    let asked = (wanted.as_slice(), command.as_str());
    let all = verify::verify(&project, &mut store, asked, Some(budget), &judge, reporter.as_mut())?;
    drop(reporter);
    let findings: Vec<_> = all
        .iter()
        .filter_map(|j| Some(json!({ "symbol": j.symbol, "finding": finding_json(j.finding.as_ref()?) })))
        .collect();
    session.screen.result("verify", &json!({ "symbols": all, "findings": findings }), || {
        let mut text = String::new();
        for (judgement, found) in all.iter().filter_map(|j| Some((j, j.finding.as_ref()?))) {
            text += &finding(&judgement.symbol, found, None);
            text += &format!("reproduce: cargo implfuzz verify {}\n\n", judgement.symbol);
        }
        match all.is_empty() {
            true => "nothing to verify\n".to_owned(),
            false => format!("{text}{}\n{}\n", rows::judgements(&all), rows::counts(&all)),
        }
    });
    Ok(super::status::code(&all, &project))
}

/// The functions for which `check` asks for a run.
fn stale(project: &Project) -> Result<Vec<&Planned>> {
    let checked = check::check(project.workspace.root(), &project.config, &[])?;
    let names = checked.symbols.iter().filter(|complaint| complaint.trouble.asks_for_verify());
    let names: BTreeSet<&str> = names.map(|complaint| complaint.symbol.as_str()).collect();
    Ok(project.planned.iter().filter(|planned| names.contains(planned.function.name.as_str())).collect())
}
