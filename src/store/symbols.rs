//! The symbols of the C library, as the last `init` or `port` read them.

use super::Store;
use super::columns::{unsigned32, word};
use crate::digest::sha256;
use crate::error::Result;
use crate::symbol::{Function, RelPath, SymbolKey, SymbolName};
use rusqlite::{Row, TransactionBehavior, params};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a symbol is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum SymbolKind {
    Function,
    Global,
}

impl SymbolKind {
    /// One word, as in the database.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// A symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolRow {
    pub key: SymbolKey,
    pub name: SymbolName,
    pub file: RelPath,
    pub line: u32,
    pub module: String,
    pub kind: SymbolKind,
    /// Why no harness can judge it; absent when one can.
    pub unjudgeable: Option<String>,
    /// Hash of the C definition.
    pub item_hash: String,
}

impl SymbolRow {
    /// That of a function.
    pub fn of(function: &Function, unjudgeable: Option<String>) -> Self {
        Self {
            key: function.key.clone(),
            name: function.name.clone(),
            file: function.place.file.clone(),
            line: function.place.line,
            module: function.module.clone(),
            kind: SymbolKind::Function,
            unjudgeable,
            item_hash: sha256(&function.text),
        }
    }
}

impl Store {
    /// Replaces the list of symbols, in porting order. What is no longer in it leaves the list and keeps its history.
    pub fn save_symbols(&mut self, symbols: &[SymbolRow]) -> Result<()> {
        self.run(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute("UPDATE symbols SET present = 0", [])?;
            let mut insert = transaction.prepare(
                "INSERT INTO symbols (key, name, file, line, module, kind, unjudgeable, item_hash, position, present)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 1)
                 ON CONFLICT (key) DO UPDATE SET name = ?2, file = ?3, line = ?4, module = ?5, kind = ?6,
                     unjudgeable = ?7, item_hash = ?8, position = ?9, present = 1",
            )?;
            for (position, symbol) in symbols.iter().enumerate() {
                insert.execute(params![
                    symbol.key.0,
                    symbol.name.as_str(),
                    symbol.file.0.as_str(),
                    symbol.line,
                    symbol.module,
                    symbol.kind.word(),
                    symbol.unjudgeable,
                    symbol.item_hash,
                    position as i64,
                ])?;
            }
            drop(insert);
            transaction.commit()
        })
    }

    /// The symbols in porting order.
    pub fn symbols(&self) -> Result<Vec<SymbolRow>> {
        self.query(|connection| {
            let mut select = connection.prepare("SELECT * FROM symbols WHERE present ORDER BY position")?;
            select.query_map([], read)?.collect()
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

fn read(row: &Row) -> rusqlite::Result<SymbolRow> {
    Ok(SymbolRow {
        key: SymbolKey(row.get("key")?),
        name: SymbolName::new(row.get::<_, String>("name")?),
        file: RelPath(row.get::<_, String>("file")?.into()),
        line: unsigned32(row, "line")?,
        module: row.get("module")?,
        kind: word(row, "kind")?,
        unjudgeable: row.get("unjudgeable")?,
        item_hash: row.get("item_hash")?,
    })
}
