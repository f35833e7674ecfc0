//! The copies that a program has of functions in headers, and their entries.

use super::entries::{CALLED, second_name};
use super::text::preprocessed_chunks;
use super::translate::{Compiler, Translation, with_compiler};
use crate::error::Result;
use crate::platform::process::Interrupt;
use crate::symbol::{Function, Library, LibraryIndex, Linkage, RelPath, SymbolKey, Unit};
use camino::Utf8Path;
use object::{Object as _, ObjectSymbol as _};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The copy that a program has of a function in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnCopy {
    /// The function's position in the library.
    pub function: usize,
    /// The linker's name of its entry.
    pub name: String,
    /// What is appended to the program's text.
    pub line: String,
}

/// The flag that says that a program is in C++, behind `-x`.
pub const CPP: &str = "c++";

/// The static functions of headers of which a program, a file that is none of the library's, has copies. A function that
/// uses a static variable of a header is left out: the program has a variable of its own, which no candidate changes.
///
/// # Errors
/// `Environment` without the compiler, `Io` when the scratch folder cannot be written, and Ctrl-C.
pub fn own_copies(
    root: &Utf8Path,
    library: &Library,
    program: &Unit,
    place: (&Path, &Path),
    interrupt: &Interrupt,
) -> Result<Vec<OwnCopy>> {
    let functions = of_headers(library);
    if functions.is_empty() {
        return Ok(Vec::new());
    }
    with_compiler(root, place, interrupt, |compiler| {
        let functions = of_one_text(library, functions, program, compiler)?;
        let entry = |function: usize| format!("implfuzz_entry_own_{function}");
        let copy = |(function, line): (usize, String)| OwnCopy { function, name: entry(function), line };
        let mut own: Vec<OwnCopy> = if program.flags.iter().any(|flag| flag == CPP) {
            // Their names in C++ are those that the compiler makes, and it makes those that are called.
            let Ok(Translation { object, .. }) = compiler.translate(program, &[""; 0])? else {
                return Ok(Vec::new());
            };
            let names = names(&object);
            let mangled = |of: &Function| {
                let start = format!("_ZL{}{}", of.c_name.len(), of.c_name);
                names.iter().find(|name| name.starts_with(&start))
            };
            let line = |(at, of): (usize, &Function)| {
                Some((at, second_name("extern \"C\"", &of.c_name, (&entry(at), mangled(of)?))))
            };
            functions.into_iter().filter_map(line).map(copy).collect()
        } else {
            let line = |at: usize, of: &Function| second_name("extern", &of.c_name, (&entry(at), &of.c_name));
            functions.into_iter().map(|(at, of)| copy((at, line(at, of)))).collect()
        };
        let lines: Vec<&str> = own.iter().map(|copy| copy.line.as_str()).collect();
        // Building a program that does not compile will say why.
        let Ok(translation) = compiler.translate(program, &lines)? else { return Ok(Vec::new()) };
        let mut at = 0..;
        own.retain(|_| at.next().is_some_and(|at| !translation.refused.contains_key(&at)));
        Ok(own)
    })
}

/// Those whose text is the same in the program as in the library, also in what they call: with other macros, a header gives a
/// program other functions.
fn of_one_text<'l>(
    library: &'l Library,
    functions: Vec<(usize, &'l Function)>,
    program: &Unit,
    compiler: &Compiler,
) -> Result<Vec<(usize, &'l Function)>> {
    let own = hashes(compiler, program)?;
    let mut of_units: BTreeMap<&RelPath, BTreeMap<String, String>> = BTreeMap::new();
    let units: BTreeSet<&RelPath> =
        functions.iter().filter_map(|(_, function)| library.unit_of.get(&function.key)).collect();
    for unit in library.units.iter().filter(|unit| units.contains(&unit.file)) {
        of_units.insert(&unit.file, hashes(compiler, unit)?);
    }
    let is_other = |function: &Function| {
        let of_library =
            library.unit_of.get(&function.key).and_then(|unit| of_units.get(unit)?.get(&function.c_name));
        of_library.is_none() || of_library != own.get(&function.c_name)
    };
    let other: BTreeSet<&SymbolKey> =
        functions.iter().filter(|(_, one)| is_other(one)).map(|(_, one)| &one.key).collect();
    let index = LibraryIndex::of(library);
    let is_same = |function: &Function| index.reached(function).all(|reached| !other.contains(&reached.key));
    Ok(functions.into_iter().filter(|(_, function)| is_same(function)).collect())
}

/// The hash of what each name stands for in a unit, behind the preprocessor.
fn hashes(compiler: &Compiler, unit: &Unit) -> Result<BTreeMap<String, String>> {
    let text = compiler.preprocessed(unit, &CALLED)?.unwrap_or_default();
    Ok(preprocessed_chunks(&text).into_iter().map(|chunk| (chunk.name, chunk.hash)).collect())
}

/// The names of an object file.
fn names(object: &[u8]) -> Vec<String> {
    let Ok(file) = object::File::parse(object) else { return Vec::new() };
    file.symbols().filter_map(|symbol| Some(symbol.name().ok()?.to_owned())).collect()
}

/// The static functions of headers that use no static variable of one, with their positions.
pub fn of_headers(library: &Library) -> Vec<(usize, &Function)> {
    let sources: BTreeSet<&RelPath> = library.units.iter().map(|unit| &unit.file).collect();
    let index = LibraryIndex::of(library);
    let is_own = |key: &SymbolKey| {
        library.global(key).is_some_and(|global| {
            global.linkage == Linkage::Static && !global.is_const && !sources.contains(&global.place.file)
        })
    };
    let uses_own = |function: &Function| {
        let mut reached = index.reached(function);
        reached.any(|one| one.globals_read.iter().chain(&one.globals_written).any(is_own))
    };
    let is_here = |function: &Function| {
        function.linkage == Linkage::Static && !sources.contains(&function.place.file) && !uses_own(function)
    };
    library.functions.iter().enumerate().filter(|(_, function)| is_here(function)).collect()
}
