//! Which functions of a library construct a value of a struct, so that a harness can call them before the function
//! under test.

use crate::symbol::{Access, CType, Function, Library, Linkage, Param, UseKind};
use std::collections::{BTreeSet, HashMap};

/// Words in a function's name that suggest that it makes or resets the struct behind its first argument.
const WORDS: [&str; 10] =
    ["init", "initialize", "initialise", "create", "new", "open", "alloc", "make", "setup", "reset"];

/// Words in the name of a function that makes another value like one that it gets.
pub(super) const COPIES: [&str; 4] = ["copy", "clone", "dup", "duplicate"];

/// The constructors of each record, by its key: exported functions before static ones, then functions that only
/// reset.
pub(super) struct Constructors<'a>(HashMap<&'a str, Vec<&'a Function>>);

impl<'a> Constructors<'a> {
    pub(super) fn of(library: &'a Library) -> Self {
        let mut found: HashMap<&str, Vec<&Function>> = HashMap::new();
        for function in library.functions.iter().filter(|f| f.unsupported.is_none()) {
            for record in constructed(library, function) {
                found.entry(record).or_default().push(function);
            }
        }
        for makers in found.values_mut() {
            makers.sort_by_key(|f| {
                (f.linkage == Linkage::Static, f.c_name.to_ascii_lowercase().contains("reset"))
            });
        }
        Self(found)
    }

    /// The constructors of the record with this key.
    pub(super) fn of_record(&self, record: &str) -> &[&'a Function] {
        self.0.get(record).map_or(&[], Vec::as_slice)
    }
}

/// The records that a function constructs.
fn constructed<'a>(library: &Library, function: &'a Function) -> BTreeSet<&'a str> {
    let named = is_named(&function.c_name, &WORDS);
    // `list_set_data` may write half of a small struct.
    let is_setter = words(&function.c_name).iter().skip(1).any(|word| word == "set");
    let calls_nothing =
        function.calls.is_empty() && function.externs.is_empty() && function.indirect_calls == 0;
    let made = function.params.iter().enumerate().filter_map(|(index, param)| {
        let target = param.ty.target().filter(|target| !target.is_const)?;
        let record = target.record_key()?;
        (index == 0 && named || !is_setter && fills(library, param, record)).then_some(record)
    });
    let needs = |record: &str| {
        let is_taken = |p: &Param| p.ty.target().and_then(CType::record_key) == Some(record);
        // What it returns was there before: `return entry->next`.
        if calls_nothing && function.params.iter().any(is_taken) {
            return true;
        }
        let null_checked = |p: &Param| p.uses.iter().any(|u| u.kind == UseKind::NullCheck);
        // A copy is never the `const` original.
        let is_original = |of: &CType| of.is_const && is_named(&function.c_name, &COPIES);
        let takes = |p: &Param| {
            let of = p.ty.target().filter(|of| of.record_key() == Some(record));
            of.is_some_and(|of| !(null_checked(p) || is_original(of)) || is_given_back(p))
        };
        function.params.iter().any(takes)
    };
    // A function that needs a value of the record, such as the step to a list's next node, does not construct one.
    let returned = function.ret.target().unwrap_or(&function.ret);
    let returned = returned.record_key().filter(|record| !returned.is_const && !needs(record));
    made.chain(returned).collect()
}

/// Whether programs set up a struct of numbers by this function, which gets it first: `parser_init(&parser)`.
pub(super) fn sets_up(function: &Function, record: &str) -> bool {
    let first = function.params.first().and_then(|param| param.ty.target()).filter(|of| !of.is_const);
    first.and_then(CType::record_key) == Some(record)
        && function.linkage == Linkage::External
        && is_named(&function.c_name, &WORDS)
        && !is_named(&function.c_name, &["reset"])
}

/// Whether the function returns this argument, or a place in it, and puts nothing else in its place.
fn is_given_back(param: &Param) -> bool {
    let is_used = |is: fn(&UseKind) -> bool| param.uses.iter().any(|used| is(&used.kind));
    is_used(|kind| matches!(kind, UseKind::Returned | UseKind::ReturnedInside))
        && !is_used(|kind| matches!(kind, UseKind::Reassigned))
}

/// Whether the name has one of the words: `list_init`, `initList`, `xReset2`.
pub fn is_named(name: &str, wanted: &[&str]) -> bool {
    words(name).iter().any(|word| wanted.contains(&word.as_str()))
}

/// The words of a name, in lower case.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut before = '_';
    for c in name.chars() {
        if !c.is_ascii_alphabetic() || c.is_ascii_uppercase() && before.is_ascii_lowercase() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_ascii_alphabetic(), words.last_mut()) {
            word.push(c.to_ascii_lowercase());
        }
        before = c;
    }
    words
}

/// Whether at least half of the fields are written before any is read.
fn fills(library: &Library, param: &Param, record: &str) -> bool {
    let Some(record) = library.records.get(record).filter(|r| r.complete && !r.fields.is_empty()) else {
        return false;
    };
    let mut written: BTreeSet<&str> = BTreeSet::new();
    for used in &param.uses {
        match &used.kind {
            UseKind::Field { name, access: Access::Write } => drop(written.insert(name)),
            UseKind::Deref(Access::Write) => return true,
            UseKind::Argument { callee, position: 0, .. } if callee.contains("memset") => return true,
            UseKind::Field { .. } | UseKind::Deref(_) | UseKind::Index { .. } | UseKind::Argument { .. } => {
                break;
            }
            UseKind::NullCheck
            | UseKind::Compare { .. }
            | UseKind::Advance
            | UseKind::Arithmetic
            | UseKind::Back
            | UseKind::Called
            | UseKind::Returned
            | UseKind::ReturnedInside
            | UseKind::FromCall { .. }
            | UseKind::Stored { .. }
            | UseKind::Reassigned
            | UseKind::AddressOf
            | UseKind::Cast { .. }
            | UseKind::Other => {}
        }
    }
    !record.is_union && written.len() * 2 >= record.fields.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_constructors_are_told_from_other_names() {
        for yes in
            ["list_init", "inflateInit2_", "newMap", "kit_map_create", "zOpenDir", "init", "deflateReset"]
        {
            assert!(is_named(yes, &WORDS), "{yes}");
        }
        for no in ["list_destroy", "reinitialized", "renew", "deinit", "initial_size", "reopen", "malloc"] {
            assert!(!is_named(no, &WORDS), "{no}");
        }
    }
}
