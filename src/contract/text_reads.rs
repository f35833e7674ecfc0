//! Texts that C reads to their NUL: whether it may go further, or the NUL alone ends each walk.

use super::c_words::{identifiers, without_subscripts};
use crate::symbol::{Comparison, Function, Param, ParamUse, TypeKind, UseKind};
use std::collections::BTreeSet;

/// How far C reads what a pointer leads to, if it is a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TextReads {
    /// It reads on to the NUL, however large its other arguments are.
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
        (args, size): (&[String], Option<&str>),
    ) {
        // As in `strncpy(d, s, n)`, a number may end the text earlier.
        let is_cut = || args.iter().any(|text| numbers(function, text).next().is_some());
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
        UseKind::Advance | UseKind::Arithmetic | UseKind::Other => true,
        UseKind::Argument { position, args, .. } => {
            args.get(*position).is_some_and(|text| text.contains('+'))
        }
        UseKind::FromCall { used, .. } => goes_on(function, param, used),
        _ => false,
    }
}

/// Whether an index or a size is at most the length of the text, as far as the C text shows.
fn stays(function: &Function, param: &Param, text: &str) -> bool {
    let lengths = lengths(function, param);
    let names: BTreeSet<&str> = identifiers(text).into_iter().collect();
    if names.is_empty() || numbers(function, text).next().is_some() {
        return false;
    }
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
    for statement in function.text.split([';', '{', '}']) {
        let Some((name, value)) = assigned(statement).filter(|(name, _)| is_local(name)) else { continue };
        let is_measured = value.replace(char::is_whitespace, "").contains(&measured);
        if is_measured || identifiers(value).iter().any(|word| known.contains(*word)) {
            known.insert(name.to_owned());
        }
    }
    known
}

/// The name and the value of an assignment.
fn assigned(statement: &str) -> Option<(&str, &str)> {
    let (left, value) = statement.split_once('=')?;
    let is_other = value.starts_with('=') || left.ends_with(|c: char| c.is_ascii_punctuation() && c != '_');
    Some((identifiers(left).pop()?, value)).filter(|_| !is_other)
}

#[cfg(test)]
mod tests {
    use crate::contract::infer::infer;
    use crate::contract::parameter_roles::{Role, Value};
    use crate::contract::pointer_facts::FactTable;
    use crate::contract::types::{Contract, Judgeable};

    /// The contract of the function `cut` in this file.
    fn contract(text: &str) -> Contract {
        let dir = tempfile::tempdir().unwrap();
        fs_err::write(dir.path().join("a.c"), text).unwrap();
        let root = camino::Utf8Path::from_path(dir.path()).unwrap();
        let library = crate::c::front_tests::load_into(root, &root.join(".implfuzz"), "gcc").unwrap().library;
        match infer(&library, &FactTable::build(&library), library.find("cut").unwrap()) {
            Judgeable::Yes(contract) => contract,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_number_that_cuts_a_text_is_not_its_length() {
        const TEXTS: [&str; 9] = [
            "const char *s, int max) { int n = (int)strlen(s); return n > max ? max : n; }",
            "char *s, int max) { int n = strlen(s); if (n > max) n = max; while (n > 0 && s[n - 1] == ' ') n--; return n; }",
            "const char *s, int max) { int n = 0; while (s[n]) n++; return n > max ? max : n; }",
            "char *s, int max) { int n = 0; while (s[n] && n < max) { if (s[n] == ';') break; n++; } return n; }",
            "const unsigned char *s, int max) { int n = 0; for (; *s != 0; s++) { if (n == max) return -n; n++; } return n; }",
            "const char *s, int max) { const char *p = s; char c; while ((c = *p++) != 0) if (p - s > max) break; return c; }",
            "const char *s, unsigned len) { return strlen(s) == len; }",
            "const char *s, int max) { int n = strlen(s), t = 0; int m = n < max ? n : max; for (int i = 0; i < m; i++) t += s[i]; return t; }",
            "const char *s, int max) { int n = inner(s); return n > max ? max : n; }",
        ];
        const BUFFERS: [&str; 9] = [
            "const char *s, int max) { int n = 0; while (n < max && s[n]) n++; return n; }",
            "const char *s, int max) { int n = 0; for (; max > 0 && *s; s++, max--) n++; return n; }",
            "const char *s, unsigned len) { return s[len - 1] + (int)strlen(s); }",
            "const char *s, int len) { int t = 0; for (int i = 0; i < len; i++) t += s[i]; return t + (int)strlen(s); }",
            "const char *s, int len) { int t = 0; for (int i = len - 1; i >= 0; i--) t += s[i]; return t + (int)strlen(s); }",
            "const char *s, int len) { const char *e = s + len; int t = strlen(s); while (s < e) t += *s++; return t; }",
            "const char *s, int n) { return strncmp(s, \"x=\", n); }",
            "const char *s, int n) { char b[9] = { 0 }; if (n > 9 || !strchr(s, 'x')) return 0; memcpy(b, s, n); return b[0]; }",
            "char *s, int max) { if ((int)strlen(s) > max) s[max] = 0; return 0; }",
        ];
        let start = "#include <string.h>\nstatic int inner(const char *s) { int n = 0; while (*s++) n++; return n; }\nint cut(";
        for (texts, is_text) in [(TEXTS, true), (BUFFERS, false)] {
            for text in texts {
                let contract = contract(&format!("{start}{text}"));
                let [s, n] = &contract.params[..] else { panic!("{contract:?}") };
                let is_free = n.role == Role::Value(Value::ANY);
                assert_eq!(
                    (matches!(s.role, Role::CString(_)), is_free),
                    (is_text, is_text),
                    "{text}\n{s:?}"
                );
            }
        }
    }
}
