//! `compile_commands.json`: what each source is compiled with, reduced to the flags that change what the code means.

use crate::error::{Error, ErrorKind, Result};
use crate::symbol::RelPath;
use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;
use serde::Deserialize;

/// One source with its flags.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Command {
    pub file: RelPath,
    pub flags: Vec<String>,
}

#[derive(Deserialize)]
struct Entry {
    directory: Utf8PathBuf,
    file: Utf8PathBuf,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

/// Where the file lies, relative to the root, if there is one.
pub(super) fn find(root: &Utf8Path) -> Option<Utf8PathBuf> {
    ["compile_commands.json", "build/compile_commands.json"]
        .map(Utf8PathBuf::from)
        .into_iter()
        .find(|p| root.join(p).is_file())
}

/// Reads the C sources under `root` that it names, each once, in path order.
///
/// # Errors
/// `C` when the file is not what it should be.
pub(super) fn read(root: &Utf8Path, file: &Utf8Path) -> Result<Vec<Command>> {
    let text = fs::read_to_string(root.join(file))?;
    let entries: Vec<Entry> = serde_json::from_str(&text).map_err(|error| {
        Error::new(ErrorKind::C, format!("{file} cannot be read: {error}"))
            .help(format!("generate {file} again, or name the sources under [c] in implfuzz.toml"))
    })?;
    let mut commands: Vec<Command> = entries.into_iter().filter_map(|entry| command(root, entry)).collect();
    commands.sort_by(|a, b| a.file.cmp(&b.file));
    commands.dedup_by(|a, b| a.file == b.file);
    Ok(commands)
}

fn command(root: &Utf8Path, entry: Entry) -> Option<Command> {
    let path = entry.directory.join(&entry.file);
    let path = path.canonicalize_utf8().unwrap_or(path);
    let file = path.strip_prefix(root).ok().filter(|p| p.extension() == Some("c"))?;
    let arguments = entry.arguments.or_else(|| entry.command.as_deref().map(split))?;
    let flags = keep(arguments.get(1..).unwrap_or_default(), |path| {
        let path = entry.directory.join(path);
        let path = path.canonicalize_utf8().unwrap_or(path);
        relative(root, &path)
    });
    Some(Command { file: RelPath(file.to_owned()), flags })
}

fn relative(root: &Utf8Path, path: &Utf8Path) -> String {
    match path.strip_prefix(root) {
        Ok(inside) if inside.as_str().is_empty() => ".".into(),
        Ok(inside) => inside.to_string(),
        Err(_) => path.to_string(),
    }
}

/// Flags whose value is a path; joined to it or the next argument.
pub(super) const PATH_FLAGS: &[&str] = &["-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-I"];

/// Flags that change how C is understood, by prefix.
const MEANING: &[&str] = &[
    "-std=",
    "-fsigned-char",
    "-funsigned-char",
    "-fno-signed-char",
    "-fno-unsigned-char",
    "-fshort-enums",
    "-fpack-struct",
    "-fwrapv",
    "-ansi",
    "-pthread",
    "-m",
];

/// Keeps what changes meaning, with the value joined to its flag; `place` maps paths.
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
        } else if MEANING.iter().any(|flag| argument.starts_with(flag)) {
            kept.push(argument.clone());
        }
    }
    kept
}

/// Splits a command as a shell would: blanks, single and double quotes, backslashes.
fn split(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn commands_lose_what_does_not_matter() {
        let words =
            split(r#"cc -O2 -I inc -DX='"a b"' -D Y -MD -MF x.d -c -o a.o -std=c99 -iquote sub src/a.c"#);
        let kept = keep(&words[1..], |p| format!("<{p}>"));
        assert_eq!(kept, ["-I<inc>", "-DX=\"a b\"", "-DY", "-std=c99", "-iquote<sub>"]);
    }

    #[test]
    fn reads_a_database() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap().canonicalize_utf8().unwrap();
        fs::create_dir_all(root.join("build")).unwrap();
        fs::create_dir_all(root.join("inc")).unwrap();
        fs::write(root.join("a.c"), "").unwrap();
        let json = format!(
            r#"[{{"directory":"{root}/build","file":"../a.c","command":"cc -I../inc -I.. -I/opt/x -c ../a.c"}},
                {{"directory":"{root}","file":"b.cpp","arguments":["c++","b.cpp"]}}]"#
        );
        fs::write(root.join("build/compile_commands.json"), json).unwrap();
        let commands = read(&root, &find(&root).unwrap()).unwrap();
        assert_eq!(commands.len(), 1);
        assert_eq!(commands[0].file, RelPath("a.c".into()));
        assert_eq!(commands[0].flags, ["-Iinc", "-I.", "-I/opt/x"]);
        fs::write(root.join("build/compile_commands.json"), "{").unwrap();
        assert_eq!(read(&root, &find(&root).unwrap()).unwrap_err().kind(), ErrorKind::C);
    }

    proptest! {
        #[test]
        fn splitting_undoes_quoting(words in prop::collection::vec("[a-z '\"\\\\]{0,6}", 0..6)) {
            let quoted: Vec<String> = words.iter().map(|w| format!("'{}'", w.replace('\'', "'\\''"))).collect();
            prop_assert_eq!(split(&quoted.join(" ")), words);
        }
    }
}
