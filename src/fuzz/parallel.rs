//! Runs several functions concurrently, one per core, and reports results in order, as if they had run one
//! after the other.
//!
//! This is not `rayon`, because the work waits for child processes and may run more of the same (`exhaustive`), which
//! would block rayon's pool.

use crate::error::Result;
use crate::platform::process::Interrupt;
use crate::verdict::RunStats;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;

/// A message about a job.
#[derive(Debug)]
pub enum Word<R> {
    /// All jobs before it are done.
    Begun,
    /// The statistics of its run so far.
    Stats(RunStats),
    Ended(R),
}

/// Does a job and reports its statistics on the way.
type Work<'w, J, R> = &'w (dyn Fn(&J, &mut dyn FnMut(&RunStats)) -> Result<R> + Sync);

/// Does all `jobs`, as many concurrently as there are cores. Calls `tell` on this thread.
///
/// # Errors
/// The first error, in the order of the jobs, of a job or of `tell`. Jobs that have started are finished
/// before.
pub fn abreast<J: Sync, R: Send>(
    jobs: &[J],
    work: Work<J, R>,
    interrupt: &Interrupt,
    tell: &mut dyn FnMut(usize, Word<R>) -> Result<()>,
) -> Result<()> {
    let stop = Interrupt::none();
    let mut order = InOrder { jobs: jobs.len(), first: 0, ended: BTreeMap::new() };
    order.begin(tell)?;
    let mut told = Ok(());
    let one = |at: u64, send: &dyn Fn((usize, Word<Result<R>>))| {
        let at = at as usize;
        let ended = work(&jobs[at], &mut |stats| send((at, Word::Stats(stats.clone()))));
        send((at, Word::Ended(ended)));
    };
    each(
        jobs.len() as u64,
        || stop.is_set() || interrupt.is_set(),
        one,
        |(at, word)| {
            if told.is_ok() {
                told = order.hear(at, word, tell);
            }
            if told.is_err() {
                stop.set();
            }
        },
    );
    told?;
    interrupt.check()
}

/// Calls `work` with the numbers below `count`, in order, as many concurrently as there are cores, until `ends`. The
/// messages that `work` sends go to `hear`, on this thread.
pub(super) fn each<M: Send>(
    count: u64,
    ends: impl Fn() -> bool + Sync,
    work: impl Fn(u64, &dyn Fn(M)) + Sync,
    hear: impl FnMut(M),
) {
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get() as u64).min(count);
    let (next, (send, receive)) = (AtomicU64::new(0), channel());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let (send, next, ends, work) = (send.clone(), &next, &ends, &work);
            scope.spawn(move || {
                while !ends() {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        return;
                    }
                    work(at, &|message| {
                        send.send(message).expect("the receiver stays until all workers end")
                    });
                }
            });
        }
        drop(send);
        receive.into_iter().for_each(hear);
    });
}

/// Passes on the messages of the first unfinished job, and keeps the results of later jobs until their turn.
struct InOrder<R> {
    jobs: usize,
    first: usize,
    ended: BTreeMap<usize, Result<R>>,
}

impl<R> InOrder<R> {
    fn begin(&self, tell: &mut dyn FnMut(usize, Word<R>) -> Result<()>) -> Result<()> {
        if self.first < self.jobs { tell(self.first, Word::Begun) } else { Ok(()) }
    }

    fn hear(
        &mut self,
        at: usize,
        word: Word<Result<R>>,
        tell: &mut dyn FnMut(usize, Word<R>) -> Result<()>,
    ) -> Result<()> {
        match word {
            Word::Stats(stats) if at == self.first => tell(at, Word::Stats(stats))?,
            Word::Begun | Word::Stats(_) => {}
            Word::Ended(result) => drop(self.ended.insert(at, result)),
        }
        while let Some(result) = self.ended.remove(&self.first) {
            tell(self.first, Word::Ended(result?))?;
            self.first += 1;
            self.begin(tell)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, ErrorKind};
    use std::time::Duration;

    /// The messages about jobs that take these numbers of milliseconds, and the error, if any.
    fn told(jobs: &[u64], failing: Option<u64>) -> (Vec<String>, Option<String>) {
        let mut told = Vec::new();
        let work = |millis: &u64, see: &mut dyn FnMut(&RunStats)| {
            std::thread::sleep(Duration::from_millis(*millis));
            see(&RunStats { millis: *millis, ..RunStats::default() });
            match failing == Some(*millis) {
                true => Err(Error::new(ErrorKind::Internal, format!("{millis} failed"))),
                false => Ok(*millis),
            }
        };
        let result = abreast(jobs, &work, &Interrupt::none(), &mut |at, word| {
            told.push(match word {
                Word::Begun => format!("{at} begun"),
                Word::Stats(stats) => format!("{at} measures {}", stats.millis),
                Word::Ended(millis) => format!("{at} ended {millis}"),
            });
            Ok(())
        });
        (told, result.err().map(|error| error.to_string()))
    }

    #[test]
    fn the_last_to_end_is_told_in_its_turn() {
        let (told, error) = told(&[60, 5, 20], None);
        let ends: Vec<_> = told.iter().filter(|text| !text.contains("measures")).collect();
        assert_eq!(ends, ["0 begun", "0 ended 60", "1 begun", "1 ended 5", "2 begun", "2 ended 20"]);
        assert!(told.contains(&"0 measures 60".to_owned()) && error.is_none(), "{told:?} {error:?}");
    }

    #[test]
    fn the_first_error_ends_all_after_what_stands_before_it() {
        let (told, error) = told(&[30, 5, 1, 2, 3], Some(5));
        assert_eq!(error.as_deref(), Some("5 failed"));
        assert!(told.contains(&"0 ended 30".to_owned()), "{told:?}");
        assert!(!told.iter().any(|text| text.starts_with("2 ")), "{told:?}");
    }

    #[test]
    fn nothing_to_do_is_no_error_and_ctrl_c_is_one() {
        assert_eq!(told(&[], None), (Vec::new(), None));
        let interrupt = Interrupt::none();
        interrupt.set();
        let nothing = |_: &u8, _: &mut dyn FnMut(&RunStats)| Ok(());
        let error = abreast(&[1, 2], &nothing, &interrupt, &mut |_, _| Ok(())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
    }
}
