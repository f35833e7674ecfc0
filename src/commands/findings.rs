//! `cargo implfuzz findings`

use super::Session;
use crate::error::{ExitCode, Result};
use crate::findings::{self, Kept};
use crate::fuzz::once::Once;
use crate::judge::Judge;
use crate::project::Project;
use crate::report::{Column, finding, finding_json, printable, table};
use serde_json::{Value, json};

/// Lists what told ports from the C original, shows one with its arguments, or runs one again
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// All findings, those that differ in nothing but numbers once
    List {
        /// Only those about these functions
        symbols: Vec<String>,
    },
    /// The arguments of one, and what both sides made of them
    Show { id: i64 },
    /// Runs the input of one through the C original and the port as it stands now; exit code 10 where they still differ
    Replay { id: i64 },
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    match &args.what {
        What::List { symbols } => list(session, symbols),
        What::Show { id } => show(session, *id),
        What::Replay { id } => replay(session, *id),
    }
}

fn list(session: &Session, symbols: &[String]) -> Result<ExitCode> {
    let project = Project::open(&session.options, &session.interrupt)?;
    let store = session.store(&project)?;
    let wanted = symbols.iter().map(|name| project.find(name)).collect::<Result<Vec<_>>>()?;
    let all = findings::list(&project, &store, (!symbols.is_empty()).then_some(&wanted))?;
    let values: Vec<Value> = all.iter().map(kept_json).collect();
    session.screen.result("findings", &json!({ "findings": values }), || {
        let columns = [
            Column::right("id"),
            Column::left("symbol"),
            Column::left("class"),
            Column::left("what"),
            Column::right("inputs"),
        ];
        let row = |kept: &Kept| {
            let found = &kept.row.finding;
            let what = printable(&found.what);
            vec![
                kept.row.id.0.to_string(),
                kept.symbol.to_string(),
                found.class.to_string(),
                what,
                kept.inputs.to_string(),
            ]
        };
        match all.is_empty() {
            true => "no findings\n".into(),
            false => {
                let text = table(&columns, &all.iter().map(row).collect::<Vec<_>>(), None);
                format!("{text}\nshow one: cargo implfuzz findings show <id>; run it again: cargo implfuzz findings replay <id>\n")
            }
        }
    });
    Ok(ExitCode::Ok)
}

fn show(session: &Session, id: i64) -> Result<ExitCode> {
    let project = Project::open(&session.options, &session.interrupt)?;
    let kept = findings::find(&project, &session.store(&project)?, id)?;
    session.screen.result("finding", &kept_json(&kept), || {
        format!("{}{}\n", finding(&kept.symbol, &kept.row.finding, None), reproduce(id))
    });
    Ok(ExitCode::Ok)
}

fn replay(session: &Session, id: i64) -> Result<ExitCode> {
    let mut reporter = session.reporter();
    let (project, store) = session.open(reporter.as_mut())?;
    let kept = findings::find(&project, &store, id)?;
    let judge = Judge::new(&project, &session.interrupt);
    let came = findings::replay(&project, &judge, &kept)?;
    drop(reporter);
    let (word, reason, code) = match &came {
        Once::Same => ("same", None, ExitCode::Ok),
        Once::Rejected(reason) => ("rejected", Some(reason), ExitCode::Incomplete),
        Once::Differs(_) => ("differs", None, ExitCode::Divergence),
    };
    let now = match &came {
        Once::Differs(found) => Some(found),
        _ => None,
    };
    let value = json!({
        "id": id, "symbol": kept.symbol, "outcome": word, "reason": reason, "finding": now.map(finding_json),
    });
    session.screen.result("finding-replay", &value, || match &came {
        Once::Differs(found) => {
            format!("{}finding {id} still differs\n", finding(&kept.symbol, found, None))
        }
        Once::Same => format!("finding {id}: `{}` does what the C original does\n", kept.symbol),
        Once::Rejected(reason) => {
            format!("finding {id} says nothing any more: its input is rejected ({})\n", printable(reason))
        }
    });
    Ok(code)
}

/// The command that runs a finding again.
pub fn reproduce(id: i64) -> String {
    format!("reproduce: cargo implfuzz findings replay {id}")
}

fn kept_json(kept: &Kept) -> Value {
    json!({
        "id": kept.row.id.0, "symbol": kept.symbol, "inputs": kept.inputs, "found": kept.row.created.to_string(),
        "finding": finding_json(&kept.row.finding), "reproduce": format!("cargo implfuzz findings replay {}", kept.row.id.0),
    })
}
