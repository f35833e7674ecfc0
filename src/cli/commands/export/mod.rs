//! `cargo implfuzz export`

mod continuous;
mod github;

use crate::cli::session::Session;
use crate::error::{ExitCode, Result};
use crate::export::continuous::Service;

/// Write the files that a service needs to run the tool or to fuzz the ports of this repository
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Github(github::Args),
    /// Write a project for OSS-Fuzz, which fuzzes ports and drivers continuously
    #[command(name = "oss-fuzz")]
    OssFuzz(continuous::Args),
    /// Write the files that ClusterFuzzLite needs to fuzz ports and drivers on GitHub
    #[command(name = "clusterfuzzlite")]
    ClusterFuzzLite(continuous::Args),
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    match &args.what {
        What::Github(args) => github::run(session, args),
        What::OssFuzz(args) => continuous::run(session, Service::OssFuzz, args),
        What::ClusterFuzzLite(args) => continuous::run(session, Service::ClusterFuzzLite, args),
    }
}
