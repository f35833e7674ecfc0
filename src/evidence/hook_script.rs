//! The plain git hook: where it goes, what it says, and the tree that it judges. A hook that somebody else wrote is never
//! lost: it is kept beside ours, runs first, and comes back when ours goes.

mod checkout;
mod git_command;

pub use checkout::Staged;

use crate::error::{Error, ErrorKind, Result};
use crate::platform::process::Interrupt;
use crate::platform::workspace::write_atomic;
use fs_err as fs;
use git_command::Git;
use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The second line of our hook.
const MARK: &str =
    "# Written by `cargo implfuzz hook install`; `cargo implfuzz hook uninstall` takes it away.";
/// What is behind the name of a hook that was there before.
const BEFORE: &str = "before-implfuzz";
/// The beginning of the line for a target repository: the git repository may have several.
const LINE: &str = "check ";

/// What became of the hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Installed,
    /// It was there already, as it should be.
    Unchanged,
    Uninstalled,
    /// There was none of ours.
    Absent,
}

/// The hook of a git repository.
#[derive(Debug)]
pub struct Hook {
    /// The git repository around the target repository.
    top: PathBuf,
    /// The target repository, relative to it.
    inside: PathBuf,
    path: PathBuf,
}

impl Hook {
    /// The pre-commit hook of the git repository around `root`, wherever git looks for it.
    pub fn of(root: &Path, interrupt: &Interrupt) -> Result<Self> {
        let git = Git::inherited()?;
        let ask = |args: &[&str]| -> Result<PathBuf> {
            Ok(PathBuf::from(git.text(root, args, interrupt)?.trim_end_matches('\n')))
        };
        let top = ask(&["rev-parse", "--show-toplevel"])?.canonicalize()?;
        let inside = ask(&["rev-parse", "--show-prefix"])?;
        // The answer may be relative to where git was asked.
        let path = root.join(ask(&["rev-parse", "--git-path", "hooks"])?).join("pre-commit");
        Ok(Self { top, inside, path })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the hook of before is kept, while ours is there.
    pub fn before(&self) -> PathBuf {
        self.path.with_file_name(format!("pre-commit.{BEFORE}"))
    }

    /// Puts our hook there, to run `program` where there is no cargo-implfuzz on PATH. Over the hook of somebody else only
    /// with `force`, and then it runs first.
    pub fn install(&self, program: &Path, force: bool) -> Result<Change> {
        let there = fs::read_to_string(&self.path).ok();
        let mut lines = there.as_deref().filter(|text| text.contains(MARK)).map(lines).unwrap_or_default();
        lines.insert(self.line());
        let text = script(program, &lines);
        if there.as_deref() == Some(text.as_str()) && is_executable(&self.path) {
            return Ok(Change::Unchanged);
        }
        let foreign = self.path.symlink_metadata().is_ok() && !there.is_some_and(|text| text.contains(MARK));
        if foreign {
            if !force {
                let what = format!("{} exists already, and is not from cargo implfuzz", self.path.display());
                let help = "cargo implfuzz hook install --force, which keeps it and runs it first";
                return Err(Error::new(ErrorKind::Usage, what).help(help));
            }
            let before = self.before();
            if before.symlink_metadata().is_ok() {
                let what = format!("{} exists already: an earlier hook is kept there", before.display());
                return Err(Error::new(ErrorKind::Usage, what).help("move one of the two hooks away"));
            }
            fs::rename(&self.path, before)?;
        }
        self.write(&text)?;
        Ok(Change::Installed)
    }

    /// Takes our hook away, and puts back what was there before. The lines of other target repositories stay.
    pub fn uninstall(&self) -> Result<Change> {
        let Some(text) = fs::read_to_string(&self.path).ok().filter(|text| text.contains(MARK)) else {
            return Ok(Change::Absent);
        };
        let mut others = lines(&text);
        if !others.remove(&self.line()) {
            return Ok(Change::Absent);
        }
        if !others.is_empty() {
            self.write(&text.replace(&format!("{}\n", self.line()), ""))?;
            return Ok(Change::Uninstalled);
        }
        match self.before() {
            before if before.symlink_metadata().is_ok() => fs::rename(before, &self.path)?,
            _ => fs::remove_file(&self.path)?,
        }
        Ok(Change::Uninstalled)
    }

    fn write(&self, text: &str) -> Result<()> {
        write_atomic(&self.path, text.as_bytes())?;
        Ok(fs::set_permissions(&self.path, std::fs::Permissions::from_mode(0o755))?)
    }

    /// The line for this target repository: its folder, as a command takes it and as git does.
    fn line(&self) -> String {
        format!("{LINE}{} {}", quoted(&self.inside.join(".")), quoted(&self.inside))
    }

    /// The tree that a commit would have: always a checkout of the index.
    pub fn staged(&self, interrupt: &Interrupt) -> Result<Staged> {
        Staged::of(&Git::inherited()?, &self.top, &self.inside, interrupt)
    }
}

/// A script that checks the target repositories of these lines. On a branch that lacks one, there is nothing to check.
fn script(program: &Path, lines: &BTreeSet<String>) -> String {
    let program = quoted(program);
    let head = format!(
        "#!/bin/sh\n{MARK}\n\
         before=\"$0.{BEFORE}\"\n\
         if [ -x \"$before\" ]; then \"$before\" \"$@\" || exit $?; fi\n\
         tool=cargo-implfuzz\n\
         command -v \"$tool\" >/dev/null 2>&1 || tool={program}\n\
         check() {{\n    \
             if ! git cat-file -e \":$2implfuzz.toml\" 2>/dev/null; then\n        \
                 if git cat-file -e \"HEAD:$2implfuzz.toml\" 2>/dev/null; then\n            \
                     echo \"pre-commit: this commit removes $2implfuzz.toml, without which nothing checks the port; to remove it, git commit --no-verify\" >&2\n            \
                     exit 1\n        \
                 fi\n        \
                 [ -e \"$1/implfuzz.toml\" ] || return 0\n    \
             fi\n    \
             command -v \"$tool\" >/dev/null 2>&1 || {{\n        \
                 echo 'pre-commit: there is no cargo-implfuzz: in its checkout, cargo install --locked --path . installs it; or git commit --no-verify' >&2\n        \
                 exit 1\n    }}\n    \
             \"$tool\" implfuzz -C \"$1\" hook run || exit $?\n}}\n"
    );
    lines.iter().fold(head, |text, line| text + line + "\n")
}

/// The lines of a hook of ours. Those of before checked one target repository.
fn lines(text: &str) -> BTreeSet<String> {
    let of_before = |line: &str| {
        let dir = line.strip_prefix("exec \"$tool\" implfuzz -C ")?.strip_suffix(" hook run")?;
        Some(format!("{LINE}{dir} {}'", dir.strip_suffix(".'")?))
    };
    let of = |line: &str| if line.starts_with(LINE) { Some(line.to_owned()) } else { of_before(line) };
    text.lines().filter_map(of).collect()
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0)
}

/// A path as one word of a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_of_before_is_read() {
        let of = |dir: &str| lines(&format!("#!/bin/sh\nexec \"$tool\" implfuzz -C {dir} hook run\n"));
        assert_eq!(of("'.'"), BTreeSet::from(["check '.' ''".to_owned()]));
        assert_eq!(of("'lib/.'"), BTreeSet::from(["check 'lib/.' 'lib/'".to_owned()]));
    }

    #[test]
    fn a_path_is_one_word_whatever_is_in_it() {
        assert_eq!(quoted(Path::new("a b/it's")), r"'a b/it'\''s'");
    }
}
