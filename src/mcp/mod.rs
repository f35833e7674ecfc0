//! The server of the Model Context Protocol, under the feature `mcp`: each of its tools is a command of this program, run
//! with `--format json` in a child process (`child`). So a command that panics or is cancelled takes nothing with it, and
//! the tools say what the commands say. What the tools are called and take is in `tools`; what a client hears while one
//! runs, in `progress`. Nothing here reads or changes a repository.

mod child;
mod progress;
mod tools;

use crate::error::{Error, ErrorKind, Page, Result};
use crate::platform::process::Interrupt;
use child::Commands;
use rmcp::ServiceExt;
use rmcp::transport::io::stdio_pipes;
use std::path::Path;
use std::time::Duration;
use tools::Server;

/// How often a waiting server looks whether it was interrupted.
const LOOK: Duration = Duration::from_millis(100);

/// The longest time for commands to end after the session.
const END: Duration = Duration::from_secs(3);

/// Serves one client on standard input and output, until it closes them. Its commands work in `dir`, with these settings.
pub fn serve(dir: Option<&Path>, overrides: &[String], interrupt: &Interrupt) -> Result<()> {
    let commands = Commands::new(dir, overrides)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        tokio::select! {
            ended = session(Server::new(commands, interrupt.clone())) => ended,
            () = set(interrupt) => Err(Error::interrupted()),
        }
    });
    // The session is over: commands that still run end.
    interrupt.set();
    runtime.shutdown_timeout(END);
    ended
}

async fn session(server: Server) -> Result<()> {
    let running = server.serve(stdio_pipes()).await.map_err(|error| {
        Error::new(ErrorKind::Usage, format!("no MCP session began: {error}"))
            .help(format!("an editor or agent starts this command: see {}", Page::Mcp))
    })?;
    let ended = running.waiting().await;
    ended
        .map(drop)
        .map_err(|error| Error::new(ErrorKind::Internal, format!("the MCP session broke: {error}")))
}

async fn set(interrupt: &Interrupt) {
    while !interrupt.is_set() {
        tokio::time::sleep(LOOK).await;
    }
}
