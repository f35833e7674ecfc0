//! The port of one function, carried out: what the supervisor decides is done here, step by step; questions are in `asking`,
//! c2rust in `translating`, builds in `building`, runs in `runs`, what is stored of all that in `trace`, what it teaches in `memory`.
//!
//! What takes long is handed out as a job and taken up again when it is done, so that many ports go on at a time while one
//! thread decides.

mod asking;
mod building;
mod memory;
mod runs;
mod trace;
mod translating;

use super::context::{CalleeState, PortContext, Sources};
use super::feedback::{self, AuditNote, Candidate, Feedback};
use super::lessons::Lessons;
use super::pool::{Job, Need};
use super::session::Session;
use super::supervisor::{self, Makers, Outcome, PortState, Step, StopReason};
use crate::config::Maker;
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::fuzz::build::Built;
use crate::llm::Exchange;
use crate::ported::Ported;
use crate::project::{Planned, Project};
use crate::rust::emit::stub;
use crate::rust::signature::ident;
use crate::rust::splice::{Spliced, replace_fn, split};
use crate::rust::unport::back_to_stub;
use crate::transpile::Translation;
use crate::verdict::{Finding, Measured, Share, Verdict};
use std::path::PathBuf;
use std::time::Instant;

/// How the port of one function ended.
#[derive(Debug)]
pub enum Ended {
    /// The module's new text, the run that accepted it and the one apart, and who wrote it: a model's name, or c2rust.
    Accepted { module: String, verdict: Verdict, apart: Measured<Share>, by: String },
    /// The tree stays as it was.
    Stopped { reason: StopReason, detail: String, finding: Option<Finding> },
}

/// What a port needs before it can go on.
pub enum Turn<'p> {
    Job(Need, Job<'p, Done>),
    /// Calls of others are under way, after which the budget may have room.
    Room,
    /// Another port is being put into the tree.
    Tree,
    Ended(Box<Ended>),
}

/// What comes back from a job.
#[derive(Debug)]
pub enum Done {
    Translated(Result<Translation>),
    Asked(Box<Exchange>),
    Built(Result<Built>),
    Ran(Result<Verdict>),
    Judged(Result<runs::Judged>),
}

/// What is known of a step that was begun or taken up again.
enum Progress<'p> {
    Outcome(Outcome),
    Job(Need, Job<'p, Done>),
    Room,
}

/// One function on its way.
pub struct Attempting<'p> {
    planned: &'p Planned,
    /// The name of its binary among those of the run.
    bin: String,
    context: PortContext,
    state: PortState,
    /// The module's text with the candidate in it.
    spliced: String,
    binary: Option<PathBuf>,
    /// How many ports of this run were in the tree that the candidate was put into last.
    tree: u64,
    /// The run of the loop over this binary, where it was no smaller than the one that accepts.
    looped: Option<Verdict>,
    feedback: Option<Feedback>,
    finding: Option<Finding>,
    accepted: Option<(Verdict, Measured<Share>)>,
    /// What was wrong with the last candidate, in one line for people.
    trouble: String,
    questions: [u32; 2],
    /// c2rust was tried.
    translated: bool,
    /// Who wrote the last candidate, or was asked for one.
    role: &'static str,
    /// As which model it answered last.
    model: String,
    lessons: Lessons,
    started: Instant,
    taking: Option<trace::Taking>,
}

impl<'p> Attempting<'p> {
    /// Gathers what the prompts need. `bin` names the place of its binary.
    pub fn new(run: &Session<'p>, planned: &'p Planned, bin: String) -> Result<Self> {
        let project = run.project;
        let context = context(project, planned)?;
        let makers = Makers {
            c2rust: run.transpiler.is_some(),
            prototypers: run.desk.ranks("prototyper"),
            enhancers: run.desk.ranks("enhancer"),
        };
        let state = PortState::new(project.config.limits.clone(), makers);
        Ok(Self {
            planned,
            bin,
            context,
            state,
            spliced: String::new(),
            binary: None,
            tree: 0,
            looped: None,
            feedback: None,
            finding: None,
            accepted: None,
            trouble: String::new(),
            questions: [0; 2],
            translated: false,
            role: "prototyper",
            model: String::new(),
            lessons: Lessons::new(planned.function.name.clone()),
            started: Instant::now(),
            taking: None,
        })
    }

    /// Whether it waits to be put into the tree: no other port may change the tree until it is there, or refused.
    pub fn is_settling(&self) -> bool {
        supervisor::is_settling(&self.state)
    }

    /// Follows the supervisor until something takes long, or to the end. `free`: nobody else is being put into the tree.
    pub fn go_on(&mut self, run: &mut Session<'p>, free: bool) -> Result<Turn<'p>> {
        loop {
            run.judge.interrupt.check()?;
            let step = supervisor::next(&self.state);
            if !free && (step == Step::Done || self.is_settling()) {
                return Ok(Turn::Tree);
            }
            if let Step::Stop(reason) = step {
                return self.stopped(run, reason, &step).map(ended);
            }
            if step == Step::Done {
                // What was judged must be what will stand there.
                if self.tree != run.tree {
                    supervisor::apply(&mut self.state, Outcome::TreeMoved);
                    continue;
                }
                self.begin(run, &step)?;
                return self.done(run).map(ended);
            }
            self.begin(run, &step)?;
            let begun = match &step {
                Step::Translate => self.translate(run),
                Step::AskPrototyper { reply_problem } => {
                    self.ask(run, false, false, reply_problem.as_deref())
                }
                Step::AskEnhancer { repeated, reply_problem, .. } => {
                    self.ask(run, true, *repeated, reply_problem.as_deref())
                }
                Step::Audit => self.audit(run).map(Progress::Outcome),
                Step::Build => self.build(run),
                Step::Smoke => self.smoke(run),
                Step::Fuzz => self.fuzz(run),
                Step::Accept => self.accept(run),
                Step::Done | Step::Stop(_) => unreachable!("both were looked at"),
            };
            if let Some(turn) = self.took(run, &step, begun)? {
                return Ok(turn);
            }
        }
    }

    /// Takes up what a job has brought. None: it can go on.
    pub fn take_up(&mut self, run: &mut Session<'p>, done: Done) -> Result<Option<Turn<'p>>> {
        let step = supervisor::next(&self.state);
        let progress = match done {
            Done::Translated(text) => text.and_then(|text| self.translated(run, text)),
            Done::Asked(exchange) => self.asked(run, *exchange),
            Done::Built(built) => built.and_then(|built| self.built(run, built)),
            Done::Ran(verdict) => verdict.and_then(|verdict| self.ran(run, &step, verdict)),
            Done::Judged(judged) => judged.and_then(|judged| self.judged(run, judged)),
        };
        self.took(run, &step, progress)
    }

    fn took(
        &mut self,
        run: &mut Session<'p>,
        step: &Step,
        progress: Result<Progress<'p>>,
    ) -> Result<Option<Turn<'p>>> {
        let result = match progress {
            Ok(Progress::Job(need, job)) => return Ok(Some(Turn::Job(need, job))),
            Ok(Progress::Room) => return Ok(Some(Turn::Room)),
            Ok(Progress::Outcome(outcome)) => Ok(outcome),
            Err(error) => Err(error),
        };
        let traced = self.end_with(run, &result);
        let outcome = result?;
        traced?;
        self.note(run, step, &outcome)?;
        self.learn(run, step, &outcome)?;
        if matches!(&outcome, Outcome::CandidateReceived(text) if self.state.candidate() != Some(text)) {
            // What was found about the one before says nothing about this one.
            self.finding = None;
        }
        supervisor::apply(&mut self.state, outcome);
        Ok(None)
    }

    fn stopped(&mut self, run: &mut Session<'p>, reason: StopReason, step: &Step) -> Result<Ended> {
        self.begin(run, step)?;
        self.end(run, (reason.word(), &self.trouble.clone()))?;
        Ok(Ended::Stopped { reason, detail: self.trouble.clone(), finding: self.finding.take() })
    }

    fn done(&mut self, run: &mut Session<'p>) -> Result<Ended> {
        self.end(run, ("accepted", ""))?;
        let (verdict, apart) = self
            .accepted
            .take()
            .ok_or_else(|| Error::new(ErrorKind::Internal, "a port was accepted that no run has accepted"))?;
        let by = match self.state.maker() {
            Maker::C2rust => Maker::C2rust.word().to_owned(),
            Maker::Model => run.desk.name(self.role, self.state.rank()),
        };
        Ok(Ended::Accepted { module: self.spliced.clone(), verdict, apart, by })
    }

    /// Whose the last candidate is, or the reply that became none.
    fn maker(&self) -> String {
        match self.state.maker() {
            Maker::C2rust => Maker::C2rust.word().to_owned(),
            Maker::Model => self.model.clone(),
        }
    }

    /// How many candidates there were, and replies that became none, from 1.
    fn number(&self) -> u32 {
        self.questions.iter().sum::<u32>() + u32::from(self.translated)
    }

    pub(super) fn say(&self, run: &mut Session<'p>, step: impl Into<String>) {
        let attempt = self.number();
        let symbol = self.planned.function.name.clone();
        run.reporter.event(Event::SymbolStep { symbol, attempt, step: step.into() });
    }

    fn audit(&mut self, run: &mut Session<'p>) -> Result<Outcome> {
        self.say(run, "audit");
        self.tree = run.tree;
        let text = self.state.candidate().unwrap_or_default().to_owned();
        let module = self.module_without(run.project)?;
        let report = run.judge.audit_reply(self.planned, &text, &module)?;
        let mut notes: Vec<AuditNote> = report
            .problems
            .iter()
            .map(|p| AuditNote { line: p.line, rule: format!("{:?}", p.rule), reason: p.reason.clone() })
            .collect();
        if notes.is_empty() {
            let name = ident(&self.planned.function).to_string();
            match split(&text, &name).map(|parts| replace_fn(&module, &name, &parts.item, &parts.helpers)) {
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
            self.say(run, format!("audit: {file}:{}: {}", note.line, note.reason));
        }
        let shown: Vec<String> = notes.iter().map(|n| format!("{file}:{}: {}", n.line, n.reason)).collect();
        let key = notes.iter().map(|n| n.reason.as_str()).collect::<Vec<_>>().join("; ");
        self.feedback = Some(feedback::audit(&Candidate { file: &file, first_line: 1, text: &text }, &notes));
        self.trouble = shown.join("; ");
        Ok(Outcome::AuditRejected(feedback::normalised(&key)))
    }

    /// The module as the tree has it, with a stub where an older port of the function stands.
    fn module_without(&self, project: &Project) -> Result<String> {
        let function = &self.planned.function;
        let module = project.module(&function.module)?;
        match module.state(function) {
            Ported::Yes => {
                let name = ident(function).to_string();
                back_to_stub(module.text(), &name, &stub(&self.planned.bound()))
            }
            Ported::Stub | Ported::Missing => Ok(module.text().to_owned()),
        }
    }

    /// How the audit names the candidate's text, which stands in no file yet.
    fn file(&self) -> String {
        format!("candidate for src/{}.rs", self.planned.function.module)
    }
}

fn ended<'p>(ended: Ended) -> Turn<'p> {
    Turn::Ended(Box::new(ended))
}

/// What prompts about a function are made of.
pub fn context(project: &Project, planned: &Planned) -> Result<PortContext> {
    with_sources(project, planned, PortContext::build)
}

/// The same of a function that has no contract yet.
pub fn context_without_contract(project: &Project, planned: &Planned) -> Result<PortContext> {
    with_sources(project, planned, PortContext::without_contract)
}

fn with_sources(
    project: &Project,
    planned: &Planned,
    build: fn(&Sources) -> Result<PortContext>,
) -> Result<PortContext> {
    let callee = |function: &crate::symbol::Function| {
        let other = project.planned.iter().find(|p| p.function.key == function.key)?;
        let ported = project.ported(function) == Ported::Yes;
        Some(CalleeState { rust: stub(&other.bound()), ported })
    };
    let globals = fs_err::read_to_string(project.rust_dir().join("src/globals.rs"))?;
    build(&Sources {
        library: &project.library,
        function: &planned.function,
        judgeable: &planned.judgeable,
        stub: &stub(&planned.bound()),
        ffi: &project.ffi,
        globals: &globals,
        callee: &callee,
    })
}
