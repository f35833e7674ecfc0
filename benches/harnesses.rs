//! How good the harnesses of real C libraries are, before any port exists: `cargo bench --bench harnesses`.
//! With `-- --write` the results go into docs/data/harnesses.json, and the summary into docs/harnesses.md. `--seconds N` is the
//! time for the mutants of one function. Names of packages choose libraries (`c-lib` is the small one of this repository).
//! `-- --render` measures nothing and writes the summary again from the data.
//!
//! All data comes from the tool itself: `list` for tiers, `contract --check --all` for the harnesses.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark fails by panicking, and prints"
)]
#![allow(clippy::disallowed_methods, reason = "it starts the tool that it measures")]

#[path = "../tests/suite/support/mod.rs"]
mod support;

use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use support::clib;
use support::real::{self, RealLib};

const TIERS: [&str; 5] = ["A", "B", "E", "C", "D"];
/// A harness works when C accepts this share of the inputs and never differs from itself, and this share of mutants is killed.
const ACCEPTED: f64 = 0.5;
const KILLED: f64 = 0.8;

/// Reasons and examples that the summary shows of one library.
const SHOWN: usize = 8;
const EXAMPLES: usize = 3;

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
    for lib in real::ALL.iter().filter(|lib| is_chosen(lib.package)) {
        add(&measure_real(lib, seconds));
    }
}

/// Writes the data and the summary. Libraries that were not measured in this run keep their data.
fn write(measured: &[Value]) {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let data = docs.join("data/harnesses.json");
    let known: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(&data).unwrap()).unwrap();
    let package = |library: &Value| text(library, "name").split(' ').next().unwrap().to_owned();
    let names = ["c-lib"].into_iter().chain(real::ALL.iter().map(|lib| lib.package));
    let libraries: Vec<Value> = names
        .filter_map(|name| measured.iter().chain(&known).find(|library| package(library) == name))
        .cloned()
        .collect();
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

const HEADER: &str = "\n| library | functions | tier A | B | E | C | D | with harness | working | external | working of these | mutants killed | equivalent | seconds each | seconds in all |\n\
     |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";

/// The summary: one table of all libraries, then the most frequent reasons for each.
fn page(libraries: &[Value]) -> String {
    let rows: String = libraries.iter().map(row).collect();
    format!("{}{HEADER}{rows}{}", head(), libraries.iter().map(section).collect::<String>())
}

fn head() -> String {
    format!(
        "# Harnesses of real C libraries\n\n\
         This page measures harnesses, without any port or model. The tool makes a harness for each function, then runs it on the C original and on mutants of the C function.\n\n\
         A harness *works* if C never differs from itself, C accepts at least {:.0} % of the inputs, and at least {:.0} % of the mutants of the C function are killed within the time limit. \
         A port of a function without a working harness stays `weak` or cannot be judged at all. So the share of working harnesses limits the share of `verified` ports today, \
         unless a person or a model adds contracts or fuzz targets.\n\n\
         - **tier**: share of the functions in each tier. The tier says how a harness can call a function (A: arguments decoded from the input, B: values from the library's constructors, E: heuristics, C: needs hints, D: cannot be called).\n\
         - **with harness**, **working**: share of all functions that have a harness, and that have a working harness. **external**: number of functions that are not `static`. **working of these**: share of the external functions that have a working harness.\n\
         - **equivalent**: number of mutants that compile to the same code as the original; **mutants killed** does not count them. No mutant was marked as equivalent by hand.\n\
         - **seconds each**: time limit for the mutants of one function. **seconds in all**: wall time of `contract --check --all`.\n\n\
         Allocations may fail in functions on handles (`fuzz.fail_allocations`). \
         [data/harnesses.json](data/harnesses.json) lists every function without a working harness and every surviving mutant.\n\n\
         `cargo bench --bench harnesses -- --write --seconds N [PACKAGE...]` writes this page and that file.\n",
        ACCEPTED * 100.0,
        KILLED * 100.0
    )
}

fn row(library: &Value) -> String {
    let share = |value: &Value| value.as_u64().map_or_else(|| "-".to_owned(), |share| format!("{share} %"));
    let number = |key: &str| library[key].to_string();
    let mut cells = vec![text(library, "name").to_owned(), number("functions")];
    cells.extend(TIERS.iter().map(|tier| share(&library["tiers"][tier])));
    cells.extend(["with_harness", "working"].map(|key| share(&library[key])));
    cells.extend([number("external"), share(&library["external_working"]), share(&library["killed"])]);
    cells.extend(["equivalent", "seconds_per_function", "seconds"].map(number));
    format!("| {} |\n", cells.join(" | "))
}

/// The most frequent reasons of one library, with the names in them left out, so that like reasons count together.
fn section(library: &Value) -> String {
    let mut page = format!("\n## {}\n", text(library, "name"));
    let without = array(library, "without_harness").map(|why| {
        let names = why["symbols"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
        (text(why, "reason"), why["count"].as_u64().unwrap(), names.collect())
    });
    page += &reasons("Functions without a harness", &without.collect::<Vec<_>>());
    let failing =
        array(library, "failing").map(|why| (kind(text(why, "reason")), 1, vec![text(why, "symbol")]));
    page += &reasons("Functions with a harness that does not work", &failing.collect::<Vec<_>>());
    let survivors = library["survivors"].as_object().unwrap();
    let count: usize = survivors.values().map(|all| all.as_array().unwrap().len()).sum();
    page + &format!("\nSurviving mutants: {count}, in {} functions.\n", survivors.len())
}

fn array<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value[key].as_array().unwrap().iter()
}

/// A shortcoming without its numbers.
fn kind(reason: &str) -> &str {
    match reason {
        _ if reason.ends_with("mutants killed") => "too few mutants killed",
        _ if reason.starts_with("C accepts") => "C accepts too few inputs",
        _ if reason.starts_with("C differs from itself") => "C differs from itself",
        _ if reason.starts_with("no mutants") => "the C text has nothing to mutate",
        _ => reason,
    }
}

/// Reasons with their numbers and a few symbols each, the most frequent first.
fn reasons(title: &str, all: &[(&str, u64, Vec<&str>)]) -> String {
    let mut groups: BTreeMap<String, (u64, Vec<&str>)> = BTreeMap::new();
    for (reason, count, symbols) in all {
        let group = groups.entry(without_names(reason)).or_default();
        group.0 += count;
        group.1.extend(symbols);
    }
    if groups.is_empty() {
        return String::new();
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(reason, (count, _))| (Reverse(*count), reason.clone()));
    let total: u64 = groups.iter().map(|(_, (count, _))| count).sum();
    let mut page = format!("\n{title}: {total}.\n\n");
    for (reason, (count, symbols)) in groups.iter().take(SHOWN) {
        let examples: Vec<String> = symbols.iter().take(EXAMPLES).map(|name| format!("`{name}`")).collect();
        let more = if *count as usize > examples.len() { ", ..." } else { "" };
        writeln!(page, "- {count} × {reason}: {}{more}", examples.join(", ")).unwrap();
    }
    let rest: u64 = groups.iter().skip(SHOWN).map(|(_, (count, _))| count).sum();
    if rest > 0 {
        writeln!(page, "- {rest} × other reasons").unwrap();
    }
    page
}

/// A reason with an ellipsis for each name, and without the function through which it applies.
fn without_names(reason: &str) -> String {
    let mut text = String::new();
    for (i, part) in reason.split('`').enumerate() {
        text += match part {
            _ if i % 2 == 0 => part,
            "void *" => "`void *`",
            _ => "`...`",
        };
    }
    text.replace(" (through `...`)", "")
}
