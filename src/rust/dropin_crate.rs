//! The port as part of a C program: functions have C's own names, without the prefix of the renamed C original, and
//! each variable exists once, in C. The text comes from the port's `ffi.rs` and `globals.rs`.

use super::pretty::pretty;
use quote::quote;
use std::collections::{BTreeMap, BTreeSet};

/// The prefix of every name in the archive of the C original.
const MARK: &str = "c_";

/// `ffi.rs` for a program that has the C functions under their own names.
pub fn ffi_file(ffi: &str) -> String {
    let start = "#[link_name = \"";
    ffi.replace(&format!("{start}{MARK}"), start).replace(&format!("{start}\\u{{1}}{MARK}"), start)
}

/// `globals.rs` for a program in which C has the variables, and the names of the variables that stay the port's
/// own. `linker_names` maps Rust names of variables to linker names.
pub fn globals_file(
    globals: &str,
    linker_names: &BTreeMap<String, String>,
) -> syn::Result<(String, Vec<String>)> {
    let file = syn::parse_file(globals)?;
    // A struct that `globals.rs` defines differs from C's in layout.
    let own: BTreeSet<String> = file.items.iter().filter_map(struct_name).collect();
    let (mut text, mut apart, mut taken) = (String::new(), Vec::new(), 0);
    for item in &file.items {
        let syn::Item::Static(variable) = item else { continue };
        if matches!(variable.mutability, syn::StaticMutability::None) {
            continue;
        }
        let name = variable.ident.to_string();
        let (ident, ty) = (&variable.ident, &variable.ty);
        let linker_name = linker_names.get(&name).filter(|_| !mentions(quote!(#ty), &own));
        let Some(linker_name) = linker_name else {
            apart.push(name);
            continue;
        };
        let range = syn::spanned::Spanned::span(item).byte_range();
        text += &globals[taken..range.start];
        let block = quote! {
            unsafe extern "C" {
                #[link_name = #linker_name]
                pub static mut #ident: #ty;
            }
        };
        text += pretty(block).trim_end();
        taken = range.end;
    }
    text += &globals[taken..];
    Ok((text, apart))
}

fn struct_name(item: &syn::Item) -> Option<String> {
    match item {
        syn::Item::Struct(item) => Some(item.ident.to_string()),
        _ => None,
    }
}

/// Whether a type contains one of these structs or a `CStr`.
fn mentions(ty: proc_macro2::TokenStream, own: &BTreeSet<String>) -> bool {
    // `ffi` has C's own struct of a name.
    let text = ty.to_string().replace(":: ffi :: CStr", "CStr").replace(":: ffi :: ", ":: ffi_");
    text.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == "CStr" || own.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_mark_and_nothing_else() {
        let ffi = "#[link_name = \"c_crc\"] fn crc(); #[link_name = \"\\u{1}c_sum__st\"] fn sum(c_crc: u8);";
        let wanted = "#[link_name = \"crc\"] fn crc(); #[link_name = \"sum__st\"] fn sum(c_crc: u8);";
        assert_eq!(ffi_file(ffi), wanted);
    }

    #[test]
    fn variables_are_cs_and_constants_and_texts_stay() {
        let globals = "#![allow(dead_code)]\npub struct Row { pub name: Option<&'static core::ffi::CStr> }\n\
            pub static table: [u32; 1] = [7];\n/// A mode.\npub static mut mode: u32 = 1;\n\
            pub static mut rows: [Row; 0] = [];\npub static mut word: Option<&'static core::ffi::CStr> = None;\n";
        let names = ["mode", "rows", "word"].map(|name| (name.to_owned(), format!("m__{name}__st")));
        let (text, apart) = globals_file(globals, &BTreeMap::from(names)).unwrap();
        assert_eq!(apart, ["rows", "word"]);
        let file = syn::parse_file(&text).unwrap();
        assert_eq!(file.items.len(), 5);
        assert!(text.contains("#[link_name = \"m__mode__st\"]\n    pub static mut mode: u32;\n}"), "{text}");
        assert!(text.contains("static table: [u32; 1] = [7];") && !text.contains("mode: u32 = 1"), "{text}");
    }
}
