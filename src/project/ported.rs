//! A module of the port in the tree: which of its functions have a body in Rust, and what they mention.

use crate::rust::hash::{Index, TokenHash};
use crate::rust::item::{self, plain};
use crate::rust::nonlocal_items::{is_open, is_remark};
use crate::rust::signature::ident;
use crate::rust::stub_detection::stubs;
use crate::symbol::Function;
use serde::{Deserialize, Serialize};
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use syn::spanned::Spanned;

/// Whether a function has a body in Rust.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ported {
    /// There is no such function.
    Missing,
    Stub,
    Yes,
}

/// The text of a module, parsed once for all its functions.
#[derive(Debug)]
pub struct PortModule {
    text: String,
    /// Empty if the text does not parse.
    items: syn::File,
    /// Index of the item, and whether it is a stub, by name.
    functions: BTreeMap<String, (usize, bool)>,
    index: OnceCell<Index>,
    mentioned: RefCell<BTreeMap<usize, Rc<BTreeSet<String>>>>,
}

impl PortModule {
    /// Reads a module; text that does not parse has no functions.
    pub fn read(text: String) -> Self {
        let items = item::parse(&text).unwrap_or_else(|_| syn::parse_quote!());
        Self::of(text, items)
    }

    /// Reads a module; fails if it does not parse.
    pub fn parse(text: String) -> syn::Result<Self> {
        let items = item::parse(&text)?;
        Ok(Self::of(text, items))
    }

    fn of(text: String, items: syn::File) -> Self {
        let stubs = stubs(&items);
        let functions = items.items.iter().enumerate().filter_map(|(index, item)| match item {
            syn::Item::Fn(item) => {
                let name = plain(&item.sig.ident);
                let is_stub = stubs.contains(&name);
                Some((name, (index, is_stub)))
            }
            _ => None,
        });
        let functions = functions.collect();
        Self { text, items, functions, index: OnceCell::new(), mentioned: RefCell::default() }
    }

    /// The text that was read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names of all `pub fn`.
    pub fn public(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().filter_map(|(name, (index, _))| match &self.items.items[*index] {
            syn::Item::Fn(item) if matches!(item.vis, syn::Visibility::Public(_)) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Whether the function with this name is a stub.
    pub fn is_stub(&self, name: &str) -> bool {
        self.functions.get(name).is_some_and(|(_, is_stub)| *is_stub)
    }

    /// The lines of items that code can use without a name of this module, and of file attributes that could change
    /// its meaning in another build.
    pub fn open_lines(&self) -> Vec<usize> {
        let items = &self.items.items;
        let attrs = self.items.attrs.iter().filter(|attr| !is_remark(attr)).map(Spanned::span);
        let open = items.iter().filter(|item| is_open(item, items)).map(Spanned::span);
        attrs.chain(open).map(|span| span.start().line).collect()
    }

    /// The parsed items.
    pub fn items(&self) -> &syn::File {
        &self.items
    }

    /// Whether `function` has a body here.
    pub fn state(&self, function: &Function) -> Ported {
        self.state_of(&ident(function).to_string())
    }

    /// Whether the function with this Rust name has a body here.
    pub fn state_of(&self, name: &str) -> Ported {
        match self.functions.get(name) {
            None => Ported::Missing,
            Some((_, true)) => Ported::Stub,
            Some((_, false)) => Ported::Yes,
        }
    }

    /// The function with this Rust name.
    pub fn function(&self, name: &str) -> Option<&syn::ItemFn> {
        match &self.items.items[self.position(name)?] {
            syn::Item::Fn(item) => Some(item),
            _ => None,
        }
    }

    /// The signature of `function` in this module.
    pub fn signature(&self, function: &Function) -> Option<&syn::Signature> {
        self.function(&ident(function).to_string()).map(|item| &item.sig)
    }

    /// The hash of `function` and of the items that it reaches here.
    pub fn hash(&self, function: &Function) -> Option<TokenHash> {
        self.hash_of(&ident(function).to_string())
    }

    /// The hash of the function with this Rust name and of the items that it reaches here.
    pub fn hash_of(&self, name: &str) -> Option<TokenHash> {
        Some(self.index().hash(self.position(name)?))
    }

    /// The names that the code of `function` and the items that it reaches here mention.
    pub fn mentioned(&self, function: &Function) -> Rc<BTreeSet<String>> {
        self.mentioned_by(&ident(function).to_string())
    }

    /// Like [`Self::mentioned`], by the function's Rust name.
    pub fn mentioned_by(&self, name: &str) -> Rc<BTreeSet<String>> {
        let Some(at) = self.position(name) else { return Rc::default() };
        let mut known = self.mentioned.borrow_mut();
        Rc::clone(known.entry(at).or_insert_with(|| Rc::new(self.index().mentioned(&self.items, at))))
    }

    /// The function with this Rust name and the private items that it reaches, without imports.
    pub fn own_items(&self, name: &str) -> Vec<&syn::Item> {
        let Some(at) = self.position(name) else { return Vec::new() };
        let mut own = self.index().reached(at);
        own.insert(at);
        let items = own.into_iter().map(|index| &self.items.items[index]);
        items.filter(|item| !matches!(item, syn::Item::Use(_))).collect()
    }

    /// The text of [`Self::own_items`].
    pub fn own_text(&self, name: &str) -> String {
        let own = self.own_items(name);
        own.iter().map(|item| &self.text[item::bytes_of(*item)]).collect::<Vec<_>>().join("\n\n")
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::of(&self.items))
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.functions.get(name).map(|(index, _)| *index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides_which_build_has_a_file_or_an_import_is_open() {
        let lines = |text: &str| PortModule::parse(text.to_owned()).unwrap().open_lines();
        let head =
            "//! Port of `a.c`.\n#![allow(dead_code)]\n#[allow(unused_imports)]\nuse crate::{callee, ffi};\n";
        assert!(lines(&format!("{head}pub fn f() {{}}\n")).is_empty());
        assert_eq!(lines("//! A.\n#![cfg_attr(fuzzing, feature(x))]\npub fn f() {}\n"), [2]);
        assert_eq!(lines(&format!("{head}#[cfg(fuzzing)]\nuse self::f as g;\npub fn f() {{}}\n")), [5]);
    }
}
