//! Files for CI servers, read back by other programs: check-jsonschema with the schemas of SARIF and of GitHub's
//! workflows, zizmor, which finds insecure workflows, and quick-junit.

use crate::support::clib::vendored;
use crate::support::git::{git, program, ran, tool_folder};
use crate::support::python::tools;
use crate::support::shape::documented;
use crate::support::{QUICK, Ran, Repo};
use quick_junit::{Report, TestCase, TestCaseStatus};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const MODULE: &str = "rust/src/sum.rs";
const WORKFLOW: &str = ".github/workflows/implfuzz.yml";

/// The folder of the other programs.
fn readers() -> &'static Path {
    static BIN: OnceLock<PathBuf> = OnceLock::new();
    BIN.get_or_init(|| tools("ci-venv", &["check-jsonschema", "zizmor"], &["check-jsonschema", "zizmor"]))
}

/// Runs one of them.
fn read(repo: &Repo, name: &str, args: &[&str]) -> Ran {
    ran(&mut program(readers().join(name).to_str().unwrap(), repo.root(), args))
}

/// The run in a SARIF file that fits the schema.
fn sarif(repo: &Repo, path: &str) -> Value {
    static SCHEMA: OnceLock<PathBuf> = OnceLock::new();
    // The crate has the schema of OASIS.
    let schema = SCHEMA.get_or_init(|| vendored("serde-sarif", "0.8.0").join("src/schema.json"));
    // A pattern in it is a regular expression for Python, and none for ECMAScript.
    let args = ["--regex-variant", "python", "--schemafile", schema.to_str().unwrap(), path];
    read(repo, "check-jsonschema", &args).ok();
    let log: Value = serde_json::from_str(&repo.read(path)).unwrap();
    assert_eq!(log["version"], "2.1.0");
    log["runs"][0].clone()
}

/// Rule, file and line of each result.
fn places(run: &Value) -> Vec<(String, String, u64)> {
    let place = |result: &Value| {
        let place = &result["locations"][0]["physicalLocation"];
        let file = place["artifactLocation"]["uri"].as_str().unwrap().to_owned();
        let line = place["region"]["startLine"].as_u64().unwrap();
        (result["ruleId"].as_str().unwrap().to_owned(), file, line)
    };
    run["results"].as_array().unwrap().iter().map(place).collect()
}

fn junit(repo: &Repo, path: &str) -> Report {
    Report::deserialize_from_str(&repo.read(path)).unwrap()
}

fn case<'r>(report: &'r Report, symbol: &str) -> &'r TestCase {
    let mut cases = report.test_suites.iter().flat_map(|suite| &suite.test_cases);
    cases.find(|case| case.name.as_str() == symbol).unwrap_or_else(|| panic!("no {symbol} in {report:?}"))
}

/// Type, message and text of a failed case.
#[track_caller]
fn failure(case: &TestCase) -> [&str; 3] {
    let TestCaseStatus::NonSuccess { ty, message, description, .. } = &case.status else {
        panic!("{case:?} did not fail")
    };
    [ty, message, description].map(|text| text.as_ref().unwrap().as_str())
}

/// The number of the line of the module in which this text stands.
fn line_of(repo: &Repo, text: &str) -> u64 {
    let module = repo.read(MODULE);
    1 + module.lines().position(|line| line.contains(text)).unwrap() as u64
}

fn port(repo: &Repo, symbol: &str, body: &str) {
    repo.replace(MODULE, &format!("unimplemented!(\"{symbol}\")"), body);
}

/// The annotations in an output.
fn annotations(ran: &Ran) -> Vec<&str> {
    ran.stdout.lines().filter(|line| line.starts_with("::")).collect()
}

/// The tool as GitHub's runner starts it.
fn on_github(repo: &Repo, args: &[&str]) -> Ran {
    Ran::of(repo.command(args).env("GITHUB_ACTIONS", "true"))
}

#[test]
fn check_writes_files_and_annotations_that_others_can_read() {
    let repo = Repo::initialised();
    port(&repo, "twice", "x << 1");
    repo.run(&[&["verify", "twice"], &QUICK[..]].concat()).ok();
    port(&repo, "thrice", "x.wrapping_mul(3)");
    let args = ["check", "--junit", "out/check.xml", "--sarif", "out/check.sarif"];
    let ran = repo.run(&args);
    // The stub `sum_bytes` is no port.
    ran.code(11).shows("evidence holds for 1 of 2 ports");
    assert!(annotations(&ran).is_empty(), "{ran}");

    let report = junit(&repo, "out/check.xml");
    assert_eq!((report.tests, report.failures), (2, 1));
    let passed = case(&report, "twice");
    assert_eq!(passed.status, TestCaseStatus::success());
    assert_eq!((passed.properties[0].name.as_str(), passed.properties[0].value.as_str()), ("grade", "weak"));
    let line = line_of(&repo, "pub fn thrice");
    let [rule, message, text] = failure(case(&report, "thrice"));
    assert_eq!((rule, message), ("unjudged", "implfuzz.lock has no evidence for it"));
    assert!(text.starts_with(&format!("{MODULE}:{line}: thrice: unjudged: ")), "{text}");
    assert!(text.contains("help: cargo implfuzz verify thrice"), "{text}");

    let run = sarif(&repo, "out/check.sarif");
    assert_eq!(places(&run), [("unjudged".to_owned(), MODULE.to_owned(), line)]);
    let fingerprint = run["results"][0]["partialFingerprints"].clone();
    assert!(fingerprint["portAndRule/v1"].is_string(), "{run}");

    let ran = on_github(&repo, &args);
    let said = format!(
        "::error file={MODULE},line={line},title=thrice%3A unjudged::implfuzz.lock has no evidence for it%0A\
         help: cargo implfuzz verify thrice"
    );
    assert_eq!(annotations(&ran), [said]);
    let json = on_github(&repo, &["check", "--format", "json"]);
    json.json("check");
    assert!(annotations(&json).is_empty(), "{json}");

    // Other lines above the port: another place, the same alert.
    repo.write(MODULE, &repo.read(MODULE).replacen("pub fn thrice", "\n\npub fn thrice", 1));
    repo.run(&args).code(11);
    let moved = sarif(&repo, "out/check.sarif");
    assert_eq!(places(&moved)[0].2, line + 2);
    assert_eq!(moved["results"][0]["partialFingerprints"], fingerprint);

    repo.run(&[&["verify", "thrice"], &QUICK[..]].concat()).ok();
    repo.run(&args).ok();
    assert_eq!(junit(&repo, "out/check.xml").failures, 0);
    assert!(places(&sarif(&repo, "out/check.sarif")).is_empty());
}

#[test]
fn verify_writes_the_difference_and_the_place_of_the_port() {
    let repo = Repo::initialised();
    port(&repo, "twice", "x.saturating_mul(2)");
    port(&repo, "thrice", "x.wrapping_mul(3)");
    port(&repo, "sum_bytes", "\n    std::fs::read(\"x\").map_or(data.len() as u32, |x| x.len() as u32)");
    let files = ["--junit", "verify.xml", "--sarif", "verify.sarif"];
    let ran = on_github(&repo, &[&["verify", "--all"], &files[..], &QUICK].concat());
    ran.code(10);
    assert_eq!(annotations(&ran).len(), 2, "{ran}");

    let report = junit(&repo, "verify.xml");
    assert_eq!((report.tests, report.failures), (3, 2));
    assert_eq!(case(&report, "thrice").status, TestCaseStatus::success());
    assert!(case(&report, "thrice").time.is_some());
    let [rule, message, text] = failure(case(&report, "twice"));
    assert_eq!((rule, message), ("refuted", "mismatch: return value"));
    assert!(text.contains("    x = ") && text.contains("differs") && !text.contains('\u{1b}'), "{text}");
    assert_eq!(failure(case(&report, "sum_bytes"))[0], "audit");

    let mut found = places(&sarif(&repo, "verify.sarif"));
    found.sort();
    let audit = ("audit".to_owned(), MODULE.to_owned(), line_of(&repo, "std::fs::read"));
    let refuted = ("refuted".to_owned(), MODULE.to_owned(), line_of(&repo, "pub fn twice"));
    assert_eq!(found, [audit, refuted]);

    // `check` sees the same two problems at the same places.
    repo.run(&["check", "--sarif", "check.sarif"]).code(10);
    let mut checked = places(&sarif(&repo, "check.sarif"));
    checked.sort();
    assert_eq!(checked, found);
}

#[test]
fn results_are_shown_even_if_a_file_cannot_be_written() {
    let repo = Repo::initialised();
    for option in ["--junit", "--sarif"] {
        let ran = repo.run(&["check", option, "implfuzz.toml/file"]);
        ran.code(1).shows("evidence holds for 0 of 0 ports");
        assert!(ran.stderr.contains("implfuzz.toml"), "{ran}");
    }
}

/// A library in a folder of a git repository, with a port that nothing has judged.
fn in_a_folder() -> Repo {
    let repo = Repo::empty();
    git(&repo, &["init", "-q"]).ok();
    repo.write("lib/f.c", "unsigned f(unsigned x) { return x + 1; }\n");
    repo.run(&["init", "lib"]).ok();
    repo.replace("lib/rust/src/f.rs", "unimplemented!(\"f\")", "x.wrapping_add(1)");
    repo
}

#[test]
fn paths_are_relative_to_the_git_repository() {
    let repo = in_a_folder();
    let ran = on_github(&repo, &["-C", "lib", "check", "--junit", "check.xml", "--sarif", "check.sarif"]);
    ran.code(11);
    assert!(annotations(&ran)[0].starts_with("::error file=lib/rust/src/f.rs,line="), "{ran}");
    assert_eq!(places(&sarif(&repo, "check.sarif"))[0].1, "lib/rust/src/f.rs");
    let report = junit(&repo, "check.xml");
    assert_eq!(case(&report, "f").extra["file"].as_str(), "lib/rust/src/f.rs");
}

/// Actions of GitHub itself need no hash: their tags get security fixes, and a template with hashes would age.
const ZIZMOR: &str = "rules:\n  unpinned-uses:\n    config:\n      policies:\n        \"actions/*\": ref-pin\n        \
                      \"github/*\": ref-pin\n";

/// The workflow as data, after the programs that know workflows have accepted it.
fn workflow(repo: &Repo, path: &str) -> Value {
    read(repo, "check-jsonschema", &["--builtin-schema", "vendor.github-workflows", path]).ok();
    let config = repo.aside().join("zizmor.yml");
    std::fs::write(&config, ZIZMOR).unwrap();
    read(repo, "zizmor", &["--offline", "--no-progress", "--config", config.to_str().unwrap(), path]).ok();
    let text = "import json, sys, ruamel.yaml\n\
                print(json.dumps(ruamel.yaml.YAML(typ='safe').load(open(sys.argv[1]))))";
    serde_json::from_str(&read(repo, "python", &["-c", text, path]).ok().stdout).unwrap()
}

/// Runs a step of a job in the folder that it names, as the runner does.
fn step(repo: &Repo, job: &Value, name: &str) -> Ran {
    let steps = job["steps"].as_array().unwrap();
    let step = steps.iter().find(|step| step["name"] == name).unwrap();
    let dir = job["defaults"]["run"]["working-directory"].as_str().unwrap_or(".");
    let dir = repo.root().join(dir);
    let mut command = program("bash", &dir, &["-e", "-c", step["run"].as_str().unwrap()]);
    let path = format!("{}:{}", tool_folder().display(), std::env::var("PATH").unwrap());
    command.env("PATH", path).env("GITHUB_ACTIONS", "true").env("SHARD", "1/4");
    ran(command.env("RUNNER_TEMP", repo.aside()))
}

#[test]
fn the_workflow_is_valid_and_its_commands_run() {
    let repo = in_a_folder();
    repo.run(&["-C", "lib", "export", "github"]).ok().shows("written; commit it");
    let jobs = workflow(&repo, WORKFLOW)["jobs"].clone();
    for (name, job) in jobs.as_object().unwrap() {
        assert!(job["timeout-minutes"].is_u64(), "{name}");
        let needs = if name == "tool" { Value::Null } else { "tool".into() };
        assert_eq!(job["needs"], needs);
    }
    step(&repo, &jobs["check"], "Check").code(11).shows("::error file=lib/rust/src/f.rs,line=");
    for file in ["implfuzz/check.xml", "implfuzz/check.sarif"] {
        assert!(repo.aside().join(file).is_file(), "{file}");
    }
    // Nothing is stale any more.
    repo.run(&[&["-C", "lib", "verify", "f"], &QUICK[..]].concat()).ok();
    step(&repo, &jobs["verify"], "Verify").ok().shows("nothing to verify");
    for file in ["implfuzz/verify.xml", "implfuzz/verify.sarif"] {
        assert!(repo.aside().join(file).is_file(), "{file}");
    }
}

#[test]
#[ignore = "half a minute: cargo test --test suite ci -- --ignored"]
fn a_workflow_that_someone_changed_is_replaced_only_by_force() {
    let repo = Repo::initialised();
    git(&repo, &["init", "-q"]).ok();
    repo.run(&["export", "github"]).ok();
    let text = repo.read(WORKFLOW);
    repo.run(&["export", "github"]).ok().shows("exists already");
    let changed = text.clone() + "# mine\n";
    repo.write(WORKFLOW, &changed);
    repo.run(&["export", "github"]).fails(2, &["has another text", "export github --force"]);
    assert_eq!(repo.read(WORKFLOW), changed);
    repo.run(&["export", "github", "--force"]).ok();
    assert_eq!(repo.read(WORKFLOW), text);

    assert_eq!(repo.run(&["export", "github", "--print"]).ok().stdout, text);
    let ran = repo.run(&["export", "github", "--shards", "2", "--out", "ci/two.yml", "--format", "json"]);
    let value = ran.ok().json("export");
    documented(&value);
    assert_eq!((&value["path"], &value["change"]), (&"ci/two.yml".into(), &"written".into()));
    let jobs = workflow(&repo, "ci/two.yml")["jobs"].clone();
    assert_eq!(jobs["verify"]["strategy"]["matrix"]["shard"], serde_json::json!([1, 2]));
    repo.run(&["export", "github", "--shards", "0"]).code(2);
}

#[test]
fn c_text_gives_no_commands_to_the_runner() {
    let repo = Repo::library();
    repo.replace("sum.c", "/* Doubles. */", "/* Doubles.\n::stop-commands::forged\n */");
    repo.run(&["init"]).ok();
    let shown = repo.run(&["context", "twice"]);
    assert!(shown.ok().stdout.contains("\n::stop-commands::forged"), "{shown}");
    let ran = on_github(&repo, &["context", "twice"]);
    ran.ok().shows(": :stop-commands::forged");
    assert!(annotations(&ran).is_empty(), "{ran}");
}
