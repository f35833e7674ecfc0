//! `cargo implfuzz list`

use super::Session;
use crate::contract::types::Judgeable;
use crate::error::{ExitCode, Result};
use crate::ported::Ported;
use crate::project::Project;
use crate::report::{Column, table};
use serde_json::json;

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
    let rows: Vec<Row> = project.library.functions.iter().map(|function| row(&project, function)).collect();
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

fn row(project: &Project, function: &crate::symbol::Function) -> Row {
    let planned = project.planned.iter().find(|p| p.function.key == function.key);
    let harness = match planned.map(|p| &p.judgeable) {
        Some(Judgeable::Yes(contract)) if contract.signature == crate::contract::types::Signature::Safe => {
            "yes".into()
        }
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
    let calls = function.calls.iter().filter_map(|key| project.library.function(key));
    Row {
        name: function.name.to_string(),
        place: format!("{}:{}", function.place.file, function.place.line),
        state,
        harness,
        calls: calls.map(|f| f.name.to_string()).collect(),
    }
}
