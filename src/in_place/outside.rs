//! Functions that the library takes from outside: those that only compute run as they are; calls of all others end
//! the judging of a call.

use super::tape::is_taped;
use crate::contract::libc::{effect, is_stateless, only_computes};
use crate::error::{Error, ErrorKind, Result};
use crate::symbol::Library;
use fs_err as fs;
use object::{Object as _, ObjectSymbol as _};
use std::collections::BTreeSet;
use std::path::PathBuf;

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

/// The functions that the objects of a library need, and that do more than compute, or of which nothing is known.
///
/// # Errors
/// `Internal` where an object cannot be read.
pub(super) fn names(objects: &[PathBuf], library: &Library) -> Result<BTreeSet<String>> {
    let (mut needed, mut defined) = (BTreeSet::new(), BTreeSet::new());
    for path in objects {
        let bytes = fs::read(path)?;
        let file = object::File::parse(bytes.as_slice())
            .map_err(|error| Error::new(ErrorKind::Internal, format!("{}: {error}", path.display())))?;
        for symbol in file.symbols() {
            let Ok(name) = symbol.name() else { continue };
            if symbol.is_undefined() {
                needed.insert(name.to_owned());
            } else if symbol.is_global() {
                defined.insert(name.to_owned());
            }
        }
    }
    let variables: BTreeSet<&String> = library.functions.iter().flat_map(|f| &f.foreign_globals).collect();
    needed.retain(|name| {
        !name.is_empty() && !defined.contains(name) && !variables.contains(name) && leaves(name)
    });
    needed.extend(ENDING.map(str::to_owned));
    Ok(needed)
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
