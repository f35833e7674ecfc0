//! The builds in which mutants of C stand beside the original, in the cache and not in the tree.

use crate::c::archive::units_file;
use crate::c::mutants::{Mutants, Plant, mutants, table};
use crate::error::Result;
use crate::harness::files::{MUTANTS_FILE, mutants_file};
use crate::judge::Judge;
use crate::platform::workspace::write_atomic;
use crate::project::{FunctionPlan, Project};
use crate::symbol::{Library, RelPath};
use camino::Utf8Path;
use fs_err as fs;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The mutants of these functions.
pub(super) fn make(judge: &Judge, batch: &[&FunctionPlan], plant: Plant) -> Result<Mutants> {
    let project = judge.project;
    let functions: Vec<_> = batch.iter().map(|p| &p.function).collect();
    project.with_tools(judge.interrupt, |tools| {
        mutants(project.root()?, &project.library, &functions, (super::MOST, plant), tools)
    })
}

/// Builds them, with the harnesses of the functions.
pub(super) fn build(judge: &Judge, batch: &[&FunctionPlan], made: &Mutants) -> Result<PathBuf> {
    let project = judge.project;
    let library = with_mutants(project, made)?;
    let tables: BTreeMap<String, (String, usize)> =
        made.of.iter().map(|(name, list)| (name.to_string(), (table(name), list.len() + 1))).collect();
    let replaced = [
        (
            PathBuf::from("c_units.rs"),
            units_file(&library, &project.config.c.link, &project.c_files.watched()),
        ),
        (PathBuf::from(MUTANTS_FILE), mutants_file(&tables)),
    ];
    judge.build_beside("mutants", batch, &replaced)
}

/// The library with the units of `made`, which are written into the cache.
fn with_mutants(project: &Project, made: &Mutants) -> Result<Library> {
    let mut library = project.library.clone();
    let root = project.root()?;
    let cache = project.workspace.cache();
    let cache = cache.strip_prefix(root).ok().and_then(Utf8Path::from_path);
    let dir = cache.expect("the cache is in the repository").join("mutants/units");
    fs::create_dir_all(root.join(&dir))?;
    for unit in &mut library.units {
        let Some(text) = made.units.get(&unit.file) else { continue };
        // A copy looks for what it includes beside itself first, so its name is none that a unit includes.
        let file = RelPath(dir.join(format!("implfuzz-unit-{}.c", unit.module)));
        write_atomic(root.join(&file.0).as_std_path(), text.as_bytes())?;
        let beside = unit.file.0.parent().filter(|dir| !dir.as_str().is_empty());
        unit.flags.push(format!("-iquote{}", beside.unwrap_or(Utf8Path::new("."))));
        let lines = library.alias_lines.remove(&unit.file).unwrap_or_default();
        library.alias_lines.insert(file.clone(), lines);
        unit.file = file;
    }
    Ok(library)
}
