//! `cargo implfuzz export github`

use crate::cli::ci_files::within_git;
use crate::cli::session::Session;
use crate::error::{ExitCode, Result};
use crate::export::{self, Change, github};
use crate::platform::workspace::{find_root, git_root};
use serde_json::json;
use std::path::PathBuf;

/// Write a GitHub workflow that checks the evidence and verifies stale ports
#[derive(Debug, clap::Args)]
pub struct Args {
    /// File to write [default: .github/workflows/implfuzz.yml in the git repository]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace an existing file that has different content
    #[arg(long)]
    force: bool,
    /// Print the workflow and write nothing
    #[arg(long, conflicts_with_all = ["out", "force"])]
    print: bool,
    /// Verify on N machines
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..))]
    shards: u8,
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    let root = find_root(session.options.dir.as_deref())?;
    let git = git_root(&root);
    let text = github::workflow(within_git(&root), args.shards.into())?;
    if args.print {
        session.screen.result("export", &json!({ "target": "github", "text": text }), || text.clone());
        return Ok(ExitCode::Ok);
    }
    let path = args.out.clone().unwrap_or_else(|| git.join(github::PATH));
    let change = export::write(&path, &text, args.force, "cargo implfuzz export github")?;
    let path = path.display().to_string();
    session.screen.result("export", &json!({ "target": "github", "path": path, "change": change }), || {
        match change {
            Change::Written => format!("{path}: written; commit it, and GitHub runs it on every push\n"),
            Change::Unchanged => format!("{path}: exists already\n"),
        }
    });
    Ok(ExitCode::Ok)
}
