//! Stored TestGen runs, shown by `testgen stats`, `runs`, `config` and `evolution` through the binary. The library
//! inserts the rows.

use crate::support::Repo;
use crate::support::shape::documented;
use cargo_implfuzz::store::{GLOBAL, Store};
use cargo_implfuzz::symbol::{SymbolKey, SymbolName};
use cargo_implfuzz::test_record::{
    ChangeType, ConfigId, ConfigRef, EvolutionRound, GeneratedTest, Proposed, RecordedTest, RunId, ScorePair,
    TestCategory, TestGenAnalysis, TestGenConfig, TestGenConfigChange, TestGenContext, TestGenRun,
};
use cargo_implfuzz::testgen::score::TestGenScore;
use serde_json::{Value, json};

fn store(repo: &Repo) -> Store {
    Store::open(&repo.root().join(".implfuzz/state.db")).unwrap()
}

/// As contracts call it.
const PURE: &str = "pure function";

fn began(number: u32) -> jiff::Timestamp {
    format!("2026-01-31T10:{number:02}:00Z").parse().unwrap()
}

fn id(number: u32) -> RunId {
    RunId::new(began(number), number)
}

/// A run on a function of the small library; without an analysis nothing was measured.
fn run(number: u32, symbol: &str, config: ConfigId, analysis: Option<TestGenAnalysis>) -> TestGenRun {
    let analysis = analysis.unwrap_or_default();
    TestGenRun {
        task_type: Some(PURE.into()),
        context: TestGenContext::Commander,
        proposed: Proposed { valid: 7, dropped: 3, duplicates: 2 },
        kept: 5,
        rounds: 4,
        reflections: 1,
        score: TestGenScore::of(&analysis).total,
        analysis,
        tokens: 4_321,
        duration_ms: 12_300,
        ..TestGenRun::unmeasured(id(number), config, SymbolKey(format!("c:@F@{symbol}")), began(number))
    }
}

/// Everything measured: a score of 320 + 100 + 150 + 200.
fn measured() -> TestGenAnalysis {
    TestGenAnalysis {
        category_distribution: [(TestCategory::Correctness, 6), (TestCategory::Boundary, 1)].into(),
        category_balance: 0.5,
        anti_cheat_coverage: Some(0.75),
        parameter_discovery: Some(1.0),
        reflection_effectiveness: None,
        token_efficiency: Some(1.0),
        comprehensiveness: Some(8.0),
        kill_rate: Some(0.8),
        callee_kill_rate: None,
        branch_coverage: Some(0.8),
        valid_share: Some(0.58),
        duplicate_share: Some(0.17),
        prediction_agreement: Some(0.25),
        brier_score: None,
    }
}

fn case(id: &str, dropped: Option<&str>, kills: Option<&[&str]>, kept: bool) -> RecordedTest {
    let test = GeneratedTest {
        id: id.into(),
        input: json!({ "data": "x".repeat(200) }),
        predicted_output: None,
        expected_output: dropped.is_none().then(|| json!({ "return": 24_000 })),
        reasoning: String::new(),
        category: TestCategory::Boundary,
        confidence: None,
    };
    let kills = kills.map(|names| names.iter().map(|name| (*name).to_owned()).collect());
    let cheats = dropped.is_none().then(|| vec!["constant return".to_owned()]);
    RecordedTest { test, dropped: dropped.map(str::to_owned), kills, cheats, kept }
}

/// Two configurations, the second current; runs on `twice`, the second without a score, and on `sum_bytes`; two rounds.
fn filled() -> Repo {
    let repo = Repo::initialised();
    let mut store = store(&repo);
    let first = store.save_testgen_config(&TestGenConfig::default()).unwrap();
    let other = TestGenConfig { version: "1.0.1".into(), precision_weight: 0.7, ..TestGenConfig::default() };
    let other = store.save_testgen_config(&other).unwrap();
    let tests = [
        case("edge", None, Some(&["m1", "m2"]), true),
        case("same\u{1b}[2J", None, Some(&[]), false),
        case("alone", None, None, true),
        case("null", Some("`data` must not be null"), None, false),
    ];
    store.save_testgen_run(&run(1, "twice", first, Some(measured())), &tests).unwrap();
    store.save_testgen_run(&run(2, "twice", other, None), &[]).unwrap();
    // The best one of all kinds stays as it was before the next run: of all kinds nobody has looked since.
    store.update_testgen_best(GLOBAL, &TestGenContext::Commander).unwrap();
    let better = TestGenAnalysis { category_balance: 1.0, ..measured() };
    store.save_testgen_run(&run(3, "twice", other, Some(better)), &[]).unwrap();
    store.save_testgen_run(&run(4, "sum_bytes", first, None), &[]).unwrap();
    store.update_testgen_best(PURE, &TestGenContext::Commander).unwrap();
    let mut change = TestGenConfigChange::keep("boundaries are missing");
    change.kind = ChangeType::UpdateWeights;
    change.expected_improvement = Some(40.0);
    let named = |id| ConfigRef { id, version: String::new() };
    let won = EvolutionRound {
        to: Some(named(other)),
        mean_gain: Some(12.5),
        lower_bound: Some(2.5),
        scores: vec![ScorePair {
            symbol: SymbolName::new("twice"),
            incumbent: Some(700),
            candidate: Some(713),
        }],
        quality_delta: Some(0.5),
        accepted: true,
        reason: "the gain is above zero".into(),
        ..EvolutionRound::begun(1, "m".into(), change, named(first))
    };
    store.add_testgen_evolution(won).unwrap();
    let keep = TestGenConfigChange::keep("fine as it is");
    let refused = EvolutionRound {
        reason: "nothing\u{1b}[2J to try".into(),
        ..EvolutionRound::begun(2, "m".into(), keep, named(first))
    };
    store.add_testgen_evolution(refused).unwrap();
    repo
}

fn json(repo: &Repo, args: &[&str], kind: &str) -> Value {
    repo.run(&[&["testgen"], args, &["--format", "json"]].concat()).ok().json(kind)
}

fn text(repo: &Repo, args: &[&str]) -> String {
    let ran = repo.run(&[&["testgen"], args].concat());
    assert!(!ran.ok().stdout.contains('\u{1b}'), "{ran}");
    ran.stdout
}

/// The words of the line that begins with this.
fn words<'t>(text: &'t str, begin: &str) -> Vec<&'t str> {
    let line = text.lines().find(|line| line.trim_start().starts_with(begin));
    line.unwrap_or_else(|| panic!("no line {begin:?} in:\n{text}")).split_whitespace().collect()
}

#[test]
fn an_empty_store_has_defaults_and_nothing_else() {
    let repo = Repo::initialised();
    assert!(text(&repo, &["runs"]).contains("no runs"));
    assert!(text(&repo, &["evolution"]).contains("no round of evolution yet"));
    assert!(text(&repo, &["config", "list"]).contains("runs use the defaults"));
    assert!(text(&repo, &["config", "show"]).contains("the built-in defaults"));
    let config = &json(&repo, &["config", "show"], "testgen-config")["config"];
    assert_eq!(
        (&config["id"], &config["created_at"], &config["max_tokens"]),
        (&Value::Null, &Value::Null, &2_048.into())
    );
    assert_eq!(config["config_hash"], TestGenConfig::default().config_hash());
    let shown = text(&repo, &["stats", "--plot", "scores.svg"]);
    assert!(shown.contains("no run of TestGen yet") && shown.contains("nothing to plot"), "{shown}");
    let stats = json(&repo, &["stats", "--plot", "scores.svg"], "testgen-stats");
    assert_eq!(
        (&stats["plot"], &stats["overall"]["score"], &stats["overall"]["runs"]),
        (&Value::Null, &Value::Null, &0.into())
    );
    assert!(!repo.root().join("scores.svg").exists());
}

#[test]
fn what_the_store_has_is_shown() {
    let repo = filled();
    stats(&repo);
    plot(&repo);
    runs(&repo);
    one_run(&repo);
    evolution(&repo);
    for (args, kind) in [
        (&["stats"][..], "testgen-stats"),
        (&["runs"], "testgen-runs"),
        (&["runs", id(1).as_str()], "testgen-run"),
        (&["evolution"], "testgen-evolution"),
    ] {
        insta::assert_snapshot!(kind, documented(&json(&repo, args, kind)));
    }
}

fn stats(repo: &Repo) {
    let shown = text(repo, &["stats"]);
    assert_eq!(
        words(&shown, "sum_bytes")[1..],
        ["1", "0", "-", "-", "-", "0.00", "-", "-", "-", "-", "4321.0", "12.3"]
    );
    assert_eq!(words(&shown, "twice")[1..6], ["3", "2", "820.0", "870", "8.00"]);
    assert_eq!(words(&shown, "all")[1..6], ["4", "2", "820.0", "870", "8.00"]);
    assert!(
        shown.contains(
            "configurations: 2; rounds of evolution: 2, accepted: 1\ntests: 4, valid: 3, kept: 2\n"
        ),
        "{shown}"
    );
    assert_eq!(words(&shown, GLOBAL)[1..5], ["commander", "1", "(1.0.0)", "770.0"]);
    assert_eq!(words(&shown, "pure function")[2..9], ["commander", "2", "(1.0.1)", "870.0", "1", "of", "2"]);
    assert!(shown.contains("differs from the best for all kinds"));
    let stats = json(repo, &["stats"], "testgen-stats");
    let symbols = stats["symbols"].as_array().unwrap();
    let sum = symbols.iter().find(|row| row["symbol"] == "sum_bytes").unwrap();
    assert_eq!(
        (&sum["symbol_key"], &sum["score"], &sum["runs"]),
        (&"c:@F@sum_bytes".into(), &Value::Null, &1.into())
    );
    assert_eq!((&stats["overall"]["score"], &stats["accepted_changes"]), (&820.0.into(), &1.into()));
    let scores: Vec<_> = stats["over_time"].as_array().unwrap().iter().map(|run| &run["score"]).collect();
    assert_eq!(scores, [&json!(770), &json!(null), &json!(870), &json!(null)]);
    assert_eq!(
        (&stats["best"][0]["task_type"], &stats["best"][1]["is_override"]),
        (&GLOBAL.into(), &true.into())
    );
    assert_eq!(stats["plot"], Value::Null);
}

fn plot(repo: &Repo) {
    assert!(text(repo, &["stats", "--plot", "out/scores.svg"]).contains("plot: out/scores.svg"));
    let svg = repo.read("out/scores.svg");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    for part in [
        ">twice<",
        ">sum_bytes<",
        ">1000<",
        "run without a score",
        "2026-01-31 10:01 to 2026-01-31 10:04 UTC",
    ] {
        assert!(svg.contains(part), "no {part} in {svg}");
    }
    // The run without a score stands between the two that have one.
    assert_eq!((svg.matches("<circle").count(), svg.matches("<polyline").count()), (2, 0));
    repo.run(&["testgen", "stats", "--plot", "out/scores.png"])
        .fails(2, &["out/scores.png: the plot is drawn as SVG", "ends in .svg"]);
    assert!(!repo.root().join("out/scores.png").exists());
    let told = json(repo, &["stats", "--plot", "out/again.svg"], "testgen-stats");
    assert_eq!(told["plot"], "out/again.svg");
    assert_eq!(repo.read("out/again.svg"), svg);
}

fn runs(repo: &Repo) {
    let shown = text(repo, &["runs"]);
    let (first, last) = (id(1).to_string(), id(4).to_string());
    assert!(shown.find(&last) < shown.find(&first), "newest first: {shown}");
    let wanted = [
        "2026-01-31", "10:01:00", "twice", "1", "(1.0.0)", "770", "8.00", "7", "3", "2", "5", "4321", "12.3",
    ];
    assert_eq!(words(&shown, &first)[1..], wanted);
    assert_eq!(words(&shown, &last)[6..8], ["-", "-"]);
    let limited = json(repo, &["runs", "--symbol", "twice", "--limit", "2"], "testgen-runs");
    let names: Vec<_> = limited["runs"].as_array().unwrap().iter().map(|run| &run["run_id"]).collect();
    assert_eq!(names, [&json!(id(3)), &json!(id(2))]);
    assert_eq!(
        (&limited["runs"][1]["score"], &limited["runs"][1]["symbol"]),
        (&Value::Null, &"twice".into())
    );
    repo.run(&["testgen", "runs", "--symbol", "twise"]).fails(2, &["twise", "twice"]);
}

fn one_run(repo: &Repo) {
    let shown = text(repo, &["runs", id(1).as_str()]);
    for part in [
        "on twice, 2026-01-31 10:01:00 UTC",
        "configuration: 1 (1.0.0)",
        "context: commander",
        "kind of function: pure",
    ] {
        assert!(shown.contains(part), "no {part} in {shown}");
    }
    assert_eq!(words(&shown, "comprehensiveness"), ["comprehensiveness", "320.0", "of", "400"]);
    assert_eq!(words(&shown, "in total"), ["in", "total", "770", "of", "1000"]);
    assert_eq!(words(&shown, "effect of reflections"), ["effect", "of", "reflections", "-"]);
    assert!(shown.contains("valid tests: correctness 6, boundary 1"), "{shown}");
    let input = format!("{{\"data\":\"{}…", "x".repeat(51));
    assert_eq!(
        words(&shown, "boundary  edge")[1..],
        ["edge", &input, "{\"return\":24000}", "2", "1", "kept"]
    );
    assert_eq!(words(&shown, "boundary  same\\u{1b}[2J")[4..], ["0", "1", "valid,", "not", "kept"]);
    assert_eq!(words(&shown, "boundary  alone")[4..], ["-", "1", "kept"]);
    assert_eq!(
        words(&shown, "boundary  null")[3..],
        ["-", "-", "-", "dropped:", "`data`", "must", "not", "be", "null"]
    );
    let best = text(repo, &["runs", id(3).as_str()]);
    assert!(best.contains("the best one of this function") && best.contains("no tests"), "{best}");
    let unscored = text(repo, &["runs", id(2).as_str()]);
    let missing =
        "no score, because this was not measured: comprehensiveness, anti_cheat_coverage, token_efficiency";
    assert!(unscored.contains(missing), "{unscored}");
    assert_eq!(words(&unscored, "in total"), ["in", "total", "-", "of", "1000"]);
    let whole = json(repo, &["runs", id(1).as_str()], "testgen-run");
    assert_eq!((&whole["run"]["symbol"], &whole["config_version"]), (&"twice".into(), &"1.0.0".into()));
    assert_eq!(
        (&whole["score"]["anti_cheat_coverage"], &whole["score"]["unmeasured"]),
        (&150.0.into(), &json!([]))
    );
    assert_eq!(whole["run"]["analysis"]["brier_score"], Value::Null);
    let tests = whole["tests"].as_array().unwrap();
    assert_eq!((&tests[0]["kills"], &tests[2]["kills"]), (&json!(["m1", "m2"]), &Value::Null));
    assert_eq!((&tests[2]["cheats"], &tests[3]["cheats"]), (&json!(["constant return"]), &Value::Null));
    assert_eq!(
        (&tests[3]["dropped"], &tests[3]["expected_output"]),
        (&"`data` must not be null".into(), &Value::Null)
    );
    repo.run(&["testgen", "runs", id(9).as_str()])
        .fails(2, &["there is no TestGen run tg-20260131-100900-000009", "testgen runs"]);
    repo.run(&["testgen", "runs", "last"]).fails(2, &["`last` is not the name of a TestGen run"]);
    repo.run(&["testgen", "runs", id(1).as_str(), "--limit", "2"]).code(2);
}

fn evolution(repo: &Repo) {
    let shown = text(repo, &["evolution"]);
    let won = ["1", "(1.0.0)", "2", "(1.0.1)", "update_weights", "+40.0", "+12.5", "+2.5", "1", "yes", "the"];
    assert_eq!(words(&shown, "1 ")[3..14], won);
    assert_eq!(words(&shown, "2 ")[3..12], ["1", "(1.0.0)", "-", "keep", "-", "-", "-", "-", "no"]);
    let rounds = &json(repo, &["evolution"], "testgen-evolution")["rounds"];
    assert_eq!(
        (&rounds[0]["from"], &rounds[0]["to"], &rounds[0]["accepted"]),
        (&1.into(), &2.into(), &true.into())
    );
    assert_eq!((&rounds[0]["lower_bound"], &rounds[0]["scores"][0]["candidate"]), (&2.5.into(), &713.into()));
    assert_eq!((&rounds[1]["to"], &rounds[1]["actual_improvement"]), (&Value::Null, &Value::Null));
}

#[test]
fn configurations_are_listed_shown_made_and_chosen() {
    let repo = filled();
    let list = text(&repo, &["config", "list"]);
    let hash = TestGenConfig::default().config_hash();
    assert_eq!(words(&list, "1 ")[..3], ["1", "1.0.0", &hash[..12]]);
    assert_eq!(words(&list, "2 ").last(), Some(&"current"));
    let configs = &json(&repo, &["config", "list"], "testgen-configs")["configs"];
    assert_eq!((configs.as_array().unwrap().len(), &configs[1]["is_current"]), (2, &true.into()));
    let shown = text(&repo, &["config", "show"]);
    assert!(
        shown.starts_with("configuration 2, current") && shown.contains("category_prompts.boundary:"),
        "{shown}"
    );
    assert_eq!(words(&shown, "precision_weight"), ["precision_weight", "0.7"]);
    assert_eq!(words(&shown, "temperature")[..2], ["temperature", "-"]);
    for name in ["1", &hash[..8], &hash] {
        let config = &json(&repo, &["config", "show", name], "testgen-config")["config"];
        assert_eq!((&config["id"], &config["version"]), (&1.into(), &"1.0.0".into()), "{name}");
    }
    repo.run(&["testgen", "config", "show", "99"])
        .fails(2, &["there is no TestGen configuration 99", "config list"]);
    made_from_another_one(&repo);
    chosen(&repo, &hash);
}

fn made_from_another_one(repo: &Repo) {
    repo.write("set.json", r#"{"max_tokens": 512, "max_total_rounds": 6}"#);
    let create = ["config", "create", "--file", "set.json", "--set", "max_tokens=1024"];
    let made =
        json(repo, &[&create[..], &["--set", "primary_model=\"claude\""]].concat(), "testgen-config-created");
    let config = &made["config"];
    for (key, value) in [
        ("id", json!(3)),
        ("max_tokens", json!(1_024)),
        ("max_total_rounds", json!(6)),
        ("primary_model", json!("claude")),
        ("precision_weight", json!(0.7)), // of the current one
        ("is_current", json!(false)),
    ] {
        assert_eq!(config[key], value, "{key} of {config}");
    }
    assert_eq!(made["created"], true);
    let again = text(repo, &["config", "create", "--from", "3", "--set", "max_tokens=1024"]);
    assert!(again.contains("configuration 3,") && again.contains("exists already"), "{again}");
    let plain = json(repo, &["config", "create", "--from", "defaults"], "testgen-config-created");
    assert_eq!((&plain["created"], &plain["config"]["id"]), (&false.into(), &1.into()));
    refused(repo);
}

fn refused(repo: &Repo) {
    let create = |args: &[&str]| repo.run(&[&["testgen", "config", "create"], args].concat());
    create(&["--set", "max_token=1"]).fails(2, &["unknown key `max_token`", "did you mean `max_tokens`?"]);
    create(&["--set", "max_tokens=\"many\""]).fails(2, &["--set max_tokens: invalid type", "config show"]);
    create(&["--set", "max_tokens"]).fails(2, &["there is no `=` in it"]);
    create(&["--set", "primary_model=claude"]).fails(2, &["neither JSON nor TOML"]);
    create(&["--set", "precision_weight=1.5"]).fails(2, &["precision_weight 1.5 is not between 0 and 1"]);
    create(&["--set", "category_prompts.existence=\"is it there?\""])
        .fails(2, &["category_prompts.existence would change nothing", "the tool makes these tests"]);
    create(&["--from", "99"]).fails(2, &["there is no TestGen configuration 99"]);
    repo.write("wrong.json", "[1]");
    create(&["--file", "wrong.json"]).fails(2, &["wrong.json: it holds no JSON object"]);
    let ran = create(&["--set", "max_token=1", "--format", "json"]);
    assert_eq!(ran.code(2).json("error")["exit_code"], 2);
    assert_eq!(repo.count("SELECT count(*) FROM testgen_configs"), 3, "nothing was kept");
}

fn chosen(repo: &Repo, hash: &str) {
    let current = || repo.count("SELECT id FROM testgen_configs WHERE is_current");
    assert!(
        text(repo, &["config", "set-current", "3"]).contains("configuration 3, version 1.0.1, is current")
    );
    assert_eq!(current(), 3);
    repo.run(&["testgen", "config", "set-current", "99"]).fails(2, &["there is no TestGen configuration 99"]);
    assert_eq!(current(), 3);
    let told = json(repo, &["config", "set-current", &hash[..10]], "testgen-config-current");
    assert_eq!(
        (&told["config"]["id"], &told["config"]["is_current"], current()),
        (&1.into(), &true.into(), 1)
    );
    assert_eq!(json(repo, &["config", "show"], "testgen-config")["config"]["id"], 1);
}

#[test]
fn the_defaults_can_be_made_current() {
    let repo = Repo::initialised();
    for _ in 0..2 {
        let told = json(&repo, &["config", "set-current", "defaults"], "testgen-config-current");
        let config = &told["config"];
        assert_eq!((&config["id"], &config["is_current"]), (&1.into(), &true.into()));
        assert_eq!(config["config_hash"], TestGenConfig::default().config_hash());
    }
    assert_eq!(repo.count("SELECT count(*) FROM testgen_configs"), 1);
}

#[test]
fn a_model_without_a_profile_is_remarked_upon() {
    let repo = Repo::initialised();
    let create = ["testgen", "config", "create", "--set", "reflection_model=\"claude\""];
    let ran = repo.run(&create);
    let said = &ran.ok().stderr;
    assert!(said.contains("reflection_model is `claude`, but there is no [llm.profiles.claude]"), "{said}");
    assert!(said.contains("add [llm.profiles.") && ran.stdout.contains("made"), "{ran}");
    let config = repo.read("implfuzz.toml") + "\n[llm.profiles.claude]\nmodel = \"m\"\n";
    repo.write("implfuzz.toml", &config);
    let ran = repo.run(&create);
    assert!(!ran.ok().stderr.contains("profiles"), "{ran}");
}

#[test]
fn tests_of_a_function_that_is_gone_go_with_it() {
    let repo = Repo::initialised();
    let generated = |name: &str| format!("rust/tests/testgen_{name}.rs");
    for name in ["thrice", "twice"] {
        repo.write(&generated(name), cargo_implfuzz::project::test_files::HEAD);
    }
    repo.write("rust/tests/testgen_mine.rs", "// written by a person\n");
    let source = repo.read("sum.c");
    repo.write("sum.c", &source.replace("thrice", "triple"));
    repo.run(&["init"]).ok().shows("rust/tests/testgen_thrice.rs is gone with its C function");
    assert!(!repo.root().join(generated("thrice")).exists());
    assert!(repo.root().join(generated("twice")).exists());
    assert!(repo.root().join("rust/tests/testgen_mine.rs").exists());
}

#[test]
fn without_a_model_generate_names_what_needs_none() {
    let repo = Repo::initialised();
    repo.run(&["testgen", "generate", "twice", "--config", "llm.replay_dir=\"nowhere\""])
        .fails(2, &["--context existence asks no model"]);
}
