//! A call is judged with other answers of the system, too, and on a stack as small as that of many threads: what a driver's
//! run never meets, a user's program does.

use crate::support::{Change, judged_in_place};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What is said of the ports with these changes.
fn judged(changes: &[Change], code: i32) -> BTreeMap<String, Value> {
    judged_in_place("drivers_answers", ("answers", include_str!("drivers_answers/right.rs")), changes, code)
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_answers -- --ignored"]
fn right_ports_do_as_c_whatever_the_system_answers() {
    let ports = judged(&[], 0);
    assert_eq!(ports.len(), 13);
    for (name, port) in &ports {
        assert_eq!((&port["differs"], &port["broke"]), (&Value::Null, &Value::Null), "{name}: {port}");
        assert!(port["judged"].as_u64().unwrap() > 20, "{name}: {port}");
    }
}

#[test]
fn ports_that_are_right_for_the_usual_answers_alone_differ() {
    let changes: [Change; 13] = [
        // What comes behind a short read can only be the end, and one write writes all.
        (
            "take",
            "got += now as usize;",
            "got += now as usize;\n        if got < size { unsafe { libc::read(file, to.add(got).cast(), size - got) }; break; }",
        ),
        ("give", "given += now as usize;", "given = size;"),
        ("save", " != 1 {", " > 1 {"),
        ("line", "return if libc::ferror(from.cast()) != 0 { -2 } else { -1 };", "return -1;"),
        // No test of a driver says `quiet`.
        (
            "level",
            "if core::ffi::CStr::from_ptr(text) == c\"quiet\" { -7 } else { libc::atoi(text) }",
            "libc::atoi(text)",
        ),
        // Where bytes are missing, it can only be the end; and clocks run on.
        ("fill", "if libc::ferror(from.cast()) != 0 {", "if libc::ferror(from.cast()) != 0 && got == size {"),
        ("either", "file = libc::fopen(c\"/dev/zero\".as_ptr(), c\"r\".as_ptr());", ""),
        ("need", "libc::exit(3);", "return 0;"),
        ("age", "if now < since { -1 } else", "if now < since { 0 } else"),
        // From 2027 on it is never late.
        (
            "is_late",
            "i32::from(unsafe { libc::time(core::ptr::null_mut()) } > beyond)",
            "i32::from((beyond..1_798_761_600).contains(&(unsafe { libc::time(core::ptr::null_mut()) } - 1)))",
        ),
        // A signal is an error like any other, and every error is the same.
        ("number", "libc::EINTR => continue,", "libc::EINTR => -libc::EIO,"),
        ("store", "stored as i32", "0 + (if stored == 0 { 0 } else { count })"),
        // Three megabytes of locals.
        ("sum", "    let (first", "    core::hint::black_box(&mut [1u8; 3 << 20]);\n    let (first"),
    ];
    let ports = judged(&changes, 10);
    let told = |name: &str| ports[name]["differs"]["other_answer"].clone();
    let other = |function: &str, how: &str| json!({"function": function, "how": how});
    assert_eq!(told("take"), other("read", "fewer"), "{}", ports["take"]);
    assert_eq!(told("give")["function"], json!("write"), "{}", ports["give"]);
    assert_eq!(told("save"), other("fwrite", "failure"), "{}", ports["save"]);
    assert_eq!(told("line")["function"], json!("fgets"), "{}", ports["line"]);
    assert_eq!(told("level"), other("getenv", "other"), "{}", ports["level"]);
    assert_eq!(told("fill"), other("fread", "fewer"), "{}", ports["fill"]);
    assert_eq!(told("either"), other("fopen", "failure"), "{}", ports["either"]);
    assert_eq!(told("need"), other("read", "failure"), "{}", ports["need"]);
    assert_eq!(told("age"), other("time", "other"), "{}", ports["age"]);
    assert_eq!(told("is_late"), other("time", "other"), "{}", ports["is_late"]);
    assert_eq!(told("number"), other("read", "failure"), "{}", ports["number"]);
    assert_eq!(told("store")["function"], json!("fwrite"), "{}", ports["store"]);
    assert_eq!(ports["sum"]["differs"]["what"], json!("crash"), "{}", ports["sum"]);
}
