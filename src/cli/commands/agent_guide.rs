//! `cargo implfuzz agent-guide`

use crate::cli::session::Session;
use crate::error::{ExitCode, Result};
use serde_json::json;

const GUIDE: &str = include_str!("../../../docs/agent-guide.md");

/// Print a guide for coding agents that port functions in an editor
///
/// The guide is Markdown. Put it where your agent reads its instructions, such as AGENTS.md or CLAUDE.md.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(session: &Session, Args {}: &Args) -> Result<ExitCode> {
    session.screen.result("agent-guide", &json!({ "text": GUIDE }), || GUIDE.to_owned());
    Ok(ExitCode::Ok)
}
