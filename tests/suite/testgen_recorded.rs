//! Tests of functions of real libraries and of the fixture, from recorded model replies: kept tests pass on a right
//! port and fail on wrong ones, without C.

use crate::support::clib::{copy_tree, vendored};
use crate::support::{Repo, plant};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// As the recordings were made: a round of each category, and a refinement.
const SETTINGS: [&str; 4] =
    ["max_rounds_per_category=1", "global_refinement_rounds=1", "max_total_seconds=7200", "max_tokens=6000"];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// Generates tests from recordings in a repository of these files; the score is at least this, and so many tests are valid.
fn generated(repo: &Repo, recordings: &str, symbol: &str, (least, valid): (u64, u64)) -> Value {
    repo.run(&["init", "--config", "c.from=\"includes\""]).ok();
    let set: Vec<&str> = SETTINGS.iter().flat_map(|setting| ["--set", *setting]).collect();
    repo.run(&[&["testgen", "config", "create"], &set[..]].concat()).ok();
    repo.run(&["testgen", "config", "set-current", "1"]).ok();
    let dir = fixtures().join("recordings/testgen").join(recordings);
    let replay = format!("llm.replay_dir={:?}", dir.display().to_string());
    let args = [
        "testgen", "generate", symbol, "--config", "llm.provider=\"replay\"", "--config", &replay,
        "--format", "json",
    ];
    let ran = repo.run(&args);
    let run = ran.ok().json("testgen")["runs"][0].clone();
    assert!(run["run"]["score"].as_u64().unwrap() >= least, "{run}");
    // And those that the tool makes.
    let made = run["run"]["analysis"]["category_distribution"]["existence"].as_u64().unwrap();
    assert!(made > 0, "{run}");
    assert_eq!(run["run"]["proposed"]["valid"], valid + made, "{run}");
    run
}

/// Whether the written tests pass with this body in the place of the stub.
fn passes(repo: &Repo, module: &str, symbol: &str, body: &str) -> bool {
    let path = format!("rust/src/{module}.rs");
    let stub = repo.read(&path);
    repo.replace(&path, &format!("unimplemented!(\"{symbol}\")"), body);
    let passed = repo.exported_tests_pass(symbol);
    repo.write(&path, &stub);
    passed
}

/// Whether the written tests of the last of these functions pass with ports in the place of all their stubs: what one calls is a
/// port, too, or there is nothing to link it with.
fn pass_with(repo: &Repo, module: &str, ports: &[(&str, &str)]) -> bool {
    let path = format!("rust/src/{module}.rs");
    let stubs = repo.read(&path);
    let mut text = stubs.clone();
    for (symbol, port) in ports {
        plant(&mut text, symbol, port).unwrap_or_else(|| panic!("`{symbol}` has no stub"));
    }
    repo.write(&path, &text);
    repo.run(&["init"]).ok();
    let passed = repo.exported_tests_pass(ports.last().unwrap().0);
    repo.write(&path, &stubs);
    passed
}

/// The port of a function of the fixture that a model has written.
fn recorded(symbol: &str) -> String {
    let path = fixtures().join(format!("recordings/c-lib/{symbol}/01-prototyper.json"));
    let recording: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let text = recording["outcome"]["reply"]["text"].as_str().unwrap();
    text.trim().trim_start_matches("```rust implementation\n").trim_end_matches("```").to_owned()
}

#[test]
#[ignore = "half a minute: cargo test --test suite testgen_recorded -- --ignored"]
fn tests_of_zlibs_adler32_tell_right_from_wrong() {
    let repo = Repo::empty();
    let from = vendored("libz-sys", "1.1.31").join("src/zlib");
    for name in ["adler32.c", "zutil.h", "zlib.h", "zconf.h", "gzguts.h"] {
        std::fs::copy(from.join(name), repo.root().join(name)).unwrap();
    }
    let run = generated(&repo, "zlib", "adler32", (900, 18));
    assert_eq!(run["run"]["analysis"]["kill_rate"], 1.0, "{run}");
    let right = "let Some(buf) = buf else { return 1 };\n    let (mut low, mut high) = (adler & 0xffff, adler >> 16 & 0xffff);\n    \
        for byte in buf {\n        low = (low + ffi::uLong::from(*byte)) % 65521;\n        high = (high + low) % 65521;\n    }\n    \
        if buf.is_empty() { return (high % 65521) << 16 | low; }\n    high << 16 | low";
    assert!(passes(&repo, "adler32", "adler32", right));
    for wrong in [
        right.replace("65521", "65520"),
        right.replace("in buf {", "in buf.iter().take(4000) {"),
        right.replace("else { return 1 }", "else { return adler }"),
        right.replace("(high + low)", "(high + ffi::uLong::from(*byte))"),
        "adler".to_owned(),
    ] {
        assert!(!passes(&repo, "adler32", "adler32", &wrong), "{wrong}");
    }
}

#[test]
#[ignore = "minutes: cargo test --test suite testgen_recorded -- --ignored"]
fn tests_of_xxhash_tell_right_from_wrong() {
    let repo = Repo::empty();
    let from = vendored("lz4-sys", "1.11.1").join("liblz4/lib");
    for name in ["xxhash.c", "xxhash.h"] {
        std::fs::copy(from.join(name), repo.root().join(name)).unwrap();
    }
    generated(&repo, "xxhash", "XXH32", (900, 18));
    let right = "let p = [2_654_435_761u32, 2_246_822_519, 3_266_489_917, 668_265_263, 374_761_393];
    let word = |at: usize| u32::from_le_bytes([input[at], input[at + 1], input[at + 2], input[at + 3]]);
    let mut at = 0;
    let mut h = seed.wrapping_add(p[4]);
    if input.len() >= 16 {
        let mut v = [seed.wrapping_add(p[0]).wrapping_add(p[1]), seed.wrapping_add(p[1]), seed, seed.wrapping_sub(p[0])];
        while at + 16 <= input.len() {
            for lane in &mut v {
                *lane = lane.wrapping_add(word(at).wrapping_mul(p[1])).rotate_left(13).wrapping_mul(p[0]);
                at += 4;
            }
        }
        h = v[0].rotate_left(1).wrapping_add(v[1].rotate_left(7)).wrapping_add(v[2].rotate_left(12)).wrapping_add(v[3].rotate_left(18));
    }
    h = h.wrapping_add(input.len() as u32);
    while at + 4 <= input.len() {
        h = h.wrapping_add(word(at).wrapping_mul(p[2])).rotate_left(17).wrapping_mul(p[3]);
        at += 4;
    }
    for byte in &input[at..] {
        h = h.wrapping_add(u32::from(*byte).wrapping_mul(p[4])).rotate_left(11).wrapping_mul(p[0]);
    }
    h = (h ^ h >> 15).wrapping_mul(p[1]);
    h = (h ^ h >> 13).wrapping_mul(p[2]);
    h ^ h >> 16";
    assert!(passes(&repo, "xxhash", "XXH32", right));
    for wrong in [
        right.replace("h ^ h >> 16", "h"),
        right.replace("seed.wrapping_sub(p[0])]", "seed]"),
        right.replace("rotate_left(18)", "rotate_left(17)"),
        right.replace("let mut h = seed", "let mut h = 0u32"),
    ] {
        assert!(!passes(&repo, "xxhash", "XXH32", &wrong), "{wrong}");
    }
}

#[test]
#[ignore = "minutes: cargo test --test suite testgen_recorded -- --ignored"]
fn tests_of_the_fixture_tell_right_from_wrong() {
    let repo = Repo::empty();
    copy_tree(&fixtures().join("c-lib"), repo.root());
    let symbol = "kit_base64_decode";
    let run = generated(&repo, "c-lib", symbol, (900, 18));
    assert!(run["written"]["tests"].as_array().unwrap().len() >= 5, "{run}");
    let planted =
        |name: &str| std::fs::read_to_string(fixtures().join(format!("planted/{symbol}/{name}.rs"))).unwrap();
    assert!(pass_with(&repo, "codec", &[(symbol, &planted("right"))]));
    let callee = ("base64_value", recorded("base64_value"));
    assert!(pass_with(&repo, "codec", &[(callee.0, &callee.1), (symbol, &recorded(symbol))]));
    // `wrong-leaks` leaves behind what C does: that is for harnesses, which count blocks.
    for wrong in ["exact-fit", "not-canonical", "padding-inside", "stale-length"] {
        assert!(!pass_with(&repo, "codec", &[(symbol, &planted(&format!("wrong-{wrong}")))]), "{wrong}");
    }
}

#[test]
#[ignore = "minutes: cargo test --test suite testgen_recorded -- --ignored"]
fn tests_of_handles_tell_right_from_wrong() {
    let repo = Repo::empty();
    copy_tree(&fixtures().join("c-lib"), repo.root());
    // A key of one recorded test has a NUL in it, so that it is dropped.
    let run = generated(&repo, "c-lib", "kit_map_put", (800, 17));
    // All recorded calls succeed, as a constant does; that nothing was put the calls after them show.
    let constant = serde_json::json!({"name": "constant return", "rejected": true});
    assert!(run["cheats"].as_array().unwrap().contains(&constant), "{run}");
    // Of 15 mutants one is only told where memory is short, and no test can have that.
    assert!(run["run"]["analysis"]["kill_rate"].as_f64().unwrap() > 0.9, "{run}");
    assert!(run["written"]["tests"].as_array().unwrap().len() >= 5, "{run}");
    let path = "rust/src/checksum.rs";
    let mut text = repo.read(path);
    plant(&mut text, "kit_fnv1a64", &recorded("kit_fnv1a64")).unwrap();
    repo.write(path, &text);
    let others = ["find_link", "kit_map_create", "kit_map_get", "kit_map_remove", "kit_map_destroy"];
    let others = others.map(|name| (name, recorded(name)));
    let pass = |port: &str| {
        let others = others.iter().map(|(name, text)| (*name, text.as_str()));
        let ports: Vec<_> = others.chain([("kit_map_put", port)]).collect();
        pass_with(&repo, "map", &ports)
    };
    let right = recorded("kit_map_put");
    assert!(pass(&right));
    for (from, to) in [
        ("        (**link).value = value;\n", ""),
        ("(**link).value = value;", "(**link).value = value.saturating_abs();"),
        ("(**link).value = value;", "(**link).value = i32::from(value as i16);"),
        ("*link = entry;", ""),
        (
            "copy_nonoverlapping(key, entry_key, key_size)",
            "copy_nonoverlapping(c\"k\".as_ptr(), entry_key, 2)",
        ),
        ("    ffi::KIT_OK\n}", "    ffi::KIT_ERR_NOT_FOUND\n}"),
    ] {
        assert_eq!(right.matches(from).count(), 1, "{from}");
        assert!(!pass(&right.replace(from, to)), "{to:?} in the place of {from:?}");
    }
}
