//! What a port leaves in the store: a row for each step with its reason, and a row for each candidate.

use super::FunctionPort;
use crate::digest::sha256;
use crate::error::{ErrorKind, Result};
use crate::llm::model_session::Traced;
use crate::port::session::Session;
use crate::port::supervisor::{self, Outcome, Step};
use crate::store::{Attempt, NewStep, StepId};
use std::time::Instant;

/// The step that is being taken.
#[derive(Debug)]
pub(super) struct Taking {
    id: StepId,
    started: Instant,
}

impl<'p> FunctionPort<'p> {
    /// Puts a step into the trace before it is taken, so that one that never ends is there too.
    pub fn begin(&mut self, session: &mut Session<'p>, step: &Step) -> Result<()> {
        let new = NewStep {
            run: session.models.id,
            symbol: &self.planned.function.key,
            phase: supervisor::phase(&self.state).word(),
            step: step.word(),
            why: &supervisor::why(&self.state, step),
        };
        let id = session.store.begin_step(&new)?;
        self.taking = Some(Taking { id, started: Instant::now() });
        Ok(())
    }

    /// What came of it: a word, and what there is to say.
    pub(super) fn end(&mut self, session: &mut Session<'p>, came: (&str, &str)) -> Result<()> {
        let Some(taking) = self.taking.take() else { return Ok(()) };
        session.store.end_step(taking.id, came, millis(taking.started))
    }

    /// The same of a step that is given up because the run ends.
    fn abandon(&mut self, session: &mut Session<'p>) -> Result<()> {
        self.end(session, ("interrupted", "the run ended"))
    }

    /// The same of a step that has an outcome, or that failed with the tool, the model or the user.
    pub(super) fn end_with(&mut self, session: &mut Session<'p>, result: &Result<Outcome>) -> Result<()> {
        match result {
            Ok(outcome) => self.end(session, (outcome.word(), &self.detail(outcome))),
            Err(error) if error.kind() == ErrorKind::Interrupted => self.abandon(session),
            Err(error) => self.end(session, ("failed", &error.to_string())),
        }
    }

    /// Where in the trace a question is asked.
    pub(super) fn traced(&self) -> (usize, Traced) {
        let (phase, rank) = (supervisor::phase(&self.state), self.state.rank());
        (rank, Traced { phase: Some(phase), step: self.taking.as_ref().map(|taking| taking.id) })
    }

    /// One row per candidate, or reply that became none: what became of it.
    pub(super) fn note(&mut self, session: &mut Session<'p>, step: &Step, outcome: &Outcome) -> Result<()> {
        let decides = match outcome {
            Outcome::CandidateReceived(_)
            | Outcome::AuditPassed
            | Outcome::Built
            | Outcome::Unrefuted
            | Outcome::TreeMoved => false,
            // So short a run may call neither side: the next one decides.
            Outcome::Vacuous => *step != Step::Smoke,
            _ => true,
        };
        if !decides {
            return Ok(());
        }
        let detail = self.detail(outcome);
        self.trouble.clone_from(&detail);
        let attempt = Attempt {
            run: session.models.id,
            symbol: self.planned.function.key.clone(),
            number: self.number(),
            role: self.role.into(),
            maker: Some(self.maker()),
            outcome: outcome.word().into(),
            detail,
            candidate_sha256: self.state.candidate().map(sha256),
            millis: millis(self.started),
        };
        self.started = Instant::now();
        session.store.add_attempt(&attempt)
    }

    /// What there is to say of an outcome beside its word.
    fn detail(&self, outcome: &Outcome) -> String {
        match outcome {
            // The full text, with its place, was noted when it was found.
            Outcome::AuditRejected(_)
            | Outcome::DoesNotCompile(_)
            | Outcome::Refuted(_)
            | Outcome::AcceptanceRefuted(_)
            | Outcome::CFault(_)
            | Outcome::BudgetExhausted
            | Outcome::ModelTruncated
            | Outcome::ModelRefused => self.trouble.clone(),
            Outcome::ReplyUnusable(detail) | Outcome::NotTranslated(detail) => detail.clone(),
            Outcome::Vacuous => "one side was never called".into(),
            Outcome::CandidateReceived(_)
            | Outcome::AuditPassed
            | Outcome::Built
            | Outcome::Unrefuted
            | Outcome::AcceptanceUnrefuted
            | Outcome::TreeMoved => String::new(),
        }
    }
}

fn millis(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
