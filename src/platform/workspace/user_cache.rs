//! The user's cache directory, shared by all repositories: `$XDG_CACHE_HOME/cargo-implfuzz`, or else
//! `~/.cache/cargo-implfuzz`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The directory, if the environment names a home. It may not exist yet.
pub fn user_cache() -> Option<PathBuf> {
    named(std::env::var_os("XDG_CACHE_HOME"), std::env::var_os("HOME"))
}

/// Ignores a relative path: it would mean another directory in each repository.
fn named(xdg: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute = |value: Option<OsString>| value.map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute(xdg).or_else(|| Some(absolute(home)?.join(".cache")))?;
    Some(base.join(Path::new("cargo-implfuzz")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_absolute_and_xdg_comes_first() {
        let place = |xdg: &str, home: Option<&str>| named(Some(xdg.into()), home.map(Into::into));
        assert_eq!(place("/x", Some("/h")).unwrap(), Path::new("/x/cargo-implfuzz"));
        assert_eq!(place("x", Some("/h")).unwrap(), Path::new("/h/.cache/cargo-implfuzz"));
        assert_eq!(place("", Some("/h")).unwrap(), Path::new("/h/.cache/cargo-implfuzz"));
        assert_eq!(place("", Some("h")), None);
        assert_eq!(named(None, None), None);
    }
}
