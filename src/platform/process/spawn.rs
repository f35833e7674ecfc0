//! The only code that starts a process, with its group, environment, limits and report pipe.

use super::REPORT_FD;
use super::job::Job;
use super::output::Limits;
use crate::error::{Error, ErrorKind, Result};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

impl Job {
    pub(super) fn spawn(&self) -> Result<(Child, Option<OwnedFd>)> {
        #[expect(clippy::disallowed_methods, reason = "this is the one door")]
        let mut command = Command::new(&self.program);
        command.args(&self.args);
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        if self.clean {
            command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        }
        for (key, value) in &self.env {
            match value {
                Some(value) => command.env(key, value),
                None => command.env_remove(key),
            };
        }
        if self.inherit {
            command.stdin(Stdio::inherit()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
        } else {
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.process_group(0);
        }
        let pipe = if self.report { Some(report_pipe()?) } else { None };
        let write_end = pipe.as_ref().map(|(_, write)| write.as_raw_fd());
        if let Some(fd) = write_end {
            command.env(REPORT_FD, fd.to_string());
        }
        let limits = self.limits;
        // SAFETY: between fork and exec only async-signal-safe calls: prctl, setrlimit and fcntl.
        unsafe {
            command.pre_exec(move || {
                end_with_parent()?;
                set_limits(limits)?;
                if let Some(fd) = write_end
                    && libc::fcntl(fd, libc::F_SETFD, 0) == -1
                {
                    return Err(std::io::Error::last_os_error());
                }
                Ok(())
            });
        }
        let child = spawn_when_free(&mut command).map_err(|error| {
            let program = self.program.to_string_lossy();
            Error::new(ErrorKind::Environment, format!("cannot start `{program}`: {error}"))
                .help("cargo implfuzz doctor")
        })?;
        Ok((child, pipe.map(|(read, _)| read)))
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

/// Makes the kernel end the child when this process is killed and cannot end it itself. (The kernel watches the thread
/// that started the child; that thread waits for it.)
fn end_with_parent() -> std::io::Result<()> {
    // SAFETY: a plain system call.
    match unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

fn set_limits(limits: Limits) -> std::io::Result<()> {
    let set = |resource, value: u64| {
        let limit = libc::rlimit { rlim_cur: value, rlim_max: value };
        // SAFETY: a plain system call on a local struct.
        if unsafe { libc::setrlimit(resource, &limit) } == 0 {
            Ok(())
        } else {
            Err(std::io::Error::last_os_error())
        }
    };
    if let Some(bytes) = limits.file_size {
        set(libc::RLIMIT_FSIZE, bytes)?;
    }
    if let Some(seconds) = limits.cpu_seconds {
        set(libc::RLIMIT_CPU, seconds)?;
    }
    if limits.no_core {
        set(libc::RLIMIT_CORE, 0)?;
    }
    Ok(())
}

/// A pipe that closes on exec at both ends; only in the child is its end kept open.
fn report_pipe() -> Result<(OwnedFd, OwnedFd)> {
    let mut fds = [0; 2];
    // SAFETY: `fds` has room for two descriptors.
    if unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    // SAFETY: both descriptors are new and have no other owner.
    Ok(unsafe { (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])) })
}
