//! `cargo implfuzz drivers`

use super::Session;
use crate::drivers::{self, Measured, Report};
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::report::Table;
use crate::symbol::SymbolName;
use camino::Utf8PathBuf;
use fs_err as fs;
use serde_json::{Value, json};
use std::io::Write as _;
use std::time::Duration;

/// Fuzz the library through its drivers, and show which functions they reach
///
/// A driver is a C or C++ file that defines LLVMFuzzerTestOneInput. All those of the repository are used, or those under
/// [drivers] in implfuzz.toml. For each function that no driver reaches, the nearest caller that one reaches is shown.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Fuzz each driver for this long
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// Measure how many mutants of each C function are told from it inside of the drivers' executions
    #[arg(long)]
    check: bool,
    /// Write the skeleton of a new driver to fuzz/NAME.c instead
    #[arg(long, value_name = "NAME", conflicts_with_all = ["seconds", "check"])]
    new: Option<String>,
}

/// Milliseconds for the mutants of one function with one driver.
const CHECK: Duration = Duration::from_millis(5000);

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    let mut reporter = session.reporter();
    let (mut project, _store) = session.open(reporter.as_mut())?;
    if let Some(name) = &args.new {
        drop(reporter);
        return new(session, project.workspace.root(), name);
    }
    if let Some(seconds) = args.seconds {
        project.config.drivers.seconds = seconds;
    }
    let report = drivers::run(&project, &session.interrupt, reporter.as_mut())?;
    let measured = match args.check {
        true => Some(drivers::measure(&project, &report, CHECK, &session.interrupt, reporter.as_mut())?),
        false => None,
    };
    drop(reporter);
    let names: Vec<&SymbolName> = project.library.functions.iter().map(|function| &function.name).collect();
    session.screen.result("drivers", &as_json(&report, measured.as_deref(), &names), || {
        text(&report, measured.as_deref(), names.len())
    });
    Ok(ExitCode::Ok)
}

const SKELETON: &str = "\
/*
 * A driver: runs the library on one input. Call the public functions as a program would: read the input piece by piece,
 * check what they return, and free what they give.
 */
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    (void)data, (void)size;
    return 0;
}
";

fn new(session: &Session, root: &std::path::Path, name: &str) -> Result<ExitCode> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if name.is_empty() || !name.chars().all(is_plain) {
        let text = format!("`{name}` cannot be the name of a driver: letters, digits, `_` and `-` can");
        return Err(Error::new(ErrorKind::Usage, text).help("cargo implfuzz drivers --new NAME"));
    }
    let file = Utf8PathBuf::from("fuzz").join(name).with_extension("c");
    let path = root.join(&file);
    fs::create_dir_all(path.parent().unwrap_or(root))?;
    if path.exists() {
        let text = format!("{file} is there, and stays as it is");
        return Err(Error::new(ErrorKind::Usage, text).help("choose another name"));
    }
    let mut new = fs::OpenOptions::new().write(true).create_new(true).open(&path)?;
    new.write_all(SKELETON.as_bytes())?;
    let text = format!("{file} written; fill it in, then `cargo implfuzz drivers`\n");
    session.screen.result("driver-new", &json!({ "file": file }), || text);
    Ok(ExitCode::Ok)
}

fn as_json(report: &Report, measured: Option<&[Measured]>, names: &[&SymbolName]) -> Value {
    let drivers = report.drivers.iter().map(|driven| {
        let reached: Vec<&SymbolName> = driven.reached().into_iter().map(|number| names[number]).collect();
        json!({
            "driver": driven.driver.name, "file": driven.driver.file, "language": driven.driver.language.to_string(),
            "inputs": driven.corpus.inputs.len(), "breaking": driven.corpus.breaking, "reached": reached,
        })
    });
    let unreached = report.unreached.iter().map(|one| {
        let caller =
            one.caller.as_ref().map(|(caller, inputs)| json!({ "symbol": caller, "inputs": inputs }));
        json!({ "symbol": one.symbol, "nearest_caller": caller })
    });
    let measured = measured.map(|all| {
        let one = |one: &Measured| {
            json!({
                "symbol": one.symbol, "calls": one.judged.calls, "judged": one.judged.judged,
                "killed": one.kills.reached, "mutants": one.kills.total,
                "differs": one.differs.map(|difference| difference.to_string()),
                "outside": one.judged.outside, "broke": one.judged.broke, "without": one.without,
            })
        };
        all.iter().map(one).collect::<Vec<_>>()
    });
    json!({
        "drivers": drivers.collect::<Vec<_>>(), "unreached": unreached.collect::<Vec<_>>(),
        "not_judged": report.not_judged, "in_place": measured,
    })
}

fn text(report: &Report, measured: Option<&[Measured]>, functions: usize) -> String {
    let mut text = Table::of(&report.drivers)
        .left("driver", |one| one.driver.file.to_string())
        .left("language", |one| one.driver.language.to_string())
        .right("inputs", |one| one.corpus.inputs.len().to_string())
        .right("C breaks on", |one| one.corpus.breaking.len().to_string())
        .right("reached", |one| one.reached().len().to_string())
        .text();
    if let Some(measured) = measured {
        text += "\n";
        text += &Table::of(measured)
            .left("function", |one| one.symbol.to_string())
            .right("calls", |one| one.judged.calls.to_string())
            .right("judged", |one| one.judged.judged.to_string())
            .right("mutants killed", |one| format!("{} of {}", one.kills.reached, one.kills.total))
            .left("remarks", |one| remark(one))
            .text();
    }
    if !report.unreached.is_empty() {
        text += "\n";
        text += &Table::of(&report.unreached)
            .left("not reached", |one| one.symbol.to_string())
            .left("nearest caller that is", |one| match &one.caller {
                Some((caller, inputs)) => format!("{caller} (by {inputs} inputs)"),
                None => "-".to_owned(),
            })
            .text();
    }
    let reached = report.reached().len();
    text += &format!("\n{reached} of {functions} functions are reached\n");
    text
}

fn remark(one: &Measured) -> String {
    let differs = one.differs.map(|difference| format!("C differs from itself: {difference}"));
    let outside = one.judged.outside.as_ref().map(|name| format!("it calls {name}"));
    let broke = one.judged.broke.as_ref().map(|how| format!("the run ended early: {how}"));
    let all = one.without.clone().into_iter().chain(differs).chain(outside).chain(broke);
    all.collect::<Vec<_>>().join("; ")
}
