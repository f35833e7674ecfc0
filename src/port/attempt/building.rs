//! Builds of candidates, each in a copy of the tree with the candidate in it.

use super::{Attempting, Done, Progress};
use crate::error::Result;
use crate::fuzz::build::Built;
use crate::init;
use crate::linkage::Linkage;
use crate::port::feedback::{self, Candidate};
use crate::port::pool::Need;
use crate::port::session::Session;
use crate::port::supervisor::Outcome;
use crate::proofs::{self, Linked};
use crate::rust::signature::ident;
use std::path::PathBuf;

impl<'p> Attempting<'p> {
    pub(super) fn build(&mut self, run: &mut Session<'p>) -> Result<Progress<'p>> {
        self.say(run, "building");
        let file = format!("src/{}.rs", self.planned.function.module);
        // As the tree will be: functions that call each other call the candidate, and not its original.
        let callees = init::callees(run.project, (&self.planned.function.module, &self.spliced))?;
        let replaced =
            [(PathBuf::from(&file), self.spliced.clone()), (PathBuf::from("src/callee.rs"), callees)];
        self.looped = None;
        let (build, stop) = (run.judge.build_later(&self.bin, replaced.into())?, run.stop.clone());
        let job = move |_: &dyn Fn(_), place| Done::Built(build.run(place, &stop));
        Ok(Progress::Job(Need::Place, Box::new(job)))
    }

    /// What was built, and where its code leads.
    pub(super) fn built(&mut self, run: &mut Session<'p>, built: Built) -> Result<Progress<'p>> {
        let file = format!("src/{}.rs", self.planned.function.module);
        match built {
            Built::Binary(path) => {
                let linkage = Linked::read(&run.judge, &path)?.linkage(self.planned);
                self.binary = Some(path);
                Ok(Progress::Outcome(self.linked(run, &linkage)))
            }
            Built::Errors(errors) => {
                let text = self.state.candidate().unwrap_or_default();
                let first_line = self.first_line(text);
                let candidate = Candidate { file: &file, first_line, text };
                let function = format!("{}::{}", self.planned.function.module, ident(&self.planned.function));
                let undefined = feedback::linker::undefined(&candidate, &function, &errors);
                let errors = undefined.unwrap_or(errors);
                if errors.iter().all(|e| e.file != file) {
                    // Another port came into the tree while this copy of it was made.
                    if self.tree != run.tree {
                        return self.build(run);
                    }
                    return Err(crate::judge::does_not_compile(run.project, &errors));
                }
                self.feedback = Some(feedback::compiler(&candidate, &errors));
                let key = errors.iter().map(|e| e.message.as_str()).collect::<Vec<_>>().join("; ");
                let first = &errors[0];
                self.trouble = format!("{}:{}: {}", first.file, first.line, first.message);
                self.say(run, format!("does not compile: {}", self.trouble));
                Ok(Progress::Outcome(Outcome::DoesNotCompile(feedback::normalised(&key))))
            }
        }
    }

    fn linked(&mut self, run: &mut Session<'p>, linkage: &Linkage) -> Outcome {
        let Some(reason) = proofs::refused(linkage) else { return Outcome::Built };
        self.say(run, reason.clone());
        self.feedback = Some(feedback::linkage(&linkage.forbidden));
        self.trouble.clone_from(&reason);
        Outcome::AuditRejected(feedback::normalised(&reason))
    }

    /// Line of the module on which the candidate begins.
    fn first_line(&self, candidate: &str) -> usize {
        let first = candidate.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        self.spliced.lines().position(|line| line == first).map_or(1, |at| at + 1)
    }
}
