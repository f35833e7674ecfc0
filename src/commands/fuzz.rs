//! `cargo implfuzz fuzz`

use super::Session;
use crate::contract::types::Judgeable;
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::event::Event;
use crate::fuzz::build::Built;
use crate::judge::{Judge, does_not_compile};
use crate::ported::Ported;
use crate::process::Exit;

/// Fuzzes one function by hand: libFuzzer on this terminal, with any of its flags
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The function
    symbol: String,
    /// Flags and corpus directories for libFuzzer
    #[arg(last = true)]
    flags: Vec<String>,
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    let mut reporter = session.reporter();
    let (project, _) = session.open(reporter.as_mut())?;
    let planned = project.find(&args.symbol)?;
    let name = &planned.function.name;
    if let Judgeable::NotYet(why) = &planned.judgeable {
        return Err(Error::new(ErrorKind::Usage, format!("no harness can judge `{name}` yet: {why}")).help(
            format!(
                "write {}/contracts/{name}.toml by hand, if it can be called at all",
                project.config.rust.dir
            ),
        ));
    }
    let module = project.module(&planned.function.module)?;
    if module.state(&planned.function) != Ported::Yes {
        return Err(Error::new(
            ErrorKind::Usage,
            format!("`{name}` is still a stub: there is nothing to fuzz"),
        )
        .help(format!("`cargo implfuzz port {name}`, or write it in place of the stub")));
    }
    let judge = Judge::new(&project, &session.interrupt);
    if let Some(problem) = judge.audit(planned, module.text())?.problems.first() {
        let place = format!("src/{}.rs:{}", planned.function.module, problem.line);
        return Err(Error::new(ErrorKind::Usage, format!("{place}: {}", problem.reason))
            .help("what the audit rejects is not run; correct it first"));
    }
    let binary = match judge.build(&[])? {
        Built::Binary(path) => path,
        Built::Errors(errors) => return Err(does_not_compile(&project, &errors)),
    };
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
