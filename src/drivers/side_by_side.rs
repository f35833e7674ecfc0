//! Work on many functions at once, while a reporter shows how much of it is done.

use crate::error::Result;
use crate::event::{Event, Reporter};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use std::panic::resume_unwind;
use std::sync::mpsc::channel;
use std::thread::scope;

/// Applies `work` to every item, several at a time; the results are in the order of the items.
///
/// # Errors
/// The first error of `work`.
pub(super) fn side_by_side<T: Sync, R: Send>(
    step: String,
    items: &[T],
    reporter: &mut dyn Reporter,
    work: impl Fn(&T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let total = items.len() as u64;
    reporter.event(Event::StepStarted { step, total: Some(total) });
    let (ended, all_ended) = channel();
    let all = scope(|scope| {
        let work = &work;
        let running = scope.spawn(move || {
            let one = |item: &T| {
                let result = work(item);
                ended.send(()).expect("the other end stays until all are done");
                result
            };
            items.par_iter().map(one).collect::<Result<Vec<R>>>()
        });
        for ((), done) in all_ended.iter().zip(1..) {
            reporter.event(Event::StepProgress { done, total });
        }
        running.join().unwrap_or_else(|panic| resume_unwind(panic))
    })?;
    reporter.event(Event::StepFinished { message: String::new() });
    Ok(all)
}
