//! This machine's last verdict on each symbol. It is history; only `implfuzz.lock` decides a grade.

use super::Store;
use super::columns::{date, from_json, int, json, unsigned, word};
use crate::error::Result;
use crate::symbol::{SymbolKey, SymbolName};
use crate::verdict::{Grade, Proofs, RunStats};
use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row, params};

/// This machine's last verdict on a port, with the hashes of the judged texts.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    pub symbol: SymbolKey,
    pub c_hash: String,
    pub contract_hash: String,
    pub harness_hash: String,
    pub rust_hash: String,
    pub grade: Grade,
    /// The reasons why the grade is not better.
    pub shortcomings: Vec<String>,
    pub proofs: Proofs,
    pub executions: u64,
    /// The share of inputs that the C original accepted, from 0 to 1; `None` if unmeasured.
    pub accept_rate: Option<f64>,
    /// Callees that still run as C.
    pub callees_in_c: Vec<SymbolName>,
    /// The author of the port: `hand`, or provider and model.
    pub provenance: String,
    pub date: Timestamp,
}

impl Evidence {
    /// The evidence of a run that ended just now. The hashes are empty; the caller sets them.
    pub fn of_run(symbol: SymbolKey, grade: Grade, stats: &RunStats) -> Self {
        Self {
            symbol,
            c_hash: String::new(),
            contract_hash: String::new(),
            harness_hash: String::new(),
            rust_hash: String::new(),
            grade,
            shortcomings: Vec::new(),
            proofs: Proofs::default(),
            executions: stats.executions,
            accept_rate: stats.accept_rate(),
            callees_in_c: Vec::new(),
            provenance: String::new(),
            date: super::now(),
        }
    }
}

impl Store {
    /// Stores the evidence in place of the earlier one.
    pub fn put_evidence(&mut self, evidence: &Evidence) -> Result<()> {
        let e = evidence;
        self.run(|connection| {
            connection.execute(
                "INSERT OR REPLACE INTO evidence (symbol, c_hash, contract_hash, harness_hash, rust_hash, grade,
                     executions, accept_rate, callees_in_c, provenance, date, shortcomings, proofs)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
                params![
                    e.symbol.0,
                    e.c_hash,
                    e.contract_hash,
                    e.harness_hash,
                    e.rust_hash,
                    e.grade.word(),
                    int(e.executions),
                    e.accept_rate,
                    json(&e.callees_in_c),
                    e.provenance,
                    e.date.to_string(),
                    json(&e.shortcomings),
                    json(&e.proofs),
                ],
            )?;
            Ok(())
        })
    }

    pub fn evidence(&self, symbol: &SymbolKey) -> Result<Option<Evidence>> {
        self.query(|connection| {
            let mut select = connection.prepare_cached("SELECT * FROM evidence WHERE symbol = ?1")?;
            select.query_row([&symbol.0], read).optional()
        })
    }
}

fn read(row: &Row) -> rusqlite::Result<Evidence> {
    Ok(Evidence {
        symbol: SymbolKey(row.get("symbol")?),
        c_hash: row.get("c_hash")?,
        contract_hash: row.get("contract_hash")?,
        harness_hash: row.get("harness_hash")?,
        rust_hash: row.get("rust_hash")?,
        grade: word(row, "grade")?,
        shortcomings: from_json(row, "shortcomings")?,
        proofs: from_json(row, "proofs")?,
        executions: unsigned(row, "executions")?,
        accept_rate: row.get("accept_rate")?,
        callees_in_c: from_json(row, "callees_in_c")?,
        provenance: row.get("provenance")?,
        date: date(row, "date")?,
    })
}
