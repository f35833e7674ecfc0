//! Threads for what takes long in ports: waiting for models, building, fuzzing. One thread, the caller's, decides everything;
//! here are only the jobs that it hands out, and what they say.
//!
//! Of jobs that compute there are never more at a time than there are cores; models are waited for beside them.

use crate::verdict::RunStats;
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;

/// What a job needs while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Nothing: it waits for somebody else.
    Patience,
    Core,
    /// A core, and a place to build in.
    Place,
}

/// A place to build in. Nobody else has it for the time.
pub type Place = usize;

/// Of several cores one is building at a time, the others fuzz.
const CORES_A_PLACE: usize = 4;
/// Each has a target directory of its own.
const MOST_PLACES: usize = 4;

/// What a job says while it runs.
#[derive(Debug)]
pub enum Told {
    Stats(RunStats),
    /// What it does now.
    Step(String),
}

/// What comes from a job of the task with this number.
#[derive(Debug)]
pub enum Word<D> {
    Told(Told),
    Done(D),
    /// Its thread broke down: a defect of this tool.
    Lost,
}

/// A job: it says what it does, and where it may build.
pub type Job<'env, D> = Box<dyn FnOnce(&dyn Fn(Told), Place) -> D + Send + 'env>;

/// A message, and what becomes free with it.
struct Message<D> {
    task: usize,
    word: Word<D>,
    freed: Option<(Need, Place)>,
}

/// The threads of a run.
pub struct Pool<'scope, 'env, D> {
    scope: &'scope Scope<'scope, 'env>,
    send: Sender<Message<D>>,
    receive: Receiver<Message<D>>,
    cores: usize,
    computing: usize,
    places: Vec<Place>,
    queue: VecDeque<(usize, Need, Job<'env, D>)>,
    running: usize,
}

impl<'scope, 'env, D: Send + 'env> Pool<'scope, 'env, D> {
    /// A pool whose threads end before the scope does.
    pub fn new(scope: &'scope Scope<'scope, 'env>, cores: usize) -> Self {
        let (send, receive) = channel();
        // What is built first in a place takes long: a place of one's own is not worth it for every core.
        let places = (0..(cores / CORES_A_PLACE).clamp(1, MOST_PLACES)).rev().collect();
        Self { scope, send, receive, cores, computing: 0, places, queue: VecDeque::new(), running: 0 }
    }

    /// Begins a job as soon as there is what it needs, in the order of submission.
    pub fn submit(&mut self, task: usize, need: Need, job: Job<'env, D>) {
        self.queue.push_back((task, need, job));
        self.start();
    }

    /// Begins no job that is not begun yet.
    pub fn close(&mut self) {
        self.queue.clear();
    }

    /// The next word of any job. None where no job is left.
    pub fn listen(&mut self) -> Option<(usize, Word<D>)> {
        if self.running == 0 {
            return None;
        }
        let message = self.receive.recv().expect("the pool itself can send");
        if let Some((need, place)) = message.freed {
            self.running -= 1;
            self.computing -= usize::from(need != Need::Patience);
            if need == Need::Place {
                self.places.push(place);
            }
            self.start();
        }
        Some((message.task, message.word))
    }

    fn start(&mut self) {
        let mut at = 0;
        while at < self.queue.len() {
            let need = self.queue[at].1;
            let may = match need {
                Need::Patience => true,
                Need::Core => self.computing < self.cores,
                Need::Place => self.computing < self.cores && !self.places.is_empty(),
            };
            if may {
                let (task, need, job) = self.queue.remove(at).expect("it is below the length");
                self.spawn(task, need, job);
            } else {
                at += 1;
            }
        }
    }

    fn spawn(&mut self, task: usize, need: Need, job: Job<'env, D>) {
        self.running += 1;
        self.computing += usize::from(need != Need::Patience);
        let place = match need {
            Need::Place => self.places.pop().expect("it was looked for"),
            Need::Patience | Need::Core => 0,
        };
        let end = End { task, freed: (need, place), send: self.send.clone(), done: None };
        self.scope.spawn(move || {
            let mut end = end;
            let send = end.send.clone();
            let tell = |told| drop(send.send(Message { task, word: Word::Told(told), freed: None }));
            let _ = end.done.insert(job(&tell, place));
        });
    }
}

/// Says how a thread ended, also where it broke down.
struct End<D> {
    task: usize,
    freed: (Need, Place),
    send: Sender<Message<D>>,
    done: Option<D>,
}

impl<D> Drop for End<D> {
    fn drop(&mut self) {
        let word = self.done.take().map_or(Word::Lost, Word::Done);
        // Nobody listens any more where something failed.
        drop(self.send.send(Message { task: self.task, word, freed: Some(self.freed) }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    /// How many jobs of a kind ran at the same time, of six in a pool of two cores.
    fn most_at_once(need: Need) -> usize {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            let mut pool = Pool::new(scope, 2);
            for task in 0..6 {
                let (now, most) = (&now, &most);
                let job = move |_: &dyn Fn(Told), _: Place| {
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(40));
                    now.fetch_sub(1, Ordering::SeqCst);
                };
                pool.submit(task, need, Box::new(job));
            }
            while pool.listen().is_some() {}
        });
        most.into_inner()
    }

    #[test]
    fn only_waiting_needs_no_core() {
        assert_eq!(most_at_once(Need::Patience), 6);
        assert_eq!(most_at_once(Need::Core), 2);
        assert_eq!(most_at_once(Need::Place), 1);
    }

    #[test]
    fn no_two_build_in_one_place_and_all_is_told() {
        let taken = [AtomicUsize::new(0), AtomicUsize::new(0)];
        let mut told = Vec::new();
        std::thread::scope(|scope| {
            let mut pool = Pool::new(scope, 2 * CORES_A_PLACE);
            for task in 0..8 {
                let taken = &taken;
                let job = move |tell: &dyn Fn(Told), place: Place| {
                    assert_eq!(taken[place].fetch_add(1, Ordering::SeqCst), 0, "two in one place");
                    tell(Told::Step("building".into()));
                    std::thread::sleep(Duration::from_millis(5));
                    taken[place].fetch_sub(1, Ordering::SeqCst);
                    task
                };
                pool.submit(task, Need::Place, Box::new(job));
            }
            while let Some((task, word)) = pool.listen() {
                match word {
                    Word::Told(_) => told.push((task, false)),
                    Word::Done(done) => {
                        assert_eq!(done, task);
                        told.push((task, true));
                    }
                    Word::Lost => panic!("{task} broke down"),
                }
            }
        });
        told.sort_unstable();
        let all: Vec<_> = (0..8).flat_map(|task| [(task, false), (task, true)]).collect();
        assert_eq!(told, all);
    }

    #[test]
    fn a_job_that_breaks_down_is_told_of() {
        let caught = std::panic::catch_unwind(|| {
            std::thread::scope(|scope| {
                let mut pool: Pool<()> = Pool::new(scope, 1);
                pool.submit(3, Need::Core, Box::new(|_, _| panic!("on purpose")));
                assert!(matches!(pool.listen(), Some((3, Word::Lost))));
                assert!(pool.listen().is_none());
            });
        });
        assert!(caught.is_err(), "the scope says it once more");
    }
}
