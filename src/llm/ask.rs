//! One question within the budget, asked a second time with more room when the answer is cut off.

use super::budget::Budget;
use super::error::ModelError;
use super::exchange::{Prompt, Reply, StopReason};
use super::select::Chosen;
use crate::error::Result;
use crate::process::Interrupt;
use std::time::{Duration, Instant};

/// A question that was asked, what came back, and after which time. As often as a provider sends a request again, it is
/// one exchange, and the waits between are part of its time.
#[derive(Debug, Clone)]
pub struct Exchange {
    pub prompt: Prompt,
    pub reply: std::result::Result<Reply, ModelError>,
    /// Of a recording: the time then.
    pub took: Duration,
}

/// Asks `chosen` after `budget` allows it, and charges the budget. An answer that `max_tokens` cut off is asked for
/// once more with the double; if that is cut off too, it is returned as it is (see [`StopReason::is_truncated`]). Every
/// exchange that takes place is given to `see`.
pub fn ask(
    chosen: &Chosen,
    prompt: &Prompt,
    budget: &mut Budget,
    interrupt: &Interrupt,
    see: &mut dyn FnMut(Exchange),
) -> Result<Reply> {
    let mut once = |prompt: &Prompt| -> Result<Reply> {
        budget.check(prompt, &chosen.settings.prices)?;
        let started = Instant::now();
        let result = chosen.model.complete(prompt, interrupt);
        let took = result.as_ref().map_or_else(|_| started.elapsed(), |reply| reply.latency);
        see(Exchange { prompt: prompt.clone(), reply: result.clone(), took });
        let reply = result?;
        budget.charge(&prompt.symbol, &reply.usage, reply.usage.cost(&chosen.settings.prices));
        Ok(reply)
    };
    let reply = once(prompt)?;
    if reply.stop != StopReason::MaxTokens || prompt.enlarged {
        return Ok(reply);
    }
    let max_tokens = prompt.max_tokens.saturating_mul(2);
    once(&Prompt { max_tokens, enlarged: true, ..prompt.clone() })
}
