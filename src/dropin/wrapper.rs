//! The C compiler in a build with the port: it calls the real compiler, and adds the port when the library is
//! linked. On the C side, wrappers with the same names and paths only call the real compiler.

use super::arguments::Line;
use super::names::defines;
use crate::c::entries::{CALLED, ROOM};
use crate::error::{Error, ErrorKind, Result};
use crate::platform::process::{Interrupt, Job};
use crate::platform::workspace::write_atomic;
use crate::symbol::RelPath;
use fs_err as fs;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The first argument that turns this program into a compiler; the settings and the real compiler follow.
pub const COMMAND: &str = "dropin-cc";

/// The settings of a compiler wrapper, stored in a file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Settings {
    /// The copy of the library.
    pub tree: PathBuf,
    pub units: BTreeSet<RelPath>,
    /// The sources with entries that are led to the port.
    pub patched: BTreeSet<RelPath>,
    /// Names that only the library defines: functions that the linker replaces, and those of objects with such entries.
    pub functions: BTreeSet<String>,
    /// The port's library.
    pub archive: PathBuf,
    pub runtime: PathBuf,
    /// The system libraries that the port needs.
    pub native: Vec<String>,
    /// A file with one line for each program linked with the port.
    pub log: PathBuf,
}

/// Number of programs and shared libraries linked with the port; 0 without a log.
pub(super) fn linked(log: &Path) -> usize {
    fs::read_to_string(log).unwrap_or_default().lines().count()
}

/// Runs as a compiler. Returns whether the real compiler succeeded.
///
/// # Errors
/// Where the settings cannot be read, or the compiler cannot be started.
pub fn run(arguments: &[OsString]) -> Result<bool> {
    let [settings, compiler, arguments @ ..] = arguments else {
        return Err(Error::new(ErrorKind::Usage, format!("`{COMMAND}` is for builds that `dropin` starts"))
            .help("cargo implfuzz dropin"));
    };
    if std::env::var_os(INSIDE).is_some() {
        return Ok(Job::new(compiler).args(arguments).inherit().run(&Interrupt::none())?.exit.success());
    }
    let settings: Settings = serde_json::from_slice(&fs::read(PathBuf::from(settings))?)
        .map_err(|error| Error::new(ErrorKind::Internal, format!("the settings of `dropin`: {error}")))?;
    let (behind, arguments) = launched(arguments);
    let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let line = Line::read(&words);
    let units = settings.units_of(&line);
    let links = line.links && settings.is_library(&line, &units)?;
    if links {
        settings.note(line.output.as_deref().unwrap_or("a.out"))?;
    }
    let patched = settings.are_patched(&line, &units);
    let command = |called: &[&str]| {
        let mut job = Job::new(compiler).env(INSIDE, "1").args(behind);
        if links {
            job = job.arg("-Wl,--whole-archive").arg(&settings.archive).arg("-Wl,--no-whole-archive");
        }
        job = job.args(arguments);
        if patched {
            // Nothing of a function may be known to its callers: calls lead elsewhere.
            job = job.args(ROOM).arg("-O0").args(called);
        }
        if !units.is_empty() {
            // Warnings about the added text must not become errors.
            job = job.arg("-Wno-error");
        }
        // `defines` cannot read the objects of link-time optimisation.
        if words.iter().any(|word| word.starts_with("-flto")) {
            job = job.arg("-fno-lto");
        }
        if links {
            job = job.arg("-xnone").arg(&settings.runtime).args(settings.native(line.is_static));
        }
        job
    };
    if patched {
        let output = command(&CALLED).run(&Interrupt::none())?;
        if output.exit.success() {
            std::io::stdout().write_all(&output.stdout)?;
            std::io::stderr().write_all(&output.stderr)?;
            return Ok(true);
        }
        // Some code compiles only where it is inlined, such as assembly with constants.
    }
    Ok(command(&[]).inherit().run(&Interrupt::none())?.exit.success())
}

/// Set for child processes: a compiler started by a compiler already has the port on its command line.
const INSIDE: &str = "IMPLFUZZ_DROPIN_COMPILER";

/// Splits off the compiler after a launcher (`CC = ccache gcc`).
fn launched(words: &[OsString]) -> (&[OsString], &[OsString]) {
    let name = words.first().and_then(|word| Path::new(word).file_name()?.to_str());
    words.split_at(usize::from(name.is_some_and(is_compiler)))
}

impl Settings {
    /// The library's sources that a command line compiles.
    fn units_of(&self, line: &Line) -> Vec<&RelPath> {
        let relative = |source: &PathBuf| {
            let path = source.canonicalize().ok()?;
            let path = path.strip_prefix(&self.tree).ok()?.to_str()?.to_owned();
            self.units.get(&RelPath(path.into()))
        };
        line.sources.iter().filter_map(relative).collect()
    }

    /// Whether a command line compiles copies of functions whose entries are led to the port.
    fn are_patched(&self, line: &Line, units: &[&RelPath]) -> bool {
        let includes = || line.sources.iter().any(|source| includes_source(source));
        !self.patched.is_empty() && (units.iter().any(|unit| self.patched.contains(*unit)) || includes())
    }

    /// Whether the linked files include functions of the library that the port replaces.
    fn is_library(&self, line: &Line, units: &[&RelPath]) -> Result<bool> {
        if !units.is_empty() || line.sources.iter().any(|source| includes_source(source)) {
            return Ok(true);
        }
        let has = |path: &PathBuf| fs::read(path).is_ok_and(|file| defines(&file, &self.functions));
        Ok(line.linked().iter().any(has))
    }

    fn native(&self, is_static: bool) -> Vec<String> {
        // Of the unwinder, only the archive can be linked statically.
        let word =
            |word: &String| if is_static && word == "-lgcc_s" { "-lgcc_eh".into() } else { word.clone() };
        self.native.iter().map(word).collect()
    }

    fn note(&self, program: &str) -> Result<()> {
        let mut log = fs::OpenOptions::new().create(true).append(true).open(&self.log)?;
        Ok(log.write_all(format!("{program}\n").as_bytes())?)
    }
}

/// Whether a source includes a C source, itself or through files beside it, as tests often include the source under test.
fn includes_source(path: &Path) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), vec![path.to_owned()]);
    while let Some(path) = open.pop() {
        if !seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
            continue;
        }
        let text = fs::read(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines = text.lines().filter_map(|line| line.trim_start().strip_prefix('#'));
        let names = lines.filter_map(|line| line.trim_start().strip_prefix("include")?.split('"').nth(1));
        for name in names {
            if name.ends_with(".c") {
                return true;
            }
            open.push(path.parent().unwrap_or(Path::new("")).join(name));
        }
    }
    false
}

/// Writes a wrapper for each compiler of the machine, under each name that builds use. Without settings a wrapper
/// only calls its compiler.
pub(super) fn install(
    dir: &Path,
    compilers: &BTreeMap<String, PathBuf>,
    settings: Option<&Path>,
) -> Result<()> {
    let program = std::env::current_exe()?;
    for (name, compiler) in compilers {
        let compiler = quoted(compiler);
        let command = match settings {
            None => compiler,
            Some(settings) => format!("{} {COMMAND} {} {compiler}", quoted(&program), quoted(settings)),
        };
        let path = dir.join(name);
        write_atomic(&path, format!("#!/bin/sh\nexec {command} \"$@\"\n").as_bytes())?;
        fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755))?;
    }
    Ok(())
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', "'\\''"))
}

/// The compilers on a search path by name, the first of each name, and those in `CC` and `CXX`.
pub(super) fn compilers(path: &[PathBuf], named: &[PathBuf]) -> BTreeMap<String, PathBuf> {
    let mut found: BTreeMap<String, PathBuf> = BTreeMap::new();
    let listed =
        path.iter().filter_map(|dir| fs::read_dir(dir).ok()).flatten().flatten().map(|entry| entry.path());
    for path in named.iter().cloned().chain(listed.filter(|path| path.is_file())) {
        let name = path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        if let Some(name) = name.filter(|name| is_compiler(name) || named.contains(&path)) {
            found.entry(name).or_insert(path);
        }
    }
    found
}

/// Whether the name is a compiler's, such as `cc`, `gcc-12`, `x86_64-linux-gnu-g++`.
fn is_compiler(name: &str) -> bool {
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let plain = plain.strip_suffix('-').unwrap_or(plain);
    let last = plain.rsplit('-').next().unwrap_or(plain);
    ["cc", "gcc", "clang", "c++", "g++", "clang++", "tcc"].contains(&last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::process::Exit;

    #[test]
    fn a_launcher_gets_its_compiler_first() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(launched(&words("/usr/bin/gcc -c x.c")).0, words("/usr/bin/gcc"));
        assert!(launched(&words("-c gcc")).0.is_empty() && launched(&words("x.c")).0.is_empty());
    }

    #[test]
    fn compilers_are_known_by_their_names() {
        for name in ["cc", "gcc-12", "clang++-19", "x86_64-linux-gnu-gcc", "x86_64-linux-gnu-g++-12"] {
            assert!(is_compiler(name), "{name}");
        }
        for name in ["gcc-ar", "clang-format", "clang-tidy-19", "rustc", "ccache", "c++filt", "gcc-nm-12"] {
            assert!(!is_compiler(name), "{name}");
        }
    }

    #[test]
    fn a_program_of_any_name_is_started_by_its_wrapper() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().join("it's real");
        std::fs::write(&real, "#!/bin/sh\nprintf '%s|' \"$@\"\nexit 3\n").unwrap();
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o755)).unwrap();
        install(dir.path(), &BTreeMap::from([("cc".into(), real)]), None).unwrap();
        let output = Job::new(dir.path().join("cc")).args(["a b", "$c"]).run(&Interrupt::none()).unwrap();
        assert_eq!((output.exit, output.stdout_text().as_str()), (Exit::Code(3), "a b|$c|"));
    }

    #[test]
    fn a_test_that_includes_its_source_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.c");
        std::fs::write(&path, "#include \"x.h\"\nint c;\n").unwrap();
        assert!(!includes_source(&path));
        std::fs::write(&path, "#include \"t.c.h\"\n").unwrap();
        std::fs::write(dir.path().join("t.c.h"), "#include \"t.c.h\"\n  # include \"../src/x.c\"\n").unwrap();
        assert!(includes_source(&path));
    }
}
