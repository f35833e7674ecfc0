//! Functions that the library and its driver take from outside: those that only compute run as they are; calls of all
//! others end the judging of a call.

use super::tape::is_taped;
use crate::contract::libc::{effect, is_stateless, only_computes};
use crate::error::{Error, ErrorKind, Result};
use crate::symbol::Library;
use fs_err as fs;
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, RelocationKind, RelocationTarget};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What the judge has in place of functions of the system, beside those that leave the process.
const REPLACED: [&str; 24] = [
    "malloc", "free", "calloc", "realloc", "reallocarray", "aligned_alloc", "memalign", "posix_memalign",
    "malloc_usable_size", "strdup", "strndup", "wcsdup", "exit", "_exit", "_Exit", "abort", "__assert_fail",
    "signal", "sigaction", "sigaltstack", "setitimer", "setsid", "setpgid", "daemon",
];

/// What ends all judging or the use of the tape, also where only a driver calls it.
const ENDING: [&str; 10] = [
    "pthread_create", "thrd_create", "fork", "vfork", "setvbuf", "setbuf", "setbuffer", "fmemopen",
    "open_memstream", "fopencookie",
];

/// Jumps that leave calls.
const JUMPS: [&str; 4] = ["longjmp", "_longjmp", "siglongjmp", "__longjmp_chk"];

/// What the objects of a program take from outside of it.
#[derive(Debug, Default, Clone)]
pub(super) struct Outside {
    /// Functions that do more than compute, or of which nothing is known.
    pub names: BTreeSet<String>,
    /// What the library defines.
    defined: BTreeSet<String>,
}

impl Outside {
    /// What the objects of a library need.
    ///
    /// # Errors
    /// `Internal` where an object cannot be read.
    pub fn of_library(objects: &[PathBuf], library: &Library) -> Result<Self> {
        let (mut needed, mut defined) = (BTreeSet::new(), BTreeSet::new());
        for path in objects {
            read_object(path, |file| {
                for (name, is_undefined) in names(file) {
                    let set = if is_undefined { &mut needed } else { &mut defined };
                    set.insert(name.to_owned());
                }
            })?;
        }
        let variables: BTreeSet<&String> =
            library.functions.iter().flat_map(|function| &function.foreign_globals).collect();
        needed.retain(|name| !defined.contains(name) && !variables.contains(name) && leaves(name));
        needed.extend(ENDING.map(str::to_owned));
        Ok(Self { names: needed, defined })
    }

    /// What a driver's object needs, too: it may be called back while a call is judged.
    ///
    /// # Errors
    /// `Internal` where the object cannot be read.
    pub fn with_driver(&self, object: &Path) -> Result<Self> {
        let mut all = self.clone();
        read_object(object, |file| {
            let called = called(file);
            let own = names(file).filter(|(name, is_undefined)| {
                *is_undefined
                    && !self.defined.contains(*name)
                    && leaves(name)
                    && (effect(name).is_some() || called.contains(name))
            });
            all.names.extend(own.map(|(name, _)| name.to_owned()));
        })?;
        Ok(all)
    }
}

fn read_object(path: &Path, mut read: impl FnMut(&object::File)) -> Result<()> {
    let bytes = fs::read(path)?;
    let file = object::File::parse(bytes.as_slice())
        .map_err(|error| Error::new(ErrorKind::Internal, format!("{}: {error}", path.display())))?;
    read(&file);
    Ok(())
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
    let calls = relocations.filter(|(_, relocation)| relocation.kind() == RelocationKind::PltRelative);
    let symbols = calls.filter_map(|(_, relocation)| match relocation.target() {
        RelocationTarget::Symbol(index) => file.symbol_by_index(index).ok()?.name().ok(),
        _ => None,
    });
    symbols.collect()
}

fn leaves(name: &str) -> bool {
    if REPLACED.contains(&name) || name.starts_with("implfuzz_") {
        return false;
    }
    if JUMPS.contains(&name) {
        return true;
    }
    // The compiler's own functions begin with an underscore; they are not in the table, and compute.
    match effect(name) {
        Some(_) => !is_stateless(name),
        None => !only_computes(name) && !name.starts_with('_'),
    }
}

/// objcopy's list of names. C++ allocates through its own operators, which the judge defines.
pub(super) fn renames(outside: &BTreeSet<String>) -> String {
    let all = REPLACED.iter().copied().chain(outside.iter().map(String::as_str));
    all.map(|name| format!("{name} implfuzz_of_{name}\n")).collect()
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
