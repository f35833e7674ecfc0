//! Members of structs that are passed to functions as they stand: `strlen(p->name)`.

use super::literals::quoted;
use super::token::{Joined, Kind, Token, tokens};

/// A member in an argument of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedMember {
    pub function: String,
    /// Position of the argument, from 0.
    pub position: usize,
    pub member: String,
    /// Whether the first string literal before it, taken for a format, prints it whole: `%s` without a precision. `None` if
    /// there is none.
    pub is_printed: Option<bool>,
}

/// The members, or elements of them, that a C text passes to functions by name.
pub fn passed_members(text: &[u8]) -> Vec<PassedMember> {
    let joined = Joined::of(text);
    let tokens = tokens(&joined);
    let mut all = Vec::new();
    for (at, pair) in tokens.windows(2).enumerate() {
        if pair[0].kind != Kind::Word || !pair[1].is("(") {
            continue;
        }
        let arguments = arguments(&tokens[at + 2..]);
        for (position, argument) in arguments.iter().enumerate() {
            let Some(member) = member(argument) else { continue };
            let format = (0..position).find_map(|at| Some((at, text_of(arguments[at])?)));
            let is_whole = |conversion: &str| conversion.ends_with('s') && !conversion.contains('.');
            let is_printed =
                format.map(|(at, text)| conversions(&text).nth(position - at - 1).is_some_and(is_whole));
            all.push(PassedMember { function: pair[0].text.to_string(), position, member, is_printed });
        }
    }
    all
}

/// The arguments of a call, whose opening parenthesis stands before these tokens.
fn arguments<'t, 'a>(behind: &'a [Token<'t>]) -> Vec<&'a [Token<'t>]> {
    let (mut all, mut depth, mut start) = (Vec::new(), 0usize, 0);
    for (at, token) in behind.iter().enumerate() {
        let is_end = depth == 0 && token.is(")");
        if is_end || depth == 0 && token.is(",") {
            all.push(&behind[start..at]);
            start = at + 1;
        }
        if is_end {
            return all;
        }
        depth += usize::from(token.is("(") || token.is("["));
        depth = depth.saturating_sub(usize::from(token.is(")") || token.is("]")));
    }
    all
}

/// The member that an argument ends with, behind a dot or an arrow and before any index.
fn member(mut argument: &[Token]) -> Option<String> {
    while let [before @ .., end] = argument
        && end.is("]")
    {
        let mut depth = 1usize;
        let open = before.iter().rposition(|token| {
            depth += usize::from(token.is("]"));
            depth -= usize::from(token.is("["));
            depth == 0
        })?;
        argument = &before[..open];
    }
    let [.., dot, name] = argument else { return None };
    ((dot.is(".") || dot.is("->")) && name.kind == Kind::Word).then(|| name.text.to_string())
}

/// The text of an argument that is a string literal, or several in a row.
fn text_of(argument: &[Token]) -> Option<String> {
    let parts =
        argument.iter().map(|token| quoted(token).filter(|(quote, _)| *quote == '"').map(|(_, value)| value));
    let text: Vec<Vec<u8>> = parts.collect::<Option<_>>()?;
    (!text.is_empty()).then(|| String::from_utf8_lossy(&text.concat()).into_owned())
}

/// What each argument behind a format is taken for (C17, 7.21.6.1): `%s`, or `%.4s`; a `*` takes an argument, too.
fn conversions(format: &str) -> impl Iterator<Item = &str> {
    let starts = format.match_indices('%').map(|(at, _)| at);
    let mut from = 0;
    let each = starts.filter_map(move |start| {
        if start < from {
            return None;
        }
        let behind = &format[start + 1..];
        let end = behind.find(|c: char| c.is_ascii_alphabetic() && !"hlLqjzt".contains(c) || c == '%')?;
        from = start + 1 + end + 1;
        Some(&format[start..from])
    });
    each.filter(|one| !one.ends_with('%')).flat_map(|one| one.matches('*').chain([one]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_that_are_arguments_are_found() {
        let text = "strlen(p->name); strcmp(a.key, find(b->c[i + 1], x.y + 1)); f(&p->at, (q->names[i][0])); g(p); h(";
        let found = passed_members(text.as_bytes());
        let found: Vec<_> = found.iter().map(|m| (&*m.function, m.position, &*m.member)).collect();
        assert_eq!(found, [("strlen", 0, "name"), ("strcmp", 0, "key"), ("find", 0, "c"), ("f", 0, "at")]);
    }

    #[test]
    fn a_format_says_what_is_printed_whole() {
        let text = r#"printf("%d%% of %-8s: %.4s %*d %s" " %c\n", p->n, p->name, p->magic, p->w, p->x, p->last, p->tag[0])"#;
        let printed = passed_members(text.as_bytes()).into_iter().filter(|one| one.is_printed == Some(true));
        let printed: Vec<String> = printed.map(|one| one.member).collect();
        assert_eq!(printed, ["name", "last"]);
        let scanned = passed_members(br#"snprintf(p->to, sizeof p->to, "%s=%lu", q->key, q->value)"#);
        let scanned: Vec<_> = scanned.into_iter().map(|one| (one.member, one.is_printed)).collect();
        let wanted = [("to", None), ("to", None), ("key", Some(true)), ("value", Some(false))];
        assert_eq!(scanned, wanted.map(|(member, is)| (member.to_owned(), is)));
    }
}
