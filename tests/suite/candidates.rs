//! Candidates from c2rust, tried before any model. A script stands in for c2rust and replays its real output
//! (`fixtures/c2rust`), sometimes with one word changed. The models are scripts, too.

use crate::support::clib::copy_tree;
use crate::support::{QUICK, Ran, Repo, assert_same, reply};
use serde_json::Value;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

const TWICE: &str = "/// Doubles.\npub fn twice(x: u32) -> u32 {\n    x.wrapping_mul(2)\n}";
const BOTH: &str = "--candidate=c2rust,model";
const ALONE: &str = "--candidate=c2rust";

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// What c2rust has written for the small library.
fn recorded() -> String {
    std::fs::read_to_string(fixtures().join("c2rust/sum.rs")).unwrap()
}

/// That text with one place changed.
fn changed(from: &str, to: &str) -> String {
    let text = recorded();
    assert_eq!(text.matches(from).count(), 1, "{from:?} in {text}");
    text.replace(from, to)
}

/// A script in the place of c2rust: it gives the text of this folder that is called as the unit.
fn script(repo: &Repo, texts: &Path) {
    let aside = repo.aside().display().to_string();
    let lines = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && {{ echo 'C2Rust 0.0.0 (a script)'; exit 0; }}\necho \"$*\" >>{aside}/c2rust.calls\n\
         while [ $# -gt 1 ]; do [ \"$1\" = -o ] && out=$2; shift; done\ncp \"$1\" {aside}/compile_commands.json\n\
         name=$(sed -n 's/.*\"file\":\"[^\"]*\\/\\([^\"]*\\)\\.c\".*/\\1/p' \"$1\")\n\
         [ -f {aside}/c2rust.fails ] && {{ cat {aside}/c2rust.fails >&2; exit 101; }}\n\
         mkdir -p \"$out/src\" && cp {}/$name.rs \"$out/src/$name.rs\"\n",
        texts.display()
    );
    let bin = repo.aside().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::fs::write(bin.join("c2rust"), lines).unwrap();
    std::fs::set_permissions(bin.join("c2rust"), std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// The small library, where c2rust gives this text.
fn library(text: &str) -> Repo {
    let repo = Repo::initialised();
    let texts = repo.aside().join("texts");
    std::fs::create_dir_all(&texts).unwrap();
    std::fs::write(texts.join("sum.rs"), text).unwrap();
    script(&repo, &texts);
    repo
}

/// The cases of a `switch` are names of constants: without these, each name would be a new variable that matches all.
#[test]
fn constants_in_patterns_come_along() {
    let cases = "    match x {\n        NOTHING => return 0 as uint32_t,\n        _ => return x.wrapping_mul(2 as uint32_t),\n    }";
    let text = changed("    return x.wrapping_mul(2 as uint32_t);", cases);
    let repo = library(&(text + "pub const NOTHING: ::core::ffi::c_uint = 0 as ::core::ffi::c_uint;\n"));
    port(&repo, &["twice", ALONE]).ok();
    assert!(repo.read("rust/src/sum.rs").contains("const NOTHING"));
}

/// `PATH` without any c2rust, behind what the test has put there.
fn path(repo: &Repo) -> OsString {
    let all = std::env::var_os("PATH").unwrap();
    let others = std::env::split_paths(&all).filter(|dir| !dir.join("c2rust").exists());
    std::env::join_paths([repo.aside().join("bin")].into_iter().chain(others)).unwrap()
}

fn run(repo: &Repo, args: &[&str]) -> Ran {
    Ran::of(repo.command(args).env("PATH", path(repo)))
}

fn port(repo: &Repo, args: &[&str]) -> Ran {
    run(repo, &[&["port"], args, &QUICK].concat())
}

/// How often c2rust was started.
fn started(repo: &Repo) -> usize {
    let calls = std::fs::read_to_string(repo.aside().join("c2rust.calls"));
    calls.unwrap_or_default().lines().count()
}

/// Step, reason, outcome and maker of the last port of a function.
fn trace(repo: &Repo, symbol: &str) -> Vec<[String; 4]> {
    let ran = repo.run(&["port", symbol, "--explain", "--format", "json"]);
    let steps = ran.ok().json("trace")["symbols"][0]["steps"].clone();
    let word = |step: &Value, key: &str| step[key].as_str().unwrap_or("-").to_owned();
    let steps = steps.as_array().unwrap().iter();
    steps.map(|step| ["step", "why", "outcome", "by"].map(|key| word(step, key))).collect()
}

fn provenance(repo: &Repo, symbol: &str) -> String {
    repo.status(symbol)["provenance"].as_str().unwrap_or_default().to_owned()
}

#[test]
#[ignore = "half a minute: cargo test --test suite candidates -- --ignored"]
fn what_is_accepted_asks_no_model_at_all() {
    let repo = library(&recorded());
    // There is no model to ask.
    port(&repo, &["--all", ALONE]).ok();
    for symbol in ["twice", "thrice", "sum_bytes"] {
        assert_eq!(provenance(&repo, symbol), "c2rust");
        assert!(repo.read("implfuzz.lock").contains("provenance = \"c2rust\""));
    }
    assert_eq!(repo.count("SELECT count(*) FROM model_calls"), 0);
    assert_eq!(started(&repo), 1, "a unit was translated more than once");
    let module = repo.read("rust/src/sum.rs");
    insta::assert_snapshot!(module);
    assert_eq!(
        trace(&repo, "twice")[..2],
        [
            ["translate", "c2rust is tried before any model", "candidate", "c2rust"],
            ["audit", "a new candidate: nothing is built before the audit", "passed", "-"],
        ]
    );
    let stats = repo.run(&["stats", "--format", "json"]).ok().json("stats");
    for (kind, field) in [("roles", "role"), ("makers", "maker")] {
        let rows = stats[kind].as_array().unwrap();
        assert_eq!(rows.len(), 1, "{stats}");
        let row = &rows[0];
        assert_eq!(
            (&row[field], &row["passed"], &row["attempted"]),
            (&"c2rust".into(), &3.into(), &3.into())
        );
        assert_eq!(row["calls"], 0);
    }
    // The proofs are those of any port.
    repo.run(&["verify", "--all", "--runs", "4000", "--seconds", "2"]).ok();
}

#[test]
#[ignore = "half a minute: cargo test --test suite candidates -- --ignored"]
fn what_is_refused_leads_to_the_question_that_a_model_would_have_been_asked_anyway() {
    let plain = Repo::initialised();
    plain.model(&[&reply(TWICE)]);
    plain.port(&["twice"]).ok();
    let aborts = changed(
        "return x.wrapping_mul",
        "if x == 7 as uint32_t { ::std::process::abort(); } return x.wrapping_mul",
    );
    for (text, outcome) in [
        (changed("x.wrapping_mul(2 as uint32_t)", "x.saturating_mul(2 as uint32_t)"), "refuted"),
        (changed("x.wrapping_mul(2 as uint32_t)", "x.wrapping_mul(2 as size_t)"), "does-not-compile"),
        (aborts, "rejected-by-audit"),
    ] {
        let repo = library(&text);
        repo.model(&[&reply(TWICE)]);
        port(&repo, &["twice", BOTH]).ok();
        assert_eq!((repo.asked(), provenance(&repo, "twice").as_str()), (1, "command/sh"), "{outcome}");
        assert_eq!(repo.prompt(1), plain.prompt(1), "{outcome}: what c2rust wrote helps no model");
        let trace = trace(&repo, "twice");
        let asked = trace.iter().find(|row| row[0] == "ask-prototyper").unwrap();
        assert_eq!(asked[1], format!("c2rust's candidate ended as {outcome}: a model is asked"));
        let of = |role: &str| {
            repo.count(&format!("SELECT count(*) FROM attempts WHERE role = '{role}' AND maker IS NOT NULL"))
        };
        assert_eq!((of("c2rust"), of("prototyper")), (1, 1));
        // It is kept, for people.
        let kept = std::fs::read_to_string(repo.root().join(".implfuzz/logs/1/twice/00-c2rust.rs")).unwrap();
        assert!(kept.contains("fn twice"), "{kept}");
    }
}

#[test]
fn without_a_model_behind_it_what_is_refused_is_the_end() {
    let repo = library(&changed("x.wrapping_mul(2 as uint32_t)", "x.saturating_mul(2 as uint32_t)"));
    let before = repo.tree();
    port(&repo, &["twice", ALONE]).code(10).shows("mismatch");
    assert_same(&before, &repo.tree());
    let last = trace(&repo, "twice").pop().unwrap();
    assert_eq!(last[..3], ["stop", "the candidate was refuted, and no model may be asked", "refuted"]);
}

#[test]
#[ignore = "half a minute: cargo test --test suite candidates -- --ignored"]
fn what_c2rust_leaves_out_or_cannot_say_is_asked_of_a_model() {
    let torn = recorded().replace("fn twice", "fn twice(");
    let unstable = changed("return x.wrapping_mul", "::core::arch::asm!(\"nop\"); return x.wrapping_mul");
    for (text, why) in [
        (recorded().replace("fn twice", "fn another"), "c2rust has left `twice` out"),
        (torn, "c2rust's text is not Rust: "),
        (unstable, "c2rust's text has inline assembly (`asm`)"),
    ] {
        let repo = library(&text);
        port(&repo, &["twice", ALONE]).code(11).shows(why).shows("not-translated");
        repo.model(&[&reply(TWICE)]);
        port(&repo, &["twice", BOTH]).ok();
        assert_eq!(repo.asked(), 1);
        let trace = trace(&repo, "twice");
        assert_eq!(trace[0][2], "not-translated");
        assert_eq!(trace[1][1], "c2rust has no candidate: a model is asked");
    }
    let repo = library(&recorded());
    std::fs::write(repo.aside().join("c2rust.fails"), "thread 'main' was unhappy\n").unwrap();
    port(&repo, &["twice", ALONE])
        .code(11)
        .shows("c2rust produced no output for sum.c")
        .shows("thread 'main' was unhappy");
}

#[test]
fn a_c2rust_that_is_not_there_is_an_error_only_where_nobody_else_may_be_asked() {
    let repo = Repo::initialised();
    let before = repo.tree();
    port(&repo, &["twice", ALONE])
        .fails(1, &["`candidates` names c2rust, which is not installed", "cargo install --locked c2rust"]);
    assert_eq!(repo.count("SELECT count(*) FROM runs"), 0);
    let plan = run(&repo, &["port", "twice", BOTH, "--dry-run"]);
    assert!(plan.ok().shows("is not installed; ").stdout.matches("is tried first").count() == 0, "{plan}");
    assert_same(&before, &repo.tree());
    repo.model(&[&reply(TWICE)]);
    let ran = port(&repo, &["twice", BOTH]);
    ran.ok().shows("which is not installed: only models are asked").shows("cargo install --locked c2rust");
    assert_eq!((repo.asked(), provenance(&repo, "twice").as_str()), (1, "command/sh"));
    assert_eq!(trace(&repo, "twice")[0][0], "ask-prototyper");
    // It is optional.
    let doctor = run(&repo, &["doctor", "--format", "json"]).json("doctor");
    let row = doctor["checks"].as_array().unwrap().iter().find(|row| row["name"] == "c2rust").unwrap();
    assert_eq!((&row["ok"], &row["optional"]), (&false.into(), &true.into()));
    script(&repo, repo.aside());
    let doctor = run(&repo, &["doctor", "--format", "json"]).json("doctor");
    let row = doctor["checks"].as_array().unwrap().iter().find(|row| row["name"] == "c2rust").unwrap();
    assert_eq!(row["ok"], true);
}

#[test]
fn c2rust_gets_the_flags_that_the_unit_is_read_with_and_a_wrong_list_is_refused() {
    let repo = library(&recorded());
    let config = repo.read("implfuzz.toml");
    repo.write("implfuzz.toml", &config.replace("[c]\n", "[c]\ndefines = [\"DEPTH=3\"]\n"));
    repo.replace("implfuzz.toml", "version = 1\n", "version = 1\ncandidates = [\"c2rust\"]\n");
    let plan = run(&repo, &["port", "--all", "--dry-run", "--format", "json"]).ok().json("plan");
    assert_eq!((&plan["candidates"], &plan["prompts"]), (&vec!["c2rust"].into(), &0.into()));
    assert_eq!(started(&repo), 0);
    port(&repo, &["twice"]).ok();
    let commands = std::fs::read_to_string(repo.aside().join("compile_commands.json")).unwrap();
    let commands: Value = serde_json::from_str(&commands).unwrap();
    let root = repo.root().canonicalize().unwrap();
    assert_eq!(commands[0]["directory"], root.to_str().unwrap());
    assert_eq!(commands[0]["file"], root.join("sum.c").to_str().unwrap());
    let arguments: Vec<&str> =
        commands[0]["arguments"].as_array().unwrap().iter().map(|a| a.as_str().unwrap()).collect();
    assert!(arguments.contains(&"-DDEPTH=3") && arguments.last() == Some(&"sum.c"), "{arguments:?}");
    for (list, code) in [("model,c2rust", 2), ("c2rst", 2)] {
        port(&repo, &["twice", "--candidate", list]).code(code).shows("c2rust");
    }
    // Nothing is left of what it wrote.
    assert_eq!(std::fs::read_dir(repo.root().join(".implfuzz/cache/c2rust")).unwrap().count(), 0);
}

/// Tables, statics that call one another, errno, structs by value, functions on handles, variables, functions of libc.
#[test]
#[ignore = "minutes: cargo test --test suite candidates::texts -- --ignored"]
fn texts_of_the_real_c2rust_are_fitted_to_their_modules() {
    let repo = Repo::empty();
    copy_tree(&fixtures().join("c-lib"), repo.root());
    repo.run(&["init"]).ok();
    script(&repo, &fixtures().join("c2rust"));
    let wanted = [
        "add_sums", "kit_crc32", "kit_adler32", "kit_hex_encode", "fail", "kit_parse_int", "kit_sat_add",
        "kit_point_add", "kit_set_rounding", "kit_status_name", "kit_fnv1a64", "find_link", "kit_map_put",
    ];
    let ran = port(&repo, &[&wanted[..], &[ALONE, "--format", "json"]].concat());
    let symbols = ran.json("port")["symbols"].clone();
    let ends: Vec<(&str, &str)> = symbols
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["symbol"].as_str().unwrap(), row["end"].as_str().unwrap()))
        .collect();
    insta::assert_debug_snapshot!(ends);
    let adler = repo.read("rust/src/checksum.rs");
    insta::assert_snapshot!(
        adler[adler.find("pub fn kit_adler32").unwrap()..].split("\n}\n").next().unwrap()
    );
}

/// `cargo test --test suite the_real_c2rust -- --ignored`, where c2rust is installed.
#[test]
#[ignore = "needs c2rust, which is no dependency"]
fn the_real_c2rust_ports_the_small_library() {
    let repo = Repo::initialised();
    repo.run(&[&["port", "--all", ALONE], &QUICK[..]].concat()).ok();
    assert_eq!(provenance(&repo, "sum_bytes"), "c2rust");
}
