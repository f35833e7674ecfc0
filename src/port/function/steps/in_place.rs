//! Judging a candidate inside of drivers' executions.

use super::FunctionPort;
use crate::contract::types::Judgeable;
use crate::drivers::Candidate;
use crate::error::{ErrorKind, Result};
use crate::port::function::session::Session;
use crate::port::prompt::feedback;
use crate::port::supervisor::Outcome;
use crate::verdict::{Measured, RunStats, Verdict};

impl<'p> FunctionPort<'p> {
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
        let Some(grounds) = session.place.clone().filter(|grounds| grounds.judges(self.planned)) else {
            return Ok(self.says_nothing(session, "no driver judges it".into()));
        };
        self.say(session, "judging in place");
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
        self.in_place = Some(evidence);
        match unclear {
            Some(why) => Ok(self.says_nothing(session, why)),
            None if calls == 0 => Ok(self.says_nothing(session, "no call of it was judged".into())),
            None => Ok(Outcome::AcceptanceUnrefuted),
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
