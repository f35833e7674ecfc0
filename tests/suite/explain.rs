//! Codes of errors and problems through the binary: where they are shown, and what `explain` says about them.

use crate::support::shape::documented;
use crate::support::{Repo, plant};

#[test]
fn a_code_is_explained_and_all_are_listed() {
    let repo = Repo::empty();
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/errors/E0102.md")).unwrap();
    assert_eq!(repo.run(&["explain", "E0102"]).ok().stdout, page);
    let json = repo.run(&["explain", "e0102", "--format", "json"]).ok().json("explain");
    assert_eq!((json["code"].as_str(), json["text"].as_str()), (Some("E0102"), Some(page.as_str())));
    assert!(page.starts_with(&format!("# E0102: {}\n", json["title"].as_str().unwrap())));
    documented(&json);
    let all = repo.run(&["explain"]);
    all.ok().shows("E0001  something on the machine is missing or in use\n").shows("\nE0302  ");
    let json = repo.run(&["explain", "--format", "json"]).ok().json("codes");
    assert_eq!(json["codes"].as_array().unwrap().len(), all.stdout.lines().count());
    documented(&json);
    repo.run(&["explain", "E9999"])
        .fails(2, &["error[E0002]: there is no code `E9999`", "cargo implfuzz explain"]);
}

#[test]
fn errors_and_problems_have_their_codes() {
    let repo = Repo::initialised();
    repo.run(&["context", "twise"]).fails(2, &["error[E0002]: the library has no function `twise`"]);
    let json = repo.run(&["context", "twise", "--format", "json"]).code(2).json("error");
    assert_eq!((json["kind"].as_str(), json["code"].as_str()), (Some("usage"), Some("E0002")));
    documented(&json);
    let mut module = repo.read("rust/src/sum.rs");
    plant(&mut module, "twice", "pub fn twice(x: u32) -> u32 {\n    x.wrapping_mul(2)\n}").unwrap();
    repo.write("rust/src/sum.rs", &module);
    repo.run(&["check"]).code(11).shows("twice: unjudged: ").shows(" [E0101]\n  help: ");
    let json = repo.run(&["check", "--format", "json"]).code(11).json("check");
    assert_eq!(json["symbols"][0]["code"], "E0101");
    documented(&json);
    // `check` audits what has evidence.
    let refused = module.replace("x.wrapping_mul(2)", "println!(); x.wrapping_mul(2)");
    repo.write("rust/src/sum.rs", &refused);
    repo.run(&["verify", "twice"]).code(10);
    repo.run(&["check"]).code(10).shows("the audit rejects it").shows(" [E0106]\n");
}
