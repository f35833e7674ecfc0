//! Findings: inputs on which the two sides differ, each stored once.

use super::table::{Table, json};
use super::{RunId, Store, now};
use crate::digest::sha256;
use crate::error::Result;
use crate::symbol::SymbolKey;
use crate::verdict::{CFaultKind, Finding, Reachability};
use jiff::Timestamp;
use rusqlite::params;
use serde::{Deserialize, Serialize};

const FINDINGS: Table =
    Table { name: "findings", json: &["args", "oracle", "subject", "place", "reachability"], ..Table::PLAIN };

/// Id of a finding, as on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
pub struct FindingId(pub i64);

/// The side that is at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Side {
    Port,
    C,
}

impl Side {
    /// One word, as in the database.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// A finding to be stored.
#[derive(Debug, Clone, Serialize)]
pub struct NewFinding<'a> {
    pub symbol: &'a SymbolKey,
    pub side: Side,
    #[serde(flatten)]
    pub finding: &'a Finding,
    pub run: Option<RunId>,
    /// Hash of the port's text.
    pub candidate_sha256: Option<String>,
    #[serde(flatten)]
    pub c_fault: Option<CFaultNote<'a>>,
}

/// The additional data of a finding about C.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct CFaultNote<'a> {
    pub fault: CFaultKind,
    pub report: &'a str,
}

/// A stored finding.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FindingRow {
    pub id: FindingId,
    pub symbol: SymbolKey,
    pub side: Side,
    #[serde(flatten)]
    pub finding: Finding,
    pub run: Option<RunId>,
    pub candidate_sha256: Option<String>,
    /// Set for a finding about C.
    pub fault: Option<CFaultKind>,
    #[serde(default)]
    pub report: String,
    /// A model's explanation, if one was asked.
    pub explanation: Option<String>,
    /// A model's opinion on whether callers can cause it.
    pub reachability: Option<Reachability>,
    pub created: Timestamp,
}

impl Store {
    /// Stores a finding. If one with the same symbol, class, description and input exists, it is updated to
    /// the newer text, and its id is returned.
    pub fn add_finding(&mut self, new: &NewFinding) -> Result<FindingId> {
        /// The columns that the finding itself lacks.
        #[derive(Serialize)]
        struct Row<'a> {
            #[serde(flatten)]
            new: &'a NewFinding<'a>,
            input_sha256: String,
            created: Timestamp,
        }
        let row = Row { new, input_sha256: sha256(&new.finding.input), created: now() };
        let conflict = "ON CONFLICT (symbol, class, what, input_sha256)
                            DO UPDATE SET run = excluded.run, candidate_sha256 = excluded.candidate_sha256,
                                side = excluded.side, fault = excluded.fault, report = excluded.report";
        self.run(|connection| FINDINGS.write(connection, "INSERT", &row, conflict).map(FindingId))
    }

    /// Stores a model's explanation of a finding.
    pub fn explain(&mut self, id: FindingId, (text, said): (&str, Option<&Reachability>)) -> Result<()> {
        let sql = "UPDATE findings SET explanation = ?2, reachability = ?3 WHERE id = ?1";
        self.run(|connection| connection.execute(sql, params![id.0, text, said.map(json)]).map(drop))
    }

    /// The findings of a symbol, or all (`None`), oldest first.
    pub fn findings(&self, symbol: Option<&SymbolKey>) -> Result<Vec<FindingRow>> {
        let sql = "SELECT * FROM findings WHERE ?1 IS NULL OR symbol = ?1 ORDER BY id";
        self.query(|connection| {
            connection
                .prepare(sql)?
                .query_map([symbol.map(|key| &key.0)], |row| FINDINGS.read(row))?
                .collect()
        })
    }
}
