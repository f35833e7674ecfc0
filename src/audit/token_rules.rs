//! Reads a reply word by word: paths into crates and into generated modules, macros, attributes, `extern`, statics. No
//! name is resolved: what goes by another name is left to the compiler, the linkage proof and the run.
//!
//! It reads tokens, so that the text of a macro is read like all other text.

use super::allowed_names::{self, Refusal};
use super::attributes;
use super::module_names::ModuleNames;
use super::paths::{self, How};
use super::token_shapes::{
    begins_call_of_macro, bound, interior, is_colon, is_marks, is_parenthesis, is_plain, is_semicolon, path,
};
use super::{Allowed, Candidate, Problems, Rule};
use crate::rust::item::{item_name, mentions, plain};
use crate::rust::macro_names::{BEFORE_NOT, whole_macros};
use crate::rust::nonlocal_items;
use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeSet;

/// Reads the whole reply.
pub(super) fn check(
    candidate: &Candidate<'_>,
    allowed: &Allowed,
    items: &[&syn::Item],
    problems: &mut Problems<'_>,
) {
    let tokens: TokenStream = items.iter().map(|item| tokens_of(item, candidate.name)).collect();
    let own: BTreeSet<String> = items.iter().filter_map(|item| item_name(item)).collect();
    let has_unsafe = mentions(tokens.clone(), "unsafe");
    let interior = interior(tokens.clone(), &own);
    let bound = bound(items);
    let mut modules = ModuleNames::clone(&allowed.around.modules);
    modules.read(tokens.clone());
    let whole = whole_macros(items.iter().map(|item| item.to_token_stream()));
    let mut reader = Reader {
        port: Some((candidate, allowed)),
        problems,
        has_unsafe,
        interior,
        bound,
        modules,
        whole,
        in_macro: false,
        in_arguments: false,
    };
    reader.stream(tokens);
}

/// The tokens of an item. The types of the requested function are compared with the expected ones as a whole.
fn tokens_of(item: &syn::Item, requested: &str) -> TokenStream {
    let syn::Item::Fn(item) = item else { return item.to_token_stream() };
    let mut item = item.clone();
    if item.sig.ident == requested {
        for input in &mut item.sig.inputs {
            if let syn::FnArg::Typed(input) = input {
                *input.ty = syn::parse_quote!(_);
            }
        }
        item.sig.output = syn::ReturnType::Default;
    }
    item.to_token_stream()
}

/// Reads the items of a module beside the functions of the library. A port can use them without a name. The linkage proof
/// alone decides what only some functions of C allow their ports.
pub(super) fn problems_beside(items: &[&syn::Item]) -> Vec<(usize, Refusal)> {
    let nobody = Candidate { module: "", name: "", text: "" };
    let mut problems = Problems::of(&nobody);
    for item in items {
        let is_other = match item {
            syn::Item::Mod(module) => nonlocal_items::is_test(&module.attrs),
            // Ports name no public function but ported ones, and each of these is judged by itself.
            syn::Item::Fn(item) => matches!(item.vis, syn::Visibility::Public(_)),
            syn::Item::Use(_) => true,
            _ => false,
        };
        if is_other {
            continue;
        }
        let tokens = item.to_token_stream();
        let has_unsafe = mentions(tokens.clone(), "unsafe");
        let interior = interior(tokens.clone(), &BTreeSet::new());
        let mut reader = Reader {
            port: None,
            problems: &mut problems,
            has_unsafe,
            interior,
            bound: BTreeSet::new(),
            modules: ModuleNames::default(),
            whole: BTreeSet::new(),
            in_macro: false,
            in_arguments: false,
        };
        reader.stream(tokens);
    }
    problems.in_order().into_iter().map(|problem| (problem.line, (problem.rule, problem.reason))).collect()
}

struct Reader<'w, 'p> {
    /// None for the text beside the ports.
    port: Option<(&'w Candidate<'w>, &'w Allowed)>,
    problems: &'w mut Problems<'p>,
    has_unsafe: bool,
    /// A type in the reply that can change behind a shared reference: a static could have it under another name.
    interior: Option<String>,
    /// Names of variables.
    bound: BTreeSet<String>,
    /// Modules of the crate that may go by their bare names.
    modules: ModuleNames,
    /// Macros of the reply that take no words apart.
    whole: BTreeSet<String>,
    /// Whether this is the definition of a macro, or what one is called with: it could put the words together.
    in_macro: bool,
    /// Whether a macro is called with this: it could also drop what stands before a word.
    in_arguments: bool,
}

impl Reader<'_, '_> {
    fn refuse(&mut self, span: Span, refusal: Option<Refusal>) {
        if let Some((rule, reason)) = refusal {
            self.problems.add(rule, span, reason);
        }
    }

    fn stream(&mut self, tokens: TokenStream) {
        let list: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < list.len() {
            let (before, here) = list.split_at(at);
            at += match &here[0] {
                TokenTree::Group(group) => {
                    self.stream(group.stream());
                    1
                }
                TokenTree::Punct(mark) if mark.as_char() == '#' => self.attribute(here),
                TokenTree::Punct(mark) if mark.as_char() == '$' => self.variable_of_macro(before, here),
                // A lifetime.
                TokenTree::Punct(mark) if mark.as_char() == '\'' => 2,
                TokenTree::Ident(word) => self.word(word, before, here),
                _ => 1,
            };
        }
    }

    /// `#[…]` or `#![…]`; the number of tokens read. A macro can put any other `#` before something, and unpack what an
    /// attribute holds.
    fn attribute(&mut self, here: &[TokenTree]) -> usize {
        let (inner, group) = match here {
            [_, TokenTree::Punct(mark), TokenTree::Group(group), ..] if mark.as_char() == '!' => {
                (true, group)
            }
            [_, TokenTree::Group(group), ..] => (false, group),
            _ => {
                let reason = "a `#` that begins no attribute is not allowed in a port";
                self.refuse(here[0].span(), Some((Rule::Attribute, reason.to_owned())));
                return 1;
            }
        };
        let refusal = attributes::refusal(group.stream(), inner).map(|reason| (Rule::Attribute, reason));
        match refusal {
            None => self.stream(group.stream()),
            refusal => self.refuse(here[0].span(), refusal),
        }
        if inner { 3 } else { 2 }
    }

    /// `$name`, where a macro is defined: it may stand for anything that the macro is called with.
    fn variable_of_macro(&mut self, before: &[TokenTree], here: &[TokenTree]) -> usize {
        let [_, TokenTree::Ident(name), after @ ..] = here else { return 1 };
        let is_in_path = is_marks(after, "::") || is_marks(&before[before.len().saturating_sub(2)..], "::");
        let reason = if name == "crate" {
            return 1;
        } else if begins_call_of_macro(after) {
            format!("`${name}!` calls a macro by a name that the audit cannot read")
        } else if is_in_path {
            format!(
                "a path with `${name}` is one that the audit cannot read: for a type, write `<${name}>::`"
            )
        } else {
            return 2;
        };
        self.refuse(name.span(), Some((Rule::Macro, reason)));
        2
    }

    /// A word and the path that begins with it; the number of tokens read.
    fn word(&mut self, word: &Ident, before: &[TokenTree], here: &[TokenTree]) -> usize {
        let before = before.last();
        let span = word.span();
        if !word.to_string().is_ascii() {
            // The compiler takes several spellings of such a name for one.
            self.refuse(
                span,
                Some((Rule::Path, format!("`{word}`: a name in a port has ASCII letters only"))),
            );
        }
        let refusal = match word.to_string().as_str() {
            "use" if !matches!(here.get(1), Some(TokenTree::Punct(mark)) if mark.as_char() == '<') => {
                let end = here.iter().position(is_semicolon).unwrap_or(here.len());
                self.imports(&[], &here[1..end]);
                // What stands between `use` and the end may be something else than an import, in a macro.
                return if self.in_macro { 1 } else { end };
            }
            "extern" => refused_extern(&here[1..]),
            "static" => self.refused_static(&here[1..]),
            "fn" if self.port.is_some()
                && self.has_unsafe
                && (is_parenthesis(here.get(1)) || self.is_half_function(here)) =>
            {
                Some((Rule::FnPointer, paths::FN_TYPE.to_owned()))
            }
            // A macro could put them into an attribute.
            name @ ("link_section" | "no_mangle" | "export_name" | "link_name" | "cfg_attr"
            | "global_allocator")
                if self.in_macro =>
            {
                Some((
                    Rule::Attribute,
                    format!("`{name}` in the text of a macro could be put into an attribute"),
                ))
            }
            "impl" if matches!(before, Some(TokenTree::Ident(word)) if word == "unsafe") => {
                Some((Rule::Item, "`unsafe impl` is not allowed in a port".to_owned()))
            }
            _ => return self.path(word, before, here),
        };
        self.refuse(span, refusal);
        1
    }

    fn path(&mut self, first: &Ident, before: Option<&TokenTree>, here: &[TokenTree]) -> usize {
        let (names, mut read) = path(here);
        let after = &here[read..];
        let is_member = matches!(before, Some(TokenTree::Punct(mark)) if mark.as_char() == '.');
        let is_declared = matches!(before, Some(TokenTree::Ident(word)) if word == "fn");
        let how = if begins_call_of_macro(after) && !BEFORE_NOT.iter().any(|keyword| first == keyword) {
            How::Macro
        } else if is_member || is_declared || (names.len() == 1 && self.bound.contains(&names[0])) {
            How::Named
        } else if is_parenthesis(after.first()) {
            How::Called
        } else {
            How::Named
        };
        let last = names.last().map_or("", String::as_str);
        if matches!(last, "transmute" | "transmute_copy") && !(is_member || is_declared) {
            let none = BTreeSet::new();
            let callbacks = self.port.map_or(&none, |(_, allowed)| &allowed.ffi.callbacks);
            self.refuse(first.span(), paths::refused_transmute(after, callbacks));
        }
        let is_read = matches!(before, Some(TokenTree::Punct(mark)) if mark.as_char() == '*');
        if last == "__errno_location" && how == How::Called && !is_read {
            let reason = "the address of `errno` is for nothing but `*libc::__errno_location()`";
            self.refuse(first.span(), Some((Rule::State, reason.to_owned())));
        }
        let is_alone = !is_member && names.len() == 1;
        if self.in_macro && (is_alone || self.in_arguments) && how != How::Macro {
            for name in &names {
                let reason = |(rule, _)| {
                    (rule, format!("`{name}` in the text of a macro could be put together to `{name}!`"))
                };
                self.refuse(first.span(), allowed_names::macro_refusal(name).map(reason));
            }
        }
        self.judge(&names, how, first.span());
        if how == How::Macro {
            read += 1 + self.text_of_macro(last, &after[1..]);
        }
        read
    }

    /// The definition of a macro, or what one is called with; the number of tokens read.
    fn text_of_macro(&mut self, name: &str, after: &[TokenTree]) -> usize {
        let (declared, group) = match after {
            [TokenTree::Group(group), ..] => (None, group),
            [TokenTree::Ident(declared), TokenTree::Group(group), ..] => (Some(declared), group),
            _ => return 0,
        };
        if let Some(declared) = declared.filter(|declared| allowed_names::is_macro(&plain(declared))) {
            let reason = format!("`{declared}!` is a macro of Rust's own libraries: rename it");
            self.refuse(declared.span(), Some((Rule::Macro, reason)));
        }
        let before = (self.in_macro, self.in_arguments);
        self.in_macro |= !allowed_names::is_macro(name);
        self.in_arguments |= self.in_macro && declared.is_none() && !self.whole.contains(name);
        if self.in_macro && declared.is_none() {
            self.refuse(group.span(), refused_mark(group.stream()));
        }
        self.stream(group.stream());
        (self.in_macro, self.in_arguments) = before;
        if declared.is_some() { 2 } else { 1 }
    }

    /// The paths of an import, behind those of its groups.
    fn imports(&mut self, prefix: &[String], tokens: &[TokenTree]) {
        for tree in tokens.split(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ',')) {
            let start = tree.iter().position(|token| !is_colon(token)).unwrap_or(tree.len());
            let tree = &tree[start..];
            let Some(first) = tree.first() else { continue };
            let (own, read) = path(tree);
            let mut full = [prefix, &own].concat();
            // `libc::{self}` is `libc`.
            if full.len() > 1 && full.last().is_some_and(|last| last == "self") {
                full.pop();
            }
            let after = &tree[read..];
            let after = &after[after.iter().take_while(|token| is_colon(token)).count()..];
            match after.first() {
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    self.imports(&full, &group.stream().into_iter().collect::<Vec<_>>());
                }
                Some(TokenTree::Punct(mark)) if mark.as_char() == '*' => {
                    self.judge(&full, How::Glob, first.span());
                }
                Some(TokenTree::Ident(_)) => self.judge(&full, How::Renamed, first.span()),
                _ => self.judge(&full, How::Named, first.span()),
            }
        }
    }

    /// Whether a macro could make a function pointer type of this: neither `fn name(…)` nor `fn $name(…)`.
    fn is_half_function(&self, here: &[TokenTree]) -> bool {
        let (name, after) = match here {
            [_, TokenTree::Punct(mark), name, after @ ..] if mark.as_char() == '$' => (Some(name), after),
            [_, name, after @ ..] => (Some(name), after),
            _ => (None, here),
        };
        let goes_on = is_parenthesis(after.first()) || is_marks(after, "<");
        self.in_macro && !(matches!(name, Some(TokenTree::Ident(_))) && goes_on)
    }

    fn refused_static(&self, after: &[TokenTree]) -> Option<Refusal> {
        if matches!(after.first(), Some(TokenTree::Ident(word)) if word == "mut") {
            let name = after.get(1).map_or_else(String::new, |name| format!(" {name}"));
            return Some((Rule::State, format!("`static mut{name}` holds state that outlives a call")));
        }
        // Numbers and text cannot change, whatever else the port uses.
        let ty = after.split(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == '=')).next();
        if ty.is_some_and(|ty| is_plain(&ty[ty.len().min(1)..])) {
            return None;
        }
        let interior = self.interior.as_ref()?;
        let reason = format!(
            "a static in a port that uses `{interior}` can hold state that outlives a call; use a const"
        );
        Some((Rule::State, reason))
    }

    fn judge(&mut self, names: &[String], how: How, span: Span) {
        let refusal = match self.port {
            Some(port) => paths::refusal(port, &self.modules, names, how),
            None => paths::refused_for_all(names, how),
        };
        self.refuse(span, refusal);
    }
}

/// A `#` among what a macro is called with: it could put the attribute to something, or read it as text.
fn refused_mark(tokens: TokenStream) -> Option<Refusal> {
    let found = tokens.into_iter().any(|token| match token {
        TokenTree::Punct(mark) => mark.as_char() == '#',
        TokenTree::Group(group) => refused_mark(group.stream()).is_some(),
        _ => false,
    });
    found.then(|| {
        (Rule::Attribute, "a macro of a port is called without attributes in its arguments".to_owned())
    })
}

/// `extern` before a function gives it C's ABI. Everything else that it begins binds something.
fn refused_extern(after: &[TokenTree]) -> Option<Refusal> {
    let rest = match after {
        [TokenTree::Literal(_), rest @ ..] => rest,
        rest => rest,
    };
    if matches!(rest.first(), Some(TokenTree::Ident(word)) if word == "fn") {
        return None;
    }
    let reason = match rest.first() {
        Some(TokenTree::Ident(word)) if word == "crate" => "`extern crate` is not allowed in a port",
        _ => "an `extern` block binds C functions; a port may not",
    };
    Some((Rule::Item, reason.to_owned()))
}
