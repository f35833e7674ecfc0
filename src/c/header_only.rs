//! Libraries without a C file: all code is in a header, often behind a macro such as `X_IMPLEMENTATION` that
//! one source of a program defines. Such a header is a unit with that macro.

use super::sources;
use crate::symbol::RelPath;
use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;
use std::collections::BTreeSet;

/// Suffixes of the macros that enable a header's code.
const ENDINGS: [&str; 2] = ["_IMPLEMENTATION", "_IMPL"];

/// The headers that no other header includes, each with the flag that enables its code. Only reading them
/// shows whether they define anything.
pub(super) fn units(root: &Utf8Path, headers: &[RelPath]) -> Vec<(RelPath, Vec<String>)> {
    let read = |file: &RelPath| fs::read(root.join(&file.0)).unwrap_or_default();
    let texts = headers.iter().filter(|file| is_header(&file.0));
    let texts: Vec<(&RelPath, String)> =
        texts.map(|file| (file, String::from_utf8_lossy(&read(file)).into_owned())).collect();
    // Do not count the header itself: the manual above its code often shows an `#include` of it.
    let others = |(file, text): &(&RelPath, String)| {
        let paths = sources::includes(text).into_iter().map(|include| Utf8PathBuf::from(include.path));
        paths.filter(|path| !file.0.ends_with(path)).collect::<Vec<_>>()
    };
    let included: BTreeSet<Utf8PathBuf> = texts.iter().flat_map(others).collect();
    let is_root = |file: &RelPath| !included.iter().any(|path| file.0.ends_with(path));
    texts
        .iter()
        .filter(|(file, _)| is_root(file))
        .map(|(file, text)| ((*file).clone(), flags(text)))
        .collect()
}

/// The unit's flags in addition to the common ones: none unless it is a header.
pub(super) fn own_flags(root: &Utf8Path, file: &Utf8Path) -> Vec<String> {
    let text = if is_header(file) { fs::read(root.join(file)).unwrap_or_default() } else { Vec::new() };
    flags(&String::from_utf8_lossy(&text))
}

/// Whether the file may be a header-only library.
pub fn is_header(file: &Utf8Path) -> bool {
    file.extension() == Some("h")
}

fn flags(text: &str) -> Vec<String> {
    implementation(text).map(|name| format!("-D{name}")).into_iter().collect()
}

/// The first such macro that the text tests in `#if` or `#ifdef`.
fn implementation(text: &str) -> Option<&str> {
    let conditions = text.lines().filter_map(|line| {
        let line = line.trim_start().strip_prefix('#')?.trim_start();
        line.strip_prefix("ifdef")
            .or_else(|| line.strip_prefix("if"))
            .filter(|rest| !rest.starts_with("ndef"))
    });
    let mut words =
        conditions.flat_map(|line| line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')));
    words.find(|word| ENDINGS.iter().any(|ending| word.len() > ending.len() && word.ends_with(ending)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::front_tests::{load, loaded, project};
    use crate::symbol::Library;

    fn functions(library: &Library) -> Vec<&str> {
        library.functions.iter().map(|f| f.name.as_str()).collect()
    }

    fn units(library: &Library) -> Vec<String> {
        library.units.iter().map(|unit| format!("{} {}", unit.file, unit.flags.join(" "))).collect()
    }

    const HEADER: &str = "/* Usage:\n#define ONE_IMPLEMENTATION\n#include \"one.h\"\n*/\n#ifndef ONE_H\n#define ONE_H\nint one_add(int a, int b);\n#endif\n\
        #if defined(ONE_IMPLEMENTATION) || defined(ONE_IMPL)\n#ifndef ONE_C\n#define ONE_C\n\
        static int one_twice(int a) { return a * 2; }\nint one_add(int a, int b) { return one_twice(a) + b; }\n\
        #endif\n#endif\n";
    const PROGRAM: &str = "#define ONE_IMPLEMENTATION\n#include \"one.h\"\n#include <stdio.h>\nstatic void check(void) { puts(\"\"); }\n\
        int main(void) { check(); return one_add(1, 2); }\n";

    #[test]
    fn a_header_with_its_code_behind_a_macro_is_a_unit_whatever_programs_stand_beside_it() {
        for (program, more) in
            [("tests/test.c", ""), ("test.c", ""), ("test.c", "all:\n\tcc -o test test.c\n")]
        {
            let library = loaded(&[("one.h", HEADER), (program, PROGRAM), ("Makefile", more)]);
            assert_eq!(functions(&library), ["one_twice", "one_add"]);
            assert_eq!(units(&library), ["one.h -DONE_IMPLEMENTATION"]);
            assert!(library.left_out.iter().any(|left| left.file.0 == program), "{:?}", library.left_out);
        }
    }

    #[test]
    fn a_header_of_inline_functions_needs_no_macro_and_one_of_declarations_is_no_unit() {
        let low = "static inline unsigned low(unsigned x) { return x & 255u; }\n";
        let all =
            "#include \"part/low.h\"\nstatic inline unsigned high(unsigned x) { return low(x >> 8); }\n";
        let library = loaded(&[("all.h", all), ("part/low.h", low), ("types.h", "typedef int number;\n")]);
        assert_eq!((functions(&library), units(&library)), (vec!["low", "high"], vec!["all.h ".to_owned()]));
        let left = library.left_out.iter().find(|left| left.file.0 == "types.h").unwrap();
        assert_eq!(left.reason, "a header that defines no function");
    }

    #[test]
    fn a_header_that_the_settings_name_gets_its_macro() {
        let (_dir, root) = project(&[("one.h", HEADER), ("other.c", "int other(void) { return 1; }\n")]);
        assert_eq!(own_flags(&root, Utf8Path::new("one.h")), ["-DONE_IMPLEMENTATION"]);
        assert_eq!(own_flags(&root, Utf8Path::new("other.c")), Vec::<String>::new());
    }

    #[test]
    fn a_file_with_main_beside_other_functions_is_a_library_where_there_is_no_other() {
        let both = "int twice(int x) { return 2 * x; }\nint main(void) { return twice(21); }\n";
        let alone = loaded(&[("tool.c", both)]);
        let reasons: Vec<_> =
            alone.functions.iter().map(|f| (f.name.as_str(), f.unsupported.as_deref())).collect();
        assert_eq!(reasons, [("twice", None), ("main", Some("the entry point of a program"))]);
        let beside = loaded(&[("tool.c", both), ("a.c", "int a(void) { return 1; }\n")]);
        assert_eq!(functions(&beside), ["a"]);
        let (_dir, root) = project(&[("only.c", "int main(void) { return 0; }\n")]);
        assert!(load(&root, "gcc").unwrap_err().to_string().contains("defines main"));
    }
}
