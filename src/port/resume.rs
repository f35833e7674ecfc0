//! Plans a run's action for each requested function, and checks existing ports before others are built on them.
//!
//! A port with evidence that fits the tree needs only the audit, the linkage proof and a short run; a port without
//! it is judged in full.

use super::{analysis, targets};
use crate::contract::types::Judgeable;
use crate::error::Result;
use crate::event::Reporter;
use crate::judge::Judge;
use crate::judge::verify::{self, Ask, Judgement};
use crate::project::ported::Ported;
use crate::project::{FunctionPlan, Project};
use crate::store::{RunId, Store};
use crate::symbol::{Function, SymbolKey, SymbolName};
use crate::verdict::Grade;
use serde::Serialize;
use std::collections::BTreeMap;

/// The action for a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// A model is asked for a port.
    Port,
    /// It is ported, and a model is asked for a new port.
    PortAgain,
    /// It is ported, without fitting evidence: judge it as `verify` does.
    Verify,
    /// It is ported, with fitting evidence: run it briefly.
    Confirm,
    /// It is ported, and its fitting evidence refutes it.
    Refuted,
    /// No harness can judge it, and a model is asked for its contract.
    Analyze,
    /// A model is asked for a fuzz target first.
    Target,
    /// No harness can judge it, and it is left as it is.
    Leave,
}

impl Action {
    /// The wording in tables.
    pub fn text(self) -> &'static str {
        match self {
            Self::Port => "port",
            Self::PortAgain => "port again",
            Self::Verify => "verify",
            Self::Confirm => "short run",
            Self::Refuted => "nothing: refuted",
            Self::Analyze => "contract, then port",
            Self::Target => "fuzz target, then port",
            Self::Leave => "nothing",
        }
    }

    /// Whether a model or c2rust is asked.
    pub fn asks(self) -> bool {
        matches!(self, Self::Port | Self::PortAgain | Self::Analyze | Self::Target)
    }
}

/// The action for a function, with a reason if it is not obvious.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub action: Action,
    pub reason: Option<String>,
}

/// The action for each of `wanted`. With `redo`, existing ports are written anew.
///
/// # Errors
/// Those of reading the tree, the store and the lock.
pub fn plan(project: &Project, store: &Store, wanted: &[&FunctionPlan], redo: bool) -> Result<Vec<Plan>> {
    let is_ported = |planned: &FunctionPlan| project.ported(&planned.function) == Ported::Yes;
    let stands =
        |planned: &&FunctionPlan| is_ported(planned) && !redo && planned.judgeable.contract().is_some();
    let standing: Vec<&FunctionPlan> = wanted.iter().copied().filter(stands).collect();
    let known = verify::known(project, store, &standing)?;
    let known: BTreeMap<&SymbolKey, &Judgement> =
        standing.iter().map(|planned| &planned.function.key).zip(&known).collect();
    let open = analysis::open(project, store, wanted)?;
    let targets = targets::wanted(project, store, wanted)?;
    let one = |planned: &&FunctionPlan| {
        let key = &planned.function.key;
        let why = || match &planned.judgeable {
            Judgeable::NotYet(why) => Some(why.clone()),
            Judgeable::Yes(_) => None,
        };
        // An existing port keeps the harness that judged it, unless a person requests another.
        let is_asked_again = |asked: &Option<String>| redo && planned.wants_target && asked.is_none();
        let target = targets.get(key).filter(|asked| !is_ported(planned) || is_asked_again(asked));
        let (action, reason) = match (&planned.judgeable, known.get(key)) {
            // If a contract is possible, it is asked for before a fuzz target.
            _ if target.is_some() && (planned.wants_target || !open.contains(key)) => match &targets[key] {
                None => (Action::Target, why()),
                gave_up => (Action::Leave, gave_up.clone()),
            },
            (Judgeable::NotYet(why), _) if open.contains(&planned.function.key) && !is_ported(planned) => {
                (Action::Analyze, Some(why.clone()))
            }
            (Judgeable::NotYet(why), _) => (Action::Leave, Some(why.clone())),
            (Judgeable::Yes(_), Some(known)) => of_standing(known),
            (Judgeable::Yes(_), None) if is_ported(planned) => (Action::PortAgain, None),
            (Judgeable::Yes(_), None) => (Action::Port, None),
        };
        Plan { action, reason }
    };
    Ok(wanted.iter().map(one).collect())
}

/// The action for an existing port, by its status.
fn of_standing(known: &Judgement) -> (Action, Option<String>) {
    let reason = || known.reason.clone();
    match known.ask() {
        None => (Action::Refuted, reason()),
        Some(Ask::Short) => (Action::Confirm, None),
        Some(Ask::Whole) if known.trouble.is_some() => (Action::Verify, reason()),
        Some(Ask::Whole) => (Action::Verify, known.unconfirmed.clone().or_else(reason)),
    }
}

/// The ports that a function builds on, directly or not. Those that also build on it are judged together with it.
pub fn below<'p>(project: &'p Project, planned: &FunctionPlan) -> Vec<&'p FunctionPlan> {
    let by_key: BTreeMap<&SymbolKey, &FunctionPlan> =
        project.planned.iter().map(|planned| (&planned.function.key, planned)).collect();
    let needs = |function: &'p Function| function.calls.iter().chain(&function.address_taken);
    let own = by_key.get(&planned.function.key);
    let mut open: Vec<&SymbolKey> = own.into_iter().flat_map(|own| needs(&own.function)).collect();
    let mut found = BTreeMap::new();
    while let Some(key) = open.pop() {
        let Some(port) = by_key.get(key).copied().filter(|_| !found.contains_key(key)) else { continue };
        // A function without a port runs as C, with everything that it calls.
        if project.ported(&port.function) == Ported::Yes {
            found.insert(key, port);
            open.extend(needs(&port.function));
        }
    }
    let cycle = project.library.cycles.iter().find(|cycle| cycle.contains(&planned.function.key));
    found
        .into_iter()
        .filter(|(key, _)| !cycle.is_some_and(|c| c.contains(key)))
        .map(|(_, port)| port)
        .collect()
}

/// The current judgements of ports from before the run.
#[derive(Debug, Default)]
pub struct Standing(BTreeMap<SymbolKey, Judgement>);

impl Standing {
    /// Judges the existing ports, as `plans` says for each of `wanted`.
    ///
    /// # Errors
    /// Those of the tool, of builds (a tree that does not compile among them), and Ctrl-C.
    pub fn examine(
        project: &Project,
        store: &mut Store,
        (wanted, plans): (&[&FunctionPlan], &[Plan]),
        (judge, run): (&Judge, RunId),
        reporter: &mut dyn Reporter,
    ) -> Result<Self> {
        let mut asked = Vec::new();
        let mut refuted = Vec::new();
        for (planned, plan) in wanted.iter().zip(plans) {
            match plan.action {
                Action::Verify => asked.push((*planned, Ask::Whole)),
                Action::Confirm => asked.push((*planned, Ask::Short)),
                Action::Refuted => refuted.push(*planned),
                Action::Port | Action::PortAgain | Action::Analyze | Action::Target | Action::Leave => {}
            }
        }
        let mut all = verify::known(project, store, &refuted)?;
        if !asked.is_empty() {
            all.extend(verify::verify_in(project, store, &asked, None, (judge, run), reporter)?);
        }
        let key = |judgement: &Judgement| {
            let of = wanted.iter().find(|planned| planned.function.name == judgement.symbol);
            of.map(|planned| planned.function.key.clone())
        };
        Ok(Self(all.into_iter().filter_map(|judgement| Some((key(&judgement)?, judgement))).collect()))
    }

    /// Whether the existing port with this name no longer holds, so that nothing may be built on it.
    pub fn fails(&self, name: &SymbolName) -> bool {
        self.0.values().any(|judgement| judgement.symbol == *name && !holds(judgement.grade))
    }

    /// A port that this function builds on and that no longer holds.
    pub fn in_the_way(&self, project: &Project, planned: &FunctionPlan) -> Option<SymbolName> {
        if self.0.values().all(|judgement| holds(judgement.grade)) {
            return None;
        }
        below(project, planned)
            .into_iter()
            .map(|port| &port.function.name)
            .find(|name| self.fails(name))
            .cloned()
    }

    /// The judgement of an existing port; `None` if it was not judged.
    pub fn of(&self, planned: &FunctionPlan) -> Option<&Judgement> {
        self.0.get(&planned.function.key)
    }
}

/// Whether other ports may be built on one with this grade.
pub fn holds(grade: Grade) -> bool {
    matches!(grade, Grade::Weak | Grade::Verified | Grade::Exhaustive)
}
