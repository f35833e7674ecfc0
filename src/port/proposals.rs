//! What a model is asked for beside a port, and what keeps its answers only where they are worth something: a text goes into the tree
//! on trial, is looked at, and stays or leaves nothing behind. What is asked for is in `analysis`, `targets` and `feasibility`.

use super::context::PortContext;
use super::prompt::{Question, Templates};
use crate::contract::types::Judgeable;
use crate::digest::sha256;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::fuzz::build::Built;
use crate::judge::mutation_score::{self, Adequacy};
use crate::judge::{Judge, does_not_compile};
use crate::llm::model_session::{ModelSession, Traced, rank_of};
use crate::llm::{Reply, StopReason};
use crate::platform::process::Interrupt;
use crate::platform::workspace::Trial;
use crate::project::{FunctionPlan, Project};
use crate::store::Store;
use crate::store::lesson::{Kind, Lesson, Scope};
use crate::symbol::SymbolName;

/// A repository as it is open now.
pub type Opened = (Project, Store);

/// Reads the library anew, as every contract needs that comes or goes: with this file on trial, or as it was.
pub type Reopen<'a> = &'a dyn Fn(Option<&Trial>, &mut dyn Reporter) -> Result<Opened>;

/// A repository after something was tried in it, and what came of it: `Err` says why it is no good.
pub type Tried<T> = (Opened, std::result::Result<T, String>);

/// Whom to ask, and how to look at what came of it.
pub struct Inquiry<'a> {
    pub models: &'a mut ModelSession,
    pub templates: &'a Templates,
    pub reopen: Reopen<'a>,
    pub interrupt: &'a Interrupt,
    pub reporter: &'a mut dyn Reporter,
}

/// What a reply is.
#[derive(Debug)]
pub(super) enum Answer {
    /// What was asked for.
    Text(String),
    /// There is none, in the model's words.
    Never(String),
    Unusable(String),
}

/// How often a function was asked about, from 1, and what became of the answer before.
pub(super) struct Turn<'a> {
    pub attempt: u32,
    pub last: Option<&'a str>,
    pub problem: Option<&'a str>,
}

/// A file that a model writes, one for each function that needs one.
pub(super) trait Proposal {
    /// The role that writes it.
    const ROLE: &'static str;
    /// What it is.
    const NOUN: &'static str;
    /// What it does for a function, where there can be none: `no contract` _says how to call_ it.
    const PURPOSE: &'static str;

    /// The model's answer; the inner `Err` says why it is not asked any more.
    fn ask(
        inquiry: &mut Inquiry,
        opened: &mut Opened,
        name: &SymbolName,
        turn: &Turn,
    ) -> Result<std::result::Result<Reply, String>>;

    /// What a complete reply is.
    fn read(reply: &Reply) -> Answer;

    /// Puts it into the tree, where it stays only if it is worth something; the words say who is to be thanked for it, or why not.
    fn try_out(
        inquiry: &mut Inquiry,
        opened: Opened,
        name: &SymbolName,
        answer: (u32, &str),
    ) -> Result<Tried<String>>;
}

/// The key of the decision not to ask again, as long as the C text stays.
pub(super) fn never<P: Proposal>(planned: &FunctionPlan) -> String {
    format!("no {} {}", P::NOUN, &sha256(&planned.function.text)[..16])
}

impl Inquiry<'_> {
    /// Asks for the proposals of `names`, one after the other, and keeps those that are worth something.
    ///
    /// # Errors
    /// Those of models, of the store and of running the fuzz process, and Ctrl-C; a spent budget ends the asking, no more.
    pub(super) fn run<P: Proposal>(&mut self, mut opened: Opened, names: &[SymbolName]) -> Result<Opened> {
        // What does not build now is no proposal's fault.
        if !names.is_empty()
            && let Built::Errors(errors) = Judge::new(&opened.0, self.interrupt).build(&[])?
        {
            return Err(does_not_compile(&opened.0, &errors));
        }
        for (at, name) in names.iter().enumerate() {
            let begun = Event::SymbolStarted { symbol: name.clone(), index: at + 1, total: names.len() };
            self.reporter.event(begun);
            let (after, ended) = self.one::<P>(opened, name)?;
            opened = after;
            let (ok, summary) = ended.map_or_else(|why| (false, why), |text| (true, text));
            self.reporter.event(Event::SymbolFinished { symbol: name.clone(), ok, summary });
        }
        Ok(opened)
    }

    /// One function: what came of it, in words.
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
                    self.say(name, attempt, format!("the {} does not do: {}", P::NOUN, first_line(&why)));
                    (last, problem) = (Some(text), Some(why));
                }
            }
        }
        let why = first_line(problem.as_deref().unwrap_or_default());
        self.give_up::<P>(&mut opened, name, why)?;
        Ok((opened, Err(format!("no {} after {most} answers; the last one: {why}", P::NOUN))))
    }

    /// Keeps that nobody needs to ask again.
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

    /// Asks once; the inner `Err` says why nobody is asked any more.
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
        let traced = Traced { phase: Some(question.phase()), step: None };
        self.say(&function.name, attempt, format!("asking the {}", question.role()));
        self.models.ask((store, self.reporter), (function, traced), prompt, self.interrupt)
    }

    /// Puts a text into the tree and looks at what follows from it; it stays there only where that is `sound`, whose `Err` says what is
    /// not.
    ///
    /// # Errors
    /// Those that cannot come of the text.
    pub(super) fn try_out(
        &mut self,
        opened: Opened,
        trial: &Trial,
        sound: impl FnOnce(&mut Self, Opened) -> Result<std::result::Result<Opened, String>>,
    ) -> Result<Tried<()>> {
        // They have the workspace.
        drop(opened);
        let tried = (self.reopen)(Some(trial), self.reporter).and_then(|opened| sound(self, opened));
        let why = match tried {
            Ok(Ok(opened)) => {
                opened.0.workspace.keep()?;
                return Ok((opened, Ok(())));
            }
            Ok(Err(why)) => why,
            Err(error) if is_of_the_trial(&error) => error.to_string(),
            Err(error) => {
                // What was generated for it goes as well.
                drop((self.reopen)(None, self.reporter));
                return Err(error);
            }
        };
        Ok(((self.reopen)(None, self.reporter)?, Err(why)))
    }

    /// What the harness of a function is worth, with what is on trial; the inner `Err` says why it has no worth at all.
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
        let adequacy = mutation_score::on_trial(project, (&judge, store), planned, self.reporter)?;
        Ok(adequacy.ok_or_else(|| "it could not be measured".into()))
    }

    pub(super) fn say(&mut self, name: &SymbolName, attempt: u32, step: String) {
        self.reporter.event(Event::SymbolStep { symbol: name.clone(), attempt, step });
    }
}

/// Whether a text on trial can be the cause, where the library could be read, and its harnesses built, before.
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

/// The beginning of the words of a reply, in one line.
pub(super) fn gist(notes: &str) -> String {
    notes.trim().lines().take(2).collect::<Vec<_>>().join(" ")
}
