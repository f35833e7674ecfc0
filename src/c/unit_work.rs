//! Runs bindgen and the C compiler on each changed unit. The two are independent, so they run concurrently.

use super::alias_unit::{Line, Subject};
use super::analysis_cache::{Keeper, Outcome, PerUnit};
use super::bind_generate;
use super::data::{self, Data};
use super::merge::Merged;
use super::parse::unit_print;
use super::translate::{Compiler, with_compiler};
use super::workers;
use crate::digest::of_parts;
use crate::error::Result;
use crate::store::AnalysisKind;
use crate::symbol::{Global, RelPath, SymbolKey, Unit};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The C compiler's results for a unit.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Translated {
    /// The rejected lines of the alias unit, by number, each with the reason.
    pub refused: BTreeMap<usize, String>,
    /// The initial values of the unit's globals, or the reason why there is none.
    pub values: BTreeMap<SymbolKey, std::result::Result<Data, String>>,
    /// The functions that it defines.
    pub functions: BTreeSet<String>,
    /// The names that it exports.
    pub exports: BTreeSet<String>,
    /// The files that the compiler read; libclang may read others.
    pub files: Vec<String>,
}

/// The results for the units, in their order.
pub(super) struct UnitWork {
    /// bindgen's output.
    pub declarations: Vec<String>,
    /// The inner error is the reason why the compiler rejects the unit as a whole.
    pub translations: Vec<Outcome<Translated>>,
}

/// Does the work that is not cached. `lines` are appended to the units; `opaque` names types of which bindgen
/// keeps only size and alignment.
///
/// # Errors
/// `C` when bindgen cannot read a unit, `Environment` without the compiler or libclang, `Store` when the
/// database fails, and Ctrl-C.
pub(super) fn work(
    keeper: &mut Keeper,
    merged: &Merged,
    lines: &BTreeMap<RelPath, Vec<Line>>,
    opaque: &BTreeSet<String>,
) -> Result<UnitWork> {
    let units = &merged.library.units;
    let of_bindgen: Vec<&str> = opaque
        .iter()
        .map(String::as_str)
        .chain(["|"])
        .chain(merged.declared_by_type.iter().map(String::as_str))
        .collect();
    let globals = globals_of(merged);
    let prints = |unit| {
        let print = unit_print(keeper, unit);
        let declare = of_parts([print.as_str(), &of_bindgen.join("\n")]);
        (declare, of_parts([print.as_str(), &asked(unit, lines, &globals)]))
    };
    let (declare, translate): (Vec<_>, Vec<_>) = units.iter().map(prints).unzip();
    let declared = PerUnit::cached(keeper, AnalysisKind::Declarations, units, declare)?;
    let translated = PerUnit::cached(keeper, AnalysisKind::Translation, units, translate)?;
    let open = (0..units.len()).filter(|i| declared.lacks(*i) || translated.lacks(*i));
    let open: Vec<usize> = open.collect();
    let mut fresh = Vec::new();
    if !open.is_empty() {
        let (root, tools) = (keeper.root, keeper.tools);
        let (cc, scratch) = ((tools.programs)()?.cc, tools.scratch.join("units"));
        let one = |i: &usize, compiler: &Compiler| {
            tools.interrupt.check()?;
            let unit = &units[*i];
            let declare = || bind_generate::generate(root, unit, opaque, &merged.declared_by_type);
            let lines = lines.get(&unit.file).map(Vec::as_slice).unwrap_or_default();
            let globals = globals.get(&unit.file).map(Vec::as_slice).unwrap_or_default();
            let (declaration, translation) = rayon::join(
                || declared.lacks(*i).then(declare).transpose(),
                || translated.lacks(*i).then(|| self::translate(compiler, unit, lines, globals)).transpose(),
            );
            Ok((declaration?.map(|text| (*i, Ok(text))), translation?.map(|outcome| (*i, outcome))))
        };
        fresh = with_compiler(root, (&cc, &scratch), tools.interrupt, |compiler| {
            workers::map(&open, |i| one(i, compiler))
        })?;
    }
    let (new_declared, new_translated): (Vec<_>, Vec<_>) = fresh.into_iter().unzip();
    let read = |unit: &Unit| merged.files.get(&unit.file).into_iter().flatten().cloned();
    let declarations =
        declared.complete(keeper, new_declared.into_iter().flatten(), |unit, _| read(unit).collect())?;
    let translations =
        translated.complete(keeper, new_translated.into_iter().flatten(), |unit, translation| {
            read(unit).chain(translation.files.iter().cloned()).collect()
        })?;
    Ok(UnitWork { declarations: declarations.into_iter().flatten().collect(), translations })
}

fn translate(
    compiler: &Compiler,
    unit: &Unit,
    lines: &[Line],
    globals: &[&Global],
) -> Result<Outcome<Translated>> {
    let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    Ok(compiler.translate(unit, &texts)?.and_then(|translation| {
        let values = data::values(&translation.object, globals);
        let (functions, exports) = data::names(&translation.object)?;
        Ok(Translated {
            refused: translation.refused,
            values: globals.iter().map(|g| g.key.clone()).zip(values).collect(),
            functions,
            exports,
            files: translation.files,
        })
    }))
}

/// The globals that each unit defines for the library.
fn globals_of(merged: &Merged) -> BTreeMap<&RelPath, Vec<&Global>> {
    let mut all: BTreeMap<&RelPath, Vec<&Global>> = BTreeMap::new();
    for global in merged.library.globals.iter().filter(|g| g.unsupported.is_none()) {
        if let Some(unit) = merged.library.unit_of.get(&global.key) {
            all.entry(unit).or_default().push(global);
        }
    }
    all
}

/// Hash of what the compiler is given; it identifies the cached result.
fn asked(
    unit: &Unit,
    lines: &BTreeMap<RelPath, Vec<Line>>,
    globals: &BTreeMap<&RelPath, Vec<&Global>>,
) -> String {
    let lines = lines.get(&unit.file).into_iter().flatten().map(|line| match &line.subject {
        Subject::Static(key) => format!("{} {}", key.0, line.text),
        Subject::Record(key) => format!("{key} {}", line.text),
    });
    let globals = globals.get(&unit.file).into_iter().flatten().map(|g| g.key.0.clone());
    lines.chain(globals).collect::<Vec<_>>().join("\n")
}
