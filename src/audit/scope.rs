//! Names in scope, and what a path means: through imports, renames, globs, `self`, `super` and locals, as the compiler
//! resolves them. Whether the meaning is allowed is decided in `judge`.

use super::allowed::Allowed;
use super::{judge, platform};
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
    barrier: bool,
    pub variables: BTreeSet<String>,
    generics: BTreeSet<String>,
    values: BTreeSet<String>,
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
            Item::Fn(i) => drop(self.values.insert(plain(&i.sig.ident))),
            Item::Const(i) => drop(self.values.insert(plain(&i.ident))),
            Item::Static(i) => drop(self.values.insert(plain(&i.ident))),
            Item::Struct(i) => {
                if !matches!(i.fields, syn::Fields::Named(_)) {
                    self.values.insert(plain(&i.ident));
                }
                self.types.insert(plain(&i.ident));
            }
            Item::Enum(i) => {
                let variants = i.variants.iter().map(|v| plain(&v.ident)).collect();
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
    fn is_ambiguous(&self, name: &str, space: Space) -> bool {
        let both = || space == Space::Either && self.has_item(name, space) && self.import(name).is_some();
        let among_imports = |scope: &Self| scope.ambiguous.contains(name);
        among_imports(self) || self.before.as_deref().is_some_and(among_imports) || both()
    }

    fn has_item(&self, name: &str, space: Space) -> bool {
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
    fn import(&self, name: &str) -> Option<&UseLeaf> {
        self.imports.get(name).or_else(|| self.before.as_ref()?.import(name))
    }

    fn all_globs(&self) -> impl Iterator<Item = &UseLeaf> {
        self.before.iter().flat_map(|before| &before.globs).chain(&self.globs)
    }

    fn variants(&self, of: &str) -> Option<&BTreeSet<String>> {
        self.variants.get(of).or_else(|| self.before.as_ref()?.variants(of))
    }
}

/// The levels around a place in the text, the module first.
pub(super) struct Scopes<'a> {
    pub module: &'a str,
    pub name: &'a str,
    pub allowed: &'a Allowed,
    pub levels: Vec<Scope>,
}

/// From where a name is looked up.
#[derive(Debug, Clone, Copy)]
struct View {
    /// How many levels, from the module inwards, are in view.
    levels: usize,
    /// How many imports led here.
    depth: usize,
    /// Whether globs count.
    globs: bool,
}

impl View {
    fn deeper(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }
}

/// Imports may lead over imports; a circle must end.
const MAX_IMPORTS: usize = 16;

impl<'a> Scopes<'a> {
    /// The module: its own items, and those of the candidate.
    pub fn new(module: &'a str, name: &'a str, allowed: &'a Allowed, items: &[&syn::Item]) -> Self {
        let before = Some(Rc::clone(&allowed.around.names));
        let top = Scope { before, ..Scope::of_module(items.iter().copied()) };
        Self { module, name, allowed, levels: vec![top] }
    }

    /// The innermost level.
    pub fn top(&mut self) -> &mut Scope {
        self.levels.last_mut().expect("the module's level is never popped")
    }

    fn here(&self) -> View {
        View { levels: self.levels.len(), depth: 0, globs: true }
    }

    /// What a path at the current place means.
    pub fn resolve(&self, path: &[String], absolute: bool, space: Space) -> Meaning {
        if absolute {
            return Meaning::Path(path.to_vec());
        }
        self.resolve_from(self.here(), path, space)
    }

    /// What an import at the current place means.
    pub fn resolve_use(&self, leaf: &UseLeaf) -> Meaning {
        if leaf.absolute {
            return Meaning::Path(leaf.path.clone());
        }
        self.import(View { globs: !leaf.glob, ..self.here() }, leaf, &[])
    }

    /// Resolves as `at` sees it.
    fn resolve_from(&self, at: View, path: &[String], space: Space) -> Meaning {
        let [first, rest @ ..] = path else { return Meaning::Unknown };
        if at.depth > MAX_IMPORTS {
            return Meaning::Unknown;
        }
        match first.as_str() {
            "self" if rest.is_empty() => return Meaning::Local,
            "Self" => return Meaning::Local,
            "crate" | "self" | "super" => return self.by_keyword(at, path, space),
            _ => {}
        }
        // Everything before the last segment is a type or a module.
        let first_space = if rest.is_empty() { space } else { Space::Type };
        let mut locals_visible = true;
        for index in (0..at.levels).rev() {
            let level = &self.levels[index];
            let is_variable = first_space == Space::Value && level.variables.contains(first);
            let is_generic =
                matches!(first_space, Space::Type | Space::Either) && level.generics.contains(first);
            if locals_visible && (is_variable || is_generic) {
                return Meaning::Local;
            }
            locals_visible &= !level.barrier;
            if let Some(meaning) = self.in_level(index, at, path, space) {
                return meaning;
            }
        }
        if matches!(first.as_str(), "core" | "alloc" | "std" | "libc") && first_space != Space::Value {
            return Meaning::Path(path.to_vec());
        }
        if platform::is_prelude(first) {
            return Meaning::Prelude;
        }
        self.in_open_globs(at, path, space).unwrap_or(Meaning::Unknown)
    }

    /// A path that begins with an item, an import or a closed glob of one level.
    fn in_level(&self, index: usize, at: View, path: &[String], space: Space) -> Option<Meaning> {
        let level = &self.levels[index];
        let (first, rest) = path.split_first()?;
        let first_space = if rest.is_empty() { space } else { Space::Type };
        if level.is_ambiguous(first, first_space) {
            return Some(Meaning::Ambiguous(first.clone()));
        }
        if level.has_item(first, first_space) {
            return Some(Meaning::Own(path.to_vec()));
        }
        let at = View { levels: index + 1, ..at.deeper() };
        if let Some(leaf) = level.import(first) {
            return Some(self.import(at, leaf, rest));
        }
        self.containers(index, at).find_map(|container| match container {
            Meaning::Path(container) => self.member(index, at, &container, path, space),
            Meaning::Own(of) => self.variant(of.last()?, first).then(|| Meaning::Own(path.to_vec())),
            _ => None,
        })
    }

    /// What the globs of one level are globs of. A glob's own path is not looked up through globs: nobody writes that,
    /// and it has no end.
    fn containers(&self, index: usize, at: View) -> impl Iterator<Item = Meaning> {
        let globs = at.globs.then(|| self.levels[index].all_globs());
        let at = View { levels: index + 1, globs: false, ..at };
        globs.into_iter().flatten().map(move |glob| self.import(at, glob, &[]))
    }

    /// `leaf` with `rest` behind it.
    fn import(&self, at: View, leaf: &UseLeaf, rest: &[String]) -> Meaning {
        let path: Vec<String> = leaf.path.iter().chain(rest).cloned().collect();
        if leaf.absolute {
            return Meaning::Path(path);
        }
        // `use libc;`: a name does not import itself.
        let own_name = leaf.path.len() == 1 && leaf.name == leaf.path.first().cloned();
        let levels = if own_name { at.levels.saturating_sub(1) } else { at.levels };
        self.resolve_from(View { levels, ..at.deeper() }, &path, Space::Either)
    }

    /// A path that begins with `crate`, `self` or `super`.
    fn by_keyword(&self, at: View, path: &[String], space: Space) -> Meaning {
        let mut place = if path[0] == "crate" { vec![] } else { vec![self.module.to_string()] };
        let mut rest = path;
        while let [first, tail @ ..] = rest {
            match first.as_str() {
                "super" if place.pop().is_none() => return Meaning::Unknown,
                "super" | "self" | "crate" => rest = tail,
                _ => break,
            }
        }
        place.extend(rest.iter().cloned());
        match place.as_slice() {
            [module, inner @ ..] if module == self.module && !inner.is_empty() => {
                self.in_level(0, at.deeper(), inner, space).unwrap_or_else(|| absolute(&place))
            }
            _ => absolute(&place),
        }
    }

    /// What `path` is when its first name comes out of a glob import of `container`, whose names are all known.
    fn member(
        &self,
        index: usize,
        at: View,
        container: &[String],
        path: &[String],
        space: Space,
    ) -> Option<Meaning> {
        let first = path.first()?;
        let allowed = self.allowed;
        let parts: Vec<&str> = container.iter().map(String::as_str).collect();
        let is_member = match parts.as_slice() {
            ["crate", "ffi"] => allowed.ffi.foreign.contains(first) || allowed.ffi.items.contains(first),
            ["crate", "globals"] => allowed.has_global(first),
            ["crate", "callee"] => {
                allowed.may_call(first) || allowed.ffi.foreign.contains(first) || first == self.name
            }
            ["crate", module] if *module == self.module && index > 0 => {
                return self.in_level(0, at.deeper(), path, space);
            }
            ["crate", module] => allowed.is_ported(module, first),
            _ => false,
        };
        is_member.then(|| Meaning::Path(container.iter().chain(path).cloned().collect()))
    }

    /// The same for containers whose names are not listed: modules of Rust's libraries and enumerations of C. They come
    /// last, so that they cannot hide what a name really means.
    fn in_open_globs(&self, at: View, path: &[String], space: Space) -> Option<Meaning> {
        let first = path.first()?;
        let is_type = first.starts_with(|c: char| c.is_ascii_uppercase());
        if path.len() > 1 && !is_type {
            return None;
        }
        (0..at.levels).rev().flat_map(|index| self.containers(index, at.deeper())).find_map(|container| {
            let Meaning::Path(mut full) = container else { return None };
            let is_open = match full.first().map(String::as_str) {
                Some("core" | "alloc" | "std") => full.len() > 1,
                Some("crate") => full.len() > 2,
                Some("libc") => full.len() == 1,
                _ => false,
            };
            full.push(first.clone());
            let is_member = is_open && judge::judge(self, &full, space).is_ok();
            full.extend_from_slice(&path[1..]);
            is_member.then_some(Meaning::Path(full))
        })
    }

    fn variant(&self, of: &str, name: &str) -> bool {
        self.levels.iter().any(|level| level.variants(of).is_some_and(|v| v.contains(name)))
    }
}

fn absolute(path: &[String]) -> Meaning {
    Meaning::Path(std::iter::once("crate".to_string()).chain(path.iter().cloned()).collect())
}
