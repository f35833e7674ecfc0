//! The rows of lessons. `lesson` has the formulas for merging and ageing.

use super::Store;
use super::table::Table;
use crate::error::Result;
use crate::store::lesson::{Item, Iteration, Lesson};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

const LESSONS: Table =
    Table { name: "memory", flags: &["proven"], renamed: &[("scope", "symbol")], ..Table::PLAIN };

/// Id of a lesson, as on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MemoryId(pub i64);

/// A stored lesson.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryRow {
    pub id: MemoryId,
    #[serde(flatten)]
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
            connection.prepare_cached(sql)?.query_map([], |row| LESSONS.read(row))?.collect()
        })
    }

    /// Stores a lesson, or merges it into the one with the same kind and key.
    pub fn learn(&mut self, lesson: Lesson) -> Result<MemoryId> {
        self.run(|connection| {
            // Another process may learn the same lesson.
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let now = iteration(&transaction)?;
            let sql = "SELECT * FROM memory WHERE kind = ?1 AND key = ?2";
            let key = params![lesson.kind.word(), lesson.key];
            let id = match transaction.query_row(sql, key, |row| LESSONS.read(row)).optional()? {
                Some(MemoryRow { id, mut item }) => {
                    item.merge(lesson, now);
                    LESSONS.replace(&transaction, &MemoryRow { id, item })?
                }
                None => LESSONS.insert(&transaction, &Item::new(lesson, now))?,
            };
            transaction.commit()?;
            Ok(MemoryId(id))
        })
    }

    /// Records that a lesson did not help. A deleted lesson stays deleted.
    pub fn doubt(&mut self, id: MemoryId) -> Result<()> {
        self.run(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let sql = "SELECT * FROM memory WHERE id = ?1";
            let row = transaction.query_row(sql, [id.0], |row| LESSONS.read::<MemoryRow>(row)).optional()?;
            if let Some(mut row) = row {
                row.item.fail();
                LESSONS.replace(&transaction, &row)?;
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
    let sql = "SELECT count(*) FROM (SELECT DISTINCT symbol, run FROM steps)";
    connection.prepare_cached(sql)?.query_row([], |row| row.get(0).map(|ports: u32| Iteration(ports.into())))
}
