//! `cargo implfuzz port --explain`: the steps of the last port of a function. No model is asked, and nothing is
//! built.

use crate::cli::session::Session;
use crate::cli::session::Which;
use crate::cli::tables::cells;
use crate::cli::tables::symbol_tables;
use crate::error::{ExitCode, Result};
use crate::port::history::{History, Taken};
use crate::report::{Table, printable};
use crate::store::{RunOutcome, StepRow, Totals};
use crate::symbol::SymbolName;
use serde_json::{Value, json};

/// Prints the traces; with `--all`, those of all functions that have one.
pub fn run(session: &Session, which: &Which) -> Result<ExitCode> {
    let (project, store) = session.look()?;
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
    let tokens = |spent: &Totals| {
        let tokens = |count| cells::tokens(count, spent.estimated);
        let failed = if spent.failed > 0 { ", no answer" } else { "" };
        format!("{} in, {} out{failed}", tokens(spent.input_tokens), tokens(spent.output_tokens))
    };
    let table = Table::of(steps)
        .right("#", |taken| taken.row.number.to_string())
        .left("phase", |taken| taken.row.phase.clone())
        .left("step", |taken| taken.row.step.clone())
        .left("why", |taken| taken.row.why.clone())
        .left("outcome", |taken| outcome(&taken.row))
        .right("time", |taken| cells::known(taken.row.millis, cells::seconds))
        .left("by", |taken| taken.by.as_deref().map(printable).unwrap_or_default())
        .left("tokens", |taken| taken.spent.as_ref().map(tokens).unwrap_or_default());
    let (command, version) = (printable(&run.command), &run.tool_version);
    let model = run.model.as_deref().map_or_else(String::new, |model| format!("{}, ", printable(model)));
    let end = run.finished.map_or_else(String::new, |finished| format!(" to {finished}"));
    format!(
        "{symbol}, run {} ({command}), {model}cargo-implfuzz {version}, {}{end}, {}\n{}",
        run.id.0,
        run.started,
        run.outcome.map_or("under way", RunOutcome::word),
        table.text()
    )
}

fn outcome(step: &StepRow) -> String {
    let outcome = step.outcome.as_deref().unwrap_or("never ended");
    match step.detail.lines().next().unwrap_or_default() {
        "" => outcome.to_owned(),
        detail => format!("{outcome}: {detail}"),
    }
}

fn value(symbol: &SymbolName, history: Option<&History>) -> Value {
    let step = |Taken { row: step, by, spent }: &Taken| {
        json!({
            "number": step.number, "phase": step.phase, "step": step.step, "why": step.why,
            "outcome": step.outcome, "detail": step.detail, "millis": step.millis, "by": by,
            "model": spent.as_ref().map(symbol_tables::spent_json),
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
