//! Bytes that may be padding where no argument tells what lies there: those of the structs that a function may write.

use crate::symbol::{CType, Field, Function, Library, LibraryIndex, Record, TypeForm, TypeKind};
use std::collections::{BTreeMap, BTreeSet};

/// The bytes of aligned words of eight that may be padding in a struct that a function knows, a bit for each, wherever such
/// a struct may lie.
pub(super) fn padding_known_to(library: &Library, function: &Function) -> u8 {
    let known = Known::to(library, function);
    known
        .records
        .iter()
        .filter_map(|key| library.records.get(*key))
        .fold(0, |all, record| all | padding(library, record))
}

/// Whether values of a type have padding.
pub(super) fn is_padded(library: &Library, ty: &CType) -> bool {
    match &ty.kind {
        TypeKind::Record(key) => library.records.get(key).is_none_or(|record| {
            has_padding(library, record) || record.fields.iter().any(|field| is_padded(library, &field.ty))
        }),
        TypeKind::Array { of, .. } => is_padded(library, of),
        _ => false,
    }
}

pub(super) fn is_known(record: &Record) -> bool {
    record.complete && !record.opaque && !record.is_union && record.size > 0
}

fn has_padding(library: &Library, record: &Record) -> bool {
    let sizes = record.fields.iter().map(|field| library.size_of(&field.ty).filter(|_| field.bits.is_none()));
    let used = sizes.sum::<Option<u64>>();
    !is_known(record) || used != Some(record.size)
}

/// The bytes of aligned words of eight that may be padding where a value of this type lies, a bit for each.
fn padding(library: &Library, record: &Record) -> u8 {
    if !record.complete || record.size == 0 {
        return 0;
    }
    // In bits: a byte of which bit-fields cover a part may be padding.
    let field = |field: &Field| {
        let bits = field.bits.map(u64::from).or_else(|| Some(library.size_of(&field.ty)? * 8));
        Some(field.offset?..field.offset? + bits?)
    };
    let fields: Vec<_> = record.fields.iter().filter_map(field).collect();
    let has_value = |at: &u64| {
        let mut bits = at * 8..at * 8 + 8;
        match record.is_union {
            true => {
                let is_in_all = |bit| fields.iter().all(|field| field.contains(&bit));
                fields.len() == record.fields.len() && bits.all(is_in_all)
            }
            false => bits.all(|bit| fields.iter().any(|field| field.contains(&bit))),
        }
    };
    let align = record.align.clamp(1, 8);
    let places = |at: u64| (0..8).step_by(align as usize).map(move |start| 1 << ((start + at) % 8));
    (0..record.size).filter(|at| !has_value(at)).flat_map(places).fold(0, |all, bit: u8| all | bit)
}

/// The records that may lie where a function writes.
struct Known<'l> {
    library: &'l Library,
    /// The names of complete structs and unions from the library's own files.
    own: BTreeSet<&'l str>,
    records: BTreeSet<&'l String>,
}

impl<'l> Known<'l> {
    /// The records that a function and those that it calls name, those of variables, and what these hold and point to;
    /// all of the library's where it is not known what is called. What stands in headers of the system counts only where
    /// it is named or held: a pointer to a `FILE` does not make its padding known.
    fn to(library: &'l Library, function: &'l Function) -> Self {
        let is_own = |form| matches!(form, TypeForm::Struct | TypeForm::Union);
        let own = library.types.iter().filter(|ty| ty.complete && is_own(ty.form));
        let own: BTreeSet<&str> = own.map(|ty| ty.name.as_str()).collect();
        let mut known = Self { library, own, records: BTreeSet::new() };
        let reached: Vec<&Function> =
            std::iter::once(function).chain(LibraryIndex::of(library).reached(function)).collect();
        let names = names_in(library, &reached).filter(|_| reached.iter().all(|one| one.indirect_calls == 0));
        for (key, record) in &library.records {
            let name = name_of(record);
            if names.as_ref().unwrap_or(&known.own).contains(name) {
                known.add(key);
            }
        }
        let all = names.is_none().then_some(&library.functions).into_iter().flatten();
        for one in reached.into_iter().chain(all) {
            one.params.iter().map(|param| &param.ty).chain([&one.ret]).for_each(|ty| known.add_all(ty));
        }
        library.globals.iter().for_each(|global| known.add_all(&global.ty));
        known
    }

    fn add(&mut self, key: &'l String) {
        let mut open = vec![key];
        while let Some(key) = open.pop() {
            if self.records.insert(key) {
                let fields = self.library.records.get(key).into_iter().flat_map(|record| &record.fields);
                open.extend(fields.flat_map(|field| self.led_to(&field.ty)));
            }
        }
    }

    fn add_all(&mut self, ty: &'l CType) {
        self.led_to(ty).into_iter().for_each(|key| self.add(key));
    }

    /// The records in a type, but for pointers to those from outside.
    fn led_to(&self, ty: &'l CType) -> Vec<&'l String> {
        let held = match &ty.element().kind {
            TypeKind::Record(key) => Some(key),
            _ => None,
        };
        let is_known = |key: &&String| {
            let name = self.library.records.get(*key).map_or("", name_of);
            Some(*key) == held || name.is_empty() || self.own.contains(name)
        };
        ty.record_keys().filter(is_known).collect()
    }
}

/// The tag, or the name that a typedef gives; empty if there is none.
fn name_of(record: &Record) -> &str {
    record.c_name.rsplit(' ').next().unwrap_or_default()
}

/// All names in the texts of functions, and of the macros and types that they name; `None` where macros make further names.
fn names_in<'l>(library: &'l Library, functions: &[&'l Function]) -> Option<BTreeSet<&'l str>> {
    let mut texts: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let macros = library.macros.iter().map(|one| (one.name.as_str(), one.text.as_str()));
    let types = library.types.iter().map(|one| (one.name.as_str(), one.text.as_str()));
    for (name, text) in macros.chain(types) {
        texts.entry(name).or_default().push(text);
    }
    let mut names = BTreeSet::new();
    let mut open: Vec<&str> = functions.iter().map(|function| function.text.as_str()).collect();
    while let Some(text) = open.pop() {
        if text.contains("##") {
            return None;
        }
        for name in text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|name| !name.is_empty()) {
            if names.insert(name) {
                open.extend(texts.get(name).into_iter().flatten());
            }
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbol::fixture::{self, int};
    use crate::symbol::{Param, SourceRange, SymbolKey, TypeDefinition};

    fn field(name: &str, ty: CType, bits: Option<u32>, offset: u64) -> Field {
        Field { name: name.into(), ty, bits, offset: Some(offset) }
    }

    fn record(name: &str, size: u64, fields: Vec<Field>) -> Record {
        Record {
            rust_name: name.into(),
            c_name: format!("struct {name}"),
            is_union: false,
            complete: true,
            opaque: false,
            size,
            align: 8,
            fields,
        }
    }

    fn to(key: &str) -> CType {
        let record = CType { spelling: String::new(), is_const: false, kind: TypeKind::Record(key.into()) };
        CType { kind: TypeKind::Pointer(Box::new(record.clone())), ..record }
    }

    /// `struct file` is from outside; `struct padded { char tag; int number; }` and `struct book { struct file *log; }` are
    /// the library's own.
    fn library() -> Library {
        let own = |name: &str| TypeDefinition {
            key: SymbolKey(name.into()),
            name: name.into(),
            form: TypeForm::Struct,
            place: SourceRange { ..fixture::place(1) },
            text: String::new(),
            comment: String::new(),
            complete: true,
        };
        let padded = |name| {
            record(
                name,
                8,
                vec![field("tag", int("char", true, 8), None, 0), field("n", int("int", true, 32), None, 32)],
            )
        };
        let book = record("book", 8, vec![field("log", to("file"), None, 0)]);
        let records = [("file", padded("file")), ("padded", padded("padded")), ("book", book)];
        Library {
            records: records.map(|(key, record)| (key.to_owned(), record)).into(),
            types: ["padded", "book"].map(own).into(),
            ..Library::default()
        }
    }

    fn function(text: &str, param: CType, indirect_calls: u32) -> Function {
        let params = vec![Param { name: "p".into(), ty: param, uses: Vec::new() }];
        Function { text: text.into(), params, indirect_calls, ..fixture::function("f") }
    }

    #[test]
    fn only_what_a_function_knows_may_be_padding() {
        let of = |text, param, indirect| padding_known_to(&library(), &function(text, param, indirect));
        let void = CType { spelling: String::new(), is_const: false, kind: TypeKind::Void };
        assert_eq!(of("void f(struct book *p) {}", to("book"), 0), 0);
        assert_eq!(of("void f(void *p) { struct padded *q = p; }", void.clone(), 0), 0b1110);
        assert_eq!(of("F", to("padded"), 0), 0b1110);
        assert_eq!(of("void f(void *p) { struct file *q = p; }", void.clone(), 0), 0b1110);
        // What is called, or named, is not known.
        assert_eq!(of("void f(void *p) { call(p); }", void.clone(), 1), 0b1110);
        assert_eq!(of("void f(void *p) { NAME(a##b) }", void, 0), 0b1110);
    }

    #[test]
    fn what_callees_macros_and_types_name_is_known() {
        let mut library = library();
        let void = CType { spelling: String::new(), is_const: false, kind: TypeKind::Void };
        let callee = Function {
            key: SymbolKey("g".into()),
            ..function("void g(void *p) { padded_t *q = p; }", void.clone(), 0)
        };
        let alias = TypeDefinition {
            name: "padded_t".into(),
            form: TypeForm::Typedef,
            text: "typedef struct padded padded_t".into(),
            ..library.types[0].clone()
        };
        library.types.push(alias);
        let caller = Function {
            calls: vec![callee.key.clone()],
            ..function("void f(void *p) { g(p); }", void.clone(), 0)
        };
        library.functions = vec![callee, caller.clone()];
        assert_eq!(padding_known_to(&library, &caller), 0b1110);
        let other = function("void h(void *p) {}", void, 0);
        let other = Function { key: SymbolKey("h".into()), ..other };
        assert_eq!(padding_known_to(&library, &other), 0);
    }

    #[test]
    fn what_bit_fields_cover_is_no_padding() {
        let bits = |fields: &[(u32, u64)]| {
            let fields =
                fields.iter().map(|(bits, at)| field("", int("unsigned", false, 32), Some(*bits), *at));
            padding(&Library::default(), &record("bits", 8, fields.collect()))
        };
        assert_eq!(bits(&[(3, 0), (29, 3), (32, 32)]), 0);
        assert_eq!(bits(&[(3, 0), (13, 3), (32, 32)]), 0b1100);
        // A part of the second byte is covered, and of the sixth.
        assert_eq!(bits(&[(12, 0), (4, 40)]), 0b1111_1110);
    }
}
