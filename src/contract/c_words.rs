//! Names and numbers in a piece of C text, such as an argument or one side of a comparison.

/// C text without `sizeof` and its operands.
pub(super) fn without_sizeof(text: &str) -> String {
    let mut parts = text.split("sizeof");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kept, part| {
        let operand = part.trim_start();
        let end = match operand.starts_with('(') {
            true => closing(operand),
            false => operand.find(|c: char| !(c.is_ascii_alphanumeric() || "_*&.->[]".contains(c))),
        };
        kept + " " + &operand[end.unwrap_or(operand.len())..]
    })
}

/// The place behind the bracket that closes the first one.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0u32;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// C text without what stands in brackets.
pub(super) fn without_subscripts(text: &str) -> String {
    let mut depth = 0u32;
    let is_outside = |c: &char| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    };
    text.chars().filter(is_outside).collect()
}

/// Identifiers in a piece of C text.
pub fn identifiers(text: &str) -> Vec<&str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
        .collect()
}

/// C text without the casts that it begins with, and without brackets around all of it.
pub(super) fn without_casts(text: &str) -> &str {
    let text = text.trim();
    match closing(text).filter(|_| text.starts_with('(')) {
        Some(end) if end == text.len() => without_casts(&text[1..end - 1]),
        Some(end) => without_casts(&text[end..]),
        None => text,
    }
}

/// How many elements of the pointer come before what an argument like `p` or `&p[4]` leads to, if its text shows that.
pub(super) fn elements_before(text: &str) -> Option<i64> {
    let of = text.trim().strip_prefix('&').and_then(|text| text.strip_suffix(']')?.rsplit_once('['));
    match of {
        Some((_, index)) => index.trim().parse().ok(),
        None => (!text.contains(['+', '['])).then_some(0),
    }
}

/// Whether this type is a pointer to other things than bytes.
pub(super) fn is_wider(to: &str) -> bool {
    let is_byte = |word: &&str| {
        let word = word.to_ascii_lowercase();
        matches!(word.as_str(), "char" | "uchar" | "u_char" | "void" | "byte" | "octet")
            || word.trim_end_matches("_t").ends_with('8')
    };
    to.contains('*') && !identifiers(to).iter().any(is_byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_leave_numbers_and_operators_out() {
        assert_eq!(identifiers("2 * len_1 - (i + 0x1f)"), ["len_1", "i"]);
    }

    #[test]
    fn what_sizeof_measures_is_no_number_beside_it() {
        for (text, beside) in [
            ("sizeof v", vec![]),
            ("sizeof(struct item)", vec![]),
            ("sizeof(int) * n", vec!["n"]),
            ("n * sizeof *p", vec!["n"]),
            ("sizeof p[0] * (n + 1)", vec!["n"]),
            ("count", vec!["count"]),
        ] {
            assert_eq!(identifiers(&without_sizeof(text)), beside, "{text}");
        }
    }

    #[test]
    fn casts_hide_no_offset() {
        for (text, offset) in [
            ("p", Some(0)),
            ("&p[4]", Some(4)),
            ("(unsigned char *)&p[4]", Some(4)),
            ("((unsigned char *)(&p[4]))", Some(4)),
            ("(unsigned char *)p + 4", None),
            ("(unsigned char *)&p[i]", None),
            ("x ? p : q[0]", None),
        ] {
            assert_eq!(elements_before(without_casts(text)), offset, "{text}");
        }
        assert_eq!(elements_before("(unsigned char *)&p[4]"), None);
    }

    #[test]
    fn subscripts_are_no_bounds() {
        assert_eq!(without_subscripts("a[b[i] + 1] + n - c[2]"), "a + n - c");
        assert_eq!(without_subscripts("n] + i"), "n + i");
    }
}
