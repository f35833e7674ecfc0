//! `stats` and `port --explain` through the binary: the cost of ports and the reason for each step, from the store.

use crate::support::clib::copy_tree;
use crate::support::server::{Answer, Server};
use crate::support::{QUICK, Ran, Repo, Running, reply};
use serde_json::Value;
use std::path::{Path, PathBuf};

const TWICE: &str = "pub fn twice(x: u32) -> u32 {\n    x.wrapping_mul(2)\n}";
const WRONG: &str = "pub fn twice(x: u32) -> u32 {\n    x.saturating_mul(2)\n}";
const TORN: &str = "pub fn twice(x: u32) -> u32 {\n    x * 2u64\n}";

/// Recorded functions, the cheapest to judge.
const RECORDED: [&str; 3] = ["kit_popcount32", "kit_rotl32", "kit_sat_add"];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// What the recording of a function says of its only reply.
fn recorded(symbol: &str) -> Value {
    let path = fixtures().join(format!("recordings/c-lib/{symbol}/01-prototyper.json"));
    let recording: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    recording["outcome"]["reply"].clone()
}

/// The fixture library with three functions ported from recordings, two of them at a known price.
fn ported_from_recordings() -> Repo {
    let repo = Repo::empty();
    copy_tree(&fixtures().join("c-lib"), repo.root());
    repo.run(&["init", "--config", "c.from=\"includes\""]).ok();
    let dir = format!("llm.replay_dir={:?}", fixtures().join("recordings/c-lib").display().to_string());
    let replay = ["--config", "llm.provider=\"replay\"", "--config", &dir];
    let priced = ["--config", "llm.prices={ input = 3.0, output = 15.0 }"];
    let (last, first) = RECORDED.split_last().unwrap();
    repo.run(&[&["port"], first, &replay[..], &priced, &QUICK].concat()).ok();
    repo.run(&[&["port", *last], &replay[..], &QUICK].concat()).ok();
    repo
}

fn rows<'v>(stats: &'v Value, kind: &str) -> &'v Vec<Value> {
    stats[kind].as_array().unwrap()
}

fn json(repo: &Repo, args: &[&str]) -> Value {
    repo.run(&[&["stats", "--format", "json"], args].concat()).ok().json("stats")
}

#[test]
#[ignore = "half a minute: cargo test --test suite stats -- --ignored"]
fn what_recordings_cost_is_told_by_symbol_role_phase_and_workflow() {
    let repo = ported_from_recordings();
    insta::assert_snapshot!(repo.run(&["stats"]).ok().stdout, @r"
                      passed         calls  failed  tokens in   out  cached             cost   waited   median  stops
    by symbol
      kit_popcount32  1 of 1, 100 %      1       0       ~875   ~45      ~0           0.0033  129.5 s  129.5 s  end 1
      kit_rotl32      1 of 1, 100 %      1       0       ~913   ~46      ~0           0.0034   14.2 s   14.2 s  end 1
      kit_sat_add     1 of 1, 100 %      1       0       ~923   ~38      ~0          unknown   15.9 s   15.9 s  end 1
    by role
      prototyper      3 of 3, 100 %      3       0      ~2711  ~129      ~0  at least 0.0067  159.6 s   15.9 s  end 3
    by maker
      python3         3 of 3, 100 %      3       0      ~2711  ~129      ~0  at least 0.0067  159.6 s   15.9 s  end 3
    by phase
      compilation     3 of 3, 100 %      3       0      ~2711  ~129      ~0  at least 0.0067  159.6 s   15.9 s  end 3
      optimization    3 of 3, 100 %      0       0          0     0       0                -    0.0 s        -
    by workflow
      unified         3 of 3, 100 %      3       0      ~2711  ~129      ~0  at least 0.0067  159.6 s   15.9 s  end 3
    in total          3 of 3, 100 %      3       0      ~2711  ~129      ~0  at least 0.0067  159.6 s   15.9 s  end 3

    a trial, one function in one run: ~959 tokens (median of 3 trials); published for a similar design: 20000 to 55000
    first prompt: ~913 tokens (median of 3 functions)
    ~ marks numbers that include estimates, where the provider reported no count
    ");
    let stats = json(&repo, &[]);
    let usage = |symbol: &str, part: &str| recorded(symbol)["usage"][part].as_u64().unwrap();
    let sum = |symbols: &[&str], part: &str| symbols.iter().map(|symbol| usage(symbol, part)).sum::<u64>();
    assert_eq!(stats["total"]["input_tokens"], sum(&RECORDED, "input"));
    assert_eq!(stats["total"]["output_tokens"], sum(&RECORDED, "output"));
    // The last one was asked about without a price: what is known is no less than the rest.
    let priced = &RECORDED[..2];
    let cost = (sum(priced, "input") * 3 + sum(priced, "output") * 15) as f64 / 1e6;
    assert!((stats["total"]["cost"].as_f64().unwrap() - cost).abs() < 1e-9, "{stats}");
    assert_eq!(stats["total"]["unpriced"], 1);
    let last = &rows(&stats, "symbols")[2];
    assert_eq!((&last["symbol"], &last["cost"]), (&RECORDED[2].into(), &Value::Null));
    assert_eq!(last["latency_ms"], recorded(RECORDED[2])["latency_ms"]);
    assert_eq!((&last["passed"], &last["attempted"]), (&1.into(), &1.into()));
    let mut first = rows(&stats, "symbols")[0].clone();
    assert!(first["millis"].take().as_u64().unwrap() > 0, "the time of this machine");
    insta::assert_snapshot!(serde_json::to_string_pretty(&first).unwrap(), @r#"
    {
      "symbol": "kit_popcount32",
      "passed": 1,
      "attempted": 1,
      "interrupted": 0,
      "millis": null,
      "calls": 1,
      "failed": 0,
      "retries": 0,
      "input_tokens": 875,
      "output_tokens": 45,
      "cached_tokens": 0,
      "cache_write_tokens": 0,
      "estimated": true,
      "cost": 0.0033,
      "unpriced": 0,
      "latency_ms": 129492,
      "latency_median_ms": 129492,
      "stops": {
        "end": 1
      }
    }
    "#);
    assert_eq!(rows(&stats, "roles")[0]["role"], "prototyper");
    assert_eq!(rows(&stats, "phases")[0]["phase"], "compilation");
    assert_eq!(rows(&stats, "workflows")[0]["workflow"], "unified");
    narrowed_to_a_function_or_a_run(&repo);
    workflows_are_compared(&repo);
}

fn narrowed_to_a_function_or_a_run(repo: &Repo) {
    let one = json(repo, &[RECORDED[0]]);
    assert_eq!((rows(&one, "symbols").len(), &one["total"]["calls"]), (1, &1.into()));
    let second = json(repo, &["--run", "2"]);
    assert_eq!((&second["run"], &second["total"]["calls"]), (&2.into(), &1.into()));
    assert_eq!(rows(&second, "symbols")[0]["symbol"], RECORDED[2]);
    repo.run(&["stats", "--run", "99"]).fails(2, &["there is no run 99", "the last run is 2"]);
    repo.run(&["stats", "kit_rotl33"]).fails(2, &["kit_rotl33", "kit_rotl32"]);
}

fn workflows_are_compared(repo: &Repo) {
    let text = repo.run(&["stats", "--compare-workflows"]).ok().stdout.clone();
    for part in ["unified", "model calls per symbol", "3 of 3, 100 %", "only one workflow has run so far"] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    let cost = text.lines().find(|line| line.starts_with("cost per symbol")).unwrap();
    assert!(cost.ends_with("unknown"), "{text}");
    let ran = repo.run(&["stats", "--compare-workflows", "--run", "1", "--format", "json"]);
    let value = &ran.ok().json("workflows")["workflows"][0];
    assert_eq!((&value["calls_per_symbol"], &value["attempted"]), (&1.0.into(), &2.into()));
    assert!(value["cost_per_symbol"].as_f64().unwrap() > 0.0);
    assert!(value["millis_per_symbol"].as_f64().unwrap() > 0.0);
}

/// Step, phase, reason and outcome of the last port of a function.
fn trace(repo: &Repo, symbol: &str) -> Vec<[String; 4]> {
    let ran = repo.run(&["port", symbol, "--explain", "--format", "json"]);
    let steps = ran.ok().json("trace")["symbols"][0]["steps"].clone();
    let word = |step: &Value, key: &str| step[key].as_str().unwrap_or("none").to_owned();
    let steps = steps.as_array().unwrap().iter();
    steps.map(|step| ["step", "phase", "why", "outcome"].map(|key| word(step, key))).collect()
}

/// The steps with this name.
fn named<'t>(trace: &'t [[String; 4]], step: &str) -> Vec<[&'t str; 3]> {
    trace.iter().filter(|row| row[0] == step).map(|[_, a, b, c]| [a.as_str(), b, c]).collect()
}

#[test]
fn every_step_of_a_mended_port_says_why_it_was_taken() {
    let repo = Repo::initialised();
    repo.run(&["port", "twice", "--explain"]).code(11).shows("no run has a trace of it");
    repo.model(&[&reply(TORN), &reply(WRONG), &reply(TWICE)]);
    repo.port(&["twice"]).ok();
    let before = repo.tree();
    let trace = trace(&repo, "twice");
    let (compilation, optimization) = ("compilation", "optimization");
    assert_eq!(named(&trace, "ask-prototyper"), [[compilation, "there is no candidate yet", "candidate"]]);
    assert_eq!(
        named(&trace, "ask-enhancer"),
        [
            [compilation, "the candidate does not compile: compile fix 1 of 3", "candidate"],
            [optimization, "the candidate was refuted: repair 1 of 3", "candidate"],
        ]
    );
    let outcomes = |step: &str| named(&trace, step).iter().map(|row| row[2].to_owned()).collect::<Vec<_>>();
    assert_eq!(outcomes("build"), ["does-not-compile", "built", "built"]);
    assert_eq!(
        named(&trace, "accept"),
        [[optimization, "the run of the loop did not refute it", "accepted"]]
    );
    assert_eq!(trace.last().unwrap()[0], "done");
    let text = repo.run(&["port", "twice", "--explain"]).ok().stdout.clone();
    for part in [
        "twice, run 1 (port twice), command/sh, cargo-implfuzz 0",
        " to 2",
        ", done\n",
        "refuted: mismatch: return value",
        "~",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    // Every call has its step, and a step without a call has no tokens.
    assert_eq!(repo.count("SELECT count(*) FROM model_calls JOIN steps ON steps.id = model_calls.step"), 3);
    let ran = repo.run(&["port", "--all", "--explain", "--format", "json"]);
    let symbols = ran.ok().json("trace")["symbols"].clone();
    assert_eq!(symbols.as_array().unwrap().len(), 1, "the others were never ported");
    let steps = symbols[0]["steps"].as_array().unwrap().clone();
    let mut audit = steps[1].clone();
    assert!(audit["millis"].take().is_u64());
    insta::assert_snapshot!(serde_json::to_string_pretty(&audit).unwrap(), @r#"
    {
      "number": 2,
      "phase": "compilation",
      "step": "audit",
      "why": "a new candidate: nothing is built before the audit",
      "outcome": "passed",
      "detail": "",
      "millis": null,
      "by": null,
      "model": null
    }
    "#);
    assert!(steps.iter().all(|s| s["model"].is_object() == s["step"].as_str().unwrap().starts_with("ask-")));
    // Nobody was asked and nothing changed.
    assert_eq!((repo.asked(), repo.tree() == before), (3, true));
    let stats = json(&repo, &[]);
    let passes = |kind: &str| -> Vec<(Value, Value)> {
        rows(&stats, kind).iter().map(|row| (row["passed"].clone(), row["attempted"].clone())).collect()
    };
    assert_eq!(passes("roles"), [(1.into(), 2.into()), (0.into(), 1.into())]);
    assert_eq!(passes("phases"), [(1.into(), 1.into()), (1.into(), 1.into())]);
    let calls: Vec<&Value> = rows(&stats, "phases").iter().map(|row| &row["calls"]).collect();
    assert_eq!(calls, [2, 1]);
    assert!(stats["total"]["estimated"].as_bool().unwrap() && stats["total"]["cost"].is_null(), "{stats}");
}

#[test]
fn a_port_that_fails_says_at_which_limit() {
    let repo = Repo::initialised();
    repo.model(&[&reply(WRONG)]);
    repo.port(&["twice"]).code(10);
    let first = trace(&repo, "twice");
    let stop = ["the candidate repeats an earlier one", "loop"];
    assert_eq!(named(&first, "stop")[0][1..], stop);
    repo.model(&["I would rather not.\n"]);
    repo.port(&["twice"]).code(11);
    let last = trace(&repo, "twice");
    let stop = ["the reply was unusable, and no validation fix is left of 2", "reply-unusable"];
    assert_eq!(named(&last, "stop")[0][1..], stop);
    assert_eq!(last.len(), 4, "the trace of the run before is not shown: {last:?}");
    // What the run came to is remembered until there is a port.
    repo.run(&["list", "twice"]).ok().shows("run 2: failed");
    repo.run(&["status", "twice"]).shows("run 2: failed");
    let stats = json(&repo, &[]);
    assert_eq!((&stats["total"]["passed"], &stats["total"]["attempted"]), (&0.into(), &2.into()));
}

#[test]
fn a_step_that_a_kill_cut_short_is_in_the_trace() {
    let repo = Repo::initialised();
    repo.model(&[&reply(TWICE)]);
    let long =
        ["port", "twice", "--config", "fuzz.accept_seconds=90", "--config", "fuzz.loop_executions=2000"];
    let mut running = Running::start(repo.command(&long));
    running.says("acceptance run");
    // It kills the process.
    drop(running);
    let ran = repo.run(&["port", "twice", "--explain", "--format", "json"]);
    let trace = ran.ok().json("trace")["symbols"][0].clone();
    assert_eq!(trace["outcome"], "interrupted");
    let last = trace["steps"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&last["step"], &last["outcome"], &last["millis"]),
        (&"accept".into(), &Value::Null, &Value::Null)
    );
    repo.run(&["port", "twice", "--explain"]).ok().shows("interrupted\n").shows("never ended");
}

#[test]
fn a_model_that_fails_leaves_its_step_and_a_call_of_unknown_cost() {
    let server = Server::start(Answer::Http(500, "{}".into()));
    let repo = Repo::initialised();
    let config = server.config(2);
    let config: Vec<&str> = config.iter().map(String::as_str).collect();
    let prices = ["--config", "llm.prices={ input = 3.0, output = 15.0 }"];
    Ran::of(&mut repo.command(&[&["port", "twice"], &config[..], &prices].concat())).code(1).shows("500");
    assert_eq!(server.requests().len(), 2, "it is asked once more");
    let trace = trace(&repo, "twice");
    assert_eq!(named(&trace, "ask-prototyper"), [["compilation", "there is no candidate yet", "failed"]]);
    let stats = json(&repo, &[]);
    let total = &stats["total"];
    assert_eq!(
        (&total["calls"], &total["failed"], &total["stops"]["failed"]),
        (&1.into(), &1.into(), &1.into())
    );
    assert_eq!((&total["cost"], &total["unpriced"]), (&Value::Null, &1.into()));
    // The wait before the second request is part of its time.
    assert!(total["latency_ms"].as_u64().unwrap() >= 250, "{stats}");
    assert_eq!((&total["latency_median_ms"], &stats["first_prompt"]), (&Value::Null, &Value::Null));
    repo.run(&["stats"]).ok().shows("unknown: no call was answered");
}
