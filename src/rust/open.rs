//! Items of a module that code can mean without any name that the module gives: an `impl` for a type of somebody else's, modules,
//! and whatever hides such things in a body. They concern every function of the module, and of others.

use super::item::{UseLeaf, item_name, plain, use_leaves};
use syn::visit::{self, Visit};

/// Whether an item among `all` of its module is of that kind.
pub fn is_open(item: &syn::Item, all: &[syn::Item]) -> bool {
    match item {
        syn::Item::Impl(block) => !is_for_own(block, all),
        syn::Item::Mod(module) => !is_test(&module.attrs),
        syn::Item::ForeignMod(_) => true,
        syn::Item::Use(item) => use_leaves(item).iter().any(is_borrowed),
        other => {
            let mut search = Search::default();
            visit::visit_item(&mut search, other);
            search.found
        }
    }
}

/// Whether an import takes more than a function from the module of another port: methods of its traits come with it.
fn is_borrowed(leaf: &UseLeaf) -> bool {
    let [root, module, rest @ ..] = &leaf.path[..] else {
        return leaf.glob && matches!(leaf.path.first().map(String::as_str), Some("crate" | "super"));
    };
    let is_generated = matches!(module.as_str(), "ffi" | "globals" | "callee");
    let is_function = rest.last().is_some_and(|name| name.starts_with(|c: char| c.is_lowercase()));
    let is_module = rest.is_empty() && !leaf.glob;
    let is_named = leaf.name.is_some() && !leaf.glob;
    matches!(root.as_str(), "crate" | "super") && !is_generated && !(is_module || is_function && is_named)
}

/// Whether it is for a type or a trait of its own module.
fn is_for_own(block: &syn::ItemImpl, all: &[syn::Item]) -> bool {
    let declared = |path: &syn::Path| {
        let Some(name) = path.get_ident().map(plain).or_else(|| generic(path)) else { return false };
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

/// `S` of `S<T>`.
fn generic(path: &syn::Path) -> Option<String> {
    match path.segments.first() {
        Some(segment) if path.segments.len() == 1 && path.leading_colon.is_none() => {
            Some(plain(&segment.ident))
        }
        _ => None,
    }
}

fn is_test(attrs: &[syn::Attribute]) -> bool {
    let is_cfg_test = |attr: &syn::Attribute| {
        attr.path().is_ident("cfg") && attr.parse_args::<syn::Ident>().is_ok_and(|word| word == "test")
    };
    attrs.iter().any(is_cfg_test)
}

/// Looks into bodies.
#[derive(Default)]
struct Search {
    found: bool,
}

impl Visit<'_> for Search {
    fn visit_stmt(&mut self, stmt: &syn::Stmt) {
        if let syn::Stmt::Item(
            syn::Item::Impl(_) | syn::Item::Mod(_) | syn::Item::Trait(_) | syn::Item::ForeignMod(_),
        ) = stmt
        {
            self.found = true;
        }
        visit::visit_stmt(self, stmt);
    }
}
