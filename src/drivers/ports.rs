//! Judges the ports in the tree inside of the drivers' executions.

use super::focus::{fuzz_anew, fuzz_on};
use super::measure::{CALLS, InputsOf, enough_of, judge_all};
use super::side_by_side::side_by_side;
use super::{Driven, Report, Work};
use crate::count::count;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::in_place::build;
use crate::in_place::candidates::{Candidates, Ports};
use crate::in_place::difference::Told;
use crate::in_place::driver::Driver;
use crate::in_place::focus::Wanted;
use crate::in_place::run::{self, Enough, Judged, Number};
use crate::in_place::typed::{Meaning, meaning};
use crate::in_place::values::Differing;
use crate::in_place::whole_runs::{self, Replaced};
use crate::platform::process::Interrupt;
use crate::project::port_for_c::{File, port_for_c};
use crate::project::ported::Ported;
use crate::project::{FunctionPlan, Project};
use crate::rust::stub_text::candidates_capi_file;
use crate::symbol::{Function, SymbolName};
use crate::verdict::CallInPlace;
use rayon::iter::{IndexedParallelIterator as _, IntoParallelRefIterator as _, ParallelIterator as _};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What judging a port in place gave.
#[derive(Debug, Clone)]
pub struct PortJudged {
    pub number: Number,
    pub symbol: SymbolName,
    pub judged: Judged,
    /// The numbers of judged calls, by driver.
    pub by_driver: Vec<u64>,
    /// What the difference from C means, if there is one.
    pub meaning: Option<Meaning>,
}

impl PortJudged {
    /// Whether nothing can be said of the port: no call was judged, the run ended early, or a difference may be right.
    pub fn is_inconclusive(&self) -> bool {
        match &self.meaning {
            Some(Meaning::Wrong(_)) => false,
            Some(Meaning::Unclear(_)) => true,
            None => self.judged.judged == 0 || self.judged.broke.is_some() || self.judged.unsteady > 0,
        }
    }

    /// What differs, where that is known.
    pub fn differing(&self) -> Option<&Differing> {
        match &self.meaning {
            Some(Meaning::Wrong(differing)) => differing.as_ref(),
            Some(Meaning::Unclear(_)) | None => None,
        }
    }

    /// Why a port that differs may be right.
    pub fn unclear(&self) -> Option<&'static str> {
        match self.meaning {
            Some(Meaning::Unclear(why)) => Some(why),
            Some(Meaning::Wrong(_)) | None => None,
        }
    }

    /// That the port differs from C where C differs from itself.
    pub fn unsteady(&self) -> Option<String> {
        self.judged.unsteady()
    }

    /// Whether the port is wrong.
    pub fn is_wrong(&self) -> bool {
        matches!(self.meaning, Some(Meaning::Wrong(_)))
    }

    /// Where the port differs from C.
    pub fn differs(&self) -> Option<&Told> {
        self.judged.killed.get(&0)
    }
}

/// Builds the port as a static library: the folder of the copy of its crate, the path of the library, and the files
/// that differ from the tree. Returns what the linker needs.
pub type Archive<'a> = &'a dyn Fn(&Path, &Path, &[File]) -> Result<Vec<String>>;

/// A port that is not in the tree.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'c> {
    pub planned: &'c FunctionPlan,
    /// The text of its module with it.
    pub module: &'c str,
}

impl Candidate<'_> {
    fn file(&self) -> File {
        (PathBuf::from(format!("src/{}.rs", self.planned.function.module)), self.module.to_owned())
    }

    fn is_of(&self, function: &Function) -> bool {
        self.planned.function.key == function.key
    }
}

/// The programs of all drivers, with the ports in the tree beside C.
pub struct PortsBuilt<'a> {
    project: &'a Project,
    report: &'a Report,
    interrupt: &'a Interrupt,
    programs: Vec<PathBuf>,
}

/// The position of a function in its library.
pub fn number_of(project: &Project, planned: &FunctionPlan) -> Option<Number> {
    project.library.functions.iter().position(|function| function.key == planned.function.key)
}

/// The functions whose ports were judged like this.
fn those(wanted: &[Number], judged: &[(Judged, Vec<u64>)], like: impl Fn(&Judged) -> bool) -> Vec<Number> {
    wanted.iter().zip(judged).filter(|(_, one)| like(&one.0)).map(|(number, _)| *number).collect()
}

/// How many more calls of an input a port gets than mutants: as in `calls.c`, 240 for 40.
const MORE_OF_INPUT: u64 = 6;

/// How much longer new inputs are looked for where the first try makes none.
const LONGER: u32 = 10;

/// Judged calls for each that differs from the others, from which on more calls say little new.
const ALIKE: u64 = 10;

/// Builds the programs of these drivers with the ports in the tree beside C. Returns them, and the functions that have a
/// port.
pub(super) fn programs(
    work: &Work,
    drivers: &[&Driver],
    (candidate, folder): (Option<&Candidate>, &str),
    archive_of: Archive,
) -> Result<(Vec<PathBuf>, BTreeSet<Number>)> {
    let project = work.project;
    let is_ported = |function: &Function| {
        candidate.is_some_and(|candidate| candidate.is_of(function))
            || project.ported(function) == Ported::Yes
    };
    let ported = project.planned.iter().filter(|planned| is_ported(&planned.function));
    let ported: Vec<(Number, &FunctionPlan)> =
        ported.filter_map(|planned| Some((number_of(project, planned)?, planned))).collect();
    let dir = work.dir(folder);
    fs_err::create_dir_all(&dir)?;
    let exported: Vec<_> = ported.iter().map(|(number, planned)| (*number, planned.bound())).collect();
    let (mut texts, _) = port_for_c(project, (candidates_capi_file(&exported), true), &is_ported)?;
    texts.extend(candidate.map(Candidate::file));
    let archive = dir.join("libport.a");
    let native = archive_of(&dir.join("overlay"), &archive, &texts)?;
    let numbers: BTreeSet<Number> = ported.iter().map(|(number, _)| *number).collect();
    let ports = Ports { numbers: numbers.clone(), archive, crate_name: project.crate_name(), native };
    let entries = work.entries()?;
    let parts = work.parts(&entries, Candidates::Ports(&ports));
    let built = build::library(parts, work.place(&dir)?)?;
    let program = |driver: &&Driver| built.program(driver, parts, work.place(&dir)?);
    Ok((drivers.iter().map(program).collect::<Result<_>>()?, numbers))
}

impl<'a> PortsBuilt<'a> {
    /// Builds them below this folder.
    ///
    /// # Errors
    /// `Build` if the port does not compile, `C` if it cannot be linked with the library, and Ctrl-C.
    pub fn build(
        (project, report): (&'a Project, &'a Report),
        (candidate, folder): (Option<&Candidate>, &str),
        archive_of: Archive,
        interrupt: &'a Interrupt,
        reporter: &mut dyn Reporter,
    ) -> Result<Self> {
        let work = Work::of(project, interrupt)?;
        let drivers: Vec<&Driver> = report.drivers.iter().map(|driven| &driven.driver).collect();
        let step = format!("building the {} beside C", folder.replace('-', " "));
        reporter.event(Event::StepStarted { step, total: None });
        let (programs, _) = programs(&work, &drivers, (candidate, folder), archive_of)?;
        reporter.event(Event::StepFinished { message: String::new() });
        Ok(Self { project, report, interrupt, programs })
    }

    /// Judges these ports on the inputs that are kept.
    ///
    /// # Errors
    /// `Internal` if a program does not start, and Ctrl-C.
    pub fn judge(&self, wanted: &[Number], reporter: &mut dyn Reporter) -> Result<Vec<PortJudged>> {
        let judged = self.judge_kept(wanted, reporter)?;
        Ok(self.told(wanted, judged))
    }

    /// Judges these ports as `judge` does. Then it makes as many calls as a grade asks for, and judges them on new inputs.
    ///
    /// # Errors
    /// `C` if a driver cannot be built, `Io` if the disk is full, `Internal` if a program does not start, and Ctrl-C.
    pub fn judge_for_grades(
        &self,
        wanted: &[Number],
        reporter: &mut dyn Reporter,
    ) -> Result<Vec<PortJudged>> {
        let mut judged = self.judge_kept(wanted, reporter)?;
        let position = |number: &Number| wanted.iter().position(|one| one == number).expect("it is wanted");
        let work = Work::of(self.project, self.interrupt)?;
        let short = those(wanted, &judged, |judged| self.is_short(judged));
        let fuzzed = fuzz_on(&work, self.report, (&short, Wanted::Calls), reporter)?;
        let step = format!("judging {} on more calls", count(fuzzed.len(), "port"));
        let again = match fuzzed.is_empty() {
            true => Vec::new(),
            false => self.judge_on(step, (&fuzzed, &Driven::judged_on), reporter)?,
        };
        for (number, again) in fuzzed.iter().zip(again) {
            judged[position(number)] = again;
        }
        let same = those(wanted, &judged, |judged| judged.killed.is_empty() && judged.judged > 0);
        for (number, new) in same.iter().zip(self.judge_anew(&work, &same, reporter)?) {
            judged[position(number)].0.add_differences(new);
        }
        Ok(self.told(wanted, judged))
    }

    fn judge_kept(&self, wanted: &[Number], reporter: &mut dyn Reporter) -> Result<Vec<(Judged, Vec<u64>)>> {
        let step = format!("judging {} in place", count(wanted.len(), "port"));
        self.judge_on(step, (wanted, &Driven::judged_on), reporter)
    }

    /// Judges ports on inputs that libFuzzer makes now.
    fn judge_anew(&self, work: &Work, ports: &[Number], reporter: &mut dyn Reporter) -> Result<Vec<Judged>> {
        if ports.is_empty() {
            return Ok(Vec::new());
        }
        let mut judged: Vec<Judged> = vec![Judged::default(); ports.len()];
        for times in [1, LONGER] {
            // What speaks against a port stays.
            let is_open = |judged: &Judged| {
                let is_clean = judged.killed.is_empty() && judged.unsteady == 0 && !judged.is_by_candidate;
                judged.judged == 0 && is_clean
            };
            let open: Vec<usize> = (0..ports.len()).filter(|at| is_open(&judged[*at])).collect();
            if open.is_empty() {
                break;
            }
            let some: Vec<Number> = open.iter().map(|at| ports[*at]).collect();
            fuzz_anew(work, self.report, (&some, times), reporter)?;
            let step = format!("judging {} on new inputs", count(some.len(), "port"));
            let again = self.judge_on(step, (&some, &Driven::new_inputs), reporter)?;
            open.into_iter().zip(again).for_each(|(at, (again, _))| judged[at] = again);
        }
        let without = ports.iter().zip(&judged).filter(|(_, judged)| judged.judged == 0);
        let name = |number: Number| self.project.library.functions[number].name.as_str();
        let without: Vec<&str> = without.map(|(number, _)| name(*number)).collect();
        if !without.is_empty() {
            let text = format!("no new input could be made for the port of {}", without.join(", "));
            let help = "judged on the kept inputs alone; a driver on whose inputs C breaks less often would make more";
            reporter.event(Event::Warning { text, help: Some(help.into()) });
        }
        Ok(judged)
    }

    fn told(&self, wanted: &[Number], judged: Vec<(Judged, Vec<u64>)>) -> Vec<PortJudged> {
        let library = &self.project.library;
        let all = wanted.iter().zip(judged).map(|(&number, (mut judged, by_driver))| {
            let function = &library.functions[number];
            // What is wrong for certain comes before what may be right.
            let wrong = |told: &&Told| matches!(meaning(library, function, told), Meaning::Wrong(_));
            let first = judged.killed.get(&0).into_iter().chain(&judged.also).find(wrong).cloned();
            judged.killed.extend(first.map(|told| (0, told)));
            let meaning = judged.killed.get(&0).map(|told| meaning(library, function, told));
            PortJudged { number, symbol: function.name.clone(), judged, by_driver, meaning }
        });
        all.collect()
    }

    fn judge_on(
        &self,
        step: String,
        wanted: (&[Number], InputsOf),
        reporter: &mut dyn Reporter,
    ) -> Result<Vec<(Judged, Vec<u64>)>> {
        let with = (&self.report.drivers[..], &self.programs[..]);
        judge_all(step, (with, wanted, self.enough(), self.interrupt), reporter)
    }

    /// Whether a grade asks for more calls that differ from each other, and further inputs may make them: not where nearly
    /// all calls are alike.
    fn is_short(&self, judged: &Judged) -> bool {
        let grade = &self.project.config.grade;
        let is_same = judged.killed.is_empty() && judged.judged > 0;
        let are_alike = judged.distinct * ALIKE < judged.judged;
        // Without measurements a port stays weak, whatever is done.
        grade.measure && is_same && !are_alike && judged.distinct < grade.executions
    }

    /// As many calls as a grade asks for, with each driver, and so many that the port reaches the inputs that mutants reach:
    /// kills are earned on calls that the port makes, too.
    fn enough(&self) -> Enough {
        let config = &self.project.config;
        enough_of(config, config.grade.executions.max(CALLS * MORE_OF_INPUT))
    }

    /// Runs the drivers with each of these ports in C's place, on their inputs that reach the function; with what came of it
    /// the number of inputs.
    ///
    /// # Errors
    /// `Internal` if a program does not start, and Ctrl-C.
    pub fn replace(&self, functions: &[Number], reporter: &mut dyn Reporter) -> Result<Vec<(Replaced, u64)>> {
        let (drivers, programs, interrupt) = (&self.report.drivers, &self.programs, self.interrupt);
        let replace = |function: &Number| {
            let with = |(driven, program): (&Driven, &PathBuf)| {
                let inputs = driven.inputs_of(*function);
                match inputs.is_empty() {
                    true => Ok((Replaced::default(), 0)),
                    false => Ok((
                        whole_runs::replace(program, *function, &inputs, interrupt)?,
                        inputs.len() as u64,
                    )),
                }
            };
            let all = drivers.par_iter().zip(programs).map(with).collect::<Result<Vec<_>>>()?;
            let count = all.iter().map(|(_, count)| count).sum();
            let mut replaced = Replaced::default();
            all.into_iter().for_each(|(one, _)| replaced.add(one));
            Ok((replaced, count))
        };
        let step = format!("running the drivers with {} in C's place", count(functions.len(), "port"));
        side_by_side(step, functions, reporter, replace)
    }

    /// Judges a port on one input of a driver.
    ///
    /// # Errors
    /// `Usage` if the driver is gone, `Internal` if its program does not start, and Ctrl-C.
    pub fn again(&self, function: Number, (place, input): (&CallInPlace, &[u8])) -> Result<Judged> {
        let driver = place.driver.as_str();
        let is_it = |driven: &&super::Driven| driven.driver.file == driver;
        let known = self.report.drivers.iter().position(|driven| is_it(&driven));
        let Some(program) = known.and_then(|at| self.programs.get(at)) else {
            return Err(Error::new(ErrorKind::Usage, format!("the driver {driver} is not there any more"))
                .help("cargo implfuzz drivers"));
        };
        let dir = Work::of(self.project, self.interrupt)?.dir("ports");
        fs_err::create_dir_all(&dir)?;
        let file = dir.join("input");
        fs_err::write(&file, input)?;
        if place.call > 0 {
            let fails_allocations = place.failing.is_some();
            let enough = Enough { fails_allocations, ..self.enough() };
            return run::judge(program, function, &[&file], enough, self.interrupt);
        }
        let replaced = whole_runs::replace(program, function, &[&file], self.interrupt)?;
        let killed = replaced.differs.into_iter().map(|told| (0, told)).collect();
        Ok(Judged { judged: replaced.agreed, killed, broke: replaced.broke, ..Judged::default() })
    }
}
