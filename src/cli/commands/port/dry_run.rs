//! `cargo implfuzz port --dry-run`: prints the plan of a run without asking a model, building or changing the tree.

use crate::cli::session::Session;
use crate::cli::tables::cells;
use crate::config::Maker;
use crate::error::{ExitCode, Result};
use crate::platform::toolchain::Search;
use crate::port::c2rust::Transpiler;
use crate::port::plan::preview::{Preview, Size, preview};
use crate::port::plan::redo::Redo;
use crate::port::run::rounds;
use crate::project::{FunctionPlan, Project};
use crate::report::{Table, printable};
use crate::store::Store;
use serde_json::{Value, json};

/// Said where `--safer` has nothing to do.
pub const NOTHING_SAFER: &str = "there is no port to make safer: of the ports that pass, none has `unsafe` code, or no model \
    found a safer one (`cargo implfuzz memory forget` lets it ask again)\n";

/// Prints the plan of a run over `wanted`.
pub fn run(
    session: &Session,
    (project, store): (&Project, &Store),
    wanted: &[&FunctionPlan],
    redo: Redo,
) -> Result<ExitCode> {
    rounds::check(project, redo, false)?;
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
        let first = match candidates.contains(&Maker::C2rust) && redo != Redo::Safer {
            false => "",
            true if is_there() => "c2rust is tried first; ",
            true => "c2rust should be tried first, but is not installed; ",
        };
        let sums = format!(
            "{first}{prompts} first prompts, {} characters, about {} tokens; no model was asked",
            sum.characters, sum.tokens
        );
        let nothing = if all.is_empty() { NOTHING_SAFER } else { "" };
        format!("{nothing}{}\n{sums}\n", table(&all))
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

fn table(all: &[Preview]) -> String {
    let remarks = |one: &Preview| {
        let cycle = one.cycle.map(|cycle| format!("cycle {cycle}"));
        let reason = one.reason.as_ref().map(|text| printable(text.lines().next().unwrap_or_default()));
        cycle.into_iter().chain(reason).collect::<Vec<_>>().join("; ")
    };
    Table::of((1..).zip(all))
        .right("#", |(at, _): &(usize, &Preview)| at.to_string())
        .left("symbol", |(_, one)| one.symbol.to_string())
        .left("what", |(_, one)| one.action.text().to_owned())
        .right("characters", |(_, one)| cells::number(one.prompt.map(|size| size.characters)))
        .right("tokens", |(_, one)| cells::number(one.prompt.map(|size| size.tokens)))
        .left("remarks", |(_, one)| remarks(one))
        .text()
}
