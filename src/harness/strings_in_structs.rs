//! Which arrays of characters in structs C reads as strings, up to a NUL.

use crate::libc_facts as libc;
use crate::symbol::{Function, Library, MemberPassed};
use std::collections::BTreeSet;

/// The members that are strings: the key of the struct, and the name.
#[derive(Debug, Default)]
pub(super) struct Strings(BTreeSet<(String, String)>);

impl Strings {
    /// The members that C passes to functions of libc that read them up to a NUL.
    pub fn of(library: &Library) -> Self {
        Self(library.functions.iter().flat_map(strings).collect())
    }

    /// Whether the member is a string in the record with this key.
    pub fn has(&self, record: &str, member: &str) -> bool {
        self.0.contains(&(record.to_owned(), member.to_owned()))
    }
}

fn strings(function: &Function) -> BTreeSet<(String, String)> {
    let found = function.members_passed.iter().filter(|passed| is_string(passed));
    found.map(|passed| (passed.record.clone(), passed.member.clone())).collect()
}

/// Whether the callee reads the member up to a NUL. `strncmp` and the like need none.
fn is_string(passed: &MemberPassed) -> bool {
    let name = passed.callee.trim_start_matches("__builtin_");
    let used = libc::pointer_use(name, passed.position);
    match passed.is_printed.filter(|_| libc::has_format(name)) {
        Some(is_printed) => is_printed,
        // Where no literal is a format, any may be.
        None if libc::has_format(name) => used.is_none_or(|used| !used.writes),
        None => used.is_some_and(|used| used.string) && !name.starts_with("strn"),
    }
}
