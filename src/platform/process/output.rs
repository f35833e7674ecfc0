//! The limits and the output of a child process, as plain values.

use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
    TimedOut,
}

impl Exit {
    /// Whether the exit code was 0.
    pub fn success(self) -> bool {
        self == Self::Code(0)
    }
}

/// What a child printed and reported, and how it ended.
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
    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

/// Limits that the kernel enforces on a child. An absent limit is inherited.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    /// The largest file that it may write, in bytes.
    pub file_size: Option<u64>,
    /// Processor time, seconds.
    pub cpu_seconds: Option<u64>,
    /// Addresses that it may use for anything, in bytes; not for programs with AddressSanitizer, which reserves terabytes.
    pub addresses: Option<u64>,
    /// The stack of its first thread, in bytes.
    pub stack: Option<u64>,
    pub no_core: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
    Report,
}
