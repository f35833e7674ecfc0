//! `cargo implfuzz port --dry-run`: prints the plan of a run without asking a model, building or changing the tree.

use super::Session;
use crate::config::Maker;
use crate::error::{ExitCode, Result};
use crate::platform::toolchain::Search;
use crate::port::c2rust::Transpiler;
use crate::port::preview::{Preview, Size, preview};
use crate::project::{FunctionPlan, Project};
use crate::report::{Column, printable, table};
use crate::store::Store;
use serde_json::{Value, json};

/// Prints the plan of a run over `wanted`.
pub fn run(
    session: &Session,
    (project, store): (&Project, &Store),
    wanted: &[&FunctionPlan],
    redo: bool,
) -> Result<ExitCode> {
    let all = preview(project, store, wanted, redo)?;
    let prompts = all.iter().filter(|one| one.prompt.is_some()).count();
    let sum: Size = all.iter().filter_map(|one| one.prompt).sum();
    let symbols: Vec<Value> = all.iter().map(value).collect();
    let candidates = &project.config.candidates;
    let json = json!({
        "symbols": symbols, "candidates": candidates, "prompts": prompts, "characters": sum.characters,
        "tokens": sum.tokens,
    });
    session.screen.result("plan", &json, || {
        let is_there = || Transpiler::find(&project.workspace, &Search::from_env()).is_some();
        let first = match candidates.contains(&Maker::C2rust) {
            false => "",
            true if is_there() => "c2rust is tried first; ",
            true => "c2rust should be tried first, but is not installed; ",
        };
        let sums = format!(
            "{first}{prompts} first prompts, {} characters, about {} tokens; no model was asked",
            sum.characters, sum.tokens
        );
        format!("{}\n{sums}\n", rows(&all))
    });
    Ok(ExitCode::Ok)
}

fn value(one: &Preview) -> Value {
    json!({
        "symbol": one.symbol,
        "action": one.action,
        "reason": one.reason,
        "cycle": one.cycle,
        "characters": one.prompt.map(|size| size.characters),
        "tokens": one.prompt.map(|size| size.tokens),
    })
}

fn rows(all: &[Preview]) -> String {
    let columns = [
        Column::right("#"),
        Column::left("symbol"),
        Column::left("what"),
        Column::right("characters"),
        Column::right("tokens"),
        Column::left("remarks"),
    ];
    let number = |n: Option<u64>| n.map_or_else(|| "-".to_owned(), |n| n.to_string());
    let row = |(at, one): (usize, &Preview)| {
        let cycle = one.cycle.map(|cycle| format!("cycle {cycle}"));
        let reason = one.reason.as_ref().map(|text| printable(text.lines().next().unwrap_or_default()));
        let remarks: Vec<String> = cycle.into_iter().chain(reason).collect();
        vec![
            (at + 1).to_string(),
            one.symbol.to_string(),
            one.action.text().to_owned(),
            number(one.prompt.map(|size| size.characters as u64)),
            number(one.prompt.map(|size| size.tokens)),
            remarks.join("; "),
        ]
    };
    let rows: Vec<Vec<String>> = all.iter().enumerate().map(row).collect();
    table(&columns, &rows, None)
}
