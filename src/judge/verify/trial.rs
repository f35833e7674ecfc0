//! One port on its way through `verify`: decisions before its run, the run, and its conclusion.

use super::Judgement;
use super::last_judgement::with_drivers;
use crate::audit::AuditReport;
use crate::contract::types::Judgeable;
use crate::digest::sha256;
use crate::drivers::{KnownReach, Reachability, known_reach};
use crate::error::{Error, ErrorKind, Result};
use crate::evidence::fingerprint::Fingerprint;
use crate::evidence::lock::Lock;
use crate::fuzz::campaign::Budget;
use crate::judge::in_place::Evidence;
use crate::judge::proofs::{self, Grounds, Linked, Ran};
use crate::judge::{Judge, Judging, Outcome, PortRun};
use crate::platform::process::Interrupt;
use crate::project::ported::Ported;
use crate::project::{FunctionPlan, Project};
use crate::store::Store;
use crate::symbol::SymbolName;
use crate::verdict::{Grade, Measured, Proofs, RunStats, Verdict};
use std::path::Path;

/// How thoroughly a port is judged.
#[derive(Debug, Clone)]
pub enum Ask {
    /// Everything that a verdict needs.
    Whole,
    /// For evidence that fits the tree: the kept inputs and a few new ones must not refute the port; this earlier
    /// judgement stays.
    Short(Box<Judgement>),
}

impl Ask {
    /// Whether a new verdict is asked for.
    pub fn is_whole(&self) -> bool {
        matches!(self, Self::Whole)
    }
}

/// Budget of a short run; the kept inputs run in any case, whatever time they take.
const SHORT: Budget = Budget { seconds: 1, executions: Some(2_000) };

/// The run of a port, as thorough as asked.
pub struct Run {
    port: PortRun,
    is_whole: bool,
}

impl Run {
    /// The run of the port in this binary.
    pub fn of(
        (judge, grounds): (&Judge, &Grounds),
        binary: &Path,
        trial: &Trial,
        store: &Store,
    ) -> Result<Self> {
        let module = judge.project.module(&trial.planned.function.module)?;
        let mut port = judge.port_run(binary, trial.planned, &module, store)?;
        let is_whole = trial.ask.is_whole();
        if is_whole {
            port.shipped = grounds.shipped(judge, trial.planned)?;
        }
        Ok(Self { port, is_whole })
    }

    /// Runs both sides in one process, then in isolation.
    pub fn judge(
        &self,
        budget: Budget,
        interrupt: &Interrupt,
        see: &mut dyn FnMut(&RunStats),
    ) -> Result<Ran> {
        if !self.is_whole {
            let ran = self.port.isolated(self.port.run(SHORT, interrupt, see)?, interrupt)?;
            // A short run may miss both sides or have bad luck: any other verdict comes from the whole run.
            if matches!(ran.0, Verdict::Unrefuted(_) | Verdict::Refuted { .. }) {
                return Ok(ran);
            }
        }
        self.port.isolated(self.port.run(budget, interrupt, see)?, interrupt)
    }
}

/// The judged texts at some time.
#[derive(Debug, PartialEq, Eq)]
struct Subject {
    fingerprint: Fingerprint,
    /// The hash of the whole module, of which each build has a copy.
    module: String,
}

impl Subject {
    fn of(judge: &Judge, planned: &FunctionPlan, module_text: &str) -> Result<Self> {
        Ok(Self { fingerprint: judge.fingerprint(planned)?, module: sha256(module_text) })
    }
}

/// A port to be judged.
pub struct Trial<'p> {
    pub planned: &'p FunctionPlan,
    pub ask: Ask,
    /// The texts before the build; `None` without a port.
    subject: Option<Subject>,
    provenance: String,
    /// The drivers that its last grade rests on.
    drivers_before: Vec<String>,
    /// The functions that still run as C.
    callees_in_c: Vec<SymbolName>,
    /// The outcome, if it is known without a run.
    decided: Option<Outcome>,
    /// What drivers' executions say of it.
    pub in_place: Option<Evidence>,
}

impl<'p> Trial<'p> {
    /// Decides what needs no build: whether there is a body, what the audit reports, whether there is a harness.
    pub fn of(
        (planned, ask): (&'p FunctionPlan, Ask),
        lock: &Lock,
        judge: &Judge,
        reach: Option<&KnownReach>,
    ) -> Result<Self> {
        let module = judge.project.module(&planned.function.module)?;
        let is_ported = module.state(&planned.function) == Ported::Yes;
        let subject = is_ported.then(|| Subject::of(judge, planned, module.text())).transpose()?;
        // The author is known only if the text is the one judged before.
        let text = subject.as_ref().map(|subject| &subject.fingerprint.rust);
        let before = lock.symbols.get(planned.function.name.as_str());
        let before = before.filter(|entry| Some(&entry.fingerprint.rust) == text);
        let drivers_before = before.map(|entry| entry.driver_files.clone()).unwrap_or_default();
        let provenance = before.map_or_else(|| "hand".to_owned(), |entry| entry.provenance.clone());
        let decided = match module.state(&planned.function) {
            Ported::Yes => refused(judge, planned, module.text())?,
            Ported::Stub | Ported::Missing => {
                let dir = &judge.project.config.rust.dir;
                let place = format!("{dir}/src/{}.rs", planned.function.module);
                let is_reached =
                    reach.is_some_and(|reach| reach.of(&planned.function) == Reachability::Reached);
                let reason = match &planned.judgeable {
                    Judgeable::NotYet(why) if !is_reached => {
                        let why = with_drivers(why.clone(), reach, planned);
                        format!("a stub, and no port of it could be judged yet: {why}")
                    }
                    _ => format!("write the port in place of its stub in {place}, then verify again"),
                };
                Some(Outcome::without_run(Grade::Stub, reason))
            }
        };
        let (callees_in_c, in_place) = (Vec::new(), None);
        Ok(Self { planned, ask, subject, provenance, drivers_before, callees_in_c, decided, in_place })
    }

    /// Decides what needs the build but no run: whether the harness can judge, and the linkage proof. What no harness can
    /// judge stays so.
    pub fn prepare(&mut self, linked: &Linked, grounds: &Grounds, judge: &Judge) -> Result<()> {
        let linkage = linked.linkage(self.planned)?;
        self.callees_in_c = proofs::still_c(judge.callees_in_c(self.planned)?, &linkage.reaches_c);
        let differs = grounds.unsound(self.planned).map(|why| Outcome::without_run(Grade::Unverifiable, why));
        let refused = || proofs::refused(&linkage).map(|why| Outcome::without_run(Grade::Refuted, why));
        let without = || self.decided.clone();
        self.decided =
            if self.was_built(judge)? { refused().or(differs).or_else(without) } else { Some(changed()) };
        Ok(())
    }

    /// Decides that the harness cannot be built, for this reason.
    pub fn cannot_be_built(&mut self, error: &Error) {
        self.decided = Some(Outcome::without_run(Grade::Unjudged, error.to_string()));
    }

    /// Whether a run must decide.
    pub fn is_open(&self) -> bool {
        self.decided.is_none()
    }

    /// Whether its code may run: with its harness, or where drivers call it.
    pub fn may_run(&self) -> bool {
        self.subject.is_some() && self.is_built()
    }

    /// Whether drivers must judge it, too, after this run of its harness.
    pub fn awaits_drivers(&self, ran: Option<&Ran>) -> bool {
        let is_refuted = matches!(ran, Some((Verdict::Refuted { .. }, _)));
        self.may_run() && self.ask.is_whole() && !is_refuted
    }

    /// Whether the port must compile, which includes ports that no harness can judge.
    pub fn is_built(&self) -> bool {
        self.decided.as_ref().is_none_or(|outcome| outcome.grade == Grade::Unverifiable)
    }

    /// Whether all builds so far had the texts that the tree had before them: a text may change and change back.
    fn was_built(&self, judge: &Judge) -> Result<bool> {
        let Some(subject) = &self.subject else { return Ok(false) };
        judge.was_built_from(self.planned, &subject.module, &subject.fingerprint.c)
    }

    /// Whether the tree has what was judged. Hours may have passed.
    fn is_as_judged(&self, judge: &Judge) -> Result<bool> {
        let Some(subject) = &self.subject else { return Ok(true) };
        let module = judge.project.module(&self.planned.function.module)?;
        Ok(Subject::of(judge, self.planned, module.text())? == *subject && self.was_built(judge)?)
    }

    /// Stores the outcome of the port.
    pub fn conclude(&self, ran: Option<Ran>, judging: &mut Judging, grounds: &Grounds) -> Result<Judgement> {
        let judge = judging.judge;
        if !self.is_as_judged(judge)? {
            return self.changed_meanwhile(ran, judging);
        }
        match (&self.decided, ran) {
            // A short run asks no driver: what drivers said holds.
            (Some(Outcome { grade: Grade::Unverifiable, .. }), _) if self.in_place_before().is_some() => {
                Ok(self.in_place_before().cloned().unwrap_or_default())
            }
            // What broke now may not break the next time: an earlier record stays.
            (Some(Outcome { grade: Grade::Unverifiable, .. }), _)
                if !self.drivers_before.is_empty() && self.broken_drivers().is_some() =>
            {
                let how = self.broken_drivers().unwrap_or_default();
                let why = format!("a driver's run ended early ({how}): run `cargo implfuzz verify` again");
                self.without_run(&Outcome::without_run(Grade::Unjudged, why), judging)
            }
            // Drivers judge what no harness can.
            (Some(Outcome { grade: Grade::Unverifiable, shortcomings, .. }), _)
                if self.in_place.is_some() =>
            {
                let reason = shortcomings.join("; ");
                let verdict = Verdict::Vacuous { reason, stats: RunStats::default() };
                self.with_run((verdict, Measured::default()), judging, grounds)
            }
            (Some(outcome), _) => self.without_run(&self.without_drivers(outcome, judge.project)?, judging),
            (None, Some(ran)) => match (&self.ask, &ran.0) {
                (Ask::Short(known), Verdict::Unrefuted(_)) => Ok((**known).clone()),
                // A short run asks no driver; and what C does in the harness, or does not, is not the port's fault.
                (Ask::Short(known), Verdict::CFault { .. } | Verdict::Vacuous { .. })
                    if known.in_place.is_some() =>
                {
                    Ok((**known).clone())
                }
                _ => self.with_run(ran, judging, grounds),
            },
            (None, None) => Err(Error::new(ErrorKind::Internal, "a port was neither run nor refused")),
        }
    }

    /// The judgement if the tree has changed meanwhile. An input that refuted the judged text stays, because that text may
    /// come back.
    fn changed_meanwhile(&self, ran: Option<Ran>, judging: &mut Judging) -> Result<Judgement> {
        let judgement = self.without_run(&changed(), judging)?;
        let (Some((Verdict::Refuted { finding, .. }, _)), Some(subject)) = (ran, &self.subject) else {
            return Ok(judgement);
        };
        let (was, now) = (&subject.fingerprint, judging.judge.fingerprint(self.planned)?);
        // Another harness reads other arguments from its bytes.
        if (&was.contract, &was.harness) != (&now.contract, &now.harness) {
            return Ok(judgement);
        }
        let dir = judging.judge.committed_seeds(self.planned, &finding);
        let id = judging.record_finding(self.planned, &finding, &was.rust, &dir)?;
        Ok(Judgement { finding: Some((id, *finding)), ..judgement })
    }

    /// How drivers' runs ended early that say nothing of the port.
    fn broken_drivers(&self) -> Option<&str> {
        let said_nothing =
            |place: &&Evidence| place.calls == 0 && place.finding.is_none() && place.unclear.is_none();
        self.in_place.as_ref().filter(said_nothing)?.broke.as_deref()
    }

    /// The earlier judgement of a short run, if it rests on drivers.
    fn in_place_before(&self) -> Option<&Judgement> {
        match &self.ask {
            Ask::Short(known) => Some(&**known).filter(|known| known.in_place.is_some()),
            Ask::Whole => None,
        }
    }

    /// Says of a port that only drivers could judge why none does.
    fn without_drivers(&self, outcome: &Outcome, project: &Project) -> Result<Outcome> {
        let mut outcome = outcome.clone();
        if outcome.grade != Grade::Unverifiable {
            return Ok(outcome);
        }
        if !self.drivers_before.is_empty() {
            let drivers = self.drivers_before.join(", ");
            outcome.shortcomings.push(format!("it was judged with {drivers}, and no driver judges it now"));
        } else if self.ask.is_whole() {
            let reach = known_reach(project)?.map(|reach| reach.of(&self.planned.function));
            let more = match reach {
                None => "a driver could judge it: `cargo implfuzz drivers --new calls`".to_owned(),
                Some(Reachability::Reached) => {
                    "drivers reach it, but no call could be judged: `cargo implfuzz drivers --ports` says why"
                        .to_owned()
                }
                Some(other) => other.remark(),
            };
            outcome.shortcomings.push(more);
        }
        Ok(outcome)
    }

    fn without_run(&self, outcome: &Outcome, judging: &mut Judging) -> Result<Judgement> {
        match outcome.grade {
            Grade::Stub => judging.judge.forget(self.planned)?,
            // Without a judgement, the earlier record stays.
            Grade::Unjudged => {}
            _ => judging.judge.record(judging.store, self.planned, outcome, &self.provenance)?,
        }
        Ok(Judgement::new(self.planned, outcome.grade, outcome.reason()))
    }

    fn with_run(&self, (verdict, apart): Ran, judging: &mut Judging, grounds: &Grounds) -> Result<Judgement> {
        let (planned, judge) = (self.planned, judging.judge);
        let proofs = Proofs { apart, ..grounds.proofs(judge, planned, &verdict)? };
        let place = self
            .in_place
            .as_ref()
            .map(|evidence| evidence.joined(&proofs, (grounds.adequacy(planned), grounds.unsound(planned))));
        let outcome = judge.outcome(planned, &verdict, (proofs, place.as_ref()), &self.callees_in_c)?;
        // Proofs take long, too.
        if !self.is_as_judged(judge)? {
            return self.changed_meanwhile(Some((verdict, Measured::default())), judging);
        }
        // The evidence covers the seeds, so the counterexample must be added to them first.
        let c_fault = matches!(verdict, Verdict::CFault { .. }) && outcome.grade == Grade::Unverifiable;
        let in_place = self.in_place.as_ref().and_then(|evidence| evidence.finding.clone());
        let finding = match verdict {
            Verdict::Refuted { finding, .. } => Some(*finding),
            Verdict::Unrefuted(_) | Verdict::CFault { .. } | Verdict::Vacuous { .. } => in_place,
        };
        let finding = match finding {
            Some(finding) => {
                let dir = judge.committed_seeds(planned, &finding);
                let text = self.subject.as_ref().map_or("", |subject| subject.fingerprint.rust.as_str());
                let id = judging.record_finding(planned, &finding, text, &dir)?;
                Some((id, finding))
            }
            None => None,
        };
        judge.record(judging.store, planned, &outcome, &self.provenance)?;
        let reason = outcome.reason();
        Ok(Judgement {
            callees_in_c: self.callees_in_c.clone(),
            provenance: Some(self.provenance.clone()),
            proofs: outcome.proofs,
            finding,
            c_fault,
            ..Judgement::new(planned, outcome.grade, reason).with(&outcome.stats)
        })
    }
}

fn changed() -> Outcome {
    Outcome::without_run(
        Grade::Unjudged,
        "its code or contract changed while it was judged: run `cargo implfuzz verify` again".to_owned(),
    )
}

/// The outcome if the audit rejects a port or there is no harness for it.
fn refused(judge: &Judge, planned: &FunctionPlan, module_text: &str) -> Result<Option<Outcome>> {
    let report = judge.audit(planned, module_text)?;
    if !report.problems.is_empty() {
        return Ok(Some(Outcome::without_run(Grade::Refuted, audit_reason(judge, planned, &report))));
    }
    Ok(match &planned.judgeable {
        Judgeable::NotYet(why) => Some(Outcome::without_run(Grade::Unverifiable, why.clone())),
        Judgeable::Yes(_) => None,
    })
}

/// The audit's problems in one line.
fn audit_reason(judge: &Judge, planned: &FunctionPlan, report: &AuditReport) -> String {
    let file = format!("{}/src/{}.rs", judge.project.config.rust.dir, planned.function.module);
    let problems: Vec<String> =
        report.problems.iter().map(|p| format!("{file}:{}: {}", p.line, p.reason)).collect();
    format!("the audit rejects it: {}", problems.join("; "))
}
