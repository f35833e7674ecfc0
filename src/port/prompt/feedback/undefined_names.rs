//! Linker errors of a candidate: undefined names, at the lines that use them.

use super::{Candidate, UNDEFINED};
use crate::fuzz::build::fuzz_binary::Diagnostic;
use std::collections::BTreeMap;

/// The errors of a build as errors of the candidate, if all come from a linker and the candidate uses an undefined
/// name. `path` is the function as linkers show it, `module::name`.
pub fn undefined(candidate: &Candidate, path: &str, errors: &[Diagnostic]) -> Option<Vec<Diagnostic>> {
    if errors.iter().any(|error| !error.message.starts_with("linking with")) {
        return None;
    }
    let missing: BTreeMap<String, String> =
        errors.iter().flat_map(|error| missing(&error.rendered)).collect();
    let own = missing.into_iter().filter_map(|(name, wanted_by)| {
        let at = candidate.text.lines().position(|line| words(line).any(|word| word == name));
        // A use inlined elsewhere is recognised by the text alone; a name that the linker shows differently, by its
        // line alone.
        let is_own = at.is_some() || wanted_by.contains(path);
        is_own.then(|| Diagnostic {
            code: None,
            message: format!("{} `{name}`: nothing that is linked defines it", UNDEFINED[0]),
            file: candidate.file.to_owned(),
            line: candidate.first_line + at.unwrap_or(0),
            rendered: String::new(),
        })
    });
    let own: Vec<Diagnostic> = own.collect();
    (!own.is_empty()).then_some(own)
}

/// Each undefined name, with the functions that use it.
fn missing(rendered: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::new();
    // GNU's linkers name the function before the message, LLVM's after it.
    let (mut function, mut is_behind) = ("", false);
    for line in rendered.lines() {
        let Some(rest) = UNDEFINED.iter().find_map(|words| line.split_once(words)).map(|(_, rest)| rest)
        else {
            if line.contains(": in function ") {
                function = line;
            }
            if let Some((_, wanted_by)) = all.last_mut().filter(|_| is_behind && line.contains(">>>")) {
                wanted_by.push_str(line);
            }
            continue;
        };
        is_behind = rest.starts_with(':');
        let name = rest.trim_start_matches(" symbol").trim_matches([' ', ':', '`', '\'', '"']);
        let name = name.split(['@', '\'', '`', ' ']).next().unwrap_or_default();
        all.push((name.to_owned(), if is_behind { String::new() } else { function.to_owned() }));
    }
    all
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| c != '_' && !c.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// rustc's report of GNU's linker, shortened.
    const GNU: &str = "error: linking with `cc` failed: exit status: 1\n  |\n  = note: /usr/bin/ld.bfd: a.a.4c2-cgu.0.rcgu.o: in function `a::sum::twice':\n          \
        a.4c2-cgu.0:(.text._ZN1a3sum5twice17h37E+0x3): undefined reference to `frobnicate'\n          collect2: error: ld returned 1 exit status\n";
    /// rustc's report of LLVM's linker.
    const LLVM: &str = "error: linking with `cc` failed: exit status: 1\n  |\n  = note: rust-lld: error: undefined symbol: frobnicate\n          \
        >>> referenced by a.4c2-cgu.0\n          >>>               a.a.4c2-cgu.0.rcgu.o:(a::sum::twice::h373419ac96a6c936)\n          collect2: error: ld returned 1 exit status\n";

    fn linker(rendered: &str) -> Diagnostic {
        Diagnostic {
            code: None,
            message: "linking with `cc` failed: exit status: 1".into(),
            file: "fuzz/".into(),
            line: 0,
            rendered: rendered.into(),
        }
    }

    fn found(text: &str, path: &str, errors: &[Diagnostic]) -> Option<Vec<(String, usize)>> {
        let candidate = Candidate { file: "src/sum.rs", first_line: 10, text };
        let all = undefined(&candidate, path, errors)?;
        Some(all.into_iter().map(|error| (error.message, error.line)).collect())
    }

    #[test]
    fn a_name_that_nothing_defines_is_told_at_its_line() {
        let text = "fn twice(x: i32) -> i32 {\n    unsafe { libc::frobnicate(x) }\n}\n";
        let told = "undefined reference to `frobnicate`: nothing that is linked defines it".to_owned();
        for words in [GNU, LLVM] {
            assert_eq!(found(text, "other::function", &[linker(words)]), Some(vec![(told.clone(), 11)]));
            assert_eq!(
                found("fn twice() {}", "sum::twice", &[linker(words)]),
                Some(vec![(told.clone(), 10)])
            );
        }
        let feedback = super::super::compiler(
            &Candidate { file: "src/sum.rs", first_line: 10, text },
            &undefined(&Candidate { file: "src/sum.rs", first_line: 10, text }, "", &[linker(LLVM)]).unwrap(),
        );
        for part in [
            "src/sum.rs:11 (undefined reference)",
            "`frobnicate`",
            "> 11 |     unsafe",
            "The linker knows no such symbol",
        ] {
            assert!(feedback.text.contains(part), "no {part:?} in {}", feedback.text);
        }
    }

    #[test]
    fn what_others_ask_for_is_not_the_candidates() {
        let text = "fn twice(x: i32) -> i32 { refrobnicate(x) }";
        assert_eq!(found(text, "sum::thrice", &[linker(GNU)]), None);
        assert_eq!(
            found(text, "sum::thrice", &[linker("error: linking with `cc` failed: no space left")]),
            None
        );
        let mut other = linker(GNU);
        other.message = "mismatched types".into();
        assert_eq!(found("fn twice() { frobnicate() }", "sum::twice", &[linker(GNU), other]), None);
    }
}
