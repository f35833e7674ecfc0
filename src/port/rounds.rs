//! A whole run: ask for missing contracts, port the functions, ask about C faults, and port again where an answer
//! narrowed the contract. The library is read again between the rounds, since every contract affects how others are
//! judged.

use super::analysis::Roles;
use super::feasibility::Feasibility;
use super::prompt::Templates;
use super::proposals::{Inquiry, Opened, Reopen};
use super::rejudge_callers;
use super::result::{End, PortResult};
use super::resume::{self, Action, Plan};
use super::run::{self, Order};
use super::targets::Target;
use crate::config::{Maker, PORT_ROLES};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::judge::Judge;
use crate::llm::model_session::{Asks, ModelSession};
use crate::platform::process::Interrupt;
use crate::platform::toolchain::Search;
use crate::port::c2rust::{self, Transpiler};
use crate::project::{FunctionPlan, Project};
use crate::store::{Store, Totals};
use crate::symbol::SymbolName;
use crate::verdict::Grade;
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

/// Sources of candidates and proposals, besides models.
struct Makers {
    templates: Templates,
    transpiler: Option<Arc<Transpiler>>,
}

/// Ports functions. The results have the outcome of each; `Err` when the tool, the model or the user stopped the
/// run.
pub fn port(
    (project, mut store): Opened,
    request: &Request,
    reporter: &mut dyn Reporter,
) -> Result<(Vec<PortResult>, Totals)> {
    let wanted = (request.wanted)(&project)?;
    let plans = resume::plan(&project, &store, &wanted, request.redo)?;
    let asks = plans.iter().any(|plan| plan.action.asks());
    let transpiler = if asks { transpiler(&project, reporter)? } else { None };
    let makers =
        Makers { templates: Templates::load(Some(&project.workspace.root().join("prompts")))?, transpiler };
    let asks = asks && project.config.asks_models();
    let roles: &[&str] = if asks { &PORT_ROLES } else { &[] };
    let asks = Asks { roles, config: &project.config, workflow: Some(project.config.port.workflow) };
    let mut models =
        ModelSession::open(&project.workspace, &mut store, (request.command, asks), request.interrupt)?;
    let path = project.workspace.state_db();
    match rounds((project, store), (request, &mut models, &makers), &plans, reporter) {
        Ok(done) => Ok(done),
        Err(error) => {
            models.finish_with(&mut Store::open(&path)?, &error)?;
            Err(error)
        }
    }
}

fn rounds(
    mut opened: Opened,
    (request, models, makers): (&Request, &mut ModelSession, &Makers),
    plans: &[Plan],
    reporter: &mut dyn Reporter,
) -> Result<(Vec<PortResult>, Totals)> {
    let (reopen, interrupt, templates) = (request.reopen, request.interrupt, &makers.templates);
    let is_to_be = |action| plans.iter().any(|plan| plan.action == action);
    if is_to_be(Action::Analyze) {
        let lacking = names((&opened.0, &opened.1), request, Action::Analyze)?;
        let mut inquiry =
            Inquiry { models: &mut *models, templates, reopen, interrupt, reporter: &mut *reporter };
        opened = inquiry.run::<Roles>(opened, &lacking)?;
    }
    // Functions that the analysis was about may need a fuzz target next.
    if is_to_be(Action::Analyze) || is_to_be(Action::Target) {
        let lacking = names((&opened.0, &opened.1), request, Action::Target)?;
        let mut inquiry =
            Inquiry { models: &mut *models, templates, reopen, interrupt, reporter: &mut *reporter };
        opened = inquiry.run::<Target>(opened, &lacking)?;
    }
    let mut results = round(&mut opened, (request, models, makers), None, reporter)?;
    for _ in 0..opened.0.config.limits.false_positive_fixes {
        let names = at_fault(&results, &opened.0);
        if names.is_empty() || models.ranks("feasibility") == 0 {
            break;
        }
        let mut inquiry =
            Inquiry { models: &mut *models, templates, reopen, interrupt, reporter: &mut *reporter };
        let (after, narrowed) = Feasibility(&mut inquiry).run(opened, &names)?;
        opened = after;
        if narrowed.is_empty() {
            break;
        }
        // Skipped functions may have waited for these.
        let skipped = results.iter().filter(|r| r.end == End::Skipped).map(|r| r.symbol.clone());
        let narrowed: Vec<SymbolName> = narrowed.into_iter().chain(skipped).collect();
        for again in round(&mut opened, (request, models, makers), Some(&narrowed), reporter)? {
            if let Some(known) = results.iter_mut().find(|known| known.symbol == again.symbol) {
                *known = again;
            }
        }
    }
    let (project, store) = &mut opened;
    let judge = Judge::new(project, interrupt);
    rejudge_callers::settle(project, store, (&judge, models.id), &mut results, reporter)?;
    let totals = run::finish((project, store), models, &mut results)?;
    Ok((results, totals))
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

/// The functions for which this action is due in the current tree.
fn names((project, store): (&Project, &Store), request: &Request, action: Action) -> Result<Vec<SymbolName>> {
    let wanted = (request.wanted)(project)?;
    let plans = resume::plan(project, store, &wanted, request.redo)?;
    let due = wanted.iter().zip(plans).filter(|(_, plan)| plan.action == action);
    Ok(due.map(|(planned, _)| planned.function.name.clone()).collect())
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

/// One pass over all wanted functions, or over `only` these, which were tried before.
fn round(
    (project, store): &mut Opened,
    (request, models, makers): (&Request, &mut ModelSession, &Makers),
    only: Option<&[SymbolName]>,
    reporter: &mut dyn Reporter,
) -> Result<Vec<PortResult>> {
    let mut wanted = (request.wanted)(project)?;
    wanted.retain(|planned| only.is_none_or(|names| names.contains(&planned.function.name)));
    let judge = Judge::new(project, request.interrupt);
    let redo = request.redo && only.is_none();
    let order = Order { wanted: &wanted, redo, jobs: request.jobs };
    run::port(
        project,
        store,
        order,
        (judge, &makers.templates),
        (models, makers.transpiler.as_ref()),
        reporter,
    )
}
