//! `cargo implfuzz dropin`

use crate::cli::session::Session;
use crate::cli::tables::cells;
use crate::count::count;
use crate::dropin::{self, Compared, Counted, Report, Verdict, shown, wrapper};
use crate::error::{ExitCode, Page, Result};
use crate::judge::Judge;
use crate::platform::process::Exit;
use crate::report::{Screen, Table, printable};
use serde_json::{Value, json};
use std::ffi::OsString;

/// Run the library's own tests or programs with C alone and with the port, and compare the results
///
/// The table [dropin] in implfuzz.toml lists the commands that build and run them. In the run with the port, calls to
/// ported functions reach Rust; all other functions stay C. Both sides work in copies, so the files of the library stay
/// unchanged.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command.
pub fn run(session: &Session, _args: &Args) -> Result<ExitCode> {
    let mut reporter = session.reporter();
    let (project, _store) = session.open_to_run(reporter.as_mut())?;
    let report = dropin::run(&Judge::new(&project, &session.interrupt), reporter.as_mut())?;
    drop(reporter);
    session.screen.result("dropin", &as_json(&report), || text(&report));
    Ok(match report.verdict() {
        Verdict::Same => ExitCode::Ok,
        Verdict::Differs | Verdict::RanAsC => ExitCode::Divergence,
        Verdict::NothingCalled => ExitCode::Incomplete,
    })
}

/// Runs as a compiler wrapper in such a build.
pub fn compile(arguments: &[OsString]) -> ExitCode {
    match wrapper::run(arguments) {
        Ok(true) => ExitCode::Ok,
        Ok(false) => ExitCode::Error,
        Err(error) => {
            Screen { json: false, github: false }.error(&error);
            error.kind().exit_code()
        }
    }
}

fn as_json(report: &Report) -> Value {
    let commands = report.commands.iter().map(|one| {
        let difference = one.difference.as_ref().map(|difference| {
            json!({
                "line": difference.line, "c": difference.c, "port": difference.port, "stderr": difference.stderr,
            })
        });
        json!({
            "command": one.command, "c": exit(one.c), "port": exit(one.port), "lines": one.lines,
            "difference": difference,
        })
    });
    let functions = report.functions.iter().map(|one| {
        json!({
            "symbol": one.symbol, "intercepted": one.kept_by_c.is_none(), "kept_by_c": one.kept_by_c,
            "calls": one.calls, "ran_as_c": one.ran_as_c,
        })
    });
    json!({
        "verdict": report.verdict().word(), "commands": commands.collect::<Vec<_>>(),
        "functions": functions.collect::<Vec<_>>(), "variables_apart": report.apart, "linked": report.linked,
        "started": report.started,
    })
}

fn exit(exit: Exit) -> Value {
    match exit {
        Exit::Code(code) => json!({ "code": code }),
        Exit::Signal(signal) => json!({ "signal": signal }),
        Exit::TimedOut => json!({ "timed_out": true }),
    }
}

fn text(report: &Report) -> String {
    let mut text = Table::of(&report.functions)
        .left("function", |one| one.symbol.to_string())
        .right("calls", |one| cells::number(one.calls))
        .right("ran as C", |one| cells::number(one.ran_as_c))
        .left("remarks", |one| remark(one))
        .text();
    for name in &report.apart {
        text += &format!("`{name}` exists twice: C and the port each have a copy\n");
    }
    text += "\n";
    text += &report.commands.iter().map(compared).collect::<String>();
    let intercepted = report.functions.iter().filter(|one| one.kept_by_c.is_none());
    let called = intercepted.clone().filter(|one| one.calls > Some(0)).count();
    text += &format!(
        "{called} of {} called, {}, by {} ({})\n",
        count(intercepted.count(), "function"),
        count(report.calls(), "time"),
        count(report.linked, "program"),
        count(report.started, "start")
    );
    text + &advice(report)
}

/// The advice for problems in a report.
fn advice(report: &Report) -> String {
    let names: Vec<&str> =
        report.functions.iter().filter(|one| one.leaked()).map(|one| one.symbol.as_str()).collect();
    match report.verdict() {
        Verdict::Differs => "  help: `cargo implfuzz verify --all` judges each port on its own\n".into(),
        Verdict::RanAsC => format!(
            "the C originals of these functions ran instead of their ports: {}\n  help: {} lists the calls that cannot be intercepted\n",
            names.join(", "),
            Page::Limits
        ),
        Verdict::NothingCalled if report.linked == 0 => "no program got the port: the build calls its compiler by \
            an absolute path, or does not link with it\n  help: let it call `$CC`, or a compiler by its bare name\n"
            .into(),
        Verdict::NothingCalled => {
            "no program called a port\n  help: name programs under [dropin] that do\n".into()
        }
        Verdict::Same => String::new(),
    }
}

fn remark(one: &Counted) -> String {
    match (&one.kept_by_c, one.calls) {
        (Some(why), _) => why.clone(),
        (None, _) if one.ran_as_c.is_none() => "unknown whether its C function ran".into(),
        (None, Some(0)) => "C did not call it; calls from Rust are not counted".into(),
        (None, _) => String::new(),
    }
}

/// A remark for a command that proves little.
fn failed_with_c() -> String {
    format!(
        " (it failed with C alone, too: {} lists what commands may not do, such as write outside of the copy)",
        Page::Sandbox
    )
}

fn compared(one: &Compared) -> String {
    let command = one.command.join(" ");
    let Some(difference) = &one.difference else {
        let note = if one.c.success() { String::new() } else { failed_with_c() };
        let (exit, lines) = (shown(one.c), count(one.lines, "line"));
        return format!("{}: the same with the port: {exit}, {lines}{note}\n", printable(&command));
    };
    let mut text = format!(
        "{}: differs: C alone: {}, with the port: {}\n",
        printable(&command),
        shown(one.c),
        shown(one.port)
    );
    if let Some(line) = difference.line {
        text += &format!("  standard output from line {line}:\n");
        text += &lines("C alone", &difference.c);
        text += &lines("with the port", &difference.port);
    }
    if !difference.stderr.is_empty() {
        let shown: String =
            difference.stderr.lines().map(|line| format!("  {}\n", printable(line))).collect();
        text += &format!("  standard error with the port, its end:\n{shown}");
    }
    text
}

fn lines(who: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return format!("    {who}: nothing more\n");
    }
    let shown: String = lines.iter().map(|line| format!("      {}\n", printable(line))).collect();
    format!("    {who}:\n{shown}")
}
