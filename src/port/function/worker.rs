//! The thread of one function, and its access to what the run shares.
//!
//! The thread that began the run owns the session and the ports, because both contain syntax trees, which cannot
//! move between threads. A worker sends it one turn of work at a time and waits for each, as for a lock.

use crate::error::Result;
use crate::event::Event;
use crate::platform::process::Interrupt;
use crate::port::function::result::PortResult;
use crate::port::function::session::Session;
use crate::port::function::slots::Slots;
use crate::port::function::steps::FunctionPort;
use crate::verdict::RunStats;
use std::sync::mpsc::{Sender, channel};

/// Number of cores for each build place: one of them builds, the others fuzz.
const CORES_A_PLACE: usize = 4;
/// Largest number of build places, each with a target directory of its own.
const MOST_PLACES: usize = 4;

/// Work on a port with the session; it runs on the thread that owns both.
pub type Turn<'p> = Box<dyn FnOnce(&mut FunctionPort<'p>, &mut Session<'p>) + Send + 'p>;

/// A message to the session's thread, with the function's position in the order.
pub enum Message<'p> {
    Turn(usize, Turn<'p>),
    /// The worker has ended; without a result after a panic.
    Ended(usize, Box<Option<Result<PortResult>>>),
}

/// The resources that workers compete for.
#[derive(Debug)]
pub struct Machine {
    pub cores: Slots,
    /// Overlays to build in. The first build in each takes long, so there are fewer than cores.
    pub places: Slots,
    /// The turn to put a port into the tree.
    pub tree: Slots,
    /// Set by the user's Ctrl-C, or when the run fails.
    pub stop: Interrupt,
}

impl Machine {
    /// A machine with this number of cores.
    pub fn new(cores: usize, stop: Interrupt) -> Self {
        Self { cores: Slots::new(cores), places: Slots::new(places(cores)), tree: Slots::new(1), stop }
    }
}

/// The number of build directories on a machine with this number of cores.
pub fn places(cores: usize) -> usize {
    (cores / CORES_A_PLACE).clamp(1, MOST_PLACES)
}

/// The thread that ports one function.
pub struct Worker<'e, 'p> {
    pub machine: &'e Machine,
    at: usize,
    send: Sender<Message<'p>>,
}

impl<'e, 'p> Worker<'e, 'p> {
    /// A worker for the function at this position in the order.
    pub fn new(machine: &'e Machine, at: usize, send: Sender<Message<'p>>) -> Self {
        Self { machine, at, send }
    }

    /// Runs one turn with the port and the session.
    pub fn turn<T: Send + 'p>(
        &self,
        work: impl FnOnce(&mut FunctionPort<'p>, &mut Session<'p>) -> T + Send + 'p,
    ) -> T {
        let (done, receive) = channel();
        self.send(move |port, session| drop(done.send(work(port, session))));
        receive.recv().expect("the session's thread takes every turn")
    }

    /// Reports a step without waiting.
    pub fn say(&self, step: impl Into<String>) {
        let step = step.into();
        self.send(move |port, session| port.say(session, step));
    }

    /// Reports the progress of a run without waiting.
    pub fn see(&self, stats: &RunStats) {
        let stats = stats.clone();
        self.send(move |port, session| {
            let symbol = port.planned.function.name.clone();
            session.reporter.event(Event::Fuzzing { symbol, stats });
        });
    }

    fn send(&self, work: impl FnOnce(&mut FunctionPort<'p>, &mut Session<'p>) + Send + 'p) {
        drop(self.send.send(Message::Turn(self.at, Box::new(work))));
    }

    /// Runs the work while it holds a core.
    pub fn compute<T>(&self, work: impl FnOnce(&Interrupt) -> Result<T>) -> Result<T> {
        let core = self.machine.cores.take(&self.machine.stop)?;
        let came = work(&self.machine.stop);
        drop(core);
        came
    }
}
