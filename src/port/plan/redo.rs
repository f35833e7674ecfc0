//! Which existing ports a run writes anew, and what it knows of those that should become safer.

use crate::error::Result;
use crate::judge::verify;
use crate::project::ported::Ported;
use crate::project::{FunctionPlan, Project};
use crate::rust::signature::ident;
use crate::rust::unsafe_code::UnsafeCode;
use crate::store::Store;
use std::collections::BTreeSet;

/// Which existing ports a run writes anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redo {
    No,
    All,
    /// Those with `unsafe` code; a new port must have less of it.
    Safer,
}

/// Of these functions, those that a run is about: with [`Redo::Safer`] only ports that hold, have `unsafe` code, and for
/// which no model has failed to write a safer one.
///
/// # Errors
/// Those of reading the tree, the store and the lock.
pub fn taken<'p>(
    project: &'p Project,
    store: &Store,
    mut wanted: Vec<&'p FunctionPlan>,
    redo: Redo,
) -> Result<Vec<&'p FunctionPlan>> {
    if redo != Redo::Safer {
        return Ok(wanted);
    }
    wanted.retain(|planned| project.ported(&planned.function) == Ported::Yes);
    let known = verify::known(project, store, &wanted)?;
    let decided: BTreeSet<String> = store.memory()?.into_iter().map(|row| row.item.lesson.key).collect();
    let mut taken = Vec::new();
    for (planned, known) in wanted.into_iter().zip(known) {
        let has_unsafe = verify::unsafe_code(project, &planned.function)?.places > 0;
        let is_open = !decided.contains(&no_safer(project, planned)?);
        taken.extend((known.grade.holds() && has_unsafe && is_open).then_some(planned));
    }
    Ok(taken)
}

/// The key of the decision that no model wrote a port with less `unsafe` than this one.
///
/// # Errors
/// `Io` where the module cannot be read.
pub fn no_safer(project: &Project, planned: &FunctionPlan) -> Result<String> {
    let hash = project.module(&planned.function.module)?.hash(&planned.function);
    let hash = hash.map_or_else(String::new, |hash| hash.as_str().to_owned());
    Ok(format!("no safer port of {}: {hash}", planned.function.key.0))
}

/// The text and the `unsafe` code of the port that is to be replaced by a safer one, if that is what the run does.
///
/// # Errors
/// `Io` where the module cannot be read.
pub fn old_port(
    project: &Project,
    planned: &FunctionPlan,
    redo: Redo,
) -> Result<Option<(String, UnsafeCode)>> {
    if redo != Redo::Safer || project.ported(&planned.function) != Ported::Yes {
        return Ok(None);
    }
    let module = project.module(&planned.function.module)?;
    let text = module.own_text(&ident(&planned.function).to_string());
    Ok(Some((text, verify::unsafe_code(project, &planned.function)?)))
}
