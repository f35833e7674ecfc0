//! `cargo implfuzz verify`

use super::{Session, Which, rows};
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::fuzz::run::Budget;
use crate::judge::Judge;
use crate::ported::Ported;
use crate::report::{finding, finding_json};
use crate::verify;
use serde_json::json;

/// Judges ports as they stand in the tree, whoever wrote them: audit, build, fuzzing against the C original
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
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
    let judge = Judge::new(&project, &session.interrupt);
    let normal = judge.acceptance_budget();
    let budget = Budget {
        seconds: args.seconds.unwrap_or(normal.seconds),
        executions: args.runs.or(normal.executions),
    };
    let command = args.which.words("verify");
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
        format!("{text}{}\n{}\n", rows::judgements(&all), rows::counts(&all))
    });
    Ok(super::status::code(&all, &project))
}
