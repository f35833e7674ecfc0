//! The exhaustive engine runs every input of a contract that has few, and claims to be exhaustive only if it ran them
//! all.

use crate::support::Repo;
use serde_json::Value;
use std::collections::BTreeMap;

/// Bodies that do what C does, and how many inputs the contract has: outputs come with two contents each.
const RIGHT: &[(&str, &str, u64)] = &[
    ("mix", "if turn { a.wrapping_sub(b) } else { a.wrapping_add(b) }", 256 * 256 * 2),
    ("choose", "match side { 3 => a, 9 => a / 2, _ => 0 }", 2 * 256),
    ("divide", "a.checked_div(b).unwrap_or(i8::MIN)", 256 * 256),
    ("bump", "*counter = counter.wrapping_add(1);", 65536),
    ("split", "*high = value >> 4; if value & 1 == 1 { *low = value & 15; }", 2 * 256),
    ("swap2", "pair.swap(0, 1);", 65536),
    ("sum", "data.iter().map(|b| u32::from(*b)).sum()", 1 + 256 + 65536),
    (
        "vowels",
        "text.to_bytes().iter().filter(|b| matches!(b, b'a' | b'e')).count() as u32",
        1 + 255 + 255 * 255,
    ),
    ("down", "n.saturating_sub(1)", 256),
    ("narrow", "a.wrapping_mul(3)", 1000),
    (
        "digits",
        "let text = pair.to_le_bytes();
         let length = text.iter().position(|b| *b == 0).unwrap_or(2) as u8;
         10 * length + text.iter().filter(|b| b.is_ascii_digit()).count() as u8",
        65536,
    ),
];

fn library() -> Repo {
    let repo = Repo::empty();
    repo.write("small.h", include_str!("exhaustive/small.h"));
    repo.write("small.c", include_str!("exhaustive/small.c"));
    repo.run(&["init"]).ok();
    for (contract, from, to) in [
        ("sum", "max = 4096", "max = 2"),
        ("vowels", "max = 4096", "max = 2"),
        ("narrow", "role = \"value\"", "role = \"value\"\nmin = 1000000\nmax = 1000999"),
    ] {
        repo.replace(&format!("rust/contracts/{contract}.toml"), from, to);
    }
    repo
}

fn write(repo: &Repo, symbol: &str, body: &str) {
    repo.replace("rust/src/small.rs", &format!("unimplemented!(\"{symbol}\")"), body);
}

/// What `verify` says of each function.
fn verify(repo: &Repo, args: &[&str]) -> (BTreeMap<String, Value>, Value) {
    let quick = ["verify", "--format", "json", "--config", "grade.measure=false"];
    let ran = repo.run(&[&quick, args].concat());
    let told = ran.json("verify");
    let symbols = told["symbols"].as_array().unwrap().iter();
    (
        symbols.map(|s| (s["symbol"].as_str().unwrap().to_owned(), s.clone())).collect(),
        told["findings"].clone(),
    )
}

#[test]
fn every_input_of_a_small_contract_is_run() {
    let repo = library();
    for (symbol, body, _) in RIGHT {
        write(&repo, symbol, body);
    }
    let (judged, findings) = verify(&repo, &["--all"]);
    assert_eq!(findings, serde_json::json!([]));
    for (symbol, _, points) in RIGHT {
        let of = &judged[*symbol];
        assert_eq!((&of["executions"], &of["space"]), (&(*points).into(), &(*points).into()), "{of}");
        assert_eq!(of["grade"], "weak", "its harness was not measured: {of}");
    }
    // C has no answer to division by zero and to -128 / -1: both are among the inputs, and counted.
    let rate = judged["divide"]["accept_rate"].as_f64().unwrap();
    assert!((rate - (1.0 - 256.0 / 65536.0)).abs() < 1e-9, "{rate}");
}

#[test]
#[ignore = "half a minute: cargo test --test suite exhaustive -- --ignored"]
fn what_was_tried_whole_by_a_harness_that_sees_mutants_is_exhaustive() {
    let repo = library();
    write(&repo, "choose", "match side { 3 => a, 9 => a / 2, _ => 0 }");
    repo.run(&["verify", "choose", "--config", "grade.measure=true"])
        .ok()
        .shows("exhaustive")
        .shows("all 512 inputs tried");
    assert_eq!(repo.status("choose")["grade"], "exhaustive");
}

#[test]
fn one_wrong_input_among_all_is_found() {
    let repo = library();
    for (symbol, body) in [
        ("three", "if (a, b, c) == (201, 77, 13) { 0 } else { a ^ b ^ c }"),
        ("split", "*high = value >> 4; *low = value & 15;"),
        ("vowels", "text.to_bytes().iter().filter(|b| matches!(b, b'a' | b'e' | 0xff)).count() as u32"),
        (
            "down",
            "if n == 200 { let room = core::hint::black_box([n; 4096]); down(n) ^ room[usize::from(n)] } else { n.saturating_sub(1) }",
        ),
        ("bump", "*counter += 1;"),
        // The engine's own choice for this input is 0.
        (
            "divide",
            "// SAFETY: libc gives a valid pointer to this thread's errno.
             let errno = unsafe { *libc::__errno_location() };
             if (a, b) == (6, 3) && errno != 0 { 7 } else { a.checked_div(b).unwrap_or(i8::MIN) }",
        ),
    ] {
        write(&repo, symbol, body);
    }
    let (judged, findings) = verify(&repo, &["--all", "--seconds", "100"]);
    let found = |symbol: &str| {
        assert_eq!(judged[symbol]["grade"], "refuted", "{}", judged[symbol]);
        let all = findings.as_array().unwrap();
        all.iter().find(|f| f["symbol"] == symbol).unwrap()["finding"].clone()
    };
    let args = |finding: &Value| {
        let list =
            finding["args"].as_array().unwrap().iter().map(|a| a["value"].as_str().unwrap().to_owned());
        list.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(args(&found("three")), "201 77 13");
    assert_eq!(found("split")["what"], "`low`");
    assert!(args(&found("vowels")).contains("\\xff"), "{}", found("vowels"));
    assert_eq!((&found("down")["class"], args(&found("down")).as_str()), (&"abort".into(), "200"));
    assert!(args(&found("divide")).starts_with("6 3 "), "{}", found("divide"));
    assert_eq!(found("divide")["args"][2]["name"], "errno before the call", "{}", found("divide"));
    assert_eq!((&found("bump")["class"], args(&found("bump")).as_str()), (&"panic".into(), "65535"));
}

#[test]
#[ignore = "half a minute: cargo test --test suite exhaustive -- --ignored"]
fn a_port_that_does_not_return_is_found_out() {
    let repo = library();
    write(&repo, "forever", "let mut n = n; while n == 99 { n = core::hint::black_box(99); } n");
    let (judged, findings) = verify(&repo, &["forever"]);
    assert_eq!(judged["forever"]["grade"], "refuted");
    assert_eq!(
        (&findings[0]["finding"]["class"], &findings[0]["finding"]["args"][0]["value"]),
        (&"timeout".into(), &"99".into())
    );
}

#[test]
fn what_is_too_large_or_has_a_state_is_fuzzed() {
    let repo = library();
    write(&repo, "wide", "a.wrapping_mul(3)");
    write(&repo, "mix", "if turn { a.wrapping_sub(b) } else { a.wrapping_add(b) }");
    let quick = ["--seconds", "2", "--runs", "5000"];
    for (symbol, more) in [("wide", [].as_slice()), ("mix", &["--config", "fuzz.exhaustive_points=1000"])] {
        let (judged, _) = verify(&repo, &[&[symbol], quick.as_slice(), more].concat());
        assert_eq!((&judged[symbol]["grade"], &judged[symbol]["space"]), (&"weak".into(), &Value::Null));
    }
    let too_many = ["verify", "mix", "--config", "fuzz.exhaustive_points=4294967297"];
    repo.run(&too_many).code(2).shows("at most 4294967296");
    repo.run(&["contract", "mix"]).ok().shows("131072 inputs, few enough to run every one");
    let told = repo.run(&["contract", "wide", "mix", "--format", "json"]);
    let told = told.ok().json("contract");
    assert_eq!(
        (&told["symbols"][0]["points"], &told["symbols"][1]["points"]),
        (&Value::Null, &131_072.into())
    );
}
