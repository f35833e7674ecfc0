//! `findings`: each finding is listed once, shown with its arguments, and replayed.

use crate::support::{QUICK, Repo};
use serde_json::Value;

/// The worth of the harness is not asked for here.
const UNMEASURED: [&str; 2] = ["--config", "grade.measure=false"];

const SUM: &str = "data.iter().fold(0u32, |sum, byte| sum.wrapping_add(u32::from(*byte)))";

/// A repository in which `sum_bytes` is wrong beyond `longest` bytes, judged.
fn refuted(longest: usize) -> Repo {
    let repo = Repo::initialised();
    repo.replace("rust/src/sum.rs", "unimplemented!(\"sum_bytes\")", &wrong(longest));
    verify(&repo);
    repo
}

fn wrong(longest: usize) -> String {
    format!("{SUM} ^ u32::from(data.len() > {longest})")
}

fn verify(repo: &Repo) -> crate::support::Ran {
    let ran = repo.run(&[["verify", "sum_bytes"].as_slice(), &QUICK, &UNMEASURED].concat());
    ran.code(10);
    ran
}

fn listed(repo: &Repo) -> Vec<Value> {
    let told = repo.run(&["findings", "list", "--format", "json"]).ok().json("findings");
    told["findings"].as_array().unwrap().clone()
}

#[test]
fn a_finding_is_shown_and_run_again() {
    let repo = refuted(300);
    verify(&repo).shows("reproduce: cargo implfuzz findings replay 1");
    // The same input again is the same finding.
    repo.run(&["findings", "list"]).ok().shows("sum_bytes").shows("mismatch").shows("findings replay <id>");
    let shown = repo.run(&["findings", "show", "1"]);
    shown.ok().shows("reproduce: cargo implfuzz findings replay 1").shows("…").shows(" (301 bytes)");
    for place in ["--> sum.c:", "^ the C original", "::: rust/src/sum.rs:", "^ the port"] {
        shown.shows(place);
    }
    let told = repo.run(&["findings", "show", "1", "--format", "json"]).ok().json("finding");
    assert_eq!((&told["id"], &told["symbol"]), (&1.into(), &"sum_bytes".into()));
    let value = told["finding"]["args"][0]["value"].as_str().unwrap();
    assert!(value.len() > 300, "{value}");

    let again = repo.run(&["findings", "replay", "1", "--format", "json"]);
    let again = again.code(10).json("finding-replay");
    assert_eq!(
        (&again["outcome"], &again["finding"]["input"]),
        (&"differs".into(), &told["finding"]["input"])
    );

    repo.run(&["findings", "list"]).ok().shows("stands");
    repo.replace("rust/src/sum.rs", &wrong(300), SUM);
    repo.run(&["findings", "replay", "1"]).ok().shows("now agrees with the C original");
    repo.run(&["findings", "list", "sum*"]).ok().shows("not judged since");
    repo.run(&[["verify", "sum_*"].as_slice(), &QUICK, &UNMEASURED].concat());
    repo.run(&["findings", "list"]).ok().shows("mended");
    repo.run(&["verify", "no_such_*"]).fails(2, &["no_such_*"]);

    // What the audit rejects is shown on its line, without a run.
    repo.replace("rust/src/sum.rs", SUM, &format!("{{ let _ = std::fs::read(\"a\"); {SUM} }}"));
    let rejected = verify(&repo);
    rejected.shows(
        "error[E0106]: `std::fs::read` is not allowed: a port may not touch files\n  --> rust/src/sum.rs:",
    );
    repo.replace("rust/src/sum.rs", &format!("{{ let _ = std::fs::read(\"a\"); {SUM} }}"), SUM);

    // A port that brings the process down is told from one that is right, too.
    let deep = "if data.len() > 300 { let room = core::hint::black_box([1u8; 4096]); return sum_bytes(data) ^ u32::from(room[data.len()]); }";
    repo.replace("rust/src/sum.rs", SUM, &format!("{deep} {SUM}"));
    let broken = repo.run(&["findings", "replay", "1", "--format", "json"]).code(10).json("finding-replay");
    assert_eq!(broken["finding"]["class"], "abort", "{broken}");
    assert_eq!(broken["finding"]["input"], told["finding"]["input"]);

    repo.replace("rust/contracts/sum_bytes.toml", "max = 4096", "max = 200");
    repo.replace(
        "rust/contracts/sum_bytes.toml",
        "errno = false\n",
        "errno = false\nrequire = [\"len < 100\"]\n",
    );
    repo.run(&["findings", "replay", "1"]).code(11).shows("precondition of the contract");
}

#[test]
fn findings_of_one_kind_are_listed_once_with_the_shortest_input() {
    let repo = refuted(5);
    repo.replace("rust/src/sum.rs", &wrong(5), &wrong(3));
    verify(&repo);
    let all = listed(&repo);
    assert_eq!(all.len(), 1, "{all:?}");
    assert_eq!((&all[0]["id"], &all[0]["inputs"]), (&2.into(), &2.into()), "{all:?}");
    let seeds = std::fs::read_dir(repo.root().join("rust/fuzz/seeds/fuzz_sum_bytes")).unwrap();
    assert_eq!(seeds.count(), 2);

    repo.replace("rust/src/sum.rs", &wrong(3), "unimplemented!(\"sum_bytes\")");
    repo.run(&["findings", "replay", "1"]).fails(2, &["still a stub"]);
    repo.run(&["findings", "show", "99"]).fails(2, &["no finding 99"]);
    let none = repo.run(&["findings", "list", "twice", "--format", "json"]).ok().json("findings");
    assert_eq!(none["findings"], serde_json::json!([]));
}
