//! Git, asked for one repository. A hook runs with variables of git in its environment, which mean the repository of the
//! commit and no other.

use crate::error::{Error, ErrorKind, Result};
use crate::platform::process::{Interrupt, Job};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The variables that say which repository git works on.
const REPOSITORY: [&str; 4] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"];

/// Git with an environment.
#[derive(Debug)]
pub(super) struct Git {
    env: Vec<(&'static str, Option<OsString>)>,
}

impl Git {
    /// As this process was started: by a person, or by git for a commit.
    pub fn inherited() -> Result<Self> {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let mut env = Vec::new();
        if let Some(dir) = set("GIT_DIR") {
            // Both are relative to where this process was started, which is the work tree where git names none.
            let here = std::env::current_dir()?;
            let tree = set("GIT_WORK_TREE").map_or_else(|| here.clone(), |tree| here.join(tree));
            env.push(("GIT_DIR", Some(here.join(dir).into_os_string())));
            env.push(("GIT_WORK_TREE", Some(tree.into_os_string())));
        }
        Ok(Self { env })
    }

    /// As git finds the repository around a folder.
    pub fn outside() -> Self {
        Self { env: REPOSITORY.map(|name| (name, None)).to_vec() }
    }

    /// For this repository with this work tree and index.
    pub fn at(git_dir: &Path, tree: &Path, index: &Path) -> Self {
        let values = [git_dir, tree, index].map(|path| Some(path.as_os_str().to_owned()));
        let env = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"].into_iter().zip(values);
        Self { env: env.chain([("GIT_PREFIX", None)]).collect() }
    }

    /// The folder in which the repository around `dir` keeps itself.
    pub fn dir(&self, dir: &Path, interrupt: &Interrupt) -> Result<PathBuf> {
        Ok(PathBuf::from(self.text(dir, &["rev-parse", "--absolute-git-dir"], interrupt)?.trim_end()))
    }

    /// What git answers in `dir`.
    pub fn text(&self, dir: &Path, args: &[&str], interrupt: &Interrupt) -> Result<String> {
        let answer = self.bytes(dir, args, Vec::new(), interrupt)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    /// The same in bytes, for what it reads from standard input.
    pub fn bytes<A: AsRef<OsStr>>(
        &self,
        dir: &Path,
        args: &[A],
        stdin: Vec<u8>,
        interrupt: &Interrupt,
    ) -> Result<Vec<u8>> {
        let mut job = Job::new("git").args(args).dir(dir).stdin(stdin);
        for (name, value) in &self.env {
            job = match value {
                Some(value) => job.env(name, value),
                None => job.env_remove(name),
            };
        }
        let output = job.run(interrupt)?;
        if output.exit.success() {
            return Ok(output.stdout);
        }
        let said = output.stderr_text();
        let what = args.first().map(|arg| arg.as_ref().display().to_string()).unwrap_or_default();
        let text = format!("git {what} does not work in {}: {}", dir.display(), said.trim());
        let error = Error::new(ErrorKind::Environment, text);
        Err(if said.contains("not a git repository") { error.help("git init") } else { error })
    }
}
