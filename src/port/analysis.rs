//! Contracts for functions whose parameters the C text alone does not explain: asked of a model before anything is ported, and
//! tried against C. A contract that C does not bear out leaves nothing behind; one that it does is the analyzer's until a
//! person approves of it. What a model may propose is in `contract::proposal`.

use super::attempt::context_without_contract;
use super::call_sites::call_sites;
use super::desk::{Desk, rank_of};
use super::prompt::Question;
use crate::adequacy;
use crate::contract::facts::FactTable;
use crate::contract::file;
use crate::contract::proposal::Frame;
use crate::contract::types::{Contract, Judgeable};
use crate::digest::sha256;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::judge::Judge;
use crate::llm::{self, Blocks, Reply};
use crate::memory::{Kind, Lesson, Scope};
use crate::process::Interrupt;
use crate::project::{Planned, Project};
use crate::store::Store;
use crate::symbol::{SymbolKey, SymbolName};
use crate::workspace::Trial;
use std::collections::BTreeSet;

/// A repository as it is open now.
pub type Opened = (Project, Store);

/// Reads the library anew, as every contract needs that comes or goes: with this file on trial, or as it was.
pub type Reopen<'a> = &'a dyn Fn(Option<&Trial>, &mut dyn Reporter) -> Result<Opened>;

/// Whom to ask, and how to look at what came of it.
pub struct Analysis<'a> {
    pub desk: &'a mut Desk,
    pub reopen: Reopen<'a>,
    pub interrupt: &'a Interrupt,
    pub reporter: &'a mut dyn Reporter,
}

/// What a reply is.
#[derive(Debug)]
enum Answer {
    /// The roles, as they stand in the reply.
    Roles(String),
    /// No contract can say it, in the model's words.
    Never(String),
    Unusable(String),
}

/// The functions whose contracts a model can be asked for: only the parameters are in the way of one, nobody has said that the
/// function is to be left out, and no model has said before that there is none.
pub fn open(project: &Project, store: &Store, wanted: &[&Planned]) -> Result<BTreeSet<SymbolKey>> {
    let is_left_out = |planned: &Planned| {
        project.config.symbols.get(planned.function.name.as_str()).is_some_and(|own| own.skip)
    };
    let lacking = |planned: &&Planned| planned.judgeable.contract().is_none() && !is_left_out(planned);
    let lacking: Vec<&Planned> = wanted.iter().copied().filter(lacking).collect();
    if lacking.is_empty() || !project.config.asks_models() {
        return Ok(BTreeSet::new());
    }
    let facts = FactTable::build(&project.library);
    let known = store.memory()?;
    let is_open = |planned: &&&Planned| {
        let key = never(planned);
        !known.iter().any(|row| row.item.lesson.key == key)
            && Frame::of(&project.library, &facts, &planned.function).is_ok()
    };
    Ok(lacking.iter().filter(is_open).map(|planned| planned.function.key.clone()).collect())
}

/// The key of the decision not to ask again, as long as the C text stays.
fn never(planned: &Planned) -> String {
    format!("no contract {}", &sha256(&planned.function.text)[..16])
}

impl Analysis<'_> {
    /// Asks for the contracts of `names`, one after the other, and keeps those that C bears out.
    ///
    /// # Errors
    /// Those of models, of the store and of running the fuzz process, and Ctrl-C; a spent budget ends the asking, no more.
    pub fn run(&mut self, mut opened: Opened, names: &[SymbolName]) -> Result<Opened> {
        for (at, name) in names.iter().enumerate() {
            let begun = Event::SymbolStarted { symbol: name.clone(), index: at + 1, total: names.len() };
            self.reporter.event(begun);
            let (after, ended) = self.one(opened, name)?;
            opened = after;
            let (ok, summary) = match ended {
                Ok(text) => (true, text),
                Err(text) => (false, text),
            };
            self.reporter.event(Event::SymbolFinished { symbol: name.clone(), ok, summary });
        }
        Ok(opened)
    }

    /// One function: what came of it, in words.
    fn one(
        &mut self,
        mut opened: Opened,
        name: &SymbolName,
    ) -> Result<(Opened, std::result::Result<String, String>)> {
        let mut problem: Option<String> = None;
        let most = self.desk.questions("analyzer", &opened.0.config.limits);
        for attempt in 1..=most {
            let text = match self.ask(&mut opened, name, (attempt, problem.as_deref()))? {
                Ok(Answer::Roles(text)) => text,
                Ok(Answer::Unusable(why)) => {
                    self.say(name, attempt, format!("the reply cannot be used: {why}"));
                    problem = Some(why);
                    continue;
                }
                Ok(Answer::Never(why)) => return Ok((opened, Err(format!("no contract says it: {why}")))),
                Err(why) => return Ok((opened, Err(why))),
            };
            let contract = match self.contract(&opened.0, name, (&text, attempt))? {
                Ok(contract) => contract,
                Err(why) => {
                    self.say(name, attempt, format!("the contract does not do: {why}"));
                    problem = Some(why);
                    continue;
                }
            };
            let (after, tried) = self.try_out(opened, &contract)?;
            opened = after;
            match tried {
                Ok(()) => {
                    let model = contract.proposed_by.unwrap_or_default();
                    let text = format!(
                        "a contract that C bears out, by {model}; read it, then: cargo implfuzz contract --approve {name}"
                    );
                    return Ok((opened, Ok(text)));
                }
                Err(why) => {
                    self.say(name, attempt, format!("C does not bear the contract out: {why}"));
                    problem = Some(why);
                }
            }
        }
        let why = problem.unwrap_or_default();
        let (project, store) = &mut opened;
        self.give_up(store, project.find(name.as_str())?, &why)?;
        Ok((opened, Err(format!("no contract after {most} answers; the last one: {why}"))))
    }

    /// The model's answer; the inner `Err` says why it is not asked any more.
    fn ask(
        &mut self,
        (project, store): &mut Opened,
        name: &SymbolName,
        (attempt, problem): (u32, Option<&str>),
    ) -> Result<std::result::Result<Answer, String>> {
        let planned = project.find(name.as_str())?;
        let Judgeable::NotYet(why) = &planned.judgeable else {
            return Ok(Err("it has a contract by now".into()));
        };
        let context = context_without_contract(project, planned)?;
        let sites = call_sites(&project.library, &planned.function);
        let question = Question::Analyze { why, sites: &sites };
        let max_tokens = self.desk.max_tokens(question.role(), rank_of(attempt));
        let prompt = self.desk.templates.prompt(&context, &question, problem, "", attempt, max_tokens)?;
        self.say(name, attempt, format!("asking the {}", question.role()));
        let function = &planned.function;
        let reply = match self.desk.ask((store, self.reporter), function, prompt, self.interrupt)? {
            Ok(reply) => reply,
            Err(why) => return Ok(Err(why)),
        };
        let answer = read(&reply);
        if let Answer::Never(why) = &answer {
            self.give_up(store, planned, why)?;
        }
        Ok(Ok(answer))
    }

    /// Keeps that nobody needs to ask again.
    fn give_up(&self, store: &mut Store, planned: &Planned, why: &str) -> Result<()> {
        let source = format!("analyzer, run {}", self.desk.id.0);
        let scope = Scope::Symbol(planned.function.key.clone());
        let text = format!("no contract says how to call `{}`: {why}", planned.function.name);
        let (kind, key) = (Kind::Decision, never(planned));
        store.learn(Lesson { kind, scope, key, text, source, proven: false }).map(drop)
    }

    /// What the roles make, with all that the C text says.
    fn contract(
        &self,
        project: &Project,
        name: &SymbolName,
        (text, attempt): (&str, u32),
    ) -> Result<std::result::Result<Contract, String>> {
        let function = &project.find(name.as_str())?.function;
        let facts = FactTable::build(&project.library);
        let model = self.desk.name("analyzer", rank_of(attempt));
        let frame = Frame::of(&project.library, &facts, function);
        Ok(frame.and_then(|frame| frame.filled(function, text, &model)))
    }

    /// Puts the contract into the tree and measures its harness; it stays there only where that is sound.
    fn try_out(
        &mut self,
        (project, store): Opened,
        contract: &Contract,
    ) -> Result<(Opened, std::result::Result<(), String>)> {
        let path = project.contract_path(contract.symbol.as_str());
        let trial = Trial { path, text: file::proposed(contract) };
        let reopen = self.reopen;
        try_out((project, store), (reopen, &trial), self.reporter, &mut |opened, reporter| {
            is_sound(opened, &contract.symbol, (self.interrupt, reporter))
        })
    }

    fn say(&mut self, name: &SymbolName, attempt: u32, step: String) {
        self.reporter.event(Event::SymbolStep { symbol: name.clone(), attempt, step });
    }
}

/// Looks at what follows from a text on trial; the inner `Err` says what is wrong with it.
pub(super) type Sound<'s> =
    &'s mut dyn FnMut(&mut Opened, &mut dyn Reporter) -> Result<std::result::Result<(), String>>;

/// Puts a text into the tree and looks at what follows from it; it stays there only where that is `sound`, whose `Err` says what is
/// not.
///
/// # Errors
/// Those that cannot come of the text.
pub(super) fn try_out(
    opened: Opened,
    (reopen, trial): (Reopen, &Trial),
    reporter: &mut dyn Reporter,
    sound: Sound,
) -> Result<(Opened, std::result::Result<(), String>)> {
    // They have the workspace.
    drop(opened);
    let tried = reopen(Some(trial), reporter).and_then(|mut opened| {
        let sound = sound(&mut opened, reporter)?;
        Ok((opened, sound))
    });
    let why = match tried {
        Ok((opened, Ok(()))) => {
            opened.0.workspace.keep()?;
            return Ok((opened, Ok(())));
        }
        Ok((opened, Err(why))) => {
            drop(opened);
            why
        }
        Err(error) if is_of_the_trial(&error) => error.to_string(),
        Err(error) => return Err(error),
    };
    Ok((reopen(None, reporter)?, Err(why)))
}

fn is_sound(
    (project, store): &mut Opened,
    name: &SymbolName,
    (interrupt, reporter): (&Interrupt, &mut dyn Reporter),
) -> Result<std::result::Result<(), String>> {
    let planned = project.find(name.as_str())?;
    if let Judgeable::NotYet(why) = &planned.judgeable {
        return Ok(Err(why.clone()));
    }
    let judge = Judge::new(project, interrupt);
    let adequacy = adequacy::on_trial(project, (&judge, store), planned, reporter)?;
    let Some(adequacy) = adequacy else { return Ok(Err("it could not be measured".into())) };
    let short = adequacy.shortcomings(&project.config.grade);
    Ok(if short.is_empty() { Ok(()) } else { Err(short.join("; ")) })
}

/// Whether a contract can be the cause, where the library could be read, and its harnesses built, before.
pub fn is_of_the_trial(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Config | ErrorKind::Build | ErrorKind::Internal)
}

fn read(reply: &Reply) -> Answer {
    if reply.stop == llm::StopReason::Refusal || reply.stop.is_truncated() {
        return Answer::Unusable("The reply was not complete.".into());
    }
    match Blocks::parse(&reply.text, &[]) {
        Ok(Blocks { contract: Some(text), .. }) => Answer::Roles(text),
        Ok(Blocks { notes: Some(notes), .. }) => {
            Answer::Never(notes.trim().lines().take(2).collect::<Vec<_>>().join(" "))
        }
        Ok(_) => Answer::Unusable("The reply has neither a contract nor notes.".into()),
        Err(problem) => Answer::Unusable(problem.to_string()),
    }
}
