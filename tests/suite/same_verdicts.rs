//! Two releases of the tool on the same inputs: recordings ported, verified and checked by both, symbol by symbol.
//!
//! `IMPLFUZZ_OLD=/path/to/old/cargo-implfuzz cargo test --test suite same_verdicts -- --ignored --nocapture` prints each
//! difference. A trust fix may make a verdict stricter; nothing may become weaker, and old state must stay readable.

#![allow(clippy::print_stderr, reason = "it prints every difference")]

use crate::recorded::{files, here};
use crate::support::clib::copy_tree;
use crate::support::{MEASURED, Ran, Repo};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;

/// Bounded by executions, so that a busy machine changes nothing.
const BUDGET: [&str; 8] = [
    "--config", "fuzz.loop_seconds=30", "--config", "fuzz.loop_executions=5000", "--config",
    "fuzz.accept_seconds=60", "--config", "fuzz.accept_executions=20000",
];

/// One release of the tool; `None` is the one under test.
type Tool<'t> = Option<&'t OsString>;

fn run(tool: Tool, repo: &Repo, args: &[&str]) -> Ran {
    let command = repo.command(args);
    let Some(path) = tool else { return Ran::of(&mut { command }) };
    #[expect(clippy::disallowed_methods, reason = "tests start the tool itself")]
    let mut old = std::process::Command::new(path);
    old.args(command.get_args()).current_dir(repo.root()).stdin(std::process::Stdio::null());
    old.env("CARGO_TARGET_DIR", repo.aside().join("target"));
    Ran::of(&mut old)
}

/// What a release says of each symbol, and how its commands end.
#[derive(Debug, PartialEq)]
struct Answers {
    codes: Vec<(&'static str, Option<i32>)>,
    ends: BTreeMap<String, String>,
    grades: BTreeMap<String, String>,
    checked: BTreeMap<String, String>,
}

fn words(json: &Value, key: &str) -> BTreeMap<String, String> {
    let rows = json["symbols"].as_array().cloned().unwrap_or_default();
    let word = |row: &Value| Some((row["symbol"].as_str()?.to_owned(), row[key].as_str()?.to_owned()));
    rows.iter().filter_map(word).collect()
}

fn answers(tool: Tool, repo: &Repo, recording: &str) -> Answers {
    let replay = format!("llm.replay_dir={:?}", here(recording).to_str().unwrap());
    let provider = ["--config", "llm.provider='replay'", "--config", &replay, "--format", "json"];
    let init = run(tool, repo, &["init"]);
    let port = run(tool, repo, &[&["port", "--all"], &MEASURED[..], &BUDGET, &provider].concat());
    let verify =
        run(tool, repo, &[&["verify", "--all"], &MEASURED[..], &BUDGET, &["--format", "json"]].concat());
    let check = run(tool, repo, &["check", "--format", "json"]);
    Answers {
        codes: [("init", &init), ("port", &port), ("verify", &verify), ("check", &check)]
            .map(|(name, ran)| (name, ran.status.code()))
            .to_vec(),
        ends: words(&port.json("port"), "end"),
        grades: words(&verify.json("verify"), "grade"),
        checked: words(&check.json("check"), "state"),
    }
}

fn differences(old: &BTreeMap<String, String>, new: &BTreeMap<String, String>, what: &str) -> Vec<String> {
    let names: std::collections::BTreeSet<_> = old.keys().chain(new.keys()).collect();
    let said =
        |of: &BTreeMap<String, String>, name: &str| of.get(name).cloned().unwrap_or_else(|| "absent".into());
    names
        .into_iter()
        .filter(|name| old.get(*name) != new.get(*name))
        .map(|name| format!("{what} of {name}: {} before, {} now", said(old, name), said(new, name)))
        .collect()
}

fn compared(library: &dyn Fn() -> Repo, recording: &str) {
    let path =
        std::env::var_os("IMPLFUZZ_OLD").expect("IMPLFUZZ_OLD is the path of the older cargo-implfuzz");
    let (before, now) = (library(), library());
    let old = answers(Some(&path), &before, recording);
    let new = answers(None, &now, recording);
    let mut all = differences(&old.ends, &new.ends, "end");
    all.extend(differences(&old.grades, &new.grades, "grade"));
    all.extend(differences(&old.checked, &new.checked, "check"));
    for difference in &all {
        eprintln!("{recording}: {difference}");
    }
    eprintln!("{recording}: {} symbols, codes before {:?}, now {:?}", new.grades.len(), old.codes, new.codes);
    assert!(!new.grades.is_empty());

    // State of the older release: read, or a message that names the command to run.
    let status = run(None, &before, &["status", "--format", "json"]);
    assert!([Some(0), Some(11)].contains(&status.status.code()), "{status}");
    let check = run(None, &before, &["check"]);
    assert!(
        check.status.success() || check.stdout.contains("verify") || check.stderr.contains("verify"),
        "{check}"
    );
    assert!(all.is_empty(), "{} differences, see above", all.len());
}

#[test]
#[ignore = "needs an older release and takes many minutes"]
fn the_fixture_gets_the_same_verdicts() {
    let library = || {
        let repo = Repo::empty();
        copy_tree(&here("fixtures/c-lib"), repo.root());
        repo
    };
    compared(&library, "fixtures/recordings/c-lib");
}

#[test]
#[ignore = "needs an older release and takes many minutes"]
fn the_checksums_of_zlib_get_the_same_verdicts() {
    let sources = ["adler32.c", "crc32.c", "zutil.c", "*.h"];
    compared(&|| files("libz-sys", "1.1.31", ("src/zlib", &sources)), "fixtures/recordings/zlib-checksums");
}

#[test]
#[ignore = "needs an older release and takes many minutes"]
fn xxhash_gets_the_same_verdicts() {
    let library = || files("lz4-sys", "1.11.1", ("liblz4/lib", &["xxhash.c", "xxhash.h"]));
    compared(&library, "fixtures/recordings/xxhash");
}
