//! A whole run: ask for missing contracts, port the functions, ask about C faults, and port again where an answer
//! narrowed the contract. The library is read again between the rounds, since every contract affects how others are
//! judged.

use crate::config::{DRIVER_ROLES, Maker, PORT_ROLES};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::judge::in_place::Grounds;
use crate::judge::verify::{self, Overview};
use crate::judge::{Judge, Judging};
use crate::llm::model_session::{Asks, ModelSession};
use crate::platform::process::Interrupt;
use crate::platform::toolchain::Search;
use crate::port::c2rust::{self, Transpiler};
use crate::port::function::result::{End, PortResult};
use crate::port::function::session::Session;
use crate::port::plan::redo::{self, Redo};
use crate::port::plan::resume::{self, Action, Plan};
use crate::port::prompt::Templates;
use crate::port::proposals::Proposal;
use crate::port::proposals::contracts::Roles;
use crate::port::proposals::drivers::{self, Outcome};
use crate::port::proposals::feasibility;
use crate::port::proposals::inquiry::{Inquiry, Opened, Reopen};
use crate::port::proposals::targets::Target;
use crate::port::run::one_pass;
use crate::port::run::rejudge_callers;
use crate::project::ported::Ported;
use crate::project::{FunctionPlan, Project};
use crate::store::{Store, Totals};
use crate::symbol::{SymbolKey, SymbolName};
use crate::verdict::Grade;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

/// The parameters of a run.
pub struct Request<'a> {
    /// The command, for the store.
    pub command: &'a str,
    /// The functions, in porting order.
    pub wanted: &'a dyn for<'p> Fn(&'p Project) -> Result<Vec<&'p FunctionPlan>>,
    pub redo: Redo,
    /// Have models write drivers for functions that nothing can judge, before any is ported.
    pub write_drivers: bool,
    /// Number of concurrent ports.
    pub jobs: usize,
    pub reopen: Reopen<'a>,
    pub interrupt: &'a Interrupt,
}

/// What came of a run.
#[derive(Debug)]
pub struct Done {
    /// The outcome of each function.
    pub results: Vec<PortResult>,
    pub totals: Totals,
    /// The drivers that it wrote, if it was asked to.
    pub drivers: Option<Outcome>,
    /// The state of the whole library after it.
    pub overview: Overview,
}

/// Ports functions. `Err` when the tool, the model or the user stopped the run.
pub fn port((project, mut store): Opened, request: &Request, reporter: &mut dyn Reporter) -> Result<Done> {
    check(&project, request.redo, request.write_drivers)?;
    let templates = Templates::load(Some(&project.workspace.root().join("prompts")))?;
    let wanted = redo::taken(&project, &store, (request.wanted)(&project)?, request.redo)?;
    let plans = resume::plan(&project, &store, &wanted, None, request.redo)?;
    let lacking =
        if request.write_drivers { without_harness(&project, &wanted, &plans) } else { BTreeSet::new() };
    let (mut models, mut drivers) = (None, None);
    if !lacking.is_empty() {
        let mut session = begin((&project, &mut store), &[&PORT_ROLES[..], &DRIVER_ROLES].concat(), request)?;
        let run = (&project, &mut store, &mut session);
        let written = drivers::write_for(&lacking, run, request.interrupt, reporter);
        drivers = Some(session.or_finish(&mut store, written)?);
        session.forget_silences();
        models = Some(session);
    }
    let prepared = prepare((&project, &mut store), (&wanted, plans), request, reporter);
    let Prepared { plans, place, transpiler, asks } = match &models {
        Some(models) => models.or_finish(&mut store, prepared)?,
        None => prepared?,
    };
    let mut models = match models {
        Some(models) => models,
        None => begin((&project, &mut store), if asks { &PORT_ROLES } else { &[] }, request)?,
    };
    let path = project.workspace.state_db();
    let inquiry = Inquiry {
        models: &mut models,
        templates: &templates,
        reopen: request.reopen,
        interrupt: request.interrupt,
        reporter,
        jobs: request.jobs,
    };
    match (Rounds { request, inquiry, transpiler, place, drivers }).run((project, store), plans) {
        Ok(done) => Ok(done),
        Err(error) => {
            models.finish_with(&mut Store::open(&path)?, &error)?;
            Err(error)
        }
    }
}

/// Begins a run that asks models in these roles.
fn begin(
    (project, store): (&Project, &mut Store),
    roles: &[&'static str],
    request: &Request,
) -> Result<ModelSession> {
    let (config, workflow) = (&project.config, Some(project.config.port.workflow));
    let asks = Asks { command: request.command, roles, config, workflow };
    ModelSession::open(&project.workspace, store, asks, request.interrupt)
}

/// Refuses what needs a model where `candidates` names none.
///
/// # Errors
/// `Usage`.
pub fn check(project: &Project, redo: Redo, write_drivers: bool) -> Result<()> {
    let option = match (redo, write_drivers) {
        (Redo::Safer, _) => "--safer",
        (_, true) => "--write-drivers",
        _ => return Ok(()),
    };
    match project.config.asks_models() {
        true => Ok(()),
        false => {
            Err(Error::new(ErrorKind::Usage, format!("{option} asks a model, and `candidates` names none"))
                .help("add `--candidate model`"))
        }
    }
}

/// The functions without a harness and without a port that holds, as positions in the library.
fn without_harness(project: &Project, wanted: &[&FunctionPlan], plans: &[Plan]) -> BTreeSet<usize> {
    let lacks = |(planned, plan): &(&&FunctionPlan, &Plan)| {
        planned.judgeable.contract().is_none() && plan.known.is_none()
    };
    let lacking = wanted.iter().zip(plans).filter(lacks);
    let lacking: BTreeSet<&SymbolKey> = lacking.map(|(planned, _)| &planned.function.key).collect();
    let all = project.library.functions.iter().enumerate();
    all.filter(|(_, function)| lacking.contains(&function.key)).map(|(at, _)| at).collect()
}

/// What is known before any model is asked for a port.
struct Prepared {
    plans: Vec<Plan>,
    place: Option<Rc<Grounds>>,
    transpiler: Option<Arc<Transpiler>>,
    /// Whether a model will be asked.
    asks: bool,
}

fn prepare(
    (project, store): (&Project, &mut Store),
    (wanted, plans): (&[&FunctionPlan], Vec<Plan>),
    request: &Request,
    reporter: &mut dyn Reporter,
) -> Result<Prepared> {
    let place = place((project, store), (wanted, &plans), request, reporter)?;
    let plans = match &place {
        Some(place) => resume::plan(project, store, wanted, Some(place), request.redo)?,
        None => plans,
    };
    let asks = plans.iter().any(|plan| plan.action.asks());
    // What c2rust writes is `unsafe` all over.
    let is_tried = asks && request.redo != Redo::Safer;
    let transpiler = if is_tried { transpiler(project, reporter)? } else { None };
    Ok(Prepared { plans, place, transpiler, asks: asks && project.config.asks_models() })
}

/// A run with its means.
struct Rounds<'a> {
    request: &'a Request<'a>,
    inquiry: Inquiry<'a>,
    transpiler: Option<Arc<Transpiler>>,
    /// The drivers that judge in place.
    place: Option<Rc<Grounds>>,
    /// The drivers that it wrote.
    drivers: Option<Outcome>,
}

impl Rounds<'_> {
    fn run(mut self, opened: Opened, plans: Vec<Plan>) -> Result<Done> {
        let (opened, plans) = self.propose::<Roles>(opened, plans, Action::Analyze)?;
        // Functions that the analysis was about may need a fuzz target next.
        let (mut opened, plans) = self.propose::<Target>(opened, plans, Action::Target)?;
        let mut results = self.round(&mut opened, None, plans)?;
        for _ in 0..opened.0.config.limits.false_positive_fixes {
            let names = at_fault(&results, &opened.0);
            if names.is_empty() || self.inquiry.models.ranks("feasibility") == 0 {
                break;
            }
            let (after, mut again) = feasibility::ask(&mut self.inquiry, opened, &names)?;
            opened = after;
            if again.is_empty() {
                break;
            }
            // Skipped functions may have waited for these.
            again.extend(results.iter().filter(|r| r.end == End::Skipped).map(|r| r.symbol.clone()));
            let plans = self.plans(&opened, Some(&again))?;
            for result in self.round(&mut opened, Some(&again), plans)? {
                if let Some(known) = results.iter_mut().find(|known| known.symbol == result.symbol) {
                    *known = result;
                }
            }
        }
        let (project, store) = &mut opened;
        let Inquiry { models, interrupt, reporter, .. } = self.inquiry;
        let judge = Judge::new(project, interrupt);
        let mut judging = Judging { judge: &judge, store, reporter, run: Some(models.id) };
        match rejudge_callers::settle(&mut judging, &mut results) {
            // C has changed meanwhile: what that concerns stays stale, and the results of the run stand.
            Err(error) if error.kind() == ErrorKind::C => {
                let text = format!("callers of new ports are not judged again: {error}");
                let help = Some("cargo implfuzz verify --stale".to_owned());
                judging.reporter.event(Event::Warning { text, help });
            }
            settled => settled?,
        }
        let all: Vec<&FunctionPlan> = project.planned.iter().collect();
        let overview = Overview::of(project, store, &verify::known(project, store, &all)?)?;
        let is_budget = self.drivers.as_ref().is_some_and(|drivers| drivers.is_budget);
        let totals = one_pass::finish((project, store), models, &mut results, is_budget)?;
        Ok(Done { results, totals, drivers: self.drivers, overview })
    }

    /// Asks for the files that functions planned for `action` lack. The library is read again for each, so that
    /// another plan follows.
    fn propose<P: Proposal>(
        &mut self,
        mut opened: Opened,
        mut plans: Vec<Plan>,
        action: Action,
    ) -> Result<(Opened, Vec<Plan>)> {
        let wanted = self.wanted(&opened, None)?;
        let due = wanted.iter().zip(&plans).filter(|(_, plan)| plan.action == action);
        let due: Vec<SymbolName> = due.map(|(planned, _)| planned.function.name.clone()).collect();
        if !due.is_empty() {
            opened = self.inquiry.run::<P>(opened, &due)?;
            plans = self.plans(&opened, None)?;
        }
        Ok((opened, plans))
    }

    /// All wanted functions, or of those `only` these.
    fn wanted<'p>(
        &self,
        (project, store): &'p Opened,
        only: Option<&[SymbolName]>,
    ) -> Result<Vec<&'p FunctionPlan>> {
        let mut wanted = redo::taken(project, store, (self.request.wanted)(project)?, self.redo(only))?;
        wanted.retain(|planned| only.is_none_or(|names| names.contains(&planned.function.name)));
        Ok(wanted)
    }

    /// The plans of [`Self::wanted`]. Functions of a further round were tried before, so what they have by then stays.
    fn plans(&self, opened: &Opened, only: Option<&[SymbolName]>) -> Result<Vec<Plan>> {
        let (project, store) = opened;
        resume::plan(project, store, &self.wanted(opened, only)?, self.place.as_deref(), self.redo(only))
    }

    fn redo(&self, only: Option<&[SymbolName]>) -> Redo {
        if only.is_none() { self.request.redo } else { Redo::No }
    }

    /// One pass over [`Self::wanted`].
    fn round(
        &mut self,
        opened: &mut Opened,
        only: Option<&[SymbolName]>,
        plans: Vec<Plan>,
    ) -> Result<Vec<PortResult>> {
        let names: BTreeSet<SymbolName> =
            self.wanted(opened, only)?.iter().map(|planned| planned.function.name.clone()).collect();
        let redo = self.redo(only);
        let (project, store) = opened;
        let mut wanted = (self.request.wanted)(project)?;
        wanted.retain(|planned| names.contains(&planned.function.name));
        let Inquiry { models, templates, interrupt, reporter, .. } = &mut self.inquiry;
        let judge = Judge::new(project, interrupt);
        let mut session = Session::new(judge, store, *reporter, models, templates, self.transpiler.as_ref());
        session.place.clone_from(&self.place);
        session.redo = redo;
        session.port(&wanted, plans, self.request.jobs)
    }
}

/// The drivers that judge functions without a port, measured before any model is asked; `None` where nothing is to be
/// ported, or where there are none.
fn place(
    (project, store): (&Project, &mut Store),
    (wanted, plans): (&[&FunctionPlan], &[Plan]),
    request: &Request,
    reporter: &mut dyn Reporter,
) -> Result<Option<Rc<Grounds>>> {
    let is_open = |(planned, plan): &(&&FunctionPlan, &Plan)| {
        request.redo != Redo::No || plan.action.asks() || project.ported(&planned.function) != Ported::Yes
    };
    let open: Vec<&FunctionPlan> =
        wanted.iter().zip(plans).filter(is_open).map(|(planned, _)| *planned).collect();
    if open.is_empty() {
        return Ok(None);
    }
    let judge = Judge::new(project, request.interrupt);
    let mut judging = Judging { judge: &judge, store, reporter, run: None };
    let Some(report) = judging.drivers()? else { return Ok(None) };
    let grounds = Grounds::lay(&mut judging, &report, &open);
    Ok(judging.warned(grounds)?.map(Rc::new))
}

/// c2rust, if it is configured and installed.
///
/// # Errors
/// `Environment` where it is not there, and no model may be asked instead.
fn transpiler(project: &Project, reporter: &mut dyn Reporter) -> Result<Option<Arc<Transpiler>>> {
    if !project.config.candidates.contains(&Maker::C2rust) {
        return Ok(None);
    }
    let found = Transpiler::find(&project.workspace, &Search::from_env());
    if found.is_none() {
        let text = "`candidates` names c2rust, which is not installed";
        if !project.config.asks_models() {
            return Err(Error::new(ErrorKind::Environment, text).help(c2rust::MENDING_COMMAND));
        }
        let help = Some(c2rust::MENDING_COMMAND.to_owned());
        reporter.event(Event::Warning { text: format!("{text}: only models are asked"), help });
    }
    Ok(found.map(Arc::new))
}

/// Functions to ask a model about because of C: a C fault stopped their ports, or C rejects too many inputs.
fn at_fault(results: &[PortResult], project: &Project) -> Vec<SymbolName> {
    let least = project.config.grade.accept_rate;
    // A precondition does not affect the inputs of a fuzz target.
    let is_aimed =
        |r: &PortResult| project.find(r.symbol.as_str()).is_ok_and(|planned| planned.target.is_some());
    let is_short = |r: &&PortResult| {
        !is_aimed(r)
            && (r.end == End::CFault
                || r.grade == Some(Grade::Weak) && r.accept_rate.is_some_and(|rate| rate < least))
    };
    results.iter().filter(is_short).map(|r| r.symbol.clone()).collect()
}
