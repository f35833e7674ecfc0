//! The texts that the repository's tests and examples give to the library: documents, names and keys that it accepts.

use crate::c::text::{Surface, strings};
use crate::error::Result;
use crate::in_place::driver::{Language, defines_entry, files};
use crate::symbol::Library;
use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// How many texts are used, and how long each may be.
const MOST: usize = 64;
const LONGEST: usize = 1000;

/// The texts as literals of C: first those that stand beside a function of the library, then those that variables get.
///
/// # Errors
/// `Io` where a file cannot be read.
pub(super) fn example_texts(root: &Utf8Path, library: &Library) -> Result<Vec<String>> {
    let functions: BTreeSet<&str> = library.functions.iter().map(|one| one.c_name.as_str()).collect();
    let is_own = |file: &Utf8PathBuf| library.units.iter().any(|unit| unit.file.0 == *file);
    let (mut given, mut kept) = (Vec::new(), Vec::new());
    for file in files(root)?.iter().filter(|file| Language::of(file).is_some() && !is_own(file)) {
        let text = fs::read(root.join(file))?;
        let lossy = String::from_utf8_lossy(&text);
        // A new driver has its texts from here.
        let names_one = || Surface::of(&text).words.iter().any(|word| functions.contains(word.as_str()));
        if defines_entry(&lossy) || !names_one() {
            continue;
        }
        for (words, found) in strings(&text) {
            let is_given = words.iter().any(|word| functions.contains(word.as_str()));
            let to = if is_given { &mut given } else { &mut kept };
            to.extend(found.into_iter().filter(|_| is_given || words.contains("=")));
        }
    }
    let mut seen = BTreeSet::new();
    let all = given.into_iter().chain(kept).filter(|text| is_example(text) && seen.insert(text.clone()));
    Ok(all.take(MOST).map(|text| literal(&text)).collect())
}

/// Whether it is no format of `printf`, and no text with a NUL in it.
fn is_example(text: &[u8]) -> bool {
    (1..=LONGEST).contains(&text.len()) && !text.contains(&0) && !text.contains(&b'%')
}

/// A literal of C. Bytes that are not printed are in octal, of which C reads three digits at most.
fn literal(text: &[u8]) -> String {
    let mut literal = String::from("\"");
    for byte in text {
        match byte {
            b'"' | b'\\' => drop(write!(literal, "\\{}", char::from(*byte))),
            // Two of them begin a trigraph.
            b'?' => literal.push_str("\\?"),
            b' '..=b'~' => literal.push(char::from(*byte)),
            _ => drop(write!(literal, "\\{byte:03o}")),
        }
    }
    literal + "\""
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbol::{RelPath, Unit, fixture};

    #[test]
    fn texts_beside_functions_of_the_library_come_first() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap();
        let test = "#include \"doc.h\"\nstatic const char *all = \"{\\\"a\\\":\" \"1}\";\nvoid t(void) {\n    puts(\"begin\");\n\
            doc_get(d, \"key?\"), doc_get(d, \"\\n\\xff\" \"1\");\n    doc_get(d, \"%d\");\n}\n";
        let driver = "int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { doc_get(d, \"driver\"); }";
        for (file, text) in [
            ("test.c", test),
            ("fuzz.c", driver),
            ("doc.c", "doc_get(d, \"own\");"),
            ("x.c", "int x = \"other\";"),
        ] {
            fs::write(root.join(file), text).unwrap();
        }
        let unit = Unit { file: RelPath("doc.c".into()), module: "doc".into(), flags: Vec::new() };
        let library = Library {
            functions: vec![fixture::function("doc_get")],
            units: vec![unit],
            ..Library::default()
        };
        let texts = example_texts(root, &library).unwrap();
        assert_eq!(texts, [r#""key\?""#, r#""\012\3771""#, r#""{\"a\":1}""#]);
    }
}
