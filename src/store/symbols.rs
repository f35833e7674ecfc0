//! The symbols of the C library, to which all other rows refer.

use super::Store;
use crate::error::Result;
use crate::symbol::{Function, SymbolKey, SymbolName};
use rusqlite::{Row, TransactionBehavior};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolRow {
    pub key: SymbolKey,
    pub name: SymbolName,
}

impl SymbolRow {
    pub fn of(function: &Function) -> Self {
        Self { key: function.key.clone(), name: function.name.clone() }
    }
}

impl Store {
    /// Stores symbols with their present names. Symbols that the library no longer has stay, for the rows
    /// about them.
    pub fn save_symbols(&mut self, symbols: &[SymbolRow]) -> Result<()> {
        self.run(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let sql =
                "INSERT INTO symbols (key, name) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET name = ?2";
            let mut insert = transaction.prepare(sql)?;
            for symbol in symbols {
                insert.execute([symbol.key.0.as_str(), symbol.name.as_str()])?;
            }
            drop(insert);
            transaction.commit()
        })
    }

    /// The names of all symbols ever stored, because rows outlive their symbols.
    pub fn names(&self) -> Result<BTreeMap<SymbolKey, SymbolName>> {
        self.query(|connection| {
            let mut select = connection.prepare("SELECT key, name FROM symbols")?;
            let row = |row: &Row| Ok((SymbolKey(row.get(0)?), SymbolName::new(row.get::<_, String>(1)?)));
            select.query_map([], row)?.collect()
        })
    }
}
