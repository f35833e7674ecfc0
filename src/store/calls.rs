//! The attempts of runs and their model calls: written as they happen, read for statistics.

use super::columns::{int, unsigned};
use super::{RunId, StepId, Store};
use crate::error::Result;
use crate::symbol::SymbolKey;
use rusqlite::{Row, TransactionBehavior, params};

/// A candidate, or a reply that contained none.
#[derive(Debug, Clone, PartialEq, Eq)]
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
#[derive(Debug, Clone, Default, PartialEq)]
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
#[derive(Debug, Clone, PartialEq)]
pub struct PaidCall {
    pub run: RunId,
    pub call: ModelCall,
}

impl Store {
    /// Stores an attempt.
    pub fn add_attempt(&mut self, attempt: &Attempt) -> Result<()> {
        self.run(|connection| {
            connection.execute(
                "INSERT INTO attempts (run, symbol, role, outcome, millis, maker) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![
                    attempt.run.0,
                    attempt.symbol.0,
                    attempt.role,
                    attempt.outcome,
                    int(attempt.millis),
                    attempt.maker,
                ],
            )?;
            Ok(())
        })
    }

    /// The attempts of a run, or of all runs (`None`), in order.
    pub fn attempts(&self, run: Option<RunId>) -> Result<Vec<Attempt>> {
        self.query(|connection| {
            let sql = "SELECT * FROM attempts WHERE ?1 IS NULL OR run = ?1 ORDER BY id";
            connection.prepare_cached(sql)?.query_map([run.map(|run| run.0)], attempt)?.collect()
        })
    }

    /// Stores a question to a model.
    pub fn add_model_call(&mut self, run: RunId, call: &ModelCall) -> Result<()> {
        self.run(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute(
                "INSERT INTO model_calls (run, symbol, role, provider, model, input_tokens, output_tokens, cached_tokens,
                     cache_write_tokens, estimated, cost, latency_ms, stop_reason, error, phase, step, retries)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
                params![
                    run.0,
                    call.symbol.as_ref().map(|key| &key.0),
                    call.role,
                    call.provider,
                    call.model,
                    int(call.input_tokens),
                    int(call.output_tokens),
                    int(call.cached_tokens),
                    int(call.cache_write_tokens),
                    call.estimated,
                    call.cost,
                    int(call.latency_ms),
                    call.stop_reason,
                    call.error,
                    call.phase,
                    call.step.map(|step| step.0),
                    call.retries,
                ],
            )?;
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
            connection.prepare_cached(sql)?.query_map(values, paid_call)?.collect()
        })
    }
}

fn attempt(row: &Row) -> rusqlite::Result<Attempt> {
    Ok(Attempt {
        run: RunId(row.get("run")?),
        symbol: SymbolKey(row.get("symbol")?),
        role: row.get("role")?,
        maker: row.get("maker")?,
        outcome: row.get("outcome")?,
        millis: unsigned(row, "millis")?,
    })
}

fn paid_call(row: &Row) -> rusqlite::Result<PaidCall> {
    let call = ModelCall {
        symbol: row.get::<_, Option<String>>("symbol")?.map(SymbolKey),
        role: row.get("role")?,
        phase: row.get("phase")?,
        step: row.get::<_, Option<i64>>("step")?.map(StepId),
        provider: row.get("provider")?,
        model: row.get("model")?,
        input_tokens: unsigned(row, "input_tokens")?,
        output_tokens: unsigned(row, "output_tokens")?,
        cached_tokens: unsigned(row, "cached_tokens")?,
        cache_write_tokens: unsigned(row, "cache_write_tokens")?,
        estimated: row.get("estimated")?,
        cost: row.get("cost")?,
        latency_ms: unsigned(row, "latency_ms")?,
        retries: row.get("retries")?,
        stop_reason: row.get("stop_reason")?,
        error: row.get("error")?,
    };
    Ok(PaidCall { run: RunId(row.get("run")?), call })
}
