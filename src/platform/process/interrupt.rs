use crate::error::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that Ctrl-C sets; callers pass it down. A second Ctrl-C ends the process at once.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    own: Arc<AtomicBool>,
    /// This interrupt is also set when its parent is.
    parent: Option<Arc<AtomicBool>>,
}

impl Interrupt {
    /// An interrupt that is never set.
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

    /// An interrupt that is set with this one or separately: for work that must stop when other work fails.
    pub fn child(&self) -> Self {
        Self { own: Arc::default(), parent: Some(Arc::clone(&self.own)) }
    }

    /// Whether it is set.
    pub fn is_set(&self) -> bool {
        let is_set = |flag: &AtomicBool| flag.load(Ordering::SeqCst);
        is_set(&self.own) || self.parent.as_deref().is_some_and(is_set)
    }

    /// Fails if it is set.
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
