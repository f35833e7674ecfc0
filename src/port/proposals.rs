//! Files other than ports that a model proposes: a text is put into the tree as a tentative file, is evaluated, and
//! either stays or leaves nothing behind. `analysis`, `targets` and `feasibility` define the files.

use super::context::PortContext;
use super::prompt::{Question, Templates};
use super::taking::Taking;
use crate::contract::types::Judgeable;
use crate::digest::sha256;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::judge::mutation_score::{Adequacy, Faults};
use crate::judge::{Judge, Judging};
use crate::llm::model_session::{ModelSession, Traced, rank_of};
use crate::llm::{Reply, StopReason};
use crate::platform::process::Interrupt;
use crate::platform::workspace::Trial;
use crate::project::{FunctionPlan, Project};
use crate::store::lesson::{Kind, Lesson, Scope};
use crate::store::{LastEnd, NewStep, Phase, Store};
use crate::symbol::SymbolName;

/// The repository, as it is open now.
pub type Opened = (Project, Store);

/// Reads the library again, as every added or removed contract requires: with this tentative file, or without.
pub type Reopen<'a> = &'a dyn Fn(Option<&Trial>, &mut dyn Reporter) -> Result<Opened>;

/// The repository after an attempt, and its result: `Err` says why the attempt failed.
pub type Tried<T> = (Opened, std::result::Result<T, String>);

/// The means to ask a model and to evaluate its answer.
pub struct Inquiry<'a> {
    pub models: &'a mut ModelSession,
    pub templates: &'a Templates,
    pub reopen: Reopen<'a>,
    pub interrupt: &'a Interrupt,
    pub reporter: &'a mut dyn Reporter,
}

/// The meaning of a reply.
#[derive(Debug)]
pub(super) enum Answer {
    /// The requested text.
    Text(String),
    /// There can be none, in the model's words.
    Never(String),
    Unusable(String),
}

/// The number of the question about a function, from 1, and the fate of the last answer.
pub(super) struct Turn<'a> {
    pub attempt: u32,
    pub last: Option<&'a str>,
    pub problem: Option<&'a str>,
}

/// A kind of file that a model writes for functions that need one.
pub(super) trait Proposal {
    /// The model role that writes it.
    const ROLE: &'static str;
    /// The name of the file.
    const NOUN: &'static str;
    /// Completes "no contract _says how to call_ it", where there can be none.
    const PURPOSE: &'static str;

    /// Asks a model; the inner `Err` says why it is not asked again.
    fn ask(
        inquiry: &mut Inquiry,
        opened: &mut Opened,
        name: &SymbolName,
        turn: &Turn,
    ) -> Result<std::result::Result<Reply, String>>;

    /// Reads a complete reply.
    fn read(reply: &Reply) -> Answer;

    /// Puts the text into the tree, where it stays only if it passes; the result says which model made it, or why
    /// it failed.
    fn try_out(
        inquiry: &mut Inquiry,
        opened: Opened,
        name: &SymbolName,
        answer: (u32, &str),
    ) -> Result<Tried<String>>;
}

/// The key of the decision not to ask again while the C text stays the same.
pub(super) fn never<P: Proposal>(planned: &FunctionPlan) -> String {
    format!("no {} {}", P::NOUN, &sha256(&planned.function.text)[..16])
}

impl Inquiry<'_> {
    /// Asks for the proposals of each of `names` in turn, and keeps those that pass.
    ///
    /// # Errors
    /// Those of models, of the store and of running the fuzz process, and Ctrl-C; a spent budget ends the asking, no more.
    pub(super) fn run<P: Proposal>(&mut self, mut opened: Opened, names: &[SymbolName]) -> Result<Opened> {
        // A tree that does not build now is not the proposal's fault.
        if !names.is_empty() {
            let planned =
                names.iter().map(|name| opened.0.find(name.as_str())).collect::<Result<Vec<_>>>()?;
            Judge::new(&opened.0, self.interrupt).build(&planned)?;
        }
        for (at, name) in names.iter().enumerate() {
            self.reporter.event(Event::SymbolStarted {
                symbol: name.clone(),
                work: P::NOUN,
                index: at + 1,
                total: names.len(),
            });
            let (after, ended) = self.one::<P>(opened, name)?;
            opened = after;
            if let Err(why) = &ended {
                let (run, word) = (self.models.id, "given up".to_owned());
                let key = opened.0.find(name.as_str())?.function.key.clone();
                opened.1.put_end(&key, Some(&LastEnd { run, word, reason: why.clone() }))?;
            }
            let (ok, summary) = ended.map_or_else(|why| (false, why), |text| (true, text));
            self.reporter.event(Event::SymbolFinished { symbol: name.clone(), ok, grade: None, summary });
        }
        Ok(opened)
    }

    /// Handles one function; returns the result in words.
    fn one<P: Proposal>(&mut self, mut opened: Opened, name: &SymbolName) -> Result<Tried<String>> {
        let (mut last, mut problem): (Option<String>, Option<String>) = (None, None);
        let most = self.models.questions(P::ROLE, &opened.0.config.limits);
        for attempt in 1..=most {
            let turn = Turn { attempt, last: last.as_deref(), problem: problem.as_deref() };
            let reply = match P::ask(self, &mut opened, name, &turn)? {
                Ok(reply) => reply,
                Err(why) => return Ok((opened, Err(why))),
            };
            let answer = if is_complete(&reply) { P::read(&reply) } else { incomplete() };
            let text = match answer {
                Answer::Text(text) => text,
                Answer::Unusable(why) => {
                    self.say(name, attempt, format!("the reply cannot be used: {why}"));
                    problem = Some(why);
                    continue;
                }
                Answer::Never(why) => {
                    self.give_up::<P>(&mut opened, name, &why)?;
                    return Ok((opened, Err(format!("no {} {} it: {why}", P::NOUN, P::PURPOSE))));
                }
            };
            let (after, tried) = P::try_out(self, opened, name, (attempt, &text))?;
            opened = after;
            match tried {
                Ok(thanks) => {
                    let text = format!("{thanks}; read it, then: cargo implfuzz contract --approve {name}");
                    return Ok((opened, Ok(text)));
                }
                Err(why) => {
                    self.say(name, attempt, format!("the {} is rejected: {}", P::NOUN, first_line(&why)));
                    (last, problem) = (Some(text), Some(why));
                }
            }
        }
        let why = first_line(problem.as_deref().unwrap_or_default());
        self.give_up::<P>(&mut opened, name, why)?;
        Ok((opened, Err(format!("no {} after {most} answers; the last one: {why}", P::NOUN))))
    }

    /// Stores the decision not to ask again.
    fn give_up<P: Proposal>(
        &self,
        (project, store): &mut Opened,
        name: &SymbolName,
        why: &str,
    ) -> Result<()> {
        let planned = project.find(name.as_str())?;
        let source = format!("{}, run {}", P::ROLE, self.models.id.0);
        let scope = Scope::Symbol(planned.function.key.clone());
        let text = format!("no {} {} `{name}`: {why}", P::NOUN, P::PURPOSE);
        let (kind, key) = (Kind::Decision, never::<P>(planned));
        store.learn(Lesson { kind, scope, key, text, source, proven: false }).map(drop)
    }

    /// Asks once; the inner `Err` says why no model is asked again.
    pub(super) fn ask(
        &mut self,
        store: &mut Store,
        (planned, context): (&FunctionPlan, &PortContext),
        question: &Question,
        (attempt, problem): (u32, Option<&str>),
    ) -> Result<std::result::Result<Reply, String>> {
        let max_tokens = self.models.max_tokens(question.role(), rank_of(attempt));
        let prompt = self.templates.prompt(context, question, problem, "", attempt, max_tokens)?;
        let function = &planned.function;
        self.say(&function.name, attempt, format!("asking the {}", question.role()));
        let taking = Taking::begin(
            store,
            &NewStep {
                run: self.models.id,
                symbol: &function.key,
                phase: question.phase().word(),
                step: &format!("ask-{}", question.role()),
                why: &question.why(problem),
            },
        )?;
        let traced = Traced { phase: Some(question.phase()), step: Some(taking.id) };
        let answer =
            self.models.ask((&mut *store, self.reporter), (function, traced), prompt, self.interrupt);
        match &answer {
            Ok(Ok(_)) => taking.end(store, ("answered", ""))?,
            Ok(Err(why)) => taking.end(store, ("no-answer", why))?,
            Err(error) => {
                let (word, detail) = ended_by(error);
                taking.end(store, (word, &detail))?;
            }
        }
        answer
    }

    /// Puts a text into the tree and evaluates the result. It stays only if `sound` returns `Ok`; its `Err` gives
    /// the reason.
    ///
    /// # Errors
    /// Errors that the text cannot cause.
    pub(super) fn try_out(
        &mut self,
        mut opened: Opened,
        (name, step, trial): (&SymbolName, &str, &Trial),
        sound: impl FnOnce(&mut Self, Opened) -> Result<std::result::Result<Opened, String>>,
    ) -> Result<Tried<()>> {
        let taking = Taking::begin(
            &mut opened.1,
            &NewStep {
                run: self.models.id,
                symbol: &opened.0.find(name.as_str())?.function.key,
                phase: Phase::Compilation.word(),
                step,
                why: "C must confirm a model's proposal",
            },
        )?;
        // Releases the workspace lock, which the reopening needs.
        drop(opened);
        let tried = (self.reopen)(Some(trial), self.reporter).and_then(|opened| sound(self, opened));
        let why = match tried {
            Ok(Ok(mut opened)) => {
                opened.0.workspace.keep()?;
                taking.end(&mut opened.1, ("kept", ""))?;
                return Ok((opened, Ok(())));
            }
            Ok(Err(why)) => why,
            Err(error) if is_of_the_trial(&error) => error.to_string(),
            Err(error) => {
                // Also remove the files generated from it.
                if let Ok((_, mut store)) = (self.reopen)(None, self.reporter) {
                    let (word, detail) = ended_by(&error);
                    taking.end(&mut store, (word, &detail))?;
                }
                return Err(error);
            }
        };
        let mut opened = (self.reopen)(None, self.reporter)?;
        taking.end(&mut opened.1, ("not-kept", &why))?;
        Ok((opened, Err(why)))
    }

    /// The measurement of a function's harness with the tentative file; the inner `Err` says why there is none.
    pub(super) fn measured(
        &mut self,
        (project, store): &mut Opened,
        name: &SymbolName,
    ) -> Result<std::result::Result<Adequacy, String>> {
        let planned = project.find(name.as_str())?;
        if let Judgeable::NotYet(why) = &planned.judgeable {
            return Ok(Err(why.clone()));
        }
        let judge = Judge::new(project, self.interrupt);
        let seconds = project.config.grade.mutant_seconds;
        let mut judging = Judging { judge: &judge, store, reporter: self.reporter, run: None };
        let adequacy = judging.measure_harnesses(&[planned], seconds, Faults::Dropped)?.pop();
        Ok(adequacy.ok_or_else(|| "it could not be measured".into()))
    }

    pub(super) fn say(&mut self, name: &SymbolName, attempt: u32, step: String) {
        self.reporter.event(Event::SymbolStep { symbol: name.clone(), attempt, step });
    }
}

/// The outcome and detail of a step that ended with an error.
fn ended_by(error: &Error) -> (&'static str, String) {
    match error.kind() {
        ErrorKind::Interrupted => ("interrupted", "the run ended".to_owned()),
        _ => ("failed", error.to_string()),
    }
}

/// Whether a tentative file can have caused this error, given that the library and its harnesses were fine before.
fn is_of_the_trial(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Config | ErrorKind::Build | ErrorKind::Internal)
}

pub(super) fn is_complete(reply: &Reply) -> bool {
    reply.stop != StopReason::Refusal && !reply.stop.is_truncated()
}

fn incomplete() -> Answer {
    Answer::Unusable("The reply was not complete.".into())
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// The beginning of a reply's notes, in one line.
pub(super) fn gist(notes: &str) -> String {
    notes.trim().lines().take(2).collect::<Vec<_>>().join(" ")
}
