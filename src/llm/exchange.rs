//! Requests and replies, in the form that all providers share.

use super::usage::{Tokens, Usage};
use crate::digest::sha256;
use crate::symbol::SymbolName;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::time::Duration;

/// A question to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// `prototyper`, `enhancer`, …
    pub role: String,
    pub symbol: SymbolName,
    /// From 1, counted per role and symbol; with both it is the key of a recording.
    pub attempt: u32,
    /// Whether this repeats the attempt with a larger `max_tokens`, because the first answer was cut off.
    pub enlarged: bool,
    /// What stays the same over many prompts, the most stable first.
    pub system: Vec<Block>,
    pub messages: Vec<Message>,
    /// Most tokens of the answer.
    pub max_tokens: u64,
}

/// A piece of the system prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    pub text: String,
    /// Everything up to here may be cached by the provider.
    pub cache: bool,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "kebab-case")]
pub enum Speaker {
    User,
    Assistant,
}

impl Speaker {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// A turn of the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    #[serde(rename = "role")]
    pub speaker: Speaker,
    #[serde(rename = "content")]
    pub text: String,
}

impl Prompt {
    /// The system prompt as one text.
    pub fn system_text(&self) -> String {
        self.system.iter().map(|b| b.text.as_str()).collect::<Vec<_>>().join("\n\n")
    }

    /// Hash of every text in it, in hexadecimal. Cache marks and limits do not count: they change no meaning.
    pub fn sha256(&self) -> String {
        let system = self.system.iter().map(|block| ("system", &block.text));
        let all = system.chain(self.messages.iter().map(|m| (m.speaker.word(), &m.text)));
        // The length keeps texts from flowing into each other.
        sha256(all.map(|(kind, text)| format!("{kind} {}\n{text}", text.len())).collect::<String>())
    }

    /// A guess at what it costs to send.
    pub fn estimate(&self) -> Tokens {
        let system = self.system.iter().map(|b| Tokens::estimate(&b.text));
        system.chain(self.messages.iter().map(|m| Tokens::estimate(&m.text))).sum()
    }

    /// More than it costs to send: code has about three bytes a token, and prose more.
    pub fn most(&self) -> Tokens {
        Tokens(self.estimate().0.saturating_mul(2))
    }

    /// The whole prompt for a log file.
    pub fn to_markdown(&self) -> String {
        let mut text = format!("# {} of {}, attempt {}\n", self.role, self.symbol, self.attempt);
        for block in &self.system {
            let _ = write!(text, "\n## system\n\n{}\n", block.text);
        }
        for message in &self.messages {
            let _ = write!(text, "\n## {}\n\n{}\n", message.speaker.word(), message.text);
        }
        text
    }
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It was done.
    End,
    /// It reached a stop sequence.
    StopSequence,
    /// `max_tokens` were used up: the answer is cut off.
    MaxTokens,
    /// The context was full: the answer is cut off.
    ContextWindow,
    /// It wants to call a tool, though it was given none.
    ToolUse,
    /// The provider paused a long turn: the answer is cut off.
    Pause,
    /// It refuses, or a filter of the provider does.
    Refusal,
    /// A word that this tool does not know.
    Other(String),
}

impl StopReason {
    /// As in tables and the database; the provider's own word where the tool knows none, absent where it gave none.
    pub fn word(&self) -> Option<&str> {
        Some(match self {
            Self::End => "end",
            Self::StopSequence => "stop_sequence",
            Self::MaxTokens => "max_tokens",
            Self::ContextWindow => "context_window",
            Self::ToolUse => "tool_use",
            Self::Pause => "pause",
            Self::Refusal => "refusal",
            Self::Other(word) => return (!word.is_empty()).then_some(word),
        })
    }

    /// Whether the answer is incomplete, so that it must not be compiled.
    pub fn is_truncated(&self) -> bool {
        matches!(self, Self::MaxTokens | Self::ContextWindow | Self::Pause)
    }
}

/// A model's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    pub text: String,
    pub usage: Usage,
    pub stop: StopReason,
    /// The model that answered, as it calls itself.
    pub model: String,
    /// From sending to the last byte, failed tries and the waits between them included; of a recording: the time then.
    pub latency: Duration,
    /// How often the request was sent again before this answer came; of a recording: 0.
    pub retries: u32,
    /// Set when this is a recording of an answer to another text than the one asked now.
    pub drift: Option<Drift>,
}

/// A recorded prompt differs from the one asked now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drift {
    /// Hash of the prompt that was recorded.
    pub recorded: String,
    /// Hash of the prompt now.
    pub now: String,
}

#[cfg(test)]
pub(super) fn sample_prompt() -> Prompt {
    Prompt {
        role: "prototyper".into(),
        symbol: SymbolName::new("adler32"),
        attempt: 1,
        enlarged: false,
        system: vec![
            Block { text: "rules".into(), cache: true },
            Block { text: "types".into(), cache: true },
            Block { text: "symbol".into(), cache: false },
        ],
        messages: vec![Message { speaker: Speaker::User, text: "port it".into() }],
        max_tokens: 1_000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_sees_every_text_and_where_it_ends() {
        let one = sample_prompt();
        let mut other = one.clone();
        other.system[0].text = "rulest".into();
        other.system[1].text = "ypes".into();
        assert_ne!(one.sha256(), other.sha256());
        let mut same = one.clone();
        same.system[2].cache = true;
        same.max_tokens = 7;
        same.attempt = 2;
        assert_eq!(one.sha256(), same.sha256());
        assert_eq!(one.sha256().len(), 64);
    }

    #[test]
    fn a_log_shows_everything() {
        let text = sample_prompt().to_markdown();
        for part in ["prototyper of adler32, attempt 1", "rules", "types", "symbol", "port it"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
