//! `cargo implfuzz status`

use super::{Session, rows};
use crate::error::{ExitCode, Result};
use crate::grade;
use crate::init;
use crate::judge::Judge;
use crate::project::Project;
use crate::verdict::Grade;
use crate::verify;
use serde_json::json;

/// Shows what is known of every function: stub, grade, what it lacks, whether it is stale; builds and runs nothing
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(session: &Session, _: &Args) -> Result<ExitCode> {
    let project = Project::look(&session.options, &session.interrupt)?;
    init::warn(&project, session.reporter().as_mut());
    let store = session.store(&project)?;
    let all = verify::status(&project, &store, &Judge::new(&project, &session.interrupt))?;
    let totals = store.totals(None)?;
    session.screen.result("status", &json!({ "symbols": all, "model": rows::spent_json(&totals) }), || {
        let spent = match totals.calls {
            0 => "no model call yet".to_owned(),
            _ => rows::spent(&totals),
        };
        format!("{}\n{}; {spent}\n", rows::judgements(&all), rows::counts(&all))
    });
    Ok(code(&all, &project))
}

/// What a set of judgements means for the exit code.
pub fn code(all: &[verify::Judgement], project: &Project) -> ExitCode {
    if all.iter().any(|j| j.grade == Grade::Refuted) {
        ExitCode::Divergence
    } else if all.iter().any(|j| j.stopped_by_c) {
        ExitCode::CBug
    } else if !all.iter().all(|j| grade::is_enough(j.grade, &project.config.grade)) {
        ExitCode::Incomplete
    } else {
        ExitCode::Ok
    }
}
