//! Memory blocks that change owner, and returned pointers: new blocks, blocks to free, pointers into arguments or tables.

use crate::support::Repo;
use std::collections::BTreeMap;

/// Bodies that do what the C functions do.
const RIGHT: &[(&str, &str)] = &[
    ("block_get", "unsafe { libc::malloc(size as usize) }"),
    ("block_zeroed", "unsafe { libc::calloc(items.wrapping_mul(size) as usize, 1) }"),
    ("block_put", "unsafe { libc::free(ptr) }"),
    ("block_more", "unsafe { libc::realloc(ptr, (size as usize).wrapping_add(1)) }"),
    (
        "block_text",
        "if a == 0 { return core::ptr::null_mut(); }
         unsafe {
             let text = libc::malloc(if b == 255 { 2 << 20 } else { 8 }).cast::<u8>();
             if !text.is_null() { *text = a; *text.add(1) = b; }
             text.cast()
         }",
    ),
    (
        "block_copy",
        "unsafe { core::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast::<u8>(), size as usize) }; to",
    ),
    (
        "block_find",
        "(0..len as usize).map(|i| unsafe { data.add(i) }).find(|at| unsafe { **at } == wanted).unwrap_or(core::ptr::null())",
    ),
    ("block_table", "globals::squares.as_ptr()"),
];

/// Bodies that are wrong, and what the finding must name.
const WRONG: &[(&str, &str, &str)] = &[
    ("block_get", "core::ptr::null_mut()", "returned pointer"),
    (
        "block_get",
        "unsafe { libc::malloc((size as usize).saturating_add(1)) }",
        "the length of the returned block",
    ),
    (
        "block_get",
        "unsafe { libc::free(libc::malloc(size as usize)); libc::malloc(size as usize + 0).cast::<u8>().wrapping_add(1).cast() }",
        "returned pointer",
    ),
    (
        "block_get",
        "unsafe { core::hint::black_box(libc::malloc(3)); libc::malloc(size as usize) }",
        "blocks that are never freed",
    ),
    // Does not zero.
    ("block_zeroed", "unsafe { libc::malloc(items.wrapping_mul(size) as usize) }", "of the returned block"),
    // Does not wrap.
    ("block_zeroed", "unsafe { libc::calloc(items as usize, size as usize) }", "returned"),
    ("block_put", "", "whether `ptr` is freed"),
    ("block_put", "unsafe { libc::free(ptr); libc::free(ptr) }", "freed twice"),
    ("block_put", "if !ptr.is_null() { unsafe { *ptr.cast::<u8>() = 1 } }", "`ptr`"),
    // Lets the old block be, and loses what stands in it.
    ("block_more", "unsafe { libc::malloc((size as usize).wrapping_add(1)) }", "`ptr`"),
    (
        "block_text",
        "if a == 0 { return core::ptr::null_mut(); } unsafe { libc::calloc(8, 1).cast() }",
        "byte 0 of the returned block",
    ),
    ("block_text", "let _ = (a, b); core::ptr::null_mut()", "returned pointer"),
    // The other argument.
    (
        "block_copy",
        "unsafe { core::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast::<u8>(), size as usize) }; from.cast_mut()",
        "returned pointer",
    ),
    (
        "block_copy",
        "unsafe { core::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast::<u8>(), size as usize) }; core::ptr::null_mut()",
        "returned pointer",
    ),
    // The last one.
    (
        "block_find",
        "(0..len as usize).rev().map(|i| unsafe { data.add(i) }).find(|at| unsafe { **at } == wanted).unwrap_or(core::ptr::null())",
        "returned pointer",
    ),
    ("block_table", "core::ptr::null()", "returned pointer"),
    (
        "block_table",
        "const OTHER: [u32; 6] = [0, 1, 4, 9, 16, 26]; OTHER.as_ptr()",
        "element 5 of the returned table",
    ),
];

fn library() -> Repo {
    let repo = Repo::empty();
    repo.write("blocks.h", include_str!("blocks/blocks.h"));
    repo.write("blocks.c", include_str!("blocks/blocks.c"));
    repo.run(&["init"]).ok();
    repo
}

fn port(repo: &Repo, symbol: &str, body: &str) {
    repo.replace("rust/src/blocks.rs", &format!("unimplemented!(\"{symbol}\")"), body);
}

#[test]
#[ignore = "half a minute: cargo test --test suite blocks -- --ignored"]
fn right_ports_are_verified_and_wrong_ones_refuted() {
    let repo = library();
    let stubs = repo.read("rust/src/blocks.rs");
    for (symbol, body) in RIGHT {
        port(&repo, symbol, body);
    }
    let measured = ["--config", "grade.measure=true", "--config", "grade.least='verified'"];
    let quick = ["--runs", "20000", "--seconds", "30", "--format", "json"];
    let ran = repo.run(&[&["verify", "--all"], &measured[..], &quick[..]].concat());
    let json = ran.ok().json("verify");
    for row in json["symbols"].as_array().unwrap() {
        assert!(["verified", "exhaustive"].contains(&row["grade"].as_str().unwrap()), "{row}");
    }

    // One wrong port of each function at a time.
    let mut left: Vec<_> = WRONG.to_vec();
    while !left.is_empty() {
        let mut turn: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
        left.retain(|(symbol, body, what)| {
            turn.contains_key(symbol) || turn.insert(symbol, (body, what)).is_some()
        });
        repo.write("rust/src/blocks.rs", &stubs);
        for (symbol, body) in RIGHT {
            port(&repo, symbol, turn.get(symbol).map_or(body, |(wrong, _)| wrong));
        }
        let names: Vec<&str> = turn.keys().copied().collect();
        let (judged, findings) = repo.verified(&names, 10);
        for (symbol, (body, what)) in &turn {
            let finding =
                &findings.get(*symbol).unwrap_or_else(|| panic!("{body}: {}", judged[*symbol]))["finding"];
            assert!(finding["what"].as_str().unwrap().contains(what), "{symbol}: {body}: {finding}");
        }
    }
}

/// A text that leads into an argument is no constant: what is compared is where it leads.
#[test]
fn texts_in_arguments_are_places() {
    let repo = Repo::empty();
    repo.write(
        "after.c",
        "#include <stddef.h>\nconst char *after(const char *s, int c) {\n    while (*s) {\n        if (*s == c) return s + 1;\n        \
        s++;\n    }\n    return NULL;\n}\nconst char *word(unsigned n) { return n % 3 ? n % 2 ? \"odd\" : \"even\" : NULL; }\n",
    );
    repo.run(&["init"]).ok();
    repo.run(&["contract", "after"]).ok().shows("returns a pointer into memory that it gets, or null");
    let stubs = repo.read("rust/src/after.rs");
    let module = |after: &str, word: &str| {
        let text =
            stubs.replace("unimplemented!(\"after\")", after).replace("unimplemented!(\"word\")", word);
        repo.write("rust/src/after.rs", &text);
    };
    let found = |end: &str| {
        format!(
            "unsafe {{ let mut at = s; while *at != 0 {{ if *at as i32 == c {{ let at = at.add(1); return {end}; }} at = at.add(1); }} core::ptr::null() }}"
        )
    };
    let (right, copied) = (found("at"), found("if *at == 0 { c\"\".as_ptr() } else { at }"));
    let (word, own) = (
        "(n % 3 != 0).then_some(if n % 2 == 0 { c\"even\" } else { c\"odd\" })",
        "if n % 3 == 0 { return None; } let text = std::ffi::CString::new(if n % 2 == 0 { \"even\" } else { \"odd\" }).ok()?; Some(Box::leak(text.into_boxed_c_str()))",
    );
    module(&right, word);
    let (judged, findings) = repo.verified(&["after", "word"], 0);
    assert!(findings.is_empty(), "{judged:?}");
    module(&copied, own);
    let (judged, findings) = repo.verified(&["after", "word"], 10);
    for (name, what) in [("after", "returned pointer"), ("word", "returned string")] {
        let finding = findings.get(name).unwrap_or_else(|| panic!("{name}: {}", judged[name]));
        assert!(finding["finding"]["what"].as_str().unwrap().contains(what), "{finding}");
    }
}

#[test]
fn each_role_is_explained_by_a_line_of_c() {
    let repo = library();
    let said = |symbol: &str, texts: &[&str]| {
        let ran = repo.run(&["contract", symbol]);
        for text in texts {
            ran.shows(text);
        }
    };
    said(
        "block_get",
        &["returns a new block, or null (blocks.c:7: void *block_get(size_t size) { return malloc(size); })"],
    );
    said(
        "block_put",
        &["block to free, of at most 64 bytes or null", "blocks.c:19: free(ptr);", "which blocks are freed"],
    );
    said(
        "block_copy",
        &["returns a pointer into memory that it gets, or null", "return memcpy(to, from, size);"],
    );
    said(
        "block_table",
        &["returns a table of 6 elements, or null", "the 6 elements that the returned pointer points to"],
    );

    // What a person writes stands.
    let path = "rust/contracts/block_table.toml";
    repo.replace(path, "elements = 6", "elements = 3");
    repo.run(&["init"]).ok();
    said("block_table", &["returns a table of 3 elements, or null"]);
    repo.replace(path, "returns = \"table\"", "returns = \"tables\"");
    repo.run(&["contract", "block_table"]).code(2).shows("`returns = \"tables\"` is not known");
}
