//! Chooses which functions may be ported next: those whose callees are done. Pure; `scheduler` runs the ports.
//!
//! Functions that call each other form a unit: they are ported in sequence. If a port in the tree turns out to be
//! wrong, functions that need it are lost, too; a function without a port loses no others, because C's is called.

use crate::c::porting_order::components;
use crate::symbol::{Function, SymbolKey};
use std::collections::{BTreeMap, BTreeSet};

/// The state of a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    /// This many of its members are done; none is running.
    Open(usize),
    /// This member is running.
    Running(usize),
    Done,
    /// The wrong port of this function is in the tree: a member of the unit, or a function that it needs.
    Lost(usize),
}

#[derive(Debug, Clone)]
struct Unit {
    /// Positions among the wanted functions, in porting order.
    members: Vec<usize>,
    /// Units that must be done first.
    needs: BTreeSet<usize>,
    state: State,
}

/// The functions of a run, by their positions in the original list.
#[derive(Debug, Clone)]
pub struct Schedule {
    units: Vec<Unit>,
    unit_of: Vec<usize>,
}

impl Schedule {
    /// The schedule of `wanted`, in porting order.
    pub fn of(wanted: &[&Function]) -> Self {
        let position: BTreeMap<&SymbolKey, usize> =
            wanted.iter().enumerate().map(|(at, function)| (&function.key, at)).collect();
        let edges: Vec<Vec<usize>> = wanted
            .iter()
            .map(|function| {
                let others = function.calls.iter().chain(&function.address_taken);
                others.filter_map(|key| position.get(key).copied()).collect()
            })
            .collect();
        let components = components(&edges);
        let mut unit_of = vec![0; wanted.len()];
        for (unit, members) in components.iter().enumerate() {
            members.iter().for_each(|member| unit_of[*member] = unit);
        }
        let make = |(unit, members): (usize, Vec<usize>)| {
            let needs = members.iter().flat_map(|member| &edges[*member]).map(|to| unit_of[*to]);
            let needs = needs.filter(|other| *other != unit).collect();
            Unit { members, needs, state: State::Open(0) }
        };
        Self { units: components.into_iter().enumerate().map(make).collect(), unit_of }
    }

    /// The first function in porting order that may begin; marks it as running.
    pub fn begin(&mut self) -> Option<usize> {
        let ready = |unit: &Unit| match unit.state {
            State::Open(done) if unit.needs.iter().all(|need| self.units[*need].state == State::Done) => {
                unit.members.get(done).copied()
            }
            _ => None,
        };
        let next = self.units.iter().filter_map(ready).min()?;
        let unit = &mut self.units[self.unit_of[next]];
        if let State::Open(done) = unit.state {
            unit.state = State::Running(done);
        }
        Some(next)
    }

    /// Records the end of a running function; it is lost, not done, if a wrong port of it stays in the tree. Returns
    /// the functions that can no longer begin, each with the lost function that is the cause.
    pub fn end(&mut self, member: usize, is_done: bool) -> Vec<(usize, usize)> {
        let unit = &mut self.units[self.unit_of[member]];
        let State::Running(done) = unit.state else { return Vec::new() };
        if is_done {
            let all = done + 1 == unit.members.len();
            unit.state = if all { State::Done } else { State::Open(done + 1) };
            return Vec::new();
        }
        let mut lost: Vec<(usize, usize)> =
            unit.members[done + 1..].iter().map(|other| (*other, member)).collect();
        unit.state = State::Lost(member);
        // Units come after those that they need.
        for at in 0..self.units.len() {
            let unit = &self.units[at];
            let blamed = unit.needs.iter().find_map(|need| match self.units[*need].state {
                State::Lost(blamed) => Some(blamed),
                _ => None,
            });
            if let (State::Open(_), Some(blamed)) = (&unit.state, blamed) {
                lost.extend(unit.members.iter().map(|other| (*other, blamed)));
                self.units[at].state = State::Lost(blamed);
            }
        }
        lost.sort_unstable();
        lost
    }

    /// The other members of its unit.
    pub fn companions(&self, member: usize) -> impl Iterator<Item = usize> + '_ {
        let unit = &self.units[self.unit_of[member]];
        unit.members.iter().copied().filter(move |other| *other != member)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::prompt::context::tests::function;
    use proptest::prelude::*;

    /// A schedule of functions with these calls, in this order.
    fn schedule(calls: &[(&str, &[&str])]) -> Schedule {
        let functions: Vec<Function> = calls
            .iter()
            .map(|(name, calls)| {
                let mut made = function(name, "");
                made.calls = calls.iter().map(|callee| SymbolKey(format!("c:@F@{callee}"))).collect();
                made
            })
            .collect();
        Schedule::of(&functions.iter().collect::<Vec<_>>())
    }

    fn all(schedule: &mut Schedule) -> Vec<usize> {
        std::iter::from_fn(|| schedule.begin()).collect()
    }

    #[test]
    fn callers_wait_for_their_callees() {
        let mut it =
            schedule(&[("leaf", &[]), ("other", &[]), ("mid", &["leaf"]), ("top", &["mid", "other"])]);
        assert_eq!(all(&mut it), [0, 1]);
        assert!(it.end(0, true).is_empty());
        assert_eq!(all(&mut it), [2]);
        assert!(it.end(2, true).is_empty());
        assert_eq!(all(&mut it), [0; 0]);
        assert!(it.end(1, true).is_empty());
        assert_eq!(all(&mut it), [3]);
    }

    #[test]
    fn what_needs_a_lost_function_is_skipped_and_says_whom_to_blame() {
        let mut it = schedule(&[
            ("leaf", &[]),
            ("mid", &["leaf"]),
            ("top", &["mid"]),
            ("free", &[]),
            ("last", &["top", "free"]),
        ]);
        assert_eq!(all(&mut it), [0, 3]);
        assert_eq!(it.end(0, false), [(1, 0), (2, 0), (4, 0)]);
        assert!(it.end(3, true).is_empty());
        assert_eq!(all(&mut it), [0; 0]);
    }

    #[test]
    fn functions_that_call_each_other_follow_one_another() {
        let calls: &[(&str, &[&str])] = &[("even", &["odd"]), ("odd", &["even"]), ("user", &["even"])];
        let mut it = schedule(calls);
        assert_eq!(all(&mut it), [0]);
        assert_eq!(it.companions(0).collect::<Vec<_>>(), [1]);
        it.end(0, true);
        assert_eq!(all(&mut it), [1]);
        it.end(1, true);
        assert_eq!(all(&mut it), [2]);
        let mut it = schedule(calls);
        assert_eq!(all(&mut it), [0]);
        assert_eq!(it.end(0, false), [(1, 0), (2, 0)]);
    }

    #[test]
    fn what_is_not_wanted_holds_nobody_up() {
        let mut it = schedule(&[("caller", &["unwanted"]), ("itself", &["itself"])]);
        assert_eq!(all(&mut it), [0, 1]);
    }

    proptest! {
        /// For any calls and any failures, each function begins or is skipped exactly once, after its callees.
        #[test]
        fn every_function_has_its_turn_once(
            edges in prop::collection::vec(prop::collection::vec(0usize..8, 0..4), 8),
            fails in prop::collection::vec(any::<bool>(), 8),
            picks in prop::collection::vec(any::<prop::sample::Index>(), 64),
        ) {
            let names: Vec<String> = (0..8).map(|n| format!("f{n}")).collect();
            let calls: Vec<Vec<&str>> = edges.iter().map(|to| to.iter().map(|n| names[*n].as_str()).collect()).collect();
            let list: Vec<(&str, &[&str])> = names.iter().map(String::as_str).zip(calls.iter().map(Vec::as_slice)).collect();
            let mut it = schedule(&list);
            let (mut running, mut seen, mut done) = (Vec::new(), vec![0; 8], vec![false; 8]);
            for pick in picks {
                for begun in all(&mut it) {
                    seen[begun] += 1;
                    for callee in edges[begun].iter().filter(|callee| **callee != begun) {
                        let is_companion = it.companions(begun).any(|other| other == *callee);
                        prop_assert!(done[*callee] || is_companion);
                    }
                    running.push(begun);
                }
                if running.is_empty() {
                    break;
                }
                let ended = running.remove(pick.index(running.len()));
                done[ended] = !fails[ended];
                for (skipped, blamed) in it.end(ended, !fails[ended]) {
                    seen[skipped] += 1;
                    prop_assert!(fails[blamed]);
                }
            }
            prop_assert!(running.is_empty());
            prop_assert_eq!(seen, vec![1; 8]);
        }
    }
}
