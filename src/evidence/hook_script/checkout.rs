//! The tree that a commit would have, checked out of the index into a folder of its own. What git was told to assume of the
//! working tree (`--assume-unchanged`, `--skip-worktree`, a sparse checkout) does not count in it.

use super::git_command::Git;
use crate::error::Result;
use crate::platform::process::Interrupt;
use fs_err as fs;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use tempfile::TempDir;

/// The kind of a submodule's entry in an index.
const SUBMODULE: &[u8] = b"160000 ";

/// A checkout of the index; it goes away with the value.
#[derive(Debug)]
pub struct Staged {
    folder: TempDir,
    /// The target repository, relative to the git repository.
    inside: PathBuf,
    /// The git repository.
    top: PathBuf,
}

impl Staged {
    /// Checks out what the index has below `inside`. The index may be a temporary one (`GIT_INDEX_FILE`).
    pub(super) fn of(git: &Git, top: &Path, inside: &Path, interrupt: &Interrupt) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("implfuzz-staged-").tempdir()?;
        // A tree has no flags of an index, no file that is only announced (`git add -N`), and nothing sparse.
        let tree = git.text(top, &["write-tree"], interrupt)?;
        let staged = Self { inside: inside.to_owned(), top: top.to_owned(), folder };
        check_out(&git.dir(top, interrupt)?, tree.trim_end(), top, inside, &staged.tree(), interrupt)?;
        fs::create_dir_all(staged.root())?;
        Ok(staged)
    }

    /// The root of the target repository in it.
    pub fn root(&self) -> PathBuf {
        self.tree().join(&self.inside)
    }

    /// Takes these files from the working tree where git ignores them: they are part of no commit, and a build makes them.
    /// Paths are relative to the target repository.
    pub fn take_ignored<'p>(
        &self,
        paths: impl IntoIterator<Item = &'p str>,
        interrupt: &Interrupt,
    ) -> Result<()> {
        let from = self.top.join(&self.inside);
        let below =
            |path: &&str| Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        let missing = |path: &&str| !self.root().join(path).exists() && from.join(path).is_file();
        let asked: Vec<&str> = paths.into_iter().filter(below).filter(missing).collect();
        if asked.is_empty() {
            return Ok(());
        }
        // Each folder is asked for its own, since it may be that of a submodule.
        let mut by_folder: BTreeMap<&Path, Vec<&str>> = BTreeMap::new();
        for path in asked.into_iter().map(Path::new) {
            let name = path.file_name().and_then(OsStr::to_str).expect("it has been seen to be a file");
            by_folder.entry(path.parent().unwrap_or(Path::new(""))).or_default().push(name);
        }
        for (folder, names) in by_folder {
            let names: Vec<u8> = names.join("\0").into_bytes();
            // Git says with its exit code whether it ignores one at all.
            let ignored = Git::outside()
                .bytes(&from.join(folder), &["check-ignore", "-z", "--stdin"], names, interrupt)
                .unwrap_or_default();
            for name in ignored.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
                let path = folder.join(OsStr::from_bytes(name));
                let to = self.root().join(&path);
                to.parent().map_or(Ok(()), fs::create_dir_all)?;
                fs::copy(from.join(path), to)?;
            }
        }
        Ok(())
    }

    fn tree(&self) -> PathBuf {
        self.folder.path().join("tree")
    }
}

/// Checks out a tree or commit of the repository `git_dir` into `to`: what stands below `inside`, and its submodules, as far
/// as the working tree `top` has them.
fn check_out(
    git_dir: &Path,
    tree: &str,
    top: &Path,
    inside: &Path,
    to: &Path,
    interrupt: &Interrupt,
) -> Result<()> {
    fs::create_dir_all(to)?;
    let index = tempfile::Builder::new().prefix("implfuzz-index-").tempdir()?;
    // The work tree is the empty one: attributes count as they are staged.
    let git = Git::at(git_dir, to, &index.path().join("index"));
    git.text(to, &["read-tree", tree], interrupt)?;
    let mut list: Vec<&OsStr> =
        ["--literal-pathspecs", "ls-files", "-z", "--stage", "--"].map(OsStr::new).to_vec();
    list.extend((!inside.as_os_str().is_empty()).then_some(inside.as_os_str()));
    let listed = git.bytes(to, &list, Vec::new(), interrupt)?;
    let mut files = Vec::new();
    let mut submodules = Vec::new();
    // An entry is `<kind> <hash> <stage>\t<path>`.
    for entry in listed.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else { continue };
        let (head, path) = (&entry[..tab], &entry[tab + 1..]);
        match head.strip_prefix(SUBMODULE) {
            Some(hash) => submodules.push((String::from_utf8_lossy(hash).into_owned(), path)),
            None => files.extend([path, b"\0"].concat()),
        }
    }
    git.bytes(to, &["checkout-index", "-z", "--stdin"], files, interrupt)?;
    for (hash, path) in submodules {
        let path = Path::new(OsStr::from_bytes(path));
        let (theirs, to) = (top.join(path), to.join(path));
        // Without it git would answer for the repository around.
        if theirs.join(".git").exists() {
            let commit = hash.split(' ').next().unwrap_or_default();
            let git_dir = Git::outside().dir(&theirs, interrupt)?;
            check_out(&git_dir, commit, &theirs, Path::new(""), &to, interrupt)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::evidence::hook_script::Hook;
    use crate::platform::process::{Interrupt, Job};
    use fs_err as fs;
    use std::path::Path;

    fn git(dir: &Path, args: &[&str]) {
        let who = ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "protocol.file.allow=always"];
        let job = Job::new("git").args(who).args(args).dir(dir).env("GIT_CONFIG_GLOBAL", "/dev/null");
        let output = job.env("GIT_CONFIG_NOSYSTEM", "1").run(&Interrupt::none()).unwrap();
        assert!(output.exit.success(), "git {args:?}: {}", output.stderr_text());
    }

    fn write(root: &Path, path: &str, text: &str) {
        fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        fs::write(root.join(path), text).unwrap();
    }

    /// A repository with everything committed that stands in it.
    fn committed(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        files.iter().for_each(|(path, text)| write(dir.path(), path, text));
        for args in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "x"]] {
            git(dir.path(), args);
        }
        dir
    }

    fn staged(root: &Path) -> super::Staged {
        Hook::of(root, &Interrupt::none()).unwrap().staged(&Interrupt::none()).unwrap()
    }

    #[test]
    fn the_index_counts_whatever_git_is_to_assume_of_the_working_tree() {
        let repo = committed(&[("assumed", "right"), ("skipped", "right"), ("same", "right")]);
        for (flag, name) in [("--assume-unchanged", "assumed"), ("--skip-worktree", "skipped")] {
            write(repo.path(), name, "wrong");
            git(repo.path(), &["add", name]);
            write(repo.path(), name, "right");
            git(repo.path(), &["update-index", flag, name]);
        }
        let staged = staged(repo.path());
        let read = |name: &str| fs::read_to_string(staged.root().join(name)).unwrap();
        assert_eq!([read("assumed"), read("skipped"), read("same")], ["wrong", "wrong", "right"]);
    }

    #[test]
    fn what_a_sparse_checkout_leaves_out_is_there_and_what_is_only_announced_is_not() {
        let repo = committed(&[("a/x", "1"), ("b/y", "2")]);
        git(repo.path(), &["sparse-checkout", "set", "a"]);
        assert!(!repo.path().join("b/y").exists(), "the checkout is sparse");
        write(repo.path(), "a/new", "3");
        git(repo.path(), &["add", "-N", "a/new"]);
        write(repo.path(), "a/untracked", "4");
        let staged = staged(repo.path());
        assert!(staged.root().join("b/y").exists());
        assert!(!staged.root().join("a/new").exists());
        assert!(!staged.root().join("a/untracked").exists());
    }

    #[test]
    fn a_submodule_has_the_commit_that_the_index_names() {
        let library = committed(&[("c/x.c", "old")]);
        let repo = committed(&[("port[1]/implfuzz.toml", ""), ("other", "")]);
        let from = library.path().to_str().unwrap();
        git(repo.path(), &["submodule", "add", "-q", from, "port[1]/library"]);
        write(repo.path(), "port[1]/library/c/x.c", "new");
        let root = repo.path().join("port[1]");
        let staged = staged(&root);
        assert_eq!(fs::read_to_string(staged.root().join("library/c/x.c")).unwrap(), "old");
        write(repo.path(), "port[1]/library/.gitignore", "config.h\n");
        write(repo.path(), "port[1]/library/c/config.h", "1");
        write(repo.path(), "port[1]/library/c/forgotten.h", "1");
        let made = ["library/c/config.h", "library/c/forgotten.h"];
        staged.take_ignored(made, &Interrupt::none()).unwrap();
        assert_eq!(made.map(|path| staged.root().join(path).exists()), [true, false]);
        assert!(
            !staged.root().parent().unwrap().join("other").exists(),
            "nothing beside the target repository"
        );
    }

    #[test]
    fn only_files_that_git_ignores_come_from_the_working_tree() {
        let repo = committed(&[(".gitignore", "config.h\n"), ("kept", "")]);
        for name in ["config.h", "forgotten.h"] {
            write(repo.path(), name, "1");
        }
        let staged = staged(repo.path());
        staged.take_ignored(["config.h", "forgotten.h", "../x", "kept"], &Interrupt::none()).unwrap();
        assert!(staged.root().join("config.h").exists());
        assert!(!staged.root().join("forgotten.h").exists());
    }
}
