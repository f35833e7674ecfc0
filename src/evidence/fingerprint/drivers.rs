//! What a verdict in place is about, beside C and the port: the drivers, and how they are built.

use super::crate_files::ABSENT;
use crate::c::text::chunks;
use crate::config::Config;
use crate::digest::of_parts;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The hash of drivers, of the files that they include by name, and of what they are linked with; empty where there are
/// none. Their inputs are left out: each judgement may find more.
pub fn drivers_hash(root: &Path, config: &Config, files: &[String]) -> String {
    if files.is_empty() {
        return String::new();
    }
    let settings = &config.drivers;
    let texts = driver_texts(root, config, files);
    let words =
        settings.link.iter().chain(&settings.flags).map(|word| word.strip_prefix('@').unwrap_or(word));
    let linked = words.map(|word| root.join(word)).filter(|path| path.is_file());
    let linked = linked.filter_map(|path| std::fs::read(path).ok());
    let texts = texts.into_iter().flat_map(|(path, text)| {
        let name = path.strip_prefix(root).unwrap_or(&path).as_os_str().as_encoded_bytes().to_vec();
        [name, meaning(&path, text)]
    });
    // Only where it is asked for: verdicts of before stay as they are.
    let fails = config.fuzz.fail_allocations.then(|| b"fail-allocations".to_vec());
    let words = |words: &[String]| of_parts(words).into_bytes();
    of_parts(texts.chain(linked).chain([words(&settings.flags), words(&settings.link)]).chain(fails))
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

/// The texts of drivers, and of all files that they include by name, as far as these are found.
pub fn driver_texts(root: &Path, config: &Config, files: &[String]) -> BTreeMap<PathBuf, Vec<u8>> {
    let settings = &config.drivers;
    let folders = settings.flags.iter().filter_map(|flag| flag.strip_prefix("-I")).map(|dir| root.join(dir));
    let folders: Vec<PathBuf> = folders.chain([root.to_owned()]).collect();
    let mut texts = BTreeMap::new();
    // What a flag includes is a word of its own, or stands in the same one.
    let flags = &settings.flags;
    let behind = flags.windows(2).filter(|pair| pair[0] == "-include").map(|pair| pair[1].as_str());
    let same = flags.iter().filter_map(|flag| flag.strip_prefix("-include"));
    let by_flags = behind.chain(same).map(|file| root.join(file)).filter(|path| path.is_file());
    let mut open: Vec<PathBuf> = files.iter().map(|file| root.join(file)).chain(by_flags).collect();
    while let Some(path) = open.pop() {
        if texts.contains_key(&path) {
            continue;
        }
        let text = std::fs::read(&path).unwrap_or_else(|_| ABSENT.into());
        open.extend(included(&path, &text, &folders));
        texts.insert(path, text);
    }
    texts
}

/// The files that a text includes, where they are found.
fn included(path: &Path, text: &[u8], folders: &[PathBuf]) -> Vec<PathBuf> {
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
        beside.chain(folders).map(|dir| dir.join(&name)).find(|path| path.is_file())
    };
    names.filter_map(find).collect()
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
        let hash = || drivers_hash(dir.path(), &config, &words(&["fuzz/a.c"]));
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
        let before = drivers_hash(dir.path(), &by_file, &words(&["fuzz/a.c"]));
        write("flags", "-DB");
        assert_ne!(drivers_hash(dir.path(), &by_file, &words(&["fuzz/a.c"])), before);
        let mut other = config.clone();
        other.fuzz.fail_allocations = true;
        assert_ne!(drivers_hash(dir.path(), &other, &words(&["fuzz/a.c"])), before);
        let mut moved = config.clone();
        moved.drivers.flags = words(&["-Iinc", "-include", "fuzz/before.h", "helper.o"]);
        moved.drivers.link = words(&["-lm"]);
        assert_ne!(drivers_hash(dir.path(), &moved, &words(&["fuzz/a.c"])), before);
        assert_eq!(drivers_hash(dir.path(), &config, &[]), "");
    }
}
