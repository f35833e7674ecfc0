//! Assertions about the layout of records, which every later build compiles with the library.

use crate::symbol::Record;
use std::fmt::Write as _;

/// A layout assertion: size, alignment and offsets from libclang, which bindgen uses too. `None` for a record
/// without a name or a layout.
pub(super) fn assertion(record: &Record) -> Option<String> {
    if !record.complete || record.c_name.is_empty() {
        return None;
    }
    let name = &record.c_name;
    let mut facts = format!("sizeof({name}) == {} && __alignof__({name}) == {}", record.size, record.align);
    // C has no `offsetof` for a bit-field.
    for field in record.fields.iter().filter(|f| f.bits.is_none() && !f.name.is_empty()) {
        let offset = field.offset?;
        write!(facts, " && __builtin_offsetof({name}, {}) == {}", field.name, offset / 8)
            .expect("a String takes all text");
    }
    Some(format!("_Static_assert({facts}, \"layout of {name}\");"))
}
