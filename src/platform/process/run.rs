//! Runs a child process: streams, deadline, Ctrl-C, end.

use super::interrupt::Interrupt;
use super::job::Job;
use super::output::{Exit, Output, Stream};
use crate::error::{Error, Result};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{PipeReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How many bytes of each stream are kept; the rest is read and dropped.
const OUTPUT_CAP: usize = 64 << 20;

impl Job {
    /// Runs it to its end. Fails if it cannot be started or on Ctrl-C; any exit code is a value.
    pub fn run(self, interrupt: &Interrupt) -> Result<Output> {
        self.run_with(interrupt, &mut |_, _| ())
    }

    /// As [`Job::run`], but passes each chunk of output to `see` as it arrives.
    pub fn run_with(mut self, interrupt: &Interrupt, see: &mut dyn FnMut(Stream, &[u8])) -> Result<Output> {
        interrupt.check()?;
        let started = Instant::now();
        let (stdin, timeout) = (std::mem::take(&mut self.stdin), self.timeout);
        let (mut child, pipe) = self.spawn()?;
        let chunks = pump(&mut child, pipe, stdin);
        let mut output = Output {
            exit: Exit::TimedOut,
            stdout: vec![],
            stderr: vec![],
            report: vec![],
            elapsed: Duration::ZERO,
        };
        let deadline = timeout.map(|t| started + t);
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
                // Read what it wrote before its end, however busy the machine is. Do not wait long for grandchildren
                // that keep the pipes open.
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

/// How long to wait for output from pipes that a grandchild keeps open.
const DRAIN: Duration = Duration::from_secs(3);

type Chunks = Receiver<(Stream, Vec<u8>)>;

/// Starts one thread per stream; all end when the child's ends are closed.
fn pump(child: &mut Child, pipe: Option<PipeReader>, stdin: Vec<u8>) -> Chunks {
    let (send, receive) = channel();
    if let Some(mut input) = child.stdin.take() {
        // A child need not read its input, so a failed write is ignored.
        std::thread::spawn(move || drop(input.write_all(&stdin)));
    }
    let sources: [(Stream, Option<Box<dyn Read + Send>>); 3] = [
        (Stream::Stdout, child.stdout.take().map(|out| Box::new(out) as _)),
        (Stream::Stderr, child.stderr.take().map(|err| Box::new(err) as _)),
        (Stream::Report, pipe.map(|pipe| Box::new(pipe) as _)),
    ];
    for (stream, source) in sources {
        let Some(mut source) = source else { continue };
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
    // The group is the child's own, or empty, which is harmless.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    drop(child.kill());
    drop(child.wait());
}
