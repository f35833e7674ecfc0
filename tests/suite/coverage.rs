//! `cargo implfuzz coverage` on a small library with branches that can be counted by hand: ports, stubs, wrong ports,
//! and a C compiler without coverage.

use crate::support::{MEASURED, Repo};
use serde_json::{Value, json};

const GRADE: &str = "if points > 200 {
        return 3;
    }
    if u32::from(points) > 300 {
        return 4;
    }
    if points == 7 { 1 } else { 0 }";

const SPLIT: &str = "let a = if b == 0 { 1 } else { a };
    a.wrapping_div(b)";

/// Much that never runs.
const TWICE: &str = "let wide = u64::from(x);
    if wide > 0x1_0000_0000 {
        return 1;
    }
    if wide > 0x2_0000_0000 {
        return 2;
    }
    x.wrapping_mul(2)";

const CRASH: &str = "if points == 7 {
        // SAFETY: it is not safe at all.
        unsafe { core::ptr::null_mut::<u8>().write_volatile(1) };
    }
    if points > 200 { 3 } else { 0 }";

const WRONG: &str = "if points > 201 { 3 } else { 0 }";

const PANIC: &str = "if points == 7 { u8::try_from(300).expect(\"it does not fit\"); }
    if points > 200 { 3 } else { 0 }";

fn library() -> Repo {
    let repo = Repo::empty();
    repo.write("grades.c", include_str!("coverage/grades.c"));
    repo.write("grades.h", include_str!("coverage/grades.h"));
    repo.run(&["init"]).ok();
    repo
}

/// Puts a body in the place of a stub, or of another body.
fn port(repo: &Repo, from: &str, body: &str) {
    repo.replace("rust/src/grades.rs", from, body);
}

fn stub(symbol: &str) -> String {
    format!("unimplemented!(\"{symbol}\")")
}

/// The result by symbol, and the exit code.
fn measure(repo: &Repo, args: &[&str]) -> (Vec<Value>, i32) {
    let ran = repo.run(&[&["coverage", "--seconds", "2", "--format", "json"], args].concat());
    let value = ran.json("coverage");
    (value["symbols"].as_array().unwrap().clone(), ran.status.code().unwrap())
}

/// Line and way of everything that was missed.
fn missed(side: &Value) -> Vec<(u64, String)> {
    let all = side["missed"].as_array().unwrap_or_else(|| panic!("unmeasured: {side}"));
    all.iter().map(|m| (m["line"].as_u64().unwrap(), m["way"].as_str().unwrap().to_owned())).collect()
}

fn line_of(repo: &Repo, file: &str, text: &str) -> u64 {
    let all = repo.read(file);
    all.lines().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{text} in {all}")) as u64 + 1
}

#[test]
#[ignore = "half a minute: cargo test --test suite coverage -- --ignored"]
fn both_sides_are_counted_as_a_person_counts_them() {
    let repo = library();

    // Stubs: C alone.
    let (all, code) = measure(&repo, &["grade", "vowels", "is_vowel"]);
    let [grade, vowels, is_vowel] = &all[..] else { panic!("{all:?}") };
    assert_eq!((code, &grade["rust"]["why"]), (11, &json!("it is still a stub")));
    // Three conditions; 300 points do not fit into eight bits.
    let never = line_of(&repo, "grades.c", "points > 300");
    // The compiler knows that: it is told, and not counted.
    assert_eq!(grade["c"]["branches"], json!({ "reached": 5, "total": 5 }));
    assert_eq!(missed(&grade["c"]), [(never, "true".into())]);
    assert_eq!(grade["c"]["missed"][0]["code"], "points > 300");
    assert_eq!(grade["c"]["missed"][0]["impossible"], true);
    assert_eq!(grade["c"]["lines"], json!({ "reached": 6, "total": 6 }));
    // A static function, by a switch: taken or not, for each of three labels.
    assert_eq!(missed(&is_vowel["c"]), []);
    assert!(is_vowel["c"]["branches"]["total"].as_u64().unwrap() >= 3, "{is_vowel}");
    // The loop, two operands, and two conditions that a macro brings.
    assert_eq!(vowels["c"]["branches"]["total"], 10);
    let (operand, clamp) = (line_of(&repo, "grades.c", "1000000"), line_of(&repo, "grades.c", "CLAMP(n"));
    assert!(missed(&vowels["c"]).contains(&(operand, "false".into())), "{vowels}");
    assert!(missed(&vowels["c"]).contains(&(clamp, "true".into())), "{vowels}");
    assert_eq!(vowels["c"]["missed"][1]["in_macro"], true);

    // Ports: both sides, and what neither reaches.
    port(&repo, &stub("grade"), GRADE);
    port(&repo, &stub("split"), SPLIT);
    port(&repo, &stub("twice"), TWICE);
    let (all, code) = measure(&repo, &["grade", "split", "twice"]);
    let [grade, split, twice] = &all[..] else { panic!("{all:?}") };
    assert_eq!(code, 0, "{all:?}");
    assert_eq!(grade["c"]["branches"], json!({ "reached": 5, "total": 5 }));
    // The function, three early ends or arms, what follows the first two, and the last arm.
    assert_eq!(grade["rust"]["blocks"], json!({ "reached": 6, "total": 7 }));
    assert_eq!(missed(&grade["rust"]), [(line_of(&repo, "rust/src/grades.rs", "return 4"), "run".into())]);
    assert_eq!((&grade["rust"]["branches"], &grade["parity"]), (&Value::Null, &Value::Null));
    assert_eq!(grade["inputs"]["accepted"], grade["inputs"]["replayed"]);
    assert_eq!(grade["c"]["entered"], grade["inputs"]["accepted"]);
    assert_eq!(grade["rust"]["entered"], grade["inputs"]["returned"]);
    // C does not survive a division by zero: what it did on the way there is not covered.
    assert_eq!(missed(&split["c"]), [(line_of(&repo, "grades.c", "b == 0"), "true".into())]);
    assert!(split["inputs"]["accepted"].as_u64() < split["inputs"]["replayed"].as_u64(), "{split}");
    assert_eq!(twice["c"]["branches"], json!({ "reached": 0, "total": 0 }));
    assert!(twice["parity"].as_str().unwrap().contains("the port is not"), "{twice}");

    // The same inputs give the same counts, and people see the same.
    assert_eq!(measure(&repo, &["grade", "split", "twice"]).0, all);
    let shown = repo.run(&["coverage", "grade"]);
    shown
        .ok()
        .shows("5/5")
        .shows("points > 300 (the compiler proves it impossible: not counted)")
        .shows("never true")
        .shows("never run: 4");

    // A port that panics or crashes: what it did on the way there does not count, what C did before does.
    for (before, body, crashes) in [(GRADE, PANIC, false), (PANIC, CRASH, true)] {
        port(&repo, before, body);
        let (all, _) = measure(&repo, &["grade"]);
        let (inputs, c, rust) = (&all[0]["inputs"], &all[0]["c"], &all[0]["rust"]);
        assert_eq!(inputs["crashed"].as_u64().unwrap() > 0, crashes, "{inputs}");
        assert!(inputs["returned"].as_u64() < inputs["accepted"].as_u64(), "{inputs}");
        assert_eq!((&rust["entered"], &c["entered"]), (&inputs["returned"], &inputs["accepted"]));
        assert_eq!(missed(c), [(never, "true".into())], "{c}");
        let wrong = line_of(&repo, "rust/src/grades.rs", "points == 7");
        assert!(missed(rust).iter().any(|(line, _)| [wrong, wrong + 2].contains(line)), "{rust}");
        let told = if crashes { "inputs end the process" } else { "the port does not return from" };
        repo.run(&["coverage", "grade"]).ok().shows(told).shows("cargo implfuzz verify grade");
    }

    // One that is wrong is not called right by being covered.
    port(&repo, CRASH, WRONG);
    let (all, _) = measure(&repo, &["grade"]);
    assert_eq!(all[0]["rust"]["blocks"], json!({ "reached": 3, "total": 3 }));
    assert!(all[0]["inputs"]["differed"].as_u64().unwrap() > 0, "{all:?}");

    // What the audit rejects is not run.
    port(&repo, WRONG, "crate::callee::grade(points)");
    let (all, code) = measure(&repo, &["grade"]);
    assert!(all[0]["rust"]["why"].as_str().unwrap().starts_with("the audit rejects it"), "{all:?}");
    assert_eq!((&all[0]["c"]["state"], code), (&json!("measured"), 11));
}

#[test]
#[ignore = "half a minute: cargo test --test suite coverage -- --ignored"]
fn a_grade_asks_what_the_run_reached() {
    let repo = library();
    // No square leaves 3, which no compiler knows.
    repo.replace("grades.c", "points > 300", "points * points % 7 == 3");
    port(&repo, &stub("grade"), GRADE);
    port(&repo, &stub("twice"), "x.wrapping_mul(2)");
    let asked = ["verify", "grade", "twice", "--runs", "20000", "--seconds", "4", "--format", "json"];
    // Where every input is tried, no branch is left to reach: this is about runs that try some.
    let fuzzed = ["--config", "fuzz.exhaustive_points=1", "--config", "grade.mutant_seconds=2"];
    let ran = repo.run(&[&asked[..], &MEASURED, &fuzzed].concat());
    let all = ran.code(11).json("verify");
    let [grade, twice] = &all["symbols"].as_array().unwrap()[..] else { panic!("{all}") };
    assert_eq!(grade["proofs"]["branches"]["yes"], json!({ "reached": 5, "total": 6 }));
    assert_eq!(grade["grade"], "weak");
    assert!(grade["reason"].as_str().unwrap().contains("5 of 6 branches of C reached"), "{grade}");
    // It has no branch: its lines count.
    assert_eq!(twice["proofs"]["branches"]["yes"], json!({ "reached": 3, "total": 3 }));
    assert_eq!((&twice["grade"], &twice["reason"]), (&json!("verified"), &Value::Null));
    assert_eq!(repo.status("twice")["grade"], "verified");
}

#[test]
#[ignore = "half a minute: cargo test --test suite coverage -- --ignored"]
fn with_gcc_alone_c_is_unmeasured_and_not_zero() {
    let repo = library();
    port(&repo, &stub("grade"), GRADE);
    let gcc = ["--config", "c.compiler=\"gcc\""];
    let args = ["coverage", "grade", "--seconds", "2"];
    let ran = repo.run(&[&args[..], &gcc, &["--format", "json"]].concat());
    let all = ran.code(11).json("coverage");
    let grade = &all["symbols"][0];
    assert_eq!(grade["c"]["state"], "unmeasured");
    assert!(grade["c"]["why"].as_str().unwrap().contains("gcc"), "{grade}");
    assert_eq!((&grade["rust"]["blocks"]["total"], &grade["parity"]), (&json!(7), &Value::Null));
    let shown = repo.run(&[&args[..], &gcc].concat());
    shown.code(11).shows("C coverage is unmeasured").shows("clang 19 or newer").shows("unmeasured");
}

#[test]
fn bad_asks_are_told() {
    let repo = library();
    repo.run(&["coverage", "nothing"]).fails(2, &["no function `nothing`"]);
    repo.run(&["coverage"]).code(2).shows("--all");
    repo.run(&["coverage", "grade", "--seconds", "0"]).code(2).shows("0 is not in 1..");
}
