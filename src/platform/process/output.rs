//! The limits and the output of a child process, as plain values.

use std::time::Duration;

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
    TimedOut,
}

impl Exit {
    /// Whether it ended with code 0.
    pub fn success(self) -> bool {
        self == Self::Code(0)
    }
}

/// What a child left behind.
#[derive(Debug)]
pub struct Output {
    pub exit: Exit,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// The output of its report pipe.
    pub report: Vec<u8>,
    pub elapsed: Duration,
}

impl Output {
    /// Standard output as text.
    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error as text.
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

/// Limits that the kernel enforces on a child. Absent: inherited.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    /// Largest file that it may write, bytes.
    pub file_size: Option<u64>,
    /// Processor time, seconds.
    pub cpu_seconds: Option<u64>,
    /// Core dumps are always off where limits are set.
    pub no_core: bool,
}

/// Which stream a chunk came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
    Report,
}
