//! The library's own programs, linked with the port in place of C: their results and their call counts.

use crate::support::clib::copy_tree;
use crate::support::{Ran, Repo, assert_same, plant};
use cargo_implfuzz::platform::process::support;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

fn here(path: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A library after `init`, with these lines in its configuration.
fn library(path: &str, init: &[&str], dropin: &str) -> Repo {
    let repo = Repo::empty();
    copy_tree(&here(path), repo.root());
    repo.run(&[&["init"], init].concat()).ok();
    let config = repo.read("implfuzz.toml");
    repo.write("implfuzz.toml", &format!("{config}\n[dropin]\n{dropin}"));
    repo
}

/// The fixture, whose `make test` runs nine programs.
fn kit() -> Repo {
    library("fixtures/c-lib", &[], "build = [[\"make\", \"all\"]]\nrun = [[\"make\", \"test\"]]\n")
}

/// The small library of this test, with programs of every kind.
fn gauge() -> Repo {
    let dropin = "build = [[\"make\"]]\nrun = [[\"./state\"], [\"./shared\"], [\"./killed\"], [\"./inside\"], [\"./alone\"]]\n";
    library("tests/suite/dropin", &["--config", "c.exclude=['checks/']"], dropin)
}

/// Writes ports in the place of their stubs.
fn port(repo: &Repo, ports: &[(&str, &str)]) {
    let modules = repo.root().join("rust/src");
    for (function, text) in ports {
        let paths = std::fs::read_dir(&modules).unwrap().map(|entry| entry.unwrap().path());
        let planted = paths.into_iter().find_map(|path| {
            let mut module = std::fs::read_to_string(&path).unwrap();
            plant(&mut module, function, text)?;
            std::fs::write(&path, module).ok()
        });
        planted.unwrap_or_else(|| panic!("`{function}` has no stub"));
    }
}

/// The right ports of the fixture.
fn right_ports() -> Vec<(String, String)> {
    let folders = std::fs::read_dir(here("fixtures/planted")).unwrap().map(|entry| entry.unwrap().path());
    let ports = folders.filter(|path| path.is_dir()).map(|path| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, std::fs::read_to_string(path.join("right.rs")).unwrap())
    });
    ports.collect()
}

/// What is said of each function, by its name.
fn functions(json: &Value) -> BTreeMap<&str, &Value> {
    let all = json["functions"].as_array().unwrap();
    all.iter().map(|one| (one["symbol"].as_str().unwrap(), one)).collect()
}

const GAUGE_ADD: &str = "pub fn gauge_add(by: ::core::ffi::c_int) -> ::core::ffi::c_int {
    unsafe {
        globals::calls = globals::calls.wrapping_add(1);
        globals::level = callee::clamp(globals::level.wrapping_add(by % 1000));
        globals::level
    }
}";

const CLAMP: &str = "pub fn clamp(value: ::core::ffi::c_int) -> ::core::ffi::c_int {
    value.min(100)
}";

const IN_RANGE: &str = "pub fn in_range(factor: ::core::ffi::c_int) -> ::core::ffi::c_int {
    factor % 10
}";

const GAUGE_SCALED: &str = "pub fn gauge_scaled(factor: ::core::ffi::c_int) -> ::core::ffi::c_int {
    callee::gauge_level().wrapping_mul(callee::in_range(factor))
}";

/// Functions of the fixture that only ports call.
const UNCALLED: [&str; 7] =
    ["add_sums", "base64_value", "fail", "hex_value", "kit_ascii_lower", "match_here", "match_star"];

#[test]
fn the_tests_of_the_library_pass_with_the_port_and_fail_with_a_wrong_one() {
    let repo = kit();
    let ports = right_ports();
    port(&repo, &ports.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect::<Vec<_>>());
    // What is generated follows what is ported.
    repo.run(&["init"]).ok();
    let before = repo.tree();
    let ran = repo.run(&["dropin", "--format", "json"]);
    let json = ran.ok().json("dropin");
    assert_same(&before, &repo.tree());
    assert_eq!(json["verdict"], "same");
    assert_eq!((&json["linked"], &json["started"]), (&json!(9), &json!(9)));
    let command = json!({
        "command": ["make", "test"], "c": { "code": 0 }, "port": { "code": 0 }, "lines": 18, "difference": null,
    });
    assert_eq!(json["commands"], json!([command]));
    let functions = functions(&json);
    assert_eq!(functions.len(), ports.len());
    for (name, one) in &functions {
        assert_eq!((&one["intercepted"], &one["kept_by_c"]), (&json!(true), &Value::Null), "{name}");
        assert_eq!(one["ran_as_c"].as_u64().unwrap_or(0), 0, "{name}");
    }
    // A function in a header cannot be marked.
    assert_eq!(functions["kit_ascii_lower"]["ran_as_c"], Value::Null);
    // Those of which every caller is a port itself.
    let uncalled: Vec<&str> =
        functions.iter().filter(|(_, one)| one["calls"] == 0).map(|(n, _)| *n).collect();
    assert_eq!(uncalled, UNCALLED);
    // The same state is seen from nobody else's tests.
    assert_eq!(functions["kit_round_div"]["calls"], 33);
    assert_eq!(functions["kit_inexact_count"]["calls"], 2);

    repo.replace("rust/src/settings.rs", "globals::inexact_count.wrapping_add(1)", "globals::inexact_count");
    let ran = repo.run(&["dropin"]);
    ran.code(10).shows("make test: differs: C alone: exit 0, with the port: exit 2");
    ran.shows("ok build/test_settings").shows("kit_inexact_count() == 20");
}

#[test]
fn c_and_port_share_state_in_programs_of_every_kind() {
    let repo = gauge();
    port(&repo, &[("gauge_add", GAUGE_ADD), ("gauge_scaled", GAUGE_SCALED)]);
    let ran = repo.run(&["dropin", "--format", "json"]);
    let json = ran.ok().json("dropin");
    assert_eq!(json["verdict"], "same");
    let commands = json["commands"].as_array().unwrap();
    assert_eq!(commands.len(), 5);
    // It is what it is meant to be with C alone.
    assert_eq!((&commands[0]["c"]["code"], &commands[0]["lines"]), (&json!(7), &json!(4)));
    // The program of the shared library has none of the library's objects.
    assert_eq!(json["linked"], 5);
    assert_eq!(json["started"], 5);
    let functions = functions(&json);
    // 3 in each of the two programs of state.c, 2 in the killed ones, 1 in each of the others.
    assert_eq!(functions["gauge_add"]["calls"], 10);
    assert_eq!(functions["gauge_scaled"]["calls"], 2);
    assert_eq!(
        (&functions["gauge_add"]["ran_as_c"], &functions["gauge_scaled"]["ran_as_c"]),
        (&json!(0), &json!(0))
    );
}

const ALIAS: [&str; 4] = [
    "--config",
    "dropin.build=[['make', 'alias', 'EXTRA=-DGAUGE_SECOND_NAME']]",
    "--config",
    "dropin.run=[['./alias']]",
];

#[test]
#[ignore = "half a minute: cargo test --test suite dropin -- --ignored"]
fn statics_and_second_names_lead_to_the_port() {
    let repo = gauge();
    port(&repo, &[("gauge_add", GAUGE_ADD), ("clamp", CLAMP), ("in_range", IN_RANGE)]);
    let json = repo.run(&[&["dropin", "--format", "json"], &ALIAS[..]].concat()).ok().json("dropin");
    assert_eq!(json["verdict"], "same");
    let counted = functions(&json);
    // Once by its name, once by the second one.
    assert_eq!((&counted["gauge_add"]["calls"], &counted["gauge_add"]["ran_as_c"]), (&json!(2), &json!(0)));

    // Programs of every kind: an archive, a shared library, a source in a source, an object alone.
    let json = repo.run(&["dropin", "--format", "json"]).ok().json("dropin");
    assert_eq!((&json["verdict"], &json["started"]), (&json!("same"), &json!(5)));
    let counted = functions(&json);
    let in_range = counted["in_range"];
    assert_eq!((&in_range["intercepted"], &in_range["kept_by_c"]), (&json!(true), &Value::Null));
    assert_eq!((&in_range["calls"], &in_range["ran_as_c"]), (&json!(2), &json!(0)), "{json}");

    // A wrong port of a static function is seen in every program that calls it, with either compiler.
    repo.replace("rust/src/scaled.rs", "factor % 10", "factor % 2");
    for cc in ["gcc", "clang"] {
        let path = cargo_implfuzz::platform::toolchain::Search::from_env().program(&[cc]).unwrap();
        let ran = Ran::of(repo.command(&["dropin"]).env("CC", path));
        ran.code(10).shows("./state: differs").shows("./shared: differs");
    }
}

#[test]
fn c_that_runs_in_the_place_of_its_port_is_told() {
    let repo = gauge();
    port(&repo, &[("gauge_add", GAUGE_ADD), ("clamp", CLAMP)]);
    // Objects that another compiler makes have no room at their entries.
    let cc = cargo_implfuzz::platform::toolchain::Search::from_env().program(&["cc", "gcc"]).unwrap();
    let make = format!(
        "{} -DGAUGE_SECOND_NAME -O2 -I. -c gauge.c && make alias EXTRA=-DGAUGE_SECOND_NAME",
        cc.display()
    );
    let build = format!("dropin.build=[['sh', '-c', '{make}']]");
    let flags = ["--config", build.as_str(), "--config", "dropin.run=[['./alias']]"];
    let json = repo.run(&[&["dropin", "--format", "json"], &flags[..]].concat()).code(10).json("dropin");
    assert_eq!(json["verdict"], "ran-as-c");
    let functions = functions(&json);
    assert_eq!(
        (&functions["gauge_add"]["calls"], &functions["gauge_add"]["ran_as_c"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(json["commands"][0]["difference"], Value::Null);
    // The compiler has a copy of it in its caller.
    assert_eq!((&functions["clamp"]["calls"], &functions["clamp"]["ran_as_c"]), (&json!(0), &json!(1)));
    let ran = repo.run(&[&["dropin"], &flags[..]].concat());
    ran.code(10)
        .shows("the C originals of these functions ran instead of their ports: clamp, gauge_add")
        .shows("docs/limits.md");
}

#[test]
fn a_build_that_goes_around_the_compilers_on_the_path_proves_nothing() {
    let repo = gauge();
    port(&repo, &[("gauge_add", GAUGE_ADD)]);
    let cc = cargo_implfuzz::platform::toolchain::Search::from_env().program(&["cc", "gcc"]).unwrap();
    let build = format!("dropin.build=[['make', 'state', 'CC={}']]", cc.display());
    let ran = repo.run(&["dropin", "--config", &build, "--config", "dropin.run=[['./state']]"]);
    ran.code(11)
        .shows("./state: the same with the port")
        .shows("no program got the port")
        .shows("help: let it call `$CC`");
}

#[test]
fn commands_write_only_where_they_may() {
    if support().landlock.is_none() {
        return;
    }
    let repo = Repo::initialised();
    port(&repo, &[("twice", "pub fn twice(x: u32) -> u32 {\n    x.wrapping_mul(2)\n}")]);
    let other = tempfile::tempdir().unwrap();
    let other = other.path().canonicalize().unwrap();
    let write = format!(
        "echo own > here; ls $TMPDIR; echo own > $TMPDIR/here; echo other > '{}/file'",
        other.display()
    );
    let run = format!("dropin.run=[['sh', '-c', {write:?}]]");
    let dropin = |more: &[&str]| repo.run(&[&["dropin", "--config", &run], more].concat());
    dropin(&[]).code(11).shows("exit 2, 0 lines (it failed with C alone, too: https://");
    assert!(!other.join("file").exists());
    let folder = format!("dropin.write=['{}']", other.display());
    // Nor does a side see the temporary files of the other.
    dropin(&["--config", &folder]).code(11).shows("the same with the port: exit 0, 0 lines");
    assert_eq!(std::fs::read_to_string(other.join("file")).unwrap(), "other\n");
    let none = format!("dropin.write=['{}/none']", other.display());
    dropin(&["--config", &none]).fails(2, &["is no folder", "mkdir -p"]);
    dropin(&["--config", "dropin.write=['tmp']"]).fails(2, &["`tmp` is not an absolute path"]);
}

#[test]
fn what_is_missing_is_said_with_what_mends_it() {
    let repo = Repo::initialised();
    repo.run(&["dropin"]).fails(2, &["does not say what to run", "run = [[\"make\", \"test\"]]"]);
    let run = ["--config", "dropin.run=[['./test']]"];
    repo.run(&[&["dropin"], &run[..]].concat())
        .fails(2, &["no port that a C program could call", "cargo implfuzz port"]);
    port(&repo, &[("twice", "pub fn twice(x: u32) -> u32 {\n    x.wrapping_mul(2)\n}")]);
    let build = ["--config", "dropin.build=[['sh', '-c', 'echo \"so and $OPENAI_API_KEY so\"; exit 4']]"];
    let mut command = repo.command(&[&["dropin"], &build[..], &run[..]].concat());
    let ran = Ran::of(command.env("OPENAI_API_KEY", "a-secret"));
    ran.fails(1, &["fails (C alone: exit 4)", "so and  so", "correct `build` under [dropin]"]);
    repo.run(&[&["dropin"], &run[..]].concat())
        .fails(1, &["cannot start `./test`", "correct `build` and `run`"]);
    repo.run(&["dropin", "--config", "dropin.run=[[]]"]).fails(2, &["a command in [dropin] has no program"]);
    repo.run(&["dropin", "--config", "dropin.runs=[]"]).fails(2, &["unknown key `runs`"]);
}
