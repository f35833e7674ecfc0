//! The one door to the C front end: from a folder to a library with its bindings.

use super::bind::{self, Bindings};
use super::build_system::BuildTools;
use super::discover::{canonical, discover};
use super::flags::{CSettings, FlagSource, Warning};
use super::{graph, parse};
use crate::error::Result;
use crate::symbol::Library;
use camino::Utf8Path;

/// What was read.
#[derive(Debug)]
pub struct Loaded {
    pub library: Library,
    pub bindings: Bindings,
    /// Where the flags come from.
    pub flags: FlagSource,
    /// Ways to find flags that did not work.
    pub warnings: Vec<Warning>,
}

/// The library without its bindings, which take most of the time.
#[cfg(test)]
pub(super) fn parse_only(root: &Utf8Path, settings: &CSettings, tools: &BuildTools) -> Result<Library> {
    let root = canonical(root)?;
    let discovery = discover(&root, settings, tools)?;
    let mut merged = parse::parse(&root, discovery)?;
    graph::order(&mut merged.library);
    Ok(merged.library)
}

/// Reads the library with its bindings. What cannot be bound is marked as unsupported.
///
/// # Errors
/// `C` when there is nothing to read or bindgen cannot read a unit, `Environment` without libclang, and Ctrl-C.
pub fn load(root: &Utf8Path, settings: &CSettings, tools: &BuildTools) -> Result<Loaded> {
    let root = canonical(root)?;
    let discovery = discover(&root, settings, tools)?;
    let (flags, warnings) = (discovery.source.clone(), discovery.warnings.clone());
    let mut merged = parse::parse(&root, discovery)?;
    let bindings = bind::bind(&root, &mut merged)?;
    let mut library = merged.library;
    for (key, reason) in &bindings.missing {
        let function = library.functions.iter_mut().find(|f| f.key == *key).map(|f| &mut f.unsupported);
        let global = library.globals.iter_mut().find(|g| g.key == *key).map(|g| &mut g.unsupported);
        if let Some(unsupported) = function.or(global) {
            unsupported.get_or_insert_with(|| reason.clone());
        }
    }
    graph::order(&mut library);
    Ok(Loaded { library, bindings, flags, warnings })
}
