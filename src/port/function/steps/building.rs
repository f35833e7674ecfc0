//! Builds of candidates, each in an overlay.

use super::FunctionPort;
use crate::audit::linkage::Linkage;
use crate::error::Result;
use crate::fuzz::build::fuzz_binary::{Built, Diagnostic};
use crate::judge::LaterBuild;
use crate::judge::proofs::{self, Linked};
use crate::port::function::session::Session;
use crate::port::prompt::feedback::{self, Candidate};
use crate::port::supervisor::Outcome;
use crate::project::init;
use crate::rust::signature::ident;
use std::path::PathBuf;

/// What follows from a build.
pub enum AfterBuild {
    Outcome(Outcome),
    /// Another port was put into the tree while the overlay was made: build again.
    Again,
    /// These errors are elsewhere in the crate: only a build of the tree without the candidate shows whose they are.
    Elsewhere(Vec<Diagnostic>),
}

impl<'p> FunctionPort<'p> {
    /// Prepares a build of the tree with the candidate.
    pub fn build(&mut self, session: &mut Session<'p>) -> Result<LaterBuild<'p>> {
        self.say(session, "building");
        self.looped = None;
        self.built_at = session.tree;
        session.judge.build_later(&self.bin, &self.planned.function.name, self.files(session)?)
    }

    /// The files of the port's crate that differ from the tree.
    pub(super) fn files(&self, session: &Session<'p>) -> Result<Vec<(PathBuf, String)>> {
        let file = format!("src/{}.rs", self.planned.function.module);
        // As in the future tree: in a cycle, other functions call the candidate instead of its original.
        let callees = init::callees(session.project, (&self.planned.function.module, &self.spliced))?;
        Ok(vec![(PathBuf::from(file), self.spliced.clone()), (PathBuf::from("src/callee.rs"), callees)])
    }

    /// Reads a build and its linkage.
    pub fn built(&mut self, session: &mut Session<'p>, built: Built) -> Result<AfterBuild> {
        let file = format!("src/{}.rs", self.planned.function.module);
        Ok(AfterBuild::Outcome(match built {
            Built::Binary(path) => {
                let linkage = Linked::read(&session.judge, &[&path])?.linkage(self.planned)?;
                self.binary = Some(path);
                let outcome = self.linked(session, &linkage);
                self.reaches_c = linkage.reaches_c;
                outcome
            }
            Built::Stopped(reason) => {
                self.feedback = Some(feedback::stopped_compiler(&reason));
                self.trouble.clone_from(&reason);
                self.say(session, format!("does not compile: {reason}"));
                Outcome::DoesNotCompile(feedback::normalised(&reason))
            }
            Built::Errors(errors) => {
                let text = self.state.candidate().unwrap_or_default();
                let candidate = Candidate { file: &file, first_line: self.first_line(text), text };
                let function = format!("{}::{}", self.planned.function.module, ident(&self.planned.function));
                let undefined = feedback::undefined_names::undefined(&candidate, &function, &errors);
                let errors = undefined.unwrap_or(errors);
                if errors.iter().all(|e| e.file != file) {
                    let is_old = self.built_at != session.tree;
                    return Ok(if is_old { AfterBuild::Again } else { AfterBuild::Elsewhere(errors) });
                }
                self.does_not_compile(session, &errors)
            }
        }))
    }

    /// Prepares a build of the tree as it is.
    pub fn build_tree(&self, session: &Session<'p>) -> Result<LaterBuild<'p>> {
        session.judge.build_later(&format!("{}/tree", self.bin), &self.planned.function.name, Vec::new())
    }

    /// Decides whose the errors outside of the candidate's module are, by a build of the tree without the candidate. A wrong
    /// type in its signature is an error where it is called.
    ///
    /// # Errors
    /// `Build` if the tree does not compile either.
    pub fn blamed(
        &mut self,
        session: &mut Session<'p>,
        errors: &[Diagnostic],
        tree: &Built,
    ) -> Result<Outcome> {
        match tree {
            Built::Errors(errors) => Err(crate::judge::does_not_compile(session.project, errors)),
            Built::Binary(_) | Built::Stopped(_) => Ok(self.does_not_compile(session, errors)),
        }
    }

    fn does_not_compile(&mut self, session: &mut Session<'p>, errors: &[Diagnostic]) -> Outcome {
        let file = format!("src/{}.rs", self.planned.function.module);
        let text = self.state.candidate().unwrap_or_default();
        let candidate = Candidate { file: &file, first_line: self.first_line(text), text };
        self.feedback = Some(feedback::compiler(&candidate, errors));
        let key = errors.iter().map(|e| e.message.as_str()).collect::<Vec<_>>().join("; ");
        let first = &errors[0];
        self.trouble = format!("{}:{}: {}", first.file, first.line, first.message);
        self.say(session, format!("does not compile: {}", self.trouble));
        Outcome::DoesNotCompile(feedback::normalised(&key))
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
