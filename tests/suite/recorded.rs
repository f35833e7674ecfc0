//! Whole libraries, each ported by one command from recorded model replies: the fixture, zlib's checksum files, lz4's
//! copy of xxhash, Monocypher, and bzip2. Afterwards no function is C and all checks pass. And drivers for libraries without any.
//!
//! They take many minutes: `cargo test --test suite recorded -- --ignored`.

use crate::support::clib::{copy_files, copy_tree, vendored};
use crate::support::{MEASURED, Repo};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Some files of a library that a crate carries.
pub fn files(package: &str, version: &str, (dir, names): (&str, &[&str])) -> Repo {
    let repo = Repo::empty();
    let from = vendored(package, version).join(dir);
    for entry in std::fs::read_dir(&from).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if names.contains(&name) || names.contains(&"*.h") && name.ends_with(".h") {
            std::fs::copy(&path, repo.root().join(name)).unwrap();
        }
    }
    repo
}

/// Long enough for every proof; what is quick ends with its executions.
const BUDGET: [&str; 6] = [
    "--config",
    "fuzz.loop_seconds=5",
    "--config",
    "fuzz.accept_seconds=180",
    "--config",
    "fuzz.accept_executions=200000",
];

/// Ports all functions by one command and verifies them by another.
fn ported(repo: &Repo, recording: &str, functions: usize) {
    repo.run(&["init"]).ok();
    let replay = format!("llm.replay_dir={:?}", here(recording).to_str().unwrap());
    let provider = ["--config", "llm.provider='replay'", "--config", &replay, "--format", "json"];
    let ran = repo.run(&[&["port", "--all", "-j", "2"], &MEASURED[..], &BUDGET, &provider].concat());
    let json = ran.json("port");
    for row in json["symbols"].as_array().unwrap() {
        assert!(["accepted", "already-ported"].contains(&row["end"].as_str().unwrap()), "{row}\n{ran}");
    }
    ran.ok();

    let ran = repo.run(&[&["verify", "--all"], &MEASURED[..], &BUDGET, &["--format", "json"]].concat());
    let json = ran.json("verify");
    let rows = json["symbols"].as_array().unwrap();
    assert_eq!(rows.len(), functions, "{json:#}");
    let is_green = |row: &&Value| ["verified", "exhaustive"].contains(&row["grade"].as_str().unwrap());
    let others: Vec<_> = rows.iter().filter(|row| !is_green(row)).collect();
    assert!(others.is_empty(), "{others:#?}");
    for row in rows {
        assert_eq!(row["callees_in_c"], json!([]), "{row}");
    }
    assert_eq!(json["standalone"]["links"], true, "{json:#}");
    ran.ok();
}

#[test]
#[ignore = "takes many minutes"]
fn the_fixture_is_ported_whole_and_its_c_tests_pass_against_the_port() {
    let repo = Repo::empty();
    copy_tree(&here("fixtures/c-lib"), repo.root());
    repo.run(&["init"]).ok();
    // What a person says about three functions: a range in which what the comment of one asks for holds, and mutants that no caller can tell.
    for number in ["v", "num"] {
        let named = format!("name = \"{number}\"\nrole = \"value\"\n");
        let within = format!("{named}min = -46340\nmax = 46340\n");
        repo.replace("rust/contracts/kit_scale.toml", &named, &within);
    }
    for (function, mutant, reason) in [
        ("kit_status_name", "b314227e", "no status needs more than 8 bits"),
        ("kit_status_name", "79d6ded1", "no status has the number behind the last name"),
        ("kit_set_rounding", "a6787744", "every rounding is one of the named values"),
    ] {
        let path = format!("rust/contracts/{function}.toml");
        let more = format!("\n[[equivalent]]\nmutant = \"{mutant}\"\nreason = \"{reason}\"\n");
        repo.write(&path, &(repo.read(&path) + &more));
    }
    // What it does without memory is part of what a constructor does.
    repo.replace("implfuzz.toml", "\n[fuzz]\n", "\n[fuzz]\nfail_allocations = true\n");
    ported(&repo, "fixtures/recordings/c-lib", 64);

    let dropin = "\n[dropin]\nbuild = [[\"make\", \"all\"]]\nrun = [[\"make\", \"test\"]]\n";
    repo.write("implfuzz.toml", &(repo.read("implfuzz.toml") + dropin));
    let ran = repo.run(&["dropin", "--format", "json"]);
    let json = ran.ok().json("dropin");
    assert_eq!(json["verdict"], "same");
    let functions = json["functions"].as_array().unwrap();
    assert_eq!(functions.len(), 64);
    let list = repo.run(&["list", "--format", "json"]).json("list");
    let listed = list["symbols"].as_array().unwrap();
    let statics =
        listed.iter().filter(|one| one["linkage"] == "static").map(|one| one["symbol"].as_str().unwrap());
    let statics: Vec<&str> = statics.collect();
    for one in functions {
        assert!(one["intercepted"] == true, "{one}");
        assert!(one["ran_as_c"].as_u64().unwrap_or(0) == 0, "{one}");
        // Only ports call statics, inside of the port.
        let is_static = statics.contains(&one["symbol"].as_str().unwrap());
        assert!(is_static || one["calls"].as_u64().unwrap() > 0, "{one}");
    }
}

#[test]
#[ignore = "takes many minutes"]
fn the_checksums_of_zlib_are_ported_whole() {
    let sources = ["adler32.c", "crc32.c", "zutil.c", "*.h"];
    let repo = files("libz-sys", "1.1.31", ("src/zlib", &sources));
    ported(&repo, "fixtures/recordings/zlib-checksums", 23);
}

#[test]
#[ignore = "takes many minutes"]
fn xxhash_is_ported_whole() {
    let repo = files("lz4-sys", "1.11.1", ("liblz4/lib", &["xxhash.c", "xxhash.h"]));
    ported(&repo, "fixtures/recordings/xxhash", 46);
}

/// A library of a crate, with the tests that it ships with.
struct Whole {
    package: &'static str,
    version: &'static str,
    folder: &'static str,
    recording: &'static str,
    /// Commands that build and run its tests.
    dropin: &'static str,
    functions: usize,
    /// Functions that drivers reach; harnesses judge the others.
    reached: usize,
}

/// From `init` to the library's own tests without C: drivers and ports come from recordings, in which the model knew the
/// prompts alone. What contracts learned from calls then is a file of the recording, because signatures depend on it.
#[allow(clippy::print_stdout, reason = "docs/porting-with-a-model.md has the numbers from it")]
fn is_ported_whole(whole: &Whole) {
    let repo = Repo::empty();
    copy_tree(&vendored(whole.package, whole.version).join(whole.folder), repo.root());
    drivers_are_written(&repo, whole.recording, (whole.reached as u64, whole.functions as u64));
    let calls = here(whole.recording).join("calls.json");
    std::fs::copy(calls, repo.root().join("rust/contracts/calls.json")).unwrap();
    repo.write("implfuzz.toml", &(repo.read("implfuzz.toml") + whole.dropin));

    let replay = format!("llm.replay_dir={:?}", here(whole.recording).display().to_string());
    let provider = ["--config", "llm.provider='replay'", "--config", &replay];
    let quick = ["--config", "fuzz.accept_seconds=8", "--format", "json"];
    let json = repo.run(&[&["port", "--all", "-j", "3"], &provider[..], &quick].concat()).json("port");
    println!("{}", json["model"]);
    for row in json["symbols"].as_array().unwrap() {
        assert!(["accepted", "already-ported"].contains(&row["end"].as_str().unwrap()), "{row:#}");
    }
    let verify = [
        "verify",
        "--all",
        "--config",
        "fuzz.accept_seconds=40",
        "--config",
        "fuzz.accept_executions=100000",
        "--format",
        "json",
    ];
    let json = repo.run(&verify).json("verify");
    println!("{}", json["library"]);
    let rows = json["symbols"].as_array().unwrap();
    assert_eq!(rows.len(), whole.functions, "{json:#}");
    for row in rows {
        assert!(["exhaustive", "verified", "weak"].contains(&row["grade"].as_str().unwrap()), "{row}");
        assert_eq!(row["callees_in_c"], json!([]), "{row}");
    }
    assert_eq!(json["standalone"]["links"], true, "{json:#}");

    let json = repo.run(&["dropin", "--format", "json"]).ok().json("dropin");
    assert_eq!(json["verdict"], "same", "{json:#}");
    for one in json["functions"].as_array().unwrap() {
        assert!(one["intercepted"] == true && one["ran_as_c"].as_u64().unwrap_or(0) == 0, "{one}");
    }
}

#[test]
#[ignore = "takes an hour"]
fn monocypher_is_ported_whole_and_passes_its_own_tests() {
    is_ported_whole(&Whole {
        package: "monocypher-sys",
        version: "4.0.2",
        folder: "Monocypher",
        recording: "fixtures/recordings/monocypher",
        dropin: "\n[dropin]\nbuild = [[\"make\", \"tis-ci.out\"]]\nrun = [[\"./tis-ci.out\"]]\n",
        functions: 142,
        reached: 142,
    });
}

#[test]
#[ignore = "takes an hour"]
fn bzip2_is_ported_whole_and_passes_its_own_tests() {
    is_ported_whole(&Whole {
        package: "bzip2-sys",
        version: "0.1.13",
        folder: "bzip2-1.0.8",
        recording: "fixtures/recordings/bzip2",
        dropin: "\n[dropin]\nbuild = [[\"make\", \"bzip2\"]]\nrun = [[\"make\", \"test\"]]\n",
        functions: 64,
        // The compiler folds the only call of `bz_config_ok`.
        reached: 63,
    });
}

/// Replays the answers of a model that knew the prompts alone and wrote drivers for a library without its programs and
/// tests. `least` functions of all are reached.
#[allow(clippy::print_stdout, reason = "docs/drivers.md has the numbers from it")]
fn drivers_are_written(repo: &Repo, recording: &str, (least, all): (u64, u64)) {
    repo.run(&["init"]).ok();
    let replay = format!("llm.replay_dir={:?}", here(recording).display().to_string());
    let arguments =
        ["drivers", "--write", "--seconds", "10", "--config", "llm.provider=\"replay\"", "--config", &replay];
    let json = repo.run(&[&arguments[..], &["--format", "json"]].concat()).json("drivers-written");
    println!("drivers reach {} of {} functions; {}", json["reached"], json["functions"], json["model"]);
    assert_eq!((&json["reached_before"], &json["functions"]), (&json!(0), &json!(all)), "{json:#}");
    assert!(json["reached"].as_u64().unwrap() >= least, "{json:#}");
}

#[test]
#[ignore = "takes a minute"]
fn drivers_of_bzip2_are_written() {
    let sources = [
        "blocksort.c", "bzlib.c", "compress.c", "crctable.c", "decompress.c", "huffman.c", "randtable.c",
        "*.h",
    ];
    let repo = files("bzip2-sys", "0.1.13", ("bzip2-1.0.8", &sources));
    drivers_are_written(&repo, "fixtures/recordings/bzip2", (62, 64));
}

#[test]
#[ignore = "takes a minute"]
fn drivers_of_hoedown_are_written() {
    let sources = [
        "autolink.c", "buffer.c", "document.c", "escape.c", "html.c", "html_blocks.c", "html_smartypants.c",
        "stack.c", "version.c", "*.h",
    ];
    let repo = files("hoedown", "6.0.0", ("libhoedown/src", &sources));
    drivers_are_written(&repo, "fixtures/recordings/hoedown-drivers", (160, 168));
}

#[test]
#[ignore = "takes a minute"]
fn drivers_of_lzfse_are_written() {
    let repo = Repo::empty();
    copy_files(&vendored("lzfse-sys", "2.0.0").join("lzfse/src"), repo.root());
    std::fs::remove_file(repo.root().join("lzfse_main.c")).unwrap();
    drivers_are_written(&repo, "fixtures/recordings/lzfse-drivers", (75, 89));
}
