//! Memory that nobody has written: what C takes from there has no value, and everything else has.

use crate::support::{Change, judged_in_place};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What is said of the ports with these changes.
fn judged(changes: &[Change], code: i32) -> BTreeMap<String, Value> {
    judged_in_place("drivers_unwritten", ("names", include_str!("drivers_unwritten/right.rs")), changes, code)
}

#[test]
fn right_ports_need_not_copy_what_c_never_wrote() {
    // Nothing shows a port to be right where C's answer hangs on what nobody wrote, or on an address.
    let ports = judged(&[], 11);
    assert_eq!(ports.len(), 8);
    for (name, port) in &ports {
        let is_unsteady = ["mark", "stir", "sum"].contains(&name.as_str());
        assert_eq!((&port["differs"], port["unsteady"] != 0), (&Value::Null, is_unsteady), "{name}: {port}");
        assert!(is_unsteady || port["judged"].as_u64().unwrap() > 20, "{name}: {port}");
    }
    // The driver's blocks differ in their first byte, and in nothing else that anybody has written.
    let (judged, distinct) = (&ports["first"]["judged"], &ports["first"]["distinct"]);
    assert!(judged.as_u64().unwrap() > 256, "{judged}");
    assert!(distinct.as_u64().unwrap() <= 256, "{distinct}");
}

#[test]
fn what_differs_beside_bytes_without_value_is_a_difference() {
    let changes: [Change; 5] = [
        // A length, a block of each allocator that is not freed, and bytes that only a short read leaves unwritten.
        ("name_set", "(*to).length = length;", "(*to).length = length + 1;"),
        ("name_copy", "libc::free(own.cast());", ""),
        (
            "page_set",
            "    unsafe {",
            "    unsafe {\n        core::mem::forget(core::hint::black_box(Box::new(1u8)));",
        ),
        // What no address has.
        ("mark", "as usize * 31", "as usize * 0"),
        ("load", "(*all).used = got;", "(*all).used = if got == 0 { 0 } else { size };"),
    ];
    let ports = judged(&changes, 10);
    assert_eq!(ports["name_set"]["differs"]["what"], json!("memory"), "{}", ports["name_set"]);
    assert_eq!(ports["name_set"]["differs"]["path"], json!("to->length"), "{}", ports["name_set"]);
    assert_eq!(ports["mark"]["differs"]["path"], json!("to->length"), "{}", ports["mark"]);
    assert_eq!(ports["page_set"]["differs"]["what"], json!("rust-heap"), "{}", ports["page_set"]);
    assert_eq!(ports["name_copy"]["differs"]["what"], json!("allocation"), "{}", ports["name_copy"]);
    assert_eq!(
        ports["load"]["differs"]["other_answer"],
        json!({"function": "read", "how": "fewer"}),
        "{}",
        ports["load"]
    );
}
