//! `cargo implfuzz port --explain`: the steps of the last port of a function. No model is asked, and nothing is
//! built.

use super::{Session, Which, rows};
use crate::error::{ExitCode, Result};
use crate::port::history::{History, Taken};
use crate::project::Project;
use crate::report::{Column, printable, table};
use crate::store::RunOutcome;
use crate::symbol::SymbolName;
use serde_json::{Value, json};

/// Prints the traces; with `--all`, those of all functions that have one.
pub fn run(session: &Session, which: &Which) -> Result<ExitCode> {
    let project = Project::look(&session.options, &session.interrupt)?;
    let store = session.store(&project)?;
    let mut all = Vec::new();
    for planned in which.select(&project)? {
        let history = History::last(&store, &planned.function.key)?;
        if history.is_some() || !which.all {
            all.push((planned.function.name.clone(), history));
        }
    }
    let values: Vec<Value> = all.iter().map(|(symbol, history)| value(symbol, history.as_ref())).collect();
    session.screen.result("trace", &json!({ "symbols": values }), || {
        let texts: Vec<String> = all.iter().map(|(symbol, history)| text(symbol, history.as_ref())).collect();
        if texts.is_empty() { "no run has ported anything yet\n".into() } else { texts.join("\n") }
    });
    let complete = !all.is_empty() && all.iter().all(|(_, history)| history.is_some());
    Ok(if complete { ExitCode::Ok } else { ExitCode::Incomplete })
}

fn text(symbol: &SymbolName, history: Option<&History>) -> String {
    let Some(History { run, steps }) = history else {
        return format!("{symbol}: no run has a trace of it; `cargo implfuzz port {symbol}` records one\n");
    };
    let columns = [
        Column::right("#"),
        Column::left("phase"),
        Column::left("step"),
        Column::left("why"),
        Column::left("outcome"),
        Column::right("time"),
        Column::left("by"),
        Column::left("tokens"),
    ];
    let rows: Vec<Vec<String>> = steps.iter().map(row).collect();
    let (command, version) = (printable(&run.command), &run.tool_version);
    let model = run.model.as_deref().map_or_else(String::new, |model| format!("{}, ", printable(model)));
    let end = run.finished.map_or_else(String::new, |finished| format!(" to {finished}"));
    format!(
        "{symbol}, run {} ({command}), {model}cargo-implfuzz {version}, {}{end}, {}\n{}",
        run.id.0,
        run.started,
        run.outcome.map_or("under way", RunOutcome::word),
        table(&columns, &rows, None)
    )
}

fn row(Taken { row: step, by, spent }: &Taken) -> Vec<String> {
    let outcome = step.outcome.as_deref().unwrap_or("never ended");
    let detail = step.detail.lines().next().unwrap_or_default();
    let tokens = spent.as_ref().map(|t| {
        let tokens = |count| rows::tokens(count, t.estimated);
        let failed = if t.failed > 0 { ", no answer" } else { "" };
        format!("{} in, {} out{failed}", tokens(t.input_tokens), tokens(t.output_tokens))
    });
    vec![
        step.number.to_string(),
        step.phase.clone(),
        step.step.clone(),
        step.why.clone(),
        if detail.is_empty() { outcome.to_owned() } else { format!("{outcome}: {detail}") },
        step.millis.map_or_else(|| "-".into(), rows::seconds),
        by.as_deref().map(printable).unwrap_or_default(),
        tokens.unwrap_or_default(),
    ]
}

fn value(symbol: &SymbolName, history: Option<&History>) -> Value {
    let step = |Taken { row: step, by, spent }: &Taken| {
        json!({
            "number": step.number, "phase": step.phase, "step": step.step, "why": step.why,
            "outcome": step.outcome, "detail": step.detail, "millis": step.millis, "by": by,
            "model": spent.as_ref().map(rows::spent_json),
        })
    };
    let run = history.map(|h| &h.run);
    json!({
        "symbol": symbol, "run": run.map(|r| r.id.0), "command": run.map(|r| &r.command),
        "provider": run.map(|r| &r.provider), "model": run.map(|r| &r.model), "tool": run.map(|r| &r.tool_version),
        "started": run.map(|r| r.started.to_string()),
        "finished": run.and_then(|r| r.finished).map(|date| date.to_string()), "outcome": run.and_then(|r| r.outcome),
        "steps": history.map(|h| h.steps.iter().map(step).collect::<Vec<_>>()).unwrap_or_default(),
    })
}
