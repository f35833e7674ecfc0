//! What is wrong in a text, as rustc shows it: the line, a mark below it, and what is said of it.

use super::printable;
use crate::error::Code;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// A word of a file, and what is said of it.
#[derive(Debug, Clone, Copy)]
pub struct Marked<'a> {
    pub path: &'a str,
    /// The text of the file.
    pub text: &'a str,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    pub label: Option<&'a str>,
}

impl<'a> Marked<'a> {
    /// The first place of a word at this line or a few lines below it.
    pub fn word(path: &'a str, text: &'a str, line: usize, word: &str) -> Option<Self> {
        /// A definition has at most so many lines before its name.
        const LINES: usize = 8;
        let lines = text.lines().enumerate().skip(line.saturating_sub(1)).take(LINES);
        let mut found = lines.filter_map(|(at, line)| Some((at + 1, place(line, word)?)));
        let (line, column) = found.next()?;
        Some(Self { path, text, line, column, label: None })
    }

    pub fn says(self, label: &'a str) -> Self {
        Self { label: Some(label), ..self }
    }

    fn snippet(&self) -> Option<Snippet<'a, annotate_snippets::Annotation<'a>>> {
        let line = self.text.lines().nth(self.line.checked_sub(1)?)?;
        let at = line.char_indices().nth(self.column.saturating_sub(1)).map_or(line.len(), |(at, _)| at);
        let (before, rest) = line.split_at(at);
        let length = rest.find(|c: char| !is_of_word(c)).unwrap_or(rest.len());
        let length = if length == 0 { rest.chars().next().map_or(0, char::len_utf8) } else { length };
        let (start, end) = (printable(before).len(), printable(&line[..at + length]).len());
        let mark = AnnotationKind::Primary.span(start..end).label(self.label.map(printable));
        let source = Snippet::source(printable(line)).path(printable(self.path)).line_start(self.line);
        Some(source.annotation(mark))
    }
}

/// An error with the places that it is about; without a title, the places alone.
pub fn diagnostic(title: Option<(Code, &str)>, places: &[Marked]) -> String {
    let group = match title {
        Some((code, title)) => {
            Group::with_title(Level::ERROR.primary_title(printable(title)).id(<&str>::from(code)))
        }
        None => Group::with_level(Level::ERROR),
    };
    let group = group.elements(places.iter().filter_map(Marked::snippet));
    if title.is_none() && group.is_empty() {
        String::new()
    } else {
        Renderer::styled().render(&[group]) + "\n"
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == ':'
}

/// The column of a whole word in a line, from 1.
fn place(line: &str, word: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let whole = |(at, _): &(usize, &str)| {
        !line[..*at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part)
    };
    let (at, _) = line.match_indices(word).find(whole)?;
    Some(line[..at].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn a_problem_stands_below_its_line() {
        let text = "pub fn f() {\n    // é\n    let é = libc::fgetc(\u{1b}x);\n}\n";
        let problem = Marked { path: "rust/src/k.rs", text, line: 3, column: 13, label: Some("not here") };
        insta::assert_snapshot!(plain(&diagnostic(Some((Code::Audit, "`libc::fgetc` is forbidden")), &[problem])), @r"
        error[E0106]: `libc::fgetc` is forbidden
         --> rust/src/k.rs:3:13
          |
        3 |     let é = libc::fgetc(\u{1b}x);
          |             ^^^^^^^^^^^ not here
        ");
    }

    #[test]
    fn two_places_stand_together() {
        let c = "/* put */\nstatic unsigned\nput(unsigned *cell)\n{ return input(cell); }\n";
        let rust = "//! k\n\npub fn put(cell: &mut u32) -> u32 {\n";
        let of_c = Marked::word("k.c", c, 2, "put").unwrap().says("the C original");
        let of_rust = Marked::word("rust/src/k.rs", rust, 1, "put").unwrap().says("the port");
        insta::assert_snapshot!(plain(&diagnostic(None, &[of_c, of_rust])), @r"
         --> k.c:3:1
          |
        3 | put(unsigned *cell)
          | ^^^ the C original
          |
         ::: rust/src/k.rs:3:8
          |
        3 | pub fn put(cell: &mut u32) -> u32 {
          |        ^^^ the port
        ");
        assert!(Marked::word("k.c", c, 1, "in").is_none());
        assert_eq!(diagnostic(None, &[]), "");
        let gone = Marked { line: 70, ..of_c };
        assert_eq!(diagnostic(None, &[gone]), "");
    }
}
