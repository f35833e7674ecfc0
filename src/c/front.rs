//! The entry point of the C front end: from a folder to a library with its bindings.

use super::analysis_cache::{Keeper, Outcome, Tools};
use super::bind::{self, Bindings};
use super::data::Data;
use super::flags::{Discovery, FlagSource, Warning};
use super::inputs::keep;
use super::merge::{self, Merged};
use super::parse_unit::UnitFacts;
use super::source_discovery::{self, canonical, discover};
use super::sources::Tree;
use super::{alias_unit, parse, porting_order, sources, unit_work};
use crate::c::compiler_disagreements::agree;
use crate::config;
use crate::digest::of_parts;
use crate::error::Result;
use crate::platform::workspace::READER;
use crate::store::{AnalysisKind, Store};
use crate::symbol::{Library, RelPath, SymbolKey};
use camino::Utf8Path;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The result of reading the C library.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Analysis {
    pub library: Library,
    pub bindings: Bindings,
    /// Initial values of globals, or the reason why one has none.
    pub values: BTreeMap<SymbolKey, std::result::Result<Data, String>>,
    /// Where the flags come from.
    pub flags: FlagSource,
    /// The files of the repository that libclang or the compiler read for the units, with their hashes.
    pub files: BTreeMap<String, String>,
    /// Warnings about ways to find flags that failed.
    pub warnings: Vec<Warning>,
    /// Units that were read this time; empty if the whole analysis came from the cache.
    #[serde(skip)]
    pub read: Vec<RelPath>,
    /// Hash of all inputs of the analysis.
    #[serde(skip)]
    pub fingerprint: String,
}

/// Reads the library, or takes the cached analysis from the store. Symbols that cannot be bound are marked as
/// unsupported.
///
/// # Errors
/// `C` when there is no C source or bindgen cannot read a unit, `Environment` without libclang or a C
/// compiler, `Store` when the database fails, and Ctrl-C.
pub fn load(root: &Utf8Path, settings: &config::C, tools: Tools, store: &mut Store) -> Result<Analysis> {
    let root = canonical(root)?;
    let tree = sources::walk(&root, &settings.exclude)?;
    let names = |files: &[RelPath]| files.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    // The names of all headers are part of it, because a new header may hide another one.
    let base = of_parts([env!("CARGO_PKG_VERSION"), tools.identity, &names(&tree.headers)]);
    let whole = of_parts([base.as_str(), &format!("{settings:?}"), &tree.names()]);
    let mut keeper = Keeper::new(&root, tools, base, store);
    if let Some(analysis) = keeper.kept::<Analysis>(AnalysisKind::Library, "", &whole)? {
        let fingerprint = total(&whole, &keeper.files.seen());
        return Ok(Analysis { fingerprint, ..analysis });
    }
    // Hash the files before reading them: after an edit in between, the result is stale but not wrong.
    let own = tree.sources.iter().chain(&tree.headers).map(ToString::to_string);
    keeper.files.hashes(own.clone());
    let programs = (tools.programs)()?;
    let discovery = discover(&root, settings, &tools.build_systems(&programs))?;
    let (discovery, mut outcomes, read) = with_outcomes(&mut keeper, settings, &tree, discovery)?;
    let subjects: Vec<&str> = discovery.units.iter().map(|u| u.file.0.as_str()).collect();
    keeper.keep_only(&subjects)?;
    let (mut analysis, compiled) = loop {
        let merged = merge::merge(discovery.clone(), outcomes.clone());
        if merged.library.units.is_empty() {
            return Err(parse::nothing_left(&keeper, &merged));
        }
        match settle(&mut keeper, merged)? {
            Ok(Settled { library, bindings, values, files }) => {
                let (flags, warnings) = (discovery.source.clone(), discovery.warnings.clone());
                let (read, fingerprint, own) = (read, String::new(), BTreeMap::new());
                let analysis =
                    Analysis { library, bindings, values, flags, files: own, warnings, read, fingerprint };
                break (analysis, files);
            }
            Err(refused) => {
                for (file, why) in refused {
                    if let Some(i) = discovery.units.iter().position(|u| u.file == file) {
                        outcomes[i] = Err(why);
                    }
                }
            }
        }
    };
    porting_order::order(&mut analysis.library);
    let all_read = outcomes.iter().flatten().flat_map(|facts| facts.files.iter().cloned());
    let all_read: BTreeSet<String> = all_read.chain(compiled).collect();
    analysis.files = keeper.files.hashes(all_read.iter().cloned());
    analysis.files.retain(|path, _| !Utf8Path::new(path).is_absolute());
    let is_asked = discovery.source.file().is_some();
    let others = tree.others.iter().filter(|_| is_asked).map(ToString::to_string);
    let all: BTreeSet<String> = all_read.into_iter().chain(own).chain(others).collect();
    let inputs = keeper.files.hashes(all);
    analysis.fingerprint = total(&whole, &inputs);
    // Do not cache if a unit or a build system failed: the repair may be in a file outside the recorded
    // inputs.
    let is_kept = !is_passing(&analysis.library, tools.scratch);
    if is_kept && discovery.warnings.is_empty() && outcomes.iter().all(std::result::Result::is_ok) {
        keeper.keep(AnalysisKind::Library, &[(String::new(), keep(&whole, inputs, &analysis))])?;
    }
    Ok(analysis)
}

/// Whether a unit's flags name the scratch folder of a command that only reads, which goes with it.
fn is_passing(library: &Library, scratch: &Path) -> bool {
    let name = scratch.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let mut flags = library.units.iter().flat_map(|unit| &unit.flags);
    name.starts_with(READER) && flags.any(|flag| flag.contains(&*name))
}

/// Reads the units. If all of them are programs, the library is in headers or in the programs' own files.
fn with_outcomes(
    keeper: &mut Keeper,
    settings: &config::C,
    tree: &Tree,
    mut found: Discovery,
) -> Result<(Discovery, Vec<Outcome<UnitFacts>>, Vec<RelPath>)> {
    let (outcomes, read) = parse::outcomes(keeper, &found)?;
    if !outcomes.iter().all(|outcome| outcome.as_ref().is_ok_and(UnitFacts::is_program)) {
        return Ok((found, outcomes, read));
    }
    if let Some(headers) = source_discovery::headers(keeper.root, settings, tree, &found) {
        let (outcomes, read) = parse::outcomes(keeper, &headers)?;
        if outcomes.iter().flatten().any(|facts| !facts.functions.is_empty()) {
            return Ok((headers, outcomes, read));
        }
    }
    found.takes_programs |= outcomes.iter().flatten().any(|facts| facts.functions.len() > 1);
    Ok((found, outcomes, read))
}

fn total(whole: &str, inputs: &BTreeMap<String, String>) -> String {
    let parts = inputs.iter().flat_map(|(path, hash)| [path.as_str(), hash.as_str()]);
    of_parts(std::iter::once(whole).chain(parts))
}

type Refused = Vec<(RelPath, String)>;

/// The merged library with its bindings and values.
struct Settled {
    library: Library,
    bindings: Bindings,
    values: BTreeMap<SymbolKey, std::result::Result<Data, String>>,
    /// The files that the C compiler read.
    files: BTreeSet<String>,
}

/// Runs bindgen and the C compiler. The inner error lists the units that the compiler rejects as a whole.
fn settle(keeper: &mut Keeper, mut merged: Merged) -> Result<std::result::Result<Settled, Refused>> {
    let lines = alias_unit::lines(&merged);
    let opaque = bind::opaque_records(&merged.library);
    let work = unit_work::work(keeper, &merged, &lines, &opaque)?;
    let units = &merged.library.units;
    let refused: Refused = units
        .iter()
        .zip(&work.translations)
        .filter_map(|(unit, translation)| Some((unit.file.clone(), translation.as_ref().err()?.clone())))
        .collect();
    if !refused.is_empty() {
        return Ok(Err(refused));
    }
    let translations: Vec<_> = work.translations.iter().flatten().collect();
    agree(&mut merged, lines, &translations);
    let bindings = bind::bind(&mut merged, work.declarations)?;
    let values = translations.iter().flat_map(|t| t.values.clone()).collect();
    let files = translations.iter().flat_map(|t| t.files.iter().cloned()).collect();
    let mut library = merged.library;
    for (key, reason) in &bindings.missing {
        let function = library.functions.iter_mut().find(|f| f.key == *key).map(|f| &mut f.unsupported);
        let global = library.globals.iter_mut().find(|g| g.key == *key).map(|g| &mut g.unsupported);
        if let Some(unsupported) = function.or(global) {
            unsupported.get_or_insert_with(|| reason.clone());
        }
    }
    Ok(Ok(Settled { library, bindings, values, files }))
}
