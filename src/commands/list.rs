//! `cargo implfuzz list`

use super::Session;
use crate::contract::types::{Judgeable, Signature};
use crate::error::{ExitCode, Result};
use crate::ported::Ported;
use crate::project::{Planned, Project};
use crate::report::{Column, table};
use crate::symbol::{Function, LibraryIndex};
use serde_json::json;
use std::collections::HashMap;

/// Lists every function of the C library in porting order, and whether a harness can judge it
#[derive(Debug, clap::Args)]
pub struct Args {}

struct Row {
    name: String,
    place: String,
    state: &'static str,
    harness: String,
    calls: Vec<String>,
}

/// Runs the command.
pub fn run(session: &Session, _: &Args) -> Result<ExitCode> {
    let project = Project::open(&session.options, &session.interrupt)?;
    let index = LibraryIndex::of(&project.library);
    let planned: HashMap<_, _> = project.planned.iter().map(|p| (&p.function.key, p)).collect();
    let row = |function: &Function| row(&project, &index, planned.get(&function.key).copied(), function);
    let rows: Vec<Row> = project.library.functions.iter().map(row).collect();
    let value: Vec<_> = rows
        .iter()
        .map(|r| json!({ "symbol": r.name, "place": r.place, "state": r.state, "harness": r.harness, "calls": r.calls }))
        .collect();
    session.screen.result("list", &json!({ "symbols": value }), || {
        let columns = [
            Column::right("#"),
            Column::left("symbol"),
            Column::left("C"),
            Column::left("Rust"),
            Column::left("harness"),
        ];
        let cells: Vec<Vec<String>> = rows
            .iter()
            .enumerate()
            .map(|(i, r)| {
                vec![(i + 1).to_string(), r.name.clone(), r.place.clone(), r.state.into(), r.harness.clone()]
            })
            .collect();
        let judged = rows.iter().filter(|r| r.harness.starts_with("yes")).count();
        let ported = rows.iter().filter(|r| r.state == "ported").count();
        format!(
            "{}\n{} functions, {judged} with a harness, {ported} ported\n",
            table(&columns, &cells, None),
            rows.len()
        )
    });
    Ok(ExitCode::Ok)
}

fn row(project: &Project, index: &LibraryIndex, planned: Option<&Planned>, function: &Function) -> Row {
    let harness = match planned.map(|p| &p.judgeable) {
        Some(Judgeable::Yes(contract)) if contract.signature == Signature::Safe => "yes".into(),
        Some(Judgeable::Yes(_)) => "yes, with C's signature".into(),
        Some(Judgeable::NotYet(why)) => format!("not yet: {why}"),
        None => format!("not portable: {}", function.unsupported.as_deref().unwrap_or("not bound")),
    };
    let state = match planned.map(|p| project.ported(&p.function)) {
        Some(Ported::Yes) => "ported",
        Some(Ported::Stub) => "stub",
        Some(Ported::Missing) => "missing",
        None => "-",
    };
    let calls = function.calls.iter().filter_map(|key| index.function(key));
    Row {
        name: function.name.to_string(),
        place: format!("{}:{}", function.place.file, function.place.line),
        state,
        harness,
        calls: calls.map(|f| f.name.to_string()).collect(),
    }
}
