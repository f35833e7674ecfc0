//! The one door for child processes: own process group, time limit, resource limits, an optional report pipe, and
//! Ctrl-C. Nothing else in the crate spawns.

use crate::error::{Error, ErrorKind, Result};
use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Name of the variable that tells a child the number of its report pipe.
pub const REPORT_FD: &str = "IMPLFUZZ_REPORT_FD";

/// How much of each stream is kept; what comes later is read and dropped.
const OUTPUT_CAP: usize = 64 << 20;

/// Ctrl-C, as a value that is passed down. The second Ctrl-C ends the process at once.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// One that nothing sets.
    pub fn none() -> Self {
        Self::default()
    }

    /// Listens to SIGINT and SIGTERM from now on.
    pub fn listen() -> Result<Self> {
        let this = Self::default();
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            let register = || -> std::io::Result<()> {
                signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&this.0))?;
                signal_hook::flag::register(signal, Arc::clone(&this.0))?;
                Ok(())
            };
            register()?;
        }
        Ok(this)
    }

    /// Whether Ctrl-C was pressed.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// An error if Ctrl-C was pressed.
    pub fn check(&self) -> Result<()> {
        if self.is_set() { Err(Error::interrupted()) } else { Ok(()) }
    }

    /// Sets it, as Ctrl-C does.
    pub fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    Signal(i32),
    TimedOut,
}

impl Exit {
    /// Whether it ended with code 0.
    pub fn success(self) -> bool {
        self == Self::Code(0)
    }
}

/// What a child left behind.
#[derive(Debug)]
pub struct Output {
    pub exit: Exit,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// What it wrote into its report pipe.
    pub report: Vec<u8>,
    pub elapsed: Duration,
}

impl Output {
    /// Standard output as text.
    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error as text.
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

/// Limits that the kernel enforces on a child. Absent: inherited.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    /// Largest file that it may write, bytes.
    pub file_size: Option<u64>,
    /// Processor time, seconds.
    pub cpu_seconds: Option<u64>,
    /// Core dumps are always off where limits are set.
    pub no_core: bool,
}

/// Which stream a chunk came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
    Report,
}

/// A child process to be run to its end.
#[derive(Debug)]
pub struct Job {
    program: OsString,
    args: Vec<OsString>,
    dir: Option<PathBuf>,
    env: Vec<(OsString, Option<OsString>)>,
    stdin: Vec<u8>,
    timeout: Option<Duration>,
    limits: Limits,
    report: bool,
    inherit: bool,
    clean: bool,
}

impl Job {
    /// A program, found on PATH unless it has a slash; started without a shell.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            dir: None,
            env: Vec::new(),
            stdin: Vec::new(),
            timeout: None,
            limits: Limits::default(),
            report: false,
            inherit: false,
            clean: false,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(mut self, args: I) -> Self {
        self.args.extend(args.into_iter().map(|a| a.as_ref().to_owned()));
        self
    }

    /// The directory that it starts in.
    #[must_use]
    pub fn dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.dir = Some(dir.into());
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, key: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((key.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }

    /// Takes a variable away.
    #[must_use]
    pub fn env_remove(mut self, key: impl AsRef<OsStr>) -> Self {
        self.env.push((key.as_ref().to_owned(), None));
        self
    }

    /// Starts it with nothing of this process's environment but PATH: for code that nobody has vouched for.
    #[must_use]
    pub fn clean_env(mut self) -> Self {
        self.clean = true;
        self
    }

    /// What it reads from standard input (nothing, if not given).
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Kills the whole group after this long.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Resource limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Gives it a pipe to report over, whose number is in [`REPORT_FD`].
    #[must_use]
    pub fn with_report(mut self) -> Self {
        self.report = true;
        self
    }

    /// Lets it use the terminal of this process (for installers and long fuzz runs by hand).
    #[must_use]
    pub fn inherit(mut self) -> Self {
        self.inherit = true;
        self
    }

    /// Runs it to its end. `Err` when it cannot be started or Ctrl-C came; any exit is a value.
    pub fn run(self, interrupt: &Interrupt) -> Result<Output> {
        self.run_with(interrupt, &mut |_, _| ())
    }

    /// As [`Job::run`], showing every chunk of output as it comes.
    pub fn run_with(self, interrupt: &Interrupt, see: &mut dyn FnMut(Stream, &[u8])) -> Result<Output> {
        interrupt.check()?;
        let started = Instant::now();
        let (mut child, pipe) = self.spawn()?;
        let chunks = pump(&mut child, pipe, self.stdin);
        let mut output = Output {
            exit: Exit::TimedOut,
            stdout: vec![],
            stderr: vec![],
            report: vec![],
            elapsed: Duration::ZERO,
        };
        let deadline = self.timeout.map(|t| started + t);
        let mut open = true;
        loop {
            let wait = if open {
                chunks.recv_timeout(Duration::from_millis(20))
            } else {
                Err(RecvTimeoutError::Timeout)
            };
            match wait {
                Ok((stream, bytes)) => {
                    see(stream, &bytes);
                    keep(&mut output, stream, &bytes);
                    if !interrupt.is_set() && deadline.is_none_or(|d| Instant::now() < d) {
                        continue;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => open = false,
                Err(RecvTimeoutError::Timeout) if !open => std::thread::sleep(Duration::from_millis(2)),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Some(status) = child.try_wait()? {
                // What it wrote before it ended is in the pipes; grandchildren that keep them open are not waited for.
                while let Ok((stream, bytes)) = chunks.recv_timeout(Duration::from_millis(50)) {
                    see(stream, &bytes);
                    keep(&mut output, stream, &bytes);
                }
                output.exit = match (status.code(), status.signal()) {
                    (Some(code), _) => Exit::Code(code),
                    (None, signal) => Exit::Signal(signal.unwrap_or(0)),
                };
                break;
            }
            if interrupt.is_set() {
                kill_group(&mut child);
                return Err(Error::interrupted());
            }
            if deadline.is_some_and(|d| Instant::now() >= d) {
                kill_group(&mut child);
                output.exit = Exit::TimedOut;
                break;
            }
        }
        output.elapsed = started.elapsed();
        Ok(output)
    }

    fn spawn(&self) -> Result<(Child, Option<OwnedFd>)> {
        #[expect(clippy::disallowed_methods, reason = "this is the one door")]
        let mut command = std::process::Command::new(&self.program);
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
        // SAFETY: between fork and exec only async-signal-safe calls: setrlimit and fcntl.
        unsafe {
            command.pre_exec(move || {
                set_limits(limits)?;
                if let Some(fd) = write_end
                    && libc::fcntl(fd, libc::F_SETFD, 0) == -1
                {
                    return Err(std::io::Error::last_os_error());
                }
                Ok(())
            });
        }
        let child = command.spawn().map_err(|error| {
            let program = self.program.to_string_lossy();
            Error::new(ErrorKind::Environment, format!("cannot start `{program}`: {error}"))
                .help("cargo implfuzz doctor")
        })?;
        Ok((child, pipe.map(|(read, _)| read)))
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

/// A pipe whose both ends close on exec; the child's end is opened up again only in the child.
fn report_pipe() -> Result<(OwnedFd, OwnedFd)> {
    let mut fds = [0; 2];
    // SAFETY: `fds` has room for two descriptors.
    if unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    // SAFETY: both descriptors were just made and are owned by nobody else.
    Ok(unsafe { (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])) })
}

type Chunks = Receiver<(Stream, Vec<u8>)>;

/// One thread per stream; all end when the child's ends are closed.
fn pump(child: &mut Child, pipe: Option<OwnedFd>, stdin: Vec<u8>) -> Chunks {
    let (send, receive) = channel();
    if let Some(mut input) = child.stdin.take() {
        // A child that does not read its input is no error of ours.
        std::thread::spawn(move || drop(input.write_all(&stdin)));
    }
    let mut sources: Vec<(Stream, Box<dyn Read + Send>)> = Vec::new();
    if let Some(out) = child.stdout.take() {
        sources.push((Stream::Stdout, Box::new(out)));
    }
    if let Some(err) = child.stderr.take() {
        sources.push((Stream::Stderr, Box::new(err)));
    }
    if let Some(fd) = pipe {
        sources.push((Stream::Report, Box::new(std::fs::File::from(fd))));
    }
    for (stream, mut source) in sources {
        let send = send.clone();
        std::thread::spawn(move || {
            let mut buffer = vec![0; 64 << 10];
            while let Ok(n) = source.read(&mut buffer) {
                if n == 0 || send.send((stream, buffer[..n].to_vec())).is_err() {
                    break;
                }
            }
        });
    }
    receive
}

fn keep(output: &mut Output, stream: Stream, bytes: &[u8]) {
    let target = match stream {
        Stream::Stdout => &mut output.stdout,
        Stream::Stderr => &mut output.stderr,
        Stream::Report => &mut output.report,
    };
    let room = OUTPUT_CAP.saturating_sub(target.len());
    target.extend_from_slice(&bytes[..bytes.len().min(room)]);
}

fn kill_group(child: &mut Child) {
    // SAFETY: a plain system call; the group is the child's own (or empty, which is no harm).
    unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
    drop(child.kill());
    drop(child.wait());
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let script = format!("eval \"echo verdict >&${REPORT_FD}\"");
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
