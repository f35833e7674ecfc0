//! `cargo implfuzz fuzz`

use crate::cli::session::Session;
use crate::error::{ExitCode, Result};
use crate::event::Event;
use crate::judge::Judge;
use crate::platform::process::Exit;

/// Run libFuzzer on one function in this terminal
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Function to fuzz, as `list` names it
    symbol: String,
    /// Flags and corpus directories to pass to libFuzzer
    #[arg(last = true)]
    flags: Vec<String>,
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    let mut reporter = session.reporter();
    let (project, _) = session.open_to_run(reporter.as_mut())?;
    let planned = project.find(&args.symbol)?;
    let name = &planned.function.name;
    let judge = Judge::new(&project, &session.interrupt);
    let binary = judge.by_hand(planned, reporter.as_mut())?;
    let artifacts = project.rust_dir().join("fuzz/artifacts").join(format!("fuzz_{name}"));
    if !args.flags.iter().any(|f| f.starts_with("-runs=") || f.starts_with("-max_total_time=")) {
        let text = "no -runs=N or -max_total_time=SECONDS given: it fuzzes until Ctrl-C".into();
        reporter.event(Event::Note { text });
    }
    let exit = judge.campaign(&binary, planned).run_by_hand(&args.flags, &artifacts, &session.interrupt)?;
    Ok(match exit {
        Exit::Code(0) => ExitCode::Ok,
        Exit::Code(72 | 130) | Exit::Signal(2) => ExitCode::Interrupted,
        _ => ExitCode::Divergence,
    })
}
