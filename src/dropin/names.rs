//! Linker names in a C program: those of the library, those that an object or archive defines, and those that the
//! port leaves undefined.

use crate::c::archive::reached_by;
use crate::symbol::Library;
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol};
use std::collections::BTreeSet;

/// A function or variable of the C library that other code can reach by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    pub linker_name: String,
    pub c_name: String,
    pub is_variable: bool,
}

/// All functions and variables of the library that can be reached.
pub(super) fn of_library(library: &Library) -> BTreeSet<Name> {
    let functions = library.functions.iter().map(|f| (f.linkage, &f.module, &f.c_name, false));
    let variables = library.globals.iter().filter(|g| g.local_to.is_none());
    let variables = variables.map(|g| (g.linkage, &g.module, &g.c_name, true));
    let all = functions.chain(variables).map(|(linkage, module, c_name, is_variable)| Name {
        linker_name: reached_by(linkage, module, c_name),
        c_name: c_name.clone(),
        is_variable,
    });
    all.collect()
}

/// The names that the objects of a static library use but none of them defines.
pub(super) fn open(archive: &[u8]) -> Result<BTreeSet<String>, object::Error> {
    let (mut wanted, mut defined) = (BTreeSet::new(), BTreeSet::new());
    let file = ArchiveFile::parse(archive)?;
    for member in file.members() {
        let member = member?;
        // Archives of rustc contain only objects; the index is not a member.
        let Ok(object) = object::File::parse(member.data(archive)?) else { continue };
        for symbol in object.symbols() {
            let Ok(name) = symbol.name() else { continue };
            if symbol.is_undefined() {
                wanted.insert(name.to_owned());
            } else if symbol.is_global() {
                defined.insert(name.to_owned());
            }
        }
    }
    Ok(wanted.difference(&defined).cloned().collect())
}

/// Whether an object or an archive of objects defines one of these names; other files define none.
pub(super) fn defines(file: &[u8], names: &BTreeSet<String>) -> bool {
    let is_ours = |name: &[u8]| std::str::from_utf8(name).is_ok_and(|name| names.contains(name));
    if let Ok(archive) = ArchiveFile::parse(file) {
        // Thin archives have an index too, although their members are elsewhere.
        let index = archive.symbols().ok().flatten();
        return index.into_iter().flatten().any(|symbol| symbol.is_ok_and(|symbol| is_ours(symbol.name())));
    }
    let Ok(object) = object::File::parse(file) else { return false };
    object.kind() == object::ObjectKind::Relocatable
        && object.symbols().any(|s| s.is_definition() && s.is_global() && s.name_bytes().is_ok_and(is_ours))
}
