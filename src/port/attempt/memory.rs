//! What earlier ports have taught, told to the model that is asked now; and what this one teaches, stored. Both on the thread that
//! decides.

use super::Attempting;
use crate::contract::archetype::Archetype;
use crate::error::Result;
use crate::llm::{Blocks, Label, Reply};
use crate::memory::{self, Kind, Lesson, Nearness, Scope};
use crate::port::feedback::Feedback;
use crate::port::lessons::{self, Change, Fix};
use crate::port::session::Session;
use crate::port::supervisor::{self, Outcome, Step};
use crate::project::{Planned, Project};
use crate::store::MemoryRow;
use crate::symbol::SymbolKey;
use crate::verdict::RunStats;

impl<'p> Attempting<'p> {
    /// What the next prompt says of earlier ports.
    pub(super) fn recall(&mut self, run: &Session<'p>) -> Result<String> {
        let now = run.store.iteration()?;
        let rows = run.store.memory()?;
        let scored = rows.iter().filter_map(|row| {
            let nearness = self.nearness(run.project, row)?;
            Some((row.item.score(now, nearness)?, row))
        });
        let told = memory::best(scored);
        let at = |row: &MemoryRow| match &row.item.lesson.scope {
            Scope::Symbol(key) => run.project.library.function(key).map(|function| &function.name),
            Scope::Library => None,
        };
        let items: Vec<_> = told.iter().map(|row| (&row.item, at(row))).collect();
        let text = lessons::words(archetype(self.planned), &items);
        self.lessons.tell(told.iter().map(|row| (row.id, row.item.lesson.key.clone())).collect());
        Ok(text)
    }

    /// How near a lesson is; none where it says what the prompt says anyway.
    fn nearness(&self, project: &Project, row: &MemoryRow) -> Option<Nearness> {
        let lesson = &row.item.lesson;
        if lesson.kind == Kind::Decision {
            // About whom to ask, not about how to port.
            return None;
        }
        let Scope::Symbol(key) = &lesson.scope else { return Some(Nearness::Library) };
        let function = &self.planned.function;
        if *key == function.key {
            // The contract of the function itself is in the prompt.
            return (lesson.kind != Kind::Constraint).then_some(Nearness::Same);
        }
        if lesson.kind == Kind::Constraint {
            // It is about calls.
            return function.calls.contains(key).then_some(Nearness::Kin);
        }
        let is_kin = function.calls.contains(key) || is_same_kind(project, self.planned, key);
        Some(if is_kin { Nearness::Kin } else { Nearness::Library })
    }

    /// Takes note of what the model says that it mended.
    pub(super) fn claim(&mut self, outcome: &Outcome, reply: &Reply) {
        let Outcome::CandidateReceived(after) = outcome else { return };
        let is_fix = matches!(supervisor::next(&self.state), Step::AskEnhancer { .. });
        let feedback = self.feedback.as_ref().filter(|_| is_fix);
        let before = self.state.candidate().unwrap_or_default();
        let blocks = Blocks::parse(&reply.text, &[Label::Implementation]).unwrap_or_default();
        let notes = blocks.notes.as_deref();
        self.lessons.answered(feedback.map(|feedback: &Feedback| Fix { feedback, before, after, notes }));
    }

    /// Stores what a step has taught.
    pub(super) fn learn(&mut self, run: &mut Session<'p>, step: &Step, outcome: &Outcome) -> Result<()> {
        for change in self.lessons.came(step, outcome, self.feedback.as_ref()) {
            match change {
                Change::Failed(id) => run.store.doubt(id)?,
                Change::Cured { key, text } => {
                    self.say(run, format!("remembered for other functions: {text}"));
                    let source = format!("{}, run {}", self.role, run.desk.id.0);
                    let scope = Scope::Symbol(self.planned.function.key.clone());
                    let kind = Kind::KnownFix;
                    run.store.learn(Lesson { kind, scope, key, text, source, proven: true })?;
                }
            }
        }
        Ok(())
    }

    /// Stores what callers must keep to: what the contract demands, which is proven where C took inputs under it.
    pub(super) fn learn_constraint(&self, run: &mut Session<'p>, stats: &RunStats) -> Result<()> {
        let Some(contract) = self.planned.judgeable.contract() else { return Ok(()) };
        let function = &self.planned.function;
        let own = Scope::Symbol(function.key.clone());
        let key = lessons::constraint_key(&function.name, &contract.require);
        let is_old = |row: &MemoryRow| {
            let lesson = &row.item.lesson;
            lesson.kind == Kind::Constraint && lesson.scope == own && lesson.key != key
        };
        let old: Vec<_> = run.store.memory()?.iter().filter(|row| is_old(row)).map(|row| row.id).collect();
        if !old.is_empty() {
            run.store.forget(&old)?;
        }
        if contract.require.is_empty() {
            return Ok(());
        }
        let text = lessons::constraint_text(&function.name, &contract.require);
        let source = format!("contract, run {}", run.desk.id.0);
        let proven = stats.oracle_calls > 0;
        run.store.learn(Lesson { kind: Kind::Constraint, scope: own, key, text, source, proven }).map(drop)
    }
}

fn archetype(planned: &Planned) -> Option<Archetype> {
    planned.judgeable.contract().and_then(Archetype::of)
}

fn is_same_kind(project: &Project, planned: &Planned, key: &SymbolKey) -> bool {
    let other = project.planned.iter().find(|other| other.function.key == *key);
    archetype(planned).is_some_and(|kind| other.and_then(archetype) == Some(kind))
}
