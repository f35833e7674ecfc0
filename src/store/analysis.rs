//! Cached results of reading the C library, valid until their inputs change. The store treats them as bytes;
//! `c` and `project` interpret them.

use super::Store;
use super::table::{from_json, json};
use crate::error::Result;
use rusqlite::{OptionalExtension, TransactionBehavior, params};
use std::collections::BTreeMap;

/// The kind of a cached value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum AnalysisKind {
    /// libclang's facts about a unit.
    Facts,
    /// bindgen's output for a unit.
    Declarations,
    /// The C compiler's results for a unit.
    Translation,
    /// The whole library.
    Library,
    /// The fact that the generated files fit the library.
    Sync,
}

impl AnalysisKind {
    fn word(self) -> &'static str {
        self.into()
    }
}

/// A cached value with its inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Hash of all inputs that are not files: versions, flags, settings.
    pub fingerprint: String,
    /// Every file that was read, with its SHA-256; empty for a file that did not exist.
    pub inputs: BTreeMap<String, String>,
    pub value: Vec<u8>,
}

impl Store {
    /// The cached value of this kind for a subject, if it has this fingerprint.
    pub fn kept(&self, kind: AnalysisKind, subject: &str, fingerprint: &str) -> Result<Option<Kept>> {
        self.query(|connection| {
            let mut select = connection.prepare_cached(
                "SELECT * FROM analysis WHERE kind = ?1 AND subject = ?2 AND fingerprint = ?3",
            )?;
            let row = select.query_row([kind.word(), subject, fingerprint], |row| {
                Ok(Kept {
                    fingerprint: row.get("fingerprint")?,
                    inputs: from_json(row, "inputs")?,
                    value: row.get("value")?,
                })
            });
            row.optional()
        })
    }

    /// Stores values, replacing those of the same subjects.
    pub fn keep(&mut self, kind: AnalysisKind, values: &[(String, Kept)]) -> Result<()> {
        self.run(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut insert = transaction.prepare(
                "INSERT OR REPLACE INTO analysis (kind, subject, fingerprint, inputs, value)
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            for (subject, kept) in values {
                insert.execute(params![
                    kind.word(),
                    subject,
                    kept.fingerprint,
                    json(&kept.inputs),
                    kept.value
                ])?;
            }
            drop(insert);
            transaction.commit()
        })
    }

    /// Deletes the values of this kind for all other subjects.
    pub fn keep_only(&mut self, kind: AnalysisKind, subjects: &[&str]) -> Result<()> {
        self.run(|connection| {
            let list = json(&subjects);
            connection.execute(
                "DELETE FROM analysis WHERE kind = ?1 AND subject NOT IN (SELECT value FROM json_each(?2))",
                params![kind.word(), list],
            )?;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_kept_until_its_fingerprint_or_subject_goes() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::open(&dir.path().join("state.db")).unwrap();
        let kept = |fingerprint: &str, value: &[u8]| Kept {
            fingerprint: fingerprint.into(),
            inputs: BTreeMap::from([("a.c".to_owned(), "00".to_owned())]),
            value: value.into(),
        };
        let kind = AnalysisKind::Facts;
        let values = [("a.c".to_owned(), kept("1", b"A")), ("b.c".to_owned(), kept("1", b"B"))];
        store.keep(kind, &values).unwrap();
        assert_eq!(store.kept(kind, "a.c", "1").unwrap(), Some(kept("1", b"A")));
        assert_eq!(store.kept(kind, "a.c", "2").unwrap(), None);
        assert_eq!(store.kept(AnalysisKind::Library, "a.c", "1").unwrap(), None);
        store.keep(kind, &[("a.c".to_owned(), kept("2", b"C"))]).unwrap();
        assert_eq!(store.kept(kind, "a.c", "2").unwrap(), Some(kept("2", b"C")));
        store.keep_only(kind, &["b.c"]).unwrap();
        assert_eq!(store.kept(kind, "a.c", "2").unwrap(), None);
        assert!(store.kept(kind, "b.c", "1").unwrap().is_some());
    }
}
