//! Measures how well functions can be judged in place: C's mutants as candidates.

use super::focus::fuzz_on;
use super::side_by_side::side_by_side;
use super::{Driven, Report, Work};
use crate::c::mutants::{Mutant, Mutants, Plant, mutants};
use crate::config::Config;
use crate::count::count;
use crate::error::{Error, Result};
use crate::event::{Event, Reporter};
use crate::in_place::candidates::Candidates;
use crate::in_place::difference::{Difference, Excuse};
use crate::in_place::focus::Wanted;
use crate::in_place::run::{self, Enough, Judged, Number};
use crate::in_place::table::why_not;
use crate::platform::process::Interrupt;
use crate::project::Project;
use crate::symbol::{Function, Library, SymbolName};
use crate::verdict::Share;
use rayon::iter::{IndexedParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Largest number of mutants of one function, for harnesses, too: so both measure the same ones.
pub const MOST: usize = 30;

/// Calls of one function on which its mutants run, with each driver.
pub(super) const CALLS: u64 = 5000;

/// The measurements of one function.
#[derive(Debug, Clone)]
pub struct Measured {
    pub symbol: SymbolName,
    pub judged: Judged,
    /// Mutants that compile to C's own code are left out.
    pub kills: Share,
    /// Its mutants, in the order of their numbers, which begin at 1.
    pub mutants: Vec<Mutant>,
    /// Numbers of mutants that compile to C's own code.
    pub same: BTreeSet<usize>,
    /// C differs from its unchanged copy, so that nothing can be judged.
    pub differs: Option<Difference>,
    /// Why there are no mutants.
    pub without: Option<String>,
}

impl Measured {
    /// The mutants that were not told from C.
    pub fn survivors(&self) -> impl Iterator<Item = &Mutant> {
        let numbered = self.mutants.iter().enumerate();
        numbered.filter_map(|(at, mutant)| {
            let number = at + 1;
            (!self.same.contains(&number) && !self.judged.killed.contains_key(&number)).then_some(mutant)
        })
    }

    /// Whether too few mutants are killed for a grade, and more inputs may kill more.
    fn is_poor(&self, config: &Config) -> bool {
        let is_judged = self.judged.judged > 0 && self.differs.is_none() && self.without.is_none();
        is_judged && self.kills.total > 0 && self.kills.ratio() < config.grade.kills
    }
}

/// Judges the mutants of these functions. Where too few are killed, it fuzzes on for the function and judges them again.
///
/// # Errors
/// `C` if the mutants cannot be built, and Ctrl-C.
pub fn measure(
    project: &Project,
    report: &Report,
    reached: &[Number],
    interrupt: &Interrupt,
    reporter: &mut dyn Reporter,
) -> Result<Vec<Measured>> {
    let work = Work::of(project, interrupt)?;
    let functions: Vec<&Function> =
        reached.iter().map(|number| &project.library.functions[*number]).collect();
    reporter.event(Event::StepStarted { step: "building mutants of C".into(), total: None });
    let made = project.with_tools(interrupt, |tools| {
        mutants(work.root, &project.library, &functions, (MOST, Plant::Nothing), tools)
    })?;
    let entries = work.entries()?;
    let parts = work.parts(&entries, Candidates::Mutants(&made));
    let dir = work.dir("mutants");
    let programs = work.programs(report, parts, &dir)?;
    reporter.event(Event::StepFinished { message: String::new() });
    let enough = enough_of(&project.config, CALLS);
    let judge = |numbers: &[Number], inputs: InputsOf, reporter: &mut dyn Reporter| {
        let step = format!("judging {} in place", count(numbers.len(), "function"));
        let work = ((&report.drivers[..], &programs[..]), (numbers, inputs), enough, interrupt);
        let judged = judge_all(step, work, reporter)?;
        Ok::<_, Error>(judged.into_iter().map(|(judged, _)| judged))
    };
    let mut judged: Vec<Judged> = judge(reached, &Driven::judged_on, reporter)?.collect();
    let result = |number: Number, judged: &Judged| {
        result(&project.library, &project.library.functions[number], judged.clone(), &made)
    };
    let is_poor = |(number, judged): &(&Number, &Judged)| result(**number, judged).is_poor(&project.config);
    let poor: Vec<Number> = reached.iter().zip(&judged).filter(is_poor).map(|(number, _)| *number).collect();
    let fuzzed = fuzz_on(&work, report, (&poor, Wanted::Edges), reporter)?;
    if !fuzzed.is_empty() {
        for (number, more) in fuzzed.iter().zip(judge(&fuzzed, &Driven::focused, reporter)?) {
            let at = reached.iter().position(|one| one == number).expect("it is one of them");
            judged[at].add(more);
        }
    }
    Ok(reached.iter().zip(&judged).map(|(number, judged)| result(*number, judged)).collect())
}

/// The time of the settings and these calls.
pub(super) fn enough_of(config: &Config, calls: u64) -> Enough {
    let fails_allocations = config.fuzz.fail_allocations;
    Enough { time: config.drivers.time_for_function(), calls, fails_allocations }
}

/// On which inputs of a driver a function is judged.
pub(super) type InputsOf<'a> = &'a (dyn Fn(&Driven, Number) -> Result<Vec<PathBuf>> + Sync);

/// The drivers with their programs, the functions with their inputs, how many calls are judged, and Ctrl-C.
type JudgeAll<'a> = ((&'a [Driven], &'a [PathBuf]), (&'a [Number], InputsOf<'a>), Enough, &'a Interrupt);

/// Judges the candidates of these functions with all drivers that reach them, several functions and drivers at a time; with
/// each the numbers of judged calls by driver.
pub(super) fn judge_all(
    step: String,
    ((drivers, programs), (functions, inputs), enough, interrupt): JudgeAll,
    reporter: &mut dyn Reporter,
) -> Result<Vec<(Judged, Vec<u64>)>> {
    let judge = |number: &Number| {
        let with = |(driven, program): (&Driven, &PathBuf)| {
            let inputs = inputs(driven, *number)?;
            let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
            match inputs.is_empty() {
                true => Ok(Judged::default()),
                false => run::judge(program, *number, &inputs, enough, interrupt),
            }
        };
        let all = drivers.par_iter().zip(programs).map(with).collect::<Result<Vec<Judged>>>()?;
        let by_driver = all.iter().map(|one| one.judged).collect();
        let mut judged = Judged::default();
        all.into_iter().for_each(|one| judged.add(one));
        Ok((judged, by_driver))
    };
    side_by_side(step, functions, reporter, judge)
}

/// Why mutants of some functions say nothing: a copy differs from C as they do, and neither is wrong.
const OWN_CONSTANT: &str = "it gives an address of a constant inside of it, of which a copy has another";

fn result(library: &Library, function: &Function, mut judged: Judged, made: &Mutants) -> Measured {
    let copy = judged.killed.get(&0).map(|told| told.excuse);
    let own_constant = (copy == Some(Some(Excuse::OtherConstant))).then(|| OWN_CONSTANT.to_owned());
    if own_constant.is_some() {
        judged.killed.clear();
    }
    let mutants = made.of.get(&function.name).map_or(0, Vec::len);
    let same = made.same.get(&function.name).cloned().unwrap_or_default();
    let telling: BTreeSet<usize> = (1..=mutants).filter(|number| !same.contains(number)).collect();
    let killed = judged.killed.keys().filter(|number| telling.contains(number)).count();
    let kills = Share { reached: killed as u64, total: telling.len() as u64 };
    let name = &function.name;
    let without = why_not(library, function).map(str::to_owned);
    let without = without.or_else(|| made.without.get(name).cloned()).or(own_constant);
    Measured {
        symbol: name.clone(),
        differs: judged.killed.get(&0).map(|told| told.difference),
        kills,
        mutants: made.of.get(name).cloned().unwrap_or_default(),
        same,
        without,
        judged,
    }
}
