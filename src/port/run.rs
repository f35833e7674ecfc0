//! A run of `port`: symbols one after the other in dependency order, the models that it asks, what it stores.

use super::attempt::{Attempting, Ended};
use super::prompt::Templates;
use super::session::Session;
use super::supervisor::StopReason;
use crate::contract::types::Judgeable;
use crate::error::{ErrorKind, Result};
use crate::event::{Event, Reporter};
use crate::init;
use crate::judge::{Judge, Outcome};
use crate::llm::{self, Budget};
use crate::ported::{PortModule, Ported};
use crate::project::{Planned, Project};
use crate::proofs::Grounds;
use crate::store::{NewRun, RunOutcome, Store, Totals};
use crate::symbol::SymbolName;
use crate::verdict::{Finding, Grade, Measured, Proofs, RunStats, Share, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;

/// What became of one function.
#[derive(Debug, Clone, Serialize)]
pub struct PortResult {
    pub symbol: SymbolName,
    pub end: End,
    /// Of an accepted port.
    pub grade: Option<Grade>,
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
    /// In this run; how strong the evidence is, the grade says.
    Accepted,
    /// It had a body before.
    AlreadyPorted,
    /// No harness can judge it yet.
    NotJudgeable,
    /// Given up; the tree is as it was.
    Failed,
    /// Given up because tokens or money are spent; the tree is as it was.
    Budget,
}

impl End {
    /// As in tables.
    pub fn text(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::AlreadyPorted => "ported before",
            Self::NotJudgeable => "not judged yet",
            Self::Failed => "failed",
            Self::Budget => "budget spent",
        }
    }
}

/// Ports `wanted`, in porting order. The results say how each went; `Err` when the tool, the model or the user stopped it.
pub fn port<'p>(
    project: &'p Project,
    store: &'p mut Store,
    wanted: &[&'p Planned],
    command: &str,
    judge: Judge<'p>,
    reporter: &'p mut dyn Reporter,
) -> Result<(Vec<PortResult>, Totals)> {
    let mut models = BTreeMap::new();
    let root = project.workspace.root();
    if wanted.iter().any(|p| is_asked_about(project, p)) {
        for role in crate::config::ROLES {
            let env = |name: &str| std::env::var(name).ok();
            models.insert(role, llm::select(&project.config, root, role, &env, judge.interrupt)?);
        }
    }
    let settings: Vec<_> = models.values().map(|chosen| &chosen.settings).collect();
    let budget = Budget::new(&project.config.llm, &settings)?;
    let first = models.get("prototyper");
    let templates = Templates::load(Some(&root.join("prompts")))?;
    let id = store.start_run(&NewRun {
        command: command.to_owned(),
        workflow: Some("unified".into()),
        provider: first.and_then(|c| c.settings.provider).map(|p| p.word().to_owned()),
        model: first.map(|c| c.name()),
        tool_version: env!("CARGO_PKG_VERSION").into(),
    })?;
    let asked: Vec<&Planned> = wanted.iter().copied().filter(|p| is_asked_about(project, p)).collect();
    let grounds = Grounds::lay(project, (&judge, store), &asked, reporter)?;
    let mut run =
        Session { project, judge, store, reporter, templates, id, models, budget, exhausted: false, grounds };
    let result = run.all(wanted);
    let outcome = match &result {
        Ok(all) if all.iter().any(|r| r.end == End::Budget) => RunOutcome::Budget,
        Ok(all) if all.iter().all(|r| r.end != End::Failed) => RunOutcome::Done,
        Ok(_) => RunOutcome::Incomplete,
        Err(error) => match error.kind() {
            ErrorKind::Interrupted => RunOutcome::Interrupted,
            _ => RunOutcome::Failed,
        },
    };
    run.store.finish_run(id, outcome)?;
    let totals = run.store.totals(Some(id))?;
    Ok((result?, totals))
}

/// Whether a model will be asked about a function.
fn is_asked_about(project: &Project, planned: &Planned) -> bool {
    planned.judgeable.contract().is_some() && project.ported(&planned.function) != Ported::Yes
}

impl<'p> Session<'p> {
    fn all(&mut self, wanted: &[&'p Planned]) -> Result<Vec<PortResult>> {
        let mut results = Vec::new();
        for (index, planned) in wanted.iter().enumerate() {
            let symbol = planned.function.name.clone();
            let started =
                Event::SymbolStarted { symbol: symbol.clone(), index: index + 1, total: wanted.len() };
            self.reporter.event(started);
            let result = self.one(planned)?;
            let ok = matches!(result.end, End::Accepted | End::AlreadyPorted);
            let summary = match &result.reason {
                Some(reason) => {
                    format!("{}: {}", result.end.text(), reason.lines().next().unwrap_or_default())
                }
                None => result.end.text().to_owned(),
            };
            self.reporter.event(Event::SymbolFinished { symbol, ok, summary });
            results.push(result);
            if self.exhausted {
                break;
            }
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
        if let Some(reason) = self.grounds.differs(planned) {
            return self.result(planned, End::NotJudgeable, Some(reason), None);
        }
        match Attempting::new(self, planned)?.carry_out()? {
            Ended::Accepted { module, verdict, apart, role } => {
                let outcome = self.accept(planned, &module, (&verdict, apart, role))?;
                let result = self.result(planned, End::Accepted, outcome.reason(), Some(verdict.stats()))?;
                Ok(PortResult { grade: Some(outcome.grade), ..result })
            }
            Ended::Stopped { reason: StopReason::Budget, detail, .. } => {
                self.result(planned, End::Budget, Some(detail), None)
            }
            Ended::Stopped { reason, detail, finding } => {
                let detail = detail.trim();
                let text = if detail.is_empty() {
                    reason.word().to_owned()
                } else {
                    format!("{}: {detail}", reason.word())
                };
                let result = self.result(planned, End::Failed, Some(text), None)?;
                Ok(PortResult { finding, ..result })
            }
        }
    }

    /// Puts an accepted port into the tree: the module, and the way to it for its callers, all or nothing.
    fn accept(
        &mut self,
        planned: &Planned,
        module: &str,
        (verdict, apart, role): (&Verdict, Measured<Share>, &str),
    ) -> Result<Outcome> {
        let project = self.project;
        let mut transaction = project.workspace.transaction();
        transaction.add(project.module_path(&planned.function.module), module)?;
        let callees = init::callees(project, (&planned.function.module, module))?;
        transaction.add(project.rust_dir().join("src/callee.rs"), callees)?;
        transaction.commit()?;
        self.judge.publish_seeds(&planned.function.name)?;
        let provenance = self.models.get(role).map_or_else(|| "model".into(), |c| c.name());
        let module = PortModule::read(module.to_owned());
        let callees_in_c = self.judge.callees_in_c(planned)?;
        let proofs = Proofs { apart, ..self.grounds.proofs(&self.judge, planned, verdict)? };
        let outcome = Outcome::of(verdict, proofs, &callees_in_c, &project.config.grade);
        self.judge.record(self.store, planned, &module, (&outcome, &provenance))?;
        Ok(outcome)
    }

    fn result(
        &self,
        planned: &Planned,
        end: End,
        reason: Option<String>,
        stats: Option<&RunStats>,
    ) -> Result<PortResult> {
        let spent = self.store.totals_of(Some(self.id), &planned.function.key)?;
        Ok(PortResult {
            symbol: planned.function.name.clone(),
            end,
            grade: None,
            reason,
            executions: stats.map(|s| s.executions),
            accept_rate: stats.and_then(RunStats::accept_rate),
            callees_in_c: self.judge.callees_in_c(planned)?,
            calls: spent.calls,
            tokens: spent.input_tokens + spent.output_tokens,
            finding: None,
        })
    }
}
