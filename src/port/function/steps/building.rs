//! Builds of candidates, each in an overlay.

use super::FunctionPort;
use crate::audit::linkage::Linkage;
use crate::error::Result;
use crate::fuzz::build::fuzz_binary::Built;
use crate::judge::LaterBuild;
use crate::judge::proofs::{self, Linked};
use crate::port::function::session::Session;
use crate::port::prompt::feedback::{self, Candidate};
use crate::port::supervisor::Outcome;
use crate::project::init;
use crate::rust::signature::ident;
use std::path::PathBuf;

impl<'p> FunctionPort<'p> {
    /// Prepares a build of the tree with the candidate.
    pub fn build(&mut self, session: &mut Session<'p>) -> Result<LaterBuild<'p>> {
        self.say(session, "building");
        self.looped = None;
        session.judge.build_later(&self.bin, &self.planned.function.name, self.files(session)?)
    }

    /// The files of the port's crate that differ from the tree.
    pub(super) fn files(&self, session: &Session<'p>) -> Result<Vec<(PathBuf, String)>> {
        let file = format!("src/{}.rs", self.planned.function.module);
        // As in the future tree: in a cycle, other functions call the candidate instead of its original.
        let callees = init::callees(session.project, (&self.planned.function.module, &self.spliced))?;
        Ok(vec![(PathBuf::from(file), self.spliced.clone()), (PathBuf::from("src/callee.rs"), callees)])
    }

    /// Reads a build and its linkage. `None` if it must be repeated because another port was put into the tree.
    pub fn built(&mut self, session: &mut Session<'p>, built: Built) -> Result<Option<Outcome>> {
        let file = format!("src/{}.rs", self.planned.function.module);
        match built {
            Built::Binary(path) => {
                let linkage = Linked::read(&session.judge, &[&path])?.linkage(self.planned)?;
                self.binary = Some(path);
                let outcome = self.linked(session, &linkage);
                self.reaches_c = linkage.reaches_c;
                Ok(Some(outcome))
            }
            Built::Stopped(reason) => {
                self.feedback = Some(feedback::stopped_compiler(&reason));
                self.trouble.clone_from(&reason);
                self.say(session, format!("does not compile: {reason}"));
                Ok(Some(Outcome::DoesNotCompile(feedback::normalised(&reason))))
            }
            Built::Errors(errors) => {
                let text = self.state.candidate().unwrap_or_default();
                let first_line = self.first_line(text);
                let candidate = Candidate { file: &file, first_line, text };
                let function = format!("{}::{}", self.planned.function.module, ident(&self.planned.function));
                let undefined = feedback::undefined_names::undefined(&candidate, &function, &errors);
                let errors = undefined.unwrap_or(errors);
                if errors.iter().all(|e| e.file != file) {
                    if self.tree != session.tree {
                        return Ok(None);
                    }
                    return Err(crate::judge::does_not_compile(session.project, &errors));
                }
                self.feedback = Some(feedback::compiler(&candidate, &errors));
                let key = errors.iter().map(|e| e.message.as_str()).collect::<Vec<_>>().join("; ");
                let first = &errors[0];
                self.trouble = format!("{}:{}: {}", first.file, first.line, first.message);
                self.say(session, format!("does not compile: {}", self.trouble));
                Ok(Some(Outcome::DoesNotCompile(feedback::normalised(&key))))
            }
        }
    }

    fn linked(&mut self, session: &mut Session<'p>, linkage: &Linkage) -> Outcome {
        let Some(reason) = proofs::refused(linkage) else { return Outcome::Built };
        self.say(session, reason.clone());
        self.feedback = Some(feedback::linkage(&linkage.forbidden));
        self.trouble.clone_from(&reason);
        Outcome::AuditRejected(feedback::normalised(&reason))
    }

    /// The line of the module on which the candidate begins.
    fn first_line(&self, candidate: &str) -> usize {
        let first = candidate.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        self.spliced.lines().position(|line| line == first).map_or(1, |at| at + 1)
    }
}
