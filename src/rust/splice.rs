//! Changes a module's text by byte range: it replaces one function, puts its helpers before it, and keeps every
//! other byte. This is pure text to text; other modules write files and decide whether the new text may be
//! accepted.

use super::hash::{self, TokenHash};
use super::item::{self, ItemPlace, bytes_of, find_fn, item_name, plain, use_leaves};
use crate::error::{Error, ErrorKind, Result};
use quote::ToTokens;
use std::collections::BTreeMap;
use std::ops::Range;

/// The result of a splice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spliced {
    /// The new text of the module.
    Done(String),
    /// A helper's name already means something else in the module; nothing was changed.
    Conflict(Conflict),
}

/// A helper whose name the module already uses for something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    pub name: String,
    /// Line of the existing item in the module, from 1.
    pub line: usize,
}

impl std::fmt::Display for Conflict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "the helper `{}` has the name of another item of the module (line {}); rename it",
            self.name, self.line
        )
    }
}

/// A reply split into the requested function and the rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    pub item: String,
    pub helpers: String,
}

/// Splits a reply; `None` when it does not parse or has no function `name`.
pub fn split(text: &str, name: &str) -> Option<Parts> {
    let ItemPlace { bytes, .. } = find_fn(text, name)?;
    let around = [text[..bytes.start].trim_matches(['\u{feff}', '\n', '\r', ' ']), text[bytes.end..].trim()];
    let around: Vec<&str> = around.into_iter().filter(|part| !part.is_empty()).collect();
    // Text below the function goes first, so that a comment directly above the function stays there.
    let helpers = around.into_iter().rev().collect::<Vec<_>>().join("\n\n");
    Some(Parts { item: text[bytes].to_string(), helpers })
}

/// Replaces the function `name` of the module `text` by `item`, with `helpers` directly in front.
///
/// The new function becomes `pub`, and keeps the old doc comment unless it brings one. Helpers and imports that the
/// module already has, token by token, are not repeated.
///
/// # Errors
/// `Build` when the module does not parse or lacks the function; `Internal` when `item` is not exactly that function or
/// `helpers` does not parse, which the audit excludes.
pub fn replace_fn(text: &str, name: &str, item: &str, helpers: &str) -> Result<Spliced> {
    let module = parse_module(text)?;
    let old = find_fn(text, name).ok_or_else(|| missing(name))?;
    let new = whole_fn(item, name)?;
    let helpers = match new_helpers(text, &module, name, helpers)? {
        Ok(helpers) => helpers,
        Err(conflict) => return Ok(Spliced::Conflict(conflict)),
    };
    let mut insert = String::new();
    if !helpers.is_empty() {
        insert.push_str(&helpers);
        insert.push_str(if helpers.lines().last().is_some_and(is_line_comment) { "\n" } else { "\n\n" });
    }
    if doc_text(item, &new.item).is_none() {
        insert.extend(doc_text(text, &old.item).map(|doc| doc + "\n"));
    }
    insert.push_str(&public(item, &new));
    let result = format!("{}{insert}{}", &text[..old.bytes.start], &text[old.bytes.end..]);
    item::parse(&result).map_err(|e| internal(format!("the spliced module does not parse: {e}")))?;
    Ok(Spliced::Done(result))
}

/// A module's text twice: once with only the function `name` and the private items that it reaches, once with only
/// the rest. Omitted text is blank, so that lines and columns stay those of the file.
pub fn take_apart(text: &str, name: &str) -> (String, String) {
    let Ok(module) = item::parse(text) else { return (text.to_owned(), String::new()) };
    let is_root = |i: &syn::Item| matches!(i, syn::Item::Fn(f) if plain(&f.sig.ident) == name);
    let Some(root) = module.items.iter().position(is_root) else { return (String::new(), text.to_owned()) };
    let mut own = hash::Index::of(&module).reached(root);
    own.retain(|index| !matches!(module.items[*index], syn::Item::Use(_)));
    own.insert(root);
    let ranges: Vec<Range<usize>> = own.into_iter().map(|index| bytes_of(&module.items[index])).collect();
    let blank = |keep: bool| -> String {
        let inside = |at: usize| ranges.iter().any(|range| range.contains(&at));
        text.char_indices().map(|(at, c)| if c == '\n' || inside(at) == keep { c } else { ' ' }).collect()
    };
    (blank(true), blank(false))
}

fn parse_module(text: &str) -> Result<syn::File> {
    item::parse(text).map_err(|e| {
        let at = e.span().start();
        let message = format!("the module does not parse: line {}, column {}: {e}", at.line, at.column + 1);
        Error::new(ErrorKind::Build, message)
            .help("correct the file, or restore the stubs: cargo implfuzz init")
    })
}

fn missing(name: &str) -> Error {
    Error::new(ErrorKind::Build, format!("the module has no function `{name}`"))
        .help("restore the stub: cargo implfuzz init")
}

fn internal(message: String) -> Error {
    Error::new(ErrorKind::Internal, message)
}

/// Parses `item` as exactly one function `name`.
fn whole_fn(item: &str, name: &str) -> Result<ItemPlace> {
    let alone = item::parse(item).is_ok_and(|file| file.items.len() == 1 && file.attrs.is_empty());
    match find_fn(item, name) {
        Some(place) if alone => Ok(place),
        _ => Err(internal(format!("the replacement is not exactly one function `{name}`"))),
    }
}

/// The doc comment of a function as written, if it has one.
fn doc_text(text: &str, item: &syn::ItemFn) -> Option<String> {
    let is_doc = |a: &&syn::Attribute| a.path().is_ident("doc") && matches!(a.style, syn::AttrStyle::Outer);
    let lines: Vec<&str> = item.attrs.iter().filter(is_doc).map(|a| text[bytes_of(a)].trim_end()).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The text of the function with `pub` in front.
fn public(text: &str, place: &ItemPlace) -> String {
    let (start, end) = match &place.item.vis {
        syn::Visibility::Inherited => {
            let start = bytes_of(&place.item.sig).start;
            (start, start)
        }
        vis => {
            let range = bytes_of(vis);
            (range.start, range.end)
        }
    };
    let space = if start == end { " " } else { "" };
    format!("{}pub{space}{}", &text[place.bytes.start..start], &text[end..place.bytes.end])
}

/// The helpers that the module does not have yet, or the first one that cannot be added.
fn new_helpers(
    text: &str,
    module: &syn::File,
    name: &str,
    helpers: &str,
) -> Result<std::result::Result<String, Conflict>> {
    let file = item::parse(helpers).map_err(|e| internal(format!("the helpers do not parse: {e}")))?;
    let taken = Taken::read(text, module, name);
    let mut out = helpers.to_string();
    for helper in file.items.iter().rev() {
        let range = bytes_of(helper);
        match taken.judge(helper, &helpers[range.clone()]) {
            Judgement::New => {}
            Judgement::Known => out.replace_range(with_line_end(helpers, range), ""),
            Judgement::Partly(rest) => out.replace_range(range, &rest),
            Judgement::Clash(conflict) => return Ok(Err(conflict)),
        }
    }
    Ok(Ok(out.trim_matches(['\u{feff}', '\n', '\r', ' ']).to_string()))
}

/// Whether an item has no name: an `impl`, or the call of a macro.
fn has_no_name(item: &syn::Item) -> bool {
    matches!(item, syn::Item::Impl(_)) || matches!(item, syn::Item::Macro(item) if item.ident.is_none())
}

enum Judgement {
    New,
    Known,
    /// A `use` of which only these leaves are new.
    Partly(String),
    Clash(Conflict),
}

/// The names of the module, each with its meaning.
struct Taken {
    items: BTreeMap<String, (Option<TokenHash>, usize)>,
    imports: BTreeMap<String, (String, usize)>,
    /// `impl` blocks and calls of macros.
    without_name: Vec<Option<TokenHash>>,
}

impl Taken {
    fn read(text: &str, module: &syn::File, replaced: &str) -> Self {
        let mut taken = Self { items: BTreeMap::new(), imports: BTreeMap::new(), without_name: Vec::new() };
        for item in &module.items {
            let tokens = hash::text_hash(&text[bytes_of(item)]);
            if let syn::Item::Use(u) = item {
                for leaf in use_leaves(u) {
                    let line = leaf.span.0.start().line;
                    let key = leaf.name.clone().unwrap_or_else(|| anonymous(&leaf));
                    taken.imports.insert(key, (full_path(&leaf), line));
                }
            } else if has_no_name(item) {
                taken.without_name.push(tokens);
            } else if let Some(name) = item_name(item) {
                // The replaced function's name counts as taken, because there can be only one item of that name.
                let tokens = if name == replaced { None } else { tokens };
                taken.items.insert(name, (tokens, line_of(item)));
            }
        }
        taken
    }

    fn judge(&self, helper: &syn::Item, text: &str) -> Judgement {
        match helper {
            syn::Item::Use(u) => return self.judge_use(u),
            // Adding the same one twice would not compile.
            helper if has_no_name(helper) => {
                let tokens = hash::text_hash(text);
                return if self.without_name.contains(&tokens) { Judgement::Known } else { Judgement::New };
            }
            _ => {}
        }
        let Some(name) = item_name(helper) else { return Judgement::New };
        if let Some((tokens, line)) = self.items.get(&name) {
            let same = tokens.is_some() && *tokens == hash::text_hash(text);
            return if same { Judgement::Known } else { Judgement::Clash(Conflict { name, line: *line }) };
        }
        match self.imports.get(&name) {
            Some((_, line)) => Judgement::Clash(Conflict { name, line: *line }),
            None => Judgement::New,
        }
    }

    fn judge_use(&self, item: &syn::ItemUse) -> Judgement {
        let leaves = use_leaves(item);
        let mut fresh = Vec::new();
        for leaf in &leaves {
            let key = leaf.name.clone().unwrap_or_else(|| anonymous(leaf));
            match (self.imports.get(&key), self.items.get(&key)) {
                (Some((path, _)), _) if same_path(path, &full_path(leaf)) => {}
                (Some((_, line)), _) | (_, Some((_, line))) => {
                    return Judgement::Clash(Conflict { name: key, line: *line });
                }
                (None, None) => fresh.push(leaf),
            }
        }
        if fresh.len() == leaves.len() {
            return Judgement::New;
        }
        if fresh.is_empty() {
            return Judgement::Known;
        }
        let lines = fresh.into_iter().map(|leaf| {
            let path = full_path(leaf);
            match &leaf.name {
                _ if leaf.glob => format!("use {path}::*;"),
                Some(name) if leaf.path.last() == Some(name) => format!("use {path};"),
                Some(name) => format!("use {path} as {name};"),
                None => format!("use {path} as _;"),
            }
        });
        Judgement::Partly(lines.collect::<Vec<_>>().join("\n"))
    }
}

fn full_path(leaf: &item::UseLeaf) -> String {
    format!("{}{}", if leaf.absolute { "::" } else { "" }, leaf.path.join("::"))
}

/// Whether two imports mean the same: `std` re-exports `core` and `alloc`, and the `super` of a module is the crate
/// root.
fn same_path(a: &str, b: &str) -> bool {
    let canonical = |path: &str| match path.trim_start_matches("::").split_once("::") {
        Some(("std" | "core" | "alloc", rest)) => format!("core::{rest}"),
        Some(("super" | "crate", rest)) => format!("crate::{rest}"),
        _ => path.to_string(),
    };
    canonical(a) == canonical(b)
}

/// A key for a leaf without a name; it cannot equal an identifier.
fn anonymous(leaf: &item::UseLeaf) -> String {
    format!("{}::{}", full_path(leaf), if leaf.glob { "*" } else { "_" })
}

fn line_of(item: &syn::Item) -> usize {
    item.to_token_stream().into_iter().next().map_or(0, |token| token.span().start().line)
}

fn is_line_comment(line: &str) -> bool {
    line.trim_start().starts_with("//") && !line.trim_start().starts_with("///")
}

/// Extends the range over the line ends after it, so that removals leave no growing gap.
pub(super) fn with_line_end(text: &str, range: Range<usize>) -> Range<usize> {
    let rest = &text[range.end..];
    let blank = rest.len() - rest.trim_start_matches(['\n', '\r']).len();
    range.start..range.end + blank
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MODULE: &str = "//! Head.\nuse crate::ffi::kit_t;\n\nconst N: u32 = 1;\n\n/// From C.\npub fn a(x: u32) -> u32 {\n    unimplemented!(\"a\")\n}\n\n// plain\npub fn b() {}\n";

    fn done(result: Spliced) -> String {
        match result {
            Spliced::Done(text) => text,
            Spliced::Conflict(conflict) => panic!("{conflict}"),
        }
    }

    #[test]
    fn a_module_taken_apart_keeps_its_lines() {
        let text = "use a::b;\nconst K: u8 = 1;\nfn other() {}\npub fn f() -> u8 {\n    K\n}\n";
        let (own, rest) = take_apart(text, "f");
        assert_eq!(own.lines().nth(3), Some("pub fn f() -> u8 {"));
        assert!(own.contains("const K") && !own.contains("other") && !own.contains("use"));
        assert!(rest.contains("use a::b;") && rest.contains("other") && !rest.contains("const K"));
        assert_eq!(own.lines().count(), rest.lines().count());
    }

    #[test]
    fn the_stub_gives_way_and_its_doc_comment_stays() {
        let out = done(
            replace_fn(MODULE, "a", "fn a(x: u32) -> u32 { h(x) }", "fn h(x: u32) -> u32 { x }").unwrap(),
        );
        let want = MODULE.replace(
            "/// From C.\npub fn a(x: u32) -> u32 {\n    unimplemented!(\"a\")\n}",
            "fn h(x: u32) -> u32 { x }\n\n/// From C.\npub fn a(x: u32) -> u32 { h(x) }",
        );
        assert_eq!(out, want);
    }

    #[test]
    fn a_new_doc_comment_wins_and_visibility_becomes_pub() {
        let out =
            done(replace_fn(MODULE, "a", "/// New.\npub(crate) fn a(x: u32) -> u32 { x }", "").unwrap());
        assert!(out.contains("/// New.\npub fn a(x: u32) -> u32 { x }"), "{out}");
        assert!(!out.contains("From C"));
    }

    #[test]
    fn a_helper_with_the_name_of_something_else_is_a_conflict() {
        for (helper, line) in
            [("const N: u32 = 2;", 4), ("fn b() -> u8 { 1 }", 12), ("struct kit_t;", 2), ("use x::N;", 4)]
        {
            let got = replace_fn(MODULE, "a", "fn a() {}", helper).unwrap();
            assert!(matches!(&got, Spliced::Conflict(c) if c.line == line), "{helper}: {got:?}");
        }
    }

    #[test]
    fn what_the_module_already_has_is_not_repeated() {
        let helpers = "use crate::ffi::{kit_t, kit_u};\nconst N: u32 = /* same */ 1;\nfn h() {}";
        let out = done(replace_fn(MODULE, "a", "fn a() { h() }", helpers).unwrap());
        assert_eq!(out.matches("kit_t").count(), 1);
        assert_eq!(out.matches("const N").count(), 1);
        assert!(out.contains("use crate::ffi::kit_u;\nfn h() {}\n\n"), "{out}");
    }

    #[test]
    fn an_import_by_another_spelling_is_no_conflict() {
        let helpers = "use super::ffi::kit_t;\nuse std::mem;";
        let out = done(replace_fn(MODULE, "a", "fn a() {}", helpers).unwrap());
        assert!(!out.contains("super") && out.contains("use std::mem;"), "{out}");
        let again = done(replace_fn(&out, "b", "fn b() {}", "use core::mem;").unwrap());
        assert!(!again.contains("use core::mem"), "{again}");
        assert!(matches!(
            replace_fn(&out, "b", "fn b() {}", "use core::ptr as mem;").unwrap(),
            Spliced::Conflict(_)
        ));
    }

    #[test]
    fn a_reply_is_taken_apart_with_its_comments() {
        let parts = split("use a::b;\n\n// Why.\nfn f() {}\n\nfn g() {}\n", "f").unwrap();
        assert_eq!(parts.item, "fn f() {}");
        assert_eq!(parts.helpers, "fn g() {}\n\nuse a::b;\n\n// Why.");
        let out = done(replace_fn("pub fn f() {}\n", "f", &parts.item, &parts.helpers).unwrap());
        assert!(out.ends_with("// Why.\npub fn f() {}\n"), "{out}");
    }

    #[test]
    fn our_own_mistakes_are_errors() {
        assert_eq!(replace_fn("fn (", "a", "fn a() {}", "").unwrap_err().kind(), ErrorKind::Build);
        assert_eq!(replace_fn(MODULE, "zz", "fn zz() {}", "").unwrap_err().kind(), ErrorKind::Build);
        assert_eq!(
            replace_fn(MODULE, "a", "fn a() {} fn c() {}", "").unwrap_err().kind(),
            ErrorKind::Internal
        );
    }

    proptest! {
        /// Whatever is around the function, those bytes stay, and the result parses.
        #[test]
        fn everything_else_is_byte_identical(
            before in proptest::collection::vec(0usize..7, 0..6),
            after in proptest::collection::vec(0usize..7, 0..6),
            wide in "[a-zé日 ]{0,8}",
        ) {
            let piece = |i: usize, n: usize| match i {
                0 => format!("// {wide}\r\n"),
                1 => format!("/* {wide} /* nested */ */"),
                2 => format!("const C{n}: &str = \"{wide} fn f() {{}}\";\n"),
                3 => format!("fn other{n}() {{ fn f() {{}} }}\n\n"),
                4 => format!("/// {wide}\npub struct S{n};\n"),
                5 => "\n\n   \n".to_string(),
                _ => format!("fn r{n}() -> char {{ '\\'' }}"),
            };
            let before: String = before.iter().enumerate().map(|(n, i)| piece(*i, n)).collect::<String>() + "\n";
            let after: String = "\n".to_string()
                + &after.iter().enumerate().map(|(n, i)| piece(*i, n + 100)).collect::<String>();
            let text = format!("{before}#[inline]\npub fn f() {{ todo!() }}{after}");
            let new = "pub fn f() { g() }";
            let out = done(replace_fn(&text, "f", new, "fn g() {}").unwrap());
            prop_assert_eq!(out, format!("{before}fn g() {{}}\n\n{new}{after}"));
        }
    }
}
