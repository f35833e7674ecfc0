//! Reverts a port: its function becomes the stub again, and private items that nothing else needs are removed. This
//! is pure text to text; the caller decides why, and where the text goes.

use super::hash::Index;
use super::item::{self, bytes_of, plain, visibility};
use super::splice::{Spliced, replace_fn, with_line_end};
use crate::error::Result;
use std::collections::BTreeSet;

/// The module `text` with `stub` in the place of the function `name`.
///
/// # Errors
/// As those of [`replace_fn`].
pub fn back_to_stub(text: &str, name: &str, stub: &str) -> Result<String> {
    let text = without_own_items(text, name);
    Ok(match replace_fn(&text, name, stub, "")? {
        Spliced::Done(text) => text,
        // A stub has no helpers that could conflict.
        Spliced::Conflict(_) => text,
    })
}

/// The text without the private items that only the function `name` reaches. Imports stay, because they do no harm.
fn without_own_items(text: &str, name: &str) -> String {
    let Ok(module) = item::parse(text) else { return text.to_owned() };
    let is_root = |i: &syn::Item| matches!(i, syn::Item::Fn(f) if plain(&f.sig.ident) == name);
    let Some(root) = module.items.iter().position(is_root) else { return text.to_owned() };
    let index = Index::of(&module);
    let mut own = index.reached(root);
    let others = (0..module.items.len()).filter(|at| *at != root && !own.contains(at));
    let needed: BTreeSet<usize> = others.flat_map(|at| index.reached(at)).collect();
    own.retain(|at| !needed.contains(at) && is_private(&module.items[*at]));
    let mut text = text.to_owned();
    for at in own.into_iter().rev() {
        let range = with_line_end(&text, bytes_of(&module.items[at]));
        text.replace_range(range, "");
    }
    text
}

/// Whether no other module can refer to the item. Imports stay anyway.
fn is_private(item: &syn::Item) -> bool {
    match item {
        syn::Item::Use(_) => false,
        syn::Item::Impl(_) | syn::Item::Macro(_) => true,
        item => visibility(item).is_some_and(|vis| matches!(vis, syn::Visibility::Inherited)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUB: &str = "pub fn a() -> u32 {\n    unimplemented!(\"a\")\n}\n";

    #[test]
    fn what_only_the_port_needed_goes_with_it() {
        let text = "use crate::ffi;\n\npub const WIDE: u32 = 3;\n\nconst OWN: u32 = 1;\n\nconst BOTH: u32 = 2;\n\n/// Helps.\nfn deep() -> u32 {\n    OWN + WIDE\n}\n\n\
                    fn helper() -> u32 {\n    deep() + BOTH\n}\n\n/// From C.\npub fn a() -> u32 {\n    helper()\n}\n\n\
                    pub fn b() -> u32 {\n    BOTH\n}\n\nfn unused() {}\n";
        let want = format!(
            "use crate::ffi;\n\npub const WIDE: u32 = 3;\n\nconst BOTH: u32 = 2;\n\n/// From C.\n{}\npub fn b() -> u32 {{\n    BOTH\n}}\n\nfn unused() {{}}\n",
            STUB
        );
        assert_eq!(back_to_stub(text, "a", STUB).unwrap(), want);
    }

    #[test]
    fn modules_and_macros_of_the_port_go_with_it() {
        let text = "mod a_own {\n    pub fn of() -> u32 {\n        1\n    }\n}\n\nmacro_rules! a_more {\n    ($n:ident) => {\n        const $n: u32 = 2;\n    };\n}\n\n\
                    a_more!(MORE);\n\npub fn a() -> u32 {\n    a_own::of() + MORE\n}\n\npub fn b(x: u32) -> u32 {\n    x\n}\n";
        let want = format!("{STUB}\npub fn b(x: u32) -> u32 {{\n    x\n}}\n");
        assert_eq!(back_to_stub(text, "a", STUB).unwrap().trim_start(), want);
    }

    #[test]
    fn a_stub_stays_as_it_is() {
        let text = format!("fn other() {{}}\n\n{STUB}");
        assert_eq!(back_to_stub(&text, "a", STUB).unwrap(), text);
        assert!(back_to_stub("fn x() {}", "a", STUB).is_err());
    }
}
