//! One question to a model, within what a budget permits.

use super::budget::{Permit, Worst};
use super::error::ModelError;
use super::exchange::{Prompt, Reply, StopReason};
use super::select::Chosen;
use crate::process::Interrupt;
use std::time::{Duration, Instant};

/// Who asks: what ends the waiting early, and who hears of tries that failed.
pub struct Asker<'a> {
    pub interrupt: &'a Interrupt,
    /// Told in words for people, while it is waited.
    pub tell: &'a dyn Fn(String),
}

impl<'a> Asker<'a> {
    /// One that does not want to hear of failed tries.
    pub fn silent(interrupt: &'a Interrupt) -> Self {
        Self { interrupt, tell: &|_| {} }
    }
}

/// A question that was asked, what came back, and after which time. As often as a provider sends a request again, it is
/// one exchange, and the waits between are part of its time.
#[derive(Debug, Clone)]
pub struct Exchange {
    pub prompt: Prompt,
    pub reply: std::result::Result<Reply, ModelError>,
    /// Of a recording: the time then.
    pub took: Duration,
    /// What was set aside for it.
    pub(super) worst: Worst,
}

impl Exchange {
    /// One that took no time.
    #[cfg(test)]
    pub(super) fn of(permit: Permit, reply: std::result::Result<Reply, ModelError>) -> Self {
        Self { prompt: permit.prompt, reply, took: Duration::ZERO, worst: permit.worst }
    }

    /// The question once more with the double of `max_tokens`, where they cut the answer off for the first time. What is
    /// cut off then, too, is not asked again (see [`StopReason::is_truncated`]).
    pub fn longer(&self) -> Option<Prompt> {
        let reply = self.reply.as_ref().ok()?;
        if reply.stop != StopReason::MaxTokens || self.prompt.enlarged {
            return None;
        }
        let max_tokens = self.prompt.max_tokens.saturating_mul(2);
        Some(Prompt { max_tokens, enlarged: true, ..self.prompt.clone() })
    }
}

/// Asks, and waits for the answer. The budget that permitted it must hear of the exchange ([`super::Budget::settle`]).
pub fn ask(chosen: &Chosen, permit: Permit, asker: &Asker) -> Exchange {
    let started = Instant::now();
    let Permit { prompt, worst } = permit;
    let reply = chosen.model.complete(&prompt, asker);
    let took = reply.as_ref().map_or_else(|_| started.elapsed(), |reply| reply.latency);
    Exchange { prompt, reply, took, worst }
}
