//! A run of `port`: symbols one after the other in dependency order, the models that it asks, what it stores.

use super::attempt::{Attempting, Ended};
use super::prompt::Templates;
use crate::contract::types::Judgeable;
use crate::error::{Error, ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::init;
use crate::judge::Judge;
use crate::llm::{self, Budget, Chosen, ModelError, Prompt, Reply};
use crate::ported::Ported;
use crate::project::{Planned, Project};
use crate::store::{ModelCall, NewRun, RunId, RunOutcome, Store, Totals};
use crate::symbol::{Function, SymbolName};
use crate::verdict::{Finding, Grade, RunStats, Verdict};
use crate::workspace::write_atomic;
use serde::Serialize;
use std::collections::BTreeMap;

/// What became of one function.
#[derive(Debug, Clone, Serialize)]
pub struct PortResult {
    pub symbol: SymbolName,
    pub end: End,
    /// Why it is not better.
    pub reason: Option<String>,
    pub executions: Option<u64>,
    pub accept_rate: Option<f64>,
    pub callees_in_c: Vec<SymbolName>,
    pub calls: u64,
    pub tokens: u64,
    #[serde(skip)]
    pub finding: Option<Finding>,
}

/// How the port of a function ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// Accepted in this run.
    Unrefuted,
    /// It had a body before.
    AlreadyPorted,
    /// No harness can judge it yet.
    NotJudgeable,
    /// Given up; the tree is as it was.
    Failed,
}

impl End {
    /// As in tables.
    pub fn text(self) -> String {
        match self {
            Self::Unrefuted => Grade::Unrefuted.to_string(),
            Self::AlreadyPorted => "ported before".into(),
            Self::NotJudgeable => "not judged yet".into(),
            Self::Failed => "failed".into(),
        }
    }
}

/// Everything that the symbols of a run share.
pub struct PortRun<'p> {
    pub project: &'p Project,
    pub judge: Judge<'p>,
    pub store: &'p mut Store,
    pub reporter: &'p mut dyn Reporter,
    pub templates: Templates,
    pub id: RunId,
    models: BTreeMap<&'static str, Chosen>,
    budget: Budget,
}

/// Ports `wanted`, in porting order. The results say how each went; `Err` when the tool, the model or the user stopped it.
pub fn port(
    project: &Project,
    store: &mut Store,
    wanted: &[&Planned],
    command: &str,
    judge: Judge,
    reporter: &mut dyn Reporter,
) -> Result<(Vec<PortResult>, Totals)> {
    let mut models = BTreeMap::new();
    let root = project.workspace.root();
    if wanted.iter().any(|p| p.judgeable.contract().is_some() && project.ported(&p.function) != Ported::Yes) {
        for role in crate::config::ROLES {
            let env = |name: &str| std::env::var(name).ok();
            models.insert(role, llm::select(&project.config, root, role, &env, judge.interrupt)?);
        }
    }
    let settings: Vec<_> = models.values().map(|chosen| &chosen.settings).collect();
    let budget = Budget::new(&project.config.llm, &settings)?;
    let first = models.values().next();
    let id = store.start_run(&NewRun {
        command: command.to_owned(),
        workflow: Some("unified".into()),
        provider: first.and_then(|c| c.settings.provider).map(|p| p.word().to_owned()),
        model: first.map(|c| c.model.name()),
        tool_version: env!("CARGO_PKG_VERSION").into(),
    })?;
    let templates = Templates::load(Some(&root.join("prompts")))?;
    let mut run = PortRun { project, judge, store, reporter, templates, id, models, budget };
    let result = run.all(wanted);
    let outcome = match &result {
        Ok(all) if all.iter().all(|r| r.end != End::Failed) => RunOutcome::Done,
        Ok(_) => RunOutcome::Incomplete,
        Err(error) => match error.kind() {
            ErrorKind::Interrupted => RunOutcome::Interrupted,
            ErrorKind::Budget => RunOutcome::Budget,
            _ => RunOutcome::Failed,
        },
    };
    run.store.finish_run(id, outcome)?;
    let totals = run.store.totals(Some(id))?;
    Ok((result?, totals))
}

impl<'p> PortRun<'p> {
    fn all(&mut self, wanted: &[&'p Planned]) -> Result<Vec<PortResult>> {
        let mut results = Vec::new();
        for (index, planned) in wanted.iter().enumerate() {
            let symbol = planned.function.name.clone();
            let started = Event::SymbolStarted { symbol: symbol.clone(), index: index + 1, total: wanted.len() };
            self.reporter.event(started);
            let result = self.one(planned)?;
            let ok = result.end != End::Failed;
            let summary = match &result.reason {
                Some(reason) => format!("{}: {}", result.end.text(), reason.lines().next().unwrap_or_default()),
                None => result.end.text(),
            };
            self.reporter.event(Event::SymbolFinished { symbol, ok, summary });
            results.push(result);
        }
        Ok(results)
    }

    fn one(&mut self, planned: &'p Planned) -> Result<PortResult> {
        if self.project.ported(&planned.function) == Ported::Yes {
            return self.result(planned, End::AlreadyPorted, None, None);
        }
        if let Judgeable::NotYet(why) = &planned.judgeable {
            return self.result(planned, End::NotJudgeable, Some(why.clone()), None);
        }
        match Attempting::new(self, planned)?.carry_out()? {
            Ended::Accepted { module, verdict } => {
                self.accept(planned, &module, &verdict)?;
                let stats = match &verdict {
                    Verdict::Unrefuted(stats) => stats.clone(),
                    Verdict::Refuted { stats, .. } | Verdict::Vacuous { stats, .. } => stats.clone(),
                };
                self.result(planned, End::Unrefuted, None, Some(stats))
            }
            Ended::Stopped { reason: super::supervisor::StopReason::Budget, .. } => {
                Err(Error::new(ErrorKind::Budget, format!("the budget is spent; `{}` is not ported", planned.function.name))
                    .help("raise llm.max_tokens_per_symbol, llm.max_tokens_per_run or llm.max_cost"))
            }
            Ended::Stopped { reason, detail, finding } => {
                let detail = detail.trim();
                let text = if detail.is_empty() { reason.word().to_owned() } else { format!("{}: {detail}", reason.word()) };
                let result = self.result(planned, End::Failed, Some(text), None)?;
                Ok(PortResult { finding, ..result })
            }
        }
    }

    /// Puts an accepted port into the tree: the module, and the way to it for its callers, all or nothing.
    fn accept(&mut self, planned: &Planned, module: &str, verdict: &Verdict) -> Result<()> {
        let project = self.project;
        let mut transaction = project.workspace.transaction();
        transaction.add(project.module_path(&planned.function.module), module)?;
        let callees = init::callees(project, (&planned.function.module, module))?;
        transaction.add(project.rust_dir().join("src/callee.rs"), callees)?;
        transaction.commit()?;
        self.judge.publish_seeds(&planned.function.name)?;
        let provenance = self.models.values().next().map_or_else(|| "model".into(), |c| c.model.name());
        self.judge.record(self.store, planned, module, (verdict, &provenance))
    }

    fn result(
        &self,
        planned: &Planned,
        end: End,
        reason: Option<String>,
        stats: Option<RunStats>,
    ) -> Result<PortResult> {
        let totals = self.store.totals_by_symbol(Some(self.id))?;
        let spent = totals.iter().find(|t| t.symbol == planned.function.key).map(|t| t.totals.clone()).unwrap_or_default();
        Ok(PortResult {
            symbol: planned.function.name.clone(),
            end,
            reason,
            executions: stats.as_ref().map(|s| s.executions),
            accept_rate: stats.as_ref().and_then(RunStats::accept_rate),
            callees_in_c: self.judge.callees_in_c(planned),
            calls: spent.calls,
            tokens: spent.input_tokens + spent.output_tokens,
            finding: None,
        })
    }

    /// Longest reply of a role, in tokens.
    pub fn max_tokens(&self, role: &str) -> u64 {
        self.models.get(role).map_or(8192, |chosen| chosen.settings.max_tokens)
    }

    /// Asks a model; every exchange becomes a row and two log files.
    pub fn ask(&mut self, function: &Function, prompt: &Prompt) -> Result<Reply> {
        let chosen = self
            .models
            .get(prompt.role.as_str())
            .ok_or_else(|| Error::new(ErrorKind::Internal, format!("there is no model for {}", prompt.role)))?;
        let mut exchanges: Vec<(Prompt, std::result::Result<Reply, ModelError>)> = Vec::new();
        let answer = llm::ask(chosen, prompt, &mut self.budget, self.judge.interrupt, &mut |prompt, reply| {
            exchanges.push((prompt.clone(), reply.clone()));
        });
        for (prompt, reply) in &exchanges {
            let call = call_row(function, chosen, prompt, reply);
            self.store.add_model_call(self.id, &call)?;
            self.log(prompt, reply)?;
        }
        if let Ok(reply) = &answer
            && reply.drift.is_some()
        {
            let text = format!("the recorded reply for {} answers an older prompt", prompt.symbol);
            self.reporter.event(Event::Warning { text, help: None });
        }
        answer
    }

    /// `.implfuzz/logs/<run>/<symbol>/NN-role.{prompt,reply}.md`
    fn log(&self, prompt: &Prompt, reply: &std::result::Result<Reply, ModelError>) -> Result<()> {
        let dir = self.project.workspace.logs().join(self.id.0.to_string()).join(prompt.symbol.as_str());
        fs_err::create_dir_all(&dir)?;
        let name = format!("{:02}-{}{}", prompt.attempt, prompt.role, if prompt.enlarged { "-enlarged" } else { "" });
        write_atomic(&dir.join(format!("{name}.prompt.md")), prompt.to_markdown().as_bytes())?;
        let text = match reply {
            Ok(reply) => reply.text.clone(),
            Err(error) => format!("no reply: {error}\n"),
        };
        write_atomic(&dir.join(format!("{name}.reply.md")), text.as_bytes())?;
        Ok(())
    }

    /// Stores a finding of this run.
    pub fn record_finding(
        &mut self,
        planned: &Planned,
        found: (&Finding, &str),
        dir: &std::path::Path,
    ) -> Result<()> {
        self.judge.record_finding(self.store, self.id, planned, found, dir)
    }
}

fn call_row(
    function: &Function,
    chosen: &Chosen,
    prompt: &Prompt,
    reply: &std::result::Result<Reply, ModelError>,
) -> ModelCall {
    let call = ModelCall {
        symbol: Some(function.key.clone()),
        role: prompt.role.clone(),
        attempt: prompt.attempt,
        provider: chosen.settings.provider.map(|p| p.word().to_owned()).unwrap_or_default(),
        model: chosen.model.name(),
        prompt_sha256: prompt.sha256(),
        ..ModelCall::default()
    };
    match reply {
        Err(error) => ModelCall { error: Some(error.to_string()), ..call },
        Ok(reply) => ModelCall {
            model: reply.model.clone(),
            input_tokens: reply.usage.input.0,
            output_tokens: reply.usage.output.0,
            cached_tokens: reply.usage.cached.0,
            cache_write_tokens: reply.usage.cache_write.0,
            estimated: reply.usage.estimated,
            cost: reply.usage.cost(&chosen.settings.prices).map(llm::Cost::units),
            latency_ms: u64::try_from(reply.latency.as_millis()).unwrap_or(u64::MAX),
            stop_reason: serde_json::to_value(&reply.stop).ok().and_then(|v| v.as_str().map(str::to_owned)),
            ..call
        },
    }
}
