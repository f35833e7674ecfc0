//! A semaphore with numbered permits: for cores, for build places, and for the turn to change the tree.

use crate::error::Result;
use crate::platform::process::Interrupt;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Interval at which a waiting thread checks for Ctrl-C.
const GLANCE: Duration = Duration::from_millis(50);

/// Numbered slots, each used by one thread at a time.
#[derive(Debug)]
pub struct Slots {
    free: Mutex<Vec<usize>>,
    freed: Condvar,
}

/// A slot in use; dropping it frees it.
#[derive(Debug)]
pub struct Slot<'s> {
    slots: &'s Slots,
    pub number: usize,
}

impl Slots {
    /// Makes `count` slots, numbered from 0.
    pub fn new(count: usize) -> Self {
        Self { free: Mutex::new((0..count).rev().collect()), freed: Condvar::new() }
    }

    /// Waits for a free slot.
    ///
    /// # Errors
    /// `Interrupted` when `stop` is set first.
    pub fn take(&self, stop: &Interrupt) -> Result<Slot<'_>> {
        let mut free = self.lock();
        loop {
            stop.check()?;
            if let Some(number) = free.pop() {
                return Ok(Slot { slots: self, number });
            }
            free = self.freed.wait_timeout(free, GLANCE).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A panic cannot leave a list of numbers inconsistent, so poisoning is ignored.
    fn lock(&self) -> MutexGuard<'_, Vec<usize>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.slots.lock().push(self.number);
        self.slots.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn no_more_threads_work_than_there_are_slots_and_no_two_in_one() {
        let slots = Slots::new(2);
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let used = [AtomicUsize::new(0), AtomicUsize::new(0)];
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    let slot = slots.take(&Interrupt::none()).unwrap();
                    assert_eq!(used[slot.number].fetch_add(1, Ordering::SeqCst), 0, "two in one slot");
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(20));
                    now.fetch_sub(1, Ordering::SeqCst);
                    used[slot.number].fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert_eq!(most.into_inner(), 2);
    }

    #[test]
    fn a_thread_that_waits_ends_with_the_run() {
        let (slots, stop) = (Slots::new(1), Interrupt::none());
        let slot = slots.take(&stop).unwrap();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| slots.take(&stop).map(|slot| slot.number));
            std::thread::sleep(Duration::from_millis(10));
            stop.set();
            assert_eq!(waits.join().unwrap().unwrap_err().kind(), ErrorKind::Interrupted);
        });
        drop(slot);
        assert_eq!(slots.take(&Interrupt::none()).unwrap().number, 0);
    }

    #[test]
    fn a_thread_that_panics_frees_its_slot() {
        let slots = Slots::new(1);
        let panics = || {
            let _slot = slots.take(&Interrupt::none()).unwrap();
            panic!("on purpose");
        };
        std::thread::scope(|scope| assert!(scope.spawn(panics).join().is_err()));
        assert!(slots.take(&Interrupt::none()).is_ok());
    }
}
