//! What the calls that drivers make teach contracts.

use super::in_place::prepared;
use super::support::real::RealLib;
use super::{WITHOUT_MEMORY, array, last_line, shortcoming, text};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Seconds of fuzzing, and for the mutants of a function.
const FUZZING: &str = "60";
const MUTANTS: &str = "5";

/// Lets the contracts of a library learn, and measures the harnesses of the functions whose contracts changed, before and after.
pub fn measure(lib: &RealLib, driver: &Path) -> Value {
    eprintln!("{} learns", lib.package);
    let dir = prepared(lib, driver, "learned");
    let own = ["--config", r#"drivers.files=["fuzz/driver.c"]"#];
    let with =
        |args: &[&str]| last_line(&dir, &[args, &own, &WITHOUT_MEMORY, &["--format", "json"]].concat());
    with(&["drivers", "--seconds", FUZZING]);
    let learned = with(&["contract", "--learn", "--all"]);
    let changed: BTreeSet<&str> = array(&learned, "changes").map(|change| text(change, "symbol")).collect();
    let calls = dir.join("rust/contracts/calls.json");
    let file = std::fs::read(&calls).unwrap();
    // Whether the harnesses of these functions work; those without one are left out.
    let working = || {
        let all = with(&["contract", "--all"]);
        let has_contract = |one: &&Value| changed.contains(text(one, "symbol")) && one["params"].is_array();
        let names: Vec<&str> =
            array(&all, "symbols").filter(has_contract).map(|one| text(one, "symbol")).collect();
        if names.is_empty() {
            return BTreeMap::new();
        }
        let checked = with(&[&["contract", "--check", "--seconds", MUTANTS], &names[..]].concat());
        let one = |one: &Value| (text(one, "symbol").to_owned(), shortcoming(one).is_none());
        array(&checked, "symbols").map(one).collect::<BTreeMap<String, bool>>()
    };
    let after = working();
    std::fs::remove_file(&calls).unwrap();
    let before = working();
    std::fs::write(&calls, file).unwrap();
    let is = |of: &BTreeMap<String, bool>, name: &str| of.get(name) == Some(&true);
    let named =
        |wanted: &dyn Fn(&str) -> bool| changed.iter().filter(|name| wanted(name)).collect::<Vec<_>>();
    let signatures = |word: &str| {
        let of = |change: &&Value| change["parameter"].is_null() && text(change, "after") == word;
        array(&learned, "changes").filter(of).map(|change| text(change, "symbol")).collect::<Vec<_>>()
    };
    json!({
        "watched": learned["watched"],
        "confirmed": learned["confirmed"],
        "roles": array(&learned, "changes").filter(|change| !change["parameter"].is_null()).count(),
        "functions": changed.len(),
        "new": signatures("a contract"),
        "withdrawn": signatures("none"),
        "safe": signatures("a safe signature"),
        "unsafe": signatures("C's signature"),
        "worked_before": named(&|name| is(&before, name)),
        "worked_after": named(&|name| is(&after, name)),
        "worse": named(&|name| is(&before, name) && !is(&after, name)),
        "changes": learned["changes"],
    })
}
