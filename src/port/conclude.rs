//! Ends a function: refused, skipped, stopped, or accepted and put into the tree.

use super::result::{End, Ended, PortResult};
use super::resume::{self, Action, Plan};
use super::session::Session;
use super::supervisor::StopReason;
use crate::error::Result;
use crate::judge::Outcome;
use crate::judge::verify::{self, Judgement};
use crate::project::FunctionPlan;
use crate::project::init;
use crate::project::ported::{PortModule, Ported};
use crate::symbol::SymbolName;
use crate::verdict::{Grade, Measured, Proofs, RunStats, Share, Verdict};

impl<'p> Session<'p> {
    /// Why a function is not tried, if that is known beforehand.
    pub(super) fn refused(&self, planned: &FunctionPlan) -> Result<Option<PortResult>> {
        if let Some(judgement) = self.standing.of(planned) {
            return self.stood(planned, judgement).map(Some);
        }
        let plan = self.plans.get(&planned.function.key);
        let is_first = plan.is_some_and(|plan| matches!(plan.action, Action::Analyze | Action::Target));
        // Its contract or target had to be asked for first, and there was no answer.
        if let Some(silence) = self.models.silence(&planned.function).filter(|_| is_first) {
            let end = if silence.is_budget { End::Budget } else { End::Failed };
            return self.result(planned, end, Some(silence.why.clone()), None).map(Some);
        }
        let (end, why) = match plan {
            Some(Plan { action: Action::Leave, .. })
                if self.project.ported(&planned.function) == Ported::Yes =>
            {
                (End::AlreadyPorted, None)
            }
            Some(Plan { action: Action::Leave | Action::Analyze, reason }) => {
                (End::NotJudgeable, reason.clone())
            }
            Some(Plan { action: Action::Target, reason }) => {
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

    /// The result of a port that existed before the run.
    fn stood(&self, planned: &FunctionPlan, judgement: &Judgement) -> Result<PortResult> {
        let end = match () {
            () if judgement.c_fault => End::CFault,
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

    /// The result of a function that was tried.
    pub(super) fn conclude(&mut self, planned: &FunctionPlan, ended: Ended) -> Result<PortResult> {
        match ended {
            Ended::Accepted { module, verdict, apart, by } => {
                let before = verify::known(self.project, self.store, &[planned])?.pop();
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
                    StopReason::CFault(_) => End::CFault,
                    _ => End::Failed,
                };
                let result = self.result(planned, end, Some(text), None)?;
                Ok(PortResult { finding, ..result })
            }
        }
    }

    /// The result of a function that needs one that failed.
    pub(super) fn skipped(&self, planned: &FunctionPlan, blamed: &SymbolName) -> Result<PortResult> {
        let fate = match self.standing.fails(blamed) {
            true => "no longer passes",
            false => "failed",
        };
        let why = format!("it needs `{blamed}`, which {fate}");
        self.result(planned, End::Skipped, Some(why), None)
    }

    /// Puts an accepted port into the tree and judges it there; reverts it if the previous port had a better grade.
    fn accept(
        &mut self,
        planned: &FunctionPlan,
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

    /// Writes a module and the shims for its callers in one transaction.
    fn put(&mut self, planned: &FunctionPlan, module: &str) -> Result<()> {
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
        planned: &FunctionPlan,
        end: End,
        reason: Option<String>,
        stats: Option<&RunStats>,
    ) -> Result<PortResult> {
        Ok(PortResult {
            end,
            reason,
            executions: stats.map(|s| s.executions),
            accept_rate: stats.and_then(RunStats::accept_rate),
            callees_in_c: self.judge.callees_in_c(planned)?,
            ..PortResult::untouched(planned.function.name.clone())
        })
    }
}

/// Why an accepted port is not in the tree.
fn stays(outcome: &Outcome, before: Grade) -> Option<String> {
    let (grade, before) = (outcome.grade.word(), before.word());
    let why = outcome.reason().map_or_else(String::new, |why| format!(" ({why})"));
    Some(format!("the new port is only {grade}{why}; the old one, {before}, stays"))
}
