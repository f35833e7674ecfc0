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

/// A trial: one symbol in one run.
type Trial<'r> = (RunId, &'r SymbolKey);

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

    /// Every function with any step, attempt or call in a run, for its port or for its tests.
    fn trials(&self) -> BTreeSet<Trial<'_>> {
        let of_calls = self.calls.iter().filter_map(|paid| Some((paid.run, paid.call.symbol.as_ref()?)));
        let of_attempts = self.attempts.iter().map(|attempt| (attempt.run, &attempt.symbol));
        of_calls.chain(of_attempts).chain(self.steps.iter().map(|step| (step.run, &step.symbol))).collect()
    }

    /// Every port that was begun, whatever its result.
    fn ports(&self) -> BTreeSet<Trial<'_>> {
        let for_tests = |paid: &&PaidCall| TEST_ROLES.contains(&paid.call.role.as_str());
        let of_calls = self.calls.iter().filter(|paid| !for_tests(paid));
        let of_calls = of_calls.filter_map(|paid| Some((paid.run, paid.call.symbol.as_ref()?)));
        let of_attempts = self.attempts.iter().map(|attempt| (attempt.run, &attempt.symbol));
        of_calls.chain(of_attempts).chain(self.steps.iter().map(|step| (step.run, &step.symbol))).collect()
    }

    fn accepted(&self) -> BTreeSet<Trial<'_>> {
        let accepted = self.attempts.iter().filter(|attempt| attempt.outcome == "accepted");
        accepted.map(|attempt| (attempt.run, &attempt.symbol)).collect()
    }

    /// Trials whose last step was interrupted: it has the outcome `interrupted`, or no outcome in a run that
    /// ended by a kill. In such a run, also symbols that a model was asked about without any step or attempt.
    fn cut_off(&self) -> BTreeSet<Trial<'_>> {
        let mut last: BTreeMap<Trial, &StepRow> = BTreeMap::new();
        for step in &self.steps {
            let known = last.entry((step.run, &step.symbol)).or_insert(step);
            if step.number > known.number {
                *known = step;
            }
        }
        let tried: BTreeSet<Trial> = self.attempts.iter().map(|a| (a.run, &a.symbol)).collect();
        let is_cut_off = |trial: &Trial| match last.get(trial).map(|step| step.outcome.as_deref()) {
            Some(Some(outcome)) => outcome == "interrupted",
            Some(None) => self.interrupted.contains(&trial.0),
            None => self.interrupted.contains(&trial.0) && !tried.contains(trial),
        };
        self.ports().into_iter().filter(is_cut_off).collect()
    }

    /// The result of each port.
    fn fates(&self) -> BTreeMap<Trial<'_>, Fate> {
        let (accepted, cut_off) = (self.accepted(), self.cut_off());
        let fate = |trial: &Trial| match cut_off.contains(trial) {
            true => Fate::Interrupted,
            false => Fate::of(accepted.contains(trial)),
        };
        self.ports().into_iter().map(|trial| (trial, fate(&trial))).collect()
    }

    /// Trials in which c2rust's port was accepted.
    fn translated(&self) -> BTreeSet<Trial<'_>> {
        let is_one = |attempt: &&Attempt| {
            attempt.outcome == "accepted" && attempt.maker.as_deref() == Some(Maker::C2rust.word())
        };
        self.attempts.iter().filter(is_one).map(|attempt| (attempt.run, &attempt.symbol)).collect()
    }

    /// The phases that each trial reached; absent if phases were not stored.
    fn phases(&self) -> BTreeMap<Trial<'_>, BTreeSet<&str>> {
        let mut phases: BTreeMap<Trial, BTreeSet<&str>> = BTreeMap::new();
        for step in &self.steps {
            phases.entry((step.run, &step.symbol)).or_default().insert(&step.phase);
        }
        phases
    }

    /// The duration of each trial: of its steps, or of its attempts if steps were not stored.
    fn millis(&self) -> BTreeMap<Trial<'_>, u64> {
        let mut millis: BTreeMap<Trial, u64> = BTreeMap::new();
        for step in &self.steps {
            *millis.entry((step.run, &step.symbol)).or_default() += step.millis.unwrap_or(0);
        }
        let traced: BTreeSet<Trial> = millis.keys().copied().collect();
        for attempt in &self.attempts {
            let trial = (attempt.run, &attempt.symbol);
            if !traced.contains(&trial) {
                *millis.entry(trial).or_default() += attempt.millis;
            }
        }
        millis
    }

    fn name(&self, key: &SymbolKey) -> String {
        self.names.get(key).map_or_else(|| key.0.clone(), ToString::to_string)
    }
}

impl Stats {
    /// Computes the statistics.
    pub fn of(records: &Records) -> Self {
        let (trials, ports) = (records.trials(), records.ports());
        let everything = |_: &Trial| Some(String::new());
        let translated = records.translated();
        let mut total = by_trial(records, &trials, &everything);
        Self {
            symbols: by_trial(records, &trials, &|(_, key)| Some(records.name(key))),
            roles: by_role(records),
            makers: by_maker(records),
            phases: by_phase(records, &ports),
            workflows: by_trial(records, &trials, &|trial| match translated.contains(trial) {
                // c2rust involves no model, so the workflow does not matter.
                true => Some(Maker::C2rust.word().to_owned()),
                false => records.workflows.get(&trial.0).cloned(),
            }),
            total: total.pop().unwrap_or_else(|| Group {
                name: None,
                spent: Totals::default(),
                passes: Passes::default(),
                millis: Some(0),
            }),
            trial: middle(records, &ports, |calls| Some(Totals::of(calls.iter().copied()).tokens())),
            first_prompt: middle(records, &last(&ports), |calls| Some(calls.first()?.input_tokens)),
        }
    }
}

/// Groups whole trials by a name.
fn by_trial(
    records: &Records,
    trials: &BTreeSet<Trial>,
    name: &dyn Fn(&Trial) -> Option<String>,
) -> Vec<Group> {
    let (fates, millis) = (records.fates(), records.millis());
    let mut groups: BTreeMap<Option<String>, BTreeSet<Trial>> = BTreeMap::new();
    for trial in trials {
        groups.entry(name(trial)).or_default().insert(*trial);
    }
    let group = |(name, members): (_, BTreeSet<Trial>)| Group {
        name,
        spent: Totals::of(calls(records, |paid| {
            paid.call.symbol.as_ref().is_some_and(|key| members.contains(&(paid.run, key)))
        })),
        passes: Passes::of(members.iter().filter_map(|trial| fates.get(trial).copied())),
        millis: Some(members.iter().filter_map(|trial| millis.get(trial)).sum()),
    };
    groups.into_iter().map(group).collect()
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
fn by_phase(records: &Records, ports: &BTreeSet<Trial>) -> Vec<Group> {
    let (fates, reached) = (records.fates(), records.phases());
    let in_phase = |trial: &&Trial, phase: Option<&str>| match (reached.get(*trial), phase) {
        (Some(phases), Some(phase)) => phases.contains(phase),
        (phases, phase) => phases.is_none() && phase.is_none(),
    };
    let fate = |trial: &Trial, phase: Option<&str>| match (phase, fates[trial]) {
        (Some("compilation"), _) if in_phase(&trial, Some("optimization")) => Fate::Passed,
        (Some("compilation"), Fate::Passed) => Fate::Failed,
        (_, fate) => fate,
    };
    let group = |phase: Option<&'static str>| {
        let members = ports.iter().filter(|trial| in_phase(trial, phase));
        let millis = records.steps.iter().filter(|step| phase == Some(step.phase.as_str()));
        Group {
            name: phase.map(str::to_owned),
            spent: Totals::of(calls(records, |paid| {
                let of = paid.call.symbol.as_ref().map(|key| (paid.run, key));
                paid.call.phase.as_deref() == phase && of.is_none_or(|trial| ports.contains(&trial))
            })),
            passes: Passes::of(members.map(|trial| fate(trial, phase))),
            millis: phase.map(|_| millis.filter_map(|step| step.millis).sum()),
        }
    };
    let groups = [Some("compilation"), Some("optimization"), None].map(group);
    groups.into_iter().filter(|group| group.spent.calls + group.passes.begun() > 0).collect()
}

fn calls(records: &Records, is_meant: impl Fn(&PaidCall) -> bool) -> impl Iterator<Item = &ModelCall> {
    records.calls.iter().filter(move |paid| is_meant(paid)).map(|paid| &paid.call)
}

/// The last trial of each symbol.
fn last<'r>(trials: &BTreeSet<Trial<'r>>) -> BTreeSet<Trial<'r>> {
    // Trials are in the order of their runs, so later ones replace earlier ones.
    let last: BTreeMap<&SymbolKey, RunId> = trials.iter().map(|(run, key)| (*key, *run)).collect();
    last.into_iter().map(|(key, run)| (run, key)).collect()
}

/// The median of a count over the trials in which a model answered.
fn middle(
    records: &Records,
    trials: &BTreeSet<Trial>,
    count: impl Fn(&[&ModelCall]) -> Option<u64>,
) -> Option<Middle> {
    let (mut counts, mut estimated) = (Vec::new(), false);
    for (run, key) in trials {
        let answered: Vec<&ModelCall> = calls(records, |paid| {
            paid.run == *run && paid.call.symbol.as_ref() == Some(*key) && paid.call.error.is_none()
        })
        .collect();
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
