//! Starts cargo so that its result depends only on the overlay, the toolchain and this tool.
//!
//! Cargo reads its configuration from the current directory upwards, so it starts in `/` instead of the
//! repository. The user's own configuration may name a registry mirror, which downloads may require; its
//! other settings (`[env]`, `rustflags`, `[profile]`, `[patch]`, wrappers) would change the judged code.
//! Cargo therefore gets a home directory of this tool. It shares the downloads with the user's home and
//! contains only the settings for downloads.

use crate::config::merge;
use crate::error::{Error, ErrorKind, Result};
use crate::platform::process::{Job, time_limits};
use crate::platform::toolchain::Toolchain;
use crate::platform::workspace::write_atomic;
use fs_err as fs;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Environment variables that a build keeps: for system programs, headers and libraries, and for network
/// access.
const KEPT: [&str; 25] = [
    "PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH",
    "C_INCLUDE_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN",
    "CARGO_BUILD_JOBS", "http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
    "no_proxy", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "SSH_AUTH_SOCK",
];

/// Prefixes of cargo's environment variables for downloads.
const KEPT_PREFIXES: [&str; 5] =
    ["CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTRIES_", "CARGO_REGISTRY_", "CARGO_SOURCE_"];

/// Tables of cargo's configuration that concern downloads.
const DOWNLOADS: [&str; 6] = ["credential-alias", "http", "net", "registries", "registry", "source"];

/// Tables that cannot change the built code: cargo's output, and commands that this tool does not use.
const HARMLESS: [&str; 6] = ["alias", "cache", "cargo-new", "future-incompat-report", "install", "term"];

/// What both homes share, including the lock files, because both protect the same downloads.
const SHARED_DIRS: [&str; 2] = ["registry", "git"];
const SHARED_FILES: [&str; 5] =
    [".package-cache", ".package-cache-mutate", ".global-cache", "credentials.toml", "credentials"];

/// The configuration files of the root directory, which apply everywhere.
const ROOT_CONFIGS: [&str; 2] = ["/.cargo/config.toml", "/.cargo/config"];

/// Cargo with a cleared environment and a home directory below `dir`.
///
/// # Errors
/// `Environment` if a configuration that always applies would change the build, `Io` if the home cannot be
/// written.
pub fn cargo(toolchain: &Toolchain, dir: &Path) -> Result<Job> {
    for path in ROOT_CONFIGS {
        check_root_config(Path::new(path))?;
    }
    let home = dir.join("cargo-home");
    prepare(&home, user_home().as_deref())?;
    let kept = std::env::vars_os().filter(|(name, _)| is_kept(name));
    let job = kept.fold(Job::new(&toolchain.cargo).clean_env(), |job, (name, value)| job.env(name, value));
    Ok(job
        .dir("/")
        .env("CARGO_HOME", home)
        .env("RUSTC", &toolchain.rustc)
        .env("CARGO_ENCODED_RUSTFLAGS", "")
        .env("LC_ALL", "C")
        .timeout(time_limits::CARGO))
}

/// The first lines of a failed build's output, for an error message.
pub fn excerpt(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(SHOWN).collect();
    lines.join("\n  ")
}

/// How many lines of a build's output are shown.
const SHOWN: usize = 15;

fn is_kept(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    KEPT.contains(&name) || KEPT_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The user's `CARGO_HOME`, or its default.
fn user_home() -> Option<PathBuf> {
    let value = |name: &str| std::env::var_os(name).filter(|value: &OsString| !value.is_empty());
    let home = || Some(PathBuf::from(value("HOME")?).join(".cargo"));
    let home = value("CARGO_HOME").map(PathBuf::from).or_else(home)?;
    std::path::absolute(home).ok()
}

/// Updates the tool's home from the user's. Another process may do the same at the same time.
fn prepare(home: &Path, user: Option<&Path>) -> Result<()> {
    fs::create_dir_all(home)?;
    let mut settings = Table::new();
    if let Some(user) = user {
        for name in SHARED_DIRS {
            // Cargo does not create the target of a link. If the user's home is read-only, the tool's home
            // gets its own directory.
            if fs::create_dir_all(user.join(name)).is_ok() {
                link(&user.join(name), &home.join(name))?;
            }
        }
        for name in SHARED_FILES {
            link(&user.join(name), &home.join(name))?;
        }
        let configs = ["config", "config.toml"].map(|name| user.join(name));
        if let Some(path) = configs.iter().find(|path| path.is_file()) {
            settings = downloads(path, 0)?;
        }
    }
    write_atomic(&home.join("config.toml"), settings.to_string().as_bytes())?;
    Ok(())
}

/// Creates a link, unless it exists.
fn link(to: &Path, at: &Path) -> Result<()> {
    if std::fs::read_link(at).is_ok_and(|old| old == to) {
        return Ok(());
    }
    if at.symlink_metadata().is_ok_and(|meta| meta.is_symlink()) {
        drop(fs::remove_file(at));
    }
    match std::os::unix::fs::symlink(to, at) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error.into()),
        _ => Ok(()),
    }
}

/// Maximum depth of included configurations.
const DEPTH: usize = 8;

/// The settings for downloads in a configuration and in its included files.
fn downloads(path: &Path, depth: usize) -> Result<Table> {
    let config = read(path)?;
    let folder = path.parent().unwrap_or(path);
    let mut settings = Table::new();
    if depth < DEPTH {
        for other in included(&config, folder).iter().filter(|other| other.is_file()) {
            merge(&mut settings, downloads(other, depth + 1)?);
        }
    }
    let own = config.into_iter().filter(|(name, _)| DOWNLOADS.contains(&name.as_str()));
    let mut own: Table = own.collect();
    // Cargo resolves paths relative to the parent of the configuration's directory.
    absolute(&mut own, folder.parent().unwrap_or(folder));
    merge(&mut settings, own);
    Ok(settings)
}

fn read(path: &Path) -> Result<Table> {
    fs::read_to_string(path)?.parse().map_err(|error: toml::de::Error| {
        let text = format!("{} is not TOML: {}", path.display(), error.message());
        Error::new(ErrorKind::Environment, text).help("correct it: no cargo command works with it")
    })
}

fn included(config: &Table, folder: &Path) -> Vec<PathBuf> {
    let path = |value: &Value| Some(folder.join(value.as_str().or_else(|| value.get("path")?.as_str())?));
    match config.get("include") {
        Some(Value::Array(list)) => list.iter().filter_map(path).collect(),
        Some(value) => path(value).into_iter().collect(),
        None => Vec::new(),
    }
}

/// Makes the paths of vendored sources and certificates absolute.
fn absolute(settings: &mut Table, base: &Path) {
    let sources =
        settings.iter_mut().filter(|(key, _)| *key == "source").filter_map(|(_, all)| all.as_table_mut());
    let sources = sources.flatten().filter_map(|(_, source)| source.as_table_mut());
    for source in sources {
        for key in ["directory", "local-registry"] {
            absolute_at(source.get_mut(key), base);
        }
    }
    absolute_at(settings.get_mut("http").and_then(|http| http.get_mut("cainfo")), base);
}

fn absolute_at(value: Option<&mut Value>, base: &Path) {
    if let Some(Value::String(path)) = value {
        *path = base.join(&*path).to_string_lossy().into_owned();
    }
}

/// `Err` if the root directory's configuration contains settings other than those for downloads, because
/// cargo reads it from any directory.
fn check_root_config(path: &Path) -> Result<()> {
    if !path.is_file() {
        return Ok(());
    }
    let config = read(path)?;
    let is_known = |name: &str| DOWNLOADS.contains(&name) || HARMLESS.contains(&name);
    let Some(name) = config.keys().find(|name| !is_known(name)) else { return Ok(()) };
    let text = format!("`{name}` in {} would change the builds that judge ports", path.display());
    Err(Error::new(ErrorKind::Environment, text).help("move it to the user's own ~/.cargo/config.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_settings_for_downloads_reach_the_build() {
        let dir = tempfile::tempdir().unwrap();
        let (user, home) = (dir.path().join("user"), dir.path().join("cache/home"));
        std::fs::create_dir_all(&user).unwrap();
        let more = "[source.own]\ndirectory = \"vendored\"\n[profile.release]\nopt-level = 0\n";
        std::fs::write(user.join("more.toml"), more).unwrap();
        let text = "include = [\"more.toml\"]\n[source.crates-io]\nreplace-with = \"own\"\n[env]\nCFLAGS = \"-DX\"\n\
            [build]\nrustc-wrapper = \"x\"\n[http]\nproxy = \"p\"\n";
        std::fs::write(user.join("config.toml"), text).unwrap();
        for _ in 0..2 {
            prepare(&home, Some(&user)).unwrap();
            let written: Table = std::fs::read_to_string(home.join("config.toml")).unwrap().parse().unwrap();
            let vendored = dir.path().join("vendored");
            assert_eq!(written["source"]["own"]["directory"].as_str(), vendored.to_str());
            assert_eq!(written["source"]["crates-io"]["replace-with"].as_str(), Some("own"));
            assert_eq!(written.keys().collect::<Vec<_>>(), ["http", "source"]);
        }
        std::fs::write(home.join("registry/x"), "downloaded").unwrap();
        assert_eq!(std::fs::read_to_string(user.join("registry/x")).unwrap(), "downloaded");
        std::fs::remove_file(user.join("config.toml")).unwrap();
        prepare(&home, Some(&user)).unwrap();
        assert_eq!(std::fs::read_to_string(home.join("config.toml")).unwrap(), "");
    }

    #[test]
    fn flags_and_wrappers_of_the_environment_are_left_out() {
        for name in [
            "CFLAGS", "CC_x86_64_unknown_linux_gnu", "RUSTFLAGS", "CARGO_BUILD_RUSTC", "RUSTC_WRAPPER",
            "LD_PRELOAD",
        ] {
            assert!(!is_kept(OsStr::new(name)), "{name}");
        }
        for name in ["PATH", "HTTPS_PROXY", "CARGO_NET_OFFLINE", "CARGO_REGISTRIES_OWN_INDEX"] {
            assert!(is_kept(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn a_configuration_of_the_root_directory_must_not_change_code() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        check_root_config(&path).unwrap();
        std::fs::write(&path, "[net]\noffline = true\n[term]\nquiet = true\n").unwrap();
        check_root_config(&path).unwrap();
        std::fs::write(&path, "[net]\noffline = true\n[env]\nCFLAGS = \"-DX\"\n").unwrap();
        let error = check_root_config(&path).unwrap_err();
        assert!(error.to_string().starts_with("`env` in "), "{error}");
    }
}
