//! `cargo implfuzz report`

use crate::cli::session::Session;
use crate::error::{ExitCode, Result};
use crate::judge::Judge;
use crate::judge::coverage;
use crate::platform::workspace::write_atomic;
use crate::project::ported::Ported;
use crate::project::{FunctionPlan, init};
use crate::report::page;
use crate::survey::Survey;
use jiff::Timestamp;
use serde_json::json;
use std::path::PathBuf;

/// Write a page about the whole port: the call graph with grades, and the C and Rust text, mutants, findings and
/// attempts of each function
///
/// The page is one HTML file that needs no network. `--format md` prints a summary in Markdown instead, as for a pull
/// request. Without `--coverage`, nothing is built or run.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write the page into this file [default: .implfuzz/report.html]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Also measure coverage, and mark the lines that no input reaches (this builds the harnesses and replays kept inputs)
    #[arg(long)]
    coverage: bool,
}

/// Runs the command; `markdown` asks for the summary.
pub fn run(session: &Session, args: &Args, markdown: bool) -> Result<ExitCode> {
    let mut reporter = session.reporter();
    let (project, store) = match args.coverage {
        true => session.open_to_run(reporter.as_mut())?,
        false => session.look()?,
    };
    init::warn(&project, reporter.as_mut());
    let judge = Judge::new(&project, &session.interrupt);
    let mut reach = Vec::new();
    if args.coverage {
        let is_ported = |planned: &&FunctionPlan| {
            planned.judgeable.contract().is_some() && project.ported(&planned.function) == Ported::Yes
        };
        let wanted: Vec<&FunctionPlan> = project.planned.iter().filter(is_ported).collect();
        reach = coverage::of_symbols(&judge, &wanted, reporter.as_mut())?;
    }
    drop(reporter);
    let survey = Survey::of(&judge, &store, reach)?;
    if markdown {
        session.screen.text(&page::markdown(&survey));
        return Ok(ExitCode::Ok);
    }
    let path = args.out.clone().unwrap_or_else(|| project.workspace.private().join("report.html"));
    write_atomic(&path, page::html(&survey, Timestamp::now()).as_bytes())?;
    let value = json!({
        "path": path.display().to_string(), "ported": survey.overview.ported,
        "functions": survey.overview.functions, "library": survey.overview,
    });
    session.screen.result("report", &value, || format!("{}\n", project.shown(&path)));
    Ok(ExitCode::Ok)
}
