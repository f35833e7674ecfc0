//! A copy of the project for build systems, and the stamp that shows whether a cached answer is still valid.

use crate::c::sources;
use crate::digest::{of_parts, sha256};
use crate::error::Result;
use crate::platform::workspace::CONFIG_FILE;
use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;
use std::io::Read;

/// Larger files are empty in the copy: a build system reads its own files, and small headers for versions; of
/// larger files only the names matter.
const LARGEST: u64 = 1 << 20;

/// The copy; dropping the value removes it.
pub(super) struct Mirror {
    pub dir: Utf8PathBuf,
}

impl Mirror {
    /// Copies the project at `root` to `dir`, without build output, so that make considers nothing built.
    pub fn make(root: &Utf8Path, dir: Utf8PathBuf) -> Result<Self> {
        let mirror = Self { dir };
        copy(root, &mirror.dir, LARGEST)?;
        Ok(mirror)
    }

    fn remove(&self) {
        // If removal fails, the next copy overwrites the files.
        drop(fs::remove_dir_all(&self.dir));
    }
}

impl Drop for Mirror {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Makes `dir` a copy of the project at `root`, without build output. Files of more than `largest` bytes are
/// empty in the copy.
pub fn copy(root: &Utf8Path, dir: &Utf8Path, largest: u64) -> Result<()> {
    // Files that cannot be removed are overwritten.
    drop(fs::remove_dir_all(dir));
    fs::create_dir_all(dir)?;
    for path in files(root)? {
        let (from, to) = (root.join(&path), dir.join(&path));
        // A build cannot read such a file either.
        let Ok(meta) = fs::metadata(&from) else { continue };
        let mut text = Vec::new();
        let Ok(file) = fs::File::open(&from) else { continue };
        file.take(largest.saturating_add(1)).read_to_end(&mut text)?;
        // CMake refuses to use a cache from another location.
        if is_binary(&path, &text) || path.file_name() == Some("CMakeCache.txt") {
            continue;
        }
        if text.len() as u64 > largest {
            text.clear();
        }
        fs::create_dir_all(to.parent().unwrap_or(dir))?;
        fs::write(&to, text)?;
        fs::set_permissions(&to, meta.permissions())?;
        // Otherwise make would consider its own makefiles out of date and rebuild them.
        if let (Ok(time), Ok(file)) = (meta.modified(), fs::OpenOptions::new().append(true).open(&to)) {
            file.file().set_modified(time)?;
        }
    }
    Ok(())
}

fn is_binary(path: &Utf8Path, text: &[u8]) -> bool {
    matches!(path.extension(), Some("o" | "lo" | "a" | "la" | "so"))
        || text.starts_with(b"\x7fELF")
        || text.starts_with(b"!<arch>\n")
}

/// Every file that a build may read, in path order. Automake's makefiles include files in `.deps`.
fn files(root: &Utf8Path) -> Result<Vec<Utf8PathBuf>> {
    sources::files(root, |folder| folder.starts_with('.') && folder != ".deps")
}

/// A hash that changes when the answer may change. It covers the names of all files (a pattern may collect
/// them), the text of all files except sources, and `also`.
pub(super) fn stamp(root: &Utf8Path, also: &[&str]) -> Result<String> {
    let mut parts = vec![sha256(root.as_str())];
    parts.extend(also.iter().map(sha256));
    for path in files(root)? {
        parts.push(path.to_string());
        // Of sources only the names matter. A header may define the version, and any other file may contain
        // the list of sources.
        if path.extension() != Some("c") && path.file_name() != Some(CONFIG_FILE) {
            let mut text = Vec::new();
            if let Ok(file) = fs::File::open(root.join(&path)) {
                file.take(LARGEST).read_to_end(&mut text)?;
            }
            parts.push(sha256(text));
        }
    }
    Ok(of_parts(parts))
}

/// Whether `folder` holds an answer with this stamp.
pub(super) fn is_fresh(folder: &Utf8Path, stamp: &str) -> bool {
    fs::read_to_string(folder.join(STAMP)).is_ok_and(|text| text == stamp)
}

/// Marks the answer in `folder` as about to change.
pub(super) fn set_stale(folder: &Utf8Path) {
    // If the stamp cannot be removed, the next one cannot be written either.
    drop(fs::remove_file(folder.join(STAMP)));
}

/// Records the stamp of the answer in `folder`.
pub(super) fn set_fresh(folder: &Utf8Path, stamp: &str) -> Result<()> {
    Ok(fs::write(folder.join(STAMP), stamp)?)
}

const STAMP: &str = "implfuzz.stamp";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::front_tests::project;

    #[test]
    fn the_copy_has_what_people_wrote_and_is_gone_afterwards() {
        let large = " ".repeat(2 << 20);
        let (_dir, root) = project(&[
            ("src/a.c", "int a;"),
            ("src/a.o", "x"),
            ("tool", "\u{7f}ELF"),
            ("large.c", &large),
            ("program", &format!("\u{7f}ELF{large}")),
            (".git/config", "x"),
            (".deps/a.Po", "# dummy"),
            ("rust/Cargo.toml", "x"),
        ]);
        let mirror = Mirror::make(&root, root.join(".x/mirror")).unwrap();
        let names: Vec<String> =
            files(&mirror.dir).unwrap().into_iter().map(Utf8PathBuf::into_string).collect();
        assert_eq!(names, [".deps/a.Po", "large.c", "src/a.c"]);
        assert_eq!(fs::metadata(mirror.dir.join("large.c")).unwrap().len(), 0);
        let time = |path: Utf8PathBuf| fs::metadata(path).unwrap().modified().unwrap();
        assert_eq!(time(mirror.dir.join("src/a.c")), time(root.join("src/a.c")));
        let dir = mirror.dir.clone();
        drop(mirror);
        assert!(!dir.exists());
    }

    #[test]
    fn a_stamp_changes_with_what_the_answer_depends_on() {
        let (_dir, root) = project(&[("CMakeLists.txt", "x"), ("a.c", "int a;"), ("notes.md", "x")]);
        let first = stamp(&root, &["cc"]).unwrap();
        fs::write(root.join("a.c"), "int b;").unwrap();
        assert_eq!(stamp(&root, &["cc"]).unwrap(), first);
        assert_ne!(stamp(&root, &["clang"]).unwrap(), first);
        fs::write(root.join("notes.md"), "sources: a.c").unwrap();
        assert_ne!(stamp(&root, &["cc"]).unwrap(), first, "any file may be read");
        fs::write(root.join("config.h.in"), "").unwrap();
        let second = stamp(&root, &["cc"]).unwrap();
        assert_ne!(second, first);
        fs::write(root.join("b.c"), "").unwrap();
        assert_ne!(stamp(&root, &["cc"]).unwrap(), second);
        set_fresh(&root, &second).unwrap();
        assert!(is_fresh(&root, &second) && !is_fresh(&root, &first));
    }
}
