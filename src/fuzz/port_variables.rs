//! Finds the variables of the port in a fuzz binary, so that the runtime can tell a port that keeps something between
//! calls. The variables of the library (`globals`) are not among them: contracts say what becomes of those.

use crate::error::{Error, ErrorKind, Result};
use crate::platform::workspace::write_atomic;
use fs_err as fs;
use object::read::archive::ArchiveFile;
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SectionKind, SymbolSection};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A variable of the runtime, by whose address it finds out where the binary was loaded.
const ANCHOR: &str = "implfuzz_in_port";

/// The file with the variables of the port in a fuzz binary.
pub(super) fn file_of(binary: &Path) -> PathBuf {
    binary.with_file_name("port-variables")
}

/// Writes [`file_of`] a binary with this compiled port: a line for the anchor, then one for each variable, with the kind
/// (`static` or `thread`), the address or the offset in the thread's block, the size, and the path.
///
/// # Errors
/// `Internal` if an object file cannot be read.
pub(super) fn write(binary: &Path, rlib: &Path) -> Result<()> {
    let failed = |path: &Path, why: &dyn std::fmt::Display| {
        Error::new(ErrorKind::Internal, format!("{} has no symbols that can be read: {why}", path.display()))
    };
    let names = variables(&fs::read(rlib)?).map_err(|error| failed(rlib, &error))?;
    let lines = match names.is_empty() {
        true => String::new(),
        false => lines(&fs::read(binary)?, &names).map_err(|error| failed(binary, &error))?,
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
            let SymbolSection::Section(index) = symbol.section() else { continue };
            let section = file.section_by_index(index)?;
            let name = symbol.name()?;
            if kind(section.kind(), section.name()?).is_some() && !path(name).starts_with("globals::") {
                names.insert(name.to_owned());
            }
        }
    }
    Ok(names)
}

/// Whether what is in a section can change, and how it is found.
fn kind(kind: SectionKind, name: &str) -> Option<&'static str> {
    let is_made = name.starts_with("__sancov") || name.starts_with(".data.rel.ro");
    match kind {
        _ if is_made => None,
        SectionKind::Data | SectionKind::UninitializedData => Some("static"),
        SectionKind::Tls | SectionKind::UninitializedTls => Some("thread"),
        _ => None,
    }
}

fn lines(binary: &[u8], names: &BTreeSet<String>) -> object::Result<String> {
    let file = object::File::parse(binary)?;
    let (mut text, mut anchor) = (String::new(), None);
    for symbol in file.symbols() {
        let name = symbol.name()?;
        if name == ANCHOR {
            anchor = Some(symbol.address());
        }
        let SymbolSection::Section(index) = symbol.section() else { continue };
        if !names.contains(name) {
            continue;
        }
        let section = file.section_by_index(index)?;
        let Some(kind) = kind(section.kind(), section.name()?) else { continue };
        // ELF gives a thread's variable its offset as its value.
        writeln!(text, "{kind} {} {} {}", symbol.address(), symbol.size(), path(name))
            .expect("a String takes all text");
    }
    Ok(anchor.map_or_else(String::new, |address| format!("anchor {address} 1 {ANCHOR}\n{text}")))
}

/// A symbol's path in its crate, without the hash.
fn path(symbol: &str) -> String {
    let path = format!("{:#}", rustc_demangle::demangle(symbol));
    path.split_once("::").map(|(_, path)| path.to_owned()).unwrap_or(path)
}
