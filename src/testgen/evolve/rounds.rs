//! Evolution, round by round: a proposal, the guardrails, runs of candidate and incumbent on the same symbols, and
//! a row with the result.

use super::history::History;
use super::reasoner::{self, Proposal, Situation};
use super::resources::Resources;
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::llm::model_session::ModelSession;
use crate::platform::process::Interrupt;
use crate::store::{ConfigRow, GLOBAL, Store};
use crate::symbol::{Function, SymbolName};
use crate::test_record::{
    ChangeType, ConfigId, EvolutionRound, ModelType, ScorePair, TestGenConfig, TestGenRun,
};
use crate::testgen::run::prompt::Templates;
use crate::testgen::score::compare;
use std::collections::{BTreeMap, BTreeSet};

/// The parameters of an evolution.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The functions on which configurations are compared: at least two, each once. Questions for changes are
    /// charged to the first.
    pub functions: &'a [&'a Function],
    pub rounds: u32,
    /// Models with a configured provider.
    pub profiles: &'a [ModelType],
    /// Called when another configuration has become the current one.
    pub choose: &'a Chooser<'a>,
    pub templates: &'a Templates,
    pub interrupt: &'a Interrupt,
}

/// Selects the models that a configuration names for further questions about changes.
pub type Chooser<'a> = dyn Fn(&mut ModelSession, &TestGenConfig) -> Result<()> + 'a;

/// Generates tests for a symbol with a configuration, and stores the run.
pub type Runner<'a> =
    dyn FnMut(&mut Resources, &TestGenConfig, ConfigId, &SymbolName) -> Result<TestGenRun> + 'a;

/// The result of an evolution.
#[derive(Debug)]
pub struct Evolved {
    pub rounds: Vec<EvolutionRound>,
    /// The model did not answer in the last round; further rounds would have asked it the same.
    pub is_broken_off: bool,
}

/// Evolves the current configuration, or the defaults if there is none. Each round stores one row; a round without
/// an answer is the last. Each pair of configuration and symbol is run once per call: later rounds reuse its
/// scores.
///
/// # Errors
/// `Usage` for fewer than two functions, and Ctrl-C. Errors of runs are returned too; the interrupted round
/// still gets its row.
pub fn evolve(resources: &mut Resources, request: &Request, runner: &mut Runner) -> Result<Evolved> {
    let mut different = BTreeSet::new();
    if !request.functions.iter().all(|function| different.insert(&function.name)) || different.len() < 2 {
        let text = "configurations are compared on at least two functions, each named once: \
                    with one function, the gain has no confidence interval";
        let first = request.functions.first().map_or("<symbol>", |function| function.name.as_str());
        return Err(Error::new(ErrorKind::Usage, text).help(format!(
            "cargo implfuzz testgen evolve --symbols {first},<another>; cargo implfuzz list has them"
        )));
    }
    let mut evolution =
        Evolution { request, incumbent: resources.store.testgen_config_in_use()?, runs: BTreeMap::new() };
    let mut evolved = Evolved { rounds: Vec::new(), is_broken_off: false };
    for number in 1..=request.rounds {
        let (round, is_answered) = evolution.round(number, resources, runner)?;
        evolved.rounds.push(round);
        if !is_answered {
            evolved.is_broken_off = true;
            break;
        }
    }
    Ok(evolved)
}

struct Evolution<'a> {
    request: &'a Request<'a>,
    incumbent: ConfigRow,
    runs: BTreeMap<(ConfigId, SymbolName), TestGenRun>,
}

impl Evolution<'_> {
    /// Runs one round; returns it as stored, and whether the model answered.
    fn round(
        &mut self,
        number: u32,
        resources: &mut Resources,
        runner: &mut Runner,
    ) -> Result<(EvolutionRound, bool)> {
        let request = self.request;
        request.interrupt.check()?;
        // The incumbent is the last round's candidate, or a person's choice in the meantime.
        let current = resources.store.testgen_config_in_use()?;
        if current.id != self.incumbent.id {
            (request.choose)(resources.models, &current.config)?;
            self.incumbent = current;
        }
        let history = History::read(resources.store, self.incumbent.id)?;
        let situation =
            Situation { config: &self.incumbent.config, history: &history, profiles: request.profiles };
        let asked = (request.functions[0], number);
        let proposal = reasoner::propose(resources, request.templates, &situation, asked, request.interrupt)?;
        let Proposal { change, model, is_answered } = proposal;
        let mut round = EvolutionRound::begun(number, model, change, self.incumbent.named());
        let text = format!("round {number}: {} proposes {}", round.model, round.change.kind.word());
        resources.reporter.event(Event::Note { text });
        let tried = self.tried(&mut round, resources, runner);
        if let Err(error) = &tried {
            round.reason = format!("the round was broken off: {error}");
        }
        // An interrupted round gets its row, too.
        let kept = self.keep(round, &history, resources);
        tried?;
        Ok((kept?, is_answered))
    }

    /// Takes the round from the proposal to the verdict, which it writes into `round`.
    fn tried(
        &mut self,
        round: &mut EvolutionRound,
        resources: &mut Resources,
        runner: &mut Runner,
    ) -> Result<()> {
        if round.change.kind == ChangeType::Keep {
            let said = round.change.reasoning.trim();
            round.reason = if said.is_empty() { "nothing was proposed".into() } else { said.to_owned() };
            return Ok(());
        }
        let config = match round.change.apply(&self.incumbent.config, self.request.profiles) {
            Ok(config) => config,
            Err(violation) => {
                round.reason = violation.to_string();
                round.violation = Some(violation);
                return Ok(());
            }
        };
        let id = resources.store.save_testgen_config(&config)?;
        let candidate = resources.store.stored_testgen_config(id)?;
        round.to = Some(candidate.named());
        let mut gains = Vec::new();
        for function in self.request.functions {
            let (before, after) = self.pair(&candidate, &function.name, resources, runner)?;
            gains.push(gain_of_quality(before, after));
            let (incumbent, candidate) = (before.score, after.score);
            round.scores.push(ScorePair { symbol: function.name.clone(), incumbent, candidate });
        }
        self.update_best(resources.store)?;
        let pairs: Vec<_> = round.scores.iter().map(|pair| (pair.incumbent, pair.candidate)).collect();
        let comparison = compare(&pairs);
        round.mean_gain = comparison.mean_gain;
        round.lower_bound = comparison.lower_bound;
        round.quality_delta = mean(gains);
        round.accepted = comparison.accepted;
        round.reason = comparison.reason;
        Ok(())
    }

    /// Runs incumbent and candidate on a symbol, one directly after the other, so that changes over time affect
    /// both.
    fn pair(
        &mut self,
        candidate: &ConfigRow,
        symbol: &SymbolName,
        resources: &mut Resources,
        runner: &mut Runner,
    ) -> Result<(&TestGenRun, &TestGenRun)> {
        for ConfigRow { id, config, .. } in [&self.incumbent, candidate] {
            let key = (*id, symbol.clone());
            if !self.runs.contains_key(&key) {
                self.request.interrupt.check()?;
                let run = runner(resources, config, *id, symbol)?;
                self.runs.insert(key, run);
            }
        }
        let run = |id: ConfigId| self.runs.get(&(id, symbol.clone()));
        run(self.incumbent.id)
            .zip(run(candidate.id))
            .ok_or_else(|| Error::new(ErrorKind::Internal, format!("a run on {symbol} was lost")))
    }

    /// Updates the best configurations. Called only when all symbols were run, because means over different symbols
    /// are not comparable.
    fn update_best(&self, store: &mut Store) -> Result<()> {
        for run in self.runs.values() {
            for kind in run.task_type.as_deref().into_iter().chain([GLOBAL]) {
                store.update_testgen_best(kind, &run.context)?;
            }
        }
        Ok(())
    }

    /// Stores the round's row, which makes an accepted candidate current, and a note on the run before the
    /// proposal. Returns the round as stored.
    fn keep(
        &self,
        round: EvolutionRound,
        history: &History,
        resources: &mut Resources,
    ) -> Result<EvolutionRound> {
        let round = resources.store.add_testgen_evolution(round)?;
        let first = || {
            let mut runs = self.runs.iter().filter(|((id, _), _)| *id == round.from.id);
            runs.next().map(|(_, run)| run.run_id.clone())
        };
        if let Some(run) = history.of_current.clone().or_else(first) {
            // A proposal without a change cannot be accepted.
            let accepted = (round.change.kind != ChangeType::Keep).then_some(round.accepted);
            resources.store.note_testgen_change(&run, &round.model, &round.change, accepted)?;
        }
        let rounds = self.request.rounds;
        resources.reporter.event(Event::Evolved { round: Box::new(round.clone()), rounds });
        Ok(round)
    }
}

fn gain_of_quality(before: &TestGenRun, after: &TestGenRun) -> Option<f64> {
    Some(after.analysis.comprehensiveness? - before.analysis.comprehensiveness?)
}

/// The mean; `None` for an empty list or if a value is missing.
fn mean(values: Vec<Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.into_iter().collect::<Option<_>>()?;
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests;
