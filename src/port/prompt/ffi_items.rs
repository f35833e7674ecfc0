//! The items of `ffi.rs` and `globals.rs` that a function needs, shortened for its author.

use crate::error::{Error, ErrorKind, Result};
use crate::rust::item::plain;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};

/// All identifiers in a C or Rust text, including comments and strings.
pub fn identifiers(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words.filter(|w| w.starts_with(|c: char| c.is_alphabetic() || c == '_')).map(str::to_owned).collect()
}

/// The types and constants of `ffi` (the text of `ffi.rs`) that `words` name, and the types that these contain, in
/// file order. `Err` when the file does not parse.
pub fn types(ffi: &str, words: &BTreeSet<String>) -> Result<String> {
    let file = parse("ffi.rs", ffi)?;
    let named: BTreeMap<String, &syn::Item> =
        file.items.iter().filter_map(|item| Some((type_name(item)?, item))).collect();
    let mut wanted = BTreeSet::new();
    let mut open: Vec<String> = words.iter().filter(|word| named.contains_key(*word)).cloned().collect();
    while let Some(name) = open.pop() {
        let Some(item) = named.get(&name) else { continue };
        if name != STREAM && wanted.insert(name) {
            let mut inside = BTreeSet::new();
            collect(item.to_token_stream(), &mut inside);
            open.extend(inside);
        }
    }
    let is_wanted = |item: &&syn::Item| type_name(item).is_some_and(|name| wanted.contains(&name));
    let items: Vec<syn::Item> = file.items.iter().filter(is_wanted).cloned().collect();
    let methods = file.items.iter().filter_map(|item| methods(item, &wanted));
    let streams = if wanted.contains("FILE") { OF_STREAMS } else { "" };
    Ok(print(items) + &methods.collect::<String>() + streams)
}

/// The struct behind `FILE`, which belongs to the C library.
const STREAM: &str = "_IO_FILE";
const OF_STREAMS: &str = "// The C library's functions take a `*mut ffi::FILE` after `.cast::<libc::FILE>()`; its fields are their own.\n";

/// The methods that bindgen gave a wanted type, such as those of bit-fields and of arrays without a length, without bodies.
fn methods(item: &syn::Item, wanted: &BTreeSet<String>) -> Option<String> {
    let syn::Item::Impl(item) = item else { return None };
    let syn::Type::Path(of) = &*item.self_ty else { return None };
    let name = plain(&of.path.segments.last()?.ident);
    if item.trait_.is_some() || !wanted.contains(&name) || name == BIT_FIELDS {
        return None;
    }
    let mut shown = item.clone();
    shown.items.retain_mut(|item| {
        let syn::ImplItem::Fn(method) = item else { return false };
        let name = method.sig.ident.to_string();
        method.attrs.clear();
        method.block.stmts.clear();
        matches!(method.vis, syn::Visibility::Public(_))
            && !name.ends_with("_raw")
            && !name.starts_with("new_bitfield")
    });
    (!shown.items.is_empty()).then(|| print(vec![syn::Item::Impl(shown)]).replace(" {}\n", ";\n"))
}

/// The type in which bindgen stores bit-fields. Ports use the accessors of the struct instead.
const BIT_FIELDS: &str = "__BindgenBitfieldUnit";

fn type_name(item: &syn::Item) -> Option<String> {
    let ident = match item {
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Union(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        syn::Item::Const(item) => &item.ident,
        _ => return None,
    };
    Some(plain(ident)).filter(|name| name != "_")
}

/// The declaration of the static `name` in `globals` (the text of `globals.rs`), with its comment but without its
/// value. `None` when there is no such static.
pub fn global(globals: &str, name: &str) -> Result<Option<String>> {
    let file = parse("globals.rs", globals)?;
    Ok(file.items.into_iter().find_map(|item| match item {
        syn::Item::Static(mut item) if plain(&item.ident) == name => {
            item.attrs.retain(|attribute| attribute.path().is_ident("doc"));
            item.expr = syn::parse_quote!(__);
            Some(print(vec![syn::Item::Static(item)]).trim_end().replace(" = __;", ";"))
        }
        syn::Item::ForeignMod(block) => block.items.into_iter().find_map(|item| match item {
            syn::ForeignItem::Static(item) if plain(&item.ident) == name => {
                let (keyword, ident, ty) = (&item.mutability, &item.ident, &item.ty);
                let text = quote::quote!(pub static #keyword #ident: #ty = __;);
                let item = syn::parse2(text).expect("it has the parts of a static");
                Some(print(vec![item]).trim_end().replace(" = __;", ";"))
            }
            _ => None,
        }),
        _ => None,
    }))
}

/// The signature of the only function in `stub`, without attributes and body. `Err` when there is no such function.
pub fn signature(stub: &str, name: &str) -> Result<String> {
    let file = parse(&format!("the stub of `{name}`"), stub)?;
    let found = file.items.into_iter().find_map(|item| match item {
        syn::Item::Fn(item) if plain(&item.sig.ident).trim_end_matches('_') == name.trim_end_matches('_') => {
            Some(item)
        }
        _ => None,
    });
    let mut item = found
        .ok_or_else(|| Error::new(ErrorKind::Internal, format!("the stub of `{name}` does not define it")))?;
    item.attrs.clear();
    item.block.stmts.clear();
    let text = print(vec![syn::Item::Fn(item)]);
    Ok(text.trim_end().trim_end_matches('}').trim_end().trim_end_matches('{').trim_end().to_owned())
}

fn parse(what: &str, text: &str) -> Result<syn::File> {
    syn::parse_file(text).map_err(|error| {
        let place = error.span().start();
        Error::new(ErrorKind::Build, format!("{what} does not parse at line {}: {error}", place.line))
            .help("cargo implfuzz init, which writes the generated files again")
    })
}

fn print(items: Vec<syn::Item>) -> String {
    prettyplease::unparse(&syn::File { items, ..syn::parse_quote!() })
}

fn collect(tokens: TokenStream, into: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => drop(into.insert(plain(&ident))),
            TokenTree::Group(group) => collect(group.stream(), into),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FFI: &str = "#![allow(dead_code)]\n\
        pub type kit_u = ::core::ffi::c_uint;\n\
        #[repr(C)] #[derive(Copy, Clone)] pub struct kit_point { pub x: kit_u, pub next: *mut kit_node }\n\
        #[repr(C)] pub struct kit_node { pub other: [kit_mode; 3usize] }\n\
        pub const KIT_ON: kit_mode = 1;\npub const KIT_OFF: kit_mode = 0;\npub type kit_mode = u32;\n\
        pub struct unrelated { pub a: u8 }\n\
        const _: () = { [\"size\"][::core::mem::size_of::<kit_point>() - 16usize]; };\n\
        unsafe extern \"C\" { pub fn kit_f(p: *const kit_point) -> kit_mode; }\n";

    #[test]
    fn types_come_with_what_they_are_made_of_and_nothing_else() {
        let text = types(FFI, &identifiers("int f(kit_point *p) { return KIT_ON; }")).unwrap();
        for part in [
            "struct kit_point", "struct kit_node", "type kit_u", "type kit_mode", "KIT_ON: kit_mode = 1",
            "repr(C)",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        for part in ["unrelated", "KIT_OFF", "kit_f", "size_of"] {
            assert!(!text.contains(part), "{part}: {text}");
        }
        assert_eq!(types(FFI, &identifiers("int x;")).unwrap(), "");
    }

    #[test]
    fn what_is_in_a_stream_is_not_shown() {
        let ffi = "pub type FILE = _IO_FILE;\npub struct _IO_FILE { pub _flags: ::core::ffi::c_int, pub _lock: *mut lock }\n\
            pub struct lock { pub at: u8 }\n";
        let text = types(ffi, &identifiers("FILE *f")).unwrap();
        assert!(
            text.contains("pub type FILE = _IO_FILE;") && text.contains("cast::<libc::FILE>()"),
            "{text}"
        );
        assert!(!text.contains("_flags") && !text.contains("struct lock"), "{text}");
    }

    #[test]
    fn methods_that_bindgen_made_are_shown_without_bodies() {
        let ffi = "pub struct rest<T>(::core::marker::PhantomData<T>, [T; 0]);\n\
            impl<T> rest<T> { #[inline] pub fn as_ptr(&self) -> *const T { self as *const _ as *const T } fn own(&self) {} }\n\
            pub struct flags { pub _bitfield_1: __BindgenBitfieldUnit<[u8; 1]> }\n\
            pub struct __BindgenBitfieldUnit<S> { s: S }\n\
            impl<S> __BindgenBitfieldUnit<S> { pub fn get(&self, at: usize) -> u64 { 0 } }\n\
            impl Default for flags { fn default() -> Self { loop {} } }\n\
            impl flags { pub fn on(&self) -> u32 { 1 } pub unsafe fn on_raw(this: *const Self) -> u32 { 1 } pub fn new_bitfield_1() {} }\n";
        let text = types(ffi, &identifiers("rest flags")).unwrap();
        for part in ["pub fn as_ptr(&self) -> *const T;", "impl flags {\n    pub fn on(&self) -> u32;\n}"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        for part in ["own", "on_raw", "new_bitfield", "get(", "default"] {
            assert!(!text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn a_global_is_shown_without_its_value() {
        let text = "/// `t` at a.c:3.\n#[rustfmt::skip]\npub static t: [u32; 2] = [1, 2];\npub static mut m: i32 = 4;\n";
        assert_eq!(global(text, "t").unwrap().unwrap(), "/// `t` at a.c:3.\npub static t: [u32; 2];");
        assert_eq!(global(text, "m").unwrap().unwrap(), "pub static mut m: i32;");
        assert_eq!(global(text, "absent").unwrap(), None);
        let text =
            "unsafe extern \"C\" { /// of the system\n pub static mut stderr: *mut libc::FILE; fn f(); }";
        assert_eq!(global(text, "stderr").unwrap().unwrap(), "pub static mut stderr: *mut libc::FILE;");
    }

    #[test]
    fn a_signature_is_what_stands_before_the_body() {
        let stub = "/// Doc {}.\npub fn f(a: &[u8], b: u32) -> u32 {\n    unimplemented!(\"f\")\n}\n";
        assert_eq!(signature(stub, "f").unwrap(), "pub fn f(a: &[u8], b: u32) -> u32");
        assert!(signature(stub, "g").unwrap_err().to_string().contains("`g`"));
    }

    #[test]
    fn a_file_that_does_not_parse_is_an_error_with_its_name() {
        let error = types("pub struct {", &BTreeSet::new()).unwrap_err();
        assert!(error.to_string().contains("ffi.rs"), "{error}");
        assert!(error.help_text().is_some());
    }
}
