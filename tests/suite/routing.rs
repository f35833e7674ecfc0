//! Switching to the next model of a role when one fails or repeats itself. Linker errors go to the model like compiler
//! errors. The models and the failing linker are scripts.

use crate::support::{MEASURED, QUICK, Ran, Repo, assert_same, reply};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

const TWICE: &str = "/// Doubles.\npub fn twice(x: u32) -> u32 {\n    x.wrapping_mul(2)\n}";
const ROLES: &str = "prototyper = ['cheap', 'strong']\nenhancer = ['cheap', 'strong']\n";

fn executable(path: &PathBuf, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Two models, each a script with a list of replies, the last one for ever; `roles` says who asks which.
fn models(repo: &Repo, roles: &str, cheap: &[&str], strong: &[&str]) {
    let mut profiles = String::new();
    for (name, replies) in [("cheap", cheap), ("strong", strong)] {
        let dir = repo.aside().join(format!("{name}.model"));
        std::fs::create_dir_all(&dir).unwrap();
        for (index, reply) in replies.iter().enumerate() {
            std::fs::write(dir.join(format!("{}.md", index + 1)), reply).unwrap();
        }
        let program = repo.aside().join(name);
        let last = replies.len();
        executable(
            &program,
            &format!(
                "#!/bin/sh\ncd {}\nn=$(($(cat count 2>/dev/null || echo 0) + 1))\necho $n >count\ncat >$n.prompt\n[ -f $n.md ] || n={last}\ncat $n.md\n",
                dir.display()
            ),
        );
        profiles += &format!(
            "[llm.profiles.{name}]\nprovider = 'command'\ncommand = [{:?}]\n",
            program.display().to_string()
        );
    }
    let text = repo.read("implfuzz.toml");
    let text = &text[..text.find("\n[llm]").unwrap_or(text.len())];
    let other = "[llm]\nprovider = 'command'\ncommand = ['false']\n";
    repo.write("implfuzz.toml", &format!("{text}\n{other}{profiles}[llm.roles]\n{roles}"));
}

fn asked(repo: &Repo, model: &str) -> usize {
    let count = std::fs::read_to_string(repo.aside().join(format!("{model}.model/count")));
    count.unwrap_or_default().trim().parse().unwrap_or(0)
}

fn prompt(repo: &Repo, model: &str, number: usize) -> Value {
    let path = repo.aside().join(format!("{model}.model/{number}.prompt"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Step, reason, outcome and model of the last port of a function.
fn trace(repo: &Repo, symbol: &str) -> Vec<[String; 4]> {
    let ran = repo.run(&["port", symbol, "--explain", "--format", "json"]);
    let steps = ran.ok().json("trace")["symbols"][0]["steps"].clone();
    let word = |step: &Value, key: &str| step[key].as_str().unwrap_or("-").to_owned();
    let steps = steps.as_array().unwrap().iter();
    steps.map(|step| ["step", "why", "outcome", "by"].map(|key| word(step, key))).collect()
}

/// The steps in which somebody was asked.
fn questions(repo: &Repo, symbol: &str) -> Vec<[String; 4]> {
    trace(repo, symbol).into_iter().filter(|row| row[0].starts_with("ask-")).collect()
}

#[test]
fn where_the_cheap_model_gives_nothing_the_strong_one_begins_anew() {
    let repo = Repo::initialised();
    models(&repo, ROLES, &["I would rather not.\n"], &[&reply(TWICE)]);
    repo.port(&["twice"]).ok();
    assert_eq!((asked(&repo, "cheap"), asked(&repo, "strong")), (3, 1));
    assert_eq!(repo.status("twice")["provenance"], "command/strong");
    let asked = prompt(&repo, "strong", 1);
    assert_eq!((&asked["role"], &asked["attempt"]), (&"prototyper".into(), &4.into()));
    assert!(!asked.to_string().contains("I would rather not"), "it is told nothing of the other's reply");
    let last = questions(&repo, "twice").pop().unwrap();
    let why = "the model before ended as reply-unusable: model 2 of 2 begins anew";
    assert_eq!(last, ["ask-prototyper", why, "candidate", "strong"]);
    let text = repo.run(&["port", "twice", "--explain"]).ok().stdout.clone();
    assert!(text.contains("cheap") && text.contains(why), "{text}");
    let stats = repo.run(&["stats", "--format", "json"]).ok().json("stats");
    let makers: Vec<(&str, i64, i64, i64)> = stats["makers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let number = |key: &str| row[key].as_i64().unwrap();
            (row["maker"].as_str().unwrap(), number("calls"), number("passed"), number("attempted"))
        })
        .collect();
    assert_eq!(makers, [("cheap", 3, 0, 3), ("strong", 1, 1, 1)]);
    repo.run(&["stats"]).ok().shows("by maker").shows("  strong ");
}

#[test]
fn a_model_that_is_too_slow_gives_way_to_the_next_one() {
    let repo = Repo::initialised();
    let roles = "prototyper = ['cheap', 'cheap', 'cheap', 'strong']\nenhancer = ['strong']\n";
    models(&repo, roles, &[""], &[&reply(TWICE)]);
    executable(&repo.aside().join("cheap"), "#!/bin/sh\nexec sleep 60\n");
    let ran = repo.run(&[&["port", "twice", "--config", "llm.timeout_seconds=1"][..], &QUICK].concat());
    ran.ok().shows("no complete answer within 1 s");
    assert_eq!(asked(&repo, "strong"), 1);
    let outcomes: Vec<String> = questions(&repo, "twice").into_iter().map(|row| row[2].clone()).collect();
    assert_eq!(outcomes, ["model-timed-out", "model-timed-out", "model-timed-out", "candidate"]);
}

#[test]
fn a_candidate_that_the_cheap_model_cannot_mend_goes_to_the_strong_one() {
    let repo = Repo::initialised();
    let torn = reply("pub fn twice(x: u32) -> u32 {\n    x * 2u64\n}");
    models(&repo, ROLES, &[&torn], &[&reply(TWICE)]);
    repo.port(&["twice"]).ok();
    // The cheap one proposes the same text again.
    assert_eq!((asked(&repo, "cheap"), asked(&repo, "strong")), (2, 1));
    let told = prompt(&repo, "strong", 1);
    assert_eq!((&told["role"], &told["attempt"]), (&"enhancer".into(), &2.into()));
    assert!(told.to_string().contains("mismatched types") && told.to_string().contains("2u64"), "{told}");
    let last = questions(&repo, "twice").pop().unwrap();
    assert_eq!(last[1], "the model before ended as loop: model 2 of 2 goes on with its candidate");
    assert_eq!(repo.status("twice")["provenance"], "command/strong");
}

#[test]
fn when_the_last_model_comes_to_an_end_so_does_the_port() {
    let repo = Repo::initialised();
    let torn = |n: u32| reply(&format!("pub fn twice(x: u32) -> u32 {{\n    x * {n}u64\n}}"));
    models(&repo, ROLES, &["No.\n"], &[&torn(1), &torn(2), &torn(3), &torn(4)]);
    let before = repo.tree();
    repo.port(&["twice"]).code(11).shows("loop");
    // The same failure after two fixes: the third one is not asked for.
    assert_eq!((asked(&repo, "cheap"), asked(&repo, "strong")), (3, 3));
    assert_same(&before, &repo.tree());
    let trace = trace(&repo, "twice");
    let last = trace.last().unwrap();
    assert_eq!(last[..3], ["stop", "2 consecutive fixes left the same failure", "loop"]);
    let asked: Vec<&str> =
        trace.iter().filter(|row| row[0] == "ask-enhancer").map(|row| row[1].as_str()).collect();
    assert_eq!(
        asked,
        [
            "the candidate does not compile: compile fix 1 of 3",
            "the candidate does not compile: compile fix 2 of 3; the last fix left the same failure",
        ]
    );
    assert!(prompt(&repo, "strong", 3).to_string().contains("same failure"), "the model is not told");
}

#[test]
fn counterexamples_that_differ_are_no_circle() {
    let repo = Repo::initialised();
    // Each fix is wrong for other inputs than the one before.
    let wrong = |n: u32| {
        reply(&format!(
            "pub fn twice(x: u32) -> u32 {{\n    if x == {n} {{ 7 }} else {{ x.wrapping_mul(2) }}\n}}"
        ))
    };
    let replies: Vec<String> = [0, 1, 0xffff_ffff, 2].into_iter().map(wrong).collect();
    models(
        &repo,
        "prototyper = ['cheap']\nenhancer = ['cheap']\n",
        &replies.iter().map(String::as_str).collect::<Vec<_>>(),
        &[],
    );
    repo.port(&["twice"]).code(10);
    let last = trace(&repo, "twice").pop().unwrap();
    assert_eq!(last[1], "the candidate was refuted, and no repair is left of 3");
}

#[test]
#[ignore = "half a minute: cargo test --test suite routing -- --ignored"]
fn other_roles_ask_their_next_model_too() {
    let repo = Repo::empty();
    repo.write("open.h", "#include <stdint.h>\nuint32_t named(const void *name);\n");
    repo.write(
        "open.c",
        "#include \"open.h\"\n#include <string.h>\nuint32_t named(const void *name) { return (uint32_t)strnlen(name, 40) * 2u + 1u; }\n",
    );
    repo.run(&["init"]).ok();
    let roles = "```toml contract\n[[param]]\nname = \"name\"\nrole = \"c-string\"\nreason = \"strnlen(name, 40)\"\n```\n";
    let right = reply(
        "pub fn named(name: &core::ffi::CStr) -> u32 {\n    name.to_bytes().len().min(40) as u32 * 2 + 1\n}\n",
    );
    let roles_of = "analyzer = ['cheap', 'strong']\nprototyper = ['strong']\n";
    models(&repo, roles_of, &["Who knows.\n"], &[roles, &right]);
    let args = [&["port", "named"][..], &QUICK, &MEASURED, &["--config", "grade.mutant_seconds=2"]].concat();
    repo.run(&args).ok();
    assert_eq!((asked(&repo, "cheap"), asked(&repo, "strong")), (1, 2));
    assert!(repo.read("rust/contracts/named.toml").contains("proposed_by = \"command/strong\""));
}

#[test]
fn a_role_without_a_model_is_an_error() {
    let repo = Repo::initialised();
    models(&repo, "prototyper = ['cheap', 'stong']\n", &["No.\n"], &["No.\n"]);
    repo.port(&["twice"])
        .fails(2, &["llm.roles.prototyper: there is no profile `stong`", "did you mean `strong`?"]);
    let ran = repo.run(&["port", "twice", "--config", "llm.roles.prototyper=[]"]);
    ran.fails(2, &["llm.roles.prototyper: an empty list names no model"]);
}

#[test]
fn a_name_that_no_linker_finds_goes_to_the_model() {
    let repo = Repo::initialised();
    let asks = "pub fn twice(x: u32) -> u32 {\n    // SAFETY: it only computes.\n    (unsafe { libc::labs(0) } as u32).wrapping_add(x.wrapping_mul(2))\n}";
    repo.model(&[&reply(asks), &reply(TWICE)]);
    // As if the library had no `labs`: it fails where the copy of the port asks for it.
    let bin = repo.aside().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let real = std::env::split_paths(&path).map(|dir| dir.join("cc")).find(|cc| cc.is_file()).unwrap();
    let copy = repo.root().join(".implfuzz/overlay/src/sum.rs");
    executable(
        &bin.join("cc"),
        &format!(
            "#!/bin/sh\ncase \"$*\" in *implfuzz_all*) if grep -q labs {} 2>/dev/null; then\n\
             echo \"/usr/bin/ld: sum.o: in function \\`sum::sum::twice':\" >&2\n\
             echo \"sum.rs:(.text+0x3): undefined reference to \\`labs'\" >&2\nexit 1\nfi;; esac\nexec {} \"$@\"\n",
            copy.display(),
            real.display()
        ),
    );
    let mut command = repo.command(&[&["port", "twice"][..], &QUICK].concat());
    // A linker in the environment or in cargo's configuration would not reach the build.
    command.env("PATH", std::env::join_paths([bin].into_iter().chain(std::env::split_paths(&path))).unwrap());
    Ran::of(&mut command).ok();
    let told = repo.prompt(2);
    for part in
        ["undefined reference to `labs`", "src/sum.rs:", "libc::labs(0)", "The linker knows no such symbol"]
    {
        assert!(told.contains(part), "no {part:?} in {told}");
    }
    let root = repo.root().to_str().unwrap();
    assert!(!told.contains(root), "a place of this machine is in {told}");
    assert_eq!(repo.count("SELECT count(*) FROM attempts WHERE outcome = 'does-not-compile'"), 1);
}
