//! The database's schema, version by version. A released migration is never edited; changes need a new one.

use super::Store;
use crate::error::{Error, ErrorKind, Result};
use rusqlite::{Connection, TransactionBehavior};

/// Migration `i` converts version `i` to `i + 1`; the version is in `PRAGMA user_version`.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_start.sql"),
    include_str!("migrations/0002_analysis.sql"),
    include_str!("migrations/0003_grades.sql"),
    include_str!("migrations/0004_accounting.sql"),
    include_str!("migrations/0005_memory.sql"),
    include_str!("migrations/0006_c_findings.sql"),
    include_str!("migrations/0007_explanations.sql"),
    include_str!("migrations/0008_makers.sql"),
    include_str!("migrations/0009_testgen.sql"),
    include_str!("migrations/0010_testgen_cheats.sql"),
    include_str!("migrations/0011_evolution_pairs.sql"),
    include_str!("migrations/0012_ends.sql"),
    include_str!("migrations/0013_reachability.sql"),
    include_str!("migrations/0014_unread.sql"),
    include_str!("migrations/0015_best_by_context.sql"),
    include_str!("migrations/0016_lock_is_the_record.sql"),
    include_str!("migrations/0017_findings_in_place.sql"),
    include_str!("migrations/0018_seal_of_verdict.sql"),
];

/// Migrates the database to the newest version known here. `Err` if the database is newer.
pub(super) fn migrate(store: &mut Store) -> Result<()> {
    let newest = MIGRATIONS.len();
    let found = store.run(|connection| {
        if version(connection)? == newest {
            return Ok(newest);
        }
        // Read the version again under the write lock, because another process may have migrated meanwhile.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let found = version(&transaction)?;
        for sql in MIGRATIONS.iter().skip(found) {
            transaction.execute_batch(sql)?;
        }
        if found < newest {
            transaction.pragma_update(None, "user_version", newest as i64)?;
        }
        transaction.commit()?;
        Ok(found)
    })?;
    if found <= newest {
        return Ok(());
    }
    let text = format!(
        "the database {} has version {found}, and this cargo implfuzz knows versions up to {newest}",
        store.path.display()
    );
    Err(Error::new(ErrorKind::Store, text)
        .help("install a newer cargo-implfuzz: in its checkout, cargo install --locked --path ."))
}

fn version(connection: &Connection) -> rusqlite::Result<usize> {
    connection.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0)).map(|n| n.max(0) as usize)
}
