//! Models write drivers for functions that no driver reaches: one function at a time, the one that leads to most others
//! first. A driver stays only if it reaches a function that no other driver reaches.
//!
//! `goals` chooses the function, `context` gathers what the prompt shows, `answer` reads the reply, `one` asks, tries and
//! asks again within the limits of `tries`.

mod answer;
mod context;
mod goals;
mod one;
mod tries;

use crate::config::DRIVER_ROLES;
use crate::digest::sha256;
use crate::drivers::{Broken, Trials, with_trials};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::in_place::run::Number;
use crate::llm::model_session::{Asks, ModelSession};
use crate::llm::templates::Templates;
use crate::platform::process::Interrupt;
use crate::project::Project;
use crate::store::lesson::{Kind, Lesson, Scope};
use crate::store::{RunOutcome, Store, Totals};
use crate::symbol::{Function, SymbolName};
use camino::Utf8PathBuf;
use context::Api;
use goals::Field;
use std::collections::{BTreeMap, BTreeSet};

/// The built-in templates: name and text.
const BUILT_IN: [(&str, &str); 3] = [
    ("driver_rules.j2", include_str!("../../../../templates/prompts/driver_rules.j2")),
    ("driver.j2", include_str!("../../../../templates/prompts/driver.j2")),
    ("driver_repair.j2", include_str!("../../../../templates/prompts/driver_repair.j2")),
];

/// What came of the questions about one function.
#[derive(Debug)]
pub struct Written {
    pub function: SymbolName,
    /// The driver that stays, relative to the root.
    pub file: Option<Utf8PathBuf>,
    /// The functions that only it reaches.
    pub new: Vec<SymbolName>,
    /// How it ended, in words.
    pub end: String,
    /// An input of the driver on which C breaks.
    pub broken: Option<Broken>,
    pub calls: u64,
    pub tokens: u64,
}

/// What came of a run.
#[derive(Debug)]
pub struct Outcome {
    pub written: Vec<Written>,
    /// Functions that drivers reached before and after it.
    pub before: usize,
    pub after: usize,
    /// Functions about which a model was asked in an earlier run, without a driver.
    pub given_up: Vec<SymbolName>,
    /// Functions about which nothing was asked, because only those lead to them for which there is no driver, or none.
    pub behind: Vec<SymbolName>,
    /// The budget ended the run.
    pub is_budget: bool,
    pub totals: Totals,
}

/// Has models write drivers until every function is reached, given up, or behind one that is, in a run of its own. `command` is the one for
/// the store.
///
/// # Errors
/// `Config` where a model is missing, and those of [`write_for`].
pub fn write(
    (project, store): (&Project, &mut Store),
    command: &str,
    interrupt: &Interrupt,
    reporter: &mut dyn Reporter,
) -> Result<Outcome> {
    let asks = Asks { command, roles: &DRIVER_ROLES, config: &project.config, workflow: None };
    let mut models = ModelSession::open(&project.workspace, store, asks, interrupt)?;
    let all = (0..project.library.functions.len()).collect();
    let ended = write_for(&all, (project, store, &mut models), interrupt, reporter);
    let outcome = models.or_finish(store, ended)?;
    let word = match outcome.is_budget {
        true => RunOutcome::Budget,
        false if outcome.written.iter().all(|one| one.file.is_some()) => RunOutcome::Done,
        false => RunOutcome::Incomplete,
    };
    store.finish_run(models.id, word)?;
    Ok(outcome)
}

/// Has models write drivers until each of these functions is reached, given up, or behind one that is, within a run.
///
/// # Errors
/// `Config` where the drivers are listed, `C` if the library cannot be built, those of models and of the store, and Ctrl-C.
pub fn write_for(
    wanted: &BTreeSet<Number>,
    (project, store, models): (&Project, &mut Store, &mut ModelSession),
    interrupt: &Interrupt,
    reporter: &mut dyn Reporter,
) -> Result<Outcome> {
    if !project.config.drivers.files.is_empty() {
        let text =
            "`files` under [drivers] in implfuzz.toml names the drivers, so a new one would not be used";
        return Err(Error::new(ErrorKind::Config, text).help("leave out `files`: all drivers are found"));
    }
    let templates = Templates::load(&BUILT_IN, Some(&project.workspace.root().join("prompts")))?;
    let api = Api::of(project)?;
    let asked = BTreeMap::new();
    let mut writer = Writer { project, store, models, templates, interrupt, api, wanted, asked };
    with_trials(project, interrupt, reporter, |trials, reporter| writer.all(trials, reporter))
}

/// A run with its means.
struct Writer<'a> {
    project: &'a Project,
    store: &'a mut Store,
    models: &'a mut ModelSession,
    templates: Templates,
    interrupt: &'a Interrupt,
    api: Api,
    /// The functions that drivers should reach.
    wanted: &'a BTreeSet<Number>,
    /// How often each role was asked about each function.
    asked: BTreeMap<(&'static str, SymbolName), u32>,
}

impl Writer<'_> {
    fn all(&mut self, trials: &mut Trials, reporter: &mut dyn Reporter) -> Result<Outcome> {
        let library = &self.project.library;
        let known: BTreeSet<String> =
            self.store.memory()?.into_iter().map(|row| row.item.lesson.key).collect();
        let numbers = 0..library.functions.len();
        let given_up = numbers.clone().filter(|at| self.wanted.contains(at));
        let given_up = given_up.filter(|at| known.contains(&never(&library.functions[*at])));
        let given_up: BTreeSet<usize> = given_up.filter(|at| !trials.report.reached().contains(at)).collect();
        let not_judged = numbers
            .filter(|at| !self.wanted.contains(at) || !context::can_be_judged(&trials.report, library, *at));
        let left_out: BTreeSet<usize> = not_judged.collect();
        let mut refused = given_up.clone();
        let before = trials.report.reached().len();
        let (mut written, mut is_budget) = (Vec::new(), false);
        loop {
            let reached = trials.report.reached();
            let public = &self.api.functions;
            let field = Field { library, public, reached: &reached, left_out: &left_out, refused: &refused };
            let Some(goal) = goals::next(field) else { break };
            let symbol = library.functions[goal.function].name.clone();
            let open = (0..library.functions.len())
                .filter(|at| ![&reached, &left_out, &refused].iter().any(|set| set.contains(at)));
            let (index, total) = (written.len() + 1, written.len() + open.count());
            reporter.event(Event::SymbolStarted { symbol: symbol.clone(), work: "driver", index, total });
            let one = self.one(trials, &goal, reporter)?;
            let (ok, summary) = (one.file.is_some(), one.end.clone());
            reporter.event(Event::SymbolFinished { symbol, ok, grade: None, summary });
            // With a new driver, another one may lead to the function: it may be a goal again.
            if one.file.is_none() {
                refused.insert(goal.function);
            }
            let function = &library.functions[goal.function];
            is_budget = self.models.silence(function).is_some_and(|silence| silence.is_budget);
            written.push(one);
            if is_budget {
                break;
            }
        }
        let reached = trials.report.reached();
        let public = &self.api.functions;
        let field = Field { library, public, reached: &reached, left_out: &left_out, refused: &refused };
        let after = reached.len();
        let name = |at: Number| library.functions[at].name.clone();
        let behind = if is_budget { Vec::new() } else { goals::behind_refused(field) };
        let behind = behind.into_iter().map(name).collect();
        let given_up = given_up.into_iter().map(name).collect();
        let totals = self.store.totals(Some(self.models.id))?;
        Ok(Outcome { written, before, after, given_up, behind, is_budget, totals })
    }

    /// Stores the decision not to ask again while the C text stays the same.
    fn give_up(&mut self, function: &Function, why: &str) -> Result<()> {
        let lesson = Lesson {
            kind: Kind::Decision,
            scope: Scope::Symbol(function.key.clone()),
            key: never(function),
            text: format!("no driver reaches `{}`: {why}", function.name),
            source: format!("driver-writer, run {}", self.models.id.0),
            proven: false,
        };
        self.store.learn(lesson).map(drop)
    }
}

fn never(function: &Function) -> String {
    format!("no driver {}", &sha256(format!("{}\n{}", function.key.0, function.text))[..16])
}
