//! Dates in JSON: RFC 3339, in UTC, as in the database.

use jiff::Timestamp;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

pub(crate) fn serialize<S: Serializer>(date: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(date)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}
