//! The loop from a model's reply to a port in the tree, with scripts as models: rejections and their reasons,
//! accepted ports and their records, and files that must never change.

use crate::support::server::{Answer, Server};
use crate::support::{HEADER, QUICK, Ran, Repo, Running, SOURCE, assert_same, reply};
use std::time::Duration;

const TWICE: &str = "/// Doubles.\npub fn twice(x: u32) -> u32 {\n    x.wrapping_mul(2)\n}";
const WRONG: &str = "/// Doubles.\npub fn twice(x: u32) -> u32 {\n    x.saturating_mul(2)\n}";
const THRICE: &str = "/// Triples.\npub fn thrice(x: u32) -> u32 {\n    callee::twice(x).wrapping_add(x)\n}";

/// The item that begins with this line, up to the brace that closes it in the first column.
fn item<'t>(text: &'t str, head: &str) -> &'t str {
    let start = text.find(head).unwrap_or_else(|| panic!("no {head:?} in:\n{text}"));
    &text[start..start + text[start..].find("\n}").unwrap() + 2]
}

/// The copy of the tree that candidates are built in is there.
fn built(repo: &Repo) -> bool {
    repo.root().join(".implfuzz/overlay").exists()
}

/// A candidate that the audit refuses, at this line for this reason, before anything is built.
#[track_caller]
fn rejected(candidate: &str, line: usize, reason: &str) {
    let repo = Repo::initialised();
    repo.model(&[&reply(candidate)]);
    let before = repo.tree();
    let ran = repo.port(&["twice"]);
    ran.code(11).shows(&format!("src/sum.rs:{line}: ")).shows(reason);
    assert!(!built(&repo), "it was built:\n{ran}");
    assert!(repo.asked() > 1, "the model was not told");
    let told = repo.prompt(2);
    assert!(told.contains(reason), "{told}");
    assert_same(&before, &repo.tree());
    // The same text again is not audited again.
    assert_eq!(repo.count("SELECT count(*) FROM attempts WHERE outcome = 'rejected-by-audit'"), 1);
}

#[test]
fn a_reply_that_calls_the_c_function_is_rejected_before_any_build() {
    rejected("pub fn twice(x: u32) -> u32 {\n    unsafe { ffi::twice(x) }\n}", 2, "ffi::twice");
}

#[test]
fn a_reply_with_a_placeholder_is_rejected_before_any_build() {
    rejected(
        "pub fn twice(x: u32) -> u32 {\n    if x == 0 { return 0; }\n    unimplemented!()\n}",
        3,
        "unimplemented!",
    );
}

#[test]
fn wrong_then_right_is_accepted_with_seeds_and_rows() {
    let repo = Repo::initialised();
    repo.replace("rust/src/sum.rs", "/// Triples.", "// Mine: keep this.\n\n/// Triples, I think.");
    repo.model(&[&reply(WRONG), &reply(TWICE)]);
    let ran = repo.port(&["twice"]);
    ran.ok().shows("weak");
    // The counterexample reached the model: the argument, and what both made of it.
    let told = repo.prompt(2);
    for part in ["x =", "4294967295", "saturating_mul"] {
        assert!(told.contains(part), "no {part:?} in {told}");
    }
    let module = repo.read("rust/src/sum.rs");
    assert!(module.contains(TWICE) && module.contains("unimplemented!(\"thrice\")"), "{module}");
    assert!(module.contains("// Mine: keep this.\n\n/// Triples, I think.\n"), "{module}");
    assert!(repo.read("rust/src/callee.rs").contains("pub use crate::sum::twice;"));
    assert!(std::fs::read_dir(repo.root().join("rust/fuzz/seeds/fuzz_twice")).unwrap().count() > 0);
    let status = repo.status("twice");
    assert_eq!(status["grade"], "weak");
    assert!(status["reason"].as_str().unwrap().contains("mutants of C: unmeasured"), "{status}");
    assert!(status["executions"].as_u64().unwrap() >= 1000, "{status}");
    for (query, least) in [
        ("SELECT count(*) FROM runs WHERE outcome = 'done'", 1),
        ("SELECT count(*) FROM attempts WHERE outcome = 'refuted'", 1),
        ("SELECT count(*) FROM attempts WHERE outcome = 'accepted'", 1),
        ("SELECT count(*) FROM model_calls", 2),
        ("SELECT count(*) FROM findings", 1),
    ] {
        assert_eq!(repo.count(query), least, "{query}");
    }
    the_next_function_leaves_the_first_as_it_is(&repo);
    a_second_port_asks_nobody(&repo);
}

fn the_next_function_leaves_the_first_as_it_is(repo: &Repo) {
    let before = repo.read("rust/src/sum.rs");
    repo.model(&[&reply(THRICE)]);
    repo.port(&["thrice"]).ok();
    let after = repo.read("rust/src/sum.rs");
    assert_eq!(item(&after, "/// Doubles."), item(&before, "/// Doubles."));
    assert!(after.contains(THRICE) && after.contains("// Mine: keep this.\n"), "{after}");
    let start = before.find("/// Triples").unwrap();
    assert_eq!(after[..start], before[..start]);
    assert_eq!(item(&after, "pub fn sum_bytes"), item(&before, "pub fn sum_bytes"));
    let status = repo.status("twice");
    assert_eq!(status["grade"], "weak", "a neighbour's text is no part of it: {status}");
}

fn a_second_port_asks_nobody(repo: &Repo) {
    let before = repo.tree();
    repo.model(&[&reply(WRONG)]);
    repo.port(&["twice"]).ok().shows("ported before");
    assert_eq!(repo.asked(), 0);
    assert_eq!(repo.read("rust/src/sum.rs").as_bytes(), before[&repo.root().join("rust/src/sum.rs")].1);
}

#[test]
fn always_wrong_leaves_the_tree_and_shows_the_finding() {
    let repo = Repo::initialised();
    repo.model(&[
        &reply(WRONG),
        &reply("pub fn twice(x: u32) -> u32 {\n    x.wrapping_mul(2) & 0x7fff_ffff\n}"),
    ]);
    let before = repo.tree();
    let ran = repo.port(&["twice"]);
    ran.code(10).shows("mismatch").shows("x = ");
    let json = repo.run(&[&["port", "twice", "--format", "json"], &QUICK[..]].concat());
    let found = &json.code(10).json("port")["findings"][0]["finding"];
    assert_eq!(found["args"][0]["name"], "x", "{found}");
    let value = |side: &str| found[side][0]["value"].as_str().unwrap().to_owned();
    assert_ne!(value("oracle"), value("subject"), "{found}");
    assert_same(&before, &repo.tree());
    assert_eq!(repo.status("twice")["grade"], "stub");
}

#[test]
fn what_does_not_compile_is_mended_with_the_compilers_words() {
    let repo = Repo::initialised();
    repo.model(&[&reply("pub fn twice(x: u32) -> u32 {\n    x * 2u64\n}"), &reply(TWICE)]);
    repo.port(&["twice"]).ok();
    let told = repo.prompt(2);
    assert!(told.contains("mismatched types") && told.contains("E0308"), "{told}");
    let root = repo.root().to_str().unwrap();
    assert!(told.contains("src/sum.rs:") && !told.contains(root), "a place of this machine is in {told}");
    assert_eq!(repo.count("SELECT count(*) FROM attempts WHERE outcome = 'does-not-compile'"), 1);
}

/// The name of the type is right, but it is libc's: the error is where the port is called, in a file that is not its own.
#[test]
fn a_wrong_type_in_the_signature_is_the_candidates_fault_wherever_the_compiler_finds_it() {
    let half = "long half(const struct timeval *t) { return t->tv_usec / 2; }\n";
    let repo = Repo::of(&[("time.c", &format!("#include <sys/time.h>\n{half}"))]);
    let candidate =
        |of: &str| reply(&format!("pub fn half(t: &{of}::timeval) -> i64 {{\n    t.tv_usec / 2\n}}"));
    repo.model(&[&candidate("libc"), &candidate("ffi")]);
    repo.port(&["half"]).ok();
    assert!(repo.prompt(2).contains("mismatched types"), "{}", repo.prompt(2));
    assert_eq!(repo.count("SELECT count(*) FROM attempts WHERE outcome = 'does-not-compile'"), 1);
}

#[test]
fn files_that_change_while_a_port_is_judged_stay_and_are_judged_with_it() {
    let repo = Repo::initialised();
    repo.model(&[&reply(TWICE)]);
    repo.port(&["twice"]).ok();
    repo.model(&[&reply(THRICE)]);
    let long =
        ["port", "thrice", "--config", "fuzz.accept_seconds=4", "--config", "fuzz.loop_executions=2000"];
    let mut running = Running::start(repo.command(&long));
    running.says("acceptance run");
    repo.replace("rust/src/sum.rs", "x.wrapping_mul(2)", "x.wrapping_add(x)");
    let (ran, _) = running.ends();
    ran.ok().shows("files changed while the port was judged");
    let module = repo.read("rust/src/sum.rs");
    assert!(module.contains("x.wrapping_add(x)") && module.contains(THRICE), "{module}");
    // The other port calls code that no run of it had seen, so it was fuzzed whole again.
    assert_eq!(repo.count("SELECT count(*) FROM steps WHERE step = 'fuzz' AND symbol LIKE '%thrice'"), 2);
    assert_eq!(repo.status("twice")["grade"], "stale");
    assert_ne!(repo.status("thrice")["grade"], "stale");
}

#[test]
fn replies_without_one_clear_implementation_are_asked_for_again() {
    let helper = "```rust\nfn twice_of(x: u32) -> u32 {\n    x\n}\n```\n";
    let prose = "I would simply double it, wrapping around as C does.\n";
    let two = format!("{}{}", reply(TWICE), reply(WRONG));
    for unusable in [prose, helper, &two] {
        let repo = Repo::initialised();
        repo.model(&[unusable]);
        let before = repo.tree();
        repo.port(&["twice"]).code(11);
        assert!(!built(&repo) && repo.asked() > 1, "{unusable}");
        assert_same(&before, &repo.tree());
    }
}

#[test]
fn a_recorded_run_replays_to_the_same_result() {
    let (first, second) = (Repo::initialised(), Repo::initialised());
    first.model(&[&reply(WRONG), &reply(TWICE)]);
    let recordings = first.aside().join("recordings");
    let shown = recordings.display().to_string();
    first.run(&[&["port", "twice", "--record", &shown], &QUICK[..]].concat()).ok();
    assert_eq!(std::fs::read_dir(recordings.join("twice")).unwrap().count(), 2);
    let dir = format!("llm.replay_dir={shown:?}");
    let replay = ["port", "twice", "--config", "llm.provider=\"replay\"", "--config", &dir];
    second.run(&[&replay[..], &QUICK].concat()).ok();
    assert_eq!(first.read("rust/src/sum.rs"), second.read("rust/src/sum.rs"));
    let row =
        |repo: &Repo| repo.count("SELECT count(*) FROM attempts WHERE outcome IN ('refuted', 'accepted')");
    assert_eq!((row(&first), row(&second)), (2, 2));
}

#[test]
fn a_second_init_changes_nothing_and_a_new_signature_changes_the_stub() {
    let repo = Repo::initialised();
    repo.replace("rust/src/sum.rs", "/// Triples.", "// Mine.\n/// Triples.");
    let before = repo.tree();
    repo.run(&["init"]).ok().shows("nothing changed");
    assert_eq!(before, repo.tree(), "a file was written anew");
    repo.write("sum.h", &HEADER.replace("thrice(uint32_t x)", "thrice(uint32_t x, uint16_t more)"));
    let body = (
        "thrice(uint32_t x) { return twice(x) + x; }",
        "thrice(uint32_t x, uint16_t more) { return twice(x) + more; }",
    );
    repo.write("sum.c", &SOURCE.replace(body.0, body.1));
    repo.run(&["init"]).ok().shows("the stub `thrice` follows its changed signature");
    let module = repo.read("rust/src/sum.rs");
    assert!(module.contains("pub fn thrice(x: u32, more: u16) -> u32"), "{module}");
    assert!(module.contains("// Mine."), "{module}");
    assert_eq!(
        item(&module, "/// Doubles."),
        "/// Doubles.\npub fn twice(x: u32) -> u32 {\n    unimplemented!(\"twice\")\n}"
    );
}

#[test]
fn the_budget_of_a_symbol_ends_that_symbol_and_the_budget_of_the_run_ends_the_run() {
    let repo = Repo::initialised();
    repo.model(&[&reply(TWICE)]);
    let ends = |key: &str| -> Vec<serde_json::Value> {
        let budget = format!("llm.{key}=10");
        let asked = ["port", "twice", "sum_bytes", "--format", "json", "--config", &budget];
        let ran = repo.run(&asked);
        let json = ran.code(12).json("port");
        json["symbols"].as_array().unwrap().iter().map(|s| s["end"].clone()).collect()
    };
    assert_eq!(ends("max_tokens_per_symbol"), ["budget", "budget"]);
    // The second was not begun.
    assert_eq!(ends("max_tokens_per_run"), ["budget", "budget"]);
    assert_eq!(repo.asked(), 0);
}

#[test]
fn settings_of_a_symbol_that_is_not_there_are_told() {
    let repo = Repo::initialised();
    let text = format!("{}\n[symbols.twise]\nskip = true\n", repo.read("implfuzz.toml"));
    repo.write("implfuzz.toml", &text);
    repo.run(&["init"]).ok().shows("symbols.twise").shows("did you mean `twice`");
}

#[test]
fn ports_by_hand_are_judged_like_all_others() {
    let repo = Repo::initialised();
    let verify = ["verify", "--runs", "8000", "--seconds", "4"];
    let judge = |symbol| repo.run(&[&verify[..], &[symbol]].concat());
    repo.replace("rust/src/sum.rs", "unimplemented!(\"twice\")", "x << 1");
    repo.replace("rust/src/sum.rs", "unimplemented!(\"thrice\")", "unsafe { ffi::thrice(x) }");
    repo.replace(
        "rust/src/sum.rs",
        "unimplemented!(\"sum_bytes\")",
        "data.iter().skip(1).map(|b| u32::from(*b)).sum()",
    );
    judge("twice").ok().shows("weak");
    assert_eq!(repo.status("twice")["provenance"], "hand");
    let line = repo.read("rust/src/sum.rs").lines().position(|l| l.contains("ffi::thrice")).unwrap() + 1;
    judge("thrice").code(10).shows(&format!("src/sum.rs:{line}: ")).shows("ffi::thrice");
    judge("sum_bytes").code(10).shows("data = ");
    for (symbol, why) in [("sum_bytes", "mismatch: return value"), ("thrice", "ffi::thrice")] {
        let known = repo.status(symbol);
        assert_eq!(known["grade"], "refuted");
        assert!(known["reason"].as_str().unwrap().contains(why), "{known}");
    }
    // A changed body makes the verdict stale, without a run.
    repo.replace("rust/src/sum.rs", "x << 1", "x.wrapping_add(x)");
    assert_eq!(repo.status("twice")["grade"], "stale");
}

#[test]
fn a_run_takes_the_time_that_it_was_given() {
    let repo = Repo::initialised();
    repo.replace("rust/src/sum.rs", "unimplemented!(\"twice\")", "x << 1");
    let json = repo.run(&["verify", "twice", "--seconds", "1", "--format", "json"]).ok().json("verify");
    let took = json["symbols"][0]["millis"].as_u64().unwrap();
    // Two processes, each a second too long by libFuzzer's own clock and a second at least.
    assert!((1000..3500).contains(&took), "{took} ms");
}

#[test]
fn a_loop_run_that_is_as_large_as_the_acceptance_run_is_one() {
    let runs_in_acceptance = |executions: u64| {
        let repo = Repo::initialised();
        repo.model(&[&reply("pub fn twice(x: u32) -> u32 {\n    x << 1\n}")]);
        let accept = format!("fuzz.accept_executions={executions}");
        let quick = ["--config", "fuzz.loop_executions=4000", "--config", "fuzz.accept_seconds=10"];
        let args = [&["port", "twice", "--format", "json", "--config", accept.as_str()], &quick[..]].concat();
        let ran = repo.run(&args);
        let of_step = |text: &str| text.split("\"hidden gate\"").next().unwrap().contains("\"fuzzing\",");
        let (_, accepting) = ran.ok().stdout.split_once("\"acceptance run\"").unwrap();
        assert!(repo.status("twice")["executions"].as_u64().unwrap() >= executions.min(4000));
        of_step(accepting)
    };
    assert!(!runs_in_acceptance(4000));
    assert!(runs_in_acceptance(4001));
}

#[test]
fn ctrl_c_during_the_acceptance_run_leaves_the_tree_alone() {
    let repo = Repo::initialised();
    repo.model(&[&reply(TWICE)]);
    repo.run(&["init"]).ok();
    let before = repo.tree();
    let long =
        ["port", "twice", "--config", "fuzz.accept_seconds=90", "--config", "fuzz.loop_executions=2000"];
    let mut running = Running::start(repo.command(&long));
    running.says("acceptance run");
    std::thread::sleep(Duration::from_millis(500));
    let (ran, took) = running.interrupt();
    ran.code(130);
    assert!(took < Duration::from_secs(4), "{took:?}");
    assert_same(&before, &repo.tree());
    repo.port(&["twice"]).ok();
    assert!(repo.read("rust/src/sum.rs").contains(TWICE));
}

#[test]
fn the_key_reaches_the_server_and_no_file() {
    let key = "canary-5f1d9c-do-not-keep";
    // A server that repeats the key in its complaint is the hardest case.
    let server =
        Server::start(Answer::Http(500, format!("{{\"error\": {{\"message\": \"bad key {key}\"}}}}")));
    let repo = Repo::initialised();
    let config = server.config(2);
    let config: Vec<&str> = config.iter().map(String::as_str).collect();
    let named = ["port", "twice", "--record", "recordings", "--config", "llm.api_key_env=\"CANARY_KEY\""];
    let ran = Ran::of(repo.command(&[&named[..], &config[..]].concat()).env("CANARY_KEY", key));
    ran.code(1).shows("500");
    let asked = server.requests();
    assert!(asked.iter().all(|request| request.contains(&format!("Bearer {key}"))), "{asked:?}");
    assert!(!asked.is_empty() && repo.root().join("recordings").is_dir());
    assert!(!ran.to_string().contains(key), "{ran}");
    for (path, (_, text)) in repo.all_files() {
        let found = text.windows(key.len()).any(|window| window == key.as_bytes());
        assert!(!found, "{} holds the key", path.display());
    }
}

#[test]
fn what_only_the_hidden_gate_refutes_is_not_shown_to_the_model() {
    let repo = Repo::initialised();
    // Each is wrong for one text, behind a hash, so that nothing but the text itself finds it.
    let hash = |data: &[u8]| {
        data.iter().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3))
    };
    let wrong = |len: usize| {
        let text: Vec<u8> = b"-12345678 ".iter().copied().cycle().take(len).collect();
        reply(&format!(
            "pub fn sum_bytes(data: &[u8]) -> u32 {{
    let hash = data.iter().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3));
    if hash == {} {{ return 7; }}
    data.iter().map(|b| u32::from(*b)).sum()
}}",
            hash(&text)
        ))
    };
    let replies = [33, 257, 31, 64, 128].map(wrong);
    repo.model(&replies.iter().map(String::as_str).collect::<Vec<_>>());
    let before = repo.tree();
    repo.port(&["sum_bytes"]).code(10);
    assert_same(&before, &repo.tree());
    let told: Vec<String> = (2..=repo.asked()).map(|n| repo.prompt(n)).collect();
    let (hidden, shown): (Vec<_>, Vec<_>) = told.iter().partition(|prompt| prompt.contains("kept back"));
    assert!(!hidden.is_empty() && !shown.is_empty(), "{} of {} hidden", hidden.len(), told.len());
    assert!(hidden.iter().all(|prompt| !prompt.contains("Arguments:")), "{hidden:#?}");
    assert!(shown.iter().all(|prompt| prompt.contains("data = ")), "{shown:#?}");
}
