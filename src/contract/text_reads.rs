//! Texts that C reads to their NUL: whether it may go further, or the NUL alone ends each walk.

use super::c_words::{identifiers, without_subscripts};
use crate::symbol::{Comparison, Function, Param, ParamUse, TypeKind, UseKind};
use std::collections::BTreeSet;

/// How far C reads what a pointer leads to, if it is a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TextReads {
    /// It reads on to the NUL, or as far as it likes: no number ends the text before it looks there.
    to_nul: bool,
    /// It may go behind the NUL, as far as its text shows.
    beyond: bool,
}

impl TextReads {
    /// Whether the memory needs a NUL and nothing behind it.
    pub fn end_at_nul(self) -> bool {
        self.to_nul && !self.beyond
    }

    /// Whether C reads on to the NUL.
    pub fn reach_nul(self) -> bool {
        self.to_nul
    }

    pub fn merge(&mut self, other: Self) {
        self.to_nul |= other.to_nul;
        self.beyond |= other.beyond;
    }

    /// Notes one use in the function's own text.
    pub fn note(&mut self, function: &Function, param: &Param, used: &ParamUse) {
        self.to_nul |= used.in_text && is_access(&used.kind);
        self.beyond = self.beyond || !used.in_text && goes_on(function, param, &used.kind);
    }

    /// Notes that a function of C's library gets the pointer, with `size` as the size of the memory or to read to its NUL.
    pub fn note_libc(
        &mut self,
        (function, param): (&Function, &Param),
        is_string: bool,
        (callee, args, size): (&str, &[String], Option<&str>),
    ) {
        // As in `strncpy(d, s, n)` and `printf("%.*s", n, s)`, a number may end the text earlier. It may be a constant, or a
        // local that holds the length of another text.
        let is_format = |text: &String| text.contains('"') && !text.contains("%.");
        let is_cut = || {
            callee.trim_start_matches("__builtin_").starts_with("strn")
                || callee.contains("printf") && !args.iter().any(is_format)
                || args.iter().any(|text| numbers(function, text).next().is_some())
        };
        self.to_nul |= is_string && size.is_none() && !is_cut();
        self.beyond = self.beyond || size.is_some_and(|text| !stays(function, param, text));
    }
}

fn is_access(used: &UseKind) -> bool {
    match used {
        UseKind::FromCall { used, .. } => is_access(used),
        _ => matches!(used, UseKind::Deref(_) | UseKind::Index { .. }),
    }
}

/// Whether a use may lead behind the NUL.
fn goes_on(function: &Function, param: &Param, used: &UseKind) -> bool {
    match used {
        UseKind::Index { index, constant: None, .. } => !stays(function, param, index),
        // What a local struct holds may be read from there as far as a number says.
        UseKind::Advance | UseKind::Arithmetic | UseKind::Other | UseKind::Stored { .. } => true,
        UseKind::Argument { position, args, .. } => {
            args.get(*position).is_some_and(|text| text.contains('+'))
        }
        UseKind::FromCall { used, .. } => goes_on(function, param, used),
        _ => false,
    }
}

/// Whether an index or a size is at most the length of the text, as far as the C text shows.
fn stays(function: &Function, param: &Param, text: &str) -> bool {
    let names: BTreeSet<&str> = identifiers(text).into_iter().collect();
    if names.is_empty() || numbers(function, text).next().is_some() {
        return false;
    }
    let lengths = lengths(function, param);
    // Comparisons in the loops that end at the NUL bound nothing further.
    let guarded: Vec<u32> = param.uses.iter().filter(|used| used.in_text).map(|used| used.line).collect();
    let has = |side: &str| -> Option<String> {
        identifiers(side).into_iter().find(|word| names.contains(word)).map(str::to_owned)
    };
    let limits = |comparison: &Comparison| {
        let [left, right] = [&comparison.left, &comparison.right].map(|side| without_subscripts(side));
        let limit = match (&*comparison.op, has(&left), has(&right)) {
            ("<" | "<=" | "!=", Some(name), _) => Some((name, right)),
            (">" | ">=" | "!=", _, Some(name)) => Some((name, left)),
            _ => None,
        };
        limit.filter(|(name, _)| !(guarded.contains(&comparison.line) && lengths.contains(name)))
    };
    let limits: Vec<String> =
        function.comparisons.iter().filter_map(limits).map(|(_, limit)| limit).collect();
    let is_length = |name: &str| lengths.contains(name);
    !limits.iter().any(|limit| numbers(function, limit).next().is_some())
        && (names.iter().all(|name| is_length(name))
            || limits.iter().any(|limit| identifiers(limit).into_iter().any(is_length)))
}

/// The integer parameters that a piece of C text names.
fn numbers<'t>(function: &Function, text: &'t str) -> impl Iterator<Item = &'t str> {
    identifiers(text).into_iter().filter(|name| {
        function.params.iter().any(|p| p.name == *name && matches!(p.ty.kind, TypeKind::Int { .. }))
    })
}

/// The locals that hold the length of the text or a smaller number: indices of loops that end at its NUL, and what `strlen`
/// or such a local is assigned to.
fn lengths(function: &Function, param: &Param) -> BTreeSet<String> {
    let is_local = |name: &&str| function.params.iter().all(|p| p.name != *name);
    let indices = param.uses.iter().filter(|used| used.in_text).filter_map(|used| match &used.kind {
        UseKind::Index { index, .. } => Some(identifiers(index)),
        _ => None,
    });
    let mut known: BTreeSet<String> = indices.flatten().filter(is_local).map(str::to_owned).collect();
    let measured = format!("strlen({})", param.name);
    let mut assigned = assignments(&function.text);
    assigned.retain(|assigned| is_local(&assigned.name));
    for Assignment { name, value, .. } in assigned.iter().filter(|assigned| assigned.is_plain) {
        let is_measured = value.replace(char::is_whitespace, "").contains(&measured);
        if is_measured || identifiers(value).iter().any(|word| known.contains(*word)) {
            known.insert((*name).to_owned());
        }
    }
    if known.is_empty() {
        return known;
    }
    let others = others(function, &assigned, &known);
    known.retain(|name| !others.contains(name.as_str()));
    known
}

/// The locals that may hold another number: what a parameter says, such as the `len` of `len < 0 ? strlen(s) : len`. One that
/// is compared with a length, as in `if (n > max) n = max;`, cuts the text.
fn others<'t>(
    function: &Function,
    assigned: &[Assignment<'t>],
    known: &BTreeSet<String>,
) -> BTreeSet<&'t str> {
    let cuts = |number: &str| {
        function.comparisons.iter().any(|comparison| {
            let has = |side: &str, is_it: &dyn Fn(&str) -> bool| {
                identifiers(&without_subscripts(side)).into_iter().any(is_it)
            };
            let is_length = |word: &str| word != number && known.contains(word);
            let (left, right) = (&comparison.left, &comparison.right);
            matches!(&*comparison.op, "<" | "<=" | ">" | ">=")
                && (has(left, &|word| word == number) && has(right, &is_length)
                    || has(right, &|word| word == number) && has(left, &is_length))
        })
    };
    let mut others: BTreeSet<&str> = BTreeSet::new();
    loop {
        let is_other = |value: &str| {
            let names = identifiers(value);
            let is_number =
                |name: &&&str| numbers(function, name).next().is_some() || others.contains(**name);
            names.iter().filter(is_number).any(|name| !cuts(name))
        };
        let found: Vec<&str> = assigned
            .iter()
            .filter(|a| !others.contains(a.name) && is_other(a.value))
            .map(|a| a.name)
            .collect();
        if found.is_empty() {
            return others;
        }
        others.extend(found);
    }
}

/// An assignment to a variable.
struct Assignment<'t> {
    name: &'t str,
    value: &'t str,
    /// It is none like `+=`.
    is_plain: bool,
}

/// The assignments to variables in a C text, and the values that variables begin with.
fn assignments(text: &str) -> Vec<Assignment<'_>> {
    text.split([';', '{', '}'])
        .flat_map(|statement| statement.match_indices('=').map(move |(at, _)| (statement, at)))
        .filter_map(|(statement, at)| assigned(&statement[..at], &statement[at + 1..]))
        .collect()
}

/// What is assigned to what, if the `=` between these texts assigns.
fn assigned<'t>(left: &'t str, value: &'t str) -> Option<Assignment<'t>> {
    let target = left.trim_end_matches(['+', '-', '*', '/', '%', '&', '|', '^']);
    let shifted = left.strip_suffix("<<").or_else(|| left.strip_suffix(">>")).unwrap_or(target);
    let (target, is_plain) = (shifted.trim_end(), shifted.len() == left.len());
    let is_variable = target.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let name = identifiers(target).pop().filter(|_| is_variable && !value.starts_with('='))?;
    let before = target.strip_suffix(name)?.trim_end();
    // A field is no variable.
    (!before.ends_with('.') && !before.ends_with("->")).then(|| Assignment {
        name,
        value: first(value),
        is_plain,
    })
}

/// The value up to the comma that ends it.
fn first(value: &str) -> &str {
    let mut depth = 0i32;
    let end = value.find(|c: char| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        depth < 0 || depth == 0 && c == ','
    });
    &value[..end.unwrap_or(value.len())]
}

#[cfg(test)]
mod tests {
    use crate::contract::infer::infer;
    use crate::contract::parameter_roles::{Role, Value};
    use crate::contract::pointer_facts::FactTable;
    use crate::contract::types::{Contract, Judgeable};

    /// The contract of the function `cut` in this file.
    fn contract(text: &str) -> Contract {
        let library = crate::c::front_tests::loaded(&[("a.c", text)]);
        match infer(&library, &FactTable::build(&library), library.find("cut").unwrap()) {
            Judgeable::Yes(contract) => contract,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_number_that_cuts_a_text_is_not_its_length() {
        const TEXTS: [&str; 13] = [
            "const char *s, int max) { int n = (int)strlen(s); return n > max ? max : n; }",
            "char *s, int max) { int n = strlen(s); if (n > max) n = max; while (n > 0 && s[n - 1] == ' ') n--; return n; }",
            "const char *s, int max) { int n = 0; while (s[n]) n++; return n > max ? max : n; }",
            "char *s, int max) { int n = 0; while (s[n] && n < max) { if (s[n] == ';') break; n++; } return n; }",
            "const unsigned char *s, int max) { int n = 0; for (; *s != 0; s++) { if (n == max) return -n; n++; } return n; }",
            "const char *s, int max) { const char *p = s; char c; while ((c = *p++) != 0) if (p - s > max) break; return c; }",
            "const char *s, unsigned len) { return strlen(s) == len; }",
            "const char *s, int count) { char b[32]; snprintf(b, sizeof b, \"%s\", s); return b[0] + count; }",
            "const char *s, int max) { int n = strlen(s), t = 0; int m = n < max ? n : max; for (int i = 0; i < m; i++) t += s[i]; return t; }",
            "const char *s, int max) { int n = inner(s); return n > max ? max : n; }",
            "const char *s, int max) { int n = 0; for (char c = ';'; *s != c && *s; s++) n++; return n > max; }",
            "const char *s, int max) { int n = 0; for (/* ; */ ; *s && n != max; s++) n++; return n; }",
            "const char *s, int max) { int n = strlen(s), t = 0; if (n >= max) n = max; for (int i = 0; i < n; i++) t += s[i]; return t; }",
        ];
        const BUFFERS: [&str; 22] = [
            "const char *s, int n) { struct { const char *p; int n; } v; v.p = s; v.n = n < 0 ? (int)strlen(s) : n; return v.p[v.n - 1]; }",
            "const char *s, int max) { int n = 0; while (n < max && s[n]) n++; return n; }",
            "const char *s, int max) { int n = 0; for (; max > 0 && *s; s++, max--) n++; return n; }",
            "const char *s, unsigned len) { return s[len - 1] + (int)strlen(s); }",
            "const char *s, int len) { int t = 0; for (int i = 0; i < len; i++) t += s[i]; return t + (int)strlen(s); }",
            "const char *s, int len) { int t = 0; for (int i = len - 1; i >= 0; i--) t += s[i]; return t + (int)strlen(s); }",
            "const char *s, int len) { const char *e = s + len; int t = strlen(s); while (s < e) t += *s++; return t; }",
            "const char *s, int n) { return strncmp(s, \"x=\", n); }",
            "const char *s, int n) { char b[9] = { 0 }; if (n > 9 || !strchr(s, 'x')) return 0; memcpy(b, s, n); return b[0]; }",
            "char *s, int max) { if ((int)strlen(s) > max) s[max] = 0; return 0; }",
            "const char *s, size_t len) { return len >= 7 && strncmp(s, \"http://\", 7) == 0; }",
            "const char *s, int len, const char *word) { int n = strlen(word); return n == len && !strncmp(s, word, n); }",
            "const char *s, int len) { char b[9]; int n = len < 9 ? len : 8; return snprintf(b, 9, \"%.*s\", n, s); }",
            "const char *s, int len) { int t = 0; size_t n = len < 0 ? strlen(s) : (size_t)len; for (size_t i = 0; i < n; i++) t += s[i]; return t; }",
            "const char *s, int len) { int n, t = 0; if (len < 0) n = strlen(s); else n = len; for (int i = 0; i < n; i++) t += s[i]; return t; }",
            "const char *s, int len) { char b[9] = { 0 }; int n = strlen(s); if (len >= 0) n = len; if (n > 9) return 0; memcpy(b, s, n); return b[0]; }",
            "const char *s, int len) { int t = 0, e = strlen(s) + len; for (int i = 0; i < e; i++) t += s[i]; return t; }",
            "const char *s, int len, int *out) { int t = 0, k = len / 2; for (int i = 0; s[i]; i++) out[k] = i; for (int i = 0; i < k; i++) t += s[k]; return t; }",
            "const char *s, int n, char *d) { for (; n--; *d++ = *s++) ; return 0; }",
            "const char *s, int n) { int t = 0; char c; for (c = *s; n; n--) { t += c; c = *++s; } return t; }",
            "const char *s, unsigned n) { while (n && *s != ' ' && *s) { s++; n--; } return n; }",
            "const char *s, int len) { int i = 0; while (i != len && s[i] != ' ' && s[i]) i++; return i; }",
        ];
        let start = "#include <stdio.h>\n#include <string.h>\nstatic int inner(const char *s) { int n = 0; while (*s++) n++; return n; }\nint cut(";
        let mut wrong = Vec::new();
        for (texts, is_text) in [(&TEXTS[..], true), (&BUFFERS[..], false)] {
            for text in texts {
                let contract = contract(&format!("{start}{text}"));
                let [s, n, ..] = &contract.params[..] else { panic!("{contract:?}") };
                let found = (matches!(s.role, Role::CString(_)), n.role == Role::Value(Value::ANY));
                if found != (is_text, is_text) {
                    wrong.push(format!("{text}\n{s:?}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn the_text_that_a_function_names_is_not_its_argument() {
        let text = "static const char *name_of(const unsigned char *id) { return id[0] + id[3] ? \"x\" : \"y\"; }\n\
            int cut(const unsigned char *id) { const char *p = name_of(id); int t = 0; while (*p) { p++; t++; } return t; }\n";
        let contract = contract(text);
        let is_array = matches!(&contract.params[0].role, Role::FixedArray(array) if array.len == 4);
        assert!(is_array, "{contract:?}");
    }
}
