//! Sums over model calls. Unknown values stay unknown: a call without a price does not count as a cost of 0.

use super::{ModelCall, RunId, Store};
use crate::error::Result;
use crate::symbol::SymbolKey;
use std::collections::BTreeMap;

/// Sums of calls, tokens and cost.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Totals {
    /// Questions to a model.
    pub calls: u64,
    /// Questions without an answer.
    pub failed: u64,
    /// Number of retries, as far as known.
    pub retries: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cached_tokens: u64,
    pub cache_write_tokens: u64,
    /// Whether some counts are estimated.
    pub estimated: bool,
    /// Sum over the calls with a known price, in the currency of the prices; `None` without such a call.
    pub cost: Option<f64>,
    /// Calls without a known price.
    pub unpriced: u64,
    /// Time spent waiting for models, milliseconds.
    pub latency_ms: u64,
    /// Median latency of the answered calls in milliseconds; `None` without such a call.
    pub median_ms: Option<u64>,
    /// Number of calls by stop reason; calls without an answer count as `failed`.
    pub stops: BTreeMap<String, u64>,
}

impl Totals {
    /// The sums over these calls.
    pub fn of<'c>(calls: impl IntoIterator<Item = &'c ModelCall>) -> Self {
        let (mut totals, mut latencies) = (Self::default(), Vec::new());
        for call in calls {
            totals.add(call);
            if call.error.is_none() {
                latencies.push(call.latency_ms);
            }
        }
        totals.median_ms = median(latencies);
        totals
    }

    fn add(&mut self, call: &ModelCall) {
        self.calls += 1;
        self.failed += u64::from(call.error.is_some());
        self.retries += u64::from(call.retries.unwrap_or(0));
        self.input_tokens += call.input_tokens;
        self.output_tokens += call.output_tokens;
        self.cached_tokens += call.cached_tokens;
        self.cache_write_tokens += call.cache_write_tokens;
        self.estimated |= call.estimated;
        match call.cost {
            Some(cost) => self.cost = Some(self.cost.unwrap_or(0.0) + cost),
            None => self.unpriced += 1,
        }
        self.latency_ms += call.latency_ms;
        let stop = if call.error.is_some() { Some("failed") } else { call.stop_reason.as_deref() };
        *self.stops.entry(stop.unwrap_or("unknown").to_owned()).or_default() += 1;
    }

    /// Input and output.
    pub fn tokens(&self) -> u64 {
        self.input_tokens + self.output_tokens
    }
}

/// The median; `None` for an empty list.
pub fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    let upper = *values.get(values.len() / 2)?;
    let lower = values[(values.len() - 1) / 2];
    Some(lower + (upper - lower) / 2)
}

impl Store {
    /// The sums of a run, or of all runs (`None`).
    pub fn totals(&self, run: Option<RunId>) -> Result<Totals> {
        Ok(Totals::of(self.calls(run, None)?.iter().map(|paid| &paid.call)))
    }

    /// The sums for a symbol in a run, or in all runs (`None`).
    pub fn totals_of(&self, run: Option<RunId>, symbol: &SymbolKey) -> Result<Totals> {
        Ok(Totals::of(self.calls(run, Some(symbol))?.iter().map(|paid| &paid.call)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_in_the_middle() {
        for (values, expected) in [
            (vec![], None),
            (vec![7], Some(7)),
            (vec![9, 1], Some(5)),
            (vec![30, 1, 2], Some(2)),
            (vec![100, 4, 1, 6], Some(5)),
        ] {
            assert_eq!(median(values.clone()), expected, "{values:?}");
        }
    }

    #[test]
    fn a_call_without_an_answer_counts_as_one_and_is_no_measure_of_latency() {
        let answered = ModelCall {
            stop_reason: Some("end".into()),
            latency_ms: 10,
            retries: Some(2),
            cost: Some(0.5),
            ..ModelCall::default()
        };
        let failed = ModelCall { error: Some("HTTP 500".into()), latency_ms: 9_000, ..ModelCall::default() };
        let totals = Totals::of([&answered, &failed]);
        assert_eq!((totals.calls, totals.failed, totals.retries), (2, 1, 2));
        assert_eq!((totals.latency_ms, totals.median_ms), (9_010, Some(10)));
        assert_eq!((totals.cost, totals.unpriced), (Some(0.5), 1));
        assert_eq!(totals.stops, BTreeMap::from([("end".into(), 1), ("failed".into(), 1)]));
        assert_eq!(Totals::of([&failed]).cost, None, "unknown is not free");
    }
}
