//! One side: runs the configured commands in a copy of the library, with the compiler wrappers first in `PATH`.

use crate::config::Dropin;
use crate::error::{Error, ErrorKind, Page, Result};
use crate::event::{Event, Reporter};
use crate::platform::process::{Exit, Interrupt, Job, Kind, Output, Sandbox};
use crate::platform::toolchain::Search;
use camino::Utf8PathBuf;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// Number of lines shown of a failed build.
const TOLD: usize = 15;

/// The environment that the commands of both sides share.
#[derive(Debug)]
pub(super) struct CommandEnvironment {
    /// The copy of the library.
    pub tree: PathBuf,
    /// The directory of the compiler wrappers.
    pub bin: PathBuf,
    /// The directory of both and of the commands' temporary files.
    pub dir: PathBuf,
    /// Other directories to which the commands may write.
    pub write: Vec<Utf8PathBuf>,
    /// `CC` and `CXX`, where they are set.
    pub compilers: Vec<(&'static str, OsString)>,
    /// Environment variables with secrets, which the commands do not get.
    pub secrets: Vec<String>,
    pub timeout: Duration,
}

/// The implementation of the library on a side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    C,
    Port,
}

impl Who {
    fn words(self) -> &'static str {
        match self {
            Self::C => "C alone",
            Self::Port => "with the port",
        }
    }

    /// The error kind and help for a failed build.
    fn advice(self) -> (ErrorKind, String) {
        match self {
            Self::C => (
                ErrorKind::C,
                "correct `build` under [dropin] in implfuzz.toml; its commands may write to the copy of the library, to \
                 $TMPDIR and to the folders in `write` there, and may open no sockets"
                    .to_owned(),
            ),
            Self::Port => {
                (ErrorKind::Build, format!("with C alone it works: {} lists what `dropin` cannot do", Page::Limits))
            }
        }
    }
}

/// The result of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    pub exit: Exit,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

/// Variables by which an outer make would influence the makes of the commands.
const OF_MAKE: [&str; 3] = ["MAKEFLAGS", "MFLAGS", "MAKELEVEL"];

impl CommandEnvironment {
    /// Runs the build commands, then the run commands.
    pub fn run(
        &self,
        commands: &Dropin,
        who: Who,
        interrupt: &Interrupt,
        reporter: &mut dyn Reporter,
    ) -> Result<Vec<Ran>> {
        if let Some(none) = self.write.iter().find(|path| !path.is_dir()) {
            let text = format!("`write` under [dropin] in implfuzz.toml: {none} is no folder");
            return Err(Error::new(ErrorKind::Config, text)
                .help(format!("mkdir -p {none}, or remove it from `write`")));
        }
        // Neither side sees what the other left.
        let temporary = self.temporary();
        if temporary.exists() {
            fs_err::remove_dir_all(&temporary)?;
        }
        fs_err::create_dir_all(&temporary)?;
        for command in &commands.build {
            let output = self.start(command, who, interrupt, reporter)?;
            if !output.exit.success() {
                return Err(self.failed(command, who, &output));
            }
        }
        let ran = commands.run.iter().map(|command| {
            let output = self.start(command, who, interrupt, reporter)?;
            let stderr = output.stderr_text();
            Ok(Ran { exit: output.exit, stdout: output.stdout, stderr })
        });
        ran.collect()
    }

    fn start(
        &self,
        command: &[String],
        who: Who,
        interrupt: &Interrupt,
        reporter: &mut dyn Reporter,
    ) -> Result<Output> {
        reporter.event(Event::StepStarted {
            step: format!("{}: {}", who.words(), command.join(" ")),
            total: None,
        });
        let [program, arguments @ ..] = command else {
            return Err(Error::new(ErrorKind::Config, "a command in [dropin] has no program"));
        };
        let own = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([self.bin.clone()].into_iter().chain(std::env::split_paths(&own)));
        let path = path.map_err(|error| {
            Error::new(
                ErrorKind::Environment,
                format!("the folder of the compiler wrappers cannot be put into PATH: {error}"),
            )
        })?;
        // Tools read their own files, wherever they are.
        let sandbox = Sandbox::new(Kind::Commands).read(["/"]).write([&self.dir]).write(&self.write);
        let job = Job::new(program).args(arguments).dir(&self.tree).env("PATH", path).timeout(self.timeout);
        let mut job = job.env("TMPDIR", self.temporary()).sandbox(sandbox);
        for (name, value) in &self.compilers {
            job = job.env(name, value);
        }
        for name in OF_MAKE.into_iter().chain(self.secrets.iter().map(String::as_str)) {
            job = job.env_remove(name);
        }
        let output = job.run(interrupt).map_err(|error| not_started(error, who))?;
        let message = format!("{} after {:.1} s", shown(output.exit), output.elapsed.as_secs_f64());
        reporter.event(Event::StepFinished { message });
        Ok(output)
    }

    fn temporary(&self) -> PathBuf {
        self.dir.join("tmp")
    }

    fn failed(&self, command: &[String], who: Who, output: &Output) -> Error {
        let text = format!("{}{}", output.stdout_text(), output.stderr_text());
        let (command, exit, (kind, advice)) = (command.join(" "), shown(output.exit), who.advice());
        let text = format!("`{command}` fails ({}: {exit}):\n{}", who.words(), last_lines(&text, TOLD));
        let tree = self.tree.display();
        Error::new(kind, text).help(format!("{advice}; the copy, as the command left it, is in {tree}"))
    }
}

fn not_started(error: Error, who: Who) -> Error {
    if error.kind() == ErrorKind::Interrupted {
        return error;
    }
    Error::new(error.kind(), format!("[dropin] in implfuzz.toml ({}): {error}", who.words()))
        .help("correct `build` and `run`: commands start in the root of a copy of the library")
}

/// The last lines of a text, indented.
pub(super) fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let lines = &lines[lines.len().saturating_sub(count)..];
    lines.iter().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// The exit of a command, in words.
pub fn shown(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exit {code}"),
        Exit::Signal(signal) => format!("signal {signal}"),
        Exit::TimedOut => "out of time".into(),
    }
}

/// The program in a variable such as `CC`, and the rest of its text, with the leading space.
pub(super) fn named(variable: &str) -> Option<(PathBuf, String)> {
    let text = std::env::var(variable).ok()?;
    let text = text.trim();
    let (program, arguments) = text.split_at(text.find(' ').unwrap_or(text.len()));
    let path = match program.contains('/') {
        true => PathBuf::from(program),
        false => Search::from_env().program(&[program])?,
    };
    Some((path, arguments.to_owned()))
}
