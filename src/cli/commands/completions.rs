//! `cargo implfuzz completions`

use crate::cli::session::Session;
use crate::error::{ExitCode, Result};
use clap::{Command, ValueEnum};
use clap_complete::Shell;
use serde_json::json;

/// The program whose arguments are completed. No shell lets another program complete the arguments of `cargo`.
const PROGRAM: &str = "cargo-implfuzz";

/// Print a shell completion script for `cargo-implfuzz`
///
/// `cargo-implfuzz` takes the same arguments as `cargo implfuzz`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[arg(value_enum)]
    shell: Shell,
}

/// Runs the command.
pub fn run(session: &Session, args: &Args, command: Command) -> Result<ExitCode> {
    let mut command = command.name(PROGRAM).bin_name(PROGRAM);
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, PROGRAM, &mut script);
    // clap_complete 4.6 spells a hyphen in the program's name in two ways in scripts for bash, so no subcommand is found.
    let script = String::from_utf8_lossy(&script).replace("cargo__subcmd__implfuzz", "cargo__implfuzz");
    let shell = args.shell.to_possible_value().map(|value| value.get_name().to_owned());
    session.screen.result("completions", &json!({ "shell": shell, "text": script }), || script.clone());
    Ok(ExitCode::Ok)
}
