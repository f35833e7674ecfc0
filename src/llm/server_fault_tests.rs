//! Tests with misbehaving servers.

use super::anthropic::Anthropic;
use super::budget::Budget;
use super::exchange::{StopReason, sample_prompt};
use super::openai::OpenAi;
use super::record::{self, Recorder};
use super::secret::Redactor;
use super::server::{Server, Step};
use super::usage::Tokens;
use super::{Asker, Chosen, Exchange, Model, ModelError, Reply, ask};
use crate::config::{Llm, ModelSettings};
use crate::platform::process::Interrupt;
use secrecy::SecretString;
use std::time::{Duration, Instant};

const CANARY: &str = "sk-canary-0123456789";

fn ok(stop: &str) -> Step {
    Step::json(&format!(
        r#"{{"content":[{{"type":"text","text":"fine"}}],"stop_reason":"{stop}","usage":{{"input_tokens":1,"output_tokens":2}}}}"#
    ))
}

fn settings(server: &Server, timeout: Duration) -> ModelSettings {
    ModelSettings { base_url: Some(server.url("")), timeout, retries: 2, ..ModelSettings::default() }
}

fn anthropic(server: &Server, timeout: Duration) -> Anthropic {
    let mut model = Anthropic::new(&settings(server, timeout), Some(SecretString::from(CANARY)));
    model.client.policy.base = Duration::from_millis(1);
    model.client.body_cap = 1 << 20;
    model
}

const LONG: Duration = Duration::from_secs(30);

/// Plays the steps to both HTTP providers' common client; returns the outcome and the number of requests.
fn play(steps: impl IntoIterator<Item = Step>) -> (Result<Reply, ModelError>, usize) {
    let server = Server::start(steps);
    let result = anthropic(&server, LONG).complete(&sample_prompt(), &Asker::silent(&Interrupt::none()));
    if let Err(error) = &result {
        let texts = format!("{error} {error:?} {:?}", error.advice());
        assert!(!texts.contains("canary"), "{texts}");
        assert!(texts.contains("127.0.0.1"), "{texts}");
    }
    (result, server.requests().len())
}

#[test]
fn what_passes_is_waited_for() {
    for step in [
        Step::status(429, "retry-after: 0\r\n", "{}"),
        Step::status(429, "", "{}"),
        Step::status(500, "", "oops"),
        Step::status(
            529,
            "",
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        ),
        Step::BreakOff,
    ] {
        let (result, requests) = play([step.clone(), ok("end_turn")]);
        assert_eq!((result.map(|r| r.text), requests), (Ok("fine".into()), 2), "{step:?}");
    }
}

#[test]
fn the_wait_that_the_server_asks_for_is_kept() {
    let started = Instant::now();
    let (result, _) = play([Step::status(429, "retry-after-ms: 300\r\n", "{}"), ok("end_turn")]);
    assert!(result.is_ok() && started.elapsed() >= Duration::from_millis(300));
}

#[test]
fn what_lasts_fails_with_the_server_s_words() {
    let (result, requests) = play([Step::status(500, "", r#"{"error":{"message":"on fire"}}"#)]);
    assert_eq!(requests, 3);
    assert!(result.unwrap_err().to_string().ends_with("HTTP 500: on fire"));
    let (result, requests) = play([Step::BreakOff]);
    assert_eq!((requests, matches!(result, Err(ModelError::Unreachable { .. }))), (3, true));
}

#[test]
fn what_will_not_change_is_not_tried_again() {
    let body = format!(r#"{{"error":{{"message":"wrong key {CANARY}"}}}}"#);
    for status in [400, 401, 402, 403, 404, 307] {
        let headers = if status == 307 { "location: https://example.org/x?key=1\r\n" } else { "" };
        let (result, requests) = play([Step::status(status, headers, &body)]);
        let error = result.unwrap_err();
        assert_eq!(requests, 1, "{error}");
        assert!(error.to_string().contains(&status.to_string()) && error.advice().is_some(), "{error}");
    }
    let quota = r#"{"error":{"code":"insufficient_quota","message":"no money"}}"#;
    let (result, requests) = play([Step::status(429, "", quota)]);
    assert_eq!(requests, 1);
    assert!(result.unwrap_err().advice().unwrap().contains("credit"));
}

#[test]
fn garbage_is_shown_in_short_and_not_tried_again() {
    let cases = [
        (Step::status(200, "content-type: text/html\r\n", "<html><h1>Log in</h1>"), "HTML instead of JSON"),
        (Step::status(200, "", ""), "empty body"),
        (Step::json("{\"content\": ["), "not JSON"),
        (Step::json("[1, 2, 3]"), "not an answer"),
        (Step::json(&format!("{{\"wrong\": \"{CANARY}\"}}")), "not an answer"),
        (Step::Flood(2 << 20), "more than 1048576 bytes"),
    ];
    for (step, why) in cases {
        let (result, requests) = play([step]);
        let error = result.unwrap_err();
        assert!(matches!(error, ModelError::Garbled { .. }) && error.to_string().contains(why), "{error}");
        assert_eq!(requests, 1);
    }
}

#[test]
fn a_server_that_never_ends_is_left_after_the_time_limit() {
    let server = Server::start([Step::Drip]);
    let started = Instant::now();
    let result = anthropic(&server, Duration::from_millis(300))
        .complete(&sample_prompt(), &Asker::silent(&Interrupt::none()));
    assert!(matches!(result, Err(ModelError::TimedOut { .. })), "{result:?}");
    assert!(started.elapsed() < Duration::from_secs(3));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn an_interrupt_is_obeyed_at_once() {
    for step in [Step::Drip, Step::status(429, "retry-after: 60\r\n", "")] {
        let server = Server::start([step]);
        let interrupt = Interrupt::none();
        let other = interrupt.clone();
        let setter = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(200));
            other.set();
            Instant::now()
        });
        let result = anthropic(&server, LONG).complete(&sample_prompt(), &Asker::silent(&interrupt));
        let late = setter.join().unwrap().elapsed();
        assert_eq!(result, Err(ModelError::Interrupted));
        assert!(late < Duration::from_millis(100), "{late:?}");
    }
}

#[test]
fn a_server_that_is_down_is_named() {
    let settings = ModelSettings {
        base_url: Some("http://me:secret@127.0.0.1:9/v1".into()),
        model: Some("m".into()),
        retries: 1,
        ..ModelSettings::default()
    };
    let mut model = OpenAi::new(&settings, None);
    model.client.policy.base = Duration::from_millis(1);
    let error = model.complete(&sample_prompt(), &Asker::silent(&Interrupt::none())).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("http://127.0.0.1:9/v1/chat/completions: "), "{text}");
    assert!(!text.contains("secret"));
}

#[test]
fn what_is_sent_again_is_one_exchange_and_its_time_has_the_waits() {
    let wait = Step::status(429, "retry-after-ms: 200\r\n", "{}");
    for (last, retries) in [(ok("end_turn"), Some(1)), (Step::status(400, "", "{}"), None)] {
        let server = Server::start([wait.clone(), last]);
        let settings = settings(&server, LONG);
        let mut budget = Budget::new(&Llm::default(), &[&settings]).unwrap();
        let chosen = Chosen { model: Box::new(anthropic(&server, LONG)), settings };
        let mut seen = Vec::new();
        let result = converse(&chosen, &mut budget, &mut |exchange| {
            seen.push((exchange.reply.as_ref().ok().map(|reply| reply.retries), exchange.took));
        });
        assert_eq!((result.is_ok(), server.requests().len()), (retries.is_some(), 2));
        let [(told, took)] = seen[..] else { panic!("one exchange, not {seen:?}") };
        assert_eq!(told, retries);
        assert!(took >= Duration::from_millis(200), "{took:?}");
    }
}

/// As a port does: asks, and asks once more for what was cut off.
fn converse(
    chosen: &Chosen,
    budget: &mut Budget,
    see: &mut dyn FnMut(&Exchange),
) -> crate::error::Result<Reply> {
    let (mut prompt, prices) = (sample_prompt(), chosen.settings.prices);
    loop {
        let permit = budget.permit(prompt, &prices)?;
        let exchange = ask(chosen, permit, &Asker::silent(&Interrupt::none()));
        budget.settle(&exchange, &prices);
        see(&exchange);
        match exchange.longer() {
            Some(longer) => prompt = longer,
            None => return Ok(exchange.reply?),
        }
    }
}

fn ask_with(server: &Server, llm: &Llm) -> (crate::error::Result<Reply>, Vec<(u64, bool)>, Tokens) {
    let settings = settings(server, LONG);
    let mut budget = Budget::new(llm, &[&settings]).unwrap();
    let chosen = Chosen { model: Box::new(anthropic(server, LONG)), settings };
    let mut seen = Vec::new();
    let result = converse(&chosen, &mut budget, &mut |exchange| {
        seen.push((exchange.prompt.max_tokens, exchange.reply.is_ok()));
    });
    (result, seen, budget.of_run())
}

#[test]
fn a_cut_off_answer_is_asked_for_once_more_with_more_room() {
    let server = Server::start([ok("max_tokens"), ok("end_turn")]);
    let (reply, seen, spent) = ask_with(&server, &Llm::default());
    assert_eq!(reply.unwrap().stop, StopReason::End);
    assert_eq!((seen, spent), (vec![(1_000, true), (2_000, true)], Tokens(6)));
    assert!(server.requests()[1].contains("\"max_tokens\":2000"));

    let server = Server::start([ok("max_tokens")]);
    let (reply, seen, _) = ask_with(&server, &Llm::default());
    assert!(reply.unwrap().stop.is_truncated());
    assert_eq!(seen.len(), 2);
}

#[test]
fn a_refusal_is_an_answer_and_a_spent_budget_asks_nobody() {
    let server = Server::start([ok("refusal")]);
    let (reply, seen, _) = ask_with(&server, &Llm::default());
    assert_eq!((reply.unwrap().stop, seen.len()), (StopReason::Refusal, 1));

    let server = Server::start([ok("end_turn")]);
    let llm = Llm { max_tokens_per_run: Some(100), ..Llm::default() };
    let (reply, seen, _) = ask_with(&server, &llm);
    assert_eq!(reply.unwrap_err().kind(), crate::error::ErrorKind::Budget);
    assert!(seen.is_empty() && server.requests().is_empty());
    // Room for one answer, and none for the larger one that follows when it is cut off.
    let server = Server::start([ok("max_tokens"), ok("end_turn")]);
    let llm = Llm { max_tokens_per_run: Some(1_500), ..Llm::default() };
    let (reply, seen, _) = ask_with(&server, &llm);
    assert_eq!(reply.unwrap_err().kind(), crate::error::ErrorKind::Budget);
    assert_eq!((seen, server.requests().len()), (vec![(1_000, true)], 1));
}

#[test]
fn no_key_gets_into_recordings_or_debug_texts() {
    let echo = Step::json(&format!(
        r#"{{"content":[{{"type":"text","text":"your key is {CANARY}"}}],"stop_reason":"end_turn"}}"#
    ));
    let denied = Step::status(401, "", &format!("bad key {CANARY}"));
    let server = Server::start([echo, denied]);
    let model = anthropic(&server, LONG);
    assert!(!format!("{model:?}").contains("canary"));
    let dir = tempfile::tempdir().unwrap();
    let redactor = Redactor::new([SecretString::from(CANARY)]);
    let recorder = Recorder::new(Box::new(model), dir.path().into(), redactor);
    for expected in [true, false] {
        let prompt = sample_prompt();
        let result = recorder.complete(&prompt, &Asker::silent(&Interrupt::none()));
        assert_eq!(result.is_ok(), expected);
        assert!(!format!("{result:?}").contains("canary"));
        let text = std::fs::read_to_string(record::path(dir.path(), &prompt)).unwrap();
        assert!(text.contains("[redacted]") && !text.contains("canary"), "{text}");
    }
    assert!(server.requests().iter().all(|r| r.contains(CANARY)), "the server must have seen the key");
}
