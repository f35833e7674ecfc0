//! The symbols of the C library: every other row refers to one.

use super::Store;
use crate::error::Result;
use crate::symbol::{Function, SymbolKey, SymbolName};
use rusqlite::{Row, TransactionBehavior};
use std::collections::BTreeMap;

/// A symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolRow {
    pub key: SymbolKey,
    pub name: SymbolName,
}

impl SymbolRow {
    /// That of a function.
    pub fn of(function: &Function) -> Self {
        Self { key: function.key.clone(), name: function.name.clone() }
    }
}

impl Store {
    /// Keeps symbols under their present names. Those that the library has no longer stay, for the rows about them.
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

    /// The names of all symbols that there ever were, for rows that outlive them.
    pub fn names(&self) -> Result<BTreeMap<SymbolKey, SymbolName>> {
        self.query(|connection| {
            let mut select = connection.prepare("SELECT key, name FROM symbols")?;
            let row = |row: &Row| Ok((SymbolKey(row.get(0)?), SymbolName::new(row.get::<_, String>(1)?)));
            select.query_map([], row)?.collect()
        })
    }
}
