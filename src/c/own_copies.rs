//! The copies that a program has of functions in headers, and their entries.

use super::entries::second_name;
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

/// Those of which the program compiles the text that the library compiles, also in what they call: macros of a program may
/// make another function of it.
fn of_one_text<'l>(
    library: &'l Library,
    functions: Vec<(usize, &'l Function)>,
    program: &Unit,
    compiler: &Compiler,
) -> Result<Vec<(usize, &'l Function)>> {
    let Some(own) = compiler.preprocessed(program)? else { return Ok(Vec::new()) };
    let mut texts: BTreeMap<&RelPath, Option<String>> = BTreeMap::new();
    let mut same = BTreeSet::new();
    for (_, function) in &functions {
        let file = library.unit_of.get(&function.key);
        let Some(unit) = library.units.iter().find(|unit| Some(&unit.file) == file) else { continue };
        let text = match texts.get(&unit.file) {
            Some(text) => text,
            None => {
                let text = compiler.preprocessed(unit)?;
                texts.entry(&unit.file).or_insert(text)
            }
        };
        let of_library = text.as_deref().and_then(|text| definition(text, &function.c_name));
        if of_library.is_some() && of_library == definition(&own, &function.c_name) {
            same.insert(&function.key);
        }
    }
    let index = LibraryIndex::of(library);
    let all: BTreeSet<&SymbolKey> = functions.iter().map(|(_, function)| &function.key).collect();
    let is_same = |of: &Function| !all.contains(&of.key) || same.contains(&of.key);
    Ok(functions.into_iter().filter(|(_, function)| index.reached(function).all(is_same)).collect())
}

/// A function's parameters and body in a text behind the preprocessor, without white space.
fn definition(text: &str, name: &str) -> Option<String> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).find_map(|(at, _)| {
        let rest = &text[at + name.len()..];
        if text[..at].ends_with(is_word) || rest.starts_with(is_word) {
            return None;
        }
        let parameters = enclosed(rest.trim_start(), ('(', ')'))?;
        let behind = rest.trim_start()[parameters.len()..].trim_start();
        let body = enclosed(behind, ('{', '}'))?;
        Some(parameters.chars().chain(body.chars()).filter(|c| !c.is_whitespace()).collect())
    })
}

/// The text from its first character, which opens, to the one that closes it.
fn enclosed(text: &str, (open, close): (char, char)) -> Option<&str> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        depth = match c {
            c if c == open => depth + 1,
            c if c == close && depth == 1 => return Some(&text[..=at]),
            c if c == close => depth.checked_sub(1)?,
            _ if depth == 0 => return None,
            _ => depth,
        };
    }
    None
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_found_behind_declarations_and_calls() {
        let text = "int half(int x);\nint other(void) { return half(2); }\nint ahalf(int x) { return 1; }\n\
            static int half (int x)\n{ if (x) { return x / 2; }\n  return 0; }\n";
        assert_eq!(definition(text, "half").as_deref(), Some("(intx){if(x){returnx/2;}return0;}"));
        assert_eq!(definition(text, "none"), None);
        assert_eq!(definition("half(int x) {", "half"), None);
    }
}
