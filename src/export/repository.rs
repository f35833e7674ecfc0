//! What git and the port's manifest say of a repository: where it is published, and who takes care of it.

use crate::error::{Error, ErrorKind, Result};
use crate::platform::git;
use crate::platform::process::Interrupt;
use std::path::Path;
use toml::{Table, Value};

/// Where a repository is published, as far as that is known.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Published {
    /// An address that everyone can clone.
    pub main_repo: Option<String>,
    pub homepage: Option<String>,
}

impl Published {
    /// Asks git about `root`, then the manifest of the port crate.
    ///
    /// # Errors
    /// Ctrl-C.
    pub fn of(root: &Path, rust: &Path, interrupt: &Interrupt) -> Result<Self> {
        let remote = match git(root, &["remote", "get-url", "origin"], interrupt)? {
            Some(origin) => Some(origin),
            None => match git(root, &["remote"], interrupt)? {
                Some(first) => {
                    git(root, &["remote", "get-url", first.lines().next().unwrap_or("")], interrupt)?
                }
                None => None,
            },
        };
        let manifest = std::fs::read_to_string(rust.join("Cargo.toml")).unwrap_or_default();
        Ok(Self::from(remote.as_deref(), &manifest))
    }

    fn from(remote: Option<&str>, manifest: &str) -> Self {
        let manifest: Table = manifest.parse().unwrap_or_default();
        let named = |key: &str| {
            let value = manifest.get("package")?.get(key).and_then(Value::as_str)?;
            Some(value.to_owned()).filter(|value| !value.is_empty())
        };
        let main_repo = remote.and_then(for_everyone).or_else(|| named("repository"));
        let page = |repo: &String| repo.trim_end_matches('/').trim_end_matches(".git").to_owned();
        let homepage = named("homepage").or_else(|| main_repo.as_ref().map(page));
        Self { main_repo, homepage }
    }
}

/// The address of a remote that asks for no key, and has no password in it; none for a path of this machine.
fn for_everyone(remote: &str) -> Option<String> {
    let (kind, rest) = match remote.split_once("://") {
        Some(("ssh" | "git+ssh", rest)) => ("https", rest.to_owned()),
        Some((kind @ ("https" | "http" | "git"), rest)) => (kind, rest.to_owned()),
        Some(_) => return None,
        None => {
            let (host, path) = remote.split_once(':').filter(|(host, _)| !host.contains('/'))?;
            ("https", format!("{host}/{path}"))
        }
    };
    let (host, path) = rest.split_once('/')?;
    let host = host.rsplit('@').next().unwrap_or(host);
    let host = if remote.starts_with("ssh") { host.split(':').next().unwrap_or(host) } else { host };
    Some(format!("{kind}://{host}/{path}"))
}

/// The address of the person who works here, by git's settings.
///
/// # Errors
/// `Usage` if git knows none, and Ctrl-C.
pub fn contact(root: &Path, interrupt: &Interrupt) -> Result<String> {
    let email = git(root, &["config", "user.email"], interrupt)?;
    email.filter(|email| is_address(email)).ok_or_else(|| {
        Error::new(ErrorKind::Usage, "OSS-Fuzz sends its reports to a person, and git names no `user.email`")
            .help("cargo implfuzz export oss-fuzz --contact NAME@EXAMPLE.ORG")
    })
}

/// Whether a text can be an e-mail address, by the rule of OSS-Fuzz's own check.
pub fn is_address(text: &str) -> bool {
    text.contains('@') && text.contains('.') && !text.contains(char::is_whitespace)
}

/// The folder of a clone: the last part of the address, or else the folder's own name, as OSS-Fuzz wants names.
pub fn name(main_repo: Option<&str>, root: &Path) -> String {
    let of_folder = || root.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let last = main_repo.and_then(|repo| repo.trim_end_matches('/').rsplit(['/', ':']).next());
    let last = last.map_or_else(of_folder, |last| last.trim_end_matches(".git").to_owned());
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c.to_ascii_lowercase() } else { '-' };
    let name: String = last.chars().map(plain).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "library".to_owned() } else { name.to_owned() }
}

/// A line that git prints.
fn git(root: &Path, args: &[&str], interrupt: &Interrupt) -> Result<Option<String>> {
    let line = git::asked(root, args, interrupt)?.map(|line| line.trim().to_owned());
    Ok(line.filter(|line| !line.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyone_can_clone_from_the_address() {
        for (remote, address) in [
            ("git@github.com:o/r.git", Some("https://github.com/o/r.git")),
            ("ssh://git@example.org:2222/o/r", Some("https://example.org/o/r")),
            ("https://user:secret@example.org/o/r.git", Some("https://example.org/o/r.git")),
            ("https://example.org:8443/r", Some("https://example.org:8443/r")),
            ("/srv/git/r.git", None),
            ("../r:x", None),
            ("file:///srv/r", None),
        ] {
            assert_eq!(for_everyone(remote).as_deref(), address, "{remote}");
        }
    }

    #[test]
    fn the_manifest_fills_in_what_git_does_not_know() {
        let manifest =
            "[package]\nrepository = \"https://example.org/a\"\nhomepage = \"https://a.example\"\n";
        let by_manifest = Published::from(None, manifest);
        assert_eq!(by_manifest.main_repo.as_deref(), Some("https://example.org/a"));
        assert_eq!(by_manifest.homepage.as_deref(), Some("https://a.example"));
        let by_git = Published::from(Some("git@example.org:o/r.git"), "");
        assert_eq!(by_git.homepage.as_deref(), Some("https://example.org/o/r"));
        assert_eq!(Published::from(Some("/srv/r"), "[package]\n"), Published::default());
    }

    #[test]
    fn names_are_those_that_oss_fuzz_takes() {
        assert_eq!(name(Some("https://example.org/o/My.Lib.git"), Path::new("/x/other")), "my-lib");
        assert_eq!(name(None, Path::new("/x/a b")), "a-b");
        assert_eq!(name(None, Path::new("/")), "library");
    }
}
