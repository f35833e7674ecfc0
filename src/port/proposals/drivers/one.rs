//! A driver for one function: ask, try, and ask again with what was wrong.

use super::answer::{Answer, read};
use super::context::{Context, MARK};
use super::goals::Goal;
use super::tries::{Fault, Tries};
use super::{Writer, Written};
use crate::count::count;
use crate::drivers::{Broken, Ran, Trials, Tried};
use crate::error::Result;
use crate::event::{Event, Reporter};
use crate::in_place::driver_check::refused;
use crate::in_place::run::Number;
use crate::llm::model_session::{Caller, Question, Traced, rank_of};
use crate::llm::{Block, Message, Prompt, Reply, Speaker};
use crate::platform::workspace::Trial;
use crate::port::proposals::is_complete;
use crate::port::step_trace::{Taking, ended_by};
use crate::store::{NewStep, Phase};
use crate::symbol::{Function, SymbolName};
use camino::Utf8PathBuf;
use fs_err as fs;
use minijinja::context;
use minijinja::value::Serde;
use std::collections::BTreeSet;

const WRITER: &str = "driver-writer";
const ENHANCER: &str = "driver-enhancer";

/// How many functions a prompt names that a driver reached.
const NAMED: usize = 30;

/// A driver that was tried, and what was wrong with it or with the answer after it.
#[derive(Debug, Default)]
struct Last {
    text: Option<String>,
    problem: String,
    /// It works but C breaks on an input of it.
    breaks: bool,
}

/// A driver that stays.
struct Kept {
    file: Utf8PathBuf,
    new: BTreeSet<Number>,
    broken: Option<Broken>,
}

/// What came of a text.
enum Trying {
    Kept(Kept),
    Rejected(Fault, String),
}

impl Writer<'_> {
    /// Asks for a driver that reaches the goal until one stays or the limits are used up.
    pub(super) fn one(
        &mut self,
        trials: &mut Trials,
        goal: &Goal,
        reporter: &mut dyn Reporter,
    ) -> Result<Written> {
        let function = &self.project.library.functions[goal.function];
        let limits = self.project.config.limits.clone();
        let (mut last, mut kept, mut tries) = (Last::default(), None::<Kept>, Tries::default());
        let mut is_answered = false;
        let end = loop {
            let reply = match self.ask(trials, goal, &last, reporter)? {
                Ok(reply) => reply,
                Err(why) => break why,
            };
            is_answered = is_complete(&reply);
            let (fault, problem) = match read(&reply, last.breaks) {
                Answer::CIsWrong(places) => {
                    break format!("C is wrong, says the model: {}", places.join(", "));
                }
                Answer::Never(why) => break why,
                Answer::Unusable(why) => (Fault::NothingNew, why),
                Answer::Driver(text) if last.text.as_ref() == Some(&text) => {
                    break "the answer is the same again".to_owned();
                }
                Answer::Driver(text) => {
                    let trying = self.try_text(trials, (goal, &text), kept.as_ref(), reporter)?;
                    last.text = Some(text);
                    match trying {
                        Trying::Rejected(fault, problem) => (fault, problem),
                        Trying::Kept(new) => {
                            let report = new.broken.as_ref().map(|broken| broken.report.clone());
                            kept = Some(new);
                            match report {
                                None => break String::new(),
                                Some(report) => (Fault::Breaks, report),
                            }
                        }
                    }
                }
            };
            self.say(&function.name, format!("the answer is rejected: {}", gist(&problem)), reporter);
            last = Last { text: last.text, problem, breaks: fault == Fault::Breaks };
            if !tries.again(fault, &limits) {
                break gist(&last.problem);
            }
        };
        self.written(function, kept, (end, is_answered))
    }

    /// The result; a function without a driver is not asked about again, unless no model gave a whole answer.
    fn written(
        &mut self,
        function: &Function,
        kept: Option<Kept>,
        (end, is_answered): (String, bool),
    ) -> Result<Written> {
        if kept.is_none() && is_answered && self.models.silence(function).is_none() {
            self.give_up(function, &end)?;
        }
        let names = |new: BTreeSet<Number>| {
            new.into_iter().map(|at| self.project.library.functions[at].name.clone()).collect::<Vec<_>>()
        };
        let spent = self.store.totals_of(Some(self.models.id), &function.key)?;
        let (file, new, broken) = match kept {
            Some(Kept { file, new, broken }) => (Some(file), names(new), broken),
            None => (None, Vec::new(), None),
        };
        let end = match (&file, &broken) {
            (Some(file), None) => format!("{file} reaches {}", count(new.len(), "new function")),
            (Some(file), Some(_)) => {
                format!(
                    "{file} reaches {}, and C breaks on an input: {end}",
                    count(new.len(), "new function")
                )
            }
            (None, _) => format!("no driver: {end}"),
        };
        Ok(Written {
            function: function.name.clone(),
            file,
            new,
            end,
            broken,
            calls: spent.calls,
            tokens: spent.tokens(),
        })
    }

    /// Asks once; the inner `Err` says why there is no answer.
    fn ask(
        &mut self,
        trials: &Trials,
        goal: &Goal,
        last: &Last,
        reporter: &mut dyn Reporter,
    ) -> Result<std::result::Result<Reply, String>> {
        let function = &self.project.library.functions[goal.function];
        let role = if last.text.is_some() { ENHANCER } else { WRITER };
        let attempt = *self.asked.entry((role, function.name.clone())).and_modify(|n| *n += 1).or_insert(1);
        let prompt = self.prompt(trials, goal, last, (role, attempt))?;
        self.say(&function.name, format!("asking the {role}"), reporter);
        let phase = if last.text.is_some() { Phase::Optimization } else { Phase::Compilation };
        let why = match gist(&last.problem).as_str() {
            "" => "no driver reaches it".to_owned(),
            problem => format!("the last answer was rejected: {problem}"),
        };
        let step = format!("ask-{role}");
        let new = NewStep {
            run: self.models.id,
            symbol: &function.key,
            phase: phase.word(),
            step: &step,
            why: &why,
        };
        let taking = Taking::begin(self.store, &new)?;
        let traced = Traced { phase: Some(phase), step: Some(taking.id) };
        let caller = Caller { store: &mut *self.store, reporter, interrupt: self.interrupt };
        let answer = self.models.ask(caller, Question { function, traced, prompt });
        let (word, detail) = match &answer {
            Ok(Ok(_)) => ("answered", String::new()),
            Ok(Err(why)) => ("no-answer", why.clone()),
            Err(error) => ended_by(error),
        };
        taking.end(self.store, (word, &detail))?;
        answer
    }

    fn prompt(
        &self,
        trials: &Trials,
        goal: &Goal,
        last: &Last,
        (role, attempt): (&'static str, u32),
    ) -> Result<Prompt> {
        let function = &self.project.library.functions[goal.function];
        let c = minijinja::Value::from(Serde(Context::of(self.project, (&self.api, &trials.report), goal)?));
        let problem = Some(last.problem.as_str()).filter(|problem| !problem.is_empty());
        let text = match &last.text {
            None => self.templates.render("driver.j2", context!(c, problem))?,
            Some(text) => {
                let values = context!(c, problem, candidate => text, breaks => last.breaks);
                self.templates.render("driver_repair.j2", values)?
            }
        };
        Ok(Prompt {
            role: role.into(),
            symbol: function.name.clone(),
            attempt,
            enlarged: false,
            system: vec![Block { text: self.templates.render("driver_rules.j2", context!())?, cache: true }],
            messages: vec![Message { speaker: Speaker::User, text }],
            max_tokens: self.models.max_tokens(role, rank_of(attempt)),
        })
    }

    /// Puts a driver into the tree as a tentative file, and runs it. It stays if it reaches something new; one that takes
    /// the place of another must reach all of that, too, and C must not break on its inputs.
    fn try_text(
        &mut self,
        trials: &mut Trials,
        (goal, text): (&Goal, &str),
        kept: Option<&Kept>,
        reporter: &mut dyn Reporter,
    ) -> Result<Trying> {
        let function = &self.project.library.functions[goal.function];
        let file = trials.new_file(function.name.as_str());
        if let Some(why) = refused(self.project.root()?, &file, text) {
            return Ok(Trying::Rejected(Fault::DoesNotRun, why));
        }
        let model = self.models.name(WRITER, 0);
        let new = NewStep {
            run: self.models.id,
            symbol: &function.key,
            phase: Phase::Optimization.word(),
            step: "try-driver",
            why: "it must reach a function that no other driver reaches",
        };
        let taking = Taking::begin(self.store, &new)?;
        let workspace = &self.project.workspace;
        workspace.begin(&Trial { path: file.clone().into(), text: with_head(&model, function, text) })?;
        let tried = match trials.try_driver(&file, reporter) {
            Ok(tried) => tried,
            Err(error) => {
                workspace.give_back()?;
                let (word, detail) = ended_by(&error);
                taking.end(self.store, (word, &detail))?;
                return Err(error);
            }
        };
        let rejected = match &tried {
            Tried::MayNotRun(why) | Tried::DoesNotRun(why) => Some((Fault::DoesNotRun, why.clone())),
            Tried::Ran(ran) => self.shortcoming(goal, ran, kept).map(|why| (Fault::NothingNew, why)),
        };
        match (rejected, tried) {
            (None, Tried::Ran(ran)) => {
                workspace.keep()?;
                taking.end(self.store, ("kept", ""))?;
                let new = kept.map(|kept| kept.new.clone()).into_iter().flatten().chain(ran.new).collect();
                trials.keep(ran.driven);
                if let Some(before) = kept {
                    fs::remove_file(trials.root().join(&before.file))?;
                    trials.drop_driver(&before.file);
                }
                Ok(Trying::Kept(Kept { file, new, broken: ran.broken }))
            }
            (rejected, _) => {
                let (fault, why) = rejected.expect("a driver that did not run is rejected");
                workspace.give_back()?;
                taking.end(self.store, ("not-kept", &why))?;
                Ok(Trying::Rejected(fault, why))
            }
        }
    }

    /// Why a driver that ran does not stay; nothing if it does.
    fn shortcoming(&self, goal: &Goal, ran: &Ran, kept: Option<&Kept>) -> Option<String> {
        let functions = &self.project.library.functions;
        let reached = ran.driven.reached();
        if let Some(kept) = kept {
            let lost = kept.new.iter().find(|at| !reached.contains(at));
            let lost = lost.map(|at| {
                format!("It no longer reaches `{}`, as the one before did.", functions[*at].c_name)
            });
            let broken = ran.broken.as_ref().map(|broken| format!("C still breaks:\n{}", broken.report));
            return lost.or(broken);
        }
        if !ran.new.is_empty() {
            return None;
        }
        let inputs = ran.driven.corpus.inputs.len();
        if let (0, Some(broken)) = (inputs, &ran.broken) {
            return Some(format!("C breaks on all of its inputs:\n{}", broken.report));
        }
        let names: Vec<&str> = reached.iter().map(|at| functions[*at].c_name.as_str()).take(NAMED).collect();
        let mut said = match names.is_empty() {
            true => format!("It ran on {inputs} inputs and reached no function of the library."),
            false => format!(
                "It ran on {inputs} inputs, and reached only functions that other drivers reach, too: {}.",
                names.join(", ")
            ),
        };
        if let Some([from, to]) =
            goal.way.array_windows().find(|[from, to]| reached.contains(from) && !reached.contains(to))
        {
            said += &format!(
                " `{}` was called, but it did not call `{}`.",
                functions[*from].c_name, functions[*to].c_name
            );
        } else if !reached.contains(&goal.way[0]) {
            said += &format!(" `{}` was not called.", functions[goal.way[0]].c_name);
        }
        if let Some(broken) = &ran.broken {
            said += &format!("\nOn other inputs C breaks:\n{}", broken.report);
        }
        Some(said)
    }

    fn say(&self, symbol: &SymbolName, step: String, reporter: &mut dyn Reporter) {
        let attempts = self.asked.iter().filter(|((_, name), _)| name == symbol).map(|(_, n)| n);
        let attempt = attempts.sum::<u32>().max(1);
        reporter.event(Event::SymbolStep { symbol: symbol.clone(), attempt, step });
    }
}

/// The text of the file, with who wrote it for what.
fn with_head(model: &str, function: &Function, text: &str) -> String {
    let model = model.replace(['*', '\n'], " ");
    format!("{MARK}`{}`; written by the model {model}. */\n{}\n", function.c_name, text.trim())
}

/// The first line of a problem, with the next one where it only announces that.
fn gist(problem: &str) -> String {
    let mut lines = problem.lines();
    let first = lines.next().unwrap_or_default();
    let next = lines.next().filter(|_| first.ends_with(':')).map(|next| format!(" {}", next.trim()));
    format!("{first}{}", next.unwrap_or_default())
}
