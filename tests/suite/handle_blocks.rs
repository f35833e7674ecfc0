//! Where a handle lies: behind a header of its block, in a block that the harness does not know, in a constant.

use crate::support::Repo;

/// Bodies that do what the C functions do.
const RIGHT: &[(&str, &str)] = &[
    (
        "box_new",
        "let rc: *mut usize = libc::malloc(8 + size_of::<ffi::box_>()).cast();
         if rc.is_null() { return core::ptr::null_mut(); }
         *rc = 1;
         let made: *mut ffi::box_ = rc.add(1).cast();
         (*made).value = value;
         (*made).hits = 0;
         (*made).name = core::ptr::null_mut();
         made",
    ),
    ("box_get", "(*box_).hits = (*box_).hits.wrapping_add(1); (*box_).value"),
    ("box_share", "let refs = box_.cast::<usize>().sub(1); *refs += 1; *refs"),
    ("vat_get", "(*vat).hits = (*vat).hits.wrapping_add(1); (*vat).value"),
    ("pin_size", "(*pin).size * (*pin).step"),
];

/// What is wrong, in which function, and the change to its right body.
const WRONG: &[(&str, &str, &str)] = &[
    ("box_new", "(*made).hits = 0;", "(*made).hits = 1;"),
    ("box_get", "(*box_).hits = (*box_).hits.wrapping_add(1);", ""),
    ("box_share", "*refs += 1; *refs", "*refs + 1"),
    ("vat_get", "(*vat).hits = (*vat).hits.wrapping_add(1);", ""),
    ("pin_size", "(*pin).step", "1"),
];

fn port(repo: &Repo, symbol: &str, body: &str) {
    let body = format!("// SAFETY: a live handle of the library.\n    unsafe {{ {body} }}");
    repo.replace("rust/src/inside.rs", &format!("unimplemented!(\"{symbol}\")"), &body);
}

#[test]
fn a_handle_inside_of_its_block_is_compared() {
    let repo = Repo::of(&[("inside.c", include_str!("handles/inside.c"))]);
    let stubs = repo.read("rust/src/inside.rs");
    let names: Vec<&str> = RIGHT.iter().map(|(symbol, _)| *symbol).collect();
    for (symbol, body) in RIGHT {
        port(&repo, symbol, body);
    }
    let (judged, findings) = repo.verified(&names, 0);
    assert!(findings.is_empty(), "{findings:#?}");
    for row in judged.values() {
        assert_eq!(row["grade"], "weak", "{row:#}");
        assert!(row["accept_rate"].as_f64().unwrap() > 0.5, "{row:#}");
    }

    repo.write("rust/src/inside.rs", &stubs);
    for (symbol, from, to) in WRONG {
        let (_, right) = RIGHT.iter().find(|(name, _)| name == symbol).unwrap();
        assert_eq!(right.matches(from).count(), 1, "{symbol}: {from}");
        port(&repo, symbol, &right.replace(from, to));
    }
    let (judged, findings) = repo.verified(&names, 10);
    for (symbol, what) in names.iter().zip([
        "the block of the handle, byte 12",
        "the block of the handle, byte 12",
        "the block of the handle, byte 0",
        "the handle after",
        "return value",
    ]) {
        let found = findings.get(*symbol).unwrap_or_else(|| panic!("{}", judged[*symbol]));
        assert!(found["finding"]["what"].as_str().unwrap().contains(what), "{found:#}");
    }
}

/// Otherwise such ports would pass whatever they leave in the handle.
#[test]
fn a_handle_in_unknown_memory_is_rejected_with_the_reason() {
    let repo = Repo::of(&[("inside.c", include_str!("handles/inside.c"))]);
    port(&repo, "tub_get", "(*tub).value");
    let verify = ["verify", "tub_get", "--runs", "3000", "--seconds", "4", "--format", "json"];
    let ran = repo.run(&verify);
    let judged = ran.json("verify");
    assert_eq!(judged["symbols"][0]["grade"], "unverifiable", "{judged:#}");
    assert!(judged.to_string().contains("the memory of a handle cannot be compared"), "{judged:#}");
    // It is no fault of C.
    for findings in ["findings", "findings_of_c"] {
        assert_eq!(judged[findings], serde_json::json!([]), "{judged:#}");
    }
}
