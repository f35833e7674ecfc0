//! What a verdict in place is about, beside C and the port: the drivers, and how they are built.

use super::crate_files::ABSENT;
use super::header_folders::{LibraryFlags, folders_of, values};
use crate::c::text::chunks;
use crate::config::{Config, Drivers};
use crate::digest::of_parts;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// The hash of drivers, of the files of the repository that they include by name, and of what they are linked with; empty
/// where there are none. `library` is what the build takes from its units. The drivers' inputs are left out: each judgement may
/// find more. Those on which a port differed are in `Crate::seeds`.
pub fn drivers_hash(root: &Path, config: &Config, library: &LibraryFlags, files: &[String]) -> String {
    if files.is_empty() {
        return String::new();
    }
    let settings = &config.drivers;
    let texts = driver_texts(root, config, &library.folders, files);
    let linked = linked_files(root, settings).filter_map(|path| std::fs::read(root.join(path)).ok());
    let texts = texts.into_iter().flat_map(|(path, text)| {
        let name = path.strip_prefix(root).unwrap_or(&path).as_os_str().as_encoded_bytes().to_vec();
        [name, meaning(&path, text)]
    });
    // Only where it is asked for: verdicts of before stay as they are.
    let fails = config.fuzz.fail_allocations.then(|| b"fail-allocations".to_vec());
    let defines = (!library.defines.is_empty()).then(|| of_parts(&library.defines).into_bytes());
    let words = |words: &[String]| of_parts(words).into_bytes();
    let settings = [words(&settings.flags), words(&settings.link)];
    of_parts(texts.chain(linked).chain(settings).chain(defines).chain(fails))
}

/// The words of the settings that are files: objects, archives, and lists of flags.
pub fn linked_files(root: &Path, settings: &Drivers) -> impl Iterator<Item = String> {
    let words =
        settings.link.iter().chain(&settings.flags).map(|word| word.strip_prefix('@').unwrap_or(word));
    words.filter(|word| root.join(word).is_file()).map(str::to_owned)
}

/// What of a text decides what a driver does: its tokens, where it is C of which only these matter. A test may include
/// the library's C text itself, and a comment in that changes no verdict.
fn meaning(path: &Path, text: Vec<u8>) -> Vec<u8> {
    let is_c = matches!(path.extension().and_then(|name| name.to_str()), Some("c" | "h"));
    // The tokens of a raw string are not known.
    if !is_c || text.windows(2).any(|pair| pair == b"R\"") {
        return text;
    }
    let chunks = chunks(&text);
    if chunks.iter().any(|chunk| chunk.needs_text) {
        return text;
    }
    let pieces = chunks.iter().flat_map(|chunk| chunk.bytes.iter().map(|piece| (piece.start, &chunk.name)));
    // The order of the items, too: a macro may change between them.
    let mut order: Vec<(usize, &String)> = pieces.collect();
    order.sort_unstable();
    let order = order.into_iter().map(|(_, name)| name);
    of_parts(order.chain(chunks.iter().map(|chunk| &chunk.hash))).into_bytes()
}

/// The texts of drivers, and of all files of the repository that they include by name, as far as these are found.
/// `folders` are those of the library's `LibraryFlags`.
pub fn driver_texts(
    root: &Path,
    config: &Config,
    folders: &[String],
    files: &[String],
) -> BTreeMap<PathBuf, Vec<u8>> {
    let flags = &config.drivers.flags;
    let folders = folders_of(flags).into_iter().chain([".".to_owned()]).chain(folders.iter().cloned());
    let below = |path: &str| inside(root, &root.join(path));
    let folders: Vec<PathBuf> = folders.filter_map(|folder| below(&folder)).collect();
    let mut texts = BTreeMap::new();
    let by_flags = values(flags, &["-include", "-imacros"]).filter_map(below).filter(|path| path.is_file());
    let mut open: Vec<PathBuf> = files.iter().map(|file| root.join(file)).chain(by_flags).collect();
    while let Some(path) = open.pop() {
        if texts.contains_key(&path) {
            continue;
        }
        let text = std::fs::read(&path).unwrap_or_else(|_| ABSENT.into());
        open.extend(included(root, &path, &text, &folders));
        texts.insert(path, text);
    }
    texts
}

/// A path in the repository without `.` and `x/..`, so that it does not depend on how it was found. None for others: what
/// lies there is another thing on another machine.
fn inside(root: &Path, path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.strip_prefix(root).ok()?.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => plain.push(name),
            Component::ParentDir if plain.pop() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!plain.starts_with(".implfuzz")).then(|| root.join(plain))
}

/// The files that a text includes: all that its lines may mean, since the order of folders depends on flags.
fn included(root: &Path, path: &Path, text: &[u8], folders: &[PathBuf]) -> Vec<PathBuf> {
    let text = String::from_utf8_lossy(text);
    let names = text.lines().filter_map(|line| {
        let line = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
        let name = line.trim_start();
        let is_quoted = name.starts_with('"');
        let name = name.strip_prefix(['"', '<'])?.split(['"', '>']).next()?;
        Some((name.to_owned(), is_quoted))
    });
    let beside = path.parent().map(Path::to_owned);
    let find = |(name, is_quoted): (String, bool)| {
        let beside = beside.iter().filter(|_| is_quoted);
        let all = beside.chain(folders).filter_map(|dir| inside(root, &dir.join(&name)));
        all.filter(|path| path.is_file()).collect::<Vec<_>>()
    };
    names.flat_map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_driver_includes_and_is_linked_with_is_part_of_it() {
        let dir = tempfile::tempdir().expect("a directory");
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        };
        write("fuzz/a.c", "#include <stdint.h>\n# include \"common.h\"\n#include <far.h>\n");
        write("fuzz/common.h", "#include \"common.h\"\n");
        write("inc/far.h", "");
        write("other.h", "");
        write("fuzz/before.h", "");
        write("helper.o", "object");
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let mut config = Config::default();
        config.drivers.flags = words(&["-Iinc", "-include", "fuzz/before.h"]);
        config.drivers.link = words(&["helper.o", "-lm"]);
        let library = LibraryFlags::default();
        let hash_of = |config: &Config| drivers_hash(dir.path(), config, &library, &words(&["fuzz/a.c"]));
        let hash = || hash_of(&config);
        let before = hash();
        let edits = [("fuzz/common.h", "x"), ("inc/far.h", "x"), ("fuzz/before.h", "x"), ("helper.o", "y")];
        for (file, text) in edits.into_iter().chain([("fuzz/a.c", "")]) {
            let kept = std::fs::read_to_string(dir.path().join(file)).expect("there");
            write(file, text);
            assert_ne!(hash(), before, "{file}");
            write(file, &kept);
        }
        write("other.h", "x");
        assert_eq!(hash(), before);
        write("inc/far.h", "/* nothing */\n");
        assert_eq!(hash(), before);
        // A word in a raw string, and what knows its line.
        for (text, same) in
            [("char *s = R\"(//a)\";", false), ("int line = __LINE__;", false), ("int s;", true)]
        {
            write("inc/far.h", text);
            let before = hash();
            write("inc/far.h", &format!("// x\n{text}"));
            assert_eq!(hash() == before, same, "{text}");
        }
        write("inc/far.h", "#define A 1\nint f(void) { return A; }\n#undef A\n#define A 2\n");
        let before = hash();
        write("inc/far.h", "#define A 1\n#undef A\n#define A 2\nint f(void) { return A; }\n");
        assert_ne!(hash(), before);
        write("inc/far.h", "");
        let mut by_file = config.clone();
        by_file.drivers.flags = words(&["@flags"]);
        write("flags", "-DA");
        let before = hash_of(&by_file);
        write("flags", "-DB");
        assert_ne!(hash_of(&by_file), before);
        let mut other = config.clone();
        other.fuzz.fail_allocations = true;
        assert_ne!(hash_of(&other), before);
        let mut moved = config.clone();
        moved.drivers.flags = words(&["-Iinc", "-include", "fuzz/before.h", "helper.o"]);
        moved.drivers.link = words(&["-lm"]);
        assert_ne!(hash_of(&moved), before);
        let defines = LibraryFlags { defines: ["-DMODE=2".to_owned()].into(), ..LibraryFlags::default() };
        assert_ne!(drivers_hash(dir.path(), &config, &defines, &words(&["fuzz/a.c"])), hash_of(&config));
        assert_eq!(drivers_hash(dir.path(), &config, &library, &[]), "");
    }

    #[test]
    fn headers_are_found_where_the_build_looks_for_them() {
        let dir = tempfile::tempdir().expect("a directory");
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        };
        let names = ["two/a.h", "quoted/b.h", "system/c.h", "of_unit/d.h", "src/e.h", "macros/f.h"];
        names.iter().for_each(|name| write(name, ""));
        write(
            "fuzz/a.c",
            "#include \"a.h\"\n#include \"b.h\"\n#include <c.h>\n#include <d.h>\n#include \"e.h\"\n",
        );
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let mut config = Config::default();
        let flags =
            ["-I", "two", "-iquote./quoted", "-isystem", "system", "-imacros", "macros/f.h", "-I/usr"];
        config.drivers.flags = words(&flags);
        let of_unit = words(&["-Ifuzz/../of_unit", "-DX"]);
        let library = LibraryFlags::of([("src/lib.c", &of_unit[..])].into_iter());
        assert_eq!(library.folders, ["fuzz/../of_unit", "src"]);
        assert_eq!(library.defines, ["-DX".to_owned()].into());
        let hash = || drivers_hash(dir.path(), &config, &library, &words(&["fuzz/a.c"]));
        let before = hash();
        for name in names {
            write(name, "int x;");
            assert_ne!(hash(), before, "{name}");
            write(name, "");
        }
        assert_eq!(hash(), before);
    }
}
