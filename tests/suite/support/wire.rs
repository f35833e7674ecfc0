//! The two protocols of model servers: a good answer in each, and the settings that select one.

use super::server::{Answer, Server};
use serde_json::{Value, json};

/// What every answer says that it took: tokens in and out.
pub const USED: (i64, i64) = (100, 20);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    Anthropic,
    OpenAi,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    End,
    Length,
    Refusal,
}

impl Wire {
    pub const ALL: [Self; 2] = [Self::Anthropic, Self::OpenAi];

    /// The `--config` arguments that make a server of it.
    pub fn config(self, server: &Server) -> Vec<String> {
        let (provider, base) = match self {
            Self::Anthropic => ("anthropic", server.url()),
            Self::OpenAi => ("openai", format!("{}/v1", server.url())),
        };
        let settings = [
            format!("llm.provider={provider:?}"),
            format!("llm.base_url={base:?}"),
            "llm.model=\"m\"".to_owned(),
        ];
        settings.into_iter().flat_map(|setting| ["--config".to_owned(), setting]).collect()
    }

    /// A whole answer with this text.
    pub fn says(self, text: &str) -> Answer {
        self.stops(text, Stop::End)
    }

    pub fn stops(self, text: &str, stop: Stop) -> Answer {
        Answer::Http(200, self.body(text, stop).to_string())
    }

    pub fn body(self, text: &str, stop: Stop) -> Value {
        match self {
            Self::Anthropic => {
                let word = match stop {
                    Stop::End => "end_turn",
                    Stop::Length => "max_tokens",
                    Stop::Refusal => "refusal",
                };
                json!({
                    "type": "message", "model": "m-1", "content": [{"type": "text", "text": text}], "stop_reason": word,
                    "usage": {"input_tokens": USED.0, "output_tokens": USED.1},
                })
            }
            Self::OpenAi => {
                let word = if stop == Stop::Length { "length" } else { "stop" };
                let message = match stop {
                    Stop::Refusal => json!({"role": "assistant", "content": null, "refusal": text}),
                    _ => json!({"role": "assistant", "content": text}),
                };
                json!({
                    "model": "m-1", "choices": [{"message": message, "finish_reason": word}],
                    "usage": {"prompt_tokens": USED.0, "completion_tokens": USED.1},
                })
            }
        }
    }

    /// An answer with an error's status, as such a server words it.
    pub fn fails(self, status: u16, head: &'static str, message: &str) -> Answer {
        let error = json!({"type": "some_error", "message": message});
        let body = match self {
            Self::Anthropic => json!({"type": "error", "error": error, "request_id": "r"}),
            Self::OpenAi => json!({"error": error}),
        };
        Answer::Bytes(status, head, body.to_string().into_bytes())
    }

    /// What the user's turn of a request says.
    pub fn asked(self, request: &str) -> String {
        let (_, body) = request.split_once("\r\n\r\n").unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned()
    }
}
