//! Runs work on all units of a library, several concurrently, with libclang loaded in each worker.

use super::libclang;
use crate::error::{Error, ErrorKind, Result};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Stack size in bytes; only the pages that are used take memory. Expressions in generated C nest deeply, and
/// the walks are recursive.
const STACK: usize = 256 << 20;

/// Applies `work` to every item; the results are in the order of the items.
///
/// # Errors
/// `Environment` without libclang, `Internal` when `work` panics.
pub(super) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Result<Vec<R>> {
    let library = libclang::loaded()?;
    let count = std::thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| -> Result<()> {
        let worker = || {
            library.attach();
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(i) else { return };
                let answer = work(item);
                done.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((i, answer));
            }
        };
        let mut threads = Vec::new();
        for _ in 0..count {
            threads.push(std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, worker)?);
        }
        let mut result = Ok(());
        for thread in threads {
            if thread.join().is_err() {
                result = Err(Error::new(ErrorKind::Internal, "a worker that reads C panicked"));
            }
        }
        result
    })?;
    let mut done = done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    done.sort_by_key(|(i, _)| *i);
    Ok(done.into_iter().map(|(_, answer)| answer).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_keep_their_order_and_panics_are_errors() {
        let items: Vec<u32> = (0..50).collect();
        assert_eq!(map(&items, |i| i * 2).unwrap(), items.iter().map(|i| i * 2).collect::<Vec<_>>());
        assert_eq!(map(&[] as &[u32], |i| *i).unwrap(), Vec::<u32>::new());
        let error = map(&items, |i| assert!(*i != 7)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal);
    }
}
