//! One port on its way through `verify`: what is plain before its run, the run, and what came of both.

use super::{Judgement, known};
use crate::audit::AuditReport;
use crate::contract::types::Judgeable;
use crate::error::{Error, ErrorKind, Result};
use crate::fuzz::run::{Budget, Campaign};
use crate::judge::{About, Judge, Outcome};
use crate::ported::Ported;
use crate::process::Interrupt;
use crate::project::Planned;
use crate::proofs::{self, Grounds, Linked};
use crate::store::{RunId, Store};
use crate::symbol::SymbolName;
use crate::verdict::{Grade, Measured, Proofs, RunStats, Share, Verdict};
use std::collections::BTreeSet;
use std::path::Path;

/// What came of a run, and of both sides apart.
pub type Ran = (Verdict, Measured<Share>);

/// How much of a port is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// All that a verdict needs.
    Whole,
    /// Its evidence fits the tree. The inputs that are known, and a few more, must not refute it; what was known stays.
    Short,
}

/// What fits the tree is run for so long; the inputs that are known are run whatever time it takes.
const SHORT: Budget = Budget { seconds: 1, executions: Some(2_000) };

/// The run of a port, with all that it needs on a thread of its own.
pub struct Run {
    campaign: Campaign,
    /// So many inputs can be tried one by one, where there are so few.
    points: Option<u64>,
    ask: Ask,
}

impl Run {
    /// Of the port in this binary.
    /// C breaks in `known` ways.
    pub fn of(judge: &Judge, binary: &Path, trial: &Trial, known: BTreeSet<String>) -> Self {
        let planned = trial.planned;
        let campaign = Campaign { known_breaks: Some(known), ..judge.campaign(binary, planned) };
        Self { campaign, points: judge.points(planned), ask: trial.ask }
    }

    /// Both sides beside each other, then apart.
    pub fn judge(
        &self,
        budget: Budget,
        interrupt: &Interrupt,
        see: &mut dyn FnMut(&RunStats),
    ) -> Result<Ran> {
        if self.ask == Ask::Short {
            let verdict = self.campaign.judge_with(self.points, SHORT, interrupt, see)?;
            let ran = proofs::apart(&self.campaign, verdict, interrupt)?;
            // So short a run may call neither side, or be out of luck: anything else the whole one decides.
            if matches!(ran.0, Verdict::Unrefuted(_) | Verdict::Refuted { .. }) {
                return Ok(ran);
            }
        }
        let verdict = self.campaign.judge_with(self.points, budget, interrupt, see)?;
        proofs::apart(&self.campaign, verdict, interrupt)
    }
}

/// A port on trial.
pub struct Trial<'p> {
    pub planned: &'p Planned,
    pub ask: Ask,
    /// Hash of the Rust text.
    hash: String,
    /// What stood in the tree before the build; none where it says nothing.
    about: Option<About>,
    provenance: String,
    /// What still runs as C.
    callees_in_c: Vec<SymbolName>,
    /// What is plain without a run.
    decided: Option<Outcome>,
}

impl<'p> Trial<'p> {
    /// What is plain before anything is built: the body, the audit, whether there is a harness.
    pub fn of(planned: &'p Planned, ask: Ask, store: &Store, judge: &Judge) -> Result<Self> {
        let module = judge.project.module(&planned.function.module)?;
        let hash = judge.hashes(planned, &module)?.rust;
        // Who wrote it is known as long as the text is the one that was judged before.
        let before = store.evidence(&planned.function.key)?.filter(|e| e.rust_hash == hash);
        let provenance = before.map_or_else(|| "hand".to_owned(), |e| e.provenance);
        let is_ported = module.state(&planned.function) == Ported::Yes;
        let about = is_ported.then(|| judge.about(planned, &module)).transpose()?;
        let decided = match module.state(&planned.function) {
            Ported::Yes => refused(judge, planned, module.text())?,
            Ported::Stub | Ported::Missing => {
                let dir = &judge.project.config.rust.dir;
                let place = format!("{dir}/src/{}.rs", planned.function.module);
                let reason = match &planned.judgeable {
                    Judgeable::Yes(_) => {
                        format!("write it in place of its stub in {place}, then verify again")
                    }
                    Judgeable::NotYet(why) => format!("a stub, and no port of it could be judged yet: {why}"),
                };
                Some(Outcome::without_run(Grade::Stub, reason))
            }
        };
        Ok(Self { planned, ask, hash, about, provenance, callees_in_c: Vec::new(), decided })
    }

    /// What is plain before the run: whether the harness can judge anything, and the linkage proof.
    pub fn prepare(&mut self, linked: &Linked, grounds: &Grounds, judge: &Judge) -> Result<()> {
        let linkage = linked.linkage(self.planned);
        self.callees_in_c = proofs::still_c(judge.callees_in_c(self.planned)?, &linkage);
        let differs = grounds.differs(self.planned).map(|why| Outcome::without_run(Grade::Unverifiable, why));
        let refused = || proofs::refused(&linkage).map(|why| Outcome::without_run(Grade::Refuted, why));
        let copy = judge.project.workspace.overlay().join(format!("src/{}.rs", self.planned.function.module));
        let is_built = self.about.as_ref().is_some_and(|about| about.is_of(&copy));
        self.decided = if is_built { differs.or_else(refused) } else { Some(changed()) };
        Ok(())
    }

    /// Whether more than the text must decide.
    pub fn is_open(&self) -> bool {
        self.decided.is_none()
    }

    /// Whether there is a port that must compile: one that no harness can judge must, too.
    pub fn is_built(&self) -> bool {
        self.decided.as_ref().is_none_or(|outcome| outcome.grade == Grade::Unverifiable)
    }

    /// Stores what the port is worth.
    pub fn conclude(
        &self,
        ran: Option<Ran>,
        store: &mut Store,
        grounds: &Grounds,
        (judge, run): (&Judge, RunId),
    ) -> Result<Judgement> {
        // Hours may have gone by: evidence must be about what was built.
        let module = judge.project.module(&self.planned.function.module)?;
        let is_same = match &self.about {
            Some(about) => judge.about(self.planned, &module)? == *about,
            None => true,
        };
        if !is_same {
            return self.without_run(&changed(), store, judge);
        }
        match (&self.decided, ran) {
            (Some(outcome), _) => self.without_run(outcome, store, judge),
            (None, Some((Verdict::Unrefuted(_), _))) if self.ask == Ask::Short => {
                known::of_one(store, judge, self.planned)
            }
            (None, Some(ran)) => self.with_run(ran, store, grounds, (judge, run)),
            (None, None) => Err(Error::new(ErrorKind::Internal, "a port was neither run nor refused")),
        }
    }

    fn without_run(&self, outcome: &Outcome, store: &mut Store, judge: &Judge) -> Result<Judgement> {
        let module = judge.project.module(&self.planned.function.module)?;
        match outcome.grade {
            Grade::Stub => judge.forget(self.planned)?,
            // Nothing is said of it, and what was said before stays.
            Grade::Unjudged => {}
            _ => judge.record(store, self.planned, &module, (outcome, &self.provenance))?,
        }
        Ok(Judgement::new(self.planned, outcome.grade, outcome.reason()))
    }

    fn with_run(
        &self,
        (verdict, apart): Ran,
        store: &mut Store,
        grounds: &Grounds,
        (judge, run): (&Judge, RunId),
    ) -> Result<Judgement> {
        let planned = self.planned;
        let module = judge.project.module(&planned.function.module)?;
        let proofs = Proofs { apart, ..grounds.proofs(judge, planned, &verdict)? };
        let outcome =
            Outcome::of(&verdict, proofs, (&self.callees_in_c, planned), &judge.project.config.grade);
        let outcome = judge.ratcheted(planned, &module, outcome)?;
        // The evidence is about the seeds as well: the counterexample must be among them first.
        let stopped_by_c = matches!(verdict, Verdict::OfC { .. });
        let finding = match verdict {
            Verdict::Refuted { finding, .. } => {
                let dir = judge.seeds(&planned.function.name);
                let id = judge.record_finding(store, run, planned, (&finding, &self.hash), &dir)?;
                Some((id, *finding))
            }
            Verdict::Unrefuted(_) | Verdict::OfC { .. } | Verdict::Vacuous { .. } => None,
        };
        judge.record(store, planned, &module, (&outcome, &self.provenance))?;
        let reason = outcome.reason();
        Ok(Judgement {
            callees_in_c: self.callees_in_c.clone(),
            provenance: Some(self.provenance.clone()),
            proofs: outcome.proofs,
            finding,
            stopped_by_c,
            ..Judgement::new(planned, outcome.grade, reason).with(&outcome.stats)
        })
    }
}

fn changed() -> Outcome {
    Outcome::without_run(Grade::Unjudged, "it changed while it was judged: verify it again".to_owned())
}

/// What the audit has against a port, or why there is no harness for it.
fn refused(judge: &Judge, planned: &Planned, module_text: &str) -> Result<Option<Outcome>> {
    let report = judge.audit(planned, module_text)?;
    if !report.problems.is_empty() {
        return Ok(Some(Outcome::without_run(Grade::Refuted, audit_reason(judge, planned, &report))));
    }
    Ok(match &planned.judgeable {
        Judgeable::NotYet(why) => Some(Outcome::without_run(Grade::Unverifiable, why.clone())),
        Judgeable::Yes(_) => None,
    })
}

/// What the audit says, in one line.
pub fn audit_reason(judge: &Judge, planned: &Planned, report: &AuditReport) -> String {
    let file = format!("{}/src/{}.rs", judge.project.config.rust.dir, planned.function.module);
    let problems: Vec<String> =
        report.problems.iter().map(|p| format!("{file}:{}: {}", p.line, p.reason)).collect();
    format!("the audit rejects it: {}", problems.join("; "))
}
