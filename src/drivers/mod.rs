//! The drivers of a library: which functions each reaches, and how well functions can be judged in place.
//!
//! `in_place` builds and runs the programs; this module knows the repository.

mod measure;
mod ports;

pub use measure::{Measured, measure};
pub use ports::{PortJudged, judge_ports};

use crate::c::entries::{Entries, entries};
use crate::c::{Programs, Tools};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::in_place::build::{self, Parts};
use crate::in_place::candidates::Candidates;
use crate::in_place::corpus::{self, Corpus};
use crate::in_place::driver::{Driver, drivers};
use crate::in_place::place::Place;
use crate::in_place::run::{self, Number, Reach};
use crate::in_place::table::why_not;
use crate::platform::process::Interrupt;
use crate::project::Project;
use crate::symbol::{LibraryIndex, SymbolName};
use camino::Utf8Path;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// Seconds for a corpus to run once.
const REPLAY: Duration = Duration::from_secs(120);

/// A driver with its inputs and what they reach.
#[derive(Debug)]
pub struct Driven {
    pub driver: Driver,
    pub corpus: Corpus,
    /// The inputs that ran, each with the functions that it reaches.
    pub reach: Vec<Reach>,
}

impl Driven {
    /// The functions that it reaches, by their positions in the library.
    pub fn reached(&self) -> BTreeSet<Number> {
        run::reached(&self.reach)
    }
}

/// A function that no driver reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreached {
    pub symbol: SymbolName,
    /// The nearest caller that a driver reaches, and the number of inputs that do so.
    pub caller: Option<(SymbolName, usize)>,
}

/// The drivers of a repository.
#[derive(Debug)]
pub struct Report {
    pub drivers: Vec<Driven>,
    pub unreached: Vec<Unreached>,
    /// Functions whose calls cannot be judged, with the reason.
    pub not_judged: BTreeMap<SymbolName, &'static str>,
}

impl Report {
    /// All functions that a driver reaches.
    pub fn reached(&self) -> BTreeSet<Number> {
        self.drivers.iter().flat_map(Driven::reached).collect()
    }
}

/// Makes the corpus of each driver, and finds what its inputs reach.
///
/// # Errors
/// `Config` where there is no driver, `C` if one cannot be built, and Ctrl-C.
pub fn run(project: &Project, interrupt: &Interrupt, reporter: &mut dyn Reporter) -> Result<Report> {
    let work = Work::of(project, interrupt)?;
    let found = drivers(work.root, &project.config.drivers.files)?;
    if found.is_empty() {
        let text = "no file of the repository defines LLVMFuzzerTestOneInput, so nothing runs the library";
        return Err(Error::new(ErrorKind::Config, text).help("cargo implfuzz drivers --new NAME"));
    }
    let entries = work.entries()?;
    let parts = work.parts(&entries, Candidates::None);
    let (fuzzed, watched) = (work.dir("fuzz"), work.dir("reach"));
    reporter.event(Event::StepStarted { step: "building the library for its drivers".into(), total: None });
    let sanitised = corpus::sanitised(parts, work.place(&fuzzed)?)?;
    let built = build::library(parts, work.place(&watched)?)?;
    reporter.event(Event::StepFinished { message: String::new() });
    let mut all = Vec::new();
    for driver in found {
        let seconds = project.config.drivers.seconds;
        let step = format!("fuzzing {} for {seconds} s", driver.file);
        reporter.event(Event::StepStarted { step, total: None });
        let dir = work.dir("corpora").join(&driver.name);
        let corpus = sanitised.fuzz(&driver, parts, work.place(&fuzzed)?, &dir)?;
        let program = built.program(&driver, parts, work.place(&watched)?)?;
        let reach = run::reach(&program, &corpus.inputs, REPLAY, interrupt)?;
        let message = format!("{} inputs", corpus.inputs.len());
        reporter.event(Event::StepFinished { message });
        all.push(Driven { driver, corpus, reach });
    }
    Ok(report(project, all))
}

/// What a command about drivers works with.
struct Work<'p> {
    project: &'p Project,
    root: &'p Utf8Path,
    interrupt: &'p Interrupt,
}

impl<'p> Work<'p> {
    fn of(project: &'p Project, interrupt: &'p Interrupt) -> Result<Self> {
        Ok(Self { project, root: project.root()?, interrupt })
    }

    /// A folder of the cache.
    fn dir(&self, name: &str) -> PathBuf {
        self.project.workspace.cache().join("drivers").join(name)
    }

    fn place<'a>(&'a self, dir: &'a std::path::Path) -> Result<Place<'a>> {
        Ok(Place { dir, toolchain: self.project.toolchain(self.interrupt)?, interrupt: self.interrupt })
    }

    fn with_tools<R>(&self, work: impl FnOnce(Tools) -> Result<R>) -> Result<R> {
        let toolchain = self.project.toolchain(self.interrupt)?;
        let programs = || Ok(Programs::of(toolchain));
        let scratch = self.project.workspace.cache();
        work(Tools { identity: "", programs: &programs, scratch: &scratch, interrupt: self.interrupt })
    }

    fn entries(&self) -> Result<Entries> {
        self.with_tools(|tools| entries(self.root, &self.project.library, tools))
    }

    fn parts<'a>(&'a self, entries: &'a Entries, candidates: Candidates<'a>) -> Parts<'a> {
        let config = &self.project.config;
        Parts {
            root: self.root,
            library: &self.project.library,
            entries,
            candidates,
            link: &config.c.link,
            settings: &config.drivers,
        }
    }
}

fn report(project: &Project, drivers: Vec<Driven>) -> Report {
    let functions = &project.library.functions;
    let not_judged = functions.iter().filter_map(|f| Some((f.name.clone(), why_not(f)?))).collect();
    let mut report = Report { drivers, unreached: Vec::new(), not_judged };
    let reached = report.reached();
    let callers = callers(project);
    let missing = (0..functions.len()).filter(|number| !reached.contains(number));
    report.unreached = missing
        .map(|number| {
            let caller = nearest(number, &callers, &reached);
            let inputs = |caller: Number| {
                let all = report.drivers.iter().flat_map(|driven| &driven.reach);
                all.filter(|reach| reach.calls.contains_key(&caller)).count()
            };
            let caller = caller.map(|caller| (functions[caller].name.clone(), inputs(caller)));
            Unreached { symbol: functions[number].name.clone(), caller }
        })
        .collect();
    report
}

/// The callers of each function, by position.
fn callers(project: &Project) -> Vec<Vec<Number>> {
    let index = LibraryIndex::of(&project.library);
    let mut callers = vec![Vec::new(); project.library.functions.len()];
    for (caller, callees) in index.callees().iter().enumerate() {
        for callee in callees {
            callers[*callee].push(caller);
        }
    }
    callers
}

/// The nearest caller that is reached, by the length of the way.
fn nearest(from: Number, callers: &[Vec<Number>], reached: &BTreeSet<Number>) -> Option<Number> {
    let (mut seen, mut open) = (BTreeSet::from([from]), std::collections::VecDeque::from([from]));
    while let Some(at) = open.pop_front() {
        for caller in &callers[at] {
            if reached.contains(caller) {
                return Some(*caller);
            }
            if seen.insert(*caller) {
                open.push_back(*caller);
            }
        }
    }
    None
}
