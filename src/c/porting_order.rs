//! Porting order: callees before callers, with cycles kept together (Tarjan's strongly connected components).
//! The crate `petgraph` has this search only as a recursion, which long call chains would overflow.

use crate::symbol::{Function, Library, SymbolKey};
use std::collections::BTreeMap;

/// Orders `library.functions` with callees first and fills `library.cycles`. The result depends on names
/// only, not on the order in which files were read.
pub fn order(library: &mut Library) {
    let mut functions = std::mem::take(&mut library.functions);
    functions.sort_by(|a, b| (&a.name, &a.key).cmp(&(&b.name, &b.key)));
    let position: BTreeMap<&SymbolKey, usize> =
        functions.iter().enumerate().map(|(i, f)| (&f.key, i)).collect();
    // Positions are in name order, so sorting positions sorts neighbours by name.
    let edges: Vec<Vec<usize>> = functions.iter().map(|f| neighbours(f, &position)).collect();
    let components = components(&edges);
    library.cycles = components
        .iter()
        .filter(|c| c.len() > 1)
        .map(|c| c.iter().map(|i| functions[*i].key.clone()).collect())
        .collect();
    let mut slots: Vec<Option<Function>> = functions.into_iter().map(Some).collect();
    library.functions = components.into_iter().flatten().filter_map(|i| slots[i].take()).collect();
}

fn neighbours(function: &Function, position: &BTreeMap<&SymbolKey, usize>) -> Vec<usize> {
    let mut found: Vec<usize> = function
        .calls
        .iter()
        .chain(&function.address_taken)
        .filter_map(|k| position.get(k).copied())
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Strongly connected components, each sorted, and each after the components that it points to.
pub fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut search = Search {
        edges,
        next: 0,
        index: vec![None; edges.len()],
        low: vec![0; edges.len()],
        on_stack: vec![false; edges.len()],
        stack: Vec::new(),
        found: Vec::new(),
    };
    for node in 0..edges.len() {
        if search.index[node].is_none() {
            search.from(node);
        }
    }
    search.found
}

struct Search<'a> {
    edges: &'a [Vec<usize>],
    next: usize,
    index: Vec<Option<usize>>,
    low: Vec<usize>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    found: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn enter(&mut self, node: usize) {
        self.index[node] = Some(self.next);
        self.low[node] = self.next;
        self.next += 1;
        self.stack.push(node);
        self.on_stack[node] = true;
    }

    /// An iterative depth-first search, because call chains may be long.
    fn from(&mut self, root: usize) {
        self.enter(root);
        let mut path = vec![(root, 0)];
        while let Some((node, edge)) = path.last_mut() {
            let node = *node;
            if let Some(&target) = self.edges[node].get(*edge) {
                *edge += 1;
                match self.index[target] {
                    None => {
                        self.enter(target);
                        path.push((target, 0));
                    }
                    Some(index) if self.on_stack[target] => self.low[node] = self.low[node].min(index),
                    Some(_) => {}
                }
            } else {
                path.pop();
                if let Some((parent, _)) = path.last() {
                    self.low[*parent] = self.low[*parent].min(self.low[node]);
                }
                if self.index[node] == Some(self.low[node]) {
                    self.close(node);
                }
            }
        }
    }

    fn close(&mut self, node: usize) {
        let mut component = Vec::new();
        while let Some(member) = self.stack.pop() {
            self.on_stack[member] = false;
            component.push(member);
            if member == node {
                break;
            }
        }
        component.sort_unstable();
        self.found.push(component);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reaches(edges: &[Vec<usize>], from: usize, to: usize) -> bool {
        let mut seen = vec![false; edges.len()];
        let mut todo = edges[from].clone();
        while let Some(node) = todo.pop() {
            if node == to {
                return true;
            }
            if !std::mem::replace(&mut seen[node], true) {
                todo.extend(&edges[node]);
            }
        }
        false
    }

    #[test]
    fn a_long_chain_does_not_overflow_the_stack() {
        let n = 200_000;
        let edges: Vec<Vec<usize>> = (0..n).map(|i| if i + 1 < n { vec![i + 1] } else { vec![] }).collect();
        let found = components(&edges);
        assert_eq!(found.first(), Some(&vec![n - 1]));
        assert_eq!(found.len(), n);
    }

    proptest! {
        #[test]
        fn order_respects_edges_outside_cycles(
            edges in (1usize..12).prop_flat_map(|n| prop::collection::vec(prop::collection::vec(0..n, 0..4), n)),
        ) {
            let found = components(&edges);
            let mut place = vec![usize::MAX; edges.len()];
            for (i, component) in found.iter().enumerate() {
                for node in component {
                    prop_assert_eq!(place[*node], usize::MAX);
                    place[*node] = i;
                }
            }
            for (from, targets) in edges.iter().enumerate() {
                for to in targets {
                    prop_assert!(place[*to] <= place[from]);
                }
                for to in 0..edges.len() {
                    let together = from == to || reaches(&edges, from, to) && reaches(&edges, to, from);
                    prop_assert_eq!(together, place[from] == place[to]);
                }
            }
        }
    }
}
