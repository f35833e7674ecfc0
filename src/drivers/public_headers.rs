//! The headers of a library that programs include.

use crate::error::Result;
use crate::in_place::driver::files;
use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;
use std::collections::BTreeSet;

/// How many headers are tried.
const MOST_HEADERS: usize = 4;
/// A header that includes another one is private, unless the other declares less than this part of its functions.
pub(super) const PUBLIC_PART: usize = 4;

/// The headers that programs include, as far as one can see: those in folders `include`, or those that C++ can include,
/// or else any of those that name most of these functions. `sources` are the library's C files.
///
/// # Errors
/// `Io` where a file cannot be read.
pub fn public_headers(
    root: &Utf8Path,
    sources: &[&Utf8Path],
    functions: &[&str],
) -> Result<Vec<Vec<String>>> {
    let mut all: Vec<Header> = Vec::new();
    for path in files(root)?.into_iter().filter(|path| path.extension() == Some("h")) {
        let text = fs::read(root.join(&path))?;
        let text = String::from_utf8_lossy(&text);
        let words: BTreeSet<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let count = functions.iter().filter(|name| words.contains(**name)).count();
        // Tests and programs have headers of their own.
        let is_above = |source: &&Utf8Path| path.parent().is_some_and(|folder| source.starts_with(folder));
        let is_for_cpp = words.contains("__cplusplus") && sources.iter().any(is_above);
        let is_included = path.components().any(|part| part.as_str() == "include");
        // The build may leave out a C file with its header, which mentions functions of others.
        let own = path.with_extension("c");
        let is_left_out = root.join(&own).is_file() && !sources.contains(&own.as_path());
        all.extend((count > 0).then_some(Header { path, count, is_included, is_for_cpp, is_left_out }));
    }
    all.sort_by_key(|header| std::cmp::Reverse(header.count));
    let kept = all.iter().find(|header| !header.is_left_out).map_or(0, |header| header.count);
    all.retain(|header| !header.is_left_out || header.count >= kept);
    let those = |is_public: fn(&Header) -> bool| -> Vec<String> {
        all.iter().filter(|header| is_public(header)).map(|header| header.path.to_string()).collect()
    };
    let included = those(|header| header.is_included);
    if !included.is_empty() {
        return Ok(vec![included]);
    }
    // Private headers are rarely written for C++; nor are some public ones.
    let most =
        |headers: &mut dyn Iterator<Item = &Header>| headers.map(|header| header.count).max().unwrap_or(0);
    let guarded = most(&mut all.iter().filter(|header| header.is_for_cpp));
    if guarded > 0 && guarded * PUBLIC_PART >= most(&mut all.iter()) {
        return Ok(vec![those(|header| header.is_for_cpp)]);
    }
    Ok(all.into_iter().take(MOST_HEADERS).map(|header| vec![header.path.into_string()]).collect())
}

/// A header that names functions of the library.
struct Header {
    path: Utf8PathBuf,
    /// How many of them.
    count: usize,
    is_included: bool,
    is_for_cpp: bool,
    is_left_out: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_headers_are_those_for_cpp_unless_others_declare_far_more() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap();
        let found = |files: &[(&str, &str)], sources: &[&str]| {
            for (path, text) in files {
                fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
                fs::write(root.join(path), text).unwrap();
            }
            let sources: Vec<&Utf8Path> = sources.iter().copied().map(Utf8Path::new).collect();
            let found = public_headers(root, &sources, &["one", "two", "three", "four", "five"]).unwrap();
            for (path, _) in files {
                fs::remove_file(root.join(path)).unwrap();
            }
            found
        };
        let guarded = "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint one(int);\nint two(int);\n";
        let private = "int one(int);\nint two(int);\nint three(int);\nint four(int);\n";
        let both = [("src/lib.h", guarded), ("src/private.h", private), ("test/check.h", guarded)];
        assert_eq!(found(&both, &["src/a.c"]), [["src/lib.h"]]);
        // The public header may be above the sources.
        assert_eq!(found(&[("lib.h", guarded), ("src/private.h", private)], &["src/a.c"]), [["lib.h"]]);
        // A guarded helper is not the API.
        let large = private.to_owned() + "int five(int);\n";
        let helper = "#ifdef __cplusplus\n#endif\nint one(int);\n";
        assert_eq!(found(&[("lib.h", &large), ("helper.h", helper)], &["a.c"]), [["lib.h"], ["helper.h"]]);
        let left_out = [("a.h", guarded), ("more.h", helper), ("more.c", "")];
        assert_eq!(found(&left_out, &["a.c"]), [["a.h"]]);
        assert_eq!(found(&left_out[1..], &["a.c"]), [["more.h"]]);
        assert_eq!(found(&[("include/lib.h", helper), ("lib.h", guarded)], &["a.c"]), [["include/lib.h"]]);
    }
}
