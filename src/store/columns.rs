//! Converts between the crate's types and columns.

use jiff::Timestamp;
use rusqlite::types::Type;
use rusqlite::{Result, Row};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// `SQLite` has signed 64-bit integers; no count comes close to their limit.
pub(super) fn int(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// An unsigned column.
pub(super) fn unsigned(row: &Row, column: &str) -> Result<u64> {
    row.get::<_, i64>(column).map(|n| u64::try_from(n).unwrap_or(0))
}

/// An unsigned column of 32 bits.
pub(super) fn unsigned32(row: &Row, column: &str) -> Result<u32> {
    row.get(column)
}

/// A column that holds JSON.
pub(super) fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("lists of strings have no form that JSON lacks")
}

/// Reads a column that holds JSON.
pub(super) fn from_json<T: DeserializeOwned>(row: &Row, column: &str) -> Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| unreadable(column, error))
}

/// The same for a nullable column.
pub(super) fn from_json_opt<T: DeserializeOwned>(row: &Row, column: &str) -> Result<Option<T>> {
    if row.get_ref(column)? == rusqlite::types::ValueRef::Null {
        Ok(None)
    } else {
        from_json(row, column).map(Some)
    }
}

/// Reads a column that holds an enum value as one word, in serde's spelling.
pub(super) fn word<T: DeserializeOwned>(row: &Row, column: &str) -> Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_value(text.into()).map_err(|error| unreadable(column, error))
}

/// The same for a nullable column.
pub(super) fn word_opt<T: DeserializeOwned>(row: &Row, column: &str) -> Result<Option<T>> {
    if row.get_ref(column)? == rusqlite::types::ValueRef::Null {
        Ok(None)
    } else {
        word(row, column).map(Some)
    }
}

pub(super) fn date(row: &Row, column: &str) -> Result<Timestamp> {
    let text: String = row.get(column)?;
    text.parse().map_err(|error: jiff::Error| unreadable(column, error))
}

/// Reads a date from a nullable column.
pub(super) fn date_opt(row: &Row, column: &str) -> Result<Option<Timestamp>> {
    if row.get_ref(column)? == rusqlite::types::ValueRef::Null {
        Ok(None)
    } else {
        date(row, column).map(Some)
    }
}

fn unreadable(column: &str, error: impl std::error::Error) -> rusqlite::Error {
    let text = format!("column `{column}` cannot be read: {error}");
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, text.into())
}
