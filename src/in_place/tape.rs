//! The functions of the system whose calls happen once, for C, and are answered for candidates: the lines that
//! `templates/in_place/tape.c` includes. `libc_facts/functions.txt` says what their arguments mean.

use crate::libc_facts::{Taped, TapedArgument, same_as, taped};
use std::collections::BTreeSet;

/// Whether calls of a function are kept on the tape.
pub(super) fn is_taped(name: &str) -> bool {
    taped(name).is_some()
}

/// A line for each of these functions that is taped by its arguments; those that print stand in `printed.c`.
pub(super) fn lines(names: &BTreeSet<String>) -> String {
    let line = |name: &String| match taped(name)? {
        Taped::By(arguments) => Some(line(name, arguments)),
        Taped::Printed => None,
    };
    names.iter().filter_map(line).collect()
}

fn line(name: &str, arguments: &[TapedArgument]) -> String {
    let same = same_as(name).unwrap_or(name);
    let words: Vec<String> = arguments.iter().map(|argument| word(*argument)).collect();
    let words = if words.is_empty() { "{IGNORED, 0, 0}".to_owned() } else { words.join(", ") };
    format!("TAPED({name}, {same}, {}, {words})\n", arguments.len())
}

fn word(argument: TapedArgument) -> String {
    let second = |b: Option<usize>| b.map_or_else(|| "-1".to_owned(), |b| b.to_string());
    match argument {
        TapedArgument::Ignored => "{IGNORED, 0, 0}".into(),
        TapedArgument::Word => "{WORD, 0, 0}".into(),
        TapedArgument::Int => "{INT, 0, 0}".into(),
        TapedArgument::Stream => "{STREAM, 0, 0}".into(),
        TapedArgument::Byte => "{BYTE, 0, 0}".into(),
        TapedArgument::String => "{STRING, 0, 0}".into(),
        TapedArgument::Read(a, b) => format!("{{READ, {a}, {}}}", second(b)),
        TapedArgument::Written(a, b) => format!("{{WRITTEN, {a}, {}}}", second(b)),
        TapedArgument::Text(a) => format!("{{TEXT, {a}, 0}}"),
        TapedArgument::Mode(flags) => format!("{{MODE, {flags}, 0}}"),
        TapedArgument::Result(bytes) => format!("{{RESULT, {bytes}, 0}}"),
        TapedArgument::Fixed(bytes) => format!("{{FIXED, {bytes}, 0}}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_argument_has_a_word() {
        let names = ["fread", "getc", "longjmp", "printf", "tmpfile"].map(str::to_owned);
        assert_eq!(
            lines(&BTreeSet::from(names)),
            "TAPED(fread, fread, 4, {WRITTEN, 1, 2}, {WORD, 0, 0}, {WORD, 0, 0}, {WORD, 0, 0})\n\
             TAPED(getc, fgetc, 1, {WORD, 0, 0})\n\
             TAPED(tmpfile, tmpfile, 0, {IGNORED, 0, 0})\n"
        );
    }
}
