//! A whole run: ask for missing contracts, port the functions, ask about C faults, and port again where an answer
//! narrowed the contract. The library is read again between the rounds, since every contract affects how others are
//! judged.

use super::contract_proposals::Roles;
use super::feasibility;
use super::inquiry::{Inquiry, Opened, Reopen};
use super::prompt::Templates;
use super::proposals::Proposal;
use super::rejudge_callers;
use super::result::{End, PortResult};
use super::resume::{self, Action, Plan};
use super::run;
use super::session::Session;
use super::target_proposals::Target;
use crate::config::{Maker, PORT_ROLES};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::judge::in_place::Grounds;
use crate::judge::{Judge, Judging};
use crate::llm::model_session::{Asks, ModelSession};
use crate::platform::process::Interrupt;
use crate::platform::toolchain::Search;
use crate::port::c2rust::{self, Transpiler};
use crate::project::ported::Ported;
use crate::project::{FunctionPlan, Project};
use crate::store::{Store, Totals};
use crate::symbol::SymbolName;
use crate::verdict::Grade;
use std::rc::Rc;
use std::sync::Arc;

/// The parameters of a run.
pub struct Request<'a> {
    /// The command, for the store.
    pub command: &'a str,
    /// The functions, in porting order.
    pub wanted: &'a dyn for<'p> Fn(&'p Project) -> Result<Vec<&'p FunctionPlan>>,
    /// Port existing ports again.
    pub redo: bool,
    /// Number of concurrent ports.
    pub jobs: usize,
    pub reopen: Reopen<'a>,
    pub interrupt: &'a Interrupt,
}

/// Ports functions. The results have the outcome of each; `Err` when the tool, the model or the user stopped the
/// run.
pub fn port(
    (project, mut store): Opened,
    request: &Request,
    reporter: &mut dyn Reporter,
) -> Result<(Vec<PortResult>, Totals)> {
    let wanted = (request.wanted)(&project)?;
    let plans = resume::plan(&project, &store, &wanted, None, request.redo)?;
    let place = place((&project, &mut store), (&wanted, &plans), request, reporter)?;
    let plans = match &place {
        Some(place) => resume::plan(&project, &store, &wanted, Some(place), request.redo)?,
        None => plans,
    };
    let asks = plans.iter().any(|plan| plan.action.asks());
    let transpiler = if asks { transpiler(&project, reporter)? } else { None };
    let templates = Templates::load(Some(&project.workspace.root().join("prompts")))?;
    let asks = asks && project.config.asks_models();
    let roles: &[&str] = if asks { &PORT_ROLES } else { &[] };
    let asks = Asks {
        command: request.command,
        roles,
        config: &project.config,
        workflow: Some(project.config.port.workflow),
    };
    let mut models = ModelSession::open(&project.workspace, &mut store, asks, request.interrupt)?;
    let path = project.workspace.state_db();
    let inquiry = Inquiry {
        models: &mut models,
        templates: &templates,
        reopen: request.reopen,
        interrupt: request.interrupt,
        reporter,
        jobs: request.jobs,
    };
    match (Rounds { request, inquiry, transpiler, place }).run((project, store), plans) {
        Ok(done) => Ok(done),
        Err(error) => {
            models.finish_with(&mut Store::open(&path)?, &error)?;
            Err(error)
        }
    }
}

/// A run with its means.
struct Rounds<'a> {
    request: &'a Request<'a>,
    inquiry: Inquiry<'a>,
    transpiler: Option<Arc<Transpiler>>,
    /// The drivers that judge in place.
    place: Option<Rc<Grounds>>,
}

impl Rounds<'_> {
    fn run(mut self, opened: Opened, plans: Vec<Plan>) -> Result<(Vec<PortResult>, Totals)> {
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
        rejudge_callers::settle(&mut judging, &mut results)?;
        let totals = run::finish(project, store, models, &mut results)?;
        Ok((results, totals))
    }

    /// Asks for the files that functions planned for `action` lack. The library is read again for each, so that
    /// another plan follows.
    fn propose<P: Proposal>(
        &mut self,
        mut opened: Opened,
        mut plans: Vec<Plan>,
        action: Action,
    ) -> Result<(Opened, Vec<Plan>)> {
        let wanted = self.wanted(&opened.0, None)?;
        let due = wanted.iter().zip(&plans).filter(|(_, plan)| plan.action == action);
        let due: Vec<SymbolName> = due.map(|(planned, _)| planned.function.name.clone()).collect();
        if !due.is_empty() {
            opened = self.inquiry.run::<P>(opened, &due)?;
            plans = self.plans(&opened, None)?;
        }
        Ok((opened, plans))
    }

    /// All wanted functions, or of those `only` these.
    fn wanted<'p>(&self, project: &'p Project, only: Option<&[SymbolName]>) -> Result<Vec<&'p FunctionPlan>> {
        let mut wanted = (self.request.wanted)(project)?;
        wanted.retain(|planned| only.is_none_or(|names| names.contains(&planned.function.name)));
        Ok(wanted)
    }

    /// The plans of [`Self::wanted`]. Functions of a further round were tried before, so what they have by then stays.
    fn plans(&self, (project, store): &Opened, only: Option<&[SymbolName]>) -> Result<Vec<Plan>> {
        let redo = self.request.redo && only.is_none();
        resume::plan(project, store, &self.wanted(project, only)?, self.place.as_deref(), redo)
    }

    /// One pass over [`Self::wanted`].
    fn round(
        &mut self,
        (project, store): &mut Opened,
        only: Option<&[SymbolName]>,
        plans: Vec<Plan>,
    ) -> Result<Vec<PortResult>> {
        let wanted = self.wanted(project, only)?;
        let Inquiry { models, templates, interrupt, reporter, .. } = &mut self.inquiry;
        let judge = Judge::new(project, interrupt);
        let mut session = Session::new(judge, store, *reporter, models, templates, self.transpiler.as_ref());
        session.place.clone_from(&self.place);
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
        request.redo || plan.action.asks() || project.ported(&planned.function) != Ported::Yes
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
