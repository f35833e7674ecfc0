//! What the symbols of a run share: the models and how they are asked, the store, the logs.

use super::prompt::Templates;
use super::resume::{Plan, Standing};
use super::supervisor::Phase;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::findings;
use crate::judge::Judge;
use crate::llm::{self, Budget, Chosen, Exchange, ModelError, Prompt, Reply};
use crate::process::Interrupt;
use crate::project::{Planned, Project};
use crate::proofs::Grounds;
use crate::store::{FindingId, ModelCall, RunId, StepId, Store};
use crate::symbol::{Function, SymbolKey};
use crate::verdict::{CFinding, Finding};
use crate::workspace::write_atomic;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Everything that the symbols of a run share.
pub struct Session<'p> {
    pub project: &'p Project,
    pub judge: Judge<'p>,
    pub store: &'p mut Store,
    pub reporter: &'p mut dyn Reporter,
    pub templates: Templates,
    pub id: RunId,
    pub models: BTreeMap<&'static str, Arc<Chosen>>,
    pub budget: Budget,
    /// What proofs rest on, measured before any model was asked.
    pub grounds: Grounds,
    /// What is done about each function that is asked for.
    pub plans: BTreeMap<SymbolKey, Plan>,
    /// The ports that stood before.
    pub standing: Standing,
    /// No further symbol can be asked about.
    pub exhausted: bool,
    /// Ends the work of other threads: set with the user's Ctrl-C, and where the run fails.
    pub stop: Interrupt,
    /// How many ports this run has put into the tree.
    pub tree: u64,
}

/// Where in the trace a question is asked.
#[derive(Debug, Clone, Copy)]
pub struct Asking {
    pub phase: Phase,
    pub step: Option<StepId>,
}

impl Session<'_> {
    /// Longest reply of a role, in tokens.
    pub fn max_tokens(&self, role: &str) -> u64 {
        self.models.get(role).map_or(8192, |chosen| chosen.settings.max_tokens)
    }

    /// The model that answers a prompt.
    pub fn model(&self, prompt: &Prompt) -> Result<Arc<Chosen>> {
        let known = self.models.get(prompt.role.as_str()).map(Arc::clone);
        known.ok_or_else(|| Error::new(ErrorKind::Internal, format!("there is no model for {}", prompt.role)))
    }

    /// What a model answered: every exchange is charged, and becomes a row and two log files.
    pub fn heard(&mut self, function: &Function, exchange: &Exchange, asking: &Asking) -> Result<()> {
        let chosen = self.model(&exchange.prompt)?;
        self.budget.settle(exchange, &chosen.settings.prices);
        let call = call_row(function, &chosen, exchange, asking);
        self.store.add_model_call(self.id, &call)?;
        self.log(&exchange.prompt, &exchange.reply)?;
        if exchange.reply.as_ref().is_ok_and(|reply| reply.drift.is_some()) {
            let text = format!("the recorded reply for {} answers an older prompt", exchange.prompt.symbol);
            self.reporter.event(Event::Warning { text, help: None });
        }
        Ok(())
    }

    /// Whether the budget that has no room for `prompt` has some for other symbols.
    pub fn budget_admits_others(&self, prompt: &Prompt) -> bool {
        let chosen = self.models.get(prompt.role.as_str());
        chosen.is_some_and(|chosen| self.budget.admits_others(prompt, &chosen.settings.prices))
    }

    /// `.implfuzz/logs/<run>/<symbol>/NN-role.{prompt,reply}.md`
    fn log(&self, prompt: &Prompt, reply: &std::result::Result<Reply, ModelError>) -> Result<()> {
        let dir = self.project.workspace.logs().join(self.id.0.to_string()).join(prompt.symbol.as_str());
        fs_err::create_dir_all(&dir)?;
        let name = format!(
            "{:02}-{}{}",
            prompt.attempt,
            prompt.role,
            if prompt.enlarged { "-enlarged" } else { "" }
        );
        write_atomic(&dir.join(format!("{name}.prompt.md")), prompt.to_markdown().as_bytes())?;
        let text = match reply {
            Ok(reply) => reply.text.clone(),
            Err(error) => format!("no reply: {error}\n"),
        };
        write_atomic(&dir.join(format!("{name}.reply.md")), text.as_bytes())?;
        Ok(())
    }

    /// Stores what this run found out about C, and says it.
    pub fn keep_of_c(&mut self, planned: &Planned, found: &CFinding) -> Result<FindingId> {
        findings::keep_of_c((self.store, Some(self.id)), planned, found, self.reporter)
    }

    /// Stores a finding of this run.
    pub fn record_finding(&mut self, planned: &Planned, found: (&Finding, &str), dir: &Path) -> Result<()> {
        self.judge.record_finding(self.store, self.id, planned, found, dir).map(drop)
    }
}

fn call_row(function: &Function, chosen: &Chosen, exchange: &Exchange, asking: &Asking) -> ModelCall {
    let prompt = &exchange.prompt;
    let call = ModelCall {
        symbol: Some(function.key.clone()),
        role: prompt.role.clone(),
        phase: Some(asking.phase.word().to_owned()),
        step: asking.step,
        attempt: prompt.attempt,
        provider: chosen.settings.provider.map(|p| p.word().to_owned()).unwrap_or_default(),
        model: chosen.name(),
        latency_ms: u64::try_from(exchange.took.as_millis()).unwrap_or(u64::MAX),
        prompt_sha256: prompt.sha256(),
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
            cost: reply.usage.cost(&chosen.settings.prices).map(llm::Cost::units),
            retries: Some(reply.retries),
            stop_reason: reply.stop.word().map(str::to_owned),
            ..call
        },
    }
}
