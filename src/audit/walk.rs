//! The walk over a reply: every path, macro, attribute and nested item, with the names in scope there. It decides
//! nothing; `path_meaning` and `std_api` refuse.

use super::fn_types::{FN_POINTER, fn_types};
use super::resolve::Scopes;
use super::scope::{Meaning, Scope, Space};
use super::{Allowed, Candidate, Problems, Rule, attributes, macros, path_meaning, refusals, std_api};
use crate::rust::item::plain;
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use std::collections::BTreeSet;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Walks the whole reply.
pub(super) fn check(
    candidate: &Candidate<'_>,
    allowed: &Allowed,
    items: &[&syn::Item],
    problems: &mut Problems<'_>,
) {
    let mut walker = Walker {
        scopes: Scopes::new(candidate.module, candidate.name, allowed, items),
        items,
        problems,
        has_unsafe: false,
        fn_type_spans: Vec::new(),
        may_be_function: false,
        fn_types: fn_types(items),
    };
    for item in items {
        walker.visit_item(item);
    }
    walker.imports_of_module();
    walker.fn_types_beside_unsafe();
}

pub(super) struct Walker<'w, 'a, 'p> {
    pub(super) scopes: Scopes<'a>,
    pub(super) items: &'w [&'w syn::Item],
    problems: &'w mut Problems<'p>,
    /// Whether an `unsafe` block or function was met.
    pub(super) has_unsafe: bool,
    /// Where the type of a function pointer is written, or a function is a value.
    pub(super) fn_type_spans: Vec<Span>,
    /// Whether the next expression may be a function: see `fn_values`.
    pub(super) may_be_function: bool,
    /// Names that the reply gives to types that are function pointers.
    pub(super) fn_types: BTreeSet<String>,
}

impl Walker<'_, '_, '_> {
    pub(super) fn refuse(&mut self, rule: Rule, span: Span, reason: impl Into<String>) {
        self.problems.add(rule, span, reason);
    }

    /// What stands in the module and not in the text that is audited.
    pub(super) fn refuse_in_module(&mut self, rule: Rule, reason: String) {
        self.problems.add_at(rule, 1, 1, reason);
    }

    pub(super) fn inside(&mut self, scope: Scope, walk: impl FnOnce(&mut Self)) {
        self.scopes.levels.push(scope);
        walk(self);
        self.scopes.levels.pop();
    }

    /// Resolves and judges a path; what it means, for rules that need to know.
    fn path(&mut self, path: &syn::Path, space: Space) -> Meaning {
        let names: Vec<String> = path.segments.iter().map(|s| plain(&s.ident)).collect();
        let absolute = path.leading_colon.is_some();
        let meaning = self.scopes.resolve(&names, absolute, space);
        if let Err((rule, reason)) =
            path_meaning::meaning(self.scopes.requested(), &meaning, &names.join("::"), space)
        {
            self.refuse(rule, path.span(), reason);
        }
        if path.segments.len() > 1 {
            self.method(&path.segments[path.segments.len() - 1].ident);
        }
        for segment in &path.segments {
            self.visit_path_arguments(&segment.arguments);
        }
        meaning
    }

    /// A path with an optional `<T as Trait>::` in front.
    fn qualified(&mut self, qself: Option<&syn::QSelf>, path: &syn::Path, space: Space) -> Meaning {
        let Some(qself) = qself else { return self.path(path, space) };
        self.visit_type(&qself.ty);
        if qself.position > 0 {
            let segments = path.segments.iter().take(qself.position).cloned().collect();
            self.path(&syn::Path { leading_colon: path.leading_colon, segments }, Space::Type);
        }
        for segment in path.segments.iter().skip(qself.position) {
            self.method(&segment.ident);
            self.visit_path_arguments(&segment.arguments);
        }
        Meaning::Local
    }

    /// Methods that no port may call, by name: syntax does not show their type.
    fn method(&mut self, name: &syn::Ident) {
        if let Some((rule, reason)) = std_api::method_refusal(&plain(name)) {
            self.refuse(rule, name.span(), reason);
        }
    }

    fn note_unsafe(&mut self, signature: &syn::Signature) {
        self.has_unsafe |= matches!(signature.safety, syn::Safety::Unsafe(_));
    }

    fn function(&mut self, signature: &syn::Signature, block: &syn::Block, scope: Scope) {
        self.note_unsafe(signature);
        self.inside(scope, |walker| {
            // The types of the requested function are compared with the expected ones as a whole.
            let is_requested = walker.scopes.levels.len() == 2 && signature.ident == walker.scopes.name;
            if is_requested {
                for input in &signature.inputs {
                    if let syn::FnArg::Typed(input) = input {
                        input.attrs.iter().for_each(|attr| walker.visit_attribute(attr));
                        walker.parameter(&input.pat);
                    }
                }
            } else {
                walker.visit_signature(signature);
            }
            walker.block_of(block, true);
        });
    }

    /// The name of a macro behind imports and paths, or the refusal of its path.
    fn macro_name(&mut self, path: &syn::Path) -> Result<String, std_api::Refusal> {
        let names: Vec<String> = path.segments.iter().map(|s| plain(&s.ident)).collect();
        let last = names.last().cloned().unwrap_or_default();
        let what = names.join("::");
        let refused = || (Rule::Macro, format!("`{what}!` is not among the macros that a port may call"));
        match self.scopes.resolve(&names, path.leading_colon.is_some(), Space::Macro) {
            Meaning::Path(full) => match full.as_slice() {
                [root, .., name] if matches!(root.as_str(), "core" | "alloc" | "std") => {
                    path_meaning::judge(self.scopes.requested(), &full, Space::Either)?;
                    Ok(name.clone())
                }
                _ => Err(refused()),
            },
            Meaning::Ambiguous(name) => Err((Rule::UnknownPath, path_meaning::ambiguous(&name))),
            Meaning::Prelude | Meaning::Unknown if names.len() == 1 => Ok(last),
            _ => Err(refused()),
        }
    }
}

impl<'ast> Visit<'ast> for Walker<'_, '_, '_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        use syn::Item;
        self.reserved_item(item);
        match item {
            Item::Fn(i) => {
                self.visibility(item, &i.vis);
                i.attrs.iter().for_each(|attr| self.visit_attribute(attr));
                self.function(&i.sig, &i.block, Scope::of_item(&i.sig.generics));
            }
            Item::Use(i) => {
                self.visibility(item, &i.vis);
                i.attrs.iter().for_each(|attr| self.visit_attribute(attr));
                self.use_item(i);
            }
            Item::Const(i) => {
                self.visibility(item, &i.vis);
                self.inside(Scope::of_item(&i.generics), |walker| visit::visit_item_const(walker, i));
            }
            Item::Static(i) => {
                self.visibility(item, &i.vis);
                self.static_item(i);
                self.inside(Scope::of_item(&syn::Generics::default()), |walker| {
                    visit::visit_item_static(walker, i)
                });
            }
            Item::Struct(i) => {
                self.visibility(item, &i.vis);
                self.inside(Scope::of_item(&i.generics), |walker| visit::visit_item_struct(walker, i));
            }
            Item::Enum(i) => {
                self.visibility(item, &i.vis);
                self.inside(Scope::of_item(&i.generics), |walker| visit::visit_item_enum(walker, i));
            }
            Item::Type(i) => {
                self.visibility(item, &i.vis);
                self.inside(Scope::of_item(&i.generics), |walker| visit::visit_item_type(walker, i));
            }
            Item::Impl(i) => self.impl_item(i),
            // A call, not a definition: `thread_local! { … }`.
            Item::Macro(i) if i.ident.is_none() => self.visit_macro(&i.mac),
            other => self.refuse(Rule::Item, other.span(), refusals::refused_item(other)),
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        item.attrs.iter().for_each(|attr| self.visit_attribute(attr));
        // The level of the `impl` is the barrier; its generics are visible in the method.
        let scope = Scope::of_method(&item.sig.generics);
        self.function(&item.sig, &item.block, scope);
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_attribute(&mut self, attr: &'ast syn::Attribute) {
        if let Some(reason) = attributes::refusal(attr) {
            self.refuse(Rule::Attribute, attr.span(), reason);
        }
    }

    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        let name = plain(&variant.ident);
        if self.scopes.allowed.ffi.foreign.contains(&name) {
            let (rule, reason) = refusals::foreign_name(&name);
            self.refuse(rule, variant.ident.span(), reason);
        }
        self.reserved(&name, variant.ident.span());
        visit::visit_variant(self, variant);
    }

    fn visit_type_param(&mut self, param: &'ast syn::TypeParam) {
        self.reserved(&plain(&param.ident), param.ident.span());
        visit::visit_type_param(self, param);
    }

    fn visit_const_param(&mut self, param: &'ast syn::ConstParam) {
        self.reserved(&plain(&param.ident), param.ident.span());
        visit::visit_const_param(self, param);
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.block_of(block, false);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        local.attrs.iter().for_each(|attr| self.visit_attribute(attr));
        self.local(local);
    }

    fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
        visit::visit_pat_ident(self, pat);
        self.reserved(&plain(&pat.ident), pat.ident.span());
        self.scopes.top().declare_variable(plain(&pat.ident));
    }

    fn visit_expr_let(&mut self, expr: &'ast syn::ExprLet) {
        self.visit_expr(&expr.expr);
        self.visit_pat(&expr.pat);
    }

    fn visit_expr_if(&mut self, expr: &'ast syn::ExprIf) {
        expr.attrs.iter().for_each(|attr| self.visit_attribute(attr));
        self.inside(Scope::default(), |walker| {
            walker.visit_expr(&expr.cond);
            walker.visit_block(&expr.then_branch);
        });
        if let Some((_, other)) = &expr.else_branch {
            self.visit_expr(other);
        }
    }

    fn visit_expr_while(&mut self, expr: &'ast syn::ExprWhile) {
        self.inside(Scope::default(), |walker| visit::visit_expr_while(walker, expr));
    }

    fn visit_expr_for_loop(&mut self, expr: &'ast syn::ExprForLoop) {
        expr.attrs.iter().for_each(|attr| self.visit_attribute(attr));
        self.visit_expr(&expr.expr);
        self.inside(Scope::default(), |walker| {
            walker.visit_pat(&expr.pat);
            walker.visit_block(&expr.body);
        });
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        self.inside(Scope::default(), |walker| visit::visit_arm(walker, arm));
    }

    fn visit_expr_closure(&mut self, expr: &'ast syn::ExprClosure) {
        self.function_here(expr.span());
        self.inside(Scope::default(), |walker| visit::visit_expr_closure(walker, expr));
    }

    fn visit_expr_unsafe(&mut self, expr: &'ast syn::ExprUnsafe) {
        self.has_unsafe = true;
        visit::visit_expr_unsafe(self, expr);
    }

    fn visit_expr_path(&mut self, expr: &'ast syn::ExprPath) {
        expr.attrs.iter().for_each(|attr| self.visit_attribute(attr));
        if self.names_function(expr) {
            self.function_here(expr.span());
        }
        self.may_be_function = false;
        let meaning = self.qualified(expr.qself.as_ref(), &expr.path, Space::Value);
        self.transmute(&expr.path, &meaning);
    }

    fn visit_expr_struct(&mut self, expr: &'ast syn::ExprStruct) {
        expr.attrs.iter().for_each(|attr| self.visit_attribute(attr));
        self.qualified(expr.qself.as_ref(), &expr.path, Space::Type);
        expr.fields.iter().for_each(|field| self.visit_field_value(field));
        expr.rest.iter().for_each(|rest| self.visit_expr(rest));
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if let Some(types) = &call.turbofish
            && self.is_fn_type(types.to_token_stream())
        {
            self.refuse(Rule::FnPointer, call.method.span(), FN_POINTER);
        }
        self.method(&call.method);
        call.attrs.iter().for_each(|attr| self.visit_attribute(attr));
        self.visit_expr(&call.receiver);
        call.turbofish.iter().for_each(|types| self.visit_angle_bracketed_generic_arguments(types));
        call.args.iter().for_each(|argument| self.maybe_function(argument));
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        call.attrs.iter().for_each(|attr| self.visit_attribute(attr));
        self.call_of_shim(&call.func);
        self.maybe_function(&call.func);
        self.arguments_of(call);
    }

    fn visit_type_path(&mut self, ty: &'ast syn::TypePath) {
        self.qualified(ty.qself.as_ref(), &ty.path, Space::Type);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.path(path, Space::Either);
    }

    fn visit_type_fn_ptr(&mut self, ty: &'ast syn::TypeFnPtr) {
        self.fn_type_spans.push(ty.span());
        visit::visit_type_fn_ptr(self, ty);
    }

    fn visit_expr_cast(&mut self, cast: &'ast syn::ExprCast) {
        cast.attrs.iter().for_each(|attr| self.visit_attribute(attr));
        self.visit_type(&cast.ty);
        self.cast_of(cast);
    }

    fn visit_type_ptr(&mut self, ty: &'ast syn::TypePtr) {
        if self.is_fn_type(ty.elem.to_token_stream()) {
            self.refuse(Rule::FnPointer, ty.span(), FN_POINTER);
        }
        visit::visit_type_ptr(self, ty);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let name = match self.macro_name(&mac.path) {
            Ok(name) => name,
            Err((rule, reason)) => return self.refuse(rule, mac.path.span(), reason),
        };
        let Some(kind) = std_api::macro_arguments(&name) else {
            let unknown = || (Rule::Macro, format!("`{name}!` is not among the macros that a port may call"));
            let (rule, reason) = std_api::macro_refusal(&name).unwrap_or_else(unknown);
            return self.refuse(rule, mac.path.span(), reason);
        };
        let Ok(arguments) = macros::arguments(mac, kind) else {
            let reason = format!("the arguments of `{name}!` cannot be read");
            return self.refuse(Rule::Macro, mac.path.span(), reason);
        };
        if kind == std_api::MacroArguments::Format {
            self.captures(&arguments);
        }
        arguments.expressions.iter().for_each(|expr| self.visit_expr(expr));
        arguments.ty.iter().for_each(|ty| self.visit_type(ty));
        if let Some((pat, guard)) = &arguments.pattern {
            self.inside(Scope::default(), |walker| {
                walker.visit_pat(pat);
                guard.iter().for_each(|guard| walker.visit_expr(guard));
            });
        }
    }

    /// Reached only for syntax that the parser keeps as raw tokens.
    fn visit_token_stream(&mut self, tokens: &'ast TokenStream) {
        self.refuse(Rule::Parse, tokens.span(), "the audit cannot read this syntax");
    }
}
