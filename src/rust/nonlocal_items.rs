//! Items of a module that code of other modules can use without a name that the tool follows: an `impl` for a foreign type,
//! traits that other modules can import, modules that others reach into, items that hide these in a body or in a macro, and
//! imports that an attribute changes in another build. They affect every port of the crate, so no module may have one.

use super::item::{UseLeaf, item_name, plain, use_leaves};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::{self, Visit};

/// Generated modules, for which a glob import brings in known names.
pub const GENERATED: [&str; 3] = ["ffi", "globals", "callee"];

/// Why no port is judged while a module has such an item at this place.
pub fn reason(place: &str) -> String {
    format!(
        "{place} acts in other ports without being named: it is an `impl` for a type of another module, something public that \
         is no port, a module in another file, a glob of another port's module, an import or file attribute, `extern crate`, or \
         one of these in a macro or a body. Take it out"
    )
}

/// Whether an item is of that kind; `all` are the items of its module.
pub fn is_open(item: &syn::Item, all: &[syn::Item]) -> bool {
    is_open_in(item, &[all], false)
}

/// The same for an item in the first of some modules; each stands in the next one.
fn is_open_in(item: &syn::Item, modules: &[&[syn::Item]], is_inner: bool) -> bool {
    // Nobody reaches into a private module.
    let is_public = |vis: &syn::Visibility| !is_inner && !matches!(vis, syn::Visibility::Inherited);
    match item {
        syn::Item::Impl(block) if !is_for_own(block, modules[0]) => true,
        syn::Item::Mod(module) => !is_test(&module.attrs) && is_open_module(module, modules),
        syn::Item::ForeignMod(_) | syn::Item::ExternCrate(_) => true,
        syn::Item::Macro(item) => {
            let is_own = item.ident.is_some() || is_defined(&item.mac.path, modules);
            !is_own || !item.attrs.iter().all(is_remark) || hides_items(item.mac.tokens.clone(), modules[0])
        }
        syn::Item::Trait(item) if is_public(&item.vis) => true,
        syn::Item::Use(item) => {
            let is_of_others = |leaf: &UseLeaf| {
                let path = leaf.path.as_slice();
                let own = is_inner && path.first().is_some_and(|first| first == "super");
                leaf.glob && is_of_ports(if own { &path[1..] } else { path })
            };
            is_public(&item.vis)
                || !item.attrs.iter().all(is_remark)
                || use_leaves(item).iter().any(is_of_others)
        }
        other => {
            let mut search = Search { module: modules[0], found: false };
            visit::visit_item(&mut search, other);
            search.found
        }
    }
}

/// Whether a module of the port has such an item, or others can reach into it.
fn is_open_module(module: &syn::ItemMod, modules: &[&[syn::Item]]) -> bool {
    let Some((_, items)) = &module.content else { return true };
    let is_private = matches!(module.vis, syn::Visibility::Inherited);
    let inner: Vec<&[syn::Item]> = std::iter::once(items.as_slice()).chain(modules.iter().copied()).collect();
    !is_private
        || !module.attrs.iter().all(is_remark)
        || items.iter().any(|item| is_open_in(item, &inner, true))
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

/// Whether an `impl` is for a type or a trait of its own module or block. Names of the module around it may mean something
/// else there.
fn is_for_own(block: &syn::ItemImpl, items: &[syn::Item]) -> bool {
    let declared = |path: &syn::Path| only_name(path).is_some_and(|name| is_type(&name, items));
    let mut ty = &*block.self_ty;
    while let syn::Type::Reference(inner) = ty {
        ty = &inner.elem;
    }
    let of_type = matches!(ty, syn::Type::Path(ty) if ty.qself.is_none() && declared(&ty.path));
    // `From<Own> for u32` acts only where an `Own` is.
    let is_given_own = |path: &syn::Path| {
        let last = path.segments.last().map(|segment| segment.arguments.to_token_stream());
        last.is_some_and(|given| {
            given
                .into_iter()
                .any(|token| matches!(token, TokenTree::Ident(name) if is_type(&plain(&name), items)))
        })
    };
    of_type || block.trait_.as_ref().is_some_and(|(path, _)| declared(path) || is_given_own(path))
}

/// Whether one of the items is a type or a trait of this name.
fn is_type(name: &str, items: &[syn::Item]) -> bool {
    items.iter().any(|item| {
        let declares = matches!(
            item,
            syn::Item::Struct(_) | syn::Item::Enum(_) | syn::Item::Union(_) | syn::Item::Trait(_)
        );
        declares && item_name(item).is_some_and(|own| own == name)
    })
}

/// Whether a macro that is called by this path is one of the modules.
fn is_defined(path: &syn::Path, modules: &[&[syn::Item]]) -> bool {
    let defines = |item: &syn::Item| {
        let syn::Item::Macro(item) = item else { return false };
        item.ident.as_ref().is_some_and(|own| path.is_ident(own))
    };
    modules.iter().copied().flatten().any(defines)
}

/// Whether the text of a macro, or what one is called with, could declare such an item: an `impl` that does not begin with
/// a type or trait of the module, something public, or words that bring in something else.
fn hides_items(tokens: TokenStream, items: &[syn::Item]) -> bool {
    let list: Vec<TokenTree> = tokens.into_iter().collect();
    list.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Group(group) => hides_items(group.stream(), items),
        // As the type of a parameter, too: nothing shows what becomes of it.
        TokenTree::Ident(word) if word == "impl" => match behind_generics(&list[at + 1..]) {
            [TokenTree::Ident(name), ..] => !is_type(&plain(name), items),
            [TokenTree::Punct(mark), TokenTree::Ident(name), ..] if mark.as_char() == '$' => {
                !declares_variable(&list, &name.to_string())
            }
            _ => true,
        },
        TokenTree::Ident(word) if word == "include" => is_mark(list.get(at + 1), '!'),
        // A kind of fragment: `$name:vis`.
        TokenTree::Ident(word) if word == "vis" => at > 0 && is_mark(list.get(at - 1), ':'),
        TokenTree::Ident(word) => {
            ["mod", "extern", "macro_rules", "trait", "pub"].iter().any(|it| word == it)
        }
        _ => false,
    })
}

fn is_mark(token: Option<&TokenTree>, wanted: char) -> bool {
    matches!(token, Some(TokenTree::Punct(mark)) if mark.as_char() == wanted)
}

/// What follows `<…>`, if tokens begin with that.
fn behind_generics(tokens: &[TokenTree]) -> &[TokenTree] {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        depth += usize::from(is_mark(Some(token), '<'));
        if depth == 0 {
            return &tokens[at..];
        }
        depth -= usize::from(is_mark(Some(token), '>'));
        if depth == 0 {
            return &tokens[at + 1..];
        }
    }
    &[]
}

/// The only segment of a path: `S` of `S` and of `S<T>`.
fn only_name(path: &syn::Path) -> Option<String> {
    let segment = path.segments.first()?;
    (path.segments.len() == 1 && path.leading_colon.is_none()).then(|| plain(&segment.ident))
}

/// Whether an item is for the tests of a module alone.
pub fn is_test(attrs: &[syn::Attribute]) -> bool {
    let is_cfg_test = |attr: &syn::Attribute| {
        attr.path().is_ident("cfg") && attr.parse_args::<syn::Ident>().is_ok_and(|word| word == "test")
    };
    attrs.iter().any(is_cfg_test)
}

/// Whether the text of a macro declares a type by a variable: `struct $name`.
fn declares_variable(list: &[TokenTree], name: &str) -> bool {
    list.windows(3).any(|three| match three {
        [TokenTree::Ident(word), TokenTree::Punct(mark), TokenTree::Ident(own)] => {
            (word == "struct" || word == "enum") && mark.as_char() == '$' && own == name
        }
        _ => false,
    })
}

/// Searches bodies, including uncalled ones.
struct Search<'a> {
    module: &'a [syn::Item],
    found: bool,
}

impl Visit<'_> for Search<'_> {
    fn visit_block(&mut self, block: &syn::Block) {
        let own = block.stmts.iter().filter_map(|stmt| match stmt {
            syn::Stmt::Item(item) => Some(item.clone()),
            _ => None,
        });
        let own: Vec<syn::Item> = own.collect();
        self.found |= own.iter().any(|item| match item {
            syn::Item::Impl(block) => !is_for_own(block, &own),
            syn::Item::Mod(_) | syn::Item::ForeignMod(_) => true,
            syn::Item::Macro(item) => {
                item.ident.is_none() || hides_items(item.mac.tokens.clone(), self.module)
            }
            _ => false,
        });
        visit::visit_block(self, block);
    }

    /// The text of an included file may contain anything, and what a macro is given may become an item.
    fn visit_macro(&mut self, mac: &syn::Macro) {
        self.found |= mac.path.segments.last().is_some_and(|last| last.ident == "include");
        self.found |= hides_items(mac.tokens.clone(), self.module);
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
            "struct S; fn f() { impl S {} }",
            "struct S; impl From<[u8; { impl ffi::pt {} 1 }]> for S {}",
            "impl From<u8> for ffi::pt {}",
            "struct S; impl S { fn go(&self) { impl ffi::pt {} } }",
            "struct S([u8; { impl ffi::pt {} 1 }]);",
            "mod inner;",
            "pub mod inner {}",
            "pub(crate) mod inner {}",
            "#[cfg(not(test))] mod inner {}",
            "#[path = \"x.rs\"] mod inner;",
            "mod inner { impl super::super::ffi::pt {} }",
            "mod inner { use super::super::*; }",
            "mod inner { extern \"C\" {} }",
            "struct pt; mod inner { use crate::ffi::pt; impl pt {} }",
            "struct pt; fn f() { use crate::ffi::pt; impl pt {} }",
            "mod inner { pub trait Go {} impl Go for u8 {} } pub use inner::Go;",
            "macro_rules! hidden { () => { pub fn shared() {} } }",
            "macro_rules! hidden { ($v:vis) => { $v fn shared() {} } }",
            "mod inner { mod deeper { impl u8 {} } }",
            "extern \"C\" {}",
            "pub trait sneak { fn go(&self); }",
            "pub(crate) trait Sneak {}",
            "macro_rules! hidden { () => { impl ffi::pt {} } }",
            "macro_rules! hidden { ($t:ty) => { impl $t {} } }",
            "macro_rules! hidden { () => { mod inner; } }",
            "macro_rules! hidden { () => { include!(\"x.rs\"); } }",
            "#[macro_export] macro_rules! hidden { () => {} }",
            "macro_rules! hidden { ($($t:tt)*) => { $($t)* } } hidden!(impl ffi::pt {});",
            "macro_rules! hidden { ($a:tt, $($t:tt)*) => { $($t)* } } hidden!(0, impl ffi::pt {});",
            "macro_rules! hidden { ($a:tt = $($t:tt)*) => { $($t)* } } hidden!(x = impl ffi::pt {});",
            "hidden! {}",
            "other::hidden! {}",
            "fn f() { hidden!(impl ffi::pt {}); }",
            "fn f() { macro_rules! hidden { () => { impl ffi::pt {} } } hidden!(); }",
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
            "struct S; mod inner { use super::*; pub trait Go { fn go(self); } impl Go for u8 { fn go(self) {} } impl Go for S {} mod deeper { pub fn f() {} } }",
            "fn f() { struct S(u32); impl S { fn go(&self) {} } trait T { fn t(self); } impl T for u32 { fn t(self) {} } }",
            "macro_rules! least { ($x:expr) => {{ use core::cmp::min; min($x, 1) }} }",
            "struct Tok(u32); impl From<Tok> for u32 { fn from(tok: Tok) -> u32 { tok.0 } } impl<'a> IntoIterator for &'a Tok { type Item = u8; }",
            "macro_rules! own { ($name:ident) => { struct $name(u32); impl $name { fn go(&self) {} } } } own!(Ten);",
            "struct S<'a>(&'a u8); macro_rules! bits { () => { impl<'a> S<'a> { fn go(&self) {} } } } bits!();",
            "trait Bit {} macro_rules! bits { ($($t:ty)*) => { $(impl Bit for $t {})* } } bits!(u8 u16);",
            "fn f() { macro_rules! one { () => { 1 } } let include = one!(); assert!(include > 0); }",
            "#[allow(unused_imports)] use crate::{callee, ffi, globals}; /// Doc.\n#[expect(unused_imports, reason = \"x\")] use core::mem;",
            "use crate::ffi::*; use super::globals::*; use crate::b::f; use core::cmp::*;",
            "fn f(x: u8) -> u8 { assert!(x > 1); const K: u8 = 3; fn g() -> u8 { K } g() }",
        ] {
            assert!(!open(text), "{text}");
        }
    }
}
