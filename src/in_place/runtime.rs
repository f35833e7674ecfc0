//! The judge's own C files. They are the same for all libraries, so that a user compiles them once for each compiler.

use super::driver::Language;
use crate::digest::sha256;
use crate::error::{Error, Result};
use crate::in_place::build_site::BuildSite;
use crate::platform::process::{Job, time_limits};
use crate::platform::workspace::user_cache;
use camino::Utf8Path;
use fs_err as fs;
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use std::path::{Path, PathBuf};

/// The judge's own files.
pub(super) const RUNTIME: [(&str, &str); 35] = [
    ("in_place.h", include_str!("../../templates/in_place/in_place.h")),
    ("places.c", include_str!("../../templates/in_place/places.c")),
    ("memory.c", include_str!("../../templates/in_place/memory.c")),
    ("constants.c", include_str!("../../templates/in_place/constants.c")),
    ("compare_pages.c", include_str!("../../templates/in_place/compare_pages.c")),
    ("track.c", include_str!("../../templates/in_place/track.c")),
    ("entries.c", include_str!("../../templates/in_place/entries.c")),
    ("called_back.c", include_str!("../../templates/in_place/called_back.c")),
    ("rust_heap.c", include_str!("../../templates/in_place/rust_heap.c")),
    ("call_time_limit.c", include_str!("../../templates/in_place/call_time_limit.c")),
    ("candidate.c", include_str!("../../templates/in_place/candidate.c")),
    ("tape.c", include_str!("../../templates/in_place/tape.c")),
    ("printed.c", include_str!("../../templates/in_place/printed.c")),
    ("killed.h", include_str!("../../templates/in_place/killed.h")),
    ("tape.h", include_str!("../../templates/in_place/tape.h")),
    ("answers.c", include_str!("../../templates/in_place/answers.c")),
    ("compare_call.c", include_str!("../../templates/in_place/compare_call.c")),
    ("no_value.c", include_str!("../../templates/in_place/no_value.c")),
    ("nans.c", include_str!("../../templates/in_place/nans.c")),
    ("words.c", include_str!("../../templates/in_place/words.c")),
    ("judge.c", include_str!("../../templates/in_place/judge.c")),
    ("calls.c", include_str!("../../templates/in_place/calls.c")),
    ("branches.c", include_str!("../../templates/in_place/branches.c")),
    ("watch.c", include_str!("../../templates/in_place/watch.c")),
    ("report.c", include_str!("../../templates/in_place/report.c")),
    ("main.c", include_str!("../../templates/in_place/main.c")),
    ("new.cpp", include_str!("../../templates/in_place/new.cpp")),
    ("registers.inc", include_str!("../../templates/in_place/registers.inc")),
    ("process.c", include_str!("../../templates/in_place/process.c")),
    ("system_calls.c", include_str!("../../templates/fuzz/runtime/system_calls.c")),
    ("temporary.c", include_str!("../../templates/in_place/temporary.c")),
    ("outside.c", include_str!("../../templates/in_place/outside.c")),
    ("outside.S", include_str!("../../templates/in_place/outside.S")),
    ("trampoline_x86_64.S", include_str!("../../templates/in_place/trampoline_x86_64.S")),
    ("trampoline_aarch64.S", include_str!("../../templates/in_place/trampoline_aarch64.S")),
];

/// Those that are compiled for each driver: they name the functions of the system that its program calls.
const OF_PROGRAMS: [&str; 2] = ["outside.S", "tape.c"];

const FLAGS: [&str; 4] = ["-O2", "-w", "-fno-pie", "-fno-stack-protector"];

/// The folder of the objects in the user's cache.
const FOLDER: &str = "judge";

impl BuildSite<'_> {
    /// A compiler of the judge's own files, which are in the folder of the build.
    pub(super) fn own_c(&self, language: Language) -> Job {
        self.compiler(language).dir(self.dir).timeout(time_limits::COMPILE_OWN_C).args(FLAGS)
    }

    /// The objects of the files that are the same for all programs.
    pub(super) fn runtime(&self) -> Result<Vec<PathBuf>> {
        let dir = user_cache().map(|dir| dir.join(FOLDER).join(self.key()));
        let usable = dir.filter(|dir| fs::create_dir_all(dir).is_ok());
        let dir = usable.unwrap_or_else(|| self.dir.to_owned());
        let is_compiled = |name: &&str| {
            !name.ends_with(".h")
                && !name.ends_with(".inc")
                && !is_foreign(name)
                && !OF_PROGRAMS.contains(name)
        };
        let sources: Vec<&str> = RUNTIME.iter().map(|(name, _)| *name).filter(is_compiled).collect();
        sources.into_par_iter().map(|name| self.object(&dir, name)).collect()
    }

    fn object(&self, dir: &Path, name: &str) -> Result<PathBuf> {
        let object = dir.join(format!("{name}.o"));
        if object.is_file() {
            return Ok(object);
        }
        let failed = |error: std::io::Error| {
            Error::io(format!("failed to write `{}`: {error}", object.display()), &error)
        };
        // Others may compile the same at this moment.
        let new = tempfile::Builder::new().suffix(".o").tempfile_in(dir).map_err(failed)?.into_temp_path();
        let language = if name.ends_with(".cpp") { Language::Cxx } else { Language::C };
        let job = self.own_c(language).args(["-c", "-o"]).arg(&new).arg(name);
        self.done(job, Utf8Path::new(name))?;
        new.persist(&object).map_err(|error| failed(error.error))?;
        Ok(object)
    }

    /// Of all that an object depends on.
    fn key(&self) -> String {
        let (cc, cxx) = (&self.toolchain.cc, &self.toolchain.cxx);
        let mut text = format!("{:?} {cc:?} {cxx:?} {}\n", FLAGS, self.toolchain.host);
        for (name, source) in RUNTIME {
            text += name;
            text += source;
        }
        sha256(text)[..16].to_owned()
    }
}

/// Whether the file is for another machine.
fn is_foreign(name: &str) -> bool {
    name.starts_with("trampoline_") && !name.contains(std::env::consts::ARCH)
}
