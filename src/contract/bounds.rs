//! The integer parameters that bound how far C goes along a pointer, as the comparisons in its text show.

use super::c_words::{identifiers, without_subscripts};
use super::length_names::length_like;
use crate::symbol::{Comparison, Function, Param, TypeKind};

/// The integer parameters that an index is compared with, each with the line of the comparison.
pub(super) fn bounds_of(
    function: &Function,
    param: &Param,
    (index, line): (&str, u32),
) -> Vec<(String, u32)> {
    let names = identifiers(index);
    let mentions = |text: &str, is_it: fn(&str) -> bool| {
        let words = identifiers(text);
        function.params.iter().any(|p| words.contains(&p.name.as_str()) && is_it(&p.name))
    };
    // `if (i == skip)` is no bound where another comparison is one.
    let is_order = |comparison: &&Comparison| !matches!(comparison.op.as_str(), "==" | "!=");
    let bound = |comparison: &Comparison| {
        // Where an element is compared, its index is not: `n > table[i]`.
        let sides = [&comparison.left, &comparison.right].map(|side| without_subscripts(side));
        let [left, right] = [0, 1].map(|side| identifiers(&sides[side]).iter().any(|n| names.contains(n)));
        let [first, second] = sides;
        match (left, right) {
            (true, _) => Some((second, comparison.line)),
            (false, true) => Some((first, comparison.line)),
            (false, false) => None,
        }
    };
    let ordered: Vec<(String, u32)> =
        function.comparisons.iter().filter(is_order).filter_map(bound).collect();
    let bounds = match ordered.iter().any(|(text, _)| mentions(text, |_| true)) {
        true => ordered,
        false => function.comparisons.iter().filter_map(bound).collect(),
    };
    // Another loop may have an index of the same name: the nearest comparison before the access counts, with a name of a
    // length if there is any.
    let has_length = bounds.iter().any(|(text, _)| mentions(text, length_like));
    let counts = |text: &str| mentions(text, if has_length { length_like } else { |_| true });
    let nearest = bounds.iter().filter(|(text, at)| *at <= line && counts(text)).map(|(_, at)| *at).max();
    let bounding =
        bounds.iter().filter(|(text, at)| !counts(text) || nearest.is_none_or(|nearest| nearest == *at));
    bounding
        .flat_map(|(text, at)| mentioned(function, param, text).map(|name| (name.to_owned(), *at)))
        .collect()
}

/// The integer parameters that `text` mentions beside this one.
pub(super) fn mentioned<'t>(
    function: &Function,
    param: &Param,
    text: &'t str,
) -> impl Iterator<Item = &'t str> {
    identifiers(text).into_iter().filter(|name| {
        let is_integer = |p: &Param| p.name == *name && matches!(p.ty.kind, TypeKind::Int { .. });
        *name != param.name && function.params.iter().any(is_integer)
    })
}
