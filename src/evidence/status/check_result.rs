//! What `check` lists: the functions with a problem, each with the command that mends it.

use super::problem::{Problem, Trouble};
use super::symbols::{Status, SymbolStatus};
use crate::config::Least;
use crate::error::{Code, Error, ErrorKind, Result};
use crate::evidence::grade::is_enough;
use crate::project::ported::Ported;
use crate::verdict::Grade;
use serde::Serialize;
use std::collections::BTreeMap;

/// A symbol that needs attention.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Complaint {
    pub symbol: String,
    /// Relative to the root.
    pub file: String,
    pub line: usize,
    pub trouble: Trouble,
    pub code: Code,
    pub reason: String,
    /// The command that mends it.
    pub help: String,
}

impl Complaint {
    fn of(name: &str, status: &SymbolStatus, problem: &Problem) -> Self {
        Self {
            symbol: name.to_owned(),
            file: status.file.clone(),
            line: problem.line.unwrap_or(status.line),
            trouble: problem.trouble,
            code: problem.trouble.code(),
            reason: problem.reason.clone(),
            help: problem.trouble.help(name),
        }
    }
}

/// A port whose evidence holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passed {
    pub symbol: String,
    /// Relative to the root.
    pub file: String,
    pub line: usize,
    pub grade: Grade,
}

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// By file and line.
    pub symbols: Vec<Complaint>,
    /// Also by file and line.
    #[serde(skip)]
    pub passed: Vec<Passed>,
    /// Ports whose evidence holds, by grade.
    pub holds: BTreeMap<String, usize>,
    /// Functions that were never ported.
    pub stubs: usize,
}

impl Checked {
    /// Of all functions, or of what `only` names: symbols, Rust files, C files. Ports below the grade `least` are listed.
    ///
    /// # Errors
    /// A name that is none of these.
    pub fn of(status: &Status, only: &[String], least: Least) -> Result<Self> {
        let is_known = |wanted: &String| status.symbols.iter().any(|(name, one)| is(wanted, name, one));
        if let Some(wanted) = only.iter().find(|wanted| !is_known(wanted)) {
            let text = format!("`{wanted}` is neither a function of the port nor a file with one");
            return Err(
                Error::new(ErrorKind::Usage, text).help("`cargo implfuzz check` without a name checks all")
            );
        }
        let mut checked = Self::default();
        for (name, one) in &status.symbols {
            if only.is_empty() || only.iter().any(|wanted| is(wanted, name, one)) {
                checked.add(name, one, least);
            }
        }
        checked.symbols.sort_by(|a, b| (&a.file, a.line, &a.symbol).cmp(&(&b.file, b.line, &b.symbol)));
        checked.passed.sort_by(|a, b| (&a.file, a.line, &a.symbol).cmp(&(&b.file, b.line, &b.symbol)));
        Ok(checked)
    }

    fn add(&mut self, name: &str, status: &SymbolStatus, least: Least) {
        let grade = status.grade();
        match (&status.problem, status.state) {
            (Some(problem), _) => self.symbols.push(Complaint::of(name, status, problem)),
            (None, Ported::Yes) if !is_enough(grade, least) => {
                let why = status.reason().map_or(String::new(), |why| format!(" ({why})"));
                let least = least.word();
                let reason = format!("its grade is `{grade}`{why}, and check.least is \"{least}\"");
                let problem = Problem { trouble: Trouble::BelowLeast, line: None, reason };
                self.symbols.push(Complaint::of(name, status, &problem));
            }
            (None, Ported::Yes) => {
                *self.holds.entry(grade.word().to_owned()).or_default() += 1;
                let (symbol, file) = (name.to_owned(), status.file.clone());
                self.passed.push(Passed { symbol, file, line: status.line, grade });
            }
            (None, Ported::Stub | Ported::Missing) => self.stubs += 1,
        }
    }
}

/// Whether `wanted` names this symbol, its Rust file or its C file.
fn is(wanted: &str, name: &str, status: &SymbolStatus) -> bool {
    let wanted = wanted.trim_start_matches("./");
    let unit = status.entry.as_ref().map(|entry| entry.unit.as_str());
    wanted == name || wanted == status.file || unit == Some(wanted)
}
