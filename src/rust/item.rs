//! Finds items in the text of a module: byte ranges, lines, names. It only reads; `splice` changes text.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use std::collections::BTreeMap;
use std::ops::Range;
use syn::spanned::Spanned;

/// A function of a module and its position.
#[derive(Debug, Clone)]
pub struct ItemPlace {
    /// From the first doc comment or attribute to the closing brace. Plain `//` comments above are not included.
    pub bytes: Range<usize>,
    /// Line of the first token after the attributes, from 1.
    pub line: usize,
    /// Column of that token in characters, from 1.
    pub column: usize,
    pub item: syn::ItemFn,
}

/// Parses a module. Unlike `syn::parse_file` it accepts no shebang line, which a module cannot have and which would
/// shift every position. It refuses text that nests so deeply that a recursive parser would overflow the stack.
pub fn parse(text: &str) -> syn::Result<syn::File> {
    of_tokens(text.parse()?)
}

/// Parses a module from tokens.
pub fn of_tokens(tokens: TokenStream) -> syn::Result<syn::File> {
    match too_deep(&tokens) {
        Some(span) => Err(syn::Error::new(span, "this nests too deeply to be read")),
        None => syn::parse2(tokens),
    }
}

/// Largest nesting depth of brackets.
const MAX_DEPTH: usize = 48;
/// Largest number of tokens without a `;`, `,` or block between them: they form one expression or type, which may
/// nest by operators.
const MAX_RUN: usize = 512;

/// The first place that nests deeper than [`MAX_DEPTH`] or [`MAX_RUN`].
fn too_deep(tokens: &TokenStream) -> Option<Span> {
    // Not recursive, so that it cannot overflow the stack itself.
    let mut open = vec![(tokens.clone().into_iter().peekable(), 0_usize)];
    while let Some((level, run)) = open.last_mut() {
        let Some(token) = level.next() else {
            open.pop();
            continue;
        };
        // Attributes do not nest: a long doc comment is a series of them.
        if matches!(&token, TokenTree::Punct(p) if p.as_char() == '#')
            && matches!(level.peek(), Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Bracket)
        {
            *run = run.saturating_sub(1);
            continue;
        }
        let goes_on = matches!(level.peek(), Some(TokenTree::Ident(next)) if next == "else");
        *run = match &token {
            TokenTree::Punct(p) if matches!(p.as_char(), ';' | ',') => 0,
            TokenTree::Group(g) if g.delimiter() == Delimiter::Brace && !goes_on => 0,
            _ => *run + 1,
        };
        let is_long = *run > MAX_RUN;
        let span = token.span();
        if let TokenTree::Group(group) = token {
            open.push((group.stream().into_iter().peekable(), 0));
        }
        if is_long || open.len() > MAX_DEPTH {
            return Some(span);
        }
    }
    None
}

/// The top-level function `name`; `None` when there is none or when the text is not Rust.
pub fn find_fn(text: &str, name: &str) -> Option<ItemPlace> {
    parse(text).ok()?.items.into_iter().find_map(|item| match item {
        syn::Item::Fn(item) if plain(&item.sig.ident) == name => {
            let bytes = bytes_of(&item);
            let at = fn_start(&item).start();
            Some(ItemPlace { bytes, line: at.line, column: at.column + 1, item })
        }
        _ => None,
    })
}

/// Byte range, in the text, of a node that came out of `parse(text)`.
pub fn bytes_of(node: &impl Spanned) -> Range<usize> {
    node.span().byte_range()
}

/// First token of a function after its attributes.
pub(crate) fn fn_start(item: &syn::ItemFn) -> Span {
    match item.vis {
        syn::Visibility::Inherited => item.sig.span(),
        _ => item.vis.span(),
    }
}

/// An identifier without `r#`.
pub(crate) fn plain(ident: &proc_macro2::Ident) -> String {
    let text = ident.to_string();
    match text.strip_prefix("r#") {
        Some(plain) => plain.to_owned(),
        None => text,
    }
}

/// Whether a word occurs in the tokens.
pub(crate) fn mentions(tokens: TokenStream, word: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == word,
        TokenTree::Group(group) => mentions(group.stream(), word),
        _ => false,
    })
}

/// The name that an item declares; none for `impl`, `use` and macro calls.
pub(crate) fn item_name(item: &syn::Item) -> Option<String> {
    use syn::Item;
    let ident = match item {
        Item::Const(i) => &i.ident,
        Item::Enum(i) => &i.ident,
        Item::Fn(i) => &i.sig.ident,
        Item::Macro(i) => i.ident.as_ref()?,
        Item::Mod(i) => &i.ident,
        Item::Static(i) => &i.ident,
        Item::Struct(i) => &i.ident,
        Item::Trait(i) => &i.ident,
        Item::TraitAlias(i) => &i.ident,
        Item::Type(i) => &i.ident,
        Item::Union(i) => &i.ident,
        _ => return None,
    };
    Some(plain(ident)).filter(|name| name != "_")
}

/// Rust's own types without a path.
pub(crate) const PRIMITIVE: [&str; 17] = [
    "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64",
    "bool", "char", "str",
];

/// The visibility of an item; none for `impl` blocks, macros and `extern` blocks.
pub(crate) fn visibility(item: &syn::Item) -> Option<&syn::Visibility> {
    use syn::Item;
    Some(match item {
        Item::Const(i) => &i.vis,
        Item::Enum(i) => &i.vis,
        Item::Fn(i) => &i.vis,
        Item::Mod(i) => &i.vis,
        Item::Static(i) => &i.vis,
        Item::Struct(i) => &i.vis,
        Item::Trait(i) => &i.vis,
        Item::Type(i) => &i.vis,
        Item::Union(i) => &i.vis,
        Item::Use(i) => &i.vis,
        _ => return None,
    })
}

/// One name that a `use` item brings into scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UseLeaf {
    /// Path as written, segment by segment, without a trailing `self` or `*`.
    pub path: Vec<String>,
    /// Written with a leading `::`.
    pub absolute: bool,
    /// The name in scope; `None` for a glob and for `as _`.
    pub name: Option<String>,
    pub glob: bool,
    pub span: LeafSpan,
}

/// A position that comparisons ignore.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LeafSpan(pub Span);

impl PartialEq for LeafSpan {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for LeafSpan {}

/// The names that a `use` item brings into scope, with groups flattened.
pub(crate) fn use_leaves(item: &syn::ItemUse) -> Vec<UseLeaf> {
    let mut leaves = Vec::new();
    flatten(&item.tree, &mut Vec::new(), item.leading_colon.is_some(), &mut leaves);
    leaves
}

/// What imports among some items call by another name, with the last name of the path.
pub(crate) fn renamed(items: &[&syn::Item]) -> BTreeMap<String, String> {
    let uses = items.iter().filter_map(|item| match item {
        syn::Item::Use(item) => Some(item),
        _ => None,
    });
    let leaves = uses.flat_map(use_leaves);
    leaves.filter_map(|leaf| Some((leaf.name?, leaf.path.last()?.clone()))).collect()
}

fn flatten(tree: &syn::UseTree, prefix: &mut Vec<String>, absolute: bool, leaves: &mut Vec<UseLeaf>) {
    let leaf = |path: Vec<String>, name: Option<String>, glob: bool, span: Span| UseLeaf {
        path,
        absolute,
        name: name.filter(|n| n != "_"),
        glob,
        span: LeafSpan(span),
    };
    match tree {
        syn::UseTree::Path(path) => {
            prefix.push(plain(&path.ident));
            flatten(&path.tree, prefix, absolute, leaves);
            prefix.pop();
        }
        syn::UseTree::Name(name) => {
            let path = joined(prefix, &name.ident);
            let bound = path.last().cloned();
            leaves.push(leaf(path, bound, false, name.ident.span()));
        }
        syn::UseTree::Rename(rename) => {
            let path = joined(prefix, &rename.ident);
            leaves.push(leaf(path, Some(plain(&rename.rename)), false, rename.ident.span()));
        }
        syn::UseTree::Glob(glob) => leaves.push(leaf(prefix.clone(), None, true, glob.span())),
        syn::UseTree::Group(group) => {
            for tree in &group.items {
                flatten(tree, prefix, absolute, leaves);
            }
        }
        // `UseTree` may grow. An unknown tree adds no name to the scope, so uses of it are unknown paths.
        #[allow(unreachable_patterns)]
        _ => {}
    }
}

/// Appends an identifier to a path; `a::{self}` means `a`.
fn joined(prefix: &[String], ident: &proc_macro2::Ident) -> Vec<String> {
    let mut path = prefix.to_vec();
    if ident != "self" || prefix.is_empty() {
        path.push(plain(ident));
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_has_doc_comments_and_attributes_but_no_plain_comment() {
        let text = "// plain\n/// Doc é.\n#[inline]\npub fn f() -> u8 { 1 } // after\n";
        let place = find_fn(text, "f").unwrap();
        assert_eq!(&text[place.bytes], "/// Doc é.\n#[inline]\npub fn f() -> u8 { 1 }");
        assert_eq!((place.line, place.column), (4, 1));
    }

    #[test]
    fn ranges_survive_a_byte_order_mark_windows_line_ends_and_wide_characters() {
        let text = "\u{feff}const S: &str = \"日本\";\r\n/** block\r\n doc */\r\nunsafe fn r#type() {}\r\n";
        let place = find_fn(text, "type").unwrap();
        assert_eq!(&text[place.bytes], "/** block\r\n doc */\r\nunsafe fn r#type() {}");
    }

    #[test]
    fn functions_inside_others_or_in_strings_are_not_found() {
        let text = "fn a() { fn inner() {} }\nconst S: &str = \"fn hidden() {}\";";
        assert!(find_fn(text, "inner").is_none());
        assert!(find_fn(text, "hidden").is_none());
        assert!(find_fn("fn (", "a").is_none());
    }

    #[test]
    fn a_comment_of_any_length_is_read() {
        let text = format!("{}fn f() {{}}", "/// A line.\n".repeat(5000));
        assert_eq!(parse(&text).unwrap().items.len(), 1);
    }

    #[test]
    fn text_that_nests_without_end_is_refused_and_not_followed() {
        let read = || {
            let nest = |open: &str, middle: &str, close: &str, n: usize| {
                format!("fn f() {{ let _ = {}{middle}{}; }}", open.repeat(n), close.repeat(n))
            };
            for (open, middle, close) in [
                ("(", "1", ")"),
                ("{", "1", "}"),
                ("[", "1", "]"),
                ("f(", "1", ")"),
                ("!", "1", ""),
                ("&", "1", ""),
                ("|a|", "1", ""),
                ("return ", "1", ""),
                ("a=", "1", ""),
                ("1+", "1", ""),
                ("1", "", "as u8"),
                ("x", "", ".f()"),
                ("if a {} else ", "{}", ""),
                ("Vec::<", "u8", ">"),
                ("match x { _ => ", "1", "}"),
                ("unsafe {", "1", "}"),
                ("-#[a]", "1", ""),
                ("|a: (", "u8", ")| 1"),
            ] {
                assert!(parse(&nest(open, middle, close, 20_000)).is_err(), "{open}");
                // Just below the limit, even the small stack of a test must not overflow.
                for n in [40, 100, 250, 500] {
                    if let Ok(file) = parse(&nest(open, middle, close, n)) {
                        let copy = file.clone();
                        assert_eq!(copy, file);
                        let _ = crate::rust::stub_detection::stubs(&file);
                    }
                }
            }
        };
        // The stack size of a main thread: a test has less, and a debug build needs more than a release build.
        std::thread::Builder::new().stack_size(8 << 20).spawn(read).unwrap().join().unwrap();
        let wide = format!("const T: [u8; 9] = [{}];{}", "1, ".repeat(9000), "pub fn g() {}\n".repeat(900));
        assert!(parse(&wide).is_ok());
        let arms = format!("fn f(x: u32) {{ match x {{ {} _ => {{}} }} }}", "1 => { g(); }".repeat(900));
        assert!(parse(&arms).is_ok());
    }

    #[test]
    fn use_groups_are_flattened() {
        let item: syn::ItemUse = syn::parse_str("use a::{self, b as c, d::*, e::{f, g as _}};").unwrap();
        let seen: Vec<_> = use_leaves(&item)
            .into_iter()
            .map(|l| (l.path.join("::"), l.name.unwrap_or_default(), l.glob))
            .collect();
        let want = [("a", "a", false), ("a::b", "c", false), ("a::d", "", true), ("a::e::f", "f", false)];
        for (path, name, glob) in want {
            assert!(seen.contains(&(path.into(), name.into(), glob)), "{path} in {seen:?}");
        }
        assert_eq!(seen.len(), 5);
    }
}
