//! `cargo implfuzz hook`

use super::check;
use crate::cli::session::Session;
use crate::config::Config;
use crate::error::{ExitCode, Result};
use crate::evidence::fingerprint::{Crate, LibraryFlags, driver_texts, linked_files};
use crate::evidence::hook_script::{Change, Hook};
use crate::evidence::lock::Lock;
use crate::evidence::status::{Checked, status};
use crate::platform::workspace::{find_root, nothing_on_trial};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;

/// Install, remove or run the git hook that checks each commit
///
/// The hook refuses a commit in which a port has become a stub, fails the audit, has no evidence that fits the tree, or has a
/// grade below `check.least`. Functions that were never ported may stay stubs. A git repository may contain several target
/// repositories: install the hook in each of them. A commit on a branch without `implfuzz.toml` is not checked.
///
/// The hook checks the staged files: it checks out the index into a temporary directory and does not touch the working
/// tree.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Install the `pre-commit` hook
    Install {
        /// Install even if there is another hook; that hook is kept and runs first
        #[arg(long)]
        force: bool,
    },
    /// Remove the hook and restore the previous one
    Uninstall,
    /// Check the staged files, as the hook does
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
        Change::Installed if chained => ("installed", "written; the earlier hook runs first"),
        Change::Installed => ("installed", "written: git runs `cargo implfuzz check` before every commit"),
        Change::Unchanged => ("unchanged", "exists already"),
        Change::Uninstalled => ("uninstalled", "taken away"),
        Change::Absent => ("absent", "no hook from cargo implfuzz: nothing to do"),
    };
    let path = hook.path().display().to_string();
    let value = json!({ "change": word, "path": path, "chained": chained });
    session.screen.result("hook", &value, || format!("{path}: {says}\n"));
    Ok(ExitCode::Ok)
}

/// What the drivers of the lock include and are linked with, relative to the root. The settings are the staged ones.
fn files_of_drivers(root: &Path, staged: &Path, config: &Config, lock: &Lock) -> Result<BTreeSet<String>> {
    let drivers: BTreeSet<String> =
        lock.symbols.values().flat_map(|entry| entry.driver_files.iter().cloned()).collect();
    if drivers.is_empty() {
        return Ok(BTreeSet::new());
    }
    let units = Crate::new(staged.join(&config.rust.dir)).units(&config.c)?;
    let library = LibraryFlags::of(units.iter().map(|unit| (unit.file.as_str(), &unit.flags[..])));
    let drivers: Vec<String> = drivers.into_iter().collect();
    let texts = driver_texts(root, config, &library.folders, &drivers);
    let texts = texts.keys().filter_map(|path| path.strip_prefix(root).ok()?.to_str().map(str::to_owned));
    Ok(texts.chain(linked_files(root, &config.drivers)).collect())
}

fn staged(session: &Session, root: &Path, hook: &Hook) -> Result<ExitCode> {
    nothing_on_trial(root)?;
    let staged = hook.staged(&session.interrupt)?;
    let look = |root: &Path| -> Result<Checked> {
        let config = session.config(root)?;
        // Without notes: the cache must not replace a check of what is committed.
        Checked::of(&status(root, &config, None)?, &[], config.check.least)
    };
    // Evidence also covers C files that a build generates and git ignores, so they are in no commit. The port is
    // committed completely.
    let config = session.config(&staged.root())?;
    let rust = config.rust.dir.clone();
    let lock = Lock::load(&staged.root())?.unwrap_or_default();
    let c_files: BTreeSet<&str> = lock.c.keys().filter_map(|chunk| Some(chunk.rsplit_once(':')?.0)).collect();
    let of_drivers = files_of_drivers(root, &staged.root(), &config, &lock)?;
    let all = c_files.into_iter().chain(of_drivers.iter().map(String::as_str));
    let all = all.filter(|file| !Path::new(file).starts_with(&rust));
    staged.take_ignored(all, &session.interrupt)?;
    let checked = look(&staged.root())?;
    // If the working tree is fine, staging was only forgotten.
    let forgotten = !checked.symbols.is_empty() && look(root).is_ok_and(|tree| tree.symbols.is_empty());
    let code = check::code(&checked);
    session.screen.result("check", &checked, || {
        let note = match forgotten {
            true => "the evidence fits the working tree, but not everything is staged\n  help: git add implfuzz.lock and the files that it covers\n",
            false => "",
        };
        let stopped = match code {
            ExitCode::Ok => "",
            _ => "the commit is stopped: follow the help above, `git add` what changed, and commit again (`git commit --no-verify` leaves this check out)\n",
        };
        check::text(&checked) + note + stopped
    });
    Ok(code)
}
