//! The way of an accepted candidate into the tree, which must get exactly what was judged: files may have changed since, by
//! another port or by a person.

use super::FunctionPort;
use super::in_place::InPlace;
use crate::config::Maker;
use crate::error::{Error, ErrorKind, Result};
use crate::port::function::result::{Accepted, PortResult};
use crate::port::function::session::Session;
use crate::port::supervisor::{self, Outcome, Step};
use crate::project::ported::Ported;
use crate::rust::item;

/// Number of looks at a file that someone is writing.
const LOOKS: u32 = 60;

/// What came of the last step.
pub enum Finish {
    Done(Box<PortResult>),
    /// The tree has changed: the candidate is judged again in it.
    Moved,
    /// The module in the tree is no Rust at the moment.
    Unreadable,
}

impl<'p> FunctionPort<'p> {
    /// Puts the accepted candidate into the tree.
    pub fn finish(&mut self, session: &mut Session<'p>) -> Result<Finish> {
        if !self.beginning.had_port && session.project.ported(&self.planned.function) == Ported::Yes {
            self.begin(session, &Step::Done)?;
            self.end(session, ("failed", "someone wrote a port meanwhile"))?;
            return Ok(Finish::Done(Box::new(session.written_by_another(self.planned)?)));
        }
        if self.is_being_written(session)? && self.waited < LOOKS {
            self.waited += 1;
            return Ok(Finish::Unreadable);
        }
        if self.tree != session.tree {
            return Ok(self
                .moved(session, "another port entered the tree: this one is judged again together with it"));
        }
        let changed = "files changed while the port was judged: it is judged again with them";
        if !self.is_as_judged(session)? {
            return Ok(self.moved(session, changed));
        }
        let graded = session.graded(self.planned, self.accepted_port(session)?)?;
        // Grading takes long, and files may change meanwhile.
        if !self.is_as_judged(session)? {
            return Ok(self.moved(session, changed));
        }
        self.begin(session, &Step::Done)?;
        self.end(session, ("accepted", ""))?;
        Ok(Finish::Done(Box::new(session.accept(self.planned, graded)?)))
    }

    fn moved(&mut self, session: &mut Session<'p>, why: &str) -> Finish {
        supervisor::apply(&mut self.state, Outcome::TreeMoved);
        self.say(session, why);
        Finish::Moved
    }

    fn accepted_port(&self, session: &Session<'p>) -> Result<Accepted> {
        let internal = || Error::new(ErrorKind::Internal, "accepted without a verdict");
        let (verdict, apart) = self.accepted.clone().ok_or_else(internal)?;
        let by = match self.state.maker() {
            Maker::C2rust => Maker::C2rust.word().to_owned(),
            Maker::Model => session.models.name(self.role, self.state.rank()),
        };
        Ok(Accepted {
            module: self.spliced.clone(),
            verdict,
            apart,
            in_place: self.in_place.as_ref().map(|found| found.evidence.clone()),
            reaches_c: self.reaches_c.clone(),
            by,
        })
    }

    /// Whether the module in the tree has changed, and is no Rust now.
    fn is_being_written(&self, session: &Session<'p>) -> Result<bool> {
        let module = session.project.module(&self.planned.function.module)?;
        Ok(module.text() != self.module_before && item::parse(module.text()).is_err())
    }

    /// Whether the module in the tree, and what the runs were about, are the same as when the candidate was spliced.
    fn is_as_judged(&self, session: &Session<'p>) -> Result<bool> {
        let module = session.project.module(&self.planned.function.module)?;
        let is_of_this = |found: &InPlace| Some(&found.fingerprint) == self.judged.as_ref();
        Ok(module.text() == self.module_before
            && self.judged == Some(self.fingerprint(session)?)
            && self.in_place.as_ref().is_none_or(is_of_this))
    }

    /// The outcome of an audit without problems. `known` is what drivers said of the accepted candidate.
    pub(super) fn passed_audit(&mut self, session: &Session<'p>, known: Option<InPlace>) -> Result<Outcome> {
        let now = self.fingerprint(session)?;
        // The run has read both, and runs the harness as it was.
        let before = &self.beginning.fingerprint;
        let is_read = session.judge.is_c_as_read(self.planned, &now.c)?;
        if !is_read || (&before.c, &before.contract, &before.harness) != (&now.c, &now.contract, &now.harness)
        {
            self.trouble =
                "its C code, contract or harness changed while it was ported; start the same command again"
                    .into();
            return Ok(Outcome::ContractChanged);
        }
        let is_same = self.judged.as_ref() == Some(&now);
        self.in_place = known.filter(|known| is_same && known.is_about(&now, session.place.as_ref()));
        self.judged = Some(now);
        Ok(if self.is_settling() && !is_same {
            Outcome::AuditPassedWithOtherCode
        } else {
            Outcome::AuditPassed
        })
    }
}
