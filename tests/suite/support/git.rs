//! A git repository around a target repository, with an identity of its own, independent of the machine's settings.

use super::clib::{target_dir, user_cache};
use super::{Ran, Repo};
use assert_cmd::Command;
use std::path::Path;

/// Folder of the tool under test.
pub fn tool_folder() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_cargo-implfuzz")).parent().unwrap()
}

/// A program in a folder, with nothing of the machine's git settings.
pub fn program(name: &str, dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(name);
    command.args(args).current_dir(dir);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for who in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{who}_NAME"), "Test").env(format!("GIT_{who}_EMAIL"), "test@localhost");
    }
    for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
        command.env_remove(name);
    }
    command.env("CARGO_TARGET_DIR", target_dir()).env("XDG_CACHE_HOME", user_cache());
    command
}

/// How it ended.
pub fn ran(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran { status: output.status, stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

/// `git` in a repository.
pub fn git(repo: &Repo, args: &[&str]) -> Ran {
    ran(&mut program("git", repo.root(), args))
}
