//! Ctrl-C as a value.

use crate::error::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ctrl-C, as a value that is passed down. The second Ctrl-C ends the process at once.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    own: Arc<AtomicBool>,
    /// Set with the one that it was made from.
    parent: Option<Arc<AtomicBool>>,
}

impl Interrupt {
    /// One that nothing sets.
    pub fn none() -> Self {
        Self::default()
    }

    /// Listens to SIGINT and SIGTERM from now on.
    pub fn listen() -> Result<Self> {
        let this = Self::default();
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            let register = || -> std::io::Result<()> {
                signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&this.own))?;
                signal_hook::flag::register(signal, Arc::clone(&this.own))?;
                Ok(())
            };
            register()?;
        }
        Ok(this)
    }

    /// One that is set with this one, and by itself: for work that ends when other work has failed.
    pub fn child(&self) -> Self {
        Self { own: Arc::default(), parent: Some(Arc::clone(&self.own)) }
    }

    /// Whether Ctrl-C was pressed.
    pub fn is_set(&self) -> bool {
        let is_set = |flag: &AtomicBool| flag.load(Ordering::SeqCst);
        is_set(&self.own) || self.parent.as_deref().is_some_and(is_set)
    }

    /// An error if Ctrl-C was pressed.
    pub fn check(&self) -> Result<()> {
        if self.is_set() { Err(Error::interrupted()) } else { Ok(()) }
    }

    /// Sets it, as Ctrl-C does.
    pub fn set(&self) {
        self.own.store(true, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_set_with_its_parent_and_by_itself() {
        let parent = Interrupt::none();
        let (one, other) = (parent.child(), parent.child());
        one.set();
        assert_eq!((one.is_set(), other.is_set(), parent.is_set()), (true, false, false));
        parent.set();
        assert!(other.is_set() && other.check().is_err());
    }
}
