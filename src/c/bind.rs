//! `ffi.rs`: the renamed C library as Rust declarations. bindgen gives signatures and types unit by unit; this module
//! merges them into one file and links every function and global by its name in the archive.

use super::alias_unit::alias;
use super::bind_generate::{self, STATIC_MARK};
use super::bind_merge::{Types, UnitItems};
use super::bind_rename::{Renamer, Renames};
use super::merge::Merged;
use super::rust_type::rust_type;
use super::types::{opaque_by_value, unfaithful, wrong_layout};
use super::{record_names, rust_text};
use crate::error::Result;
use crate::symbol::{
    CType, Function, Global, Library, Linkage, Record, RelPath, SymbolKey, SymbolName, TypeKind,
};
use quote::{format_ident, quote};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit_mut::VisitMut as _;

/// The bindings of a library.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Bindings {
    /// The text of `ffi.rs`.
    pub file: String,
    /// Every bound function, by its name in `ffi.rs`.
    #[serde(with = "rust_text")]
    pub functions: BTreeMap<SymbolName, syn::ForeignItemFn>,
    /// Every bound global with its type.
    #[serde(with = "rust_text")]
    pub globals: BTreeMap<SymbolName, syn::ForeignItemStatic>,
    /// The names of the types that `ffi.rs` defines.
    pub types: BTreeSet<String>,
    /// Names with different meanings in different units, and how they were distinguished.
    pub conflicts: Vec<String>,
    /// Functions and globals without a binding, each with the reason.
    pub missing: Vec<(SymbolKey, String)>,
}

/// The symbol's name in the archive: `c_<name>`, or for a static the name of its alias.
pub fn link_name(c_name: &str, module: &str, linkage: Linkage) -> String {
    match linkage {
        Linkage::External => format!("c_{c_name}"),
        Linkage::Static => format!("c_{}", alias(module, c_name)),
    }
}

/// The functions and globals that bindgen declares in one unit, by C name.
#[derive(Default)]
struct Foreign {
    functions: BTreeMap<String, syn::ForeignItemFn>,
    statics: BTreeMap<String, syn::ForeignItemStatic>,
}

/// Merges bindgen's outputs, which are in the order of the units, and sets `rust_name` of each record to its
/// name there.
///
/// # Errors
/// `Internal` when an output is not Rust.
pub(super) fn bind(merged: &mut Merged, texts: Vec<String>) -> Result<Bindings> {
    let mut types = Types::default();
    let mut foreign: BTreeMap<RelPath, Foreign> = BTreeMap::new();
    let mut records = Vec::new();
    for (unit, text) in merged.library.units.iter().zip(texts) {
        let mut items = bind_generate::parse(unit, &text)?.items;
        foreign.insert(unit.file.clone(), take_foreign(&mut items));
        records.extend(items.iter().filter_map(record_names::Shape::of).map(|s| (unit.file.clone(), s)));
        types.add(UnitItems { file: unit.file.clone(), module: unit.module.clone(), items });
    }
    let shapes: BTreeMap<(RelPath, String), record_names::Shape> =
        records.into_iter().map(|(file, shape)| ((file, shape.name.clone()), shape)).collect();
    record_names::forget_unknown(&mut merged.library.records, &merged.record_units, &shapes);
    name_by_globals(merged, &foreign);
    record_names::fill(&mut merged.library.records, &merged.record_units, &shapes, &types.renames);
    let opaque = shapes.iter().filter(|(_, shape)| shape.is_opaque()).map(|((file, name), _)| {
        types.renames.get(file).and_then(|renames| renames.get(name)).unwrap_or(name).clone()
    });
    let opaque = opaque.collect();
    Ok(assemble(merged, foreign, types, &opaque))
}

/// Names records after the variable that they define: in `static struct { … } table[];` the made-up name of
/// the record appears only in the variable's type.
fn name_by_globals(merged: &mut Merged, foreign: &BTreeMap<RelPath, Foreign>) {
    for global in &merged.library.globals {
        let declared =
            merged.library.unit_of.get(&global.key).and_then(|u| foreign.get(u)?.statics.get(&global.c_name));
        if let Some(declared) = declared
            && let Some(key) = record_names::nameless(&global.ty, &merged.library.records).map(str::to_owned)
            && let Some(name) = record_names::innermost(&declared.ty)
            && let Some(record) = merged.library.records.get_mut(&key)
        {
            record.rust_name = name;
        }
    }
}

/// Records that bindgen lays out wrongly in part: they become opaque, with only size and alignment.
pub(super) fn opaque_records(library: &Library) -> BTreeSet<String> {
    let is_wrong = |r: &Record| wrong_layout(r, &library.records).is_some() || packed_and_aligned(r, library);
    let is_bad = |r: &&Record| !r.rust_name.is_empty() && is_wrong(r);
    let bad = library.records.values().filter(is_bad);
    bad.map(|r| r.rust_name.clone()).collect()
}

/// Whether a record is packed and also aligned as a whole. Rust has no such representation, and bindgen
/// writes a different one.
fn packed_and_aligned(record: &Record, library: &Library) -> bool {
    let natural = |ty: &CType| -> u64 {
        match &ty.element().kind {
            TypeKind::Int { bits, .. } | TypeKind::Float { bits } | TypeKind::Enum { bits, .. } => {
                u64::from(bits / 8)
            }
            TypeKind::Pointer(_) => 8,
            TypeKind::Record(key) => library.records.get(key).map_or(1, |r| r.align),
            _ => 1,
        }
    };
    let mut fields = record.fields.iter().filter(|f| f.bits.is_none());
    record.complete
        && fields.any(|f| {
            let unit = natural(&f.ty).min(record.align).max(1);
            f.offset.is_some_and(|offset| offset / 8 % unit != 0)
        })
}

/// Moves the foreign items out of bindgen's output.
fn take_foreign(items: &mut Vec<syn::Item>) -> Foreign {
    let mut foreign = Foreign::default();
    items.retain(|item| {
        let syn::Item::ForeignMod(block) = item else { return true };
        for item in &block.items {
            match item {
                syn::ForeignItem::Fn(f) => {
                    let name = c_name(&f.attrs, &f.sig.ident);
                    foreign.functions.entry(name).or_insert_with(|| f.clone());
                }
                syn::ForeignItem::Static(s) => {
                    foreign.statics.insert(c_name(&s.attrs, &s.ident), s.clone());
                }
                _ => {}
            }
        }
        false
    });
    foreign
}

/// The C name: the link name without bindgen's marks, else the identifier.
fn c_name(attrs: &[syn::Attribute], ident: &syn::Ident) -> String {
    let linked = attrs.iter().filter(|a| a.path().is_ident("link_name")).find_map(|a| match &a.meta {
        syn::Meta::NameValue(syn::MetaNameValue {
            value: syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(name), .. }),
            ..
        }) => Some(name.value()),
        _ => None,
    });
    let name = linked.unwrap_or_else(|| ident.to_string());
    let name = name.trim_start_matches('\u{1}');
    name.strip_suffix(STATIC_MARK).unwrap_or(name).to_owned()
}

fn assemble(
    merged: &Merged,
    foreign: BTreeMap<RelPath, Foreign>,
    types: Types,
    opaque: &BTreeSet<String>,
) -> Bindings {
    let library = &merged.library;
    let none = (Foreign::default(), Renames::new());
    let unit_of = |key: &SymbolKey| {
        let file = merged.library.unit_of.get(key);
        let foreign = file.and_then(|f| foreign.get(f)).unwrap_or(&none.0);
        (foreign, file.and_then(|f| types.renames.get(f)).unwrap_or(&none.1))
    };
    let mut functions = BTreeMap::new();
    let mut globals = BTreeMap::new();
    let mut missing = Vec::new();
    for function in &library.functions {
        let (foreign, renames) = unit_of(&function.key);
        let absent = merged.absent.get(&function.key).cloned().map_or(Ok(()), Err);
        match absent.and_then(|()| bind_function(function, library, foreign, renames, opaque)) {
            Ok(bound) => drop(functions.insert(function.name.clone(), bound)),
            Err(reason) => missing.push((function.key.clone(), reason)),
        }
    }
    // C code outside of its function cannot name a variable inside of one.
    for global in library.globals.iter().filter(|global| global.local_to.is_none()) {
        let (foreign, renames) = unit_of(&global.key);
        let absent = merged.absent.get(&global.key).cloned().map_or(Ok(()), Err);
        match absent.and_then(|()| bind_global(global, library, foreign, renames)) {
            Ok(bound) => drop(globals.insert(global.name.clone(), bound)),
            Err(reason) => missing.push((global.key.clone(), reason)),
        }
    }
    let taken: BTreeSet<String> =
        (library.functions.iter().flat_map(|f| [f.c_name.as_str(), f.name.as_str()]))
            .chain(library.globals.iter().flat_map(|g| [g.c_name.as_str(), g.name.as_str()]))
            .map(str::to_owned)
            .collect();
    let (items, conflicts) = types.into_items(&taken, &merged.unfaithful_typedefs);
    let types = items.iter().filter_map(type_name).collect();
    let file = text(items, functions.values(), globals.values());
    Bindings { file, functions, globals, types, conflicts, missing }
}

fn type_name(item: &syn::Item) -> Option<String> {
    match item {
        syn::Item::Struct(s) => Some(s.ident.to_string()),
        syn::Item::Union(u) => Some(u.ident.to_string()),
        syn::Item::Type(t) => Some(t.ident.to_string()),
        _ => None,
    }
}

/// Binds a function. `Err` holds the reason why it has no correct binding.
fn bind_function(
    function: &Function,
    library: &Library,
    foreign: &Foreign,
    renames: &Renames,
    opaque: &BTreeSet<String>,
) -> std::result::Result<syn::ForeignItemFn, String> {
    let mut types = function.params.iter().map(|p| &p.ty).chain([&function.ret]);
    if let Some(bad) = types.clone().find_map(|ty| unfaithful(ty, &library.records)) {
        return Err(format!("{bad} in the signature"));
    }
    if let Some(record) = types.find_map(|ty| opaque_by_value(ty, &library.records, opaque)) {
        return Err(format!("{record}, which Rust cannot lay out, by value in the signature"));
    }
    // For these functions the definition does not show what callers need, or there is nothing to call.
    let misleads = |reason: &&String| {
        ["old-style", "its symbol", "its name"].iter().any(|word| reason.starts_with(word))
    };
    if let Some(reason) = function.unsupported.as_ref().filter(misleads) {
        return Err(reason.clone());
    }
    let mut bound = foreign
        .functions
        .get(&function.c_name)
        .cloned()
        .or_else(|| declared(function, library))
        .ok_or("bindgen gives no binding for it")?;
    if bound.sig.inputs.len() != function.params.len() {
        return Err("bindgen gives it other parameters than clang".into());
    }
    Renamer(renames).visit_foreign_item_fn_mut(&mut bound);
    if !function.is_variadic {
        bound.sig.variadic = None;
    }
    let link = link_name(&function.c_name, &function.module, function.linkage);
    bound.attrs = vec![syn::parse_quote!(#[link_name = #link])];
    bound.sig.ident = format_ident!("{}", function.name.as_str());
    Ok(bound)
}

/// The declaration of a function that bindgen omitted, made from clang's types. The caller sets the names.
fn declared(function: &Function, library: &Library) -> Option<syn::ForeignItemFn> {
    let of = |ty: &CType| rust_type(ty, &library.records);
    let params = function.params.iter().enumerate().map(|(index, param)| {
        let (name, ty) = (format_ident!("arg{}", index + 1), of(&passed(&param.ty))?);
        Some(quote!(#name: #ty))
    });
    let params: Vec<_> = params.collect::<Option<_>>()?;
    let dots = function.is_variadic.then(|| quote!(, ...));
    let ret = match function.ret.kind {
        TypeKind::Void => None,
        _ => {
            let ret = of(&function.ret)?;
            Some(quote!(-> #ret))
        }
    };
    syn::parse2(quote!(pub fn left_out(#(#params),* #dots) #ret;)).ok()
}

/// The type of a parameter as it is passed: arrays and functions become pointers.
fn passed(ty: &CType) -> CType {
    let to = match &ty.kind {
        TypeKind::Array { of, .. } => of.clone(),
        TypeKind::Function { .. } => Box::new(ty.clone()),
        _ => return ty.clone(),
    };
    CType { spelling: ty.spelling.clone(), is_const: false, kind: TypeKind::Pointer(to) }
}

fn bind_global(
    global: &Global,
    library: &Library,
    foreign: &Foreign,
    renames: &Renames,
) -> std::result::Result<syn::ForeignItemStatic, String> {
    if let Some(reason) = &global.unsupported {
        return Err(reason.clone());
    }
    let known = foreign.statics.get(&global.c_name).map(|s| {
        let mut ty = (*s.ty).clone();
        Renamer(renames).visit_type_mut(&mut ty);
        ty
    });
    // For a global with a simple initialiser bindgen gives its value, even for variables; for `extern T t[];`
    // it gives `[T; 0]`.
    let is_array = matches!(global.ty.kind, TypeKind::Array { .. });
    let ty = match known.filter(|_| !is_array) {
        Some(ty) => ty,
        None => rust_type(&global.ty, &library.records)
            .and_then(|tokens| syn::parse2(tokens).ok())
            .ok_or("its type has no Rust form")?,
    };
    let link = link_name(&global.c_name, &global.module, global.linkage);
    let name = format_ident!("{}", global.name.as_str());
    let mutability = (!global.is_const).then(|| quote!(mut));
    Ok(syn::parse_quote!(#[link_name = #link] pub static #mutability #name: #ty;))
}

fn text<'a>(
    items: Vec<syn::Item>,
    functions: impl Iterator<Item = &'a syn::ForeignItemFn>,
    globals: impl Iterator<Item = &'a syn::ForeignItemStatic>,
) -> String {
    let file: syn::File = syn::parse_quote! {
        #![allow(
            non_camel_case_types, non_snake_case, non_upper_case_globals, dead_code, improper_ctypes,
            unused_imports, unnecessary_transmutes, unsafe_op_in_unsafe_fn, clippy::all
        )]
        #(#items)*
        unsafe extern "C" {
            #(#functions)*
            #(#globals)*
        }
    };
    prettyplease::unparse(&file)
}
