//! A C library with faults of its own: an input that crashes C becomes a C fault, refutes no port, and sends no
//! repair request to a model.

use crate::support::{QUICK, Ran, Repo, assert_same, reply};
use serde_json::Value;
use std::collections::BTreeMap;

const SUM: &str = "data.iter().fold(0u32, |sum, byte| sum.wrapping_add(u32::from(*byte)))";

/// Ports that do what C does where C does anything.
const RIGHT: &[(&str, &str)] = &[
    ("head_sum", SUM),
    ("add_up", "a.wrapping_add(b)"),
    ("wait_for", "x.wrapping_add(1)"),
    ("place_of", "x"),
    ("greet", "3 + name.to_bytes().len()"),
];

fn library() -> Repo {
    let repo = Repo::empty();
    repo.write("faults.h", include_str!("triage/faults.h"));
    repo.write("faults.c", include_str!("triage/faults.c"));
    repo.run(&["init"]).ok();
    repo
}

fn verify(repo: &Repo, symbols: &[&str]) -> Ran {
    let quick = ["--runs", "20000", "--seconds", "3", "--format", "json"];
    repo.run(&[&["verify"], symbols, &quick].concat())
}

/// What stands in this list of the result, by symbol.
fn by_symbol(json: &Value, list: &str) -> BTreeMap<String, Value> {
    let all = json[list].as_array().unwrap();
    all.iter().map(|one| (one["symbol"].as_str().unwrap().to_owned(), one.clone())).collect()
}

fn listed(repo: &Repo, more: &[&str]) -> Vec<Value> {
    let told = repo.run(&[&["findings", "list", "--format", "json"], more].concat()).ok().json("findings");
    told["findings"].as_array().unwrap().clone()
}

#[test]
#[ignore = "a minute: cargo test --test suite triage -- --ignored"]
fn what_c_does_wrong_is_told_and_kept_and_no_port_is_blamed() {
    let repo = library();
    for (symbol, body) in RIGHT {
        repo.replace("rust/src/faults.rs", &format!("unimplemented!(\"{symbol}\")"), body);
    }
    let ran = verify(&repo, &["--all"]);
    let json = ran.code(13).json("verify");
    assert_eq!(json["findings"], serde_json::json!([]), "{ran}");
    let of_c = by_symbol(&json, "findings_of_c");
    for (symbol, fault, class) in [
        ("head_sum", "c-breaks", "heap-buffer-overflow"),
        ("add_up", "c-breaks", "integer-ub"),
        ("wait_for", "c-hangs", "timeout"),
        ("place_of", "c-differs", "non-determinism"),
        ("greet", "c-breaks", "heap-buffer-overflow"),
    ] {
        let found = &of_c[symbol];
        assert_eq!((&found["fault"], &found["finding"]["class"]), (&fault.into(), &class.into()), "{found}");
    }
    let symbols = by_symbol(&json, "symbols");
    for (symbol, grade) in [
        ("head_sum", "weak"),
        ("add_up", "weak"),
        ("wait_for", "weak"),
        ("place_of", "unverifiable"),
        ("greet", "unverifiable"),
    ] {
        assert_eq!(symbols[symbol]["grade"], grade, "{}", symbols[symbol]);
    }
    let reason = symbols["place_of"]["reason"].as_str().unwrap();
    assert!(reason.contains("two runs of the C original"), "{reason}");
    // Made small, however C's loop is compiled.
    let length = of_c["head_sum"]["finding"]["args"][1]["value"].as_str().unwrap();
    assert!((4..64).contains(&length.parse::<u32>().unwrap()), "{length}");
    of_c_is_listed_apart_shown_and_run_again(&repo, &of_c);
    a_wrong_port_is_refuted_all_the_same(&repo);
}

fn of_c_is_listed_apart_shown_and_run_again(repo: &Repo, of_c: &BTreeMap<String, Value>) {
    assert_eq!(listed(repo, &[]).len(), 0);
    let all = listed(repo, &["--c-bugs"]);
    let said = format!("no finding about a port; {} C fault", all.len());
    repo.run(&["findings", "list"]).ok().shows(&said);
    assert!(all.len() >= 5, "{all:?}");
    assert!(all.iter().all(|one| one["side"] == "c"), "{all:?}");
    repo.run(&["findings", "list", "--c-bugs", "add_up"]).ok().shows("integer-ub").shows("does not decide");
    let id = |symbol: &str| of_c[symbol]["id"].to_string();
    let shown = repo.run(&["findings", "show", &id("head_sum")]);
    for text in [
        "heap-buffer-overflow in head_sum",
        "data = b\"\\xff",
        "a bug in C or a missing precondition",
        "ERROR: AddressSanitizer: heap-buffer-overflow",
        "head_sum",
        "reproduce: cargo implfuzz findings replay",
    ] {
        shown.ok().shows(text);
    }
    repo.run(&["findings", "show", &id("add_up")]).ok().shows("faults.c:").shows("undefined behaviour");
    repo.run(&["findings", "show", &id("place_of")]).ok().shows("one run of C").shows("another one");
    for (symbol, word) in [("head_sum", "c-breaks"), ("greet", "c-breaks"), ("place_of", "c-differs")] {
        let again = repo.run(&["findings", "replay", &id(symbol), "--format", "json"]);
        assert_eq!(again.code(13).json("finding-replay")["outcome"], word, "{again}");
    }
    repo.replace(
        "rust/contracts/add_up.toml",
        "errno = false\n",
        "errno = false\nrequire = [\"a == 1\", \"b == 1\"]\n",
    );
    repo.run(&["findings", "replay", &id("add_up")]).code(11).shows("precondition of the contract");
    repo.replace("faults.c", "len + 1 : len", "len : len");
    repo.run(&["findings", "replay", &id("head_sum")]).ok().shows("returns, always with the same result");
    repo.replace("faults.c", "len : len;", "len + 1 : len;");
}

fn a_wrong_port_is_refuted_all_the_same(repo: &Repo) {
    let known = listed(repo, &["--c-bugs"]).len();
    repo.replace("rust/src/faults.rs", SUM, &format!("{SUM} ^ u32::from(data.len() > 9)"));
    let ran = verify(repo, &["head_sum"]);
    let json = ran.code(10).json("verify");
    assert_eq!(by_symbol(&json, "findings")["head_sum"]["finding"]["class"], "mismatch", "{ran}");
    // What is known of C is no news.
    assert_eq!(json["findings_of_c"], serde_json::json!([]), "{ran}");
    assert_eq!(listed(repo, &[]).len(), 1);
    assert_eq!(listed(repo, &["--c-bugs"]).len(), known);
}

#[test]
#[ignore = "half a minute: cargo test --test suite triage -- --ignored"]
fn no_repair_is_spent_on_what_c_does_wrong() {
    let repo = library();
    repo.model(&[&reply("")]);
    let before = repo.tree();
    for (symbol, candidate, fault) in [
        ("place_of", "pub fn place_of(x: u32) -> u32 {\n    x\n}", "c-differs"),
        (
            "greet",
            "pub fn greet(name: &core::ffi::CStr) -> usize {\n    3 + name.to_bytes().len()\n}",
            "c-breaks",
        ),
    ] {
        repo.model(&[&reply(candidate)]);
        // Nor is it asked why.
        let silent = ["--config", "limits.false_positive_fixes=0", "--format", "json"];
        let ran = repo.run(&[&["port", symbol], &silent[..], &QUICK[..]].concat());
        let json = ran.code(13).json("port");
        assert_eq!(json["symbols"][0]["end"], "stopped-by-c", "{ran}");
        assert!(json["symbols"][0]["reason"].as_str().unwrap().starts_with(fault), "{ran}");
        assert_eq!(json["findings"], serde_json::json!([]), "{ran}");
        assert!(ran.stdout.contains(&format!("cargo implfuzz contract --edit {symbol}")), "{ran}");
        assert_eq!(repo.asked(), 1, "{ran}");
        let explained = repo.run(&["port", "--explain", symbol]);
        explained.shows("not the port's").shows(fault);
    }
    assert_same(&before, &repo.tree());
    let count = |what: &str| repo.count(&format!("SELECT count(*) FROM {what}"));
    assert_eq!(count("attempts WHERE outcome = 'refuted'"), 0);
    assert_eq!(count("attempts WHERE outcome IN ('c-differs', 'c-breaks')"), 2);
    assert_eq!(count("findings WHERE side = 'port'"), 0);
    assert_eq!(count("findings WHERE side = 'c' AND fault IS NOT NULL"), 2);

    // A wrong port is the port's, whatever C does on other inputs.
    let head_sum = |body: &str| reply(&format!("pub fn head_sum(data: &[u8]) -> u32 {{\n    {body}\n}}"));
    repo.model(&[&head_sum("data.iter().map(|byte| u32::from(*byte)).sum::<u32>() & 0x7f"), &head_sum(SUM)]);
    let ran = repo.port(&["head_sum"]);
    ran.ok().shows("found on which C itself").shows("findings list --c-bugs");
    assert_eq!(repo.asked(), 2, "{ran}");
    assert_eq!(count("attempts WHERE outcome = 'refuted'"), 1);
    assert!(count("findings WHERE side = 'c' AND class = 'heap-buffer-overflow'") >= 2);
}
