//! Selects the ports that C programs can call, and plans the edits to each C source.

use super::names::Name;
use crate::c::entries::{Entries, inline_functions_have_copies};
use crate::c::text::body;
use crate::project::ported::Ported;
use crate::project::{FunctionPlan, Project};
use crate::rust::shims::candidate;
use crate::symbol::{Function, Linkage, RelPath};

/// The target of C's calls of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    /// The port, by its C name.
    Linker,
    /// The port: the entries of the C function lead there.
    Entry,
    /// C, for this reason.
    C(String),
}

/// A function that has a body in Rust.
#[derive(Debug, Clone)]
pub(super) struct PortedFunction<'p> {
    pub planned: &'p FunctionPlan,
    /// The source with the C function.
    pub unit: Option<&'p RelPath>,
    pub route: Route,
    /// The sources whose object has a copy of the C function.
    pub copies: Vec<RelPath>,
    /// Byte position of its body in that source; code inserted there runs whenever the C function does.
    pub body: Option<usize>,
}

impl PortedFunction<'_> {
    /// Whether C's calls reach the port.
    pub fn is_intercepted(&self) -> bool {
        !matches!(self.route, Route::C(_))
    }

    /// The linker's name of the port.
    pub fn port_name(&self, number: usize) -> String {
        match self.route {
            Route::Linker => self.planned.function.c_name.clone(),
            Route::Entry | Route::C(_) => candidate(number),
        }
    }
}

/// All ports in the tree, those that C programs call first. `entries` are those of the C functions.
pub(super) fn ported<'p>(project: &'p Project, entries: &Entries) -> Vec<PortedFunction<'p>> {
    let ported = project.planned.iter().filter(|p| project.ported(&p.function) == Ported::Yes);
    let has_entries = inline_functions_have_copies(&project.library);
    let mut all: Vec<PortedFunction> = ported
        .map(|planned| {
            let unit = project.library.unit_of.get(&planned.function.key);
            let body = body_of(project, &planned.function, unit);
            let copies = entries.of(&planned.function.key).iter().filter(|_| has_entries);
            let copies: Vec<RelPath> = copies.map(|entry| entry.unit.clone()).collect();
            let route = route(project, planned, unit, !copies.is_empty());
            PortedFunction { planned, unit, route, copies, body }
        })
        .collect();
    all.sort_by_key(|one| !one.is_intercepted());
    all
}

/// The start of a function body in the source file itself; bodies in headers cannot be marked, because the added
/// text comes after some headers.
fn body_of(project: &Project, function: &Function, unit: Option<&RelPath>) -> Option<usize> {
    let place = unit.filter(|unit| **unit == function.place.file).map(|_| &function.place)?;
    let text = std::fs::read(project.workspace.root().join(&place.file.0)).ok()?;
    let is_there = text.get(place.start..place.end) == Some(function.text.as_bytes());
    is_there.then(|| body(&function.text)).flatten().map(|at| place.start + at)
}

fn route(project: &Project, planned: &FunctionPlan, unit: Option<&RelPath>, has_entry: bool) -> Route {
    let function = &planned.function;
    let is_there = |unit: &&RelPath| project.workspace.root().join(&unit.0).is_file();
    let is_static = function.linkage == Linkage::Static;
    let is_exported = project.library.exports.contains(&function.c_name);
    match unit.filter(is_there) {
        Some(_) if !is_static && !function.is_inline && is_exported => Route::Linker,
        _ if has_entry => Route::Entry,
        _ if function.is_inline => Route::C("inline in C: every caller has its own copy".into()),
        _ if is_static => Route::C("static in C: its C callers still call the C function".into()),
        Some(_) => Route::C("the C compiler gives the linker no such name".into()),
        None => Route::C("no source in the repository defines it".into()),
    }
}

/// The changes to the copy of a source.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Edit {
    /// A unique number for each source, from 1.
    pub number: usize,
    /// Functions in it that the linker may replace.
    pub weak: Vec<String>,
    /// Functions with a copy in its object whose entries lead to the port, with the numbers of their counters.
    pub entries: Vec<(String, usize)>,
    /// Starts of bodies, the last one first, with the numbers of their counters.
    pub marks: Vec<(usize, usize)>,
    /// Aliases for statics.
    pub lines: Vec<String>,
}

/// The changes to each source. `needed` are the C names that the port uses.
pub(super) fn edits(project: &Project, ported: &[PortedFunction], needed: &[Name]) -> Vec<(RelPath, Edit)> {
    let edits = (1..).zip(&project.library.units).map(|(number, unit)| {
        let here = ported.iter().enumerate().filter(|(_, one)| one.unit == Some(&unit.file));
        let replaced = here.clone().filter(|(_, one)| one.route == Route::Linker);
        let weak = replaced.map(|(_, one)| one.planned.function.c_name.clone()).collect();
        let mut marks: Vec<(usize, usize)> =
            here.filter_map(|(counter, one)| Some((one.body?, counter))).collect();
        marks.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        let copied = ported.iter().enumerate().filter(|(_, one)| one.is_intercepted());
        let copied = copied.filter(|(_, one)| one.copies.contains(&unit.file));
        let entries = copied.map(|(counter, one)| (one.planned.function.c_name.clone(), counter)).collect();
        let lines = alias_lines(project, &unit.file);
        let lines = lines.filter(|line| needed.iter().any(|name| names(line, &name.linker_name)));
        // Two objects of a program may have the same static, from a header or from a source that a test includes.
        let lines = lines.map(|line| line.replace(ALIAS, "__attribute__((weak, alias(")).collect();
        (unit.file.clone(), Edit { number, weak, entries, marks, lines })
    });
    edits.collect()
}

/// The aliases of a source, without its assertions.
fn alias_lines<'p>(project: &'p Project, unit: &RelPath) -> impl Iterator<Item = &'p String> {
    let lines = project.library.alias_lines.get(unit).into_iter().flatten();
    lines.filter(|line| line.contains(ALIAS))
}

const ALIAS: &str = "__attribute__((alias(";

/// Whether a line of C contains this name.
fn names(line: &str, name: &str) -> bool {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).any(|word| word == name)
}

/// Text before the outermost source. The counter is absent in programs linked without the port. The declaration can
/// precede all others.
const MARK: &str = "extern int implfuzz_dropin_ran(unsigned) __attribute__((weak));\n\
    #define IMPLFUZZ_RAN(number) __attribute__((unused)) int implfuzz_ran = \
    implfuzz_dropin_ran ? implfuzz_dropin_ran(number) : 0;\n";

/// The name in the object of a source with entries that are led to the port.
pub(super) fn object_name(number: usize) -> String {
    format!("implfuzz_unit_{number}")
}

/// Tells the runtime the entry of a copy. The name is static, for a program may have two objects of one source; and it stands
/// for the C function even where the function's own name stands for the port.
fn entry_line(function: &str, counter: usize) -> String {
    format!(
        "static __typeof__({function}) implfuzz_entry_{counter} __attribute__((unused, alias(\"{function}\")));\n\
         static void (*implfuzz_led_{counter}[2])(void) \
         __attribute__((used, aligned(8), section(\"implfuzz_entries\"))) = \
         {{(void (*)(void))implfuzz_entry_{counter}, (void (*)(void)){counter}}};\n"
    )
}

impl Edit {
    /// The source as it is compiled, with the same line numbers and file name. Sources of a library may include
    /// each other, or parts of themselves; then only the outermost one gets the added text.
    pub fn apply(&self, text: &[u8]) -> Vec<u8> {
        let number = self.number;
        let weak: String = self.weak.iter().map(|name| format!("#pragma weak {name}\n")).collect();
        let mut lines: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        lines.extend(self.entries.iter().map(|(function, counter)| entry_line(function, *counter)));
        if !self.entries.is_empty() {
            let name = object_name(number);
            lines += &format!("char {name} __attribute__((weak, visibility(\"hidden\")));\n");
        }
        let before = format!(
            "#ifndef IMPLFUZZ_UNIT\n#define IMPLFUZZ_UNIT {number}\n{MARK}#endif\n\
             #if IMPLFUZZ_UNIT == {number}\n{weak}#endif\n#line 1\n"
        );
        let behind = format!(
            "\n#if IMPLFUZZ_UNIT == {number}\n{lines}#undef IMPLFUZZ_UNIT\n#undef IMPLFUZZ_RAN\n#endif\n"
        );
        let mut marked = text.to_vec();
        for (at, counter) in &self.marks {
            marked.splice(at..at, format!(" IMPLFUZZ_RAN({counter})").into_bytes());
        }
        let marked = marked.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&marked);
        [before.as_bytes(), marked, behind.as_bytes()].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::process::{Interrupt, Job};
    use crate::platform::toolchain::Search;

    /// The preprocessed text of a source.
    fn preprocessed(dir: &std::path::Path, source: &str) -> Vec<String> {
        let cc = Search::from_env().program(&["cc", "gcc", "clang"]).unwrap();
        let job = Job::new(cc).args(["-E", "-P", source]).dir(dir);
        let output = job.run(&Interrupt::none()).unwrap();
        let text = output.stdout_text();
        text.lines()
            .filter(|line| !line.is_empty() && !line.contains("implfuzz_dropin_ran"))
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn what_is_added_to_a_source_counts_once_wherever_it_is_included() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &[u8]| std::fs::write(dir.path().join(name), text).unwrap();
        let edit = |number, name: &str| Edit {
            number,
            weak: vec![name.into()],
            entries: vec![],
            marks: vec![],
            lines: vec![format!("a {name};")],
        };
        write("inner.c", &edit(1, "f").apply(b"\xef\xbb\xbfint f = __LINE__;"));
        write("outer.c", &edit(2, "g").apply(b"#include \"inner.c\"\nint g = __LINE__;\n"));
        write("all.c", b"#include \"inner.c\"\n#include \"outer.c\"\n");
        let inner = ["#pragma weak f", "int f = 1;", "a f;"];
        let outer = ["#pragma weak g", "int f = 1;", "int g = 2;", "a g;"];
        assert_eq!(preprocessed(dir.path(), "inner.c"), inner);
        assert_eq!(preprocessed(dir.path(), "outer.c"), outer);
        assert_eq!(preprocessed(dir.path(), "all.c"), [&inner[..], &outer[..]].concat());
    }

    #[test]
    fn a_mark_stands_in_front_of_a_body() {
        let edit = Edit {
            number: 1,
            weak: Vec::new(),
            entries: Vec::new(),
            marks: vec![(19, 7), (8, 2)],
            lines: Vec::new(),
        };
        let text = String::from_utf8(edit.apply(b"int f(){}\nint g() {\n}\n")).unwrap();
        assert!(text.contains("\nint f(){ IMPLFUZZ_RAN(2)}\nint g() { IMPLFUZZ_RAN(7)\n}\n"), "{text}");
    }

    #[test]
    fn a_name_is_a_whole_word() {
        let line = "extern __typeof__(f) m__f__st __attribute__((alias(\"f\")));";
        assert!(names(line, "m__f__st") && names(line, "f"));
        assert!(!names(line, "m__f") && !names(line, "f__st"));
    }
}
