//! What is linked around a driver to fuzz it: it runs the driver, keeps inputs, leads libFuzzer to one function, and
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
/// Of these, those that belong to harnesses alone. In the last four, the sanitizer itself checks less.
const OF_HARNESSES: [&str; 11] = [
    "posix_memalign", "rand", "srand", "random", "srandom", "time", "clock", "read", "write", "strcmp",
    "strchr",
];
/// Further ones, which belong to drivers alone.
const OF_DRIVERS: [&str; 3] = ["_exit", "abort", "__assert_fail"];

/// Compiles it. With `has_other_entry`, libFuzzer's entry is elsewhere and calls `implfuzz_keep` to run the driver.
///
/// # Errors
/// `C` if it does not compile, `Io`, and Ctrl-C.
pub(super) fn compiled(has_other_entry: bool, place: BuildSite) -> Result<Vec<PathBuf>> {
    let entry = has_other_entry.then_some("-DLLVMFuzzerTestOneInput=implfuzz_keep");
    let compile = |(name, text): &(&str, &str)| {
        let source = place.dir.join(name).with_extension("c");
        let object = source.with_extension("o");
        write_atomic(&source, text.as_bytes())?;
        let job = place.compiler(Language::C).dir(place.dir).timeout(time_limits::COMPILE_OWN_C);
        let job = job.args(["-O1", "-w", "-DIMPLFUZZ_OF_DRIVERS"]).args(entry);
        place.done(job.args(["-c", "-o"]).arg(&object).arg(&source), Utf8Path::new(name))?;
        Ok(object)
    };
    FILES.iter().map(compile).collect()
}

/// The flags for the linker.
pub(super) fn link_flags() -> impl Iterator<Item = String> {
    let wraps = WRAPS.lines().filter(|name| !OF_HARNESSES.contains(name)).chain(OF_DRIVERS);
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
            let part = name.trim_start_matches("__ubsan_handle_").trim_start_matches("__asan_report_");
            let kind =
                part.trim_end_matches("_abort").trim_end_matches("_n").trim_end_matches(char::is_numeric);
            let by_macro = ["COPIES", "FILLS", "COMPARES", "UBSAN", "UBSAN2", "ASAN_BOTH"];
            let by_macro = |text: &str| by_macro.iter().any(|name| texts.contains(&format!("{name}({text}")));
            let is_defined = texts.contains(&format!("__wrap_{name}("));
            let other = part.trim_end_matches("_abort");
            assert!(is_defined || by_macro(name) || by_macro(other) || by_macro(kind), "{name}");
        }
    }
}
