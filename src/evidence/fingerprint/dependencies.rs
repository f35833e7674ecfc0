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
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

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
    /// The variables in it that count as constants, because nothing writes to them. Whatever mentions them could.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub constants: BTreeSet<String>,
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
    /// The chunks of functions that its harness also calls.
    pub also: &'r [String],
    pub unit: &'r str,
}

/// What stands for a flag line that no chunk has.
const FLAGS: &str = "(flags)";
const ABSENT: &str = "absent";
/// What stands for a file that is there.
const FILE: &str = "(file)";
/// What stands for the text of a file, comments included.
const TEXT: &str = "(text)";
/// Behind the name of a variable: what stands for all text that mentions it.
pub const MENTIONS: &str = "(mentions)";

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
    /// For chunks with variables that count as constants: a hash of the chunks that mention them.
    mentions: HashMap<Spot, String>,
}

impl<'t> DependencyGraph<'t> {
    /// Follows all links from `roots`.
    pub fn of(tree: &'t CTree, links: LinksOf, roots: &[Root]) -> Self {
        let mut known: HashMap<Node, usize> = HashMap::new();
        let (places, edges) = (Vec::new(), Vec::new());
        let mut graph = Self { tree, places, edges, roots: Vec::new(), mentions: HashMap::new() };
        let mut number = |graph: &mut Self, place: Node| {
            *known.entry(place).or_insert_with_key(|place| {
                graph.places.push(place.clone());
                graph.places.len() - 1
            })
        };
        for root in roots {
            let places = match tree.unit(root.unit) {
                Some(unit) if !root.chunks.is_empty() => {
                    root.chunks.iter().chain(root.also).flat_map(|id| graph.meant(id, unit)).collect()
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
        graph.find_mentions(links);
        graph
    }

    /// Finds what mentions the variables that count as constants, where their unit sees it.
    fn find_mentions(&mut self, links: LinksOf) {
        let tree = self.tree;
        let mut constants: BTreeMap<Spot, &BTreeSet<String>> = BTreeMap::new();
        for place in &self.places {
            if let Node::Chunk(spot, _) = place
                && let Some(links) = links(&self.id(*spot)).filter(|links| !links.constants.is_empty())
            {
                constants.insert(*spot, &links.constants);
            }
        }
        let names: HashSet<&str> = constants.values().copied().flatten().map(String::as_str).collect();
        if names.is_empty() {
            return;
        }
        let mut found: HashMap<&str, Vec<Spot>> = HashMap::new();
        for (at, file) in tree.files.iter().enumerate() {
            for (number, chunk) in file.chunks.iter().enumerate() {
                for word in chunk.words.iter().filter(|word| names.contains(word.as_str())) {
                    found.entry(word).or_default().push((at, number));
                }
            }
        }
        for (spot, names) in constants {
            let seeing = tree.units.iter().filter(|unit| unit.sees.contains(&spot.0));
            let visible: BTreeSet<usize> = seeing.flat_map(|unit| &unit.sees).copied().collect();
            let all = names.iter().filter_map(|name| found.get(name.as_str())).flatten();
            let all = all.filter(|at| visible.contains(&at.0));
            let all: BTreeMap<String, &str> =
                all.map(|at| (self.id(*at), tree.chunk(*at).hash.as_str())).collect();
            let digest = of_parts(all.iter().flat_map(|(id, hash)| [id.as_str(), hash]));
            self.mentions.insert(spot, digest);
        }
    }

    /// The chunk with this name as seen from a unit; from its own unit, or from all that include it, if this one does not.
    fn meant(&self, id: &str, unit: usize) -> Vec<Node> {
        let Some(spot) = self.tree.spot(id) else { return vec![Node::Absent(id.to_owned())] };
        let units = &self.tree.units;
        if units[unit].sees.contains(&spot.0) {
            return vec![Node::Chunk(spot, unit)];
        }
        if let Some(own) = units.iter().position(|unit| unit.file == spot.0) {
            return vec![Node::Chunk(spot, own)];
        }
        let seeing = (0..units.len()).filter(|at| units[*at].sees.contains(&spot.0));
        let seen: Vec<Node> = seeing.map(|at| Node::Chunk(spot, at)).collect();
        if seen.is_empty() { vec![Node::Chunk(spot, unit)] } else { seen }
    }

    fn next(&self, place: &Node, links: LinksOf) -> BTreeSet<Node> {
        let mut next = BTreeSet::new();
        let (spot, unit) = match *place {
            Node::Chunk(spot, unit) => (spot, unit),
            // Which file is included, and which pragma counts, may depend on macros.
            Node::Unit(unit) => {
                let sees = &self.tree.units[unit].sees;
                let directives = sees.iter().filter_map(|file| self.tree.directives(*file));
                let macros = directives.flat_map(|chunk| self.macros_of(&chunk.asked, unit));
                return macros.map(|at| Node::Chunk(at, unit)).collect();
            }
            Node::Text(_) | Node::File(_) | Node::Absent(_) => return next,
        };
        let mut add = |place: Node| next.extend([place]);
        add(Node::Unit(unit));
        let chunk = self.tree.chunk(spot);
        let macros: Vec<Spot> = self.macros_of(&chunk.words, unit).filter(|at| *at != spot).collect();
        macros.iter().for_each(|at| add(Node::Chunk(*at, unit)));
        if chunk.needs_text {
            add(Node::Text(unit));
        }
        self.unnamed(chunk, &macros)
            .filter(|at| *at != spot)
            .for_each(|at| self.meant(&self.id(at), unit).into_iter().for_each(&mut add));
        if chunk.name != DIRECTIVES {
            for file in self.tree.included(unit, spot) {
                add(Node::File(file));
                (0..self.tree.files[file].chunks.len()).for_each(|at| add(Node::Chunk((file, at), unit)));
            }
        }
        if let Some(links) = links(&self.id(spot)) {
            let all = links.calls.iter().chain(&links.uses);
            all.flat_map(|id| self.meant(id, unit)).for_each(&mut add);
            let named = links.outside.iter().flat_map(|name| self.tree.named(name));
            named.flat_map(|at| self.meant(&self.id(at), unit)).for_each(&mut add);
        }
        next
    }

    /// The macros that a unit sees and that one of these words may be.
    fn macros_of<'a>(&'a self, words: &'a BTreeSet<String>, unit: usize) -> impl Iterator<Item = Spot> + 'a {
        let sees = &self.tree.units[unit].sees;
        let meant = words.iter().filter_map(|word| self.tree.macros.get(word)).flatten();
        meant.copied().filter(|at| sees.contains(&at.0))
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
            Node::Chunk(spot, _) => {
                let own = (self.id(*spot), self.tree.chunk(*spot).hash.clone());
                let mentions =
                    self.mentions.get(spot).map(|hash| (format!("{}{MENTIONS}", own.0), hash.clone()));
                [own].into_iter().chain(mentions).collect()
            }
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
                    let path = &self.tree.files[*file].path;
                    Some((format!("{path}:{DIRECTIVES}"), self.tree.directives(*file)?.hash.clone()))
                });
                directives.chain([flags]).collect()
            }
        }
    }
}
