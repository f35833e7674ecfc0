//! The object files of a crate as a graph: sections, and relocations as edges. rustc gives every function and every
//! constant a section of its own.

use object::elf::{SHF_ALLOC, SHF_WRITE};
use object::read::archive::ArchiveFile;
use object::{
    Object, ObjectSection, ObjectSymbol, RelocationTarget, SectionFlags, SectionIndex, SymbolKind,
    SymbolSection,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A section of one of the objects.
pub(super) type SectionId = usize;

/// All objects of a crate.
#[derive(Debug, Default)]
pub(super) struct Objects {
    sections: Vec<Section>,
    /// By path, as in Rust.
    functions: BTreeMap<String, SectionId>,
    started: Vec<SectionId>,
    exported: BTreeSet<String>,
    unnamed: BTreeSet<String>,
    /// Loaded sections that no compiler of Rust makes.
    strange: BTreeSet<String>,
}

#[derive(Debug, Default)]
struct Section {
    /// Paths of the functions in it.
    functions: BTreeSet<String>,
    /// Paths of the statics in it.
    variables: BTreeSet<String>,
    next: BTreeSet<SectionId>,
    /// Symbols that no object of the crate defines.
    undefined: BTreeSet<String>,
}

/// A place that a relocation leads to.
enum Target {
    Here(SectionId),
    /// To be found by name once all objects are read.
    Named(String),
}

impl Objects {
    /// Reads the `.rlib`; `Err` has the reason.
    pub(super) fn read(rlib: &[u8]) -> Result<Self, String> {
        let archive = ArchiveFile::parse(rlib).map_err(|e| e.to_string())?;
        let mut all = Self::default();
        let mut defined: HashMap<String, SectionId> = HashMap::new();
        let mut places: Vec<(SectionId, Target)> = Vec::new();
        for member in archive.members() {
            let member = member.map_err(|e| e.to_string())?;
            if !member.name().ends_with(b".o") {
                continue;
            }
            let data = member.data(rlib).map_err(|e| e.to_string())?;
            let file = object::File::parse(data).map_err(|e| e.to_string())?;
            all.take(&file, &mut defined, &mut places)?;
        }
        if all.sections.is_empty() {
            return Err("there is no object in it".into());
        }
        for (from, place) in places {
            match place {
                Target::Here(to) => drop(all.sections[from].next.insert(to)),
                Target::Named(name) => match defined.get(&name) {
                    Some(to) => drop(all.sections[from].next.insert(*to)),
                    None => drop(all.sections[from].undefined.insert(name)),
                },
            }
        }
        Ok(all)
    }

    fn take(
        &mut self,
        file: &object::File,
        defined: &mut HashMap<String, SectionId>,
        places: &mut Vec<(SectionId, Target)>,
    ) -> Result<(), String> {
        let mut ids = HashMap::new();
        for section in file.sections().filter(is_loaded) {
            ids.insert(section.index(), self.sections.len());
            let name = section.name().unwrap_or_default();
            if !SECTIONS.iter().any(|known| is_named(name, known)) {
                self.strange.insert(name.to_owned());
            }
            if [".init_array", ".preinit_array"].iter().any(|start| name.starts_with(start)) {
                self.started.push(self.sections.len());
            }
            self.sections.push(Section::default());
        }
        for symbol in file.symbols() {
            let (Ok(name), SymbolSection::Section(index)) = (symbol.name(), symbol.section()) else {
                continue;
            };
            let Some(id) = ids.get(&index).copied() else { continue };
            if symbol.kind() == SymbolKind::Text {
                let path = path(name);
                self.sections[id].functions.insert(path.clone());
                self.functions.insert(path, id);
            } else if symbol.kind() == SymbolKind::Data {
                self.sections[id].variables.insert(path(name));
            }
            if symbol.is_global() {
                defined.insert(name.to_owned(), id);
                let is_rusts =
                    name.starts_with("_ZN") || name.starts_with("_R") || name.starts_with("DW.ref.");
                let is_made = name.starts_with("anon.") || name.starts_with("__sancov_");
                if !is_rusts && !is_made {
                    self.exported.insert(name.to_owned());
                }
            }
        }
        for section in file.sections().filter(has_variables) {
            let name = section.name().unwrap_or_default();
            let own = file.symbols().filter(|symbol| symbol.section_index() == Some(section.index()));
            let end = own.map(|symbol| symbol.address() + symbol.size()).max().unwrap_or(0);
            if section.size() > end {
                self.unnamed.insert(name.to_owned());
            }
        }
        for section in file.sections() {
            let Some(from) = ids.get(&section.index()).copied() else { continue };
            for (_, relocation) in section.relocations() {
                let place = match relocation.target() {
                    RelocationTarget::Symbol(index) => {
                        let symbol = file.symbol_by_index(index).map_err(|e| e.to_string())?;
                        match symbol.section() {
                            SymbolSection::Section(index) => Some(here(&ids, index)?),
                            SymbolSection::Undefined | SymbolSection::Common => {
                                let name = symbol.name().map_err(|e| e.to_string())?;
                                Some(Target::Named(name.to_owned()))
                            }
                            _ => None,
                        }
                    }
                    RelocationTarget::Section(index) => Some(here(&ids, index)?),
                    _ => None,
                };
                places.extend(place.map(|place| (from, place)));
            }
        }
        Ok(())
    }

    /// The section of the function with this path.
    pub(super) fn function(&self, path: &str) -> Option<SectionId> {
        self.functions.get(path).copied()
    }

    /// Sections that lead to what the program runs at its start.
    pub(super) fn started(&self) -> impl Iterator<Item = SectionId> {
        self.started.iter().copied()
    }

    /// Symbols that the crate gives to everybody under a name that is not Rust's.
    pub(super) fn exported(&self) -> impl Iterator<Item = &str> {
        self.exported.iter().map(String::as_str)
    }

    /// Sections with memory that can change and has no symbol with a size. Nobody could watch such memory.
    pub(super) fn unnamed(&self) -> impl Iterator<Item = &str> {
        self.unnamed.iter().map(String::as_str)
    }

    /// Sections with a name that no compiler chose. A linker or a loader may treat them in its own way.
    pub(super) fn strange(&self) -> impl Iterator<Item = &str> {
        self.strange.iter().map(String::as_str)
    }

    /// The path of the one function in a section; none where there is none or another one beside.
    pub(super) fn only_function(&self, section: SectionId) -> Option<&str> {
        let mut all = self.sections[section].functions.iter();
        all.next().filter(|_| all.next().is_none()).map(String::as_str)
    }

    /// Paths of the statics in a section.
    pub(super) fn variables(&self, section: SectionId) -> impl Iterator<Item = &str> {
        self.sections[section].variables.iter().map(String::as_str)
    }

    pub(super) fn next(&self, section: SectionId) -> impl Iterator<Item = SectionId> {
        self.sections[section].next.iter().copied()
    }

    pub(super) fn undefined(&self, section: SectionId) -> impl Iterator<Item = &str> {
        self.sections[section].undefined.iter().map(String::as_str)
    }
}

/// The section that a relocation of the program leads to.
fn here(ids: &HashMap<SectionIndex, SectionId>, index: SectionIndex) -> Result<Target, String> {
    let id = ids.get(&index).copied();
    id.map(Target::Here).ok_or_else(|| "code leads to a section that is not loaded".to_owned())
}

/// Sections that rustc and LLVM make in the program, alone or with a name behind a dot.
const SECTIONS: [&str; 17] = [
    ".text", ".rodata", ".data", ".data.rel.ro", ".bss", ".tdata", ".tbss", ".init_array", ".fini_array",
    ".preinit_array", ".eh_frame", ".gcc_except_table", ".ldata", ".lbss", ".lrodata", ".group",
    ".note.gnu.property",
];
/// Counters of the fuzzer, and what says where in the code they are.
const COUNTERS: [&str; 4] = ["__sancov_cntrs", "__sancov_pcs", "__sancov_guards", "__sancov_bools"];
/// Sections that the loader makes constant before `main`.
const CONSTANT: [&str; 4] = [".data.rel.ro", ".init_array", ".fini_array", ".preinit_array"];

/// Whether a section is of a kind, or has a name of its own behind the kind's. Counters have no such names.
fn is_named(name: &str, kind: &str) -> bool {
    COUNTERS.contains(&name)
        || name.strip_prefix(kind).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether the program can change what is in a section of an object file or of a program.
pub fn can_change(section: &object::Section) -> bool {
    let SectionFlags::Elf { sh_flags, .. } = section.flags() else { return false };
    let name = section.name().unwrap_or_default();
    (sh_flags & SHF_WRITE) == SHF_WRITE && !CONSTANT.iter().any(|kind| is_named(name, kind))
}

/// Whether a section has variables. Those of the fuzzer are its own.
fn has_variables(section: &object::Section) -> bool {
    let name = section.name().unwrap_or_default();
    can_change(section) && section.size() > 0 && !COUNTERS.contains(&name)
}

/// Whether a section stands in the memory of the program, whatever its name and type say.
fn is_loaded(section: &object::Section) -> bool {
    let SectionFlags::Elf { sh_flags, .. } = section.flags() else { return true };
    (sh_flags & SHF_ALLOC) == SHF_ALLOC
}

/// A symbol's path as in Rust, without the hash.
pub fn path(symbol: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(symbol))
}
