//! Functions with state: on both sides, the harness sets the library's variables before a call and compares them after it.

use crate::support::{Repo, plant};
use serde_json::Value;
use std::collections::BTreeMap;

/// Bodies that do what the C functions do.
const RIGHT: &[(&str, &str)] = &[
    ("set_level", "unsafe { globals::level = to };"),
    ("level_bonus", "match unsafe { globals::level } { 2 => x, 5 => x ^ 1, 9 => x ^ 7, _ => 0 }"),
    ("next_id", "unsafe { globals::last_id = globals::last_id.wrapping_add(1); globals::last_id }"),
    (
        "note",
        "unsafe {
             globals::stats.calls = globals::stats.calls.wrapping_add(1);
             globals::stats.total = globals::stats.total.wrapping_add(amount);
         }",
    ),
    ("reset_stats", "unsafe { globals::stats.calls = 0; globals::stats.total = 0; }"),
    (
        "history_push",
        "unsafe {
             let at = (globals::history_at % 8) as usize;
             let old = globals::history[at];
             globals::history[at] = value;
             globals::history_at = at as u32 + 1;
             old
         }",
    ),
    ("clamp", "if state == globals_ { return 0; } unsafe { x.min(crate::globals::public_limit) }"),
    (
        "note_all",
        "for amount in amounts { callee::note(i64::from(*amount)); } unsafe { globals::stats.total }",
    ),
    ("total_of", "unsafe { globals::stats.total }"),
    ("with_table", "globals::table[(at % 4) as usize]"),
    ("pure", "x ^ 0x55"),
];

/// Bodies that are wrong by little, and what the finding must name.
const WRONG: &[(&str, &str, &str)] = &[
    // Forgets to write a global.
    ("set_level", "", "global `level`"),
    // Takes the initial value for the only one.
    ("level_bonus", "x ^ 1", "return value"),
    ("next_id", "unsafe { globals::last_id.wrapping_add(1) }", "global `last_id`"),
    // Counts what C does not count.
    (
        "note",
        "if amount == 0 { return; }
         unsafe {
             globals::stats.calls = globals::stats.calls.wrapping_add(1);
             globals::stats.total = globals::stats.total.wrapping_add(amount);
         }",
        "global `stats`",
    ),
    // Forgets to reset one.
    ("reset_stats", "unsafe { globals::stats.calls = 0; }", "global `stats`"),
    // Stale state: the place is not moved on.
    (
        "history_push",
        "unsafe { core::mem::replace(&mut globals::history[(globals::history_at % 8) as usize], value) }",
        "global `history_at`",
    ),
    ("clamp", "if state == globals_ { return 0; } x.min(100)", "return value"),
    ("note_all", "amounts.iter().map(|a| i64::from(*a)).sum()", ""),
    ("total_of", "unsafe { globals::stats.total = 0; 0 }", "return value"),
];

fn library() -> Repo {
    let repo = Repo::empty();
    repo.write("state.h", include_str!("state/state.h"));
    repo.write("state.c", include_str!("state/state.c"));
    repo.run(&["init"]).ok();
    repo
}

fn port(repo: &Repo, symbol: &str, body: &str) {
    repo.replace("rust/src/state.rs", &format!("unimplemented!(\"{symbol}\")"), body);
}

#[test]
fn right_ports_with_state_are_unrefuted_and_wrong_ones_refuted() {
    let repo = library();
    let stubs = repo.read("rust/src/state.rs");
    for (symbol, body) in RIGHT {
        port(&repo, symbol, body);
    }
    let (judged, findings) = repo.verified(&["--all"], 0);
    assert_eq!(findings, BTreeMap::new());
    for (symbol, _) in RIGHT {
        assert_eq!(judged[*symbol]["grade"], "weak", "{}", judged[*symbol]);
        assert_eq!(judged[*symbol]["accept_rate"], 1.0, "{}", judged[*symbol]);
    }

    repo.write("rust/src/state.rs", &stubs);
    for (symbol, body, _) in WRONG {
        port(&repo, symbol, body);
    }
    let (judged, findings) = repo.verified(&["--all"], 10);
    for (symbol, _, what) in WRONG {
        let finding = &findings.get(*symbol).unwrap_or_else(|| panic!("{}", judged[*symbol]))["finding"];
        assert!(finding["what"].as_str().unwrap().contains(what), "{symbol}: {finding}");
        // The state before the call is among what is shown.
        assert!(finding["args"].to_string().contains("global "), "{finding}");
    }
}

/// Half ported, the state is in two places: C's functions, called by a port, see and change the port's copy.
#[test]
#[ignore = "half a minute: cargo test --test suite state -- --ignored"]
fn what_still_runs_as_c_shares_the_variables_of_the_port() {
    let repo = library();
    port(&repo, "note_all", RIGHT.iter().find(|(symbol, _)| *symbol == "note_all").unwrap().1);
    let (judged, _) = repo.verified(&["note_all"], 0);
    assert_eq!(judged["note_all"]["grade"], "weak", "{judged:?}");
    assert_eq!(judged["note_all"]["callees_in_c"], serde_json::json!(["note"]));

    // It overwrites what C has changed.
    repo.replace(
        "rust/src/state.rs",
        "for amount in amounts { callee::note",
        "let before = unsafe { globals::stats }; \
        for amount in amounts { callee::note",
    );
    repo.replace(
        "rust/src/state.rs",
        "unsafe { globals::stats.total }",
        "unsafe { globals::stats.calls = before.calls; globals::stats.total }",
    );
    let (_, findings) = repo.verified(&["note_all"], 10);
    assert_eq!(findings["note_all"]["finding"]["what"], "global `stats`");
}

#[test]
fn a_port_finds_no_state_that_its_original_has_not() {
    let repo = library();
    for (body, named) in [
        // Other functions' variables would remember the last call.
        ("if callee::next_id() > 50 { return 0; } x ^ 0x55", "callee::next_id"),
        ("unsafe { globals::last_id += 1; } x ^ 0x55", "globals::last_id"),
        ("static mut N: i32 = 0; unsafe { N += 1; } x ^ 0x55", "N"),
    ] {
        let stubs = repo.read("rust/src/state.rs");
        port(&repo, "pure", body);
        let (judged, _) = repo.verified(&["pure"], 10);
        assert_eq!(judged["pure"]["grade"], "refuted", "{judged:?}");
        assert!(judged["pure"]["reason"].as_str().unwrap().contains(named), "{judged:?}");
        repo.write("rust/src/state.rs", &stubs);
    }
}

#[test]
fn state_that_no_harness_can_set_is_named() {
    let repo = library();
    let list = repo.run(&["list", "--format", "json"]).ok().json("list");
    let why = |symbol: &str| {
        let all = list["symbols"].as_array().unwrap();
        all.iter().find(|s| s["symbol"] == symbol).unwrap()["harness"].as_str().unwrap().to_owned()
    };
    assert!(
        why("named").contains("`last_error`: its type `const char *` contains more than numbers"),
        "{}",
        why("named")
    );
    assert!(why("first_variable").contains("`environ`, a variable that the library does not define"));
    assert!(why("once").contains("local static `seen`"), "{}", why("once"));
    repo.run(&["contract", "level_bonus"])
        .ok()
        .shows("level")
        .shows("switch (level) {")
        .shows("one of [2, 5, 9]")
        .shows("the variables");
}

#[test]
fn a_contract_must_name_every_variable_that_the_function_reaches() {
    let repo = library();
    let text = repo.read("rust/contracts/note_all.toml");
    let (head, global) = text.split_once("[[global]]").unwrap();
    repo.write("rust/contracts/note_all.toml", head);
    repo.run(&["contract", "note_all"]).fails(2, &["no [[global]] for `stats`"]);
    let wrong = global.replace("\"stats\"", "\"table\"");
    repo.write("rust/contracts/note_all.toml", &format!("{head}[[global]]{global}\n[[global]]{wrong}"));
    repo.run(&["contract", "note_all"]).fails(2, &["no variable `table`"]);

    // Only as C starts: what another value would show stays unseen.
    let text = repo.read("rust/contracts/level_bonus.toml");
    repo.write(
        "rust/contracts/level_bonus.toml",
        &text.replace("direction = \"in\"\n", "direction = \"in\"\nvary = false\n"),
    );
    repo.write("rust/contracts/note_all.toml", &format!("{head}[[global]]{global}"));
    port(&repo, "level_bonus", "x ^ 1");
    let (judged, _) = repo.verified(&["level_bonus"], 0);
    assert_eq!(judged["level_bonus"]["grade"], "weak");
}

#[test]
#[ignore = "half a minute: cargo test --test suite state -- --ignored"]
fn c_against_c_never_differs_and_mutants_are_seen_through_variables() {
    let repo = library();
    let ran = repo.run(&["contract", "--check", "--all", "--seconds", "2", "--format", "json"]);
    let told = ran.json("contract-check");
    let symbols = told["symbols"].as_array().unwrap();
    assert_eq!(symbols.len(), RIGHT.len());
    for symbol in symbols {
        assert_eq!(symbol["difference"], Value::Null, "{symbol}");
        assert!(symbol["executions"].as_u64().unwrap() > 0, "{symbol}");
        assert_eq!(symbol["shortcomings"].as_array().unwrap().len(), 0, "{symbol}");
    }
}

const LARGE: &str = "\
#include <stdint.h>
static uint32_t head[1 << 18];
void head_set(uint32_t at, uint32_t value) { head[at % (1 << 18)] = value; }
static struct { uint32_t used; uint32_t many[3][1 << 15]; double more[1 << 16]; } room;
uint32_t room_set(uint32_t at, uint32_t value) {
    room.many[at % 3][at % (1 << 15)] = value;
    room.more[at % (1 << 16)] = value;
    room.used = value;
    return value;
}
struct tank { uint32_t used, many[1 << 16]; };
uint32_t tank_get(const struct tank *t) { return t->many[t->used % (1 << 16)] + t->used; }
";

/// The isolated replay has a small stack, and the harness needs little of it, or has more.
#[test]
#[ignore = "a minute: cargo test --test suite state -- --ignored"]
fn large_values_do_not_fill_the_stack_of_the_isolated_replay() {
    let repo = Repo::of(&[("head.c", LARGE)]);
    let stubs = repo.read("rust/src/head.rs");
    let head = |at: &str| {
        format!("pub fn head_set(at: u32, value: u32) {{\n    unsafe {{ globals::head[{at}] = value }}\n}}")
    };
    let room = |at: &str| {
        format!(
            "pub fn room_set(at: u32, value: u32) -> u32 {{\n    unsafe {{
        globals::room.many[(at % 3) as usize][at as usize % (1 << 15)] = value;
        globals::room.more[{at}] = value.into();
        globals::room.used = value;
    }}
    value\n}}"
        )
    };
    let tank = |more: &str| {
        format!(
            "pub fn tank_get(t: &ffi::tank) -> u32 {{\n    t.many[(t.used % (1 << 16)) as usize].wrapping_add({more})\n}}"
        )
    };
    let measured = ["--config", "grade.measure=true"];
    let grade = |symbol: &str, port: &str| {
        let mut text = stubs.clone();
        plant(&mut text, symbol, port).unwrap();
        repo.write("rust/src/head.rs", &text);
        let quick = ["verify", symbol, "--runs", "400", "--seconds", "4", "--format", "json"];
        repo.run(&[&quick[..], &measured].concat()).json("verify")["symbols"][0].clone()
    };
    for (symbol, right, wrong) in [
        ("head_set", head("at as usize % (1 << 18)"), head("at as usize % (1 << 17)")),
        ("room_set", room("at as usize % (1 << 16)"), room("at as usize % (1 << 15)")),
        ("tank_get", tank("t.used"), tank("t.used & 0xffff")),
    ] {
        let row = grade(symbol, &right);
        assert_ne!(row["grade"], "refuted", "{row:#}");
        // It ran, and to its end.
        let apart = &row["proofs"]["apart"]["yes"];
        assert!(apart["total"].as_u64().is_some_and(|total| total > 0), "{row:#}");
        assert_eq!(apart["reached"], apart["total"], "{row:#}");
        let row = grade(symbol, &wrong);
        assert_eq!(row["grade"], "refuted", "{row:#}");
        let what = if symbol == "tank_get" { "return value" } else { "global `" };
        assert!(row["reason"].as_str().unwrap().contains(what), "{row:#}");
    }
}
