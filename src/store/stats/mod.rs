//! Costs and results of ports by symbol, role, maker, phase and workflow: sums over the stored steps, attempts and
//! model calls. The sums include the cost of generated tests, but not their results. One function reads the store;
//! everything else is pure.

mod passes;

pub use passes::Passes;

use crate::config::{Maker, TEST_ROLES};
use crate::error::{Error, ErrorKind, Result};
use crate::store::{Attempt, ModelCall, PaidCall, Run, RunId, RunOutcome, StepRow, Store, Totals, median};
use crate::symbol::{SymbolKey, SymbolName};
use passes::Fate;
use std::collections::{BTreeMap, BTreeSet};

/// Tokens per trial in the published figures of the design that this tool follows: lowest and highest.
pub const PUBLISHED_TOKENS: (u64, u64) = (20_000, 55_000);

/// The rows from which the statistics are computed.
#[derive(Debug, Clone, Default)]
pub struct Records {
    pub calls: Vec<PaidCall>,
    pub attempts: Vec<Attempt>,
    pub steps: Vec<StepRow>,
    /// By run; runs that ported nothing are absent.
    pub workflows: BTreeMap<RunId, String>,
    /// Runs that ended by Ctrl-C or a kill.
    pub interrupted: BTreeSet<RunId>,
    pub names: BTreeMap<SymbolKey, SymbolName>,
}

/// One symbol in one run: its port, or its tests, or both.
#[derive(Debug, Clone, Default)]
struct Trial<'r> {
    calls: Vec<&'r ModelCall>,
    attempts: Vec<&'r Attempt>,
    steps: Vec<&'r StepRow>,
    /// The run ended by Ctrl-C or a kill.
    is_interrupted: bool,
}

type Trials<'r> = BTreeMap<(RunId, &'r SymbolKey), Trial<'r>>;

impl Trial<'_> {
    /// Whether a port was begun, whatever its result; generated tests have model roles of their own.
    fn is_port(&self) -> bool {
        let is_for_tests = |call: &&ModelCall| TEST_ROLES.contains(&call.role.as_str());
        !self.attempts.is_empty() || !self.steps.is_empty() || !self.calls.iter().all(is_for_tests)
    }

    fn is_accepted(&self) -> bool {
        self.attempts.iter().any(|attempt| attempt.outcome == "accepted")
    }

    /// Whether the accepted port is c2rust's.
    fn is_translated(&self) -> bool {
        let by_c2rust = |attempt: &Attempt| attempt.maker.as_deref() == Some(Maker::C2rust.word());
        self.attempts.iter().any(|attempt| attempt.outcome == "accepted" && by_c2rust(attempt))
    }

    /// Whether its last step was interrupted: it has the outcome `interrupted`, or no outcome in a run that ended
    /// by a kill. In such a run, also whether a model was asked without any step or attempt.
    fn is_cut_off(&self) -> bool {
        let last = self.steps.iter().rev().max_by_key(|step| step.number);
        match last.map(|step| step.outcome.as_deref()) {
            Some(Some(outcome)) => outcome == "interrupted",
            Some(None) => self.is_interrupted,
            None => self.is_interrupted && self.attempts.is_empty(),
        }
    }

    /// The result of the port; `None` without one.
    fn fate(&self) -> Option<Fate> {
        self.is_port().then(|| match self.is_cut_off() {
            true => Fate::Interrupted,
            false => Fate::of(self.is_accepted()),
        })
    }

    /// Whether it reached a phase. `None` stands for trials from before phases were stored.
    fn is_in(&self, phase: Option<&str>) -> bool {
        match phase {
            Some(phase) => self.steps.iter().any(|step| step.phase == phase),
            None => self.steps.is_empty(),
        }
    }

    /// The result of a phase.
    fn fate_in(&self, phase: Option<&str>) -> Option<Fate> {
        match (phase, self.fate()?) {
            (Some("compilation"), _) if self.is_in(Some("optimization")) => Some(Fate::Passed),
            (Some("compilation"), Fate::Passed) => Some(Fate::Failed),
            (_, fate) => Some(fate),
        }
    }

    /// The duration of its steps, or of its attempts if steps were not stored.
    fn millis(&self) -> u64 {
        match self.steps.is_empty() {
            true => self.attempts.iter().map(|attempt| attempt.millis).sum(),
            false => self.steps.iter().filter_map(|step| step.millis).sum(),
        }
    }
}

/// One line of the statistics.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The symbol, role, phase or workflow; `None` if it was not stored.
    pub name: Option<String>,
    pub spent: Totals,
    pub passes: Passes,
    /// Time of its trials, for models and machine together; `None` for roles, where it was not measured.
    pub millis: Option<u64>,
}

/// Means over the trials of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PerSymbol {
    pub calls: f64,
    pub tokens: f64,
    pub millis: Option<f64>,
    /// `None` unless the price of every call is known.
    pub cost: Option<f64>,
}

impl Group {
    /// The means per trial; `None` without a trial.
    pub fn per_symbol(&self) -> Option<PerSymbol> {
        // The costs include those of interrupted trials, so these count too.
        let trials = self.passes.begun();
        let mean = |sum: f64| sum / trials as f64;
        (trials > 0).then(|| PerSymbol {
            calls: mean(self.spent.calls as f64),
            tokens: mean(self.spent.tokens() as f64),
            millis: self.millis.map(|millis| mean(millis as f64)),
            cost: self.spent.cost.filter(|_| self.spent.unpriced == 0).map(mean),
        })
    }
}

/// A median of token counts over `over` trials, and whether one of the counts is estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Middle {
    pub tokens: u64,
    pub over: usize,
    pub estimated: bool,
}

/// Costs and results.
#[derive(Debug, Clone, PartialEq)]
pub struct Stats {
    /// A trial passes if its port is accepted.
    pub symbols: Vec<Group>,
    /// A reply passes if its candidate is accepted.
    pub roles: Vec<Group>,
    /// Like `roles`, for each model and for c2rust.
    pub makers: Vec<Group>,
    /// A trial passes `compilation` if it reaches `optimization`, and `optimization` if its port is accepted.
    pub phases: Vec<Group>,
    /// Like `symbols`; ports by c2rust form a separate group.
    pub workflows: Vec<Group>,
    pub total: Group,
    /// Tokens per trial, input and output.
    pub trial: Option<Middle>,
    /// Tokens of the first answered prompt in the last trial of each symbol.
    pub first_prompt: Option<Middle>,
}

impl Records {
    /// The rows of a run, or of all runs (`None`), about these symbols, or about all (empty).
    ///
    /// # Errors
    /// `Usage` if there is no such run.
    pub fn read(store: &Store, run: Option<RunId>, symbols: &[SymbolKey]) -> Result<Self> {
        let runs = store.runs()?;
        if let Some(wanted) = run.filter(|id| runs.iter().all(|run| run.id != *id)) {
            let help = match runs.first() {
                Some(last) => format!("the last run is {}; without --run all count", last.id.0),
                None => "there was no run yet: cargo implfuzz port --all".into(),
            };
            return Err(Error::new(ErrorKind::Usage, format!("there is no run {}", wanted.0)).help(help));
        }
        let is_wanted =
            |key: Option<&SymbolKey>| symbols.is_empty() || key.is_some_and(|key| symbols.contains(key));
        let cut_off = |run: &&Run| run.outcome == Some(RunOutcome::Interrupted);
        let mut records = Self {
            interrupted: runs.iter().filter(cut_off).map(|run| run.id).collect(),
            calls: store.calls(run, None)?,
            attempts: store.attempts(run)?,
            steps: store.steps(run, None)?,
            workflows: runs.into_iter().filter_map(|run| Some((run.id, run.workflow?))).collect(),
            names: store.names()?,
        };
        records.calls.retain(|paid| is_wanted(paid.call.symbol.as_ref()));
        records.attempts.retain(|attempt| is_wanted(Some(&attempt.symbol)));
        records.steps.retain(|step| is_wanted(Some(&step.symbol)));
        Ok(records)
    }

    /// Every function with any step, attempt or call in a run.
    fn trials(&self) -> Trials<'_> {
        let mut trials = Trials::new();
        for paid in &self.calls {
            if let Some(key) = &paid.call.symbol {
                trials.entry((paid.run, key)).or_default().calls.push(&paid.call);
            }
        }
        for attempt in &self.attempts {
            trials.entry((attempt.run, &attempt.symbol)).or_default().attempts.push(attempt);
        }
        for step in &self.steps {
            trials.entry((step.run, &step.symbol)).or_default().steps.push(step);
        }
        for ((run, _), trial) in &mut trials {
            trial.is_interrupted = self.interrupted.contains(run);
        }
        trials
    }

    fn name(&self, key: &SymbolKey) -> String {
        self.names.get(key).map_or_else(|| key.0.clone(), ToString::to_string)
    }
}

impl Stats {
    /// Computes the statistics.
    pub fn of(records: &Records) -> Self {
        let trials = records.trials();
        let ports: Vec<&Trial> = trials.values().filter(|trial| trial.is_port()).collect();
        Self {
            symbols: grouped(&trials, |(_, key), _| Some(records.name(key))),
            roles: by_role(records),
            makers: by_maker(records),
            phases: by_phase(records, &trials),
            workflows: grouped(&trials, |(run, _), trial| match trial.is_translated() {
                // c2rust involves no model, so the workflow does not matter.
                true => Some(Maker::C2rust.word().to_owned()),
                false => records.workflows.get(run).cloned(),
            }),
            total: group(None, &trials.values().collect::<Vec<_>>()),
            trial: middle(&ports, |calls| Some(Totals::of(calls.iter().copied()).tokens())),
            first_prompt: middle(&last(&trials), |calls| Some(calls.first()?.input_tokens)),
        }
    }
}

/// Groups whole trials by a name.
fn grouped(trials: &Trials, name: impl Fn(&(RunId, &SymbolKey), &Trial) -> Option<String>) -> Vec<Group> {
    let mut groups: BTreeMap<Option<String>, Vec<&Trial>> = BTreeMap::new();
    for (of, trial) in trials {
        groups.entry(name(of, trial)).or_default().push(trial);
    }
    groups.into_iter().map(|(name, members)| group(name, &members)).collect()
}

fn group(name: Option<String>, members: &[&Trial]) -> Group {
    Group {
        name,
        spent: Totals::of(members.iter().flat_map(|trial| trial.calls.iter().copied())),
        passes: Passes::of(members.iter().filter_map(|trial| trial.fate())),
        millis: Some(members.iter().map(|trial| trial.millis()).sum()),
    }
}

/// Groups replies by model role.
fn by_role(records: &Records) -> Vec<Group> {
    let of_calls = records.calls.iter().map(|paid| paid.call.role.as_str());
    let roles: BTreeSet<&str> = of_calls.chain(replies(records).map(|reply| reply.role.as_str())).collect();
    let group = |role: &str| Group {
        name: Some(role.to_owned()),
        spent: Totals::of(calls(records, |paid| paid.call.role == role)),
        passes: Passes::of(replies(records).filter(|a| a.role == role).map(fate_of)),
        millis: None,
    };
    roles.into_iter().map(group).collect()
}

/// Groups replies by candidate source. Failed calls count for the model that was asked.
fn by_maker(records: &Records) -> Vec<Group> {
    let of_calls = records.calls.iter().map(|paid| Some(paid.call.maker()));
    let makers: BTreeSet<Option<&str>> =
        of_calls.chain(replies(records).map(|reply| reply.maker.as_deref())).collect();
    let group = |maker: Option<&str>| Group {
        name: maker.map(str::to_owned),
        spent: Totals::of(calls(records, |paid| Some(paid.call.maker()) == maker)),
        passes: Passes::of(replies(records).filter(|a| a.maker.as_deref() == maker).map(fate_of)),
        millis: None,
    };
    makers.into_iter().map(group).collect()
}

/// The result of a reply. Replies that were never judged are not stored.
fn fate_of(reply: &Attempt) -> Fate {
    Fate::of(reply.outcome == "accepted")
}

/// Attempts with a reply or a candidate; an attempt that ended for its budget has none.
fn replies(records: &Records) -> impl Iterator<Item = &Attempt> {
    records.attempts.iter().filter(|attempt| attempt.outcome != "budget")
}

/// Groups calls and steps by phase; rows from before phases were stored form a separate group.
fn by_phase(records: &Records, trials: &Trials) -> Vec<Group> {
    let is_of_port = |paid: &PaidCall| {
        let key = paid.call.symbol.as_ref();
        key.is_none_or(|key| trials.get(&(paid.run, key)).is_some_and(Trial::is_port))
    };
    let group = |phase: Option<&'static str>| {
        let members = trials.values().filter(|trial| trial.is_in(phase));
        let millis = records.steps.iter().filter(|step| phase == Some(step.phase.as_str()));
        Group {
            name: phase.map(str::to_owned),
            spent: Totals::of(calls(records, |paid| paid.call.phase.as_deref() == phase && is_of_port(paid))),
            passes: Passes::of(members.filter_map(|trial| trial.fate_in(phase))),
            millis: phase.map(|_| millis.filter_map(|step| step.millis).sum()),
        }
    };
    let groups = [Some("compilation"), Some("optimization"), None].map(group);
    groups.into_iter().filter(|group| group.spent.calls + group.passes.begun() > 0).collect()
}

fn calls(records: &Records, is_meant: impl Fn(&PaidCall) -> bool) -> impl Iterator<Item = &ModelCall> {
    records.calls.iter().filter(move |paid| is_meant(paid)).map(|paid| &paid.call)
}

/// The last port of each symbol.
fn last<'t, 'r>(trials: &'t Trials<'r>) -> Vec<&'t Trial<'r>> {
    // Trials are in the order of their runs, so later ones replace earlier ones.
    let ports = trials.iter().filter(|(_, trial)| trial.is_port());
    let last: BTreeMap<&SymbolKey, &Trial> = ports.map(|((_, key), trial)| (*key, trial)).collect();
    last.into_values().collect()
}

/// The median of a count over the trials in which a model answered.
fn middle(trials: &[&Trial], count: impl Fn(&[&ModelCall]) -> Option<u64>) -> Option<Middle> {
    let (mut counts, mut estimated) = (Vec::new(), false);
    for trial in trials {
        let answered: Vec<&ModelCall> =
            trial.calls.iter().copied().filter(|call| call.error.is_none()).collect();
        if !answered.is_empty() {
            counts.extend(count(&answered));
            estimated |= answered.iter().any(|call| call.estimated);
        }
    }
    let over = counts.len();
    median(counts).map(|tokens| Middle { tokens, over, estimated })
}

#[cfg(test)]
pub(crate) mod tests;
