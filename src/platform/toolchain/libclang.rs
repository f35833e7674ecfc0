//! Finds the newest libclang shared library in the places that `clang-sys` searches.

use super::search::{Search, file_name, list};
use super::{Tool, numbers};
use std::path::{Path, PathBuf};

/// The library that `LIBCLANG_PATH` names, or else the newest one on the machine. `libdir` is the directory that
/// `llvm-config` prints.
pub(super) fn find(search: &Search, libdir: Option<PathBuf>) -> Option<Tool> {
    if let Some(given) = &search.libclang_path {
        let found = if given.is_file() { Some(library(given)) } else { newest(std::slice::from_ref(given)) };
        if found.is_some() {
            return found;
        }
    }
    newest(&libdir.into_iter().chain(dirs(search)).collect::<Vec<_>>())
}

/// Every library that [`find`] may choose without `llvm-config`.
pub(super) fn candidates(search: &Search) -> Vec<PathBuf> {
    let given = search.libclang_path.iter().flat_map(|path| match path.is_file() {
        true => vec![path.clone()],
        false => list(path),
    });
    let all = given.chain(dirs(search).into_iter().flat_map(|dir| list(&dir)));
    all.filter(|path| file_name(path).is_some_and(is_libclang)).collect()
}

fn dirs(search: &Search) -> Vec<PathBuf> {
    let mut dirs = search.library_path.clone();
    dirs.extend(search.llvm_dirs("lib"));
    dirs.extend(search.llvm_dirs("lib64"));
    for lib in ["usr/lib", "usr/lib64", "usr/local/lib", "usr/local/lib64", "lib", "lib64"] {
        let lib = search.root.join(lib);
        // One level down: directories such as `x86_64-linux-gnu`.
        dirs.extend(
            list(&lib).into_iter().filter(|path| file_name(path).is_some_and(|n| n.contains("linux"))),
        );
        dirs.push(lib);
    }
    dirs.extend(configured(search));
    dirs
}

/// The directories that the dynamic linker is configured with.
fn configured(search: &Search) -> Vec<PathBuf> {
    let files = list(&search.root.join("etc/ld.so.conf.d"));
    let texts = files.iter().filter_map(|path| std::fs::read_to_string(path).ok());
    let dirs = texts.flat_map(|text| {
        let lines = text.lines().map(str::trim).filter(|line| line.starts_with('/'));
        lines.map(|line| search.root.join(line.trim_start_matches('/'))).collect::<Vec<_>>()
    });
    dirs.collect()
}

/// The newest library in these directories, the first of equals.
fn newest(dirs: &[PathBuf]) -> Option<Tool> {
    let mut best: Option<Tool> = None;
    for path in dirs.iter().flat_map(|dir| list(dir)) {
        // Skip dangling links.
        if !file_name(&path).is_some_and(is_libclang) || !path.is_file() {
            continue;
        }
        let found = library(&path);
        if best.as_ref().is_none_or(|best| numbers(&found.version) > numbers(&best.version)) {
            best = Some(found);
        }
    }
    best
}

/// True for `libclang.so`, `libclang.so.19.1` and `libclang-19.so.1`; false for `libclang-cpp.so` and `libclang_rt.…`.
fn is_libclang(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("libclang") else { return false };
    let Some((number, _)) = rest.split_once(".so") else { return false };
    let number = number.strip_prefix('-').unwrap_or(number);
    number.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

fn library(path: &Path) -> Tool {
    // `libclang.so` has no version: take it from the link's target or from the directory of that LLVM.
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let named = [path, &real].into_iter().find_map(|path| version_in_name(file_name(path)?));
    let version = named.or_else(|| {
        let parts = real.components().rev().filter_map(|part| part.as_os_str().to_str());
        parts.filter_map(|part| part.strip_prefix("llvm")).find_map(|rest| {
            let digits: String =
                rest.trim_start_matches('-').chars().take_while(|&c| c.is_ascii_digit()).collect();
            (!digits.is_empty()).then_some(digits)
        })
    });
    Tool { path: path.to_owned(), version: version.unwrap_or_default() }
}

fn version_in_name(name: &str) -> Option<String> {
    let (stem, so) = name.split_once(".so")?;
    // In `libclang-19.so.1` the 1 after `.so` is the interface number; the version is in the stem.
    let in_stem = stem.strip_prefix("libclang-").filter(|v| !v.is_empty());
    // The 1 in `libclang.so.1` is an interface number too: LLVM had no such library before version 3.
    let behind = so.strip_prefix('.').filter(|v| v.split('.').next().is_some_and(|n| n != "1"));
    in_stem.or(behind).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_library_and_of_others() {
        for yes in
            ["libclang.so", "libclang.so.19.1", "libclang-19.so", "libclang-19.so.1", "libclang-14.0.6.so"]
        {
            assert!(is_libclang(yes), "{yes}");
        }
        for no in
            ["libclang-cpp.so.14", "libclang_rt.asan-x86_64.so", "libclang.a", "clang.so", "libclangAST.so"]
        {
            assert!(!is_libclang(no), "{no}");
        }
    }

    #[test]
    fn versions_in_names() {
        let version = |name| version_in_name(name).unwrap_or_default();
        assert_eq!(version("libclang-19.so.1"), "19");
        assert_eq!(version("libclang-14.0.6.so"), "14.0.6");
        assert_eq!(version("libclang.so.19.1"), "19.1");
        assert_eq!(version("libclang.so.1"), "");
        assert_eq!(version("libclang.so"), "");
    }
}
