//! What was measured of a function without its port.

use super::Store;
use super::columns::{from_json, json};
use crate::error::Result;
use crate::symbol::SymbolKey;
use rusqlite::{OptionalExtension, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Kinds of measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeasureKind {
    /// What a harness is worth.
    Adequacy,
}

impl MeasureKind {
    fn word(self) -> &'static str {
        match self {
            Self::Adequacy => "adequacy",
        }
    }
}

impl Store {
    /// Puts a measurement, which holds as long as `about` is the same, in the place of what was known before.
    pub fn put_measure<T: Serialize>(
        &mut self,
        (symbol, kind): (&SymbolKey, MeasureKind),
        about: &str,
        value: &T,
    ) -> Result<()> {
        self.run(|connection| {
            connection.execute(
                "INSERT OR REPLACE INTO measures (symbol, kind, about, value, date) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![symbol.0, kind.word(), about, json(value), super::now().to_string()],
            )?;
            Ok(())
        })
    }

    /// What was measured under the same `about`.
    pub fn measure<T: DeserializeOwned>(
        &self,
        (symbol, kind): (&SymbolKey, MeasureKind),
        about: &str,
    ) -> Result<Option<T>> {
        self.query(|connection| {
            let sql = "SELECT value FROM measures WHERE symbol = ?1 AND kind = ?2 AND about = ?3";
            let mut select = connection.prepare_cached(sql)?;
            select.query_row([&symbol.0, kind.word(), about], |row| from_json(row, "value")).optional()
        })
    }
}
