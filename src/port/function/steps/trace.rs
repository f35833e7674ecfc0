//! The rows of a port in the store: one for each step with its reason, and one for each candidate.

use super::FunctionPort;
use crate::error::Result;
use crate::llm::model_session::Traced;
use crate::port::function::session::Session;
use crate::port::step_trace::{Taking, ended_by, millis};
use crate::port::supervisor::{self, Outcome, Step};
use crate::store::{Attempt, NewStep};
use std::time::Instant;

impl<'p> FunctionPort<'p> {
    /// Adds a step to the trace before it is taken.
    pub fn begin(&mut self, session: &mut Session<'p>, step: &Step) -> Result<()> {
        let new = NewStep {
            run: session.models.id,
            symbol: &self.planned.function.key,
            phase: supervisor::phase(&self.state).word(),
            step: step.word(),
            why: &supervisor::why(&self.state, step),
        };
        self.taking = Some(Taking::begin(session.store, &new)?);
        Ok(())
    }

    /// Ends the step in the trace, with a word and details.
    pub(super) fn end(&mut self, session: &mut Session<'p>, came: (&str, &str)) -> Result<()> {
        let Some(taking) = self.taking.take() else { return Ok(()) };
        taking.end(session.store, came)
    }

    /// Ends a step with its outcome, or with the error of the tool, the model or the user.
    pub(super) fn end_with(&mut self, session: &mut Session<'p>, result: &Result<Outcome>) -> Result<()> {
        match result {
            Ok(outcome) => self.end(session, (outcome.word(), &self.detail(outcome))),
            Err(error) => {
                let (word, detail) = ended_by(error);
                self.end(session, (word, &detail))
            }
        }
    }

    /// The position in the trace of a question.
    pub(super) fn traced(&self) -> (usize, Traced) {
        let (phase, rank) = (supervisor::phase(&self.state), self.state.rank());
        (rank, Traced { phase: Some(phase), step: self.taking.as_ref().map(|taking| taking.id) })
    }

    /// Adds one row for each candidate, or reply without one, with its outcome.
    pub(super) fn note(&mut self, session: &mut Session<'p>, step: &Step, outcome: &Outcome) -> Result<()> {
        let decides = match outcome {
            Outcome::CandidateReceived(_)
            | Outcome::AuditPassed
            | Outcome::AuditPassedWithOtherCode
            | Outcome::Built
            | Outcome::Unrefuted
            | Outcome::TreeMoved => false,
            // A short run may call neither side, so the next run decides.
            Outcome::Vacuous => *step != Step::Smoke,
            _ => true,
        };
        if !decides {
            return Ok(());
        }
        self.trouble = self.detail(outcome);
        let attempt = Attempt {
            run: session.models.id,
            symbol: self.planned.function.key.clone(),
            role: self.role.into(),
            maker: Some(self.maker()),
            outcome: outcome.word().into(),
            millis: millis(self.started),
        };
        self.started = Instant::now();
        session.store.add_attempt(&attempt)
    }

    /// Details of an outcome besides its word.
    fn detail(&self, outcome: &Outcome) -> String {
        match outcome {
            Outcome::ReplyUnusable(detail) | Outcome::NotTranslated(detail) => detail.clone(),
            Outcome::Vacuous if self.state.has_harness() => "one side was never called".into(),
            Outcome::CandidateReceived(_)
            | Outcome::AuditPassed
            | Outcome::AuditPassedWithOtherCode
            | Outcome::Built
            | Outcome::Unrefuted
            | Outcome::AcceptanceUnrefuted
            | Outcome::TreeMoved => String::new(),
            // The full text, with its position, was recorded when the problem was found.
            _ => self.trouble.clone(),
        }
    }
}
