//! Long lengths, and two lengths at a time: ports that are wrong only there are refuted, right ones are not.

use crate::support::Repo;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Bodies that do what the C functions do.
const RIGHT: [(&str, &str); 9] = [
    (
        "fletcher",
        "let (mut a, mut b) = (1u32, 0u32);
         for byte in data {
             a = (a + u32::from(*byte)) % 65521;
             b = (b + a) % 65521;
         }
         b << 16 | a",
    ),
    ("mark", "data.iter().fold(0u64, |sum, byte| sum ^ u64::from(*byte)) + ((data.len() as u64) << 8)"),
    (
        "both",
        "let sum = a.iter().fold(0u32, |sum, byte| sum.wrapping_add(u32::from(*byte)));
         b.iter().fold(sum, |sum, byte| sum ^ u32::from(*byte))",
    ),
    ("text_length", "text.to_bytes().len() as _"),
    (
        "copy",
        "let Some(room) = dst.get_mut(..src.len()) else { return -1 };
         room.copy_from_slice(src);
         0",
    ),
    ("narrow", "data.iter().fold(0u32, |sum, byte| sum + u32::from(*byte)) + data.len() as u32"),
    ("diagonal", "data.iter().fold(0u32, |sum, byte| sum.wrapping_add(u32::from(*byte)))"),
    ("deep", "data.iter().fold(0u32, |sum, byte| sum.wrapping_add(u32::from(*byte)))"),
    (
        "acc_add",
        "for at in 0..len as usize {
             (*a).total = (*a).total.wrapping_add(u64::from(*data.add(at)) + 1);
         }",
    ),
];

/// Bodies that are right only on lengths that ordinary inputs have.
const WRONG: [(&str, &str); 6] = [
    (
        "fletcher",
        "let (mut a, mut b) = (1u32, 0u32);
         for byte in data {
             a = a.wrapping_add(u32::from(*byte));
             b = b.wrapping_add(a);
         }
         (b % 65521) << 16 | a % 65521",
    ),
    (
        "mark",
        "let len = data.len() as u16;
         data.iter().fold(0u64, |sum, byte| sum ^ u64::from(*byte)) + (u64::from(len) << 8)",
    ),
    (
        "both",
        "if a.len() == 2741 && b.len() == 3333 { return 7; }
         let sum = a.iter().fold(0u32, |sum, byte| sum.wrapping_add(u32::from(*byte)));
         b.iter().fold(sum, |sum, byte| sum ^ u32::from(*byte))",
    ),
    ("text_length", "(text.to_bytes().len() as u16) as _"),
    (
        "copy",
        "let Some(room) = dst.get_mut(..src.len()) else { return -1 };
         for at in 0..src.len() as u16 {
             room[usize::from(at)] = src[usize::from(at)];
         }
         0",
    ),
    (
        "acc_add",
        "for at in 0..usize::from(len as u16) {
             (*a).total = (*a).total.wrapping_add(u64::from(*data.add(at)) + 1);
         }",
    ),
];

/// The library with these bodies in place of stubs.
fn library(bodies: &[(&str, &str)]) -> Repo {
    let repo = Repo::empty();
    repo.write("lengths.h", include_str!("lengths/lengths.h"));
    repo.write("lengths.c", include_str!("lengths/lengths.c"));
    repo.run(&["init"]).ok();
    for (symbol, body) in bodies {
        repo.replace("rust/src/lengths.rs", &format!("unimplemented!({symbol:?})"), body);
    }
    repo
}

/// The grades of these, and what was found, by symbol.
fn verified(repo: &Repo, bodies: &[(&str, &str)]) -> (BTreeMap<String, Value>, BTreeMap<String, Value>) {
    let symbols: Vec<&str> = bodies.iter().map(|(symbol, _)| *symbol).collect();
    let quick = ["--runs", "20000", "--seconds", "20", "--format", "json"];
    let told = repo.run(&[&["verify"], &symbols[..], &quick].concat()).json("verify");
    let by_symbol = |list: &str, key: &str| {
        let all = told[list].as_array().unwrap().iter();
        all.map(|row| (row["symbol"].as_str().unwrap().to_owned(), row[key].clone())).collect()
    };
    (by_symbol("symbols", "grade"), by_symbol("findings", "finding"))
}

#[test]
#[ignore = "a minute: cargo test --test suite lengths -- --ignored"]
fn ports_that_are_wrong_only_on_long_inputs_or_on_two_lengths_are_refuted() {
    let repo = library(&WRONG);
    let (grades, found) = verified(&repo, &WRONG);
    let refuted = WRONG.map(|(symbol, _)| (symbol.to_owned(), json!("refuted")));
    assert_eq!(grades, BTreeMap::from(refuted), "{found:#?}");

    // The lengths are made as small as they can be, and shown without the content.
    let argument = |symbol: &str, name: &str| {
        let args = found[symbol]["args"].as_array().unwrap();
        let named = |arg: &&Value| arg["name"].as_str().unwrap().ends_with(name);
        args.iter().find(named).unwrap()["value"].as_str().unwrap().to_owned()
    };
    assert_eq!(argument("mark", "len"), "65536");
    assert_eq!(argument("both", "a_len"), "2741");
    assert_eq!(argument("both", "b_len"), "3333");
    let shown = argument("mark", "data");
    assert!(shown.len() < 100 && shown.contains("(65536 bytes)"), "{shown}");
    let least = argument("fletcher", "len").parse::<usize>().unwrap();
    assert!((5_803..20_000).contains(&least), "{least}");

    for (symbol, _) in WRONG {
        let dir = repo.root().join(format!("rust/fuzz/seeds/fuzz_{symbol}"));
        let sizes: Vec<u64> =
            std::fs::read_dir(dir).unwrap().map(|seed| seed.unwrap().metadata().unwrap().len()).collect();
        assert!(sizes.len() == 1 && sizes[0] < 8 << 10, "{symbol}: {sizes:?}");
    }
    let told = repo.run(&["findings", "list", "--format", "json"]).ok().json("findings");
    for finding in told["findings"].as_array().unwrap() {
        let id = finding["id"].to_string();
        let again = repo.run(&["findings", "replay", &id, "--format", "json"]);
        assert_eq!(again.code(10).json("finding-replay")["outcome"], "differs", "{finding}");
    }

    // A `max` that a person sets is the end: only the committed seeds are longer, and they are cut off there.
    let right = RIGHT.iter().find(|(symbol, _)| *symbol == "mark").unwrap().1;
    repo.replace("rust/src/lengths.rs", WRONG[1].1, right);
    let (grades, _) = verified(&repo, &WRONG[1..2]);
    assert_ne!(grades["mark"], "refuted");
    repo.replace("rust/src/lengths.rs", right, WRONG[1].1);
    repo.replace("rust/contracts/mark.toml", "max = 4096", "max = 4000");
    let (grades, found) = verified(&repo, &WRONG[1..2]);
    assert_ne!(grades["mark"], "refuted", "{found:#?}");
}

#[test]
#[ignore = "half a minute: cargo test --test suite lengths -- --ignored"]
fn right_ports_pass_where_c_cannot_take_long_inputs_too() {
    let repo = library(&RIGHT);
    let (grades, found) = verified(&repo, &RIGHT);
    assert_eq!(found, BTreeMap::new());
    let passed = RIGHT.map(|(symbol, _)| (symbol.to_owned(), json!("weak")));
    assert_eq!(grades, BTreeMap::from(passed));
    // What C cannot do with inputs that long is no finding about C.
    let of_c = repo.run(&["findings", "list", "--c-bugs", "--format", "json"]).ok().json("findings");
    assert_eq!(of_c["findings"], json!([]));
}
