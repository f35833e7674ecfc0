//! What drivers' executions say of the ports in the tree: more evidence beside that of harnesses, and the only one where
//! a function has no harness.

use super::mutation_score::{Adequacy, Fate, SAME, Tried, tried};
use super::{Judge, Judging, coverage};
use crate::digest::{of_parts, sha256};
use crate::drivers::{self, Inputs, Measured as InPlace, PortJudged, PortsBuilt, Report, number_of};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::evidence::fingerprint::drivers_hash;
use crate::in_place::run::{Difference, Number, Replaced, Told};
use crate::in_place::table::why_not;
use crate::in_place::typed::{Meaning, meaning};
use crate::project::FunctionPlan;
use crate::store::Measure;
use crate::symbol::SymbolKey;
use crate::verdict::{CallInPlace, Finding, FindingClass, Measured, Proofs, Share};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

/// Changes when the measurement changes, so that stored results are not reused.
const EDITION: u32 = 1;
/// Time for the mutants of a function, and for its port, with one driver.
const TIME: Duration = Duration::from_secs(5);

/// Drivers, as they were when they judged.
#[derive(Debug, Clone, Default)]
pub struct DriversUsed {
    /// Relative to the root.
    pub files: Vec<String>,
    /// Of their texts and of how they were built.
    pub hash: String,
}

/// What drivers' executions say of one port.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// Calls with different arguments in which the port did what C does.
    pub calls: u64,
    /// The drivers that reach the function.
    pub drivers: DriversUsed,
    pub finding: Option<Finding>,
    /// A difference that may be right, in words.
    pub unclear: Option<String>,
    /// How well these executions tell mutants of C from it.
    pub worth: Adequacy,
    /// Branches of C in the judged calls.
    pub branches: Measured<Share>,
    /// Inputs on which a driver leaves the same with the port in C's place.
    pub whole: Measured<Share>,
}

/// This evidence, and the proofs of a harness with what it adds.
#[derive(Debug)]
pub struct Joined<'e> {
    pub evidence: &'e Evidence,
    pub proofs: Proofs,
}

impl Evidence {
    /// The proofs without a harness.
    pub fn proofs(&self) -> Proofs {
        Proofs { kills: self.worth.kills(), apart: self.whole.clone(), branches: self.branches.clone() }
    }

    /// The proofs with those of a harness: a mutant is killed if either kills it.
    pub fn joined(&self, proofs: &Proofs, harness: Option<&Adequacy>) -> Joined<'_> {
        let kills = match harness.filter(|harness| harness.kills().value().is_some()) {
            Some(harness) => harness.with_kills_of(&self.worth).kills(),
            None => self.worth.kills(),
        };
        let better = |a: &Measured<Share>, b: &Measured<Share>| {
            let ratio = |one: &Measured<Share>| one.value().map(|share| share.ratio());
            if ratio(b) > ratio(a) { b.clone() } else { a.clone() }
        };
        let apart = if proofs.apart.value().is_some() { &proofs.apart } else { &self.whole };
        let proofs =
            Proofs { kills, apart: apart.clone(), branches: better(&proofs.branches, &self.branches) };
        Joined { evidence: self, proofs }
    }
}

impl Judge<'_> {
    /// The programs of all drivers with the ports in the tree.
    ///
    /// # Errors
    /// Those of building them.
    pub fn beside_c<'a>(&'a self, report: &'a Report, reporter: &mut dyn Reporter) -> Result<PortsBuilt<'a>> {
        let archive = |overlay: &Path, to: &Path, files: &[_]| self.static_library(overlay, to, files);
        PortsBuilt::build(self.project, report, &archive, self.interrupt, reporter)
    }

    /// Judges these ports with all drivers, each for this long.
    ///
    /// # Errors
    /// Those of building and running the programs.
    pub fn ports_in_place(
        &self,
        report: &Report,
        wanted: &[Number],
        time: Duration,
        reporter: &mut dyn Reporter,
    ) -> Result<Vec<PortJudged>> {
        match wanted {
            [] => Ok(Vec::new()),
            _ => self.beside_c(report, reporter)?.judge(wanted, time, reporter),
        }
    }

    /// Judges a port again where a finding in place was found.
    ///
    /// # Errors
    /// `Usage` if the driver is gone, and those of building and running its program.
    pub fn again_in_place(
        &self,
        planned: &FunctionPlan,
        (place, input): (&CallInPlace, &[u8]),
        reporter: &mut dyn Reporter,
    ) -> Result<Option<Finding>> {
        let report = drivers::run(self.project, Inputs::Kept, self.interrupt, reporter)?;
        let gone =
            || Error::new(ErrorKind::Usage, format!("`{}` is not in the library", planned.function.name));
        let number = number_of(self.project, planned).ok_or_else(gone)?;
        let built = self.beside_c(&report, reporter)?;
        let judged = built.again(number, (place, input), TIME)?;
        if judged.killed.is_empty() && (judged.judged == 0 || judged.broke.is_some()) {
            let text = "the input does not reach a call that can be judged any more";
            return Err(Error::new(ErrorKind::Usage, text).help("cargo implfuzz drivers --ports"));
        }
        let library = &self.project.library;
        Ok(judged.killed.get(&0).map(|told| {
            let path = match meaning(library, &planned.function, told) {
                Meaning::Wrong(path) => path,
                Meaning::Unclear(_) => None,
            };
            finding(&place.driver, (told, path), input.to_vec())
        }))
    }
}

impl Judging<'_, '_> {
    /// What drivers' executions say of these ports, which stand in the tree. A port that no driver reaches is left out.
    /// If no driver can be built, the answer is empty, and a warning says why.
    ///
    /// # Errors
    /// Failures of our own, and Ctrl-C.
    pub fn in_place(&mut self, ports: &[&FunctionPlan]) -> Result<BTreeMap<SymbolKey, Evidence>> {
        let judge = self.judge;
        if ports.is_empty() || !drivers::has_drivers(judge.project)? {
            return Ok(BTreeMap::new());
        }
        let found = drivers::run(judge.project, Inputs::Kept, judge.interrupt, self.reporter)
            .and_then(|report| self.judged_in_place(&report, ports));
        match found {
            Err(error) if matches!(error.kind(), ErrorKind::C | ErrorKind::Environment) => {
                let text = format!("drivers judge no port: {error}");
                let help = error.help_text().map(str::to_owned);
                self.reporter.event(Event::Warning { text, help });
                Ok(BTreeMap::new())
            }
            found => found,
        }
    }

    fn judged_in_place(
        &mut self,
        report: &Report,
        ports: &[&FunctionPlan],
    ) -> Result<BTreeMap<SymbolKey, Evidence>> {
        let (project, interrupt) = (self.judge.project, self.judge.interrupt);
        let used = |number: Number| {
            let reaching = report.drivers.iter().filter(|driven| driven.reached().contains(&number));
            let files: Vec<String> = reaching.map(|driven| driven.driver.file.to_string()).collect();
            let hash = drivers_hash(project.workspace.root(), &project.config.drivers, &files);
            DriversUsed { files, hash }
        };
        // Before they are built: an edit meanwhile leaves the evidence stale.
        let reached = report.reached();
        let used: BTreeMap<Number, DriversUsed> =
            reached.iter().map(|number| (*number, used(*number))).collect();
        let numbered = ports.iter().filter_map(|planned| Some((number_of(project, planned)?, *planned)));
        let reached: Vec<(Number, &FunctionPlan)> = numbered
            .filter(|(number, planned)| {
                reached.contains(number) && why_not(&project.library, &planned.function).is_none()
            })
            .collect();
        let worth = self.worth_in_place(report, &reached)?;
        // Where C differs from itself, a difference says nothing of a port.
        let sound = reached.iter().map(|(number, _)| *number);
        let sound: Vec<Number> = sound.filter(|number| worth.get(number).is_some_and(is_sound)).collect();
        if sound.is_empty() {
            return Ok(BTreeMap::new());
        }
        let built = self.judge.beside_c(report, self.reporter)?;
        let judged = built.judge(&sound, TIME, self.reporter)?;
        let same = judged.iter().filter(|one| one.differs().is_none() && one.judged.judged > 0);
        let same: Vec<(Number, Vec<u64>)> = same.map(|one| (one.number, one.by_driver.clone())).collect();
        let counted = match same.is_empty() {
            true => None,
            false => Some(drivers::branches(project, report, &same, interrupt, self.reporter)?),
        };
        let mut all = BTreeMap::new();
        for one in judged {
            let Some((_, planned)) = reached.iter().find(|(number, _)| *number == one.number) else {
                continue;
            };
            let mut evidence =
                evidence_of(report, &one, (worth[&one.number].clone(), used[&one.number].clone()))?;
            if let Some(at) = same.iter().position(|(number, _)| *number == one.number) {
                if let Some(counted) = &counted {
                    evidence.branches = coverage::in_place(self.judge, planned, counted, at)?;
                }
                let (replaced, inputs) = built.replace(one.number)?;
                evidence.take_whole(report, replaced, inputs)?;
            }
            all.insert(planned.function.key.clone(), evidence);
        }
        Ok(all)
    }

    /// How well the executions tell C's mutants from it: from the store, or measured now.
    fn worth_in_place(
        &mut self,
        report: &Report,
        reached: &[(Number, &FunctionPlan)],
    ) -> Result<BTreeMap<Number, Adequacy>> {
        let (judge, project) = (self.judge, self.judge.project);
        // libFuzzer names inputs by their content.
        let inputs = report.drivers.iter().flat_map(|one| &one.corpus.inputs);
        let names: BTreeSet<&std::ffi::OsStr> = inputs.filter_map(|input| input.file_name()).collect();
        let inputs = of_parts(names.into_iter().map(std::ffi::OsStr::as_encoded_bytes));
        let about = |planned: &FunctionPlan| -> Result<String> {
            let files: Vec<String> = report.drivers.iter().map(|one| one.driver.file.to_string()).collect();
            let drivers = drivers_hash(project.workspace.root(), &project.config.drivers, &files);
            let hashes = judge.harness_hashes(planned)?;
            Ok(sha256(format!("{EDITION} {} {} {drivers} {inputs}", hashes.c, hashes.contract)))
        };
        let (mut all, mut open) = (BTreeMap::new(), Vec::new());
        for (number, planned) in reached {
            let key = (&planned.function.key, Measure::InPlace);
            match self.store.mutation_score(key, &about(planned)?)? {
                Some(worth) => drop(all.insert(*number, worth)),
                None => open.push((*number, *planned)),
            }
        }
        if open.is_empty() {
            return Ok(all);
        }
        let numbers: Vec<Number> = open.iter().map(|(number, _)| *number).collect();
        let measured = drivers::measure(project, report, &numbers, TIME, judge.interrupt, self.reporter)?;
        for ((number, planned), measured) in open.into_iter().zip(measured) {
            let is_whole = measured.judged.broke.is_none() && measured.judged.judged > 0;
            let worth = adequacy(planned, measured);
            if !is_whole {
                all.insert(number, worth);
                continue;
            }
            self.store.put_mutation_score((&worth.key, Measure::InPlace), &about(planned)?, &worth)?;
            all.insert(number, worth);
        }
        Ok(all)
    }
}

/// Whether C was seen to do the same as an unchanged copy of it.
fn is_sound(worth: &Adequacy) -> bool {
    worth.difference.is_none() && worth.executions > 0
}

impl Evidence {
    fn take_whole(&mut self, report: &Report, replaced: Replaced, inputs: u64) -> Result<()> {
        let ended = replaced.agreed + replaced.unsteady;
        self.whole = match &replaced.broke {
            Some(how) => Measured::No(format!("a driver with it in C's place: {how}")),
            None if replaced.agreed == 0 || ended < inputs => {
                let agreed = replaced.agreed;
                let what = "a driver ends the same with it in C's place";
                Measured::No(format!("{what} on {agreed} of {inputs} inputs"))
            }
            None => Measured::Yes(Share { reached: replaced.agreed, total: inputs - replaced.unsteady }),
        };
        if let Some(told) = &replaced.differs {
            match told.difference {
                Difference::Whole => self.unclear = Some(Meaning::WHOLE.to_owned()),
                _ => self.finding = Some(found(report, told, None)?),
            }
        }
        Ok(())
    }
}

fn evidence_of(
    report: &Report,
    one: &PortJudged,
    (worth, drivers): (Adequacy, DriversUsed),
) -> Result<Evidence> {
    let wrong = one.differs().filter(|_| one.is_wrong());
    let told = |why: &str| format!("differs from C where a driver calls it ({why})");
    Ok(Evidence {
        // A run that ended early says nothing beyond a difference.
        calls: if one.judged.broke.is_none() { one.judged.distinct } else { 0 },
        drivers,
        finding: wrong.map(|told| found(report, told, one.path().map(str::to_owned))).transpose()?,
        unclear: one.unclear().map(told),
        worth,
        branches: Measured::default(),
        whole: Measured::default(),
    })
}

/// The finding of a difference, with the driver whose input it is.
fn found(report: &Report, told: &Told, path: Option<String>) -> Result<Finding> {
    let has_input = |driven: &&drivers::Driven| {
        let corpus = &driven.corpus;
        corpus.inputs.contains(&told.input) || corpus.more.contains(&told.input)
    };
    let driver = report.drivers.iter().find(has_input).map(|driven| driven.driver.file.to_string());
    Ok(finding(&driver.unwrap_or_default(), (told, path), fs_err::read(&told.input)?))
}

fn finding(driver: &str, (told, path): (&Told, Option<String>), input: Vec<u8>) -> Finding {
    let (class, what) = match told.difference {
        Difference::Memory | Difference::Stack if path.is_some() => {
            (FindingClass::Mismatch, path.unwrap_or_default())
        }
        Difference::Exit if !told.said.is_empty() => (FindingClass::Panic, told.said.clone()),
        Difference::Exit => (FindingClass::SilentExit, "it ends the process".to_owned()),
        Difference::Crash => (FindingClass::Abort, "it crashes".to_owned()),
        Difference::Hang => (FindingClass::Timeout, "it does not return in ten times C's time".to_owned()),
        Difference::RustHeap => (FindingClass::Leak, "it keeps memory of Rust's allocator".to_owned()),
        Difference::Result => (FindingClass::Mismatch, "return value".to_owned()),
        Difference::Memory => {
            (FindingClass::Mismatch, "memory that the library or the driver allocated".to_owned())
        }
        Difference::Variable => (FindingClass::Mismatch, "a variable".to_owned()),
        Difference::Stack => (FindingClass::Mismatch, "memory on the caller's stack".to_owned()),
        Difference::Errno => (FindingClass::Mismatch, "errno".to_owned()),
        Difference::Allocation => (FindingClass::Mismatch, "the number of allocated blocks".to_owned()),
        Difference::Outside => {
            (FindingClass::Mismatch, "it calls a function of the system that C does not call".to_owned())
        }
        Difference::Whole => (FindingClass::Mismatch, "how the driver ends with it in C's place".to_owned()),
    };
    let place = CallInPlace { driver: driver.to_owned(), call: told.call };
    let (args, oracle, subject) = (Vec::new(), Vec::new(), Vec::new());
    Finding { class, what, input, args, oracle, subject, place: Some(place) }
}

/// The measurement of a function in the form that harnesses have.
fn adequacy(planned: &FunctionPlan, measured: InPlace) -> Adequacy {
    let InPlace { symbol, judged, mutants, same, differs, without, .. } = measured;
    let fates = mutants.into_iter().enumerate().map(|(at, mutant)| match same.contains(&(at + 1)) {
        true => Tried { mutant, fate: Fate::Equivalent { reason: SAME.to_owned() } },
        false => {
            let by = judged.killed.get(&(at + 1)).map(|told| format!("in place: {}", told.difference));
            tried(planned, &mutant, by)
        }
    });
    let mutants: Vec<Tried> = fates.collect();
    let nothing = || (judged.judged == 0).then(|| "no call of it can be judged".to_owned());
    Adequacy {
        key: planned.function.key.clone(),
        symbol,
        file: planned.function.place.file.to_string(),
        executions: judged.judged,
        accept_rate: None,
        executions_per_second: None,
        rejected: Vec::new(),
        difference: differs.map(|difference| format!("in place: {difference}")),
        mutants,
        mutant_millis: 0,
        without: without
            .or_else(nothing)
            .or_else(|| judged.broke.map(|how| format!("the run ended early: {how}"))),
    }
}
