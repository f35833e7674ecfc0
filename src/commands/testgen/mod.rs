//! `cargo implfuzz testgen`

mod export;
mod generate;
mod shown;

use super::Session;
use crate::error::{ExitCode, Result};

/// Generates tests of a symbol: a model proposes inputs, C says what comes of them, and what they miss is measured
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Generate(generate::Args),
    Export(export::Args),
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    match &args.what {
        What::Generate(args) => generate::run(session, args),
        What::Export(args) => export::run(session, args),
    }
}
