//! Which sources a library consists of and what they are compiled with: named in the settings, else
//! `compile_commands.json`, else guessed from the `#include` lines.

use super::{compdb, modules, sources};
use crate::error::{Error, ErrorKind, Result};
use crate::symbol::{LeftOut, RelPath, Unit};
use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;
use std::collections::BTreeSet;

/// What the user says about the C side; an empty list means: find out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CSettings {
    /// Source files, relative to the root.
    pub sources: Vec<String>,
    /// Folders for `-I`, relative to the root.
    pub include_dirs: Vec<String>,
    /// `NAME` or `NAME=VALUE`, without `-D`.
    pub defines: Vec<String>,
    /// Further compiler flags, as they are.
    pub flags: Vec<String>,
    /// Files, folders or patterns with `*` that are left out.
    pub exclude: Vec<String>,
}

/// Where the flags come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlagSource {
    /// Sources named in the settings.
    Settings,
    /// This file, relative to the root.
    CompileCommands(Utf8PathBuf),
    /// Guessed from the `#include` lines.
    IncludeGuess,
}

/// The sources of a library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovery {
    pub units: Vec<Unit>,
    pub left_out: Vec<LeftOut>,
    pub source: FlagSource,
}

/// Finds the sources under `root` and their flags. Files with a `main` are found later, by `parse`, because only the
/// preprocessor knows whether theirs is compiled.
///
/// # Errors
/// `C` when there is no C source, a named one is missing, or `compile_commands.json` is broken.
pub fn discover(root: &Utf8Path, settings: &CSettings) -> Result<Discovery> {
    let root = &canonical(root)?;
    let tree = sources::walk(root, &settings.exclude)?;
    let mut left_out = tree.left_out.clone();
    let (files, source) = if !settings.sources.is_empty() {
        let files = named(root, settings)?;
        let listed: BTreeSet<&RelPath> = files.iter().map(|(f, _)| f).collect();
        let reason = "not among the `sources` of implfuzz.toml".to_owned();
        left_out.extend(tree.sources.iter().map(|f| LeftOut { file: f.clone(), reason: reason.clone() }));
        left_out.retain(|left| !listed.contains(&left.file));
        (files, FlagSource::Settings)
    } else if let Some(database) = compdb::find(root) {
        let commands = compdb::read(root, &database)?;
        let mut files = Vec::new();
        for command in commands {
            match sources::why_left_out(&command.file.0, &settings.exclude) {
                Some(reason) => left_out.push(LeftOut { file: command.file, reason }),
                None => files.push((command.file, command.flags)),
            }
        }
        let listed: BTreeSet<&RelPath> = files.iter().map(|(f, _)| f).collect();
        let reason = format!("not in {database}");
        left_out.extend(
            tree.sources
                .iter()
                .filter(|f| !listed.contains(f))
                .map(|f| LeftOut { file: f.clone(), reason: reason.clone() }),
        );
        (files, FlagSource::CompileCommands(database))
    } else {
        (tree.sources.iter().map(|f| (f.clone(), Vec::new())).collect(), FlagSource::IncludeGuess)
    };
    if files.is_empty() {
        return Err(no_source(root, &left_out));
    }
    let names: Vec<RelPath> = files.iter().map(|(f, _)| f.clone()).collect();
    let guessed = if settings.include_dirs.is_empty() && !matches!(source, FlagSource::CompileCommands(_)) {
        guess_include_dirs(root, &names, &tree.headers)
    } else {
        Vec::new()
    };
    let common = common_flags(settings, &guessed);
    let modules = modules::names(&names);
    let units = files
        .into_iter()
        .map(|(file, mut flags)| {
            flags.extend(common.iter().cloned());
            Unit { module: modules[&file].clone(), file, flags }
        })
        .collect();
    left_out.sort_by(|a, b| a.file.cmp(&b.file));
    left_out.dedup_by(|a, b| a.file == b.file);
    Ok(Discovery { units, left_out, source })
}

/// The root without symbolic links, as libclang will name the files in it.
pub(super) fn canonical(root: &Utf8Path) -> Result<Utf8PathBuf> {
    root.canonicalize_utf8().map_err(|error| {
        Error::new(ErrorKind::C, format!("the C project {root} cannot be opened: {error}"))
            .help("give the folder of the C library")
    })
}

fn no_source(root: &Utf8Path, left_out: &[LeftOut]) -> Error {
    let also = match left_out {
        [] => String::new(),
        [first, ..] => format!(" ({} left out, such as {}: {})", left_out.len(), first.file, first.reason),
    };
    Error::new(ErrorKind::C, format!("no C source found under {root}{also}"))
        .help("name the sources under [c] sources = [\"…\"] in implfuzz.toml")
}

fn named(root: &Utf8Path, settings: &CSettings) -> Result<Vec<(RelPath, Vec<String>)>> {
    let mut files = Vec::new();
    for source in &settings.sources {
        let path = root.join(source);
        let found = path.canonicalize_utf8().ok().filter(|p| p.is_file()).ok_or_else(|| {
            Error::new(ErrorKind::C, format!("the source {source} does not exist under {root}"))
                .help("correct [c] sources in implfuzz.toml")
        })?;
        let inside = found.strip_prefix(root).map_err(|_| {
            Error::new(ErrorKind::C, format!("the source {source} lies outside {root}"))
                .help("correct [c] sources in implfuzz.toml")
        })?;
        let file = RelPath(inside.to_owned());
        if !files.iter().any(|(f, _)| *f == file) {
            files.push((file, Vec::new()));
        }
    }
    files.sort();
    Ok(files)
}

fn common_flags(settings: &CSettings, guessed: &[Utf8PathBuf]) -> Vec<String> {
    let folders = settings.include_dirs.iter().map(String::as_str).chain(guessed.iter().map(|g| g.as_str()));
    let mut flags: Vec<String> =
        folders.map(|d| format!("-I{}", if d.is_empty() { "." } else { d })).collect();
    flags.extend(settings.defines.iter().map(|d| format!("-D{d}")));
    flags.extend(settings.flags.iter().cloned());
    flags
}

/// Headers of the C library and POSIX: a project file of the same name must not hide them from `<…>`.
const STANDARD: &[&str] = &[
    "assert.h",
    "complex.h",
    "ctype.h",
    "errno.h",
    "fenv.h",
    "float.h",
    "inttypes.h",
    "iso646.h",
    "limits.h",
    "locale.h",
    "math.h",
    "setjmp.h",
    "signal.h",
    "stdalign.h",
    "stdarg.h",
    "stdatomic.h",
    "stdbool.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "stdnoreturn.h",
    "string.h",
    "strings.h",
    "tgmath.h",
    "threads.h",
    "time.h",
    "uchar.h",
    "wchar.h",
    "wctype.h",
    "unistd.h",
    "fcntl.h",
    "pthread.h",
    "endian.h",
    "memory.h",
    "malloc.h",
    "getopt.h",
    "dirent.h",
    "poll.h",
    "netdb.h",
    "dlfcn.h",
    "regex.h",
    "search.h",
    "sched.h",
    "semaphore.h",
    "utime.h",
];

/// For each `#include "x/y.h"` that the includer's folder does not resolve: the folder before a header of the project
/// whose path ends so, the nearest to the includer first. In order of first need.
fn guess_include_dirs(root: &Utf8Path, files: &[RelPath], headers: &[RelPath]) -> Vec<Utf8PathBuf> {
    let mut folders: Vec<Utf8PathBuf> = Vec::new();
    for file in files.iter().chain(headers) {
        let Ok(text) = fs::read(root.join(&file.0)) else { continue };
        let here = file.0.parent().unwrap_or(Utf8Path::new(""));
        for include in sources::includes(&String::from_utf8_lossy(&text)) {
            let is_standard = STANDARD.contains(&include.path.as_str()) || include.path.starts_with("sys/");
            let resolved = root.join(here).join(&include.path).is_file() && !include.is_system
                || folders.iter().any(|f| root.join(f).join(&include.path).is_file());
            if resolved || include.is_system && is_standard {
                continue;
            }
            if let Some(folder) = nearest(here, Utf8Path::new(&include.path), headers, files) {
                folders.push(folder);
            }
        }
    }
    folders
}

fn nearest(
    here: &Utf8Path,
    wanted: &Utf8Path,
    headers: &[RelPath],
    sources: &[RelPath],
) -> Option<Utf8PathBuf> {
    let common =
        |folder: &Utf8Path| folder.components().zip(here.components()).take_while(|(a, b)| a == b).count();
    headers
        .iter()
        .chain(sources)
        .filter(|h| h.0.ends_with(wanted))
        .filter_map(|h| h.0.ancestors().nth(wanted.components().count()))
        .min_by_key(|folder| {
            (std::cmp::Reverse(common(folder)), folder.components().count(), folder.to_path_buf())
        })
        .map(Utf8Path::to_path_buf)
}

/// Turns diagnostics that C of older standards needs back into warnings. One flag each: a list is not understood.
const DEMOTIONS: &[&str] = &[
    "-Wno-error=implicit-function-declaration",
    "-Wno-error=int-conversion",
    "-Wno-error=implicit-int",
    "-Wno-error=incompatible-function-pointer-types",
    "-Wno-error=return-type",
];

/// The arguments for clang: the unit's flags with their paths made absolute, and the demotions.
pub fn clang_arguments(root: &Utf8Path, unit: &Unit) -> Vec<String> {
    let mut arguments = vec!["-xc".to_owned()];
    arguments.extend(unit.flags.iter().map(|flag| {
        let path_flag = compdb::PATH_FLAGS.iter().find(|p| flag.starts_with(**p) && flag.len() > p.len());
        match path_flag {
            Some(p) => {
                let path = root.join(&flag[p.len()..]);
                // An `-include` of a header on the include path is not a file under the root.
                if path.exists() { format!("{p}{path}") } else { flag.clone() }
            }
            None => flag.clone(),
        }
    }));
    arguments.extend(DEMOTIONS.iter().map(|&d| d.to_owned()));
    arguments.push("-fparse-all-comments".into());
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A project on disk; the folder lives as long as the value.
    fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, Utf8PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap().canonicalize_utf8().unwrap();
        for (path, text) in files {
            fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            fs::write(root.join(path), text).unwrap();
        }
        (dir, root)
    }

    fn units(discovery: &Discovery) -> Vec<&str> {
        discovery.units.iter().map(|u| u.file.0.as_str()).collect()
    }

    #[test]
    fn guesses_the_folder_before_the_header() {
        let (_dir, root) = project(&[
            ("src/a.c", "#include \"k/a.h\"\n#include \"b.h\"\n#include <string.h>\n#include <k/c.h>\n"),
            ("src/b.h", ""),
            ("include/k/a.h", ""),
            ("include/k/c.h", ""),
            ("compat/string.h", ""),
            ("tests/t.c", "int main(void){return 0;}"),
            ("rust/x.c", ""),
            (".git/y.c", ""),
        ]);
        let found = discover(&root, &CSettings::default()).unwrap();
        assert_eq!(found.source, FlagSource::IncludeGuess);
        assert_eq!(units(&found), ["src/a.c"]);
        assert_eq!(found.units[0].flags, ["-Iinclude"]);
        assert_eq!(found.left_out.len(), 1);
        assert_eq!(found.left_out[0].file.0, "tests/t.c");
        let arguments = clang_arguments(&root, &found.units[0]);
        assert!(arguments.contains(&format!("-I{root}/include")), "{arguments:?}");
    }

    #[test]
    fn settings_stand_above_all() {
        let (_dir, root) = project(&[("a.c", ""), ("tests/b.c", ""), ("compile_commands.json", "broken")]);
        let settings = CSettings {
            sources: vec!["tests/b.c".into(), "./tests/b.c".into()],
            defines: vec!["X=1".into()],
            ..CSettings::default()
        };
        let found = discover(&root, &settings).unwrap();
        assert_eq!(found.source, FlagSource::Settings);
        assert_eq!(units(&found), ["tests/b.c"]);
        assert_eq!(found.units[0].flags, ["-DX=1"]);
        let gone = CSettings { sources: vec!["no.c".into()], ..CSettings::default() };
        let error = discover(&root, &gone).unwrap_err();
        assert!(error.to_string().contains("no.c"));
        assert_eq!(error.kind(), ErrorKind::C);
    }

    #[test]
    fn nothing_to_do_is_an_error_that_says_so() {
        let (_dir, root) = project(&[("a.txt", ""), ("tests/b.c", "")]);
        let error = discover(&root, &CSettings::default()).unwrap_err();
        assert!(error.to_string().contains("no C source found under"));
        assert!(error.to_string().contains("tests/b.c"));
        assert!(error.help_text().unwrap().contains("implfuzz.toml"));
        assert!(discover(&root.join("gone"), &CSettings::default()).is_err());
    }

    #[test]
    fn excluded_files_are_listed() {
        let (_dir, root) = project(&[("a.c", ""), ("old/b.c", "")]);
        let settings = CSettings { exclude: vec!["old".into()], ..CSettings::default() };
        let found = discover(&root, &settings).unwrap();
        assert_eq!(units(&found), ["a.c"]);
        assert!(found.left_out[0].reason.contains("old"));
    }
}
