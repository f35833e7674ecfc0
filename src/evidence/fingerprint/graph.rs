//! The hash of all C text that decides what a function does: its chunks, what the analysis saw them lead to, every macro
//! that one of their words may be, the flags of the unit and the include lines of what it sees.
//!
//! A place is a chunk as one unit sees it, since another unit may have other macros: a call into a file that the unit
//! does not see goes on in that file's own unit.

use super::c_tree::{CTree, Spot};
use crate::c::porting_order::components;
use crate::c::text::{Chunk, DIRECTIVES};
use crate::digest::{of_parts, sha256};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Chunks that a chunk leads to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Links {
    /// Functions called by name: the audit refuses ways that lead back over these.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub calls: BTreeSet<String>,
    /// Types, globals, functions whose address is taken.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub uses: BTreeSet<String>,
    /// Names of functions and variables that it uses from outside of the library. A definition of one in the library would
    /// take its place.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub outside: BTreeSet<String>,
}

/// What the analysis knows of a chunk `file:name`.
pub type LinksOf<'l> = &'l dyn Fn(&str) -> Option<&'l Links>;

/// How many digits of a chunk's hash stand in the lock.
const SHORT: usize = 16;

/// A chunk's hash as the lock has it.
pub fn short(hash: &str) -> &str {
    hash.get(..SHORT).unwrap_or(hash)
}

/// Which C function is asked for: the chunks of its definition, and the unit that it is read in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root<'r> {
    pub chunks: &'r [String],
    pub unit: &'r str,
}

/// What stands for a flag line that no chunk has.
const FLAGS: &str = "(flags)";
const ABSENT: &str = "absent";
/// What stands for a file that is there.
const FILE: &str = "(file)";
/// What stands for the text of a file, comments included.
const TEXT: &str = "(text)";

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Node {
    Chunk(Spot, usize),
    /// The flags of a unit, and the directives of all that it sees.
    Unit(usize),
    /// All text that a unit sees, with its comments and lines.
    Text(usize),
    /// That a file is there.
    File(usize),
    /// What is not there.
    Absent(String),
}

/// Everything that some functions lead to.
pub struct DependencyGraph<'t> {
    tree: &'t CTree,
    places: Vec<Node>,
    edges: Vec<Vec<usize>>,
    roots: Vec<Vec<usize>>,
}

impl<'t> DependencyGraph<'t> {
    /// Follows all links from `roots`.
    pub fn of(tree: &'t CTree, links: LinksOf, roots: &[Root]) -> Self {
        let mut known: HashMap<Node, usize> = HashMap::new();
        let mut graph = Self { tree, places: Vec::new(), edges: Vec::new(), roots: Vec::new() };
        let mut number = |graph: &mut Self, place: Node| {
            *known.entry(place).or_insert_with_key(|place| {
                graph.places.push(place.clone());
                graph.places.len() - 1
            })
        };
        for root in roots {
            let places = match tree.unit(root.unit) {
                Some(unit) if !root.chunks.is_empty() => {
                    root.chunks.iter().map(|id| graph.meant(id, unit)).collect()
                }
                _ => vec![Node::Absent(root.unit.to_owned())],
            };
            let numbers = places.into_iter().map(|place| number(&mut graph, place)).collect();
            graph.roots.push(numbers);
        }
        while graph.edges.len() < graph.places.len() {
            let place = graph.places[graph.edges.len()].clone();
            let next = graph.next(&place, links);
            let next = next.into_iter().map(|place| number(&mut graph, place)).collect();
            graph.edges.push(next);
        }
        graph
    }

    /// The chunk with this name as seen from a unit.
    fn meant(&self, id: &str, unit: usize) -> Node {
        let Some(spot) = self.tree.spot(id) else { return Node::Absent(id.to_owned()) };
        if self.tree.units[unit].sees.contains(&spot.0) {
            return Node::Chunk(spot, unit);
        }
        let own = self.tree.units.iter().position(|unit| unit.file == spot.0);
        Node::Chunk(spot, own.unwrap_or(unit))
    }

    fn next(&self, place: &Node, links: LinksOf) -> BTreeSet<Node> {
        let mut next = BTreeSet::new();
        let Node::Chunk(spot, unit) = *place else { return next };
        let mut add = |place: Node| next.extend([place]);
        add(Node::Unit(unit));
        let chunk = self.tree.chunk(spot);
        let sees = &self.tree.units[unit].sees;
        let meant = chunk.words.iter().filter_map(|word| self.tree.macros.get(word)).flatten();
        let macros: Vec<Spot> = meant.copied().filter(|at| *at != spot && sees.contains(&at.0)).collect();
        macros.iter().for_each(|at| add(Node::Chunk(*at, unit)));
        if chunk.needs_text {
            add(Node::Text(unit));
        }
        self.unnamed(chunk, &macros)
            .filter(|at| *at != spot)
            .for_each(|at| add(self.meant(&self.id(at), unit)));
        if chunk.name != DIRECTIVES {
            for file in self.tree.included(unit, spot) {
                add(Node::File(file));
                (0..self.tree.files[file].chunks.len()).for_each(|at| add(Node::Chunk((file, at), unit)));
            }
        }
        if let Some(links) = links(&self.id(spot)) {
            links.calls.iter().chain(&links.uses).for_each(|id| add(self.meant(id, unit)));
            let named = links.outside.iter().flat_map(|name| self.tree.named(name));
            named.for_each(|at| add(self.meant(&self.id(at), unit)));
        }
        next
    }

    /// Chunks that a chunk leads to without a call or a use: functions that clean up behind its variables, and, if it is weak,
    /// definitions elsewhere that take its place. `macros` are those that its words name.
    fn unnamed<'a>(&'a self, chunk: &'a Chunk, macros: &[Spot]) -> impl Iterator<Item = Spot> + 'a {
        let has = |words: [&str; 2]| {
            let mut all = macros.iter().map(|at| self.tree.chunk(*at)).chain([chunk]);
            all.any(|chunk| words.iter().any(|word| chunk.words.contains(*word)))
        };
        let cleaning = has(["cleanup", "__cleanup__"]).then_some(&chunk.words).into_iter().flatten();
        let weak = has(["weak", "__weak__"]).then_some(&chunk.name);
        cleaning.chain(weak).flat_map(|name| self.tree.named(name))
    }

    fn id(&self, spot: Spot) -> String {
        format!("{}:{}", self.tree.files[spot.0].path, self.tree.chunk(spot).name)
    }

    /// The hash of each root with all that it leads to: those of a cycle have one in common.
    pub fn digests(&self) -> Vec<String> {
        let mut known: Vec<String> = vec![String::new(); self.places.len()];
        for component in components(&self.edges) {
            let inside: BTreeSet<usize> = component.iter().copied().collect();
            let own: BTreeMap<String, String> = component.iter().flat_map(|at| self.hashes(*at)).collect();
            let targets = component.iter().flat_map(|at| &self.edges[*at]).filter(|at| !inside.contains(at));
            let below: BTreeSet<&String> = targets.map(|at| &known[*at]).collect();
            let own = own.iter().flat_map(|(id, hash)| [id, hash]);
            let digest = of_parts(own.chain(below));
            component.iter().for_each(|at| known[*at].clone_from(&digest));
        }
        let of_root = |root: &Vec<usize>| of_parts(root.iter().map(|at| &known[*at]));
        self.roots.iter().map(of_root).collect()
    }

    /// Names and hashes of everything that one root leads to.
    pub fn closure(&self, root: usize) -> BTreeMap<String, String> {
        let mut seen = BTreeSet::new();
        let mut open = self.roots[root].clone();
        let mut found = BTreeMap::new();
        while let Some(at) = open.pop() {
            if seen.insert(at) {
                found.extend(self.hashes(at));
                open.extend(&self.edges[at]);
            }
        }
        found
    }

    /// What stands at a place, by name.
    fn hashes(&self, at: usize) -> Vec<(String, String)> {
        match &self.places[at] {
            Node::Chunk(spot, _) => vec![(self.id(*spot), self.tree.chunk(*spot).hash.clone())],
            Node::Absent(id) => vec![(id.clone(), sha256(ABSENT))],
            Node::File(file) => vec![(format!("{}:{FILE}", self.tree.files[*file].path), sha256(FILE))],
            Node::Text(unit) => {
                let sees = self.tree.units[*unit].sees.iter().map(|file| &self.tree.files[*file]);
                sees.map(|file| (format!("{}:{TEXT}", file.path), file.text.clone())).collect()
            }
            Node::Unit(unit) => {
                let unit = &self.tree.units[*unit];
                let flags = (format!("{}:{FLAGS}", self.tree.files[unit.file].path), unit.flags.clone());
                let directives = unit.sees.iter().filter_map(|file| {
                    let file = &self.tree.files[*file];
                    let chunk = file.chunks.iter().find(|chunk| chunk.name == DIRECTIVES)?;
                    Some((format!("{}:{DIRECTIVES}", file.path), chunk.hash.clone()))
                });
                directives.chain([flags]).collect()
            }
        }
    }
}
