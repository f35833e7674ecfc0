//! Which ports C programs can be made to call, and what is done to the text of each C source for it.

use super::names::Name;
use crate::c::archive::reached_by;
use crate::ported::Ported;
use crate::project::{Planned, Project};
use crate::symbol::{Linkage, RelPath};
use std::collections::{BTreeMap, BTreeSet};

/// What becomes of calls that C makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    /// They come to the port.
    Port,
    /// They stay in C, for this reason.
    C(String),
}

/// A function that has a body in Rust.
#[derive(Debug, Clone)]
pub(super) struct PortedFunction<'p> {
    pub planned: &'p Planned,
    /// The source that the C function is compiled in.
    pub unit: Option<&'p RelPath>,
    pub route: Route,
}

impl PortedFunction<'_> {
    /// The name by which the program can be asked for the C function.
    pub fn linker_name(&self) -> String {
        let function = &self.planned.function;
        reached_by(function.linkage, &function.module, &function.c_name)
    }

    /// Whether C calls come to the port.
    pub fn is_intercepted(&self) -> bool {
        self.route == Route::Port
    }

    /// Whether it can be seen that the C function runs: it has a name that other units reach.
    pub fn is_watched(&self, project: &Project) -> bool {
        let name = self.linker_name();
        self.is_intercepted()
            || self.unit.is_some_and(|unit| alias_lines(project, unit).any(|line| names(line, &name)))
    }
}

/// All ports of the tree: those that C programs call first, then those that are only watched, then the rest.
pub(super) fn ported(project: &Project) -> Vec<PortedFunction<'_>> {
    let ported = project.planned.iter().filter(|p| project.ported(&p.function) == Ported::Yes);
    let mut all: Vec<PortedFunction> = ported
        .map(|planned| {
            let unit = project.library.unit_of.get(&planned.function.key);
            PortedFunction { planned, unit, route: route(project, planned, unit) }
        })
        .collect();
    all.sort_by_key(|one| (!one.is_intercepted(), !one.is_watched(project)));
    all
}

fn route(project: &Project, planned: &Planned, unit: Option<&RelPath>) -> Route {
    let function = &planned.function;
    let is_there = |unit: &&RelPath| project.workspace.root().join(&unit.0).is_file();
    match unit.filter(is_there) {
        _ if function.linkage == Linkage::Static => {
            Route::C("static in C: its callers in C stay with the C function".into())
        }
        _ if function.is_inline => Route::C("inline in C: every caller has a copy of its own".into()),
        _ if !project.library.exports.contains(&function.c_name) => {
            Route::C("the C compiler gives the linker no such name".into())
        }
        None => Route::C("no source in the repository defines it".into()),
        Some(_) => Route::Port,
    }
}

/// What is put around the text of a source in the copy.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Edit {
    /// Functions of it that may be replaced by the linker.
    pub weak: Vec<String>,
    /// Second names for statics.
    pub lines: Vec<String>,
}

/// What is done to which source. `needed` is what the port reaches in C.
pub(super) fn edits(
    project: &Project,
    ported: &[PortedFunction],
    needed: &[Name],
) -> BTreeMap<RelPath, Edit> {
    let mut edits: BTreeMap<RelPath, Edit> = BTreeMap::new();
    for one in ported.iter().filter(|one| one.is_intercepted()) {
        if let Some(unit) = one.unit {
            edits.entry(unit.clone()).or_default().weak.push(one.planned.function.c_name.clone());
        }
    }
    let watched = ported.iter().filter(|one| !one.is_intercepted()).map(PortedFunction::linker_name);
    let wanted: BTreeSet<String> =
        needed.iter().map(|name| name.linker_name.clone()).chain(watched).collect();
    for unit in &project.library.units {
        let lines = alias_lines(project, &unit.file);
        let lines = lines.filter(|line| wanted.iter().any(|name| names(line, name)));
        // Two objects of a program may have the same static: a header's, or that of a source which a test includes.
        let lines = lines.map(|line| line.replace(ALIAS, "__attribute__((weak, alias("));
        let lines: Vec<String> = lines.collect();
        if !lines.is_empty() {
            edits.entry(unit.file.clone()).or_default().lines = lines;
        }
    }
    edits
}

/// The second names of a source, without its assertions.
fn alias_lines<'p>(project: &'p Project, unit: &RelPath) -> impl Iterator<Item = &'p String> {
    let lines = project.library.alias_lines.get(unit).into_iter().flatten();
    lines.filter(|line| line.contains(ALIAS))
}

const ALIAS: &str = "__attribute__((alias(";

/// Whether a line of C has this name in it.
fn names(line: &str, name: &str) -> bool {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).any(|word| word == name)
}

impl Edit {
    /// The source as it is compiled: its lines keep their numbers, and its file its name.
    pub fn apply(&self, text: &[u8]) -> Vec<u8> {
        let mut edited = String::new();
        for name in &self.weak {
            edited += &format!("#pragma weak {name}\n");
        }
        edited += "#line 1\n";
        let mut edited = edited.into_bytes();
        edited.extend(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text));
        edited.push(b'\n');
        edited.extend(self.lines.iter().flat_map(|line| format!("{line}\n").into_bytes()));
        edited
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_edited_around_its_text() {
        let edit = Edit { weak: vec!["f".into(), "g".into()], lines: vec!["alias".into()] };
        let text = String::from_utf8(edit.apply(b"\xef\xbb\xbfint f;")).unwrap();
        assert_eq!(text, "#pragma weak f\n#pragma weak g\n#line 1\nint f;\nalias\n");
    }

    #[test]
    fn a_name_is_a_whole_word() {
        let line = "extern __typeof__(f) m__f__st __attribute__((alias(\"f\")));";
        assert!(names(line, "m__f__st") && names(line, "f"));
        assert!(!names(line, "m__f") && !names(line, "f__st"));
    }
}
