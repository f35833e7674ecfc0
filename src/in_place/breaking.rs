//! How C breaks on an input of a driver: the sanitizer's report.

use crate::error::Result;
use crate::fuzz::sanitizer_report::{tidy, with_names};
use crate::in_place::corpus::ASAN_OPTIONS;
use crate::in_place::sandboxed_run;
use crate::platform::process::{Exit, Interrupt};
use std::path::Path;
use std::time::Duration;

/// Beyond the time limit of one input, with a symbolizer that starts.
const LIMIT: Duration = Duration::from_secs(30);
/// libFuzzer's own limits, so that the program ends as in the campaign.
const LIMITS: [&str; 2] = ["-timeout=2", "-rss_limit_mb=1024"];

/// The report of the sanitised program of a driver on an input; nothing if it runs to its end now.
///
/// # Errors
/// `C` if it fills its folder, `Environment` if it cannot be started, and Ctrl-C.
pub fn report(program: &Path, input: &Path, interrupt: &Interrupt) -> Result<Option<String>> {
    let job = |job: crate::platform::process::Job| {
        let job = with_names(job, ASAN_OPTIONS).limits(sandboxed_run::sanitised());
        job.args(LIMITS).arg(input).may_read([input]).timeout(LIMIT)
    };
    let output = sandboxed_run::run(program, job, interrupt)?;
    Ok(match output.exit {
        Exit::Code(0) => None,
        Exit::TimedOut => Some("it does not return".to_owned()),
        Exit::Code(_) | Exit::Signal(_) => Some(of_sanitizer(&tidy(&output.stderr_text()))),
    })
}

/// The report without what libFuzzer says before it.
fn of_sanitizer(said: &str) -> String {
    let is_start = |line: &&str| line.contains("ERROR: ") || line.contains("runtime error: ");
    let start = said.lines().find(is_start).and_then(|line| said.find(line)).unwrap_or(0);
    said[start..].replace("implfuzz_driver", "LLVMFuzzerTestOneInput")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_begin_with_the_error_and_name_the_driver() {
        let said = "fuzz-a: Running 1 inputs\n==7==ERROR: libFuzzer: timeout after 2 s\n    #0 0x1 in implfuzz_driver a.c:1";
        assert_eq!(
            of_sanitizer(said),
            "==7==ERROR: libFuzzer: timeout after 2 s\n    #0 0x1 in LLVMFuzzerTestOneInput a.c:1"
        );
        assert_eq!(of_sanitizer("no report"), "no report");
    }
}
