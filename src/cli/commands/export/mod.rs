//! `cargo implfuzz export`

mod github;

use super::Session;
use crate::error::{ExitCode, Result};

/// Write the files with which another service runs the tool on this repository
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Github(github::Args),
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    match &args.what {
        What::Github(args) => github::run(session, args),
    }
}
