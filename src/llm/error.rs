//! How asking a model can fail. Answers that are unwelcome (refusals, cut-off texts) are replies, not errors.

use crate::error::{Error, ErrorKind};
use std::path::PathBuf;
use std::time::Duration;

/// Why there is no answer. Texts never hold a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
    /// The server or program could not be reached, or broke off; after all retries.
    #[error("{source_name}: {detail}")]
    Unreachable { source_name: String, detail: String },
    /// No complete answer in time.
    #[error("{source_name}: no complete answer within {} s", after.as_secs_f32())]
    TimedOut { source_name: String, after: Duration },
    /// The server answered with an error status.
    #[error("{url}: HTTP {status}: {message}")]
    Status {
        url: String,
        status: u16,
        message: String,
        advice: String,
        /// It is about the account, such as its limit, and not about what was asked.
        is_of_account: bool,
    },
    /// The answer is not what the protocol promises.
    #[error("{source_name}: {why}{}", excerpt_suffix(excerpt))]
    Garbled { source_name: String, why: String, excerpt: String },
    /// There is no recording of this exchange.
    #[error("no recorded reply: {} does not exist", path.display())]
    NoRecording { path: PathBuf },
    /// The recording says that the exchange failed then.
    #[error("as recorded in {}: {message}", path.display())]
    Recorded { path: PathBuf, message: String },
    /// A file could not be read or written, or the recording is damaged.
    #[error("{message}")]
    Recording { message: String },
}

fn excerpt_suffix(excerpt: &str) -> String {
    if excerpt.is_empty() { String::new() } else { format!(": {excerpt}") }
}

impl ModelError {
    /// Whether another request may succeed: the provider refuses what this one contains.
    pub fn is_about_the_request(&self) -> bool {
        match self {
            // For instance a prompt that is too long, or that a filter refuses.
            Self::Status { status, is_of_account, .. } => matches!(status, 400 | 413 | 422) && !is_of_account,
            // The run that was recorded may have gone on.
            Self::Recorded { .. } => true,
            Self::Interrupted
            | Self::Unreachable { .. }
            | Self::TimedOut { .. }
            // Most often another server answers.
            | Self::Garbled { .. }
            | Self::NoRecording { .. }
            | Self::Recording { .. } => false,
        }
    }

    /// What the user can do.
    pub fn advice(&self) -> Option<String> {
        match self {
            Self::Interrupted => None,
            Self::Unreachable { .. } => {
                Some("check that the server runs and that llm.base_url (or llm.command) is right".into())
            }
            Self::TimedOut { .. } => Some("allow more time: --config 'llm.timeout_seconds=1800'".into()),
            Self::Status { advice, .. } => Some(advice.clone()),
            Self::Garbled { .. } => {
                Some("check llm.base_url (or llm.command): this is not the protocol of llm.provider".into())
            }
            Self::NoRecording { .. } => {
                Some("record it: run once with a real provider and `--record DIR`, then replay DIR".into())
            }
            Self::Recorded { .. } => {
                Some("record the exchange again with a real provider and `--record DIR`".into())
            }
            Self::Recording { .. } => None,
        }
    }
}

impl From<ModelError> for Error {
    fn from(error: ModelError) -> Self {
        if error == ModelError::Interrupted {
            return Self::interrupted();
        }
        let plain = Self::new(ErrorKind::Model, error.to_string());
        match error.advice() {
            Some(advice) => plain.help(advice),
            None => plain,
        }
    }
}

/// The beginning of a text on one line, for an error message.
pub fn excerpt(text: &str) -> String {
    const LONGEST: usize = 200;
    let mut short: String = text.chars().take(LONGEST * 4).collect();
    short = short.split_whitespace().collect::<Vec<_>>().join(" ").replace(char::is_control, "?");
    if short.chars().count() > LONGEST {
        short = short.chars().take(LONGEST).collect::<String>() + "…";
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_short_and_on_one_line() {
        let text = excerpt(&"<html>\n\u{1b}[31m é ".repeat(1_000));
        assert!(text.chars().count() <= 201 && !text.contains(['\n', '\u{1b}']), "{text}");
        assert_eq!(excerpt(" a\n b "), "a b");
    }

    #[test]
    fn an_interrupt_stays_an_interrupt() {
        assert_eq!(Error::from(ModelError::Interrupted).kind(), ErrorKind::Interrupted);
        let missing = Error::from(ModelError::NoRecording { path: "r/x.json".into() });
        assert_eq!(missing.kind(), ErrorKind::Model);
        assert!(
            missing.to_string().contains("r/x.json") && missing.help_text().unwrap().contains("--record")
        );
    }
}
