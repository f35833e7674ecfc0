//! Cheats outside the port's text, which its audit cannot see: a harness that was tampered with, a contract that
//! compares too little, files smuggled into a reply. Also checks that docs/cheats.md names a test for every cheat.

use crate::support::{Repo, assert_same, reply};
use std::path::Path;

const RIGHT: &str = "/// Doubles.\npub fn twice(x: u32) -> u32 {\n    x.wrapping_mul(2)\n}";

/// The small library with a wrong port of `twice`: wrong for half of all inputs.
fn wrong() -> Repo {
    let repo = Repo::initialised();
    repo.replace("rust/src/sum.rs", "unimplemented!(\"twice\")", "x.saturating_mul(2)");
    repo
}

/// The wrong port is refuted all the same.
#[track_caller]
fn refutes(repo: &Repo) {
    let ran = repo.run(&["verify", "twice", "--runs", "8000", "--seconds", "10"]);
    ran.code(10).shows("mismatch: return value").shows("x = ");
}

const HARNESS: &str = "rust/fuzz/src/harness/twice.rs";
const DRIVER: &str = "rust/fuzz/runtime/src/driver.rs";

#[test]
fn a_harness_that_is_tampered_with_judges_nothing() {
    let repo = wrong();
    let edits = [
        // Rust against Rust, C against C, a constant.
        (HARNESS, "ffi::twice as *const", "port_instead as *const"),
        (HARNESS, "::sum::twice(", "::ffi::twice("),
        (HARNESS, "let __ret = ", "let __ret = 0 * "),
        // Only inputs that pass, and none at all.
        (
            HARNESS,
            "fn admits(args: &Args) -> bool {\n        true",
            "fn admits(args: &Args) -> bool {\n        args.x < 9",
        ),
        (
            HARNESS,
            "fn differs(oracle: &Effects, subject: &Effects) -> Option<String> {",
            "fn differs(oracle: &Effects, subject: &Effects) -> Option<String> {\n        return None;",
        ),
        (DRIVER, "match judge_args::<C>(args, input) {", "match Judged::Same {"),
        (
            DRIVER,
            "Err(_) => found(\"panic\",",
            "Err(_) if true => Judged::Same,\n        Err(_) => found(\"panic\",",
        ),
        ("rust/fuzz/runtime/guard.c", "armed = guarding = 1;", "armed = guarding = 0;"),
    ];
    for (file, from, to) in edits {
        let before = repo.read(file);
        assert!(before.contains(from), "no {from:?} in {file}:\n{before}");
        repo.write(file, &before.replacen(from, to, 1));
        refutes(&repo);
        assert_eq!(repo.read(file), before, "{file} was not written anew");
    }
}

#[test]
fn a_contract_that_admits_nothing_is_no_pass() {
    let repo = wrong();
    let contract = repo.read("rust/contracts/twice.toml");
    repo.write(
        "rust/contracts/twice.toml",
        &contract.replacen("errno =", "require = [\"x < 0\"]\nerrno =", 1),
    );
    let ran = repo.run(&["verify", "twice", "--runs", "4000", "--seconds", "10", "--format", "json"]);
    let row = &ran.code(11).json("verify")["symbols"][0];
    assert_eq!((&row["grade"], &row["contract_edited"]), (&"unverifiable".into(), &true.into()), "{row}");
    assert!(row["reason"].as_str().unwrap().contains("accepted none of"), "{row}");
}

#[test]
fn code_that_no_name_leads_to_refuses_every_port_that_could_run_it() {
    let repo = Repo::empty();
    repo.write("kit.h", "struct pt { unsigned x; };\nunsigned dot(const struct pt *p, unsigned k);\nunsigned other(unsigned x);\n");
    repo.write(
        "a.c",
        "#include \"kit.h\"\nunsigned dot(const struct pt *p, unsigned k) { return p->x * 3u + k; }\n",
    );
    repo.write("b.c", "#include \"kit.h\"\nunsigned other(unsigned x) { return x + 1u; }\n");
    repo.run(&["init"]).ok();
    let stub = repo.read("rust/src/a.rs");
    let (a, b) = ("rust/src/a.rs", "rust/src/b.rs");
    let methods = "{ pub fn go(&self, k: u32) -> u32 { self.x.wrapping_mul(3).wrapping_add(k) } }";
    let verify = ["verify", "dot", "--runs", "4000", "--seconds", "4"].as_slice();
    let unported = repo.read(b);
    let hidden = [
        (b, format!("impl crate::ffi::pt {methods}"), "b.rs:"),
        (a, format!("impl ffi::pt {methods}"), "a.rs:"),
        (a, format!("const _: () = {{ impl crate::ffi::pt {methods} }};"), "a.rs:"),
        (a, format!("mod inner {{ impl crate::ffi::pt {methods} }}"), "a.rs:"),
        (a, format!("fn apart() {{ impl crate::ffi::pt {methods} }}"), "a.rs:"),
        (
            a,
            "#[cfg(fuzzing)] use self::right as answer;\n#[cfg(not(fuzzing))] use self::wrong as answer;"
                .into(),
            "a.rs:",
        ),
    ];
    for (file, text, place) in hidden {
        repo.write(a, &stub.replace("unimplemented!(\"dot\")", "p.go(k)"));
        repo.write(b, &unported);
        repo.write(file, &format!("{}\n{text}\n", repo.read(file)));
        repo.run(verify).code(10).shows("the audit rejects it").shows(place);
    }
    // Whatever a glob of another port's module brings in is read with no port of this one.
    repo.write(b, &(unported + "\npub trait Sneak { fn sneak(&self, k: u32) -> u32; }\n"));
    repo.write(
        a,
        &(stub.replace("unimplemented!(\"dot\")", "p.x.wrapping_mul(3).wrapping_add(k)")
            + "\nuse crate::b::*;\n"),
    );
    repo.run(verify).code(10).shows("the audit rejects it").shows("a.rs:");
}

#[test]
fn a_reply_writes_nothing_but_its_function() {
    let more = "```rust build.rs\nfn main() { println!(\"cargo:rustc-cfg=cheat\"); }\n```\n\
         ```toml contract\nversion = 1\nsymbol = \"twice\"\nrequire = [\"x < 9\"]\n```\n";
    let repo = Repo::initialised();
    let before = repo.tree();
    repo.model(&[&format!("{}{more}", reply(RIGHT))]);
    let ran = repo.port(&["twice"]);
    assert!([0, 11].contains(&ran.status.code().unwrap()), "{ran}");
    let mut after = repo.tree();
    // What a port may change: its module, the way that others call it, the settings of this test, what is known of it.
    let own =
        ["rust/src/sum.rs", "rust/src/callee.rs", "implfuzz.toml", "rust/implfuzz.lock", "implfuzz.lock"];
    let mut expected = before;
    for path in own.map(|path| repo.root().join(path)) {
        expected.remove(&path);
        after.remove(&path);
    }
    for tree in [&mut expected, &mut after] {
        tree.retain(|path, _| !path.starts_with(repo.root().join("rust/fuzz/seeds")));
    }
    assert_same(&expected, &after);
}

/// The table names each test in backticks as `file: name`.
#[test]
fn every_cheat_of_the_table_has_its_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = std::fs::read_to_string(root.join("docs/cheats.md")).unwrap();
    let rows: Vec<&str> =
        table.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| cheat")).collect();
    assert!(rows.len() > 20, "{} rows", rows.len());
    for row in rows {
        let tests: Vec<&str> = row.split('`').filter(|part| part.contains(".rs: ")).collect();
        let files: Vec<&str> = row.split('`').filter(|part| part.starts_with("fixtures/")).collect();
        assert!(!tests.is_empty(), "no test: {row}");
        for test in tests {
            let (file, name) = test.split_once(": ").unwrap();
            let text =
                std::fs::read_to_string(root.join(file)).unwrap_or_else(|_| panic!("no {file}: {row}"));
            // Beside the code, tests stand in a module. Tests that take long run with `--ignored`.
            let lines: Vec<&str> =
                text.lines().map(str::trim_start).filter(|line| !line.starts_with("#[ignore")).collect();
            let head = format!("fn {name}()");
            let found = lines.windows(2).any(|pair| pair[0] == "#[test]" && pair[1].starts_with(&head));
            assert!(found, "no test {name} in {file}");
        }
        for file in files {
            assert!(root.join(file).is_file(), "no {file}: {row}");
        }
    }
}
