//! Asks for a change of the configuration, and reads the answer.

use super::history::{History, Past};
use super::patterns::{TARGETS, patterns};
use super::resources::Resources;
use super::{examples, reply};
use crate::error::Result;
use crate::llm::model_session::{Caller, Question, Traced, rank_of};
use crate::llm::{Message, Prompt, Speaker};
use crate::platform::process::Interrupt;
use crate::store::EvolutionRow;
use crate::symbol::Function;
use crate::test_record::{ChangeType, MOST_PROMPT_CHARS, ModelType, TestGenConfig, TestGenConfigChange};
use crate::testgen::run::prompt::{Templates, short};
use minijinja::{Value, context};
use serde::Serialize;

/// The model role.
pub const ROLE: &str = "testgen-config";

/// The basis of a proposal.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// The current configuration.
    pub config: &'a TestGenConfig,
    pub history: &'a History,
    /// Models with a configured provider.
    pub profiles: &'a [ModelType],
}

/// A proposed change and its author.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    pub change: TestGenConfigChange,
    /// Provider and model.
    pub model: String,
    /// Whether there was a reply.
    pub is_answered: bool,
}

/// Asks for a change. Without a usable reply the change is `Keep`, with the reason in its `reasoning`. The cost is
/// charged to `function`; `attempt` is counted from 1.
pub fn propose(
    resources: &mut Resources,
    templates: &Templates,
    situation: &Situation,
    (function, attempt): (&Function, u32),
    interrupt: &Interrupt,
) -> Result<Proposal> {
    let prompt = Prompt {
        role: ROLE.to_owned(),
        symbol: function.name.clone(),
        attempt,
        enlarged: false,
        system: Vec::new(),
        messages: vec![Message { speaker: Speaker::User, text: text(templates, situation)? }],
        max_tokens: u64::from(situation.config.max_tokens),
    };
    let model = resources.models.name(ROLE, rank_of(attempt));
    let caller = Caller { store: &mut *resources.store, reporter: &mut *resources.reporter, interrupt };
    let question = Question { function, traced: Traced::default(), prompt };
    let answer = resources.models.ask(caller, question)?;
    let is_answered = answer.is_ok();
    let change = match answer {
        Err(why) => TestGenConfigChange::keep(format!("the model did not answer: {why}")),
        Ok(answer) => reply::read(&answer.text).unwrap_or_else(|why| {
            TestGenConfigChange::keep(format!("the reply could not be used: {}", short(&why)))
        }),
    };
    Ok(Proposal { change, model, is_answered })
}

/// The prompt.
pub(super) fn text(templates: &Templates, situation: &Situation) -> Result<String> {
    let Situation { config, history, profiles } = *situation;
    let invalid = examples::invalid(config);
    let refusal = invalid.apply(config, profiles).err().map_or_else(Vec::new, |violation| violation.reasons);
    let targets = TARGETS.iter().map(|target| format!("{}: {} or more", target.name, target.least));
    let mut values = context! {
        config => pretty(config),
        runs => table(&history.runs),
        targets => targets.collect::<Vec<_>>(),
        patterns => patterns(&history.runs).iter().map(|line| short(line)).collect::<Vec<_>>(),
        rounds => history.rounds.iter().map(told).collect::<Vec<_>>(),
    };
    let guardrails = context! {
        kinds => kinds(),
        has_temperature => config.temperature.is_some(),
        models => profiles.iter().map(|model| format!("`{}`", model.word())).collect::<Vec<_>>(),
        most_prompt_chars => MOST_PROMPT_CHARS,
        valid => pretty(&examples::valid(config)),
        invalid => pretty(&invalid),
        refusal,
    };
    values = context! { ..values, ..guardrails };
    templates.render("testgen-config.j2", values)
}

/// The types of changes with their fields.
fn kinds() -> Vec<Value> {
    let all =
        [ChangeType::UpdateWeights, ChangeType::UpdateParams, ChangeType::UpdatePrompts, ChangeType::Keep];
    all.iter().map(|kind| context! { name => kind.word(), fields => kind.fields().to_vec() }).collect()
}

fn pretty(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("numbers and texts have a form in JSON")
}

/// The runs as a table, one line each below a heading; empty if there are none.
fn table(runs: &[Past]) -> Vec<String> {
    let head = "version | symbol | score | comprehensiveness | balance | anti-cheat | discovery | reflection | efficiency | \
                valid, dropped, duplicates | tokens | seconds";
    let rows = runs.iter().map(row);
    let head = (!runs.is_empty()).then(|| head.to_owned());
    head.into_iter().chain(rows).collect()
}

fn row(past: &Past) -> String {
    let Past { run, name, config } = past;
    let number =
        |value: Option<f64>, places: usize| value.map_or("–".into(), |value| format!("{value:.places$}"));
    let (analysis, of_model) = (&run.analysis, run.of_model());
    let cells = [
        config.version.clone(),
        name.clone(),
        run.score.map_or("–".into(), |score| score.to_string()),
        number(analysis.comprehensiveness, 1),
        number(Some(analysis.category_balance), 2),
        number(analysis.anti_cheat_coverage, 2),
        number(analysis.parameter_discovery, 2),
        number(analysis.reflection_effectiveness, 2),
        number(analysis.token_efficiency, 2),
        format!("{}, {}, {}", of_model.valid, of_model.dropped, of_model.duplicates),
        run.tokens.to_string(),
        (run.duration_ms / 1_000).to_string(),
    ];
    short(&cells.join(" | "))
}

/// A past round in one line.
fn told(row: &EvolutionRow) -> String {
    let points = |value: Option<f64>| value.map_or("–".into(), |value| format!("{value:+.1}"));
    let changes = serde_json::to_string(&row.change.changes).expect("numbers and texts have a form in JSON");
    let end = if row.accepted { "accepted" } else { "not accepted" };
    format!(
        "{} {}, expected {}, measured {}, {end}: {}",
        row.change.kind.word(),
        short(&changes),
        points(row.change.expected_improvement),
        points(row.actual_improvement),
        short(&row.reason)
    )
}

#[cfg(test)]
mod tests;
