//! Runs bindgen and the C compiler on each changed unit. The two are independent, so they run concurrently.

use super::alias_unit::{Line, Subject};
use super::analysis_cache::Keeper;
use super::bind_generate;
use super::data::{self, Data};
use super::inputs::keep;
use super::merge::Merged;
use super::parse::unit_print;
use super::translate::{Compiler, PLAIN};
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
    pub translations: Vec<std::result::Result<Translated, String>>,
}

enum Task {
    Declare(usize),
    Translate(usize),
}

enum Answer {
    Declared(String),
    Translated(std::result::Result<Translated, String>),
}

/// Runs the tasks that are not cached. `lines` are appended to the units; `opaque` names types of which
/// bindgen keeps only size and alignment.
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
    let mut prints = Vec::new();
    let mut declared: Vec<Option<String>> = Vec::new();
    let mut translated: Vec<Option<std::result::Result<Translated, String>>> = Vec::new();
    for unit in units {
        let file = unit.file.0.as_str();
        let print = unit_print(keeper, unit);
        let declare = of_parts([print.as_str(), &of_bindgen.join("\n")]);
        let translate = of_parts([print.as_str(), &asked(unit, lines, &globals)]);
        declared.push(keeper.kept(AnalysisKind::Declarations, file, &declare)?);
        translated.push(keeper.kept(AnalysisKind::Translation, file, &translate)?.map(Ok));
        prints.push((declare, translate));
    }
    let tasks: Vec<Task> = (0..units.len())
        .filter(|i| declared[*i].is_none())
        .map(Task::Declare)
        .chain((0..units.len()).filter(|i| translated[*i].is_none()).map(Task::Translate))
        .collect();
    let answers = answers(keeper, merged, lines, opaque, &globals, &tasks)?;
    let (mut new_declared, mut new_translated) = (Vec::new(), Vec::new());
    for (task, answer) in tasks.iter().zip(answers) {
        let (Task::Declare(i) | Task::Translate(i)) = task;
        let file = units[*i].file.to_string();
        let read = merged.files.get(&units[*i].file).into_iter().flatten().cloned();
        match answer? {
            Answer::Declared(text) => {
                let inputs = keeper.files.hashes(read);
                new_declared.push((file, keep(&prints[*i].0, inputs, &text)));
                declared[*i] = Some(text);
            }
            Answer::Translated(result) => {
                // Do not cache a rejected unit: the repair may be in a file outside the recorded inputs.
                if let Ok(translation) = &result {
                    let inputs = keeper.files.hashes(read.chain(translation.files.iter().cloned()));
                    new_translated.push((file, keep(&prints[*i].1, inputs, translation)));
                }
                translated[*i] = Some(result);
            }
        }
    }
    keeper.keep(AnalysisKind::Declarations, &new_declared)?;
    keeper.keep(AnalysisKind::Translation, &new_translated)?;
    Ok(UnitWork {
        declarations: declared.into_iter().flatten().collect(),
        translations: translated.into_iter().flatten().collect(),
    })
}

fn answers(
    keeper: &Keeper,
    merged: &Merged,
    lines: &BTreeMap<RelPath, Vec<Line>>,
    opaque: &BTreeSet<String>,
    globals: &BTreeMap<&RelPath, Vec<&Global>>,
    tasks: &[Task],
) -> Result<Vec<Result<Answer>>> {
    if tasks.is_empty() {
        return Ok(Vec::new());
    }
    let (root, tools) = (keeper.root, keeper.tools);
    let cc = (tools.programs)()?.cc;
    let scratch = tools.scratch.join("units");
    fs_err::create_dir_all(&scratch)?;
    let scratch = fs_err::canonicalize(&scratch)?;
    let interrupt = tools.interrupt;
    let compiler = Compiler { root, cc: &cc, scratch: &scratch, flags: PLAIN, interrupt };
    let units = &merged.library.units;
    let answers = workers::map(tasks, |task| {
        interrupt.check()?;
        Ok(match task {
            Task::Declare(i) => {
                let unit = &units[*i];
                Answer::Declared(bind_generate::generate(root, unit, opaque, &merged.declared_by_type)?)
            }
            Task::Translate(i) => {
                let unit = &units[*i];
                let lines = lines.get(&unit.file).map(Vec::as_slice).unwrap_or_default();
                let globals = globals.get(&unit.file).map(Vec::as_slice).unwrap_or_default();
                Answer::Translated(translate(&compiler, unit, lines, globals)?)
            }
        })
    });
    // The compiler's output was already read.
    drop(std::fs::remove_dir_all(&scratch));
    answers
}

fn translate(
    compiler: &Compiler,
    unit: &Unit,
    lines: &[Line],
    globals: &[&Global],
) -> Result<std::result::Result<Translated, String>> {
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
