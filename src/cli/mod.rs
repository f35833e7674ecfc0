//! The command line: parses the arguments, runs the command and returns its exit code.

pub mod commands;
mod ci_files;
mod filter;
mod session;
mod shard;
mod tables;

use crate::cli::commands::{
    agent_guide, check, completions, context, contract, coverage, demo, doctor, drivers, dropin, explain,
    export, findings, fuzz, hook, init, list, man, mcp, memory, port, report, stats, status, testgen, verify,
};
use crate::cli::session::Session;
use crate::dropin::wrapper;
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::platform::process::Interrupt;
use crate::project::Options;
use crate::report::{Screen, Verbosity};
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// The heading of the options that every command takes.
const GLOBAL: &str = "Global options";

/// Port a C library to Rust function by function, and judge each port by differential fuzzing against the C original
#[derive(Debug, Parser)]
#[command(name = "cargo implfuzz", bin_name = "cargo implfuzz", version, subcommand_required = true)]
struct Cli {
    /// Work in this repository instead of the current directory
    #[arg(short = 'C', long = "dir", global = true, value_name = "DIR", help_heading = GLOBAL)]
    dir: Option<PathBuf>,
    /// Override a key of implfuzz.toml, as in 'llm.provider="command"'
    #[arg(long = "config", global = true, value_name = "KEY=VALUE", help_heading = GLOBAL)]
    overrides: Vec<String>,
    /// Print results as text or as JSON; `report` also as Markdown
    #[arg(long, global = true, value_enum, default_value_t = Format::Human, help_heading = GLOBAL)]
    format: Format,
    /// Print more details
    #[arg(short, long, global = true, conflicts_with = "quiet", help_heading = GLOBAL)]
    verbose: bool,
    /// Print only results and errors
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    quiet: bool,
    /// Control when to use colour
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, env = "CARGO_TERM_COLOR", help_heading = GLOBAL)]
    color: Color,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Human,
    Json,
    Md,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
enum Command {
    Doctor(doctor::Args),
    Init(init::Args),
    List(list::Args),
    Status(status::Args),
    Stats(stats::Args),
    Port(port::Args),
    Context(context::Args),
    Verify(verify::Args),
    Check(check::Args),
    Hook(hook::Args),
    Contract(contract::Args),
    Coverage(coverage::Args),
    Report(report::Args),
    Findings(findings::Args),
    Memory(memory::Args),
    Testgen(testgen::Args),
    Fuzz(fuzz::Args),
    Drivers(drivers::Args),
    Dropin(dropin::Args),
    Export(export::Args),
    Demo(demo::Args),
    Explain(explain::Args),
    AgentGuide(agent_guide::Args),
    Mcp(mcp::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// The command line as data: for completions, manual pages, and tests of the documentation.
pub fn command() -> clap::Command {
    Cli::command()
}

/// Runs the command line and prints errors.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut args: Vec<OsString> = args.into_iter().collect();
    // Cargo runs `cargo-implfuzz implfuzz …`; both spellings work.
    if args.get(1).is_some_and(|arg| arg == "implfuzz") {
        args.remove(1);
    }
    if args.get(1).is_some_and(|arg| arg == wrapper::COMMAND) {
        return dropin::compile(&args[2..]);
    }
    let overrides = overrides(&args);
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => Cli { overrides, ..cli },
        Err(error) => {
            drop(error.print());
            return if error.use_stderr() { ExitCode::Usage } else { ExitCode::Ok };
        }
    };
    crate::report::choose_color(match cli.color {
        Color::Auto => None,
        Color::Always => Some(true),
        Color::Never => Some(false),
    });
    let github = std::env::var("GITHUB_ACTIONS").as_deref() == Ok("true");
    let screen = Screen { json: cli.format == Format::Json, github };
    match dispatch(cli, screen) {
        Ok(code) => code,
        Err(error) => {
            screen.error(&error);
            error.kind().exit_code()
        }
    }
}

/// All `--config` values in order. When a global option stands both before and after the subcommand, clap keeps only the
/// values after it.
fn overrides(args: &[OsString]) -> Vec<String> {
    let mut texts = args.iter().skip(1).map(|arg| arg.to_string_lossy()).take_while(|arg| arg != "--");
    let mut found = Vec::new();
    while let Some(arg) = texts.next() {
        match arg.strip_prefix("--config") {
            Some("") => found.extend(texts.next().map(|value| value.into_owned())),
            Some(value) => found.extend(value.strip_prefix('=').map(str::to_owned)),
            None => {}
        }
    }
    found
}

fn dispatch(cli: Cli, screen: Screen) -> Result<ExitCode> {
    let markdown = cli.format == Format::Md;
    if markdown && !matches!(cli.command, Command::Report(_)) {
        return Err(
            Error::new(ErrorKind::Usage, "only `report` prints Markdown").help("leave out `--format md`")
        );
    }
    let verbosity = match (cli.quiet, cli.verbose) {
        (true, _) => Verbosity::Quiet,
        (_, true) => Verbosity::Verbose,
        _ => Verbosity::Normal,
    };
    let options = Options { dir: cli.dir, overrides: cli.overrides, ..Options::default() };
    let session = Session { options, screen, verbosity, interrupt: Interrupt::listen()? };
    match cli.command {
        Command::Doctor(args) => doctor::run(&session, &args),
        Command::Init(args) => init::run(&session, &args),
        Command::List(args) => list::run(&session, &args),
        Command::Status(args) => status::run(&session, &args),
        Command::Stats(args) => stats::run(&session, &args),
        Command::Port(args) => port::run(&session, &args),
        Command::Context(args) => context::run(&session, &args),
        Command::Verify(args) => verify::run(&session, &args),
        Command::Check(args) => check::run(&session, &args),
        Command::Hook(args) => hook::run(&session, &args),
        Command::Contract(args) => contract::run(&session, &args),
        Command::Coverage(args) => coverage::run(&session, &args),
        Command::Report(args) => report::run(&session, &args, markdown),
        Command::Findings(args) => findings::run(&session, &args),
        Command::Testgen(args) => testgen::run(&session, &args),
        Command::Memory(args) => memory::run(&session, &args),
        Command::Fuzz(args) => fuzz::run(&session, &args),
        Command::Drivers(args) => drivers::run(&session, &args),
        Command::Dropin(args) => dropin::run(&session, &args),
        Command::Export(args) => export::run(&session, &args),
        Command::Demo(args) => demo::run(&session, &args),
        Command::Explain(args) => explain::run(&session, &args),
        Command::AgentGuide(args) => agent_guide::run(&session, &args),
        Command::Mcp(args) => mcp::run(&session, &args),
        Command::Completions(args) => completions::run(&session, &args, command()),
        Command::Man(args) => man::run(&session, &args, command()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_override_counts_wherever_it_stands() {
        let args = [
            "cargo-implfuzz", "--config", "a=1", "verify", "--config=b=2", "f", "--config", "c=3", "--",
            "--config",
        ];
        let args: Vec<OsString> = args.into_iter().map(OsString::from).collect();
        assert_eq!(overrides(&args), ["a=1", "b=2", "c=3"]);
    }
}
