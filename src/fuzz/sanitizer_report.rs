//! Reports of sanitizers: how to get them with names and lines, and the part of them that is kept.

use crate::platform::process::{Interrupt, Job, Kind, Sandbox, time_limits};
use crate::platform::toolchain::Search;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Maximum number of report lines that are kept.
const LINES: usize = 60;

/// The report without frames of the harness, paths of this machine, and shadow memory bytes.
pub fn tidy(report: &str) -> String {
    const OURS: [&str; 7] =
        ["_fuzz..", "implfuzz_guard", "LLVMFuzzer", "fuzzer::", " in main", " __libc_start", " _start"];
    let is_ours = |line: &str| {
        line.trim_start().starts_with('#')
            && (line.contains("_fuzz::") || OURS.iter().any(|o| line.contains(o)))
    };
    let word = |word: &str| match word.starts_with('/') {
        true => word.rsplit('/').next().unwrap_or_default().to_owned(),
        false => word.to_owned(),
    };
    let is_place = |word: &str| word.starts_with("(/") || word.starts_with("(BuildId:");
    let line = |line: &str| {
        let indent = line.len() - line.trim_start().len();
        let words = line.split_whitespace().scan(false, |inside, word| {
            let was = *inside || is_place(word);
            *inside = was && !word.ends_with(')');
            Some((was, word))
        });
        let kept: Vec<String> = words.filter(|(is_place, _)| !is_place).map(|(_, text)| word(text)).collect();
        format!("{}{}", " ".repeat(indent), kept.join(" "))
    };
    let lines = report.lines().take_while(|text| !text.starts_with("Shadow bytes"));
    let noise =
        |text: &str| text.starts_with("INFO:") || text.starts_with("======") || text.trim().is_empty();
    let lines = lines.filter(|text| !noise(text) && !is_ours(text)).map(line);
    lines.take(LINES).collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// The function at a place in `program` that a sanitizer gives as `(program+0x7)`, if a symbolizer knows it. The sanitizer
/// cannot ask: its process may start no other. The port may have written the line.
pub(super) fn function_at(program: &Path, line: &str, interrupt: &Interrupt) -> Option<String> {
    let offset = offset_in(&program.canonicalize().ok()?, line)?;
    let symbolizer = Search::from_env().program(&["llvm-symbolizer"])?;
    let mut object = OsString::from("--obj=");
    object.push(program);
    let sandbox = Sandbox::new(Kind::Driver).read([program]).read(installation(&symbolizer));
    let job = Job::new(&symbolizer).arg(object).arg(format!("{offset:#x}")).clean_env().sandbox(sandbox);
    let said = job.timeout(time_limits::ONE_INPUT).run(interrupt).ok()?.stdout_text();
    name_in(&said)
}

fn offset_in(program: &Path, line: &str) -> Option<u64> {
    let (_, place) = line.split_once(&format!("({}+0x", program.display()))?;
    u64::from_str_radix(place.split_once(')')?.0, 16).ok()
}

fn name_in(said: &str) -> Option<String> {
    let name = said.lines().next().filter(|name| !name.is_empty() && *name != "??")?;
    // What stands before the sanitizer's own versions of functions.
    Some(name.trim_start_matches('_').strip_prefix("interceptor_").unwrap_or(name).to_owned())
}

/// Lets the sanitizer of a job, which has these options, write stack traces with names and lines, if a symbolizer is found.
/// The sanitizer starts it.
pub fn with_names(job: Job, options: &str) -> Job {
    let options = format!("{options}:symbolize=1:malloc_context_size=8");
    match Search::from_env().program(&["llvm-symbolizer"]) {
        Some(path) => job
            .may_read(installation(&path))
            .env("ASAN_OPTIONS", format!("{options}:external_symbolizer_path={}", path.display())),
        None => job.env("ASAN_OPTIONS", options),
    }
}

/// A program and the libraries installed with it, which may be outside of the folders of the system.
fn installation(program: &Path) -> Vec<PathBuf> {
    let program = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    let libraries = program.ancestors().nth(2).map(|prefix| prefix.join("lib"));
    libraries.into_iter().chain([program]).collect()
}

#[cfg(test)]
mod tests {
    use super::{name_in, offset_in, tidy};
    use std::path::Path;

    #[test]
    fn only_places_in_the_program_are_looked_up() {
        let offset = |line| offset_in(Path::new("/work dir/all"), line);
        assert_eq!(offset("    #1 0x5500  (/work dir/all+0x1f) (BuildId: 7)"), Some(0x1f));
        for line in
            ["(/work dir/all+0x1f", "(/work dir/all+0x--obj)", "(/other+0x1f)", "(/work dir/all+0x)", ""]
        {
            assert_eq!(offset(line), None, "{line}");
        }
    }

    #[test]
    fn functions_have_the_names_of_c() {
        let name = |said| name_in(said);
        assert_eq!(name("parse_line\n/a/b.c:3:4\n").as_deref(), Some("parse_line"));
        assert_eq!(name("__interceptor_memcpy\n??:0\n").as_deref(), Some("memcpy"));
        assert_eq!(name("_parse\n").as_deref(), Some("_parse"));
        assert_eq!((name("??\n??:0:0\n"), name("")), (None, None));
    }

    #[test]
    fn reports_have_the_frames_of_c_and_no_paths() {
        let report = "=================\n==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1\n\
            READ of size 1 at 0x1 thread T0\n    #0 0x55 in c_f (/a/b/bin/all+0x13) (BuildId: ff7)\n\
            \x20   #1 0x56 in lib_fuzz::runtime::guard::run::h1 3c\n    #2 0x57 in main (/a/b/bin/all+0x13) (BuildId: f)\n\n\
            /a/b/x.c:3:9: runtime error: overflow\nShadow bytes around\n  00 00\n";
        assert_eq!(
            tidy(report),
            "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1\n\
             READ of size 1 at 0x1 thread T0\n    #0 0x55 in c_f\nx.c:3:9: runtime error: overflow"
        );
    }
}
