//! Tokens and money.

use crate::config::{Prices, Provider};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// A number of tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tokens(pub u64);

impl Tokens {
    /// A rough count for a text: four bytes a token, rounded up.
    pub fn estimate(text: &str) -> Self {
        Self((text.len() as u64).div_ceil(4))
    }
}

impl Add for Tokens {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Tokens {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self(0), Add::add)
    }
}

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tokens", self.0)
    }
}

/// Money in the currency of the configured prices, in billionths, so that sums are exact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cost(pub u64);

impl Cost {
    /// From units of the currency.
    pub fn from_units(units: f64) -> Self {
        // A float-to-integer cast saturates: negative and NaN become 0, too large becomes the largest.
        Self((units * 1e9).round() as u64)
    }

    /// In units of the currency.
    pub fn units(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.4}", self.units())
    }
}

/// What one exchange used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// All tokens sent, those read from and written to the provider's cache included.
    pub input: Tokens,
    /// All tokens received.
    pub output: Tokens,
    /// How many of `input` were read from the cache.
    pub cached: Tokens,
    /// How many of `input` were written to the cache.
    pub cache_write: Tokens,
    /// The provider did not count; the numbers are [`Tokens::estimate`]s.
    pub estimated: bool,
}

impl Usage {
    /// Sent and received.
    pub fn total(&self) -> Tokens {
        self.input + self.output
    }

    /// Guessed from the texts, for a provider that does not count.
    pub fn estimate(prompt: Tokens, reply: &str) -> Self {
        Self { input: prompt, output: Tokens::estimate(reply), estimated: true, ..Self::default() }
    }

    /// The cost; `None` if a needed price is unknown.
    pub fn cost(&self, prices: &Prices) -> Option<Cost> {
        let fresh = self.input.0.saturating_sub(self.cached.0).saturating_sub(self.cache_write.0);
        let parts = [
            (fresh, prices.input),
            (self.output.0, prices.output),
            (self.cached.0, prices.cache_read),
            (self.cache_write.0, prices.cache_write),
        ];
        if self.total().0 == 0 && prices.input.is_none() {
            return None;
        }
        let mut units = 0.0;
        for (tokens, price) in parts {
            if tokens > 0 {
                units += tokens as f64 * price? / 1e6;
            }
        }
        Some(Cost::from_units(units))
    }
}

/// The prices that `provider` may charge for and that are not known.
pub(super) fn missing_prices(prices: &Prices, provider: Provider) -> Vec<&'static str> {
    let mut needed = match provider {
        Provider::Replay => vec![],
        _ => vec![("input", prices.input), ("output", prices.output)],
    };
    if matches!(provider, Provider::Anthropic | Provider::OpenAi) {
        needed.push(("cache_read", prices.cache_read));
    }
    if provider == Provider::Anthropic {
        needed.push(("cache_write", prices.cache_write));
    }
    needed.into_iter().filter(|(_, price)| price.is_none()).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICES: Prices =
        Prices { input: Some(3.0), output: Some(15.0), cache_read: Some(0.3), cache_write: Some(3.75) };

    fn usage(input: u64, output: u64, cached: u64, cache_write: u64) -> Usage {
        Usage {
            input: Tokens(input),
            output: Tokens(output),
            cached: Tokens(cached),
            cache_write: Tokens(cache_write),
            estimated: false,
        }
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        let cost = usage(1_000_000, 100_000, 400_000, 100_000).cost(&PRICES).unwrap();
        assert_eq!(cost, Cost::from_units(0.5 * 3.0 + 0.1 * 15.0 + 0.4 * 0.3 + 0.1 * 3.75));
        assert_eq!(cost.to_string(), "3.4950");
    }

    #[test]
    fn an_unknown_price_is_never_zero() {
        assert_eq!(usage(1, 1, 0, 0).cost(&Prices::default()), None);
        assert_eq!(usage(0, 0, 0, 0).cost(&Prices::default()), None);
        let no_cache = Prices { cache_read: None, ..PRICES };
        assert_eq!(usage(10, 1, 5, 0).cost(&no_cache), None);
        assert!(usage(10, 1, 0, 0).cost(&no_cache).is_some());
    }

    #[test]
    fn what_a_provider_can_charge_must_be_known() {
        let half = Prices { input: Some(1.0), output: Some(1.0), ..Prices::default() };
        assert_eq!(missing_prices(&half, Provider::Anthropic), ["cache_read", "cache_write"]);
        assert_eq!(missing_prices(&half, Provider::OpenAi), ["cache_read"]);
        assert!(missing_prices(&half, Provider::Command).is_empty());
        assert!(missing_prices(&Prices::default(), Provider::Replay).is_empty());
    }
}
