//! `compile_commands.json`: the flags of each source.

use super::kept_flags::{self, Command};
use super::project_paths::ProjectPaths;
use super::shell_words::split;
use crate::error::{Error, ErrorKind, Result};
use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;
use serde::Deserialize;

#[derive(Deserialize)]
struct Entry {
    directory: Utf8PathBuf,
    file: Utf8PathBuf,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

/// The path of the file relative to the root, if it exists.
pub(super) fn find(root: &Utf8Path) -> Option<Utf8PathBuf> {
    ["compile_commands.json", "build/compile_commands.json"]
        .map(Utf8PathBuf::from)
        .into_iter()
        .find(|p| root.join(p).is_file())
}

/// Reads the sources under the root that `file` lists, each once, in path order. `file` is relative to the
/// root.
///
/// # Errors
/// `C` when the file is malformed.
pub(super) fn read(places: &ProjectPaths, file: &Utf8Path) -> Result<Vec<Command>> {
    let text = fs::read_to_string(places.root.join(file))?;
    let entries: Vec<Entry> = serde_json::from_str(&text).map_err(|error| {
        Error::new(ErrorKind::C, format!("{file} cannot be read: {error}"))
            .help(format!("generate {file} again, or name the sources under [c] in implfuzz.toml"))
    })?;
    let commands = entries.into_iter().filter_map(|entry| {
        let arguments = entry.arguments.or_else(|| entry.command.as_deref().map(split))?;
        let arguments = arguments.get(1..).unwrap_or_default();
        Command::new(places, &entry.directory, entry.file.as_str(), arguments)
    });
    Ok(kept_flags::each_once(commands.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbol::RelPath;

    #[test]
    fn reads_a_database() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap().canonicalize_utf8().unwrap();
        fs::create_dir_all(root.join("build")).unwrap();
        fs::create_dir_all(root.join("inc")).unwrap();
        fs::write(root.join("a.c"), "").unwrap();
        let json = format!(
            r#"[{{"directory":"{root}/build","file":"../a.c","command":"cc -I../inc -I.. -I/opt/x -c ../a.c"}},
                {{"directory":"{root}/build","file":"../a.c","command":"cc -DSECOND -c ../a.c"}},
                {{"directory":"{root}","file":"b.cpp","arguments":["c++","@flags","@none","b.cpp"]}},
                {{"directory":"/opt","file":"c.c","arguments":["cc","c.c"]}}]"#
        );
        fs::write(root.join("flags"), "-DTOLD='a b' @more\n-Iinc").unwrap();
        fs::write(root.join("more"), "-DMORE @more").unwrap();
        fs::write(root.join("build/compile_commands.json"), json).unwrap();
        let places = ProjectPaths { root: &root, copy: None };
        let commands = read(&places, &find(&root).unwrap()).unwrap();
        assert_eq!(commands.len(), 2);
        assert_eq!(commands[0].file, RelPath("a.c".into()));
        assert_eq!(commands[0].flags, ["-Iinc", "-I.", "-I/opt/x"]);
        assert_eq!(commands[1].file, RelPath("b.cpp".into()));
        // A file that names itself comes to an end.
        let [first, more @ .., last] = &commands[1].flags[..] else { panic!("{commands:?}") };
        assert_eq!((first.as_str(), last.as_str()), ("-DTOLD=a b", "-Iinc"));
        assert!(!more.is_empty() && more.iter().all(|flag| flag == "-DMORE"), "{more:?}");
        fs::write(root.join("build/compile_commands.json"), "{").unwrap();
        assert_eq!(read(&places, &find(&root).unwrap()).unwrap_err().kind(), ErrorKind::C);
    }
}
