//! The C files of a library as they stand in the tree, in chunks, and which files each unit sees. Read without a
//! preprocessor: an `#include` counts in whichever branch it stands.

use super::header_folders::{FOLDERS, LibraryFlags};
use crate::c::text::{Chunk, DIRECTIVES, chunks};
use crate::digest::{of_parts, sha256};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::path::Path;

/// A source file that is compiled, and with which flags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitFlags {
    pub file: String,
    pub flags: Vec<String>,
}

/// A C file.
#[derive(Debug)]
pub(super) struct CFile {
    /// Relative to the root.
    pub path: String,
    pub chunks: Vec<Chunk>,
    /// The hash of its bytes.
    pub text: String,
    names: HashMap<String, usize>,
}

/// A unit: its file, the hash of its flags, and the files that it includes, itself among them.
#[derive(Debug)]
pub(super) struct Unit {
    pub file: usize,
    pub flags: String,
    pub sees: BTreeSet<usize>,
}

/// A chunk: the numbers of its file and, in that, of itself.
pub(super) type Spot = (usize, usize);

/// All C files that the units of a library see.
#[derive(Debug)]
pub struct CTree {
    pub(super) files: Vec<CFile>,
    paths: HashMap<String, Option<usize>>,
    pub(super) units: Vec<Unit>,
    /// What drivers are compiled with.
    pub library_flags: LibraryFlags,
    /// Where each macro is defined.
    pub(super) macros: HashMap<String, Vec<Spot>>,
}

/// Flags that bring in a header.
const HEADERS: &[&str] = &["-include", "-imacros"];

impl CTree {
    /// Reads the units and what they include below `root`. A file that is not there has no chunks: what was in it is
    /// missed where it is looked for.
    pub fn read(root: &Path, units: &[UnitFlags]) -> Self {
        let library_flags = LibraryFlags::of(units.iter().map(|unit| (unit.file.as_str(), &unit.flags[..])));
        let (files, paths, macros) = (Vec::new(), HashMap::new(), HashMap::new());
        let mut tree = Self { files, paths, units: Vec::new(), library_flags, macros };
        tree.read_ahead(root, units);
        for unit in units {
            let path = plain(&unit.file);
            let Some(file) = tree.file(root, &path) else { continue };
            let sees = tree.seen_from(root, file, &unit.flags);
            tree.units.push(Unit { file, flags: of_parts(&unit.flags), sees });
        }
        for (at, file) in tree.files.iter().enumerate() {
            for (chunk, name) in
                file.chunks.iter().enumerate().flat_map(|(n, c)| c.macros.iter().map(move |m| (n, m)))
            {
                tree.macros.entry(name.clone()).or_default().push((at, chunk));
            }
        }
        tree
    }

    /// The names `file:name` of the chunks that stand in a part of a file.
    pub fn at(&self, path: &str, range: &Range<usize>) -> Vec<String> {
        let Some(Some(file)) = self.paths.get(path) else { return Vec::new() };
        let found = self.files[*file].chunks.iter().filter(|chunk| chunk.overlaps(range));
        found.map(|chunk| format!("{path}:{}", chunk.name)).collect()
    }

    /// All chunks with their names.
    pub fn all(&self) -> impl Iterator<Item = (String, &Chunk)> {
        self.files
            .iter()
            .flat_map(|file| file.chunks.iter().map(|c| (format!("{}:{}", file.path, c.name), c)))
    }

    /// The chunk `file:name`.
    pub(super) fn spot(&self, id: &str) -> Option<Spot> {
        let (path, name) = id.rsplit_once(':')?;
        let file = (*self.paths.get(path)?)?;
        Some((file, *self.files[file].names.get(name)?))
    }

    /// The chunks with this name, in any file.
    pub(super) fn named(&self, name: &str) -> impl Iterator<Item = Spot> {
        self.files.iter().enumerate().filter_map(move |(file, own)| Some((file, *own.names.get(name)?)))
    }

    /// Whether a program may define this function anew, because an attribute of its definition or of a declaration calls it weak.
    pub fn is_weak(&self, name: &str) -> bool {
        let macros = |chunk: &Chunk| -> Vec<Spot> {
            chunk.words.iter().filter_map(|word| self.macros.get(word)).flatten().copied().collect()
        };
        let says_so = |spot: Spot| {
            let own = self.chunk(spot);
            let mut all = macros(own).into_iter().map(|at| self.chunk(at)).chain([own]);
            let has = |chunk: &Chunk, words: &[&str]| words.iter().any(|word| chunk.words.contains(*word));
            // A body may have a variable with this name.
            let is_attribute = |chunk: &Chunk| has(chunk, &["__attribute__", "__attribute", "gnu"]);
            all.any(|chunk| is_attribute(chunk) && has(chunk, &["weak", "__weak__"]))
        };
        self.named(name).any(says_so)
    }

    pub(super) fn chunk(&self, (file, chunk): Spot) -> &Chunk {
        &self.files[file].chunks[chunk]
    }

    /// The `#include` lines and the like of a file.
    pub(super) fn directives(&self, file: usize) -> Option<&Chunk> {
        self.files[file].chunks.iter().find(|chunk| chunk.name == DIRECTIVES)
    }

    /// The unit whose file this is.
    pub(super) fn unit(&self, path: &str) -> Option<usize> {
        let file = (*self.paths.get(path)?)?;
        self.units.iter().position(|unit| unit.file == file)
    }

    /// The files that a chunk includes, as a unit finds them.
    pub(super) fn included(&self, unit: usize, (file, chunk): Spot) -> impl Iterator<Item = usize> {
        // What an include line could mean by its name, among what the unit sees.
        let includes = &self.files[file].chunks[chunk].includes;
        let names = includes.iter().map(|name| name.trim_matches(['"', '<', '>']));
        let sees = &self.units[unit].sees;
        names.flat_map(move |name| {
            sees.iter().copied().filter(move |at| {
                let path = self.files[*at].path.as_str();
                path == name || path.ends_with(&format!("/{}", name.trim_start_matches("../")))
            })
        })
    }

    /// Reads the units side by side; their headers follow one by one.
    fn read_ahead(&mut self, root: &Path, units: &[UnitFlags]) {
        let paths: Vec<String> = units.iter().map(|unit| plain(&unit.file)).collect();
        let read: Vec<Option<CFile>> = paths.par_iter().map(|path| read(root, path)).collect();
        for (path, file) in paths.into_iter().zip(read) {
            self.add(path, file);
        }
    }

    fn add(&mut self, path: String, file: Option<CFile>) -> Option<usize> {
        let at = file.map(|file| {
            self.files.push(file);
            self.files.len() - 1
        });
        self.paths.insert(path, at);
        at
    }

    /// The file with this path, read where it was not yet.
    fn file(&mut self, root: &Path, path: &str) -> Option<usize> {
        match self.paths.get(path) {
            Some(known) => *known,
            None => self.add(path.to_owned(), read(root, path)),
        }
    }

    fn seen_from(&mut self, root: &Path, unit: usize, flags: &[String]) -> BTreeSet<usize> {
        let of = |known: &[&str]| -> Vec<String> {
            let values = flags.iter().filter_map(|flag| known.iter().find_map(|k| flag.strip_prefix(k)));
            values.filter(|value| !value.is_empty()).map(str::to_owned).collect()
        };
        // Compilers look in folders of one kind before those of the next, and for `<…>` not beside the file.
        let [quoted, angled] = [&FOLDERS[..], &FOLDERS[1..]]
            .map(|kinds| kinds.iter().flat_map(|kind| of(&[kind])).collect::<Vec<_>>());
        let mut seen = BTreeSet::from([unit]);
        let mut open = vec![unit];
        for header in of(HEADERS) {
            open.extend(self.find(root, Some(""), &header, &quoted).filter(|file| seen.insert(*file)));
        }
        while let Some(file) = open.pop() {
            let folder = self.files[file].path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
            let includes: BTreeSet<String> =
                self.files[file].chunks.iter().flat_map(|chunk| chunk.includes.iter().cloned()).collect();
            for include in includes {
                let name = include.trim_matches(['"', '<', '>']);
                let (beside, folders) =
                    if include.starts_with('<') { (None, &angled) } else { (Some(folder.as_str()), &quoted) };
                open.extend(self.find(root, beside, name, folders).filter(|file| seen.insert(*file)));
            }
        }
        seen
    }

    /// The file that an include line means: in the folder `beside` the line, if it looks there, else in the first folder
    /// that has it. What lies outside of the repository is not looked at.
    fn find(&mut self, root: &Path, beside: Option<&str>, name: &str, folders: &[String]) -> Option<usize> {
        let candidates = beside.into_iter().chain(folders.iter().map(String::as_str));
        let paths: Vec<String> = candidates.map(|folder| plain(&format!("{folder}/{name}"))).collect();
        let ours = |path: &&String| !path.starts_with(".implfuzz/") && !path.starts_with("..");
        paths.iter().filter(ours).find_map(|path| self.file(root, path))
    }
}

fn read(root: &Path, path: &str) -> Option<CFile> {
    let text = std::fs::read(root.join(path)).ok()?;
    let chunks = chunks(&text);
    let names = chunks.iter().enumerate().map(|(at, chunk)| (chunk.name.clone(), at)).collect();
    Some(CFile { path: path.to_owned(), chunks, text: sha256(&text), names })
}

/// A relative path without `.` and `x/..`, by its spelling. What leads out of the root begins with `..`.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match (part, parts.last()) {
            ("..", Some(last)) if *last != ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}
