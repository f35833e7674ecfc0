//! `cargo implfuzz status`

use crate::cli::filter;
use crate::cli::session::Session;
use crate::cli::tables::overview::overview;
use crate::cli::tables::symbol_tables;
use crate::error::{ExitCode, Result};
use crate::evidence::grade;
use crate::judge::verify::{self, Overview};
use crate::project::Project;
use crate::project::init;
use crate::project::listing;
use crate::verdict::Grade;
use serde_json::json;

/// Show the status of every function and what keeps it from a better grade, without building or running anything
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show only functions that match a pattern: a symbol, a C name, a file or file:name; `*` matches any text
    #[arg(value_name = "PATTERN")]
    patterns: Vec<String>,
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    let (project, store) = session.look()?;
    init::warn(&project, session.reporter().as_mut());
    let wanted = match args.patterns.is_empty() {
        true => project.planned.iter().collect(),
        false => filter::named(&project, &args.patterns)?,
    };
    let mut all = verify::known(&project, &store, &wanted)?;
    let totals = store.totals(None)?;
    let causes = match args.patterns.is_empty() {
        true => listing::causes(listing::without_harness(&project)),
        false => Vec::new(),
    };
    let whole = match args.patterns.is_empty() {
        true => Some(Overview::of(&project, &store, &all)?),
        false => None,
    };
    // Ports come first: there may be a hundred stubs.
    all.sort_by_key(|judgement| judgement.grade == Grade::Stub);
    session.screen.result(
        "status",
        &json!({
            "symbols": all, "library": whole, "causes": causes, "model": symbol_tables::spent_json(&totals),
        }),
        || {
            let spent = match totals.calls {
                0 => String::new(),
                _ => format!("; {}", symbol_tables::spent(&totals)),
            };
            let (rows, counts) = (symbol_tables::judgements(&all), symbol_tables::counts(&all));
            let whole = whole.as_ref().map(overview).unwrap_or_default();
            format!("{rows}\n{counts}{spent}\n{whole}{}", symbol_tables::causes(&causes))
        },
    );
    Ok(code(&all, &project))
}

/// The exit code for a set of judgements.
pub fn code(all: &[verify::Judgement], project: &Project) -> ExitCode {
    if all.iter().any(|j| j.grade == Grade::Refuted) {
        ExitCode::Divergence
    } else if all.iter().any(|j| j.c_fault) {
        ExitCode::CFault
    } else if !all.iter().all(|j| grade::is_enough(j.grade, project.config.grade.least)) {
        ExitCode::Incomplete
    } else {
        ExitCode::Ok
    }
}
