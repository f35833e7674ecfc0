//! c2rust's text of a unit, split into its items by name.

use crate::rust::item::{self, item_name, plain};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::{HashMap, HashSet};

/// Words that need unstable Rust if followed by this character, with the reason.
const UNSTABLE: [(&str, &str, &str); 6] = [
    ("asm", "!", "inline assembly"),
    ("global_asm", "!", "inline assembly"),
    ("intrinsics", ":", "an intrinsic of the compiler"),
    ("f128", "", "a `long double`"),
    ("VaList", "", "a variable number of arguments"),
    ("VaListImpl", "", "a variable number of arguments"),
];

/// The items of a unit.
#[derive(Debug, Default)]
pub struct Text {
    functions: HashMap<String, syn::ItemFn>,
    /// Functions whose text does not parse, with the reason.
    unread: HashMap<String, String>,
    /// Constants and statics.
    values: HashMap<String, syn::Item>,
    /// Type aliases, by name.
    aliases: HashMap<String, syn::Type>,
    /// Structs, unions, and opaque types.
    records: HashSet<String>,
    /// Functions and statics of other units and of libc.
    foreign: HashSet<String>,
}

impl Text {
    /// Reads the text item by item, so that an item that does not parse does not affect the others.
    ///
    /// # Errors
    /// Text that has no items at all.
    pub fn read(text: &str) -> std::result::Result<Self, String> {
        let not_rust = |error: &dyn std::fmt::Display| format!("c2rust's text is not Rust: {error}");
        let tokens: TokenStream = text.parse().map_err(|error| not_rust(&error))?;
        let mut own = Self::default();
        own.take_all(tokens);
        Ok(own)
    }

    fn take_all(&mut self, tokens: TokenStream) {
        for one in cut(tokens) {
            // The items of a header, which other modules import.
            if let Some(content) = module(&one) {
                self.take_all(content);
                continue;
            }
            let name = after("fn", &one);
            match (item::of_tokens(one.into_iter().collect()), name) {
                (Ok(file), _) => self.take(file.items),
                (Err(error), Some(name)) => drop(self.unread.insert(name, error.to_string())),
                (Err(_), None) => {}
            }
        }
    }

    fn take(&mut self, items: Vec<syn::Item>) {
        for item in items {
            let name = item_name(&item).unwrap_or_default();
            match item {
                syn::Item::Fn(function) => {
                    // An exported C name that is no Rust name is in an attribute.
                    let exported = function.attrs.iter().find_map(export_name);
                    self.functions.insert(exported.unwrap_or(name), function);
                }
                syn::Item::Const(_) | syn::Item::Static(_) => drop(self.values.insert(name, item)),
                syn::Item::Type(alias) => drop(self.aliases.insert(name, *alias.ty)),
                syn::Item::Struct(_) | syn::Item::Union(_) | syn::Item::Enum(_) => {
                    self.records.insert(name);
                }
                syn::Item::ForeignMod(block) => block.items.iter().for_each(|item| self.declared(item)),
                _ => {}
            }
        }
    }

    /// Records a declaration of another unit or of libc.
    fn declared(&mut self, item: &syn::ForeignItem) {
        match item {
            syn::ForeignItem::Fn(function) => drop(self.foreign.insert(plain(&function.sig.ident))),
            syn::ForeignItem::Static(variable) => drop(self.foreign.insert(plain(&variable.ident))),
            syn::ForeignItem::Type(ty) => drop(self.records.insert(plain(&ty.ident))),
            _ => {}
        }
    }

    /// The function of this name, or why a port cannot use it.
    pub fn function(&self, name: &str) -> std::result::Result<&syn::ItemFn, String> {
        let missing = || match self.unread.get(name) {
            Some(why) => format!("c2rust's text of it cannot be read: {why}"),
            None => format!("c2rust has left `{name}` out"),
        };
        let function = self.functions.get(name).ok_or_else(missing)?;
        if function.sig.variadic.is_some() {
            return Err("it has a variable number of arguments".into());
        }
        Ok(function)
    }

    pub fn helper(&self, name: &str) -> Option<&syn::ItemFn> {
        self.functions.get(name)
    }

    pub fn value(&self, name: &str) -> Option<&syn::Item> {
        self.values.get(name)
    }

    pub fn alias(&self, name: &str) -> Option<&syn::Type> {
        self.aliases.get(name)
    }

    pub fn is_record(&self, name: &str) -> bool {
        self.records.contains(name)
    }

    pub fn is_foreign(&self, name: &str) -> bool {
        self.foreign.contains(name)
    }
}

/// The name in `#[export_name = "…"]` or `#[unsafe(export_name = "…")]`.
fn export_name(attr: &syn::Attribute) -> Option<String> {
    let text = attr.meta.to_token_stream().to_string();
    let (_, value) = text.split_once("export_name")?;
    value.split('"').nth(1).map(str::to_owned)
}

/// The items of a text or of a module.
fn cut(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let (mut all, mut one) = (Vec::new(), Vec::new());
    // After these words, a brace belongs to a value or to a list of names.
    let mut to_the_semicolon = false;
    for token in tokens {
        let ends = match &token {
            TokenTree::Punct(punct) if punct.as_char() == ';' => true,
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace && !to_the_semicolon,
            _ => false,
        };
        to_the_semicolon |= match &token {
            TokenTree::Punct(punct) => punct.as_char() == '=',
            TokenTree::Ident(word) => word == "use",
            _ => false,
        };
        one.push(token);
        if ends {
            all.push(std::mem::take(&mut one));
            to_the_semicolon = false;
        }
    }
    all.extend((!one.is_empty()).then_some(one));
    all
}

/// The content of a module, if the item is one.
fn module(item: &[TokenTree]) -> Option<TokenStream> {
    after("mod", item)?;
    match item.last() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
        _ => None,
    }
}

/// The name after a keyword of an item.
fn after(word: &str, item: &[TokenTree]) -> Option<String> {
    item.windows(2).find_map(|pair| match pair {
        [TokenTree::Ident(first), TokenTree::Ident(name)] if first == word => Some(plain(name)),
        _ => None,
    })
}

/// Why a text needs unstable Rust.
pub(super) fn unstable(tokens: TokenStream) -> Option<String> {
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        let found = match token {
            TokenTree::Group(group) => unstable(group.stream()),
            TokenTree::Ident(word) => {
                let next = rest.peek().map_or_else(String::new, ToString::to_string);
                let is_one = |(name, behind, _): &&(&str, &str, &str)| {
                    word == name && (behind.is_empty() || next == *behind)
                };
                UNSTABLE.iter().find(is_one).map(|(word, _, why)| {
                    format!("c2rust's text has {why} (`{word}`), which needs an unstable Rust")
                })
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "extern \"C\" { fn strlen(s: *const i8) -> usize; static mut stdout: *mut FILE; pub type FILE; }\n\
        pub mod kit_h { pub type kit_size = usize; #[repr(C)] pub struct kit_point { pub x: i32 } pub union either { pub a: u8 } }\n\
        pub const LIMIT: i32 = 3; static mut table: [u8; 2] = [1, 2];\n\
        #[unsafe(no_mangle)] pub unsafe extern \"C\" fn f(mut x: u8) -> u8 { x }\n\
        #[export_name = \"match\"] pub unsafe extern \"C\" fn match_0() {}\n\
        pub unsafe extern \"C\" fn printed(mut format: *const i8, mut args: ...) {}\n";

    #[test]
    fn items_are_known_by_their_names_whatever_module_they_are_in() {
        let text = Text::read(TEXT).unwrap();
        assert!(text.function("f").is_ok() && text.function("match").is_ok());
        assert_eq!(text.function("g").unwrap_err(), "c2rust has left `g` out");
        assert!(text.function("printed").unwrap_err().contains("variable number"));
        assert!(text.is_foreign("strlen") && text.is_foreign("stdout") && !text.is_foreign("f"));
        assert!(text.value("LIMIT").is_some() && text.value("table").is_some() && text.value("f").is_none());
        assert!(
            text.alias("kit_size").is_some()
                && text.is_record("FILE")
                && text.is_record("kit_point")
                && text.is_record("either")
        );
        assert!(Text::read("fn f( {").unwrap_err().starts_with("c2rust's text is not Rust"));
    }

    #[test]
    fn an_item_that_cannot_be_read_leaves_the_others_as_they_are() {
        let deep = format!("pub fn deep() -> i32 {{ {} 1 {} }}", "(".repeat(60), ")".repeat(60));
        let uses = "use core::{ffi, mem}; static table: [u8; 1] = { [1] };";
        let text = Text::read(&format!("#![allow(warnings)] {uses} pub mod a {{ {deep} {TEXT} }}")).unwrap();
        assert!(text.function("f").is_ok() && text.value("LIMIT").is_some() && text.value("table").is_some());
        assert!(text.function("deep").unwrap_err().contains("nests too deeply"));
    }

    #[test]
    fn what_stable_rust_has_not_is_told() {
        let why = |text: &str| unstable(text.parse().unwrap());
        assert!(why("{ core::arch::asm!(\"\") }").unwrap().contains("inline assembly"));
        let atomic = "f(core::intrinsics::atomic_xadd_seqcst(p, 1))";
        assert!(why(atomic).unwrap().contains("an intrinsic of the compiler"));
        assert!(why("let x: f128::f128 = y;").unwrap().contains("long double"));
        assert_eq!(why("callee::atomic_inc(asm + intrinsics)"), None);
    }
}
