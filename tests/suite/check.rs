//! `implfuzz.lock` and `check`: which changes make evidence stale, and that `check` reads only the tree.

use crate::support::git::git;
use crate::support::{Ran, Repo, assert_same};
use cargo_implfuzz::platform::process::support;
use serde_json::Value;

const HEADER: &str = "#ifndef KIT_H\n#define KIT_H\n#include <stdint.h>\n#define STEP 3u\n#define UNIT 1\n\
    enum kit_kind { KIT_SMALL, KIT_BIG };\nuint32_t add(uint32_t x);\nuint32_t twice_add(uint32_t x);\n\
    uint32_t is_big(uint32_t x);\nuint32_t look(uint32_t x);\nuint32_t apart(uint32_t x);\nuint32_t later(uint32_t x);\n#endif\n";

const SOURCE: &str = "#include \"kit.h\"\n#include <stdlib.h>\nstatic const uint32_t TABLE[4] = { 5, 7, 11, 13 };\n\n/* Adds. */\n\
    uint32_t add(uint32_t x) { return x + STEP; }\n\nuint32_t twice_add(uint32_t x) { return add(add(x)); }\n\n\
    uint32_t is_big(uint32_t x) { return x == KIT_BIG; }\n\nuint32_t look(uint32_t x) { return TABLE[x & 3]; }\n\n\
    uint32_t apart(uint32_t x) { return x ^ (uint32_t)abs(-1); }\n\nuint32_t later(uint32_t x) { return x | 8u; }\n";

const PORTS: [(&str, &str); 5] = [
    ("add", "x.wrapping_add(step())"),
    ("twice_add", "callee::add(callee::add(x))"),
    // C names neither this table nor this constant.
    ("is_big", "u32::from(x == globals::TABLE[0] - 5 + ffi::UNIT as u32)"),
    ("look", "globals::TABLE[(x & 3) as usize]"),
    ("apart", "x ^ 1"),
];

const MODULE: &str = "rust/src/kit.rs";
const QUICK: [&str; 4] = ["--runs", "3000", "--seconds", "3"];

/// A library with five ports that were judged, and one stub.
fn judged() -> Repo {
    let repo = Repo::empty();
    repo.write("kit.h", HEADER);
    repo.write("kit.c", SOURCE);
    repo.run(&["init"]).ok();
    for (name, body) in PORTS {
        repo.replace(MODULE, &format!("unimplemented!(\"{name}\")"), body);
    }
    repo.write(MODULE, &(repo.read(MODULE) + "\nfn step() -> u32 {\n    3\n}\n"));
    repo.run(&[&["verify", "--all"], &QUICK[..]].concat()).ok();
    repo
}

/// `check` where no tool can be found.
fn check(repo: &Repo, args: &[&str]) -> Ran {
    let mut command = repo.command(&[&["check"], args].concat());
    command.env("PATH", "").env_remove("CARGO").env_remove("CC").env_remove("LIBCLANG_PATH");
    Ran::of(&mut command)
}

/// Symbol, trouble and reason of all that `check` lists, which ends with this code.
#[track_caller]
fn listed(repo: &Repo, code: i32) -> Vec<(String, String, String)> {
    let ran = check(repo, &["--format", "json"]);
    let text = |c: &Value, key: &str| c[key].as_str().unwrap().to_owned();
    let found = ran.code(code).json("check")["symbols"].as_array().unwrap().clone();
    found.iter().map(|c| (text(c, "symbol"), text(c, "trouble"), text(c, "reason"))).collect()
}

/// What is listed while `to` stands for `from` in a file.
#[track_caller]
fn with(repo: &Repo, file: &str, (from, to): (&str, &str), code: i32) -> Vec<(String, String, String)> {
    let before = repo.read(file);
    assert!(before.contains(from), "no {from:?} in {file}");
    repo.write(file, &before.replacen(from, to, 1));
    let found = listed(repo, code);
    repo.write(file, &before);
    found
}

/// These symbols are stale, and the reason has these words.
#[track_caller]
fn stale(repo: &Repo, file: &str, change: (&str, &str), symbols: &[&str], words: &str) {
    let mut found = with(repo, file, change, if symbols.is_empty() { 0 } else { 11 });
    found.sort();
    let names: Vec<&str> = found.iter().map(|f| f.0.as_str()).collect();
    assert_eq!(names, symbols, "{change:?}: {found:?}");
    assert!(found.iter().all(|f| f.1 == "stale" && f.2.contains(words)), "{change:?}: {found:?}");
}

#[test]
fn a_change_of_c_makes_exactly_its_dependants_stale_also_without_the_database() {
    let repo = judged();
    let tools =
        repo.read("implfuzz.lock").lines().find(|line| line.starts_with("tools = ")).unwrap().to_owned();
    assert!(
        tools.contains("rustc 1.") && tools.contains(", libc 0.2.") && tools.contains(&support().words()),
        "{tools}"
    );
    for _ in 0..2 {
        check(&repo, &[]).ok().shows("evidence holds for 5 of 5 ports").shows("1 stub");
        stale(&repo, "kit.h", ("STEP 3u", "STEP /* three */ 3u // x"), &[], "");
        stale(&repo, "kit.c", ("/* Adds. */\nuint32_t add(", "// Adds more.\nuint32_t\nadd( "), &[], "");
        stale(&repo, "kit.h", ("STEP 3u", "STEP 4u"), &["add", "twice_add"], "`STEP` in kit.h changed");
        stale(
            &repo,
            "kit.h",
            ("KIT_SMALL, KIT", "KIT_SMALL, KIT_MORE, KIT"),
            &["is_big"],
            "`kit_kind` in kit.h",
        );
        stale(&repo, "kit.c", ("11, 13", "11, 17"), &["look"], "`TABLE` in kit.c changed");
        stale(&repo, "kit.c", ("abs(-1)", "abs(-2)"), &["apart"], "`apart` in kit.c changed");
        stale(&repo, "kit.c", ("x | 8u", "x | 9u"), &[], "");
        let system = ("static const", "int abs(int x) { return x * x; }\nstatic const");
        stale(&repo, "kit.c", system, &["apart"], "`abs` in kit.c changed");
        // A word of `apart` becomes a macro.
        stale(&repo, "kit.h", ("enum", "#define apart other\nenum"), &["apart"], "`apart` in kit.h");
        let all = ["add", "apart", "is_big", "look", "twice_add"];
        stale(
            &repo,
            "kit.c",
            ("#include", "#include <string.h>\n#include"),
            &all,
            "`#include` lines or pragmas of kit.c",
        );
        stale(&repo, "implfuzz.toml", ("[c]", "[c]\ndefines = [\"X=1\"]"), &all, "compiler flags of kit.c");
        stale(&repo, "implfuzz.toml", ("[c]", "[c]\nlink = [\"m\"]"), &all, "compiler flags of kit.c");
        drop(std::fs::remove_dir_all(repo.root().join(".implfuzz")));
        let before = repo.all_files();
        check(&repo, &[]).ok();
        assert_same(&before, &repo.all_files());
        assert!(!repo.root().join(".implfuzz").exists(), "check writes nothing");
    }
    // What the store does not know any more the lock tells, also to `status`.
    assert_eq!(repo.status("look")["grade"], "weak");
    repo.replace(MODULE, "fn step() -> u32 {\n    3", "fn step() -> u32 {\n    1 + 2");
    assert_eq!(repo.status("add")["grade"], "stale");
    let called = repo.status("twice_add");
    assert!(
        called["reason"]
            .as_str()
            .unwrap()
            .contains("a port that it calls or a constant that it names changed"),
        "{called:#}"
    );
}

#[test]
fn a_change_of_the_port_is_told_with_symbol_place_and_command() {
    let repo = judged();
    stale(
        &repo,
        MODULE,
        ("fn step() -> u32 {\n    3", "fn step() -> u32 {\n    1 + 2"),
        &["add", "twice_add"],
        "chang",
    );
    stale(&repo, MODULE, ("//! Port", "//! The port"), &[], "");
    let contract = ("errno = false", "interesting = [7]\nerrno = false");
    stale(&repo, "rust/contracts/apart.toml", contract, &["apart"], "the contract changed");
    stale(&repo, "rust/contracts/apart.toml", ("# How", "# Where"), &[], "");
    stale(
        &repo,
        "rust/fuzz/src/harness/look.rs",
        ("\n", "\n\n"),
        &["look"],
        "the harness or the crate's manifest changed",
    );
    repo.write("rust/fuzz/seeds/fuzz_look/0123", "seed");
    assert_eq!(listed(&repo, 11)[0].2, "since it was judged, its inputs in `fuzz/seeds/` changed");
    std::fs::remove_dir_all(repo.root().join("rust/fuzz/seeds")).unwrap();

    let found = with(&repo, MODULE, ("x ^ 1", "unimplemented!(\"apart\")"), 11);
    assert_eq!((found.len(), found[0].0.as_str(), found[0].1.as_str()), (1, "apart", "stub"));
    let half = with(&repo, MODULE, ("x ^ 1", "if x > 5 { todo!() }\n    x ^ 1"), 10);
    assert_eq!((half.len(), half[0].1.as_str()), (1, "audit"), "{half:?}");
    assert!(half[0].2.contains("todo!"), "{half:?}");
    let named = "a constant that it names changed";
    stale(
        &repo,
        "rust/src/ffi.rs",
        ("pub const UNIT: i32 = 1", "pub const UNIT: i32 = 2"),
        &["is_big"],
        named,
    );
    stale(&repo, "rust/src/globals.rs", ("0x00000007", "0x00000008"), &["is_big", "look"], named);
    let gone = with(&repo, MODULE, ("pub fn apart(", "pub fn a_part("), 11);
    assert_eq!((gone[0].0.as_str(), gone[0].1.as_str()), ("apart", "missing"), "{gone:?}");
    let other = with(&repo, MODULE, ("apart(x: u32)", "apart(x: u64)"), 10);
    assert!(other[0].2.contains("the signature must stay"), "{other:?}");

    // What concerns every port refuses every port, also where nobody names it.
    let open =
        with(&repo, MODULE, ("pub fn apart(", "pub trait Sneak { fn sneak(&self); }\n\npub fn apart("), 10);
    assert_eq!(open.len(), 5, "{open:?}");
    assert!(open.iter().all(|f| f.1 == "audit" && f.2.contains("acts in other ports")), "{open:?}");

    // So does a crate under a name that the audit reads as another, and what is linked beside makes all stale.
    let manifest = "rust/Cargo.toml";
    let core = ("libc = \"0.2\"", "libc = \"0.2\"\ncore = { package = \"some-core\", version = \"1\" }");
    let found = with(&repo, manifest, core, 10);
    assert_eq!(found.len(), 5, "{found:?}");
    assert!(found.iter().all(|f| f.1 == "audit" && f.2.contains("rust/Cargo.toml: a dep")), "{found:?}");
    let all = ["add", "apart", "is_big", "look", "twice_add"];
    stale(
        &repo,
        manifest,
        (core.0, "libc = \"0.2\"\nmemchr = \"2\""),
        &all,
        "the harness or the crate's manifest changed",
    );
    stale(&repo, manifest, ("version = \"0.1.0\"", "version = \"0.1.1\""), &[], "");

    // Others may call it only while it is no stub, whatever a stub looks like.
    let before = repo.read(MODULE);
    repo.replace(MODULE, "callee::add(callee::add(x))", "if x > 5 { apart(x) } else { x }");
    assert_eq!(listed(&repo, 11)[0].1, "stale");
    repo.replace(MODULE, "x ^ 1", "todo!()");
    let found = listed(&repo, 10);
    assert_eq!(found.iter().map(|f| f.1.as_str()).collect::<Vec<_>>(), ["audit", "stub"], "{found:?}");
    assert!(found[0].2.contains("`apart` is not ported yet"), "{found:?}");
    repo.write(MODULE, &before);

    repo.replace(MODULE, "x ^ 1", "x ^ unsafe { ffi::apart(x) }");
    let line = repo.read(MODULE).lines().position(|l| l.contains("ffi::apart")).unwrap() + 1;
    let ran = check(&repo, &[]);
    ran.code(10).shows(&format!("{MODULE}:{line}: apart: the audit rejects it: ")).shows("is the C original");
    ran.shows("help: correct it, then cargo implfuzz verify apart");
    check(&repo, &["look", "twice_add"]).ok();
    check(&repo, &["kit.c"]).code(10);
    check(&repo, &[MODULE, "look"]).code(10);
    check(&repo, &["lok"]).fails(2, &["`lok` is neither"]);
}

#[test]
#[ignore = "half a minute: cargo test --test suite check -- --ignored"]
fn another_edition_is_stale_for_status_check_and_verify_until_it_is_restored() {
    let repo = judged();
    let (manifest, lock) = ("rust/Cargo.toml", "implfuzz.lock");
    let names = ["add", "apart", "is_big", "look", "twice_add"];
    stale(&repo, manifest, ("2024", "2021"), &names, "the harness or the crate's manifest changed");
    assert_eq!(with(&repo, manifest, ("0.1.0", "0.2.0"), 0), []);
    let before = [manifest, lock].map(|file| (file, repo.read(file)));
    repo.replace(manifest, "\"2024\"", "\"2021\"");
    assert_eq!(repo.status("look")["grade"], "stale");
    // `verify --stale` judges all under the other edition.
    repo.run(&[&["verify", "--stale"], &QUICK[..]].concat()).ok();
    assert_eq!((listed(&repo, 0), repo.status("look")["grade"].as_str()), (vec![], Some("weak")));
    repo.write(manifest, &before[0].1);
    assert_eq!((listed(&repo, 11).len(), repo.status("look")["grade"].as_str()), (5, Some("stale")));
    // The lock of before holds, though the store has later evidence.
    repo.write(lock, &before[1].1);
    assert_eq!((listed(&repo, 0), repo.status("look")["grade"].as_str()), (vec![], Some("weak")));
}

#[test]
fn a_callee_that_comes_in_later_makes_its_callers_stale_for_status_and_check_alike() {
    let repo = Repo::empty();
    repo.write("kit.h", HEADER);
    repo.write("kit.c", SOURCE);
    repo.run(&["init"]).ok();
    let put = |name: &str, body: &str| repo.replace(MODULE, &format!("unimplemented!(\"{name}\")"), body);
    put("twice_add", "callee::add(callee::add(x))");
    repo.run(&[&["verify", "twice_add"], &QUICK[..]].concat()).ok();
    check(&repo, &[]).ok().shows("1 of 1 port");
    put("add", "x.wrapping_add(3)");
    repo.run(&[&["verify", "add"], &QUICK[..]].concat()).ok();
    // What `twice_add` was judged with ran as C.
    let known = repo.status("twice_add");
    assert_eq!(known["grade"], "stale");
    assert!(
        known["reason"]
            .as_str()
            .unwrap()
            .contains("a port that it calls or a constant that it names changed"),
        "{known:#}"
    );
    for _ in 0..2 {
        let found = listed(&repo, 11);
        assert_eq!(
            (found.len(), found[0].0.as_str(), found[0].1.as_str()),
            (1, "twice_add", "stale"),
            "{found:?}"
        );
        assert!(found[0].2.contains("a port that it calls or a constant that it names changed"), "{found:?}");
    }
    repo.run(&[&["verify", "--stale"], &QUICK[..]].concat()).ok();
    check(&repo, &[]).ok().shows("2 of 2 ports");
}

#[test]
fn verify_takes_what_is_stale_in_parts_and_the_lock_stays_as_it_is_otherwise() {
    let repo = judged();
    what_is_committed_counts_where_the_database_is_about_another_text(&repo);
    a_lock_that_a_merge_mixed_is_stale(&repo);
    let before = repo.read("implfuzz.lock");
    repo.run(&["verify", "--stale"]).ok().shows("nothing to verify");
    assert_eq!(before, repo.read("implfuzz.lock"));
    repo.replace("kit.h", "STEP 3u", "STEP 4u");
    repo.replace(MODULE, "-> u32 {\n    3", "-> u32 {\n    4");
    repo.replace(MODULE, "unimplemented!(\"later\")", "x | 8");
    check(&repo, &["later"]).code(11).shows("later: unjudged");
    let part = |part: &str| {
        let ran =
            repo.run(&[&["verify", "--stale", "--format", "json", "--shard", part], &QUICK[..]].concat());
        let all = ran.ok().json("verify")["symbols"].as_array().unwrap().clone();
        all.iter().map(|s| s["symbol"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // `add`, `later`, `twice_add` are stale; the first part leaves two.
    assert_eq!(part("1/2"), ["add", "twice_add"]);
    assert_eq!(part("1/1"), ["later"]);
    check(&repo, &[]).ok().shows("6 of 6");
    // Symbols that were not judged again keep their lines.
    let after = repo.read("implfuzz.lock");
    let entry =
        |text: &str, name: &str| text.split("\n[symbols.").find(|t| t.starts_with(name)).unwrap().to_owned();
    assert_eq!(entry(&before, "look]"), entry(&after, "look]"));
    assert_ne!(entry(&before, "add]"), entry(&after, "add]"));
    repo.run(&["verify", "--stale", "--shard", "3/2"]).code(2);
}

/// One branch rewrites the port, another its C function, each judges, and git mixes the lines of both.
fn a_lock_that_a_merge_mixed_is_stale(repo: &Repo) {
    let files = ["kit.c", MODULE, "implfuzz.lock"];
    let before = files.map(|file| repo.read(file));
    let judged = |file: &str, from: &str, to: &str| {
        repo.replace(file, from, to);
        repo.run(&[&["verify", "apart"], &QUICK[..]].concat()).ok();
        let lock = repo.read("implfuzz.lock");
        files.iter().zip(&before).for_each(|(file, text)| repo.write(file, text));
        lock
    };
    let ours = judged(MODULE, "x ^ 1", "1 ^ x");
    let theirs = judged("kit.c", "x ^ (uint32_t)abs(-1)", "(uint32_t)abs(-1) ^ x");
    repo.replace(MODULE, "x ^ 1", "1 ^ x");
    repo.replace("kit.c", "x ^ (uint32_t)abs(-1)", "(uint32_t)abs(-1) ^ x");
    let told = "implfuzz.lock mixes two branches for this symbol";
    // With all that conflicts from one side: here the line of the port goes with it.
    for (side, told) in [("--theirs", "the Rust text changed"), ("--ours", told)] {
        let [ours, base, theirs] = [("ours", &ours), ("base", &before[2]), ("theirs", &theirs)]
            .map(|(name, text)| (repo.write(name, text), name).1);
        let merged = git(repo, &["merge-file", "-p", side, ours, base, theirs]);
        repo.write("implfuzz.lock", &merged.ok().stdout);
        let found = listed(repo, 11);
        assert_eq!(
            (found.len(), found[0].0.as_str(), found[0].1.as_str()),
            (1, "apart", "stale"),
            "{found:?}"
        );
        assert!(found[0].2.contains(told), "{found:?}");
        assert_eq!(repo.status("apart")["grade"], "stale");
    }
    repo.run(&[&["verify", "--stale"], &QUICK[..]].concat()).ok().shows("apart");
    check(repo, &[]).ok();
    ["ours", "base", "theirs"].iter().for_each(|name| std::fs::remove_file(repo.root().join(name)).unwrap());
    files.iter().zip(&before).for_each(|(file, text)| repo.write(file, text));
    repo.run(&[&["verify", "apart"], &QUICK[..]].concat()).ok();
}

/// As after `verify` with another contract, and `git checkout -- .`.
fn what_is_committed_counts_where_the_database_is_about_another_text(repo: &Repo) {
    let files = ["rust/contracts/apart.toml", "rust/fuzz/src/harness/apart.rs", "implfuzz.lock"];
    let before = files.map(|file| (file, repo.read(file)));
    repo.replace(files[0], "errno = false", "interesting = [7]\nerrno = false");
    repo.run(&[&["verify", "apart"], &QUICK[..]].concat()).ok();
    let newer = repo.read("implfuzz.lock");
    assert_ne!(newer, before[2].1);
    before.iter().for_each(|(file, text)| repo.write(file, text));
    check(repo, &[]).ok();
    let known = repo.status("apart");
    assert_eq!(known["grade"], "weak", "{known:#}");
    // What is committed about another text does not count, whatever the database has.
    repo.write("implfuzz.lock", &newer);
    assert_eq!(repo.status("apart")["grade"], "stale");
    assert_eq!(listed(repo, 11)[0].1, "stale");
    repo.write("implfuzz.lock", &before[2].1);
    // As where a run here refuted this very text, under the other contract.
    let db = rusqlite::Connection::open(repo.root().join(".implfuzz/state.db")).unwrap();
    let refute = "INSERT INTO findings (symbol, class, side, what, input, input_sha256, args, oracle, subject, candidate_sha256, created)
        SELECT symbol, 'mismatch', 'port', 'return value', x'01', 'aa', '[]', '[]', '[]', rust_hash, '2026-01-01T00:00:00Z' FROM evidence
        WHERE symbol LIKE '%apart%'";
    assert_eq!(db.execute(refute, []).unwrap(), 1);
    // `status` and `check` still agree, as in a clone without the database; what builds on it judges it again.
    assert_eq!(repo.status("apart")["grade"], "weak");
    check(repo, &[]).ok();
    let plan = repo.run(&["port", "apart", "--dry-run", "--format", "json"]).ok().json("plan");
    let apart = &plan["symbols"][0];
    assert_eq!(apart["action"], "verify", "{plan:#}");
    let why = "a run on this machine refuted this text (mismatch: return value)";
    assert_eq!(apart["reason"], why, "{plan:#}");
    repo.run(&[&["verify", "apart"], &QUICK[..]].concat()).ok();
    assert_eq!(repo.status("apart")["grade"], "weak");
}

#[test]
fn a_refuted_port_stays_refuted_and_one_that_goes_back_to_a_stub_is_forgotten() {
    let repo = judged();
    repo.replace(MODULE, "x ^ 1", "x.saturating_add(1)");
    repo.run(&[&["verify", "apart"], &QUICK[..]].concat()).code(10);
    assert!(repo.root().join("rust/fuzz/seeds/fuzz_apart").is_dir());
    let found = listed(&repo, 10);
    assert_eq!((found.len(), found[0].0.as_str(), found[0].1.as_str()), (1, "apart", "refuted"), "{found:?}");
    repo.replace(MODULE, "x.saturating_add(1)", "unimplemented!(\"apart\")");
    assert_eq!(listed(&repo, 11)[0].1, "stub");
    repo.run(&["verify", "apart"]).code(11);
    check(&repo, &[]).ok().shows("4 of 4 ports").shows("2 stubs");
}

#[test]
fn without_a_lock_all_is_unjudged_and_a_lock_that_cannot_be_read_says_how_to_go_on() {
    let repo = Repo::initialised();
    check(&repo, &[]).ok().shows("3 stubs");
    repo.replace("rust/src/sum.rs", "unimplemented!(\"twice\")", "x << 1");
    assert_eq!(listed(&repo, 11)[0].2, "implfuzz.lock has no evidence for it");
    repo.write("implfuzz.lock", "version = 7\n");
    check(&repo, &[]).fails(2, &["version 7 is newer"]);
    repo.write("implfuzz.lock", "version = 1\n<<<<<<< a\n");
    check(&repo, &[]).fails(2, &["implfuzz.lock"]);
    std::fs::remove_file(repo.root().join("implfuzz.lock")).unwrap();
    repo.replace("rust/src/sum.rs", "x << 1", "x <<< 1");
    check(&repo, &[]).fails(1, &["rust/src/sum.rs:", "not Rust"]);
}

/// Where `check` notes what it read.
const NOTES: &str = ".implfuzz/cache/check.json";

#[test]
fn notes_of_the_last_check_save_time_and_hide_nothing() {
    let repo = judged();
    check(&repo, &[]).ok();
    let noted: Value = serde_json::from_str(&repo.read(NOTES)).unwrap();
    // That they are asked at all shows where one says what is not so.
    let mut forged = noted.clone();
    forged["modules"]["kit"][1]["functions"]["apart"]["rejected"] = serde_json::json!([7, "says the note"]);
    repo.write(NOTES, &forged.to_string());
    assert_eq!(listed(&repo, 10)[0].2, "the audit rejects it: says the note");
    // They are about the texts that they were made of: the module, C's names, the variables, the lock.
    let others = [
        (MODULE, "x ^ 1", "x ^ 1 "),
        ("rust/src/ffi.rs", "pub fn apart(", "pub  fn apart("),
        ("rust/src/globals.rs", "pub static TABLE", "pub  static TABLE"),
        ("implfuzz.lock", "[symbols.apart]", "[symbols.apart] # by hand"),
    ];
    for (file, from, to) in others {
        let before = repo.read(file);
        assert!(before.contains(from), "no {from:?} in {file}");
        repo.write(file, &before.replace(from, to));
        repo.write(NOTES, &forged.to_string());
        let listed = listed(&repo, if file.ends_with("globals.rs") { 10 } else { 0 });
        assert!(!listed.iter().any(|(_, _, reason)| reason.contains("says the note")), "{file}: {listed:?}");
        repo.write(file, &before);
    }
    // What cannot be read is no note, and a repository in which the tool never ran gets none.
    repo.write(NOTES, "{\"modules\":");
    check(&repo, &[]).ok();
    assert_eq!(serde_json::from_str::<Value>(&repo.read(NOTES)).unwrap(), noted);
    std::fs::remove_dir_all(repo.root().join(".implfuzz")).unwrap();
    check(&repo, &[]).ok();
    assert!(!repo.root().join(".implfuzz").exists());
}

#[test]
fn a_port_that_nothing_ever_compared_does_not_pass_unless_a_person_accepts_it() {
    let repo = Repo::empty();
    repo.write("at.h", "int first(int **at);\nint one(int x);\n");
    repo.write(
        "at.c",
        "#include \"at.h\"\nint first(int **at) { return **at; }\nint one(int x) { return x & 1; }\n",
    );
    repo.run(&["init"]).ok();
    repo.replace("rust/src/at.rs", "unimplemented!(\"first\")", "unsafe { **at }");
    repo.replace("rust/src/at.rs", "unimplemented!(\"one\")", "x & 1");
    let verified = repo.run(&[&["verify", "--all"], &QUICK[..]].concat());
    verified.code(11).shows("unverifiable");
    let with = |least: &str| check(&repo, &["--config", &format!("check.least='{least}'")]);
    for refused in [check(&repo, &[]), with("weak")] {
        refused
            .code(11)
            .shows("first: below-least: its grade is `unverifiable` (`at` is a pointer to a pointer");
        refused.shows("evidence holds for 1 of 2 ports (1 weak)");
    }
    with("unverifiable").ok().shows("evidence holds for 2 of 2 ports (1 unverifiable, 1 weak)");
    with("verified").code(11).shows("one: below-least: its grade is `weak` (");
    with("good").code(2).shows("unverifiable");
    // In the hook, the policy of the commit counts.
    git(&repo, &["init", "-q"]);
    git(&repo, &["add", "-A"]);
    repo.run(&["hook", "run"]).code(11).shows("below-least");
    repo.write("implfuzz.toml", &(repo.read("implfuzz.toml") + "\n[check]\nleast = \"unverifiable\"\n"));
    repo.run(&["hook", "run"]).code(11);
    git(&repo, &["add", "-A"]);
    repo.run(&["hook", "run"]).ok();
}
