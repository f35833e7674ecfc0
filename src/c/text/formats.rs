//! Formats of `printf` and the like, as string literals.

/// Whether a format prints the argument at this position behind it as a whole string.
pub fn prints_whole(format: &str, position: usize) -> bool {
    conversions(format).nth(position).is_some_and(|one| one.ends_with('s') && !one.contains('.'))
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
    use super::prints_whole;

    #[test]
    fn a_format_says_what_is_printed_whole() {
        let format = r#""%d%% of %-8s: %.4s %*d %s %c\n""#;
        let whole: Vec<usize> = (0..9).filter(|at| prints_whole(format, *at)).collect();
        assert_eq!(whole, [1, 5]);
        assert!(prints_whole("%s=%lu", 0) && !prints_whole("%s=%lu", 1) && !prints_whole("", 0));
    }
}
