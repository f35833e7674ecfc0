//! Values and texts that a function looks for: those that it, or a callee that gets the parameter, compares with.
//! Random numbers seldom reach interesting states of a handle; these do.

use super::pointer_facts::{FactTable, identifiers};
use crate::symbol::{Function, Library, Param, UseKind};
use std::collections::BTreeSet;

/// Depth to which a parameter is followed into callees.
const DEPTH: usize = 3;
/// Largest number of values of one parameter.
const MOST: usize = 24;

/// The constants that C compares the integer `param` with, and the neighbours of limits.
pub(super) fn values(library: &Library, facts: &FactTable, function: &Function, param: &Param) -> Vec<i64> {
    let mut found = BTreeSet::new();
    walk(facts, function, param, DEPTH, &mut |function, param| {
        for comparison in &function.comparisons {
            let is = |side: &str| identifiers(side) == [param.name.as_str()];
            let other = match (is(&comparison.left), is(&comparison.right)) {
                (true, false) => &comparison.right,
                (false, true) => &comparison.left,
                _ => continue,
            };
            let Some(value) = evaluate(library, other) else { continue };
            found.insert(value);
            if !matches!(comparison.op.as_str(), "==" | "!=") {
                found.extend([value.saturating_sub(1), value.saturating_add(1)]);
            }
        }
    });
    // Flags are often added to a limit: combine the two largest values.
    if let [.., second, first] = found.iter().copied().collect::<Vec<_>>()[..] {
        found.extend(first.checked_add(second));
    }
    found.into_iter().take(MOST).collect()
}

/// Literals, macro texts and single characters in the functions that inspect the string `param`.
pub(super) fn texts(library: &Library, facts: &FactTable, function: &Function, param: &Param) -> Vec<String> {
    let mut found = BTreeSet::new();
    walk(facts, function, param, DEPTH, &mut |function, param| {
        let used: Vec<&str> = library
            .macros
            .iter()
            .filter(|m| function.macros.contains(&m.name))
            .map(|m| m.text.as_str())
            .collect();
        let looks =
            param.uses.iter().any(|used| !matches!(used.kind, UseKind::Argument { .. } | UseKind::NullCheck));
        for text in used.into_iter().chain([function.text.as_str()]).filter(|_| looks) {
            found.extend(literals(text, '"').filter(|text| text.len() <= 32));
            found.extend(literals(text, '\'').filter(|text| text.len() == 1));
        }
    });
    found.into_iter().filter(|text| text.is_ascii() && !text.contains('\\')).take(MOST).collect()
}

/// Whether a parameter is passed, as the first argument, to one of these libc functions.
pub(super) fn goes_to(
    facts: &FactTable,
    function: &Function,
    param: &Param,
    names: fn(&str) -> bool,
) -> bool {
    let mut found = false;
    walk(facts, function, param, DEPTH, &mut |_, param| {
        let to =
            |kind: &UseKind| matches!(kind, UseKind::Argument { callee, position: 0, .. } if names(callee));
        found |= param.uses.iter().any(|used| to(&used.kind));
    });
    found
}

/// Visits the parameter in the function itself and in each callee that gets it unchanged.
fn walk(
    facts: &FactTable,
    function: &Function,
    param: &Param,
    depth: usize,
    see: &mut dyn FnMut(&Function, &Param),
) {
    see(function, param);
    if depth == 0 {
        return;
    }
    for used in &param.uses {
        let UseKind::Argument { callee, position, args } = &used.kind else { continue };
        if args.get(*position).is_none_or(|text| identifiers(text).last() != Some(&param.name.as_str())) {
            continue;
        }
        let inner = facts.resolve(function, callee);
        if let Some((inner, there)) = inner.and_then(|f| Some((f, f.params.get(*position)?))) {
            walk(facts, inner, there, depth - 1, see);
        }
    }
}

/// Evaluates a constant: a number, a character, a macro of either, a negation, or the size of a type of the
/// library.
fn evaluate(library: &Library, text: &str) -> Option<i64> {
    let mut text = text.trim();
    // Remove casts and parentheses around it.
    loop {
        let inner = text.strip_prefix('(').and_then(|rest| {
            let close = matching(rest)?;
            let (inside, behind) = (&rest[..close], rest[close + 1..].trim());
            Some(if behind.is_empty() { inside } else { behind })
        });
        match inner {
            Some(inner) => text = inner.trim(),
            None => break,
        }
    }
    if let Some(rest) = text.strip_prefix('-') {
        return evaluate(library, rest)?.checked_neg();
    }
    if let Some(rest) = text.strip_prefix("sizeof") {
        return size_of(library, rest.trim().trim_start_matches('(').trim_end_matches(')').trim());
    }
    if let Some(character) = literals(text, '\'').next() {
        return character.bytes().next().map(i64::from);
    }
    if let Some(found) = library.macros.iter().find(|m| m.name == text && !m.is_function_like) {
        return evaluate(library, found.text.strip_prefix(text)?);
    }
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    }
}

/// The position of the parenthesis that closes one opened before `text`.
fn matching(text: &str) -> Option<usize> {
    let mut open = 1;
    text.char_indices().find_map(|(at, c)| {
        open += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        (open == 0).then_some(at)
    })
}

fn size_of(library: &Library, name: &str) -> Option<i64> {
    let name = name.trim_end_matches(" FAR");
    let types = library.functions.iter().flat_map(|f| f.params.iter().map(|p| &p.ty));
    let mut targets = types.filter_map(super::constructors::target);
    let by_use = targets.find(|ty| ty.spelling.trim_start_matches("const ") == name);
    let key = by_use.and_then(super::constructors::record);
    let record = match key {
        Some(key) => library.records.get(key),
        None => library.records.values().find(|r| r.c_name == name),
    };
    record.filter(|r| r.complete).and_then(|r| i64::try_from(r.size).ok())
}

/// The texts between two of these quotes.
fn literals(text: &str, quote: char) -> impl Iterator<Item = String> {
    let parts: Vec<&str> = text.split(quote).collect();
    let whole = parts.len();
    parts
        .into_iter()
        .enumerate()
        .filter(move |(at, part)| at % 2 == 1 && at + 1 < whole && !part.contains('\n'))
        .map(|(_, part)| part.to_owned())
        .collect::<Vec<_>>()
        .into_iter()
}
