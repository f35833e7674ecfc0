//! The port of one function, carried out: what the supervisor decides is done here, step by step; the runs are in `runs`,
//! what is stored of all that in `trace`.

mod runs;
mod trace;

use super::context::{CalleeState, PortContext, Sources};
use super::feedback::{self, AuditNote, Candidate, Feedback};
use super::prompt::Question;
use super::session::Session;
use super::supervisor::{self, Outcome, PortState, Step};
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::fuzz::build::Built;
use crate::init;
use crate::linkage::Linkage;
use crate::llm::{Blocks, Label, Reply, StopReason as ModelStop};
use crate::project::Planned;
use crate::proofs::{self, Linked};
use crate::rust::emit::stub;
use crate::rust::signature::ident;
use crate::rust::splice::{Spliced, replace_fn, split};
use crate::verdict::{Finding, Measured, Share, Verdict};
use std::path::PathBuf;
use std::time::Instant;

/// How the port of one function ended.
#[derive(Debug)]
pub enum Ended {
    /// The module's new text, the run that accepted it and the one apart, and the role that wrote it.
    Accepted { module: String, verdict: Verdict, apart: Measured<Share>, role: &'static str },
    /// The tree stays as it was.
    Stopped { reason: supervisor::StopReason, detail: String, finding: Option<Finding> },
}

/// One function on its way.
pub struct Attempting<'r, 'p> {
    run: &'r mut Session<'p>,
    planned: &'p Planned,
    context: PortContext,
    state: PortState,
    /// The module's text with the candidate in it.
    spliced: String,
    binary: Option<PathBuf>,
    /// The run of the loop over this binary, where it was no smaller than the one that accepts.
    looped: Option<Verdict>,
    feedback: Option<Feedback>,
    finding: Option<Finding>,
    accepted: Option<(Verdict, Measured<Share>)>,
    /// What was wrong with the last candidate, in one line for people.
    trouble: String,
    questions: [u32; 2],
    started: Instant,
    taking: Option<trace::Taking>,
}

impl<'r, 'p> Attempting<'r, 'p> {
    /// Gathers what the prompts need.
    pub fn new(run: &'r mut Session<'p>, planned: &'p Planned) -> Result<Self> {
        let project = run.project;
        let callee = |function: &crate::symbol::Function| {
            let other = project.planned.iter().find(|p| p.function.key == function.key)?;
            let ported = project.ported(function) == crate::ported::Ported::Yes;
            Some(CalleeState { rust: stub(&other.bound()), ported })
        };
        let globals = fs_err::read_to_string(project.rust_dir().join("src/globals.rs"))?;
        let context = PortContext::build(&Sources {
            library: &project.library,
            function: &planned.function,
            judgeable: &planned.judgeable,
            stub: &stub(&planned.bound()),
            ffi: &project.ffi,
            globals: &globals,
            callee: &callee,
        })?;
        let state = PortState::new(project.config.limits.clone());
        Ok(Self {
            run,
            planned,
            context,
            state,
            spliced: String::new(),
            binary: None,
            looped: None,
            feedback: None,
            finding: None,
            accepted: None,
            trouble: String::new(),
            questions: [0; 2],
            started: Instant::now(),
            taking: None,
        })
    }

    /// Follows the supervisor to the end.
    pub fn carry_out(mut self) -> Result<Ended> {
        loop {
            self.run.judge.interrupt.check()?;
            let step = supervisor::next(&self.state);
            self.begin(&step)?;
            let result = match &step {
                Step::AskPrototyper { reply_problem } => self.ask(false, false, reply_problem.as_deref()),
                Step::AskEnhancer { repeated, reply_problem, .. } => {
                    self.ask(true, *repeated, reply_problem.as_deref())
                }
                Step::Audit => self.audit(),
                Step::Build => self.build(),
                Step::Smoke => self.smoke(),
                Step::Fuzz => self.fuzz_in_loop(),
                Step::Accept => self.accept(),
                Step::Done => return self.done(),
                Step::Stop(reason) => {
                    self.end((reason.word(), &self.trouble.clone()))?;
                    let (reason, detail) = (*reason, self.trouble);
                    return Ok(Ended::Stopped { reason, detail, finding: self.finding });
                }
            };
            let traced = self.end_with(&result);
            let outcome = result?;
            traced?;
            self.note(&step, &outcome)?;
            supervisor::apply(&mut self.state, outcome);
        }
    }

    fn done(mut self) -> Result<Ended> {
        self.end(("accepted", ""))?;
        let (verdict, apart) = self
            .accepted
            .take()
            .ok_or_else(|| Error::new(ErrorKind::Internal, "a port was accepted that no run has accepted"))?;
        let role = self.role();
        Ok(Ended::Accepted { module: self.spliced, verdict, apart, role })
    }

    /// Who wrote the last candidate.
    fn role(&self) -> &'static str {
        if self.questions[1] > 0 { "enhancer" } else { "prototyper" }
    }

    fn say(&mut self, step: impl Into<String>) {
        let attempt = self.questions.iter().sum();
        let symbol = self.planned.function.name.clone();
        self.run.reporter.event(Event::SymbolStep { symbol, attempt, step: step.into() });
    }

    fn ask(&mut self, enhance: bool, repeated: bool, problem: Option<&str>) -> Result<Outcome> {
        let candidate = self.state.candidate().unwrap_or_default().to_owned();
        let question = match (&self.feedback, enhance) {
            (Some(feedback), true) => Question::Enhance { candidate: &candidate, feedback, repeated },
            _ => Question::Prototype,
        };
        let role = question.role();
        let number = &mut self.questions[usize::from(enhance)];
        *number += 1;
        let number = *number;
        let max_tokens = self.run.max_tokens(role);
        let prompt = self.run.templates.prompt(&self.context, &question, problem, number, max_tokens)?;
        self.say(format!("asking the {role}"));
        let reply = match self.run.ask(&self.planned.function, &prompt, &self.asking()) {
            Ok(reply) => reply,
            Err(error) if error.kind() == ErrorKind::Budget => {
                self.run.exhausted = !self.run.budget_admits_others(&prompt);
                let help = error.help_text().unwrap_or_default();
                self.trouble = format!("{error}; {help}");
                self.say(error.to_string());
                return Ok(Outcome::BudgetExhausted);
            }
            Err(error) => return Err(error),
        };
        Ok(self.read(&reply))
    }

    fn read(&self, reply: &Reply) -> Outcome {
        if reply.stop == ModelStop::Refusal {
            return Outcome::ModelRefused;
        }
        if reply.stop.is_truncated() {
            return Outcome::ModelTruncated;
        }
        match Blocks::parse(&reply.text, &[Label::Implementation]) {
            Ok(Blocks { implementation: Some(text), .. }) => Outcome::CandidateReceived(text),
            Ok(_) => Outcome::ReplyUnusable("The reply has no implementation.".into()),
            Err(problem) => Outcome::ReplyUnusable(problem.to_string()),
        }
    }

    fn audit(&mut self) -> Result<Outcome> {
        self.say("audit");
        let text = self.state.candidate().unwrap_or_default().to_owned();
        let module = self.run.project.module(&self.planned.function.module)?;
        let report = self.run.judge.audit_reply(self.planned, &text, module.text())?;
        let mut notes: Vec<AuditNote> = report
            .problems
            .iter()
            .map(|p| AuditNote { line: p.line, rule: format!("{:?}", p.rule), reason: p.reason.clone() })
            .collect();
        if notes.is_empty() {
            let name = ident(&self.planned.function).to_string();
            match split(&text, &name)
                .map(|parts| replace_fn(module.text(), &name, &parts.item, &parts.helpers))
            {
                Some(spliced) => match spliced? {
                    Spliced::Done(text) => self.spliced = text,
                    Spliced::Conflict(conflict) => {
                        notes.push(AuditNote {
                            line: 1,
                            rule: "Requested".into(),
                            reason: conflict.to_string(),
                        });
                    }
                },
                None => notes.push(AuditNote {
                    line: 1,
                    rule: "Requested".into(),
                    reason: format!("there is no `fn {name}`"),
                }),
            }
        }
        if notes.is_empty() {
            return Ok(Outcome::AuditPassed);
        }
        let file = self.file();
        for note in &notes {
            self.say(format!("audit: {file}:{}: {}", note.line, note.reason));
        }
        let shown: Vec<String> = notes.iter().map(|n| format!("{file}:{}: {}", n.line, n.reason)).collect();
        let key = notes.iter().map(|n| n.reason.as_str()).collect::<Vec<_>>().join("; ");
        self.feedback = Some(feedback::audit(&Candidate { file: &file, first_line: 1, text: &text }, &notes));
        self.trouble = shown.join("; ");
        Ok(Outcome::AuditRejected(feedback::normalised(&key)))
    }

    /// How the audit names the candidate's text, which stands in no file yet.
    fn file(&self) -> String {
        format!("candidate for src/{}.rs", self.planned.function.module)
    }

    fn build(&mut self) -> Result<Outcome> {
        self.say("building");
        let file = format!("src/{}.rs", self.planned.function.module);
        // As the tree will be: functions that call each other call the candidate, and not its original.
        let callees = init::callees(self.run.project, (&self.planned.function.module, &self.spliced))?;
        let replaced =
            [(PathBuf::from(&file), self.spliced.clone()), (PathBuf::from("src/callee.rs"), callees)];
        self.looped = None;
        match self.run.judge.build(&replaced)? {
            Built::Binary(path) => {
                let linkage = Linked::read(&self.run.judge, &path)?.linkage(self.planned);
                self.binary = Some(path);
                Ok(self.linked(&linkage))
            }
            Built::Errors(errors) => {
                if errors.iter().all(|e| e.file != file) {
                    return Err(crate::judge::does_not_compile(self.run.project, &errors));
                }
                let text = self.state.candidate().unwrap_or_default();
                let first_line = self.first_line(text);
                let candidate = Candidate { file: &file, first_line, text };
                self.feedback = Some(feedback::compiler(&candidate, &errors));
                let key = errors.iter().map(|e| e.message.as_str()).collect::<Vec<_>>().join("; ");
                let first = &errors[0];
                self.trouble = format!("{}:{}: {}", first.file, first.line, first.message);
                self.say(format!("does not compile: {}", self.trouble));
                Ok(Outcome::DoesNotCompile(feedback::normalised(&key)))
            }
        }
    }

    fn linked(&mut self, linkage: &Linkage) -> Outcome {
        let Some(reason) = proofs::refused(linkage) else { return Outcome::Built };
        self.say(reason.clone());
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
