//! `verify` judges the ports in the tree. It does not matter who wrote them. `last_judgement` gives their status
//! without judging them again.

mod judgement;
mod last_judgement;
mod overview;
mod trial;
#[cfg(test)]
mod agreement;

pub use judgement::Judgement;
pub use last_judgement::known;
pub use overview::{Overview, unsafe_code};
pub use trial::Ask;

use crate::count::count;
use crate::drivers;
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::evidence::grade;
use crate::evidence::lock::Lock;
use crate::fuzz::campaign::Budget;
use crate::fuzz::parallel::{Word, abreast};
use crate::judge::Judging;
use crate::judge::proofs::{Grounds, Linked, Ran};
use crate::project::{FunctionPlan, Project};
use crate::store::{NewRun, RunOutcome, Store, SymbolRow};
use crate::verdict::{CFault, Grade, RunStats};
use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;
use trial::{Run, Trial};

/// Writes the symbols of the library into the store, whose other rows refer to them.
pub fn save_symbols(project: &Project, store: &mut Store) -> Result<()> {
    store.save_symbols(&project.library.functions.iter().map(SymbolRow::of).collect::<Vec<_>>())
}

impl Judging<'_, '_> {
    /// Judges the ports of `wanted` in the tree, as a run of its own. `command` is stored as the requested command;
    /// `budget` replaces the configured one.
    pub fn verify(
        &mut self,
        wanted: &[&FunctionPlan],
        command: &str,
        budget: Option<Budget>,
    ) -> Result<Vec<Judgement>> {
        let run = self.store.start_run(&NewRun {
            command: command.to_owned(),
            tool_version: env!("CARGO_PKG_VERSION").into(),
            ..NewRun::default()
        })?;
        self.run = Some(run);
        let wanted = wanted.iter().map(|planned| (*planned, Ask::Whole)).collect();
        let result = self.judge_ports(wanted, budget);
        let least = self.judge.project.config.grade.least;
        let outcome = match &result {
            Ok(all) if all.iter().any(|j| j.grade == Grade::Refuted) => RunOutcome::Refuted,
            Ok(all) if all.iter().all(|j| grade::is_enough(j.grade, least)) => RunOutcome::Done,
            Ok(_) => RunOutcome::Incomplete,
            Err(error) if error.kind() == ErrorKind::Interrupted => RunOutcome::Interrupted,
            Err(_) => RunOutcome::Failed,
        };
        self.store.finish_run(run, outcome)?;
        result.map_err(|error| match error.kind() {
            ErrorKind::Interrupted => error
                .help("the verdicts that were recorded are kept; `cargo implfuzz verify --stale` judges the other ports"),
            _ => error,
        })
    }

    /// Judges ports in the tree, each as thoroughly as asked: audit, build, fuzzing.
    pub fn judge_ports(
        &mut self,
        wanted: Vec<(&FunctionPlan, Ask)>,
        budget: Option<Budget>,
    ) -> Result<Vec<Judgement>> {
        let judge = self.judge;
        let lock = Lock::load(judge.project.workspace.root())?.unwrap_or_default();
        let reach = drivers::known_reach(judge.project)?;
        let trials = wanted.into_iter().map(|wanted| Trial::of(wanted, &lock, judge, reach.as_ref()));
        let mut trials = trials.collect::<Result<Vec<_>>>()?;
        judge.forget_builds();
        // A port that the audit rejects causes no build.
        let binary = self.build_of(&mut trials)?;
        let open = trials.iter().filter(|trial| trial.is_open());
        // A short run relies on earlier measurements.
        let judged: Vec<_> = open.filter(|trial| trial.ask.is_whole()).map(|trial| trial.planned).collect();
        let grounds = Grounds::lay(self, &judged)?;
        if trials.iter().any(Trial::may_run) {
            let builds: Vec<&Path> = [&*binary].into_iter().chain(grounds.shipped_binary()).collect();
            let linked = Linked::read(judge, &builds)?;
            for trial in trials.iter_mut().filter(|trial| trial.may_run()) {
                trial.prepare(&linked, &grounds, judge)?;
            }
        }
        let budget = budget.unwrap_or_else(|| judge.acceptance_budget());
        self.announce(&trials, budget);
        let runs = trials.iter().map(|trial| match trial.is_open() {
            true => Run::of((judge, &grounds), &binary, trial, self.store).map(Some),
            false => Ok(None),
        });
        let runs: Vec<Option<Run>> = runs.collect::<Result<_>>()?;
        self.run_trials(&mut trials, &runs, budget, &grounds)
    }

    /// The binary with the harnesses of the trials. A port whose fuzz target does not compile is not judged.
    fn build_of(&mut self, trials: &mut [Trial]) -> Result<PathBuf> {
        loop {
            let built: Vec<_> =
                trials.iter().filter(|trial| trial.is_built()).map(|trial| trial.planned).collect();
            if built.is_empty() {
                return Ok(PathBuf::new());
            }
            let wrong = match self.judge.try_harnesses(&built, self.reporter)? {
                Ok(binary) => return Ok(binary),
                Err(wrong) => wrong,
            };
            let is_wrong = |trial: &&mut Trial| wrong.names.contains(trial.planned.function.name.as_str());
            let mut named: Vec<&mut Trial> =
                trials.iter_mut().filter(is_wrong).filter(|t| t.is_built()).collect();
            if named.is_empty() {
                return Err(wrong.error);
            }
            named.iter_mut().for_each(|trial| trial.cannot_be_built(&wrong.error));
        }
    }

    /// Says how long the campaigns may take, which are a part of the work.
    fn announce(&mut self, trials: &[Trial], budget: Budget) {
        let open = trials.iter().filter(|trial| trial.is_open() && trial.ask.is_whole()).count();
        let cores = available_parallelism().map_or(1, NonZero::get).min(open);
        if open > 0 {
            let minutes = (open.div_ceil(cores) as u64 * budget.seconds).div_ceil(60);
            let text = format!(
                "{} to fuzz, each for up to {} s, {cores} at a time: about {}; then the proofs and the drivers",
                count(open, "port"),
                budget.seconds,
                count(minutes, "minute"),
            );
            self.reporter.event(Event::Note { text });
        }
    }

    /// Runs the open trials, one per core at a time, and concludes all trials. What a campaign has refuted is concluded at
    /// once: drivers, which take longer, judge the others.
    fn run_trials(
        &mut self,
        trials: &mut [Trial],
        runs: &[Option<Run>],
        budget: Budget,
        grounds: &Grounds,
    ) -> Result<Vec<Judgement>> {
        let (interrupt, has_drivers) = (self.judge.interrupt, drivers::has_drivers(self.judge.project)?);
        let work = |run: &Option<Run>, see: &mut dyn FnMut(&RunStats)| {
            match run.as_ref().map(|run| run.judge(budget, interrupt, see)).transpose() {
                // What cannot be run must not cost the verdicts on others.
                Err(error) if error.kind() == ErrorKind::Internal => Ok(Err(error)),
                ran => ran.map(Ok),
            }
        };
        let mut all = BTreeMap::new();
        let mut waiting = Vec::new();
        abreast(runs, &work, interrupt, &mut |at, word| {
            let trial = &trials[at];
            let symbol = trial.planned.function.name.clone();
            match word {
                Word::Begun => {
                    let (work, index) = ("verify", at + 1);
                    self.reporter.event(Event::SymbolStarted { symbol, work, index, total: trials.len() });
                }
                Word::Stats(stats) => self.reporter.event(Event::Fuzzing { symbol, stats }),
                Word::Ended(Err(error)) => drop(all.insert(at, self.not_run(trial, &error))),
                Word::Ended(Ok(ran)) if has_drivers && trial.awaits_drivers(ran.as_ref()) => {
                    waiting.push((at, ran));
                }
                Word::Ended(Ok(ran)) => drop(all.insert(at, self.concluded(trial, ran, grounds)?)),
            }
            Ok(())
        })?;
        let reached: Vec<_> = waiting.iter().map(|(at, _)| trials[*at].planned).collect();
        let mut in_place = self.in_place(&reached)?;
        for (at, ran) in waiting {
            trials[at].in_place = in_place.remove(&trials[at].planned.function.key);
            all.insert(at, self.concluded(&trials[at], ran, grounds)?);
        }
        Ok(all.into_values().collect())
    }

    /// The judgement of a trial, which is stored and reported with its findings.
    fn concluded(&mut self, trial: &Trial, ran: Option<Ran>, grounds: &Grounds) -> Result<Judgement> {
        let c_faults: Vec<CFault> = ran.iter().flat_map(|(verdict, _)| verdict.c_faults()).cloned().collect();
        let mut judgement = trial.conclude(ran, self, grounds)?;
        for found in c_faults {
            let id = self.keep_c_fault(trial.planned, &found, self.run)?;
            judgement.c_faults.push((id, found));
        }
        if let Some((_, finding)) = &judgement.finding {
            let (symbol, finding) = (trial.planned.function.name.clone(), Box::new(finding.clone()));
            self.reporter.event(Event::Found { symbol, finding });
        }
        self.finished(trial, &judgement);
        Ok(judgement)
    }

    /// The judgement of a trial that could not be run. Its record stays.
    fn not_run(&mut self, trial: &Trial, error: &Error) -> Judgement {
        let reason = Some(format!("it could not be run: {error}"));
        let judgement = Judgement::new(trial.planned, Grade::Unjudged, reason);
        self.finished(trial, &judgement);
        judgement
    }

    fn finished(&mut self, trial: &Trial, judgement: &Judgement) {
        let symbol = trial.planned.function.name.clone();
        let summary = judgement.reason.clone().unwrap_or_else(|| "no difference found".to_owned());
        let ok = grade::is_enough(judgement.grade, self.judge.project.config.grade.least);
        let grade = Some(judgement.grade);
        self.reporter.event(Event::SymbolFinished { symbol, ok, grade, summary });
    }
}
