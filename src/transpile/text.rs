//! c2rust's text of a unit, taken apart into its items by name.

use crate::rust::item::{self, item_name, plain};
use quote::ToTokens;
use std::collections::{HashMap, HashSet};

/// Words that say that a text is none for stable Rust, and why.
const UNSTABLE: [(&str, &str); 5] = [
    ("asm", "inline assembly"),
    ("global_asm", "inline assembly"),
    ("f128", "a `long double`"),
    ("VaList", "a variable number of arguments"),
    ("VaListImpl", "a variable number of arguments"),
];

/// The items of a unit.
#[derive(Debug, Default)]
pub(super) struct Text {
    functions: HashMap<String, syn::ItemFn>,
    /// Constants and statics.
    values: HashMap<String, syn::Item>,
    /// What names of types stand for.
    aliases: HashMap<String, syn::Type>,
    /// Structs, unions, and types of which nothing but the name is known.
    records: HashSet<String>,
    /// Functions and statics of other units and of the system.
    foreign: HashSet<String>,
}

impl Text {
    /// Reads it.
    pub fn read(text: &str) -> std::result::Result<Self, String> {
        let file = item::parse(text).map_err(|error| format!("c2rust's text is not Rust: {error}"))?;
        let mut own = Self::default();
        own.take(file.items);
        Ok(own)
    }

    fn take(&mut self, items: Vec<syn::Item>) {
        for item in items {
            let name = item_name(&item).unwrap_or_default();
            match item {
                syn::Item::Fn(function) => {
                    // Where the name is no name in Rust, the C name stands beside it.
                    let exported = function.attrs.iter().find_map(export_name);
                    self.functions.insert(exported.unwrap_or(name), function);
                }
                syn::Item::Const(_) | syn::Item::Static(_) => drop(self.values.insert(name, item)),
                syn::Item::Type(alias) => drop(self.aliases.insert(name, *alias.ty)),
                syn::Item::Struct(_) | syn::Item::Union(_) | syn::Item::Enum(_) => {
                    self.records.insert(name);
                }
                syn::Item::ForeignMod(block) => block.items.iter().for_each(|item| self.declared(item)),
                // A header's items, which the others import.
                syn::Item::Mod(module) => {
                    self.take(module.content.map(|(_, items)| items).unwrap_or_default());
                }
                _ => {}
            }
        }
    }

    /// What other units and the system have.
    fn declared(&mut self, item: &syn::ForeignItem) {
        match item {
            syn::ForeignItem::Fn(function) => drop(self.foreign.insert(plain(&function.sig.ident))),
            syn::ForeignItem::Static(variable) => drop(self.foreign.insert(plain(&variable.ident))),
            syn::ForeignItem::Type(ty) => drop(self.records.insert(plain(&ty.ident))),
            _ => {}
        }
    }

    /// The function, with the reason why it is none for a port.
    pub fn function(&self, name: &str) -> std::result::Result<&syn::ItemFn, String> {
        let function = self.functions.get(name).ok_or_else(|| format!("c2rust has left `{name}` out"))?;
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

/// `#[export_name = "…"]`, also as `#[unsafe(export_name = "…")]`.
fn export_name(attr: &syn::Attribute) -> Option<String> {
    let text = attr.meta.to_token_stream().to_string();
    let (_, value) = text.split_once("export_name")?;
    value.split('"').nth(1).map(str::to_owned)
}

/// Why a word in a text makes it none for stable Rust.
pub(super) fn unstable(word: &str) -> Option<String> {
    let atomic = word.starts_with("atomic_").then_some("an atomic access");
    let listed = UNSTABLE.iter().find(|(name, _)| *name == word).map(|(_, why)| *why);
    listed.or(atomic).map(|why| format!("c2rust's text has {why} (`{word}`), which needs an unstable Rust"))
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
    fn what_stable_rust_has_not_is_told() {
        assert!(unstable("asm").unwrap().contains("inline assembly"));
        assert!(unstable("atomic_xadd_seqcst").unwrap().contains("an atomic access"));
        assert_eq!(unstable("atomics"), None);
    }
}
