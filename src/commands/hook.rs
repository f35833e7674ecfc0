//! `cargo implfuzz hook`

use super::{Session, check};
use crate::check::{Checked, check};
use crate::config::Config;
use crate::error::{ExitCode, Result};
use crate::hook::{Change, Hook, Staged};
use crate::workspace::{CONFIG_FILE, find_root, nothing_on_trial};
use serde_json::json;
use std::path::Path;

/// Has git run `check` before every commit
///
/// A commit is refused that puts a stub in the place of a port, breaks the audit, or leaves a port without evidence that fits.
/// Functions that were never ported may stay stubs.
///
/// What is staged counts: where the working tree differs from it, the index is checked out into a temporary directory
/// and looked at there. The working tree is not touched.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Writes the hook `pre-commit` to where git looks for it
    Install {
        /// Also where there is another hook, which is kept and runs first
        #[arg(long)]
        force: bool,
    },
    /// Takes the hook away, and puts back the one that was there before
    Uninstall,
    /// Checks what is staged, as the hook does
    Run,
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    let root = find_root(session.options.dir.as_deref())?;
    let hook = Hook::of(&root, &session.interrupt)?;
    let change = match args.action {
        Action::Install { force } => hook.install(&std::env::current_exe()?, force)?,
        Action::Uninstall => hook.uninstall()?,
        Action::Run => return staged(session, &root, &hook),
    };
    let chained = change == Change::Installed && hook.before().exists();
    let (word, says) = match change {
        Change::Installed if chained => ("installed", "written; the hook that was there runs first"),
        Change::Installed => ("installed", "written: git runs `cargo implfuzz check` before every commit"),
        Change::Unchanged => ("unchanged", "there already"),
        Change::Uninstalled => ("uninstalled", "taken away"),
        Change::Absent => ("absent", "not from cargo implfuzz, or not there: nothing to do"),
    };
    let path = hook.path().display().to_string();
    let value = json!({ "change": word, "path": path, "chained": chained });
    session.screen.result("hook", &value, || format!("{path}: {says}\n"));
    Ok(ExitCode::Ok)
}

fn staged(session: &Session, root: &Path, hook: &Hook) -> Result<ExitCode> {
    nothing_on_trial(root)?;
    let staged = hook.staged(&session.interrupt)?;
    let look = |root: &Path| -> Result<Checked> {
        let env = |name: &str| std::env::var(name).ok();
        let config = Config::load(&root.join(CONFIG_FILE), &session.options.overrides, &env)?;
        // Without notes: what is committed is not believed to have been looked at.
        check(root, &config, &[], None)
    };
    let checked = look(staged.root())?;
    let is_copy = matches!(staged, Staged::Copy(..));
    // What fits in the working tree was only forgotten.
    let forgotten =
        is_copy && !checked.symbols.is_empty() && look(root).is_ok_and(|tree| tree.symbols.is_empty());
    session.screen.result("check", &checked, || {
        let note = match forgotten {
            true => "the evidence fits the working tree, which is not all staged\n  help: git add implfuzz.lock and what it is about\n",
            false => "",
        };
        check::text(&checked) + note
    });
    Ok(check::code(&checked))
}
