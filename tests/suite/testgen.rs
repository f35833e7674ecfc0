//! `testgen generate` through the binary, with a scripted model: the tests run on C, the dropped ones with reasons,
//! scores checked by hand, and the results of written tests on ports.

use crate::support::shape::documented;
use crate::support::{Ran, Repo, Running};
use crate::testgen_broken::nothing_that_c_has_answered_is_lost;
use cargo_implfuzz::judge::Judge;
use cargo_implfuzz::platform::process::Interrupt;
use cargo_implfuzz::project::{Options, Project};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Wraps, remembers its calls, and reads a buffer: every cheat could pass for it.
const SOURCE: &str = "#include <stddef.h>\n#include <stdint.h>\n\nuint32_t calls;\n\n\
    /* Mixes a seed, a counter of calls and bytes. */\n\
    uint32_t mixed(uint32_t seed, const uint8_t *data, size_t len) {\n    \
    uint32_t h = seed * 31u + ++calls;\n    \
    for (size_t i = 0; i < len; i++) h = h * 33u + data[i];\n    return h;\n}\n";

const RIGHT: &str = "// SAFETY: one thread at a time.\n    let calls = unsafe {\n        \
    crate::globals::calls = crate::globals::calls.wrapping_add(1);\n        crate::globals::calls\n    };\n    \
    data.iter().fold(seed.wrapping_mul(31).wrapping_add(calls), |h, b| h.wrapping_mul(33).wrapping_add(u32::from(*b)))";

fn library() -> Repo {
    let repo = Repo::empty();
    repo.write("mixed.c", SOURCE);
    repo.run(&["init"]).ok();
    repo
}

fn generate(repo: &Repo, more: &[&str]) -> Value {
    generated(repo, more).json("testgen")["runs"][0].clone()
}

fn generated(repo: &Repo, more: &[&str]) -> Ran {
    repo.run(&[&["testgen", "generate", "mixed", "--format", "json"], more].concat())
}

fn cheats(run: &Value) -> Vec<(&str, bool)> {
    let all = run["cheats"].as_array().unwrap();
    all.iter().map(|cheat| (cheat["name"].as_str().unwrap(), cheat["rejected"].as_bool().unwrap())).collect()
}

#[test]
#[ignore = "a minute: cargo test --test suite testgen -- --ignored"]
fn tests_are_measured_on_c_kept_and_written() {
    let repo = library();
    let strong = json!([
        {"id": "short", "input": {"seed": 1, "data": "abc"}, "predicted_output": {"return": 1}, "confidence": 0.5, "reasoning": "a; b */ \" }"},
        {"id": "long", "input": {"seed": 4_294_967_295u32, "data": {"repeat": "fox ", "times": 90}}},
        {"id": "counted", "input": {"seed": 2, "data": "abd", "$globals": {"calls": 41}}},
        {"id": "empty", "input": {"seed": 3, "data": ""}, "predicted_output": {"return": 94, "$globals": {"calls": 1}}, "confidence": 1.0},
        {"id": "again", "input": {"len": 3, "data": [97, 98, 99], "seed": 1}},
        {"id": "too-wide", "input": {"seed": -1, "data": "abc"}},
        {"id": "torn", "input": {"seed": 1, "data": "abc", "len": 4}},
        {"id": "high", "input": {"seed": 7, "data": {"hex": "ff00fe"}}, "category": "existence"},
        {"id": "empty-handed"},
    ]);
    let first = format!("Here they are:\n```json\n{strong}\n```\nThat is all.");
    repo.model(&[&first, "Nothing is missing.", "[]"]);
    let ran = generated(&repo, &["--context", "correctness"]);
    insta::assert_snapshot!("testgen", documented(&ran.json("testgen")));
    insta::assert_snapshot!("testgen-event", documented(&ran.every("testgen-event")));
    let run = ran.json("testgen")["runs"][0].clone();
    assert_eq!((&run["run"]["symbol"], &run["run"]["symbol_key"]), (&json!("mixed"), &json!("c:@F@mixed")));
    assert_eq!(run["run"]["proposed"], json!({"valid": 5, "dropped": 3, "duplicates": 1}), "{run}");
    let dropped: Vec<&str> =
        run["dropped"].as_array().unwrap().iter().map(|d| d["why"].as_str().unwrap()).collect();
    assert_eq!(
        dropped,
        ["entry 9: it has no `input`", "`seed`: -1 is no u32", "`len` is 4, and the buffer has 3 elements"]
    );
    assert_eq!(run["run"]["analysis"]["category_distribution"], json!({"correctness": 5}), "as was asked");
    let told = "SELECT count(*) FROM testgen_tests WHERE cheats LIKE '%last element ignored%' AND kills NOT LIKE '%ignored%'";
    assert!(repo.count(told) > 0, "cheats are told beside mutants");
    let told = cheats(&run);
    assert_eq!(told.len(), 7, "{told:?}");
    assert!(told.iter().all(|(_, rejected)| *rejected), "{told:?}");
    let analysis = &run["run"]["analysis"];
    assert_eq!(analysis["anti_cheat_coverage"], 1.0);
    assert_eq!((&analysis["branch_coverage"], &analysis["kill_rate"]), (&json!(1.0), &json!(1.0)), "{run}");
    assert_eq!(analysis["parameter_discovery"], 1.0, "{run}");
    // One of two predictions was right: ((0.5 - 0)² + (1 - 1)²) / 2.
    assert_eq!((&analysis["prediction_agreement"], &analysis["brier_score"]), (&json!(0.5), &json!(0.125)));
    assert_eq!(analysis["category_balance"], 1.0, "one category");
    assert_eq!(repo.asked(), 5, "fewer than 15 tests: two refinements, a reflection before each");
    let left = "SELECT count(*) FROM testgen_tests WHERE measured_output = '{\"return\":94,\"$globals\":{\"calls\":1}}'";
    assert_eq!(repo.count(left), 1, "what C left is the expectation");

    let written = "rust/tests/testgen_mixed.rs";
    let text = repo.read(written);
    let stub = repo.read("rust/src/mixed.rs");
    let with = |body: &str| {
        repo.write("rust/src/mixed.rs", &stub.replace("unimplemented!(\"mixed\")", body));
        repo.exported_tests_pass("mixed")
    };
    assert!(with(RIGHT));
    for wrong in [
        RIGHT.replace("seed.wrapping_mul(31)", "seed.saturating_mul(31)"),
        RIGHT.replace("data.iter()", "data.iter().take(16)"),
        RIGHT.replace("data.iter()", "data[..data.len().saturating_sub(1)].iter()"),
        RIGHT.replace("crate::globals::calls.wrapping_add(1)", "1"),
        "seed".to_owned(),
        "3_172_610".to_owned(),
        "std::process::exit(0)".to_owned(),
    ] {
        assert!(!with(&wrong), "{wrong}");
    }
    repo.write("rust/src/mixed.rs", &stub);
    asked_again(&repo, &text);
    std::fs::remove_file(repo.root().join("rust/tests/testgen_mixed.rs")).unwrap();
    repo.write("mixed.c", SOURCE);
    seeds_that_no_prompt_may_show_wait_for_an_accepted_port(&repo);
}

/// What is exported later is what C still answers.
fn asked_again(repo: &Repo, text: &str) {
    let written = "rust/tests/testgen_mixed.rs";
    let export = || repo.run(&["testgen", "export", "mixed", "--format", "json"]).ok().json("testgen-export");
    std::fs::remove_file(repo.root().join(written)).unwrap();
    let first = export();
    insta::assert_snapshot!("testgen-export", documented(&first));
    let first = first["runs"][0].clone();
    assert_eq!((&first["symbol"], &first["written"]["left_out"]), (&json!("mixed"), &json!([])), "{first}");
    assert_eq!(repo.read(written), text, "C answers as it did");
    // The last one because it is what a constant would answer.
    assert_eq!(first["written"]["tests"], json!(["long", "counted", "high"]));
    repo.replace("mixed.c", "    return h;", "    return len > 16 ? ~h : h;");
    let second = export()["runs"][0]["written"].clone();
    assert_eq!(second["left_out"], json!([["long", "C now gives a different result"]]), "{second}");
    assert_eq!(second["tests"], json!(["counted", "high"]));
    assert!(!repo.read(written).contains("_long(") && text.contains("_long("), "{text}");
    repo.replace("mixed.c", "seed * 31u", "seed * 37u + 1u");
    let third = export()["runs"][0]["written"].clone();
    assert_eq!(
        (&third["file"], &third["removed"], &third["tests"]),
        (&json!(null), &json!(written), &json!([]))
    );
    assert!(!repo.root().join(written).exists(), "nobody stands behind it");
    // What a person has put there stays.
    repo.write(written, "// mine\n");
    assert_eq!(export()["runs"][0]["written"]["removed"], json!(null));
    assert_eq!(repo.read(written), "// mine\n");
}

fn seeds_that_no_prompt_may_show_wait_for_an_accepted_port(repo: &Repo) {
    // As if all of them were worth keeping.
    let db = rusqlite::Connection::open(repo.root().join(".implfuzz/state.db")).unwrap();
    db.execute("UPDATE testgen_tests SET kept = 1 WHERE valid = 1", []).unwrap();
    repo.run(&["testgen", "export", "mixed"]).ok();
    let interrupt = Interrupt::none();
    let options = Options { dir: Some(repo.root().to_owned()), ..Options::default() };
    let project = Project::open(&options, &interrupt).unwrap();
    let judge = Judge::new(&project, &interrupt);
    let planned = project.find("mixed").unwrap();
    let held_back = judge.held_back(planned).unwrap();
    let name = &planned.function.name;
    for (folder, is_hidden) in [(judge.seeds(name), false), (judge.hidden_seeds(name), true)] {
        let inputs: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(!inputs.is_empty(), "{}", folder.display());
        for input in inputs {
            let bytes = std::fs::read(&input).unwrap();
            assert_eq!(held_back.holds(&bytes), is_hidden, "{}", input.display());
        }
    }
}

#[test]
#[ignore = "a minute: cargo test --test suite testgen -- --ignored"]
fn weak_tests_are_told_to_be_weak_and_silence_ends_a_run() {
    let repo = library();
    let weak = json!({"tests": [{"input": {"seed": 0, "data": "", "$globals": {"calls": 0}}}]});
    let thought = "I would try longer data.\nself-assessment: 4";
    repo.model(&[&weak.to_string(), thought, &weak.to_string(), "No idea.", "Sorry."]);
    let run = generate(&repo, &["--context", "correctness", "--no-export"]);
    // One test with one answer: it tells the first argument, 0, from 1, and nothing else.
    let told: Vec<&str> =
        cheats(&run).into_iter().filter(|(_, rejected)| *rejected).map(|(name, _)| name).collect();
    assert_eq!(told, ["identity of the first argument"]);
    let coverage = run["run"]["analysis"]["anti_cheat_coverage"].as_f64().unwrap();
    assert!((coverage - 1.0 / 7.0).abs() < 1e-9, "{run}");
    assert_eq!(run["run"]["proposed"]["duplicates"], 1);
    assert_eq!(run["run"]["self_assessment"], 4.0, "{run}");
    assert_eq!(run["run"]["analysis"]["parameter_discovery"], 0.0);
    let survivors = run["survivors"].as_array().unwrap().len();
    assert!(survivors > 0, "{run}");
    assert!(!repo.root().join("rust/tests/testgen_mixed.rs").exists());
    // The reflection, and what was there already, go into the next prompt.
    let prompt = repo.prompt(3);
    assert!(prompt.contains("I would try longer data.") && prompt.contains("never holds"), "{prompt}");
    assert!(repo.prompt(2).contains("testgen-reflect"), "{}", repo.prompt(2));

    // A model that fails: the run says so, and its tests so far are kept.
    repo.write("implfuzz.toml", &repo.read("implfuzz.toml").replace("\"sh\"", "\"false\""));
    let ran = repo.run(&["testgen", "generate", "mixed", "--context", "boundary"]);
    ran.code(11).shows("the model did not answer");
    assert_eq!(repo.count("SELECT count(*) FROM testgen_runs"), 2);
    assert_eq!(repo.count("SELECT count(*) FROM testgen_runs WHERE score IS NULL"), 1, "no tokens, no score");
}

#[test]
fn a_failure_is_told_to_whoever_watches() {
    let repo = Repo::empty();
    repo.write("odd.c", "#include <stdio.h>\n\nint odd(FILE *file) { return fgetc(file); }\n");
    repo.run(&["init"]).ok();
    repo.model(&["[]"]);
    let made = ["testgen", "config", "create", "--set", "max_tokens=512", "--format", "json"];
    let made = repo.run(&made).ok().json("testgen-config-created")["config"].clone();
    let events = |more: &[&str]| {
        let ran = repo.run(&[&["testgen", "generate", "odd", "--format", "json"], more].concat());
        assert_eq!(ran.code(2).json("error")["kind"], "usage");
        let told = ran.every("testgen-event");
        told.as_array().unwrap().iter().map(|event| event["what"].clone()).collect::<Vec<_>>()
    };
    let hash = &made["config_hash"].as_str().unwrap()[..8];
    for (more, config) in [(&["--with", "1"][..], 1), (&["--with", hash], 1), (&[], 2)] {
        let told = events(more);
        assert_eq!((told.len(), &told[0]["event"], &told[0]["config"]), (2, &json!("start"), &json!(config)));
        assert_eq!(told[1]["event"], "error", "{told:?}");
        assert!(told[1]["why"].as_str().unwrap().contains("odd has no harness"), "{told:?}");
    }
    let current = "SELECT count(*) FROM testgen_configs WHERE is_current";
    assert_eq!(repo.count(current), 1, "the defaults, by the run without `--with`");
    repo.run(&["testgen", "generate", "odd", "--with", "99"])
        .fails(2, &["there is no TestGen configuration 99", "config list"]);
}

/// A second function, so that a gain is not that of one.
const OTHER: &str = "#include <stddef.h>\n#include <stdint.h>\n\n\
    uint32_t folded(uint32_t seed, const uint8_t *data, size_t len) {\n    \
    for (size_t i = 0; i < len; i++) seed = (seed ^ data[i]) * 16777619u;\n    return seed;\n}\n";

/// A model by its role: proposals in order; tests that are weak, unless six of them are asked for.
fn evolving_model(repo: &Repo, proposals: &[Value]) {
    let dir = repo.aside().join("model");
    std::fs::create_dir_all(&dir).unwrap();
    for (index, proposal) in proposals.iter().enumerate() {
        std::fs::write(dir.join(format!("{}.md", index + 1)), proposal.to_string()).unwrap();
    }
    let strong = json!([
        {"input": {"seed": 1, "data": "abc"}},
        {"input": {"seed": 4_294_967_295u32, "data": {"repeat": "fox ", "times": 90}}},
        {"input": {"seed": 2, "data": "abd"}},
        {"input": {"seed": 3, "data": ""}},
        {"input": {"seed": 7, "data": {"hex": "ff00fe"}}},
        {"input": {"seed": 9, "data": "zz"}},
    ]);
    std::fs::write(dir.join("strong"), strong.to_string()).unwrap();
    std::fs::write(dir.join("weak"), json!([{"input": {"seed": 0, "data": ""}}]).to_string()).unwrap();
    let script = format!(
        "cd {}\ncat >prompt\n\
         if grep -q '\"role\":\"testgen-config\"' prompt; then\n\
         n=$(($(cat count 2>/dev/null || echo 0) + 1)); echo $n >count; cat $n.md\n\
         elif grep -q '\"role\":\"testgen-reflect\"' prompt; then echo more\n\
         elif grep -q '6 tests of the category' prompt; then cat strong; else cat weak; fi\n",
        dir.display()
    );
    std::fs::write(dir.join("model.sh"), script).unwrap();
    let shown = dir.join("model.sh").display().to_string();
    let text = repo.read("implfuzz.toml");
    let start = text.find("\n[llm]").unwrap_or(text.len());
    let config =
        format!("{}\n[llm]\nprovider = \"command\"\ncommand = [\"sh\", {shown:?}]\n", &text[..start]);
    repo.write("implfuzz.toml", &config);
}

fn two_functions() -> Repo {
    let repo = Repo::empty();
    repo.write("mixed.c", SOURCE);
    repo.write("folded.c", OTHER);
    repo.run(&["init"]).ok();
    repo
}

#[test]
#[ignore = "half a minute: cargo test --test suite testgen:: -- --ignored"]
fn a_configuration_evolves_by_what_wins() {
    let repo = two_functions();
    let change = |kind: &str, name: &str, value: Value, expected: f64| json!({"type": kind, "changes": {name: value}, "reasoning": "r", "expected_improvement": expected});
    evolving_model(
        &repo,
        &[
            change("update_params", "max_tests_per_category", json!(9), 50.0),
            json!("I would not change anything."),
            change("update_params", "max_tests_per_category", json!(6), 40.0),
            change("update_params", "max_tests_per_category", json!(5), 10.0),
        ],
    );
    repo.run(&["testgen", "evolve", "--symbols", "mixed,mixed"])
        .fails(2, &["at least two functions", "testgen evolve --symbols mixed,<another>"]);
    let args = [
        "testgen", "evolve", "--symbols", "mixed", "folded", "mixed", "--rounds", "4", "--context",
        "correctness",
    ];
    let ran = repo.run(&[&args[..], &["--format", "json"]].concat());
    insta::assert_snapshot!("testgen-evolve", documented(&ran.ok().json("testgen-evolve")));
    insta::assert_snapshot!("evolved", documented(&ran.every("evolved")));
    let rounds = ran.json("testgen-evolve")["rounds"].clone();
    let accepted: Vec<bool> =
        rounds.as_array().unwrap().iter().map(|r| r["accepted"].as_bool().unwrap()).collect();
    assert_eq!(accepted, [false, false, true, false], "{rounds}");
    assert!(
        rounds[0]["violation"]["reasons"][0].as_str().unwrap().contains("max_tests_per_category"),
        "{rounds}"
    );
    assert_eq!(rounds[1]["change"]["type"], "keep");
    assert!(rounds[2]["lower_bound"].as_f64().unwrap() > 0.0, "{rounds}");
    assert!(rounds[3]["mean_gain"].as_f64().unwrap() < 0.0, "back to fewer tests: {rounds}");
    assert_eq!(repo.count("SELECT count(*) FROM testgen_evolution"), 4);
    assert_eq!(
        repo.count("SELECT count(*) FROM testgen_evolution WHERE accepted = 1 AND actual_improvement > 0"),
        1
    );
    let current = repo.run(&["testgen", "config", "show", "--format", "json"]).ok().json("testgen-config");
    assert_eq!(current["config"]["max_tests_per_category"], 6, "{current}");
    repo.run(&["testgen", "evolution"]).ok().shows("update_params");

    // The configuration in use has a score, and a worse one: a run that names none takes the best.
    let best = current["config"]["id"].clone();
    let worse = repo.count(&format!("SELECT max(config) FROM testgen_runs WHERE config <> {best}"));
    repo.run(&["testgen", "config", "set-current", &worse.to_string()]).ok();
    let used = |more: &[&str]| {
        let args =
            ["testgen", "generate", "mixed", "--context", "correctness", "--no-export", "--format", "json"];
        repo.run(&[&args, more].concat()).json("testgen")["runs"][0]["run"]["config"].clone()
    };
    assert_eq!(used(&[]), best);
    assert_eq!(used(&["--with", "current"]), worse);
}

#[test]
#[ignore = "half a minute: cargo test --test suite testgen:: -- --ignored"]
fn all_runs_of_an_evolution_spend_one_budget() {
    let repo = two_functions();
    let more = json!({"type": "update_params", "changes": {"max_tests_per_category": 6}, "reasoning": "r"});
    evolving_model(&repo, &[more]);
    let args = ["testgen", "evolve", "--symbols", "mixed", "folded", "--context", "correctness"];
    // Enough for the proposal and a run or so, and for no four of them.
    let limit = 20_000;
    let budget = format!("llm.max_tokens_per_run={limit}");
    let ran = repo.run(&[&args[..], &["--config", &budget]].concat());
    ran.code(11).shows("the token budget of the run is spent");
    let spent = repo.count("SELECT sum(input_tokens + output_tokens) FROM model_calls");
    assert!((limit / 2..=limit).contains(&spent), "{spent} of {limit}");
    assert_eq!(repo.count("SELECT count(*) FROM testgen_runs"), 4, "a run that nothing is left for is one");

    // A model that is not there at all: it is asked once, and not for each round.
    repo.write("implfuzz.toml", &repo.read("implfuzz.toml").replace("\"sh\"", "\"false\""));
    let ran = repo.run(&[&args[..], &["--rounds", "3", "--config", "llm.retries=1"]].concat());
    ran.code(11).shows("the model did not answer").shows("asking again in");
    assert_eq!(repo.count("SELECT count(*) FROM testgen_evolution"), 2);
}

#[test]
fn where_no_mutant_is_run_no_test_is_thrown_away_and_nothing_is_made_up() {
    let repo = Repo::empty();
    // Neither a constant, nor an operator, nor a simple statement.
    let text = "#include <stdint.h>\nstruct one { uint32_t a; };\n\n\
                uint32_t low(uint32_t a) {\n    return (uint8_t)((struct one){ a }).a;\n}\n";
    repo.write("low.c", text);
    repo.run(&["init"]).ok();
    let inputs = json!([{"input": {"a": 5}}, {"input": {"a": 300}}, {"input": {"a": 6}}]);
    repo.model(&[&inputs.to_string(), "No idea.", "[]"]);
    let args = ["testgen", "generate", "low", "--context", "correctness", "--no-export", "--format", "json"];
    let run = repo.run(&args).code(11).json("testgen")["runs"][0].clone();
    assert!(run["without_mutants"].is_string(), "{run}");
    assert_eq!(run["run"]["kept"], 3, "{run}");
    let analysis = &run["run"]["analysis"];
    assert!(run["run"]["reflections"].as_u64().unwrap() > 0);
    assert_eq!(
        (&analysis["reflection_effectiveness"], &analysis["kill_rate"]),
        (&Value::Null, &Value::Null),
        "{run}"
    );
    let told = "SELECT count(*) FROM testgen_tests WHERE kills IS NULL AND cheats LIKE '%constant return%'";
    assert_eq!(repo.count(told), 2, "the second and the third have another result than the first");
}

#[test]
#[ignore = "half a minute: cargo test --test suite testgen -- --ignored"]
fn tests_of_existence_alone_need_no_model() {
    let repo = library();
    let args = ["testgen", "generate", "mixed", "--context", "existence", "--format", "json"];
    let run = repo.run(&args).ok().json("testgen")["runs"][0].clone();
    assert_eq!(run["ended"], "all categories have their tests, or their rounds are used up");
    assert_eq!(
        (&run["run"]["rounds"], &run["run"]["tokens"], &run["run"]["score"]),
        (&json!(0), &json!(0), &json!(null))
    );
    assert_eq!(run["run"]["proposed"], json!({"valid": 1, "dropped": 0, "duplicates": 0}), "its type");
    assert_eq!((&run["run"]["kept"], &run["run"]["analysis"]["valid_share"]), (&json!(1), &json!(null)));
    assert_eq!(repo.count("SELECT count(*) FROM model_calls"), 0);
    assert!(repo.read("rust/tests/testgen_mixed.rs").contains("signature"));
}

/// What stands for a function is never lost to a run that tells less.
#[test]
#[ignore = "half a minute: cargo test --test suite testgen:: -- --ignored"]
fn a_weaker_run_replaces_nothing_while_c_answers_as_it_did() {
    let repo = two_functions();
    let file = "rust/tests/testgen_mixed.rs";
    let strong = json!([
        {"id": "long", "input": {"seed": 4_294_967_295u32, "data": {"repeat": "fox ", "times": 90}}},
        {"id": "counted", "input": {"seed": 2, "data": "abd", "$globals": {"calls": 41}}},
        {"id": "short", "input": {"seed": 1, "data": "abc"}},
        {"id": "other", "input": {"seed": 9, "data": "xyz"}},
    ]);
    let weak =
        json!([{"id": "weak", "input": {"seed": 0, "data": "", "$globals": {"calls": 0}}}]).to_string();
    repo.model(&[&strong.to_string(), "[]"]);
    let few = ["--config", "llm.max_tokens_per_run=100000", "--context", "correctness"];
    let best = generate(&repo, &few);
    let text = repo.read(file);
    assert!(text.contains("_long("), "{text}");

    // A model that is not there, and one that knows little.
    repo.write("implfuzz.toml", &repo.read("implfuzz.toml").replace("\"sh\"", "\"false\""));
    repo.run(&["testgen", "generate", "mixed", "--context", "correctness"]).code(11);
    assert_eq!(repo.read(file), text);
    let last = repo.run(&["testgen", "runs", "--limit", "1", "--format", "json"]).json("testgen-runs");
    let last = &last["runs"][0];
    assert_eq!(last["analysis"]["kill_rate"], json!(null), "without a test nothing was run: {last}");
    let export = ["testgen", "export", "--run", last["run_id"].as_str().unwrap()];
    repo.run(&export).fails(2, &["has kept no test", "cargo implfuzz testgen runs"]);
    assert_eq!(repo.read(file), text);
    repo.model(&[&weak]);
    let ran = repo.run(&["testgen", "generate", "mixed", "--context", "correctness"]);
    ran.shows("stay, because they are at least as good").shows("testgen export --run");
    assert_eq!(repo.read(file), text);
    let run = generate(&repo, &few);
    assert_eq!(run["written"]["run_id"], best["run"]["run_id"], "{run}");
    assert_eq!((&best["run"]["is_best"], &run["run"]["is_best"]), (&json!(true), &json!(false)));
    let own = run["run"]["run_id"].as_str().unwrap();
    repo.run(&["testgen", "export", "--run", own]).ok();
    assert!(repo.read(file).contains("_weak(") && !repo.read(file).contains("_long("));

    // All that are valid, and those of the best run again.
    let of = |args: &[&str]| repo.run(&[&["testgen", "export"], args].concat()).ok().stdout.clone();
    // A function whose only run has kept no test is no reason to leave out the others, unless it is named.
    let db = rusqlite::Connection::open(repo.root().join(".implfuzz/state.db")).unwrap();
    let moved = "UPDATE testgen_runs SET symbol = 'c:@F@folded' WHERE run_id = ?1";
    db.execute(moved, [last["run_id"].as_str().unwrap()]).unwrap();
    std::fs::remove_file(repo.root().join(file)).unwrap();
    repo.run(&["testgen", "export", "mixed", "folded"]).fails(2, &["folded has kept no test"]);
    assert!(!repo.root().join(file).exists(), "all are looked at before any is written");
    repo.run(&["testgen", "export", "--all"]).ok().shows("folded has kept no test, and is left out");
    assert_eq!(repo.read(file), text);
    of(&["mixed", "--valid"]);
    let all = repo.read(file);
    assert!(all.matches("#[test]").count() > text.matches("#[test]").count(), "{all}");

    // C is another one: what was measured on the old one says nothing any more.
    repo.replace("mixed.c", "h * 33u", "h * 35u");
    let run = generate(&repo, &few);
    assert_eq!(run["written"]["run_id"], run["run"]["run_id"], "{run}");
    assert!(repo.read(file).contains("_weak("));
}

#[test]
#[ignore = "a minute: cargo test --test suite testgen:: -- --ignored"]
fn ctrl_c_keeps_what_was_measured() {
    let repo = library();
    let first = json!([{"id": "first", "input": {"seed": 1, "data": "abc"}}]).to_string();
    repo.model(&[&first, "never"]);
    let script = repo.aside().join("model/model.sh");
    let text = std::fs::read_to_string(&script).unwrap();
    std::fs::write(&script, text.replace("[ -f", "[ $n = 1 ] || sleep 60\n[ -f")).unwrap();
    let running = Running::start(repo.command(&["testgen", "generate", "mixed", "--context", "correctness"]));
    let deadline = Instant::now() + Duration::from_secs(90);
    while repo.asked() < 2 {
        assert!(Instant::now() < deadline, "the model was never asked again");
        std::thread::sleep(Duration::from_millis(100));
    }
    let (ran, _) = running.interrupt();
    ran.code(130).shows("the results so far are stored: cargo implfuzz testgen runs tg-");
    assert_eq!(repo.count("SELECT count(*) FROM testgen_tests WHERE valid"), 1);
    assert_eq!(repo.count("SELECT count(*) FROM testgen_runs WHERE score IS NULL AND tokens > 0"), 1);
    assert!(!repo.root().join("rust/tests/testgen_mixed.rs").exists());

    // A model that goes silent half-way: the tests are there, and the command is not content.
    repo.model(&[&first, "never"]);
    let text = std::fs::read_to_string(&script).unwrap();
    std::fs::write(&script, text.replace("[ -f", "[ $n = 1 ] || exit 3\n[ -f")).unwrap();
    let args = ["testgen", "generate", "mixed", "--context", "correctness", "--config", "llm.retries=0"];
    repo.run(&args).code(11).shows("the model did not answer");
    assert!(repo.root().join("rust/tests/testgen_mixed.rs").exists());
    nothing_that_c_has_answered_is_lost(&repo);
}

/// The work is done one and two calls away.
const LAYERS: &str = "#include <stdint.h>\n\n\
    static uint32_t twisted(uint32_t x) { return x > 1000 ? x * 3u : x ^ 5u; }\n\
    static uint32_t folded(uint32_t x) { return twisted(x) + 7u; }\n\
    uint32_t layered(uint32_t x) { return folded(x); }\n";

#[test]
#[ignore = "half a minute: cargo test --test suite testgen -- --ignored"]
fn tests_of_what_works_together_are_measured_by_what_is_called() {
    let repo = Repo::empty();
    repo.write("layers.c", LAYERS);
    repo.run(&["init"]).ok();
    let small = json!([{"id": "small", "input": {"x": 1}}]).to_string();
    let large =
        json!([{"id": "large", "input": {"x": 70_000}}, {"id": "edge", "input": {"x": 1000}}]).to_string();
    repo.model(&[&small, "Try more than 1000.", &large, "Nothing."]);
    let args = ["testgen", "generate", "layered", "--context", "integration", "--format", "json"];
    let run = repo.run(&args).json("testgen")["runs"][0].clone();
    // Its own text says next to nothing: one change of it, which any input tells.
    assert_eq!((&run["mutants"], &run["run"]["analysis"]["kill_rate"]), (&json!(1), &json!(1.0)), "{run}");
    assert!(run["callee_mutants"].as_u64().unwrap() >= 8, "{run}");
    assert!(run["run"]["analysis"]["callee_kill_rate"].as_f64().unwrap() > 0.7, "{run}");
    // They are told where this category is wanted.
    assert!(repo.prompt(2).contains("in `twisted`: "), "{}", repo.prompt(2));
    // A port that is wrong one call away.
    let body = |line: &str| {
        format!("let x = if x > 1000 {{ x.wrapping_mul(3) }} else {{ {line} }};\n    x.wrapping_add(7)")
    };
    let mut module = repo.read("rust/src/layers.rs");
    for name in ["twisted", "folded"] {
        module = module.replace(&format!("unimplemented!(\"{name}\")"), "x");
    }
    let with = |line: &str| {
        repo.write("rust/src/layers.rs", &module.replace("unimplemented!(\"layered\")", &body(line)));
        repo.exported_tests_pass("layered")
    };
    assert!(with("x ^ 5"));
    assert!(!with("x | 5") && !with("x"));
}
