//! Porting several functions concurrently: dependencies between ports, the state of the tree, and what is left out.
//! The models are scripts.

use crate::support::{MEASURED, QUICK, Ran, Repo, reply};
use std::path::PathBuf;

const TWICE: &str = "pub fn twice(x: u32) -> u32 {\n    x.wrapping_mul(2)\n}";
const WRONG: &str = "pub fn twice(x: u32) -> u32 {\n    x.saturating_mul(2)\n}";
const THRICE: &str = "pub fn thrice(x: u32) -> u32 {\n    callee::twice(x).wrapping_add(x)\n}";
const SUM: &str = "pub fn sum_bytes(data: &[u8]) -> u32 {\n    data.iter().map(|b| u32::from(*b)).sum()\n}";

/// A model that answers by symbol, from a list each, and meets others: whoever is named in `together` is answered when all
/// of them have asked.
pub fn model(repo: &Repo, together: &[&str], replies: &[(&str, &[&str])]) -> PathBuf {
    let dir = repo.aside().join("models");
    std::fs::create_dir_all(&dir).unwrap();
    for (symbol, list) in replies {
        for (index, text) in list.iter().enumerate() {
            std::fs::write(dir.join(format!("{symbol}.{}.md", index + 1)), reply(text)).unwrap();
        }
    }
    let meeting: Vec<String> = together.iter().map(|symbol| format!("[ -e {symbol}.1.prompt ]")).collect();
    let script = format!(
        "cd {}\ncat >$$.in\ns=$(grep -o '\"symbol\": *\"[a-z_]*\"' $$.in | head -n 1 | cut -d'\"' -f4)\n\
         n=1\nwhile [ -e $s.$n.prompt ]; do n=$((n + 1)); done\nmv $$.in $s.$n.prompt\n\
         i=0\nuntil {}; do i=$((i + 1)); [ $i -lt 600 ] || exit 1; sleep 0.1; done\n\
         [ -f $s.$n.md ] || n=$((n - 1))\ncat $s.$n.md\n",
        dir.display(),
        if meeting.is_empty() { "true".to_owned() } else { meeting.join(" && ") },
    );
    std::fs::write(dir.join("model.sh"), script).unwrap();
    let text = repo.read("implfuzz.toml");
    let start = text.find("\n[llm]").unwrap_or(text.len());
    let shown = dir.join("model.sh").display().to_string();
    let llm = format!("\n[llm]\nprovider = \"command\"\nretries = 0\ncommand = [\"sh\", {shown:?}]\n");
    repo.write("implfuzz.toml", &(text[..start].to_owned() + &llm));
    dir
}

fn port_all(repo: &Repo, jobs: &str) -> Ran {
    repo.run(&[&["port", "--all", "-j", jobs], &QUICK[..]].concat())
}

/// How each function ended.
fn ends(ran: &Ran) -> Vec<(String, String)> {
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let json = ran.json("port");
    let mut all: Vec<_> =
        json["symbols"].as_array().unwrap().iter().map(|s| (text(&s["symbol"]), text(&s["end"]))).collect();
    all.sort();
    all
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

#[test]
#[ignore = "a minute: cargo test --test suite abreast -- --ignored"]
fn models_are_waited_for_side_by_side_and_callers_after_their_callees() {
    let repo = Repo::initialised();
    // Neither is answered before the other has asked: one after the other, this would never end well.
    let together = ["twice", "sum_bytes"];
    let dir = model(&repo, &together, &[("twice", &[TWICE]), ("sum_bytes", &[SUM]), ("thrice", &[THRICE])]);
    port_all(&repo, "3").ok();
    let module = repo.read("rust/src/sum.rs");
    for port in [TWICE, THRICE, SUM] {
        assert!(module.contains(port), "{module}");
    }
    // Which of the two was accepted second was looked at once more, with the first in the tree. (So may `thrice` be, where
    // `sum_bytes` takes long.)
    let moved = "SELECT count(DISTINCT symbol) FROM steps WHERE why LIKE '%entered the tree%' AND symbol NOT LIKE '%thrice'";
    assert_eq!(repo.count(moved), 1);
    let told = std::fs::read_to_string(dir.join("thrice.1.prompt")).unwrap();
    assert!(told.contains("callee::twice"), "{told}");
    let status = repo.status("thrice");
    assert_eq!(status["callees_in_c"], serde_json::json!([]), "{status}");
    let (judged, findings) = repo.verified(&["--all"], 0);
    assert_eq!((judged.len(), findings.len()), (3, 0));
}

#[test]
#[ignore = "half a minute: cargo test --test suite abreast -- --ignored"]
fn contracts_are_waited_for_side_by_side_too() {
    let repo = Repo::empty();
    let functions = ["named", "titled"];
    let (mut header, mut source) =
        ("#include <stdint.h>\n".to_owned(), "#include \"open.h\"\n#include <string.h>\n".to_owned());
    for name in functions {
        header += &format!("uint32_t {name}(const void *text);\n");
        source += &format!(
            "uint32_t {name}(const void *text) {{ return (uint32_t)strnlen(text, 40) * 2u + 1u; }}\n"
        );
    }
    repo.write("open.h", &header);
    repo.write("open.c", &source);
    repo.run(&["init"]).ok();
    let port = |name: &str| {
        format!(
            "pub fn {name}(text: &core::ffi::CStr) -> u32 {{\n    text.to_bytes().len().min(40) as u32 * 2 + 1\n}}"
        )
    };
    let ports = functions.map(port);
    // Neither contract is given before both are asked for; the question after it is that for the port.
    let [named, titled] = ports.each_ref().map(|port| ["", port.as_str()]);
    let dir = model(&repo, &functions, &[("named", &named), ("titled", &titled)]);
    let contract =
        "```toml contract\n[[param]]\nname = \"text\"\nrole = \"c-string\"\nreason = \"strnlen\"\n```\n";
    for name in functions {
        std::fs::write(dir.join(format!("{name}.1.md")), contract).unwrap();
    }
    let args = ["port", "--all", "-j", "2", "--format", "json", "--config", "grade.mutant_seconds=2"];
    let ran = repo.run(&[&args[..], &QUICK[..], &MEASURED[..]].concat());
    assert_eq!(ends(ran.ok()), pairs(&[("named", "accepted"), ("titled", "accepted")]));
    for name in functions {
        let prompt = std::fs::read_to_string(dir.join(format!("{name}.1.prompt"))).unwrap();
        assert!(prompt.contains("\"role\":\"analyzer\""), "{prompt}");
    }
    // Each exchange is a step of its own, with its answer.
    assert_eq!(
        repo.count("SELECT count(*) FROM steps WHERE step = 'ask-analyzer' AND outcome = 'answered'"),
        2
    );
}

#[test]
#[ignore = "half a minute: cargo test --test suite abreast -- --ignored"]
fn callers_of_a_failed_function_are_ported_and_call_c() {
    let repo = Repo::initialised();
    model(&repo, &[], &[("twice", &[WRONG]), ("sum_bytes", &[SUM]), ("thrice", &[THRICE])]);
    let ran = repo.run(&[&["port", "--all", "-j", "2", "--format", "json"], &QUICK[..]].concat());
    ran.code(10);
    assert_eq!(ends(&ran), pairs(&[("sum_bytes", "accepted"), ("thrice", "accepted"), ("twice", "failed")]));
    let json = ran.json("port");
    let thrice = json["symbols"].as_array().unwrap().iter().find(|s| s["symbol"] == "thrice").unwrap();
    assert_eq!(thrice["callees_in_c"], serde_json::json!(["twice"]));
    let module = repo.read("rust/src/sum.rs");
    assert!(module.contains(THRICE) && module.contains("unimplemented!(\"twice\")"), "{module}");
}

#[test]
#[ignore = "half a minute: cargo test --test suite abreast -- --ignored"]
fn functions_that_call_each_other_are_judged_together_in_the_end() {
    let repo = Repo::library();
    let both = "uint32_t odd(uint32_t x);\nuint32_t even(uint32_t x) { return x ? odd(x >> 1) : 1; }\n\
                uint32_t odd(uint32_t x) { return x ? even(x >> 1) : 0; }\n";
    repo.write("cycle.c", &format!("#include <stdint.h>\n{both}"));
    repo.run(&["init"]).ok();
    let even = "pub fn even(x: u32) -> u32 {\n    if x == 0 { 1 } else { callee::odd(x >> 1) }\n}";
    let odd = "pub fn odd(x: u32) -> u32 {\n    if x == 0 { 0 } else { callee::even(x >> 1) }\n}";
    model(&repo, &[], &[("even", &[even]), ("odd", &[odd])]);
    let ran = repo.run(&[&["port", "--all", "--only", "cycle.c", "--format", "json"], &QUICK[..]].concat());
    ran.ok();
    assert_eq!(ends(&ran), pairs(&[("even", "accepted"), ("odd", "accepted")]));
    // The first one was judged with the other in C.
    for result in ran.json("port")["symbols"].as_array().unwrap() {
        assert_eq!(result["callees_in_c"], serde_json::json!([]), "{result}");
    }
    repo.run(&["check"]).ok();
}

#[test]
#[ignore = "a minute: cargo test --test suite abreast -- --ignored"]
fn helpers_of_one_name_from_two_ports_of_a_module_go_back_to_the_model() {
    let repo = Repo::initialised();
    let twice = "fn helper(x: u32) -> u32 {\n    x.wrapping_add(x)\n}\n\npub fn twice(x: u32) -> u32 {\n    helper(x)\n}";
    let sum = "fn helper(b: u8) -> u32 {\n    u32::from(b)\n}\n\npub fn sum_bytes(data: &[u8]) -> u32 {\n    data.iter().map(|b| helper(*b)).sum()\n}";
    let other = |text: &str, name: &str| text.replace("helper", name);
    let (twice2, sum2) = (other(twice, "double"), other(sum, "widen"));
    model(
        &repo,
        &["twice", "sum_bytes"],
        &[("twice", &[twice, &twice2]), ("sum_bytes", &[sum, &sum2]), ("thrice", &[THRICE])],
    );
    let ran = port_all(&repo, "2");
    ran.ok();
    let module = repo.read("rust/src/sum.rs");
    // Whichever came second had to change.
    assert!(module.contains("fn helper("), "{module}");
    assert!(module.contains("fn double(") != module.contains("fn widen("), "{module}");
    repo.verified(&["--all"], 0);
}

#[test]
#[ignore = "half a minute: cargo test --test suite abreast -- --ignored"]
fn a_budget_is_kept_by_calls_under_way_too() {
    let repo = Repo::initialised();
    model(&repo, &[], &[("twice", &[TWICE]), ("sum_bytes", &[SUM]), ("thrice", &[THRICE])]);
    // Room for one call at its worst and what two have used, not for two at their worst.
    let limits = ["--config", "llm.max_tokens=4000", "--config", "llm.max_tokens_per_run=9000"];
    let ran = repo.run(&[&["port", "--all", "-j", "3"], &QUICK[..], &limits].concat());
    ran.code(0);
    assert_eq!(repo.count("SELECT count(*) FROM model_calls"), 3);
}
