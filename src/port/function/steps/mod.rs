//! The state of one function's port on its thread, and its turns with the session. Prompts are in `asking`, c2rust
//! in `translating`, builds in `building`, runs in `runs`, `hidden_gate` and `in_place`, the rows of the store in `trace`, lessons in `memory`.

mod asking;
mod building;
mod into_tree;
mod hidden_gate;
mod in_place;
mod memory;
mod runs;
mod trace;
mod translating;

pub use building::AfterBuild;
pub use into_tree::Finish;
pub use runs::Ships;

use crate::config::Maker;
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::evidence::fingerprint::Fingerprint;
use crate::judge::proofs::Ran;
use crate::llm::{Chosen, Permit};
use crate::port::function::result::PortResult;
use crate::port::function::session::{Beginning, Session};
use crate::port::lessons::Lessons;
use crate::port::plan::redo::old_port;
use crate::port::prompt::context::PortContext;
use crate::port::prompt::feedback::{self, AuditNote, Candidate, Feedback};
use crate::port::prompt::sources::context;
use crate::port::step_trace::Taking;
use crate::port::supervisor::{self, Makers, Outcome, PortState, Step, StopReason};
use crate::project::ported::{PortModule, Ported};
use crate::project::{FunctionPlan, Project};
use crate::rust::signature::ident;
use crate::rust::splice::{Spliced, replace_fn, split};
use crate::rust::stub_text::stub;
use crate::rust::unport::back_to_stub;
use crate::rust::unsafe_code::{UnsafeCode, hiding};
use crate::symbol::SymbolName;
use crate::verdict::{Finding, Verdict};
use in_place::InPlace;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Number of functions in a row without an answer that end the run, because the next ones would only wait.
const UNANSWERED: u32 = 3;

/// Whether the budget allows a question.
pub enum Room {
    Now(Arc<Chosen>, Permit),
    /// Calls of other functions are under way; afterwards the budget may allow it.
    Later,
    Never,
}

/// The port of one function.
pub struct FunctionPort<'p> {
    pub planned: &'p FunctionPlan,
    /// The name of its binary in this session.
    bin: String,
    context: PortContext,
    pub state: PortState,
    /// The module's text with the candidate spliced in.
    spliced: String,
    /// The module's text in the tree at that time.
    module_before: String,
    /// What its runs are about.
    judged: Option<Fingerprint>,
    beginning: Beginning,
    /// How often it waited for a file that someone is writing.
    waited: u32,
    binary: Option<PathBuf>,
    /// The functions of C that the code in the binary reaches.
    reaches_c: Vec<SymbolName>,
    /// The session's count of accepted ports when the candidate was last spliced, and when it was last built.
    tree: u64,
    built_at: u64,
    /// The verdict of the loop's run on this binary, if its budget covered that of the acceptance run.
    looped: Option<Verdict>,
    feedback: Option<Feedback>,
    finding: Option<Finding>,
    accepted: Option<Ran>,
    /// What drivers' executions say of the candidate.
    in_place: Option<InPlace>,
    /// The problem of the last candidate, in one line for people.
    trouble: String,
    questions: [u32; 2],
    /// The `unsafe` code of the old port, of which a new one must have less.
    most_unsafe: Option<UnsafeCode>,
    /// Whether c2rust was tried.
    translated: bool,
    /// The model role, or c2rust, that wrote the last candidate or was asked for one.
    role: &'static str,
    /// The model that answered last.
    model: String,
    lessons: Lessons,
    started: Instant,
    taking: Option<Taking>,
}

impl<'p> FunctionPort<'p> {
    /// Gathers what the prompts need. `bin` names its binary.
    pub fn new(session: &Session<'p>, planned: &'p FunctionPlan, bin: String) -> Result<Self> {
        let project = session.project;
        let context = context(project, planned)?;
        let has_harness = session.has_harness(planned);
        let context = if has_harness { context } else { context.judged_in_place() };
        let old = old_port(project, planned, session.redo)?;
        let most_unsafe = old.as_ref().map(|(_, code)| *code);
        let context = match old {
            Some((text, code)) => context.instead_of(text, code),
            None => context,
        };
        let makers = Makers {
            c2rust: session.transpiler.is_some(),
            prototypers: session.models.ranks("prototyper"),
            enhancers: session.models.ranks("enhancer"),
        };
        let state = PortState::new(project.config.limits.clone(), makers);
        let state = if has_harness { state } else { state.without_harness() };
        let beginning = match session.beginnings.get(&planned.function.key) {
            Some(beginning) => beginning.clone(),
            None => Beginning::of(&session.judge, planned)?,
        };
        let has_drivers = session.place.as_ref().is_some_and(|place| place.judges(planned));
        let state = if has_drivers { state.with_drivers() } else { state };
        Ok(Self {
            planned,
            bin,
            context,
            state,
            spliced: String::new(),
            module_before: String::new(),
            judged: None,
            beginning,
            waited: 0,
            binary: None,
            reaches_c: Vec::new(),
            tree: 0,
            built_at: 0,
            looped: None,
            feedback: None,
            finding: None,
            accepted: None,
            in_place: None,
            trouble: String::new(),
            questions: [0; 2],
            most_unsafe,
            translated: false,
            role: "prototyper",
            model: String::new(),
            lessons: Lessons::new(planned.function.name.clone()),
            started: Instant::now(),
            taking: None,
        })
    }

    /// Whether it is about to be put into the tree: until that is done or refused, no other port may change the
    /// tree.
    pub fn is_settling(&self) -> bool {
        supervisor::is_settling(&self.state)
    }

    /// Records the outcome of a step: a row of the trace, a row for the candidate, a lesson, the supervisor's
    /// state.
    ///
    /// # Errors
    /// That of the step, and those of the store.
    pub fn took(&mut self, session: &mut Session<'p>, step: &Step, result: Result<Outcome>) -> Result<()> {
        let traced = self.end_with(session, &result);
        let outcome = result?;
        traced?;
        self.note(session, step, &outcome)?;
        self.learn(session, step, &outcome)?;
        let before = self.state.candidate().map(str::to_owned);
        supervisor::apply(&mut self.state, outcome);
        if self.state.candidate() != before.as_deref() {
            // A finding about the previous candidate does not apply to this one.
            self.finding = None;
        }
        Ok(())
    }

    /// Ends the port without an accepted candidate; the tree stays as it was.
    pub fn stopped(&mut self, session: &mut Session<'p>, reason: StopReason) -> Result<PortResult> {
        self.begin(session, &Step::Stop(reason))?;
        self.end(session, (reason.word(), &self.trouble.clone()))?;
        let (detail, finding) = (self.trouble.clone(), self.finding.take());
        let result = session.give_up(self.planned, reason, &detail, finding)?;
        let is_silent = matches!(reason, StopReason::ModelTimedOut | StopReason::ModelFailed);
        session.unanswered += u32::from(is_silent);
        if session.unanswered >= UNANSWERED {
            let text = format!("{UNANSWERED} functions in a row were given up without an answer: {detail}");
            let help = match reason {
                StopReason::ModelFailed => "check llm.model, and what the provider says of the request",
                _ => "check that the model answers, or allow more time: --config 'llm.timeout_seconds=1800'",
            };
            return Err(Error::new(ErrorKind::Model, text).help(help));
        }
        Ok(result)
    }

    /// The maker of the last candidate, or of the last reply without one.
    fn maker(&self) -> String {
        match self.state.maker() {
            Maker::C2rust => Maker::C2rust.word().to_owned(),
            Maker::Model => self.model.clone(),
        }
    }

    /// The number of candidates and of replies without one, from 1.
    fn number(&self) -> u32 {
        self.questions.iter().sum::<u32>() + u32::from(self.translated)
    }

    /// Reports the current step.
    pub fn say(&self, session: &mut Session, step: impl Into<String>) {
        let (symbol, attempt) = (self.planned.function.name.clone(), self.number());
        session.reporter.event(Event::SymbolStep { symbol, attempt, step: step.into() });
    }

    /// Audits the candidate, and splices it into its module's text.
    pub fn audit_and_splice(&mut self, session: &mut Session<'p>) -> Result<Outcome> {
        self.say(session, "audit");
        self.tree = session.tree;
        let known = self.in_place.take().filter(|_| self.is_settling());
        let text = self.state.candidate().unwrap_or_default().to_owned();
        let module = self.module_without(session.project)?;
        let report = session.judge.audit_reply(self.planned, &text, &module)?;
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
            notes.extend(self.too_unsafe());
        }
        if notes.is_empty() {
            return self.passed_audit(session, known);
        }
        let file = self.file();
        for note in &notes {
            self.say(session, format!("audit: {file}:{}: {}", note.line, note.reason));
        }
        let shown: Vec<String> = notes.iter().map(|n| format!("{file}:{}: {}", n.line, n.reason)).collect();
        let key = notes.iter().map(|n| n.reason.as_str()).collect::<Vec<_>>().join("; ");
        self.feedback = Some(feedback::audit(&Candidate { file: &file, first_line: 1, text: &text }, &notes));
        self.trouble = shown.join("; ");
        Ok(Outcome::AuditRejected(feedback::normalised(&key)))
    }

    /// Why a candidate that was spliced is not safer than the old port, where that is asked for.
    fn too_unsafe(&self) -> Option<AuditNote> {
        let most = self.most_unsafe?;
        let module = PortModule::read(self.spliced.clone());
        let name = ident(&self.planned.function).to_string();
        let own = module.own_items(&name);
        let code = UnsafeCode::of(own.iter().copied());
        let hidden = hiding(own, &name);
        let reason = match hidden.first() {
            Some(helper) => format!(
                "`{helper}` is safe to call with any argument, but has `unsafe` code: make it an `unsafe fn`, or \
                 keep the `unsafe` block in `{name}`"
            ),
            None if !code.is_less_than(most) => format!(
                "its `unsafe` code is {} tokens in {} places, that of the old port {} tokens in {} places: use \
                 fewer places without more code, or at least a quarter less code in no more places",
                code.tokens, code.places, most.tokens, most.places
            ),
            None => return None,
        };
        Some(AuditNote { line: 1, rule: "Safer".into(), reason })
    }

    /// The module in the tree, with a stub in place of an older port of the function.
    fn module_without(&mut self, project: &Project) -> Result<String> {
        let planned = self.planned;
        let function = &planned.function;
        let module = project.module(&function.module)?;
        module.text().clone_into(&mut self.module_before);
        match module.state(function) {
            Ported::Yes => {
                let name = ident(function).to_string();
                back_to_stub(module.text(), &name, &stub(&self.planned.bound()))
            }
            Ported::Stub | Ported::Missing => Ok(module.text().to_owned()),
        }
    }

    /// The audit's name for the candidate's text, which is in no file yet.
    fn file(&self) -> String {
        format!("candidate for src/{}.rs", self.planned.function.module)
    }
}
