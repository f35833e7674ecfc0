//! The text of a unit with additions, for the compiler: behind the unit, or inside of its file where something must
//! see the macros that are defined there. No file of the library is changed: the text is a copy.

use camino::{Utf8Path, Utf8PathBuf};
use std::fmt::Write as _;
use std::rc::Rc;

/// The compiler reports an addition's errors in a file with this name and the addition's number.
pub(super) const ORIGIN: &str = "implfuzz-addition-";

/// A piece of C text that is added to a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Added {
    pub text: String,
    /// Where it stands; `None` for behind the unit.
    pub at: Option<Spot>,
}

/// A place in the text of a unit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spot {
    /// The offset in the unit's file.
    pub at: usize,
    /// If it is in a file that the line there includes.
    pub inside: Option<Inside>,
}

/// A place in an included file, which then stands in the unit's text instead of the line that includes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Inside {
    pub at: usize,
    pub path: Utf8PathBuf,
    pub text: Rc<str>,
}

impl Spot {
    pub fn of_unit(at: usize) -> Self {
        Self { at, inside: None }
    }
}

impl Added {
    pub fn behind(text: impl Into<String>) -> Self {
        Self { text: text.into(), at: None }
    }
}

/// The text of the unit at `path` with numbered additions. Those inside need the file's text; without it all stand
/// behind.
pub(super) fn unit_text(path: &Utf8Path, file: Option<&str>, added: &[(usize, &Added)]) -> String {
    let mut text = String::new();
    let (mut inside, mut behind): (Vec<Numbered>, Vec<Numbered>) =
        added.iter().copied().partition(|(_, added)| file.is_some() && added.at.is_some());
    match file {
        None => push(&mut text, format_args!("#include \"{path}\"")),
        Some(file) => {
            // Stable: what stands at one place keeps its order.
            inside.sort_by_key(|(_, added)| added.at.clone());
            with_additions(&mut text, (path, file), &inside);
        }
    }
    for (number, added) in behind.drain(..) {
        addition_text(&mut text, number, added);
    }
    text
}

/// An addition with its number.
type Numbered<'a> = (usize, &'a Added);

/// The text of the unit's file with additions, by their places.
fn with_additions(text: &mut String, (path, file): (&Utf8Path, &str), added: &[Numbered]) {
    let at = |one: &Numbered| one.1.at.as_ref().map_or(0, |spot| spot.at);
    let inside = |one: &Numbered| one.1.at.as_ref().and_then(|spot| spot.inside.clone());
    let mut part = Part { path, file, done: 0, line: 1 };
    for group in added.chunk_by(|a, b| at(a) == at(b) && inside(a).is_some() && inside(b).is_some()) {
        part.until(text, at(&group[0]));
        match inside(&group[0]) {
            None => addition_text(text, group[0].0, group[0].1),
            Some(Inside { path, text: file, .. }) => {
                let mut own = Part { path: &path, file: &file, done: 0, line: 1 };
                for one in group {
                    own.until(text, inside(one).map_or(0, |inside| inside.at));
                    addition_text(text, one.0, one.1);
                }
                own.until(text, file.len());
                part.skip_line();
            }
        }
    }
    part.until(text, file.len());
}

/// What is left of a file.
struct Part<'a> {
    path: &'a Utf8Path,
    file: &'a str,
    done: usize,
    line: usize,
}

impl Part<'_> {
    fn until(&mut self, text: &mut String, end: usize) {
        let part = self.file.get(self.done..end).unwrap_or_default();
        push(text, format_args!("#line {} \"{}\"\n{part}", self.line, self.path));
        self.line += part.matches('\n').count();
        self.done = self.done.max(end);
    }

    fn skip_line(&mut self) {
        let rest = self.file.get(self.done..).unwrap_or_default();
        self.done += rest.find('\n').unwrap_or(rest.len());
    }
}

fn addition_text(text: &mut String, number: usize, added: &Added) {
    push(text, format_args!("#line 1 \"{ORIGIN}{number}\"\n{}", added.text));
}

fn push(text: &mut String, arguments: std::fmt::Arguments) {
    text.write_fmt(arguments).expect("a String takes all text");
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn additions_stand_in_their_places_and_lines_keep_their_numbers() {
        let file = "int a;\nint b; int c;\nint d;\n";
        let at = |text: &str| file.find(text).map(|at| Spot::of_unit(at + text.len()));
        let added = [
            Added::behind("int last;"),
            Added { text: "int second;".into(), at: at("int b;") },
            Added { text: "int first;".into(), at: Some(Spot::of_unit(0)) },
        ];
        let added: Vec<(usize, &Added)> = added.iter().enumerate().collect();
        let text = unit_text(Utf8Path::new("/x.c"), Some(file), &added);
        let wanted = "#line 1 \"/x.c\"\n\n#line 1 \"implfuzz-addition-2\"\nint first;\n\
                      #line 1 \"/x.c\"\nint a;\nint b;\n#line 1 \"implfuzz-addition-1\"\nint second;\n\
                      #line 2 \"/x.c\"\n int c;\nint d;\n\n#line 1 \"implfuzz-addition-0\"\nint last;\n";
        assert_eq!(text, wanted);
        let text = unit_text(Utf8Path::new("/x.c"), None, &added[..1]);
        assert_eq!(text, "#include \"/x.c\"\n#line 1 \"implfuzz-addition-0\"\nint last;\n");
    }

    #[test]
    fn an_included_file_takes_the_place_of_its_line() {
        let (file, included) = ("int a;\n#include \"t.inc\"\nint b;\n", "int c;\nint d;\n");
        let spot = |at| {
            let inside = Inside { at, path: "/t.inc".into(), text: included.into() };
            Some(Spot { at: file.find('#').unwrap(), inside: Some(inside) })
        };
        let added = [
            Added { text: "int last;".into(), at: spot(included.len()) },
            Added { text: "int first;".into(), at: spot(6) },
        ];
        let added: Vec<(usize, &Added)> = added.iter().enumerate().collect();
        let text = unit_text(Utf8Path::new("/x.c"), Some(file), &added);
        let wanted = "#line 1 \"/x.c\"\nint a;\n\n#line 1 \"/t.inc\"\nint c;\n\
                      #line 1 \"implfuzz-addition-1\"\nint first;\n#line 1 \"/t.inc\"\n\nint d;\n\n\
                      #line 1 \"implfuzz-addition-0\"\nint last;\n#line 3 \"/t.inc\"\n\n\
                      #line 2 \"/x.c\"\n\nint b;\n\n";
        assert_eq!(text, wanted);
    }
}
