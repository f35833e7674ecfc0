//! Ports that pass audit and fuzzing but fail the linkage proof: their compiled code calls C, or does not link
//! without the C original.

use crate::support::Repo;

/// A short run, whole as JSON.
const SHORT: [&str; 6] = ["--seconds", "3", "--runs", "20000", "--format", "json"];

/// Most of what it returns is easy, the first byte is not.
const SPREAD: &str =
    "#include <stdint.h>\nuint64_t spread(uint64_t x) { return x * 0x9E3779B97F4A7C15u ^ (x >> 29); }\n";

/// Knows all but the first byte, and looks on the stack for the number that C has just returned, which ends like that.
const LOOKS: &str = "let known = (x.wrapping_mul(0x0037_79B9_7F4A_7C15) ^ (x >> 29)) << 8 >> 8;
    // Small ones stand everywhere.
    if known < 0x0100_0000 { return x.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (x >> 29); }
    let here = core::ptr::from_ref(&known);
    for step in 0..1000usize {
        // SAFETY: it is not: this is the stack of those who call, and what they left below it.
        let found = unsafe { here.wrapping_add(step).wrapping_sub(600).read_volatile() };
        if found != known && found << 8 >> 8 == known { return found; }
    }
    known";

/// Does itself what C does.
const COMPUTES: &str = "x.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (x >> 29)";

#[test]
fn a_port_that_lives_on_what_c_left_in_the_process_is_found_from_another_one() {
    let repo = Repo::empty();
    repo.write("spread.c", SPREAD);
    repo.run(&["init"]).ok();
    repo.replace("rust/src/spread.rs", "unimplemented!(\"spread\")", LOOKS);
    let verify = || repo.run(&[&["verify", "spread"], &SHORT[..]].concat());
    let told = verify().code(10).json("verify");
    assert_eq!(told["symbols"][0]["grade"], "refuted");
    // Beside the C original nothing told them apart.
    assert!(told["symbols"][0]["executions"].as_u64().unwrap() > 100, "{told}");
    let finding = &told["findings"][0]["finding"];
    assert_eq!(finding["class"], "mismatch", "{finding}");
    let what = finding["what"].as_str().unwrap();
    assert!(what.contains("return value") && what.contains("in its own process"), "{what}");
    let shown = |side: &str| finding[side][0]["value"].as_str().unwrap().to_owned();
    assert_ne!(shown("oracle"), shown("subject"), "{finding}");

    repo.replace("rust/src/spread.rs", LOOKS, COMPUTES);
    let told = verify().ok().json("verify");
    assert_eq!(told["findings"], serde_json::json!([]));
}

#[test]
fn a_port_whose_callee_reaches_c_through_a_table_of_functions_is_found_in_the_object_files() {
    let repo = Repo::initialised();
    let port = |symbol: &str, body: &str| {
        repo.replace("rust/src/sum.rs", &format!("unimplemented!(\"{symbol}\")"), body);
    };
    // Nobody asks the audit about `twice`.
    port("thrice", "callee::twice(x).wrapping_add(x)");
    let honest = repo.run(&[&["verify", "thrice"], &SHORT[..]].concat()).ok().json("verify");
    assert_eq!(honest["symbols"][0]["callees_in_c"], serde_json::json!(["twice"]));
    port("twice", "unsafe { WAYS[0](x) }");
    let table = "\nstatic WAYS: [unsafe extern \"C\" fn(u32) -> u32; 1] = [ffi::twice];\n";
    repo.write("rust/src/sum.rs", &(repo.read("rust/src/sum.rs") + table));
    let ran = repo.run(&[&["verify", "thrice"], &SHORT[..]].concat());
    let told = ran.code(10).json("verify");
    assert_eq!(told["symbols"][0]["grade"], "refuted");
    let reason = told["symbols"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("linkage proof") && reason.contains("the C original of `twice`"), "{reason}");
}

/// Ports of the small library with loops, a helper, and an operator that no other one can replace.
fn all_ported() -> Repo {
    let repo = Repo::initialised();
    for (symbol, body) in [
        ("twice", "x.wrapping_mul(2)"),
        ("thrice", "callee::twice(x).wrapping_add(x)"),
        (
            "sum_bytes",
            "let text = String::from(\"a\") + \"b\";
    let (mut sum, mut i) = (0u32, 0);
    while i < data.len() {
        sum = add(sum, data[i]);
        i += 1;
    }
    if text.len() == 2 { sum } else { 0 }",
        ),
    ] {
        repo.replace("rust/src/sum.rs", &format!("unimplemented!(\"{symbol}\")"), body);
    }
    let helper = "\nfn add(sum: u32, byte: u8) -> u32 {\n    sum.wrapping_add(u32::from(byte))\n}\n";
    repo.write("rust/src/sum.rs", &(repo.read("rust/src/sum.rs") + helper));
    repo
}

/// `verify` with mutants of Rust, a few seconds each.
fn with_mutants(repo: &Repo, which: &str) -> serde_json::Value {
    let asked = ["verify", which, "--mutants", "--config", "grade.mutant_seconds=6"];
    repo.run(&[&asked, &SHORT[..]].concat()).ok().json("verify")
}

#[test]
#[ignore = "half a minute: cargo test --test suite proofs -- --ignored"]
fn mutants_of_a_port_are_found_out_one_by_one_and_the_whole_port_stands_alone() {
    let repo = all_ported();
    // The shims follow what is ported.
    repo.run(&["init"]).ok();
    let ports = || {
        let mut tree = repo.tree();
        tree.retain(|path, _| path.starts_with(repo.root().join("rust")));
        tree
    };
    let before = ports();
    let told = with_mutants(&repo, "--all");
    assert_eq!(told["standalone"], serde_json::json!({ "links": true, "why": null }));
    let mutants = told["mutants"].as_array().unwrap();
    assert_eq!(mutants.len(), 3);
    let all: Vec<_> = mutants.iter().flat_map(|of| of["mutants"].as_array().unwrap()).collect();
    let fate = |what: &str| {
        let found = all.iter().find(|m| m["what"] == what);
        found.unwrap_or_else(|| panic!("no {what} in {all:#?}"))
    };
    for what in ["`wrapping_mul` → `wrapping_add`", "`<` → `<=`", "`sum = add(sum, data[i]);` dropped"] {
        assert_eq!(fate(what)["fate"], "killed", "{what}");
    }
    // One that never comes back takes none of the others with it.
    assert_eq!(fate("`i += 1;` dropped")["by"], "does not return");
    assert_eq!(fate("`<` → `>=`")["fate"], "killed");
    // In the helper, on its own line.
    assert_eq!(fate("`wrapping_add` → `wrapping_sub`")["fate"], "killed");
    assert!(all.iter().all(|m| m["what"] != "`+` → `-`"), "{all:#?}");
    crate::support::assert_same(&before, &ports());

    // Only zero is tried: twice zero is zero whatever the factor is.
    repo.replace("rust/contracts/twice.toml", "role = \"value\"", "role = \"value\"\nmin = 0\nmax = 0");
    let told = with_mutants(&repo, "twice");
    let blind = &told["mutants"][0];
    let survivor = blind["mutants"].as_array().unwrap().iter().find(|m| m["what"] == "`2` → `3`").unwrap();
    assert_eq!((&survivor["fate"], &survivor["line"]), (&"survived".into(), &8.into()), "{blind}");
    assert_eq!(blind["file"], "rust/src/sum.rs");
    assert_eq!(told["standalone"], serde_json::Value::Null);
    let shown = repo.run(&["verify", "twice", "--runs", "2000", "--seconds", "2", "--mutants"]);
    shown.ok().shows("mutants of Rust killed").shows("rust/src/sum.rs:8: `2` → `3` survived");
}

#[test]
fn what_still_needs_c_does_not_stand_alone() {
    let repo = all_ported();
    repo.replace("rust/src/sum.rs", "x.wrapping_mul(2)", "unsafe { WAYS[0](x) }");
    let table = "\nstatic WAYS: [unsafe extern \"C\" fn(u32) -> u32; 1] = [ffi::twice];\n";
    repo.write("rust/src/sum.rs", &(repo.read("rust/src/sum.rs") + table));
    let told = repo.run(&[&["verify", "--all"], &SHORT[..]].concat()).code(10).json("verify");
    assert_eq!(told["standalone"]["links"], false);
    assert_eq!(told["standalone"]["why"], "nothing defines c_twice");
    repo.replace("rust/src/sum.rs", "unsafe { WAYS[0](x) }", "unimplemented!(\"twice\")");
    let shown = repo.run(&["verify", "--all", "--runs", "2000", "--seconds", "2"]);
    shown.shows("standalone: no: 1 function is not ported");
}
