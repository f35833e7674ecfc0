//! Takes one function out of c2rust's text and fits it to its module: our types and signature, our paths to
//! callees, tables and libc functions. All other items that it needs go inside it, so that no names clash.

use super::glibc;
use super::text::{Text, unstable};
use crate::audit::FfiNames;
use crate::project::{FunctionPlan, Project};
use crate::rust::globals::identifier;
use crate::rust::item::plain;
use crate::rust::pretty::pretty;
use crate::rust::shims::{around, from_c, slices};
use crate::rust::signature::ident;
use crate::symbol::{Function, Global, Linkage, STREAMS};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit_mut::{self, VisitMut};

/// Name of the translated function where an inner function with another signature wraps it.
const CORE: &str = "in_c";

/// The candidate for `planned` from c2rust's text of its unit, or why there is none.
pub fn fitted(project: &Project, planned: &FunctionPlan, text: &Text) -> std::result::Result<String, String> {
    let ffi = project.ffi_names().map_err(|error| error.to_string())?;
    let function = text.function(&planned.function.c_name)?.clone();
    let mut fit = Fit {
        project,
        planned,
        text,
        ffi: &ffi,
        items: BTreeMap::new(),
        calls: BTreeMap::new(),
        trouble: None,
    };
    let mut block = (*function.block).clone();
    fit.visit_block_mut(&mut block);
    if let Some(trouble) = fit.trouble.take() {
        return Err(trouble);
    }
    let candidate = fit.candidate(&function.sig, &block)?;
    match unstable(candidate.clone()) {
        Some(why) => Err(why),
        None => Ok(pretty(candidate)),
    }
}

/// The conversion of one function from c2rust's module to ours.
struct Fit<'a> {
    project: &'a Project,
    planned: &'a FunctionPlan,
    text: &'a Text,
    ffi: &'a FfiNames,
    /// Items that it needs, by name: constants, tables, functions of headers.
    items: BTreeMap<String, TokenStream>,
    /// Library functions that it calls with C's signatures, by the names that the candidate gives them.
    calls: BTreeMap<String, TokenStream>,
    /// Why there is no candidate.
    trouble: Option<String>,
}

impl Fit<'_> {
    /// The whole text.
    fn candidate(
        &self,
        translated: &syn::Signature,
        block: &syn::Block,
    ) -> std::result::Result<TokenStream, String> {
        let bound = self.planned.bound();
        let params = self.params(translated)?;
        let ret = bound.c.ret.iter();
        let (items, calls) = (self.items.values(), self.calls.values());
        let used = words(quote!(#(#calls)*));
        let slices = ["implfuzz_slice", "implfuzz_slice_mut"].into_iter().zip(slices());
        let slices: Vec<TokenStream> =
            slices.filter(|(name, _)| used.contains(*name)).map(|(_, text)| text).collect();
        let calls = self.calls.values();
        let (name, statements) = (ident(bound.function), &block.stmts);
        // c2rust's text is generated, so warnings about it help nobody.
        let allow = quote!(#[allow(warnings, clippy::all)]);
        if bound.safe().is_none() {
            return Ok(quote! {
                #allow
                pub unsafe fn #name(#(#params),*) #(-> #ret)* { #(#items)* #(#slices)* #(#calls)* #(#statements)* }
            });
        }
        let core = format_ident!("{CORE}");
        let (signature, body) = around(&bound, &core.to_token_stream(), None);
        Ok(quote! {
            #allow
            pub #signature {
                #(#items)* #(#slices)* #(#calls)*
                unsafe fn #core(#(#params),*) #(-> #ret)* { #(#statements)* }
                #body
            }
        })
    }

    /// The parameters with c2rust's names and our types.
    fn params(&self, translated: &syn::Signature) -> std::result::Result<Vec<TokenStream>, String> {
        let own = &self.planned.c.params;
        if own.len() != translated.inputs.len() {
            return Err(format!(
                "c2rust sees {} parameters instead of {}",
                translated.inputs.len(),
                own.len()
            ));
        }
        let param = |(input, (_, ty)): (&syn::FnArg, &(Ident, syn::Type))| match input {
            syn::FnArg::Typed(typed) => {
                let name = &typed.pat;
                Ok(quote!(#name: #ty))
            }
            _ => Err("c2rust made a method of it".to_owned()),
        };
        translated.inputs.iter().zip(own).map(param).collect()
    }

    fn fail(&mut self, why: impl Into<String>) {
        self.trouble.get_or_insert(why.into());
    }

    /// The library function that the unit knows by this name.
    fn function(&self, name: &str) -> Option<&FunctionPlan> {
        let module = &self.planned.function.module;
        let is_it =
            |f: &Function| f.c_name == name && (f.linkage == Linkage::External || f.module == *module);
        let own = |p: &&FunctionPlan| p.function.module == *module;
        let all = || self.project.callable().filter(|p| is_it(&p.function));
        all().find(own).or_else(|| all().next())
    }

    fn is_field_of_c(&self, name: &str) -> bool {
        let records = self.project.library.records.values();
        records.flat_map(|record| &record.fields).any(|field| field.name == name)
    }

    fn global(&self, name: &str) -> Option<&Global> {
        let module = &self.planned.function.module;
        let is_it = |g: &&Global| {
            g.c_name == name
                && g.local_to.is_none()
                && (g.linkage == Linkage::External || g.module == *module)
        };
        let all = || self.project.library.globals.iter().filter(is_it);
        self.local(name).or_else(|| all().find(|g| g.module == *module)).or_else(|| all().next())
    }

    /// The variable of this name inside the function.
    fn local(&self, name: &str) -> Option<&Global> {
        let function = &self.planned.function;
        let mut own = function.globals_read.iter().chain(&function.globals_written);
        own.find_map(|key| {
            self.project
                .library
                .global(key)
                .filter(|global| global.c_name == name && global.local_to.is_some())
        })
    }

    /// The path for a call of a C name.
    fn callee(&mut self, name: &str) -> Option<syn::Path> {
        if let Some(planned) = self.function(name) {
            let bound = planned.bound();
            let own = planned.function.key == self.planned.function.key;
            let callee = ident(&planned.function);
            return Some(match (own, !bound.is_plain()) {
                (true, true) => syn::Path::from(format_ident!("{CORE}")),
                (true, false) => syn::Path::from(callee),
                (false, false) => syn::parse_quote!(callee::#callee),
                (false, true) => {
                    // No item of the library has this name.
                    let name = format_ident!("{callee}_of_c");
                    let call = from_c(&bound, &name, &quote!(callee::#callee));
                    self.calls.insert(name.to_string(), call);
                    syn::Path::from(name)
                }
            });
        }
        if let Some(method) = glibc::method(name).filter(|_| self.text.is_foreign(name)) {
            return Some(method);
        }
        if self.text.is_foreign(name) {
            let name = format_ident!("{}", name);
            return Some(syn::parse_quote!(libc::#name));
        }
        None
    }

    /// Adds the unit's item of this name.
    fn bring(&mut self, name: &str) {
        if self.items.contains_key(name) {
            return;
        }
        let found = match (self.text.helper(name), self.text.value(name)) {
            (Some(function), _) => syn::Item::Fn(function.clone()),
            (None, Some(value)) => value.clone(),
            (None, None) => return,
        };
        // Inserted first, because the item may refer to itself.
        self.items.insert(name.to_owned(), TokenStream::new());
        let mut item = found;
        self.visit_item_mut(&mut item);
        self.items.insert(name.to_owned(), item.to_token_stream());
    }
}

impl VisitMut for Fit<'_> {
    /// Variables inside the function are among the library's.
    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        block.stmts.retain(|statement| match statement {
            syn::Stmt::Item(syn::Item::Static(variable)) => self.local(&plain(&variable.ident)).is_none(),
            _ => true,
        });
        visit_mut::visit_block_mut(self, block);
    }

    fn visit_item_mut(&mut self, item: &mut syn::Item) {
        match item {
            syn::Item::Fn(function) => {
                (function.attrs, function.vis, function.sig.abi) =
                    (Vec::new(), syn::Visibility::Inherited, None);
            }
            syn::Item::Const(value) => (value.attrs, value.vis) = (Vec::new(), syn::Visibility::Inherited),
            syn::Item::Static(value) => {
                (value.attrs, value.vis) = (Vec::new(), syn::Visibility::Inherited);
                // c2rust makes constant tables `mut`, too. If a changed table loses its `mut`, the candidate does
                // not compile.
                value.mutability = syn::StaticMutability::None;
            }
            _ => {}
        }
        visit_mut::visit_item_mut(self, item);
    }

    fn visit_type_mut(&mut self, ty: &mut syn::Type) {
        // An alias may stand for another alias.
        while let syn::Type::Path(path) = &*ty
            && let Some(name) = single(&path.path)
            && !self.ffi.items.contains(&name)
            && let Some(target) = self.text.alias(&name)
        {
            *ty = target.clone();
        }
        visit_mut::visit_type_mut(self, ty);
    }

    /// A type, also in a constructor.
    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        visit_mut::visit_path_mut(self, path);
        let Some(name) = single(path) else { return };
        let is_type = self.text.is_record(&name) || self.text.alias(&name).is_some();
        // Where other units have another type of this name.
        let own = format!("{}__{name}", self.planned.function.module);
        if is_type && self.ffi.items.contains(&own) {
            let own = Ident::new(&own, Span::call_site());
            *path = syn::parse_quote!(ffi::#own);
        } else if is_type && self.ffi.items.contains(&name) {
            let rest = std::mem::replace(path, syn::parse_quote!(ffi));
            path.segments.extend(rest.segments);
        } else if self.text.is_record(&name) {
            self.fail(format!("the type `{name}` has no counterpart in ffi.rs"));
        }
    }

    /// A value. c2rust never gives a variable the name of an item.
    fn visit_expr_path_mut(&mut self, value: &mut syn::ExprPath) {
        visit_mut::visit_path_mut(self, &mut value.path);
        let Some(name) = single(&value.path) else { return };
        if let Some(global) = self.global(&name) {
            let name = format_ident!("{}", identifier(global.name.as_str()));
            value.path = syn::parse_quote!(globals::#name);
        } else if let Some(planned) = self.function(&name) {
            if planned.function.unsupported.is_some() {
                return self.fail(format!("the address of `{name}` is taken, which stays C"));
            }
            // An address of C's, whatever signature the port has.
            let name = ident(&planned.function);
            value.path = syn::parse_quote!(crate::capi::#name);
        } else if STREAMS.contains(&name.as_str()) {
            let name = Ident::new(&name, Span::call_site());
            value.path = syn::parse_quote!(globals::#name);
        } else if self.text.is_foreign(&name) {
            self.fail(format!("`{name}` is a variable or an address outside of the library"));
        } else {
            self.bring(&name);
        }
    }

    /// A constant of C is a pattern, too. Without the item, Rust would take it for a new variable, which all values match.
    fn visit_pat_ident_mut(&mut self, pattern: &mut syn::PatIdent) {
        let name = plain(&pattern.ident);
        if matches!(self.text.value(&name), Some(syn::Item::Const(_))) {
            self.bring(&name);
        }
        visit_mut::visit_pat_ident_mut(self, pattern);
    }

    fn visit_expr_mut(&mut self, expr: &mut syn::Expr) {
        glibc::without_own_names(expr, &mut self.items);
        visit_mut::visit_expr_mut(self, expr);
    }

    /// The name of a field. Both tools rename fields that are words of Rust and those without a name.
    fn visit_member_mut(&mut self, member: &mut syn::Member) {
        if let syn::Member::Named(name) = member
            && let Some(own) = field_of_bindgen(&plain(name))
            && !self.is_field_of_c(&plain(name))
        {
            *name = Ident::new(&own, name.span());
        }
    }

    fn visit_expr_call_mut(&mut self, call: &mut syn::ExprCall) {
        call.args.iter_mut().for_each(|arg| self.visit_expr_mut(arg));
        if let syn::Expr::Path(function) = &mut *call.func
            && let Some(name) = single(&function.path)
            && let Some(path) = self.callee(&name)
        {
            function.path = path;
            return;
        }
        self.visit_expr_mut(&mut call.func);
    }
}

/// What bindgen calls a field that c2rust has renamed: `type_` for `type_0`, `__bindgen_anon_1` for `c2rust_unnamed`.
fn field_of_bindgen(name: &str) -> Option<String> {
    if let Some(number) = name.strip_prefix("c2rust_unnamed") {
        let at = match number.strip_prefix('_') {
            Some(number) => number.parse::<u32>().ok()? + 2,
            None => 1,
        };
        return Some(format!("__bindgen_anon_{at}"));
    }
    let (word, number) = name.rsplit_once('_')?;
    let is_word = !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase());
    let is_renamed = is_word && number.parse::<u32>().is_ok() && syn::parse_str::<Ident>(word).is_err();
    is_renamed.then(|| format!("{word}_"))
}

/// The name of a path that is only a name.
fn single(path: &syn::Path) -> Option<String> {
    let is_plain = path.leading_colon.is_none() && path.segments.len() == 1;
    path.segments.first().filter(|segment| is_plain && segment.arguments.is_none()).map(|s| plain(&s.ident))
}

/// All identifiers in a text.
fn words(tokens: TokenStream) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for token in tokens {
        match token {
            TokenTree::Ident(word) => drop(all.insert(word.to_string())),
            TokenTree::Group(group) => all.extend(words(group.stream())),
            _ => {}
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_the_names_of_bindgen() {
        let all = ["type_0", "match_12", "c2rust_unnamed", "c2rust_unnamed_0", "size_0", "type", "x_y", "_0"];
        let own =
            ["type_", "match_", "__bindgen_anon_1", "__bindgen_anon_2"].map(|name| Some(name.to_owned()));
        assert_eq!(all[..4].iter().map(|name| field_of_bindgen(name)).collect::<Vec<_>>(), own);
        assert!(all[4..].iter().all(|name| field_of_bindgen(name).is_none()));
    }
}
