//! How good the harnesses of real C libraries are, before any port exists: `cargo bench --bench harnesses`.
//! With `-- --write` the results go into docs/data/harnesses.json, and the summary into docs/harnesses.md. `--seconds N` is the
//! time for the mutants of one function. Names of packages choose libraries (`c-lib` is the small one of this repository).
//! `-- --in-place` measures judging in place instead, with the drivers in `benches/drivers/`, beside the data of the harnesses;
//! `-- --new-driver` does so with the driver that `drivers --new` writes, and `-- --learned` measures what the calls of those
//! drivers teach contracts. `-- --render` measures nothing and writes
//! the summary again from the data.
//!
//! All data comes from the tool itself: `list` for tiers, `contract --check --all` for the harnesses, `drivers --check` for
//! judging in place.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark fails by panicking, and prints"
)]
#![allow(clippy::disallowed_methods, reason = "it starts the tool that it measures")]

#[path = "harnesses/in_place.rs"]
mod in_place;
#[path = "harnesses/learned.rs"]
mod learned;
#[path = "harnesses/page.rs"]
mod page;
#[path = "../tests/suite/support/mod.rs"]
mod support;

use page::page;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use support::clib;
use support::real::{self, RealLib};

const TIERS: [&str; 5] = ["A", "B", "E", "C", "D"];
/// A harness works when C accepts this share of the inputs and never differs from itself, and this share of mutants is killed.
const ACCEPTED: f64 = 0.5;
const KILLED: f64 = 0.8;

/// What C does when an allocation fails is part of its behaviour.
const WITHOUT_MEMORY: [&str; 2] = ["--config", "fuzz.fail_allocations=true"];

/// The measurements of one library.
struct Line {
    name: String,
    functions: Vec<Value>,
    checked: BTreeMap<String, Value>,
    millis: u128,
    /// Seconds for the mutants of a function, as the command line says.
    budget: u64,
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if args.iter().any(|arg| arg == "--render") {
        return write(&[]);
    }
    let at = args.iter().position(|arg| arg == "--seconds");
    let seconds = at.map_or("5", |at| args[at + 1].as_str());
    let chosen: BTreeSet<&String> =
        args.iter().filter(|arg| !arg.starts_with("--") && arg.as_str() != seconds).collect();
    let is_chosen = |name: &str| chosen.is_empty() || chosen.iter().any(|chosen| *chosen == name);
    let is_written = args.iter().any(|arg| arg == "--write");
    let mut measured = Vec::new();
    let [in_place, new, learned] =
        ["--in-place", "--new-driver", "--learned"].map(|flag| args.iter().any(|arg| arg == flag));
    if in_place || new || learned {
        for lib in libraries().filter(|lib| is_chosen(lib.package)) {
            let Some(driver) = in_place::driver(lib.package) else { continue };
            let Some(mut record) = known().into_iter().find(|library| package(library) == lib.package) else {
                eprintln!("{}: no data of its harnesses; measure these with `--write` first", lib.package);
                continue;
            };
            if in_place {
                record["in_place"] = in_place::measure(lib, &driver, &record);
            }
            if new {
                record["new_driver"] = in_place::measure_new(lib, &record);
            }
            if learned {
                record["learned"] = learned::measure(lib, &driver);
            }
            measured.push(record);
            println!("{}", page(&measured));
            if is_written {
                write(&measured);
            }
        }
        return;
    }
    let mut add = |line: &Line| {
        measured.push(record(line));
        println!("{}", page(&measured));
        if is_written {
            write(&measured);
        }
    };
    if is_chosen("c-lib") {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/c-lib");
        add(&measure("c-lib (fixtures)", &source, &[], seconds));
    }
    // Large libraries take long, so the results of each are written before the next one begins.
    for lib in libraries().filter(|lib| is_chosen(lib.package)) {
        add(&measure_real(lib, seconds));
    }
}

/// All real libraries, in the order of the tables.
fn libraries() -> impl Iterator<Item = &'static RealLib> {
    real::ALL.iter().chain(real::UNSEEN)
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")
}

/// The data of earlier runs.
fn known() -> Vec<Value> {
    serde_json::from_str(&std::fs::read_to_string(docs().join("data/harnesses.json")).unwrap()).unwrap()
}

fn package(library: &Value) -> &str {
    text(library, "name").split(' ').next().unwrap()
}

/// Writes the data and the summary. What was not measured in this run keeps its data.
fn write(measured: &[Value]) {
    let (docs, known) = (docs(), known());
    let data = docs.join("data/harnesses.json");
    let names = ["c-lib"].into_iter().chain(libraries().map(|lib| lib.package));
    let of = |all: &[Value], name: &str| all.iter().find(|library| package(library) == name).cloned();
    let libraries = names.filter_map(|name| {
        let before = of(&known, name);
        let mut library = of(measured, name).or_else(|| before.clone())?;
        for key in ["in_place", "new_driver", "learned"] {
            let kept = before.as_ref().map(|before| &before[key]).filter(|kept| kept.is_object());
            if let Some(kept) = kept.filter(|_| library[key].is_null()) {
                library[key] = kept.clone();
            }
        }
        Some(library)
    });
    let libraries: Vec<Value> = libraries.collect();
    std::fs::write(&data, serde_json::to_string_pretty(&libraries).unwrap() + "\n").unwrap();
    std::fs::write(docs.join("harnesses.md"), page(&libraries)).unwrap();
}

fn measure_real(lib: &RealLib, seconds: &str) -> Line {
    let source = lib.source();
    measure(&format!("{} {}", lib.package, lib.version), &source, &lib.arguments(), seconds)
}

fn measure(name: &str, source: &Path, settings: &[String], seconds: &str) -> Line {
    eprintln!("{name}");
    let dir = clib::scratch(&format!("{}-harnesses", name.split(' ').next().unwrap()));
    clib::copy_tree(source, &dir);
    run(&dir, &[&["init".to_owned(), "-q".to_owned()], settings].concat());
    let listed = last_line(&dir, &["list", "--format", "json"]);
    let start = std::time::Instant::now();
    let checked =
        last_line(&dir, &["contract", "--check", "--all", "--seconds", seconds, "--format", "json"]);
    let by_name = |value: &Value| (value["symbol"].as_str().unwrap().to_owned(), value.clone());
    Line {
        name: name.to_owned(),
        functions: listed["symbols"].as_array().unwrap().clone(),
        checked: checked["symbols"].as_array().unwrap().iter().map(by_name).collect(),
        millis: start.elapsed().as_millis(),
        budget: seconds.parse().unwrap(),
    }
}

fn tool(dir: &Path, args: &[String]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-implfuzz"));
    command.current_dir(dir).arg("implfuzz").args(WITHOUT_MEMORY).args(args).stdin(Stdio::null());
    command.env("CARGO_TARGET_DIR", PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("harnesses"));
    command
}

fn run(dir: &Path, args: &[String]) {
    let status = tool(dir, args).stdout(Stdio::null()).status().unwrap();
    assert!(status.success(), "{args:?} failed in {}", dir.display());
}

fn last_line(dir: &Path, args: &[&str]) -> Value {
    let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
    let output = tool(dir, &args).output().unwrap();
    // 11 says that some harness falls short, which is what is to be measured.
    assert!([Some(0), Some(11)].contains(&output.status.code()), "{args:?}: {}", told(&output.stderr));
    serde_json::from_str(told(&output.stdout).lines().last().unwrap()).unwrap()
}

fn told(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Line {
    fn works(&self, function: &Value) -> bool {
        let checked = self.checked.get(function["symbol"].as_str().unwrap());
        checked.is_some_and(|checked| shortcoming(checked).is_none())
    }
}

/// Why a harness does not work.
fn shortcoming(checked: &Value) -> Option<String> {
    if let Some(what) = checked["difference"].as_str() {
        return Some(format!("C differs from itself: {what}"));
    }
    let rate = checked["accept_rate"].as_f64().unwrap_or(0.0);
    if rate < ACCEPTED {
        let why = checked["rejected"][0][0].as_str().unwrap_or("nothing was executed");
        return Some(format!("C accepts {:.0} % of the inputs ({why})", rate * 100.0));
    }
    if let Some(why) = checked["without"].as_str() {
        return Some(format!("no mutants: {why}"));
    }
    let (killed, total) = (checked["killed"].as_u64().unwrap(), checked["to_kill"].as_u64().unwrap());
    if total == 0 {
        return Some("there is no mutant to kill".to_owned());
    }
    (killed as f64 / (total as f64) < KILLED).then(|| format!("{killed} of {total} mutants killed"))
}

fn percent(part: usize, whole: usize) -> Option<u64> {
    (whole > 0).then(|| (part as f64 / whole as f64 * 100.0).round() as u64)
}

/// The measurements of one library as the data file has them.
fn record(line: &Line) -> Value {
    let all = line.functions.len();
    let of = |is: &dyn Fn(&Value) -> bool| line.functions.iter().filter(|f| is(f)).count();
    let tiers: BTreeMap<&str, _> =
        TIERS.map(|tier| (tier, percent(of(&|f| f["tier"] == tier), all))).into_iter().collect();
    let external = of(&|f| f["linkage"] == "external");
    let sum = |key: &str| line.checked.values().filter_map(|c| c[key].as_u64()).sum::<u64>() as usize;
    let failing = line.checked.iter().filter_map(|(name, checked)| {
        shortcoming(checked).map(|why| json!({ "symbol": name, "file": checked["file"], "reason": why }))
    });
    json!({
        "name": line.name,
        "functions": all,
        "tiers": tiers,
        "with_harness": percent(of(&|f| f["judged"] == true), all),
        "working": percent(of(&|f| line.works(f)), all),
        "external": external,
        "external_working": percent(of(&|f| f["linkage"] == "external" && line.works(f)), external),
        "killed": percent(sum("killed"), sum("to_kill")),
        "equivalent": line.checked.values().map(|checked| mutants(checked, "equivalent").count()).sum::<usize>(),
        "seconds_per_function": line.budget,
        "seconds": line.millis / 1000,
        "without_harness": without_harness(&line.functions),
        "failing": failing.collect::<Vec<_>>(),
        "survivors": line.checked.iter().filter_map(survivors_of).collect::<BTreeMap<_, _>>(),
    })
}

fn without_harness(functions: &[Value]) -> Vec<Value> {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for function in functions.iter().filter(|f| f["judged"] != true) {
        let name = function["symbol"].as_str().unwrap();
        reasons.entry(function["harness"].as_str().unwrap_or("unknown")).or_default().push(name);
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(why, names)| (Reverse(names.len()), *why));
    let each =
        |(why, names): (&str, Vec<&str>)| json!({ "reason": why, "count": names.len(), "symbols": names });
    reasons.into_iter().map(each).collect()
}

fn mutants<'v>(checked: &'v Value, fate: &'static str) -> impl Iterator<Item = &'v Value> {
    checked["mutants"].as_array().unwrap().iter().filter(move |mutant| mutant["fate"] == fate)
}

fn survivors_of((name, checked): (&String, &Value)) -> Option<(String, Vec<String>)> {
    let each = |m: &Value| format!("{} {}", m["line"], text(m, "what").replace('\n', " "));
    let all: Vec<String> = mutants(checked, "survived").map(each).collect();
    (!all.is_empty()).then(|| (name.clone(), all))
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap()
}

fn array<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value[key].as_array().unwrap().iter()
}
