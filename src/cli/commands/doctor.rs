//! `cargo implfuzz doctor`

use crate::cli::session::Session;
use crate::error::{ExitCode, Result};
use crate::fuzz::build::cache::size;
use crate::platform::doctor::{self, Check, Consent, Installed};
use crate::platform::toolchain::Search;
use crate::platform::workspace::user_cache;
use crate::report::{ask_yes_no, checks};
use serde_json::{Value, json};
use std::io::IsTerminal;

/// Check for required tools and show how to install what is missing
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Install missing tools after asking
    #[arg(long)]
    install: bool,
    /// Install without asking
    #[arg(long, requires = "install")]
    yes: bool,
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    let search = Search::from_env();
    let mut found = doctor::examine(&search, &session.interrupt)?;
    // SAFETY: this only asks the kernel for a number.
    let root = unsafe { libc::geteuid() } == 0;
    if args.install {
        let mut ask = |plan: &doctor::Mending| {
            Ok(ask_yes_no(&format!("run `{}`?", plan.command_line()))?.unwrap_or(false))
        };
        let consent = match (args.yes, std::io::stdin().is_terminal()) {
            (true, _) => Consent::Given,
            (false, true) => Consent::Ask(&mut ask),
            (false, false) => Consent::Nobody,
        };
        let mut reporter = session.reporter();
        if let Installed::Done(after) =
            doctor::install(&found, &search, root, consent, reporter.as_mut(), &session.interrupt)?
        {
            found = after;
        }
    }
    let plan = doctor::mending(&found, &search, root, &session.interrupt)?;
    let command = plan.as_ref().map(doctor::Mending::command_line).filter(|line| !line.is_empty());
    let complete = !found.iter().any(Check::is_lack);
    let row =
        |c: &Check| json!({ "name": c.name, "ok": c.ok(), "optional": c.need.is_optional(), "why": c.why });
    let rows: Vec<Value> = found.iter().map(row).collect();
    let cache = user_cache().map(|path| (size(&path), path));
    let cache_row = cache.as_ref().map(|(bytes, path)| json!({ "path": path, "bytes": bytes }));
    let values =
        json!({ "complete": complete, "checks": rows, "install": command, "build_cache": cache_row });
    session.screen.result("doctor", &values, || {
        let mut text = checks(&found);
        if let Some((bytes, path)) = &cache {
            text += &format!("\nbuild cache: {} MiB in {}\n", bytes >> 20, path.display());
        }
        if complete {
            text += match found.iter().all(Check::ok) {
                true => "\nNothing is missing.\n",
                false => "\nAll tools that every library needs are installed.\n",
            };
        }
        if let Some(command) = &command {
            text += &format!("\nTo install the missing tools:\n  {command}\nor let this tool run it:\n  cargo implfuzz doctor --install\n");
        }
        for advice in plan.iter().flat_map(|p| &p.by_hand) {
            text += &format!("{advice}\n");
        }
        text
    });
    Ok(if complete { ExitCode::Ok } else { ExitCode::Error })
}
