//! Drivers: files with the function that libFuzzer calls, in C or C++.

use crate::error::{Error, ErrorKind, Result};
use crate::symbol::Library;
use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;
use walkdir::WalkDir;

/// The function that libFuzzer calls.
const ENTRY: &str = "LLVMFuzzerTestOneInput";

/// Folders that this tool or a build writes.
const SKIPPED: [&str; 4] = ["rust", "target", "node_modules", "CMakeFiles"];

/// A program that runs the library on an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Driver {
    /// The file's name without its ending.
    pub name: String,
    /// Relative to the root.
    pub file: Utf8PathBuf,
    pub language: Language,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
pub enum Language {
    C,
    #[strum(serialize = "C++")]
    Cxx,
}

impl Language {
    /// The language of a file, by its ending.
    pub fn of(file: &Utf8Path) -> Option<Self> {
        match file.extension()? {
            "c" => Some(Self::C),
            "cc" | "cpp" | "cxx" | "C" => Some(Self::Cxx),
            _ => None,
        }
    }
}

/// The drivers that the settings name, or else those in the repository, by path, without files of the library.
///
/// # Errors
/// `Config` where a named file is missing, or has no such function.
pub fn drivers(root: &Utf8Path, named: &[String], library: &Library) -> Result<Vec<Driver>> {
    let mut drivers = Vec::new();
    for name in named {
        let file = Utf8PathBuf::from(name);
        let driver = read(root, &file)?.ok_or_else(|| {
            let text = format!("`files` under [drivers] in implfuzz.toml names {file}, which is not a C or C++ file that defines {ENTRY}");
            Error::new(ErrorKind::Config, text).help("correct `files` there, or delete it: then all drivers of the repository are found")
        })?;
        drivers.push(driver);
    }
    if named.is_empty() {
        drivers = found(root)?;
        // The library has such a file already; what is between `#ifdef` there is not compiled.
        drivers.retain(|driver| library.units.iter().all(|unit| unit.file.0 != driver.file));
    }
    Ok(distinct(drivers))
}

fn found(root: &Utf8Path) -> Result<Vec<Driver>> {
    let mut drivers = Vec::new();
    for path in files(root)? {
        drivers.extend(read(root, &path)?);
    }
    Ok(drivers)
}

/// The files of a repository by path, without those that this tool or a build writes.
///
/// # Errors
/// `Io` where a folder cannot be read.
pub fn files(root: &Utf8Path) -> Result<Vec<Utf8PathBuf>> {
    let is_read = |entry: &walkdir::DirEntry| match entry.file_name().to_str() {
        Some(name) => !entry.file_type().is_dir() || !name.starts_with('.') && !SKIPPED.contains(&name),
        None => false,
    };
    let mut files = Vec::new();
    for entry in WalkDir::new(root).min_depth(1).sort_by_file_name().into_iter().filter_entry(is_read) {
        let entry = entry.map_err(std::io::Error::from)?;
        let path = entry.path().strip_prefix(root).ok().and_then(Utf8Path::from_path);
        files.extend(path.filter(|_| entry.file_type().is_file()).map(Utf8Path::to_owned));
    }
    Ok(files)
}

/// The driver in a file, if there is one.
fn read(root: &Utf8Path, file: &Utf8Path) -> Result<Option<Driver>> {
    let Some(language) = Language::of(file) else { return Ok(None) };
    let path = root.join(file);
    if !path.is_file() || !defines_entry(&String::from_utf8_lossy(&fs::read(path)?)) {
        return Ok(None);
    }
    let name = file.file_stem().unwrap_or(file.as_str()).to_owned();
    Ok(Some(Driver { name, file: file.to_owned(), language }))
}

/// Whether the text has a body for the entry, rather than a declaration or a call.
pub fn defines_entry(text: &str) -> bool {
    text.match_indices(ENTRY).any(|(at, _)| {
        let behind = text[at + ENTRY.len()..].trim_start();
        let Some(parameters) = behind.strip_prefix('(') else { return false };
        let Some(end) = parameters.find(')') else { return false };
        parameters[..end].contains(',') && parameters[end + 1..].trim_start().starts_with('{')
    })
}

/// Files of the same name get their folders' names before it.
fn distinct(mut drivers: Vec<Driver>) -> Vec<Driver> {
    let names: Vec<String> = drivers.iter().map(|driver| driver.name.clone()).collect();
    for driver in &mut drivers {
        if names.iter().filter(|name| **name == driver.name).count() > 1 {
            driver.name = driver.file.with_extension("").as_str().replace('/', "-");
        }
    }
    drivers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbol::{RelPath, Unit};

    #[test]
    fn definitions_are_found_and_declarations_are_not() {
        let body = "extern \"C\" int LLVMFuzzerTestOneInput(const uint8_t *data,\n  size_t n)\n{ return 0; }";
        assert!(defines_entry(body));
        for text in [
            "int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);",
            "return LLVMFuzzerTestOneInput(data, size);",
            "if (LLVMFuzzerTestOneInput(data, size)) {",
        ] {
            assert!(!defines_entry(text), "{text}");
        }
    }

    #[test]
    fn drivers_are_found_in_the_repository_or_named() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap();
        let body = "int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) { return 0; }";
        for (file, text) in [
            ("fuzz/a.c", body),
            ("b.cc", body),
            ("rust/fuzz/a.c", body),
            ("x/a.c", body),
            ("c.c", "int main;"),
        ] {
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            std::fs::write(root.join(file), text).unwrap();
        }
        let mut library = Library::default();
        let names = |drivers: Vec<Driver>| drivers.into_iter().map(|driver| driver.name).collect::<Vec<_>>();
        assert_eq!(names(drivers(root, &[], &library).unwrap()), ["b", "fuzz-a", "x-a"]);
        assert_eq!(names(drivers(root, &["x/a.c".into()], &library).unwrap()), ["a"]);
        let error = drivers(root, &["c.c".into()], &library).unwrap_err();
        assert!(error.to_string().contains("c.c"), "{error}");
        // A library may have its fuzz target in one of its own files, behind `#ifdef`.
        let file = RelPath("x/a.c".into());
        library.units.push(Unit { file, module: "a".into(), flags: Vec::new() });
        assert_eq!(names(drivers(root, &[], &library).unwrap()), ["b", "a"]);
    }
}
