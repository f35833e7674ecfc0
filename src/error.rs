//! The one error type: a failure of the tool, the environment or the user's input.
//!
//! Verdicts about ports are values (see `verdict`), never errors. An error states the failure, its place
//! and, where there is one, the command that fixes it.

pub mod code;
mod page;

pub use code::Code;
pub use page::Page;

use std::fmt;

/// Process exit codes; documented in `docs/formats.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// Everything asked for was done and nothing was refuted.
    Ok = 0,
    /// The tool or its environment failed.
    Error = 1,
    /// The command line or the configuration is wrong.
    Usage = 2,
    /// A port diverges from the C original.
    Divergence = 10,
    /// Stubs, unverified or stale symbols remain.
    Incomplete = 11,
    /// A token, money or time budget ran out.
    Budget = 12,
    /// The C original breaks, hangs or disagrees with itself, so that its port cannot be judged.
    CFault = 13,
    /// A defect of this tool.
    Internal = 70,
    /// Ctrl-C.
    Interrupted = 130,
}

/// What kind of thing failed; decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// A tool or library of the machine is missing or does not work.
    Environment,
    /// The command line is wrong.
    Usage,
    /// `implfuzz.toml`, a contract or an override is wrong.
    Config,
    /// The C library cannot be read or built.
    C,
    /// The generated Rust does not build for a reason that is not the candidate's.
    Build,
    /// The model provider failed.
    Model,
    /// The database failed.
    Store,
    /// A file could not be read or written.
    Io,
    /// A budget is spent.
    Budget,
    /// The user pressed Ctrl-C.
    Interrupted,
    /// A defect of this tool.
    Internal,
}

impl ErrorKind {
    /// The code that explains it.
    pub fn code(self) -> Code {
        match self {
            Self::Environment => Code::Environment,
            Self::Usage => Code::Usage,
            Self::Config => Code::Config,
            Self::C => Code::C,
            Self::Build => Code::Build,
            Self::Model => Code::Model,
            Self::Store => Code::Store,
            Self::Io => Code::Io,
            Self::Budget => Code::Budget,
            Self::Interrupted => Code::Interrupted,
            Self::Internal => Code::Internal,
        }
    }

    /// The exit code that a process ends with on an error of this kind.
    pub fn exit_code(self) -> ExitCode {
        match self {
            Self::Usage | Self::Config => ExitCode::Usage,
            Self::Budget => ExitCode::Budget,
            Self::Interrupted => ExitCode::Interrupted,
            Self::Internal => ExitCode::Internal,
            Self::Environment | Self::C | Self::Build | Self::Model | Self::Store | Self::Io => {
                ExitCode::Error
            }
        }
    }
}

/// An error with its context and the command that mends it.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    context: Vec<String>,
    help: Option<String>,
}

/// The result of everything that can fail for a reason that is not a verdict.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of `kind`; `message` says what happened and where, in one sentence.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), context: Vec::new(), help: None }
    }

    /// Adds the line that tells the user what to do; the first one given stays.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.get_or_insert_with(|| help.into());
        self
    }

    /// Adds what was being done, outermost last.
    #[must_use]
    pub fn context(mut self, context: impl Into<String>) -> Self {
        self.context.push(context.into());
        self
    }

    /// The kind.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The line behind `help:`.
    pub fn help_text(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// A file that cannot be read or written; where the disk is full, with the way out.
    pub fn io(message: impl Into<String>, error: &std::io::Error) -> Self {
        let made = Self::new(ErrorKind::Io, message);
        match error.kind() {
            std::io::ErrorKind::StorageFull => {
                made.help("free disk space (`df -h` shows which disk is full), and run it again")
            }
            _ => made,
        }
    }

    /// `Ctrl-C`.
    pub fn interrupted() -> Self {
        Self::new(ErrorKind::Interrupted, "interrupted")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for context in self.context.iter().rev() {
            write!(f, "{context}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        // fs-err puts the path and the operation into the message.
        Self::io(error.to_string(), &error)
    }
}
