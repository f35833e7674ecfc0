//! Chat Completions: OpenAI's, and those of every server that speaks the same (Ollama, llama.cpp, vLLM, LM Studio).

use super::error::ModelError;
use super::exchange::{Prompt, Reply, StopReason};
use super::http::Client;
use super::model::{Asker, Model};
use super::retry::Policy;
use super::usage::{Tokens, Usage};
use crate::config::ModelSettings;
use crate::platform::process::Interrupt;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Instant;

pub(super) const BASE_URL: &str = "https://api.openai.com/v1";
/// What is asked of OpenAI itself where `llm.model` is absent.
pub(super) const MODEL: &str = "gpt-5";

#[derive(Debug)]
pub(super) struct OpenAi {
    pub(super) client: Client,
    base: String,
    model: String,
    temperature: Option<f64>,
    reasoning_effort: Option<String>,
    legacy_max_tokens: bool,
}

impl OpenAi {
    pub fn new(settings: &ModelSettings, key: Option<SecretString>) -> Self {
        let base = settings.base_url.as_deref().unwrap_or(BASE_URL).trim_end_matches('/');
        let bearer = |key: &SecretString| SecretString::from(format!("Bearer {}", key.expose_secret()));
        let headers = key.iter().map(|key| ("authorization", bearer(key))).collect();
        Self {
            client: Client::new(base, headers, key, settings.timeout, Policy::new(settings.retries)),
            base: base.into(),
            model: settings.model.clone().unwrap_or_else(|| MODEL.into()),
            temperature: settings.temperature,
            reasoning_effort: settings.reasoning_effort.clone(),
            legacy_max_tokens: settings.legacy_max_tokens,
        }
    }

    /// The models that the server offers, in its order.
    pub fn models(&self, interrupt: &Interrupt) -> Result<Vec<String>, ModelError> {
        let url = format!("{}/models", self.base);
        let value = self.client.get(&url, &Asker::silent(interrupt))?;
        let list = value
            .get("data")
            .and_then(Value::as_array)
            .ok_or_else(|| self.client.garbled(&url, "no list of models", &value.to_string()))?;
        Ok(list.iter().filter_map(|m| m.get("id")?.as_str().map(str::to_owned)).collect())
    }

    fn request(&self, prompt: &Prompt) -> Value {
        let mut messages = Vec::new();
        if !prompt.system.is_empty() {
            messages.push(json!({"role": "system", "content": prompt.system_text()}));
        }
        messages.extend(prompt.messages.iter().map(|m| json!(m)));
        let cap = if self.legacy_max_tokens { "max_tokens" } else { "max_completion_tokens" };
        let mut body = json!({"model": self.model, "messages": messages, cap: prompt.max_tokens});
        if let Some(temperature) = self.temperature {
            body["temperature"] = temperature.into();
        }
        if let Some(effort) = &self.reasoning_effort {
            body["reasoning_effort"] = effort.as_str().into();
        }
        body
    }
}

impl Model for OpenAi {
    fn complete(&self, prompt: &Prompt, asker: &Asker) -> Result<Reply, ModelError> {
        let started = Instant::now();
        let url = format!("{}/chat/completions", self.base);
        let body = self.request(prompt);
        let (mut answer, body, retries) =
            self.client.ask::<Answer>(&url, &body, "Chat Completions", asker)?;
        if answer.choices.is_empty() {
            return Err(self.client.garbled(&url, "no choices", &body));
        }
        let Choice { message, finish_reason } = answer.choices.swap_remove(0);
        let mut text = message.content.map(Content::text).unwrap_or_default();
        let mut stop = stop_reason(finish_reason.as_deref());
        if let Some(refusal) = message.refusal {
            stop = StopReason::Refusal;
            text.push_str(&refusal);
        }
        let usage = answer.usage.and_then(|counts| counts.usage());
        let usage = usage.unwrap_or_else(|| Usage::estimate(prompt.estimate(), &text));
        let model = answer.model.unwrap_or_else(|| self.model.clone());
        Ok(Reply { text, usage, stop, model, latency: started.elapsed(), retries, drift: None })
    }

    fn name(&self) -> String {
        format!("openai/{}", self.model)
    }
}

#[derive(Deserialize)]
struct Answer {
    model: Option<String>,
    choices: Vec<Choice>,
    usage: Option<Counts>,
}

#[derive(Deserialize)]
struct Choice {
    message: Said,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    content: Option<Content>,
    refusal: Option<String>,
}

/// A text, or (some gateways) a list of parts.
#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
struct Part {
    text: Option<String>,
}

impl Content {
    fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Parts(parts) => parts.into_iter().filter_map(|p| p.text).collect(),
        }
    }
}

#[derive(Deserialize)]
struct Counts {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<Details>,
}

#[derive(Deserialize)]
struct Details {
    cached_tokens: Option<u64>,
}

impl Counts {
    /// Cached tokens are a part of the prompt's here. `None` when the server did not count.
    fn usage(&self) -> Option<Usage> {
        let cached = self.prompt_tokens_details.as_ref().and_then(|d| d.cached_tokens).unwrap_or(0);
        Some(Usage {
            input: Tokens(self.prompt_tokens?),
            output: Tokens(self.completion_tokens?),
            cached: Tokens(cached),
            ..Usage::default()
        })
    }
}

fn stop_reason(word: Option<&str>) -> StopReason {
    match word {
        Some("stop") => StopReason::End,
        Some("length") => StopReason::MaxTokens,
        Some("content_filter") => StopReason::Refusal,
        Some("tool_calls" | "function_call") => StopReason::ToolUse,
        other => StopReason::Other(other.unwrap_or("").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::exchange::sample_prompt;
    use super::super::server::{Server, Step};
    use super::*;

    fn answer(body: &str) -> (Result<Reply, ModelError>, String) {
        let server = Server::start([Step::json(body)]);
        let settings = ModelSettings {
            base_url: Some(server.url("/v1")),
            model: Some("m".into()),
            reasoning_effort: Some("low".into()),
            ..ModelSettings::default()
        };
        let model = OpenAi::new(&settings, Some(SecretString::from("sk-canary")));
        let reply = model.complete(&sample_prompt(), &Asker::silent(&Interrupt::none()));
        (reply, server.requests().remove(0))
    }

    #[test]
    fn a_round_trip() {
        let (reply, request) = answer(
            r#"{"model":"m-1","choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4}}}"#,
        );
        let reply = reply.unwrap();
        assert_eq!((reply.text.as_str(), reply.stop), ("hi", StopReason::End));
        assert_eq!((reply.usage.total(), reply.usage.cached), (Tokens(15), Tokens(4)));
        assert!(!reply.usage.estimated);
        assert!(request.starts_with("POST /v1/chat/completions "), "{request}");
        assert!(request.to_lowercase().contains("authorization: bearer sk-canary"), "{request}");
        let body: Value = serde_json::from_str(request.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        assert_eq!(body["messages"][0], json!({"role": "system", "content": "rules\n\ntypes\n\nsymbol"}));
        assert_eq!(
            (&body["max_completion_tokens"], &body["reasoning_effort"]),
            (&json!(1_000), &json!("low"))
        );
        assert_eq!(body.get("max_tokens"), None);
    }

    #[test]
    fn a_local_server_may_count_nothing() {
        let (reply, _) = answer(r#"{"choices":[{"message":{"content":"12345"}}]}"#);
        let reply = reply.unwrap();
        assert_eq!((reply.usage.estimated, reply.usage.output), (true, Tokens(2)));
        assert_eq!((reply.stop, reply.model.as_str()), (StopReason::Other(String::new()), "m"));
    }

    #[test]
    fn odd_answers_are_taken() {
        let (reply, _) = answer(
            r#"{"choices":[{"message":{"content":[{"type":"text","text":"x"}]},"finish_reason":"length"}]}"#,
        );
        let reply = reply.unwrap();
        assert_eq!((reply.text.as_str(), reply.stop), ("x", StopReason::MaxTokens));
        let (reply, _) =
            answer(r#"{"choices":[{"message":{"content":null,"refusal":"no"},"finish_reason":"stop"}]}"#);
        assert_eq!(reply.unwrap().stop, StopReason::Refusal);
        let (reply, _) = answer(r#"{"choices":[]}"#);
        assert!(reply.unwrap_err().to_string().contains("no choices"));
    }

    #[test]
    fn older_servers_get_the_older_word() {
        let settings = ModelSettings { legacy_max_tokens: true, ..ModelSettings::default() };
        let body = OpenAi::new(&settings, None).request(&sample_prompt());
        assert_eq!((&body["max_tokens"], body.get("max_completion_tokens")), (&json!(1_000), None));
    }
}
