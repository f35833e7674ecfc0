//! Budgets: decide before each call whether enough is left for it. Calls under way reserve their maximum, so that
//! concurrent calls keep the limits too.

use super::error::ModelError;
use super::exchange::{Prompt, Reply, StopReason};
use super::usage::{Cost, Tokens, Usage, missing_prices};
use crate::config::{Llm, ModelSettings, Prices};
use crate::error::{Error, ErrorKind, Result};
use crate::symbol::SymbolName;
use std::collections::BTreeMap;
use std::time::Duration;

/// What a run may spend and has spent.
#[derive(Debug, Clone, Default)]
pub struct Budget {
    per_symbol: Option<Tokens>,
    per_run: Option<Tokens>,
    max_cost: Option<Cost>,
    spent: BTreeMap<SymbolName, Tokens>,
    cost: Cost,
    /// The worst cases of calls under way.
    aside: Vec<(SymbolName, Worst)>,
}

/// The most that a call can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Worst {
    tokens: Tokens,
    cost: Cost,
}

/// A question that a budget has room for; the only way to a model.
#[derive(Debug)]
pub struct Permit {
    pub(super) prompt: Prompt,
    pub(super) worst: Worst,
}

impl Budget {
    /// The budget of a run that uses these models. `Err` (kind `Config`) when money is limited and a price unknown:
    /// the limit could not be kept.
    pub fn new(llm: &Llm, models: &[&ModelSettings]) -> Result<Self> {
        if llm.max_cost.is_some() {
            for settings in models {
                check_prices(settings)?;
            }
        }
        Ok(Self {
            per_symbol: llm.max_tokens_per_symbol.map(Tokens),
            per_run: llm.max_tokens_per_run.map(Tokens),
            max_cost: llm.max_cost.map(Cost::from_units),
            ..Self::default()
        })
    }

    /// Sets the worst case of `prompt` aside: all that it sends, and as long an answer as it allows. `Err` (kind
    /// `Budget`) where that does not fit.
    pub fn permit(&mut self, prompt: Prompt, prices: &Prices) -> Result<Permit> {
        let worst = worst(&prompt, prices);
        self.check(&prompt.symbol, worst)?;
        self.aside.push((prompt.symbol.clone(), worst));
        Ok(Permit { prompt, worst })
    }

    /// Notes what a permitted exchange used; nothing where it failed. What was set aside is free again.
    pub fn settle(&mut self, exchange: &Exchange, prices: &Prices) {
        let done = (exchange.prompt.symbol.clone(), exchange.worst);
        if let Some(at) = self.aside.iter().position(|aside| *aside == done) {
            self.aside.swap_remove(at);
        }
        if let Ok(reply) = &exchange.reply {
            self.charge(&exchange.prompt.symbol, &reply.usage, reply.usage.cost(prices));
        }
    }

    fn check(&self, symbol: &SymbolName, worst: Worst) -> Result<()> {
        let aside = |of: &dyn Fn(&SymbolName) -> bool| -> Tokens {
            self.aside.iter().filter(|(symbol, _)| of(symbol)).map(|(_, worst)| worst.tokens).sum()
        };
        let limits = [
            (
                self.per_symbol,
                self.of_symbol(symbol) + aside(&|other| other == symbol),
                format!("of {symbol}"),
                "max_tokens_per_symbol",
            ),
            (self.per_run, self.of_run() + aside(&|_| true), "of the run".into(), "max_tokens_per_run"),
        ];
        for (limit, spent, whose, key) in limits {
            if let Some(limit) = limit
                && spent + worst.tokens > limit
            {
                let message = format!(
                    "the token budget {whose} is spent: {} of {} used, the next call may take {}",
                    spent.0, limit.0, worst.tokens.0
                );
                return Err(spent_error(message, key));
            }
        }
        let cost = self.aside.iter().fold(self.cost, |cost, (_, worst)| cost + worst.cost);
        match self.max_cost {
            Some(limit) if cost + worst.cost > limit => Err(spent_error(
                format!(
                    "the money budget is spent: {cost} of {limit} used, the next call may take {}",
                    worst.cost
                ),
                "max_cost",
            )),
            _ => Ok(()),
        }
    }

    /// Whether `prompt` would fit if calls under way used nothing: then it may fit when they have ended.
    pub fn may_admit_later(&self, prompt: &Prompt, prices: &Prices) -> bool {
        let later = Self { aside: Vec::new(), ..self.clone() };
        !self.aside.is_empty() && later.check(&prompt.symbol, worst(prompt, prices)).is_ok()
    }

    /// Whether another symbol could still ask for as much as `prompt` does, once the calls under way have ended.
    pub fn admits_others(&self, prompt: &Prompt, prices: &Prices) -> bool {
        let others = Self { per_symbol: None, aside: Vec::new(), ..self.clone() };
        others.check(&prompt.symbol, worst(prompt, prices)).is_ok()
    }

    /// `cost` is absent where it is unknown.
    fn charge(&mut self, symbol: &SymbolName, usage: &Usage, cost: Option<Cost>) {
        *self.spent.entry(symbol.clone()).or_default() += usage.total();
        self.cost = self.cost + cost.unwrap_or_default();
    }

    /// Tokens used for a symbol so far.
    pub fn of_symbol(&self, symbol: &SymbolName) -> Tokens {
        self.spent.get(symbol).copied().unwrap_or_default()
    }

    /// Tokens used in the run so far.
    pub fn of_run(&self) -> Tokens {
        self.spent.values().copied().sum()
    }
}

fn worst(prompt: &Prompt, prices: &Prices) -> Worst {
    let usage = Usage {
        input: prompt.most(),
        output: Tokens(prompt.max_tokens),
        estimated: true,
        ..Usage::default()
    };
    let dearest = Prices {
        input: [prices.input, prices.cache_write].into_iter().flatten().reduce(f64::max),
        ..*prices
    };
    // An unknown price with a limit was refused at the start, except for recordings, which cost nothing.
    Worst { tokens: usage.total(), cost: usage.cost(&dearest).unwrap_or_default() }
}

fn spent_error(message: String, key: &str) -> Error {
    Error::new(ErrorKind::Budget, message).help(format!("allow more: --config 'llm.{key}=…'"))
}

fn check_prices(settings: &ModelSettings) -> Result<()> {
    let Some(provider) = settings.provider else { return Ok(()) };
    let missing = missing_prices(&settings.prices, provider);
    if missing.is_empty() {
        return Ok(());
    }
    let model = settings.model.as_deref().unwrap_or("its model");
    let list = missing.iter().map(|name| format!("{name} = …")).collect::<Vec<_>>().join(", ");
    Err(Error::new(
        ErrorKind::Config,
        format!("llm.max_cost is set, but what {}/{model} costs is unknown", provider.word()),
    )
    .help(format!("add to [llm]: prices = {{ {list} }}   (per million tokens), or remove max_cost")))
}

/// One question, its reply, and the time between them. A provider may send the request several times: it stays one
/// exchange, and the waits count.
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

#[cfg(test)]
mod tests {
    use super::super::exchange::sample_prompt;
    use super::*;
    use crate::config::Provider;

    fn usage(tokens: u64) -> Usage {
        Usage { input: Tokens(tokens), ..Usage::default() }
    }

    #[test]
    fn the_worst_case_must_fit() {
        let prompt = sample_prompt();
        let worst = prompt.most().0 + prompt.max_tokens;
        let llm = Llm { max_tokens_per_symbol: Some(worst + 10), ..Llm::default() };
        let mut budget = Budget::new(&llm, &[]).unwrap();
        budget.charge(&prompt.symbol, &usage(10), None);
        drop(budget.clone().permit(prompt.clone(), &Prices::default()).unwrap());
        budget.charge(&prompt.symbol, &usage(1), None);
        let error = budget.permit(prompt.clone(), &Prices::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Budget);
        assert!(error.help_text().unwrap().contains("max_tokens_per_symbol"));
        let other = Prompt { symbol: SymbolName::new("other"), ..prompt };
        budget.permit(other, &Prices::default()).unwrap();
    }

    #[test]
    fn a_run_adds_up_its_symbols() {
        let prompt = sample_prompt();
        let llm = Llm { max_tokens_per_run: Some(2_000), ..Llm::default() };
        let mut budget = Budget::new(&llm, &[]).unwrap();
        budget.charge(&SymbolName::new("a"), &usage(500), None);
        drop(budget.clone().permit(prompt.clone(), &Prices::default()).unwrap());
        budget.charge(&SymbolName::new("b"), &usage(500), None);
        assert_eq!(budget.of_run(), Tokens(1_000));
        assert!(budget.permit(prompt, &Prices::default()).is_err());
    }

    #[test]
    fn money_is_checked_at_the_dearest_price() {
        let prompt = sample_prompt();
        let prices =
            Prices { input: Some(1.0), output: Some(1_000.0), cache_read: Some(0.1), cache_write: Some(2.0) };
        let settings =
            ModelSettings { provider: Some(Provider::Anthropic), prices, ..ModelSettings::default() };
        let llm = Llm { max_cost: Some(1.5), ..Llm::default() };
        let mut budget = Budget::new(&llm, &[&settings]).unwrap();
        drop(budget.clone().permit(prompt.clone(), &prices).unwrap());
        budget.charge(&prompt.symbol, &usage(1), Some(Cost::from_units(0.6)));
        let error = budget.permit(prompt, &prices).unwrap_err();
        assert!(error.to_string().contains("0.6000 of 1.5000"), "{error}");
    }

    #[test]
    fn calls_under_way_count_with_the_most_that_they_can_use() {
        let prompt = sample_prompt();
        let most = prompt.most().0 + prompt.max_tokens;
        let llm = Llm { max_tokens_per_run: Some(2 * most - 1), ..Llm::default() };
        let (mut budget, prices) = (Budget::new(&llm, &[]).unwrap(), Prices::default());
        let permit = budget.permit(prompt.clone(), &prices).unwrap();
        assert!(budget.permit(prompt.clone(), &prices).is_err());
        assert!(budget.may_admit_later(&prompt, &prices));
        let failed = ModelError::Interrupted;
        budget.settle(&Exchange::of(permit, Err(failed)), &prices);
        assert_eq!(budget.of_run(), Tokens(0));
        drop(budget.permit(prompt.clone(), &prices).unwrap());
        let mut small = Budget::new(&Llm { max_tokens_per_run: Some(most - 1), ..llm }, &[]).unwrap();
        assert!(small.permit(prompt.clone(), &prices).is_err() && !small.may_admit_later(&prompt, &prices));
    }

    #[test]
    fn a_money_limit_without_prices_refuses_to_start() {
        let settings = ModelSettings { provider: Some(Provider::OpenAi), ..ModelSettings::default() };
        let llm = Llm { max_cost: Some(1.0), ..Llm::default() };
        let error = Budget::new(&llm, &[&settings]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        assert!(error.help_text().unwrap().contains("input = …, output = …, cache_read = …"));
        assert!(Budget::new(&Llm::default(), &[&settings]).is_ok());
        let replay = ModelSettings { provider: Some(Provider::Replay), ..ModelSettings::default() };
        assert!(Budget::new(&llm, &[&replay]).is_ok());
    }
}
