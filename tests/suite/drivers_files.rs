//! Functions that read and write files are judged where a driver calls them: what C asks the system for happens once, and a
//! port is answered in the same way if it asks for the same.

use crate::support::clib::copy_tree;
use crate::support::{Repo, plant};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// Function, old text, new text.
type Change = (&'static str, &'static str, &'static str);

/// What is said of the ports with these changes.
fn judged(changes: &[Change], code: i32) -> BTreeMap<String, Value> {
    let repo = Repo::empty();
    copy_tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/drivers_files"), repo.root());
    repo.run(&["init"]).ok();
    let mut module = repo.read("rust/src/records.rs");
    for port in include_str!("drivers_files/right.rs").split("\n\n").skip(1) {
        let name = port.split("fn ").nth(1).unwrap().split('(').next().unwrap();
        let mut port = port.to_owned();
        for (_, old, new) in changes.iter().filter(|(function, ..)| *function == name) {
            assert!(port.contains(old), "{name}: {old}");
            port = port.replace(old, new);
        }
        plant(&mut module, name, &port).unwrap_or_else(|| panic!("{name} has no stub"));
    }
    repo.write("rust/src/records.rs", &module);
    let ran = repo.run(&[
        "drivers", "--seconds", "1", "--ports", "--config", "drivers.function_seconds=1", "--format", "json",
    ]);
    let json = ran.code(code).json("drivers");
    let all = json["ports"].as_array().unwrap().iter();
    all.map(|one| (one["symbol"].as_str().unwrap().to_owned(), one.clone())).collect()
}

#[test]
fn right_ports_ask_the_system_for_what_c_asks_for() {
    let mut ports = judged(&[], 11);
    assert_eq!(ports.len(), 6);
    // What `access` reads is not known, so its calls are not judged.
    let exists = ports.remove("record_exists").unwrap();
    assert_eq!((&exists["outside"], &exists["judged"]), (&json!("access"), &json!(0)), "{exists}");
    for (name, port) in &ports {
        assert_eq!((&port["differs"], &port["broke"]), (&Value::Null, &Value::Null), "{name}: {port}");
        assert_eq!(port["outside"], Value::Null, "{name}: {port}");
        assert!(port["judged"].as_u64().unwrap() > 20, "{name}: {port}");
    }
}

#[test]
fn ports_that_ask_for_something_else_differ() {
    // Another byte, a call too few, other lengths, and one too many.
    let changes: [&[Change]; 2] = [
        &[
            ("record_write", "fputc(10", "fputc(13"),
            ("record_read", "libc::ungetc(next, stream);", ""),
            ("record_sum", "(items.cast(), 2, count,", "(items.cast(), 1, count,"),
            ("record_size", "        size\n", "        libc::fflush(stream);\n        size\n"),
            ("record_note", "c\"sum %zu\\n\"", "c\"sum %zd \\n\""),
        ],
        &[
            ("record_write", "libc::ferror(stream) != 0 || ", ""),
            ("record_read", "libc::fgets(text, size,", "libc::fgets(text, size - 1,"),
            ("record_sum", "usize::from(*item)", "usize::from(*item as u8)"),
            ("record_size", "libc::SEEK_SET", "libc::SEEK_CUR"),
            ("record_note", "c\"a multiple of 3\"", "c\"a multiple of 4\""),
        ],
    ];
    for changes in changes {
        let mut ports = judged(changes, 10);
        ports.remove("record_exists");
        for (name, port) in &ports {
            let what =
                if changes.iter().any(|(_, old, _)| *old == "usize::from(*item)") && name == "record_sum" {
                    "result"
                } else {
                    "outside"
                };
            assert_eq!(port["differs"]["what"], json!(what), "{name}: {port}");
            // The call is named.
            let said = port["differs"]["said"].as_str().unwrap();
            assert_eq!(what == "outside", said.contains("calls "), "{name}: {port}");
        }
    }
}
