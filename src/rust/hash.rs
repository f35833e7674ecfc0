//! The hash of a port: SHA-256 over the tokens of its item and of the private items of the module that it reaches, so
//! that evidence is about the text that runs. Comments, doc comments and layout do not matter. Where hashes are kept
//! and compared is not known here.

use super::item::{item_name, plain, use_leaves};
use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
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

/// The items of a module by the names that mean them, and what each mentions: read once for all questions about it.
#[derive(Debug)]
pub struct Index {
    by_name: BTreeMap<String, Vec<usize>>,
    mentions: Vec<BTreeSet<String>>,
    /// Each item's tokens as they are hashed.
    texts: Vec<Vec<u8>>,
    /// What a glob brings in decides what every bare name means.
    globs: Vec<usize>,
}

impl Index {
    /// The index of the items of a module.
    pub fn of(file: &syn::File) -> Self {
        let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, item) in file.items.iter().enumerate() {
            for name in declares(item) {
                by_name.entry(name).or_default().push(index);
            }
        }
        let read = file.items.iter().map(|item| {
            let mut names = BTreeSet::new();
            let tokens = item.to_token_stream();
            identifiers(tokens.clone(), &mut names);
            (names, canonical(tokens))
        });
        let (mentions, texts) = read.unzip();
        let globs = (0..file.items.len()).filter(|at| is_glob(&file.items[*at])).collect();
        Self { by_name, mentions, texts, globs }
    }

    /// Positions of the items of `file` that the item `root` reaches, without `root` and without other `pub fn`s.
    ///
    /// By name: an identifier that equals an item's name counts as a use of it. A local variable of that name makes the
    /// hash depend on too much, never on too little.
    pub fn reached(&self, file: &syn::File, root: usize) -> BTreeSet<usize> {
        let mut seen = BTreeSet::new();
        let mut open = vec![root];
        while let Some(at) = open.pop() {
            for next in self.mentions[at].iter().filter_map(|name| self.by_name.get(name)).flatten() {
                if *next != root && !is_public_fn(&file.items[*next]) && seen.insert(*next) {
                    open.push(*next);
                }
            }
        }
        seen.extend(&self.globs);
        seen
    }

    /// Hash of the item `root` of a module and of everything private that it reaches in it; other `pub fn`s are symbols of
    /// their own and stay out.
    pub fn hash(&self, file: &syn::File, root: usize) -> TokenHash {
        let reached = self.reached(file, root);
        let mut parts: Vec<&[u8]> = reached.into_iter().map(|at| self.texts[at].as_slice()).collect();
        // Where in the file a helper stands does not matter.
        parts.sort_unstable();
        parts.insert(0, &self.texts[root]);
        digest(&parts)
    }

    /// The names that the item `root`, and what it reaches, mentions in code; what an import renames under its own name.
    /// A local variable counts as well.
    pub fn mentioned(&self, file: &syn::File, root: usize) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let mut imports = Vec::new();
        for index in std::iter::once(root).chain(self.reached(file, root)) {
            match &file.items[index] {
                syn::Item::Use(item) => imports.extend(use_leaves(item)),
                _ => names.extend(self.mentions[index].iter().cloned()),
            }
        }
        let used =
            imports.into_iter().filter(|leaf| leaf.name.as_ref().is_some_and(|name| names.contains(name)));
        let meant: Vec<String> = used.filter_map(|leaf| leaf.path.last().cloned()).collect();
        names.extend(meant);
        names
    }
}

/// Hash of any piece of Rust; `None` when it does not lex.
pub fn text_hash(text: &str) -> Option<TokenHash> {
    let tokens: TokenStream = text.parse().ok()?;
    Some(digest(&[&canonical(tokens)]))
}

fn digest(parts: &[&[u8]]) -> TokenHash {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    TokenHash(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn is_public_fn(item: &syn::Item) -> bool {
    matches!(item, syn::Item::Fn(f) if !matches!(f.vis, syn::Visibility::Inherited))
}

fn is_glob(item: &syn::Item) -> bool {
    matches!(item, syn::Item::Use(u) if use_leaves(u).iter().any(|leaf| leaf.glob))
}

/// The names by which an item can be meant: an `impl` by the names in its head, a `use` by what it brings into scope.
fn declares(item: &syn::Item) -> BTreeSet<String> {
    match item {
        syn::Item::Use(u) => use_leaves(u).into_iter().filter_map(|leaf| leaf.name).collect(),
        syn::Item::Impl(i) => {
            let mut names = BTreeSet::new();
            identifiers(i.self_ty.to_token_stream(), &mut names);
            if let Some((path, _)) = &i.trait_ {
                identifiers(path.to_token_stream(), &mut names);
            }
            names
        }
        other => item_name(other).into_iter().collect(),
    }
}

fn identifiers(tokens: TokenStream, into: &mut BTreeSet<String>) {
    for token in without_docs(tokens) {
        match token {
            TokenTree::Ident(ident) => {
                into.insert(plain(&ident));
            }
            TokenTree::Group(group) => identifiers(group.stream(), into),
            // `format!("{LIMIT}")` reaches `LIMIT` from inside a string.
            TokenTree::Literal(literal) => words(&literal.to_string(), into),
            TokenTree::Punct(_) => {}
        }
    }
}

fn words(literal: &str, into: &mut BTreeSet<String>) {
    if literal.contains('{') {
        let words = literal.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty());
        into.extend(words.map(str::to_string));
    }
}

/// Tokens as bytes that no layout changes: one line a token, doc attributes left out, runs of punctuation split as the
/// compiler splits them.
fn canonical(tokens: TokenStream) -> Vec<u8> {
    let mut out = Vec::new();
    write_tokens(tokens, &mut out);
    out
}

fn write_tokens(tokens: TokenStream, out: &mut Vec<u8>) {
    let tokens = without_docs(tokens);
    let mut run = String::new();
    for (index, token) in tokens.iter().enumerate() {
        if let TokenTree::Punct(punct) = token {
            run.push(punct.as_char());
            let joined = punct.spacing() == Spacing::Joint
                && matches!(tokens.get(index + 1), Some(TokenTree::Punct(_)));
            if !joined {
                write_operators(&run, out);
                run.clear();
            }
            continue;
        }
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                write_line(open, out);
                write_tokens(group.stream(), out);
                write_line(close, out);
            }
            other => write_line(&other.to_string(), out),
        }
    }
}

fn write_line(token: &str, out: &mut Vec<u8>) {
    if !token.is_empty() {
        out.extend_from_slice(token.as_bytes());
        // A literal may contain a line end; its length would be needed then, and no token starts with NUL.
        out.extend_from_slice(b"\0\n");
    }
}

/// Longest first, as the lexer of rustc does it. `>` stays single, since `>>` may close two lists.
const OPERATORS: [&str; 21] = [
    "<<=", "...", "..=", "::", "->", "=>", "==", "!=", "<=", "&&", "||", "+=", "-=", "*=", "/=", "%=", "^=",
    "&=", "|=", "<<", "..",
];

fn write_operators(mut run: &str, out: &mut Vec<u8>) {
    while let Some(first) = run.chars().next() {
        let length =
            OPERATORS.iter().find(|op| run.starts_with(**op)).map_or(first.len_utf8(), |op| op.len());
        let (operator, rest) = run.split_at(length);
        write_line(operator, out);
        run = rest;
    }
}

/// The tokens without `#[doc …]` and `#![doc …]`, which is what doc comments are.
fn without_docs(tokens: TokenStream) -> Vec<TokenTree> {
    let mut out: Vec<TokenTree> = Vec::new();
    for token in tokens {
        if is_doc_group(&token) {
            let is_punct =
                |t: Option<&TokenTree>, c: char| matches!(t, Some(TokenTree::Punct(p)) if p.as_char() == c);
            let bang = is_punct(out.last(), '!') && out.len() > 1 && is_punct(out.get(out.len() - 2), '#');
            if bang || is_punct(out.last(), '#') {
                out.truncate(out.len() - if bang { 2 } else { 1 });
                continue;
            }
        }
        out.push(token);
    }
    out
}

fn is_doc_group(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket
        && matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(ident)) if ident == "doc"))
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
        file.items.iter().position(is_fn).map(|root| Index::of(&file).hash(&file, root))
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
    fn layout_comments_and_docs_do_not_matter() {
        let relaid = BASE
            .replace("a>=2&&a!= -1i32", "a >= 2 // why\n && a != -1i32")
            .replace("pub fn f", "/// Doc.\n#[doc = \"x\"]\npub fn f")
            .replace("fn deep(x: u32) -> u32 {", "/** d */ fn deep(x:u32)->u32{ //! inner\n");
        assert_eq!(hash(BASE), hash(&relaid));
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
