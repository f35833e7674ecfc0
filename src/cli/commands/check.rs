//! `cargo implfuzz check`

use crate::cli::ci_files::{CiFiles, within_git};
use crate::cli::session::Session;
use crate::count::count;
use crate::error::{ExitCode, Result};
use crate::evidence::status::{Checked, NOTES, Trouble, status};
use crate::platform::workspace::{find_root, nothing_on_trial};
use crate::report::{ci, printable};

/// Find ports that are unjudged, stale, refuted, rejected by the audit, missing, a stub again, or graded below `check.least`,
/// without building or running anything
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Symbols, modules such as rust/src/sum.rs, or C files [default: all]
    only: Vec<String>,
    #[command(flatten)]
    files: CiFiles,
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    let root = find_root(session.options.dir.as_deref())?;
    nothing_on_trial(&root)?;
    let config = session.config(&root)?;
    let status = status(&root, &config, Some(&root.join(NOTES)))?;
    let checked = Checked::of(&status, &args.only, config.check.least)?;
    let results = ci::of_check(&checked, within_git(&root));
    let written = args.files.write("check", &results);
    session.screen.result("check", &checked, || text(&checked));
    session.screen.annotations(&results);
    written?;
    Ok(code(&checked))
}

/// The result of a check as text.
pub fn text(checked: &Checked) -> String {
    let mut text = String::new();
    for c in &checked.symbols {
        // The reason says itself that it is the audit.
        let trouble = if c.trouble == Trouble::Audit { "" } else { &format!("{}: ", c.trouble.word()) };
        let reason = printable(&c.reason);
        text += &format!(
            "{}:{}: {}: {trouble}{reason} [{}]\n  help: {}\n",
            c.file,
            c.line,
            c.symbol,
            c.code.word(),
            c.help
        );
    }
    let holds: Vec<String> = checked.holds.iter().map(|(grade, count)| format!("{count} {grade}")).collect();
    let fresh: usize = checked.holds.values().sum();
    let total = fresh + checked.symbols.len();
    let holds = if holds.is_empty() { String::new() } else { format!(" ({})", holds.join(", ")) };
    text + &format!(
        "evidence holds for {fresh} of {}{holds}; {}\n",
        count(total, "port"),
        count(checked.stubs, "stub")
    )
}

/// The exit code of a check.
pub fn code(checked: &Checked) -> ExitCode {
    let has = |wanted: &[Trouble]| checked.symbols.iter().any(|c| wanted.contains(&c.trouble));
    match () {
        () if has(&[Trouble::Refuted, Trouble::Audit]) => ExitCode::Divergence,
        () if checked.symbols.is_empty() => ExitCode::Ok,
        () => ExitCode::Incomplete,
    }
}
