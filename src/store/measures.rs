//! Measurements of a function that do not depend on its port.

use super::Store;
use super::table::{from_json, json};
use crate::error::Result;
use crate::symbol::SymbolKey;
use rusqlite::{OptionalExtension, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum MeasureKind {
    /// The mutation score of a harness.
    Adequacy,
}

impl MeasureKind {
    fn word(self) -> &'static str {
        self.into()
    }
}

impl Store {
    /// Stores a measurement in place of the earlier one. It is valid while the hash `about` is unchanged.
    pub fn put_measure<T: Serialize>(
        &mut self,
        (symbol, kind): (&SymbolKey, MeasureKind),
        about: &str,
        value: &T,
    ) -> Result<()> {
        self.run(|connection| {
            connection.execute(
                "INSERT OR REPLACE INTO measures (symbol, kind, about, value) VALUES (?1, ?2, ?3, ?4)",
                params![symbol.0, kind.word(), about, json(value)],
            )?;
            Ok(())
        })
    }

    /// The measurement that was stored with the same `about`.
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
