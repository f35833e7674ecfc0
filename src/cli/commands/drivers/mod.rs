//! `cargo implfuzz drivers`

mod new_driver;
pub mod write;

use self::new_driver::Of;
use crate::cli::filter;
use crate::cli::session::Session;
use crate::count::count;
use crate::drivers::{self, FaultPlace, Inputs, Measured, PortJudged, Report};
use crate::error::{ExitCode, Result};
use crate::in_place::outside::left;
use crate::in_place::run::Judged;
use crate::in_place::values::Differing;
use crate::judge::Judge;
use crate::project::ported::Ported;
use crate::project::{Options, Project, Settings};
use crate::report::{Table, printable};
use crate::symbol::{SymbolKey, SymbolName};
use crate::verdict::condition;
use camino::Utf8PathBuf;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Fuzz the library through its drivers, and show which functions they reach
///
/// A driver is a C or C++ file that defines LLVMFuzzerTestOneInput. The command uses all such files in the repository,
/// unless [drivers] in implfuzz.toml names some of them. For each function that no driver reaches, it shows the nearest
/// caller that a driver does reach.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("judged").args(["check", "ports"]).multiple(true)))]
pub struct Args {
    /// With --check or --ports: judge only these functions, on the inputs of earlier runs; add --seconds to fuzz first. With
    /// SYMBOL, --check also lists the mutants that no call kills
    #[arg(value_name = "SYMBOL", requires = "judged")]
    symbols: Vec<String>,
    /// Fuzz each driver for N seconds [default: drivers.seconds]
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// Run mutants of each C function at the calls that the drivers make to it, and count the mutants that they kill; in
    /// addition to the fuzzing, this takes up to drivers.function_seconds for each function and driver
    #[arg(long)]
    check: bool,
    /// Compare the ports in the tree with C at the calls that the drivers make
    #[arg(long)]
    ports: bool,
    /// Let a model write drivers for functions that no driver reaches; keep those that reach some of them
    #[arg(long, conflicts_with_all = ["check", "ports", "new"])]
    write: bool,
    /// Write every exchange with the model into this directory, for the `replay` provider
    #[arg(long, value_name = "DIR", requires = "write")]
    record: Option<PathBuf>,
    /// Do not fuzz: write a new driver, fuzz/NAME.c, that calls public functions as their contracts describe
    #[arg(long, value_name = "NAME", conflicts_with_all = ["seconds", "check", "ports"])]
    new: Option<String>,
    /// Let the new driver call the functions that this header declares; may be repeated
    #[arg(long = "header", value_name = "FILE", requires = "new", conflicts_with = "program")]
    headers: Vec<String>,
    /// Let the new driver run this program, a C file of the repository with a `main`
    #[arg(long, value_name = "FILE", requires = "new")]
    program: Option<Utf8PathBuf>,
    /// Do not fuzz: build each driver into this folder as a libFuzzer program that compares the ports with C and can run on
    /// other machines
    #[arg(long, value_name = "DIR", conflicts_with_all = ["seconds", "check", "ports", "write", "new"])]
    build: Option<PathBuf>,
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    let record_dir = args.record.as_ref().map(std::path::absolute).transpose()?;
    let settings = Settings { record_dir, ..session.options.settings.clone() };
    let session = &Session { options: Options { settings, ..session.options.clone() }, ..session.clone() };
    if let Some(to) = &args.build {
        return build(session, to);
    }
    let mut reporter = session.reporter();
    let (mut project, mut store) = session.open_to_run(reporter.as_mut())?;
    if let Some(name) = &args.new {
        drop(reporter);
        let of = match &args.program {
            Some(program) => Of::Program(program),
            None => Of::Contracts(&args.headers),
        };
        return new_driver::write(session, &project, name, of);
    }
    if let Some(seconds) = args.seconds {
        project.config.drivers.seconds = seconds;
    }
    let interrupt = &session.interrupt;
    let wanted = match &args.symbols[..] {
        [] => None,
        names => Some(numbers(&project, names)?),
    };
    if args.write {
        return write::run(session, (&project, &mut store), reporter);
    }
    let inputs = match (&wanted, args.seconds) {
        (Some(_), None) => Inputs::Kept,
        _ => Inputs::Fuzzed,
    };
    let report = drivers::run(&project, inputs, interrupt, reporter.as_mut())?;
    let faults = drivers::fault_places(&project, &report, interrupt)?;
    let reached: Vec<usize> = match &wanted {
        Some(wanted) => wanted.intersection(&report.reached()).copied().collect(),
        None => report.reached().into_iter().collect(),
    };
    let measured = match args.check {
        true => Some(drivers::measure(&project, &report, &reached, interrupt, reporter.as_mut())?),
        false => None,
    };
    let ports = match args.ports {
        true => {
            let ported = |number: &usize| project.ported(&project.library.functions[*number]) == Ported::Yes;
            let wanted: Vec<usize> = reached.iter().copied().filter(ported).collect();
            let judge = Judge::new(&project, interrupt);
            Some(judge.ports_in_place(&report, &wanted, reporter.as_mut())?)
        }
        false => None,
    };
    drop(reporter);
    let names: Vec<&SymbolName> = project.library.functions.iter().map(|function| &function.name).collect();
    session.screen.result(
        "drivers",
        &as_json((&report, &faults), (measured.as_deref(), ports.as_deref()), &names),
        || {
            let mut text = text((&report, &faults), (measured.as_deref(), ports.as_deref()), names.len());
            if wanted.is_some() {
                text += &survivors(measured.as_deref().unwrap_or_default(), &project);
            }
            if project.calls.0.is_empty() { text + LEARN } else { text }
        },
    );
    Ok(match &ports {
        Some(ports) if ports.iter().any(PortJudged::is_wrong) => ExitCode::Divergence,
        Some(ports) if ports.is_empty() || ports.iter().any(PortJudged::is_inconclusive) => {
            ExitCode::Incomplete
        }
        _ if !report.left_out.is_empty() => ExitCode::Incomplete,
        _ => ExitCode::Ok,
    })
}

/// The positions of these functions in the library.
fn numbers(project: &Project, names: &[String]) -> Result<BTreeSet<usize>> {
    let named = filter::named(project, names)?;
    let all = project.library.functions.iter().enumerate();
    let is_named = |key: &SymbolKey| named.iter().any(|planned| planned.function.key == *key);
    Ok(all.filter(|(_, function)| is_named(&function.key)).map(|(number, _)| number).collect())
}

/// The mutants that no call kills, by line.
fn survivors(measured: &[Measured], project: &Project) -> String {
    let mut text = String::new();
    for one in measured {
        let function = project.library.functions.iter().find(|function| function.name == one.symbol);
        let file = function.map(|function| function.place.file.to_string()).unwrap_or_default();
        for mutant in one.survivors() {
            text +=
                &format!("{}: {file}:{}: survived: {}\n", one.symbol, mutant.line, printable(&mutant.what));
        }
    }
    text
}

/// `--build`: nothing runs, so the machine needs no sandbox.
fn build(session: &Session, to: &Path) -> Result<ExitCode> {
    let mut reporter = session.reporter();
    let (project, _store) = session.open(reporter.as_mut())?;
    let built = Judge::new(&project, &session.interrupt).export_drivers(to, reporter.as_mut())?;
    drop(reporter);
    let all: Vec<_> = built
        .iter()
        .map(|one| json!({ "driver": one.driver.name, "file": one.driver.file, "program": one.program }))
        .collect();
    session.screen.result("drivers-built", &json!({ "built": all }), || {
        built.iter().map(|one| format!("{}: {}\n", one.driver.file, one.program.display())).collect()
    });
    Ok(ExitCode::Ok)
}

/// What to do when drivers have run.
const LEARN: &str =
    "cargo implfuzz contract --learn --all corrects contracts by the calls that drivers make\n";

/// What was judged in place, if it was asked for: mutants, and ports.
type InPlace<'a> = (Option<&'a [Measured]>, Option<&'a [PortJudged]>);

fn as_json(
    (report, faults): (&Report, &[FaultPlace]),
    (measured, ports): InPlace,
    names: &[&SymbolName],
) -> Value {
    let faults = faults.iter().map(|one| {
        json!({
            "driver": one.driver, "what": one.what, "place": one.place, "from": one.from, "inputs": one.inputs,
            "first": one.first,
        })
    });
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
        json!({ "symbol": one.symbol, "nearest_caller": caller, "named_by": one.named_by })
    });
    let measured = measured.map(|all| {
        let one = |one: &Measured| {
            let survived = one.survivors().map(|mutant| json!({ "line": mutant.line, "what": mutant.what }));
            json!({
                "symbol": one.symbol, "calls": one.judged.calls, "judged": one.judged.judged,
                "killed": one.kills.reached, "mutants": one.kills.total,
                "differs": one.differs.map(|difference| difference.to_string()),
                "undefined": one.judged.undefined, "outside": one.judged.outside, "broke": one.judged.broke,
                "without": one.without,
                "survived": survived.collect::<Vec<_>>(),
            })
        };
        all.iter().map(one).collect::<Vec<_>>()
    });
    let ports = ports.map(|all| {
        let one = |one: &PortJudged| {
            let differs = one.differs().map(|told| {
                let differing = one.differing();
                let values = differing.and_then(|differing| differing.values.as_ref());
                json!({
                    "what": told.difference.to_string(), "path": differing.map(|differing| &differing.path),
                    "c": values.map(|values| &values.c), "port": values.map(|values| &values.port), "unclear": one.unclear(), "input": told.input, "call": told.call, "failing": told.failing, "other_answer": told.other_answer, "said": told.said,
                })
            });
            json!({
                "symbol": one.symbol, "calls": one.judged.calls, "judged": one.judged.judged,
                "distinct": one.judged.distinct, "differs": differs, "unsteady": one.judged.unsteady,
                "undefined": one.judged.undefined, "outside": one.judged.outside, "broke": one.judged.broke,
            })
        };
        all.iter().map(one).collect::<Vec<_>>()
    });
    json!({
        "drivers": drivers.collect::<Vec<_>>(), "unreached": unreached.collect::<Vec<_>>(),
        "faults": faults.collect::<Vec<_>>(), "not_judged": report.not_judged,
        "left_out": report.left_out.iter().map(|one| json!({ "file": one.file, "why": one.error.to_string() })).collect::<Vec<_>>(),
        "in_place": measured, "ports": ports,
    })
}

/// Where the driver calls what breaks. Reports of timeouts, and of stacks that overflow, do not reach down to the driver.
fn called_at(fault: &FaultPlace) -> String {
    match fault.from.as_str() {
        "" => format!("{}, line unknown", printable(fault.driver.as_str())),
        from => printable(from),
    }
}

fn text((report, faults): (&Report, &[FaultPlace]), (measured, ports): InPlace, functions: usize) -> String {
    let mut text = Table::of(&report.drivers)
        .left("driver", |one| one.driver.file.to_string())
        .left("language", |one| one.driver.language.to_string())
        .right("inputs", |one| one.corpus.inputs.len().to_string())
        .right("C breaks on", |one| one.corpus.breaking.len().to_string())
        .right("reached", |one| one.reached().len().to_string())
        .text();
    if !faults.is_empty() {
        text += "\n";
        text += &Table::of(faults)
            .left("C breaks in", |one| printable(&one.place))
            .left("called at", |one| called_at(one))
            .left("with", |one| printable(&one.what))
            .right("inputs", |one| one.inputs.to_string())
            .left("the first", |one| one.first.file_name().unwrap_or_default().to_string_lossy().into_owned())
            .text();
        text += "(some of the inputs ran again) Delete or limit calls of the driver that no program would make.\n";
    }
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
    if ports.is_some_and(<[_]>::is_empty) {
        text += "\nno driver reaches a port\n";
    } else if let Some(ports) = ports {
        text += "\n";
        text += &Table::of(ports)
            .left("port", |one| one.symbol.to_string())
            .right("calls", |one| one.judged.calls.to_string())
            .right("judged", |one| one.judged.judged.to_string())
            .left("result", |one| verdict(one))
            .text();
    }
    if !report.unreached.is_empty() {
        text += "\n";
        text += &Table::of(&report.unreached)
            .left("not reached", |one| one.symbol.to_string())
            .left("nearest caller that is", |one| match (&one.caller, &one.named_by) {
                (Some((caller, inputs)), _) => format!("{caller} (by {inputs} inputs)"),
                (None, Some(file)) => {
                    format!("none; {file} names it, but no input gets there: try more --seconds")
                }
                (None, None) => "-".to_owned(),
            })
            .text();
    }
    if !report.left_out.is_empty() {
        text += "\n";
        text += &Table::of(&report.left_out)
            .left("left out", |one| one.file.to_string())
            .left("because", |one| printable(&beginning(&one.error.to_string())))
            .text();
    }
    let reached = report.reached().len();
    text += &format!("\nreached: {reached} of {}\n", count(functions, "function"));
    text
}

/// The first line of an error, with the next one where it ends with a colon.
fn beginning(error: &str) -> String {
    let mut lines = error.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    match (first.ends_with(':'), lines.next()) {
        (true, Some(next)) => format!("{first} {next}"),
        _ => first.to_owned(),
    }
}

fn verdict(one: &PortJudged) -> String {
    let differs = one.differs().map(|told| {
        let said = if told.said.is_empty() { String::new() } else { format!(": {}", printable(&told.said)) };
        let input = told.input.file_name().unwrap_or_default().to_string_lossy();
        let path = one.differing().map(in_words).unwrap_or_default();
        let condition = condition(told.failing, told.other_answer.as_ref());
        let condition = condition.map(|words| format!(", where {}", printable(&words))).unwrap_or_default();
        let unclear = one.unclear().map(|why| format!("; it may be right: {why}")).unwrap_or_default();
        format!(
            "differs from C ({}{path}) in call {} of input {input}{condition}{said}{unclear}",
            told.difference, told.call
        )
    });
    let same = || match one.judged.judged {
        0 => "not judged".to_owned(),
        _ => "the same".to_owned(),
    };
    [differs.unwrap_or_else(same)].into_iter().chain(early(&one.judged)).collect::<Vec<_>>().join("; ")
}

fn in_words(differing: &Differing) -> String {
    let values = differing.values.as_ref();
    let values = values.map(|values| format!(": C {}, port {}", values.c, values.port)).unwrap_or_default();
    format!(": {}{values}", differing.path)
}

/// What kept calls from being judged.
fn early(judged: &Judged) -> impl Iterator<Item = String> {
    let broke = judged.broke.as_ref().map(|how| format!("the run ended early: {how}"));
    judged
        .outside
        .as_deref()
        .map(left)
        .into_iter()
        .chain(judged.unsteady())
        .chain(judged.undefined())
        .chain(broke)
}

fn remark(one: &Measured) -> String {
    let differs = one.differs.map(|difference| format!("C differs from itself: {difference}"));
    let all = one.without.clone().into_iter().chain(differs).chain(early(&one.judged));
    all.collect::<Vec<_>>().join("; ")
}
