//! The search path for tools, as a value, so that tests can replace it.

use super::Rustc;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where to look for tools.
#[derive(Debug, Clone)]
pub struct Search {
    /// The root under which `usr/lib` etc. are: `/`.
    pub root: PathBuf,
    /// The directories of `PATH`.
    pub path: Vec<PathBuf>,
    /// `LIBCLANG_PATH`: the library or its directory.
    pub libclang_path: Option<PathBuf>,
    /// The directories of `LD_LIBRARY_PATH`.
    pub library_path: Vec<PathBuf>,
    /// `CARGO`: set by cargo for its subcommands.
    pub cargo: Option<PathBuf>,
    /// `RUSTC`.
    pub rustc: Option<PathBuf>,
}

impl Search {
    /// The places that the environment names.
    pub fn from_env() -> Self {
        let var = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let dirs = |value: Option<OsString>| value.map_or(vec![], |v| std::env::split_paths(&v).collect());
        Self {
            root: "/".into(),
            path: dirs(var("PATH")),
            libclang_path: var("LIBCLANG_PATH").map(PathBuf::from),
            library_path: dirs(var("LD_LIBRARY_PATH")),
            cargo: var("CARGO").map(PathBuf::from),
            rustc: var("RUSTC").map(PathBuf::from),
        }
    }

    /// The first of these names found on the path, or else in the newest LLVM's own directory.
    pub fn program(&self, names: &[&str]) -> Option<PathBuf> {
        let on_path = names.iter().find_map(|name| self.on_path(name));
        on_path.or_else(|| {
            let mut dirs = self.llvm_dirs("bin");
            dirs.reverse();
            dirs.iter().flat_map(|dir| names.iter().map(|name| dir.join(name))).find(|path| is_program(path))
        })
    }

    fn on_path(&self, name: &str) -> Option<PathBuf> {
        self.path.iter().map(|dir| dir.join(name)).find(|path| is_program(path))
    }

    pub(super) fn cargo(&self) -> Option<PathBuf> {
        self.cargo.clone().or_else(|| self.on_path("cargo"))
    }

    pub(super) fn rustc(&self) -> Option<PathBuf> {
        // Find a bare name on the path, as cargo does.
        let given = self.rustc.as_ref().map(|rustc| match rustc.to_str() {
            Some(name) if !name.contains('/') => self.on_path(name),
            _ => Some(rustc.clone()),
        });
        given.unwrap_or_else(|| self.on_path("rustc"))
    }

    pub(super) fn clangs(&self) -> Vec<PathBuf> {
        let is_clang = |name: &str| match name.strip_prefix("clang-") {
            Some(number) => !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()),
            None => name == "clang",
        };
        let mut found = Vec::new();
        for dir in self.path.iter().cloned().chain(self.llvm_dirs("bin")) {
            found.extend(list(&dir).into_iter().filter(|path| file_name(path).is_some_and(is_clang)));
        }
        found.retain(|path| is_program(path));
        found
    }

    /// The C++ compiler that `cc` would choose, or else the newest `clang++`.
    pub(super) fn cxx(&self) -> Option<PathBuf> {
        self.program(&["c++", "g++", "clang++"]).or_else(|| {
            let number = |path: &Path| file_name(path)?.strip_prefix("clang++-")?.parse::<u32>().ok();
            let paths = self.path.iter().flat_map(|dir| list(dir)).filter(|path| is_program(path));
            let found = paths.filter_map(|path| Some((number(&path)?, path)));
            found.max().map(|(_, path)| path)
        })
    }

    /// `usr/lib/llvm*/<sub>`, oldest first.
    pub(super) fn llvm_dirs(&self, sub: &str) -> Vec<PathBuf> {
        let number = |dir: &Path| {
            let rest = file_name(dir)?.strip_prefix("llvm")?;
            Some(rest.trim_start_matches('-').parse::<u32>().unwrap_or(0))
        };
        let dirs = ["usr/lib", "usr/lib64", "usr/local"].map(|lib| list(&self.root.join(lib)));
        let found = dirs.into_iter().flatten().filter_map(|dir| Some((number(&dir)?, dir.join(sub))));
        let mut found: Vec<(u32, PathBuf)> = found.collect();
        found.sort();
        found.into_iter().map(|(_, dir)| dir).collect()
    }

    /// The toolchain's directory for its own host.
    pub(super) fn rustlib(&self, rustc: &Rustc) -> PathBuf {
        rustc.sysroot.join("lib/rustlib").join(&rustc.host)
    }
}

/// The entries of a directory in name order; empty if it cannot be read.
pub(super) fn list(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

pub(super) fn file_name(path: &Path) -> Option<&str> {
    path.file_name().and_then(OsStr::to_str)
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
