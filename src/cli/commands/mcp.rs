//! `cargo implfuzz mcp`

use crate::cli::session::Session;
use crate::error::{ExitCode, Result};

/// Run a Model Context Protocol (MCP) server for editors and agents on standard input and output
///
/// An editor or agent starts it, in the repository or with `-C DIR`. Its tools are the commands with which an agent ports
/// functions: list, status, context, contract, check, verify, findings, explain and agent-guide. None of them writes a port.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
#[cfg(feature = "mcp")]
pub fn run(session: &Session, Args {}: &Args) -> Result<ExitCode> {
    let options = &session.options;
    crate::mcp::serve(options.dir.as_deref(), &options.overrides, &session.interrupt)?;
    Ok(ExitCode::Ok)
}

/// Fails, because this program was built without the server.
#[cfg(not(feature = "mcp"))]
pub fn run(_: &Session, Args {}: &Args) -> Result<ExitCode> {
    Err(absent())
}

#[cfg(any(test, not(feature = "mcp")))]
fn absent() -> crate::error::Error {
    crate::error::Error::new(
        crate::error::ErrorKind::Environment,
        "this build of cargo-implfuzz has no MCP server",
    )
    .help("cargo install --locked cargo-implfuzz --features mcp")
}

#[cfg(test)]
mod tests {
    #[test]
    fn without_the_server_the_error_says_how_to_get_it() {
        let error = super::absent();
        assert!(error.to_string().contains("has no MCP server"), "{error}");
        assert_eq!(error.help_text(), Some("cargo install --locked cargo-implfuzz --features mcp"));
    }
}
