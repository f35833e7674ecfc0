//! Fenced blocks of Markdown, as models write them: with wrong nesting, wrong indentation, and unclosed.

/// A fenced block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fence {
    /// What stands behind the opening fence.
    pub info: String,
    /// The last line of prose before it, without its marks.
    pub heading: String,
    /// The lines between, each with its line feed.
    pub text: String,
    /// Whether there was a closing fence.
    pub closed: bool,
}

/// The length, character, indentation and info of a line that is a fence.
struct Mark<'a> {
    indent: usize,
    symbol: char,
    length: usize,
    info: &'a str,
}

/// All fenced blocks of a text. `known` says whether an info string is one that the prompt asked for: such a line
/// opens a block even inside another one, which was then a wrapper or forgot to end.
pub(super) fn fences(text: &str, known: &dyn Fn(&str) -> bool) -> Vec<Fence> {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let mut found: Vec<Fence> = Vec::new();
    let mut open: Option<(Mark, Fence)> = None;
    let mut heading = String::new();
    for line in text.lines() {
        let mark = mark(line);
        match (&mut open, mark) {
            (Some((opening, _)), Some(mark)) if opening.is_closed_by(&mark) => {
                let (_, fence) = open.take().expect("just matched");
                found.push(Fence { closed: true, ..fence });
                heading.clear();
            }
            (Some((opening, fence)), mark) => match mark {
                Some(mark) if known(mark.info) && !fence_inside_code(opening, &mark) => {
                    found.extend(open.take().map(|(_, fence)| fence));
                    open = Some((mark, Fence::opened(line, &heading)));
                }
                _ => fence.push(line, opening.indent),
            },
            (None, Some(mark)) => {
                open = Some((mark, Fence::opened(line, &heading)));
            }
            (None, None) => {
                let words = line.trim_matches(|c: char| !c.is_alphanumeric());
                if !words.is_empty() {
                    heading = words.to_owned();
                }
            }
        }
    }
    found.extend(open.map(|(_, fence)| fence));
    found
}

/// A longer fence that is meant to hold shorter ones keeps what is in it.
fn fence_inside_code(opening: &Mark, inner: &Mark) -> bool {
    opening.length > inner.length && !is_wrapper(opening.info)
}

/// Languages that models wrap a whole reply into.
fn is_wrapper(info: &str) -> bool {
    matches!(info.to_ascii_lowercase().as_str(), "" | "markdown" | "md" | "text" | "txt")
}

fn mark(line: &str) -> Option<Mark<'_>> {
    let rest = line.trim_start_matches([' ', '\t']);
    let indent = line.len() - rest.len();
    let symbol = rest.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = rest.trim_start_matches(symbol);
    let length = rest.len() - info.len();
    // Backticks further on make it inline code.
    let inline = symbol == '`' && info.contains('`');
    (length >= 3 && !inline).then(|| Mark { indent, symbol, length, info: info.trim() })
}

impl Mark<'_> {
    fn is_closed_by(&self, other: &Mark) -> bool {
        other.info.is_empty() && other.symbol == self.symbol && other.length >= self.length
    }
}

impl Fence {
    fn opened(line: &str, heading: &str) -> Self {
        let info = mark(line).map_or("", |mark| mark.info).to_owned();
        Self { info, heading: heading.to_owned(), text: String::new(), closed: false }
    }

    /// Adds a line, without as much white space as the opening fence was indented by.
    fn push(&mut self, line: &str, indent: usize) {
        let white = line.len() - line.trim_start_matches([' ', '\t']).len();
        self.text.push_str(&line[white.min(indent)..]);
        self.text.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(text: &str) -> Vec<(String, String, bool)> {
        let known = |info: &str| info == "rust implementation";
        fences(text, &known).into_iter().map(|f| (f.info, f.text, f.closed)).collect()
    }

    fn block(info: &str, text: &str, closed: bool) -> (String, String, bool) {
        (info.into(), text.into(), closed)
    }

    #[test]
    fn fences_of_both_kinds() {
        assert_eq!(
            texts("a\n```x\n1\n```\nb\n~~~ y\n2\n~~~\n"),
            [block("x", "1\n", true), block("y", "2\n", true)]
        );
    }

    #[test]
    fn a_longer_fence_holds_shorter_ones() {
        assert_eq!(texts("````x\n```\n1\n```\n````"), [block("x", "```\n1\n```\n", true)]);
        assert_eq!(texts("~~~x\n```\n~~~"), [block("x", "```\n", true)]);
    }

    #[test]
    fn a_wrapper_of_the_same_length_is_seen_through() {
        let found = texts("```markdown\n```rust implementation\n1\n```\n```");
        assert!(found.contains(&block("rust implementation", "1\n", true)), "{found:?}");
    }

    #[test]
    fn indentation_of_the_fence_goes() {
        assert_eq!(texts("  ```x\n  a\n    b\n c\n  ```"), [block("x", "a\n  b\nc\n", true)]);
    }

    #[test]
    fn line_ends_of_windows_and_unclosed_fences() {
        assert_eq!(texts("```x\r\na\r\n"), [block("x", "a\n", false)]);
    }

    #[test]
    fn inline_code_is_no_fence() {
        assert!(texts("```x``` and ```y```\n").is_empty());
    }

    #[test]
    fn the_prose_before_is_kept() {
        let found = fences("### The **implementation**:\n\n```\nx\n```", &|_| false);
        assert_eq!(found[0].heading, "The **implementation");
    }

    proptest! {
        #[test]
        fn what_stands_in_a_block_comes_out(lines in prop::collection::vec("[ -_a-}]{0,20}", 0..10)) {
            let inner: String = lines.iter().map(|l| format!("{l}\n")).collect();
            prop_assert_eq!(texts(&format!("```x\n{inner}```\n")), vec![block("x", &inner, true)]);
        }

        #[test]
        fn nothing_panics(text in "(```|~~~|rust implementation|\n|\r\n| |é|x){0,40}") {
            texts(&text);
        }
    }
}
