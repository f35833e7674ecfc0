//! Runs a child process: streams, deadline, Ctrl-C, end.

use super::interrupt::Interrupt;
use super::job::{Job, Room};
use super::output::{Exit, Output, Stream};
use super::spawn::Started;
use crate::error::{Error, ErrorKind, Result};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io::{PipeReader, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use walkdir::WalkDir;

/// How many bytes of each stream are kept; the rest is read and dropped.
const OUTPUT_CAP: usize = 64 << 20;

impl Job {
    /// Runs it to its end, which is also the end of all processes that it has started in its group. Fails if it cannot
    /// be started or on Ctrl-C; any exit code is a value.
    pub fn run(self, interrupt: &Interrupt) -> Result<Output> {
        self.run_with(interrupt, &mut |_, _| ())
    }

    /// As [`Job::run`], but passes each chunk of output to `see` as it arrives.
    pub fn run_with(mut self, interrupt: &Interrupt, see: &mut dyn FnMut(Stream, &[u8])) -> Result<Output> {
        interrupt.check()?;
        let started = Instant::now();
        let (stdin, timeout) = (std::mem::take(&mut self.stdin), self.timeout);
        let mut room = self.room.take().map(|room| Watched { room, next: started + LOOK });
        let Started { mut child, report, life_line } = self.spawn()?;
        let chunks = pump(&mut child, report, stdin);
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
                    let now = Instant::now();
                    let is_due =
                        deadline.is_some_and(|d| now >= d) || room.as_ref().is_some_and(|r| now >= r.next);
                    if !interrupt.is_set() && !is_due {
                        continue;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => open = false,
                Err(RecvTimeoutError::Timeout) if !open => std::thread::sleep(Duration::from_millis(2)),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if has_ended(&child)? {
                // While nobody has waited for it, no other group has its number.
                if life_line.is_some() {
                    let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
                }
                let status = child.wait()?;
                // Read what it wrote before its end, however busy the machine is. Do not wait long for grandchildren
                // that have left the group and keep the pipes open.
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
            if let Some(full) = room.as_mut().and_then(Watched::full) {
                kill_group(&mut child);
                return Err(full);
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

/// How often a folder with a limit is looked at.
const LOOK: Duration = Duration::from_millis(300);

/// A folder that is looked at from time to time.
struct Watched {
    room: Room,
    next: Instant,
}

impl Watched {
    /// The failure if the files in it take more than they may.
    fn full(&mut self) -> Option<Error> {
        if Instant::now() < self.next {
            return None;
        }
        let Room { dir, most } = &self.room;
        // Files may come and go meanwhile. One without content takes room, too.
        let files =
            WalkDir::new(dir).min_depth(1).into_iter().flatten().filter_map(|entry| entry.metadata().ok());
        let taken: u64 = files.map(|file| (file.blocks() * 512).max(4096)).sum();
        self.next = Instant::now() + LOOK;
        let text = || format!("it wrote more than {} MiB of files into its working directory", most >> 20);
        (taken > *most).then(|| Error::new(ErrorKind::C, text()))
    }
}

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

/// Whether the child has ended; it can still be waited for.
fn has_ended(child: &Child) -> Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let status = waitid(WaitId::Pid(Pid::from_child(child)), options).map_err(std::io::Error::from)?;
    Ok(status.is_some())
}

fn kill_group(child: &mut Child) {
    // The group is the child's own, or empty, which is harmless.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    drop(child.kill());
    drop(child.wait());
}
