//! Which functions `port` selects, its dry run, and how it treats existing ports. The models are scripts.

use crate::support::{QUICK, Ran, Repo, assert_same, plant, reply};
use cargo_implfuzz::evidence::lock::Lock;
use cargo_implfuzz::project::ported::PortModule;
use serde_json::{Value, json};

const TWICE: &str = "pub fn twice(x: u32) -> u32 {\n    x.wrapping_mul(2)\n}";
const WRONG: &str = "pub fn twice(x: u32) -> u32 {\n    x.saturating_mul(2)\n}";
const THRICE: &str = "pub fn thrice(x: u32) -> u32 {\n    callee::twice(x).wrapping_add(x)\n}";
const SUM: &str = "pub fn sum_bytes(data: &[u8]) -> u32 {\n    data.iter().map(|b| u32::from(*b)).sum()\n}";

const MODULE: &str = "rust/src/sum.rs";

fn port(repo: &Repo, args: &[&str]) -> Ran {
    repo.run(&[&["port", "--format", "json"], args, &QUICK[..]].concat())
}

/// What `port` tells of a function.
fn told(ran: &Ran, symbol: &str) -> Value {
    let json = ran.json("port");
    let found = json["symbols"].as_array().unwrap().iter().find(|one| one["symbol"] == symbol);
    found.unwrap_or_else(|| panic!("{symbol} is in no row of {json}")).clone()
}

/// What a dry run tells: each function with what is done about it.
fn planned(repo: &Repo, args: &[&str]) -> (Value, Vec<(String, String)>) {
    let ran = repo.run(&[&["port", "--all", "--dry-run", "--format", "json"], args].concat());
    let json = ran.ok().json("plan");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let all = json["symbols"].as_array().unwrap();
    let actions = all.iter().map(|one| (text(&one["symbol"]), text(&one["action"]))).collect();
    (json, actions)
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

/// Writes ports in the place of stubs, by hand.
fn by_hand(repo: &Repo, ports: &[(&str, &str)]) {
    let mut text = repo.read(MODULE);
    for (name, port) in ports {
        plant(&mut text, name, port).unwrap();
    }
    repo.write(MODULE, &text);
}

#[test]
fn a_dry_run_tells_order_cycles_and_sizes_and_changes_nothing() {
    let repo = Repo::library();
    let both = "uint32_t odd(uint32_t x);\nuint32_t even(uint32_t x) { return x ? odd(x - 1) : 1; }\n\
                uint32_t odd(uint32_t x) { return x ? even(x - 1) : 0; }\n";
    repo.write("cycle.c", &format!("#include <stdint.h>\n{both}"));
    repo.run(&["init"]).ok();
    by_hand(&repo, &[("twice", TWICE)]);
    let before = repo.tree();
    // No model is configured, and none is needed.
    let (json, actions) = planned(&repo, &["--skip", "sum_bytes"]);
    assert_same(&before, &repo.tree());
    assert_eq!(repo.count("SELECT count(*) FROM runs"), 0);
    assert_eq!(actions.len(), 4, "{json}");
    let place = |name: &str| actions.iter().position(|(symbol, _)| symbol == name).unwrap();
    assert!(place("twice") < place("thrice"));
    assert_eq!((actions[place("twice")].1.as_str(), actions[place("thrice")].1.as_str()), ("verify", "port"));
    let one = |name: &str| &json["symbols"][place(name)];
    assert_eq!(
        (&one("even")["cycle"], &one("odd")["cycle"], &one("thrice")["cycle"]),
        (&json!(1), &json!(1), &Value::Null)
    );
    assert_eq!(one("twice")["tokens"], Value::Null);
    let sum = |key: &str| -> u64 {
        json["symbols"].as_array().unwrap().iter().filter_map(|one| one[key].as_u64()).sum()
    };
    assert_eq!(
        (json["characters"].as_u64(), json["tokens"].as_u64()),
        (Some(sum("characters")), Some(sum("tokens")))
    );
    assert_eq!(json["prompts"], 3);
    assert!(one("thrice")["characters"].as_u64().unwrap() > 1000, "{json}");
    let (_, again) = planned(&repo, &["--redo", "--only", "twice,cycle.c"]);
    let want = [("twice", "port-again"), ("even", "port"), ("odd", "port")];
    let (mut again, mut want) = (again, pairs(&want));
    again.sort();
    want.sort();
    assert_eq!(again, want);
    repo.run(&["port", "--all", "--dry-run"]).ok().shows("no model was asked").shows("cycle 1");
}

#[test]
fn patterns_and_budgets_that_make_no_sense_are_refused() {
    let repo = Repo::initialised();
    repo.model(&[&reply(TWICE)]);
    let dry = |args: &[&str]| repo.run(&[&["port", "--dry-run"], args].concat());
    dry(&["--all", "--only", "twise"]).fails(2, &["matches `twise`", "did you mean `twice`"]);
    dry(&["--all", "--skip", "*"]).fails(2, &["exclude all functions"]);
    dry(&["twice", "--only", "twice"]).code(2).shows("cannot be used with");
    dry(&["--only", "twice"]).code(2).shows("--all");
    dry(&["--all", "--max-cost", "-1"]).code(2);
    // Named options win, and are kept before anything is asked.
    let file = repo.read("implfuzz.toml");
    repo.write("implfuzz.toml", &format!("{file}max_tokens_per_run = 1000000\nmax_cost = 1000.0\nprices = {{ input = 1.0, output = 1.0 }}\n"));
    port(&repo, &["twice", "--max-tokens", "10"]).code(12);
    port(&repo, &["twice", "--max-cost", "0.000001"]).code(12);
    repo.write("implfuzz.toml", &file);
    port(&repo, &["twice", "--max-cost", "1"]).code(2).shows("prices");
    assert_eq!(repo.asked(), 0);
}

#[test]
fn a_port_is_written_again_and_stays_unless_the_new_one_is_accepted() {
    let repo = Repo::initialised();
    let old = "fn helper(x: u32) -> u32 {\n    x << 1\n}\n\npub fn twice(x: u32) -> u32 {\n    helper(x)\n}";
    let new = old.replace("x << 1", "x.wrapping_add(x)");
    by_hand(&repo, &[("twice", old)]);
    repo.run(&["init"]).ok();
    repo.model(&[&reply(WRONG)]);
    let before = repo.tree();
    let ran = port(&repo, &["--all", "--only", "twice", "--redo"]);
    assert_eq!(told(&ran, "twice")["end"], "failed");
    ran.code(10);
    assert!(repo.asked() > 0);
    assert_same(&before, &repo.tree());
    // A helper of the same name is no conflict: the old one goes with its port.
    repo.model(&[&reply(&new)]);
    port(&repo, &["twice", "--redo"]).ok();
    let module = repo.read(MODULE);
    assert!(module.contains("x.wrapping_add(x)") && !module.contains("x << 1"), "{module}");
    assert_eq!(
        (module.matches("fn helper(").count(), module.matches("fn twice(").count()),
        (1, 1),
        "{module}"
    );
    assert_eq!(repo.asked(), 1);
    assert_eq!(repo.status("twice")["grade"], "weak");
    let command = "SELECT count(*) FROM runs WHERE command = 'port --all --only twice --redo'";
    assert_eq!(repo.count(command), 1);
}

#[test]
fn ports_that_stand_are_judged_before_others_are_built_on_them() {
    let repo = Repo::initialised();
    by_hand(&repo, &[("twice", TWICE), ("sum_bytes", &SUM.replace("iter()", "iter().skip(1)"))]);
    let module = repo.read(MODULE);
    repo.model(&[&reply(THRICE)]);
    let ran = port(&repo, &["--all"]);
    ran.code(10);
    let ends = ["twice", "sum_bytes", "thrice"].map(|name| told(&ran, name)["end"].clone());
    assert_eq!(ends, ["already-ported", "no-longer-holds", "accepted"]);
    assert_eq!((&told(&ran, "twice")["grade"], repo.asked()), (&json!("weak"), 1));
    assert_eq!(ran.json("port")["findings"][0]["symbol"], "sum_bytes");
    let after = repo.read(MODULE);
    assert!(after.contains("iter().skip(1)") && after.contains(THRICE), "{after}");
    assert_ne!(after, module);
    // What fits is run for a short time and its evidence stays; what fits and refutes is plain.
    let (_, actions) = planned(&repo, &[]);
    assert_eq!(actions, pairs(&[("sum_bytes", "refuted"), ("twice", "confirm"), ("thrice", "confirm")]));
    let lock = repo.read("implfuzz.lock");
    let ran = port(&repo, &["--all"]);
    ran.code(10);
    assert_eq!(told(&ran, "sum_bytes")["end"], "no-longer-holds");
    assert_eq!((repo.read("implfuzz.lock"), repo.read(MODULE), repo.asked()), (lock, after, 1));
}

#[test]
fn nothing_is_built_on_a_port_that_no_longer_holds() {
    let repo = Repo::initialised();
    by_hand(&repo, &[("twice", TWICE)]);
    repo.verified(&["twice"], 0);
    repo.model(&[&reply(THRICE)]);
    let hash = |text: &str| PortModule::read(text.to_owned()).hash_of("twice").unwrap().to_string();
    let module = repo.read(MODULE);
    let wrong = module.replace(TWICE, WRONG);
    repo.write(MODULE, &wrong);
    let only = ["--all", "--skip", "sum_bytes"];
    // As if the wrong text had evidence: it is not believed.
    let (was, now) = (hash(&module), hash(&wrong));
    let mut lock = Lock::load(repo.root()).unwrap().unwrap();
    let mut entry = lock.symbols["twice"].clone();
    entry.fingerprint.rust.clone_from(&now);
    let entry = entry.sealed();
    let seal = entry.seal.clone();
    lock.symbols.insert("twice".into(), entry);
    repo.write("implfuzz.lock", &lock.render());
    let db = rusqlite::Connection::open(repo.root().join(".implfuzz/state.db")).unwrap();
    let update = "UPDATE evidence SET rust_hash = ?2, seal = ?3 WHERE rust_hash = ?1";
    db.execute(update, [&was, &now, &seal]).unwrap();
    drop(db);
    let (_, actions) = planned(&repo, &only[1..]);
    assert_eq!(actions, pairs(&[("twice", "confirm"), ("thrice", "port")]));
    let ran = port(&repo, &only);
    ran.code(10);
    assert_eq!(told(&ran, "twice")["end"], "no-longer-holds");
    let thrice = told(&ran, "thrice");
    assert_eq!(thrice["end"], "skipped");
    assert_eq!(thrice["reason"], "it needs `twice`, which no longer passes");
    assert_eq!((repo.asked(), repo.read(MODULE)), (0, wrong));
    // It is written anew where that is asked for, and then the rest goes on.
    repo.model(&[&reply(TWICE), &reply(THRICE)]);
    port(&repo, &["--all", "--only", "t*", "--redo"]).ok();
    assert!(repo.read(MODULE).contains(TWICE) && repo.read(MODULE).contains(THRICE));
}

#[test]
fn a_port_that_nobody_judged_is_looked_at_before_another_one_calls_it() {
    let repo = Repo::initialised();
    by_hand(&repo, &[("twice", WRONG)]);
    repo.model(&[&reply(THRICE)]);
    let ran = port(&repo, &["thrice"]);
    ran.code(11);
    let thrice = told(&ran, "thrice");
    assert_eq!(thrice["end"], "skipped");
    assert_eq!(thrice["reason"], "it needs `twice`, which no longer passes");
    assert_eq!((repo.asked(), repo.status("twice")["grade"].as_str()), (0, Some("refuted")));
    repo.replace(MODULE, WRONG, TWICE);
    port(&repo, &["thrice"]).ok();
    assert!(repo.read(MODULE).contains(THRICE));
}

#[test]
#[ignore = "half a minute: cargo test --test suite resume -- --ignored"]
fn callers_of_what_came_in_are_judged_again_at_the_end_of_the_run() {
    let repo = Repo::initialised();
    by_hand(&repo, &[("thrice", THRICE)]);
    repo.verified(&["thrice"], 0);
    let holds = |reason: &Value| !reason.as_str().unwrap_or_default().contains("calls C");
    assert!(!holds(&repo.status("thrice")["reason"]));
    repo.model(&[&reply(TWICE)]);
    let ran = port(&repo, &["--all", "--skip", "sum_bytes"]);
    ran.ok();
    let thrice = told(&ran, "thrice");
    assert_eq!((&thrice["end"], &thrice["grade"]), (&json!("already-ported"), &json!("weak")), "{thrice}");
    assert!(holds(&thrice["reason"]) && thrice["callees_in_c"] == json!([]), "{thrice}");
    let known = repo.status("thrice");
    assert!(known["grade"] == "weak" && holds(&known["reason"]), "{known}");
    repo.run(&["check"]).ok().shows("2 of 2 ports");
    assert_eq!(repo.asked(), 1);
    // A caller that the run was not about.
    repo.model(&[&reply(&TWICE.replace("x.wrapping_mul(2)", "x.wrapping_add(x)"))]);
    port(&repo, &["twice", "--redo"]).ok();
    assert_eq!(repo.status("thrice")["grade"], "weak");
    repo.run(&["check"]).ok().shows("2 of 2 ports");
    // A weak port is what was asked for, also where `verify` and `status` are not content with it.
    port(&repo, &["twice", "--config", "grade.least='verified'"]).ok();
}
