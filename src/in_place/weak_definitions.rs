//! Libraries whose functions are defined in a header: a driver that includes it has definitions, too. They are weak, so that
//! the library's count.

use super::build_site::BuildSite;
use crate::c::header_only::is_header;
use crate::error::Result;
use crate::platform::workspace::write_atomic;
use crate::symbol::{Library, Linkage};
use std::collections::BTreeSet;

/// The flags of a driver that make what it defines of the library weak.
///
/// # Errors
/// `Io` if the file with the names cannot be written.
pub fn flags(library: &Library, place: BuildSite) -> Result<Vec<String>> {
    let functions = library.functions.iter().map(|of| (of.linkage, &of.place.file, &of.c_name));
    let variables = library.globals.iter().map(|of| (of.linkage, &of.place.file, &of.c_name));
    let defined = functions
        .chain(variables)
        .filter(|(linkage, file, _)| *linkage == Linkage::External && is_header(&file.0));
    let names: BTreeSet<&String> = defined.map(|(_, _, name)| name).collect();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let path = place.dir.join("weak.h");
    let lines: String = names.iter().map(|name| format!("#pragma weak {name}\n")).collect();
    write_atomic(&path, lines.as_bytes())?;
    Ok(vec!["-include".to_owned(), path.display().to_string()])
}
