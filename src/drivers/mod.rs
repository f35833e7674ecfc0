//! The drivers of a library: which functions each reaches, and how well functions can be judged in place.
//!
//! `in_place` builds and runs the programs; this module knows the repository.

mod branches;
mod callable;
mod campaigns;
mod contract_calls;
mod ends;
mod example_texts;
mod exported;
mod faults;
mod focus;
mod known;
mod marks;
mod measure;
mod outputs;
mod new_driver;
mod object_kinds;
mod ports;
mod public_headers;
mod rooms;
mod side_by_side;
mod trials;
mod watched;

pub use branches::{Branches, branches};
pub use exported::{Exported, export};
pub use faults::{FaultPlace, fault_places};
pub use known::{KnownReach, Reachability, known_reach};
pub use measure::{MOST, Measured, measure};
pub use new_driver::{FOLDER, NewDriver, from_contracts};
pub use ports::{Archive, Candidate, PortJudged, PortsBuilt, number_of};
pub use public_headers::public_headers;
pub use trials::{Broken, Ran, Trials, Tried, with_trials};
pub use watched::observed;

use crate::c::call_sites::has_word;
use crate::c::entries::Entries;
use crate::digest::of_parts;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::evidence::fingerprint::{LibraryFlags, drivers_hash};
use crate::in_place::build::{self, Parts, flags};
use crate::in_place::build_site::BuildSite;
use crate::in_place::candidates::Candidates;
use crate::in_place::corpus::Corpus;
use crate::in_place::driver::{Driver, drivers};
use crate::in_place::focus as focused;
use crate::in_place::run::{self, Number, Reach};
use crate::in_place::table::why_not;
use crate::platform::process::Interrupt;
use crate::project::Project;
use crate::symbol::{LibraryIndex, SymbolName};
use camino::{Utf8Path, Utf8PathBuf};
use campaigns::Campaigns;
use fs_err as fs;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Which inputs of a driver are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inputs {
    /// Those of a new campaign, which begins with earlier ones.
    Fuzzed,
    /// Those of an earlier campaign, if library and driver are as they were.
    Kept,
}

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

    /// How many inputs reach a function.
    pub fn count_of_inputs(&self, function: Number) -> usize {
        self.inputs_of(function).len()
    }

    /// The inputs that reach a function, smallest first.
    fn inputs_of(&self, function: Number) -> Vec<&Path> {
        let reach = self.reach.iter().filter(|reach| reach.calls.contains_key(&function));
        reach.map(|reach| reach.input.as_path()).collect()
    }

    /// The same, those that were made for it, and further inputs, which may reach it; nothing where no input of the corpus
    /// does.
    fn judged_on(&self, function: Number) -> Result<Vec<PathBuf>> {
        let mut inputs: Vec<PathBuf> = self.inputs_of(function).into_iter().map(Path::to_owned).collect();
        if !inputs.is_empty() {
            inputs.extend(self.focused(function)?);
            for folder in self.corpus.focused_earlier(function) {
                inputs.extend(focused::kept(&folder)?.unwrap_or_default());
            }
            inputs.extend(self.corpus.more.iter().cloned());
        }
        Ok(inputs)
    }

    /// The inputs that were last made to judge a port of a function.
    fn new_inputs(&self, function: Number) -> Result<Vec<PathBuf>> {
        Ok(focused::kept(&self.corpus.new_inputs(function))?.unwrap_or_default())
    }

    /// The inputs that were made for one function.
    fn focused(&self, function: Number) -> Result<Vec<PathBuf>> {
        let [edges, calls] = [self.corpus.focused(function), self.corpus.focused_on_calls(function)];
        let edges = focused::kept(&edges)?.unwrap_or_default();
        Ok(edges.into_iter().chain(focused::kept(&calls)?.unwrap_or_default()).collect())
    }
}

/// A function that no driver reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreached {
    pub symbol: SymbolName,
    /// The nearest caller that a driver reaches, and the number of inputs that do so.
    pub caller: Option<(SymbolName, usize)>,
    /// A driver whose text has its name: its inputs do not get there.
    pub named_by: Option<Utf8PathBuf>,
}

/// A driver that does not build, or that libFuzzer cannot run.
#[derive(Debug)]
pub struct Unusable {
    pub file: Utf8PathBuf,
    /// Such as the compiler's message.
    pub error: Error,
}

/// The drivers of a repository.
#[derive(Debug)]
pub struct Report {
    pub drivers: Vec<Driven>,
    pub left_out: Vec<Unusable>,
    pub unreached: Vec<Unreached>,
    /// Functions whose calls cannot be judged, with the reason.
    pub not_judged: BTreeMap<SymbolName, &'static str>,
}

impl Report {
    /// All functions that a driver reaches.
    pub fn reached(&self) -> BTreeSet<Number> {
        self.drivers.iter().flat_map(Driven::reached).collect()
    }

    /// Hash of the inputs of all drivers.
    pub fn inputs(&self) -> String {
        hash_of(self.drivers.iter().flat_map(|one| one.corpus.inputs.iter().chain(&one.corpus.more)))
    }

    /// Hash of the inputs that were made for one function.
    ///
    /// # Errors
    /// `Io` where they cannot be listed.
    pub fn focused(&self, function: Number) -> Result<String> {
        let kept = self.drivers.iter().map(|one| one.focused(function)).collect::<Result<Vec<_>>>()?;
        Ok(hash_of(kept.iter().flatten()))
    }
}

/// libFuzzer names inputs by their content, and so do we.
fn hash_of<'i>(inputs: impl Iterator<Item = &'i PathBuf>) -> String {
    let names: BTreeSet<&OsStr> = inputs.filter_map(|input| input.file_name()).collect();
    of_parts(names.into_iter().map(OsStr::as_encoded_bytes))
}

/// Whether the repository has drivers.
///
/// # Errors
/// `Config` where a file in the settings is no driver.
pub fn has_drivers(project: &Project) -> Result<bool> {
    Ok(!drivers(project.root()?, &project.config.drivers.files, &project.library)?.is_empty())
}

/// Makes the corpus of each driver, and finds what its inputs reach.
///
/// # Errors
/// `Config` where there is no driver, `C` if the library cannot be built, or none of the drivers can be used, and Ctrl-C.
pub fn run(
    project: &Project,
    inputs: Inputs,
    interrupt: &Interrupt,
    reporter: &mut dyn Reporter,
) -> Result<Report> {
    let work = Work::of(project, interrupt)?;
    let found = drivers(work.root, &project.config.drivers.files, &project.library)?;
    if found.is_empty() {
        let text = "no file of the repository defines LLVMFuzzerTestOneInput, so nothing runs the library";
        return Err(Error::new(ErrorKind::Config, text).help(
            "cargo implfuzz drivers --new NAME; with --program FILE, for a program or test of the repository",
        ));
    }
    let entries = work.entries()?;
    let campaigns = Campaigns::prepare(&work, &entries, reporter)?;
    let (drivers, left_out) = driven(&campaigns, found, inputs, reporter)?;
    Ok(report(project, drivers, left_out))
}

/// These drivers with their inputs, and those that cannot be used.
fn driven(
    campaigns: &Campaigns,
    found: Vec<Driver>,
    inputs: Inputs,
    reporter: &mut dyn Reporter,
) -> Result<(Vec<Driven>, Vec<Unusable>)> {
    let (mut all, mut left_out) = (Vec::new(), Vec::new());
    for driver in found {
        let file = driver.file.clone();
        match campaigns.driven(driver, inputs, reporter) {
            Ok(driven) => all.push(driven),
            Err(error) if error.kind() == ErrorKind::C => left_out.push(Unusable { file, error }),
            Err(error) => return Err(error),
        }
    }
    // Without a driver that can be used, the error of the first is that of the command.
    let first =
        (all.is_empty() && inputs == Inputs::Fuzzed && !left_out.is_empty()).then(|| left_out.remove(0));
    for Unusable { file, error } in &left_out {
        let text = format!("the driver {file} is left out: {error}");
        let help = error
            .help_text()
            .unwrap_or("correct it, or name the drivers to use: `files` under [drivers] in implfuzz.toml");
        reporter.event(Event::Warning { text, help: Some(help.to_owned()) });
    }
    first.map_or(Ok((all, left_out)), |unusable| Err(unusable.error))
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

    /// Inputs of a driver that are committed: those on which a port differed.
    fn committed(&self, driver: &Driver) -> PathBuf {
        committed(self.project, driver.file.as_str())
    }

    /// Hash of the texts that the inputs of a driver were made with: its own, the library's, and all that these include.
    fn made_of(&self, driver: &Driver) -> String {
        let library = &self.project.library;
        let mut config = self.project.config.clone();
        config.drivers.flags = flags(library, &config.drivers);
        let files = library.units.iter().map(|unit| &unit.file.0).chain([&driver.file]);
        let files: Vec<String> = files.map(ToString::to_string).collect();
        let of_units = library.units.iter().flat_map(|unit| &unit.flags);
        let none = LibraryFlags::default();
        of_parts([drivers_hash(self.root.as_std_path(), &config, &none, &files)].iter().chain(of_units))
    }

    fn place<'a>(&'a self, dir: &'a Path) -> Result<BuildSite<'a>> {
        Ok(BuildSite { dir, toolchain: self.project.toolchain(self.interrupt)?, interrupt: self.interrupt })
    }

    fn entries(&self) -> Result<Entries> {
        self.project.entries(self.interrupt)
    }

    /// The programs of the drivers of a report, in their order, built in this folder.
    fn programs(&self, report: &Report, parts: Parts, dir: &Path) -> Result<Vec<PathBuf>> {
        let built = build::library(parts, self.place(dir)?)?;
        let program = |driven: &Driven| built.program(&driven.driver, parts, self.place(dir)?);
        report.drivers.iter().map(program).collect()
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

/// The folder of the committed inputs of the driver in this file.
pub fn committed(project: &Project, file: &str) -> PathBuf {
    all_committed(project).join(folder_of(file))
}

/// The folder of the committed inputs of all drivers.
pub fn all_committed(project: &Project) -> PathBuf {
    project.rust_dir().join("fuzz/seeds/drivers")
}

/// The name of the folder for the driver in this file.
pub fn folder_of(file: &str) -> String {
    Utf8Path::new(file).with_extension("").as_str().replace('/', "-")
}

fn report(project: &Project, drivers: Vec<Driven>, left_out: Vec<Unusable>) -> Report {
    let functions = &project.library.functions;
    let not_judged =
        functions.iter().filter_map(|f| Some((f.name.clone(), why_not(&project.library, f)?))).collect();
    let mut report = Report { drivers, left_out, unreached: Vec::new(), not_judged };
    let reached = report.reached();
    let callers = callers(project);
    let texts: Vec<(&Utf8Path, String)> =
        report.drivers.iter().filter_map(|one| text(project, one)).collect();
    let missing = (0..functions.len()).filter(|number| !reached.contains(number));
    report.unreached = missing
        .map(|number| {
            let caller = nearest(number, &callers, &reached);
            let inputs = |caller: Number| {
                let all = report.drivers.iter().flat_map(|driven| &driven.reach);
                all.filter(|reach| reach.calls.contains_key(&caller)).count()
            };
            let caller = caller.map(|caller| (functions[caller].name.clone(), inputs(caller)));
            let names = |(_, text): &&(&Utf8Path, String)| has_word(text, &functions[number].c_name);
            let named_by = texts.iter().find(names).map(|(file, _)| (*file).to_owned());
            Unreached { symbol: functions[number].name.clone(), caller, named_by }
        })
        .collect();
    report
}

/// The file and the text of a driver, if it can be read.
fn text<'d>(project: &Project, driven: &'d Driven) -> Option<(&'d Utf8Path, String)> {
    let file = &driven.driver.file;
    Some((file, fs::read_to_string(project.root().ok()?.join(file)).ok()?))
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
