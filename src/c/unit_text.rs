//! The text of a unit with additions, for the compiler: behind the unit, or inside of its file where something must
//! see the macros that are defined there. No file of the library is changed: the text is a copy.

use camino::Utf8Path;
use std::fmt::Write as _;

/// The compiler reports an addition's errors in a file with this name and the addition's number.
pub(super) const ORIGIN: &str = "implfuzz-addition-";

/// A piece of C text that is added to a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Added {
    pub text: String,
    /// The offset in the unit's file where it stands; `None` for behind the unit.
    pub at: Option<usize>,
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
    let mut all = added.to_vec();
    match file {
        None => push(&mut text, format_args!("#include \"{path}\"")),
        Some(file) => {
            // Stable: what stands at one place keeps its order.
            all.sort_by_key(|(_, added)| added.at.unwrap_or(usize::MAX));
            let (mut done, mut line) = (0, 1);
            let inside = all.iter().position(|(_, added)| added.at.is_none()).unwrap_or(all.len());
            let behind = all.split_off(inside);
            let ends = all.iter().map(|one| (one.1.at.unwrap_or(0), Some(*one)));
            for (end, addition) in ends.chain([(file.len(), None)]) {
                let part = file.get(done..end).unwrap_or_default();
                push(&mut text, format_args!("#line {line} \"{path}\"\n{part}"));
                (done, line) = (done.max(end), line + part.matches('\n').count());
                if let Some((number, added)) = addition {
                    addition_text(&mut text, number, added);
                }
            }
            all = behind;
        }
    }
    for (number, added) in all {
        addition_text(&mut text, number, added);
    }
    text
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
        let at = |text: &str| file.find(text).map(|at| at + text.len());
        let added = [
            Added::behind("int last;"),
            Added { text: "int second;".into(), at: at("int b;") },
            Added { text: "int first;".into(), at: Some(0) },
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
}
