//! Finds the variables of the port in a fuzz binary, so that the runtime can tell a port that keeps something between
//! calls. Those of the library (`globals`) are among them: a contract says which of them the harness compares and puts
//! back, and a port may change no others.

use crate::audit::linkage::{can_change, path};
use crate::error::{Error, ErrorKind, Result};
use crate::platform::workspace::write_atomic;
use fs_err as fs;
use object::elf::SHF_TLS;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection as _, ObjectSymbol as _, SectionFlags, SymbolSection};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A variable of the runtime, by whose address it finds out where the binary was loaded.
pub const ANCHOR: &str = "implfuzz_in_port";

/// The file with the variables of the port in a fuzz binary.
pub fn file_of(binary: &Path) -> PathBuf {
    binary.with_file_name("port-variables")
}

/// Writes [`file_of`] a binary with this compiled port: a line for the anchor, then one for each variable, with the kind
/// (`library`, `static` or `thread`), the address or the offset in the thread's block, the size, and the path.
///
/// # Errors
/// `Internal` if an object file cannot be read, or the binary lacks the anchor.
pub fn write(binary: &Path, rlib: &Path) -> Result<()> {
    let failed = |path: &Path, why: &dyn std::fmt::Display| {
        let text = format!("the variables of the port cannot be found in {}: {why}", path.display());
        Error::new(ErrorKind::Internal, text)
    };
    let names = variables(&fs::read(rlib)?).map_err(|error| failed(rlib, &error))?;
    let lines = match names.is_empty() {
        true => String::new(),
        false => lines(&fs::read(binary)?, &names).map_err(|why| failed(binary, &why))?,
    };
    write_atomic(&file_of(binary), lines.as_bytes())?;
    Ok(())
}

/// The symbols of a crate's own variables.
fn variables(rlib: &[u8]) -> object::Result<BTreeSet<String>> {
    let archive = ArchiveFile::parse(rlib)?;
    let mut names = BTreeSet::new();
    for member in archive.members() {
        let member = member?;
        if !member.name().ends_with(b".o") {
            continue;
        }
        let file = object::File::parse(member.data(rlib)?)?;
        for symbol in file.symbols().filter(|symbol| symbol.size() > 0) {
            let name = symbol.name()?;
            // Counters, which the compiler makes. A static of Rust that only its crate sees has another name.
            let is_counter = symbol.is_local() && name.starts_with("__sancov_gen_");
            let is_counter = is_counter && is_of_counters(&file, symbol.section())?;
            if kind(&file, symbol.section())?.is_some() && !is_counter {
                names.insert(name.to_owned());
            }
        }
    }
    Ok(names)
}

/// The name of a static in `globals`; none for one in code for a type from there.
fn of_library(path: &str) -> Option<&str> {
    let mut parts = path.split("::");
    let name = parts.nth(2).filter(|_| parts.next().is_none() && !path.contains('<'))?;
    (path.split("::").nth(1) == Some("globals")).then_some(name)
}

fn is_of_counters(file: &object::File, section: SymbolSection) -> object::Result<bool> {
    let SymbolSection::Section(index) = section else { return Ok(false) };
    Ok(file.section_by_index(index)?.name()?.starts_with("__sancov_"))
}

/// Whether what is in a section can change while the program runs, and how it is found.
fn kind(file: &object::File, section: SymbolSection) -> object::Result<Option<&'static str>> {
    let SymbolSection::Section(index) = section else { return Ok(None) };
    let section = file.section_by_index(index)?;
    let SectionFlags::Elf { sh_flags, .. } = section.flags() else { return Ok(None) };
    let is_of_threads = (sh_flags & SHF_TLS) == SHF_TLS;
    Ok(can_change(&section).then_some(if is_of_threads { "thread" } else { "static" }))
}

/// The lines for symbols with these names; `Err` has the reason.
fn lines(binary: &[u8], names: &BTreeSet<String>) -> std::result::Result<String, String> {
    let file = object::File::parse(binary).map_err(|error| error.to_string())?;
    let (mut text, mut anchor) = (String::new(), None);
    for symbol in file.symbols() {
        let name = symbol.name().map_err(|error| error.to_string())?;
        if name == ANCHOR {
            anchor = Some(symbol.address());
        }
        if !names.contains(name) {
            continue;
        }
        // ELF gives a thread's variable its offset as its value.
        if let Some(kind) = kind(&file, symbol.section()).map_err(|error| error.to_string())? {
            let (at, size, path) = (symbol.address(), symbol.size(), path(name));
            let (kind, path) = match (of_library(&path), path.split_once("::")) {
                (Some(name), _) => ("library", name),
                (None, Some((_, path))) => (kind, path),
                (None, None) => (kind, path.as_str()),
            };
            writeln!(text, "{kind} {at} {size} {path}").expect("a String takes all text");
        }
    }
    let anchor = anchor.ok_or_else(|| format!("it has no symbol `{ANCHOR}`"))?;
    Ok(format!("anchor {anchor} 1 {ANCHOR}\n{text}"))
}

#[cfg(test)]
mod tests {
    use super::of_library;

    #[test]
    fn only_statics_in_globals_are_the_library_s() {
        assert_eq!(of_library("kit::globals::COUNT"), Some("COUNT"));
        for path in [
            "kit::kit::globals::COUNT",
            "kit::globals::f::COUNT",
            "<kit::globals::S as kit::a::T>::f::COUNT",
            "kit::a::COUNT",
            "globals",
        ] {
            assert_eq!(of_library(path), None, "{path}");
        }
    }
}
