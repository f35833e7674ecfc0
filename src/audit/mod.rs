//! The audit of a candidate: a pure function from the text of a reply to a list of problems, run before compilation. It
//! refuses what the other walls cannot see (placeholders, `extern`, assembly, code for one build alone). It also refuses
//! early what the linkage proof would refuse later, as far as single words show it. It resolves no names. The linkage proof
//! reads what the compiled port leads to, the sandbox stops what it asks of the system, and the run compares its state and
//! its results.

pub mod linkage;
mod allowed_names;
mod manifest;
mod own_crate;
mod attributes;
mod token_shapes;
mod module_names;
mod paths;
mod token_rules;
mod shape;

#[cfg(test)]
mod tests;

pub use allowed_names::is_prelude;
pub use manifest::{deciding_settings, hides, manifest_refusal};
pub use own_crate::{Allowed, Around, FfiNames};

use crate::rust::unsafe_code::UnsafeCode;
use crate::rust::{item, stub_detection};
use std::fmt;

/// A reply for one function.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// The module that holds the port.
    pub module: &'a str,
    /// The function asked for.
    pub name: &'a str,
    /// The function and its private helpers, as replied.
    pub text: &'a str,
}

/// Which rule a candidate breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// The text must be Rust that the audit can read.
    Parse,
    /// The requested function, once, with its signature; nothing of another symbol.
    Requested,
    /// Items that a reply may hold.
    Item,
    /// Attributes that a reply may hold.
    Attribute,
    /// Macros that a reply may call.
    Macro,
    /// No way back to the C original.
    CallThrough,
    /// No stub.
    Stub,
    /// No state that outlives a call.
    State,
    /// No reach into the system, the build or the process.
    System,
    /// No function pointer made from something else.
    FnPointer,
    /// Crates and generated modules keep their names, and other modules give a port nothing but their ported functions.
    Path,
}

/// One reason why a candidate is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub rule: Rule,
    /// In the candidate's text, from 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// The line as written, trimmed.
    pub excerpt: String,
    /// The problem and, where there is one, the remedy.
    pub reason: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

/// The audit's result for a candidate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditReport {
    /// In the order of the text.
    pub problems: Vec<Problem>,
    pub unsafe_code: UnsafeCode,
    /// Names of the helper items beside the requested function, in the order of the text.
    pub helpers: Vec<String>,
}

/// Audits a candidate.
pub fn audit(candidate: &Candidate<'_>, allowed: &Allowed) -> AuditReport {
    match item::parse(candidate.text) {
        Ok(file) => {
            let mut problems = Problems::of(candidate);
            shape::of_whole_file(&file, &mut problems);
            items_with(problems, candidate, &file.items.iter().collect::<Vec<_>>(), allowed)
        }
        Err(error) => {
            let mut problems = Problems::of(candidate);
            problems.add(Rule::Parse, error.span(), format!("this is not Rust: {error}"));
            AuditReport { problems: problems.list, ..AuditReport::default() }
        }
    }
}

/// The same for items that were parsed before: those of the candidate, with places in its text.
pub fn audit_items(candidate: &Candidate<'_>, items: &[&syn::Item], allowed: &Allowed) -> AuditReport {
    items_with(Problems::of(candidate), candidate, items, allowed)
}

fn items_with(
    mut problems: Problems<'_>,
    candidate: &Candidate<'_>,
    items: &[&syn::Item],
    allowed: &Allowed,
) -> AuditReport {
    shape::check(candidate, allowed, items, &mut problems);
    token_rules::check(candidate, allowed, items, &mut problems);
    let own: Vec<(usize, String)> =
        problems.list.iter().map(|problem| (problem.line, problem.reason.clone())).collect();
    for (line, (rule, reason)) in allowed.around.refused_items.iter() {
        if own.iter().any(|(at, told)| at == line && told == reason) {
            continue;
        }
        problems.add_at(*rule, 1, 1, format!("line {line} of the module: {reason}"));
    }
    for (rule, reason) in allowed.around.refused_imports.iter() {
        problems.add_at(*rule, 1, 1, format!("an import of the module: {reason}"));
    }
    if let Some(place) = stub_detection::is_stub(items, candidate.name) {
        let known = problems.list.iter().any(|p| p.rule == Rule::Stub && p.line == place.line);
        if !known {
            let reason = format!("the body is a stub: every path through it ends in `{}`", place.what);
            problems.add_at(Rule::Stub, place.line, place.column, reason);
        }
    }
    let unsafe_code = UnsafeCode::of(items.iter().copied());
    let helpers =
        items.iter().filter_map(|item| item::item_name(item)).filter(|name| name != candidate.name).collect();
    AuditReport { problems: problems.in_order(), unsafe_code, helpers }
}

/// Whether compiled code of a port may lead to this symbol of the C library of the system; `by_c` says that its original
/// does.
pub fn links_to(symbol: &str, by_c: bool) -> bool {
    allowed_names::libc_symbol(symbol, by_c)
}

/// Problems as they are found.
struct Problems<'a> {
    text: &'a str,
    list: Vec<Problem>,
}

impl<'a> Problems<'a> {
    fn of(candidate: &Candidate<'a>) -> Self {
        Self { text: candidate.text, list: Vec::new() }
    }

    fn add(&mut self, rule: Rule, span: proc_macro2::Span, reason: impl Into<String>) {
        let at = span.start();
        self.add_at(rule, at.line, at.column + 1, reason.into());
    }

    fn add_at(&mut self, rule: Rule, line: usize, column: usize, reason: String) {
        // An error at the end of the text has no line of its own.
        let excerpt = self.text.lines().nth(line.saturating_sub(1)).unwrap_or_default().trim().to_string();
        self.list.push(Problem { rule, line, column, excerpt, reason });
    }

    fn in_order(mut self) -> Vec<Problem> {
        self.list.sort_by(|a, b| {
            (a.line, a.column, a.rule, &a.reason).cmp(&(b.line, b.column, b.rule, &b.reason))
        });
        self.list.dedup();
        self.list
    }
}
