//! Configurations of the test generator, each stored once, and the current one.

use crate::error::{Error, ErrorKind, Result};
use crate::store::Store;
use crate::store::columns::{date, from_json, int, json, unsigned, unsigned32, word};
use crate::test_record::{ConfigId, TestGenConfig};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, ToSql, TransactionBehavior, named_params};
use serde::Serialize;

/// A stored configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConfigRow {
    pub id: ConfigId,
    pub config_hash: String,
    /// Whether new runs use it; at most one is current.
    pub is_current: bool,
    #[serde(serialize_with = "crate::test_record::date::serialize")]
    pub created_at: Timestamp,
    #[serde(flatten)]
    pub config: TestGenConfig,
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
            let row = transaction.query_row(sql, [id.0], read)?;
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
            connection.prepare("SELECT * FROM testgen_configs ORDER BY id")?.query_map([], read)?.collect()
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
    connection.prepare_cached(&sql)?.query_row([value], read).optional()
}

/// The id of a configuration, which is stored if it is new. Runs inside the caller's transaction.
fn once(connection: &Connection, config: &TestGenConfig) -> rusqlite::Result<ConfigId> {
    let hash = config.config_hash();
    match find(connection, "config_hash = ?1", &hash)? {
        Some(row) => Ok(row.id),
        None => insert(connection, config, &hash),
    }
}

fn insert(connection: &Connection, config: &TestGenConfig, hash: &str) -> rusqlite::Result<ConfigId> {
    let sql = "INSERT INTO testgen_configs (config_hash, is_current, created_at, version, temperature, max_tokens,
                   min_tests_per_category, max_tests_per_category, max_rounds_per_category, environment_weight,
                   anti_cheat_weight, precision_weight, category_order, category_prompts, anti_cheat_prompt,
                   reflection_prompt, primary_model, reflection_model, min_comprehensiveness, target_comprehensiveness,
                   min_total_tests, target_total_tests, max_total_rounds, max_total_tokens, max_total_seconds,
                   global_refinement, global_refinement_rounds)
               VALUES (:hash, 0, :created_at, :version, :temperature, :max_tokens, :min_tests, :max_tests, :max_rounds,
                   :environment, :anti_cheat, :precision, :category_order, :category_prompts, :anti_cheat_prompt,
                   :reflection_prompt, :primary_model, :reflection_model, :min_comprehensiveness,
                   :target_comprehensiveness, :min_total_tests, :target_total_tests, :max_total_rounds,
                   :max_total_tokens, :max_total_seconds, :refinement, :refinement_rounds)";
    connection.execute(
        sql,
        named_params! {
            ":hash": hash,
            ":created_at": crate::store::now().to_string(),
            ":version": config.version,
            ":temperature": config.temperature,
            ":max_tokens": config.max_tokens,
            ":min_tests": config.min_tests_per_category,
            ":max_tests": config.max_tests_per_category,
            ":max_rounds": config.max_rounds_per_category,
            ":environment": config.environment_weight,
            ":anti_cheat": config.anti_cheat_weight,
            ":precision": config.precision_weight,
            ":category_order": json(&config.category_order),
            ":category_prompts": json(&config.category_prompts),
            ":anti_cheat_prompt": config.anti_cheat_prompt,
            ":reflection_prompt": config.reflection_prompt,
            ":primary_model": config.primary_model.word(),
            ":reflection_model": config.reflection_model.word(),
            ":min_comprehensiveness": config.min_comprehensiveness,
            ":target_comprehensiveness": config.target_comprehensiveness,
            ":min_total_tests": config.min_total_tests,
            ":target_total_tests": config.target_total_tests,
            ":max_total_rounds": config.max_total_rounds,
            ":max_total_tokens": int(config.max_total_tokens),
            ":max_total_seconds": int(config.max_total_seconds),
            ":refinement": config.global_refinement,
            ":refinement_rounds": config.global_refinement_rounds,
        },
    )?;
    Ok(ConfigId(connection.last_insert_rowid()))
}

fn read(row: &Row) -> rusqlite::Result<ConfigRow> {
    let config = TestGenConfig {
        version: row.get("version")?,
        temperature: row.get("temperature")?,
        max_tokens: unsigned32(row, "max_tokens")?,
        min_tests_per_category: unsigned32(row, "min_tests_per_category")?,
        max_tests_per_category: unsigned32(row, "max_tests_per_category")?,
        max_rounds_per_category: unsigned32(row, "max_rounds_per_category")?,
        environment_weight: row.get("environment_weight")?,
        anti_cheat_weight: row.get("anti_cheat_weight")?,
        precision_weight: row.get("precision_weight")?,
        category_order: from_json(row, "category_order")?,
        category_prompts: from_json(row, "category_prompts")?,
        anti_cheat_prompt: row.get("anti_cheat_prompt")?,
        reflection_prompt: row.get("reflection_prompt")?,
        primary_model: word(row, "primary_model")?,
        reflection_model: word(row, "reflection_model")?,
        min_comprehensiveness: row.get("min_comprehensiveness")?,
        target_comprehensiveness: row.get("target_comprehensiveness")?,
        min_total_tests: unsigned32(row, "min_total_tests")?,
        target_total_tests: unsigned32(row, "target_total_tests")?,
        max_total_rounds: unsigned32(row, "max_total_rounds")?,
        max_total_tokens: unsigned(row, "max_total_tokens")?,
        max_total_seconds: unsigned(row, "max_total_seconds")?,
        global_refinement: row.get("global_refinement")?,
        global_refinement_rounds: unsigned32(row, "global_refinement_rounds")?,
    };
    Ok(ConfigRow {
        id: ConfigId(row.get("id")?),
        config_hash: row.get("config_hash")?,
        is_current: row.get("is_current")?,
        created_at: date(row, "created_at")?,
        config,
    })
}
