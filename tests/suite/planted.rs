//! Wrong ports, planted one after the other beside the right one: every wrong port must be refuted, and no right
//! one may be. Each wrong port has one fault of the kind that people and models make; its first line describes the
//! fault and why the port is not equivalent.
//!
//! Round k puts the k-th wrong port of every function into the tree, so that a round needs one build. No round may
//! use the findings of an earlier one. The normal suite runs the first three rounds, with two or three wrong ports of every function.
//! `cargo test --test suite planted:: -- --ignored --nocapture` runs all of them, and prints for each port the cause of
//! its refutation and the number of executions.

use crate::support::clib::copy_tree;
use crate::support::{Repo, plant};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The library that all planted ports belong to.
const LIBRARY: &str = "fixtures/c-lib";
const PLANTED: &str = "fixtures/planted";

/// Executions at most. What accepts a port by default is 60 seconds, which is more for all of these functions.
const RUNS: &str = "400000";
/// Enough where nothing is to be found.
const FEW_RUNS: &str = "6000";

/// Ports of one function.
#[derive(Default)]
pub struct Planted {
    pub function: String,
    pub right: String,
    /// The right port can be no more than weak; its text says why.
    pub is_weak: bool,
    /// Name of the fault and text.
    pub wrong: Vec<(String, String)>,
    /// Ports that are wrong only where the inferred contract does not look.
    beyond: Vec<String>,
}

impl Planted {
    /// All of a folder of fixtures, by name.
    pub fn all(folder: &str) -> Vec<Self> {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let folders = sorted(&dir).into_iter().filter(|path| path.is_dir());
        folders.map(|folder| Self::read(&folder)).collect()
    }

    fn read(folder: &Path) -> Self {
        let function = name(folder);
        let mut planted = Self { function, ..Self::default() };
        for path in sorted(folder) {
            let text = std::fs::read_to_string(&path).unwrap();
            match name(&path).split_once('-') {
                Some(("wrong", fault)) => planted.wrong.push((fault.to_owned(), text)),
                Some(("beyond", _)) => planted.beyond.push(text),
                kind => (planted.right, planted.is_weak) = (text, kind == Some(("right", "weak"))),
            }
        }
        assert!(!planted.right.is_empty(), "{} has no right port", folder.display());
        planted
    }
}

/// What is in a folder, by name.
pub fn sorted(dir: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

/// The name of a file, without its extension.
pub fn name(path: &Path) -> String {
    path.file_stem().unwrap().to_str().unwrap().to_owned()
}

/// Modules of the port as `init` wrote them.
pub struct Stubs(BTreeMap<PathBuf, String>);

impl Stubs {
    pub fn of(repo: &Repo) -> Self {
        let modules = sorted(&repo.root().join("rust/src")).into_iter();
        Self(modules.map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect())
    }

    /// Puts these ports, function and text, into the tree; all other functions are stubs.
    pub fn plant(&self, ports: &[(&str, &str)]) {
        let mut modules = self.0.clone();
        for (function, port) in ports {
            let planted = modules.values_mut().find_map(|text| plant(text, function, port));
            planted.unwrap_or_else(|| panic!("`{function}` has no stub"));
        }
        for (path, text) in modules {
            std::fs::write(path, text).unwrap();
        }
    }
}

/// The library after `init`, into which ports are planted.
struct Kit {
    repo: Repo,
    stubs: Stubs,
}

impl Kit {
    fn new() -> Self {
        let repo = Repo::empty();
        copy_tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join(LIBRARY), repo.root());
        repo.run(&["init"]).ok();
        Self { stubs: Stubs::of(&repo), repo }
    }

    /// Judges these ports, function and text; all other functions are stubs. No earlier round is remembered.
    fn judge(&self, ports: &[(&str, &str)], runs: &str) -> BTreeMap<String, Judged> {
        for dir in ["rust/fuzz/seeds", ".implfuzz/cache/seeds", ".implfuzz/cache/fuzz"] {
            drop(std::fs::remove_dir_all(self.repo.root().join(dir)));
        }
        self.stubs.plant(ports);
        let ran = self.repo.run(&["verify", "--all", "--format", "json", "--seconds", "240", "--runs", runs]);
        let json = ran.json("verify");
        let judged = ports.iter().map(|(function, _)| (function.to_string(), Judged::of(&json, function)));
        judged.collect()
    }
}

impl Kit {
    /// Lets the enumeration that a function takes have any value.
    fn widen(&self, function: &str) {
        let path = format!("rust/contracts/{function}.toml");
        let values =
            self.repo.read(&path).lines().find(|line| line.starts_with("values = ")).unwrap().to_owned();
        self.repo.replace(&path, &format!("role = \"one-of\"\n{values}"), "role = \"value\"");
    }
}

/// What `verify` says of one port.
struct Judged {
    grade: String,
    reason: String,
    executions: u64,
    /// The input that tells it apart.
    input: String,
}

impl Judged {
    fn of(json: &Value, function: &str) -> Self {
        let of = |list: &str| json[list].as_array().unwrap().iter().find(|row| row["symbol"] == function);
        let row = of("symbols").unwrap_or_else(|| panic!("{function} is in no row of {json}"));
        let arguments = of("findings").and_then(|found| found["finding"]["args"].as_array());
        let shown = arguments.into_iter().flatten().map(|part| {
            let value: String = part["value"].as_str().unwrap().chars().take(40).collect();
            format!("{} = {value}", part["name"].as_str().unwrap())
        });
        Self {
            grade: row["grade"].as_str().unwrap().to_owned(),
            reason: row["reason"].as_str().unwrap_or_default().to_owned(),
            executions: row["executions"].as_u64().unwrap_or(0),
            input: shown.collect::<Vec<_>>().join(", "),
        }
    }
}

#[test]
fn three_wrong_ports_of_a_function_are_refuted_and_no_right_one() {
    let (planted, kit) = (Planted::all(PLANTED), Kit::new());
    no_right_port_is_refuted(&planted, &kit);
    wrong_ports_are_refuted(&planted, &kit, 3);
    a_contract_that_a_person_widens_refutes_more(&planted, &kit);
}

#[test]
#[ignore = "minutes: cargo test --test suite planted:: -- --ignored"]
fn every_wrong_port_is_refuted() {
    wrong_ports_are_refuted(&Planted::all(PLANTED), &Kit::new(), usize::MAX);
}

fn no_right_port_is_refuted(planted: &[Planted], kit: &Kit) {
    let right: Vec<(&str, &str)> = planted.iter().map(|p| (p.function.as_str(), p.right.as_str())).collect();
    for (function, port) in kit.judge(&right, FEW_RUNS) {
        assert_eq!(port.grade, "weak", "{function}: {}", port.reason);
    }
}

fn wrong_ports_are_refuted(planted: &[Planted], kit: &Kit, most: usize) {
    let rounds = planted.iter().map(|p| p.wrong.len()).max().unwrap().min(most);
    let mut rows = Vec::new();
    for round in 0..rounds {
        let wrong = planted.iter().filter_map(|p| Some((p.function.as_str(), p.wrong.get(round)?)));
        let (ports, faults): (Vec<_>, Vec<_>) =
            wrong.map(|(function, (fault, text))| ((function, text.as_str()), fault)).unzip();
        let mut judged = kit.judge(&ports, RUNS);
        rows.extend(ports.iter().zip(faults).map(|((function, _), fault)| {
            let port = judged.remove(*function).unwrap();
            (format!("{function} {fault}"), port)
        }));
    }
    print(&mut rows);
    let functions = planted.iter().filter(|p| !p.wrong.is_empty()).count();
    assert!(rows.len() >= 100 && functions >= 25, "{} wrong ports of {functions} functions", rows.len());
    let missed: Vec<&str> = rows.iter().filter(|(_, p)| p.grade != "refuted").map(|(n, _)| &**n).collect();
    assert!(missed.is_empty(), "not refuted: {missed:#?}");
}

/// Enumerations get only their named values. Who wants more tells it in the contract.
fn a_contract_that_a_person_widens_refutes_more(planted: &[Planted], kit: &Kit) {
    let beyond: Vec<(&str, &str)> = planted
        .iter()
        .flat_map(|p| p.beyond.iter().map(|text| (p.function.as_str(), text.as_str())))
        .collect();
    assert!(!beyond.is_empty());
    for (function, port) in kit.judge(&beyond, FEW_RUNS) {
        assert_eq!(port.grade, "weak", "{function}: {}", port.reason);
    }
    for (function, _) in &beyond {
        kit.widen(function);
    }
    for (function, port) in kit.judge(&beyond, FEW_RUNS) {
        assert_eq!(port.grade, "refuted", "{function}");
    }
}

/// The table, the ports that needed most executions last.
#[expect(clippy::print_stdout, reason = "the table is for people")]
fn print(rows: &mut [(String, Judged)]) {
    rows.sort_by_key(|(name, port)| (port.grade != "refuted", port.executions, name.clone()));
    for (name, port) in rows.iter() {
        println!("{name:<36} {:<10} {:>7}  {}; {}", port.grade, port.executions, port.reason, port.input);
    }
    let refuted = rows.iter().filter(|(_, port)| port.grade == "refuted").count();
    println!("{refuted} of {} wrong ports refuted", rows.len());
}
