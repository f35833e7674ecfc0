//! The only module that starts child processes. Each gets its own process group, a time limit, resource limits and, if
//! asked for, a report pipe; Ctrl-C ends it.

mod interrupt;
mod job;
mod output;
mod run;
mod spawn;
pub mod time_limits;

pub use interrupt::Interrupt;
pub use job::Job;
pub use output::{Exit, Limits, Output, Stream};

/// The environment variable that holds the descriptor of a child's report pipe.
pub const REPORT_FD: &str = "IMPLFUZZ_REPORT_FD";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use std::time::{Duration, Instant};

    #[test]
    fn output_and_exit_code_are_values() {
        let out =
            Job::new("sh").args(["-c", "echo hi; echo no >&2; exit 3"]).run(&Interrupt::none()).unwrap();
        assert_eq!((out.exit, out.stdout_text().as_str()), (Exit::Code(3), "hi\n"));
        assert_eq!(out.stderr_text(), "no\n");
    }

    #[test]
    fn a_job_past_its_time_is_killed_with_its_children() {
        let started = Instant::now();
        let job = Job::new("sh").args(["-c", "sleep 30 & sleep 30"]).timeout(Duration::from_millis(100));
        assert_eq!(job.run(&Interrupt::none()).unwrap().exit, Exit::TimedOut);
        assert!(started.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn an_interrupt_ends_a_running_job() {
        let interrupt = Interrupt::none();
        let other = interrupt.clone();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            other.set();
        });
        let error = Job::new("sleep").arg("30").run(&interrupt).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
    }

    #[test]
    fn the_report_pipe_reaches_the_parent() {
        // By path: not every shell redirects to descriptors above 9.
        let script = format!("echo verdict > /proc/self/fd/${REPORT_FD}");
        let out = Job::new("sh").args(["-c", &script]).with_report().run(&Interrupt::none()).unwrap();
        assert_eq!(out.report, b"verdict\n");
    }

    #[test]
    fn stdin_reaches_the_child() {
        let out = Job::new("cat").stdin("data").run(&Interrupt::none()).unwrap();
        assert_eq!(out.stdout, b"data");
    }

    #[test]
    fn a_clean_environment_has_no_secrets() {
        let job = Job::new("env").clean_env().env("GIVEN", "1");
        let text = job.run(&Interrupt::none()).unwrap().stdout_text();
        assert!(text.contains("GIVEN=1") && text.contains("PATH="), "{text}");
        assert!(!text.contains("HOME=") && !text.contains("CARGO"), "{text}");
    }

    #[test]
    fn a_missing_program_names_the_mending_command() {
        let error = Job::new("no-such-program-here").run(&Interrupt::none()).unwrap_err();
        assert!(error.to_string().contains("no-such-program-here"));
        assert_eq!(error.help_text(), Some("cargo implfuzz doctor"));
    }
}
