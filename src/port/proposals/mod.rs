//! Files other than ports that a model proposes: a text is put into the tree as a tentative file, is evaluated, and
//! either stays or leaves nothing behind. `contracts`, `targets`, `drivers` and `feasibility` define the files.

pub mod contracts;
pub mod drivers;
pub mod feasibility;
pub mod inquiry;
pub mod targets;

use crate::contract::types::Judgeable;
use crate::digest::sha256;
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::judge::mutation_score::{Adequacy, Faults};
use crate::judge::{Judge, Judging};
use crate::llm::model_session::rank_of;
use crate::llm::{Reply, StopReason};
use crate::platform::workspace::Trial;
use crate::port::prompt::Question;
use crate::port::prompt::sources::Facts;
use crate::port::proposals::inquiry::{Inquiry, Opened, Tried};
use crate::port::step_trace::{Taking, ended_by};
use crate::project::{FunctionPlan, Project};
use crate::store::lesson::{Kind, Lesson, Scope};
use crate::store::{LastEnd, NewStep, Phase};
use crate::symbol::SymbolName;
use std::collections::BTreeMap;

/// The meaning of a reply.
#[derive(Debug)]
pub enum Answer {
    /// The requested text.
    Text(String),
    /// There can be none, in the model's words.
    Never(String),
    Unusable(String),
}

/// A kind of file that a model writes for functions that need one.
pub trait Proposal {
    /// The model role that writes it.
    const ROLE: &'static str;
    /// The name of the file.
    const NOUN: &'static str;
    /// Completes "no contract _says how to call_ it", where there can be none.
    const PURPOSE: &'static str;
    /// The step of the trace that tests the file.
    const TRIAL: &'static str;
    /// Precedes the reason why a tested file does not stay.
    const REFUSED: &'static str;
    /// What stays after the test.
    const KEPT: &'static str;

    /// The question about a function, after the `last` text if there was one; `Err` says why nothing is asked.
    fn question<'q>(
        planned: &'q FunctionPlan,
        facts: &'q Facts,
        last: Option<&'q str>,
    ) -> std::result::Result<Question<'q>, String>;

    /// Reads a complete reply.
    fn read(reply: &Reply) -> Answer;

    /// The tentative file for this text by a model; the inner `Err` says why the text can be none.
    fn file(
        project: &Project,
        planned: &FunctionPlan,
        model: &str,
        text: &str,
    ) -> Result<std::result::Result<Trial, String>>;

    /// Why the measurement of the harness speaks against the file; empty if it stays.
    fn shortcomings(judge: &Judge, planned: &FunctionPlan, adequacy: &Adequacy) -> Result<String>;
}

/// The key of the decision not to ask again while the C text stays the same. Files may have equal static functions, over
/// other types.
pub fn never<P: Proposal>(planned: &FunctionPlan) -> String {
    let function = &planned.function;
    format!("no {} {}", P::NOUN, &sha256(format!("{}\n{}", function.key.0, function.text))[..16])
}

impl Inquiry<'_> {
    /// Asks for the proposals of each of `names`, tests them in turn, and keeps those that pass.
    ///
    /// # Errors
    /// Those of models, of the store and of running the fuzz process, and Ctrl-C; a spent budget ends the asking, no more.
    pub fn run<P: Proposal>(&mut self, opened: Opened, names: &[SymbolName]) -> Result<Opened> {
        // A tree that does not build now is not the proposal's fault.
        if !names.is_empty() {
            let planned =
                names.iter().map(|name| opened.0.find(name.as_str())).collect::<Result<Vec<_>>>()?;
            Judge::new(&opened.0, self.interrupt).harnesses(&planned, self.reporter)?;
        }
        // As many first answers as models are asked for at a time: an end of the run loses no more.
        let (mut first, mut batches, mut left) = (BTreeMap::new(), names.chunks(self.jobs.max(1)), 0);
        self.each(opened, names, P::NOUN, |inquiry, mut opened, name| {
            if left == 0 {
                let batch = batches.next().unwrap_or_default();
                (first, left) = (inquiry.first::<P>(&mut opened, batch)?, batch.len());
            }
            left -= 1;
            let (mut opened, ended) = inquiry.one::<P>(opened, name, first.remove(name))?;
            if let Err(why) = &ended {
                let (run, word) = (inquiry.models.id, "given up".to_owned());
                let key = opened.0.find(name.as_str())?.function.key.clone();
                opened.1.put_end(&key, Some(&LastEnd { run, word, reason: why.clone() }))?;
            }
            Ok((opened, ended))
        })
    }

    /// Does some work for each of `names` in turn, and reports its beginning and its result in words.
    pub fn each(
        &mut self,
        mut opened: Opened,
        names: &[SymbolName],
        work: &'static str,
        mut one: impl FnMut(&mut Self, Opened, &SymbolName) -> Result<Tried<String>>,
    ) -> Result<Opened> {
        for (at, symbol) in names.iter().enumerate() {
            let (index, total) = (at + 1, names.len());
            self.reporter.event(Event::SymbolStarted { symbol: symbol.clone(), work, index, total });
            let (after, ended) = one(self, opened, symbol)?;
            opened = after;
            let (ok, summary) = ended.map_or_else(|why| (false, why), |text| (true, text));
            self.reporter.event(Event::SymbolFinished { symbol: symbol.clone(), ok, grade: None, summary });
        }
        Ok(opened)
    }

    /// Handles one function, about which a model gave the `first` answer if there is one; returns the result in words.
    fn one<P: Proposal>(
        &mut self,
        mut opened: Opened,
        name: &SymbolName,
        mut first: Option<std::result::Result<Reply, String>>,
    ) -> Result<Tried<String>> {
        let (mut last, mut problem): (Option<String>, Option<String>) = (None, None);
        // A refusal, or a limit of tokens, may be different in the next run.
        let mut is_answered = false;
        let most = self.models.questions(P::ROLE, &opened.0.config.limits);
        for attempt in 1..=most {
            let (project, store) = &mut opened;
            let planned = project.find(name.as_str())?;
            let facts = Facts::of(project, planned);
            let reply = match P::question(planned, &facts, last.as_deref()) {
                Ok(question) => match first.take() {
                    Some(answer) => answer,
                    None => self.ask(project, store, planned, question, attempt, problem.as_deref())?,
                },
                Err(why) => Err(why),
            };
            let reply = match reply {
                Ok(reply) => reply,
                Err(why) => return Ok((opened, Err(why))),
            };
            is_answered = is_complete(&reply);
            let answer = if is_answered { P::read(&reply) } else { incomplete() };
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
            let model = self.models.name(P::ROLE, rank_of(attempt));
            let planned = opened.0.find(name.as_str())?;
            let tried = match P::file(&opened.0, planned, &model, &text)? {
                Ok(trial) => {
                    let tested = self.try_out(opened, name, P::TRIAL, &trial, |inquiry, mut opened| {
                        let why = match inquiry.measured(&mut opened, name)? {
                            Ok(adequacy) => {
                                let judge = Judge::new(&opened.0, inquiry.interrupt);
                                P::shortcomings(&judge, opened.0.find(name.as_str())?, &adequacy)?
                            }
                            Err(why) => why,
                        };
                        Ok(if why.is_empty() { Ok(opened) } else { Err(why) })
                    })?;
                    opened = tested.0;
                    tested.1.map_err(|why| format!("{}{why}", P::REFUSED))
                }
                Err(why) => Err(why),
            };
            match tried {
                Ok(()) => {
                    let text = format!(
                        "{} by {model}; read it, then: cargo implfuzz contract --approve {name}",
                        P::KEPT
                    );
                    return Ok((opened, Ok(text)));
                }
                Err(why) => {
                    self.say(name, attempt, format!("the {} is rejected: {}", P::NOUN, first_line(&why)));
                    (last, problem) = (Some(text), Some(why));
                }
            }
        }
        let why = first_line(problem.as_deref().unwrap_or_default());
        if is_answered {
            self.give_up::<P>(&mut opened, name, why)?;
        }
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

    /// The first answers about `names`, which are waited for side by side; what is proposed is then tested in turn.
    fn first<P: Proposal>(
        &mut self,
        (project, store): &mut Opened,
        names: &[SymbolName],
    ) -> Result<BTreeMap<SymbolName, std::result::Result<Reply, String>>> {
        if self.jobs < 2 || names.len() < 2 {
            return Ok(BTreeMap::new());
        }
        let planned = names.iter().map(|name| project.find(name.as_str())).collect::<Result<Vec<_>>>()?;
        let facts: Vec<Facts> = planned.iter().map(|planned| Facts::of(project, planned)).collect();
        let questions = planned.iter().zip(&facts);
        let questions = questions
            .filter_map(|(planned, facts)| Some((*planned, P::question(planned, facts, None).ok()?)));
        let questions: Vec<_> = questions.collect();
        let about: Vec<SymbolName> =
            questions.iter().map(|(planned, _)| planned.function.name.clone()).collect();
        let answers = self.ask_all((project, store), questions, 1, None)?;
        Ok(about.into_iter().zip(answers).collect())
    }

    /// Puts a text into the tree and evaluates the result. It stays only if `sound` returns `Ok`; its `Err` gives
    /// the reason.
    ///
    /// # Errors
    /// Errors that the text cannot cause.
    pub fn try_out(
        &mut self,
        mut opened: Opened,
        name: &SymbolName,
        step: &str,
        trial: &Trial,
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
    pub fn measured(
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
}

/// Whether a tentative file can have caused this error, given that the library and its harnesses were fine before.
fn is_of_the_trial(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Config | ErrorKind::Build | ErrorKind::Internal)
}

pub fn is_complete(reply: &Reply) -> bool {
    reply.stop != StopReason::Refusal && !reply.stop.is_truncated()
}

fn incomplete() -> Answer {
    Answer::Unusable("The reply was not complete.".into())
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// The beginning of a reply's notes, in one line.
pub fn gist(notes: &str) -> String {
    notes.trim().lines().take(2).collect::<Vec<_>>().join(" ")
}
