//! Items of a module that code can use without a name that the audit follows: an `impl` for a foreign type, traits
//! that other modules can import, modules, macros, items that hide these in a body, and imports that an attribute
//! changes in another build. They affect every port of the crate, so no module may have one.

use super::item::{item_name, plain, use_leaves};
use syn::visit::{self, Visit};

/// Generated modules, for which a glob import brings in known names.
pub const GENERATED: [&str; 3] = ["ffi", "globals", "callee"];

/// Why no port is judged while a module has such an item at this place.
pub fn reason(place: &str) -> String {
    format!(
        "{place} can be used by every port without being named (an `impl` for a type of another module, a `pub trait`, a module, a macro, \
         a glob of another port's module) or makes names mean something else in another build (attributes of an import or of the file, \
         `extern crate`); take it out"
    )
}

/// Whether an item is of that kind; `all` are the items of its module.
pub fn is_open(item: &syn::Item, all: &[syn::Item]) -> bool {
    match item {
        syn::Item::Impl(block) if !is_for_own(block, all) => true,
        syn::Item::Mod(module) => !is_test(&module.attrs),
        syn::Item::ForeignMod(_) | syn::Item::Macro(_) => true,
        syn::Item::Trait(item) if !matches!(item.vis, syn::Visibility::Inherited) => true,
        syn::Item::ExternCrate(_) => true,
        syn::Item::Use(item) => {
            !item.attrs.iter().all(is_remark)
                || use_leaves(item).iter().any(|leaf| leaf.glob && is_of_ports(&leaf.path))
        }
        other => {
            let mut search = Search::default();
            visit::visit_item(&mut search, other);
            search.found
        }
    }
}

/// Whether an attribute of an import or a file has no effect at run time. `#[cfg(…)] use` has one: a name could
/// mean something else in another build.
pub fn is_remark(attr: &syn::Attribute) -> bool {
    let is_text = |meta: &syn::Meta| matches!(meta, syn::Meta::NameValue(doc) if matches!(doc.value, syn::Expr::Lit(_)));
    let is_lint = ["allow", "expect", "warn", "deny", "forbid"].iter().any(|lint| attr.path().is_ident(lint));
    is_lint || (attr.path().is_ident("doc") && is_text(&attr.meta))
}

/// Whether a path leads into the crate but not into a generated module.
fn is_of_ports(path: &[String]) -> bool {
    let is_root = |name: &&str| matches!(*name, "crate" | "super");
    let mut names = path.iter().map(String::as_str).peekable();
    let is_inside = names.peek().is_some_and(is_root);
    is_inside && !names.find(|name| !is_root(name)).is_some_and(|module| GENERATED.contains(&module))
}

/// Whether an `impl` is for a type or a trait of its own module.
fn is_for_own(block: &syn::ItemImpl, all: &[syn::Item]) -> bool {
    let declared = |path: &syn::Path| {
        let Some(name) = only_name(path) else { return false };
        let is_it = |item: &syn::Item| {
            let declares = matches!(
                item,
                syn::Item::Struct(_) | syn::Item::Enum(_) | syn::Item::Union(_) | syn::Item::Trait(_)
            );
            declares && item_name(item).is_some_and(|own| own == name)
        };
        all.iter().any(is_it)
    };
    let of_type = matches!(&*block.self_ty, syn::Type::Path(ty) if ty.qself.is_none() && declared(&ty.path));
    of_type || block.trait_.as_ref().is_some_and(|(path, _)| declared(path))
}

/// The only segment of a path: `S` of `S` and of `S<T>`.
fn only_name(path: &syn::Path) -> Option<String> {
    let segment = path.segments.first()?;
    (path.segments.len() == 1 && path.leading_colon.is_none()).then(|| plain(&segment.ident))
}

fn is_test(attrs: &[syn::Attribute]) -> bool {
    let is_cfg_test = |attr: &syn::Attribute| {
        attr.path().is_ident("cfg") && attr.parse_args::<syn::Ident>().is_ok_and(|word| word == "test")
    };
    attrs.iter().any(is_cfg_test)
}

/// Searches bodies, including uncalled ones.
#[derive(Default)]
struct Search {
    found: bool,
}

impl Visit<'_> for Search {
    fn visit_stmt(&mut self, stmt: &syn::Stmt) {
        self.found |= matches!(
            stmt,
            syn::Stmt::Item(
                syn::Item::Impl(_)
                    | syn::Item::Mod(_)
                    | syn::Item::Trait(_)
                    | syn::Item::ForeignMod(_)
                    | syn::Item::Macro(_)
            )
        );
        visit::visit_stmt(self, stmt);
    }

    /// The text of an included file may contain anything.
    fn visit_macro(&mut self, mac: &syn::Macro) {
        self.found |= mac.path.segments.last().is_some_and(|last| last.ident == "include");
        visit::visit_macro(self, mac);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(text: &str) -> bool {
        let file: syn::File = syn::parse_str(text).unwrap();
        file.items.iter().any(|item| is_open(item, &file.items))
    }

    #[test]
    fn what_other_modules_can_run_without_a_name_is_open() {
        for text in [
            "impl ffi::pt { fn go(&self) {} }",
            "use crate::b::S; impl S { fn go(&self) {} }",
            "impl Clone for crate::ffi::pt { fn clone(&self) -> Self { *self } }",
            "const _: () = { impl ffi::pt {} };",
            "fn f() { if true { impl ffi::pt {} } }",
            "struct S; impl S { fn go(&self) { impl ffi::pt {} } }",
            "struct S([u8; { impl ffi::pt {} 1 }]);",
            "mod inner {}",
            "#[cfg(not(test))] mod inner {}",
            "extern \"C\" {}",
            "pub trait sneak { fn go(&self); }",
            "pub(crate) trait Sneak {}",
            "macro_rules! hidden { () => {} }",
            "hidden! {}",
            "fn f() { hidden!(); macro_rules! hidden { () => {} } }",
            "fn f() { include!(\"other.rs\") }",
            "use crate::b::*;",
            "use super::b::*;",
            "use crate::*;",
            "#[cfg(fuzzing)] use self::right as answer;",
            "#[cfg_attr(fuzzing, allow(unused_imports))] use core::mem;",
            "#[doc = include_str!(\"/etc/passwd\")] use core::mem;",
            "#[macro_use] extern crate std as libc;",
            "extern crate std as libc;",
        ] {
            assert!(open(text), "{text}");
        }
        for text in [
            "struct S<T>(T); impl<T> S<T> { fn go(&self) -> u32 { 1 } } impl Clone for S<u8> { fn clone(&self) -> Self { S(1) } }",
            "trait Bit { fn bit(self) -> u32; } impl Bit for bool { fn bit(self) -> u32 { u32::from(self) } }",
            "#[cfg(test)] mod tests { impl u8 {} }",
            "#[allow(unused_imports)] use crate::{callee, ffi, globals}; /// Doc.\n#[expect(unused_imports, reason = \"x\")] use core::mem;",
            "use crate::ffi::*; use super::globals::*; use crate::b::f; use core::cmp::*;",
            "fn f(x: u8) -> u8 { assert!(x > 1); const K: u8 = 3; fn g() -> u8 { K } g() }",
        ] {
            assert!(!open(text), "{text}");
        }
    }
}
