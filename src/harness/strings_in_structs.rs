//! Which arrays of characters in structs C reads as strings, up to a NUL.

use super::records_in_types::records_of;
use crate::c::text::{PassedMember, passed_members};
use crate::contract::pointer_facts::identifiers;
use crate::libc_facts as libc;
use crate::symbol::{CType, Function, Library};
use std::collections::{BTreeMap, BTreeSet};

/// The keys of the records in which a member is a string, for each name of such a member.
#[derive(Debug, Default)]
pub(super) struct Strings(BTreeMap<String, BTreeSet<String>>);

impl Strings {
    /// The members that C passes to functions of libc that read them up to a NUL. The text has names alone, so other structs
    /// with a member of this name count only where the function deals with no better one.
    pub fn of(library: &Library) -> Self {
        let mut strings = Self::default();
        for function in &library.functions {
            let passed = passed_members(function.text.as_bytes());
            let members: BTreeSet<String> =
                passed.into_iter().filter(is_string).map(|passed| passed.member).collect();
            if members.is_empty() {
                continue;
            }
            let named = named_by(library, function);
            for member in members {
                let all = records_with(library, &member);
                let own: BTreeSet<String> = all.intersection(&named).cloned().collect();
                let known = strings.0.entry(member).or_default();
                known.extend(if own.is_empty() { all } else { own });
            }
        }
        strings
    }

    /// Whether the member is a string in the record with this key.
    pub fn has(&self, record: &str, member: &str) -> bool {
        self.0.get(member).is_some_and(|records| records.contains(record))
    }
}

/// Whether the function reads the member up to a NUL. `strncmp` and the like need none.
fn is_string(passed: &PassedMember) -> bool {
    let name = passed.function.trim_start_matches("__builtin_");
    let used = libc::pointer_use(name, passed.position);
    match passed.is_printed.filter(|_| libc::has_format(name)) {
        Some(is_printed) => is_printed,
        // Where no literal is a format, one may stand in a macro.
        None if libc::has_format(name) => used.is_none_or(|used| !used.writes),
        None => used.is_some_and(|used| used.string) && !name.starts_with("strn"),
    }
}

/// The records with an array of this name.
fn records_with(library: &Library, member: &str) -> BTreeSet<String> {
    let has = |fields: &[crate::symbol::Field]| fields.iter().any(|field| field.name == member);
    library.records.iter().filter(|(_, record)| has(&record.fields)).map(|(key, _)| key.clone()).collect()
}

/// The records that a function deals with: by its parameters, its result, its variables, and names in its text.
fn named_by(library: &Library, function: &Function) -> BTreeSet<String> {
    let globals = function.globals_read.iter().chain(&function.globals_written);
    let globals = globals.filter_map(|key| library.global(key)).map(|global| &global.ty);
    let types: Vec<&CType> =
        function.params.iter().map(|param| &param.ty).chain([&function.ret]).chain(globals).collect();
    let mut found = BTreeSet::new();
    types.into_iter().for_each(|ty| records_of(library, ty, &mut found));
    let words: BTreeSet<&str> = identifiers(&function.text).into_iter().collect();
    let is_named = |name: &str| identifiers(name).last().is_some_and(|word| words.contains(word));
    let named =
        library.records.iter().filter(|(_, record)| is_named(&record.c_name) || is_named(&record.rust_name));
    found.extend(named.map(|(key, _)| key.clone()));
    found
}
