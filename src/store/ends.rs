//! How the last unsuccessful run on each function ended. This history is shown, but decides nothing.

use super::{RunId, Store};
use crate::error::Result;
use crate::symbol::SymbolKey;
use rusqlite::params;
use std::collections::BTreeMap;

/// How a run ended that left a function without a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastEnd {
    pub run: RunId,
    /// `failed`, `stopped by C`, `no contract`, …
    pub word: String,
    pub reason: String,
}

impl LastEnd {
    pub fn text(&self) -> String {
        let first = self.reason.lines().next().unwrap_or_default();
        let why = if first.is_empty() { String::new() } else { format!(": {first}") };
        format!("run {}: {}{why}", self.run.0, self.word)
    }
}

impl Store {
    /// Stores how a run on a function ended; with `None`, deletes the entry, because the function has a port
    /// now.
    pub fn put_end(&mut self, symbol: &SymbolKey, end: Option<&LastEnd>) -> Result<()> {
        self.run(|connection| match end {
            Some(LastEnd { run, word, reason }) => {
                let sql = "INSERT OR REPLACE INTO ends (symbol, run, word, reason) VALUES (?1, ?2, ?3, ?4)";
                connection.execute(sql, params![symbol.0, run.0, word, reason]).map(drop)
            }
            None => connection.execute("DELETE FROM ends WHERE symbol = ?1", [&symbol.0]).map(drop),
        })
    }

    /// The stored ends, by symbol.
    pub fn ends(&self) -> Result<BTreeMap<SymbolKey, LastEnd>> {
        self.query(|connection| {
            let mut select = connection.prepare("SELECT symbol, run, word, reason FROM ends")?;
            let all = select.query_map([], |row| {
                let end = LastEnd { run: RunId(row.get(1)?), word: row.get(2)?, reason: row.get(3)? };
                Ok((SymbolKey(row.get(0)?), end))
            })?;
            all.collect()
        })
    }
}
