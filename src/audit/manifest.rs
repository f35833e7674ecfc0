//! Audits the port crate's `Cargo.toml`: it must not rename a dependency, redirect it, or point the compiler to other
//! source files. Every dependency comes from a registry under its own name. The crate is a workspace of its own, and
//! inherits nothing: settings of another manifest would decide without being part of the evidence.

use super::allowed_names;
use toml::{Table, Value};

/// Crates that come with the compiler.
const RUST: [&str; 5] = ["alloc", "core", "proc_macro", "std", "test"];

/// Whether a crate of this name would hide what the audit takes the name for: the compiler prefers the crate.
pub fn hides(name: &str) -> bool {
    RUST.contains(&name) || allowed_names::is_prelude(name)
}

/// Why a port cannot be judged with this manifest.
pub fn manifest_refusal(text: &str) -> Option<String> {
    let manifest: Table = match toml::from_str(text) {
        Ok(manifest) => manifest,
        Err(error) => return Some(format!("it is not TOML: {}", error.message())),
    };
    let other_file = |table: &str, key: &str, wanted: &str| {
        let file = manifest.get(table)?.get(key)?.as_str()?;
        let is_other = file.strip_prefix("./").unwrap_or(file) != wanted;
        is_other.then(|| format!("the port's crate is built from {file}, not from {wanted}"))
    };
    let other_crate = || {
        let replaced = ["patch", "replace"].into_iter().find(|key| manifest.contains_key(*key));
        let words = |key| format!("[{key}] replaces crates that the port is judged with");
        replaced.map(words)
    };
    other_file("lib", "path", "src/lib.rs")
        .or_else(|| other_file("package", "build", "build.rs"))
        .or_else(other_crate)
        .or_else(|| other_workspace(&manifest))
        .or_else(|| dependencies(&manifest).find_map(|(name, wanted)| dependency(name, wanted)))
}

/// Why settings of another manifest decide how the crate is compiled.
fn other_workspace(manifest: &Table) -> Option<String> {
    if !manifest.contains_key("workspace") {
        let text = "it has no [workspace] table, so profiles and patches of another manifest may apply; add an empty one, and `exclude` the crate in the outer manifest";
        return Some(text.to_owned());
    }
    let inherits = |value: &Value| value.get("workspace").is_some();
    let package = manifest.get("package").and_then(Value::as_table).into_iter().flatten();
    let package = package.filter(|(key, value)| !DESCRIPTIVE.contains(&key.as_str()) && inherits(value));
    let lints = manifest.get("lints").filter(|lints| inherits(lints)).map(|_| "lints");
    let inherited = package.map(|(key, _)| key.as_str()).chain(lints);
    let inherited =
        inherited.chain(dependencies(manifest).filter(|(_, it)| inherits(it)).map(|(key, _)| key));
    inherited.map(|key| format!("`{key}` is inherited from a workspace; write its value here")).next()
}

/// Keys of `[package]` that change no code.
const DESCRIPTIVE: [&str; 17] = [
    "name", "version", "description", "authors", "license", "license-file", "repository", "homepage",
    "documentation", "readme", "keywords", "categories", "publish", "rust-version", "include", "exclude",
    "metadata",
];

/// Tables of other targets, which the library does not read.
const OF_OTHER_TARGETS: [&str; 6] = ["badges", "bench", "bin", "dev-dependencies", "example", "test"];

/// The settings of a manifest that decide how the library is compiled, each in a line: edition, features, lints,
/// profiles, dependencies. Order, layout and comments do not count.
pub fn deciding_settings(text: &str) -> String {
    let Ok(mut manifest) = toml::from_str::<Table>(text) else { return text.to_owned() };
    manifest.retain(|name, _| !OF_OTHER_TARGETS.contains(&name));
    if let Some(package) = manifest.get_mut("package").and_then(Value::as_table_mut) {
        package.retain(|name, _| !DESCRIPTIVE.contains(&name));
    }
    let mut lines = Vec::new();
    settings(String::new(), &Value::Table(manifest), &mut lines);
    lines.sort();
    lines.concat()
}

fn settings(path: String, value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::Table(table) if !table.is_empty() => {
            for (name, value) in table {
                settings(format!("{path}.{name:?}"), value, lines);
            }
        }
        _ => lines.push(format!("{path} = {value}\n")),
    }
}

/// Those of every platform, and those that they may be inherited from.
fn dependencies(manifest: &Table) -> impl Iterator<Item = (&str, &Value)> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let places = targets.into_iter().flat_map(Table::values).chain(manifest.get("workspace"));
    let inner = places.filter_map(|place| place.get("dependencies"));
    let tables = manifest.get("dependencies").into_iter().chain(inner).filter_map(Value::as_table);
    tables.flatten().map(|(name, wanted)| (name.as_str(), wanted))
}

fn dependency(name: &str, wanted: &Value) -> Option<String> {
    if hides(&name.replace('-', "_")) {
        return Some(format!("a dependency is called `{name}`, which the audit reads as Rust's own"));
    }
    if let Some(package) = wanted.get("package").and_then(Value::as_str).filter(|package| *package != name) {
        return Some(format!("the crate `{package}` is used under the name `{name}`"));
    }
    let from = |key: &&str| wanted.get(key).is_some();
    if ["path", "git"].iter().any(from) {
        return Some(format!("the crate `{name}` is linked with the port and does not come from a registry"));
    }
    let is_other = name == "libc" && ["registry", "registry-index"].iter().any(from);
    is_other.then(|| "`libc` comes from another registry than crates.io".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `init` writes, with `more` behind it.
    fn with(more: &str) -> Option<String> {
        let manifest = crate::harness::files::port_manifest("kit").unwrap();
        manifest_refusal(&format!("{manifest}\n{more}"))
    }

    #[test]
    fn a_crate_goes_by_its_own_name_and_hides_none_of_rusts() {
        for (more, words) in [
            ("[dependencies.core]\npackage = \"some-core\"\nversion = \"1\"", "called `core`"),
            ("[dependencies.alloc]\nversion = \"1\"", "called `alloc`"),
            ("[dependencies]\nstd = \"1\"", "not TOML"),
            ("[dependencies.proc-macro]\nversion = \"1\"", "called `proc-macro`"),
            ("[dependencies.Vec]\npackage = \"my-vec\"\nversion = \"1\"", "called `Vec`"),
            ("[target.'cfg(unix)'.dependencies]\ntest = \"1\"", "called `test`"),
            (
                "[target.x86_64-unknown-linux-gnu.dependencies]\nlibc = { package = \"x\", version = \"1\" }",
                "crate `x`",
            ),
            ("[workspace.dependencies]\nlibc = { package = \"x\", version = \"1\" }", "crate `x`"),
            ("[workspace.dependencies.u32]\nversion = \"1\"", "called `u32`"),
            ("[dependencies.memchr]\npackage = \"x\"\nversion = \"1\"", "crate `x`"),
            ("[dependencies.memchr]\npath = \"mine\"", "`memchr` is linked"),
            ("[dependencies.memchr]\ngit = \"https://example.org/x\"", "`memchr` is linked"),
            ("[target.'cfg(unix)'.dependencies.libc]\nversion = \"1\"\nregistry = \"x\"", "another registry"),
            ("[patch.crates-io]\nlibc = { path = \"mine\" }", "[patch]"),
            ("[replace]\n\"libc:0.2.1\" = { path = \"mine\" }", "[replace]"),
        ] {
            let refusal = with(more).unwrap_or_default();
            assert!(refusal.contains(words), "{more}: {refusal}");
        }
        for more in [
            "",
            "[dependencies.memchr]\npackage = \"memchr\"\nversion = \"2\"",
            "[dev-dependencies]\nx = \"1\"",
        ] {
            assert_eq!(with(more), None, "{more}");
        }
    }

    #[test]
    fn the_crate_is_built_from_the_files_that_are_read() {
        let refusal = |text: &str| manifest_refusal(text).unwrap_or_default();
        assert!(refusal("[lib]\npath = \"src/root.rs\"").contains("built from src/root.rs"));
        assert!(refusal("[package]\nbuild = \"mine.rs\"").contains("built from mine.rs"));
        let same = "[package]\nbuild = \"build.rs\"\n[lib]\npath = \"./src/lib.rs\"\n[workspace]";
        assert_eq!(manifest_refusal(same), None);
    }

    #[test]
    fn no_other_manifest_decides() {
        let manifest = crate::harness::files::port_manifest("kit").unwrap();
        for (from, to, words) in [
            ("[workspace]", "", "no [workspace] table"),
            ("edition = \"2024\"", "edition.workspace = true", "`edition` is inherited"),
            ("libc = \"0.2\"", "libc.workspace = true", "`libc` is inherited"),
            ("[workspace]", "[lints]\nworkspace = true\n[workspace]", "`lints` is inherited"),
        ] {
            assert!(manifest.contains(from), "{from}");
            let refusal = manifest_refusal(&manifest.replace(from, to)).unwrap_or_default();
            assert!(refusal.contains(words), "{to}: {refusal}");
        }
        let described = manifest.replace("version = \"0.1.0\"", "version.workspace = true");
        assert_eq!(manifest_refusal(&described), None);
    }

    #[test]
    fn the_edition_decides_and_the_version_does_not() {
        let manifest = crate::harness::files::port_manifest("kit").unwrap();
        let same = manifest.replace("\"kit\"", "\"other\"").replace("0.1.0", "0.2.0")
            + "# a remark\n[[test]]\nname = \"t\"\n";
        assert_ne!(manifest, same);
        assert_eq!(deciding_settings(&manifest), deciding_settings(&same));
        for (from, to) in [
            ("2024", "2021"),
            ("capi = []", "capi = [\"c-original\"]"),
            ("libc = \"0.2\"", "libc = \"=0.2.1\""),
        ] {
            assert_ne!(
                deciding_settings(&manifest),
                deciding_settings(&manifest.replace(from, to)),
                "{from}"
            );
        }
        let linted = format!("{manifest}\n[profile.release]\nlto = true\n");
        assert_ne!(deciding_settings(&manifest), deciding_settings(&linted));
    }
}
