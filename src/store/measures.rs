//! Mutation scores: of harnesses, and of drivers' executions. They do not depend on ports.

use super::Store;
use super::table::{from_json, json};
use crate::error::Result;
use crate::symbol::SymbolKey;
use rusqlite::{OptionalExtension, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What a mutation score measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    Harness,
    InPlace,
}

impl Measure {
    fn kind(self) -> &'static str {
        match self {
            Self::Harness => "adequacy",
            Self::InPlace => "in-place",
        }
    }
}

impl Store {
    /// Stores a mutation score in place of the earlier one. It is valid while the hash `about` is unchanged.
    pub fn put_mutation_score<T: Serialize>(
        &mut self,
        (symbol, measure): (&SymbolKey, Measure),
        about: &str,
        score: &T,
    ) -> Result<()> {
        self.run(|connection| {
            let sql = "INSERT OR REPLACE INTO measures (symbol, kind, about, value) VALUES (?1, ?2, ?3, ?4)";
            connection.execute(sql, params![symbol.0, measure.kind(), about, json(score)]).map(drop)
        })
    }

    /// The mutation score that was stored with the same `about`.
    pub fn mutation_score<T: DeserializeOwned>(
        &self,
        (symbol, measure): (&SymbolKey, Measure),
        about: &str,
    ) -> Result<Option<T>> {
        self.query(|connection| {
            let sql = "SELECT value FROM measures WHERE symbol = ?1 AND kind = ?2 AND about = ?3";
            let mut select = connection.prepare_cached(sql)?;
            select.query_row([&symbol.0, measure.kind(), about], |row| from_json(row, "value")).optional()
        })
    }
}
