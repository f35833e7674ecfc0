//! Functions with callbacks: the harness compares every call, its arguments and the order of calls.

use crate::support::Repo;
use serde_json::Value;
use std::collections::BTreeMap;

const FOR_EACH: &str = "let values = unsafe { core::slice::from_raw_parts(values, n) };
    for value in values {
        let answer = unsafe { visit.unwrap()(*value, user) };
        if answer != 0 { return answer; }
    }
    0";

const SORT: &str = "let bytes = base.cast::<u8>();
    let compare = compare.unwrap();
    for i in 1..count {
        for j in (1..=i).rev() {
            unsafe {
                let right = bytes.add(j * elem_size);
                let left = right.sub(elem_size);
                if compare(left.cast(), right.cast()) <= 0 { break; }
                core::ptr::swap_nonoverlapping(left, right, elem_size);
            }
        }
    }";

const LEAST: &str = "let mut best = 0;
    for i in 1..n {
        if unsafe { order.unwrap()(values.add(i), values.add(best)) } < 0 { best = i; }
    }
    best";

const PUMP: &str = "let mut sum = 0u32;
    loop {
        match unsafe { next.unwrap()() } {
            0 => return sum,
            byte => sum = sum.wrapping_mul(31).wrapping_add(u32::from(byte)),
        }
    }";

const TELL: &str = "let Some(told) = told else { return -1; };
    unsafe {
        let text = if *where_ < 0 { c\"below\" } else { c\"above\" };
        told(f64::from(*where_) / 2.0, text.as_ptr(), where_);
    }
    0";

const WALK: &str = "unsafe {
        match callee::for_each(values, n, visit, user) {
            0 => visit.unwrap()(-1, user),
            first => first,
        }
    }";

const SPELL: &str = "for i in 0..n {
        let byte = unsafe { *bytes.add(i) };
        let two = [b'a' + byte % 26, b'a' + byte / 26];
        let answer = unsafe { write.unwrap()(user, two.as_ptr(), 2) };
        if answer != 0 { return answer; }
    }
    0";

/// Bodies that do what the C functions do.
const RIGHT: &[(&str, &str)] = &[
    ("for_each", FOR_EACH),
    ("sort_any", SORT),
    ("least", LEAST),
    ("pump", PUMP),
    ("tell", TELL),
    ("walk_all", WALK),
    ("spell", SPELL),
];

/// A right body made wrong at one place, and what the finding must name.
const WRONG: &[(&str, &str, &str, &str, &str)] = &[
    // Once too often.
    (
        "for_each",
        FOR_EACH,
        "    0",
        "    if n == 3 { unsafe { visit.unwrap()(0, user) }; } 0",
        "how often it calls back",
    ),
    // Another order of calls.
    ("for_each", FOR_EACH, "in values", "in values.iter().rev()", "call 1 of `visit`"),
    // Another argument: the context is not handed on.
    ("for_each", FOR_EACH, "user) };", "core::ptr::null_mut()) };", "call 1 of `visit`"),
    // Not stable.
    ("sort_any", SORT, "<= 0", "< 0", "call"),
    // The arguments are exchanged, the result is not.
    (
        "sort_any",
        SORT,
        "compare(left.cast(), right.cast()) <= 0",
        "compare(right.cast(), left.cast()) >= 0",
        "call 1 of `compare`",
    ),
    // Swaps one byte less.
    (
        "sort_any",
        SORT,
        "left, right, elem_size)",
        "left, right, elem_size - usize::from(elem_size > 3))",
        "`base[",
    ),
    ("least", LEAST, "< 0", "<= 0", ""),
    ("pump", PUMP, "0 => return", "0 | 255 => return", ""),
    ("tell", TELL, "/ 2.0", "* 0.25", "call 1 of `told`"),
    ("tell", TELL, "c\"above\"", "c\"Above\"", "call 1 of `told`"),
    // Another place with the same number in it.
    ("tell", TELL, "text.as_ptr(), where_", "text.as_ptr(), &{ *where_ }", "call 1 of `told`"),
    // The second of two bytes, of which the next argument says how many there are.
    ("spell", SPELL, "byte / 26]", "byte / 27]", "of `write`"),
    // Fewer bytes than the next argument, a `size_t`, says.
    ("spell", SPELL, "two.as_ptr(), 2", "&*Box::new(two[0]), 2", "of `write`"),
    ("walk_all", WALK, "visit.unwrap()(-1, user)", "0", "how often it calls back"),
];

fn library() -> Repo {
    let repo = Repo::empty();
    repo.write("callbacks.h", include_str!("state/callbacks.h"));
    repo.write("callbacks.c", include_str!("state/callbacks.c"));
    repo.run(&["init"]).ok();
    repo
}

fn port(repo: &Repo, symbol: &str, body: &str) {
    repo.replace("rust/src/callbacks.rs", &format!("unimplemented!(\"{symbol}\")"), body);
}

#[test]
fn right_ports_that_call_back_are_unrefuted_and_wrong_ones_refuted() {
    let repo = library();
    let stubs = repo.read("rust/src/callbacks.rs");
    for (symbol, body) in RIGHT {
        port(&repo, symbol, body);
    }
    let (judged, findings) = repo.verified(&["--all"], 0);
    assert_eq!(findings, BTreeMap::new());
    for (symbol, _) in RIGHT {
        assert_eq!(judged[*symbol]["grade"], "weak", "{}", judged[*symbol]);
        assert_eq!(judged[*symbol]["accept_rate"], 1.0, "{}", judged[*symbol]);
    }

    // The n-th wrong port of every function at once.
    for round in 0..3 {
        repo.write("rust/src/callbacks.rs", &stubs);
        let nth = |symbol: &str| WRONG.iter().filter(|w| w.0 == symbol).nth(round);
        let planted: Vec<_> = RIGHT.iter().filter_map(|(symbol, _)| nth(symbol)).collect();
        for (symbol, body, from, to, _) in &planted {
            assert_eq!(body.matches(from).count(), 1, "{symbol}: {from}");
            port(&repo, symbol, &body.replace(from, to));
        }
        let (judged, findings) = repo.verified(&["--all"], 10);
        for (symbol, _, _, to, what) in planted {
            let found = findings.get(*symbol).unwrap_or_else(|| panic!("{to}: {}", judged[*symbol]));
            let told = found["finding"]["what"].as_str().unwrap();
            assert!(told.contains(what), "{symbol}: {found}");
            assert!(found["finding"]["oracle"].to_string().contains("calls back"), "{found}");
        }
    }
}

#[test]
fn what_no_harness_can_stand_in_for_is_refused_with_the_reason() {
    let repo = library();
    let list = repo.run(&["list", "--format", "json"]).ok().json("list");
    let why = |symbol: &str| {
        let all = list["symbols"].as_array().unwrap();
        all.iter().find(|s| s["symbol"] == symbol).unwrap()["harness"].as_str().unwrap().to_owned()
    };
    assert!(
        why("fill_from").contains("the C text does not show what it should write there"),
        "{}",
        why("fill_from")
    );
    assert!(why("sort_by_libc").contains("is passed to `qsort`"), "{}", why("sort_by_libc"));
    assert!(why("keep").contains("not yet"), "{}", why("keep"));
    repo.run(&["contract", "sort_any"])
        .ok()
        .shows("callback that orders")
        .shows("`count` elements of `elem_size` bytes");
    repo.replace("rust/contracts/sort_any.toml", "signature = \"c\"", "signature = \"safe\"");
    repo.run(&["contract", "sort_any"]).fails(2, &["needs `signature = \"c\"`"]);
}

#[test]
#[ignore = "half a minute: cargo test --test suite callbacks -- --ignored"]
fn c_against_c_never_differs_and_mutants_are_seen_through_callbacks() {
    let repo = library();
    let ran = repo.run(&["contract", "--check", "--all", "--seconds", "2", "--format", "json"]);
    let told = ran.json("contract-check");
    let symbols = told["symbols"].as_array().unwrap();
    assert_eq!(symbols.len(), RIGHT.len());
    for symbol in symbols {
        assert_eq!(symbol["difference"], Value::Null, "{symbol}");
        assert_eq!(symbol["shortcomings"], serde_json::json!([]), "{symbol}");
    }
}

/// Right bodies of the functions in `state/calls.c`, and wrong ones with what the finding must name.
const COLLECT: &str = "unsafe {
        let all: *mut u8 = libc::malloc(4).cast();
        if all.is_null() { return core::ptr::null_mut(); }
        for i in 0..4 { *all.add(i) = next.unwrap()(); }
        all.cast()
    }";

const PUT_DEC: &str = "let mut digits = [0u8; 10];
    let (mut at, mut rest) = (digits.len(), n);
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 { break; }
    }
    unsafe { out.unwrap()(ctx, digits[at..].as_ptr().cast(), digits.len() - at) }";

const PUT_NUL: &str = "let both = [(n & 0xff) as u8, 0, (n >> 8 & 0xff) as u8];
    unsafe { out.unwrap()(ctx, both.as_ptr().cast(), 3) }";

const PUT_PIECE: &str = "let bytes = n.to_le_bytes();
    let piece = bytes[..(n % 4) as usize].to_vec();
    unsafe { out.unwrap()(ctx, piece.as_ptr(), piece.len()) }";

const PUT_NOTE: &str = "let text = if n < 0 { c\"below\" } else { c\"above\" };
    unsafe { out.unwrap()(text.as_ptr(), n) }";

const PUT_LEVEL: &str = "let text = if n < 0 { c\"low\" } else { c\"high\" };
    unsafe { out.unwrap()(text.as_ptr(), n & 1) }";

const PIECES: &[(&str, &str)] = &[
    ("collect", COLLECT),
    ("put_dec", PUT_DEC),
    ("put_nul", PUT_NUL),
    ("put_piece", PUT_PIECE),
    ("put_note", PUT_NOTE),
    ("put_level", PUT_LEVEL),
];

const WRONG_PIECES: &[(&str, &str, &str, &str)] = &[
    ("collect", "libc::malloc(4)", "libc::malloc(5)", "the length of the returned block"),
    ("put_dec", "rest % 10", "rest % 9", "call 1 of `out`"),
    // Behind the NUL, and within the length.
    ("put_nul", "n >> 8 & 0xff", "n >> 9 & 0xff", "call 1 of `out`"),
    ("put_piece", "n.to_le_bytes()", "(n ^ 0x300).to_le_bytes()", "call 1 of `out`"),
    ("put_note", "c\"above\"", "c\"abovE\"", "call 1 of `out`"),
    // The number behind the text is smaller than its length.
    ("put_level", "c\"high\"", "c\"higH\"", "call 1 of `out`"),
    // What a callback gets from a port is read under the sanitizer.
    (
        "put_dec",
        "digits[at..].as_ptr().cast()",
        "{ let freed = digits[at..].to_vec(); freed.as_ptr() }.cast()",
        "heap-use-after-free",
    ),
    ("put_note", "c\"below\"", "c\"belOw\"", "call 1 of `out`"),
];

/// Blocks of the harness are no blocks of the port, and what a callback gets is read as far as its length says.
#[test]
fn callbacks_between_allocations_and_callbacks_on_pieces_of_memory_are_judged() {
    let repo = Repo::of(&[("calls.c", include_str!("state/calls.c"))]);
    let stubs = repo.read("rust/src/calls.rs");
    let plant = |wrong: &[(&str, &str, &str, &str)]| {
        repo.write("rust/src/calls.rs", &stubs);
        for (symbol, right) in PIECES {
            let change = wrong.iter().find(|change| change.0 == *symbol);
            let body = change.map_or_else(|| (*right).to_owned(), |(_, from, to, _)| right.replace(from, to));
            repo.replace("rust/src/calls.rs", &format!("unimplemented!(\"{symbol}\")"), &body);
        }
    };
    plant(&[]);
    let (judged, findings) = repo.verified(&["--all"], 0);
    assert_eq!(findings, BTreeMap::new());
    for (symbol, _) in PIECES {
        assert_eq!(judged[*symbol]["grade"], "weak", "{}", judged[*symbol]);
        assert_eq!(judged[*symbol]["accept_rate"], 1.0, "{}", judged[*symbol]);
    }
    let (first, second) = WRONG_PIECES.split_at(PIECES.len());
    for wrong in [first, second] {
        plant(wrong);
        let (judged, findings) = repo.verified(&["--all"], 10);
        for (symbol, .., what) in wrong {
            let found = findings.get(*symbol).unwrap_or_else(|| panic!("{}", judged[*symbol]));
            assert!(found["finding"]["what"].as_str().unwrap().contains(what), "{found:#}");
        }
    }
}
