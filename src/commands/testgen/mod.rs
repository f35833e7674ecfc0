//! `cargo implfuzz testgen`

mod cells;
mod config;
mod evolution;
mod one_run;
mod runs;
mod settings;
mod stats;

use super::Session;
use crate::error::{ExitCode, Result};
use crate::project::Project;
use crate::symbol::SymbolKey;
use serde::Serialize;
use serde_json::{Map, Value};

/// Tests of C functions that a model proposes and the C original answers: runs, configurations, and what came of them
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Stats(stats::Args),
    Runs(runs::Args),
    Config(config::Args),
    Evolution(evolution::Args),
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    match &args.what {
        What::Stats(args) => stats::run(session, args),
        What::Runs(args) => runs::run(session, args),
        What::Config(args) => config::run(session, args),
        What::Evolution(args) => evolution::run(session, args),
    }
}

/// The name of a function; its key where the library has it no more.
fn name(project: &Project, key: &SymbolKey) -> String {
    project.library.function(key).map_or_else(|| key.0.clone(), |function| function.name.to_string())
}

/// Something about a function for programs: `symbol` is its name as in every other command, `symbol_key` what the store
/// knows it by.
fn named<T: Serialize>(project: &Project, value: &T) -> Result<Value> {
    let mut value = serde_json::to_value(value).map_err(unwritable)?;
    if let Value::Object(fields) = &mut value {
        name_in(project, fields);
    }
    Ok(value)
}

fn name_in(project: &Project, fields: &mut Map<String, Value>) {
    if let Some(Value::String(key)) = fields.get("symbol") {
        let key = key.clone();
        fields.insert("symbol".into(), name(project, &SymbolKey(key.clone())).into());
        fields.insert("symbol_key".into(), key.into());
    }
}

fn unwritable(error: serde_json::Error) -> crate::error::Error {
    crate::error::Error::new(
        crate::error::ErrorKind::Internal,
        format!("a result has no form in JSON: {error}"),
    )
}
