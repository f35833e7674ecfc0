//! Progress bars on standard error: one for the symbols, one for the running step.

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::time::Duration;

/// The progress bars of a terminal.
pub(super) struct Bars {
    all: MultiProgress,
    symbols: Option<ProgressBar>,
    step: Option<ProgressBar>,
}

impl Bars {
    pub(super) fn new() -> Self {
        Self { all: MultiProgress::new(), symbols: None, step: None }
    }

    /// Runs `print` while the bars are hidden.
    pub(super) fn suspend(&self, print: impl FnOnce()) {
        self.all.suspend(print);
    }

    /// Starts symbol `index` (from 1) of `total`.
    pub(super) fn symbol(&mut self, name: &str, index: usize, total: usize) {
        if total > 1 {
            let bar = self.symbols.get_or_insert_with(|| {
                self.all
                    .insert(0, ProgressBar::new(total as u64).with_style(style("{bar:30} {pos}/{len} {msg}")))
            });
            bar.set_length(total as u64);
            bar.set_position(index.saturating_sub(1) as u64);
            bar.set_message(name.to_owned());
        }
    }

    /// Ends a symbol; the bar disappears with the last one.
    pub(super) fn symbol_done(&mut self) {
        self.end_step();
        if let Some(bar) = &self.symbols {
            bar.inc(1);
            if Some(bar.position()) >= bar.length() {
                bar.finish_and_clear();
                self.symbols = None;
            }
        }
    }

    /// Starts a step; without a total it shows a spinner.
    pub(super) fn step(&mut self, message: &str, total: Option<u64>) {
        self.end_step();
        let bar = match total {
            Some(total) => {
                ProgressBar::new(total).with_style(style("{bar:30} {pos}/{len} {elapsed}, {eta} left: {msg}"))
            }
            None => ProgressBar::new_spinner().with_style(style("{spinner} {elapsed} {msg}")),
        };
        let bar = self.all.add(bar);
        bar.set_message(message.to_owned());
        bar.enable_steady_tick(Duration::from_millis(120));
        self.step = Some(bar);
    }

    /// So much of the running step is done.
    pub(super) fn step_at(&self, done: u64) {
        if let Some(bar) = &self.step {
            bar.set_position(done);
        }
    }

    /// Updates the message of the running step.
    pub(super) fn progress(&mut self, message: &str) {
        if self.step.is_none() {
            self.step(message, None);
        }
        if let Some(bar) = &self.step {
            bar.set_message(message.to_owned());
        }
    }

    /// Ends the running step.
    pub(super) fn end_step(&mut self) {
        if let Some(bar) = self.step.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        self.end_step();
        if let Some(bar) = self.symbols.take() {
            bar.finish_and_clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    // The templates are the valid literals above.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
