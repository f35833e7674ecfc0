//! What is linked around a driver for its campaign: it runs the driver, keeps inputs, leads libFuzzer to one function, and
//! goes on after inputs on which C breaks.

use super::build_site::BuildSite;
use super::driver::Language;
use crate::error::Result;
use crate::platform::process::{Job, time_limits};
use crate::platform::workspace::write_atomic;
use camino::Utf8Path;
use std::path::{Path, PathBuf};

/// Environment variable with the folder for inputs on which C breaks. Without it, they end the process.
pub(super) const BREAKING: &str = "IMPLFUZZ_BREAKING";

const FILES: [(&str, &str); 5] = [
    ("keep", include_str!("../../templates/in_place/keep.c")),
    ("focus", include_str!("../../templates/in_place/focus.c")),
    ("temporary", include_str!("../../templates/in_place/temporary.c")),
    ("survive", include_str!("../../templates/in_place/survive.c")),
    ("guard", include_str!("../../templates/fuzz/runtime/guard.c")),
];

/// The functions that the linker sends to the guard first.
const WRAPS: &str = include_str!("../../templates/fuzz/wraps.txt");
/// Of these, those that belong to harnesses alone.
const OF_HARNESSES: [&str; 9] =
    ["reallocarray", "posix_memalign", "strdup", "rand", "srand", "random", "srandom", "time", "clock"];

/// Compiles it. With `is_inside`, something else is libFuzzer's entry, and calls `implfuzz_keep` to run the driver.
///
/// # Errors
/// `C` if it does not compile, `Io`, and Ctrl-C.
pub(super) fn compiled(is_inside: bool, place: BuildSite) -> Result<Vec<PathBuf>> {
    let entry = is_inside.then_some("-DLLVMFuzzerTestOneInput=implfuzz_keep");
    let compile = |(name, text): &(&str, &str)| {
        let source = place.dir.join(name).with_extension("c");
        let object = source.with_extension("o");
        write_atomic(&source, text.as_bytes())?;
        let job = place.compiler(Language::C).dir(place.dir).timeout(time_limits::COMPILE_OWN_C);
        let job = job.args(["-O1", "-w", "-DIMPLFUZZ_OWN_EXIT"]).args(entry);
        place.done(job.args(["-c", "-o"]).arg(&object).arg(&source), Utf8Path::new(name))?;
        Ok(object)
    };
    FILES.iter().map(compile).collect()
}

/// The flags for the linker.
pub(super) fn link_flags() -> impl Iterator<Item = String> {
    let wraps = WRAPS.lines().filter(|name| !OF_HARNESSES.contains(name)).chain(["_exit"]);
    wraps.map(|name| format!("-Wl,--wrap={name}"))
}

/// For a run of libFuzzer that goes on after inputs on which C breaks.
pub(super) fn goes_on(job: Job, breaking: &Path) -> Job {
    job.env(BREAKING, breaking)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrapped_is_defined() {
        let texts = FILES.map(|(_, text)| text).concat();
        for flag in link_flags() {
            let name = flag.strip_prefix("-Wl,--wrap=").unwrap();
            let made = ["__ubsan_handle_", "__asan_report_"].iter().any(|prefix| name.starts_with(prefix));
            let by_macro = [format!("COPIES({name}"), format!("FILLS({name}"), format!("COMPARES({name}")];
            let is_defined = texts.contains(&format!("__wrap_{name}("));
            assert!(made || is_defined || by_macro.iter().any(|text| texts.contains(text)), "{name}");
        }
    }
}
