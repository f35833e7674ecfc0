//! The thread of one function, and its way to what the run shares.
//!
//! The thread that began the run owns the session and the ports: syntax trees, of which both are full, cannot change threads. A
//! worker sends it one turn of work after the other and waits for each, as it would wait for a lock.

use super::function_port::FunctionPort;
use super::result::PortResult;
use super::session::Session;
use super::slots::Slots;
use crate::error::Result;
use crate::event::Event;
use crate::platform::process::Interrupt;
use crate::verdict::RunStats;
use std::sync::mpsc::{Sender, channel};

/// Of several cores one builds at a time, the others fuzz.
const CORES_A_PLACE: usize = 4;
/// Each place has a target directory of its own.
const MOST_PLACES: usize = 4;

/// Work on a port with the session, done on the thread that owns both.
pub type Turn<'p> = Box<dyn FnOnce(&mut FunctionPort<'p>, &mut Session<'p>) + Send + 'p>;

/// A worker sends this to the thread that owns the session, with the place of its function in the order.
pub enum Message<'p> {
    Turn(usize, Turn<'p>),
    /// The worker has ended, with no result where it broke down.
    Ended(usize, Box<Option<Result<PortResult>>>),
}

/// What workers compete for.
#[derive(Debug)]
pub struct Machine {
    pub cores: Slots,
    /// Copies of the crate to build in. The first build in each takes long, so there are fewer than cores.
    pub places: Slots,
    /// The turn to put a port into the tree.
    pub tree: Slots,
    /// Set with the user's Ctrl-C, and where the run fails.
    pub stop: Interrupt,
}

impl Machine {
    /// A machine with so many cores.
    pub fn new(cores: usize, stop: Interrupt) -> Self {
        let places = (cores / CORES_A_PLACE).clamp(1, MOST_PLACES);
        Self { cores: Slots::new(cores), places: Slots::new(places), tree: Slots::new(1), stop }
    }
}

/// The thread that ports one function.
pub struct Worker<'e, 'p> {
    pub machine: &'e Machine,
    at: usize,
    send: Sender<Message<'p>>,
}

impl<'e, 'p> Worker<'e, 'p> {
    /// A worker for the function at this place in the order.
    pub fn new(machine: &'e Machine, at: usize, send: Sender<Message<'p>>) -> Self {
        Self { machine, at, send }
    }

    /// One turn with the port and the session.
    pub fn turn<T: Send + 'p>(
        &self,
        work: impl FnOnce(&mut FunctionPort<'p>, &mut Session<'p>) -> T + Send + 'p,
    ) -> T {
        let (done, receive) = channel();
        self.send(move |port, session| drop(done.send(work(port, session))));
        receive.recv().expect("the session's thread takes every turn")
    }

    /// Reports a step, without waiting.
    pub fn say(&self, step: impl Into<String>) {
        let step = step.into();
        self.send(move |port, session| port.say(session, step));
    }

    /// Reports how far a run is, without waiting.
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

    /// Works while it has a core.
    pub fn compute<T>(&self, work: impl FnOnce(&Interrupt) -> Result<T>) -> Result<T> {
        let core = self.machine.cores.take(&self.machine.stop)?;
        let came = work(&self.machine.stop);
        drop(core);
        came
    }
}
