//! Inputs on which C itself crashes or hangs: a model explains the cause and whether a caller can trigger it. A
//! proposed precondition is tested on C. The models are scripts.

use crate::support::{MEASURED, QUICK, Repo, assert_same, reply};

const HEADER: &str = "#ifndef PICK_H\n#define PICK_H\n#include <stdint.h>\nuint32_t pick(uint32_t at);\n\
    uint32_t pick_low(uint32_t x);\n#endif\n";
/// Nobody may call `pick` with more than 63.
const SOURCE: &str = "#include \"pick.h\"\n\nstatic const uint8_t table[64] = { 9, 7, 3, 250, 11, 13, 1, 8 };\n\n\
    uint32_t pick(uint32_t at) { return table[at] * 3u + at; }\n\n\
    uint32_t pick_low(uint32_t x) { return pick(x & 63u); }\n";
const PORT: &str = "pub fn pick(at: u32) -> u32 {\n    \
    u32::from(crate::globals::table.get(at as usize).copied().unwrap_or(0)) * 3 + at\n}\n";
const CRASH: &str = "```text notes\nglobal-buffer-overflow: pick.c:5 indexes 64 bytes with `at`.\n```\n";

fn library() -> Repo {
    let repo = Repo::empty();
    repo.write("pick.h", HEADER);
    repo.write("pick.c", SOURCE);
    repo.run(&["init"]).ok();
    repo
}

fn narrowed(require: &str) -> String {
    format!("```toml contract\nrequire = [{require:?}]\n```\n\n```text notes\npick.c:7 masks it.\n```\n")
}

fn settings<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    let short: [&str; 2] = ["--config", "grade.mutant_seconds=2"];
    [rest, &MEASURED, &short].concat()
}

#[test]
#[ignore = "half a minute: cargo test --test suite feasibility -- --ignored"]
fn a_precondition_that_c_bears_out_is_kept_and_the_function_judged_under_it() {
    let repo = library();
    repo.model(&[
        &reply(PORT),
        CRASH,
        &narrowed("at < 8"),
        &narrowed("at < 4000000000"),
        &narrowed("at < 64"),
    ]);
    let ran = repo.run(&settings(&[&["port", "pick"][..], &QUICK].concat()));
    ran.ok();
    for said in [
        "asking the crash-analyzer",
        "asking the feasibility",
        "C does not confirm the precondition: C works on an input that is excluded: at = ",
        "C does not confirm the precondition: the input on which C breaks is still allowed",
        "C confirms the precondition",
        "command/sh proposed its contract, which is not approved yet",
    ] {
        ran.shows(said);
    }
    assert_eq!(repo.asked(), 5, "{ran}");
    // The row counts what was asked after the port, as the line below the table does.
    let row =
        ran.stdout.lines().find(|line| line.starts_with("pick ") && line.contains('%')).unwrap_or_default();
    assert_eq!(row.split_whitespace().filter(|cell| *cell == "5").count(), 1, "{ran}");
    ran.shows("5 model calls").shows("found on which C itself");
    assert_eq!(ran.stderr.matches("a bug in C or a missing precondition").count(), 0, "{ran}");
    let prompt = |n: u32| std::fs::read_to_string(repo.aside().join(format!("model/{n}.prompt"))).unwrap();
    assert!(
        prompt(2).contains("\"role\":\"crash-analyzer\"") && prompt(2).contains("UndefinedBehaviorSanitizer"),
        "{}",
        prompt(2)
    );
    // The real caller, and what was made of it.
    assert!(prompt(3).contains("pick(x & 63u)") && prompt(3).contains("indexes 64 bytes"), "{}", prompt(3));
    // A bound of one number is a limit of it: no input is lost to it.
    let contract = repo.read("rust/contracts/pick.toml");
    assert!(contract.contains("max = 63") && !contract.contains("require"), "{contract}");
    let shown = repo.run(&["findings", "list", "--c-bugs", "--format", "json"]).ok().json("findings");
    let told = shown["findings"][0]["explanation"].as_str().unwrap();
    assert!(told.contains("callers must not call it like this: at < 64\npick.c:7 masks it."), "{told}");
    let id = shown["findings"][0]["id"].to_string();
    repo.run(&["findings", "show", &id]).ok().shows("a model's explanation, which the tool has not checked:");

    repo.run(&["contract", "--approve", "pick"]).ok();
    let verify = settings(&["verify", "pick", "--runs", "20000", "--seconds", "5"]);
    repo.run(&verify).ok();
}

#[test]
#[ignore = "half a minute: cargo test --test suite feasibility -- --ignored"]
fn what_a_run_did_not_come_to_the_next_one_asks_about() {
    let repo = library();
    repo.model(&[&reply(PORT)]);
    // As a run that was stopped when the port stood: nobody was asked about C.
    let unasked =
        settings(&[&["port", "pick", "--config", "limits.false_positive_fixes=0"][..], &QUICK].concat());
    repo.run(&unasked).ok().shows("% of the inputs");
    assert_eq!(repo.asked(), 1);
    // What an older contract called its argument: it is asked about as C is now.
    let db = rusqlite::Connection::open(repo.root().join(".implfuzz/state.db")).unwrap();
    let older =
        "UPDATE findings SET args = '[[\"once\", \"7\"]]', report = 'an older report' WHERE side = 'c'";
    assert_eq!(db.execute(older, []).unwrap(), 1);
    let low = "pub fn pick_low(x: u32) -> u32 {\n    crate::callee::pick(x & 63)\n}\n";
    repo.model(&[&reply(low), CRASH, &narrowed("at < 64")]);
    let ran = repo.run(&settings(&[&["port", "pick", "pick_low"][..], &QUICK].concat()));
    ran.ok().shows("pick: ported before").shows("C confirms the precondition");
    assert_eq!(repo.asked(), 3, "{ran}");
    let asked = std::fs::read_to_string(repo.aside().join("model/2.prompt")).unwrap();
    assert!(asked.contains("\"role\":\"crash-analyzer\"") && asked.contains("at = "), "{asked}");
    assert!(!asked.contains("once") && !asked.contains("an older report"), "{asked}");
    assert!(repo.read("rust/contracts/pick.toml").contains("max = 63"));
}

#[test]
#[ignore = "half a minute: cargo test --test suite feasibility -- --ignored"]
fn a_bug_of_c_is_told_as_one_and_nothing_else_changes() {
    let repo = library();
    repo.model(&[
        &reply(PORT),
        CRASH,
        "```text notes\nAny caller: pick.h:4 promises nothing. Reachable.\n```\n",
        "```toml verdict\nfeasible = true\nreachable = true\nevidence = [\"pick.h:4\"]\n```\n\n\
            ```text notes\nAny caller: pick.h:4 promises nothing.\n```\n",
    ]);
    let contract = repo.read("rust/contracts/pick.toml");
    let ran = repo.run(&settings(&[&["port", "pick"][..], &QUICK].concat()));
    // Notes alone decide nothing.
    assert_eq!(repo.asked(), 4, "{ran}");
    assert_eq!(repo.read("rust/contracts/pick.toml"), contract);
    let shown = repo.run(&["findings", "list", "--c-bugs", "--format", "json"]).ok().json("findings");
    let told = shown["findings"][0]["explanation"].as_str().unwrap();
    assert!(told.contains("callers can cause it:\nAny caller: pick.h:4"), "{told}");
    let calls =
        repo.count("SELECT count(*) FROM model_calls WHERE role IN ('crash-analyzer', 'feasibility')");
    assert_eq!(calls, 3);
    // C faults come after a run of both sides.
    let phases = "SELECT count(*) FROM model_calls WHERE role <> 'prototyper' AND phase = 'optimization'";
    assert_eq!(repo.count(phases), calls);
    assert_eq!(shown["findings"][0]["reachability"]["evidence"][0], "pick.h:4");
    let listed = |verdict: &str| {
        let args = ["findings", "list", "--c-bugs", "--verdict", verdict, "--format", "json"];
        repo.run(&args).ok().json("findings")["findings"].as_array().unwrap().len()
    };
    assert_eq!(["feasible", "reachable", "infeasible", "security"].map(listed), [1, 1, 0, 0]);
    repo.run(&["findings", "list", "--c-bugs"]).ok().shows("feasible, reachable, pick.h:4");
    let untimed = "SELECT count(*) FROM steps WHERE step LIKE 'ask-%' AND millis IS NULL";
    assert_eq!(repo.count(untimed) + repo.count("SELECT count(*) FROM model_calls WHERE step IS NULL"), 0);
    let trace = repo.run(&["port", "--explain", "pick"]);
    trace.shows("ask-crash-analyzer").shows("the last answer was unusable");
}

#[test]
#[ignore = "half a minute: cargo test --test suite feasibility -- --ignored"]
fn a_model_that_finds_nothing_out_leaves_everything_as_it_was() {
    let repo = library();
    repo.model(&[&reply(PORT), CRASH, "I do not know."]);
    let with_model = repo.tree();
    let ran = repo.run(&settings(&[&["port", "pick"][..], &QUICK].concat()));
    ran.shows("asking about it gave no result");
    assert_eq!(repo.asked(), 5, "{ran}");
    let contract = |tree: &crate::support::Tree| {
        tree.iter()
            .filter(|(path, _)| path.ends_with("pick.toml"))
            .map(|(p, f)| (p.clone(), f.clone()))
            .collect()
    };
    assert_same(&contract(&with_model), &contract(&repo.tree()));
}
