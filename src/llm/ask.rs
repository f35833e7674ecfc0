//! One question to a model, within a budget.

use super::budget::{Exchange, Permit};
use super::model::Asker;
use super::select::Chosen;
use std::time::Instant;

/// Asks, and waits for the answer. The budget that permitted it must hear of the exchange ([`super::Budget::settle`]).
pub fn ask(chosen: &Chosen, permit: Permit, asker: &Asker) -> Exchange {
    let started = Instant::now();
    let Permit { prompt, worst } = permit;
    let reply = chosen.model.complete(&prompt, asker);
    let took = reply.as_ref().map_or_else(|_| started.elapsed(), |reply| reply.latency);
    Exchange { prompt, reply, took, worst }
}
