//! Ports many functions at a time, each on a thread of its own. The thread that began the run owns the session: it
//! begins functions, takes the turns of their workers, and collects the results in porting order.

use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::port::function::result::{End, PortResult};
use crate::port::function::session::Session;
use crate::port::function::step_loop::port_function;
use crate::port::function::steps::FunctionPort;
use crate::port::function::worker::{Machine, Message, Worker};
use crate::port::plan::redo::Redo;
use crate::port::plan::schedule::Schedule;
use crate::project::FunctionPlan;
use crate::project::ported::Ported;
use crate::store::LastEnd;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;

/// The functions of a run and their states.
struct Scheduler<'r, 'w, 'p> {
    session: &'r mut Session<'p>,
    wanted: &'w [&'p FunctionPlan],
    jobs: usize,
    machine: &'r Machine,
    schedule: Schedule,
    running: BTreeMap<usize, Running<'p>>,
    results: BTreeMap<usize, PortResult>,
    begun: usize,
}

/// A function that a worker is porting.
struct Running<'p> {
    port: FunctionPort<'p>,
    /// The number of its binary.
    lane: usize,
}

/// Ports `wanted`, `jobs` at a time. Results are in the order of `wanted`.
///
/// # Errors
/// Those of the tool, of models, and Ctrl-C. Work under way ends first.
pub fn port_all<'p>(
    session: &mut Session<'p>,
    wanted: &[&'p FunctionPlan],
    jobs: usize,
) -> Result<Vec<PortResult>> {
    let functions: Vec<_> = wanted.iter().map(|planned| &planned.function).collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let machine = Machine::new(cores, session.stop.clone());
    let scheduler = Scheduler {
        session,
        wanted,
        jobs: jobs.max(1),
        machine: &machine,
        schedule: Schedule::of(&functions),
        running: BTreeMap::new(),
        results: BTreeMap::new(),
        begun: 0,
    };
    let (send, receive) = channel();
    std::thread::scope(|scope| scheduler.work(scope, &send, receive))
}

/// Stops the workers if the session's thread panics.
struct StopOnPanic<'r>(&'r Machine);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop.set();
        }
    }
}

impl<'r, 'p> Scheduler<'r, '_, 'p> {
    fn work<'s>(
        mut self,
        scope: &'s Scope<'s, 'r>,
        send: &Sender<Message<'p>>,
        // Owned: if this thread panics, workers that wait for a turn end with it.
        receive: Receiver<Message<'p>>,
    ) -> Result<Vec<PortResult>>
    where
        'p: 's,
    {
        let _stop = StopOnPanic(self.machine);
        let mut failed = None;
        loop {
            if failed.is_none()
                && let Err(error) = self.begin(scope, send)
            {
                self.machine.stop.set();
                failed = Some(error);
            }
            if self.running.is_empty() {
                break;
            }
            let result = match receive.recv().expect("this thread can send, too") {
                Message::Turn(at, turn) => {
                    let running = self.running.get_mut(&at).expect("a worker sends nothing after its end");
                    turn(&mut running.port, self.session);
                    continue;
                }
                Message::Ended(at, result) => {
                    self.running.remove(&at);
                    let broken = || Err(Error::new(ErrorKind::Internal, "a worker thread panicked"));
                    result.unwrap_or_else(broken).and_then(|result| self.end(at, result))
                }
            };
            if let Err(error) = result {
                // Stop the others; the first failure is reported.
                self.machine.stop.set();
                failed.get_or_insert(error);
            }
        }
        match failed {
            Some(error) => Err(error),
            None => {
                self.leave_the_rest()?;
                Ok(self.results.into_values().collect())
            }
        }
    }

    /// The results of the functions for which the budget left nothing.
    fn leave_the_rest(&mut self) -> Result<()> {
        for (at, planned) in self.wanted.iter().enumerate() {
            if self.results.contains_key(&at) {
                continue;
            }
            let result = match self.session.refused(planned)? {
                Some(result) => result,
                None => PortResult {
                    end: End::Budget,
                    reason: Some("not begun: the budget has no room for any question".into()),
                    ..PortResult::untouched(planned.function.name.clone())
                },
            };
            self.results.insert(at, result);
        }
        Ok(())
    }

    /// Begins all functions that may begin.
    fn begin<'s>(&mut self, scope: &'s Scope<'s, 'r>, send: &Sender<Message<'p>>) -> Result<()>
    where
        'p: 's,
    {
        while self.running.len() < self.jobs && !self.session.exhausted {
            let Some(at) = self.schedule.begin() else { break };
            self.begun += 1;
            let planned = self.wanted[at];
            let symbol = planned.function.name.clone();
            let (index, total) = (self.begun, self.wanted.len());
            self.session.reporter.event(Event::SymbolStarted { symbol, work: "port", index, total });
            if let Some(result) = self.session.refused(planned)? {
                self.end(at, result)?;
                continue;
            }
            let lane = (0..).find(|lane| self.running.values().all(|other| other.lane != *lane));
            let lane = lane.expect("there are more numbers than functions");
            let bin = if lane == 0 { "bin".to_owned() } else { format!("bin-{lane}") };
            let port = FunctionPort::new(self.session, planned, bin)?;
            let worker = Worker::new(self.machine, at, send.clone());
            let ending = Ending { at, send: send.clone(), result: None };
            self.running.insert(at, Running { port, lane });
            scope.spawn(move || ending.with(port_function(&worker)));
        }
        Ok(())
    }

    /// Ends a function, and begins or skips those that depend on it.
    fn end(&mut self, at: usize, result: PortResult) -> Result<()> {
        let is_lost = self.leaves_a_wrong_port(self.wanted[at], &result);
        self.tell(at, &result)?;
        self.results.insert(at, result);
        for (skipped, blamed) in self.schedule.end(at, !is_lost) {
            if self.session.exhausted {
                continue;
            }
            let planned = self.wanted[skipped];
            let result = match self.session.refused(planned)? {
                Some(result) => result,
                None => self.session.skipped(planned, &self.wanted[blamed].function.name)?,
            };
            self.tell(skipped, &result)?;
            self.results.insert(skipped, result);
        }
        Ok(())
    }

    /// Whether a port stays in the tree on whose results nothing may be built. A function without a port is no
    /// obstacle: its callers call C's function.
    fn leaves_a_wrong_port(&self, planned: &FunctionPlan, result: &PortResult) -> bool {
        match result.end {
            End::NoLongerHolds => true,
            // The old port that was to be replaced; it was not judged before.
            End::Failed | End::CFault | End::Budget => {
                self.session.redo == Redo::All
                    && self.session.project.ported(&planned.function) == Ported::Yes
            }
            End::Accepted | End::AlreadyPorted | End::NotJudgeable | End::Skipped => false,
        }
    }

    /// Says how a function ended, and keeps it for `status` where it has no port.
    fn tell(&mut self, at: usize, result: &PortResult) -> Result<()> {
        let planned = self.wanted[at];
        let run = self.session.models.id;
        let (word, reason) = (result.end.text().to_owned(), result.reason.clone().unwrap_or_default());
        match result.end {
            End::Accepted => self.session.store.put_end(&planned.function.key, None)?,
            // Why not, `list` says; or the analysis, which has said more.
            End::NotJudgeable if planned.judgeable.contract().is_none() => {}
            End::AlreadyPorted | End::NoLongerHolds => {}
            End::NotJudgeable | End::Failed | End::CFault | End::Budget | End::Skipped => {
                let end = LastEnd { run, word, reason };
                self.session.store.put_end(&planned.function.key, Some(&end))?;
            }
        }
        let ok = matches!(result.end, End::Accepted | End::AlreadyPorted);
        let end = result.end.text().to_owned();
        let summary = match &result.reason {
            Some(reason) => format!("{end}: {}", reason.lines().next().unwrap_or_default()),
            None => end,
        };
        let symbol = planned.function.name.clone();
        self.session.reporter.event(Event::SymbolFinished { symbol, ok, grade: result.grade, summary });
        Ok(())
    }
}

/// Sends the end of a thread, even after a panic.
struct Ending<'p> {
    at: usize,
    send: Sender<Message<'p>>,
    result: Option<Result<PortResult>>,
}

impl Ending<'_> {
    fn with(mut self, result: Result<PortResult>) {
        self.result = Some(result);
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        drop(self.send.send(Message::Ended(self.at, Box::new(self.result.take()))));
    }
}
