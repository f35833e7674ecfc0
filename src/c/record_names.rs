//! The names of records in `ffi.rs`. bindgen names anonymous records, and the merge renames some records.

use super::bind_generate;
use super::bind_rename::Renames;
use super::modules::is_keyword;
use crate::symbol::{CType, Record, RelPath, TypeKind};
use std::collections::BTreeMap;

/// A record as bindgen writes it: its fields, each with the name of its innermost type.
#[derive(Debug, Clone)]
pub(super) struct Shape {
    pub name: String,
    fields: Vec<(String, String)>,
}

impl Shape {
    pub(super) fn of(item: &syn::Item) -> Option<Self> {
        let (name, _, fields) = bind_generate::record(item)?;
        let field = |f: &syn::Field| Some((f.ident.as_ref()?.to_string(), innermost(&f.ty)?));
        Some(Self { name, fields: fields.into_iter().filter_map(field).collect() })
    }

    /// Whether bindgen gives only the size of the record.
    pub(super) fn is_opaque(&self) -> bool {
        self.fields.iter().any(|(name, _)| name == "_bindgen_opaque_blob")
    }

    /// The type of a field; `anonymous` counts members without a name, from 1.
    fn field(&self, name: &str, anonymous: usize) -> Option<&str> {
        let numbered = format!("__bindgen_anon_{anonymous}");
        let escaped = format!("{name}_");
        let wanted = |f: &str| if name.is_empty() { f == numbered } else { f == name || f == escaped };
        self.fields.iter().find(|(f, _)| wanted(f)).map(|(_, ty)| ty.as_str())
    }
}

/// The record type inside arrays and pointers.
pub(super) fn innermost(ty: &syn::Type) -> Option<String> {
    match ty {
        syn::Type::Array(array) => innermost(&array.elem),
        syn::Type::Ptr(pointer) => innermost(&pointer.elem),
        syn::Type::Path(path) => path.path.segments.last().map(|s| s.ident.to_string()),
        _ => None,
    }
}

/// Clears names that bindgen does not use: it names a record inside another one after both.
pub(super) fn forget_unknown(
    records: &mut BTreeMap<String, Record>,
    units: &BTreeMap<String, RelPath>,
    shapes: &BTreeMap<(RelPath, String), Shape>,
) {
    for (key, record) in records.iter_mut().filter(|(_, r)| r.complete) {
        let known =
            |name: &str| units.get(key).is_some_and(|u| shapes.contains_key(&(u.clone(), name.to_owned())));
        if !known(&record.rust_name) && !known(&format!("{}_", record.rust_name)) {
            record.rust_name.clear();
        }
    }
}

/// Gives every record its name in `ffi.rs`, and marks those that have no fields there. `units` maps each
/// record to the unit that it was read from; `shapes` holds bindgen's output for the units.
pub(super) fn fill(
    records: &mut BTreeMap<String, Record>,
    units: &BTreeMap<String, RelPath>,
    shapes: &BTreeMap<(RelPath, String), Shape>,
    renames: &BTreeMap<RelPath, Renames>,
) {
    // A record without a name is found through a field of a named record, one level per round.
    loop {
        let mut found: Vec<(String, String)> = Vec::new();
        for (key, record) in records.iter().filter(|(_, r)| !r.rust_name.is_empty()) {
            let Some(unit) = units.get(key) else { continue };
            let escaped = format!("{}_", record.rust_name);
            let named = |name: &str| shapes.get(&(unit.clone(), name.to_owned()));
            let Some(shape) = named(&record.rust_name).or_else(|| named(&escaped)) else { continue };
            let mut anonymous = 0;
            for field in &record.fields {
                anonymous += usize::from(field.name.is_empty() && field.bits.is_none());
                if let Some(inner) = nameless(&field.ty, records)
                    && let Some(name) = shape.field(&field.name, anonymous)
                {
                    found.push((inner.to_owned(), name.to_owned()));
                }
            }
        }
        if found.is_empty() {
            break;
        }
        for (key, name) in found {
            if let Some(record) = records.get_mut(&key) {
                record.rust_name = name;
            }
        }
    }
    for (key, record) in records.iter_mut() {
        let named = |name: String| units.get(key).and_then(|unit| shapes.get(&(unit.clone(), name)));
        let shape = named(record.rust_name.clone()).or_else(|| named(format!("{}_", record.rust_name)));
        record.opaque = shape.is_some_and(Shape::is_opaque);
        if !record.rust_name.is_empty() && is_keyword(&record.rust_name) {
            record.rust_name.push('_');
        }
        let renamed = units.get(key).and_then(|u| renames.get(u)).and_then(|r| r.get(&record.rust_name));
        if let Some(new) = renamed {
            record.rust_name = new.clone();
        }
    }
}

/// The key of the record inside arrays and pointers, if it has no name yet.
pub(super) fn nameless<'a>(ty: &'a CType, records: &BTreeMap<String, Record>) -> Option<&'a str> {
    match &ty.kind {
        TypeKind::Pointer(of) | TypeKind::Array { of, .. } => nameless(of, records),
        TypeKind::Record(key) => records.get(key).filter(|r| r.rust_name.is_empty()).map(|_| key.as_str()),
        _ => None,
    }
}
