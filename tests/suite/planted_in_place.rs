//! Wrong ports of functions of real libraries that no harness judges: each must differ from C where the driver calls it,
//! within seconds, and for certain. Their right twins must be `verified`; those in `right-weak.rs` are weak, and say why.
//! Wrong ports have one fault each, of the kind that people and models make; the first line describes it and says why the
//! port is not equivalent.
//!
//! A round puts as many wrong ports into the tree as do not call each other, so that it needs one build. All that they
//! call is C. `cargo test --test suite -- --ignored planted_in_place --nocapture` prints how each was told from C.

use crate::planted::{Planted, Stubs, name, sorted};
use crate::support::clib::copy_tree;
use crate::support::real::{self, RealLib};
use crate::support::{MEASURED, Repo};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

/// A folder for each library, under the name of its package.
const PLANTED: &str = "fixtures/planted-in-place";

/// Of each library at least, without those whose right twin is weak.
const WRONG: usize = 30;
const FUNCTIONS: usize = 14;

/// For each wrong port.
const SECONDS: &str = "drivers.function_seconds=10";
/// Right ones have to be called 10,000 times, however long C takes for that.
const SECONDS_OF_RIGHT: &str = "drivers.function_seconds=180";

/// Runs the library's driver on the parts of an input: what a run calls once would not be called often enough.
const PARTS: &str = "
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (size_t left = 12; left > 0; left--) {
        size_t part = size / left;
        one_part(data, part);
        data += part;
        size -= part;
    }
    return 0;
}
";

/// A wrong port: function, fault and text.
type Wrong<'a> = (&'a str, &'a str, &'a str);

/// A library after `init` with the inputs of its driver.
struct Driven {
    repo: Repo,
    stubs: Stubs,
}

impl Driven {
    fn new(lib: &RealLib) -> Self {
        let repo = Repo::empty();
        copy_tree(&lib.source(), repo.root());
        let drivers = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/drivers");
        let driver = std::fs::read_to_string(drivers.join(format!("{}.c", lib.package))).unwrap();
        let (from, to) = ("int LLVMFuzzerTestOneInput(", "static int one_part(");
        assert_eq!(driver.matches(from).count(), 1);
        repo.write("fuzz/driver.c", &(driver.replace(from, to) + PARTS));
        let arguments = lib.arguments();
        let arguments = arguments.iter().map(String::as_str);
        repo.run(&["init"].into_iter().chain(arguments).collect::<Vec<_>>()).ok();
        repo.run(&["drivers", "--seconds", "120"]).ok();
        Self { stubs: Stubs::of(&repo), repo }
    }

    /// What `verify` says of the right ports, each beside all others, by function.
    fn verify(&self, planted: &[Planted]) -> BTreeMap<String, Value> {
        let right: Vec<(&str, &str)> = planted.iter().map(|p| (&*p.function, &*p.right)).collect();
        self.stubs.plant(&right);
        // What no harness judges is judged in place; for the others, harness and driver together are enough.
        let args = ["verify", "--all", "--seconds", "5", "--config", SECONDS_OF_RIGHT, "--format", "json"];
        let ran = self.repo.run(&[&args[..], &MEASURED[..]].concat());
        by_symbol(&ran.json("verify")["symbols"])
    }

    /// What is said of these wrong ports where the driver calls them, by function, and how long building and judging took.
    fn judge(&self, ports: &[Wrong]) -> (BTreeMap<String, Value>, Duration) {
        self.stubs.plant(&ports.iter().map(|(function, _, text)| (*function, *text)).collect::<Vec<_>>());
        let start = Instant::now();
        let ran =
            self.repo.run(&["drivers", "--ports", "--seconds", "5", "--config", SECONDS, "--format", "json"]);
        (by_symbol(&ran.json("drivers")["ports"]), start.elapsed())
    }
}

fn by_symbol(rows: &Value) -> BTreeMap<String, Value> {
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| (row["symbol"].as_str().unwrap().to_owned(), row.clone())).collect()
}

/// Puts each wrong port into the first round that has no other of its function, none that it calls and none that calls it.
fn rounds(planted: &[Planted]) -> Vec<Vec<Wrong<'_>>> {
    let calls = |(_, _, text): &Wrong, function: &str| text.contains(&format!("callee::{function}("));
    let mut rounds: Vec<Vec<Wrong>> = Vec::new();
    for one in planted {
        for (fault, text) in &one.wrong {
            let wrong: Wrong = (&one.function, fault, text);
            let is_apart =
                |other: &Wrong| other.0 != wrong.0 && !calls(other, wrong.0) && !calls(&wrong, other.0);
            match rounds.iter_mut().find(|round| round.iter().all(is_apart)) {
                Some(round) => round.push(wrong),
                None => rounds.push(vec![wrong]),
            }
        }
    }
    rounds
}

/// Whether a port is wrong for certain, not one that may be right though it differs.
fn is_refuted(port: &Value) -> bool {
    !port["differs"].is_null() && port["differs"]["unclear"].is_null()
}

#[test]
fn every_folder_of_planted_ports_has_its_test() {
    let folders = sorted(&Path::new(env!("CARGO_MANIFEST_DIR")).join(PLANTED));
    assert_eq!(folders.iter().map(|folder| name(folder)).collect::<Vec<_>>(), ["bzip2-sys", "libz-sys"]);
}

#[test]
#[ignore = "minutes: cargo test --test suite planted_in_place -- --ignored"]
fn wrong_ports_of_bzip2_are_refuted_in_place() {
    ports_are_told_apart("bzip2-sys");
}

#[test]
#[ignore = "minutes: cargo test --test suite planted_in_place -- --ignored"]
fn wrong_ports_of_zlib_are_refuted_in_place() {
    ports_are_told_apart("libz-sys");
}

fn ports_are_told_apart(package: &str) {
    let lib = real::ALL.iter().find(|lib| lib.package == package).expect("a measured library");
    let planted = Planted::all(&format!("{PLANTED}/{package}"));
    let driven = Driven::new(lib);
    let others = rights_that_are_not_verified(package, &planted, &driven);
    let missed = wrongs_that_are_not_refuted(package, &planted, &driven);
    assert!(others.is_empty(), "{package}: right ports that are not verified: {others:#?}");
    assert!(missed.is_empty(), "{package}: not refuted: {missed:#?}");
    let proven: Vec<&Planted> = planted.iter().filter(|p| !p.is_weak && !p.wrong.is_empty()).collect();
    let count: usize = proven.iter().map(|p| p.wrong.len()).sum();
    assert!(count >= WRONG && proven.len() >= FUNCTIONS, "{count} wrong ports of {} functions", proven.len());
}

#[expect(clippy::print_stdout, reason = "the table is for people")]
fn rights_that_are_not_verified(package: &str, planted: &[Planted], driven: &Driven) -> Vec<String> {
    let judged = driven.verify(planted);
    let mut others = Vec::new();
    for Planted { function, is_weak, .. } in planted {
        let row = &judged[function];
        let (grade, reason) = (text(&row["grade"]), text(&row["reason"]));
        println!("{package}: {function:<28} {grade:<10} {:>8} calls {reason}", row["in_place"].to_string());
        if grade != "verified" && !(*is_weak && grade == "weak") {
            others.push(format!("{function}: {grade}: {reason}"));
        }
    }
    others
}

#[expect(clippy::print_stdout, reason = "the table is for people")]
fn wrongs_that_are_not_refuted(package: &str, planted: &[Planted], driven: &Driven) -> Vec<String> {
    let (mut count, mut missed) = (0, Vec::new());
    for round in rounds(planted) {
        let (judged, took) = driven.judge(&round);
        for (function, fault, _) in &round {
            count += 1;
            let Some(port) = judged.get(*function) else {
                println!("{package}: {function:<28} {fault:<28} no driver reaches it");
                missed.push(format!("{function} {fault}: no driver reaches it"));
                continue;
            };
            let differs = &port["differs"];
            let what =
                [&differs["what"], &differs["path"], &differs["said"], &differs["unclear"], &port["broke"]];
            let what: Vec<&str> = what.map(text).into_iter().filter(|word| !word.is_empty()).collect();
            println!(
                "{package}: {function:<28} {fault:<28} {:>7} calls  {}",
                port["judged"],
                what.join(": ")
            );
            if !is_refuted(port) {
                missed.push(format!("{function} {fault}: {port:#}"));
            }
        }
        println!("{package}: {} ports built and judged in {:.0} s", round.len(), took.as_secs_f64());
    }
    let functions = planted.iter().filter(|p| !p.wrong.is_empty()).count();
    println!("{package}: {} of {count} wrong ports of {functions} functions refuted", count - missed.len());
    missed
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
