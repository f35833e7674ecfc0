//! Structs with a `const char *`: a `static` cannot hold bindgen's raw pointer, so they get a copy with strings.

use super::records_with_text::holds_text;
use super::value::Reader;
use crate::c::bindgen_names::bindgen_name;
use crate::rust::pretty::pretty;
use crate::symbol::{CType, Record, TypeKind};
use quote::{format_ident, quote};
use std::collections::BTreeMap;

/// Adds the structs with strings that a value of this type needs, by name.
pub(super) fn collect(
    reader: &Reader<'_>,
    ty: &CType,
    twins: &mut BTreeMap<String, String>,
) -> Result<(), String> {
    match &ty.kind {
        TypeKind::Array { of, .. } => collect(reader, of, twins),
        TypeKind::Record(key) if holds_text(reader.records, ty) => {
            let record = reader.record(key)?;
            for field in &record.fields {
                collect(reader, &field.ty, twins)?;
            }
            twins.insert(record.rust_name.clone(), twin(reader, record)?);
            Ok(())
        }
        _ => Ok(()),
    }
}

fn twin(reader: &Reader<'_>, record: &Record) -> Result<String, String> {
    let name = format_ident!("{}", record.rust_name);
    let doc = format!(" `{name}` of C with optional strings for `const char *`.");
    let mut fields = Vec::new();
    for field in &record.fields {
        let name = format_ident!("{}", bindgen_name(&field.name));
        let ty: syn::Type = syn::parse_str(&reader.rust_type(&field.ty)?).map_err(|e| e.to_string())?;
        fields.push(quote!(pub #name: #ty));
    }
    // An inner struct may lack these derives.
    let is_plain = !record.fields.iter().any(|f| matches!(f.ty.element().kind, TypeKind::Record(_)));
    let derive = is_plain.then(|| quote!(#[derive(Debug, Clone, Copy)])).into_iter();
    let item = pretty(quote!(#[doc = #doc] #(#derive)* pub struct #name { #(#fields),* }));
    Ok(format!("\n{item}"))
}
