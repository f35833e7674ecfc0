//! Runs bindgen on one unit and parses its output. `bind` merges the outputs.

use super::flags::clang_arguments;
use crate::error::{Error, ErrorKind, Result};
use crate::symbol::Unit;
use camino::Utf8Path;
use std::collections::BTreeSet;
use std::path::Path;

/// The suffix that bindgen adds to the names of static functions, to mark them.
pub(super) const STATIC_MARK: &str = "__implfuzz_static";

/// Maximum number of rounds in which types are made opaque.
const ROUNDS: usize = 4;

/// The Rust text for everything that the unit declares in files of the project. Of the types in `opaque` only
/// size and alignment are kept; the functions in `left_out` are skipped because bindgen panics on them.
///
/// # Errors
/// `C` when bindgen cannot make sense of the unit.
pub(super) fn generate(
    root: &Utf8Path,
    unit: &Unit,
    opaque: &BTreeSet<String>,
    left_out: &BTreeSet<String>,
) -> Result<String> {
    let mut opaque = opaque.clone();
    let mut text = run(root, unit, &opaque, left_out)?;
    for _ in 0..ROUNDS {
        let before = opaque.len();
        // Few units have a packed record; the text of the others is parsed only once, later.
        if text.contains("C, packed") || text.contains("C , packed") {
            opaque.extend(misaligned(&parse(unit, &text)?));
        }
        if opaque.len() == before {
            break;
        }
        text = run(root, unit, &opaque, left_out)?;
    }
    Ok(text)
}

/// Parses bindgen's output.
pub(super) fn parse(unit: &Unit, text: &str) -> Result<syn::File> {
    syn::parse_file(text).map_err(|error| {
        Error::new(ErrorKind::Internal, format!("bindgen's output for {} is not Rust: {error}", unit.file))
    })
}

fn run(
    root: &Utf8Path,
    unit: &Unit,
    opaque: &BTreeSet<String>,
    left_out: &BTreeSet<String>,
) -> Result<String> {
    let failed = |what: String| {
        Error::new(ErrorKind::C, format!("no bindings for {}: {what}", unit.file))
            .help("name the file under exclude in [c] of implfuzz.toml, or correct its flags there")
    };
    // bindgen always writes wrapper functions for statics; they are not compiled.
    let scratch = tempfile::tempdir()?;
    match build(root, unit, opaque, left_out, Some(scratch.path())) {
        // bindgen cannot write a wrapper for one of the static functions: run without wrappers to keep the
        // others.
        Err(bindgen::BindgenError::Codegen(_)) => build(root, unit, opaque, left_out, None),
        result => result,
    }
    .map_err(|error| failed(error.to_string()))
}

fn build(
    root: &Utf8Path,
    unit: &Unit,
    opaque: &BTreeSet<String>,
    left_out: &BTreeSet<String>,
    wrappers: Option<&Path>,
) -> std::result::Result<String, bindgen::BindgenError> {
    let target = bindgen::RustTarget::stable(85, 0).unwrap_or_default();
    let mut builder = bindgen::builder()
        .header(root.join(&unit.file.0))
        .clang_args(clang_arguments(root, unit))
        // libclang finds its own headers; bindgen would start clang several times per unit to find them.
        .detect_include_paths(false)
        .clang_arg("-w")
        .allowlist_file(format!("{}/.*", escaped(root.as_str())))
        .rust_target(target)
        .rust_edition(bindgen::RustEdition::Edition2024)
        .formatter(bindgen::Formatter::None)
        .default_macro_constant_type(bindgen::MacroTypeVariation::Signed)
        .default_enum_style(bindgen::EnumVariation::Consts)
        .prepend_enum_name(false)
        .size_t_is_usize(true)
        .generate_cstr(true)
        .generate_comments(false)
        .layout_tests(true)
        .use_core()
        .derive_copy(true)
        .derive_debug(true);
    if let Some(folder) = wrappers {
        builder = builder
            .wrap_static_fns(true)
            .wrap_static_fns_path(folder.join("wrap"))
            .wrap_static_fns_suffix(STATIC_MARK);
    }
    for name in opaque {
        builder = builder.opaque_type(name);
    }
    for name in left_out {
        builder = builder.blocklist_function(name);
    }
    builder.generate().map(|bindings| bindings.to_string())
}

/// The path as a pattern that matches only this path.
fn escaped(path: &str) -> String {
    path.chars()
        .flat_map(|c| [(c.is_ascii_punctuation() && !matches!(c, '/' | '_')).then_some('\\'), Some(c)])
        .flatten()
        .collect()
}

/// Packed records that contain aligned ones: rustc rejects them (E0588).
fn misaligned(file: &syn::File) -> Vec<String> {
    let mut aligned: BTreeSet<String> = BTreeSet::new();
    let records: Vec<_> = file.items.iter().filter_map(layout).collect();
    loop {
        let before = aligned.len();
        for (name, repr, fields) in &records {
            if repr.contains("align") || fields.iter().any(|f| aligned.contains(f)) {
                aligned.insert(name.clone());
            }
        }
        if aligned.len() == before {
            break;
        }
    }
    records
        .into_iter()
        .filter(|(_, repr, fields)| repr.contains("packed") && fields.iter().any(|f| aligned.contains(f)))
        .map(|(name, ..)| name)
        .collect()
}

/// The name, the attributes and the fields of a struct or union.
pub(super) fn record(item: &syn::Item) -> Option<(String, &[syn::Attribute], Vec<&syn::Field>)> {
    match item {
        syn::Item::Struct(s) => Some((s.ident.to_string(), &s.attrs, s.fields.iter().collect())),
        syn::Item::Union(u) => Some((u.ident.to_string(), &u.attrs, u.fields.named.iter().collect())),
        _ => None,
    }
}

/// Name, representation, and the names of the types that it holds by value.
fn layout(item: &syn::Item) -> Option<(String, String, Vec<String>)> {
    let (name, attrs, fields) = record(item)?;
    let repr = attrs.iter().filter(|a| a.path().is_ident("repr")).map(|a| quote::quote!(#a).to_string());
    Some((name, repr.collect(), fields.into_iter().filter_map(|f| by_value(&f.ty)).collect()))
}

fn by_value(ty: &syn::Type) -> Option<String> {
    match ty {
        syn::Type::Array(array) => by_value(&array.elem),
        syn::Type::Path(path) => path.path.get_ident().map(ToString::to_string),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_patterns() {
        assert_eq!(escaped("/a+b/c.d (x)/é_1"), r"/a\+b/c\.d \(x\)/é_1");
    }

    #[test]
    fn packed_around_aligned() {
        let file = syn::parse_file(
            "#[repr(C, align(16))] struct A { x: u8 } #[repr(C)] struct B { a: [A; 2] }
             #[repr(C, packed)] struct C { b: B } #[repr(C, packed)] struct D { b: *mut B }",
        )
        .unwrap();
        assert_eq!(misaligned(&file), ["C"]);
    }
}
