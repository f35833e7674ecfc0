//! The rows of lessons. `lesson` has the formulas for merging and ageing.

use super::Store;
use super::columns::{int, unsigned, word};
use crate::error::Result;
use crate::store::lesson::{Confidence, Item, Iteration, Kind, Lesson, Scope};
use crate::symbol::SymbolKey;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};

/// Id of a lesson, as on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemoryId(pub i64);

/// A stored lesson.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryRow {
    pub id: MemoryId,
    pub item: Item,
}

impl Store {
    /// The number of ports begun so far; one symbol in one run counts once. It is counted from the steps, so
    /// that no port is missed.
    pub fn iteration(&self) -> Result<Iteration> {
        self.query(iteration)
    }

    /// All lessons, the most recently confirmed first.
    pub fn memory(&self) -> Result<Vec<MemoryRow>> {
        self.query(|connection| {
            let sql = "SELECT * FROM memory ORDER BY last_used DESC, id DESC";
            connection.prepare_cached(sql)?.query_map([], read)?.collect()
        })
    }

    /// Stores a lesson, or merges it into the one with the same kind and key.
    pub fn learn(&mut self, lesson: Lesson) -> Result<MemoryId> {
        self.run(|connection| {
            // Another process may learn the same lesson.
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let now = iteration(&transaction)?;
            let sql = "SELECT * FROM memory WHERE kind = ?1 AND key = ?2";
            let known =
                transaction.query_row(sql, params![lesson.kind.word(), lesson.key], read).optional()?;
            let id = match known {
                Some(MemoryRow { id, mut item }) => {
                    item.merge(lesson, now);
                    write(&transaction, id, &item)?;
                    id
                }
                None => insert(&transaction, &Item::new(lesson, now))?,
            };
            transaction.commit()?;
            Ok(id)
        })
    }

    /// Records that a lesson did not help. A deleted lesson stays deleted.
    pub fn doubt(&mut self, id: MemoryId) -> Result<()> {
        self.run(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let row = transaction.query_row("SELECT * FROM memory WHERE id = ?1", [id.0], read).optional()?;
            if let Some(MemoryRow { mut item, .. }) = row {
                item.fail();
                write(&transaction, id, &item)?;
            }
            transaction.commit()
        })
    }

    /// Deletes lessons, all or none.
    pub fn forget(&mut self, ids: &[MemoryId]) -> Result<()> {
        self.run(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for id in ids {
                transaction.execute("DELETE FROM memory WHERE id = ?1", [id.0])?;
            }
            transaction.commit()
        })
    }
}

fn iteration(connection: &Connection) -> rusqlite::Result<Iteration> {
    let sql = "SELECT count(*) AS ports FROM (SELECT DISTINCT symbol, run FROM steps)";
    connection.prepare_cached(sql)?.query_row([], |row| unsigned(row, "ports").map(Iteration))
}

fn insert(connection: &Connection, item: &Item) -> rusqlite::Result<MemoryId> {
    let sql = "INSERT INTO memory (kind, symbol, key, text, confidence, source, proven, created, last_used)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    let lesson = &item.lesson;
    connection.execute(
        sql,
        params![
            lesson.kind.word(),
            symbol(&lesson.scope),
            lesson.key,
            lesson.text,
            item.confidence.share(),
            lesson.source,
            lesson.proven,
            int(item.created.0),
            int(item.last_used.0),
        ],
    )?;
    Ok(MemoryId(connection.last_insert_rowid()))
}

/// Updates the mutable columns of a lesson.
fn write(connection: &Connection, id: MemoryId, item: &Item) -> rusqlite::Result<()> {
    let sql =
        "UPDATE memory SET symbol = ?2, text = ?3, confidence = ?4, source = ?5, proven = ?6, last_used = ?7
               WHERE id = ?1";
    let lesson = &item.lesson;
    connection
        .execute(
            sql,
            params![
                id.0,
                symbol(&lesson.scope),
                lesson.text,
                item.confidence.share(),
                lesson.source,
                lesson.proven,
                int(item.last_used.0),
            ],
        )
        .map(drop)
}

fn symbol(scope: &Scope) -> Option<&str> {
    match scope {
        Scope::Library => None,
        Scope::Symbol(key) => Some(&key.0),
    }
}

fn read(row: &Row) -> rusqlite::Result<MemoryRow> {
    let kind: Kind = word(row, "kind")?;
    let symbol: Option<String> = row.get("symbol")?;
    let lesson = Lesson {
        kind,
        scope: symbol.map_or(Scope::Library, |key| Scope::Symbol(SymbolKey(key))),
        key: row.get("key")?,
        text: row.get("text")?,
        source: row.get("source")?,
        proven: row.get("proven")?,
    };
    let item = Item {
        lesson,
        confidence: Confidence::new(row.get("confidence")?),
        created: Iteration(unsigned(row, "created")?),
        last_used: Iteration(unsigned(row, "last_used")?),
    };
    Ok(MemoryRow { id: MemoryId(row.get("id")?), item })
}
