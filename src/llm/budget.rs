//! Budgets: whether there is enough left for a call, decided before it is made.

use super::exchange::Prompt;
use super::usage::{Cost, Tokens, Usage, missing_prices};
use crate::config::{Llm, ModelSettings, Prices};
use crate::error::{Error, ErrorKind, Result};
use crate::symbol::SymbolName;
use std::collections::BTreeMap;

/// What a run may spend and has spent.
#[derive(Debug, Clone, Default)]
pub struct Budget {
    per_symbol: Option<Tokens>,
    per_run: Option<Tokens>,
    max_cost: Option<Cost>,
    spent: BTreeMap<SymbolName, Tokens>,
    cost: Cost,
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

    /// Whether the worst case of `prompt` still fits: all that it sends, and as long an answer as it allows. `Err`
    /// has kind `Budget`.
    pub fn check(&self, prompt: &Prompt, prices: &Prices) -> Result<()> {
        let worst = Usage {
            input: prompt.most(),
            output: Tokens(prompt.max_tokens),
            estimated: true,
            ..Usage::default()
        };
        let symbol = &prompt.symbol;
        let limits = [
            (self.per_symbol, self.of_symbol(symbol), format!("of {symbol}"), "max_tokens_per_symbol"),
            (self.per_run, self.of_run(), "of the run".into(), "max_tokens_per_run"),
        ];
        for (limit, spent, whose, key) in limits {
            if let Some(limit) = limit
                && spent + worst.total() > limit
            {
                let message = format!(
                    "the token budget {whose} is spent: {} of {} used, the next call may take {}",
                    spent.0,
                    limit.0,
                    worst.total().0
                );
                return Err(spent_error(message, key));
            }
        }
        self.check_cost(worst, prices)
    }

    fn check_cost(&self, worst: Usage, prices: &Prices) -> Result<()> {
        let dearest = Prices {
            input: [prices.input, prices.cache_write].into_iter().flatten().reduce(f64::max),
            ..*prices
        };
        // An unknown price with a limit was refused at the start, except for recordings, which cost nothing.
        let next = worst.cost(&dearest).unwrap_or_default();
        match self.max_cost {
            Some(limit) if self.cost + next > limit => Err(spent_error(
                format!(
                    "the money budget is spent: {} of {limit} used, the next call may take {next}",
                    self.cost
                ),
                "max_cost",
            )),
            _ => Ok(()),
        }
    }

    /// Whether another symbol could still ask for as much as `prompt` does: only the limit of one symbol is in its way.
    pub fn admits_others(&self, prompt: &Prompt, prices: &Prices) -> bool {
        Self { per_symbol: None, ..self.clone() }.check(prompt, prices).is_ok()
    }

    /// Notes what an exchange used. `cost` is absent where it is unknown.
    pub fn charge(&mut self, symbol: &SymbolName, usage: &Usage, cost: Option<Cost>) {
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
    .help(format!("add to [llm]: prices = {{ {list} }}   (per million tokens), or take max_cost away")))
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
        budget.check(&prompt, &Prices::default()).unwrap();
        budget.charge(&prompt.symbol, &usage(1), None);
        let error = budget.check(&prompt, &Prices::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Budget);
        assert!(error.help_text().unwrap().contains("max_tokens_per_symbol"));
        let other = Prompt { symbol: SymbolName::new("other"), ..prompt };
        budget.check(&other, &Prices::default()).unwrap();
    }

    #[test]
    fn a_run_adds_up_its_symbols() {
        let prompt = sample_prompt();
        let llm = Llm { max_tokens_per_run: Some(2_000), ..Llm::default() };
        let mut budget = Budget::new(&llm, &[]).unwrap();
        budget.charge(&SymbolName::new("a"), &usage(500), None);
        budget.check(&prompt, &Prices::default()).unwrap();
        budget.charge(&SymbolName::new("b"), &usage(500), None);
        assert_eq!(budget.of_run(), Tokens(1_000));
        assert!(budget.check(&prompt, &Prices::default()).is_err());
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
        budget.check(&prompt, &prices).unwrap();
        budget.charge(&prompt.symbol, &usage(1), Some(Cost::from_units(0.6)));
        let error = budget.check(&prompt, &prices).unwrap_err();
        assert!(error.to_string().contains("0.6000 of 1.5000"), "{error}");
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
