//! Refusals of items and names by themselves, without their scope.

use super::{Rule, std_api};

/// Why nothing but C may have the name of a C function.
pub(super) fn foreign_name(name: &str) -> std_api::Refusal {
    (Rule::CallThrough, format!("`{name}` is reserved for the C function of that name"))
}

/// Why an item may not stand in a port.
pub(super) fn refused_item(item: &syn::Item) -> String {
    use syn::Item;
    let what = match item {
        Item::ForeignMod(_) => "an `extern` block binds C functions; a port may not",
        Item::ExternCrate(_) => "`extern crate` is not allowed in a port",
        Item::Macro(_) => "`macro_rules!` can hide names from the audit; write a function",
        Item::Mod(_) => "`mod` is not allowed in a port; put helpers beside the function",
        Item::Trait(_) | Item::TraitAlias(_) => {
            "`trait` is not allowed in a port; use functions or an `impl`"
        }
        Item::Union(_) => "`union` is not allowed in a port; use `to_ne_bytes`, `from_bits` and the like",
        _ => "the audit cannot read this item",
    };
    what.to_string()
}
