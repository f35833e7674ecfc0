//! `cargo implfuzz testgen`

mod config;
mod evolution;
mod evolve;
mod export;
mod generate;
mod one_run;
mod runs;
mod settings;
mod shown;
mod stats;

use crate::cli::session::Session;
use crate::error::{ExitCode, Result};
use crate::project::Project;
use crate::symbol::SymbolKey;
use serde::Serialize;
use serde_json::{Value, json};

/// Generate tests of functions: a model proposes inputs and the C original gives the expected results
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Generate(generate::Args),
    Export(export::Args),
    Stats(stats::Args),
    Runs(runs::Args),
    Config(config::Args),
    Evolve(evolve::Args),
    Evolution(evolution::Args),
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    match &args.what {
        What::Generate(args) => generate::run(session, args),
        What::Export(args) => export::run(session, args),
        What::Stats(args) => stats::run(session, args),
        What::Runs(args) => runs::run(session, args),
        What::Config(args) => config::run(session, args),
        What::Evolve(args) => evolve::run(session, args),
        What::Evolution(args) => evolution::run(session, args),
    }
}

/// The name of a function, or its key if the library no longer has it.
fn name(project: &Project, key: &SymbolKey) -> String {
    project.library.function(key).map_or_else(|| key.0.clone(), |function| function.name.to_string())
}

/// A value about a function, for programs: `symbol` is the name as in every other command, `symbol_key` the key in
/// the store.
fn named<T: Serialize>(project: &Project, value: &T) -> Value {
    let mut value = json!(value);
    if let Some(key) = value["symbol"].as_str().map(str::to_owned) {
        value["symbol"] = name(project, &SymbolKey(key.clone())).into();
        value["symbol_key"] = key.into();
    }
    value
}
