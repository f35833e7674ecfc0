//! Ctrl-C as a value.

use crate::error::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ctrl-C, as a value that is passed down. The second Ctrl-C ends the process at once.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

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
                signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&this.0))?;
                signal_hook::flag::register(signal, Arc::clone(&this.0))?;
                Ok(())
            };
            register()?;
        }
        Ok(this)
    }

    /// Whether Ctrl-C was pressed.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// An error if Ctrl-C was pressed.
    pub fn check(&self) -> Result<()> {
        if self.is_set() { Err(Error::interrupted()) } else { Ok(()) }
    }

    /// Sets it, as Ctrl-C does.
    pub fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
