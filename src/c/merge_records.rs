//! Merges the records of all units into one table. A complete definition replaces an incomplete one, and
//! different records with the same name stay separate.

use super::parse_unit::UnitFacts;
use crate::symbol::{CType, Record, RelPath, TypeKind};
use std::collections::{BTreeMap, BTreeSet};

/// The records so far, and the unit of each.
#[derive(Default)]
pub(super) struct Records {
    table: BTreeMap<String, Record>,
    units: BTreeMap<String, RelPath>,
}

impl Records {
    /// Adds the records of a unit. Those that differ from known ones get a new key, also in `facts`.
    pub(super) fn add(&mut self, unit: &RelPath, facts: &mut UnitFacts) {
        let different = self.different(&facts.records);
        let rename = |key: &str| different.contains(key).then(|| format!("{key}@{unit}"));
        for found in &mut facts.functions {
            let function = &mut found.function;
            function.params.iter_mut().for_each(|p| rename_in(&mut p.ty, &rename));
            rename_in(&mut function.ret, &rename);
        }
        facts.globals.iter_mut().for_each(|g| rename_in(&mut g.ty, &rename));
        for (key, mut record) in std::mem::take(&mut facts.records) {
            record.fields.iter_mut().for_each(|f| rename_in(&mut f.ty, &rename));
            let key = rename(&key).unwrap_or(key);
            if self.table.get(&key).is_none_or(|old| !old.complete && record.complete) {
                self.units.insert(key.clone(), unit.clone());
                self.table.insert(key, record);
            }
        }
    }

    /// Keys of records that are complete on both sides and differ, and of records that hold or point to such
    /// a record.
    fn different(&self, new: &BTreeMap<String, Record>) -> BTreeSet<String> {
        let mut different: BTreeSet<String> = new
            .iter()
            .filter(|(key, record)| {
                self.table.get(*key).is_some_and(|old| old.complete && record.complete && old != *record)
            })
            .map(|(key, _)| key.clone())
            .collect();
        loop {
            let more: Vec<String> = new
                .iter()
                .filter(|(key, record)| {
                    !different.contains(*key)
                        && record
                            .fields
                            .iter()
                            .flat_map(|f| f.ty.record_keys())
                            .any(|key| different.contains(key))
                })
                .map(|(key, _)| key.clone())
                .collect();
            if more.is_empty() {
                return different;
            }
            different.extend(more);
        }
    }

    pub(super) fn into_parts(self) -> (BTreeMap<String, Record>, BTreeMap<String, RelPath>) {
        (self.table, self.units)
    }
}

fn rename_in(ty: &mut CType, rename: &impl Fn(&str) -> Option<String>) {
    match &mut ty.kind {
        TypeKind::Record(key) => {
            if let Some(new) = rename(key) {
                *key = new;
            }
        }
        TypeKind::Pointer(of) | TypeKind::Array { of, .. } => rename_in(of, rename),
        TypeKind::Function { params, ret, .. } => {
            params.iter_mut().for_each(|p| rename_in(p, rename));
            rename_in(ret, rename);
        }
        _ => {}
    }
}
