//! Lists the files of a C project: walks the tree, skips excluded folders, and reads `#include` lines.
//! `source_discovery` finds the flags.

use super::glob;
use crate::error::Result;
use crate::platform::workspace::CONFIG_FILE;
use crate::symbol::{LeftOut, RelPath};
use camino::{Utf8Path, Utf8PathBuf};
use walkdir::{DirEntry, WalkDir};

/// Folders whose C files are not part of the library unless the settings name them.
const LEFT_OUT_FOLDERS: &[&str] = &[
    "test", "tests", "testing", "example", "examples", "sample", "samples", "demo", "demos", "bench",
    "benches", "benchmark", "benchmarks", "fuzz", "fuzzing", "fuzzer", "fuzzers", "contrib", "doc", "docs",
    "programs", "scripts",
];

/// Folders that never contain the library's sources, because this tool or a build writes them. They are not
/// listed at all.
pub(super) const SKIPPED_FOLDERS: &[&str] = &["rust", "target", "node_modules", "CMakeFiles"];

/// The result of a walk, in path order.
#[derive(Debug, Default)]
pub(super) struct Tree {
    pub sources: Vec<RelPath>,
    pub headers: Vec<RelPath>,
    pub left_out: Vec<LeftOut>,
    /// All other files; a build system may read any of them.
    pub others: Vec<RelPath>,
}

/// Walks the project. `exclude` contains paths, folders, and patterns with `*`.
pub(super) fn walk(root: &Utf8Path, exclude: &[String]) -> Result<Tree> {
    let mut tree = Tree::default();
    for path in files(root, |folder| folder.starts_with('.'))? {
        tree.add(path, exclude);
    }
    Ok(tree)
}

/// Every file below `root` in path order, without the folders that never contain sources and those that
/// `skip` selects.
pub(super) fn files(root: &Utf8Path, skip: impl Fn(&str) -> bool) -> Result<Vec<Utf8PathBuf>> {
    // A name that is not UTF-8 cannot be written into implfuzz.toml. In practice compilers read no such file.
    let is_read = |entry: &DirEntry| match entry.file_name().to_str() {
        Some(name) => !entry.file_type().is_dir() || !skip(name) && !SKIPPED_FOLDERS.contains(&name),
        None => false,
    };
    let mut files = Vec::new();
    for entry in WalkDir::new(root).min_depth(1).into_iter().filter_entry(is_read) {
        let entry = entry.map_err(std::io::Error::from)?;
        let path = entry.path().strip_prefix(root).ok().and_then(Utf8Path::from_path);
        // A link to a folder is not followed.
        files.extend(path.filter(|_| entry.path().is_file()).map(Utf8Path::to_owned));
    }
    files.sort();
    Ok(files)
}

impl Tree {
    /// The names of all files. A new file may change how an include or a pattern resolves.
    pub fn names(&self) -> String {
        let left_out = self.left_out.iter().map(|left| &left.file);
        let all = self.sources.iter().chain(&self.headers).chain(&self.others).chain(left_out);
        all.map(|file| format!("{file}\n")).collect()
    }

    fn add(&mut self, path: Utf8PathBuf, exclude: &[String]) {
        let is_header = match path.extension() {
            Some("c") => false,
            Some("h" | "inc" | "inl" | "def") => true,
            _ if path.file_name() == Some(CONFIG_FILE) => return,
            _ => return self.others.push(RelPath(path)),
        };
        match why_left_out(&path, exclude) {
            Some(reason) if !is_header => self.left_out.push(LeftOut::because(&RelPath(path), reason)),
            Some(_) => {}
            None if is_header => self.headers.push(RelPath(path)),
            None => self.sources.push(RelPath(path)),
        }
    }
}

/// The reason why a file is left out by default.
pub(super) fn why_left_out(path: &Utf8Path, exclude: &[String]) -> Option<String> {
    if let Some(pattern) = exclude.iter().find(|pattern| excludes(pattern, path)) {
        return Some(format!("excluded by `{pattern}`"));
    }
    let folder = path
        .parent()?
        .components()
        .map(|c| c.as_str())
        .find(|c| LEFT_OUT_FOLDERS.contains(&c.to_ascii_lowercase().as_str()))?;
    let drivers = match folder.to_ascii_lowercase().starts_with("fuzz") {
        true => "; `cargo implfuzz drivers` runs the drivers there",
        false => "",
    };
    Some(format!("in a folder called `{folder}`{drivers}"))
}

fn excludes(pattern: &str, path: &Utf8Path) -> bool {
    if pattern.contains('*') {
        return glob::matches(pattern, path.as_str());
    }
    path.starts_with(pattern.trim_end_matches('/'))
}

/// An `#include` line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Include {
    pub path: String,
    /// `<…>` instead of `"…"`
    pub is_system: bool,
}

/// The `#include` lines of a file, in all branches of the preprocessor.
pub(super) fn includes(text: &str) -> Vec<Include> {
    text.lines().filter_map(include).collect()
}

fn include(line: &str) -> Option<Include> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
    let (close, is_system) = match rest.chars().next()? {
        '"' => ('"', false),
        '<' => ('>', true),
        _ => return None,
    };
    let path = &rest[1..];
    let path = &path[..path.find(close)?];
    (!path.is_empty()).then(|| Include { path: path.to_owned(), is_system })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_and_patterns() {
        assert!(why_left_out(Utf8Path::new("tests/a.c"), &[]).unwrap().contains("tests"));
        assert!(why_left_out(Utf8Path::new("src/Examples/x/a.c"), &[]).is_some());
        // A file with such a name is a normal source.
        assert_eq!(why_left_out(Utf8Path::new("src/test.c"), &[]), None);
        let exclude = ["src/old/".to_owned(), "*_gen.c".to_owned()];
        assert!(why_left_out(Utf8Path::new("src/old/a.c"), &exclude).unwrap().contains("src/old/"));
        assert!(why_left_out(Utf8Path::new("src/x_gen.c"), &exclude).is_some());
        assert_eq!(why_left_out(Utf8Path::new("src/older/a.c"), &exclude), None);
    }

    #[test]
    fn include_lines() {
        let text =
            "#include \"a/b.h\"\n  #  include <c.h> /* x */\n#include MACRO\n// #includes\n#include \"open\n";
        let found = includes(text);
        assert_eq!(
            found,
            [
                Include { path: "a/b.h".into(), is_system: false },
                Include { path: "c.h".into(), is_system: true }
            ]
        );
    }
}
