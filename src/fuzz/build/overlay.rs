//! The overlay: a copy of the port crate in which candidates are built. The user's tree stays unchanged until
//! a port is accepted.
//!
//! The copy persists between runs and only changed files are written, so that cargo rebuilds only what
//! changed.

use crate::error::Result;
use crate::fuzz::build::leftovers::remove_others;
use crate::fuzz::build::runtime;
use crate::harness::registry::{self, REGISTRY_FILE};
use crate::platform::workspace::write_atomic;
use crate::symbol::SymbolName;
use fs_err as fs;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

#[derive(Debug)]
pub struct Overlay {
    dir: PathBuf,
    /// The directory of the harness runtime, which is shared and therefore outside the copy.
    runtime: PathBuf,
}

/// Files that are not copied: build output and files that the fuzzer writes.
const LEFT_OUT: [&str; 6] = ["target", "corpus", "artifacts", "coverage", "seeds", "contracts"];

impl Overlay {
    /// Updates the copy at `dir` from `source`, with `replaced` files (paths below `source`) in place of the
    /// originals. Shared files go to `target_dir`, where the copies are built. The copy can run the fuzz
    /// targets of `symbols` and those that it had before.
    pub fn sync(
        source: &Path,
        dir: &Path,
        target_dir: &Path,
        symbols: &[&SymbolName],
        replaced: &[(PathBuf, String)],
    ) -> Result<Self> {
        let shared = runtime::share(source, target_dir, replaced)?;
        let others = replaced
            .iter()
            .filter(|(path, _)| *path != shared.manifest.0 && !path.starts_with(runtime::FOLDER));
        let targets = targets(source, dir, symbols)?.map(|text| (PathBuf::from(REGISTRY_FILE), text));
        let replaced: Vec<_> = others.chain([&shared.manifest]).chain(&targets).collect();
        let mut wanted: BTreeSet<PathBuf> = replaced.iter().map(|(path, _)| path.clone()).collect();
        for (path, text) in replaced {
            write_atomic(&dir.join(path), text.as_bytes())?;
        }
        for path in copied(source)? {
            if wanted.insert(path.clone()) {
                write_atomic(&dir.join(&path), &fs::read(source.join(&path))?)?;
            }
        }
        remove_others(dir, &wanted)?;
        Ok(Self { dir: dir.to_owned(), runtime: shared.dir })
    }

    /// Takes the fuzz targets of these functions out of the copy at `dir`, until someone asks for them.
    pub fn leave_out(dir: &Path, functions: &BTreeSet<String>) -> Result<()> {
        let list = dir.join(REGISTRY_FILE);
        let text = fs::read_to_string(&list)?;
        let kept: Vec<&str> =
            registry::targets(&text).into_iter().filter(|name| !functions.contains(*name)).collect();
        write_atomic(&list, registry::print(&kept).as_bytes())
    }

    /// The directory of the copied port crate.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The manifest of the copied fuzz crate.
    pub fn fuzz_manifest(&self) -> PathBuf {
        self.dir.join("fuzz/Cargo.toml")
    }

    /// The manifest of the harness runtime.
    pub fn runtime_manifest(&self) -> PathBuf {
        self.runtime.join("Cargo.toml")
    }
}

/// The list of fuzz targets for a copy: those of `symbols`, those that they use, and those already in the
/// copy, which are compiled already and which the next command may need again. `None` if the crate has no
/// list.
fn targets(source: &Path, dir: &Path, symbols: &[&SymbolName]) -> Result<Option<String>> {
    let list = source.join(REGISTRY_FILE);
    if !list.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(&list)?;
    let all = registry::targets(&text);
    let before = match dir.join(REGISTRY_FILE) {
        path if path.exists() => fs::read_to_string(path)?,
        _ => String::new(),
    };
    let mut open = registry::targets(&before);
    open.extend(symbols.iter().map(|symbol| symbol.as_str()));
    open.retain(|name| all.contains(name));
    let mut wanted = BTreeSet::new();
    while let Some(name) = open.pop() {
        if wanted.insert(name) {
            let harness = fs::read_to_string(list.with_file_name(format!("{name}.rs")))?;
            let neighbours = registry::neighbours(&harness);
            open.extend(all.iter().filter(|other| neighbours.contains(*other)));
        }
    }
    let wanted: Vec<&str> = all.into_iter().filter(|name| wanted.contains(name)).collect();
    Ok(Some(registry::print(&wanted)))
}

/// The files of the port crate that an overlay copies, by their paths in it.
fn copied(source: &Path) -> Result<Vec<PathBuf>> {
    let below = |entry: &DirEntry| entry.path().strip_prefix(source).unwrap_or(entry.path()).to_owned();
    let is_left_out = |entry: &DirEntry| {
        let is_other = LEFT_OUT.iter().any(|name| entry.file_name() == *name);
        entry.file_type().is_dir() && (is_other || below(entry) == Path::new(runtime::FOLDER))
    };
    let mut files = Vec::new();
    for entry in WalkDir::new(source).min_depth(1).into_iter().filter_entry(|entry| !is_left_out(entry)) {
        let entry = entry.map_err(std::io::Error::from)?;
        files.extend((!entry.file_type().is_dir()).then(|| below(&entry)));
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_overlay_follows_the_tree_and_keeps_what_did_not_change() {
        let source = tempfile::tempdir().unwrap();
        let copy = tempfile::tempdir().unwrap();
        let target = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(source.path().join("src")).unwrap();
        std::fs::create_dir_all(source.path().join("target")).unwrap();
        std::fs::write(source.path().join("src/a.rs"), "a").unwrap();
        std::fs::write(source.path().join("src/b.rs"), "b").unwrap();
        std::fs::write(source.path().join("target/x"), "x").unwrap();
        std::fs::create_dir_all(source.path().join("fuzz/runtime/src")).unwrap();
        std::fs::write(source.path().join("fuzz/runtime/src/lib.rs"), "runtime").unwrap();
        let manifest = "[dependencies]\nimplfuzz-runtime = { path = \"runtime\" }\n";
        std::fs::write(source.path().join("fuzz/Cargo.toml"), manifest).unwrap();
        let candidate = [(PathBuf::from("src/a.rs"), "candidate".to_owned())];
        Overlay::sync(source.path(), copy.path(), target.path(), &[], &candidate).unwrap();
        let time = |name: &str| std::fs::metadata(copy.path().join(name)).unwrap().modified().unwrap();
        assert_eq!(std::fs::read_to_string(copy.path().join("src/a.rs")).unwrap(), "candidate");
        assert!(!copy.path().join("target").exists());
        assert!(!copy.path().join("fuzz/runtime").exists());
        let before = time("src/b.rs");
        std::fs::write(source.path().join("src/c.rs"), "c").unwrap();
        Overlay::sync(source.path(), copy.path(), target.path(), &[], &[]).unwrap();
        assert_eq!(std::fs::read_to_string(copy.path().join("src/a.rs")).unwrap(), "a");
        assert_eq!(time("src/b.rs"), before);
        std::fs::remove_file(source.path().join("src/c.rs")).unwrap();
        Overlay::sync(source.path(), copy.path(), target.path(), &[], &[]).unwrap();
        assert!(!copy.path().join("src/c.rs").exists());
    }

    #[test]
    fn a_copy_has_the_targets_asked_for_so_far_and_what_they_use() {
        let [source, copy, target] = [(); 3].map(|()| tempfile::tempdir().unwrap());
        let put = |file: &str, text: &str| {
            let path = source.path().join("fuzz").join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("runtime/src/lib.rs", "");
        put("Cargo.toml", "[dependencies]\nimplfuzz-runtime = { path = \"runtime\" }\n");
        let all = ["list_len", "list_new", "list_free", "sum", "max"];
        for name in all {
            put(&format!("src/harness/{name}.rs"), "use super::values::*;");
        }
        put("src/harness/list_len.rs", "makers: &[&super::list_new::OPERATION]");
        put("src/harness/list_new.rs", "enders: &[&super::list_free::OPERATION]");
        put("src/harness/mod.rs", &registry::print(&all));
        let has = |symbols: &[&str]| {
            let names: Vec<SymbolName> = symbols.iter().map(|name| SymbolName::new(*name)).collect();
            let names: Vec<&SymbolName> = names.iter().collect();
            Overlay::sync(source.path(), copy.path(), target.path(), &names, &[]).unwrap();
            let text = std::fs::read_to_string(copy.path().join(REGISTRY_FILE)).unwrap();
            registry::targets(&text).into_iter().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(has(&["max"]), ["max"]);
        assert_eq!(has(&["max"]), ["max"]);
        assert_eq!(has(&[]), ["max"]);
        assert_eq!(has(&["list_len"]), ["list_len", "list_new", "list_free", "max"]);
        // A function that the library no longer has.
        put("src/harness/mod.rs", &registry::print(&["list_new", "list_free", "sum"]));
        assert_eq!(has(&["sum"]), ["list_new", "list_free", "sum"]);
        Overlay::leave_out(copy.path(), &BTreeSet::from(["sum".to_owned()])).unwrap();
        assert_eq!(has(&["list_free"]), ["list_new", "list_free"]);
    }

    #[test]
    fn what_another_process_is_just_writing_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["lib.rs", "old.rs", ".implfuzz-a1B2c3"] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        remove_others(dir.path(), &BTreeSet::from(["lib.rs".into()])).unwrap();
        let mut left: Vec<_> =
            std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [".implfuzz-a1B2c3", "lib.rs"]);
    }

    #[test]
    fn copies_with_one_text_have_one_runtime_and_with_another_one_of_their_own() {
        let [source, target] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let file = PathBuf::from("fuzz/runtime/src/lib.rs");
        std::fs::create_dir_all(source.path().join("fuzz/runtime/src")).unwrap();
        std::fs::write(source.path().join(&file), "runtime").unwrap();
        let manifest = "[dependencies]\nimplfuzz-runtime = { path = \"runtime\" }\n";
        std::fs::write(source.path().join("fuzz/Cargo.toml"), manifest).unwrap();
        let copy = |replaced: &[(PathBuf, String)]| {
            let dir = tempfile::tempdir().unwrap();
            let overlay = Overlay::sync(source.path(), dir.path(), target.path(), &[], replaced).unwrap();
            let manifest = std::fs::read_to_string(overlay.fuzz_manifest()).unwrap();
            let runtime = overlay.runtime_manifest().parent().unwrap().to_owned();
            assert!(manifest.contains(&*runtime.display().to_string()), "{manifest}");
            (std::fs::read_to_string(runtime.join("src/lib.rs")).unwrap(), runtime)
        };
        let edited = [(file.clone(), "another".to_owned())];
        let (first, second, other) = (copy(&[]), copy(&[]), copy(&edited));
        assert_eq!((&first, first.0.as_str()), (&second, "runtime"));
        assert_eq!(other.0, "another");
        assert_ne!(first.1, other.1);
        // Foreign changes are undone.
        std::fs::write(first.1.join("src/lib.rs"), "cheat").unwrap();
        assert_eq!(copy(&[]), first);
    }
}
