//! Plans a run's action for each requested function, and checks existing ports before others are built on them.
//!
//! A port with evidence that fits the tree needs only the audit, the linkage proof and a short run; a port without
//! it is judged in full.

use crate::contract::types::Judgeable;
use crate::error::Result;
use crate::judge::Judging;
use crate::judge::in_place::Grounds;
use crate::judge::verify::{self, Ask, Judgement};
use crate::port::plan::redo::Redo;
use crate::port::proposals::{contracts, targets};
use crate::project::ported::Ported;
use crate::project::{FunctionPlan, Project};
use crate::store::Store;
use crate::symbol::{Function, SymbolKey, SymbolName};
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
#[derive(Debug, Clone)]
pub struct Plan {
    pub action: Action,
    pub reason: Option<String>,
    /// The status of an existing port that is to stay.
    pub known: Option<Judgement>,
}

/// The action for each of `wanted`. `place` says which functions drivers judge. With `redo`, existing ports are written
/// anew.
///
/// # Errors
/// Those of reading the tree, the store and the lock.
pub fn plan(
    project: &Project,
    store: &Store,
    wanted: &[&FunctionPlan],
    place: Option<&Grounds>,
    redo: Redo,
) -> Result<Vec<Plan>> {
    let is_ported = |planned: &FunctionPlan| project.ported(&planned.function) == Ported::Yes;
    let in_place = |planned: &FunctionPlan| place.is_some_and(|place| place.judges(planned));
    let stands = |planned: &&FunctionPlan| is_ported(planned) && redo == Redo::No;
    let standing: Vec<&FunctionPlan> = wanted.iter().copied().filter(stands).collect();
    let known = verify::known(project, store, &standing)?;
    let is_judged = |planned: &FunctionPlan, known: &Judgement| {
        planned.judgeable.contract().is_some() || in_place(planned) || known.in_place.is_some()
    };
    let mut known: BTreeMap<&SymbolKey, Judgement> = standing
        .iter()
        .zip(known)
        .filter(|(planned, known)| is_judged(planned, known))
        .map(|(planned, known)| (&planned.function.key, known))
        .collect();
    let open = contracts::open(project, store, wanted)?;
    let targets = targets::wanted(project, store, wanted)?;
    let mut one = |planned: &&FunctionPlan| {
        let key = &planned.function.key;
        let why = || match &planned.judgeable {
            Judgeable::NotYet(why) => Some(why.clone()),
            Judgeable::Yes(_) => None,
        };
        // An existing port keeps the harness that judged it, unless a person requests another.
        let is_asked_again =
            |asked: &Option<String>| redo == Redo::All && planned.wants_target && asked.is_none();
        let target = targets.get(key).filter(|asked| !is_ported(planned) || is_asked_again(asked));
        let known = known.remove(key);
        let (action, reason) = match (&planned.judgeable, &known) {
            // Drivers judge it as it is, unless a person asked for a target.
            (Judgeable::NotYet(_), Some(known)) if !planned.wants_target => of_standing(known),
            (Judgeable::NotYet(_), None) if in_place(planned) && !planned.wants_target => {
                let action = if is_ported(planned) { Action::PortAgain } else { Action::Port };
                (action, Some("drivers judge it in place".to_owned()))
            }
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
        Plan { action, reason, known }
    };
    Ok(wanted.iter().map(&mut one).collect())
}

/// The action for an existing port, by its status.
fn of_standing(known: &Judgement) -> (Action, Option<String>) {
    let reason = || known.reason.clone();
    match known.ask() {
        None => (Action::Refuted, reason()),
        Some(Ask::Short(_)) => (Action::Confirm, None),
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
    /// Judges existing ports as thoroughly as their status asks. A refuted port is not judged again.
    ///
    /// # Errors
    /// Those of the tool, of builds (a tree that does not compile among them), and Ctrl-C.
    pub fn examine(judging: &mut Judging, ports: Vec<(&FunctionPlan, Judgement)>) -> Result<Self> {
        let (mut all, mut asked) = (BTreeMap::new(), Vec::new());
        for (planned, known) in ports {
            match known.ask() {
                Some(ask) => asked.push((planned, ask)),
                None => drop(all.insert(planned.function.key.clone(), known)),
            }
        }
        if !asked.is_empty() {
            let keys: Vec<SymbolKey> =
                asked.iter().map(|(planned, _)| planned.function.key.clone()).collect();
            all.extend(keys.into_iter().zip(judging.judge_ports(asked, None)?));
        }
        Ok(Self(all))
    }

    /// Whether the existing port with this name no longer holds, so that nothing may be built on it.
    pub fn fails(&self, name: &SymbolName) -> bool {
        self.0.values().any(|judgement| judgement.symbol == *name && !judgement.grade.holds())
    }

    /// A port that this function builds on and that no longer holds.
    pub fn in_the_way(&self, project: &Project, planned: &FunctionPlan) -> Option<SymbolName> {
        if self.0.values().all(|judgement| judgement.grade.holds()) {
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
