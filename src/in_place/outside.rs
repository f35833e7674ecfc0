//! Functions that the library and its driver take from outside: those that only compute run as they are; calls of all
//! others end the judging of a call.

use super::leaving::{MAY_BE_OWN, REPLACED, leaves};
use super::tape::is_taped;
use crate::error::{Error, ErrorKind, Result};
use crate::libc_facts::effect;
use crate::symbol::{Library, STREAMS};
use fs_err as fs;
use object::{Architecture, Object as _, ObjectSection as _, ObjectSymbol as _};
use object::{Relocation, RelocationFlags, RelocationKind, RelocationTarget};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What ends all judging or the use of the tape, also where only a driver calls it.
const ENDING: [&str; 10] = [
    "pthread_create", "thrd_create", "fork", "vfork", "setvbuf", "setbuf", "setbuffer", "fmemopen",
    "open_memstream", "fopencookie",
];

/// What the objects of a library take from outside of it.
#[derive(Debug, Default, Clone)]
pub(super) struct Outside {
    /// Functions that do more than compute, or of which nothing is known.
    names: BTreeSet<String>,
    /// Those of them that are not there, unless a driver defines them: the library asks whether they are.
    missing: BTreeSet<String>,
    /// What the library defines.
    defined: BTreeSet<String>,
}

impl Outside {
    /// What the objects of a library need; `is_there` says whether a program finds a function elsewhere.
    ///
    /// # Errors
    /// `Internal` where an object cannot be read, and those of `is_there`.
    pub fn of_library(
        objects: &[PathBuf],
        library: &Library,
        is_there: impl Fn(&str) -> Result<bool>,
    ) -> Result<Self> {
        let (mut needed, mut defined) = (BTreeSet::new(), BTreeSet::new());
        let (mut must_be, mut missing) = (BTreeSet::new(), BTreeSet::new());
        for path in objects {
            read_object(path, |file| {
                for (name, is_undefined) in names(file) {
                    let set = if is_undefined { &mut needed } else { &mut defined };
                    set.insert(name.to_owned());
                }
                let strong = file.symbols().filter(|symbol| symbol.is_undefined() && !symbol.is_weak());
                must_be.extend(strong.filter_map(|symbol| symbol.name().ok()).map(str::to_owned));
            })?;
        }
        let variables: BTreeSet<&String> =
            library.functions.iter().flat_map(|function| &function.foreign_globals).collect();
        let is_variable = |name: &String| variables.contains(name) || VARIABLES.contains(&name.as_str());
        needed.retain(|name| !defined.contains(name) && !is_variable(name) && leaves(name));
        for name in needed.iter().filter(|name| !must_be.contains(*name)) {
            if !is_there(name)? {
                missing.insert(name.clone());
            }
        }
        needed.extend(ENDING.iter().filter(|name| !defined.contains(**name)).map(|name| (*name).to_owned()));
        Ok(Self { names: needed, missing, defined })
    }

    /// With what a driver's object needs: it may be called back while a call is judged.
    ///
    /// # Errors
    /// `Internal` where the object cannot be read.
    pub fn of_program(&self, driver: &Path) -> Result<OfProgram> {
        let (renamed, is_complete) = (self.names.clone(), true);
        // What nobody defines stays weak and undefined by its new name, too: its address is null.
        let replaced = &self.names - &self.missing;
        let mut program = OfProgram { renamed, replaced, is_complete };
        read_object(driver, |file| {
            let called = called(file);
            for symbol in file.symbols() {
                let Ok(name) = symbol.name() else { continue };
                if symbol.is_global() && !symbol.is_undefined() {
                    // The library's own calls lead to it, by the name that it gets here.
                    program.replaced.remove(name);
                } else if symbol.is_undefined()
                    && !name.is_empty()
                    && !self.defined.contains(name)
                    && leaves(name)
                {
                    let is_function = effect(name).is_some() || (called.contains(name) && !symbol.is_weak());
                    program.is_complete &=
                        (is_function || VARIABLES.contains(&name) || STREAMS.contains(&name))
                            && !hides_calls(name);
                    program.add(name, is_function);
                }
            }
        })?;
        Ok(program)
    }
}

/// What a program takes from the system.
#[derive(Debug)]
pub(super) struct OfProgram {
    /// Functions that get the judge's names.
    pub renamed: BTreeSet<String>,
    /// Those of them that the judge defines.
    pub replaced: BTreeSet<String>,
    /// Whether all calls that do more than compute are among these.
    pub is_complete: bool,
}

impl OfProgram {
    fn add(&mut self, name: &str, is_function: bool) {
        if is_function && self.renamed.insert(name.to_owned()) {
            self.replaced.insert(name.to_owned());
        }
    }
}

/// Variables of the system beside its streams; a function of which only the address is taken looks the same.
const VARIABLES: [&str; 13] = [
    "environ", "__environ", "__progname", "__libc_single_threaded", "optarg", "optind", "opterr", "optopt",
    "_end", "_etext", "_edata", "__bss_start", "__data_start",
];

/// Whether the system may be called behind this function by a name that is not seen, or at another time.
fn hides_calls(name: &str) -> bool {
    ["dlopen", "dlsym", "dlvsym", "lio_listio"].contains(&name)
        || name.starts_with("aio_")
        || name.starts_with("io_uring_")
}

fn read_object(path: &Path, mut read: impl FnMut(&object::File)) -> Result<()> {
    let bytes = fs::read(path)?;
    let file = object::File::parse(bytes.as_slice())
        .map_err(|error| Error::new(ErrorKind::Internal, format!("{}: {error}", path.display())))?;
    read(&file);
    Ok(())
}

/// The names that an object takes from others.
///
/// # Errors
/// `Internal` where it cannot be read.
pub(super) fn undefined(path: &Path) -> Result<BTreeSet<String>> {
    let mut needed = BTreeSet::new();
    read_object(path, |file| {
        needed.extend(names(file).filter(|(_, is_needed)| *is_needed).map(|(name, _)| name.to_owned()));
    })?;
    Ok(needed)
}

/// The names that a file defines for others, or needs, and whether it needs them.
fn names<'f>(file: &'f object::File) -> impl Iterator<Item = (&'f str, bool)> {
    let symbols = file.symbols().filter(|symbol| symbol.is_undefined() || symbol.is_global());
    symbols
        .filter_map(|symbol| Some((symbol.name().ok()?, symbol.is_undefined())))
        .filter(|(name, _)| !name.is_empty())
}

/// The names that a file calls: a variable of another file is none of these.
fn called<'f>(file: &'f object::File) -> BTreeSet<&'f str> {
    let relocations = file.sections().flat_map(|section| section.relocations());
    // The crate does not know jumps to other functions.
    let jump = RelocationFlags::Elf { r_type: object::elf::R_AARCH64_JUMP26 };
    let is_jump =
        |relocation: &Relocation| file.architecture() == Architecture::Aarch64 && relocation.flags() == jump;
    let calls = relocations
        .filter(|(_, relocation)| relocation.kind() == RelocationKind::PltRelative || is_jump(relocation));
    let symbols = calls.filter_map(|(_, relocation)| match relocation.target() {
        RelocationTarget::Symbol(index) => file.symbol_by_index(index).ok()?.name().ok(),
        _ => None,
    });
    symbols.collect()
}

/// Functions of the system that `watch.c` runs in their place, because they touch memory.
const SEEN: [&str; 15] = [
    "memcpy", "memmove", "memset", "memcmp", "memchr", "strlen", "strnlen", "strcmp", "strncmp", "strcpy",
    "strncpy", "strcat", "strchr", "strrchr", "strstr",
];

impl Outside {
    /// objcopy's names for functions that touch memory, where programs tell what C touches.
    pub fn seen(&self) -> String {
        let not_own = SEEN.iter().filter(|name| !self.defined.contains(**name));
        not_own.map(|name| format!("{name} implfuzz_seen_{name}\n")).collect()
    }

    /// objcopy's list of names for the library.
    pub fn renames(&self) -> String {
        self.with_replaced(&self.names)
    }

    /// The same for a driver.
    pub fn renames_of(&self, program: &OfProgram) -> String {
        self.with_replaced(&program.renamed)
    }

    /// C++ allocates through its own operators, which the judge defines.
    fn with_replaced(&self, outside: &BTreeSet<String>) -> String {
        let is_own = |name: &str| MAY_BE_OWN.contains(&name) && self.defined.contains(name);
        let replaced = REPLACED.iter().copied().filter(|name| !is_own(name));
        let all = replaced.chain(outside.iter().map(String::as_str));
        all.map(|name| format!("{name} implfuzz_of_{name}\n")).collect()
    }
}

/// What `outside.S` includes.
pub(super) fn thunks(outside: &BTreeSet<String>) -> String {
    outside.iter().filter(|name| !is_taped(name)).map(|name| format!("outside {name}\n")).collect()
}

/// What kept a call from being judged, by the judge's name for it: a function of the system in most cases.
pub fn left(name: &str) -> String {
    match name {
        "too-many-pages" => "it writes to too many pages of memory".to_owned(),
        _ => format!("it calls {name}"),
    }
}
