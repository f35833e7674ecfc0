//! The hash of a port: SHA-256 over the tokens of its item and of the private items of the module that it reaches,
//! so that evidence covers the text that runs. Comments, doc comments and layout do not matter. Other modules store
//! and compare hashes.

use super::item::{PRIMITIVE, item_name, plain, use_leaves};
use super::macro_names::whole_macros;
use super::nonlocal_items;
use super::token_text::TokenText;
use crate::digest::hex;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeSet, HashMap};
use std::fmt;

/// A SHA-256 over tokens, in lower-case hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TokenHash(String);

impl TokenHash {
    /// The 64 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The items of a module, the names that each mentions, and the items that these may refer to: computed once for
/// all queries.
#[derive(Debug)]
pub struct Index {
    texts: Vec<TokenText>,
    /// Positions of the private items that each item mentions.
    mentions: Vec<BTreeSet<usize>>,
    /// Items that belong to every hash: a glob import decides what bare names mean, and an item without a name of
    /// the module can be used anywhere.
    everywhere: Vec<usize>,
    /// Which items define or call a macro. Their order counts.
    macros: Vec<bool>,
    /// The macros of the module that take no words apart.
    whole: BTreeSet<String>,
}

impl Index {
    /// The index of the items of a module.
    pub fn of(file: &syn::File) -> Self {
        let texts: Vec<TokenText> =
            file.items.iter().map(|item| TokenText::of(item.to_token_stream())).collect();
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        let is_named = |item: &syn::Item| !is_public_fn(item) && !is_for_tests(item);
        for (index, item) in file.items.iter().enumerate().filter(|(_, item)| is_named(item)) {
            let names = match calls_macro(item) {
                true => what_macros_say(item, file),
                false => declares(item),
            };
            for name in names {
                by_name.entry(name).or_default().push(index);
            }
        }
        let meant =
            |text: &TokenText| text.names().filter_map(|name| by_name.get(name)).flatten().copied().collect();
        let mentions = texts.iter().map(meant).collect();
        let is_everywhere = |item: &syn::Item| is_glob(item) || nonlocal_items::is_open(item, &file.items);
        let everywhere = (0..file.items.len()).filter(|at| is_everywhere(&file.items[*at])).collect();
        let macros = file.items.iter().map(|item| matches!(item, syn::Item::Macro(_))).collect();
        let defines = |text: &&TokenText| text.tokens.contains("macro_rules");
        let defining = file.items.iter().zip(&texts).filter(|(_, text)| defines(text));
        let whole = whole_macros(defining.map(|(item, _)| item.to_token_stream()));
        Self { texts, mentions, everywhere, macros, whole }
    }

    /// Positions of the items that the item `root` reaches, without `root` and without other `pub fn`s.
    ///
    /// Matching is by name: an identifier that equals an item's name counts as a use of it. A local variable of
    /// that name makes the hash depend on too much, never on too little.
    pub fn reached(&self, root: usize) -> BTreeSet<usize> {
        let mut seen: BTreeSet<usize> = self.everywhere.iter().copied().filter(|at| *at != root).collect();
        let mut open: Vec<usize> = seen.iter().copied().chain([root]).collect();
        while let Some(at) = open.pop() {
            open.extend(self.mentions[at].iter().filter(|next| **next != root && seen.insert(**next)));
        }
        seen
    }

    /// Hash of the item `root` and of all private items that it reaches in the module. Other `pub fn`s are symbols
    /// of their own and are left out.
    pub fn hash(&self, root: usize) -> TokenHash {
        let (macros, others): (Vec<usize>, Vec<usize>) =
            self.reached(root).into_iter().partition(|at| self.macros[*at]);
        let text = |at: usize| self.texts[at].tokens.as_bytes();
        // The position of a helper in the file does not matter.
        let mut parts: Vec<&[u8]> = others.into_iter().map(text).collect();
        parts.sort_unstable();
        parts.insert(0, text(root));
        for at in macros {
            parts.extend([if at < root { b"before".as_slice() } else { b"behind" }, text(at)]);
        }
        digest(&parts)
    }

    /// The names that the item `root` and the items that it reaches mention in code. A renamed import also counts
    /// under its original name, and local variables count too; fields and methods do not: `p.add(1)` mentions no `add`.
    pub fn mentioned(&self, file: &syn::File, root: usize) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let mut imports = Vec::new();
        for index in std::iter::once(root).chain(self.reached(root)) {
            match &file.items[index] {
                syn::Item::Use(item) => imports.extend(use_leaves(item)),
                _ => {
                    let text = &self.texts[index];
                    names.extend(text.free_names().map(str::to_owned));
                    let taken = text.behind_dots.iter().filter(|(by, _)| !self.whole.contains(by));
                    names.extend(taken.map(|(_, name)| name.clone()));
                }
            }
        }
        // An import may rename the result of another one.
        loop {
            let used =
                imports.iter().filter(|leaf| leaf.name.as_ref().is_some_and(|name| names.contains(name)));
            let meant: Vec<String> = used.filter_map(|leaf| leaf.path.last().cloned()).collect();
            let before = names.len();
            names.extend(meant);
            if names.len() == before {
                return names;
            }
        }
    }
}

/// Hash of any piece of Rust; `None` when it does not lex.
pub fn text_hash(text: &str) -> Option<TokenHash> {
    let tokens: TokenStream = text.parse().ok()?;
    Some(digest(&[TokenText::of(tokens).tokens.as_bytes()]))
}

/// The names in any piece of Rust; none where it does not lex.
pub fn text_names(text: &str) -> BTreeSet<String> {
    let tokens: TokenStream = text.parse().unwrap_or_default();
    TokenText::of(tokens).names().map(str::to_owned).collect()
}

fn digest(parts: &[&[u8]]) -> TokenHash {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    TokenHash(hex(&hasher.finalize()))
}

fn is_public_fn(item: &syn::Item) -> bool {
    matches!(item, syn::Item::Fn(f) if matches!(f.vis, syn::Visibility::Public(_)))
}

/// Whether an item is the call of a macro, or a module with one.
fn calls_macro(item: &syn::Item) -> bool {
    match item {
        syn::Item::Macro(item) => item.ident.is_none(),
        syn::Item::Mod(item) => item.content.iter().flat_map(|(_, items)| items).any(calls_macro),
        _ => false,
    }
}

/// The names by which code can refer to what the calls of macros in an item declare: all in it, and in all macros of the file.
fn what_macros_say(item: &syn::Item, file: &syn::File) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let macros = file.items.iter().filter(|item| matches!(item, syn::Item::Macro(_)));
    for item in macros.chain([item]) {
        said(item.to_token_stream(), &mut names);
    }
    names.retain(|name| syn::parse_str::<syn::Ident>(name).is_ok() && !PRIMITIVE.contains(&name.as_str()));
    names
}

/// All names in the tokens, but for variables of macros with their kinds: `$x:expr`.
fn said(tokens: TokenStream, names: &mut BTreeSet<String>) {
    let is_mark = |token: Option<&TokenTree>, c: char| matches!(token, Some(TokenTree::Punct(mark)) if mark.as_char() == c);
    let list: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in list.iter().enumerate() {
        let before = |n: usize| at.checked_sub(n).and_then(|at| list.get(at));
        match token {
            TokenTree::Group(group) => said(group.stream(), names),
            TokenTree::Ident(_) if is_mark(before(1), '$') => {}
            TokenTree::Ident(_) if is_mark(before(1), ':') && is_mark(before(3), '$') => {}
            TokenTree::Ident(name) => drop(names.insert(plain(name))),
            _ => {}
        }
    }
}

fn is_glob(item: &syn::Item) -> bool {
    matches!(item, syn::Item::Use(u) if use_leaves(u).iter().any(|leaf| leaf.glob))
}

/// Whether an item is for tests alone, so that no build of a port has it.
fn is_for_tests(item: &syn::Item) -> bool {
    matches!(item, syn::Item::Mod(module) if nonlocal_items::is_test(&module.attrs))
}

/// The names by which code can refer to an item. An `impl` has the names in its head, a `use` the names that it
/// brings into scope. Traits and their `impl`s also have the names of their members, because `x.bit()` names
/// neither the trait nor the type.
fn declares(item: &syn::Item) -> BTreeSet<String> {
    match item {
        syn::Item::Use(u) => use_leaves(u).into_iter().filter_map(|leaf| leaf.name).collect(),
        syn::Item::Impl(i) => {
            let of_trait = i.trait_.as_ref().map(|(path, _)| TokenText::of(path.to_token_stream()));
            let head = [Some(TokenText::of(i.self_ty.to_token_stream())), of_trait];
            // `impl core::ops::BitXor<u32> for S` has two names of others.
            let is_own = |name: &&str| {
                !PRIMITIVE.contains(name) && !["core", "std", "alloc", "crate", "ops"].contains(name)
            };
            let members = i.items.iter().filter(|_| i.trait_.is_some()).filter_map(|member| match member {
                syn::ImplItem::Fn(f) => Some(plain(&f.sig.ident)),
                syn::ImplItem::Const(c) => Some(plain(&c.ident)),
                syn::ImplItem::Type(t) => Some(plain(&t.ident)),
                _ => None,
            });
            head.iter()
                .flatten()
                .flat_map(|text| text.names().filter(is_own).map(str::to_owned))
                .chain(members)
                .collect()
        }
        syn::Item::Trait(t) => {
            let members = t.items.iter().filter_map(|member| match member {
                syn::TraitItem::Fn(f) => Some(plain(&f.sig.ident)),
                syn::TraitItem::Const(c) => Some(plain(&c.ident)),
                syn::TraitItem::Type(t) => Some(plain(&t.ident)),
                _ => None,
            });
            members.chain([plain(&t.ident)]).collect()
        }
        // What an `impl` in it does needs no name of the module.
        syn::Item::Mod(m) => {
            let inner = m.content.iter().flat_map(|(_, items)| items).flat_map(declares);
            inner.chain([plain(&m.ident)]).collect()
        }
        other => item_name(other).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::item::parse;
    use super::*;
    use proptest::prelude::*;

    const BASE: &str = "use core::mem;\nconst K: u32 = 3;\nstruct S { x: u32 }\nimpl S { fn go(&self) -> u32 { deep(self.x) } }\n\
        fn deep(x: u32) -> u32 { x + K }\nfn apart() {}\npub fn other() -> u32 { 9 }\n\
        pub fn f(a: u32) -> u32 { let s = S { x: a }; if a>=2&&a!= -1i32 as u32 { s.go() } else { other() } }\n";

    fn port_hash(text: &str, name: &str) -> Option<TokenHash> {
        let file = parse(text).ok()?;
        let is_fn = |i: &syn::Item| matches!(i, syn::Item::Fn(f) if plain(&f.sig.ident) == name);
        file.items.iter().position(is_fn).map(|root| Index::of(&file).hash(root))
    }

    fn hash(text: &str) -> TokenHash {
        port_hash(text, "f").unwrap()
    }

    #[test]
    fn what_an_import_renames_is_mentioned_and_what_a_comment_says_is_not() {
        let text = "use crate::callee::{kit_mix as mix, kit_sum};\n/// Like `{kit_doc}`.\npub fn f() { mix(callee::kit_go()) }";
        let file = parse(text).unwrap();
        let names = Index::of(&file).mentioned(&file, 1);
        assert!(names.contains("kit_mix") && names.contains("kit_go"), "{names:?}");
        assert!(!names.contains("kit_sum") && !names.contains("kit_doc"), "{names:?}");
    }

    #[test]
    fn fields_and_methods_are_no_functions_that_are_mentioned() {
        let text = "pub fn f(p: *const u8) { p.add(1); p.r#mul.min(2); for i in 0..div(3) { a.b(sub(i)) } }";
        let file = parse(text).unwrap();
        let names = Index::of(&file).mentioned(&file, 0);
        assert!(["div", "sub"].iter().all(|name| names.contains(*name)), "{names:?}");
        assert!(!["add", "mul", "min", "b"].iter().any(|name| names.contains(*name)), "{names:?}");
    }

    #[test]
    fn a_macro_of_the_port_can_take_a_name_from_behind_a_dot() {
        let text = "macro_rules! go { ($x:ident.$f:ident, $a:expr) => { $f($a) } }\n\
            pub fn f(s: S) { go!(x.kit_sum, go!([y.kit_go], 1)); assert!(s.len > 1 || !(s.add)); if !(s.mul) {} }";
        let file = parse(text).unwrap();
        let names = Index::of(&file).mentioned(&file, 1);
        assert!(["kit_sum", "kit_go"].iter().all(|name| names.contains(*name)), "{names:?}");
        assert!(!["len", "add", "mul"].iter().any(|name| names.contains(*name)), "{names:?}");
        let shadowed = "macro_rules! up { ($m:expr) => {} }\npub fn f(s: S) { macro_rules! up { ($x:ident.$f:ident) => { $f() } } up!(s.kit_sum) }";
        let file = parse(shadowed).unwrap();
        assert!(Index::of(&file).mentioned(&file, 1).contains("kit_sum"));
        let text = "macro_rules! up { ($m:expr) => { $m += 1 } }\npub fn f(s: S) { up!(s.size); r#match!(s.kit_sum) }";
        let file = parse(text).unwrap();
        let names = Index::of(&file).mentioned(&file, 1);
        assert!(names.contains("kit_sum") && !names.contains("size"), "{names:?}");
    }

    #[test]
    fn what_is_renamed_twice_is_mentioned() {
        let text = "use self::c as d;\nuse self::b as c;\nuse crate::callee::kit_hash as b;\nuse self::x as y;\nuse self::y as x;\n\
            pub fn f() { d(); x() }";
        let file = parse(text).unwrap();
        let names = Index::of(&file).mentioned(&file, 5);
        assert!(names.contains("kit_hash"), "{names:?}");
    }

    #[test]
    fn layout_comments_and_docs_do_not_matter() {
        let relaid = BASE
            .replace("a>=2&&a!= -1i32", "a >= 2 // why\n && a != -1i32")
            .replace("pub fn f", "/// Doc.\n#[doc = \"x\"]\npub fn f")
            .replace("fn deep(x: u32) -> u32 {", "/** d */ fn deep(x:u32)->u32{ //! inner\n");
        assert_eq!(hash(BASE), hash(&relaid));
        // No build of a port has its tests, whatever words they share with it.
        let tested = format!("{BASE}\n#[cfg(test)]\nmod tests {{ fn deep() {{}} fn s() {{}} }}\n");
        assert_eq!(hash(BASE), hash(&tested));
    }

    #[test]
    fn whatever_runs_matters() {
        for (from, to) in [
            ("x + K", "x - K"),
            ("= 3", "= 4"),
            ("deep(self.x)", "self.x"),
            ("a>=2", "a>2"),
            ("core::mem", "core::ptr as mem"),
        ] {
            let changed = BASE.replace(from, to);
            assert_ne!(changed, BASE);
            let same = hash(BASE) == hash(&changed);
            assert_eq!(same, from == "core::mem", "{from} → {to}: `mem` is the one thing not reached");
        }
    }

    #[test]
    fn what_does_not_run_does_not_matter() {
        let changed = BASE.replace("fn apart() {}", "fn apart() { loop {} }").replace("{ 9 }", "{ 10 }");
        assert_eq!(hash(BASE), hash(&changed));
        let moved = BASE.replace("const K: u32 = 3;\n", "") + "const K: u32 = 3;\n";
        assert_eq!(hash(BASE), hash(&moved));
    }

    #[test]
    fn what_can_be_meant_without_a_name_of_the_module_counts_for_all() {
        for hidden in [
            "impl ffi::pt { fn go(&self) -> u32 { 7 } }",
            "const _: () = { impl ffi::pt { fn go(&self) -> u32 { 7 } } };",
            "mod inner { impl crate::ffi::pt { pub fn go(&self) -> u32 { 7 } } }",
            "fn apart() { impl ffi::pt { fn go(&self) -> u32 { 7 } } }",
        ] {
            let text = format!("{hidden}\npub fn f(p: ffi::pt) -> u32 {{ p.go() }}\n");
            assert_ne!(hash(&text), hash(&text.replace('7', "8")), "{hidden}");
        }
        let tests = "#[cfg(test)]\nmod tests { fn t() -> u32 { 7 } }\npub fn f() {}\n";
        assert_eq!(hash(tests), hash(&tests.replace('7', "8")));
    }

    #[test]
    fn what_modules_and_macros_declare_is_reached() {
        for text in [
            "mod inner { pub fn helper(x: u8) -> u8 { x + 7 } } use inner::*; pub fn f(x: u8) -> u8 { helper(x) }",
            "mod inner { pub fn helper(x: u8) -> u8 { x + 7 } } use self::inner::*; pub fn f(x: u8) -> u8 { helper(x) }",
            "mod inner { pub fn helper(x: u8) -> u8 { x + 7 } } pub fn f(x: u8) -> u8 { inner::helper(x) }",
            "mod inner { pub trait Go { fn go(self) -> u8; } impl Go for u8 { fn go(self) -> u8 { 7 } } } use inner::Go; pub fn f(x: u8) -> u8 { x.go() }",
            "mod inner { pub trait Go { fn go(self) -> u8; } impl Go for u8 { fn go(self) -> u8 { 7 } } } use inner::Go as _; pub fn f(x: u8) -> u8 { x.go() }",
            "struct S; mod inner { use super::*; trait T { fn t(&self) -> u8; } impl T for S { fn t(&self) -> u8 { 7 } } } pub fn f() -> u8 { S.t() }",
            "struct S; mod inner { use super::*; impl Drop for S { fn drop(&mut self) { g(7) } } } pub fn f() { S; }",
            "trait B { fn b(self) -> u8; } mod inner { use super::*; impl B for u8 { fn b(self) -> u8 { 7 } } } pub fn f(x: u8) -> u8 { x.b() }",
            "use E::*; enum E { A = 7, B } pub fn f() -> u8 { A as u8 }",
            "const K12: u8 = 7; pub fn f() -> String { format!(\"{\\x4b12}\") }",
            "pub(crate) fn own(x: u8) -> u8 { x + 7 } pub fn f(x: u8) -> u8 { own(x) }",
            "pub(self) fn own(x: u8) -> u8 { x + 7 } pub fn f(x: u8) -> u8 { own(x) }",
            "trait B { fn b(self) -> u8; } macro_rules! m { ($t:ty) => { impl B for $t { fn b(self) -> u8 { 7 } } } } m!(u8); pub fn f(x: u8) -> u8 { x.b() }",
            "trait B { fn b(self) -> u8; } macro_rules! m { ($t:ty) => { impl B for $t { fn b(self) -> u8 { 7 } } } } mod inner { use super::*; m!(u8); } pub fn f(x: u8) -> u8 { x.b() }",
            "macro_rules! m { ($n:ident) => { const $n: u8 = 7; } } m!(K); pub fn f() -> u8 { K }",
            "macro_rules! m { () => { g() } } fn g() -> u8 { 7 } pub fn f() -> u8 { m!() }",
            "macro_rules! m { ($n:ident) => { const $n: u8 = 1; } } m!(K); const L: u8 = 7; macro_rules! l { () => { L } } pub fn f() -> u8 { K + l!() }",
        ] {
            assert_ne!(hash(text), hash(&text.replace('7', "8")), "{text}");
        }
        // One port's macros are none of another one's.
        let text = "macro_rules! m { ($n:ident) => { const $n: u8 = 7; } } m!(OTHERS); pub fn f(x: u32) -> u32 { x } pub fn g() -> u8 { OTHERS }";
        assert_eq!(hash(text), hash(&text.replace('7', "8")));
    }

    #[test]
    fn the_order_of_macros_counts() {
        let text = "macro_rules! m { () => { 1 } } pub fn f() -> u8 { m!() } macro_rules! m { () => { 2 } }";
        let swapped =
            "macro_rules! m { () => { 2 } } pub fn f() -> u8 { m!() } macro_rules! m { () => { 1 } }";
        let below = "macro_rules! m { () => { 1 } } macro_rules! m { () => { 2 } } pub fn f() -> u8 { m!() }";
        assert_ne!(hash(text), hash(swapped));
        assert_ne!(hash(text), hash(below));
    }

    #[test]
    fn methods_of_traits_are_reached_by_their_own_names() {
        let text = "trait Bit { fn bit(self) -> u32; }\nimpl Bit for bool { fn bit(self) -> u32 { u32::from(self) } }\n\
            trait Ext { fn ext(&self) -> u8 { 1 } }\nimpl<T> Ext for T {}\n\
            pub fn f(a: u32, b: u32) -> u32 { (a < b).bit() + u32::from(a.ext()) }\n";
        for (from, to) in
            [("u32::from(self)", "1"), ("{ 1 }", "{ 2 }"), ("impl<T> Ext for T {}", "impl Ext for u32 {}")]
        {
            assert_ne!(hash(text), hash(&text.replace(from, to)), "{from} → {to}");
        }
    }

    #[test]
    fn helpers_are_reached_through_macros_format_strings_uses_and_globs() {
        for text in [
            "const K: u8 = 1; pub fn f() { assert!(K == 1); }",
            "const K: u8 = 1; pub fn f() -> String { format!(\"{K}\") }",
            "use a::K; /* K: u8 = 1 */ pub fn f() -> u8 { K }",
            "use a::*; pub fn f() -> u8 { K }",
        ] {
            let changed = text.replace("= 1; pub", "= 2; pub").replace("use a::", "use b::");
            assert_ne!(text, changed);
            assert_ne!(hash(text), hash(&changed), "{text}");
        }
    }

    #[test]
    fn operators_inside_macros_are_split_like_the_compiler_does() {
        assert_eq!(
            hash("pub fn f(){ assert!(a==-1 && b>>=2); }"),
            hash("pub fn f(){ assert!(a == -1 && b >>= 2); }")
        );
        assert_ne!(hash("pub fn f(){ assert!(a & &b); }"), hash("pub fn f(){ assert!(a && b); }"));
    }

    #[test]
    fn no_function_no_hash() {
        assert!(port_hash(BASE, "missing").is_none());
        assert!(port_hash("fn (", "f").is_none());
    }

    proptest! {
        #[test]
        fn any_white_space_between_tokens_gives_the_same_hash(gaps in proptest::collection::vec("[ \n\t]{1,3}", 40)) {
            let words = "pub fn f ( a : u32 , b : & [ u8 ] ) -> u32 { let x = a . wrapping_add ( 1 ) ; x ^ b [ 0 ] as u32 }";
            let mut text = String::new();
            for (word, gap) in words.split(' ').zip(gaps.iter().cycle()) {
                text.push_str(word);
                text.push_str(gap);
            }
            prop_assert_eq!(hash(words), hash(&text));
        }
    }
}
