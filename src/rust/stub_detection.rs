//! Detects stubs: every path through the body ends in a stub macro or a bare panic, or the body only forwards to a
//! stub. Detection uses the syntax tree with resolved macro names; comments and strings do not count. A stub macro
//! in one arm beside real arms is not a stub; `audit` handles it.

use super::item::{plain, use_leaves};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use syn::spanned::Spanned;
use syn::visit::Visit;

/// Why a body is a stub, and the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StubPlace {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// The end of the path, as written: `unimplemented!`, `panic!`, or the function that it forwards to.
    pub what: String,
}

/// Whether the top-level function `name` among `items` is a stub. `None`: it is not, or it does not exist.
pub fn is_stub(items: &[&syn::Item], name: &str) -> Option<StubPlace> {
    let module = Module::read(items.iter().copied());
    let block = module.functions.get(name).filter(|_| module.stubs.contains(name))?;
    module.stub_of(block).map(|end| StubPlace {
        line: end.span.start().line,
        column: end.span.start().column + 1,
        what: end.what,
    })
}

/// The top-level functions of `file` that are stubs.
pub fn stubs(file: &syn::File) -> BTreeSet<String> {
    Module::read(&file.items).stubs
}

/// Whether a macro name means a stub wherever it is reached.
pub fn is_stub_macro(name: &str) -> bool {
    matches!(name, "unimplemented" | "todo")
}

struct Module<'a> {
    functions: BTreeMap<String, &'a syn::Block>,
    /// Macro names, besides the built-in ones, that end a path like a stub.
    aliases: BTreeSet<String>,
    /// Functions that are stubs.
    stubs: BTreeSet<String>,
}

/// The end of a path.
#[derive(Clone)]
struct End {
    span: Span,
    what: String,
}

/// The ways in which control can leave an expression.
#[derive(Default)]
struct Flow {
    /// Continues after it.
    falls: bool,
    /// Leaves the function with a value.
    returns: bool,
    /// Leaves the innermost loop.
    breaks: bool,
    /// Leaves a labelled block or an outer loop.
    jumps: bool,
    stub: Option<End>,
}

impl Flow {
    fn on() -> Self {
        Self { falls: true, ..Self::default() }
    }

    fn stub(span: Span, what: String) -> Self {
        Self { stub: Some(End { span, what }), ..Self::default() }
    }

    /// Sequence: `next` runs where `self` continues.
    fn then(mut self, next: impl FnOnce() -> Flow) -> Self {
        if self.falls {
            let next = next();
            self.falls = next.falls;
            self.join_exits(next);
        }
        self
    }

    /// Alternative: one of the two runs.
    fn or(mut self, other: Flow) -> Self {
        self.falls |= other.falls;
        self.join_exits(other);
        self
    }

    fn join_exits(&mut self, other: Flow) {
        self.returns |= other.returns;
        self.breaks |= other.breaks;
        self.jumps |= other.jumps;
        self.stub = self.stub.take().or(other.stub);
    }
}

impl<'a> Module<'a> {
    fn read(items: impl IntoIterator<Item = &'a syn::Item>) -> Self {
        let mut finder = Aliases::default();
        let mut functions: BTreeMap<String, &syn::Block> = BTreeMap::new();
        for item in items {
            if let syn::Item::Fn(f) = item {
                functions.insert(plain(&f.sig.ident), &*f.block);
            }
            finder.visit_item(item);
        }
        let stubs = functions.keys().cloned().collect();
        let mut module = Self { functions, aliases: finder.resolve(), stubs };
        module.drop_real_bodies();
        module
    }

    /// Initially all functions count as stubs, so that functions which only call each other stay stubs. A function
    /// with a real exit is removed, and its callers are checked again.
    fn drop_real_bodies(&mut self) {
        let mut before = usize::MAX;
        while self.stubs.len() < before {
            before = self.stubs.len();
            for name in self.stubs.clone() {
                if self.functions.get(&name).is_some_and(|block| self.stub_of(block).is_none()) {
                    self.stubs.remove(&name);
                }
            }
        }
    }

    fn stub_of(&self, block: &syn::Block) -> Option<End> {
        let flow = self.block(block);
        // The target of a jump is not analysed, so a jump counts as a real exit.
        if flow.falls || flow.returns || flow.breaks || flow.jumps { None } else { flow.stub }
    }

    fn block(&self, block: &syn::Block) -> Flow {
        block.stmts.iter().fold(Flow::on(), |flow, stmt| flow.then(|| self.stmt(stmt)))
    }

    fn stmt(&self, stmt: &syn::Stmt) -> Flow {
        match stmt {
            syn::Stmt::Local(local) => match &local.init {
                None => Flow::on(),
                Some(init) => {
                    let flow = self.expr(&init.expr);
                    match &init.diverge {
                        None => flow,
                        Some((_, other)) => flow.then(|| Flow::on().or(self.expr(other))),
                    }
                }
            },
            syn::Stmt::Item(_) => Flow::on(),
            syn::Stmt::Expr(expr, _) => self.expr(expr),
            syn::Stmt::Macro(stmt) => self.mac(&stmt.mac),
        }
    }

    fn mac(&self, mac: &syn::Macro) -> Flow {
        let name = mac.path.segments.last().map(|s| plain(&s.ident)).unwrap_or_default();
        let ends = is_stub_macro(&name) || matches!(name.as_str(), "panic" | "unreachable");
        if ends || self.aliases.contains(&name) {
            Flow::stub(mac.span(), format!("{name}!"))
        } else {
            Flow::on()
        }
    }

    fn expr(&self, expr: &syn::Expr) -> Flow {
        use syn::Expr;
        match expr {
            Expr::Macro(e) => self.mac(&e.mac),
            Expr::Block(e) => {
                let mut flow = self.block(&e.block);
                if e.label.is_some() && flow.jumps {
                    flow.falls = true;
                }
                flow
            }
            Expr::Unsafe(e) => self.block(&e.block),
            Expr::Const(e) => self.block(&e.block),
            Expr::If(e) => self.if_expr(e),
            Expr::Match(e) => self.expr(&e.expr).then(|| {
                let arms = e.arms.iter().map(|arm| self.expr(&arm.body));
                arms.reduce(Flow::or).unwrap_or_default()
            }),
            Expr::Loop(e) => self.endless(&e.body),
            Expr::While(e) if is_bool(&e.cond, true) => self.endless(&e.body),
            Expr::While(e) => self.expr(&e.cond).then(|| self.repeated(&e.body)),
            Expr::ForLoop(e) => self.expr(&e.expr).then(|| self.repeated(&e.body)),
            Expr::Return(e) => {
                self.optional(e.expr.as_deref()).then(|| Flow { returns: true, ..Flow::default() })
            }
            Expr::Break(e) => self.optional(e.expr.as_deref()).then(|| Flow {
                breaks: e.label.is_none(),
                jumps: e.label.is_some(),
                ..Flow::default()
            }),
            Expr::Continue(_) => Flow::default(),
            // A closure runs later, or never.
            Expr::Closure(_) | Expr::Async(_) => Flow::on(),
            Expr::Binary(e) if matches!(e.op, syn::BinOp::And(_) | syn::BinOp::Or(_)) => {
                self.expr(&e.left).then(|| Flow::on().or(self.expr(&e.right)))
            }
            Expr::Try(e) => {
                self.expr(&e.expr).then(|| Flow { returns: true, falls: true, ..Flow::default() })
            }
            Expr::Call(e) => {
                let parts = std::iter::once(&*e.func).chain(&e.args);
                self.all(parts).then(|| self.call(&e.func))
            }
            Expr::MethodCall(e) => self.all(std::iter::once(&*e.receiver).chain(&e.args)),
            other => self.all(children(other)),
        }
    }

    fn all<'e>(&self, parts: impl IntoIterator<Item = &'e syn::Expr>) -> Flow {
        parts.into_iter().fold(Flow::on(), |flow, part| flow.then(|| self.expr(part)))
    }

    fn optional(&self, expr: Option<&syn::Expr>) -> Flow {
        self.all(expr)
    }

    fn if_expr(&self, e: &syn::ExprIf) -> Flow {
        let otherwise = || match &e.else_branch {
            Some((_, other)) => self.expr(other),
            None => Flow::on(),
        };
        if is_bool(&e.cond, true) {
            return self.block(&e.then_branch);
        }
        if is_bool(&e.cond, false) {
            return otherwise();
        }
        self.expr(&e.cond).then(|| self.block(&e.then_branch).or(otherwise()))
    }

    fn endless(&self, body: &syn::Block) -> Flow {
        let mut flow = self.block(body);
        flow.falls = flow.breaks || flow.jumps;
        flow.breaks = false;
        flow
    }

    fn repeated(&self, body: &syn::Block) -> Flow {
        let mut flow = self.block(body);
        flow.falls = true;
        flow.breaks = false;
        flow
    }

    /// A call of a stub in this module ends the path.
    fn call(&self, func: &syn::Expr) -> Flow {
        match called(func) {
            Some(name) if self.stubs.contains(&name) => Flow::stub(func.span(), format!("{name}()")),
            _ => Flow::on(),
        }
    }
}

/// The name in a call of a function in the same module: `f`, `self::f`, `crate::module::f`.
fn called(func: &syn::Expr) -> Option<String> {
    let syn::Expr::Path(path) = strip(func) else { return None };
    let names: Vec<String> = path.path.segments.iter().map(|s| plain(&s.ident)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    match (path.qself.is_none(), names.as_slice()) {
        (true, [name] | ["self", name]) => Some(name.to_string()),
        (true, ["crate" | "super", module, name])
            if !matches!(*module, "ffi" | "callee" | "capi" | "globals") =>
        {
            Some(name.to_string())
        }
        _ => None,
    }
}

fn strip(expr: &syn::Expr) -> &syn::Expr {
    match expr {
        syn::Expr::Paren(e) => strip(&e.expr),
        syn::Expr::Group(e) => strip(&e.expr),
        other => other,
    }
}

fn is_bool(expr: &syn::Expr, value: bool) -> bool {
    matches!(strip(expr), syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Bool(lit), .. }) if lit.value == value)
}

/// Operands that are evaluated whenever the expression is.
fn children(expr: &syn::Expr) -> Vec<&syn::Expr> {
    use syn::Expr;
    match expr {
        Expr::Array(e) => e.elems.iter().collect(),
        Expr::Assign(e) => vec![&e.right, &e.left],
        Expr::Await(e) => vec![&e.base],
        Expr::Binary(e) => vec![&e.left, &e.right],
        Expr::Cast(e) => vec![&e.expr],
        Expr::Field(e) => vec![&e.base],
        Expr::Group(e) => vec![&e.expr],
        Expr::Index(e) => vec![&e.expr, &e.index],
        Expr::Let(e) => vec![&e.expr],
        Expr::Paren(e) => vec![&e.expr],
        Expr::Range(e) => e.start.iter().chain(&e.end).map(|e| &**e).collect(),
        Expr::RawAddr(e) => vec![&e.expr],
        Expr::Reference(e) => vec![&e.expr],
        Expr::Repeat(e) => vec![&e.expr],
        Expr::Struct(e) => e.fields.iter().map(|f| &f.expr).chain(e.rest.as_deref()).collect(),
        Expr::Tuple(e) => e.elems.iter().collect(),
        Expr::Unary(e) => vec![&e.expr],
        _ => Vec::new(),
    }
}

/// Collects renamed macros anywhere in the file.
#[derive(Default)]
struct Aliases {
    imports: Vec<(String, String)>,
    macros: BTreeMap<String, TokenStream>,
}

impl<'ast> Visit<'ast> for Aliases {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        for leaf in use_leaves(item) {
            if let (Some(name), Some(last)) = (leaf.name, leaf.path.last()) {
                self.imports.push((name, last.clone()));
            }
        }
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        if let (Some(ident), true) = (&item.ident, item.mac.path.is_ident("macro_rules")) {
            self.macros.insert(plain(ident), item.mac.tokens.to_token_stream());
        }
    }
}

impl Aliases {
    /// Resolves to a fixed point, since an alias may rename an alias and a macro may call a macro.
    fn resolve(self) -> BTreeSet<String> {
        let mut known: BTreeSet<String> = BTreeSet::new();
        loop {
            let ends = |name: &str| is_stub_macro(name) || known.contains(name);
            let from_imports = self.imports.iter().filter(|(n, of)| n != of && ends(of)).map(|(n, _)| n);
            let from_macros = self.macros.iter().filter(|(_, t)| every_rule_calls(t, &ends)).map(|(n, _)| n);
            let found: BTreeSet<String> = from_imports.chain(from_macros).cloned().collect();
            if found.is_subset(&known) {
                return known;
            }
            known.extend(found);
        }
    }
}

/// Whether the right side of every rule `(pattern) => { body }` calls a macro for which `ends` holds.
fn every_rule_calls(rules: &TokenStream, ends: &impl Fn(&str) -> bool) -> bool {
    let groups = rules.clone().into_iter().filter_map(|token| match token {
        TokenTree::Group(group) => Some(group.stream()),
        _ => None,
    });
    let bodies: Vec<TokenStream> = groups.skip(1).step_by(2).collect();
    !bodies.is_empty() && bodies.iter().all(|body| calls(body, ends))
}

fn calls(tokens: &TokenStream, ends: &impl Fn(&str) -> bool) -> bool {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    tokens.iter().enumerate().any(|(index, token)| match token {
        TokenTree::Ident(name) => {
            matches!(tokens.get(index + 1), Some(TokenTree::Punct(p)) if p.as_char() == '!')
                && ends(&plain(name))
        }
        TokenTree::Group(group) => calls(&group.stream(), ends),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::super::item::parse;
    use super::*;

    fn stub(text: &str) -> Option<StubPlace> {
        let file = parse(text).unwrap();
        is_stub(&file.items.iter().collect::<Vec<_>>(), "f")
    }

    #[test]
    fn stubs_are_found_behind_every_disguise() {
        for text in [
            "fn f() -> u8 { unimplemented!(\"f\") }",
            "fn f() -> u8 { std::todo!() }",
            "fn f() { todo!(); }",
            "fn f() { panic!(\"not yet\") }",
            "fn f(x: u8) -> u8 { let y = x + 1; let _ = y; unimplemented!() }",
            "fn f(x: u8) -> u8 { if x > 1 { todo!() } else { unimplemented!() } }",
            "fn f(x: u8) -> u8 { match x { 0 => todo!(), _ => { return unimplemented!() } } }",
            "use core::unimplemented as later; fn f() -> u8 { later!() }",
            "fn f() -> u8 { use std::todo as x; x!() }",
            "macro_rules! later { () => { unimplemented!() }; ($e:expr) => { todo!($e) } } fn f() -> u8 { later!(1) }",
            "macro_rules! a { () => { todo!() } } macro_rules! b { () => { a!() } } fn f() { b!() }",
            "fn f() -> u8 { g() } fn g() -> u8 { h(1) } fn h(_: u8) -> u8 { unimplemented!() }",
            "fn f() -> u8 { return self::g(); } fn g() -> u8 { todo!() }",
            "fn f(x: u8) -> u8 { f(x) }",
            "fn f(x: u8) -> u8 { crate::module::f(x) }",
            "fn f(x: u8) -> u8 { g(x) } fn g(x: u8) -> u8 { f(x) }",
            "fn f() { loop { unimplemented!() } }",
            "fn f() -> u8 { if true { todo!() } else { 3 } }",
            "fn f() -> u8 { if false { 3 } else { todo!() } }",
            "fn f() -> u8 { unsafe { { unimplemented!() } } }",
            "fn f() -> u8 { (todo!() as u8) + 1 }",
        ] {
            assert!(stub(text).is_some(), "{text}");
        }
    }

    #[test]
    fn real_bodies_are_no_stubs() {
        for text in [
            "fn f() -> u8 { 1 }",
            "fn f() {}",
            "fn f() -> &'static str { /* unimplemented!() */ \"todo!()\" }",
            "fn f(x: u8) -> u8 { match x { 0 => 1, _ => unimplemented!() } }",
            "fn f(x: u8) -> u8 { if x == 0 { return 1; } panic!() }",
            "fn f(x: u8) -> u8 { if x == 0 { 1 } else { f(x - 1) } }",
            "fn f(x: Option<u8>) -> Option<u8> { x?; todo!() }",
            "fn f() -> u8 { let g = || unimplemented!(); let _: fn() -> u8 = g; 1 }",
            "fn f() -> u8 { loop { if g() { break 1; } } } fn g() -> bool { true }",
            "fn f() -> u8 { 'a: { if g() { break 'a; } todo!() } 1 } fn g() -> bool { true }",
            "fn f(x: &[u8]) -> u8 { for _ in x { unimplemented!() } 0 }",
            "macro_rules! maybe { (0) => { todo!() }; (1) => { 1 } } fn f() -> u8 { maybe!(1) }",
            "fn f() -> u8 { fn g() -> u8 { todo!() } 1 }",
            "fn f(x: bool) { x || unimplemented!(); }",
            "fn f(a: Option<u8>) -> u8 { let Some(a) = a else { unreachable!() }; a }",
        ] {
            assert!(stub(text).is_none(), "{text}");
        }
        assert!(stub("fn g() { todo!() }").is_none());
    }

    #[test]
    fn many_ways_through_a_module_take_no_longer_than_few() {
        let calls = |i: usize| format!("f{}(); f{}();", i + 1, i + 2);
        let mut text: String = (0..60).map(|i| format!("fn f{i}() {{ {} }}\n", calls(i))).collect();
        text += "fn f60() {} fn f61() {} fn f() { f0(); todo!() }";
        assert_eq!(stub(&text).unwrap().what, "todo!");
        assert_eq!(stubs(&parse(&text).unwrap()).into_iter().collect::<Vec<_>>(), ["f"]);
    }

    #[test]
    fn the_place_is_where_the_path_ends() {
        let place = stub("/// todo!()\nfn f() -> u8 {\n    // é\n    unimplemented!(\"f\")\n}").unwrap();
        assert_eq!((place.line, place.column, place.what.as_str()), (4, 5, "unimplemented!"));
    }
}
