//! One level of names, and what a path can mean. `resolve` resolves paths over all levels.

use crate::rust::item::{UseLeaf, plain, use_leaves};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Which names a path can mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Space {
    /// Functions, constants, statics, variables, constructors.
    Value,
    /// Types, traits, modules.
    Type,
    /// Constructors in patterns and struct literals: either.
    Either,
    /// Macros, whose names are apart from all others; a port declares none.
    Macro,
}

/// What a path means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A variable, a generic parameter, `self`.
    Local,
    /// An item of the candidate, or of the module that it goes into.
    Own(Vec<String>),
    /// A path from the root of a crate: `crate::…`, `core::…`, `libc::…`.
    Path(Vec<String>),
    /// A name that needs no import.
    Prelude,
    /// A name that one level declares more than once: the compiler tells types, values and macros apart.
    Ambiguous(String),
    Unknown,
}

/// One level of names: a module, a function, a block, an arm.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// An item: variables and generics of the levels around it are not visible inside.
    pub(super) barrier: bool,
    pub variables: BTreeSet<String>,
    /// Those of the variables that a `let` binds to a function or a closure.
    function_variables: BTreeSet<String>,
    pub(super) generics: BTreeSet<String>,
    values: BTreeSet<String>,
    /// Those of the values that are functions: items and constructors with fields in parentheses.
    functions: BTreeSet<String>,
    /// The same for variants, by enum.
    tuple_variants: BTreeMap<String, BTreeSet<String>>,
    types: BTreeSet<String>,
    variants: BTreeMap<String, BTreeSet<String>>,
    imports: BTreeMap<String, UseLeaf>,
    /// Names that are imported from several places.
    ambiguous: BTreeSet<String>,
    globs: Vec<UseLeaf>,
    /// Names of the same level that were declared before these, and are shared.
    before: Option<Rc<Scope>>,
}

impl Scope {
    /// The level of a module.
    pub fn of_module<'i>(items: impl IntoIterator<Item = &'i syn::Item>) -> Self {
        let mut scope = Self { barrier: true, ..Self::default() };
        items.into_iter().for_each(|item| scope.declare(item));
        scope
    }

    /// The level of a module with more items, behind the names that it has already.
    pub fn of_module_behind<'i>(before: Rc<Self>, items: impl IntoIterator<Item = &'i syn::Item>) -> Self {
        Self { before: Some(before), ..Self::of_module(items) }
    }

    /// A level that is an item, with its generic parameters.
    pub fn of_item(generics: &syn::Generics) -> Self {
        let mut scope = Self { barrier: true, ..Self::default() };
        for param in &generics.params {
            match param {
                syn::GenericParam::Type(param) => drop(scope.generics.insert(plain(&param.ident))),
                syn::GenericParam::Const(param) => {
                    scope.variables.insert(plain(&param.ident));
                    // `Buffer<N>` reads like a type.
                    scope.generics.insert(plain(&param.ident));
                }
                _ => {}
            }
        }
        scope
    }

    /// A method: the generics of its `impl`, one level further out, stay visible.
    pub fn of_method(generics: &syn::Generics) -> Self {
        Self { barrier: false, ..Self::of_item(generics) }
    }

    /// Adds the names that an item declares.
    pub fn declare(&mut self, item: &syn::Item) {
        use syn::Item;
        match item {
            Item::Fn(i) => {
                self.functions.insert(plain(&i.sig.ident));
                self.values.insert(plain(&i.sig.ident));
            }
            Item::Const(i) => drop(self.values.insert(plain(&i.ident))),
            Item::Static(i) => drop(self.values.insert(plain(&i.ident))),
            Item::Struct(i) => {
                if !matches!(i.fields, syn::Fields::Named(_)) {
                    self.values.insert(plain(&i.ident));
                }
                if matches!(i.fields, syn::Fields::Unnamed(_)) {
                    self.functions.insert(plain(&i.ident));
                }
                self.types.insert(plain(&i.ident));
            }
            Item::Enum(i) => {
                let variants = i.variants.iter().map(|v| plain(&v.ident)).collect();
                let with_fields = i.variants.iter().filter(|v| matches!(v.fields, syn::Fields::Unnamed(_)));
                self.tuple_variants.insert(plain(&i.ident), with_fields.map(|v| plain(&v.ident)).collect());
                self.variants.insert(plain(&i.ident), variants);
                self.types.insert(plain(&i.ident));
            }
            Item::Type(i) => drop(self.types.insert(plain(&i.ident))),
            Item::Union(i) => drop(self.types.insert(plain(&i.ident))),
            Item::Trait(i) => drop(self.types.insert(plain(&i.ident))),
            Item::Use(i) => {
                for leaf in use_leaves(i) {
                    match &leaf.name {
                        Some(name) => self.declare_import(name.clone(), leaf),
                        None if leaf.glob => self.globs.push(leaf),
                        None => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn declare_import(&mut self, name: String, leaf: UseLeaf) {
        let differs = |old: &UseLeaf| (&old.path, old.absolute) != (&leaf.path, leaf.absolute);
        if self.imports.get(&name).is_some_and(differs) {
            self.ambiguous.insert(name.clone());
        }
        self.imports.insert(name, leaf);
    }

    /// Whether nothing here says which of several things of this name is meant. An item and an import of one name are told
    /// apart by where the name stands.
    pub(super) fn is_ambiguous(&self, name: &str, space: Space) -> bool {
        let both = || space == Space::Either && self.has_item(name, space) && self.import(name).is_some();
        let among_imports = |scope: &Self| scope.ambiguous.contains(name);
        among_imports(self) || self.before.as_deref().is_some_and(among_imports) || both()
    }

    pub(super) fn has_item(&self, name: &str, space: Space) -> bool {
        let (is_value, is_type) = match space {
            Space::Value => (true, false),
            Space::Type => (false, true),
            Space::Either => (true, true),
            Space::Macro => (false, false),
        };
        (is_value && self.values.contains(name))
            || (is_type && self.types.contains(name))
            || self.before.as_ref().is_some_and(|before| before.has_item(name, space))
    }

    /// What a name was imported as.
    pub(super) fn import(&self, name: &str) -> Option<&UseLeaf> {
        self.imports.get(name).or_else(|| self.before.as_ref()?.import(name))
    }

    pub(super) fn all_globs(&self) -> impl Iterator<Item = &UseLeaf> {
        self.before.iter().flat_map(|before| &before.globs).chain(&self.globs)
    }

    pub(super) fn variants(&self, of: &str) -> Option<&BTreeSet<String>> {
        self.variants.get(of).or_else(|| self.before.as_ref()?.variants(of))
    }

    pub(super) fn declare_variable(&mut self, name: String) {
        self.function_variables.remove(&name);
        self.variables.insert(name);
    }

    /// Notes that the variable of a pattern is bound to a function.
    pub(super) fn is_function_too(&mut self, pat: &syn::Pat) {
        self.function_variables.extend(plain_variable(pat).map(plain));
    }

    pub(super) fn has_function_variable(&self, name: &str) -> bool {
        self.function_variables.contains(name)
    }

    /// Whether an item or a tuple struct of this name is a function.
    pub(super) fn has_function(&self, name: &str) -> bool {
        self.functions.contains(name) || self.before.as_ref().is_some_and(|before| before.has_function(name))
    }

    /// Whether some enum, or the one that is given, has a variant of this name that is a function.
    pub(super) fn has_tuple_variant(&self, of: Option<&str>, name: &str) -> bool {
        let here = |(own, variants): (&String, &BTreeSet<String>)| {
            of.is_none_or(|of| of == own) && variants.contains(name)
        };
        self.tuple_variants.iter().any(here)
            || self.before.as_ref().is_some_and(|before| before.has_tuple_variant(of, name))
    }
}

/// The name in a pattern that is nothing but a name, maybe with a type.
pub(super) fn plain_variable(pat: &syn::Pat) -> Option<&syn::Ident> {
    match pat {
        syn::Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => Some(&pat.ident),
        syn::Pat::Type(pat) => plain_variable(&pat.pat),
        _ => None,
    }
}
