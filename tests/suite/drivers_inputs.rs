//! The inputs of drivers: what a campaign leaves for later ones, and what they do not reach.

use crate::support::{Repo, Running};
use serde_json::json;

#[test]
fn what_drivers_found_stays_and_shows_what_they_do_not_reach() {
    let library = "#include <stdio.h>\nvoid greet(FILE *to, unsigned char kind)\n{\n    if (kind > 9)\n        fputs(\"many\", to);\n    \
        else if (kind == 7)\n        fputs(\"seven\", to);\n}\n";
    let driver = "#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\nvoid greet(FILE *, unsigned char);\n\
        int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {\n    if (size) greet(stdout, data[0] % 7);\n    return 0;\n}\n";
    let repo = Repo::of(&[("greet.c", library), ("fuzz/run.c", driver)]);
    repo.run(&["drivers", "--seconds", "2"]).ok();
    let corpus = ".implfuzz/cache/drivers/corpora/run";
    let is_there = |input: &str| repo.root().join(corpus).join(input).exists();
    for input in ["more/planted", "focused/0/planted"] {
        repo.write(&format!("{corpus}/{input}"), "seven");
    }
    // One function is measured on what is there.
    let ran = repo.run(&["drivers", "--check", "greet"]);
    assert!(!ran.ok().stderr.contains("fuzzing fuzz/run.c"), "{ran}");
    // A short campaign takes nothing away, but a change of the driver does.
    let short = ["drivers", "--seconds", "1"];
    repo.run(&short).ok();
    assert!(is_there("more/planted") && is_there("focused-earlier/0/planted"));
    repo.replace("fuzz/run.c", "% 7", "% 6");
    repo.run(&short).ok();
    assert!(!is_there("more/planted") && !is_there("focused-earlier/0/planted"));
    let json = repo.run(&["coverage", "greet", "--format", "json"]).code(11).json("coverage");
    let c = &json["symbols"][0]["c"];
    assert_eq!(
        (&c["state"], &c["branches"]),
        (&json!("measured"), &json!({ "reached": 2, "total": 4 })),
        "{c:#}"
    );
    let ran = repo.run(&["coverage", "greet"]);
    ran.code(11).shows("greet.c:4: never true: kind > 9").shows("greet.c:6: never true: kind == 7");
}

#[test]
fn what_drivers_found_stays_when_a_later_command_is_killed() {
    let library = "unsigned twice(unsigned x) { return x * 2; }\n";
    let driver = "#include <stddef.h>\n#include <stdint.h>\nunsigned twice(unsigned);\n\
        int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {\n    if (size) twice(data[0]);\n    return 0;\n}\n";
    let repo = Repo::of(&[("twice.c", library), ("fuzz/run.c", driver)]);
    let short = ["drivers", "--seconds", "1"];
    repo.run(&short).ok();
    let corpus = ".implfuzz/cache/drivers/corpora/run";
    for input in ["more/planted", "focused/0/planted"] {
        repo.write(&format!("{corpus}/{input}"), "seven");
    }
    let mut running = Running::start(repo.command(&["drivers", "--seconds", "60"]));
    running.says("fuzzing fuzz/run.c");
    std::thread::sleep(std::time::Duration::from_secs(2));
    drop(running);
    // It takes up the campaign, of which nothing says what it made.
    let ran = repo.run(&["drivers", "--check", "twice", "--config=drivers.seconds=1"]);
    assert!(ran.stderr.contains("fuzzing fuzz/run.c"), "{ran}");
    for input in ["more/planted", "focused-earlier/0/planted"] {
        assert!(repo.root().join(corpus).join(input).exists(), "{input}");
    }
}
