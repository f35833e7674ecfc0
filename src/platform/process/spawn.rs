//! The only code that starts a process, with its group, environment, limits and report pipe.

use super::REPORT_FD;
use super::job::Job;
use super::output::Limits;
use crate::error::{Error, ErrorKind, Result};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Resource, Rlimit, Signal, set_parent_process_death_signal, setrlimit};
use std::io::PipeReader;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

impl Job {
    pub(super) fn spawn(mut self) -> Result<(Child, Option<PipeReader>)> {
        let command = &mut self.command;
        if self.inherit {
            command.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
        } else {
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.process_group(0);
        }
        let (pipe, write_end) =
            if self.report { std::io::pipe().map(|(r, w)| (Some(r), Some(w)))? } else { (None, None) };
        if let Some(end) = &write_end {
            command.env(REPORT_FD, end.as_raw_fd().to_string());
        }
        let limits = self.limits;
        // SAFETY: between fork and exec only plain system calls, which are async-signal-safe.
        unsafe {
            command.pre_exec(move || {
                // The kernel ends the child when this process is killed and cannot end it itself. (It watches the
                // thread that started the child; that thread waits for it.)
                set_parent_process_death_signal(Some(Signal::KILL))?;
                limits.set()?;
                // Both ends close on exec; only in the child is its end kept open.
                write_end.as_ref().map_or(Ok(()), |end| fcntl_setfd(end, FdFlags::empty()))?;
                Ok(())
            });
        }
        let child = spawn_when_free(command).map_err(|error| {
            let program = command.get_program().to_string_lossy();
            Error::new(ErrorKind::Environment, format!("cannot start `{program}`: {error}"))
                .help("cargo implfuzz doctor")
        })?;
        Ok((child, pipe))
    }
}

/// How often, and how far apart, a start is tried again if the program is still open for writing. This happens when the
/// program was just written and another thread's child, which inherited the descriptor, has not reached its exec yet.
const BUSY: (usize, Duration) = (50, Duration::from_millis(20));

fn spawn_when_free(command: &mut Command) -> std::io::Result<Child> {
    for _ in 0..BUSY.0 {
        match command.spawn() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(BUSY.1)
            }
            other => return other,
        }
    }
    command.spawn()
}

impl Limits {
    fn set(self) -> std::io::Result<()> {
        let limits = [
            (Resource::Fsize, self.file_size),
            (Resource::Cpu, self.cpu_seconds),
            (Resource::Core, self.no_core.then_some(0)),
        ];
        for (resource, most) in limits.into_iter().filter(|(_, most)| most.is_some()) {
            setrlimit(resource, Rlimit { current: most, maximum: most })?;
        }
        Ok(())
    }
}
