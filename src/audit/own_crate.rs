//! The names of its own crate that a candidate may use, from generated files and the state of the port.
//! `allowed_names` lists the allowed parts of Rust's libraries.

use super::allowed_names::Refusal;
use super::module_names::ModuleNames;
use super::paths::refused_import;
use super::token_rules::problems_beside;
use crate::rust::item::{self, item_name, mentions, use_leaves};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// The names of the generated `ffi.rs`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FfiNames {
    /// Functions and statics of its `extern` blocks: the C library. Forbidden.
    pub foreign: BTreeSet<String>,
    /// Types, constants and modules of constants. Allowed.
    pub items: BTreeSet<String>,
    /// Those types that are function pointers.
    pub callbacks: BTreeSet<String>,
}

impl FfiNames {
    /// Whether a Rust name is that of a function or variable of C: `type_` is how `type` must be written.
    pub fn is_foreign(&self, name: &str) -> bool {
        self.foreign.contains(name)
            || name.strip_suffix('_').is_some_and(|plain| self.foreign.contains(plain))
    }

    /// Reads them from the text of `ffi.rs`.
    pub fn read(text: &str) -> syn::Result<Self> {
        let mut names = Self::default();
        let rest = without_extern_blocks(text.parse()?, &mut names.foreign);
        for item in item::of_tokens(rest)?.items {
            match &item {
                syn::Item::Fn(f) => drop(names.foreign.insert(item::plain(&f.sig.ident))),
                syn::Item::Use(u) => {
                    let known = use_leaves(u)
                        .into_iter()
                        .filter(|l| l.path.last().is_some_and(|p| names.items.contains(p)));
                    let renamed: Vec<String> = known.filter_map(|leaf| leaf.name).collect();
                    names.items.extend(renamed);
                }
                other => {
                    let is_callback =
                        matches!(other, syn::Item::Type(t) if mentions(t.ty.to_token_stream(), "fn"));
                    let name = item_name(other);
                    names.callbacks.extend(name.clone().filter(|_| is_callback));
                    names.items.extend(name);
                }
            }
        }
        Ok(names)
    }
}

/// Takes the contents out of all `extern` blocks, which are most of the file, and the names that they declare.
fn without_extern_blocks(tokens: TokenStream, names: &mut BTreeSet<String>) -> TokenStream {
    let mut last_words = [false; 2];
    let emptied = tokens.into_iter().map(|token| {
        let [before, last] = last_words;
        let is_extern = matches!(&token, TokenTree::Ident(word) if word == "extern");
        last_words = [last, is_extern];
        match token {
            // `extern { … }` or `extern "C" { … }`.
            TokenTree::Group(block) if block.delimiter() == Delimiter::Brace && (before || last) => {
                declared(block.stream(), names);
                TokenTree::Group(Group::new(Delimiter::Brace, TokenStream::new()))
            }
            other => other,
        }
    });
    emptied.collect()
}

/// The names of the functions and variables of an `extern` block: what stands behind `fn`, `static` or `static mut`.
fn declared(block: TokenStream, names: &mut BTreeSet<String>) {
    let mut declares = false;
    for token in block {
        declares = match &token {
            TokenTree::Ident(word) if word == "fn" || word == "static" => true,
            TokenTree::Ident(word) if declares && word == "mut" => true,
            TokenTree::Ident(name) if declares => {
                names.insert(item::plain(name));
                false
            }
            _ => false,
        };
    }
}

/// A module as it stands. Read once for all of its functions.
#[derive(Debug, Clone, Default)]
pub struct Around {
    /// What its imports call by another name.
    pub(super) renamed: Rc<BTreeMap<String, String>>,
    /// What its imports, or macros that may make some, bring into scope.
    pub(super) modules: Rc<ModuleNames>,
    /// Its `pub` functions: symbols of the library.
    pub(super) symbols: Rc<BTreeSet<String>>,
    /// Why its imports may not stand in it.
    pub(super) refused_imports: Rc<Vec<Refusal>>,
    /// What may not stand in it beside the functions of the library, by line.
    pub(super) refused_items: Rc<Vec<(usize, Refusal)>>,
}

impl Around {
    /// The module with these items.
    pub fn of(items: &[&syn::Item]) -> Self {
        let symbol = |item: &&syn::Item| match item {
            syn::Item::Fn(f) if !matches!(f.vis, syn::Visibility::Inherited) => {
                Some(item::plain(&f.sig.ident))
            }
            _ => None,
        };
        let uses = items.iter().filter_map(|item| match item {
            syn::Item::Use(import) => Some(import),
            _ => None,
        });
        let mut modules = ModuleNames::default();
        for item in items {
            match item {
                syn::Item::Use(_) | syn::Item::Macro(_) => modules.read(item.to_token_stream()),
                _ => modules.note_macros(item.to_token_stream()),
            }
        }
        Self {
            modules: Rc::new(modules),
            refused_items: Rc::new(problems_beside(items)),
            renamed: Rc::new(item::renamed(items)),
            symbols: Rc::new(items.iter().filter_map(symbol).collect()),
            refused_imports: Rc::new(
                uses.flat_map(use_leaves).filter_map(|leaf| refused_import(&leaf)).collect(),
            ),
        }
    }
}

/// What a candidate may use, beside its own helpers and the allowed part of Rust's libraries.
#[derive(Debug, Clone)]
pub struct Allowed {
    /// The signature that the function must have.
    pub signature: syn::Signature,
    pub ffi: Arc<FfiNames>,
    /// Functions that may be called as `crate::callee::<name>`.
    pub callees: Arc<BTreeSet<String>>,
    /// Those of them that lead back to the C original.
    pub ways_back: BTreeSet<String>,
    /// Ported functions, by module: `crate::<module>::<name>`.
    pub ported: Arc<BTreeMap<String, BTreeSet<String>>>,
    /// Statics that may be used as `crate::globals::<name>`: those of this function, and those that anyone may use.
    pub globals: BTreeSet<String>,
    pub constants: Arc<BTreeSet<String>>,
    /// Functions of the C library of the system that the original itself calls, beside those always allowed.
    pub libc: BTreeSet<String>,
    /// Functions of the system that programs can replace through variables of the library.
    pub replaceable: Arc<BTreeSet<String>>,
    /// The module as it stands.
    pub around: Around,
}

impl Allowed {
    /// Nothing but the signature and Rust's own libraries.
    pub fn new(signature: syn::Signature) -> Self {
        Self {
            signature,
            ffi: Arc::default(),
            callees: Arc::default(),
            ways_back: BTreeSet::new(),
            ported: Arc::default(),
            globals: BTreeSet::new(),
            constants: Arc::default(),
            libc: BTreeSet::new(),
            replaceable: Arc::default(),
            around: Around::default(),
        }
    }

    /// The same, inside the module with this text.
    pub fn in_module(mut self, text: &str) -> syn::Result<Self> {
        let own = item::plain(&self.signature.ident);
        let items = item::parse(text)?.items;
        let others: Vec<&syn::Item> =
            items.iter().filter(|i| item_name(i).as_deref() != Some(&own)).collect();
        self.around = Around::of(&others);
        Ok(self)
    }

    /// Whether the original reaches this function of the system only in a way that programs can replace.
    pub(super) fn must_be_replaceable(&self, name: &str) -> bool {
        self.replaceable.contains(name) && !self.libc.contains(name)
    }

    /// Whether the function may be called as `crate::callee::<name>`.
    pub(super) fn may_call(&self, name: &str) -> bool {
        self.callees.contains(name) && !self.ways_back.contains(name)
    }

    /// Whether the static is one that other functions of the library use, and not this one.
    pub(super) fn is_variable_of_others(&self, name: &str) -> bool {
        self.ffi.foreign.contains(name) && !self.callees.contains(name) && !self.has_global(name)
    }

    /// Whether the static may be used as `crate::globals::<name>`.
    pub(super) fn has_global(&self, name: &str) -> bool {
        self.globals.contains(name) || self.constants.contains(name)
    }

    /// Whether `name` of `module` is a ported function.
    pub(super) fn is_ported(&self, module: &str, name: &str) -> bool {
        self.ported.get(module).is_some_and(|names| names.contains(name))
    }

    /// How a port calls the library function `name`, if it may.
    pub(super) fn way_to(&self, name: &str) -> Option<String> {
        if self.may_call(name) {
            return Some(format!("crate::callee::{name}"));
        }
        Some(format!("crate::{}::{name}", self.module_of(name)?))
    }

    /// The module of a ported function.
    pub(super) fn module_of(&self, name: &str) -> Option<&str> {
        let mut modules = self.ported.iter();
        modules.find(|(_, names)| names.contains(name)).map(|(module, _)| module.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_a_generated_file_are_sorted_by_what_they_are() {
        let text = "pub const K: u32 = 1; pub type cmp_fn = Option<unsafe extern \"C\" fn(i32) -> i32>;\n\
            #[repr(C)] pub struct S { pub x: i32 } pub mod e { pub type Type = u32; }\n\
            pub use self::S as T; unsafe extern \"C\" { #[link_name = \"c_f\"] pub fn f(); pub static mut g: i32; }\n\
            extern { pub fn h(then: Option<unsafe extern \"C\" fn(x: i32)>) -> Option<unsafe extern fn(y: i32)>; static r#in: S; }";
        let names = FfiNames::read(text).unwrap();
        let list = |set: &BTreeSet<String>| set.iter().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(list(&names.foreign), "f g h in");
        assert_eq!(list(&names.items), "K S T cmp_fn e");
        assert_eq!(list(&names.callbacks), "cmp_fn");
    }
}
