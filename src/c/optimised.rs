//! A unit as optimised LLVM text, which shows what the compiler has proved about the code.

use super::translate::Compiler;
use crate::error::Result;
use crate::platform::process::Interrupt;
use crate::symbol::{Library, RelPath};
use camino::Utf8Path;
use std::path::Path;

/// Behind the unit's own flags. Counters as coverage has them, each added to at once where it stands, so that the optimiser moves
/// none; no sanitizer, which would keep what it can remove. It leaves loops as they are, and the counters of
/// different ways apart: there is nothing to learn from that.
const COUNTED: &[&str] = &[
    "-O2", "-g0", "-w", "-fno-lto", "-fprofile-instr-generate", "-fcoverage-mapping",
    "-fprofile-update=atomic", "-fno-unroll-loops", "-fno-vectorize", "-fno-slp-vectorize", "-mllvm",
    "-sink-common-insts=false", "-S", "-emit-llvm",
];

/// The text of a unit with its second names for statics, so that none is left out or known to be called in one way only. None
/// where the compiler is not clang, or does not take it.
///
/// # Errors
/// `Environment` when the compiler cannot be started, `Io` when `scratch` cannot be written, and Ctrl-C.
pub fn optimised(
    root: &Utf8Path,
    (library, unit): (&Library, &RelPath),
    (cc, scratch): (&Path, &Path),
    interrupt: &Interrupt,
) -> Result<Option<String>> {
    let Some(known) = library.units.iter().find(|known| known.file == *unit) else { return Ok(None) };
    fs_err::create_dir_all(scratch)?;
    let scratch = fs_err::canonicalize(scratch)?;
    let lines = library.alias_lines.get(unit).map(Vec::as_slice).unwrap_or_default();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let compiler = Compiler { root, cc, scratch: &scratch, flags: COUNTED, interrupt };
    let text = compiler.translate(known, &lines)?.ok().and_then(|made| String::from_utf8(made.object).ok());
    drop(std::fs::remove_dir_all(&scratch));
    Ok(text.filter(|text| text.contains("source_filename")))
}
