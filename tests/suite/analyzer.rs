//! Functions with parameters that the C text does not explain: a model proposes a contract and a run of the C original
//! tests it. The models are scripts.

use crate::support::{MEASURED, QUICK, Ran, Repo, assert_same, reply};

const HEADER: &str = "#ifndef OPEN_H\n#define OPEN_H\n#include <stddef.h>\n#include <stdint.h>\n\
    uint32_t named(const void *name);\nint same(const void *a, const void *b, size_t n);\n#endif\n";
/// `strnlen` and `bcmp` are none of the functions that the tool knows.
const SOURCE: &str = "#include \"open.h\"\n#include <string.h>\n#include <strings.h>\n\n\
    uint32_t named(const void *name) { return (uint32_t)strnlen(name, 40) * 2u + 1u; }\n\n\
    int same(const void *a, const void *b, size_t n) { return bcmp(a, b, n) == 0; }\n";

const SHORT: [&str; 2] = ["--config", "grade.mutant_seconds=2"];
const STRING: &str = "[[param]]\nname = \"name\"\nrole = \"c-string\"\nreason = \"strnlen(name, 40)\"\n";

fn library() -> Repo {
    let repo = Repo::empty();
    repo.write("open.h", HEADER);
    repo.write("open.c", SOURCE);
    repo.run(&["init"]).ok();
    repo
}

fn contract(roles: &str) -> String {
    format!("As C calls it:\n\n```toml contract\n{roles}```\n")
}

fn port(repo: &Repo, symbol: &str) -> Ran {
    repo.run(&[&["port", symbol][..], &QUICK, &MEASURED, &SHORT].concat())
}

#[test]
#[ignore = "a minute: cargo test --test suite analyzer -- --ignored"]
fn what_c_bears_out_is_ported_under_it_and_weak_until_a_person_approves() {
    let repo = library();
    let no_value = contract("[[param]]\nname = \"name\"\nrole = \"value\"\nreason = \"a number\"\n");
    let too_short = contract(
        "[[param]]\nname = \"name\"\nrole = \"fixed-array\"\ndirection = \"in\"\nlen = 3\nreason = \"?\"\n",
    );
    let right = reply(
        "pub fn named(name: &core::ffi::CStr) -> u32 {\n    name.to_bytes().len().min(40) as u32 * 2 + 1\n}\n",
    );
    repo.model(&[&no_value, &too_short, &contract(STRING), &right]);
    let ran = port(&repo, "named");
    ran.ok();
    for said in [
        "the contract is rejected: `name`: a pointer cannot have the role `value`",
        "the contract is rejected: C does not confirm it: ",
        "a contract that C confirms, by command/sh",
        "command/sh proposed its contract, which is not approved yet",
    ] {
        assert!(format!("{ran}").contains(said), "no {said:?} in {ran}");
    }
    assert_eq!(repo.asked(), 4);
    let prompts =
        [1, 2, 3].map(|n| std::fs::read_to_string(repo.aside().join(format!("model/{n}.prompt"))).unwrap());
    assert!(prompts.iter().all(|prompt| prompt.contains("\"role\":\"analyzer\"")), "{}", prompts[0]);
    assert!(prompts[0].contains("is passed to `strnlen`, whose effects are unknown"), "{}", prompts[0]);
    assert!(
        prompts[1].contains("a pointer cannot have the role `value`")
            && prompts[2].contains("C differs from itself"),
        "{}",
        prompts[2]
    );
    let shown = repo.run(&["contract", "named"]);
    shown.ok();
    assert!(shown.stdout.contains("proposed by command/sh, not approved"), "{shown}");
    // The tool leaves it as it is, and so does everything that reads the library anew.
    let text = repo.read("rust/contracts/named.toml");
    assert!(text.contains("proposed_by = \"command/sh\"") && text.contains("max = 4096"), "{text}");
    repo.run(&["init"]).ok();
    assert_eq!(repo.read("rust/contracts/named.toml"), text);
    let verify =
        [&["verify", "named"][..], &MEASURED, &SHORT, &["--runs", "20000", "--seconds", "5"]].concat();
    assert!(repo.run(&verify).code(11).stdout.contains("which is not approved yet"));
    let approved = repo.run(&["contract", "--approve", "named"]);
    approved.ok();
    assert!(approved.stdout.contains("cargo implfuzz verify named"), "{approved}");
    assert!(repo.run(&verify).ok().stdout.contains("verified"));
    repo.run(&["contract", "--approve", "named"]).code(2);
}

#[test]
fn what_c_does_not_bear_out_leaves_nothing() {
    let repo = library();
    let one = "[[param]]\nname = \"a\"\nrole = \"pointer\"\ndirection = \"in\"\nreason = \"?\"\n";
    let other = one.replace("\"a\"", "\"b\"");
    let number = "[[param]]\nname = \"n\"\nrole = \"value\"\nreason = \"?\"\n";
    repo.model(&[&contract(&format!("{one}{other}{number}"))]);
    let before = repo.tree();
    let ran = port(&repo, "same");
    ran.code(11);
    assert!(ran.stdout.contains("`a` is passed to `bcmp`, whose effects are unknown"), "{ran}");
    assert!(ran.stderr.contains("no contract after 3 answers; the last one: C"), "{ran}");
    assert_eq!(repo.asked(), 3);
    assert_same(&before, &repo.tree());
    // What C does under a wrong contract is no fault of C.
    assert_eq!(repo.count("SELECT count(*) FROM findings"), 0);
}

#[test]
fn a_model_that_knows_no_contract_is_not_asked_again_until_that_is_forgotten() {
    let repo = library();
    repo.model(&["```text notes\nNobody can know.\n```\n"]);
    let ran = port(&repo, "named");
    ran.code(11);
    assert!(ran.stderr.contains("no contract says how to call it: Nobody can know."), "{ran}");
    assert_eq!(repo.asked(), 1);
    port(&repo, "named").code(11);
    assert_eq!(repo.asked(), 1);
    // What the run learned is shown, and each exchange is a step with its time.
    let end = "run 1: given up: no contract says how to call it: Nobody can know.";
    repo.run(&["status", "named"]).shows(end);
    repo.run(&["list", "named"]).ok().shows("run 1: given up: no contract says");
    assert!(!repo.run(&["status", "sa*"]).stdout.contains("named"));
    repo.run(&["port", "named", "--explain"])
        .ok()
        .shows("ask-analyzer")
        .shows("the C text does not show how");
    assert_eq!(
        repo.count("SELECT count(*) FROM steps WHERE step = 'ask-analyzer' AND millis IS NOT NULL"),
        1
    );
    assert_eq!(repo.count("SELECT count(*) FROM model_calls WHERE step IS NULL"), 0);
    let told = repo.run(&["memory", "list"]);
    told.ok();
    assert!(told.stdout.contains("no contract says how to call `named`: Nobody can know."), "{told}");
    repo.run(&["memory", "forget", "--all"]).ok();
    port(&repo, "named").code(11);
    assert_eq!(repo.asked(), 2);
}
