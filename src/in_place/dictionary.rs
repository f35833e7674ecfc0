//! A dictionary for libFuzzer: the words that the library compares its input with. They are in its C text.

use crate::c::text::literals;
use crate::error::Result;
use crate::libc_facts::reads_floats;
use crate::platform::workspace::write_atomic;
use crate::symbol::Library;
use camino::Utf8Path;
use fs_err as fs;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// The longest word, and how many are used, the shortest first: longer ones are messages in most cases.
const LONGEST: usize = 32;
const MOST: usize = 2000;

/// What functions of libc that read floats understand, and C's text does not name.
const FLOATS: [&str; 7] = ["inf", "infinity", "nan", "0x1p3", "1e400", "1e-400", "e+"];

/// Writes the dictionary of a library to `file`; with no words there is none, for libFuzzer refuses an empty one.
///
/// # Errors
/// `Io`.
pub(super) fn write(library: &Library, root: &Utf8Path, file: &Path) -> Result<bool> {
    let text = of(library, root)?;
    write_atomic(file, text.as_deref().unwrap_or_default().as_bytes())?;
    Ok(text.is_some())
}

/// The text of the dictionary of a library, if there are words.
///
/// # Errors
/// `Io`.
pub fn of(library: &Library, root: &Utf8Path) -> Result<Option<String>> {
    let mut words = BTreeSet::new();
    for unit in &library.units {
        words.extend(literals(&fs::read(root.join(&unit.file.0))?));
    }
    let mut called = library.functions.iter().flat_map(|function| &function.externs);
    if called.any(|name| reads_floats(name)) {
        words.extend(FLOATS.map(|word| word.as_bytes().to_vec()));
    }
    let mut words: Vec<Vec<u8>> = words.into_iter().filter(|word| word.len() <= LONGEST).collect();
    words.sort_by_key(Vec::len);
    words.truncate(MOST);
    Ok((!words.is_empty()).then(|| text(&words)))
}

/// A line for each word, in quotes; libFuzzer knows `\xAB`.
fn text(words: &[Vec<u8>]) -> String {
    let mut text = String::new();
    for word in words {
        text.push('"');
        for byte in word {
            match byte {
                b'"' | b'\\' => drop(write!(text, "\\{}", char::from(*byte))),
                b' '..=b'~' => text.push(char::from(*byte)),
                _ => drop(write!(text, "\\x{byte:02X}")),
            }
        }
        text.push_str("\"\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbol::{Function, fixture};

    #[test]
    fn words_are_written_as_libfuzzer_reads_them() {
        let words = [b"a\"\\".to_vec(), b"\n\xff".to_vec()];
        assert_eq!(text(&words), "\"a\\\"\\\\\"\n\"\\x0A\\xFF\"\n");
    }

    #[test]
    fn a_library_that_reads_floats_gets_their_words() {
        let of = |called: &str| {
            let function = Function { externs: vec![called.to_owned()], ..fixture::function("f") };
            super::of(&Library { functions: vec![function], ..Library::default() }, Utf8Path::new("."))
                .unwrap()
        };
        assert!(of("strtod").unwrap().contains("\"inf\"\n"));
        assert_eq!(of("strtol"), None);
    }
}
