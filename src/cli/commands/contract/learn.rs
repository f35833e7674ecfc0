//! `cargo implfuzz contract --learn`: contracts are compared with the calls that drivers make, and corrected.

use crate::cli::session::Session;
use crate::cli::tables::cells::role;
use crate::contract::roles_from_calls::borne_out;
use crate::contract::types::{Contract, Role, Signature};
use crate::count::count;
use crate::drivers::{self, Inputs};
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::event::Reporter;
use crate::project::{FunctionPlan, Project};
use crate::report::Table;
use crate::symbol::SymbolName;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What calls changed in the contract of one function.
struct Change {
    symbol: SymbolName,
    /// The parameter; `None` where the contract as a whole is another one.
    parameter: Option<String>,
    before: String,
    after: String,
    /// What calls show.
    why: String,
}

/// What was learned.
struct Learned {
    changes: Vec<Change>,
    /// Pointers whose roles calls bear out.
    confirmed: usize,
    /// Functions whose calls were watched.
    watched: usize,
}

/// Watches the calls of all functions, writes what they look like into the tree, and infers the contracts again.
///
/// # Errors
/// Those of running the drivers, and Ctrl-C; `Config` where there is no driver.
pub fn learn(session: &Session, project: Project, mut reporter: Box<dyn Reporter + '_>) -> Result<ExitCode> {
    let report = drivers::run(&project, Inputs::Kept, &session.interrupt, reporter.as_mut())?;
    if report.drivers.is_empty() {
        let text = "no driver of the repository could be built, so there are no calls";
        return Err(Error::new(ErrorKind::Config, text).help("cargo implfuzz drivers"));
    }
    let mut calls = drivers::observed(&project, &report, &session.interrupt, reporter.as_mut())?;
    // What was seen earlier of the same C text holds.
    let facts = project.facts();
    for planned in &project.planned {
        if let Some(known) = facts.observed(&planned.function) {
            calls.0.entry(planned.function.name.clone()).or_insert_with(|| known.clone());
        }
    }
    drop(facts);
    let path = project.calls_path();
    let shown = project.shown(&path);
    let mut transaction = project.workspace.transaction();
    transaction.add(path, calls.render())?;
    transaction.commit()?;
    let before = contracts(&project.planned);
    // Releases the lock of the workspace, which the reopening needs.
    drop(project);
    let (project, _) = session.open(reporter.as_mut())?;
    let learned = Learned {
        changes: changes(&before, &project),
        confirmed: confirmed(&project),
        watched: project.calls.0.len(),
    };
    drop(reporter);
    session.screen.result("contract-learn", &as_json(&learned, &shown), || text(&learned, &shown));
    Ok(ExitCode::Ok)
}

fn contracts(planned: &[FunctionPlan]) -> BTreeMap<SymbolName, Option<Contract>> {
    let one = |planned: &FunctionPlan| (planned.function.name.clone(), planned.judgeable.contract().cloned());
    planned.iter().map(one).collect()
}

fn changes(before: &BTreeMap<SymbolName, Option<Contract>>, project: &Project) -> Vec<Change> {
    let (mut all, facts) = (Vec::new(), project.facts());
    for planned in project.planned.iter().filter(|planned| !planned.edited) {
        let symbol = &planned.function.name;
        let old = before.get(symbol).and_then(Option::as_ref);
        let new = planned.judgeable.contract();
        let change = |parameter: Option<&str>, before: &str, after: &str, why: &str| Change {
            symbol: symbol.clone(),
            parameter: parameter.map(str::to_owned),
            before: before.to_owned(),
            after: after.to_owned(),
            why: why.to_owned(),
        };
        match (old, new) {
            (None, None) => {}
            (Some(_), None) => {
                all.push(change(None, "a contract", "none", planned.judgeable.reason().unwrap_or_default()));
            }
            (None, Some(_)) => {
                all.push(change(None, "none", "a contract", "the calls show what the C text does not"))
            }
            (Some(old), Some(new)) => {
                for (was, is) in old.params.iter().zip(&new.params).filter(|(was, is)| was.role != is.role) {
                    let calls = facts.observed(&planned.function);
                    let why = calls.and_then(|calls| borne_out(&is.name, &is.role, calls));
                    all.push(change(Some(&is.name), &role(was), &role(is), &why.unwrap_or_default()));
                }
                if old.signature != new.signature {
                    let [was, is] = [old, new].map(|contract| match contract.signature {
                        Signature::Safe => "a safe signature",
                        Signature::C => "C's signature",
                    });
                    all.push(change(None, was, is, &new.require.join(", ")));
                }
            }
        }
    }
    all
}

/// How many pointers have roles that calls bear out.
fn confirmed(project: &Project) -> usize {
    let facts = project.facts();
    let of = |planned: &FunctionPlan| {
        let (contract, calls) = (planned.judgeable.contract()?, facts.observed(&planned.function)?);
        let memory = contract.params.iter().filter(|param| !matches!(param.role, Role::Value(_)));
        Some(memory.filter(|param| borne_out(&param.name, &param.role, calls).is_some()).count())
    };
    project.planned.iter().filter_map(of).sum()
}

fn as_json(learned: &Learned, file: &str) -> Value {
    let changes = learned.changes.iter().map(|change| {
        json!({
            "symbol": change.symbol, "parameter": change.parameter, "before": change.before, "after": change.after,
            "calls": change.why,
        })
    });
    json!({
        "file": file, "watched": learned.watched, "confirmed": learned.confirmed,
        "changes": changes.collect::<Vec<_>>(),
    })
}

fn text(learned: &Learned, file: &str) -> String {
    let table = Table::of(&learned.changes)
        .left("function", |one| one.symbol.to_string())
        .left("parameter", |one| one.parameter.clone().unwrap_or_default())
        .left("before", |one| one.before.clone())
        .left("after", |one| one.after.clone())
        .left("calls", |one| one.why.clone());
    let mut text = if table.is_empty() { "calls change no contract\n".to_owned() } else { table.text() };
    text += &format!(
        "\nthe calls of {} were watched ({file}); they bear out {} and change {}\n",
        count(learned.watched, "function"),
        count(learned.confirmed, "role"),
        learned.changes.len()
    );
    text
}
