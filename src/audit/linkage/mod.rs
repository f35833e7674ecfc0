//! The linkage proof: the symbols that the compiled port can reach, read from the object files of the judged build. It
//! reads sections and relocations, not source text, so that a call of C hidden from the audit still shows.
//!
//! It follows relocations from the port's code through all Rust code of the crate, including tables of function
//! pointers. The walk ends at the shims in `callee`, through which unported functions run as C.

mod objects;
mod allowed;

use crate::error::{Error, ErrorKind, Result};
use crate::symbol::SymbolName;
use allowed::{is_called, why_not};
use objects::{Objects, SectionId};
pub use objects::{can_change, path};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What the compiled port of one symbol leads to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Linkage {
    /// Functions that are not ported yet and run as C, reached by their shims.
    pub reaches_c: Vec<SymbolName>,
    /// Forbidden symbols that the port reaches, described for people.
    pub forbidden: Vec<String>,
}

/// The compiled crate of a port.
#[derive(Debug)]
pub struct Compiled {
    objects: Objects,
    /// As paths of Rust begin with it.
    krate: String,
}

/// A port and what is known of it.
#[derive(Debug, Clone)]
pub struct Wanted<'a> {
    pub module: &'a str,
    /// The function's name in its module, and in `capi`.
    pub ident: &'a str,
    /// Functions outside of the library that the C original or its callees call.
    pub externs: BTreeSet<&'a str>,
    /// Those that programs can replace through variables of the library.
    pub replaceable: &'a BTreeSet<String>,
    /// Functions of the library, by the names of their shims, that the port may not run as C: they lead back to the C
    /// original, or keep state that it does not keep.
    pub closed: BTreeSet<String>,
    /// Functions of the library with a variable number of arguments, by their Rust names: no shim can pass these on.
    pub variadic: BTreeSet<String>,
    /// Variables of the library, by their names in `globals`, that the C original does not reach.
    pub others: BTreeSet<String>,
}

/// The C side as the linker knows it: names of functions and variables of the library by their symbols.
#[derive(Debug, Clone, Default)]
pub struct CSymbols(BTreeMap<String, String>);

impl CSymbols {
    /// Reads them from the text of `ffi.rs`.
    ///
    /// # Errors
    /// Where that is not Rust.
    pub fn read(ffi: &str) -> syn::Result<Self> {
        let blocks = syn::parse_file(ffi)?.items.into_iter().filter_map(|item| match item {
            syn::Item::ForeignMod(block) => Some(block.items),
            _ => None,
        });
        let named = blocks.flatten().filter_map(|item| {
            let (ident, attrs) = match item {
                syn::ForeignItem::Fn(f) => (f.sig.ident, f.attrs),
                syn::ForeignItem::Static(s) => (s.ident, s.attrs),
                _ => return None,
            };
            let name = ident.to_string().trim_start_matches("r#").to_owned();
            // A name that the linker gets as it is has a mark in front.
            let symbol = link_name(&attrs).unwrap_or_else(|| name.clone());
            Some((symbol.trim_start_matches('\u{1}').to_owned(), name))
        });
        Ok(Self(named.collect()))
    }
}

fn link_name(attrs: &[syn::Attribute]) -> Option<String> {
    let value = attrs.iter().find(|a| a.path().is_ident("link_name"))?.meta.require_name_value().ok()?;
    match &value.value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

impl Compiled {
    /// Reads the `.rlib` of the crate with this name.
    ///
    /// # Errors
    /// `Internal` when it is no archive of object files.
    pub fn read(rlib: &[u8], krate: &str) -> Result<Self> {
        let objects = Objects::read(rlib).map_err(|why| {
            Error::new(ErrorKind::Internal, format!("the compiled crate of the port cannot be read: {why}"))
        })?;
        Ok(Self { objects, krate: krate.replace('-', "_") })
    }

    /// What the port of `wanted` leads to.
    pub fn linkage(&self, wanted: &Wanted, c: &CSymbols) -> Linkage {
        let Wanted { module, ident, .. } = wanted;
        let roots = [format!("{}::{module}::{ident}", self.krate), format!("{}::capi::{ident}", self.krate)];
        let mut todo: Vec<SectionId> = roots.iter().filter_map(|path| self.objects.function(path)).collect();
        if todo.is_empty() {
            let reason = format!("the compiled crate has no {module}::{ident}");
            return Linkage { forbidden: vec![reason], ..Linkage::default() };
        }
        // What runs before `main` is everybody's.
        todo.extend(self.objects.started());
        let (mut reaches_c, mut forbidden) = (BTreeSet::new(), BTreeSet::new());
        forbidden
            .extend(self.objects.exported().map(|name| format!("the crate defines the symbol `{name}`")));
        forbidden.extend(
            self.objects.unnamed().map(|section| format!("memory without a name in the section `{section}`")),
        );
        forbidden.extend(self.objects.strange().map(|section| format!("the section `{section}`")));
        let mut seen: BTreeSet<SectionId> = todo.iter().copied().collect();
        let shims = format!("{}::callee::", self.krate);
        while let Some(section) = todo.pop() {
            if let Some(name) = self.objects.only_function(section).and_then(|f| f.strip_prefix(&shims)) {
                match wanted.refused_callee(name) {
                    Some(why) => drop(forbidden.insert(why)),
                    None => drop(reaches_c.insert(name.to_owned())),
                }
                continue;
            }
            let others = self.globals(section).filter(|name| wanted.others.contains(*name));
            forbidden
                .extend(others.map(|name| format!("`{name}`, a variable that the C function does not use")));
            for name in self.objects.undefined(section).filter_map(|symbol| c.0.get(symbol)) {
                match wanted.refused_callee(name) {
                    Some(why) if wanted.variadic.contains(name) => drop(forbidden.insert(why)),
                    None if wanted.variadic.contains(name) => drop(reaches_c.insert(name.clone())),
                    _ => {}
                }
            }
            let symbols = self.objects.undefined(section);
            forbidden.extend(symbols.filter_map(|symbol| self.refused_symbol(section, symbol, wanted, c)));
            todo.extend(self.objects.next(section).filter(|next| seen.insert(*next)));
        }
        Linkage {
            reaches_c: reaches_c.into_iter().map(SymbolName::new).collect(),
            forbidden: forbidden.into_iter().collect(),
        }
    }

    /// The variables of the library in a section, by their names in `globals`.
    fn globals(&self, section: SectionId) -> impl Iterator<Item = &str> {
        let variables = self.objects.variables(section).filter_map(|path| path.strip_prefix(&self.krate));
        variables.filter_map(|path| path.strip_prefix("::globals::"))
    }

    /// Why the code in a section may not lead to a symbol that the crate does not define.
    fn refused_symbol(
        &self,
        section: SectionId,
        symbol: &str,
        wanted: &Wanted,
        c: &CSymbols,
    ) -> Option<String> {
        if let Some(name) = c.0.get(symbol) {
            let is_direct = wanted.variadic.contains(name);
            return (!is_direct).then(|| format!("the C original of `{name}`, not through its shim"));
        }
        let is_called = is_called(symbol, &wanted.externs);
        if wanted.replaceable.contains(symbol) && !is_called {
            // Variables of the library lead to these at first, as they do in C.
            return self
                .globals(section)
                .next()
                .is_none()
                .then(|| format!("`{symbol}`, not through the variable by which programs can replace it"));
        }
        why_not(symbol, is_called, &self.krate)
    }
}

impl Wanted<'_> {
    /// Why the port may not run this function of the library as C.
    fn refused_callee(&self, name: &str) -> Option<String> {
        if name == self.ident {
            return Some("its own C original".to_owned());
        }
        let why = "which leads back to its C original or keeps state that the original does not keep";
        self.closed.contains(name).then(|| format!("the C function `{name}`, {why}"))
    }
}

#[cfg(test)]
mod tests;
