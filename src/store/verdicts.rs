//! This machine's last verdict on each symbol. It is history; only `implfuzz.lock` decides a grade.

use super::Store;
use super::table::Table;
use crate::error::Result;
use crate::symbol::SymbolKey;
use crate::verdict::Grade;
use rusqlite::OptionalExtension;
use serde::{Deserialize, Serialize};

const VERDICTS: Table = Table { name: "evidence", json: &["shortcomings"], ..Table::PLAIN };

/// This machine's last verdict on a port, with the hashes of the judged texts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LastVerdict {
    pub symbol: SymbolKey,
    pub c_hash: String,
    pub contract_hash: String,
    pub harness_hash: String,
    pub rust_hash: String,
    /// The seal of the entry in `implfuzz.lock`; empty for a verdict of an older version of the tool.
    pub seal: String,
    pub grade: Grade,
    /// The reasons why the grade is not better.
    pub shortcomings: Vec<String>,
}

impl Store {
    /// Stores the verdict in place of the earlier one.
    pub fn put_verdict(&mut self, verdict: &LastVerdict) -> Result<()> {
        self.run(|connection| VERDICTS.replace(connection, verdict).map(drop))
    }

    pub fn last_verdict(&self, symbol: &SymbolKey) -> Result<Option<LastVerdict>> {
        self.query(|connection| {
            let mut select = connection.prepare_cached("SELECT * FROM evidence WHERE symbol = ?1")?;
            select.query_row([&symbol.0], |row| VERDICTS.read(row)).optional()
        })
    }
}
