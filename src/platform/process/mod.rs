//! The only module that starts child processes. Each gets its own process group, a time limit, resource limits and, if
//! asked for, a report pipe and a sandbox; Ctrl-C ends it. The group ends with the child, and with this process.

mod interrupt;
mod job;
mod output;
mod run;
mod sandbox;
mod spawn;
mod system_calls;
pub mod time_limits;

pub use interrupt::Interrupt;
pub use job::Job;
pub use output::{Exit, Limits, Output, Stream};
pub use sandbox::{Sandbox, Support, support};
pub use system_calls::Kind;

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
    fn what_a_job_leaves_running_ends_with_it() {
        let started = Instant::now();
        let job = Job::new("sh").args(["-c", "sleep 30 & echo $!"]);
        let out = job.run(&Interrupt::none()).unwrap();
        assert_eq!(out.exit, Exit::Code(0));
        // Nobody keeps the pipes open, either.
        assert!(started.elapsed() < Duration::from_secs(2));
        let process = format!("/proc/{}/stat", out.stdout_text().trim());
        let is_gone = || !std::fs::read_to_string(&process).is_ok_and(|stat| !stat.contains(") Z "));
        let patience = started + Duration::from_secs(5);
        while !is_gone() {
            assert!(Instant::now() < patience, "{process}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn a_job_that_fills_its_room_is_killed() {
        let dir = tempfile::tempdir().unwrap();
        let script = "n=0; while :; do n=$((n + 1)); echo $n; head -c 100000 /dev/zero > $n; done";
        let job = Job::new("sh").args(["-c", script]).room(dir.path(), 4 << 20);
        let error = job.timeout(Duration::from_secs(60)).run(&Interrupt::none()).unwrap_err();
        assert!(error.to_string().contains("more than 4 MiB"), "{error}");
        let job = Job::new("sh").args(["-c", "pwd"]).room(dir.path(), 4 << 30);
        let said = job.run(&Interrupt::none()).unwrap().stdout_text();
        assert_eq!(said.trim(), dir.path().canonicalize().unwrap().to_str().unwrap());
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
