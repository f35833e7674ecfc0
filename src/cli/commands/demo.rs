//! `cargo implfuzz demo`

use crate::cli::session::Session;
use crate::cli::tables::symbol_tables;
use crate::count::count;
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::platform::doctor::{self, Check, Consent};
use crate::platform::toolchain::{MENDING_COMMAND, Search};
use crate::port::demo::{self, Wishes};
use crate::port::function::result::End;
use crate::verdict::Grade;
use serde_json::json;
use std::path::PathBuf;

/// Port and verify a small bundled C library, with recorded model replies
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Empty directory for the demonstration [default: a new temporary directory]
    #[arg(value_name = "DIR")]
    into: Option<PathBuf>,
    /// Fuzz each function for at most N seconds
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Port only these functions of the library
    #[arg(long, value_name = "SYMBOL", value_delimiter = ',')]
    only: Vec<String>,
    /// Install missing tools first without asking, as `doctor --install --yes` does
    #[arg(long)]
    install: bool,
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    let mut reporter = session.reporter();
    let search = Search::from_env();
    let checks = doctor::examine(&search, &session.interrupt)?;
    if checks.iter().any(Check::is_lack) {
        if !args.install {
            let missing: Vec<&str> = checks.iter().filter(|c| c.is_lack()).map(|c| c.name).collect();
            let text = format!("the demo needs tools that this machine lacks: {}", missing.join(", "));
            return Err(Error::new(ErrorKind::Environment, text)
                .help(format!("`cargo implfuzz demo --install`, or `{MENDING_COMMAND}` first")));
        }
        // SAFETY: this only asks the kernel for a number.
        let root = unsafe { libc::geteuid() } == 0;
        doctor::install(&checks, &search, root, Consent::Given, reporter.as_mut(), &session.interrupt)?;
    }
    let dir = match &args.into {
        Some(dir) => std::path::absolute(dir)?,
        None => tempfile::Builder::new().prefix("implfuzz-demo-").tempdir()?.keep(),
    };
    let wishes = Wishes { seconds: args.seconds, only: &args.only, overrides: &session.options.overrides };
    let shown = demo::demo(&dir, &wishes, &session.interrupt, reporter.as_mut())?;
    drop(reporter);
    let of = |grades: &[Grade]| shown.judgements.iter().filter(|j| grades.contains(&j.grade)).count();
    let verified = of(&[Grade::Verified, Grade::Exhaustive]);
    let weak = of(&[Grade::Weak]);
    let failed = shown.ports.iter().filter(|r| !r.end.is_done()).count();
    let not_judged = shown.ports.iter().filter(|r| r.end == End::NotJudgeable).count();
    let value = json!({
        "dir": shown.dir.display().to_string(), "symbols": shown.ports, "verified": shown.judgements,
        "counts": { "verified": verified, "weak": weak }, "failed": failed, "not_judged_yet": not_judged,
        "unrecorded": shown.unrecorded,
    });
    session.screen.result("demo", &value, || {
        format!(
            "{}\n{}\nverify --all: {}: {} (`cargo implfuzz status` shows what they lack)\n\
             functions not judged yet (callbacks, streams): {not_judged}, without a recorded reply: {}, failed: {failed}\n\
             the ported library: {}\n",
            symbol_tables::ports(&shown.ports),
            symbol_tables::spent(&shown.totals),
            count(shown.judgements.len(), "port"),
            symbol_tables::counts(&shown.judgements),
            shown.unrecorded.len(),
            shown.dir.display(),
        )
    });
    Ok(match () {
        () if verified + weak < shown.judgements.len() => ExitCode::Divergence,
        () if failed > 0 || shown.judgements.is_empty() => ExitCode::Incomplete,
        () => ExitCode::Ok,
    })
}
