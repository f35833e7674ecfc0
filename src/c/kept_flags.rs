//! The flags of a C compiler's command line that change the meaning of code, for `compdb` and `build_system`.
//! `shell_words` splits the line.

use super::project_paths::ProjectPaths;
use super::shell_words::split;
use crate::symbol::RelPath;
use camino::Utf8Path;

/// One source with its flags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Command {
    pub file: RelPath,
    pub flags: Vec<String>,
}

impl Command {
    /// The command of a compiler that runs in `dir` with `arguments` and compiles `source`. `None` if the
    /// source is not under the root or not in one of `LANGUAGES`.
    pub fn new(places: &ProjectPaths, dir: &Utf8Path, source: &str, arguments: &[String]) -> Option<Self> {
        let file = places.inside(&dir.join(source)).filter(|file| LANGUAGES.contains(&extension(file)))?;
        let flags = keep(&with_responses(arguments, dir), |path| places.show(&dir.join(path)));
        Some(Self { file: RelPath(file), flags })
    }
}

/// The most response files of one command, and bytes of each: a file may name itself.
const RESPONSES: usize = 64;
const RESPONSE_BYTES: u64 = 1 << 20;

/// The arguments with those that stand in response files, `@file`, in their place. As for the compiler, an `@` that names
/// no file is a word like any other.
fn with_responses(arguments: &[String], dir: &Utf8Path) -> Vec<String> {
    let read = |name: &str| {
        let file = dir.join(name);
        let is_small = file.metadata().is_ok_and(|of| of.is_file() && of.len() <= RESPONSE_BYTES);
        is_small.then(|| fs_err::read_to_string(file).ok()).flatten()
    };
    let mut open: Vec<String> = arguments.iter().rev().cloned().collect();
    let (mut all, mut left) = (Vec::new(), RESPONSES);
    while let Some(argument) = open.pop() {
        match argument.strip_prefix('@').filter(|_| left > 0).and_then(read) {
            Some(text) => {
                left -= 1;
                open.extend(split(&text).into_iter().rev());
            }
            None => all.push(argument),
        }
    }
    all
}

/// Extensions of sources: C, C++, assembly. C libraries use all three.
const LANGUAGES: &[&str] = &["c", "cc", "cpp", "cxx", "C", "s", "S"];

fn extension(path: &Utf8Path) -> &str {
    path.extension().unwrap_or_default()
}

/// Keeps one command per file, the first one, in path order.
pub(super) fn each_once(mut commands: Vec<Command>) -> Vec<Command> {
    commands.sort_by(|a, b| a.file.cmp(&b.file));
    commands.dedup_by(|a, b| a.file == b.file);
    commands
}

/// Flags whose value is a path, either joined to the flag or in the next argument.
pub(super) const PATH_FLAGS: &[&str] = &["-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-I"];

/// Prefixes of flags that change the meaning of C code.
const MEANING: &[&str] = &[
    "-std=", "-fsigned-char", "-funsigned-char", "-fno-signed-char", "-fno-unsigned-char", "-fshort-enums",
    "-fpack-struct", "-fwrapv", "-ansi", "-pthread", "-m", "-ffreestanding", "-fno-builtin", "-fshort-wchar",
    "-fgnu89-inline", "-fms-extensions",
];

/// Keeps the flags that change meaning, with the value joined to its flag; `place` maps paths.
fn keep(arguments: &[String], place: impl Fn(&str) -> String) -> Vec<String> {
    let mut kept = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if let Some(flag) = PATH_FLAGS.iter().find(|flag| argument.starts_with(**flag)) {
            let value = match &argument[flag.len()..] {
                "" => arguments.next().map_or("", String::as_str),
                value => value.trim_start_matches('='),
            };
            kept.push(format!("{flag}{}", place(value)));
        } else if let Some(flag) = ["-D", "-U"].iter().find(|flag| argument.starts_with(**flag)) {
            match &argument[flag.len()..] {
                "" => kept.extend(arguments.next().map(|value| format!("{flag}{value}"))),
                _ => kept.push(argument.clone()),
            }
        } else if argument == "-o" || argument.starts_with("-M") {
            if matches!(argument.as_str(), "-o" | "-MF" | "-MT" | "-MQ") {
                arguments.next();
            }
        } else if argument == "-mllvm" {
            // Its value is the next argument, and is about the compiler alone.
            arguments.next();
        } else if MEANING.iter().any(|flag| argument.starts_with(flag)) {
            kept.push(argument.clone());
        }
    }
    kept
}

/// The flags with each value joined to its flag: `-include`, `x.h` become `-includex.h`.
pub(super) fn joined(flags: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut waits = false;
    for flag in flags {
        match all.last_mut().filter(|_| waits) {
            Some(last) => last.push_str(flag),
            None => all.push(flag.clone()),
        }
        waits = !waits && (PATH_FLAGS.contains(&flag.as_str()) || flag == "-D" || flag == "-U");
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_joined_to_their_flags() {
        let flags = ["-include", "x.h", "-Wall", "-I", "-D", "-DX", "-D", "Y=1", "-I"].map(str::to_owned);
        assert_eq!(joined(&flags), ["-includex.h", "-Wall", "-I-D", "-DX", "-DY=1", "-I"]);
    }

    #[test]
    fn commands_lose_what_does_not_matter() {
        let words = split(
            r#"cc -O2 -ffreestanding -mllvm -inline-threshold=9 -I inc -DX='"a b"' -D Y -MD -MF x.d -c -o a.o -std=c99 -iquote sub src/a.c"#,
        );
        let kept = keep(&words[1..], |p| format!("<{p}>"));
        assert_eq!(kept, ["-ffreestanding", "-I<inc>", "-DX=\"a b\"", "-DY", "-std=c99", "-iquote<sub>"]);
    }
}
