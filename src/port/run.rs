//! A run of `port`: the models that it asks, what it stores, what becomes of each function. In which order they go on is in
//! `crew`.

use super::attempt::Ended;
use super::crew;
use super::desk::Desk;
use super::resume::{self, Deed, Plan, Standing};
use super::session::Session;
use super::supervisor::StopReason;
use crate::error::Result;
use crate::event::Reporter;
use crate::init;
use crate::judge::{Judge, Outcome};
use crate::ported::{PortModule, Ported};
use crate::project::{Planned, Project};
use crate::proofs::Grounds;
use crate::store::{RunOutcome, Store, Totals};
use crate::symbol::{SymbolKey, SymbolName};
use crate::transpile::Transpiler;
use crate::verdict::{Finding, Grade, Measured, Proofs, RunStats, Share, Verdict};
use crate::verify::{self, Judgement};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What became of one function.
#[derive(Debug, Clone, Serialize)]
pub struct PortResult {
    pub symbol: SymbolName,
    pub end: End,
    /// Of an accepted port, and of one that stood before and was looked at.
    pub grade: Option<Grade>,
    /// Why it is not better.
    pub reason: Option<String>,
    pub executions: Option<u64>,
    pub accept_rate: Option<f64>,
    pub callees_in_c: Vec<SymbolName>,
    pub calls: u64,
    pub tokens: u64,
    #[serde(skip)]
    pub finding: Option<Finding>,
}

/// How the port of a function ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// In this run; how strong the evidence is, the grade says.
    Accepted,
    /// It had a body before, which holds.
    AlreadyPorted,
    /// It had a body before, which does not verify any more. It stays as it is.
    NoLongerHolds,
    /// No harness can judge it yet.
    NotJudgeable,
    /// Given up; the tree is as it was.
    Failed,
    /// Given up because the C original breaks, hangs or disagrees with itself; the tree is as it was.
    StoppedByC,
    /// Given up because tokens or money are spent; the tree is as it was.
    Budget,
    /// Not tried: a function that it calls failed, or does not hold any more.
    Skipped,
}

impl PortResult {
    /// Of a port that the run was not about.
    pub(super) fn untouched(symbol: SymbolName) -> Self {
        Self {
            symbol,
            end: End::AlreadyPorted,
            grade: None,
            reason: None,
            executions: None,
            accept_rate: None,
            callees_in_c: Vec::new(),
            calls: 0,
            tokens: 0,
            finding: None,
        }
    }
}

impl End {
    /// Whether nothing is left to do here.
    pub fn is_done(self) -> bool {
        matches!(self, Self::Accepted | Self::AlreadyPorted | Self::NotJudgeable)
    }

    /// Whether a port stands that the run has ported, or looked at.
    pub(super) fn is_standing(self) -> bool {
        matches!(self, Self::Accepted | Self::AlreadyPorted | Self::NoLongerHolds)
    }

    /// As in tables.
    pub fn text(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::AlreadyPorted => "ported before",
            Self::NoLongerHolds => "no longer holds",
            Self::NotJudgeable => "not judged yet",
            Self::Failed => "failed",
            Self::StoppedByC => "stopped by C",
            Self::Budget => "budget spent",
            Self::Skipped => "skipped",
        }
    }
}

/// What is asked of a run.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a, 'p> {
    /// In porting order.
    pub wanted: &'a [&'p Planned],
    /// What stands already is ported again.
    pub redo: bool,
    /// So many ports go on at a time.
    pub jobs: usize,
}

/// Ports functions. The results say how each went; `Err` when the tool, the model or the user stopped it.
pub fn port<'p>(
    project: &'p Project,
    store: &'p mut Store,
    Order { wanted, redo, jobs }: Order<'_, 'p>,
    (judge, desk, transpiler): (Judge<'p>, &'p mut Desk, Option<&Arc<Transpiler>>),
    reporter: &'p mut dyn Reporter,
) -> Result<Vec<PortResult>> {
    let id = desk.id;
    let plans = resume::plan(project, (store, &judge), wanted, redo);
    let plans = desk.or_finish(store, plans)?;
    let mut begin = || {
        let is_asked = |deed| matches!(deed, Deed::Port | Deed::PortAgain);
        let asked = wanted.iter().zip(&plans).filter(|(_, plan)| is_asked(plan.deed));
        let asked: Vec<&Planned> = asked.map(|(planned, _)| *planned).collect();
        let (below, plans_below) = unfit(project, (store, &judge), (wanted, &asked))?;
        let (all, plans) = ([wanted, &below].concat(), [&plans[..], &plans_below].concat());
        let standing = Standing::examine(project, store, (&all, &plans), (&judge, id), reporter)?;
        Ok((standing, Grounds::lay(project, (&judge, store), &asked, reporter)?))
    };
    let begun = begin();
    let (standing, grounds) = desk.or_finish(store, begun)?;
    let stop = judge.interrupt.child();
    let mut run = Session {
        project,
        judge,
        store,
        reporter,
        desk,
        grounds,
        plans: wanted.iter().map(|planned| planned.function.key.clone()).zip(plans).collect(),
        standing,
        transpiler: transpiler.cloned(),
        translated: BTreeMap::new(),
        exhausted: false,
        stop,
        tree: 0,
    };
    let result = crew::port_all(&mut run, wanted, jobs);
    run.desk.or_finish(run.store, result)
}

/// Ports that the run is not about and that `asked` build on, where their evidence does not fit, and what is done about them.
fn unfit<'p>(
    project: &'p Project,
    (store, judge): (&Store, &Judge),
    (wanted, asked): (&[&Planned], &[&Planned]),
) -> Result<(Vec<&'p Planned>, Vec<Plan>)> {
    let is_wanted = |port: &Planned| wanted.iter().any(|one| one.function.key == port.function.key);
    let below = asked.iter().flat_map(|one| resume::below(project, one)).filter(|port| !is_wanted(port));
    let below: BTreeMap<&SymbolKey, &Planned> = below.map(|port| (&port.function.key, port)).collect();
    let below: Vec<&Planned> = below.into_values().collect();
    let plans = resume::plan(project, (store, judge), &below, false)?;
    let all = below.into_iter().zip(plans);
    Ok(all.filter(|(_, plan)| matches!(plan.deed, Deed::Verify | Deed::Refuted)).unzip())
}

/// Ends a run with what became of each function, and returns what it cost.
///
/// # Errors
/// Those of the store.
pub fn finish(store: &mut Store, desk: &Desk, results: &[PortResult]) -> Result<Totals> {
    store.finish_run(desk.id, outcome_of(results))?;
    store.totals(Some(desk.id))
}

fn outcome_of(all: &[PortResult]) -> RunOutcome {
    match all {
        _ if all.iter().any(|r| r.end == End::Budget) => RunOutcome::Budget,
        _ if all.iter().any(|r| r.end == End::NoLongerHolds && r.grade == Some(Grade::Refuted)) => {
            RunOutcome::Refuted
        }
        _ if all.iter().all(|r| r.end.is_done()) => RunOutcome::Done,
        _ => RunOutcome::Incomplete,
    }
}

impl<'p> Session<'p> {
    /// Why a function is not tried, where that is plain.
    pub(super) fn refused(&self, planned: &Planned) -> Result<Option<PortResult>> {
        if let Some(judgement) = self.standing.of(planned) {
            return self.stood(planned, judgement).map(Some);
        }
        let plan = self.plans.get(&planned.function.key);
        let is_first = plan.is_some_and(|plan| matches!(plan.deed, Deed::Analyze | Deed::Target));
        // It was to be asked about first, and nobody answered.
        if let Some(silence) = self.desk.silence(&planned.function).filter(|_| is_first) {
            let end = if silence.is_budget { End::Budget } else { End::Failed };
            return self.result(planned, end, Some(silence.why.clone()), None).map(Some);
        }
        let (end, why) = match plan {
            Some(Plan { deed: Deed::Leave, .. }) if self.project.ported(&planned.function) == Ported::Yes => {
                (End::AlreadyPorted, None)
            }
            Some(Plan { deed: Deed::Leave | Deed::Analyze, reason }) => (End::NotJudgeable, reason.clone()),
            Some(Plan { deed: Deed::Target, reason }) => {
                let why = || "no fuzz target was written for it".to_owned();
                (End::NotJudgeable, Some(reason.clone().unwrap_or_else(why)))
            }
            _ => match (self.standing.in_the_way(self.project, planned), self.grounds.differs(planned)) {
                (Some(blamed), _) => return self.skipped(planned, &blamed).map(Some),
                (None, Some(why)) => (End::NotJudgeable, Some(why)),
                (None, None) => return Ok(None),
            },
        };
        self.result(planned, end, why, None).map(Some)
    }

    /// Of a port that stood before.
    fn stood(&self, planned: &Planned, judgement: &Judgement) -> Result<PortResult> {
        let end = match () {
            () if judgement.stopped_by_c => End::StoppedByC,
            () if resume::holds(judgement.grade) => End::AlreadyPorted,
            () => End::NoLongerHolds,
        };
        let result = self.result(planned, end, judgement.reason.clone(), None)?;
        Ok(PortResult {
            grade: Some(judgement.grade),
            accept_rate: judgement.accept_rate,
            finding: judgement.finding.as_ref().map(|(_, finding)| finding.clone()),
            ..result
        })
    }

    /// What came of a function that was tried.
    pub(super) fn conclude(&mut self, planned: &Planned, ended: Ended) -> Result<PortResult> {
        match ended {
            Ended::Accepted { module, verdict, apart, by } => {
                let before = verify::known(self.project, self.store, &self.judge, &[planned])?.pop();
                let before = before.map_or(Grade::Stub, |known| known.grade);
                let outcome = self.accept(planned, &module, before, (&verdict, apart, &by))?;
                let stats = Some(verdict.stats());
                let (end, grade, why) = match outcome.grade < before {
                    true => (End::AlreadyPorted, before, stays(&outcome, before)),
                    false => (End::Accepted, outcome.grade, outcome.reason()),
                };
                let result = self.result(planned, end, why, stats)?;
                Ok(PortResult { grade: Some(grade), ..result })
            }
            Ended::Stopped { reason: StopReason::Budget, detail, .. } => {
                self.result(planned, End::Budget, Some(detail), None)
            }
            Ended::Stopped { reason, detail, finding } => {
                let detail = detail.trim();
                let text = if detail.is_empty() {
                    reason.word().to_owned()
                } else {
                    format!("{}: {detail}", reason.word())
                };
                let end = match reason {
                    StopReason::NotThePort(_) => End::StoppedByC,
                    _ => End::Failed,
                };
                let result = self.result(planned, end, Some(text), None)?;
                Ok(PortResult { finding, ..result })
            }
        }
    }

    /// Of a function that needs one which failed.
    pub(super) fn skipped(&self, planned: &Planned, blamed: &SymbolName) -> Result<PortResult> {
        let fate = match self.standing.fails(blamed) {
            true => "does not hold any more",
            false => "failed",
        };
        let why = format!("it needs `{blamed}`, which {fate}");
        self.result(planned, End::Skipped, Some(why), None)
    }

    /// Puts an accepted port into the tree, and measures it there; it goes again where what stood there before had a better grade.
    fn accept(
        &mut self,
        planned: &Planned,
        module: &str,
        before: Grade,
        (verdict, apart, provenance): (&Verdict, Measured<Share>, &str),
    ) -> Result<Outcome> {
        let old = self.project.module(&planned.function.module)?;
        self.put(planned, module)?;
        let module = PortModule::read(module.to_owned());
        let callees_in_c = self.judge.callees_in_c(planned)?;
        let proofs = Proofs { apart, ..self.grounds.proofs(&self.judge, planned, verdict)? };
        let outcome = Outcome::of(verdict, proofs, (&callees_in_c, planned), &self.project.config.grade);
        let outcome = self.judge.ratcheted(planned, &module, outcome)?;
        if outcome.grade < before {
            self.put(planned, old.text())?;
            return Ok(outcome);
        }
        self.judge.publish_seeds(&planned.function.name)?;
        self.judge.record(self.store, planned, &module, (&outcome, provenance))?;
        Ok(outcome)
    }

    /// Writes a module, and the way to it for its callers, all or nothing.
    fn put(&mut self, planned: &Planned, module: &str) -> Result<()> {
        let project = self.project;
        let mut transaction = project.workspace.transaction();
        transaction.add(project.module_path(&planned.function.module), module)?;
        let callees = init::callees(project, (&planned.function.module, module))?;
        transaction.add(project.rust_dir().join("src/callee.rs"), callees)?;
        transaction.commit()?;
        self.tree += 1;
        Ok(())
    }

    fn result(
        &self,
        planned: &Planned,
        end: End,
        reason: Option<String>,
        stats: Option<&RunStats>,
    ) -> Result<PortResult> {
        let spent = self.store.totals_of(Some(self.desk.id), &planned.function.key)?;
        Ok(PortResult {
            symbol: planned.function.name.clone(),
            end,
            grade: None,
            reason,
            executions: stats.map(|s| s.executions),
            accept_rate: stats.and_then(RunStats::accept_rate),
            callees_in_c: self.judge.callees_in_c(planned)?,
            calls: spent.calls,
            tokens: spent.input_tokens + spent.output_tokens,
            finding: None,
        })
    }
}

/// Why a port that was accepted is not in the tree.
fn stays(outcome: &Outcome, before: Grade) -> Option<String> {
    let (grade, before) = (outcome.grade.word(), before.word());
    let why = outcome.reason().map_or_else(String::new, |why| format!(" ({why})"));
    Some(format!("the new port would be {grade}{why}: the one that stands is {before} and stays"))
}
