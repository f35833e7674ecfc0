//! The attempts of runs and their model calls: written as they happen, read for statistics.

use super::table::Table;
use super::{RunId, StepId, Store};
use crate::error::Result;
use crate::symbol::SymbolKey;
use rusqlite::{TransactionBehavior, params};
use serde::{Deserialize, Serialize};

const ATTEMPTS: Table = Table { name: "attempts", ..Table::PLAIN };
const CALLS: Table = Table { name: "model_calls", flags: &["estimated"], ..Table::PLAIN };

/// A candidate, or a reply that contained none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    pub run: RunId,
    pub symbol: SymbolKey,
    pub role: String,
    /// A model's name, or `c2rust`; `None` in rows from before this was stored.
    pub maker: Option<String>,
    /// One word: `accepted`, `refuted`, `does-not-compile`, …
    pub outcome: String,
    pub millis: u64,
}

/// One question to a model, answered or not. All retries of a request belong to the same question.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelCall {
    /// The symbol of the question.
    pub symbol: Option<SymbolKey>,
    pub role: String,
    /// `compilation` or `optimization`; `None` in rows from before phases were stored.
    pub phase: Option<String>,
    /// The step that asked; also `None` in such rows.
    pub step: Option<StepId>,
    pub provider: String,
    pub model: String,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// Input tokens read from the provider's cache.
    pub cached_tokens: u64,
    /// Input tokens written into the provider's cache.
    pub cache_write_tokens: u64,
    /// Whether the token counts are estimated from the text, because the provider gave none.
    pub estimated: bool,
    /// In the currency of the prices; `None` if the price is unknown or no answer came.
    pub cost: Option<f64>,
    /// Includes failed requests and the waits between them.
    pub latency_ms: u64,
    /// The number of retries; `None` if no answer came.
    pub retries: Option<u32>,
    pub stop_reason: Option<String>,
    pub error: Option<String>,
}

impl ModelCall {
    /// The model's name. If the provider's name is its prefix, the prefix is removed.
    pub fn maker(&self) -> &str {
        let behind = self.model.strip_prefix(self.provider.as_str());
        behind.and_then(|name| name.strip_prefix('/')).unwrap_or(&self.model)
    }
}

/// A model call with the run to which it is charged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PaidCall {
    pub run: RunId,
    #[serde(flatten)]
    pub call: ModelCall,
}

impl Store {
    /// Stores an attempt.
    pub fn add_attempt(&mut self, attempt: &Attempt) -> Result<()> {
        self.run(|connection| ATTEMPTS.insert(connection, attempt).map(drop))
    }

    /// The attempts of a run, or of all runs (`None`), in order.
    pub fn attempts(&self, run: Option<RunId>) -> Result<Vec<Attempt>> {
        self.query(|connection| {
            let sql = "SELECT * FROM attempts WHERE ?1 IS NULL OR run = ?1 ORDER BY id";
            connection
                .prepare_cached(sql)?
                .query_map([run.map(|run| run.0)], |row| ATTEMPTS.read(row))?
                .collect()
        })
    }

    /// Stores a question to a model.
    pub fn add_model_call(&mut self, run: RunId, call: &ModelCall) -> Result<()> {
        self.run(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            CALLS.insert(&transaction, &PaidCall { run, call: call.clone() })?;
            // If the provider was chosen during the run, its name is known only now.
            transaction.execute(
                "UPDATE runs SET provider = coalesce(provider, ?2), model = coalesce(model, ?3) WHERE id = ?1",
                params![run.0, call.provider, call.model],
            )?;
            transaction.commit()
        })
    }

    /// The calls of a run, or of all runs (`None`), about a symbol, or about all (`None`), in order.
    pub fn calls(&self, run: Option<RunId>, symbol: Option<&SymbolKey>) -> Result<Vec<PaidCall>> {
        let sql = "SELECT * FROM model_calls WHERE (?1 IS NULL OR run = ?1) AND (?2 IS NULL OR symbol = ?2) ORDER BY id";
        self.query(|connection| {
            let values = params![run.map(|run| run.0), symbol.map(|key| &key.0)];
            connection.prepare_cached(sql)?.query_map(values, |row| CALLS.read(row))?.collect()
        })
    }
}
