//! Runs a command of this program in a child process and reads its JSON, line by line. What the lines mean to a client is
//! not known here.

use crate::error::{Error, ErrorKind, Result};
use crate::platform::process::{Exit, Interrupt, Job, Output, Stream};
use crate::report::error_json;
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// This program, and the options that each of its commands gets.
#[derive(Debug, Clone)]
pub struct Commands {
    program: PathBuf,
    options: Vec<OsString>,
}

/// One command.
#[derive(Debug, Clone, Default)]
pub struct Call {
    /// Its name and its options.
    pub words: Vec<String>,
    /// Its arguments, which come from the client: none of them is taken for an option.
    pub arguments: Vec<String>,
}

/// What a command printed.
#[derive(Debug, PartialEq)]
pub struct Answer {
    /// The last object: the result, or one of type `error`.
    pub result: Value,
    /// What the user should know besides.
    pub warnings: Vec<Value>,
}

impl Answer {
    /// The answer of a command that failed.
    pub fn error(error: &Error) -> Self {
        Self { result: error_json(error), warnings: Vec::new() }
    }

    /// Whether the command failed. Any verdict is a result.
    pub fn is_error(&self) -> bool {
        self.result["type"] == "error"
    }
}

impl Commands {
    /// The commands of this program, in this directory and with these settings.
    pub fn new(dir: Option<&Path>, overrides: &[String]) -> Result<Self> {
        let mut options: Vec<OsString> = ["--format", "json"].map(OsString::from).into();
        options.extend(dir.into_iter().flat_map(|dir| [OsString::from("-C"), dir.into()]));
        options.extend(overrides.iter().flat_map(|text| [OsString::from("--config"), text.into()]));
        Ok(Self { program: std::env::current_exe()?, options })
    }

    /// Runs a command to its end and passes on each event; fails if it ends without a result.
    pub fn run(&self, call: &Call, interrupt: &Interrupt, event: &mut dyn FnMut(&Value)) -> Result<Answer> {
        let job = Job::new(&self.program).arg("implfuzz").args(&call.words).args(&self.options);
        let mut lines = Lines::default();
        let mut read = Read::default();
        let output = job.arg("--").args(&call.arguments).run_with(interrupt, &mut |stream, bytes| {
            if stream == Stream::Stdout {
                lines.feed(bytes, &mut |line| read.line(line, event));
            }
        })?;
        read.answer(call, &output)
    }
}

/// Bytes as whole lines.
#[derive(Debug, Default)]
struct Lines {
    begun: Vec<u8>,
}

impl Lines {
    fn feed(&mut self, bytes: &[u8], line: &mut dyn FnMut(&[u8])) {
        let mut parts = bytes.split(|byte| *byte == b'\n');
        self.begun.extend_from_slice(parts.next().unwrap_or_default());
        for part in parts {
            line(&std::mem::replace(&mut self.begun, part.to_vec()));
        }
    }
}

/// The objects of a command so far.
#[derive(Debug, Default)]
struct Read {
    last: Option<Value>,
    warnings: Vec<Value>,
}

impl Read {
    fn line(&mut self, line: &[u8], event: &mut dyn FnMut(&Value)) {
        let Ok(object) = serde_json::from_slice::<Value>(line) else { return };
        event(&object);
        if object["type"] == "warning" {
            self.warnings.push(object);
        } else {
            self.last = Some(object);
        }
    }

    /// The last object is the result if the command ended by itself.
    fn answer(self, call: &Call, output: &Output) -> Result<Answer> {
        let has_result = matches!(output.exit, Exit::Code(0 | 10 | 11 | 13));
        match self.last {
            Some(result) if has_result || result["type"] == "error" => {
                Ok(Answer { result, warnings: self.warnings })
            }
            _ => Err(without_result(call, output)),
        }
    }
}

/// The most that is quoted of what a broken command said.
const QUOTED: usize = 2000;

fn without_result(call: &Call, output: &Output) -> Error {
    let said = output.stderr_text();
    let said = said.trim();
    let start = said.char_indices().rev().nth(QUOTED).map_or(0, |(at, _)| at);
    let command = call.words.join(" ");
    let ended = match output.exit {
        Exit::Code(2) => {
            return Error::new(ErrorKind::Usage, &said[start..])
                .help(format!("cargo implfuzz {command} --help"));
        }
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(signal) => format!("signal {signal}"),
        Exit::TimedOut => "out of time".to_owned(),
    };
    let message = format!("`{command}` ended without a result ({ended}): {}", &said[start..]);
    Error::new(ErrorKind::Internal, message).help(format!("try `cargo implfuzz {command}` in a terminal"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::time::Duration;

    fn read(chunks: &[&str], exit: Exit, stderr: &str) -> (Vec<Value>, Result<Answer>) {
        let (mut lines, mut read, mut events) = (Lines::default(), Read::default(), Vec::new());
        for chunk in chunks {
            lines
                .feed(chunk.as_bytes(), &mut |line| read.line(line, &mut |event| events.push(event.clone())));
        }
        let output =
            Output { exit, stdout: vec![], stderr: stderr.into(), report: vec![], elapsed: Duration::ZERO };
        let call = Call { words: vec!["verify".into()], arguments: vec![] };
        (events, read.answer(&call, &output))
    }

    #[test]
    fn lines_are_put_together_and_the_last_object_is_the_result() {
        let chunks =
            ["{\"type\":\"no", "te\"}\n{\"type\":\"warning\",\"text\":\"w\"}\n{\"type\"", ":\"verify\"}\n"];
        let (events, answer) = read(&chunks, Exit::Code(10), "");
        assert_eq!(events.len(), 3);
        let answer = answer.unwrap();
        assert!(!answer.is_error());
        assert_eq!(answer.result, json!({ "type": "verify" }));
        assert_eq!(answer.warnings, [json!({ "type": "warning", "text": "w" })]);
    }

    #[test]
    fn an_error_is_one_and_an_event_is_no_result() {
        let (_, answer) = read(&["{\"type\":\"error\"}\n"], Exit::Code(2), "");
        assert!(answer.unwrap().is_error());
        // A panic after an event.
        let (_, answer) = read(&["{\"type\":\"fuzzing\"}\n"], Exit::Code(101), "panicked");
        let error = answer.unwrap_err();
        assert!(error.to_string().contains("exit code 101): panicked"), "{error}");
        let answer = Answer::error(&error);
        assert!(answer.is_error() && answer.result["code"] == "E0010", "{answer:?}");
        // What clap refuses.
        let error = read(&[], Exit::Code(2), "error: unexpected\n").1.unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Usage, "error: unexpected"));
        assert!(read(&[], Exit::Signal(9), "").1.unwrap_err().to_string().contains("signal 9"));
    }

    #[test]
    fn every_command_gets_the_options_of_the_server() {
        let commands = Commands::new(Some(Path::new("there")), &["a=1".into(), "b=2".into()]).unwrap();
        assert_eq!(
            commands.options,
            ["--format", "json", "-C", "there", "--config", "a=1", "--config", "b=2"]
        );
    }
}
