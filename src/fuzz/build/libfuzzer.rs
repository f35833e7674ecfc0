//! Compiles libFuzzer once for all builds of a user. Each of its 26 C++ files reads the same large headers;
//! libfuzzer-sys compiles them one by one, in 36 s of processor time (clang 22). As one translation unit they
//! take 4 s.

use crate::digest::of_parts;
use crate::error::{Error, ErrorKind, Result};
use crate::fuzz::build::cargo::{cargo, excerpt};
use crate::fuzz::build::fuzz_binary::Builder;
use crate::fuzz::build::overlay::Overlay;
use crate::fuzz::disk_full;
use crate::platform::process::{Interrupt, Job, Output};
use cargo_metadata::MetadataCommand;
use fs_err as fs;
use std::path::{Path, PathBuf};
use toml_edit::DocumentMut;

/// The crate whose sources are compiled. The generated manifest pins an exact version, so that a seed gives
/// the same inputs everywhere.
const CRATE: &str = "libfuzzer-sys";

/// Files whose names clash with those in other files, so that each is compiled separately.
const ALONE: [&str; 2] = ["FuzzerFork.cpp", "FuzzerInterceptors.cpp"];

/// The flags of a release build of libfuzzer-sys.
const FLAGS: [&str; 7] =
    ["-O3", "-std=c++17", "-fPIC", "-fno-omit-frame-pointer", "-ffunction-sections", "-fdata-sections", "-w"];

impl Builder<'_> {
    /// The archive that every build links; it is compiled in the first build of a user.
    ///
    /// # Errors
    /// If the sources cannot be downloaded or do not compile, and Ctrl-C.
    pub fn libfuzzer(&self, overlay: &Overlay, interrupt: &Interrupt) -> Result<PathBuf> {
        let manifest = fs::read_to_string(overlay.fuzz_manifest())?;
        let wanted = requirement(&manifest).unwrap_or_default();
        let compiler = &self.toolchain.cxx;
        let path = compiler.path.display().to_string();
        let key = of_parts([wanted.as_str(), &path, &compiler.version, &FLAGS.join(" ")]);
        let archive = self.user_dir.join(format!("libfuzzer-{}.a", &key[..16]));
        if archive.is_file() {
            return Ok(archive);
        }
        fs::create_dir_all(&self.user_dir)?;
        let _lock = self.lock(&self.user_dir.join(".implfuzz-libfuzzer-lock"), interrupt)?;
        if !archive.is_file() {
            let sources = self.sources(overlay, interrupt)?;
            self.compile(&sources, &archive, interrupt)?;
        }
        Ok(archive)
    }

    /// The folder with libFuzzer's C++ files, downloaded by cargo.
    fn sources(&self, overlay: &Overlay, interrupt: &Interrupt) -> Result<PathBuf> {
        let output = cargo(self.toolchain, &self.user_dir)?
            .args(["metadata", "--format-version", "1", "--manifest-path"])
            .arg(overlay.fuzz_manifest())
            .run(interrupt)?;
        if !output.exit.success() {
            return Err(failed("cargo cannot download what the fuzz crate needs", &output));
        }
        let metadata = MetadataCommand::parse(output.stdout_text()).map_err(|error| {
            Error::new(ErrorKind::Internal, format!("what cargo metadata printed: {error}"))
        })?;
        let package = metadata.packages.iter().find(|package| package.name.as_str() == CRATE);
        let dir = package.and_then(|package| package.manifest_path.as_std_path().parent());
        let dir =
            dir.ok_or_else(|| Error::new(ErrorKind::Internal, format!("cargo metadata lists no {CRATE}")))?;
        Ok(dir.join("libfuzzer"))
    }

    fn compile(&self, sources: &Path, archive: &Path, interrupt: &Interrupt) -> Result<()> {
        let work = tempfile::tempdir_in(&self.user_dir)?;
        let units = units(sources, work.path())?;
        let object = |unit: &Path| work.path().join(unit.with_extension("o").file_name().unwrap_or_default());
        let run = |unit: &Path| {
            let job = Job::new(&self.toolchain.cxx.path)
                .args(FLAGS)
                .arg("-c")
                .arg(unit)
                .arg("-o")
                .arg(object(unit));
            job.run(interrupt)
        };
        // Not in rayon's pool, which compilers would block.
        let outputs = std::thread::scope(|scope| {
            let threads: Vec<_> = units.iter().map(|unit| scope.spawn(|| run(unit))).collect();
            let join = |thread: std::thread::ScopedJoinHandle<_>| {
                thread.join().expect("starting a compiler does not panic")
            };
            threads.into_iter().map(join).collect::<Result<Vec<_>>>()
        })?;
        let fresh = work.path().join("libfuzzer.a");
        let pack =
            Job::new(&self.toolchain.ar).arg("crs").arg(&fresh).args(units.iter().map(|unit| object(unit)));
        let outputs = match outputs.iter().all(|output| output.exit.success()) {
            true => vec![pack.run(interrupt)?],
            false => outputs,
        };
        if let Some(output) = outputs.iter().find(|output| !output.exit.success()) {
            disk_full::check(output, &output.stderr_text(), &self.user_dir)?;
            return Err(failed("libFuzzer does not compile", output));
        }
        fs::rename(&fresh, archive)?;
        Ok(())
    }
}

/// The version that the generated manifest requires.
fn requirement(manifest: &str) -> Option<String> {
    let manifest: DocumentMut = manifest.parse().ok()?;
    Some(manifest.get("dependencies")?.get(CRATE)?.to_string())
}

/// The translation units: the separate files, and one file that includes all others.
fn units(sources: &Path, work: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(sources)? {
        files.push(entry?.path());
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "cpp"));
    files.sort();
    let is_alone = |path: &PathBuf| ALONE.iter().any(|name| path.file_name().is_some_and(|own| own == *name));
    let (mut units, together): (Vec<_>, Vec<_>) = files.into_iter().partition(is_alone);
    let includes = together.iter().map(|path| format!("#include \"{}\"\n", path.display()));
    let all = work.join("all.cpp");
    fs::write(&all, includes.collect::<String>())?;
    // The slowest unit goes first.
    units.insert(0, all);
    Ok(units)
}

fn failed(what: &str, output: &Output) -> Error {
    Error::new(ErrorKind::Environment, format!("{what}:\n  {}", excerpt(&output.stderr_text())))
        .help("cargo implfuzz doctor")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_clash_stand_alone_and_one_unit_includes_the_others() {
        let [sources, work] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        for name in ["FuzzerMain.cpp", "FuzzerFork.cpp", "FuzzerDefs.h", "FuzzerLoop.cpp"] {
            std::fs::write(sources.path().join(name), "").unwrap();
        }
        let units = units(sources.path(), work.path()).unwrap();
        assert_eq!(units, [work.path().join("all.cpp"), sources.path().join("FuzzerFork.cpp")]);
        let [a, b] = ["FuzzerLoop.cpp", "FuzzerMain.cpp"].map(|name| sources.path().join(name));
        let text = std::fs::read_to_string(&units[0]).unwrap();
        assert_eq!(text, format!("#include \"{}\"\n#include \"{}\"\n", a.display(), b.display()));
    }

    #[test]
    fn the_generated_manifest_names_one_version() {
        let manifest = include_str!("../../../templates/fuzz/Cargo.toml.j2");
        let line = manifest.lines().find(|line| line.starts_with(CRATE)).unwrap();
        assert!(line.starts_with("libfuzzer-sys = \"="), "{line}");
        let wanted = requirement(&format!("[dependencies]\n{line}\n")).unwrap();
        assert!(include_str!("../../../templates/fuzz/runtime.toml").contains(wanted.trim()), "{wanted}");
    }
}
