//! `cargo implfuzz drivers --write`: drivers that a model writes.

use crate::cli::session::Session;
use crate::cli::tables::symbol_tables;
use crate::error::{ExitCode, Result};
use crate::event::Reporter;
use crate::port::proposals::drivers::{Outcome, Written, write};
use crate::project::Project;
use crate::report::{Table, printable};
use crate::store::Store;
use crate::symbol::SymbolName;
use serde_json::{Value, json};

/// How much of a sanitizer's report the text has; JSON has all.
const LINES: usize = 8;

/// Has a model write drivers, and prints what they reach.
pub fn run(
    session: &Session,
    (project, store): (&Project, &mut Store),
    mut reporter: Box<dyn Reporter>,
) -> Result<ExitCode> {
    let outcome = write((project, store), "drivers --write", &session.interrupt, reporter.as_mut())?;
    drop(reporter);
    let functions = project.library.functions.len();
    session.screen.result("drivers-written", &as_json(&outcome, functions), || {
        format!("{}{}\n", table(&outcome, functions), symbol_tables::spent(&outcome.totals))
    });
    Ok(match () {
        () if outcome.is_budget => ExitCode::Budget,
        () if outcome.written.iter().any(|one| one.file.is_none()) => ExitCode::Incomplete,
        () => ExitCode::Ok,
    })
}

fn as_json(outcome: &Outcome, functions: usize) -> Value {
    let mut value = json(outcome, functions);
    value["model"] = symbol_tables::spent_json(&outcome.totals);
    value
}

/// The drivers of a run for programs, without the calls of its models.
pub fn json(outcome: &Outcome, functions: usize) -> Value {
    let one = |one: &Written| {
        let broken = one.broken.as_ref();
        json!({
            "function": one.function, "driver": one.file, "new": one.new, "end": one.end, "calls": one.calls,
            "tokens": one.tokens,
            "breaking": broken.map(|broken| json!({ "input": broken.input, "report": broken.report })),
        })
    };
    json!({
        "functions": functions, "reached_before": outcome.before, "reached": outcome.after,
        "written": outcome.written.iter().map(one).collect::<Vec<_>>(), "given_up": outcome.given_up,
        "behind": outcome.behind,
    })
}

/// The drivers of a run for people.
pub fn table(outcome: &Outcome, functions: usize) -> String {
    let mut text = String::new();
    for one in &outcome.written {
        if let (Some(file), Some(broken)) = (&one.file, &one.broken) {
            let report: Vec<String> = broken.report.lines().take(LINES).map(printable).collect();
            text += &format!("C breaks on the input {} of {file}:\n", broken.input.display());
            text += &format!("  {}\n\n", report.join("\n  "));
        }
    }
    if !outcome.written.is_empty() {
        text += &Table::of(&outcome.written)
            .left("function", |one| one.function.to_string())
            .right("new", |one| one.new.len().to_string())
            .right("calls", |one| one.calls.to_string())
            .right("tokens", |one| one.tokens.to_string())
            .left("result", |one| printable(&one.end))
            .text();
        text += "\n";
    }
    let listed = |names: &[SymbolName]| names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if !outcome.given_up.is_empty() {
        text += &format!(
            "not asked about, because an earlier run got no driver: {} (`cargo implfuzz memory forget` lets it ask again)\n",
            listed(&outcome.given_up)
        );
    }
    if !outcome.behind.is_empty() {
        text += &format!(
            "not asked about, because they can be reached only through functions for which the model found no driver, or not at all: {}\n",
            listed(&outcome.behind)
        );
    }
    let (before, after) = (outcome.before, outcome.after);
    text + &format!("drivers reach {after} of {functions} functions, {before} before\n")
}
