//! Configurations of the test generator, each stored once, and the current one.

use crate::error::{Error, ErrorKind, Result};
use crate::store::Store;
use crate::store::table::Table;
use crate::test_record::{ConfigId, ConfigRef, TestGenConfig};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, ToSql, TransactionBehavior};
use serde::{Deserialize, Serialize};

const CONFIGS: Table = Table {
    name: "testgen_configs",
    json: &["category_order", "category_prompts"],
    flags: &["is_current", "global_refinement"],
    ..Table::PLAIN
};

/// A stored configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfigRow {
    pub id: ConfigId,
    pub config_hash: String,
    /// Whether new runs use it; at most one is current.
    pub is_current: bool,
    pub created_at: Timestamp,
    #[serde(flatten)]
    pub config: TestGenConfig,
}

impl ConfigRow {
    /// Its number and version.
    pub fn named(&self) -> ConfigRef {
        ConfigRef { id: self.id, version: self.config.version.clone() }
    }
}

impl Store {
    /// Stores a configuration. The same one is stored once and has one id.
    ///
    /// Errors (`Config`): the configuration is not valid.
    pub fn save_testgen_config(&mut self, config: &TestGenConfig) -> Result<ConfigId> {
        let problems = config.problems();
        if !problems.is_empty() {
            let text = format!("the configuration cannot be used: {}", problems.join("; "));
            return Err(Error::new(ErrorKind::Config, text));
        }
        self.run(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let id = once(&transaction, config)?;
            transaction.commit()?;
            Ok(id)
        })
    }

    /// The configuration with this id.
    pub fn testgen_config(&self, id: ConfigId) -> Result<Option<ConfigRow>> {
        self.query(|connection| find(connection, "id = ?1", id.0))
    }

    /// A configuration that was just stored, since none is ever removed.
    pub fn stored_testgen_config(&self, id: ConfigId) -> Result<ConfigRow> {
        let lost = || Error::new(ErrorKind::Store, format!("configuration {} is gone", id.0));
        self.testgen_config(id)?.ok_or_else(lost)
    }

    pub fn testgen_config_by_hash(&self, hash: &str) -> Result<Option<ConfigRow>> {
        self.query(|connection| find(connection, "config_hash = ?1", hash))
    }

    /// The configuration that new runs use; `None` if none was chosen.
    pub fn current_testgen_config(&self) -> Result<Option<ConfigRow>> {
        self.query(|connection| find(connection, "is_current = ?1", true))
    }

    /// The configuration for a run if the user names none: the current one, else the defaults, which become
    /// current.
    pub fn testgen_config_in_use(&mut self) -> Result<ConfigRow> {
        self.run(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if let Some(row) = find(&transaction, "is_current = ?1", true)? {
                return Ok(row);
            }
            let id = once(&transaction, &TestGenConfig::default())?;
            make_current(&transaction, id)?;
            let sql = "SELECT * FROM testgen_configs WHERE id = ?1";
            let row = transaction.query_row(sql, [id.0], |row| CONFIGS.read(row))?;
            transaction.commit()?;
            Ok(row)
        })
    }

    /// Makes a configuration the current one.
    ///
    /// Errors (`Usage`): there is none with this id; the current one stays.
    pub fn set_current_testgen_config(&mut self, id: ConfigId) -> Result<()> {
        let is_there = self.run(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let is_there = make_current(&transaction, id)?;
            if is_there {
                transaction.commit()?;
            }
            Ok(is_there)
        })?;
        if is_there {
            return Ok(());
        }
        let text = format!("there is no TestGen configuration {}", id.0);
        Err(Error::new(ErrorKind::Usage, text).help("cargo implfuzz testgen config list"))
    }

    /// All configurations, oldest first.
    pub fn testgen_configs(&self) -> Result<Vec<ConfigRow>> {
        self.query(|connection| {
            let mut select = connection.prepare("SELECT * FROM testgen_configs ORDER BY id")?;
            select.query_map([], |row| CONFIGS.read(row))?.collect()
        })
    }
}

/// Runs inside the caller's transaction. Returns `false` if there is no such configuration; then the caller
/// must not commit.
pub(super) fn make_current(connection: &Connection, id: ConfigId) -> rusqlite::Result<bool> {
    connection.execute("UPDATE testgen_configs SET is_current = 0 WHERE is_current = 1", [])?;
    connection
        .execute("UPDATE testgen_configs SET is_current = 1 WHERE id = ?1", [id.0])
        .map(|rows| rows == 1)
}

/// The first configuration for which the condition holds.
pub(super) fn find(
    connection: &Connection,
    condition: &str,
    value: impl ToSql,
) -> rusqlite::Result<Option<ConfigRow>> {
    let sql = format!("SELECT * FROM testgen_configs WHERE {condition}");
    connection.prepare_cached(&sql)?.query_row([value], |row| CONFIGS.read(row)).optional()
}

/// The id of a configuration, which is stored if it is new. Runs inside the caller's transaction.
fn once(connection: &Connection, config: &TestGenConfig) -> rusqlite::Result<ConfigId> {
    /// A configuration that is not stored yet.
    #[derive(Serialize)]
    struct New<'a> {
        config_hash: String,
        is_current: bool,
        created_at: Timestamp,
        #[serde(flatten)]
        config: &'a TestGenConfig,
    }
    let config_hash = config.config_hash();
    if let Some(row) = find(connection, "config_hash = ?1", &config_hash)? {
        return Ok(row.id);
    }
    let new = New { config_hash, is_current: false, created_at: crate::store::now(), config };
    CONFIGS.insert(connection, &new).map(ConfigId)
}
