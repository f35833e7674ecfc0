//! Finds and loads libclang. Loading applies to one thread; worker threads share it with `Loaded::attach`.
//! `cursor` and the modules above it call it.

use crate::error::{Error, ErrorKind, Result};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// The version text and the file of the library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// As the library reports it: `clang version 19.1.7 …`.
    pub text: String,
    pub path: PathBuf,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.text, self.path.display())
    }
}

/// A loaded libclang that other threads can use too.
#[derive(Debug, Clone)]
pub(super) struct Loaded(Arc<clang_sys::SharedLibrary>);

impl Loaded {
    pub(super) fn attach(&self) {
        clang_sys::set_library(Some(Arc::clone(&self.0)));
    }
}

/// Loads libclang for this thread, unless it is loaded, and returns its version.
///
/// Searches `LIBCLANG_PATH`, the folder of `llvm-config`, and the usual folders (such as
/// `/usr/lib/llvm-*/lib`), the newest version first.
///
/// # Errors
/// `Environment` when there is none, or when it is older than clang 17.
pub fn load() -> Result<Version> {
    let library = loaded()?;
    // SAFETY: the library is loaded on this thread, and the call takes no arguments.
    let text = super::cursor::owned_text(unsafe { clang_sys::clang_getClangVersion() });
    Ok(Version { text, path: library.0.path().to_path_buf() })
}

/// Like [`load`], but returns the handle for other threads.
pub(super) fn loaded() -> Result<Loaded> {
    if !clang_sys::is_loaded() {
        clang_sys::load().map_err(|reason| missing(&reason))?;
    }
    let library = clang_sys::get_library().ok_or_else(|| missing("it did not stay loaded"))?;
    // The newest function that the body walk needs was added in clang 17.
    if library.functions.clang_getCursorBinaryOperatorKind.is_none() {
        return Err(Error::new(
            ErrorKind::Environment,
            format!("libclang in {} is older than clang 17", library.path().display()),
        )
        .help("cargo implfuzz doctor --install"));
    }
    Ok(Loaded(library))
}

fn missing(reason: &str) -> Error {
    let reason = reason.split(", set the").next().unwrap_or(reason);
    Error::new(ErrorKind::Environment, format!("libclang cannot be loaded: {reason}"))
        .help("cargo implfuzz doctor --install")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_points_to_doctor() {
        let error = missing("couldn't find any valid shared libraries, set the `LIBCLANG_PATH` …");
        assert_eq!(error.help_text(), Some("cargo implfuzz doctor --install"));
        assert_eq!(error.kind(), ErrorKind::Environment);
        assert!(!error.to_string().contains("set the"));
    }

    #[test]
    fn threads_share_the_library() {
        let version = load().unwrap();
        assert!(version.text.contains("clang"), "{version}");
        let library = loaded().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                library.attach();
                assert_eq!(load().unwrap(), version);
            });
        });
    }
}
