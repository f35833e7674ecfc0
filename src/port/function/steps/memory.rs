//! Lessons of earlier ports for the next prompt, and lessons of this port for the store. Both happen on the
//! session's thread.

use super::FunctionPort;
use crate::error::Result;
use crate::llm::{Blocks, Label, Reply};
use crate::port::function::session::Session;
use crate::port::lessons::select::recalled;
use crate::port::lessons::{Change, Fix};
use crate::port::prompt::feedback::Feedback;
use crate::port::supervisor::{self, Outcome, Step};
use crate::store::lesson::{Kind, Lesson, Scope};

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
}
