//! Shortens long values to one line with `…`, but keeps their size. The harness ends a buffer with ` (5553 bytes)`.

/// Longest argument that is shown whole, in characters.
const ARGUMENT: usize = 120;
/// Characters of the end that are shown of a longer one: the value that decides may be there.
const END: usize = 40;
/// Longest result that is shown whole; two results are shown side by side.
const RESULT: usize = 60;
/// Number of characters of a result before the first difference.
const BEFORE: usize = 20;

/// The beginning and the end of an argument, in the length of a line.
pub(super) fn argument(value: &str) -> String {
    let (body, size) = size_of(value);
    let (whole, more) = body.strip_suffix('…').map_or((body, ""), |body| (body, "…"));
    let length = whole.chars().count();
    if length <= ARGUMENT {
        return value.to_owned();
    }
    let start: String = whole.chars().take(ARGUMENT - END).collect();
    let end: String = whole.chars().skip(length - END).collect();
    format!("{start}…{end}{more}{size}")
}

/// The beginning of a value for a table cell.
pub fn cell(value: &str) -> String {
    window(value, 0, RESULT)
}

/// The parts of two results around their first difference.
pub(super) fn results(a: &str, b: &str) -> (String, String) {
    let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    // If the beginning shows the difference, it is not cut.
    let start = if same < RESULT - BEFORE { 0 } else { same - BEFORE };
    let is_long = a.chars().count().max(b.chars().count()) > RESULT;
    let start = if is_long { start } else { 0 };
    (window(a, start, RESULT), window(b, start, RESULT))
}

/// At most `len` characters from `start` on, with `…` for omitted text, followed by the size.
fn window(value: &str, start: usize, len: usize) -> String {
    if start == 0 && value.chars().count() <= len {
        return value.to_owned();
    }
    let (body, size) = size_of(value);
    let before = if start > 0 { "…" } else { "" };
    let shown: String = body.chars().skip(start).take(len).collect();
    let after = if body.chars().count() > start + len || body.ends_with('…') { "…" } else { "" };
    format!("{before}{}{after}{size}", shown.trim_end_matches('…'))
}

/// Splits a value from its size: `b"ab…"` and ` (5553 bytes)`.
fn size_of(value: &str) -> (&str, &str) {
    let is_size = |text: &str| {
        let mut words = text.trim_start_matches(" (").trim_end_matches(')').split(' ');
        let number = words.next().is_some_and(|word| word.parse::<u64>().is_ok());
        number && matches!((words.next(), words.next()), (Some("bytes" | "elements"), None))
    };
    let at = value.rfind(" (").filter(|at| is_size(&value[*at..]));
    at.map_or((value, ""), |at| value.split_at(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_argument_keeps_its_beginning_its_end_and_its_size() {
        let long = format!("b\"{}\"… (5553 bytes)", "x".repeat(300));
        let short = argument(&long);
        assert_eq!(short, format!("b\"{}…{}\"… (5553 bytes)", "x".repeat(78), "x".repeat(39)));
        let last = format!("{}z", "y".repeat(120));
        assert_eq!(argument(&last), format!("{}…{}z", "y".repeat(80), "y".repeat(39)));
        for whole in ["b\"ab\" (2 bytes)", "7", "", &"é".repeat(120)] {
            assert_eq!(argument(whole), whole);
        }
    }

    #[test]
    fn long_results_are_shown_where_they_differ() {
        let with = |c: char| format!("b\"{}{c}{}\" (201 bytes)", "a".repeat(100), "b".repeat(100));
        let (c, rust) = results(&with('x'), &with('y'));
        assert_eq!(c, format!("…{}x{}… (201 bytes)", "a".repeat(20), "b".repeat(39)));
        assert_eq!(rust, c.replace('x', "y"));
        assert_eq!(results("5", "6"), ("5".into(), "6".into()));
    }

    #[test]
    fn a_difference_in_the_size_alone_is_seen() {
        let of = |n: usize| format!("[{}] ({n} elements)", vec!["1"; n].join(", "));
        let (c, rust) = results(&of(40), &of(41));
        assert!(c.ends_with("(40 elements)") && rust.ends_with("(41 elements)"), "{c}\n{rust}");
        assert_ne!(c, rust);
    }
}
