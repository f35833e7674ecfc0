//! Lessons of earlier ports for the next prompt, and lessons of this port for the store. Both happen on the
//! session's thread.

use super::FunctionPort;
use crate::error::Result;
use crate::llm::{Blocks, Label, Reply};
use crate::port::feedback::Feedback;
use crate::port::lessons::{self, Change, Fix};
use crate::port::select_lessons::recalled;
use crate::port::session::Session;
use crate::port::supervisor::{self, Outcome, Step};
use crate::store::MemoryRow;
use crate::store::lesson::{Kind, Lesson, Scope};
use crate::verdict::RunStats;

impl<'p> FunctionPort<'p> {
    /// The text on earlier ports for the next prompt.
    pub(super) fn recall(&mut self, session: &Session<'p>) -> Result<String> {
        let (text, told) = recalled(session.project, session.store, self.planned)?;
        self.lessons.tell(told);
        Ok(text)
    }

    /// Records the fix that the model claims.
    pub(super) fn claim(&mut self, outcome: &Outcome, reply: &Reply) {
        let Outcome::CandidateReceived(after) = outcome else { return };
        let is_fix = matches!(supervisor::next(&self.state), Step::AskEnhancer { .. });
        let feedback = self.feedback.as_ref().filter(|_| is_fix);
        let before = self.state.candidate().unwrap_or_default();
        let blocks = Blocks::parse(&reply.text, &[Label::Implementation]).unwrap_or_default();
        let notes = blocks.notes.as_deref();
        self.lessons.answered(feedback.map(|feedback: &Feedback| Fix { feedback, before, after, notes }));
    }

    /// Stores the lessons of a step.
    pub(super) fn learn(&mut self, session: &mut Session<'p>, step: &Step, outcome: &Outcome) -> Result<()> {
        for change in self.lessons.came(step, outcome, self.feedback.as_ref()) {
            match change {
                Change::Failed(id) => session.store.doubt(id)?,
                Change::Cured { key, text } => {
                    self.say(session, format!("remembered for other functions: {text}"));
                    let source = format!("{}, run {}", self.role, session.models.id.0);
                    let scope = Scope::Symbol(self.planned.function.key.clone());
                    let kind = Kind::KnownFix;
                    session.store.learn(Lesson { kind, scope, key, text, source, proven: true })?;
                }
            }
        }
        Ok(())
    }

    /// Stores the contract's preconditions as a constraint; they are proven when C accepted inputs under them.
    pub(super) fn learn_constraint(&self, session: &mut Session<'p>, stats: &RunStats) -> Result<()> {
        let Some(contract) = self.planned.judgeable.contract() else { return Ok(()) };
        let function = &self.planned.function;
        let own = Scope::Symbol(function.key.clone());
        let key = lessons::constraint_key(&function.name, &contract.require);
        let is_old = |row: &MemoryRow| {
            let lesson = &row.item.lesson;
            lesson.kind == Kind::Constraint && lesson.scope == own && lesson.key != key
        };
        let old: Vec<_> =
            session.store.memory()?.iter().filter(|row| is_old(row)).map(|row| row.id).collect();
        if !old.is_empty() {
            session.store.forget(&old)?;
        }
        if contract.require.is_empty() {
            return Ok(());
        }
        let text = lessons::constraint_text(&function.name, &contract.require);
        let source = format!("contract, run {}", session.models.id.0);
        let proven = stats.oracle_calls > 0;
        session
            .store
            .learn(Lesson { kind: Kind::Constraint, scope: own, key, text, source, proven })
            .map(drop)
    }
}
