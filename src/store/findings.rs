//! Findings: inputs on which the two sides differ, each stored once.

use super::columns::{date, from_json, from_json_opt, json, word, word_opt};
use super::{RunId, Store, now};
use crate::digest::sha256;
use crate::error::Result;
use crate::symbol::SymbolKey;
use crate::verdict::{CFaultKind, Finding, Reachability};
use jiff::Timestamp;
use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};

/// Id of a finding, as on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
#[derive(Debug, Clone)]
pub struct NewFinding<'a> {
    pub symbol: &'a SymbolKey,
    pub side: Side,
    pub finding: &'a Finding,
    pub run: Option<RunId>,
    /// Hash of the port's text.
    pub candidate_sha256: Option<String>,
    pub c_fault: Option<CFaultNote<'a>>,
}

/// The additional data of a finding about C.
#[derive(Debug, Clone, Copy)]
pub struct CFaultNote<'a> {
    pub fault: CFaultKind,
    pub report: &'a str,
}

/// A stored finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingRow {
    pub id: FindingId,
    pub symbol: SymbolKey,
    pub side: Side,
    pub finding: Finding,
    pub run: Option<RunId>,
    pub candidate_sha256: Option<String>,
    /// Set for a finding about C.
    pub fault: Option<CFaultKind>,
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
        let finding = new.finding;
        let hash = sha256(&finding.input);
        let sql = "INSERT INTO findings (symbol, class, side, what, input, input_sha256, args, oracle, subject, run,
                       candidate_sha256, created, fault, report)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
                   ON CONFLICT (symbol, class, what, input_sha256)
                       DO UPDATE SET run = excluded.run, candidate_sha256 = excluded.candidate_sha256,
                           side = excluded.side, fault = excluded.fault, report = excluded.report
                   RETURNING id";
        self.run(|connection| {
            let values = params![
                new.symbol.0,
                finding.class.word(),
                new.side.word(),
                finding.what,
                finding.input,
                hash,
                json(&finding.args),
                json(&finding.oracle),
                json(&finding.subject),
                new.run.map(|run| run.0),
                new.candidate_sha256,
                now().to_string(),
                new.c_fault.map(|c_fault| c_fault.fault.word()),
                new.c_fault.map(|c_fault| c_fault.report),
            ];
            connection.query_row(sql, values, |row| row.get(0)).map(FindingId)
        })
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
            connection.prepare(sql)?.query_map([symbol.map(|key| &key.0)], read)?.collect()
        })
    }
}

fn read(row: &Row) -> rusqlite::Result<FindingRow> {
    Ok(FindingRow {
        id: FindingId(row.get("id")?),
        symbol: SymbolKey(row.get("symbol")?),
        side: word(row, "side")?,
        finding: Finding {
            class: word(row, "class")?,
            what: row.get("what")?,
            input: row.get("input")?,
            args: from_json(row, "args")?,
            oracle: from_json(row, "oracle")?,
            subject: from_json(row, "subject")?,
        },
        run: row.get::<_, Option<i64>>("run")?.map(RunId),
        candidate_sha256: row.get("candidate_sha256")?,
        fault: word_opt(row, "fault")?,
        report: row.get::<_, Option<String>>("report")?.unwrap_or_default(),
        explanation: row.get("explanation")?,
        reachability: from_json_opt(row, "reachability")?,
        created: date(row, "created")?,
    })
}
