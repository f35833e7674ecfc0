//! Runs work on all units of a library, several concurrently, with libclang loaded in each worker.

use super::libclang;
use crate::error::{Error, ErrorKind, Result};
use rayon::ThreadPoolBuilder;
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::available_parallelism;

/// Stack size in bytes; only the pages that are used take memory. Expressions in generated C nest deeply, and
/// the walks are recursive.
const STACK: usize = 256 << 20;

/// Applies `work` to every item; the results are in the order of the items. `work` may use [`rayon::join`].
///
/// # Errors
/// `Environment` without libclang, `Internal` when `work` panics, and the first error of `work`.
pub(super) fn map<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R> + Sync + Send,
) -> Result<Vec<R>> {
    if items.is_empty() {
        return Ok(Vec::new());
    }
    let library = libclang::loaded()?;
    // An item may be two tasks, for `rayon::join`.
    let threads = available_parallelism().map_or(1, usize::from).min(2 * items.len());
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .stack_size(STACK)
        .start_handler(move |_| library.attach());
    let pool = pool.build().map_err(std::io::Error::other)?;
    let answers = || pool.install(|| items.par_iter().map(work).collect::<Vec<_>>());
    let answers = catch_unwind(AssertUnwindSafe(answers))
        .map_err(|_| Error::new(ErrorKind::Internal, "a worker that reads C panicked"))?;
    answers.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_keep_their_order_and_panics_are_errors() {
        let items: Vec<u32> = (0..50).collect();
        assert_eq!(map(&items, |i| Ok(i * 2)).unwrap(), items.iter().map(|i| i * 2).collect::<Vec<_>>());
        assert_eq!(map(&[] as &[u32], |i| Ok(*i)).unwrap(), Vec::<u32>::new());
        let error = map(&items, |i| {
            assert!(*i != 7);
            Ok(())
        });
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Internal);
        let failing = |i: &u32| Err::<(), _>(Error::new(ErrorKind::C, i.to_string()));
        assert_eq!(map(&items, failing).unwrap_err().to_string(), "0", "the first error counts");
    }
}
