//! `verify` judges the ports in the tree, whoever wrote them; `known` gives their status without judging.

mod known;
mod trial;
#[cfg(test)]
mod agreement;

pub use known::known;
pub use trial::Ask;

use crate::error::{ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::evidence::grade;
use crate::evidence::lock::Lock;
use crate::evidence::status::Trouble;
use crate::fuzz::campaign::Budget;
use crate::fuzz::parallel::{Word, abreast};
use crate::judge::Judge;
use crate::judge::findings;
use crate::judge::proofs::{Grounds, Linked};
use crate::project::{FunctionPlan, Project};
use crate::store::{FindingId, NewRun, RunId, RunOutcome, Store, SymbolRow};
use crate::symbol::SymbolName;
use crate::verdict::{CFault, Finding, Grade, Proofs, RunStats};
use serde::Serialize;
use std::path::{Path, PathBuf};
use trial::{Run, Trial};

/// The judgement of one symbol.
#[derive(Debug, Clone, Serialize)]
pub struct Judgement {
    pub symbol: SymbolName,
    pub file: String,
    pub line: u32,
    pub grade: Grade,
    /// Why the grade is not better, where the grade alone does not show it.
    pub reason: Option<String>,
    pub proofs: Proofs,
    pub executions: Option<u64>,
    /// From 0 to 1.
    pub accept_rate: Option<f64>,
    /// The time of the campaign, if it ran just now.
    pub millis: Option<u64>,
    /// The number of inputs that the contract has, if this run tried them all.
    pub space: Option<u64>,
    /// Functions that it calls and that still run as C.
    pub callees_in_c: Vec<SymbolName>,
    pub provenance: Option<String>,
    /// A person wrote the contract, and so decided which inputs are tried.
    pub contract_edited: bool,
    /// How the last run left it, where it has no port.
    pub last_run: Option<String>,
    /// A problem of a port that was not judged just now.
    #[serde(skip)]
    pub trouble: Option<Trouble>,
    /// Why the port is judged again before another port builds on it although its record holds.
    #[serde(skip)]
    pub unconfirmed: Option<String>,
    #[serde(skip)]
    pub finding: Option<(FindingId, Finding)>,
    /// The C faults that the run found.
    #[serde(skip)]
    pub c_faults: Vec<(FindingId, CFault)>,
    /// C itself is the reason why no port of it can be judged.
    #[serde(skip)]
    pub c_fault: bool,
}

impl Judgement {
    fn new(planned: &FunctionPlan, grade: Grade, reason: Option<String>) -> Self {
        Self {
            symbol: planned.function.name.clone(),
            file: planned.function.place.file.to_string(),
            line: planned.function.place.line,
            grade,
            reason,
            proofs: Proofs::default(),
            executions: None,
            accept_rate: None,
            millis: None,
            space: None,
            callees_in_c: Vec::new(),
            provenance: None,
            // A contract that a model proposed is not a person's; another remark reports it.
            contract_edited: planned.edited
                && planned.judgeable.contract().is_none_or(|contract| contract.proposed_by.is_none()),
            last_run: None,
            trouble: None,
            unconfirmed: None,
            finding: None,
            c_faults: Vec::new(),
            c_fault: false,
        }
    }

    /// How thoroughly a run must judge this port before it builds on it; `None` for a refuted port.
    pub fn ask(&self) -> Option<Ask> {
        let holds = matches!(self.grade, Grade::Weak | Grade::Verified | Grade::Exhaustive);
        match self.trouble {
            Some(Trouble::Refuted) => None,
            None if holds && self.unconfirmed.is_none() => Some(Ask::Short),
            _ => Some(Ask::Whole),
        }
    }

    fn with(mut self, stats: &RunStats) -> Self {
        self.executions = Some(stats.executions);
        self.accept_rate = stats.accept_rate();
        (self.millis, self.space) = (Some(stats.millis), stats.space);
        self
    }
}

/// Writes the symbols of the library into the store, whose other rows refer to them.
pub fn save_symbols(project: &Project, store: &mut Store) -> Result<()> {
    store.save_symbols(&project.library.functions.iter().map(SymbolRow::of).collect::<Vec<_>>())
}

/// Judges the ports of `wanted` in the tree: audit, build, fuzzing. `command` is stored as the requested command;
/// `budget` replaces the configured one.
pub fn verify(
    project: &Project,
    store: &mut Store,
    (wanted, command): (&[&FunctionPlan], &str),
    budget: Option<Budget>,
    judge: &Judge,
    reporter: &mut dyn Reporter,
) -> Result<Vec<Judgement>> {
    let new = NewRun {
        command: command.to_owned(),
        tool_version: env!("CARGO_PKG_VERSION").into(),
        ..NewRun::default()
    };
    let run = store.start_run(&new)?;
    let wanted: Vec<_> = wanted.iter().map(|planned| (*planned, Ask::Whole)).collect();
    let result = verify_in(project, store, &wanted, budget, (judge, run), reporter);
    let outcome = match &result {
        Ok(all) if all.iter().any(|j| j.grade == Grade::Refuted) => RunOutcome::Refuted,
        Ok(all) if all.iter().all(|j| grade::is_enough(j.grade, project.config.grade.least)) => {
            RunOutcome::Done
        }
        Ok(_) => RunOutcome::Incomplete,
        Err(error) if error.kind() == ErrorKind::Interrupted => RunOutcome::Interrupted,
        Err(_) => RunOutcome::Failed,
    };
    store.finish_run(run, outcome)?;
    result
}

/// Like [`verify`], as part of a run, with a depth for each port.
pub fn verify_in(
    project: &Project,
    store: &mut Store,
    wanted: &[(&FunctionPlan, Ask)],
    budget: Option<Budget>,
    (judge, run): (&Judge, RunId),
    reporter: &mut dyn Reporter,
) -> Result<Vec<Judgement>> {
    let lock = Lock::load(project.workspace.root())?.unwrap_or_default();
    let trials = wanted.iter().map(|(planned, ask)| Trial::of(planned, *ask, &lock, judge));
    let mut trials = trials.collect::<Result<Vec<_>>>()?;
    let short: Vec<&FunctionPlan> =
        wanted.iter().filter(|(_, ask)| *ask == Ask::Short).map(|(planned, _)| *planned).collect();
    if !short.is_empty() {
        let mut known = known(project, store, &short)?.into_iter();
        for trial in trials.iter_mut().filter(|trial| trial.ask == Ask::Short) {
            trial.known = known.next();
        }
    }
    let open = trials.iter().filter(|trial| trial.is_open());
    // A short run relies on earlier measurements.
    let judged: Vec<&FunctionPlan> =
        open.clone().filter(|trial| trial.ask == Ask::Whole).map(|trial| trial.planned).collect();
    let is_any_open = open.count() > 0;
    // A port that the audit rejects causes no build.
    let built: Vec<&FunctionPlan> =
        trials.iter().filter(|trial| trial.is_built()).map(|trial| trial.planned).collect();
    let binary = match built.is_empty() {
        false => judge.harnesses(&built, reporter)?,
        true => PathBuf::new(),
    };
    let grounds = Grounds::lay(project, (judge, store), &judged, reporter)?;
    if is_any_open {
        let linked = Linked::read(judge, &binary)?;
        for trial in trials.iter_mut().filter(|trial| trial.is_open()) {
            trial.prepare(&linked, &grounds, judge)?;
        }
    }
    let budget = budget.unwrap_or_else(|| judge.acceptance_budget());
    run_abreast(&trials, (&binary, budget), store, &grounds, (judge, run), reporter)
}

/// Runs the open trials, one per core at a time, and concludes all trials in order.
fn run_abreast(
    trials: &[Trial],
    (binary, budget): (&Path, Budget),
    store: &mut Store,
    grounds: &Grounds,
    (judge, run): (&Judge, RunId),
    reporter: &mut dyn Reporter,
) -> Result<Vec<Judgement>> {
    let interrupt = judge.interrupt;
    let runs = trials.iter().map(|trial| match trial.is_open() {
        true => {
            let known = findings::known_breaks(store, trial.planned)?;
            Ok(Some(Run::of(judge, binary, trial, known)))
        }
        false => Ok(None),
    });
    let runs: Vec<Option<Run>> = runs.collect::<Result<_>>()?;
    let work = |run: &Option<Run>, see: &mut dyn FnMut(&RunStats)| {
        run.as_ref().map(|run| run.judge(budget, interrupt, see)).transpose()
    };
    let mut all = Vec::new();
    abreast(&runs, &work, interrupt, &mut |at, word| {
        let trial = &trials[at];
        let symbol = trial.planned.function.name.clone();
        match word {
            Word::Begun => {
                let (work, index) = ("verify", at + 1);
                reporter.event(Event::SymbolStarted { symbol, work, index, total: trials.len() });
            }
            Word::Stats(stats) => reporter.event(Event::Fuzzing { symbol, stats }),
            Word::Ended(ran) => {
                let c_faults: Vec<CFault> =
                    ran.iter().flat_map(|(verdict, _)| verdict.c_faults()).cloned().collect();
                let mut judgement = trial.conclude(ran, store, grounds, (judge, run))?;
                for found in c_faults {
                    let id = findings::keep_c_fault((store, Some(run)), trial.planned, &found, reporter)?;
                    judgement.c_faults.push((id, found));
                }
                if let Some((_, finding)) = &judgement.finding {
                    let finding = Box::new(finding.clone());
                    reporter.event(Event::Found { symbol: symbol.clone(), finding });
                }
                let summary = judgement.reason.clone().unwrap_or_else(|| "no difference found".to_owned());
                let (grade, ok) = (
                    Some(judgement.grade),
                    grade::is_enough(judgement.grade, judge.project.config.grade.least),
                );
                reporter.event(Event::SymbolFinished { symbol, ok, grade, summary });
                all.push(judgement);
            }
        }
        Ok(())
    })?;
    Ok(all)
}
