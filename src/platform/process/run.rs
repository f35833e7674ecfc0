//! A child process while it runs: its streams, its deadline, Ctrl-C, and its end.

use super::interrupt::Interrupt;
use super::job::Job;
use super::output::{Exit, Output, Stream};
use crate::error::{Error, Result};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How much of each stream is kept; what comes later is read and dropped.
const OUTPUT_CAP: usize = 64 << 20;

impl Job {
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
                // What it wrote before it ended is in the pipes, and is read to their end, however busy the machine is;
                // grandchildren that keep them open are not waited for long.
                while let Ok((stream, bytes)) = chunks.recv_timeout(DRAIN) {
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
}

/// How long nothing comes from pipes that somebody still holds open.
const DRAIN: Duration = Duration::from_secs(3);

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
