//! `port --redo --safer`: a port is replaced only by one with less `unsafe`; and what `port --all` and `status` say of the
//! whole library. The models are scripts.

use crate::abreast::model;
use crate::support::{QUICK, Ran, Repo, assert_same, plant, reply};
use serde_json::{Value, json};

const MODULE: &str = "rust/src/sum.rs";
const OLD: &str = "/// Doubles.\npub fn twice(x: u32) -> u32 {\n    // SAFETY: `x` is there.\n    let y = unsafe { *(&raw const x) };\n    \
    // SAFETY: `x` is there.\n    let z = unsafe { *(&raw const x) };\n    y.wrapping_add(z)\n}";
const MERGED: &str = "/// Doubles.\npub fn twice(x: u32) -> u32 {\n    // SAFETY: `x` is there.\n    unsafe {\n        \
    let y = *(&raw const x);\n        let z = *(&raw const x);\n        y.wrapping_add(z)\n    }\n}";
const SAFE: &str = "/// Doubles.\npub fn twice(x: u32) -> u32 {\n    x.wrapping_mul(2)\n}";

/// The small library, where `twice` has an `unsafe` port.
fn repo() -> Repo {
    let repo = Repo::initialised();
    let mut module = repo.read(MODULE);
    plant(&mut module, "twice", OLD).unwrap();
    repo.write(MODULE, &module);
    repo.run(&["init"]).ok();
    repo.run(&[&["verify", "twice"], &["--runs", "3000", "--seconds", "3"][..]].concat()).ok();
    repo
}

fn safer(repo: &Repo, more: &[&str]) -> Ran {
    repo.run(&[&["port", "twice", "--redo", "--safer", "--format", "json"], &QUICK[..], more].concat())
}

fn ended(ran: &Ran) -> Value {
    ran.json("port")["symbols"][0]["end"].clone()
}

#[test]
fn only_a_port_with_less_unsafe_takes_the_place_of_another() {
    let repo = repo();
    repo.model(&[&reply(MERGED), &reply(OLD)]);
    let before = repo.tree();
    let ran = safer(&repo, &[]);
    assert_eq!(ended(ran.ok()), json!("already-ported"), "{ran}");
    assert!(ran.stdout.contains("no safer port"), "{ran}");
    assert_same(&before, &repo.tree());
    // No model is asked again about this text.
    let asked = repo.asked();
    assert_eq!(safer(&repo, &[]).ok().json("port")["symbols"], json!([]));
    assert_eq!(repo.asked(), asked);
    repo.run(&["memory", "forget", "--all"]).ok();

    repo.model(&[&reply(MERGED), &reply(SAFE)]);
    let ran = safer(&repo, &[]);
    assert_eq!(ended(ran.ok()), json!("accepted"), "{ran}");
    assert!(!repo.read(MODULE).contains("&raw const x"));
    let asked = repo.prompt(1);
    assert!(asked.contains("The port so far") && asked.contains("in 2 places"), "{asked}");
    assert!(asked.contains("let z = unsafe"), "{asked}");
    let again = repo.prompt(2);
    assert!(again.contains("tokens in 1 places, that of the old port"), "{again}");

    // Nothing is left to make safer.
    let asked = repo.asked();
    assert_eq!(safer(&repo, &[]).ok().json("port")["symbols"], json!([]));
    assert_eq!(repo.asked(), asked);
    repo.run(&["port", "twice", "--safer"]).code(2).shows("--redo");
    let without = ["port", "twice", "--redo", "--safer", "--candidate", "c2rust"];
    repo.run(&without).fails(2, &["--safer asks a model", "--candidate model"]);
}

#[test]
fn callers_are_made_safer_where_what_they_call_stays() {
    let repo = repo();
    let thrice = |text: &str| format!("pub fn thrice(x: u32) -> u32 {{\n    {text}\n}}");
    let old =
        thrice("// SAFETY: `x` is there.\n    callee::twice(x).wrapping_add(unsafe { *(&raw const x) })");
    let mut module = repo.read(MODULE);
    plant(&mut module, "thrice", &old).unwrap();
    repo.write(MODULE, &module);
    repo.verified(&["twice", "thrice"], 0);
    model(&repo, &[], &[("twice", &[OLD]), ("thrice", &[&thrice("callee::twice(x).wrapping_add(x)")])]);
    repo.run(&["port", "twice", "thrice", "--redo", "--safer", "--dry-run"]).ok().shows("port again");
    let asked = ["port", "twice", "thrice", "--redo", "--safer", "--format", "json"];
    let json = repo.run(&[&asked[..], &QUICK].concat()).ok().json("port");
    let end = |name: &str| {
        let all = json["symbols"].as_array().unwrap();
        all.iter().find(|one| one["symbol"] == name).unwrap()["end"].clone()
    };
    assert_eq!((end("twice"), end("thrice")), (json!("already-ported"), json!("accepted")), "{json:#}");
    repo.run(&["port", "twice", "thrice", "--redo", "--safer", "--dry-run"])
        .ok()
        .shows("there is no port to make safer");
}

#[test]
fn the_whole_library_is_summed_up() {
    let repo = repo();
    repo.model(&["```text notes\nNo.\n```\n"]);
    let all = ["port", "--all", "--format", "json", "--config", "limits.validation_fixes=1"];
    let ran = repo.run(&[&all[..], &QUICK].concat());
    let library = ran.json("port")["library"].clone();
    let functions = library["functions"].as_u64().unwrap();
    assert_eq!((&library["ported"], &library["grades"]), (&json!(1), &json!({ "weak": 1 })), "{library:#}");
    assert_eq!((&library["unsafe_count"], &library["with_unsafe"]), (&json!(2), &json!(1)), "{library:#}");
    let missing = library["missing"].as_array().unwrap();
    let named: usize = missing.iter().map(|one| one["functions"].as_array().unwrap().len()).sum();
    assert_eq!(named as u64 + 1, functions, "{library:#}");
    let status = repo.run(&["status", "--format", "json"]);
    assert_eq!(status.json("status")["library"], library);
    repo.run(&["status"]).shows("unsafe: 2 blocks and functions, in 1 port;");
    repo.run(&["status"]).shows(&format!("missing for a port without C: {} functions", functions - 1));
}
