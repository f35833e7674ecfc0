//! `kill -9` during `port --all -j 2`: database and tree have the old state or the new one, no half-written file stays,
//! and a later run completes. The model is a slow script.

use crate::support::{Repo, plant, reply};
use std::hash::{BuildHasher, Hasher};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const PORTS: [(&str, &str); 3] = [
    ("twice", "pub fn twice(x: u32) -> u32 {\n    x.wrapping_mul(2)\n}"),
    ("thrice", "pub fn thrice(x: u32) -> u32 {\n    callee::twice(x).wrapping_add(x)\n}"),
    ("sum_bytes", "pub fn sum_bytes(data: &[u8]) -> u32 {\n    data.iter().map(|b| u32::from(*b)).sum()\n}"),
];

const MODULE: &str = "rust/src/sum.rs";

/// As short as runs can be.
const SHORT: [&str; 6] = [
    "--config", "fuzz.loop_executions=300", "--config", "fuzz.accept_executions=400", "--config",
    "fuzz.accept_seconds=1",
];

/// A number below `most`, another one each time.
fn random(most: u64) -> u64 {
    std::collections::hash_map::RandomState::new().build_hasher().finish() % most
}

fn model(repo: &Repo) {
    let dir = repo.aside();
    for (symbol, port) in PORTS {
        std::fs::write(dir.join(format!("{symbol}.md")), reply(port)).unwrap();
    }
    let script = format!(
        "s=$(grep -o '\"symbol\": *\"[a-z_]*\"' | head -n 1 | cut -d'\"' -f4)\nsleep 0.3\ncat {}/$s.md\n",
        dir.display()
    );
    std::fs::write(dir.join("model.sh"), script).unwrap();
    let shown = dir.join("model.sh").display().to_string();
    let llm = format!("\n[llm]\nprovider = \"command\"\nretries = 0\ncommand = [\"sh\", {shown:?}]\n");
    let text = repo.read("implfuzz.toml");
    let start = text.find("\n[llm]").unwrap_or(text.len());
    repo.write("implfuzz.toml", &(text[..start].to_owned() + &llm));
}

fn port_all(repo: &Repo) -> Command {
    repo.command(&[&["port", "--all", "-j", "2"], &SHORT[..]].concat())
}

/// Starts the tool and kills it when it has said so many lines, and some time later. Whether it had ended before; and what it said
/// last.
fn killed(repo: &Repo, lines: u64, later: Duration) -> (bool, String) {
    let mut child = port_all(repo).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let last = said.by_ref().take(usize::try_from(lines).unwrap()).map_while(Result::ok).last();
    std::thread::sleep(later);
    let had_ended = child.try_wait().unwrap().is_some();
    child.kill().unwrap();
    child.wait().unwrap();
    (had_ended, last.unwrap_or_default())
}

/// The module with each of the eight choices of ports in it.
fn whole_modules(stubs: &str) -> Vec<String> {
    let with = |choice: usize| {
        let mut text = stubs.to_owned();
        for (at, (name, port)) in PORTS.iter().enumerate() {
            if choice >> at & 1 == 1 {
                let doc = text[..text.find(&format!("pub fn {name}(")).unwrap()].to_owned();
                plant(&mut text, name, port).unwrap();
                assert!(text.starts_with(&doc), "{text}");
            }
        }
        text
    };
    (0..8).map(with).collect()
}

fn temporary(dir: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(dir).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().unwrap().is_dir() {
            temporary(&entry.path(), found);
        } else if name.starts_with(".implfuzz-") {
            found.push(entry.path().display().to_string());
        }
    }
}

/// What must hold at once, before any command could mend it.
#[track_caller]
fn consistent(repo: &Repo, whole: &[String], moment: &str) {
    let module = repo.read(MODULE);
    assert!(whole.contains(&module), "killed {moment}:\n{module}");
    let db = rusqlite::Connection::open(repo.root().join(".implfuzz/state.db")).unwrap();
    let answer: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(answer, "ok", "killed {moment}");
    let wild: i64 =
        db.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0)).unwrap();
    assert_eq!(wild, 0, "killed {moment}");
}

/// What must hold once any command has looked at it.
#[track_caller]
fn mended(repo: &Repo, moment: &str) {
    repo.run(&["status"]).shows("twice");
    assert_eq!(repo.count("SELECT count(*) FROM runs WHERE outcome IS NULL"), 0, "killed {moment}");
    assert!(!repo.root().join(".implfuzz/txn").exists(), "killed {moment}");
    let mut found = Vec::new();
    temporary(repo.root(), &mut found);
    assert!(found.is_empty(), "killed {moment}: {found:?}");
    let (module, callee) = (repo.read(MODULE), repo.read("rust/src/callee.rs"));
    for (name, _) in PORTS {
        let is_ported = !module.contains(&format!("unimplemented!(\"{name}\")"));
        let is_reached = callee.contains(&format!("pub use crate::sum::{name};"));
        assert_eq!(is_ported, is_reached, "killed {moment}: {name} in\n{callee}");
    }
    repo.run(&["port", "--all", "--explain"]).shows("twice");
    repo.run(&["stats"]);
    repo.run(&["check"]);
}

/// The run that is left alone completes.
#[track_caller]
fn completes(repo: &Repo, whole: &[String], moment: &str) {
    let ran = crate::support::Ran::of(&mut port_all(repo));
    assert_eq!(ran.status.code(), Some(0), "killed {moment}: {ran}");
    assert_eq!(repo.read(MODULE), whole[7], "killed {moment}");
    repo.run(&["check"]).ok().shows("evidence holds for 3 of 3 ports");
}

/// The tree of before, with all that the tool keeps for itself.
fn start_over(repo: &Repo, stubs: &[(&str, String)]) {
    for (path, text) in stubs {
        repo.write(path, text);
    }
    drop(std::fs::remove_file(repo.root().join("implfuzz.lock")));
}

/// Kills so many times; a run is left alone after `together` kills in a row.
fn kills(times: u32, together: u32) {
    let repo = Repo::initialised();
    model(&repo);
    let stubs = [MODULE, "rust/src/callee.rs"].map(|path| (path, repo.read(path)));
    let whole = whole_modules(&stubs[0].1);
    for kill in 1..=times {
        let (lines, later) = (1 + random(30), Duration::from_millis(random(400)));
        let (had_ended, last) = killed(&repo, lines, later);
        let moment = format!("{later:?} after line {lines}, {last:?} (ended: {had_ended})");
        consistent(&repo, &whole, &moment);
        mended(&repo, &moment);
        if kill % together == 0 {
            completes(&repo, &whole, &moment);
        }
        if repo.read(MODULE) == whole[7] {
            start_over(&repo, &stubs);
        }
    }
}

#[test]
fn nothing_is_lost_at_five_moments() {
    kills(5, 5);
}

#[test]
#[ignore = "minutes: cargo test --test suite kill:: -- --ignored"]
fn nothing_is_lost_at_a_hundred_moments() {
    kills(100, 1);
}
