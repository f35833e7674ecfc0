//! Drivers that are made from contracts: `drivers --new NAME` with nothing else.

use crate::drivers::store;
use crate::support::Repo;
use crate::support::clib::copy_tree;
use serde_json::json;
use std::path::Path;

/// The number of functions that the drivers of a repository reach, of all.
fn reached(repo: &Repo, seconds: &str) -> usize {
    let json = repo.run(&["drivers", "--seconds", seconds, "--format", "json"]).ok().json("drivers");
    json["drivers"][0]["reached"].as_array().unwrap().len()
}

#[test]
fn a_driver_calls_what_contracts_describe() {
    let repo = Repo::empty();
    copy_tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/c-lib"), repo.root());
    repo.run(&["init"]).ok();
    let json = repo.run(&["drivers", "--new", "calls", "--format", "json"]).ok().json("driver-new");
    assert!(json["functions"].as_u64().unwrap() >= 50, "{json}");
    // Of 64, and most of the others are `static` behind rare conditions.
    let reached = reached(&repo, "8");
    assert!(reached >= 55, "{reached}");
    // It is a C file like any other.
    let text = repo.read("fuzz/calls.c");
    assert!(text.contains("#include \"../include/kit/map.h\"\n") && text.contains("case 0: { /* "), "{text}");
}

#[test]
fn a_driver_calls_functions_that_no_harness_can_compare() {
    let repo = store();
    std::fs::remove_dir_all(repo.root().join("fuzz")).unwrap();
    repo.run(&["drivers", "--new", "calls"]).ok().shows("functions of store.h that it calls: 9");
    let text = repo.read("fuzz/calls.c");
    // Objects are made, used, and ended in the end; a callback is one that the driver defines.
    for line in [
        "*made = (void *)store_new(driver_store_new_watch, context);",
        "(void)store_add(store, name, length);",
        "store_free(driver_objects[0][at]);",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert_eq!(reached(&repo, "4"), 15, "all but the variadic one");
    repo.run(&["drivers", "--new", "calls"]).fails(2, &["fuzz/calls.c is there"]);
}

#[test]
fn headers_choose_what_a_driver_calls() {
    let repo = store();
    std::fs::remove_dir_all(repo.root().join("fuzz")).unwrap();
    repo.write("less.h", "struct store;\nvoid store_free(struct store *store);\nint store_new(int wrong);\n");
    // What a header declares in another way does not compile, and is left out.
    let new = ["drivers", "--new", "less", "--header", "less.h", "--format", "json"];
    let json = repo.run(&new).ok().json("driver-new");
    assert_eq!(json["functions"], json!(1), "{json}");
    assert!(repo.read("fuzz/less.c").contains("#include \"../less.h\""));
    repo.run(&["drivers", "--new", "none", "--header", "none.h"]).fails(2, &["no header none.h"]);
    repo.run(&["drivers", "--header", "less.h"]).code(2).shows("--new");
}
