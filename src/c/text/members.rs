//! Members of structs that are passed to functions as they stand: `strlen(p->name)`.

use super::token::{Joined, Kind, Token, tokens};

/// A member in an argument of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedMember {
    pub function: String,
    /// Position of the argument, from 0.
    pub position: usize,
    pub member: String,
}

/// The members, or elements of them, that a C text passes to functions by name.
pub fn passed_members(text: &[u8]) -> Vec<PassedMember> {
    let joined = Joined::of(text);
    let tokens = tokens(&joined);
    let calls = tokens.windows(2).enumerate();
    let calls = calls.filter(|(_, pair)| pair[0].kind == Kind::Word && pair[1].is("("));
    calls
        .flat_map(|(at, pair)| {
            let arguments = arguments(&tokens[at + 2..]).into_iter().enumerate();
            arguments.filter_map(move |(position, argument)| {
                let (function, member) = (pair[0].text.to_string(), member(argument)?);
                Some(PassedMember { function, position, member })
            })
        })
        .collect()
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
}
