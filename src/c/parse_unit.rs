//! Reads one translation unit: functions, globals, records and macros from files of the project. `merge`
//! joins the units.

#![allow(non_upper_case_globals, reason = "libclang's constants are written as in C")]

use super::cursor::{Cursor, Location, TranslationUnit};
use super::expr::Sources;
use super::header_only::is_header;
use super::types::{TypeReader, is_wrong_alias, unfaithful};
use super::{atomics, comments_above, constant_pointers, parse_body, parse_types};
use crate::symbol::{
    Function, Global, Linkage, Macro, Param, Record, RelPath, SourceRange, SymbolKey, SymbolName,
    TypeDefinition, TypeKind,
};
use camino::Utf8Path;
use clang_sys::*;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Number of diagnostics that are shown for a unit that does not parse.
const SHOWN_DIAGNOSTICS: usize = 5;

/// A function and the functions that it calls, which may be outside the library.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct FoundFunction {
    /// `name` and `module` are not final; `calls`, `externs` and `address_taken` are still empty.
    pub function: Function,
    pub called: BTreeMap<SymbolKey, String>,
    pub addressed: BTreeMap<SymbolKey, String>,
    /// Variables whose address other code gets from it.
    pub lent: BTreeSet<SymbolKey>,
    /// The texts of the macros that it uses: another unit may define macros with the same names differently.
    pub meaning: String,
}

/// The facts about one unit.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct UnitFacts {
    /// Every file that was read.
    pub files: BTreeSet<String>,
    pub functions: Vec<FoundFunction>,
    pub globals: Vec<Global>,
    /// The variables behind constant pointers.
    pub behind: constant_pointers::Behind,
    pub records: BTreeMap<String, Record>,
    pub types: Vec<TypeDefinition>,
    pub macros: Vec<Macro>,
    /// Inline functions for which this unit emits an external definition.
    pub emitted: BTreeSet<SymbolKey>,
    /// Typedefs of types that Rust cannot represent faithfully.
    pub unfaithful_typedefs: BTreeSet<String>,
    /// Static functions declared with the name of a function type, as `handler f;`.
    pub declared_by_type: BTreeSet<String>,
}

impl UnitFacts {
    /// Whether the unit belongs to a program.
    pub fn is_program(&self) -> bool {
        let is_main = |found: &FoundFunction| found.function.c_name == "main";
        self.functions.iter().any(is_main)
    }
}

/// Reads one unit; `Err` holds the error diagnostics.
pub(super) fn read(
    root: &Utf8Path,
    file: &Utf8Path,
    arguments: &[String],
) -> std::result::Result<UnitFacts, String> {
    let Some(unit) = TranslationUnit::parse(root.join(file).as_str(), arguments) else {
        return Err(format!("{file}: clang cannot parse it at all"));
    };
    let errors: Vec<String> = unit
        .diagnostics()
        .into_iter()
        .filter(|d| d.is_error)
        .map(|d| {
            let at = &d.location;
            let place = Utf8Path::new(&at.file).strip_prefix(root).map_or(at.file.as_str(), Utf8Path::as_str);
            format!("{place}:{}:{}: {}", at.line, at.column, d.message)
        })
        .collect();
    if !errors.is_empty() {
        let more = errors.len().saturating_sub(SHOWN_DIAGNOSTICS);
        let mut shown = errors.into_iter().take(SHOWN_DIAGNOSTICS).collect::<Vec<_>>().join("\n");
        if more > 0 {
            shown.push_str(&format!("\nand {more} more"));
        }
        return Err(shown);
    }
    let mut reader = Reader { root, sources: Sources::default(), types: TypeReader::default() };
    let facts = reader.unit(&unit);
    Ok(UnitFacts { files: unit.files().into_iter().collect(), ..facts })
}

struct Reader<'a> {
    root: &'a Utf8Path,
    sources: Sources,
    types: TypeReader,
}

impl Reader<'_> {
    fn unit(&mut self, unit: &TranslationUnit) -> UnitFacts {
        let mut facts = UnitFacts::default();
        let mut expansions: BTreeSet<(String, usize, String)> = BTreeSet::new();
        for item in unit.items() {
            let start = item.start();
            let Some(file) = self.relative(&start) else { continue };
            for ty in parse_types::nested(item).into_iter().chain([item]) {
                facts.types.extend(self.type_definition(ty));
            }
            if item.kind() == CXCursor_FunctionDecl
                && item.linkage() == CXLinkage_Internal
                && matches!(item.ty().kind(), CXType_Typedef | CXType_Elaborated)
            {
                facts.declared_by_type.insert(item.name());
            }
            match item.kind() {
                CXCursor_FunctionDecl if item.is_definition() => {
                    let (found, statics) = self.function(item, file, &start);
                    facts.globals.extend(statics);
                    // Under `gnu_inline`, `extern inline` has the opposite meaning.
                    let is_gnu = contains_word(&found.function.text, "gnu_inline");
                    if (item.storage() == CX_SC_Extern) != is_gnu {
                        facts.emitted.insert(key(self.root, item));
                    }
                    facts.functions.push(found);
                }
                CXCursor_FunctionDecl if !item.is_inline() || item.storage() == CX_SC_Extern => {
                    facts.emitted.insert(key(self.root, item));
                }
                CXCursor_VarDecl => {
                    let targets = constant_pointers::targets(item, &|c| key(self.root, c));
                    facts.behind.extend(targets.map(|targets| (key(self.root, item), targets)));
                    facts.globals.extend(self.global(item, file, &start));
                }
                CXCursor_TypedefDecl => {
                    let ty = self.types.read(item.underlying());
                    if is_wrong_alias(&ty) {
                        facts.unfaithful_typedefs.insert(item.name());
                    }
                }
                CXCursor_StructDecl | CXCursor_UnionDecl => {
                    self.types.read(item.ty());
                }
                CXCursor_MacroDefinition if !item.is_builtin_macro() => {
                    facts.macros.push(Macro {
                        key: SymbolKey(format!("{}@{file}", item.usr())),
                        name: item.name(),
                        is_function_like: item.is_function_like_macro(),
                        text: self.sources.text(item),
                        comment: comments_above::directly(&mut self.sources, &start).unwrap_or_default(),
                        place: Self::place(file, &start, &item.end()),
                    });
                }
                CXCursor_MacroExpansion => {
                    expansions.insert((start.file, start.offset, item.name()));
                }
                _ => {}
            }
        }
        let atomic = atomics::macros(&facts.macros);
        for found in &mut facts.functions {
            let place = &found.function.place;
            let path = self.root.join(&place.file.0).into_string();
            let range = (path.clone(), place.start, String::new())..(path, place.end, String::new());
            let names: BTreeSet<String> = expansions.range(range).map(|(_, _, name)| name.clone()).collect();
            let meaning = facts.macros.iter().filter(|m| names.contains(&m.name));
            found.meaning = meaning.map(|m| m.text.as_str()).collect::<Vec<_>>().join("\n");
            let is_atomic = |name: &String| atomics::is_operation(name) || atomic.contains(name.as_str());
            found.function.volatile |= names.iter().any(is_atomic);
            found.function.macros = names.into_iter().collect();
        }
        facts.records = std::mem::take(&mut self.types.records);
        facts
    }

    /// The path relative to the root; `None` outside the project.
    fn relative(&self, at: &Location) -> Option<RelPath> {
        Utf8Path::new(&at.file).strip_prefix(self.root).ok().map(|p| RelPath(p.to_owned()))
    }

    fn place(file: RelPath, start: &Location, end: &Location) -> SourceRange {
        SourceRange { file, start: start.offset, end: end.offset, line: start.line, end_line: end.line }
    }

    /// A function and its static variables that may change.
    fn function(
        &mut self,
        item: Cursor<'_>,
        file: RelPath,
        start: &Location,
    ) -> (FoundFunction, Vec<Global>) {
        let end = item.end();
        let c_name = item.name();
        let parameters = item.arguments();
        let is_kr = item.ty().canonical().kind() == CXType_FunctionNoProto
            || parameters.iter().any(|p| self.ends_a_declaration(*p));
        let body = item.children().into_iter().find(|c| c.kind() == CXCursor_CompoundStmt);
        let root = self.root;
        let read = body
            .map(|body| parse_body::read(body, &parameters, &mut self.sources, &|c| key(root, c)))
            .unwrap_or_default();
        let mut uses = read.uses;
        let params: Vec<Param> = parameters
            .iter()
            .enumerate()
            .map(|(i, p)| Param {
                name: Some(p.name()).filter(|name| is_plain(name)).unwrap_or_else(|| format!("arg{i}")),
                ty: self.types.read_parameter(p.ty()),
                uses: uses.remove(&i).unwrap_or_default(),
            })
            .collect();
        let text = if start.file == end.file { self.sources.between(start, &end) } else { String::new() };
        let comment = comments_above::of(&mut self.sources, item, start);
        let mut function = Function {
            key: key(self.root, item),
            name: SymbolName::new(&c_name),
            c_name,
            module: String::new(),
            place: Self::place(file, start, &end),
            text,
            comment,
            linkage: linkage(item),
            is_inline: item.is_inline(),
            is_variadic: !is_kr && item.ty().is_variadic(),
            is_kr,
            params,
            ret: self.types.read(item.result_type()),
            calls: Vec::new(),
            externs: Vec::new(),
            indirect_calls: read.indirect_calls,
            address_taken: Vec::new(),
            globals_read: read.globals_read.into_iter().collect(),
            globals_written: read.globals_written.into_iter().collect(),
            foreign_globals: Vec::new(),
            macros: Vec::new(),
            comparisons: read.comparisons,
            members_passed: read.members_passed,
            returns: read.returns.into_iter().collect(),
            volatile: read.volatile,
            unsupported: None,
        };
        let symbol = item.mangling();
        let symbol = symbol.trim_start_matches('\u{1}');
        let renamed = function.linkage == Linkage::External && symbol != function.c_name;
        let renamed = renamed.then(|| format!("its symbol is called {symbol}"));
        function.unsupported = renamed.or_else(|| self.limits(&function)).or(read.unsupported);
        let is_alone = |variable: &Cursor<'_>| {
            read.static_names.iter().filter(|name| **name == variable.name()).count() == 1
        };
        let statics = read.local_statics.iter().map(|variable| (*variable, is_alone(variable)));
        let statics = statics.filter_map(|variable| self.local_static(variable, &function)).collect();
        let meaning = String::new();
        let found = FoundFunction {
            function,
            called: read.called,
            addressed: read.addressed,
            lent: read.lent,
            meaning,
        };
        (found, statics)
    }

    /// A static variable inside a function.
    fn local_static(
        &mut self,
        (variable, is_alone): (Cursor<'_>, bool),
        function: &Function,
    ) -> Option<Global> {
        let global = self.global(variable, function.place.file.clone(), &variable.start())?;
        let has_many =
            is_header(&function.place.file.0) && (function.is_inline || function.linkage == Linkage::Static);
        let own = match (has_many, is_alone) {
            (true, _) => Some("each file that includes its function has its own".to_owned()),
            (false, false) => Some("its function has two static variables of this name".to_owned()),
            (false, true) => None,
        };
        Some(Global {
            linkage: Linkage::Static,
            local_to: Some(function.c_name.clone()),
            unsupported: global.unsupported.or(own),
            ..global
        })
    }

    /// Whether a parameter is declared after the parentheses, as in `int f(a) char a; {`: clang then invents
    /// a prototype.
    fn ends_a_declaration(&mut self, parameter: Cursor<'_>) -> bool {
        let end = parameter.end();
        let rest = self.sources.bytes(&end.file).get(end.offset..).unwrap_or_default();
        rest.iter().find(|b| !b.is_ascii_whitespace()) == Some(&b';')
    }

    /// The reason why a function cannot be ported, judged by its signature and text.
    fn limits(&self, function: &Function) -> Option<String> {
        if function.is_variadic {
            return Some("variadic".into());
        }
        if !is_plain(&function.c_name) {
            return Some("its name cannot be linked from Rust".into());
        }
        if !contains_word(&function.text, &function.c_name) || !function.text.ends_with('}') {
            return Some("defined through a macro".into());
        }
        if function.is_kr && function.params.iter().any(|p| is_promoted(&p.ty.kind)) {
            return Some("old-style definition with a parameter that callers promote".into());
        }
        let types = function.params.iter().map(|p| &p.ty).chain([&function.ret]);
        let bad = types.into_iter().find_map(|ty| unfaithful(ty, &self.types.records))?;
        Some(format!("{bad} in the signature"))
    }

    fn type_definition(&mut self, item: Cursor<'_>) -> Option<TypeDefinition> {
        let found = parse_types::found(item)?;
        let (start, end) = (item.start(), item.end());
        let file = self.relative(&start)?;
        Some(TypeDefinition {
            key: SymbolKey(format!("{}@{file}", item.usr())),
            name: found.name,
            form: found.form,
            text: if start.file == end.file { self.sources.between(&start, &end) } else { String::new() },
            comment: comments_above::of(&mut self.sources, item, &start),
            place: Self::place(file, &start, &end),
            complete: found.complete,
        })
    }

    fn global(&mut self, item: Cursor<'_>, file: RelPath, start: &Location) -> Option<Global> {
        // `int x;` is a definition for the linker, though not for the parser; `extern int x;` is not.
        if !item.is_definition() && item.storage() == CX_SC_Extern {
            return None;
        }
        let ty = self.types.read(item.ty());
        let element_is_const = matches!(&ty.kind, TypeKind::Array { of, .. } if of.is_const);
        let is_thread_local = item.is_thread_local();
        let bad = unfaithful(&ty, &self.types.records);
        Some(Global {
            key: key(self.root, item),
            name: SymbolName::new(item.name()),
            c_name: item.name(),
            module: String::new(),
            place: Self::place(file, start, &item.end()),
            linkage: linkage(item),
            is_const: ty.is_const || element_is_const,
            ty,
            is_thread_local,
            // `merge` knows more.
            never_written: !item.ty().canonical().is_volatile(),
            is_in_each_unit: false,
            local_to: None,
            unsupported: match is_plain(&item.name()) {
                false => Some("its name cannot be linked from Rust".into()),
                true if is_thread_local => Some("thread-local".into()),
                true => bad,
            },
        })
    }
}

/// Identity of a function or global: its USR, and also its file if it is not visible to the linker.
fn key(root: &Utf8Path, declaration: Cursor<'_>) -> SymbolKey {
    let definition = declaration.definition().unwrap_or(declaration);
    let usr = definition.usr();
    // A variable inside a function has no linkage.
    if matches!(definition.linkage(), CXLinkage_Internal | CXLinkage_NoLinkage) {
        let file = definition.start().file;
        let file = Utf8Path::new(&file).strip_prefix(root).map_or(file.as_str(), Utf8Path::as_str);
        return SymbolKey(format!("{usr}@{file}"));
    }
    SymbolKey(usr)
}

fn linkage(item: Cursor<'_>) -> Linkage {
    if item.linkage() == CXLinkage_Internal { Linkage::Static } else { Linkage::External }
}

/// Whether callers without a prototype pass another type than the definition declares.
fn is_promoted(kind: &TypeKind) -> bool {
    match kind {
        TypeKind::Bool => true,
        TypeKind::Int { bits, .. } => *bits < 32,
        TypeKind::Float { bits } => *bits < 64,
        _ => false,
    }
}

/// Whether the name is valid in Rust. Names with `$` or with letters beyond ASCII cannot be linked from Rust.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn contains_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(|c| !is_part(c)).any(|w| w == word)
}
