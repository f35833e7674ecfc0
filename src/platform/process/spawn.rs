//! The only code that starts a process, with its group, environment, limits, life line and report pipe.

use super::REPORT_FD;
use super::job::Job;
use super::output::Limits;
use super::sandbox::Prepared;
use crate::error::{Error, ErrorKind, Result};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Resource, Rlimit, Signal, getrlimit, set_parent_process_death_signal, setrlimit};
use std::io::{PipeReader, PipeWriter};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A child process that has started.
pub(super) struct Started {
    pub child: Child,
    /// The end of its report pipe.
    pub report: Option<PipeReader>,
    /// The end of its life line: the kernel kills its whole group when this process is no longer there to hold it.
    pub life_line: Option<PipeWriter>,
}

impl Job {
    pub(super) fn spawn(mut self) -> Result<Started> {
        let command = &mut self.command;
        if self.inherit {
            command.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
        } else {
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.process_group(0);
        }
        let (report, write_end) =
            if self.report { std::io::pipe().map(|(r, w)| (Some(r), Some(w)))? } else { (None, None) };
        let (hold, life_line) =
            if self.inherit { (None, None) } else { std::io::pipe().map(|(r, w)| (Some(r), Some(w)))? };
        if let Some(end) = &write_end {
            command.env(REPORT_FD, end.as_raw_fd().to_string());
        }
        let limits = self.limits;
        let program = PathBuf::from(command.get_program());
        let mut sandbox = self.sandbox.map(|sandbox| sandbox.prepare(&program)).transpose()?;
        // SAFETY: between fork and exec only plain system calls, which are async-signal-safe.
        unsafe {
            command.pre_exec(move || {
                // The kernel ends the child when this process is killed and cannot end it itself. (It watches the
                // thread that started the child; that thread waits for it.)
                set_parent_process_death_signal(Some(Signal::KILL))?;
                limits.set()?;
                // Both ends close on exec; only in the child is its end kept open.
                write_end.as_ref().map_or(Ok(()), |end| fcntl_setfd(end, FdFlags::empty()))?;
                hold.as_ref().map_or(Ok(()), end_with_writer)?;
                sandbox.as_mut().map_or(Ok(()), Prepared::enter)
            });
        }
        let child = spawn_when_free(command).map_err(|error| {
            let program = command.get_program().to_string_lossy();
            Error::new(ErrorKind::Environment, format!("cannot start `{program}`: {error}"))
                .help("cargo implfuzz doctor")
        })?;
        Ok(Started { child, report, life_line })
    }
}

/// Linux's number, which `libc` leaves out.
const F_SETSIG: libc::c_int = 10;

/// Lets the kernel kill this process and its group when the last writer of the pipe is gone: also processes that the
/// child has started, which the death of a parent does not reach.
fn end_with_writer(pipe: &PipeReader) -> std::io::Result<()> {
    fcntl_setfd(pipe, FdFlags::empty())?;
    let number = pipe.as_raw_fd();
    // SAFETY: plain system calls on an open descriptor, which are async-signal-safe.
    let done = unsafe {
        libc::fcntl(number, libc::F_SETOWN, -libc::getpid()) == 0
            && libc::fcntl(number, F_SETSIG, libc::SIGKILL) == 0
            && libc::fcntl(number, libc::F_SETFL, libc::O_ASYNC) == 0
    };
    if done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
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
            (Resource::As, self.addresses),
            (Resource::Core, self.no_core.then_some(0)),
        ];
        for (resource, most) in limits.into_iter().filter(|(_, most)| most.is_some()) {
            setrlimit(resource, Rlimit { current: most, maximum: most })?;
        }
        if let Some(stack) = self.stack {
            // The harness raises it where it needs more for itself.
            let maximum = getrlimit(Resource::Stack).maximum;
            let current = maximum.map_or(stack, |most| most.min(stack));
            setrlimit(Resource::Stack, Rlimit { current: Some(current), maximum })?;
        }
        Ok(())
    }
}
