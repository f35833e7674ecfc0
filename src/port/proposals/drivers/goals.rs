//! Which function a new driver should reach: the one through which most others would be reached, too.

use crate::in_place::run::Number;
use crate::symbol::{Library, LibraryIndex, Linkage};
use std::collections::{BTreeSet, VecDeque};

/// A function that no driver reaches, with the way to it. Functions are positions in the library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Goal {
    pub function: Number,
    /// From a function that a driver can call, or one that is reached, to this one.
    pub way: Vec<Number>,
    /// The unreached functions that it leads to, without itself.
    pub leads_to: Vec<Number>,
}

/// The functions among which a goal is chosen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'a> {
    pub library: &'a Library,
    /// Those that programs can call.
    pub public: &'a BTreeSet<Number>,
    pub reached: &'a BTreeSet<Number>,
    /// Those about which nothing is asked.
    pub left_out: &'a BTreeSet<Number>,
    /// Those of which a model said that no driver reaches them, or for which it found none.
    pub refused: &'a BTreeSet<Number>,
}

/// Chooses the next goal among functions that are neither reached nor left out, and that something leads to besides refused
/// functions; nothing if there is none.
pub(super) fn next(field: Field) -> Option<Goal> {
    let Field { library, public, reached, left_out, refused } = field;
    let index = LibraryIndex::of(library);
    let callees = index.callees();
    let open = within_reach(field, callees);
    let open = open
        .into_iter()
        .filter(|at| !reached.contains(at) && !left_out.contains(at) && !refused.contains(at));
    let with_gain = open.map(|at| (at, unreached_from(at, callees, reached)));
    // Of those with the same gain, one that a driver can call, and then the first one.
    let best = with_gain.max_by_key(|(at, gain)| (gain.len(), public.contains(at), std::cmp::Reverse(*at)));
    let (function, leads_to) = best?;
    Some(Goal { function, way: way(field, callees, function), leads_to })
}

/// The functions that drivers do not reach and that only refused ones lead to, or nothing at all.
pub(super) fn behind_refused(field: Field) -> Vec<Number> {
    let index = LibraryIndex::of(field.library);
    let near = within_reach(field, index.callees());
    let is_behind =
        |at: &Number| !near.contains(at) && !field.left_out.contains(at) && !field.refused.contains(at);
    (0..field.library.functions.len()).filter(is_behind).collect()
}

/// What drivers reach, what programs can call, and what that leads to, but not through what is refused: where no driver
/// reaches a function, none reaches what only it calls.
fn within_reach(field: Field, callees: &[Vec<Number>]) -> BTreeSet<Number> {
    let Field { library, public, reached, refused, .. } = field;
    // A table may have the address of a function that no body names; a function in a header that nothing calls is unused.
    let called: BTreeSet<Number> = callees
        .iter()
        .enumerate()
        .flat_map(|(at, own)| own.iter().filter(move |to| **to != at))
        .copied()
        .collect();
    let is_own = |at: &Number| {
        let function = &library.functions[*at];
        !called.contains(at)
            && (function.linkage == Linkage::External || function.place.file.0.extension() != Some("h"))
    };
    let own = (0..library.functions.len()).filter(is_own);
    let mut seen: BTreeSet<Number> = reached.iter().chain(public).copied().chain(own).collect();
    let mut open: Vec<Number> = seen.iter().copied().collect();
    while let Some(at) = open.pop() {
        if !refused.contains(&at) || reached.contains(&at) {
            open.extend(callees[at].iter().filter(|callee| seen.insert(**callee)));
        }
    }
    seen
}

/// The unreached functions that a function leads to, nearest first.
fn unreached_from(from: Number, callees: &[Vec<Number>], reached: &BTreeSet<Number>) -> Vec<Number> {
    let (mut seen, mut open) = (BTreeSet::from([from]), VecDeque::from([from]));
    let mut found = Vec::new();
    while let Some(at) = open.pop_front() {
        for callee in &callees[at] {
            if seen.insert(*callee) {
                open.push_back(*callee);
                found.extend((!reached.contains(callee)).then_some(*callee));
            }
        }
    }
    found
}

/// The shortest way from a public or a reached function.
fn way(field: Field, callees: &[Vec<Number>], to: Number) -> Vec<Number> {
    let is_start = |at: Number| field.public.contains(&at) || field.reached.contains(&at);
    let (mut seen, mut open) = (BTreeSet::from([to]), VecDeque::from([vec![to]]));
    while let Some(way) = open.pop_front() {
        if is_start(way[0]) {
            return way;
        }
        // Nothing leads through a function that no driver reaches, as a model said.
        let is_open = |caller: &Number| !field.refused.contains(caller) || field.reached.contains(caller);
        let callers = (0..callees.len()).filter(|caller| callees[*caller].contains(&way[0])).filter(is_open);
        for caller in callers {
            if seen.insert(caller) {
                open.push_back([vec![caller], way.clone()].concat());
            }
        }
    }
    vec![to]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::prompt::context::tests::function;
    use crate::symbol::SymbolKey;

    /// `a` calls `c`, which calls `d`; `b` calls nothing.
    fn library() -> Library {
        let of = |name: &str, calls: &[&str]| {
            let mut one = function(name, "");
            one.key = SymbolKey(name.into());
            one.calls = calls.iter().map(|name| SymbolKey((*name).into())).collect();
            one
        };
        let functions = vec![of("d", &[]), of("c", &["d"]), of("b", &[]), of("a", &["c"])];
        Library { functions, ..crate::port::prompt::context::tests::library() }
    }

    /// The goal, and what only refused functions lead to.
    type Chosen = (Option<(Number, Vec<Number>, Vec<Number>)>, Vec<Number>);

    fn of(reached: &[Number], left_out: &[Number], refused: &[Number]) -> Chosen {
        let set = |all: &[Number]| all.iter().copied().collect::<BTreeSet<_>>();
        let [public, reached, left_out, refused] = [&[2, 3], reached, left_out, refused].map(set);
        let library = library();
        let field = Field {
            library: &library,
            public: &public,
            reached: &reached,
            left_out: &left_out,
            refused: &refused,
        };
        (next(field).map(|goal| (goal.function, goal.way, goal.leads_to)), behind_refused(field))
    }

    fn chosen(reached: &[Number], left_out: &[Number]) -> Option<(Number, Vec<Number>, Vec<Number>)> {
        of(reached, left_out, &[]).0
    }

    #[test]
    fn what_only_a_refused_function_leads_to_is_no_goal() {
        assert_eq!(of(&[2], &[], &[3]), (None, vec![0, 1]));
        assert_eq!(of(&[2], &[], &[1]), (Some((3, vec![3], vec![1, 0])), vec![0]));
        // One that is not judged may be called all the same.
        assert_eq!(of(&[2], &[3], &[]), (Some((1, vec![3, 1], vec![0])), vec![]));
        // Nor does a refused function stand in the way that a driver reaches.
        assert_eq!(of(&[1, 2, 3], &[], &[1]), (Some((0, vec![1, 0], vec![])), vec![]));
    }

    #[test]
    fn the_goal_leads_to_most_unreached_functions() {
        assert_eq!(chosen(&[], &[]), Some((3, vec![3], vec![1, 0])));
        // Behind a reached function, the way begins there.
        assert_eq!(chosen(&[3, 2], &[]), Some((1, vec![3, 1], vec![0])));
        assert_eq!(chosen(&[3, 1, 2], &[]), Some((0, vec![1, 0], vec![])));
        // Of equal ones, a public one.
        assert_eq!(chosen(&[3, 1], &[]), Some((2, vec![2], vec![])));
        assert_eq!(chosen(&[0, 1, 2, 3], &[]), None);
        assert_eq!(chosen(&[], &[3, 1, 0, 2]), None);
    }
}
