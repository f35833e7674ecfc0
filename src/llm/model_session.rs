//! The models of one run: which model answers each role, the budget, the run's row in the store, and the logs of all exchanges.
//! A session outlives every new reading of the library. The callers decide what to ask.

mod asking;

pub use asking::{Caller, Question};

use super::{Budget, Chosen, Exchange, ModelError, Prompt, Reply};
use crate::config::{Config, Limits, Workflow};
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::platform::process::Interrupt;
use crate::platform::workspace::{Workspace, write_atomic};
use crate::store::{ModelCall, NewRun, Phase, RunId, RunOutcome, StepId, Store};
use crate::symbol::{Function, SymbolKey, SymbolName};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The models of a run.
pub struct ModelSession {
    pub id: RunId,
    /// The models of each role, from the cheapest to the strongest.
    models: BTreeMap<&'static str, Vec<Arc<Chosen>>>,
    pub budget: Budget,
    /// Functions about which the last question outside of a port got no answer.
    unanswered: BTreeMap<SymbolKey, Silence>,
    logs: PathBuf,
}

/// Which models a run needs.
#[derive(Debug, Clone, Copy)]
pub struct Asks<'a> {
    /// The command, for the store.
    pub command: &'a str,
    pub roles: &'a [&'static str],
    /// The settings of their models.
    pub config: &'a Config,
    /// The workflow that `stats` counts this run under; none where the run ports nothing.
    pub workflow: Option<Workflow>,
}

/// Why a question got no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Silence {
    /// The budget has no room for it; else the model failed.
    pub is_budget: bool,
    pub why: String,
}

/// Where in the trace a question belongs; test generation has no trace.
#[derive(Debug, Clone, Copy, Default)]
pub struct Traced {
    pub phase: Option<Phase>,
    pub step: Option<StepId>,
}

impl ModelSession {
    /// Begins a run that needs the models of these roles.
    ///
    /// # Errors
    /// `Config` where a model is missing or a budget cannot be kept, and those of the store.
    pub fn open(workspace: &Workspace, store: &mut Store, asks: Asks, interrupt: &Interrupt) -> Result<Self> {
        let root = workspace.root();
        let models = models(root, asks.roles, asks.config, interrupt)?;
        let settings: Vec<_> = models.values().flatten().map(|chosen| &chosen.settings).collect();
        let budget = Budget::new(&asks.config.llm, &settings)?;
        let names = ["prototyper"].iter().chain(asks.roles);
        let first = names.filter_map(|role| models.get(role)).flatten().next();
        let id = store.start_run(&NewRun {
            command: asks.command.to_owned(),
            workflow: asks.workflow.map(|workflow| workflow.word().into()),
            provider: first.and_then(|c| c.settings.provider).map(|p| p.word().to_owned()),
            model: first.map(|c| c.name()),
            tool_version: env!("CARGO_PKG_VERSION").into(),
        })?;
        let logs = workspace.logs().join(id.0.to_string());
        Ok(Self { id, models, budget, unanswered: BTreeMap::new(), logs })
    }

    /// Has others asked in these roles from now on; the budget stays.
    ///
    /// # Errors
    /// `Config` where a model is missing.
    pub fn choose(
        &mut self,
        root: &Path,
        roles: &[&'static str],
        config: &Config,
        interrupt: &Interrupt,
    ) -> Result<()> {
        self.models.extend(models(root, roles, config, interrupt)?);
        Ok(())
    }

    /// The run is over, because of this.
    pub fn finish_with(&self, store: &mut Store, error: &Error) -> Result<()> {
        let outcome = match error.kind() {
            ErrorKind::Interrupted => RunOutcome::Interrupted,
            _ => RunOutcome::Failed,
        };
        store.finish_run(self.id, outcome)
    }

    /// The run is over where something failed.
    pub fn or_finish<T>(&self, store: &mut Store, result: Result<T>) -> Result<T> {
        if let Err(error) = &result {
            self.finish_with(store, error)?;
        }
        result
    }

    /// How many models a role has; zero in a run without models.
    pub fn ranks(&self, role: &str) -> usize {
        self.models.get(role).map_or(0, Vec::len)
    }

    /// How often a role is asked at most, where every answer is of no use: each of its models at least once.
    pub fn questions(&self, role: &str, limits: &Limits) -> u32 {
        (limits.validation_fixes + 1).max(u32::try_from(self.ranks(role)).unwrap_or(u32::MAX))
    }

    /// A model of a role; behind the last one, the last one.
    fn chosen(&self, role: &str, rank: usize) -> Option<&Arc<Chosen>> {
        let all = self.models.get(role)?;
        all.get(rank).or(all.last())
    }

    /// Longest reply of a role, in tokens.
    pub fn max_tokens(&self, role: &str, rank: usize) -> u64 {
        self.chosen(role, rank).map_or(8192, |chosen| chosen.settings.max_tokens)
    }

    /// Provider and model of a role, for people.
    pub fn name(&self, role: &str, rank: usize) -> String {
        self.chosen(role, rank).map_or_else(|| "a model".into(), |chosen| chosen.name())
    }

    /// The model that answers a prompt.
    pub fn model(&self, prompt: &Prompt, rank: usize) -> Result<Arc<Chosen>> {
        let known = self.chosen(&prompt.role, rank).map(Arc::clone);
        known.ok_or_else(|| Error::new(ErrorKind::Internal, format!("there is no model for {}", prompt.role)))
    }

    /// What a model answered: every exchange is charged, and becomes a row and two log files.
    pub fn heard(
        &mut self,
        store: &mut Store,
        reporter: &mut dyn Reporter,
        function: &Function,
        exchange: &Exchange,
        rank: usize,
        traced: Traced,
    ) -> Result<()> {
        let chosen = self.model(&exchange.prompt, rank)?;
        self.budget.settle(exchange, &chosen.settings.prices);
        let call = call_row(function, &chosen, exchange, traced);
        store.add_model_call(self.id, &call)?;
        self.log(&exchange.prompt, &exchange.reply)?;
        if exchange.reply.as_ref().is_ok_and(|reply| reply.drift.is_some()) {
            let text = format!("the recorded reply for {} answers an older prompt", exchange.prompt.symbol);
            reporter.event(Event::Warning { text, help: None });
        }
        Ok(())
    }

    fn silent(&mut self, function: &Function, is_budget: bool, why: &dyn std::fmt::Display) -> String {
        let why = why.to_string();
        self.unanswered.insert(function.key.clone(), Silence { is_budget, why: why.clone() });
        why
    }

    /// Why the last question about a function, outside of its port, got no answer; nothing where it got one, or none was asked.
    pub fn silence(&self, function: &Function) -> Option<&Silence> {
        self.unanswered.get(&function.key)
    }

    /// Forgets which questions got no answer: what follows is about something else.
    pub fn forget_silences(&mut self) {
        self.unanswered.clear();
    }

    /// Whether the budget that has no room for `prompt` has some for other symbols, which begin with the cheapest model of `role`:
    /// their questions may be much shorter.
    pub fn admits_others(&self, prompt: &Prompt, role: &str) -> bool {
        let (role, max_tokens) = (role.to_owned(), self.max_tokens(role, 0));
        let first = Prompt { role, max_tokens, system: Vec::new(), messages: Vec::new(), ..prompt.clone() };
        let chosen = self.chosen(&first.role, 0);
        chosen.is_some_and(|chosen| self.budget.admits_others(&first, &chosen.settings.prices))
    }

    /// Keeps a text beside the logs of a function: `.implfuzz/logs/<run>/<symbol>/<name>`.
    pub fn keep_text(&self, symbol: &SymbolName, name: &str, text: &str) -> Result<()> {
        write_atomic(&self.logs.join(symbol.as_str()).join(name), text.as_bytes())
    }

    /// `.implfuzz/logs/<run>/<symbol>/NN-role.{prompt,reply}.md`, and `NN-role-2` where the same question comes again.
    fn log(&self, prompt: &Prompt, reply: &std::result::Result<Reply, ModelError>) -> Result<()> {
        let enlarged = if prompt.enlarged { "-enlarged" } else { "" };
        let name = format!("{:02}-{}{enlarged}", prompt.attempt, prompt.role);
        // A narrower contract begins the count anew.
        let folder = self.logs.join(prompt.symbol.as_str());
        let is_new = |name: &String| !folder.join(format!("{name}.prompt.md")).exists();
        let again = (2..).map(|round| format!("{name}-{round}"));
        let name = std::iter::once(name.clone()).chain(again).find(is_new).unwrap_or(name);
        let text = match reply {
            Ok(reply) => reply.text.clone(),
            Err(error) => format!("no reply: {error}\n"),
        };
        self.keep_text(&prompt.symbol, &format!("{name}.prompt.md"), &prompt.to_markdown())?;
        self.keep_text(&prompt.symbol, &format!("{name}.reply.md"), &text)
    }
}

/// The models of roles.
fn models(
    root: &Path,
    roles: &[&'static str],
    config: &Config,
    interrupt: &Interrupt,
) -> Result<BTreeMap<&'static str, Vec<Arc<Chosen>>>> {
    let env = |name: &str| std::env::var(name).ok();
    let of_role = |role: &&'static str| {
        let chosen = super::select(config, root, role, &env, interrupt)?;
        Ok((*role, chosen.into_iter().map(Arc::new).collect()))
    };
    roles.iter().map(of_role).collect()
}

/// Which model gets the question with this number, from 1, where every answer so far was of no use.
pub fn rank_of(attempt: u32) -> usize {
    usize::try_from(attempt.saturating_sub(1)).unwrap_or(usize::MAX)
}

fn call_row(function: &Function, chosen: &Chosen, exchange: &Exchange, traced: Traced) -> ModelCall {
    let prompt = &exchange.prompt;
    let call = ModelCall {
        symbol: Some(function.key.clone()),
        role: prompt.role.clone(),
        phase: traced.phase.map(|phase| phase.word().to_owned()),
        step: traced.step,
        provider: chosen.settings.provider.map(|p| p.word().to_owned()).unwrap_or_default(),
        model: chosen.name(),
        latency_ms: u64::try_from(exchange.took.as_millis()).unwrap_or(u64::MAX),
        ..ModelCall::default()
    };
    match &exchange.reply {
        Err(error) => ModelCall { error: Some(error.to_string()), ..call },
        Ok(reply) => ModelCall {
            model: reply.model.clone(),
            input_tokens: reply.usage.input.0,
            output_tokens: reply.usage.output.0,
            cached_tokens: reply.usage.cached.0,
            cache_write_tokens: reply.usage.cache_write.0,
            estimated: reply.usage.estimated,
            cost: reply.usage.cost(&chosen.settings.prices).map(super::Cost::units),
            retries: Some(reply.retries),
            stop_reason: reply.stop.word().map(str::to_owned),
            ..call
        },
    }
}

#[cfg(test)]
mod tests;
