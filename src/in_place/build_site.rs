//! Where programs are built, and with which tools.

use super::driver::Language;
use crate::error::{Error, ErrorKind, Result};
use crate::fuzz::disk_full;
use crate::platform::process::{Exit, Interrupt, Job};
use crate::platform::toolchain::{CompilerKind, Toolchain};
use camino::Utf8Path;
use std::path::Path;

/// A folder for the files of a build, and the tools.
#[derive(Debug, Clone, Copy)]
pub struct BuildSite<'a> {
    pub dir: &'a Path,
    pub toolchain: &'a Toolchain,
    pub interrupt: &'a Interrupt,
}

impl BuildSite<'_> {
    /// The compiler of a language: clang is both, so that libFuzzer's flags work for C++, too.
    pub fn compiler(&self, language: Language) -> Job {
        let cc = &self.toolchain.cc;
        match (language, cc.kind) {
            (Language::C, _) => Job::new(&cc.path),
            (Language::Cxx, CompilerKind::Clang) => Job::new(&cc.path).arg("--driver-mode=g++"),
            (Language::Cxx, CompilerKind::Gcc) => Job::new(&self.toolchain.cxx.path),
        }
    }

    /// Gives an object's references to the system the judge's names.
    pub(super) fn rename(&self, object: &Path, renames: &Path) -> Result<()> {
        let job = Job::new(&self.toolchain.objcopy).arg("--redefine-syms").arg(renames).arg(object);
        self.done(job, Utf8Path::new("objcopy"))
    }

    /// Runs a compiler or linker.
    pub(super) fn done(&self, job: Job, what: &Utf8Path) -> Result<()> {
        let output = job.env("LC_ALL", "C").run(self.interrupt)?;
        if output.exit.success() {
            return Ok(());
        }
        if output.exit == Exit::TimedOut {
            let seconds = output.elapsed.as_secs();
            let text =
                format!("{what} cannot be built to run the library: the tools were ended after {seconds} s");
            return Err(Error::new(ErrorKind::C, text).help("run it again when the machine has less to do"));
        }
        let said = output.stderr_text();
        disk_full::check_own(&output, &said, self.dir)?;
        // Where a linker names symbols twice, that line says why.
        let tells = ["error", "undefined", "multiple definition", "duplicate symbol"];
        let mut lines: Vec<&str> =
            said.lines().filter(|line| tells.iter().any(|word| line.contains(word))).collect();
        lines.truncate(8);
        let said = if lines.is_empty() { said.trim().to_owned() } else { lines.join("\n  ") };
        let has = |words: [&str; 2]| words.iter().any(|word| said.contains(word));
        let help = if has(["multiple definition", "duplicate symbol"]) {
            "the driver includes a C file of the library, which is linked as well: include its header instead (a test that \
             calls statics in this way cannot be a driver)"
        } else if has(["undefined reference", "undefined symbol"]) {
            "in the driver, include the C files that it needs besides the library, and name libraries of the system in \
             `link` under [drivers] in implfuzz.toml"
        } else {
            "`flags` and `link` under [drivers] in implfuzz.toml go to the compiler and the linker"
        };
        Err(Error::new(ErrorKind::C, format!("{what} cannot be built to run the library:\n  {said}"))
            .help(help))
    }
}
