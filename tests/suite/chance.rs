//! Functions that use random numbers or the time: both sides get the same values and must ask equally often.

use crate::support::Repo;
use serde_json::Value;

const HEADER: &str = "#ifndef DICE_H\n#define DICE_H\n#include <stdint.h>\nint roll(int sides);\nint roll_seeded(unsigned seed);\n\
    int64_t age(int64_t born);\nint reroll(unsigned seed, int again);\nint token(void);\n#endif\n";

const SOURCE: &str = "#include \"dice.h\"\n#include <stdlib.h>\n#include <time.h>\n#include <unistd.h>\n\n\
    int roll(int sides)\n{\n    if (sides <= 0)\n        return 0;\n    return rand() % sides + 1;\n}\n\n\
    int roll_seeded(unsigned seed)\n{\n    srand(seed + 1);\n    return (rand() ^ rand() << 1) & 0xffff;\n}\n\n\
    int64_t age(int64_t born)\n{\n    int64_t now = (int64_t)time(NULL);\n    return now < born ? 0 : (int64_t)((uint64_t)now - (uint64_t)born);\n}\n\n\
    int reroll(unsigned seed, int again)\n{\n    if (again)\n        srand(seed);\n    return rand() & 0xff;\n}\n\n\
    int token(void) { return (int)getpid(); }\n";

/// Right bodies.
const RIGHT: &[(&str, &str)] = &[
    ("roll", "if sides <= 0 { return 0; } unsafe { libc::rand() % sides + 1 }"),
    (
        "roll_seeded",
        "unsafe { libc::srand(seed.wrapping_add(1)); let first = libc::rand(); (first ^ libc::rand() << 1) & 0xffff }",
    ),
    ("reroll", "unsafe { if again != 0 { libc::srand(seed); } libc::rand() & 0xff }"),
    (
        "age",
        "let now = unsafe { libc::time(core::ptr::null_mut()) };
         if now < born { 0 } else { now.wrapping_sub(born) }",
    ),
];

/// Wrong bodies, and what is found.
const WRONG: &[(&str, &str, &str)] = &[
    // Draws where C does not.
    (
        "roll",
        "let drawn = unsafe { libc::rand() }; if sides <= 0 { return 0; } drawn % sides + 1",
        "numbers drawn",
    ),
    (
        "roll_seeded",
        "unsafe { libc::srand(seed); let first = libc::rand(); (first ^ libc::rand() << 1) & 0xffff }",
        "last seed",
    ),
    // It draws before it seeds.
    (
        "reroll",
        "unsafe { let drawn = libc::rand(); if again != 0 { libc::srand(seed); } drawn & 0xff }",
        "order of draws",
    ),
    (
        "age",
        "if born == 0 { return 1; } let now = unsafe { libc::time(core::ptr::null_mut()) }; if now < born { 0 } else { now.wrapping_sub(born) }",
        "",
    ),
];

fn verify(repo: &Repo, code: i32) -> Value {
    repo.run(&["verify", "--all", "--runs", "20000", "--seconds", "3", "--format", "json"])
        .code(code)
        .json("verify")
}

#[test]
#[ignore = "half a minute: cargo test --test suite chance -- --ignored"]
fn both_sides_draw_the_same_and_as_often() {
    let repo = Repo::empty();
    repo.write("dice.h", HEADER);
    repo.write("dice.c", SOURCE);
    repo.run(&["init"]).ok();
    repo.run(&["contract", "token"]).ok().shows("calls `getpid`");
    repo.run(&["contract", "roll"]).ok().shows("the number of calls for random numbers and clocks");
    let stubs = repo.read("rust/src/dice.rs");
    let port = |symbol: &str, body: &str| {
        repo.replace("rust/src/dice.rs", &format!("unimplemented!(\"{symbol}\")"), body);
    };
    for (symbol, body) in RIGHT {
        port(symbol, body);
    }
    let judged = verify(&repo, 0);
    assert_eq!(judged["findings"], serde_json::json!([]));
    let all = judged["symbols"].as_array().unwrap();
    assert_eq!(all.len(), RIGHT.len());
    assert!(all.iter().all(|one| one["grade"] == "weak"), "{all:#?}");
    // They are drawn from the input, not all alike.
    let told = repo.run(&["contract", "--check", "--all", "--seconds", "2", "--format", "json"]);
    for symbol in told.json("contract-check")["symbols"].as_array().unwrap() {
        assert_eq!(symbol["difference"], Value::Null, "{symbol}");
        assert_eq!(symbol["shortcomings"], serde_json::json!([]), "{symbol}");
    }

    repo.write("rust/src/dice.rs", &stubs);
    for (symbol, body, _) in WRONG {
        port(symbol, body);
    }
    let judged = verify(&repo, 10);
    for (symbol, _, what) in WRONG {
        let found = judged["findings"].as_array().unwrap().iter().find(|f| f["symbol"] == *symbol);
        let told = found.unwrap_or_else(|| panic!("{symbol}: {judged}"))["finding"]["what"].as_str().unwrap();
        assert!(told.contains(what), "{symbol}: {told}");
    }
}
