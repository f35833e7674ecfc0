//! Compiles a unit to optimised LLVM text, which shows what the compiler has proved about the code.

use super::translate::{Compiler, with_compiler};
use crate::error::Result;
use crate::platform::process::Interrupt;
use crate::symbol::{Library, RelPath};
use camino::Utf8Path;
use std::path::Path;

/// Flags that are added after the unit's own. Coverage counters are incremented atomically, so that the
/// optimiser moves none. There is no sanitizer, because it would keep code that can be removed. Loops stay as
/// they are, and the counters of different branches are not merged, because such transformations prove
/// nothing.
const COUNTED: &[&str] = &[
    "-O2", "-g0", "-w", "-fno-lto", "-fprofile-instr-generate", "-fcoverage-mapping",
    "-fprofile-update=atomic", "-fno-unroll-loops", "-fno-vectorize", "-fno-slp-vectorize", "-mllvm",
    "-sink-common-insts=false", "-S", "-emit-llvm",
];

/// The LLVM text of a unit. Second names for its statics keep the optimiser from removing or specialising
/// them. `None` if the compiler is not clang or rejects the unit.
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
    let made = with_compiler(root, (cc, scratch), interrupt, |compiler| {
        Compiler { flags: COUNTED, ..*compiler }.translate(known, library.lines_of(unit))
    })?;
    let text = made.ok().and_then(|made| String::from_utf8(made.object).ok());
    Ok(text.filter(|text| text.contains("source_filename")))
}
