//! Compiles the harness runtime once for all copies of a port crate, and for all port crates that share a
//! target directory. The runtime's text is the same in all of them; only the harnesses differ. Each copy
//! therefore refers to the runtime in the target directory.

use crate::digest::of_parts;
use crate::error::{Error, ErrorKind, Result};
use crate::fuzz::build::leftovers::remove_others;
use crate::platform::workspace::write_atomic;
use fs_err as fs;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use toml_edit::DocumentMut;

/// The runtime's folder in the port crate.
pub const FOLDER: &str = "fuzz/runtime";

/// The manifest that refers to the runtime.
const MANIFEST: &str = "fuzz/Cargo.toml";

/// The folder of the shared runtime in a target directory.
pub const SHARED: &str = "runtime";

/// The shared runtime.
pub struct Shared {
    /// A folder named after a hash of its content.
    pub dir: PathBuf,
    /// The path and the new text of the fuzz crate's manifest, which refers to that folder.
    pub manifest: (PathBuf, String),
}

/// Copies the runtime of the crate at `source` into the target directory.
///
/// # Errors
/// `Config` if the fuzz crate's manifest does not refer to a runtime.
pub fn share(source: &Path, target_dir: &Path, replaced: &[(PathBuf, String)]) -> Result<Shared> {
    let text = |path: &Path| match replaced.iter().find(|(other, _)| other == path) {
        Some((_, text)) => Ok(text.clone().into_bytes()),
        None => fs::read(source.join(path)),
    };
    let mut files = Vec::new();
    for folder in ["", "src"].map(|below| Path::new(FOLDER).join(below)) {
        let entries: Vec<_> = fs::read_dir(source.join(&folder))?.collect::<std::io::Result<_>>()?;
        let entries = entries.iter().filter(|entry| entry.path().is_file());
        let mut names: Vec<PathBuf> = entries.map(|entry| folder.join(entry.file_name())).collect();
        names.sort();
        for path in names {
            let text = text(&path)?;
            files.push((path, text));
        }
    }
    let parts = files.iter().flat_map(|(path, text)| [path.as_os_str().as_encoded_bytes(), text]);
    let dir = target_dir.join(SHARED).join(&of_parts(parts)[..16]);
    let mut wanted = BTreeSet::new();
    for (path, text) in &files {
        let below = path.strip_prefix(FOLDER).unwrap_or(path);
        write_atomic(&dir.join(below), text)?;
        wanted.insert(below.to_owned());
    }
    remove_others(&dir, &wanted)?;
    let manifest = PathBuf::from(MANIFEST);
    let manifest_text = String::from_utf8_lossy(&text(&manifest)?).into_owned();
    let manifest_text = renamed(&manifest_text, &dir).map_err(|error| {
        let what = format!("{}: {error}", source.join(MANIFEST).display());
        Error::new(ErrorKind::Config, what).help("run `cargo implfuzz init`, which writes it again")
    })?;
    Ok(Shared { dir, manifest: (manifest, manifest_text) })
}

/// The manifest with a reference to the runtime at `dir`.
fn renamed(manifest: &str, dir: &Path) -> std::result::Result<String, String> {
    let mut manifest: DocumentMut = manifest.parse().map_err(|error| format!("{error}"))?;
    let runtime = manifest.get_mut("dependencies").and_then(|all| all.get_mut("implfuzz-runtime"));
    let path = runtime.and_then(|runtime| runtime.get_mut("path")).ok_or("it names no implfuzz-runtime")?;
    *path = toml_edit::value(dir.display().to_string());
    Ok(manifest.to_string())
}
