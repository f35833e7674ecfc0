//! Mutants of ports: changes of the Rust text that the inputs of a run would not have detected. They are built into
//! a copy of the port crate, all of one function side by side, like those of C.

use super::{BATCH, Fate, MOST, Tried};
use crate::count::count;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::fuzz::build::fuzz_binary::{Built, Diagnostic};
use crate::fuzz::campaign::Budget;
use crate::fuzz::mutants::MutantRun;
use crate::harness::files::{PORT_MUTANTS_FILE, port_mutants_file};
use crate::judge::{Judge, compiler_stopped, does_not_compile};
use crate::project::{FunctionPlan, Project};
use crate::rust::mutants::{Mutated, SELECTED, module};
use crate::rust::signature::ident;
use crate::symbol::SymbolName;
use crate::verdict::{Measured, RunStats, Share};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Why a port that only drivers judge has none.
const WITHOUT_HARNESS: &str = "it has no harness, in which they run";

/// Number of builds in which mutants that do not compile are removed one by one; after that, all mutants of the
/// affected functions are removed.
const ROUNDS: usize = 6;

/// The results of the mutants of one port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortMutants {
    pub symbol: SymbolName,
    /// File of the port, relative to the repository.
    pub file: String,
    pub executions: u64,
    /// The mutants that compile.
    pub mutants: Vec<Tried>,
    /// Why there are none, or why their results are inconclusive.
    pub without: Option<String>,
}

impl PortMutants {
    /// Killed mutants of those that are not equivalent.
    pub fn kills(&self) -> Measured<Share> {
        super::kills(&self.mutants, self.without.as_ref())
    }
}

/// The mutants of the functions in one batch, and why other functions have none.
#[derive(Default)]
struct Made<'p> {
    of: BTreeMap<SymbolName, (&'p FunctionPlan, Mutated)>,
    without: BTreeMap<SymbolName, String>,
}

/// Runs the mutants of the ports of `wanted`, which must have a body; each function gets this number
/// of seconds.
pub fn of_ports(
    judge: &Judge,
    wanted: &[&FunctionPlan],
    seconds: u64,
    reporter: &mut dyn Reporter,
) -> Result<Vec<PortMutants>> {
    let mut all = Vec::new();
    for batch in wanted.chunks(BATCH) {
        reporter.event(Event::StepStarted { step: "building mutants of Rust".into(), total: None });
        let mut made = make(judge.project, batch)?;
        let binary = if made.of.is_empty() { PathBuf::new() } else { build(judge, &mut made)? };
        let mutants: usize = made.of.values().map(|(_, mutated)| mutated.mutants().count()).sum();
        let message = format!("{} of {} built", count(mutants, "mutant"), count(made.of.len(), "port"));
        reporter.event(Event::StepFinished { message });
        for planned in batch {
            all.push(one(judge, planned, &binary, &made, seconds, reporter)?);
        }
    }
    Ok(all)
}

fn make<'p>(project: &Project, batch: &[&'p FunctionPlan]) -> Result<Made<'p>> {
    let mut made = Made::default();
    let mut next = 1;
    for planned in batch {
        let function = &planned.function;
        if planned.judgeable.contract().is_none() {
            made.without.insert(function.name.clone(), WITHOUT_HARNESS.to_owned());
            continue;
        }
        let text = project.module(&function.module)?.text().to_owned();
        match Mutated::of(&text, &ident(function).to_string(), MOST, next) {
            Ok(mutated) => {
                next += u32::try_from(mutated.mutants().count()).unwrap_or(u32::MAX);
                made.of.insert(function.name.clone(), (*planned, mutated));
            }
            Err(why) => drop(made.without.insert(function.name.clone(), why)),
        }
    }
    Ok(made)
}

/// Builds the crate with the mutants, without those that the compiler rejects.
fn build(judge: &Judge, made: &mut Made) -> Result<PathBuf> {
    let project = judge.project;
    let functions: Vec<&FunctionPlan> = made.of.values().map(|(planned, _)| *planned).collect();
    let lib = fs_err::read_to_string(project.rust_dir().join("src/lib.rs"))? + SELECTED;
    for round in 1.. {
        let mut replaced = vec![(PathBuf::from("src/lib.rs"), lib.clone())];
        let mut lines = BTreeMap::new();
        let modules: BTreeSet<&str> = made.of.values().map(|(p, _)| p.function.module.as_str()).collect();
        for name in modules {
            let of_module = made.of.values().filter(|(p, _)| p.function.module == name);
            let functions: Vec<&Mutated> = of_module.map(|(_, mutated)| mutated).collect();
            let module = module(project.module(name)?.text(), &functions);
            let file = format!("src/{name}.rs");
            replaced.push((PathBuf::from(&file), module.text));
            lines.extend(module.lines.into_iter().map(|(number, range)| (number, (file.clone(), range))));
        }
        let numbers: BTreeMap<String, Vec<u32>> = made
            .of
            .iter()
            .map(|(name, (_, mutated))| (name.to_string(), mutated.mutants().map(|(n, _)| n).collect()))
            .collect();
        let table = port_mutants_file(Some((&project.crate_name(), &numbers)));
        replaced.push((PathBuf::from(PORT_MUTANTS_FILE), table));
        let errors = match judge.try_build("port-mutants", &functions, &replaced)? {
            Built::Binary(path) => return Ok(path),
            Built::Errors(errors) => errors,
            Built::Stopped(reason) => return Err(compiler_stopped(reason)),
        };
        let refused = refused(&errors, &lines);
        if refused.is_empty() {
            return Err(does_not_compile(project, &errors));
        }
        leave_out(made, &refused, round >= ROUNDS);
    }
    Err(Error::new(ErrorKind::Internal, "building mutants of Rust did not end"))
}

type Lines = BTreeMap<u32, (String, std::ops::Range<usize>)>;

/// The mutants in which these errors occur.
fn refused(errors: &[Diagnostic], lines: &Lines) -> BTreeSet<u32> {
    let about = |e: &Diagnostic| {
        lines.iter().find(|(_, (file, range))| *file == e.file && range.contains(&e.line)).map(|(n, _)| *n)
    };
    errors.iter().filter_map(about).collect()
}

/// Removes the rejected mutants, or with `whole` all mutants of their functions.
fn leave_out(made: &mut Made, refused: &BTreeSet<u32>, whole: bool) {
    for (name, (_, mutated)) in &mut made.of {
        let is_hit = mutated.mutants().any(|(number, _)| refused.contains(&number));
        let all: BTreeSet<u32> = mutated.mutants().map(|(number, _)| number).collect();
        mutated.without(if whole && is_hit { &all } else { refused });
        if mutated.mutants().next().is_none() {
            made.without.insert(name.clone(), "no mutant of it compiles".into());
        }
    }
    made.of.retain(|_, (_, mutated)| mutated.mutants().next().is_some());
}

fn one(
    judge: &Judge,
    planned: &FunctionPlan,
    binary: &Path,
    made: &Made,
    seconds: u64,
    reporter: &mut dyn Reporter,
) -> Result<PortMutants> {
    let name = &planned.function.name;
    let file = format!("{}/src/{}.rs", judge.project.config.rust.dir, planned.function.module);
    let mut result =
        PortMutants { symbol: name.clone(), file, executions: 0, mutants: Vec::new(), without: None };
    let Some((_, mutated)) = made.of.get(name) else {
        result.without = made.without.get(name).cloned();
        return Ok(result);
    };
    let mut see = |stats: &RunStats| {
        reporter.event(Event::Fuzzing { symbol: name.clone(), stats: stats.clone() });
    };
    let budget = Budget { seconds, executions: None };
    let count = mutated.mutants().count();
    let run =
        judge.campaign(binary, planned).against_port_mutants(count, budget, judge.interrupt, &mut see)?;
    result.executions = run.stats.executions;
    result.without = unusable(&run);
    if result.without.is_none() {
        let tried = mutated.mutants().map(|(number, mutant)| {
            let by = run.killed.get(&(number as usize)).map(|kill| kill.what.clone());
            super::tried(planned, mutant, by)
        });
        result.mutants = tried.collect();
    }
    Ok(result)
}

/// Why a mutant run is inconclusive.
fn unusable(run: &MutantRun) -> Option<String> {
    match run.killed.get(&0) {
        Some(kill) => Some(format!("the port itself differs from C: {}", kill.what)),
        None => run.broken.clone().or_else(|| super::without_calls(&run.stats)),
    }
}

/// The mutants that no input distinguished from C.
pub fn survivors(of: &PortMutants) -> impl Iterator<Item = &Tried> {
    of.mutants.iter().filter(|tried| tried.fate == Fate::Survived)
}
