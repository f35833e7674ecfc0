//! The functions of a run, many at a time: one thread decides what each does next, and the pool does it.
//!
//! What is decided about one function lives in `attempt`, which function may begin in `schedule`. Accepted ports come into the
//! tree one after the other.

use super::attempt::{Attempting, Done, Turn};
use super::pool::{Pool, Told, Word};
use super::run::{End, PortResult};
use super::schedule::Schedule;
use super::session::Session;
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::project::Planned;
use crate::verdict::Grade;
use std::collections::BTreeMap;

/// A function that is being ported.
struct Task<'p> {
    attempt: Attempting<'p>,
    /// The number of its binary, which no other task has at the time.
    lane: usize,
    waits: Waits,
}

/// What a task waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waits {
    Job,
    /// For calls of others to end, so that the budget is known.
    Room,
    /// For another port to come into the tree.
    Tree,
}

/// The functions of a run and where they stand.
struct Crew<'r, 'w, 'p> {
    run: &'r mut Session<'p>,
    wanted: &'w [&'p Planned],
    jobs: usize,
    schedule: Schedule,
    tasks: BTreeMap<usize, Task<'p>>,
    results: BTreeMap<usize, PortResult>,
    /// The one that is being put into a tree which moved.
    settling: Option<usize>,
    begun: usize,
}

/// Ports `wanted`, so many `jobs` at a time. Results stand in the order of `wanted`; functions that nobody came to have none.
///
/// # Errors
/// Those of the tool, of models, and Ctrl-C. Work that is under way is ended first.
pub(super) fn port_all<'p>(
    run: &mut Session<'p>,
    wanted: &[&'p Planned],
    jobs: usize,
) -> Result<Vec<PortResult>> {
    let functions: Vec<_> = wanted.iter().map(|planned| &planned.function).collect();
    let crew = Crew {
        run,
        wanted,
        jobs: jobs.max(1),
        schedule: Schedule::of(&functions),
        tasks: BTreeMap::new(),
        results: BTreeMap::new(),
        settling: None,
        begun: 0,
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| crew.work(&mut Pool::new(scope, cores)))
}

impl<'p> Crew<'_, '_, 'p> {
    fn work(mut self, pool: &mut Pool<'_, 'p, Done>) -> Result<Vec<PortResult>> {
        let result = self.work_until_done(pool);
        if result.is_err() {
            self.run.stop.set();
            self.leave(pool);
        }
        result.map(|()| self.results.into_values().collect())
    }

    /// Puts down what others were doing when the run failed: calls that were answered, or may have been, are paid for.
    fn leave(&mut self, pool: &mut Pool<'_, 'p, Done>) {
        pool.close();
        while let Some((at, word)) = pool.listen() {
            if let (Some(task), Word::Done(done)) = (self.tasks.get_mut(&at), word) {
                // Its steps end with the run, whose failure is what is told.
                drop(task.attempt.take_up(self.run, done));
            }
        }
        for task in self.tasks.values_mut() {
            drop(task.attempt.abandon(self.run));
        }
    }

    fn work_until_done(&mut self, pool: &mut Pool<'_, 'p, Done>) -> Result<()> {
        loop {
            self.begin(pool)?;
            let Some((at, word)) = pool.listen() else { break };
            match word {
                Word::Told(Told::Stats(stats)) => {
                    let symbol = self.wanted[at].function.name.clone();
                    self.run.reporter.event(Event::Fuzzing { symbol, stats });
                }
                Word::Told(Told::Step(step)) => {
                    if let Some(task) = self.tasks.get(&at) {
                        task.attempt.say(self.run, step);
                    }
                }
                Word::Done(done) => self.take_up(at, done, pool)?,
                Word::Lost => {
                    return Err(Error::new(ErrorKind::Internal, "a thread broke down while it worked"));
                }
            }
        }
        match self.tasks.keys().next() {
            None => Ok(()),
            Some(at) => {
                let name = &self.wanted[*at].function.name;
                Err(Error::new(ErrorKind::Internal, format!("`{name}` waits for something that never comes")))
            }
        }
    }

    /// Begins what may be begun.
    fn begin(&mut self, pool: &mut Pool<'_, 'p, Done>) -> Result<()> {
        while self.tasks.len() < self.jobs && !self.run.exhausted {
            let Some(at) = self.schedule.begin() else { break };
            self.begun += 1;
            let planned = self.wanted[at];
            let symbol = planned.function.name.clone();
            let (index, total) = (self.begun, self.wanted.len());
            self.run.reporter.event(Event::SymbolStarted { symbol, index, total });
            if let Some(result) = self.run.refused(planned)? {
                self.end(at, result)?;
                continue;
            }
            let lane = (0..).find(|lane| self.tasks.values().all(|task| task.lane != *lane));
            let lane = lane.expect("there are more numbers than tasks");
            let bin = if lane == 0 { "bin".to_owned() } else { format!("bin-{lane}") };
            let attempt = Attempting::new(self.run, planned, bin)?;
            self.tasks.insert(at, Task { attempt, lane, waits: Waits::Job });
            self.go_on(at, pool)?;
        }
        Ok(())
    }

    fn take_up(&mut self, at: usize, done: Done, pool: &mut Pool<'_, 'p, Done>) -> Result<()> {
        let is_answer = matches!(done, Done::Asked(_));
        let Some(task) = self.tasks.get_mut(&at) else { return Ok(()) };
        match task.attempt.take_up(self.run, done)? {
            Some(turn) => self.turn(at, turn, pool)?,
            None => self.go_on(at, pool)?,
        }
        // What it had set aside of the budget is free.
        if is_answer {
            self.wake(Waits::Room, pool)?;
        }
        Ok(())
    }

    fn go_on(&mut self, at: usize, pool: &mut Pool<'_, 'p, Done>) -> Result<()> {
        let is_free = self.settling.is_none_or(|other| other == at);
        let Some(task) = self.tasks.get_mut(&at) else { return Ok(()) };
        let turn = task.attempt.go_on(self.run, is_free)?;
        self.turn(at, turn, pool)
    }

    fn turn(&mut self, at: usize, turn: Turn<'p>, pool: &mut Pool<'_, 'p, Done>) -> Result<()> {
        let Some(task) = self.tasks.get_mut(&at) else { return Ok(()) };
        let is_settling = task.attempt.is_settling();
        match turn {
            Turn::Job(need, job) => {
                task.waits = Waits::Job;
                pool.submit(at, need, job);
            }
            Turn::Room => task.waits = Waits::Room,
            Turn::Tree => task.waits = Waits::Tree,
            Turn::Ended(ended) => {
                let result = self.run.conclude(self.wanted[at], *ended)?;
                self.tasks.remove(&at);
                self.end(at, result)?;
            }
        }
        let is_here = self.tasks.get(&at).is_some_and(|task| task.waits == Waits::Job);
        if is_settling && is_here {
            self.settling = Some(at);
        } else if self.settling == Some(at) {
            self.settling = None;
            self.wake(Waits::Tree, pool)?;
        }
        Ok(())
    }

    /// Lets those go on that wait for this.
    fn wake(&mut self, waits: Waits, pool: &mut Pool<'_, 'p, Done>) -> Result<()> {
        let waiting = self.tasks.iter().filter(|(_, task)| task.waits == waits);
        let waiting: Vec<usize> = waiting.map(|(at, _)| *at).collect();
        for at in waiting {
            if self.tasks.get(&at).is_some_and(|task| task.waits == waits) {
                self.go_on(at, pool)?;
            }
        }
        Ok(())
    }

    /// A function is done with, and what needs it can begin, or never will.
    fn end(&mut self, at: usize, result: PortResult) -> Result<()> {
        let is_lost = matches!(result.end, End::Failed | End::StoppedByC | End::Budget | End::NoLongerHolds);
        self.tell(at, &result);
        self.results.insert(at, result);
        for (skipped, blamed) in self.schedule.end(at, !is_lost) {
            if self.run.exhausted {
                continue;
            }
            let planned = self.wanted[skipped];
            let result = match self.run.refused(planned)? {
                Some(result) => result,
                None => self.run.skipped(planned, &self.wanted[blamed].function.name)?,
            };
            self.tell(skipped, &result);
            self.results.insert(skipped, result);
        }
        Ok(())
    }

    fn tell(&mut self, at: usize, result: &PortResult) {
        let ok = matches!(result.end, End::Accepted | End::AlreadyPorted);
        let end = match result.grade {
            Some(Grade::Weak) => format!("{}, weak", result.end.text()),
            _ => result.end.text().to_owned(),
        };
        let summary = match &result.reason {
            Some(reason) => format!("{end}: {}", reason.lines().next().unwrap_or_default()),
            None => end,
        };
        let symbol = self.wanted[at].function.name.clone();
        self.run.reporter.event(Event::SymbolFinished { symbol, ok, summary });
    }
}
