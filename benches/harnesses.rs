//! What the harnesses of real C libraries are worth, without any port and any model: `cargo bench --bench harnesses`. With
//! `-- --write` the table goes into docs/harnesses.md; `--seconds N` is the time for the mutants of a function, and names of
//! packages choose libraries (`c-lib` is the small one of this repository).
//!
//! Everything is asked from the tool itself: `list` for tiers, `contract --check --all` for the harnesses.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark fails by panicking, and prints"
)]
#![allow(clippy::disallowed_methods, reason = "it starts the tool that it measures")]

#[path = "../tests/suite/support/mod.rs"]
mod support;

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use support::clib;
use support::real::{self, RealLib};

const TIERS: [&str; 5] = ["A", "B", "E", "C", "D"];
/// A harness works when C accepts so many inputs, never differs from itself, and so many mutants are killed.
const ACCEPTED: f64 = 0.5;
const KILLED: f64 = 0.8;

/// What C does when it gets no memory is part of what it does.
const WITHOUT_MEMORY: [&str; 2] = ["--config", "fuzz.fail_allocations=true"];

/// What became of one library.
struct Line {
    name: String,
    functions: Vec<Value>,
    checked: BTreeMap<String, Value>,
    millis: u128,
    /// Seconds for the mutants of a function, as they were asked for.
    budget: String,
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let at = args.iter().position(|arg| arg == "--seconds");
    let seconds = at.map_or("5", |at| args[at + 1].as_str());
    let chosen: BTreeSet<&String> =
        args.iter().filter(|arg| !arg.starts_with("--") && arg.as_str() != seconds).collect();
    let is_chosen = |name: &str| chosen.is_empty() || chosen.iter().any(|chosen| *chosen == name);
    let is_written = args.iter().any(|arg| arg == "--write");
    let mut lines = Vec::new();
    if is_chosen("c-lib") {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/c-lib");
        lines.push(measure("c-lib (fixtures)", &source, &[], seconds));
        tell(&lines, is_written);
    }
    // Large libraries take long: what is measured is written before the next one.
    for lib in real::ALL.iter().filter(|lib| is_chosen(lib.package)) {
        lines.push(measure_real(lib, seconds));
        tell(&lines, is_written);
    }
}

/// Prints the table, and writes it where it is asked for: there what is known of other libraries stays.
fn tell(lines: &[Line], is_written: bool) {
    println!("{}{}", table(lines), lines.iter().map(details).collect::<String>());
    if !is_written {
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/harnesses.md");
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    let names = ["c-lib"].into_iter().chain(real::ALL.iter().map(|lib| lib.package));
    let (mut rows, mut sections) = (String::new(), String::new());
    for name in names {
        let measured = lines.iter().find(|line| line.name.split(' ').next() == Some(name));
        let kept = || (kept_row(&known, name), kept_section(&known, name));
        let (own, section) = measured.map_or_else(kept, |line| (row(line), details(line)));
        rows += &own;
        sections += &section;
    }
    std::fs::write(path, format!("{}{HEADER}{rows}{sections}", head())).unwrap();
}

fn kept_row(known: &str, name: &str) -> String {
    let row = known.lines().find(|line| line.starts_with(&format!("| {name} ")));
    row.map_or_else(String::new, |row| format!("{row}\n"))
}

fn kept_section(known: &str, name: &str) -> String {
    let Some(start) = known.find(&format!("\n## {name} ")) else { return String::new() };
    let end = known[start + 1..].find("\n## ").map_or(known.len(), |end| start + 1 + end);
    known[start..end].to_owned()
}

fn head() -> String {
    format!(
        "# What the harnesses of real C libraries are worth\n\n\
         Written by `cargo bench --bench harnesses -- --write --seconds N` (with names of libraries behind it: of these alone): no port and no model takes part. A harness works when C never \
         differs from itself, accepts at least {:.0} % of the inputs, and at least {:.0} % of the mutants of the C function are killed \
         within the time of its row. Tiers and the share with a harness are of all functions, the share with a working one is also told for those with external \
         linkage. Functions on handles are also tried with an allocation that fails (`fuzz.fail_allocations`). Nothing is marked as equivalent by \
         hand; mutants that the compiler makes the same code of as of the original are not counted, their number stands in a column of its own. Rows of libraries were measured at different times, each with the tool as it was then.\n",
        ACCEPTED * 100.0,
        KILLED * 100.0
    )
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
        budget: seconds.to_owned(),
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

/// Mutants that are compiled to the code of the original.
fn same_code(checked: &Value) -> usize {
    checked["mutants"].as_array().unwrap().iter().filter(|mutant| mutant["fate"] == "equivalent").count()
}

fn percent(part: usize, whole: usize) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.0} %", part as f64 / whole as f64 * 100.0) }
}

const HEADER: &str = "\n| library | functions | tier A | B | E | C | D | with harness | working | non-static | working of these | mutants killed | same code | s a function | s in all |\n\
     |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";

fn table(lines: &[Line]) -> String {
    format!("{HEADER}{}", lines.iter().map(row).collect::<String>())
}

fn row(line: &Line) -> String {
    let all = line.functions.len();
    let of = |is: &dyn Fn(&Value) -> bool| line.functions.iter().filter(|f| is(f)).count();
    let tiers = TIERS.map(|tier| percent(of(&|f| f["tier"] == tier), all)).join(" | ");
    let outside = of(&|f| f["linkage"] == "external");
    let sum = |key: &str| line.checked.values().filter_map(|c| c[key].as_u64()).sum::<u64>() as usize;
    format!(
        "| {} | {all} | {tiers} | {} | {} | {outside} | {} | {} | {} | {} | {} |\n",
        line.name,
        percent(of(&|f| f["judged"] == true), all),
        percent(of(&|f| line.works(f)), all),
        percent(of(&|f| f["linkage"] == "external" && line.works(f)), outside),
        percent(sum("killed"), sum("to_kill")),
        line.checked.values().map(same_code).sum::<usize>(),
        line.budget,
        line.millis / 1000,
    )
}

/// What the table leaves out: functions without a harness by reason, harnesses that do not work, survivors.
fn details(line: &Line) -> String {
    let mut text = format!("\n## {}\n", line.name);
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for function in line.functions.iter().filter(|f| f["judged"] != true) {
        let name = function["symbol"].as_str().unwrap();
        reasons.entry(function["harness"].as_str().unwrap_or("unknown")).or_default().push(name);
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(why, names)| (std::cmp::Reverse(names.len()), *why));
    if !reasons.is_empty() {
        text += "\nWithout a harness:\n\n";
    }
    for (why, names) in reasons {
        let more = if names.len() > 6 { ", …" } else { "" };
        let shown = names.iter().take(6).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        writeln!(text, "- {} × {why}: {shown}{more}", names.len()).unwrap();
    }
    let short = |(name, checked): (&String, &Value)| {
        shortcoming(checked).map(|why| format!("- `{name}` ({}): {why}\n", checked["file"].as_str().unwrap()))
    };
    let short: String = line.checked.iter().filter_map(short).collect();
    if !short.is_empty() {
        text += &format!("\nHarnesses that do not work:\n\n{short}");
    }
    let survivors: String = line.checked.iter().filter_map(survivors_of).collect();
    if !survivors.is_empty() {
        text += &format!("\nSurvivors, by line:\n\n{survivors}");
    }
    text
}

fn survivors_of((name, checked): (&String, &Value)) -> Option<String> {
    let mutants = checked["mutants"].as_array()?;
    let survived = mutants.iter().filter(|mutant| mutant["fate"] == "survived");
    let each = survived.map(|m| format!("{} {}", m["line"], m["what"].as_str().unwrap().replace('\n', " ")));
    let all: Vec<String> = each.collect();
    (!all.is_empty()).then(|| format!("- `{name}`: {}\n", all.join("; ")))
}
