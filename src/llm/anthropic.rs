//! Anthropic's Messages API.

use super::error::ModelError;
use super::exchange::{Prompt, Reply, StopReason};
use super::http::Client;
use super::model::{Asker, Model};
use super::retry::Policy;
use super::usage::{Tokens, Usage};
use crate::config::ModelSettings;
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Instant;

pub(super) const BASE_URL: &str = "https://api.anthropic.com";
/// What is asked where `llm.model` is absent.
pub(super) const MODEL: &str = "claude-sonnet-4-5";
const VERSION: &str = "2023-06-01";
/// The API takes no more cache marks than this.
const CACHE_MARKS: usize = 4;

#[derive(Debug)]
pub(super) struct Anthropic {
    pub(super) client: Client,
    url: String,
    model: String,
    temperature: Option<f64>,
}

impl Anthropic {
    pub fn new(settings: &ModelSettings, key: Option<SecretString>) -> Self {
        let base = settings.base_url.as_deref().unwrap_or(BASE_URL).trim_end_matches('/');
        let mut headers = vec![("anthropic-version", SecretString::from(VERSION))];
        headers.extend(key.iter().map(|key| ("x-api-key", key.clone())));
        Self {
            client: Client::new(base, headers, key, settings.timeout, Policy::new(settings.retries)),
            url: format!("{}/v1/messages", base.strip_suffix("/v1").unwrap_or(base)),
            model: settings.model.clone().unwrap_or_else(|| MODEL.into()),
            temperature: settings.temperature,
        }
    }

    fn request(&self, prompt: &Prompt) -> Value {
        let mut marks = CACHE_MARKS;
        let system: Vec<Value> = prompt
            .system
            .iter()
            .map(|block| {
                let mut value = json!({"type": "text", "text": block.text});
                if block.cache && marks > 0 {
                    marks -= 1;
                    value["cache_control"] = json!({"type": "ephemeral"});
                }
                value
            })
            .collect();
        let mut body = json!({
            "model": self.model,
            "max_tokens": prompt.max_tokens,
            "messages": prompt.messages,
        });
        if !system.is_empty() {
            body["system"] = system.into();
        }
        if let Some(temperature) = self.temperature {
            body["temperature"] = temperature.into();
        }
        body
    }
}

impl Model for Anthropic {
    fn complete(&self, prompt: &Prompt, asker: &Asker) -> Result<Reply, ModelError> {
        let started = Instant::now();
        let body = self.request(prompt);
        let (answer, _, retries) = self.client.ask::<Answer>(&self.url, &body, "the Messages API", asker)?;
        let text: String =
            answer.content.iter().filter(|p| p.kind == "text").filter_map(|p| p.text.as_deref()).collect();
        let usage = answer.usage.map(|counts| counts.usage());
        let usage = usage.unwrap_or_else(|| Usage::estimate(prompt.estimate(), &text));
        let stop = stop_reason(answer.stop_reason.as_deref());
        let model = answer.model.unwrap_or_else(|| self.model.clone());
        Ok(Reply { text, usage, stop, model, latency: started.elapsed(), retries, drift: None })
    }

    fn name(&self) -> String {
        format!("anthropic/{}", self.model)
    }
}

#[derive(Deserialize)]
struct Answer {
    model: Option<String>,
    content: Vec<Piece>,
    stop_reason: Option<String>,
    usage: Option<Counts>,
}

#[derive(Deserialize)]
struct Piece {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
}

#[derive(Deserialize)]
struct Counts {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
}

impl Counts {
    /// The three input counts exclude each other here; ours is their sum.
    fn usage(&self) -> Usage {
        let count = |n: Option<u64>| Tokens(n.unwrap_or(0));
        let (cached, cache_write) =
            (count(self.cache_read_input_tokens), count(self.cache_creation_input_tokens));
        Usage {
            input: count(self.input_tokens) + cached + cache_write,
            output: count(self.output_tokens),
            cached,
            cache_write,
            estimated: false,
        }
    }
}

fn stop_reason(word: Option<&str>) -> StopReason {
    match word {
        Some("end_turn") => StopReason::End,
        Some("stop_sequence") => StopReason::StopSequence,
        Some("max_tokens") => StopReason::MaxTokens,
        Some("model_context_window_exceeded") => StopReason::ContextWindow,
        Some("tool_use") => StopReason::ToolUse,
        Some("pause_turn") => StopReason::Pause,
        Some("refusal") => StopReason::Refusal,
        other => StopReason::Other(other.unwrap_or("").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::exchange::{Block, sample_prompt};
    use super::super::server::{Server, Step};
    use super::*;
    use crate::platform::process::Interrupt;

    const OK: &str = r#"{"type":"message","model":"m-1","content":[{"type":"thinking","thinking":"…"},{"type":"text","text":"a"},{"type":"text","text":"b"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2,"cache_creation_input_tokens":10,"cache_read_input_tokens":100}}"#;

    fn model(server: &Server) -> Anthropic {
        let settings = ModelSettings {
            base_url: Some(server.url("/v1/")),
            model: Some("m".into()),
            ..ModelSettings::default()
        };
        Anthropic::new(&settings, Some(SecretString::from("sk-canary")))
    }

    #[test]
    fn a_round_trip() {
        let server = Server::start([Step::json(OK)]);
        let reply = model(&server).complete(&sample_prompt(), &Asker::silent(&Interrupt::none())).unwrap();
        assert_eq!((reply.text.as_str(), reply.stop, reply.model.as_str()), ("ab", StopReason::End, "m-1"));
        assert_eq!((reply.usage.input, reply.usage.total()), (Tokens(111), Tokens(113)));
        assert_eq!((reply.usage.cached, reply.usage.cache_write), (Tokens(100), Tokens(10)));
        let request = server.requests().remove(0);
        assert!(request.starts_with("POST /v1/messages "), "{request}");
        let lower = request.to_lowercase();
        for header in ["x-api-key: sk-canary", "anthropic-version: 2023", "content-type: application/json"] {
            assert!(lower.contains(header), "{request}");
        }
        let body: Value = serde_json::from_str(request.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        assert_eq!(body["messages"], json!([{"role": "user", "content": "port it"}]));
        assert_eq!(body["system"][1]["cache_control"]["type"], "ephemeral");
        assert_eq!(body["system"][2].get("cache_control"), None);
        assert_eq!((body.get("temperature"), &body["max_tokens"]), (None, &json!(1_000)));
    }

    #[test]
    fn no_more_cache_marks_than_the_api_takes() {
        let settings = ModelSettings { temperature: Some(0.5), ..ModelSettings::default() };
        let mut prompt = sample_prompt();
        prompt.system = vec![Block { text: "x".into(), cache: true }; 6];
        let body = Anthropic::new(&settings, None).request(&prompt);
        let marked = body["system"].as_array().unwrap().iter().filter(|b| b.get("cache_control").is_some());
        assert_eq!((marked.count(), &body["temperature"]), (4, &json!(0.5)));
    }

    #[test]
    fn every_stop_reason_is_taken() {
        assert_eq!(stop_reason(Some("refusal")), StopReason::Refusal);
        assert!(stop_reason(Some("max_tokens")).is_truncated());
        assert!(stop_reason(Some("model_context_window_exceeded")).is_truncated());
        assert_eq!(stop_reason(Some("new_word")), StopReason::Other("new_word".into()));
        assert_eq!(stop_reason(None), StopReason::Other(String::new()));
    }
}
