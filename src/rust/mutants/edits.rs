//! The small changes of a Rust function that are worth a mutant: an operator or method replaced by a similar one, a
//! constant off by one, a negated condition, a moved bound, a removed statement, a narrowed number, another return
//! value. Macro arguments stay unchanged. Edits follow syntax alone; the compiler rejects those with wrong types.

use super::super::item::bytes_of;
use crate::c::mutants::{Edit, in_text_order, others};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// All edits of the functions in `file`, which was parsed from `text`, in text order. They include the return value
/// of `root`.
pub(super) fn edits(file: &syn::File, text: &str, root: &str) -> Vec<Edit> {
    let mut walk = Walk { text, edits: Vec::new(), returns: None };
    for item in &file.items {
        match item {
            syn::Item::Fn(f) => {
                let is_root = super::super::item::plain(&f.sig.ident) == root;
                walk.returns = is_root.then(|| other_value(&f.sig.output)).flatten();
                walk.body(&f.block);
                walk.returns = None;
            }
            syn::Item::Impl(i) => walk.visit_item_impl(i),
            _ => {}
        }
    }
    in_text_order(walk.edits)
}

struct Walk<'a> {
    text: &'a str,
    edits: Vec<Edit>,
    /// Text to put before and after the function's return value.
    returns: Option<[&'static str; 2]>,
}

impl Walk<'_> {
    fn push(&mut self, node: &impl Spanned, by: impl Into<String>, what: &str) {
        let range = bytes_of(node);
        let Some(old) = self.text.get(range.clone()) else { return };
        let line = u32::try_from(node.span().start().line).unwrap_or(u32::MAX);
        self.edits.push(Edit::new(line, range, by.into(), (old, what)));
    }

    fn source(&self, node: &impl Spanned) -> String {
        self.text.get(bytes_of(node)).unwrap_or_default().to_owned()
    }

    fn body(&mut self, block: &syn::Block) {
        if let Some(syn::Stmt::Expr(tail, None)) = block.stmts.last() {
            self.returned(tail);
        }
        self.visit_block(block);
    }

    fn returned(&mut self, value: &syn::Expr) {
        if let (Some([before, after]), false) = (self.returns, is_block_like(value)) {
            let by = format!("{before}{}{after}", self.source(value));
            self.push(value, by, "returned as another value");
        }
    }

    fn condition(&mut self, condition: &syn::Expr) {
        if !has_let(condition) {
            let by = format!("!({})", self.source(condition));
            self.push(condition, by, "turned round");
        }
    }

    /// Replaces a method or function name by that of a similar one with the same type.
    fn named(&mut self, ident: &proc_macro2::Ident) {
        if let Some(by) = like(&ident.to_string()) {
            self.push(ident, by, "");
        }
    }

    fn literal(&mut self, literal: &syn::Lit) {
        match literal {
            syn::Lit::Int(int) => {
                let Ok(value) = int.base10_parse::<u128>() else { return };
                let suffix = int.suffix();
                self.push(int, format!("{}{suffix}", value.saturating_add(1)), "");
                if value > 0 {
                    self.push(int, format!("{}{suffix}", value - 1), "");
                }
            }
            syn::Lit::Byte(byte) => {
                self.push(byte, format!("{}u8", byte.value().wrapping_add(1)), "");
                self.push(byte, format!("{}u8", byte.value().wrapping_sub(1)), "");
            }
            syn::Lit::Float(float) => {
                let by = format!("({} + 1.0)", self.source(float));
                self.push(float, by, "");
            }
            syn::Lit::Bool(value) => self.push(value, (!value.value).to_string(), ""),
            _ => {}
        }
    }
}

impl<'ast> Visit<'ast> for Walk<'_> {
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    /// Lengths in types are not behaviour.
    fn visit_type(&mut self, _: &'ast syn::Type) {}

    /// An inner function has return values of its own.
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let returns = self.returns.take();
        self.visit_block(&item.block);
        self.returns = returns;
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.visit_block(&item.block);
    }

    fn visit_expr_repeat(&mut self, repeat: &'ast syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        for by in others(&self.source(&binary.op)) {
            self.push(&binary.op, *by, "");
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'ast syn::ExprUnary) {
        if matches!(unary.op, syn::UnOp::Neg(_) | syn::UnOp::Not(_)) {
            self.push(&unary.op, "", "dropped");
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_expr_lit(&mut self, literal: &'ast syn::ExprLit) {
        self.literal(&literal.lit);
    }

    fn visit_expr_if(&mut self, node: &'ast syn::ExprIf) {
        self.condition(&node.cond);
        visit::visit_expr_if(self, node);
    }

    fn visit_expr_while(&mut self, node: &'ast syn::ExprWhile) {
        self.condition(&node.cond);
        visit::visit_expr_while(self, node);
    }

    fn visit_expr_range(&mut self, range: &'ast syn::ExprRange) {
        if range.end.is_some() {
            self.limits(&range.limits);
        }
        visit::visit_expr_range(self, range);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.named(&call.method);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        if let Some(last) = path.path.segments.last().filter(|_| path.path.segments.len() > 1) {
            self.named(&last.ident);
        }
    }

    fn visit_expr_cast(&mut self, cast: &'ast syn::ExprCast) {
        let ty = self.source(&cast.ty);
        let by = match ty.as_str() {
            "u16" | "u32" | "u64" | "usize" => Some(format!("u8 as {ty}")),
            "i16" | "i32" | "i64" | "isize" => Some(format!("i8 as {ty}")),
            _ => None,
        };
        if let Some(by) = by {
            self.push(&cast.ty, by, "");
        }
        visit::visit_expr_cast(self, cast);
    }

    fn visit_expr_return(&mut self, node: &'ast syn::ExprReturn) {
        if let Some(value) = &node.expr {
            self.returned(value);
        }
        visit::visit_expr_return(self, node);
    }

    /// The return value of a closure is not that of the function.
    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        let returns = self.returns.take();
        self.visit_expr(&closure.body);
        self.returns = returns;
    }

    fn visit_stmt(&mut self, statement: &'ast syn::Stmt) {
        if let syn::Stmt::Expr(expr, Some(_)) = statement
            && is_droppable(expr)
        {
            self.push(statement, "{}", "dropped");
        }
        visit::visit_stmt(self, statement);
    }
}

impl Walk<'_> {
    fn limits(&mut self, limits: &syn::RangeLimits) {
        match limits {
            syn::RangeLimits::HalfOpen(dots) => self.push(dots, "..=", ""),
            syn::RangeLimits::Closed(dots) => self.push(dots, "..", ""),
        }
    }
}

/// Text before and after a value that turns it into another value of its type.
fn other_value(output: &syn::ReturnType) -> Option<[&'static str; 2]> {
    let syn::ReturnType::Type(_, ty) = output else { return None };
    let syn::Type::Path(path) = &**ty else { return None };
    let name = path.path.segments.last()?.ident.to_string();
    match name.as_str() {
        "bool" => Some(["!(", ")"]),
        "f32" | "f64" | "c_float" | "c_double" => Some(["((", ") + 1.0)"]),
        "u8" | "i8" | "u16" | "i16" | "u32" | "i32" | "u64" | "i64" | "usize" | "isize" | "c_int"
        | "c_uint" | "c_long" | "c_ulong" | "c_char" | "c_short" | "c_ushort" | "c_uchar" | "c_schar"
        | "c_longlong" | "c_ulonglong" => Some(["((", ") ^ 1)"]),
        _ => None,
    }
}

/// Whether the value is computed in inner places, such as branches.
fn is_block_like(value: &syn::Expr) -> bool {
    matches!(
        value,
        syn::Expr::If(_)
            | syn::Expr::Match(_)
            | syn::Expr::Block(_)
            | syn::Expr::Unsafe(_)
            | syn::Expr::Loop(_)
            | syn::Expr::Return(_)
    )
}

fn has_let(condition: &syn::Expr) -> bool {
    match condition {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

fn is_droppable(expr: &syn::Expr) -> bool {
    match expr {
        syn::Expr::Assign(_) | syn::Expr::Call(_) | syn::Expr::MethodCall(_) => true,
        syn::Expr::Break(node) => node.expr.is_none(),
        syn::Expr::Continue(_) | syn::Expr::Return(_) => true,
        syn::Expr::Binary(binary) => others(&quote::ToTokens::to_token_stream(&binary.op).to_string())
            .first()
            .is_some_and(|by| by.ends_with('=') && by.len() > 1 && !matches!(*by, "<=" | ">=" | "!=" | "==")),
        _ => false,
    }
}

/// A similar method or function for this name.
#[rustfmt::skip]
fn like(name: &str) -> Option<&'static str> {
    const PAIRS: [(&str, &str); 20] = [
        ("wrapping_add", "wrapping_sub"), ("wrapping_shl", "wrapping_shr"), ("rotate_left", "rotate_right"),
        ("checked_add", "checked_sub"), ("saturating_add", "saturating_sub"), ("min", "max"),
        ("overflowing_add", "overflowing_sub"), ("is_some", "is_none"), ("is_ok", "is_err"), ("any", "all"),
        ("first", "last"), ("leading_zeros", "trailing_zeros"), ("count_ones", "count_zeros"),
        ("starts_with", "ends_with"), ("to_le_bytes", "to_be_bytes"), ("from_le_bytes", "from_be_bytes"),
        ("is_some_and", "is_none_or"), ("floor", "ceil"), ("skip_while", "take_while"), ("skip", "take"),
    ];
    let other = PAIRS.iter().find_map(|(a, b)| match name {
        _ if name == *a => Some(*b),
        _ if name == *b => Some(*a),
        _ => None,
    });
    other.or(match name {
        "wrapping_mul" => Some("wrapping_add"),
        "wrapping_neg" => Some("wrapping_abs"),
        "abs" => Some("signum"),
        "wrapping_div" => Some("wrapping_mul"),
        "wrapping_rem" => Some("wrapping_div"),
        "to_ascii_lowercase" => Some("to_ascii_uppercase"),
        "to_ascii_uppercase" => Some("to_ascii_lowercase"),
        "is_ascii_digit" => Some("is_ascii_hexdigit"),
        "is_ascii_alphabetic" => Some("is_ascii_alphanumeric"),
        _ => None,
    })
}
