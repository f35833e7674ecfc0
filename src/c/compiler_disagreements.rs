//! Where libclang and the C compiler disagree about a program, the compiler decides. Symbols that the
//! compiler does not define are not bound, and neither are symbols that use a record with a different layout.

use super::alias_unit::{Line, Subject};
use super::merge::Merged;
use super::unit_work::Translated;
use crate::symbol::{CType, Gap, Linkage, RelPath, SymbolKey};
use std::collections::{BTreeMap, BTreeSet};

/// How the compilers' messages about failed assertions begin.
const FAILED_ASSERTION: &str = "static assertion failed";

/// Applies the compiler's results; `translations` are in the order of the units.
pub(super) fn agree(merged: &mut Merged, lines: BTreeMap<RelPath, Vec<Line>>, translations: &[&Translated]) {
    let said: BTreeMap<RelPath, &Translated> =
        merged.library.units.iter().map(|u| u.file.clone()).zip(translations.iter().copied()).collect();
    let mut wrong: BTreeMap<String, String> = BTreeMap::new();
    for (file, lines) in lines {
        let refused = said.get(&file).map(|translated| &translated.refused);
        let mut accepted = Vec::new();
        for (number, line) in lines.into_iter().enumerate() {
            let guarded = line.guarded();
            match (refused.and_then(|refused| refused.get(&number)), line.subject) {
                (None, _) => accepted.push(guarded),
                (Some(why), Subject::Static(key)) => {
                    merged.absent.insert(key, format!("the C compiler has no such static: {why}"));
                }
                (Some(why), Subject::Record(key)) => {
                    let what = merged.library.records.get(&key).map_or(key.as_str(), |r| r.c_name.as_str());
                    let reason = if why.starts_with(FAILED_ASSERTION) {
                        wrong.insert(key.clone(), what.to_owned());
                        "the C compiler and libclang disagree about its layout".to_owned()
                    } else {
                        format!("its layout cannot be asserted: {why}")
                    };
                    merged.library.gaps.push(Gap { what: what.to_owned(), reason });
                }
            }
        }
        merged.library.alias_lines.insert(file, accepted);
    }
    absent_functions(merged, &said);
    holders(merged, &wrong);
    merged.library.gaps.sort();
    merged.library.exports = translations.iter().flat_map(|t| t.exports.iter().cloned()).collect();
}

/// Records functions that only libclang or only the compiler sees.
fn absent_functions(merged: &mut Merged, said: &BTreeMap<RelPath, &Translated>) {
    let mut made: BTreeSet<&str> = BTreeSet::new();
    for translated in said.values() {
        made.extend(translated.functions.iter().map(String::as_str));
    }
    for function in &merged.library.functions {
        let is_there = made.contains(function.c_name.as_str());
        if function.linkage == Linkage::External && !is_there && !merged.absent.contains_key(&function.key) {
            let why = "the C compiler emits no function for it".to_owned();
            merged.absent.insert(function.key.clone(), why);
        }
    }
    let known: BTreeSet<&str> = merged.library.functions.iter().map(|f| f.c_name.as_str()).collect();
    let unseen = said.iter().flat_map(|(file, translated)| {
        let unseen = translated.functions.iter().filter(|name| !known.contains(name.as_str()));
        unseen.map(move |name| Gap {
            what: name.clone(),
            reason: format!("a function of {file} that the C compiler emits and libclang does not see"),
        })
    });
    merged.library.gaps.extend(unseen);
}

/// Finds functions and globals whose types lead to a record with a different layout.
fn holders(merged: &mut Merged, wrong: &BTreeMap<String, String>) {
    if wrong.is_empty() {
        return;
    }
    let library = &merged.library;
    let reaches = |ty: &CType| {
        let mut seen = BTreeSet::new();
        let mut open: Vec<String> = ty.record_keys().cloned().collect();
        while let Some(key) = open.pop() {
            if let Some(name) = wrong.get(&key) {
                return Some(format!("the C compiler and libclang disagree about the layout of {name}"));
            }
            if let Some(record) = library.records.get(&key).filter(|_| seen.insert(key)) {
                open.extend(record.fields.iter().flat_map(|f| f.ty.record_keys()).cloned());
            }
        }
        None
    };
    let mut found: Vec<(SymbolKey, String)> = Vec::new();
    for function in &library.functions {
        let mut types = function.params.iter().map(|p| &p.ty).chain([&function.ret]);
        found.extend(types.find_map(reaches).map(|why| (function.key.clone(), why)));
    }
    for global in &library.globals {
        found.extend(reaches(&global.ty).map(|why| (global.key.clone(), why)));
    }
    merged.absent.extend(found);
}
