//! Merges the types and constants of all units. A complete type replaces an incomplete one; different items
//! with the same name get the name of their module as a prefix and are reported.

use super::bind_rename::{Renamer, Renames};
use crate::symbol::RelPath;
use quote::quote;
use std::collections::{BTreeMap, BTreeSet};
use syn::visit_mut::VisitMut;

/// The items of one unit without the foreign items.
pub(super) struct UnitItems {
    pub file: RelPath,
    pub module: String,
    pub items: Vec<syn::Item>,
}

#[derive(Default)]
pub(super) struct Types {
    /// Types in order of their first appearance: key, text, item.
    keyed: Vec<(String, String, syn::Item)>,
    position: BTreeMap<String, usize>,
    /// The distinct values of each constant, with the module that first defined it.
    constants: BTreeMap<String, Vec<(String, String, syn::ItemConst)>>,
    pub renames: BTreeMap<RelPath, Renames>,
    /// One sentence for each name with several meanings.
    pub conflicts: Vec<String>,
}

impl Types {
    /// Adds the items of a unit.
    pub(super) fn add(&mut self, unit: UnitItems) {
        let UnitItems { file, module, items } = unit;
        let items = inline_anonymous_enums(items);
        let renames = self.renames_for(&items, &module);
        for name in renames.keys() {
            self.conflicts.push(format!("{name} means another type in {file}"));
        }
        for mut item in items {
            Renamer(&renames).visit_item_mut(&mut item);
            self.keep(item, &module);
        }
        self.renames.insert(file, renames);
    }

    /// The renames for a unit: types that are complete on both sides and differ, and all types that mention
    /// them.
    fn renames_for(&self, items: &[syn::Item], module: &str) -> Renames {
        let mut renames = Renames::new();
        let mine = aliases(items.iter());
        let known = aliases(self.keyed.iter().map(|(_, _, item)| item));
        loop {
            let before = renames.len();
            for item in items {
                let Some((key, name)) = type_key(item) else { continue };
                let Some(&at) = self.position.get(&key).filter(|_| !renames.contains_key(&name)) else {
                    continue;
                };
                let mut renamed = item.clone();
                Renamer(&renames).visit_item_mut(&mut renamed);
                let (_, text, old) = &self.keyed[at];
                // Headers may reach the same typedef, such as `va_list`, through different aliases.
                let same_alias = match (mine.get(&name), known.get(&name)) {
                    (Some(new), Some(old)) => {
                        resolved(new, &mine, &renames) == resolved(old, &known, &Renames::new())
                    }
                    _ => false,
                };
                if same_alias {
                    continue;
                }
                if !is_incomplete(item) && !is_incomplete(old) && *text != comparable(&renamed) {
                    renames.insert(name.clone(), format!("{module}__{name}"));
                }
            }
            if renames.len() == before {
                return renames;
            }
        }
    }

    fn keep(&mut self, item: syn::Item, module: &str) {
        if let syn::Item::Const(constant) = &item
            && constant.ident != "_"
        {
            let values = self.constants.entry(constant.ident.to_string()).or_default();
            let text = quote!(#constant).to_string();
            if values.iter().all(|(_, known, _)| *known != text) {
                values.push((module.to_owned(), text, constant.clone()));
            }
            return;
        }
        let text = comparable(&item);
        let key = key(&item, &text);
        match self.position.get(&key) {
            Some(&at) => {
                let slot = &mut self.keyed[at];
                if is_incomplete(&slot.2) && !is_incomplete(&item) {
                    *slot = (key, text, item);
                }
            }
            None => {
                self.position.insert(key.clone(), self.keyed.len());
                self.keyed.push((key, text, item));
            }
        }
    }

    /// All items, except types in `dropped` and constants with the name of a function or global (`taken`).
    pub(super) fn into_items(
        mut self,
        taken: &BTreeSet<String>,
        dropped: &BTreeSet<String>,
    ) -> (Vec<syn::Item>, Vec<String>) {
        let mut items: Vec<syn::Item> = Vec::new();
        for (name, mut values) in self.constants {
            if taken.contains(&name) {
                continue;
            }
            if let [(_, _, only)] = &values[..] {
                items.push(syn::Item::Const(only.clone()));
                continue;
            }
            self.conflicts.push(format!("{name} has different values: see <module>__{name}"));
            for (module, _, constant) in &mut values {
                constant.ident = quote::format_ident!("{module}__{name}");
                items.push(syn::Item::Const(constant.clone()));
            }
        }
        let is_kept = |item: &syn::Item| type_key(item).is_none_or(|(_, name)| !dropped.contains(&name));
        // bindgen's layout tests for a type that another unit completed repeat those of the complete type;
        // the keys keep them distinct.
        items.extend(self.keyed.into_iter().map(|(_, _, item)| item).filter(is_kept));
        (items, self.conflicts)
    }
}

/// The type of each alias.
fn aliases<'a>(items: impl Iterator<Item = &'a syn::Item>) -> BTreeMap<String, syn::Type> {
    items
        .filter_map(|item| match item {
            syn::Item::Type(t) => Some((t.ident.to_string(), (*t.ty).clone())),
            _ => None,
        })
        .collect()
}

/// The text of a type with all aliases resolved, then renamed.
fn resolved(ty: &syn::Type, aliases: &BTreeMap<String, syn::Type>, renames: &Renames) -> String {
    struct Resolver<'a>(&'a BTreeMap<String, syn::Type>);
    impl VisitMut for Resolver<'_> {
        fn visit_type_mut(&mut self, ty: &mut syn::Type) {
            if let syn::Type::Path(path) = ty
                && let Some(target) = path.path.get_ident().and_then(|i| self.0.get(&i.to_string()))
            {
                *ty = target.clone();
                self.visit_type_mut(ty);
            } else {
                syn::visit_mut::visit_type_mut(self, ty);
            }
        }
    }
    let mut ty = ty.clone();
    Resolver(aliases).visit_type_mut(&mut ty);
    Renamer(renames).visit_type_mut(&mut ty);
    quote!(#ty).to_string()
}

/// Key and name of a type definition.
fn type_key(item: &syn::Item) -> Option<(String, String)> {
    let name = match item {
        syn::Item::Struct(s) => s.ident.to_string(),
        syn::Item::Union(u) => u.ident.to_string(),
        syn::Item::Type(t) => t.ident.to_string(),
        syn::Item::Use(u) => match &u.tree {
            syn::UseTree::Path(path) => match &*path.tree {
                syn::UseTree::Rename(rename) => rename.rename.to_string(),
                _ => return None,
            },
            _ => return None,
        },
        _ => return None,
    };
    Some((format!("type {name}"), name))
}

fn key(item: &syn::Item, text: &str) -> String {
    type_key(item).map_or_else(|| format!("text {text}"), |(key, _)| key)
}

/// The text by which items are compared. Derives are left out because they depend on the rest of the unit.
fn comparable(item: &syn::Item) -> String {
    let mut item = item.clone();
    if let syn::Item::Struct(syn::ItemStruct { attrs, .. }) | syn::Item::Union(syn::ItemUnion { attrs, .. }) =
        &mut item
    {
        attrs.retain(|a| a.path().is_ident("repr"));
    }
    quote!(#item).to_string()
}

/// Whether this is bindgen's form of a type that the unit only names.
fn is_incomplete(item: &syn::Item) -> bool {
    let syn::Item::Struct(s) = item else { return false };
    let mut fields = s.fields.iter();
    let first = fields.next().and_then(|f| f.ident.as_ref());
    first.is_some_and(|name| name == "_unused" || name == "_address") && fields.next().is_none()
}

/// Replaces `_bindgen_ty_<n>`, whose number differs between units: constants of enums without a name get the
/// integer type itself.
fn inline_anonymous_enums(items: Vec<syn::Item>) -> Vec<syn::Item> {
    let is_anonymous = |t: &syn::ItemType| t.ident.to_string().starts_with("_bindgen_ty_");
    let anonymous: BTreeMap<String, syn::Type> = items
        .iter()
        .filter_map(|item| match item {
            syn::Item::Type(t) if is_anonymous(t) => Some((t.ident.to_string(), (*t.ty).clone())),
            _ => None,
        })
        .collect();
    let mut kept = Vec::new();
    for mut item in items {
        match &mut item {
            syn::Item::Const(constant) => inline(&mut constant.ty, &anonymous),
            syn::Item::Struct(s) => s.fields.iter_mut().for_each(|f| inline(&mut f.ty, &anonymous)),
            syn::Item::Union(u) => u.fields.named.iter_mut().for_each(|f| inline(&mut f.ty, &anonymous)),
            syn::Item::Type(t) if is_anonymous(t) => continue,
            _ => {}
        }
        kept.push(item);
    }
    kept
}

fn inline(ty: &mut syn::Type, anonymous: &BTreeMap<String, syn::Type>) {
    match ty {
        syn::Type::Array(array) => inline(&mut array.elem, anonymous),
        syn::Type::Path(path) => {
            let name = path.path.get_ident().map(ToString::to_string);
            if let Some(integer) = name.and_then(|n| anonymous.get(&n)) {
                *ty = integer.clone();
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(module: &str, text: &str) -> UnitItems {
        let items = syn::parse_file(text).unwrap().items;
        UnitItems { file: RelPath(format!("{module}.c").into()), module: module.into(), items }
    }

    fn merged(units: &[(&str, &str)]) -> (String, Vec<String>) {
        let mut types = Types::default();
        for (module, text) in units {
            types.add(unit(module, text));
        }
        let (items, conflicts) = types.into_items(&BTreeSet::new(), &BTreeSet::new());
        (quote!(#(#items)*).to_string(), conflicts)
    }

    #[test]
    fn the_complete_type_wins() {
        let hidden = "#[repr(C)] pub struct s { _unused: [u8; 0] }";
        let whole = "#[repr(C)] pub struct s { pub a: i32 }";
        for order in [[("x", hidden), ("y", whole)], [("x", whole), ("y", hidden)]] {
            let (text, conflicts) = merged(&order);
            assert!(text.contains("pub a : i32") && !text.contains("_unused"), "{text}");
            assert!(conflicts.is_empty());
        }
    }

    #[test]
    fn different_types_of_one_name_live_apart() {
        let (text, conflicts) = merged(&[
            ("x", "pub struct node { pub node: i32 } pub struct list { pub head: *mut node }"),
            (
                "y",
                "pub struct node { pub node: i64 } pub struct list { pub head: *mut node } pub type n = node;
                 const _: () = { [\"\"][offset_of!(node, node) - 0usize]; };",
            ),
        ]);
        assert!(text.contains("pub struct y__node { pub node : i64 }"), "{text}");
        assert!(text.contains("pub struct y__list { pub head : * mut y__node }"), "{text}");
        assert!(text.contains("pub struct node { pub node : i32 }"), "{text}");
        assert!(text.contains("pub type n = y__node"), "{text}");
        assert!(text.contains("offset_of ! (y__node , node)"), "{text}");
        assert_eq!(conflicts.len(), 2);
    }

    #[test]
    fn an_alias_reached_by_another_way_is_the_same() {
        let (text, conflicts) = merged(&[
            ("x", "pub type a = u8; pub type b = *mut a;"),
            ("y", "pub type c = u8; pub type a = c; pub type b = *mut c; pub type d = b;"),
        ]);
        assert_eq!(text, "pub type a = u8 ; pub type b = * mut a ; pub type c = u8 ; pub type d = b ;");
        assert!(conflicts.is_empty(), "{conflicts:?}");
    }

    #[test]
    fn constants_of_different_value_have_no_plain_name() {
        let (text, conflicts) = merged(&[
            ("x", "pub const N: i32 = 1; pub const M: i32 = 1;"),
            ("y", "pub const N: i32 = 2; pub const M: i32 = 1;"),
        ]);
        assert!(text.contains("x__N : i32 = 1") && text.contains("y__N : i32 = 2"), "{text}");
        assert!(text.contains("pub const M : i32 = 1") && !text.contains("const N"), "{text}");
        assert_eq!(conflicts.len(), 1);
    }

    #[test]
    fn enums_without_name_do_not_clash() {
        let (text, conflicts) = merged(&[
            ("x", "pub type _bindgen_ty_1 = u32; pub const A: _bindgen_ty_1 = 1;"),
            (
                "y",
                "pub type _bindgen_ty_1 = i32; pub type _bindgen_ty_2 = u32; pub const A: _bindgen_ty_2 = 1;",
            ),
        ]);
        assert_eq!(text, "pub const A : u32 = 1 ;");
        assert!(conflicts.is_empty());
    }
}
