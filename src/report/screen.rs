//! Writes results to standard output, errors to standard error and questions to the terminal.

use super::ci::{PortResult, annotations, inert};
use super::printable::printable;
use super::{json_events, settle, text};
use crate::error::{Error, Result};
use serde::Serialize;
use std::borrow::Cow;
use std::io::{BufRead, IsTerminal, Write};

/// Writes a command's results as text or JSON.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    /// One JSON object per line instead of text.
    pub json: bool,
    /// A runner of GitHub reads the output, and obeys lines that begin like commands.
    pub github: bool,
}

impl Screen {
    /// Writes text to standard output; colours only on a terminal that wants them.
    pub fn text(self, text: &str) {
        let text = self.inert(text);
        let mut out = anstream::stdout().lock();
        settle(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
    }

    /// Writes annotations, which are commands to GitHub's runner; nothing elsewhere.
    pub fn annotations(self, results: &[PortResult]) {
        if self.github && !self.json {
            self.bytes(annotations(results).as_bytes());
        }
    }

    /// Text that the runner does not take for commands.
    fn inert(self, text: &str) -> Cow<'_, str> {
        if self.github { Cow::Owned(inert(text)) } else { Cow::Borrowed(text) }
    }

    /// Writes bytes unchanged: files, inputs, generated code.
    pub fn bytes(self, bytes: &[u8]) {
        let mut out = std::io::stdout().lock();
        settle(out.write_all(bytes).and_then(|()| out.flush()));
    }

    /// Writes a result: `value` as a JSON object of this type, or the output of `text`.
    pub fn result<T: Serialize>(self, kind: &str, value: &T, text: impl FnOnce() -> String) {
        if self.json {
            self.bytes(json_events::line(kind, value).as_bytes());
        } else {
            self.text(&text());
        }
    }

    /// Reports a failure: on standard error, or as a JSON object of type `error` among the results.
    pub fn error(self, error: &Error) {
        if self.json {
            self.bytes(json_events::error_line(error).as_bytes());
        } else {
            let mut err = anstream::stderr().lock();
            settle(err.write_all(self.inert(&text::error(error)).as_bytes()).and_then(|()| err.flush()));
        }
    }
}

/// Overrides the automatic choice of colour; `None` keeps it, `NO_COLOR` included.
pub fn choose_color(always: Option<bool>) {
    match always {
        Some(true) => anstream::ColorChoice::Always.write_global(),
        Some(false) => anstream::ColorChoice::Never.write_global(),
        None => {}
    }
}

/// Asks on the terminal; only `y` and `yes` agree. `None` without a terminal.
pub fn ask_yes_no(question: &str) -> Result<Option<bool>> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Ok(None);
    }
    let mut err = anstream::stderr().lock();
    settle(write!(err, "{} [y/N] ", printable(question)).and_then(|()| err.flush()));
    drop(err);
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(Some(agrees(&answer)))
}

fn agrees(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_a_plain_yes_agrees() {
        assert!([" y\n", "Yes\n"].iter().all(|answer| super::agrees(answer)));
        assert!(!["\n", "", "no\n", "yes please\n"].iter().any(|answer| super::agrees(answer)));
    }
}
