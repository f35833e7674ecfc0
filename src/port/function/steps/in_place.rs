//! Judging a candidate inside of drivers' executions.

use super::FunctionPort;
use crate::contract::types::Judgeable;
use crate::drivers::Candidate;
use crate::error::{ErrorKind, Result};
use crate::evidence::fingerprint::Fingerprint;
use crate::judge::in_place::{Evidence, Grounds};
use crate::port::function::session::Session;
use crate::port::prompt::feedback;
use crate::port::supervisor::Outcome;
use crate::project::ported::PortModule;
use crate::verdict::{Measured, RunStats, Verdict};
use std::rc::Rc;

/// What drivers' executions say of a candidate, and what that is about.
#[derive(Debug)]
pub(super) struct InPlace {
    pub evidence: Evidence,
    pub fingerprint: Fingerprint,
    drivers: Rc<Grounds>,
}

impl InPlace {
    /// Whether the evidence is about this code, and these drivers.
    pub fn is_about(&self, fingerprint: &Fingerprint, drivers: Option<&Rc<Grounds>>) -> bool {
        self.fingerprint == *fingerprint && drivers.is_some_and(|drivers| Rc::ptr_eq(&self.drivers, drivers))
    }
}

impl<'p> FunctionPort<'p> {
    /// The fingerprint of the candidate in the module as it is spliced now. Its own inputs are committed with it, and no
    /// sooner.
    pub(super) fn fingerprint(&self, session: &Session<'p>) -> Result<Fingerprint> {
        let module = Rc::new(PortModule::read(self.spliced.clone()));
        session.judge.fingerprint_with(self.planned, Some(&module))
    }

    /// Judges the candidate where drivers call the function: for a function without a sound harness the only judgement.
    pub fn judge_in_place(&mut self, session: &mut Session<'p>) -> Result<Outcome> {
        let without = match &self.planned.judgeable {
            Judgeable::NotYet(why) => Some(why.clone()),
            Judgeable::Yes(_) if self.state.has_harness() => None,
            Judgeable::Yes(_) => session.grounds.unsound(self.planned),
        };
        // After a fault of C, the verdict of its run stands.
        if let Some(reason) = without {
            let verdict = Verdict::Vacuous { reason, stats: RunStats::default() };
            self.accepted = Some((verdict, Measured::default()));
        }
        // The audit kept it: it is about the same code.
        if let Some(known) = &self.in_place {
            let (calls, unclear) = (known.evidence.calls, known.evidence.unclear.clone());
            return Ok(self.unrefuted(session, calls, unclear));
        }
        let Some(grounds) = session.place.clone().filter(|grounds| grounds.judges(self.planned)) else {
            return Ok(self.says_nothing(session, "no driver judges it".into()));
        };
        self.say(session, "judging in place");
        // Before the judgement: what changes meanwhile, no driver has run.
        let fingerprint = self.fingerprint(session)?;
        let candidate = Candidate { planned: self.planned, module: &self.spliced };
        let judged = grounds.judge(&mut session.judging(), &[self.planned], Some(&candidate));
        let evidence = match judged {
            Ok(mut judged) => judged.remove(&self.planned.function.key),
            // A candidate that uses what C's program lacks.
            Err(error) if error.kind() == ErrorKind::C => {
                return Ok(self.says_nothing(session, format!("no driver can be linked with it: {error}")));
            }
            Err(error) => return Err(error),
        };
        let Some(evidence) = evidence else {
            return Ok(self.says_nothing(session, "no driver judges it".into()));
        };
        if let Some(finding) = evidence.finding {
            let driver = finding.place.as_ref().map_or("", |place| place.driver.as_str());
            let dir = session.judge.private_driver_seeds(&self.planned.function.name, driver);
            self.feedback = Some(feedback::refuted(&finding));
            return self.refuted(session, &finding, &dir).map(Outcome::AcceptanceRefuted);
        }
        let (calls, unclear) = (evidence.calls, evidence.unclear.clone());
        self.in_place = Some(InPlace { evidence, fingerprint, drivers: grounds });
        Ok(self.unrefuted(session, calls, unclear))
    }

    /// What follows from evidence without a finding.
    fn unrefuted(&mut self, session: &mut Session<'p>, calls: u64, unclear: Option<String>) -> Outcome {
        match unclear {
            Some(why) => self.says_nothing(session, why),
            None if calls == 0 => self.says_nothing(session, "no call of it was judged".into()),
            None => Outcome::AcceptanceUnrefuted,
        }
    }

    /// What follows where drivers say nothing of the candidate: with a harness its verdict stands.
    fn says_nothing(&mut self, session: &mut Session<'p>, why: String) -> Outcome {
        if self.state.has_harness() {
            return Outcome::AcceptanceUnrefuted;
        }
        self.say(session, format!("in place: {why}"));
        self.feedback = Some(feedback::vacuous(&why));
        self.trouble = why;
        Outcome::Vacuous
    }
}
