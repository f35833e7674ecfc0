//! `cargo implfuzz demo`
use super::Session;
use crate::error::{ExitCode, Result};
/// Demo
#[derive(Debug, clap::Args)]
pub struct Args {}
/// Runs the command.
pub fn run(_: &Session, _: &Args) -> Result<ExitCode> { Ok(ExitCode::Ok) }
