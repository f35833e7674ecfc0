//! Rows of tables by way of serde: the fields of a struct are the columns of its table.

use rusqlite::types::{Type, Value as Sql, ValueRef};
use rusqlite::{Connection, Result, Row, params_from_iter};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A table, and the columns that are neither a number nor a text.
///
/// When a row is written, a struct inside of it is spread over the columns of its own fields, and a list of bytes
/// becomes a blob.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table {
    pub name: &'static str,
    /// Columns with JSON; NULL where there is no value.
    pub json: &'static [&'static str],
    /// Columns with JSON in which `null` is a value.
    pub json_or_null: &'static [&'static str],
    /// Columns with 1 for true and 0 for false.
    pub flags: &'static [&'static str],
    /// Fields whose column has another name: field and column.
    pub renamed: &'static [(&'static str, &'static str)],
}

impl Table {
    /// A table of numbers and texts.
    pub const PLAIN: Self = Self { name: "", json: &[], json_or_null: &[], flags: &[], renamed: &[] };

    /// Inserts a row; returns its id.
    pub fn insert(&self, connection: &Connection, row: &impl Serialize) -> Result<i64> {
        self.write(connection, "INSERT", row, "")
    }

    /// Inserts a row in place of the one with the same key; returns its id.
    pub fn replace(&self, connection: &Connection, row: &impl Serialize) -> Result<i64> {
        self.write(connection, "INSERT OR REPLACE", row, "")
    }

    /// Inserts a row; `conflict` is the clause for a row that exists. Returns the id of the row.
    pub fn write(
        &self,
        connection: &Connection,
        verb: &str,
        row: &impl Serialize,
        conflict: &str,
    ) -> Result<i64> {
        let mut columns = Vec::new();
        let row = serde_json::to_value(row).expect("rows consist of numbers, texts and lists");
        self.spread(row, &mut columns);
        let (names, values): (Vec<String>, Vec<Sql>) = columns.into_iter().unzip();
        let (names, marks) = (names.join(", "), vec!["?"; names.len()].join(", "));
        let sql = format!("{verb} INTO {} ({names}) VALUES ({marks}) {conflict} RETURNING rowid", self.name);
        connection.prepare_cached(&sql)?.query_row(params_from_iter(values), |row| row.get(0))
    }

    fn spread(&self, row: Value, columns: &mut Vec<(String, Sql)>) {
        let Value::Object(fields) = row else { return };
        for (field, value) in fields {
            let renamed = self.renamed.iter().find(|(name, _)| *name == field);
            let column = renamed.map_or(field, |(_, column)| (*column).to_owned());
            match value {
                Value::Object(_) if !self.is_json(&column) => self.spread(value, columns),
                value => {
                    let value = self.sql(&column, value);
                    columns.push((column, value));
                }
            }
        }
    }

    fn sql(&self, column: &str, value: Value) -> Sql {
        match value {
            Value::Null if !self.json_or_null.contains(&column) => Sql::Null,
            value if self.is_json(column) => Sql::Text(value.to_string()),
            Value::Bool(is) => Sql::Integer(is.into()),
            // SQLite has signed 64-bit integers; no count comes close to their limit.
            Value::Number(number) if number.is_u64() => Sql::Integer(number.as_i64().unwrap_or(i64::MAX)),
            Value::Number(number) => number.as_i64().map_or_else(|| number.as_f64().into(), Sql::Integer),
            Value::String(text) => Sql::Text(text),
            Value::Array(bytes) => {
                let byte = |byte: &Value| byte.as_u64().and_then(|byte| u8::try_from(byte).ok());
                Sql::Blob(bytes.iter().filter_map(byte).collect())
            }
            Value::Null | Value::Object(_) => Sql::Null,
        }
    }

    fn is_json(&self, column: &str) -> bool {
        self.json.contains(&column) || self.json_or_null.contains(&column)
    }

    /// Reads a row.
    pub fn read<T: DeserializeOwned>(&self, row: &Row) -> Result<T> {
        self.fields(row)?.read()
    }

    /// The fields of a row; those that are NULL are absent.
    pub fn fields(&self, row: &Row) -> Result<Fields> {
        let mut fields = Map::new();
        for (at, column) in row.as_ref().column_names().enumerate() {
            let value = match row.get_ref(at)? {
                ValueRef::Null => continue,
                ValueRef::Integer(number) if self.flags.contains(&column) => Value::Bool(number != 0),
                ValueRef::Integer(number) => number.into(),
                ValueRef::Real(number) => number.into(),
                ValueRef::Text(text) if self.is_json(column) => {
                    serde_json::from_slice(text).map_err(|error| unreadable(column, &error))?
                }
                ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
                ValueRef::Blob(bytes) => bytes.into(),
            };
            let renamed = self.renamed.iter().find(|(_, name)| *name == column);
            fields.insert(renamed.map_or(column, |(field, _)| field).to_owned(), value);
        }
        Ok(Fields { table: self.name, fields })
    }
}

/// The fields of a row.
pub(super) struct Fields {
    table: &'static str,
    fields: Map<String, Value>,
}

impl Fields {
    /// Adds a field with a struct that is made of the others.
    pub fn with<T: DeserializeOwned + Serialize>(mut self, name: &str) -> Result<Self> {
        /// The fields of a struct among others.
        #[derive(Deserialize)]
        struct Among<T> {
            #[serde(flatten)]
            part: T,
        }
        let Among::<T> { part } = Self { table: self.table, fields: self.fields.clone() }.read()?;
        let part = serde_json::to_value(part).expect("a row that was read can be written");
        self.fields.insert(name.to_owned(), part);
        Ok(self)
    }

    /// The struct with these fields.
    pub fn read<T: DeserializeOwned>(self) -> Result<T> {
        serde_json::from_value(Value::Object(self.fields)).map_err(|error| unreadable(self.table, &error))
    }
}

/// Writes a column with JSON.
pub(super) fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("lists of strings have no form that JSON lacks")
}

/// Reads a column with JSON.
pub(super) fn from_json<T: DeserializeOwned>(row: &Row, column: &str) -> Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| unreadable(column, &error))
}

fn unreadable(what: &str, error: &serde_json::Error) -> rusqlite::Error {
    let text = format!("`{what}` cannot be read: {error}");
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, text.into())
}
