//! JSON over HTTP: one request at a time on its own thread, so that Ctrl-C works even if the server never ends its
//! answer; retries; and errors that quote the server.

use super::error::{ModelError, excerpt};
use super::model::Asker;
use super::retry::{self, Decision, Failure, Policy};
use super::secret::{Redactor, shown_url};
use crate::platform::process::Interrupt;
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::io::Read;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use ureq::tls::{RootCerts, TlsConfig};

const CONNECT: Duration = Duration::from_secs(5);
const BODY_CAP: u64 = 64 << 20;
const HTML: &str = "HTML instead of JSON";

/// A connection to one server.
#[derive(Debug)]
pub(super) struct Client {
    agent: ureq::Agent,
    headers: Vec<(&'static str, SecretString)>,
    redactor: Redactor,
    timeout: Duration,
    pub(super) policy: Policy,
    pub(super) body_cap: u64,
}

/// One answer of the server, whatever its status.
struct Answer {
    status: u16,
    wait: Option<Duration>,
    location: Option<String>,
    body: Vec<u8>,
}

/// Why one request had no answer.
enum Broken {
    Transport(String),
    TimedOut,
    TooLarge,
}

impl Client {
    /// A client for the server of `base_url`; `headers` go with every request, and no text that comes back holds
    /// `keys`. `timeout` is for one answer, from connecting to the last byte.
    pub fn new(
        base_url: &str,
        headers: Vec<(&'static str, SecretString)>,
        keys: impl IntoIterator<Item = SecretString>,
        timeout: Duration,
        policy: Policy,
    ) -> Self {
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        let mut config = ureq::Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(timeout))
            .user_agent(concat!("cargo-implfuzz/", env!("CARGO_PKG_VERSION")));
        if is_loopback(base_url) {
            // A proxy cannot reach a server of this machine.
            config = config.proxy(None);
        }
        let agent = config.build().into();
        Self { agent, headers, redactor: Redactor::new(keys), timeout, policy, body_cap: BODY_CAP }
    }

    /// Posts a question to this `api` and returns a successful answer, with its text, and how often it was sent again
    /// before.
    pub fn ask<A: DeserializeOwned>(
        &self,
        url: &str,
        body: &Value,
        api: &str,
        asker: &Asker,
    ) -> Result<(A, String, u32), ModelError> {
        let (value, retries) = self.request(url, Some(body.to_string()), asker)?;
        let text = value.to_string();
        match serde_json::from_value(value) {
            Ok(answer) => Ok((answer, text, retries)),
            Err(error) => Err(self.garbled(url, format!("not an answer of {api} ({error})"), &text)),
        }
    }

    /// Gets JSON.
    pub fn get(&self, url: &str, asker: &Asker) -> Result<Value, ModelError> {
        self.request(url, None, asker).map(|(value, _)| value)
    }

    /// An error about an answer that came in time and means nothing.
    pub fn garbled(&self, url: &str, why: impl Into<String>, body: &str) -> ModelError {
        ModelError::Garbled { source_name: shown_url(url), why: why.into(), excerpt: excerpt(body) }
    }

    fn request(&self, url: &str, body: Option<String>, asker: &Asker) -> Result<(Value, u32), ModelError> {
        for attempt in 0.. {
            let (failure, wait, error) = match self.once(url, body.clone(), asker.interrupt)? {
                Ok(answer) if (200..300).contains(&answer.status) => {
                    return self.read_json(url, answer).map(|value| (value, attempt));
                }
                Ok(answer) => self.refused(url, answer),
                Err(Broken::Transport(detail)) => {
                    let detail = self.redactor.clean(detail);
                    let error = ModelError::Unreachable { source_name: shown_url(url), detail };
                    (Failure::Transport, None, error)
                }
                // Trying again would take as long again.
                Err(Broken::TimedOut) => {
                    return Err(ModelError::TimedOut { source_name: shown_url(url), after: self.timeout });
                }
                Err(Broken::TooLarge) => {
                    return Err(self.garbled(url, format!("more than {} bytes", self.body_cap), ""));
                }
            };
            match retry::decide(self.policy, failure, wait, attempt, retry::jitter()) {
                Decision::Retry { after } => retry::wait(after, &error, asker)?,
                Decision::Fail => return Err(error),
            }
        }
        unreachable!("the policy ends the loop")
    }

    /// Sends once and waits. The thread is left alone after Ctrl-C or the time limit; its own time limit ends it.
    fn once(
        &self,
        url: &str,
        body: Option<String>,
        interrupt: &Interrupt,
    ) -> Result<Result<Answer, Broken>, ModelError> {
        let (send, receive) = channel();
        let (agent, headers, url, cap) =
            (self.agent.clone(), self.headers.clone(), url.to_owned(), self.body_cap);
        let spawned = std::thread::Builder::new().name("model request".into()).spawn(move || {
            // Nobody listens any more after Ctrl-C.
            let _ = send.send(exchange(&agent, &headers, &url, body, cap));
        });
        if let Err(error) = spawned {
            return Ok(Err(Broken::Transport(format!("cannot start a thread: {error}"))));
        }
        let deadline = Instant::now() + self.timeout;
        loop {
            if interrupt.is_set() {
                return Err(ModelError::Interrupted);
            }
            match receive.recv_timeout(Duration::from_millis(20)) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok(Err(Broken::Transport("the request broke off".into())));
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() >= deadline => {
                    return Ok(Err(Broken::TimedOut));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn read_json(&self, url: &str, answer: Answer) -> Result<Value, ModelError> {
        let status = answer.status;
        let body = self.redactor.clean(String::from_utf8_lossy(&answer.body).into_owned());
        if body.trim().is_empty() {
            return Err(self.garbled(url, format!("HTTP {status} with an empty body"), ""));
        }
        serde_json::from_str(&body).map_err(|error| {
            let why = if is_html(&body) { HTML.into() } else { format!("not JSON ({error})") };
            self.garbled(url, format!("HTTP {status}, {why}"), &body)
        })
    }

    fn refused(&self, url: &str, answer: Answer) -> (Failure, Option<Duration>, ModelError) {
        let body = self.redactor.clean(String::from_utf8_lossy(&answer.body).into_owned());
        let (mut message, spend_limit) = said(&body);
        if let Some(location) = answer.location {
            message = format!("redirects to {}", shown_url(&self.redactor.clean(location)));
        }
        let status = answer.status;
        let failure = if spend_limit { Failure::SpendLimit } else { Failure::Status(status) };
        let advice = advice(status, spend_limit).to_owned();
        let error =
            ModelError::Status { url: shown_url(url), status, message, advice, is_of_account: spend_limit };
        (failure, answer.wait, error)
    }
}

fn exchange(
    agent: &ureq::Agent,
    headers: &[(&'static str, SecretString)],
    url: &str,
    body: Option<String>,
    cap: u64,
) -> Result<Answer, Broken> {
    let response = match body {
        Some(body) => {
            let request = headers
                .iter()
                .fold(agent.post(url), |request, (name, value)| request.header(*name, value.expose_secret()));
            request.content_type("application/json").send(body)
        }
        None => headers
            .iter()
            .fold(agent.get(url), |request, (name, value)| request.header(*name, value.expose_secret()))
            .call(),
    };
    let mut response = response.map_err(broken)?;
    let header = |name: &str| response.headers().get(name).and_then(|v| v.to_str().ok()).map(str::to_owned);
    let wait = retry::asked_wait(&header, jiff::Timestamp::now());
    let location = header("location").filter(|_| (300..400).contains(&response.status().as_u16()));
    let status = response.status().as_u16();
    let mut bytes = Vec::new();
    // The cap is on what comes out of decompression.
    let read = response.body_mut().as_reader().take(cap + 1).read_to_end(&mut bytes);
    read.map_err(|error| broken(ureq::Error::from(error)))?;
    if bytes.len() as u64 > cap {
        return Err(Broken::TooLarge);
    }
    Ok(Answer { status, wait, location, body: bytes })
}

fn broken(error: ureq::Error) -> Broken {
    match error {
        ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
            Broken::Transport(format!("no connection within {} s", CONNECT.as_secs()))
        }
        ureq::Error::Timeout(_) => Broken::TimedOut,
        other => Broken::Transport(other.to_string()),
    }
}

/// What an error body says, and whether it is about money.
fn said(body: &str) -> (String, bool) {
    let value: Value = serde_json::from_str(body).unwrap_or(Value::Null);
    let error = value.get("error").unwrap_or(&value);
    let text = |key: &str| error.get(key).and_then(Value::as_str);
    let spend_limit = [text("type"), text("code")]
        .into_iter()
        .flatten()
        .any(|word| matches!(word, "insufficient_quota" | "billing_error" | "billing_hard_limit_reached"));
    let message = text("message").or(error.as_str()).or(text("detail"));
    let message = match message {
        Some(message) => excerpt(message),
        None if body.trim().is_empty() => "no message".into(),
        None if is_html(body) => format!("{HTML}: {}", excerpt(body)),
        None => excerpt(body),
    };
    (message, spend_limit)
}

fn is_html(body: &str) -> bool {
    body.trim_start().starts_with('<')
}

fn advice(status: u16, spend_limit: bool) -> &'static str {
    match status {
        _ if spend_limit => "add credit to the account or raise its limit at the provider",
        300..=399 => "set llm.base_url to the server's final address",
        400 | 422 => {
            "check llm.model, llm.max_tokens, llm.temperature and llm.legacy_max_tokens against the limits of the model"
        }
        401 | 403 => "check the key in the environment variable that llm.api_key_env names",
        402 => "add credit to the account or raise its limit at the provider",
        404 => "check llm.model and llm.base_url",
        413 => "the prompt is too large for this server",
        429 => "wait, or use another model: --config 'llm.model=\"…\"'",
        _ => "the server has a problem: try again later, or use another one with llm.base_url",
    }
}

fn is_loopback(url: &str) -> bool {
    let shown = shown_url(url);
    let host = shown.split_once("://").map_or(shown.as_str(), |(_, rest)| rest);
    let host = host.split('/').next().unwrap_or(host);
    host == "localhost"
        || host.starts_with("localhost:")
        || host.starts_with("[::1]")
        || host.parse::<std::net::Ipv4Addr>().is_ok_and(|ip| ip.is_loopback())
        || host.parse::<std::net::SocketAddrV4>().is_ok_and(|addr| addr.ip().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_bodies_of_several_servers_are_understood() {
        assert_eq!(said(r#"{"type":"error","error":{"type":"x","message":"m"}}"#), ("m".into(), false));
        assert_eq!(said(r#"{"error":"plain"}"#), ("plain".into(), false));
        assert_eq!(said(r#"{"detail":"d"}"#), ("d".into(), false));
        assert!(said(r#"{"error":{"code":"insufficient_quota","message":"m"}}"#).1);
        assert_eq!(said("").0, "no message");
        assert!(said("<html>oops").0.starts_with("HTML"));
    }

    #[test]
    fn servers_of_this_machine_are_known() {
        for url in ["http://localhost:1/v1", "http://127.0.0.1", "http://127.1.2.3:80/x", "http://[::1]:8/"] {
            assert!(is_loopback(url), "{url}");
        }
        for url in ["https://example.org", "http://localhost.example.org", "http://10.0.0.1:1"] {
            assert!(!is_loopback(url), "{url}");
        }
    }
}
