//! How the functions of a program get their arguments, which a judge reads where the library calls them.

#![allow(non_upper_case_globals, reason = "libclang's constants are written as in C")]

use super::cursor::{Cursor, TranslationUnit};
use super::flags::clang_arguments;
use super::types::TypeReader;
use super::workers;
use crate::error::Result;
use crate::symbol::{CType, Record, TypeKind, Unit};
use camino::Utf8Path;
use clang_sys::{CXCursor_FunctionDecl, CXCursor_LinkageSpec, CXCursor_Namespace, CXCursor_UnexposedDecl};
use std::collections::BTreeMap;

/// A function of a program, each of whose arguments has a register or a word of the stack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The linker's name.
    pub symbol: String,
    pub parameters: Vec<Passed>,
}

/// What one argument is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    /// With its size in bytes.
    Integer(u16),
    Float(u16),
    /// Leads to so many bytes, 0 where that is not known.
    Pointer(u64),
    /// The same, to what the function only reads.
    Input(u64),
    /// `const char *`
    Text,
}

/// The functions that a program defines. One that takes or returns something else than numbers and pointers is left out; so
/// are all where libclang cannot read the program.
///
/// # Errors
/// `Environment` without libclang.
pub fn signatures(root: &Utf8Path, program: &Unit) -> Result<Vec<Signature>> {
    let file = root.join(&program.file.0);
    let read = |arguments: &Vec<String>| {
        let unit = TranslationUnit::parse(file.as_str(), arguments);
        let functions = unit.as_ref().map(|unit| functions(unit.items())).unwrap_or_default();
        Ok(functions.into_iter().filter_map(signature).collect())
    };
    let all: Vec<Vec<Signature>> = workers::map(&[clang_arguments(root, program)], read)?;
    Ok(all.into_iter().flatten().collect())
}

/// Also those in namespaces and behind `extern "C"`.
fn functions(items: Vec<Cursor<'_>>) -> Vec<Cursor<'_>> {
    let mut found = Vec::new();
    for item in items {
        match item.kind() {
            CXCursor_FunctionDecl if item.is_definition() => found.push(item),
            CXCursor_LinkageSpec | CXCursor_Namespace | CXCursor_UnexposedDecl => {
                found.extend(functions(item.children()));
            }
            _ => {}
        }
    }
    found
}

fn signature(function: Cursor<'_>) -> Option<Signature> {
    let mut types = TypeReader::default();
    let result = types.read(function.result_type());
    let is_plain = matches!(result.kind, TypeKind::Void) || passed(&result, &types.records).is_some();
    let arguments = function.arguments();
    let mut one = |argument: &Cursor<'_>| {
        let ty = types.read(argument.ty());
        passed(&ty, &types.records)
    };
    let parameters = arguments.iter().map(&mut one).collect::<Option<Vec<Passed>>>()?;
    (is_plain && !function.ty().is_variadic()).then(|| Signature { symbol: function.mangling(), parameters })
}

fn passed(ty: &CType, records: &BTreeMap<String, Record>) -> Option<Passed> {
    match &ty.kind {
        TypeKind::Bool => Some(Passed::Integer(1)),
        TypeKind::Int { bits, .. } | TypeKind::Enum { bits, .. } => Some(Passed::Integer(bits / 8)),
        TypeKind::Float { bits } => Some(Passed::Float(bits / 8)),
        TypeKind::Pointer(of) | TypeKind::Array { of, .. } => Some(match of.kind {
            TypeKind::Int { plain_char: true, .. } if of.is_const => Passed::Text,
            _ if of.is_const => Passed::Input(size(of, records)),
            _ => Passed::Pointer(size(of, records)),
        }),
        TypeKind::Void | TypeKind::Record(_) | TypeKind::Function { .. } | TypeKind::Unsupported(_) => None,
    }
}

/// Bytes of a value; 0 where they are not known.
fn size(ty: &CType, records: &BTreeMap<String, Record>) -> u64 {
    match &ty.kind {
        TypeKind::Bool => 1,
        TypeKind::Int { bits, .. } | TypeKind::Enum { bits, .. } | TypeKind::Float { bits } => {
            u64::from(bits / 8)
        }
        TypeKind::Pointer(_) => 8,
        TypeKind::Array { of, len } => len.unwrap_or(0) * size(of, records),
        TypeKind::Record(key) => {
            records.get(key).filter(|record| record.complete).map_or(0, |record| record.size)
        }
        TypeKind::Void | TypeKind::Function { .. } | TypeKind::Unsupported(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbol::RelPath;

    fn of(file: &str, text: &str, flags: &[&str]) -> Vec<Signature> {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap();
        std::fs::write(root.join(file), text).unwrap();
        let flags = flags.iter().map(ToString::to_string).collect();
        signatures(root, &Unit { file: RelPath(file.into()), module: "run".into(), flags }).unwrap()
    }

    #[test]
    fn arguments_are_numbers_and_pointers_of_known_sizes() {
        let text = "#include <stddef.h>\ntypedef struct pair { int a, b; } pair; struct hidden;\n\
            static int order(const void *a, const pair *b, struct hidden *c) { return 0; }\n\
            void log_it(char level, const char *text, double x, pair list[], const unsigned char *d, size_t n) {}\n\
            void by_value(pair p) {}\npair result(void) { return (pair){0}; }\nvoid many(int a, ...) {}\nint declared(int);\n";
        let found = of("run.c", text, &[]);
        use Passed::{Float, Input, Integer, Pointer, Text};
        let order = vec![Input(0), Input(8), Pointer(0)];
        let log_it = vec![Integer(1), Text, Float(8), Pointer(8), Input(1), Integer(8)];
        let one = |symbol: &str, parameters| Signature { symbol: symbol.into(), parameters };
        assert_eq!(found, [one("order", order), one("log_it", log_it)]);
    }

    #[test]
    fn functions_of_cpp_have_the_linkers_names() {
        let text = "static int take(void *from, bool now) { return 0; }\nextern \"C\" { void plain(int) {} }\nnamespace n { void in() {} }\n";
        let found = of("run.cc", text, &["-x", "c++"]);
        let names: Vec<&str> = found.iter().map(|one| one.symbol.as_str()).collect();
        assert_eq!(names, ["_ZL4takePvb", "plain", "_ZN1n2inEv"]);
        assert_eq!(found[0].parameters, [Passed::Pointer(0), Passed::Integer(1)]);
    }
}
