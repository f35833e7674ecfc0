//! Ends a function: refused, skipped, stopped, or accepted and put into the tree.

use crate::contract::types::Judgeable;
use crate::error::Result;
use crate::judge::Outcome;
use crate::judge::proofs;
use crate::judge::verify::{self, Judgement};
use crate::port::function::result::{Accepted, End, Graded, PortResult};
use crate::port::function::session::Session;
use crate::port::plan::redo::{self, Redo};
use crate::port::plan::resume::{Action, Plan};
use crate::port::prompt::c_variables::out_of_reach;
use crate::port::supervisor::StopReason;
use crate::project::FunctionPlan;
use crate::project::init;
use crate::project::ported::Ported;
use crate::store::lesson::{Kind, Lesson, Scope};
use crate::symbol::SymbolName;
use crate::verdict::{Finding, Grade, Proofs};

impl<'p> Session<'p> {
    /// Why a function is not tried, if that is known beforehand.
    pub fn refused(&self, planned: &FunctionPlan) -> Result<Option<PortResult>> {
        if let Some(judgement) = self.standing.of(planned) {
            return self.stood(planned, judgement).map(Some);
        }
        let plan = self.plans.get(&planned.function.key);
        let is_first = plan.is_some_and(|plan| matches!(plan.action, Action::Analyze | Action::Target));
        // Its contract or target had to be asked for first, and there was no answer.
        if let Some(silence) = self.models.silence(&planned.function).filter(|_| is_first) {
            let end = if silence.is_budget { End::Budget } else { End::Failed };
            return self.result(planned, end, Some(silence.why.clone())).map(Some);
        }
        let (end, why) = match plan {
            Some(Plan { action: Action::Leave, .. })
                if self.project.ported(&planned.function) == Ported::Yes =>
            {
                (End::AlreadyPorted, None)
            }
            Some(Plan { action: Action::Leave | Action::Analyze, reason, .. }) => {
                (End::NotJudgeable, reason.as_ref().map(|why| self.with_drivers(why, planned)))
            }
            Some(Plan { action: Action::Target, reason, .. }) => {
                let why = || "no fuzz target was written for it".to_owned();
                (End::NotJudgeable, Some(reason.clone().unwrap_or_else(why)))
            }
            _ => match (self.standing.in_the_way(self.project, planned), self.unjudged(planned)) {
                (Some(blamed), _) => return self.skipped(planned, &blamed).map(Some),
                (None, Some(why)) => (End::NotJudgeable, Some(why)),
                (None, None) => match out_of_reach(self.project, &planned.function)? {
                    Some(why) => (End::NotJudgeable, Some(why)),
                    None => return Ok(None),
                },
            },
        };
        self.result(planned, end, why).map(Some)
    }

    /// Why no run can judge a port of the function.
    fn unjudged(&self, planned: &FunctionPlan) -> Option<String> {
        let is_skipped = self.project.is_skipped(planned);
        if !is_skipped && self.place.as_ref().is_some_and(|place| place.judges(planned)) {
            return None;
        }
        match &planned.judgeable {
            Judgeable::NotYet(why) if is_skipped => Some(why.clone()),
            Judgeable::Yes(_) => Some(self.with_drivers(&self.grounds.unsound(planned)?, planned)),
            Judgeable::NotYet(why) => Some(self.with_drivers(why, planned)),
        }
    }

    /// Whether a harness judges ports of the function. Where C differs from itself in it, only drivers can.
    pub fn has_harness(&self, planned: &FunctionPlan) -> bool {
        planned.judgeable.contract().is_some() && self.grounds.unsound(planned).is_none()
    }

    /// Why a function has no harness, and why no driver judges it.
    fn with_drivers(&self, why: &str, planned: &FunctionPlan) -> String {
        match &self.place {
            Some(place) => {
                let unreached = || "no driver reaches it".to_owned();
                format!("{why}; {}", place.why_not(planned).unwrap_or_else(unreached))
            }
            None => why.to_owned(),
        }
    }

    /// The result of a port that existed before the run.
    fn stood(&self, planned: &FunctionPlan, judgement: &Judgement) -> Result<PortResult> {
        let end = match () {
            () if judgement.c_fault => End::CFault,
            () if judgement.grade.holds() => End::AlreadyPorted,
            () => End::NoLongerHolds,
        };
        let result = self.result(planned, end, judgement.reason.clone())?;
        Ok(PortResult {
            grade: Some(judgement.grade),
            accept_rate: judgement.accept_rate,
            finding: judgement.finding.as_ref().map(|(_, finding)| finding.clone()),
            ..result
        })
    }

    /// Grades an accepted port as if it stood in the tree.
    pub fn graded(&mut self, planned: &FunctionPlan, port: Accepted) -> Result<Graded> {
        let Accepted { module, verdict, apart, in_place, reaches_c, by } = port;
        let before = verify::known(self.project, self.store, &[planned])?.pop();
        let before = before.map_or(Grade::Stub, |known| known.grade);
        let proofs = Proofs { apart, ..self.grounds.proofs(&self.judge, planned, &verdict)? };
        let place = in_place.as_ref().map(|found| {
            found.joined(&proofs, (self.grounds.adequacy(planned), self.grounds.unsound(planned)))
        });
        let outcome = self.project.as_if(&planned.function.module, &module, || {
            let callees_in_c = proofs::still_c(self.judge.callees_in_c(planned)?, &reaches_c);
            self.judge.outcome(planned, &verdict, (proofs, place.as_ref()), &callees_in_c)
        })?;
        Ok(Graded { module, verdict, outcome, before, by })
    }

    /// Puts a graded port into the tree, unless the previous port has a better grade.
    pub fn accept(&mut self, planned: &FunctionPlan, graded: Graded) -> Result<PortResult> {
        let Graded { module, verdict, outcome, before, by } = graded;
        let (end, grade, why) = match outcome.grade {
            grade if grade < before => {
                if self.redo == Redo::Safer {
                    return self.no_safer(planned, &stays(&outcome, before).unwrap_or_default());
                }
                (End::AlreadyPorted, before, stays(&outcome, before))
            }
            grade if !grade.holds() => return self.result(planned, End::Failed, outcome.reason()),
            grade => {
                self.put(planned, &module)?;
                self.judge.publish_seeds(&planned.function.name)?;
                self.judge.record(self.store, planned, &outcome, &by)?;
                (End::Accepted, grade, outcome.reason())
            }
        };
        let result = self.result(planned, end, why)?;
        let (executions, accept_rate) = (Some(verdict.stats().executions), verdict.stats().accept_rate());
        let in_place = Some(outcome.stats.in_place).filter(|calls| *calls > 0);
        Ok(PortResult { grade: Some(grade), executions, in_place, accept_rate, ..result })
    }

    /// The result of a function that was tried in vain.
    pub fn give_up(
        &mut self,
        planned: &FunctionPlan,
        reason: StopReason,
        detail: &str,
        finding: Option<Finding>,
    ) -> Result<PortResult> {
        let text = match detail.trim() {
            "" => reason.word().to_owned(),
            detail => format!("{}: {detail}", reason.word()),
        };
        if self.redo == Redo::Safer && reason.is_of_answers() {
            return self.no_safer(planned, &text);
        }
        let (end, text, finding) = match reason {
            // A spent budget says nothing about the candidate.
            StopReason::Budget => (End::Budget, detail.to_owned(), None),
            StopReason::CFault(_) => (End::CFault, text, finding),
            _ => (End::Failed, text, finding),
        };
        Ok(PortResult { finding, ..self.result(planned, end, Some(text))? })
    }

    /// The result of a port of which no safer one was found: it stays, and is not asked about again.
    fn no_safer(&mut self, planned: &FunctionPlan, why: &str) -> Result<PortResult> {
        self.store.learn(Lesson {
            kind: Kind::Decision,
            scope: Scope::Symbol(planned.function.key.clone()),
            key: redo::no_safer(self.project, planned)?,
            text: format!("no port of `{}` with less `unsafe` was found: {why}", planned.function.name),
            source: format!("run {}", self.models.id.0),
            proven: false,
        })?;
        let known = verify::known(self.project, self.store, &[planned])?.pop();
        let result = self.result(planned, End::AlreadyPorted, Some(format!("no safer port: {why}")))?;
        Ok(PortResult { grade: known.map(|known| known.grade), ..result })
    }

    /// The result of a function that needs a function whose wrong port stays in the tree.
    pub fn skipped(&self, planned: &FunctionPlan, blamed: &SymbolName) -> Result<PortResult> {
        let fate = match self.standing.fails(blamed) {
            true => "no longer passes",
            false => "could not be written anew",
        };
        let why = format!("it needs `{blamed}`, which {fate}");
        self.result(planned, End::Skipped, Some(why))
    }

    /// The result of a function that has got a port from someone else meanwhile, which stays.
    pub fn written_by_another(&self, planned: &FunctionPlan) -> Result<PortResult> {
        let why = format!(
            "someone wrote it while it was ported: to judge that port, cargo implfuzz verify {}",
            planned.function.name
        );
        self.result(planned, End::Failed, Some(why))
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

    fn result(&self, planned: &FunctionPlan, end: End, reason: Option<String>) -> Result<PortResult> {
        let callees_in_c = self.judge.callees_in_c(planned)?;
        Ok(PortResult { end, reason, callees_in_c, ..PortResult::untouched(planned.function.name.clone()) })
    }
}

/// Why an accepted port is not in the tree.
fn stays(outcome: &Outcome, before: Grade) -> Option<String> {
    let (grade, before) = (outcome.grade.word(), before.word());
    let why = outcome.reason().map_or_else(String::new, |why| format!(" ({why})"));
    Some(format!("the new port is only {grade}{why}; the old one, {before}, stays"))
}
