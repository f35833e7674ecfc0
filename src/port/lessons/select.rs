//! Selects the lessons of earlier ports for a prompt about a function.

use crate::contract::archetype::Archetype;
use crate::error::Result;
use crate::port::lessons;
use crate::port::lessons::ranking::{Nearness, best, score};
use crate::project::{FunctionPlan, Project};
use crate::store::lesson::{Kind, Scope};
use crate::store::{MemoryId, MemoryRow, Store};
use crate::symbol::SymbolKey;

/// The text on earlier ports for the next prompt about a function, and the lessons in it, with their keys.
///
/// # Errors
/// Those of reading the store.
pub fn recalled(
    project: &Project,
    store: &Store,
    planned: &FunctionPlan,
) -> Result<(String, Vec<(MemoryId, String)>)> {
    let now = store.iteration()?;
    let rows = store.memory()?;
    let scored = rows.iter().filter_map(|row| {
        let nearness = nearness(project, planned, row)?;
        Some((score(&row.item, now, nearness)?, row))
    });
    let told = best(scored);
    let at = |row: &MemoryRow| match &row.item.lesson.scope {
        Scope::Symbol(key) => project.library.function(key).map(|function| &function.name),
        Scope::Library => None,
    };
    let items: Vec<_> = told.iter().map(|row| (&row.item, at(row))).collect();
    let text = lessons::words(archetype(planned), &items);
    Ok((text, told.iter().map(|row| (row.id, row.item.lesson.key.clone())).collect()))
}

/// How near a lesson is to the function; `None` if the prompt should not show it.
fn nearness(project: &Project, planned: &FunctionPlan, row: &MemoryRow) -> Option<Nearness> {
    let lesson = &row.item.lesson;
    if lesson.kind == Kind::Decision {
        return None;
    }
    let Scope::Symbol(key) = &lesson.scope else { return Some(Nearness::Library) };
    let function = &planned.function;
    if *key == function.key {
        return Some(Nearness::Same);
    }
    let is_kin = function.calls.contains(key) || is_same_kind(project, planned, key);
    Some(if is_kin { Nearness::Kin } else { Nearness::Library })
}

fn archetype(planned: &FunctionPlan) -> Option<Archetype> {
    planned.judgeable.contract().and_then(Archetype::of)
}

fn is_same_kind(project: &Project, planned: &FunctionPlan, key: &SymbolKey) -> bool {
    let other = project.plan_of(key);
    archetype(planned).is_some_and(|kind| other.and_then(archetype) == Some(kind))
}
