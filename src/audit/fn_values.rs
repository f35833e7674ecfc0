//! Functions and closures as values. The compiler makes function pointers of two of them that meet (in an array, in the
//! branches of an `if`), whatever way they came there, and unsafe code can overwrite those. So a reply with `unsafe` only
//! calls functions, passes them as arguments, gives them a name with `let`, and returns one from a function.

use super::Rule;
use super::resolve::Scopes;
use super::scope::{Meaning, Scope, Space, plain_variable};
use super::walk::Walker;
use crate::rust::item::plain;
use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::Visit;

/// Constructors of Rust's libraries that take their field in parentheses.
#[rustfmt::skip]
const CONSTRUCTORS: &[&str] = &[
    "Borrowed", "Break", "Continue", "Err", "Excluded", "Included", "Occupied", "Ok", "Owned", "Ready", "Reverse",
    "Saturating", "Some", "Vacant", "Wrapping",
];

impl Walker<'_, '_, '_> {
    /// Walks an expression in a place where a function may stand, by itself or behind `&`.
    pub(super) fn maybe_function(&mut self, expr: &syn::Expr) {
        let inner = function_in(expr);
        self.may_be_function = matches!(inner, syn::Expr::Path(_) | syn::Expr::Closure(_));
        self.visit_expr(if self.may_be_function { inner } else { expr });
    }

    /// `capi` is there for addresses: a call of its shim would count as one from C.
    pub(super) fn call_of_shim(&mut self, func: &syn::Expr) {
        let syn::Expr::Path(path) = function_in(func) else { return };
        let names: Vec<String> = path.path.segments.iter().map(|s| plain(&s.ident)).collect();
        let meaning = self.scopes.resolve(&names, path.path.leading_colon.is_some(), Space::Value);
        if let Meaning::Path(full) = meaning
            && let [root, module, name] = full.as_slice()
            && root == "crate"
            && module == "capi"
        {
            let reason = format!("`crate::capi::{name}` has C's ABI: to call it, write `callee::{name}`");
            self.refuse(Rule::CallThrough, path.span(), reason);
        }
    }

    /// A block with the items that it declares; a function may end with a function, whose type its own return type hides.
    pub(super) fn block_of(&mut self, block: &syn::Block, is_body: bool) {
        let mut scope = Scope::default();
        for stmt in &block.stmts {
            if let syn::Stmt::Item(item) = stmt {
                scope.declare(item);
            }
        }
        self.inside(scope, |walker| {
            for stmt in &block.stmts {
                match stmt {
                    syn::Stmt::Expr(value, None) if is_body => walker.maybe_function(value),
                    _ => walker.visit_stmt(stmt),
                }
            }
        });
    }

    /// A `let` without its attributes.
    pub(super) fn local(&mut self, local: &syn::Local) {
        let is_function = self.names_a_function(local);
        if let Some(init) = &local.init {
            match is_function {
                true => self.maybe_function(&init.expr),
                false => self.visit_expr(&init.expr),
            }
            if let Some((_, diverge)) = &init.diverge {
                self.visit_expr(diverge);
            }
        }
        // The names exist only behind the statement.
        self.visit_pat(&local.pat);
        if is_function {
            self.scopes.top().is_function_too(&local.pat);
        }
    }

    /// What is cast: a number of a function is none. A `_` could be the type of a function pointer.
    pub(super) fn cast_of(&mut self, cast: &syn::ExprCast) {
        let is_data = matches!(&*cast.ty, syn::Type::Path(_) | syn::Type::Ptr(_));
        if is_data && !self.is_fn_type(cast.ty.to_token_stream()) {
            self.maybe_function(&cast.expr);
        } else {
            self.visit_expr(&cast.expr);
        }
    }

    /// Functions may be arguments; what a tuple struct of the reply holds is a field. `Some(compare)` is what C is given.
    pub(super) fn arguments_of(&mut self, call: &syn::ExprCall) {
        let is_own = |path: &syn::ExprPath| {
            let names: Vec<String> = path.path.segments.iter().map(|s| plain(&s.ident)).collect();
            let is_type = names.last().is_some_and(|name| name.starts_with(|c: char| c.is_ascii_uppercase()));
            let meaning = self.scopes.resolve(&names, path.path.leading_colon.is_some(), Space::Value);
            is_type && matches!(meaning, Meaning::Own(_) | Meaning::Local)
        };
        let holds = matches!(function_in(&call.func), syn::Expr::Path(path) if is_own(path));
        for argument in &call.args {
            match holds {
                true => self.visit_expr(argument),
                false => self.maybe_function(argument),
            }
        }
    }

    /// Notes a function or closure, unless it may stand here.
    pub(super) fn function_here(&mut self, span: Span) {
        if !std::mem::take(&mut self.may_be_function) {
            self.fn_type_spans.push(span);
        }
    }

    /// Whether a `let` gives another name to a function, or a name to a closure: the name is a function then.
    fn names_a_function(&self, local: &syn::Local) -> bool {
        let Some(init) = local.init.as_ref().filter(|_| plain_variable(&local.pat).is_some()) else {
            return false;
        };
        match function_in(&init.expr) {
            syn::Expr::Closure(_) => true,
            syn::Expr::Path(path) => self.names_function(path),
            _ => false,
        }
    }

    /// Whether a path is a function: by its item where that is known, else by its small letters.
    pub(super) fn names_function(&self, path: &syn::ExprPath) -> bool {
        let names: Vec<String> = path.path.segments.iter().map(|s| plain(&s.ident)).collect();
        let Some(last) = names.last() else { return false };
        let is_small = last.starts_with(|first: char| first.is_lowercase() || first == '_');
        let scopes = &self.scopes;
        if path.qself.is_some() {
            return is_small || scopes.is_constructor(None, last);
        }
        match scopes.resolve(&names, path.path.leading_colon.is_some(), Space::Value) {
            Meaning::Local if names.len() == 1 => scopes.is_function_variable(last),
            // `Self::…`, or of a type parameter.
            Meaning::Local => is_small || scopes.is_constructor(None, last),
            Meaning::Own(full) => match full.as_slice() {
                [name] => scopes.is_function(name) || scopes.is_constructor(None, name),
                [.., of, name] if scopes.is_enum_with(of, name) => scopes.is_constructor(Some(of), name),
                [.., name] => is_small || scopes.is_constructor(None, name),
                [] => false,
            },
            Meaning::Path(full) => match full.first().zip(full.get(1)) {
                // A port may name neither C's functions nor other statics.
                Some((root, module)) if root == "crate" && (module == "ffi" || module == "globals") => false,
                _ => is_small_or_constructor(full.last().map_or("", String::as_str)),
            },
            Meaning::Prelude => is_small_or_constructor(last),
            Meaning::Ambiguous(_) | Meaning::Unknown => false,
        }
    }
}

impl Scopes<'_> {
    fn is_function_variable(&self, name: &str) -> bool {
        let level = self.levels.iter().rev().find(|level| level.variables.contains(name));
        level.is_some_and(|level| level.has_function_variable(name))
    }

    fn is_function(&self, name: &str) -> bool {
        self.levels.iter().any(|level| level.has_function(name))
    }

    fn is_enum_with(&self, of: &str, variant: &str) -> bool {
        self.levels.iter().any(|level| level.variants(of).is_some_and(|known| known.contains(variant)))
    }

    fn is_constructor(&self, of: Option<&str>, variant: &str) -> bool {
        self.levels.iter().any(|level| level.has_tuple_variant(of, variant))
    }
}

fn is_small_or_constructor(name: &str) -> bool {
    name.starts_with(|first: char| first.is_lowercase() || first == '_') || CONSTRUCTORS.contains(&name)
}

/// What stands in parentheses and behind `&`.
fn function_in(expr: &syn::Expr) -> &syn::Expr {
    match expr {
        syn::Expr::Paren(inner) if inner.attrs.is_empty() => function_in(&inner.expr),
        syn::Expr::Reference(inner) if inner.attrs.is_empty() => function_in(&inner.expr),
        _ => expr,
    }
}
