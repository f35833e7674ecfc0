//! Recordings: one JSON file an exchange, failed ones included, and the wrapper that records any provider.

use super::error::ModelError;
use super::exchange::{Block, Message, Prompt, Reply, StopReason};
use super::model::{Asker, Model};
use super::secret::Redactor;
use super::usage::Usage;
use crate::platform::workspace::write_atomic;
use crate::symbol::SymbolName;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Version of the file format.
pub(super) const VERSION: u32 = 1;

/// A recorded exchange.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Recording {
    pub version: u32,
    pub symbol: SymbolName,
    pub role: String,
    pub attempt: u32,
    /// See [`Prompt::enlarged`].
    pub enlarged: bool,
    pub prompt_sha256: String,
    pub system: Vec<Block>,
    pub messages: Vec<Message>,
    pub max_tokens: u64,
    pub outcome: Outcome,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Reply { text: String, stop: StopReason, usage: Usage, model: String, latency_ms: u64 },
    Error { message: String },
}

impl Recording {
    fn new(prompt: &Prompt, result: &Result<Reply, ModelError>) -> Self {
        let outcome = match result {
            Ok(reply) => Outcome::Reply {
                text: reply.text.clone(),
                stop: reply.stop.clone(),
                usage: reply.usage,
                model: reply.model.clone(),
                latency_ms: reply.latency.as_millis().try_into().unwrap_or(u64::MAX),
            },
            Err(error) => Outcome::Error { message: error.to_string() },
        };
        Self {
            version: VERSION,
            symbol: prompt.symbol.clone(),
            role: prompt.role.clone(),
            attempt: prompt.attempt,
            enlarged: prompt.enlarged,
            prompt_sha256: prompt.sha256(),
            system: prompt.system.clone(),
            messages: prompt.messages.clone(),
            max_tokens: prompt.max_tokens,
            outcome,
        }
    }
}

/// Where the recording of this exchange is under `dir`: `<symbol>/<attempt>-<role>[-enlarged].json`.
pub(super) fn path(dir: &Path, prompt: &Prompt) -> PathBuf {
    let safe = |name: &str| -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        name.chars().map(|c| if plain(c) { c } else { '_' }).collect()
    };
    let enlarged = if prompt.enlarged { "-enlarged" } else { "" };
    let file = format!("{:02}-{}{enlarged}.json", prompt.attempt, safe(&prompt.role));
    dir.join(safe(prompt.symbol.as_str())).join(file)
}

/// A provider whose every exchange is written down.
pub(super) struct Recorder {
    inner: Box<dyn Model>,
    dir: PathBuf,
    redactor: Redactor,
}

impl Recorder {
    pub fn new(inner: Box<dyn Model>, dir: PathBuf, redactor: Redactor) -> Self {
        Self { inner, dir, redactor }
    }

    fn write(&self, prompt: &Prompt, result: &Result<Reply, ModelError>) -> Result<(), ModelError> {
        let path = path(&self.dir, prompt);
        let text = serde_json::to_string_pretty(&Recording::new(prompt, result))
            .expect("a recording is made of texts and numbers");
        let text = self.redactor.clean(text) + "\n";
        write_atomic(&path, text.as_bytes()).map_err(|error| ModelError::Recording {
            message: format!("cannot write the recording: {error}"),
        })
    }
}

impl Model for Recorder {
    fn complete(&self, prompt: &Prompt, asker: &Asker) -> Result<Reply, ModelError> {
        let result = self.inner.complete(prompt, asker);
        // An exchange that the user broke off says nothing about the model.
        if !matches!(result, Err(ModelError::Interrupted)) {
            self.write(prompt, &result)?;
        }
        result
    }

    fn name(&self) -> String {
        self.inner.name()
    }
}
