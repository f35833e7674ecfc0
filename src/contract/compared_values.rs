//! Values and strings that a function, or a callee that gets the parameter, compares a parameter with. Random numbers
//! seldom reach interesting states of a handle; these do.

use super::c_words::identifiers;
use super::pointer_facts::FactTable;
use crate::c::text::quoted_by;
use crate::symbol::{Function, Library, Param, UseKind};
use std::collections::BTreeSet;

/// Depth to which a parameter is followed into callees.
const DEPTH: usize = 3;
/// Largest number of values of one parameter.
const MOST: usize = 24;

/// The constants that C compares the integer `param` with, and the neighbours of limits.
pub(super) fn values(facts: &FactTable, function: &Function, param: &Param) -> Vec<i64> {
    let mut found = BTreeSet::new();
    walk(facts, function, param, DEPTH, &mut |function, param| {
        for comparison in &function.comparisons {
            let is = |side: &str| identifiers(side) == [param.name.as_str()];
            let [left, right] = comparison.values;
            let value = match (is(&comparison.left), is(&comparison.right)) {
                (true, false) => right,
                (false, true) => left,
                _ => None,
            };
            let Some(value) = value else { continue };
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
    let mut found: BTreeSet<Vec<u8>> = BTreeSet::new();
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
            let strings = quoted_by(text.as_bytes(), '"').into_iter().filter(|text| text.len() <= 32);
            found.extend(strings.chain(quoted_by(text.as_bytes(), '\'')));
        }
    });
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && *byte != b'\\';
    let plain = found.into_iter().filter(|text| text.iter().all(is_plain));
    plain.filter_map(|text| String::from_utf8(text).ok()).take(MOST).collect()
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
