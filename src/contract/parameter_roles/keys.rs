//! A parameter in the contract file: the keys of all roles.

use super::{Direction, Life, Parameter, Role, Word};
use crate::symbol::SymbolName;
use serde::{Deserialize, Serialize};

/// A `[[param]]` table.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keys {
    pub name: String,
    pub(super) role: Word,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) direction: Option<Direction>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) length: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) len: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) max: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) min: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) values: Option<Vec<i64>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) size: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) order: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) life: Option<Life>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) through: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    made_by: Vec<SymbolName>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    likely: Vec<i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    texts: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) of: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) pointers: Vec<(String, Vec<String>)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) numbers: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) nullable: bool,
    #[serde(default)]
    reason: String,
    /// The limit of elements where the text has none.
    #[serde(skip)]
    pub usual_max: Option<usize>,
}

impl Keys {
    /// The keys of a parameter.
    pub fn of(param: &Parameter) -> Self {
        let mut keys = Self {
            name: param.name.clone(),
            role: param.role.word(),
            direction: None,
            length: None,
            len: None,
            max: None,
            min: None,
            values: None,
            size: None,
            order: false,
            life: None,
            through: None,
            made_by: param.made_by.clone(),
            likely: param.likely.clone(),
            texts: param.texts.clone(),
            of: None,
            pointers: Vec::new(),
            numbers: Vec::new(),
            nullable: param.role.is_nullable(),
            reason: param.reason.clone(),
            usual_max: None,
        };
        param.role.write(&mut keys);
        keys
    }

    /// The parameter with these keys; `Err` says what is wrong with them.
    pub fn parameter(self) -> Result<Parameter, String> {
        let role = Role::read(&self)?;
        let is_read = role.pointer().is_some_and(|pointer| pointer.direction != Direction::Out);
        if !self.made_by.is_empty() && !is_read {
            return Err("`made_by` is for pointers to one struct that is read".into());
        }
        let Self { name, likely, texts, made_by, reason, .. } = self;
        Ok(Parameter { name, role, likely, texts, made_by, reason })
    }

    /// The value of a key that the role must have.
    pub(super) fn need<T>(&self, key: &str, value: Option<T>) -> Result<T, String> {
        value.ok_or_else(|| format!("a {} needs `{key}`", self.role.noun()))
    }

    pub(super) fn direction(&self) -> Result<Direction, String> {
        self.need("direction", self.direction)
    }

    /// The largest number of elements.
    pub(super) fn max(&self) -> Result<usize, String> {
        match self.need("max", self.max.or(self.usual_max.map(|max| max as i64)))? {
            max if (0..=1 << 24).contains(&max) => Ok(max as usize),
            max => Err(format!("max = {max} is not between 0 and 16777216")),
        }
    }
}
