//! What judging in place rests on: the drivers that reach a function, and how well their executions tell C's mutants from
//! C.

use super::DriversUsed;
use crate::digest::sha256;
use crate::drivers::{self, Measured as InPlace, Report, number_of};
use crate::error::Result;
use crate::evidence::fingerprint::{LibraryFlags, drivers_hash};
use crate::in_place::run::Number;
use crate::in_place::table::why_not;
use crate::judge::Judging;
use crate::judge::mutation_score::{Adequacy, Fate, SAME, Tried, tried};
use crate::project::{FunctionPlan, Project};
use crate::store::Measure;
use crate::symbol::SymbolKey;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Changes when the measurement changes, so that stored results are not reused.
const EDITION: u32 = 5;

/// The drivers of a run, and what their executions are worth for some functions.
#[derive(Debug)]
pub struct Grounds {
    pub(super) report: Rc<Report>,
    /// For each function that a driver reaches and whose calls can be judged.
    known: BTreeMap<SymbolKey, Known>,
}

/// What is known of one function.
#[derive(Debug)]
pub(super) struct Known {
    pub number: Number,
    pub worth: Adequacy,
    pub used: DriversUsed,
}

impl Grounds {
    /// Measures the functions that have no stored measurement.
    ///
    /// # Errors
    /// `C` if mutants cannot be built, failures of our own, and Ctrl-C.
    pub fn lay(judging: &mut Judging, report: &Rc<Report>, functions: &[&FunctionPlan]) -> Result<Self> {
        let project = judging.judge.project;
        let reached = report.reached();
        let numbered = functions.iter().filter_map(|planned| Some((number_of(project, planned)?, *planned)));
        let judgeable: Vec<(Number, &FunctionPlan)> = numbered
            .filter(|(number, planned)| {
                reached.contains(number) && why_not(&project.library, &planned.function).is_none()
            })
            .collect();
        // Before anything is built: an edit meanwhile leaves the evidence stale.
        let hashes = Hashes::new(project);
        let used = |number: Number| {
            let reaching = report.drivers.iter().filter(|driven| driven.reached().contains(&number));
            let files: Vec<String> = reaching.map(|driven| driven.driver.file.to_string()).collect();
            let hash = hashes.of(&files);
            DriversUsed { files, hash }
        };
        let used: Vec<DriversUsed> = judgeable.iter().map(|(number, _)| used(*number)).collect();
        let mut worth = worth_in_place(judging, report, (&judgeable, &hashes))?;
        let known = judgeable.iter().zip(used).filter_map(|((number, planned), used)| {
            let worth = worth.remove(number)?;
            Some((planned.function.key.clone(), Known { number: *number, worth, used }))
        });
        Ok(Self { report: Rc::clone(report), known: known.collect() })
    }

    /// What is known of a function whose ports can be judged: C was seen to do the same as an unchanged copy of it.
    pub(super) fn sound(&self, planned: &FunctionPlan) -> Option<&Known> {
        let known = self.known.get(&planned.function.key);
        known.filter(|known| known.worth.difference.is_none() && known.worth.executions > 0)
    }

    /// Whether drivers judge ports of a function.
    pub fn judges(&self, planned: &FunctionPlan) -> bool {
        self.sound(planned).is_some()
    }

    /// Why drivers that reach a function judge no port of it.
    pub fn why_not(&self, planned: &FunctionPlan) -> Option<String> {
        let worth = &self.known.get(&planned.function.key)?.worth;
        match &worth.difference {
            Some(difference) => Some(format!("C differs from itself where a driver calls it: {difference}")),
            None if worth.executions == 0 => worth.without.clone(),
            None => None,
        }
    }
}

/// The hashes of drivers as `check` computes them, each once.
struct Hashes<'p> {
    project: &'p Project,
    library: LibraryFlags,
    known: RefCell<BTreeMap<Vec<String>, String>>,
}

impl<'p> Hashes<'p> {
    fn new(project: &'p Project) -> Self {
        Self { project, library: LibraryFlags::of_library(&project.library), known: RefCell::default() }
    }

    fn of(&self, files: &[String]) -> String {
        let (root, config) = (self.project.workspace.root(), &self.project.config);
        let hash = || drivers_hash(root, config, &self.library, files);
        self.known.borrow_mut().entry(files.to_vec()).or_insert_with(hash).clone()
    }
}

/// How well the executions tell C's mutants from it: from the store, or measured now.
fn worth_in_place(
    judging: &mut Judging,
    report: &Report,
    (reached, hashes): (&[(Number, &FunctionPlan)], &Hashes),
) -> Result<BTreeMap<Number, Adequacy>> {
    let (judge, project) = (judging.judge, judging.judge.project);
    let inputs = report.inputs();
    let about = |number: Number, planned: &FunctionPlan| -> Result<String> {
        let focused = report.focused(number)?;
        let files: Vec<String> = report.drivers.iter().map(|one| one.driver.file.to_string()).collect();
        let drivers = hashes.of(&files);
        let hashes = judge.harness_hashes(planned)?;
        let (seconds, fails) =
            (project.config.drivers.function_seconds, project.config.fuzz.fail_allocations);
        let kills = project.config.grade.kills;
        let about = format!(
            "{EDITION} {} {} {drivers} {inputs} {focused} {seconds} {fails} {kills}",
            hashes.c, hashes.contract
        );
        Ok(sha256(about))
    };
    let (mut all, mut open) = (BTreeMap::new(), Vec::new());
    for (number, planned) in reached {
        let key = (&planned.function.key, Measure::InPlace);
        match judging.store.mutation_score(key, &about(*number, planned)?)? {
            Some(worth) => drop(all.insert(*number, worth)),
            None => open.push((*number, *planned)),
        }
    }
    if open.is_empty() {
        return Ok(all);
    }
    let numbers: Vec<Number> = open.iter().map(|(number, _)| *number).collect();
    let measured = drivers::measure(project, report, &numbers, judge.interrupt, judging.reporter)?;
    for ((number, planned), measured) in open.into_iter().zip(measured) {
        let is_whole = measured.judged.broke.is_none() && measured.judged.judged > 0;
        let worth = adequacy(planned, measured);
        if !is_whole {
            all.insert(number, worth);
            continue;
        }
        judging.store.put_mutation_score((&worth.key, Measure::InPlace), &about(number, planned)?, &worth)?;
        all.insert(number, worth);
    }
    Ok(all)
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
