//! What the harness of a function is worth, measured without any port and any model: the C original against itself must
//! never differ, and mutants of it should.
//!
//! The mutants are built into a C side of their own, in a copy of the port's crate of their own; nothing of it is in the
//! tree.

use crate::c::archive::units_file;
use crate::c::mutants::{Mutant, Mutants, mutants, table};
use crate::c::{Programs, Tools};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::fuzz::build::Built;
use crate::fuzz::mutants::MutantRun;
use crate::fuzz::run::Budget;
use crate::harness::files::{MUTANTS_FILE, mutants_file};
use crate::init;
use crate::judge::Judge;
use crate::project::{Planned, Project};
use crate::symbol::SymbolName;
use crate::verdict::{Finding, RunStats};
use crate::verify::does_not_compile;
use camino::Utf8Path;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Fewer accepted inputs than this, and the contract needs a hint.
pub const ACCEPTED: f64 = 0.5;
/// Fewer kills than this, and the harness is blind.
pub const KILLED: f64 = 0.8;
/// Mutants of one function.
const MOST: usize = 30;
/// The original against itself.
const ITSELF: Budget = Budget { seconds: 3, executions: Some(20_000) };
/// Mutants of one build: their texts are compiled once more each.
const BATCH: usize = 60;

/// What became of a mutant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "fate")]
pub enum Fate {
    /// What gave it away.
    Killed {
        by: String,
    },
    Survived,
    /// A person says that it is no other function.
    Equivalent {
        reason: String,
    },
}

/// A mutant and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tried {
    #[serde(flatten)]
    pub mutant: Mutant,
    #[serde(flatten)]
    pub fate: Fate,
}

/// What a harness is worth.
#[derive(Debug, Clone, Serialize)]
pub struct Adequacy {
    pub symbol: SymbolName,
    pub file: String,
    pub executions: u64,
    /// 0 to 1; absent when nothing ran.
    pub accept_rate: Option<f64>,
    pub executions_per_second: Option<u64>,
    /// Inputs that C broke on or the contract rules out, by reason, the most frequent first.
    pub rejected: Vec<(String, u64)>,
    /// C differs from itself: no port can be judged by that.
    #[serde(skip)]
    pub difference: Option<Finding>,
    pub mutants: Vec<Tried>,
    /// Why there are no mutants, or why nothing can be said of them.
    pub without: Option<String>,
}

impl Adequacy {
    /// Mutants that were killed, and those that should have been.
    pub fn kills(&self) -> (usize, usize) {
        let of = |is: fn(&Fate) -> bool| self.mutants.iter().filter(|m| is(&m.fate)).count();
        let equivalent = of(|fate| matches!(fate, Fate::Equivalent { .. }));
        (of(|fate| matches!(fate, Fate::Killed { .. })), self.mutants.len() - equivalent)
    }

    /// What is in the way of trusting the harness. Zero of zero is no proof.
    pub fn shortcomings(&self) -> Vec<String> {
        let mut all = Vec::new();
        if let Some(difference) = &self.difference {
            all.push(format!("C differs from itself: {}", difference.what));
        }
        match self.accept_rate {
            None => all.push("nothing was executed".to_owned()),
            Some(rate) if rate < ACCEPTED => {
                let why = self.rejected.first().map_or("unknown", |(why, _)| why.as_str());
                all.push(format!(
                    "C accepts {:.0} % of the inputs ({why}): the contract needs a hint",
                    rate * 100.0
                ));
            }
            Some(_) => {}
        }
        if let Some(why) = &self.without {
            all.push(format!("unmeasured: {why}"));
        } else {
            let (killed, total) = self.kills();
            if total == 0 {
                all.push("no mutant to kill".to_owned());
            } else if (killed as f64) < KILLED * total as f64 {
                all.push(format!("{killed} of {total} mutants killed"));
            }
        }
        all
    }
}

/// Measures the harnesses of `wanted`, which have one; each gets so many seconds for its mutants.
///
/// # Errors
/// Those of the build and of running the fuzz process, and Ctrl-C.
pub fn measure(
    project: &Project,
    judge: &Judge,
    wanted: &[&Planned],
    seconds: u64,
    reporter: &mut dyn Reporter,
) -> Result<Vec<Adequacy>> {
    let mut all = Vec::new();
    for batch in wanted.chunks(BATCH) {
        reporter.event(Event::StepStarted { step: "building mutants of C".into(), total: None });
        let made = make(project, judge, batch)?;
        let binary = build(project, judge, &made)?;
        let count: usize = made.of.values().map(Vec::len).sum();
        reporter.event(Event::StepFinished {
            message: format!("{count} mutants of {} functions built", batch.len()),
        });
        for planned in batch {
            let name = &planned.function.name;
            reporter.event(Event::SymbolStarted {
                symbol: name.clone(),
                index: all.len() + 1,
                total: wanted.len(),
            });
            let adequacy = one(judge, planned, (&binary, &made), seconds, reporter)?;
            let shortcomings = adequacy.shortcomings();
            let (killed, total) = adequacy.kills();
            let summary = match shortcomings.is_empty() {
                true => format!("{killed} of {total} mutants killed"),
                false => shortcomings.join("; "),
            };
            reporter.event(Event::SymbolFinished {
                symbol: name.clone(),
                ok: shortcomings.is_empty(),
                summary,
            });
            all.push(adequacy);
        }
    }
    Ok(all)
}

fn make(project: &Project, judge: &Judge, batch: &[&Planned]) -> Result<Mutants> {
    let root = Utf8Path::from_path(project.workspace.root())
        .ok_or_else(|| Error::new(ErrorKind::Config, "the path of the repository is not valid UTF-8"))?;
    let toolchain = project.toolchain(judge.interrupt)?;
    let programs = || {
        Ok(Programs {
            cc: toolchain.cc.path.clone(),
            cmake: toolchain.cmake.clone(),
            make: toolchain.make.clone(),
        })
    };
    let scratch = project.workspace.cache();
    let tools = Tools { identity: "", programs: &programs, scratch: &scratch, interrupt: judge.interrupt };
    let functions: Vec<_> = batch.iter().map(|p| &p.function).collect();
    mutants(root, &project.library, &functions, MOST, tools)
}

fn build(project: &Project, judge: &Judge, made: &Mutants) -> Result<PathBuf> {
    let mut library = project.library.clone();
    for (unit, lines) in &made.lines {
        library.alias_lines.entry(unit.clone()).or_default().extend(lines.iter().cloned());
    }
    let tables: BTreeMap<String, (String, usize)> =
        made.of.iter().map(|(name, list)| (name.to_string(), (table(name), list.len() + 1))).collect();
    let replaced = [
        (PathBuf::from("c_units.rs"), units_file(&library, &project.config.c.link, &init::headers(project))),
        (PathBuf::from(MUTANTS_FILE), mutants_file(&tables)),
    ];
    match judge.build_beside("mutants", &replaced)? {
        Built::Binary(path) => Ok(path),
        Built::Errors(errors) => Err(does_not_compile(project, &errors)),
    }
}

fn one(
    judge: &Judge,
    planned: &Planned,
    (binary, made): (&Path, &Mutants),
    seconds: u64,
    reporter: &mut dyn Reporter,
) -> Result<Adequacy> {
    let name = &planned.function.name;
    let campaign = judge.campaign(binary, planned);
    let mut see = |stats: &RunStats| {
        reporter.event(Event::Fuzzing { symbol: name.clone(), stats: stats.clone() });
    };
    let (stats, difference) = campaign.against_itself(ITSELF, judge.interrupt, &mut see)?;
    let list = made.of.get(name);
    let run = match list {
        Some(_) if difference.is_none() => {
            let budget = Budget { seconds, executions: None };
            campaign.against_mutants(budget, judge.interrupt, &mut see)?
        }
        _ => MutantRun::default(),
    };
    let without = match (&difference, list) {
        (Some(_), _) => Some("C differs from itself".to_owned()),
        (None, None) => made.without.get(name).cloned().or(Some("no unit defines it".to_owned())),
        (None, Some(_)) => unusable(&run),
    };
    let fates = |(at, mutant): (usize, &Mutant)| {
        let marked = planned.judgeable.contract().into_iter().flat_map(|c| &c.equivalent);
        let marked = marked.filter(|e| e.mutant == mutant.id).map(|e| e.reason.clone()).next();
        let fate = match (run.killed.get(&(at + 1)), marked) {
            (Some(kill), _) => Fate::Killed { by: kill.what.clone() },
            (None, Some(reason)) => Fate::Equivalent { reason },
            (None, None) => Fate::Survived,
        };
        Tried { mutant: mutant.clone(), fate }
    };
    let mut rejected = stats.rejected.clone();
    rejected.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    Ok(Adequacy {
        symbol: name.clone(),
        file: planned.function.place.file.to_string(),
        executions: stats.executions,
        accept_rate: stats.accept_rate(),
        executions_per_second: (stats.executions * 1000).checked_div(stats.millis),
        rejected,
        difference,
        mutants: match without {
            None => list.into_iter().flatten().enumerate().map(fates).collect(),
            Some(_) => Vec::new(),
        },
        without,
    })
}

/// Why a run says nothing about mutants.
fn unusable(run: &MutantRun) -> Option<String> {
    match run.killed.get(&0) {
        Some(kill) => Some(format!("a plain copy of its text differs from it: {}", kill.what)),
        None if run.stats.oracle_calls == 0 => Some("the original accepted no input".to_owned()),
        None => run.broken.clone(),
    }
}
