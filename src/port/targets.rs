//! Fuzz targets, asked of a model before the port is: for every function in the workflow `three-step`, else for those that a person
//! names (`harness = "model"`). A target is on trial like a contract: only one that C never differs from itself by, and that tells
//! mutants from it, stays in the tree.

use super::analysis::{Opened, Reopen, try_out};
use super::attempt::{context, context_without_contract};
use super::call_sites::call_sites;
use super::context::PortContext;
use super::desk::{Desk, rank_of};
use super::prompt::Question;
use crate::adequacy::{self, Adequacy, Fate};
use crate::config::Workflow;
use crate::contract::facts::FactTable;
use crate::contract::target::contract;
use crate::contract::types::Judgeable;
use crate::digest::sha256;
use crate::error::Result;
use crate::event::{Event, Reporter};
use crate::fuzz::gate::HeldBack;
use crate::harness::emit::target::helper_name;
use crate::judge::Judge;
use crate::llm::{self, Blocks, Label, Reply};
use crate::memory::{Kind, Lesson, Scope};
use crate::process::Interrupt;
use crate::project::{Planned, Project};
use crate::rust::emit::pretty;
use crate::rust::signature::CSignature;
use crate::store::Store;
use crate::symbol::{SymbolKey, SymbolName};
use crate::target;
use crate::workspace::Trial;
use proc_macro2::Ident;
use quote::{format_ident, quote};
use std::collections::BTreeMap;

/// Survivors that a prompt tells.
const TOLD: usize = 8;

/// Functions that are to have a fuzz target and have none: with a reason, where none is asked for any more.
///
/// # Errors
/// Those of reading the store.
pub fn wanted(
    project: &Project,
    store: &Store,
    wanted: &[&Planned],
) -> Result<BTreeMap<SymbolKey, Option<String>>> {
    let by_workflow = project.config.port.workflow == Workflow::ThreeStep;
    let is_left_out = |planned: &Planned| {
        project.config.symbols.get(planned.function.name.as_str()).is_some_and(|own| own.skip)
    };
    let lacks = |planned: &&&Planned| {
        planned.target.is_none() && (planned.wants_target || by_workflow) && !is_left_out(planned)
    };
    let lacking: Vec<&Planned> = wanted.iter().filter(lacks).copied().collect();
    let mut all = BTreeMap::new();
    if lacking.is_empty() {
        return Ok(all);
    }
    let facts = FactTable::build(&project.library);
    let known = store.memory()?;
    for planned in lacking {
        let function = &planned.function;
        let given_up = known.iter().find(|row| row.item.lesson.key == never(planned));
        let why = match contract(&project.library, &facts, (function, &planned.judgeable)) {
            Err(why) if planned.wants_target => Some(format!("no fuzz target can judge it: {why}")),
            // Where the workflow alone wants one, the harness stays that there is.
            Err(_) => continue,
            Ok(_) if !project.config.asks_models() && planned.wants_target => Some(
                "no fuzz target can judge it: `candidates` names no model that could write one".to_owned(),
            ),
            Ok(_) if !project.config.asks_models() => continue,
            Ok(_) => given_up.map(|row| row.item.lesson.text.clone()),
        };
        all.insert(function.key.clone(), why);
    }
    Ok(all)
}

/// The key of the decision not to ask again, as long as the C text stays.
fn never(planned: &Planned) -> String {
    format!("no fuzz target {}", &sha256(&planned.function.text)[..16])
}

/// What the prompt about a target is made of.
///
/// # Errors
/// Those of reading what is generated.
pub fn context_of(project: &Project, planned: &Planned) -> Result<PortContext> {
    match planned.judgeable {
        Judgeable::Yes(_) => context(project, planned),
        Judgeable::NotYet(_) => context_without_contract(project, planned),
    }
}

/// How a target calls the function, for its prompt; then what it may call beside it.
pub fn calls_of(project: &Project, planned: &Planned) -> Vec<String> {
    let one = |name: Ident, c: &CSignature| {
        let params = c.params.iter().map(|(name, ty)| quote!(#name: #ty));
        let ret = c.ret.iter();
        let text = pretty(quote!(fn #name(#(#params),*) #(-> #ret)* {}));
        text.replacen("fn ", "side.", 1).replacen(" {}", "", 1).trim().to_owned()
    };
    let own = one(format_ident!("call"), &planned.c);
    let others = project.helpers(planned).map(|other| one(helper_name(&other.function), &other.c));
    std::iter::once(own).chain(others).collect()
}

/// What a reply is.
#[derive(Debug)]
enum Answer {
    Target(String),
    /// No target can call it, in the model's words.
    Never(String),
    Unusable(String),
}

/// Whom to ask, and how to look at what came of it.
pub struct Writer<'a> {
    pub desk: &'a mut Desk,
    pub reopen: Reopen<'a>,
    pub interrupt: &'a Interrupt,
    pub reporter: &'a mut dyn Reporter,
}

impl Writer<'_> {
    /// Asks for the targets of `names`, one after the other, and keeps those that are worth something.
    ///
    /// # Errors
    /// Those of models, of the store and of running the fuzz process, and Ctrl-C; a spent budget ends the asking, no more.
    pub fn run(&mut self, mut opened: Opened, names: &[SymbolName]) -> Result<Opened> {
        for (at, name) in names.iter().enumerate() {
            let begun = Event::SymbolStarted { symbol: name.clone(), index: at + 1, total: names.len() };
            self.reporter.event(begun);
            let (after, ended) = self.one(opened, name)?;
            opened = after;
            let (ok, summary) = ended.map_or_else(|why| (false, why), |text| (true, text));
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
        let (mut last, mut problem) = (None, None);
        let most = self.desk.questions("target-writer", &opened.0.config.limits);
        for attempt in 1..=most {
            let model = self.desk.name("target-writer", rank_of(attempt));
            let asked = self.ask(&mut opened, name, attempt, (last.as_deref(), problem.as_deref()))?;
            let reply = match asked {
                Ok(Answer::Target(text)) => text,
                Ok(Answer::Unusable(why)) => {
                    self.say(name, attempt, format!("the reply cannot be used: {why}"));
                    problem = Some(why);
                    continue;
                }
                Ok(Answer::Never(why)) => {
                    return Ok((opened, Err(format!("no fuzz target calls it: {why}"))));
                }
                Err(why) => return Ok((opened, Err(why))),
            };
            let text = target::proposed(name.as_str(), &model, &reply);
            let (after, tried) = self.try_out(opened, name, text)?;
            opened = after;
            match tried {
                Ok(()) => {
                    let text = format!(
                        "a fuzz target by {model}; read it, then: cargo implfuzz contract --approve {name}"
                    );
                    return Ok((opened, Ok(text)));
                }
                Err(why) => {
                    let first = why.lines().next().unwrap_or_default();
                    self.say(name, attempt, format!("the fuzz target does not do: {first}"));
                    (last, problem) = (Some(reply), Some(why));
                }
            }
        }
        let why = problem.unwrap_or_default();
        let why = why.lines().next().unwrap_or_default();
        let (project, store) = &mut opened;
        self.give_up(store, project.find(name.as_str())?, why)?;
        Ok((opened, Err(format!("no fuzz target after {most} answers; the last one: {why}"))))
    }

    /// The model's answer; the inner `Err` says why it is not asked any more.
    fn ask(
        &mut self,
        (project, store): &mut Opened,
        name: &SymbolName,
        attempt: u32,
        (candidate, problem): (Option<&str>, Option<&str>),
    ) -> Result<std::result::Result<Answer, String>> {
        let planned = project.find(name.as_str())?;
        let context = context_of(project, planned)?;
        let sites = call_sites(&project.library, &planned.function);
        let calls = calls_of(project, planned);
        let question = Question::Target { calls: &calls, sites: &sites, candidate };
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
        let source = format!("target-writer, run {}", self.desk.id.0);
        let scope = Scope::Symbol(planned.function.key.clone());
        let text = format!("no fuzz target calls `{}`: {why}", planned.function.name);
        let (kind, key) = (Kind::Decision, never(planned));
        store.learn(Lesson { kind, scope, key, text, source, proven: false }).map(drop)
    }

    /// Puts the target into the tree and measures it; what the audit refuses is not even built.
    fn try_out(
        &mut self,
        opened: Opened,
        name: &SymbolName,
        text: String,
    ) -> Result<(Opened, std::result::Result<(), String>)> {
        let refused = target::problems(&text, &opened.0.ffi_names()?);
        if !refused.is_empty() {
            let lines = refused.iter().map(|(line, why)| {
                let excerpt = text.lines().nth(line.saturating_sub(1)).unwrap_or_default().trim();
                format!("`{excerpt}`: {why}")
            });
            let lines: Vec<String> = lines.collect();
            return Ok((opened, Err(format!("the audit rejects it: {}", lines.join("\n")))));
        }
        let trial = Trial { path: opened.0.target_path(name.as_str()), text };
        try_out(opened, (self.reopen, &trial), self.reporter, &mut |(project, store), reporter| {
            let planned = project.find(name.as_str())?;
            if let Judgeable::NotYet(why) = &planned.judgeable {
                return Ok(Err(why.clone()));
            }
            let judge = Judge::new(project, self.interrupt);
            let key = judge.harness_hashes(planned)?.contract;
            let adequacy = adequacy::on_trial(project, (&judge, store), planned, reporter)?;
            let Some(adequacy) = adequacy else { return Ok(Err("it could not be measured".into())) };
            let short = adequacy.shortcomings(&project.config.grade);
            let told = || format!("{}{}", short.join("; "), survivors(&adequacy, &HeldBack { key }));
            Ok(if short.is_empty() { Ok(()) } else { Err(told()) })
        })
    }

    fn say(&mut self, name: &SymbolName, attempt: u32, step: String) {
        self.reporter.event(Event::SymbolStep { symbol: name.clone(), attempt, step });
    }
}

/// Changes of C that nothing told from it, for the next prompt: never those that are held back, so that no target is written to fit
/// the measure.
fn survivors(adequacy: &Adequacy, hidden: &HeldBack) -> String {
    let survived = |fate: &Fate| matches!(fate, Fate::Survived);
    let shown =
        adequacy.mutants.iter().filter(|m| survived(&m.fate) && !hidden.holds(m.mutant.id.as_bytes()));
    let lines: Vec<String> =
        shown.take(TOLD).map(|m| format!("line {}: {}", m.mutant.line, m.mutant.what)).collect();
    match lines.is_empty() {
        true => String::new(),
        false => format!("\nSome of the changed copies of C that passed for it:\n{}", lines.join("\n")),
    }
}

fn read(reply: &Reply) -> Answer {
    if reply.stop == llm::StopReason::Refusal || reply.stop.is_truncated() {
        return Answer::Unusable("The reply was not complete.".into());
    }
    match Blocks::parse(&reply.text, &[Label::FuzzTarget]) {
        Ok(Blocks { fuzz_target: Some(text), .. }) => Answer::Target(text),
        Ok(_) => Answer::Unusable("The reply has no fuzz target.".into()),
        Err(problem) => match Blocks::parse(&reply.text, &[]) {
            Ok(Blocks { notes: Some(notes), .. }) => {
                Answer::Never(notes.trim().lines().take(2).collect::<Vec<_>>().join(" "))
            }
            _ => Answer::Unusable(problem.to_string()),
        },
    }
}
