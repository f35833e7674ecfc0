//! Whole C libraries: fetched through cargo, copied, read by the front end, and linked under the tool's names. All
//! directories are under cargo's directory for tests, and stay for the analysis of failures.

use assert_cmd::Command;
use camino::{Utf8Path, Utf8PathBuf};
use cargo_implfuzz::c::bind::Bindings;
use cargo_implfuzz::c::{Programs, Tools};
use cargo_implfuzz::config;
use cargo_implfuzz::platform::process::Interrupt;
use cargo_implfuzz::platform::toolchain::Search;
use cargo_implfuzz::store::Store;
use cargo_implfuzz::symbol::Library;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Which build directories tests are using; see [`target_dir`].
static TAKEN: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

/// A build directory that belongs to one test until its thread ends.
struct BuildDir(usize);

impl BuildDir {
    fn take() -> Self {
        let mut taken = TAKEN.lock().unwrap();
        let free = (0..).find(|number| !taken.contains(number)).unwrap();
        taken.insert(free);
        Self(free)
    }
}

impl Drop for BuildDir {
    fn drop(&mut self) {
        // Not `unwrap`: a panic here would end the process. No test panics while it holds the lock.
        if let Ok(mut taken) = TAKEN.lock() {
            taken.remove(&self.0);
        }
    }
}

thread_local! {
    static BUILD_DIR: BuildDir = BuildDir::take();
}

/// Where this test builds ports. Cargo lets one build at a time into a directory, so each test that runs at the same
/// time has another one; tests that run later use it again, with what does not depend on a library already built.
pub fn target_dir() -> PathBuf {
    let number = BUILD_DIR.with(|dir| dir.0);
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("port").join(number.to_string())
}

/// What a user's repositories share, for all tests: not the cache of the user who runs them.
pub fn user_cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("user-cache")
}

/// An empty directory.
pub fn scratch(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    drop(std::fs::remove_dir_all(&dir));
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

/// Where cargo unpacked this release of a package.
pub fn vendored(package: &str, version: &str) -> PathBuf {
    let dir = scratch(&format!("{package}-crate"));
    let manifest = format!(
        "[package]\nname = \"scratch\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\n\
         [dependencies]\n{package} = \"={version}\"\n[workspace]\n"
    );
    std::fs::write(dir.join("Cargo.toml"), manifest).unwrap();
    std::fs::write(dir.join("lib.rs"), "").unwrap();
    let metadata =
        cargo_metadata::MetadataCommand::new().manifest_path(dir.join("Cargo.toml")).exec().unwrap();
    let found = metadata.packages.iter().find(|found| found.name.as_str() == package).unwrap();
    found.manifest_path.parent().unwrap().into()
}

/// The files beside each other in `from`, without its folders.
pub fn copy_files(from: &Path, to: &Path) {
    for path in entries(from).filter(|path| path.is_file()) {
        std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

/// Everything in `from`.
pub fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    copy_files(from, to);
    for path in entries(from).filter(|path| path.is_dir()) {
        copy_tree(&path, &to.join(path.file_name().unwrap()));
    }
}

fn entries(dir: &Path) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path())
}

/// The system's C compiler, and clang where there is one; each with a name for directories.
pub fn compilers() -> Vec<(&'static str, PathBuf)> {
    let cc = std::env::var_os("CC").map_or_else(|| "cc".into(), PathBuf::from);
    let clang = Search::from_env().program(&["clang"]);
    [("cc", Some(cc)), ("clang", clang)].into_iter().filter_map(|(name, path)| Some((name, path?))).collect()
}

/// The front end's view of a library, for this C compiler.
pub fn read(root: &Utf8Path, settings: &config::C, compiler: &Path) -> (Library, Bindings) {
    let scratch = tempfile::tempdir().unwrap();
    let interrupt = Interrupt::none();
    let tools = Tools {
        identity: "",
        programs: &|| Ok(Programs { cc: compiler.to_owned(), build_tools: BTreeMap::new() }),
        scratch: scratch.path(),
        interrupt: &interrupt,
    };
    let mut store = Store::open(&scratch.path().join("state.db")).unwrap();
    let analysis = cargo_implfuzz::c::load(root, settings, tools, &mut store).unwrap();
    (analysis.library, analysis.bindings)
}

/// A C library after `init`, in a directory of its own.
pub struct Port {
    pub root: Utf8PathBuf,
    name: String,
}

impl Port {
    /// Copies a library there and runs `init` for this C compiler with these further arguments.
    pub fn init(name: &str, from: &Path, compiler: &Path, args: &[&str]) -> Self {
        let root = Utf8PathBuf::from_path_buf(scratch(name)).unwrap().canonicalize_utf8().unwrap();
        copy_tree(from, root.as_std_path());
        let mut init = Command::cargo_bin("cargo-implfuzz").unwrap();
        init.current_dir(&root).env("CARGO_TARGET_DIR", target_dir()).args(["implfuzz", "init"]).args(args);
        init.args(["--config", &format!("c.compiler={:?}", compiler.to_str().unwrap())]);
        init.assert().success();
        Self { root, name: name.to_owned() }
    }

    /// Builds the crate with all its stubs, and a program that mentions every function and global by its binding.
    pub fn links(&self, bindings: &Bindings, compiler: (&str, &Path)) {
        let manifest = std::fs::read_to_string(self.root.join("rust/Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let package = manifest["package"]["name"].as_str().unwrap().replace('-', "_");
        let functions = bindings.functions.keys().map(|name| format!("    ffi::{name} as *const (),\n"));
        let globals = bindings.globals.keys().map(|name| format!("    (&raw const ffi::{name}).cast(),\n"));
        let program = format!(
            "use {package}::ffi;\nfn main() {{\n    let all: &[*const ()] = &[\n{}{}    ];\n    \
             println!(\"{{}}\", std::hint::black_box(all).iter().filter(|a| !a.is_null()).count());\n}}\n",
            functions.collect::<String>(),
            globals.collect::<String>()
        );
        let folder = self.root.join("rust/examples");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("links.rs"), program).unwrap();
        // A directory per compiler: cargo does not see that another one is asked for.
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{}", self.name, compiler.0));
        let mut run = Command::new(std::env::var_os("CARGO").unwrap());
        run.current_dir(self.root.join("rust")).env("CARGO_TARGET_DIR", target).env("CC", compiler.1);
        let output = run.args(["run", "--quiet", "--example", "links"]).output().unwrap();
        let (said, messages) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let expected = bindings.functions.len() + bindings.globals.len();
        assert_eq!(said.trim(), expected.to_string(), "with {}: {messages}", compiler.0);
    }

    /// Builds the crate with all its stubs.
    pub fn builds(&self, compiler: (&str, &Path)) {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{}", self.name, compiler.0));
        let mut build = Command::new(std::env::var_os("CARGO").unwrap());
        build.current_dir(self.root.join("rust")).env("CARGO_TARGET_DIR", target).env("CC", compiler.1);
        build.args(["build", "--quiet"]).assert().success();
    }

    /// Checks the harnesses of all functions that have one.
    pub fn harnesses_compile(&self) {
        let mut check = Command::new(std::env::var_os("CARGO").unwrap());
        check.current_dir(self.root.join("rust/fuzz")).env("CARGO_TARGET_DIR", target_dir());
        check.args(["check", "--quiet", "--lib"]).assert().success();
    }
}
