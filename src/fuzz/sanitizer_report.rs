//! Reports of sanitizers: how to get them with names and lines, and the part of them that is kept.

use super::campaign::ASAN_OPTIONS;
use crate::platform::process::{Interrupt, Job, time_limits};
use crate::platform::toolchain::Search;

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

/// The function at a place that a sanitizer gives as `(program+0x7)`, if a symbolizer knows it. The sanitizer cannot ask:
/// its process may start no other.
pub(super) fn function_at(line: &str, interrupt: &Interrupt) -> Option<String> {
    let (_, place) = line.split_once("(/")?;
    let (program, offset) = place.split_once(')')?.0.rsplit_once("+0x")?;
    let symbolizer = Search::from_env().program(&["llvm-symbolizer"])?;
    let job = Job::new(symbolizer).arg(format!("--obj=/{program}")).arg(format!("0x{offset}"));
    let said = job.timeout(time_limits::ONE_INPUT).run(interrupt).ok()?.stdout_text();
    let name = said.lines().next().filter(|name| !name.is_empty() && *name != "??")?;
    // What stands before the sanitizer's own versions of functions.
    Some(name.trim_start_matches('_').strip_prefix("interceptor_").unwrap_or(name).to_owned())
}

/// Sanitizer options for stack traces with names and lines, if a symbolizer is found.
pub fn reporting() -> String {
    let symbolizer = Search::from_env().program(&["llvm-symbolizer"]);
    let symbolizer =
        symbolizer.map_or_else(String::new, |path| format!(":external_symbolizer_path={}", path.display()));
    format!("{ASAN_OPTIONS}:symbolize=1:malloc_context_size=8{symbolizer}")
}

#[cfg(test)]
mod tests {
    use super::tidy;

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
