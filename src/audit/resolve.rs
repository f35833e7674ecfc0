//! Resolves names in scope as the compiler does: through imports, renames, globs, `self`, `super` and locals.
//! `path_meaning` decides whether the result is allowed.

use super::own_crate::Allowed;
use super::path_meaning::{self, Requested};
use super::scope::{Meaning, Scope, Space};
use super::{reserved, std_api};
use crate::rust::item::UseLeaf;
use std::rc::Rc;

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
        let top = Scope::of_module_behind(Rc::clone(&allowed.around.names), items.iter().copied());
        Self { module, name, allowed, levels: vec![top] }
    }

    /// The port in question, without its names.
    pub fn requested(&self) -> Requested<'a> {
        Requested { module: self.module, name: self.name, allowed: self.allowed }
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
        // A glob of C's constants may bring such a name in; all else that has it is refused where it is declared.
        if reserved::is_crate(first) && !rest.is_empty() {
            return Meaning::Path(path.to_vec());
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
        if reserved::is_crate(first) && first_space != Space::Value {
            return Meaning::Path(path.to_vec());
        }
        if std_api::is_prelude(first) {
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
            ["crate", "capi"] => allowed.module_of(first).is_some(),
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
            let is_member = is_open && path_meaning::judge(self.requested(), &full, space).is_ok();
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
