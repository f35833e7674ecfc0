//! A module of the port as it stands: which of its functions have a body in Rust yet, and what they mention.

use crate::rust::hash::{self, TokenHash};
use crate::rust::item::{self, plain};
use crate::rust::signature::ident;
use crate::rust::stub::stubs;
use crate::symbol::Function;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Whether a function has a body in Rust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ported {
    /// There is no such function.
    Missing,
    Stub,
    Yes,
}

/// The text of a module, parsed once for all of its functions.
#[derive(Debug)]
pub struct PortModule {
    text: String,
    /// What does not parse has no items.
    items: syn::File,
    /// Index of the item, and whether it is a stub, by name.
    functions: BTreeMap<String, (usize, bool)>,
    mentioned: RefCell<BTreeMap<usize, Rc<BTreeSet<String>>>>,
}

impl PortModule {
    /// Reads a module; text that does not parse has no functions.
    pub fn read(text: String) -> Self {
        let items = item::parse(&text).unwrap_or_else(|_| syn::parse_quote!());
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
        Self { text, items, functions, mentioned: RefCell::default() }
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

    /// Whether `function` has a body here.
    pub fn state(&self, function: &Function) -> Ported {
        match self.functions.get(&ident(function).to_string()) {
            None => Ported::Missing,
            Some((_, true)) => Ported::Stub,
            Some((_, false)) => Ported::Yes,
        }
    }

    /// The signature of `function` as it stands here.
    pub fn signature(&self, function: &Function) -> Option<&syn::Signature> {
        match &self.items.items[self.index(function)?] {
            syn::Item::Fn(item) => Some(&item.sig),
            _ => None,
        }
    }

    /// The hash of `function` and of what it reaches here.
    pub fn hash(&self, function: &Function) -> Option<TokenHash> {
        Some(hash::of_item(&self.items, self.index(function)?))
    }

    /// The names that the code of `function`, and what it reaches here, mentions.
    pub fn mentioned(&self, function: &Function) -> Rc<BTreeSet<String>> {
        let Some(index) = self.index(function) else { return Rc::default() };
        let mut known = self.mentioned.borrow_mut();
        Rc::clone(known.entry(index).or_insert_with(|| Rc::new(hash::mentioned(&self.items, index))))
    }

    fn index(&self, function: &Function) -> Option<usize> {
        self.functions.get(&ident(function).to_string()).map(|(index, _)| *index)
    }
}
