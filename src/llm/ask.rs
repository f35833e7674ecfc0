//! One question to a model, within a budget.

use super::budget::{Exchange, Permit};
use super::model::Asker;
use super::select::Chosen;
use crate::platform::process::Interrupt;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Instant;

/// Asks, and waits for the answer. The budget that permitted it must hear of the exchange ([`super::Budget::settle`]).
pub fn ask(chosen: &Chosen, permit: Permit, asker: &Asker) -> Exchange {
    let started = Instant::now();
    let Permit { prompt, worst } = permit;
    let reply = chosen.model.complete(&prompt, asker);
    let took = reply.as_ref().map_or_else(|_| started.elapsed(), |reply| reply.latency);
    Exchange { prompt, reply, took, worst }
}

/// Asks several questions side by side and waits for all answers. They come in the order of the questions. `note`
/// gets a line for each failed attempt.
pub fn ask_all(
    permitted: Vec<(Arc<Chosen>, Permit)>,
    interrupt: &Interrupt,
    note: impl FnMut(String),
) -> Vec<Exchange> {
    let (send, notes) = channel();
    std::thread::scope(|scope| {
        let start = |(chosen, permit): (Arc<Chosen>, Permit)| {
            let send = send.clone();
            let tell = move |text| drop(send.send(text));
            scope.spawn(move || ask(&chosen, permit, &Asker { interrupt, tell: &tell }))
        };
        let threads: Vec<_> = permitted.into_iter().map(start).collect();
        drop(send);
        notes.into_iter().for_each(note);
        let ended = threads.into_iter().map(|thread| thread.join());
        ended.map(|exchange| exchange.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}
