//! A child process before its start: program, arguments, environment, limits. `run` runs it.

use super::output::Limits;
use super::sandbox::Sandbox;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A child process to be run to its end.
#[derive(Debug)]
pub struct Job {
    pub(super) command: Command,
    pub(super) stdin: Vec<u8>,
    pub(super) timeout: Option<Duration>,
    pub(super) limits: Limits,
    pub(super) report: bool,
    pub(super) inherit: bool,
    pub(super) room: Option<Room>,
    pub(super) sandbox: Option<Sandbox>,
}

/// A folder, and the most bytes that its files may take.
#[derive(Debug, Clone)]
pub(super) struct Room {
    pub dir: PathBuf,
    pub most: u64,
}

impl Job {
    /// Searches PATH unless the program contains a slash. No shell is involved.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        #[expect(clippy::disallowed_methods, reason = "this is the one door")]
        let command = Command::new(program);
        Self {
            command,
            stdin: Vec::new(),
            timeout: None,
            limits: Limits::default(),
            report: false,
            inherit: false,
            room: None,
            sandbox: None,
        }
    }

    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    #[must_use]
    pub fn args<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(mut self, args: I) -> Self {
        self.command.args(args);
        self
    }

    /// Sets the working directory.
    #[must_use]
    pub fn dir(mut self, dir: impl AsRef<Path>) -> Self {
        self.command.current_dir(dir);
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.command.env(key, value);
        self
    }

    /// Removes an environment variable.
    #[must_use]
    pub fn env_remove(mut self, key: impl AsRef<OsStr>) -> Self {
        self.command.env_remove(key);
        self
    }

    /// Passes only PATH from this process's environment, and none of the variables set so far: for untrusted code.
    #[must_use]
    pub fn clean_env(mut self) -> Self {
        self.command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        self
    }

    /// Sets its standard input (empty by default).
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Kills the whole process group after this time.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// The stack of its first thread, in bytes.
    #[must_use]
    pub fn stack(mut self, bytes: u64) -> Self {
        self.limits.stack = Some(bytes);
        self
    }

    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Makes `dir` its working directory, kills the whole group once the files in there take more than `most` bytes, and
    /// then fails.
    #[must_use]
    pub fn room(mut self, dir: impl AsRef<Path>, most: u64) -> Self {
        self.room = Some(Room { dir: dir.as_ref().to_owned(), most });
        self.dir(dir)
    }

    /// Restricts it, and all that it starts, to what the sandbox lets it do.
    #[must_use]
    pub fn sandbox(mut self, sandbox: Sandbox) -> Self {
        self.sandbox = Some(sandbox);
        self
    }

    /// Lets it read more, if it is in a sandbox.
    #[must_use]
    pub fn may_read(mut self, paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        self.sandbox = self.sandbox.map(|sandbox| sandbox.read(paths));
        self
    }

    /// Lets it change more, if it is in a sandbox.
    #[must_use]
    pub fn may_write(mut self, paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Self {
        self.sandbox = self.sandbox.map(|sandbox| sandbox.write(paths));
        self
    }

    /// Gives it a report pipe, whose descriptor is in [`REPORT_FD`](super::REPORT_FD).
    #[must_use]
    pub fn with_report(mut self) -> Self {
        self.report = true;
        self
    }

    /// Lets it use the terminal of this process (for installers and long fuzz runs by hand).
    #[must_use]
    pub fn inherit(mut self) -> Self {
        self.inherit = true;
        self
    }
}
