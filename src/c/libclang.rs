//! Finds and loads libclang. Loading applies to one thread; worker threads share it with `Loaded::attach`.
//! `cursor` and the modules above it call it.

use crate::error::{Error, ErrorKind, Result};
use std::sync::Arc;

/// A loaded libclang that other threads can use too.
#[derive(Debug, Clone)]
pub(super) struct Loaded(Arc<clang_sys::SharedLibrary>);

impl Loaded {
    pub(super) fn attach(&self) {
        clang_sys::set_library(Some(Arc::clone(&self.0)));
    }
}

/// Loads libclang for this thread, unless it is loaded.
///
/// Searches `LIBCLANG_PATH`, the folder of `llvm-config`, and the usual folders (such as
/// `/usr/lib/llvm-*/lib`), the newest version first.
///
/// # Errors
/// `Environment` when there is none, or when it is older than clang 17.
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
        let library = loaded().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                library.attach();
                assert!(clang_sys::is_loaded());
                assert_eq!(loaded().unwrap().0.path(), library.0.path());
            });
        });
    }
}
