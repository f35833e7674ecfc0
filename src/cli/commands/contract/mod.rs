//! `cargo implfuzz contract`

mod edit;
mod learn;

use self::edit::edit;
use crate::cli::session::Session;
use crate::cli::session::Which;
use crate::cli::tables::cells;
use crate::cli::tables::cells::role;
use crate::config::Grades;
use crate::contract::c_words::identifiers;
use crate::contract::file;
use crate::contract::types::{Contract, GlobalUse, Judgeable, Returns, Role};
use crate::error::{Error, ErrorKind, ExitCode, Page, Result};
use crate::judge::mutation_score::{Adequacy, Fate, Faults};
use crate::judge::{Judge, Judging};
use crate::project::{FunctionPlan, Project};
use crate::project::{fuzz_target, new_target};
use crate::report::{Table, printable};
use crate::symbol::{Function, SymbolName};
use crate::verdict::Share;
use serde_json::{Value, json};
use std::path::Path;

/// Show, check, edit or approve contracts
///
/// Shows each role with the C line that it was inferred from. With --check, runs the harness on the C original against itself,
/// which must show no difference, and then on mutants (copies of the C original with one small change each), which the harness
/// should kill.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
    /// Measure the share of inputs that C accepts, executions per second, and killed and surviving mutants
    #[arg(long)]
    check: bool,
    /// With --check: run the mutants of each function for N seconds [default: grade.mutant_seconds]
    #[arg(long, value_name = "N", requires = "check")]
    seconds: Option<u64>,
    /// Open the contract in $VISUAL or $EDITOR; an edited contract is never overwritten
    #[arg(long, conflicts_with_all = ["check", "all"])]
    edit: bool,
    /// Write a fuzz target to start from (rust/fuzz/targets/), for functions that no contract can describe
    #[arg(long, conflicts_with_all = ["check", "all", "edit"])]
    new: bool,
    /// Watch the calls that drivers make, and correct the contracts that they contradict; run `cargo implfuzz drivers` first
    #[arg(long, requires = "all", conflicts_with_all = ["check", "edit", "new", "approve"])]
    learn: bool,
    /// Approve contracts that a model proposed; without approval their ports are graded at most weak
    #[arg(long, conflicts_with_all = ["check", "all", "edit", "new"])]
    approve: bool,
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    let mut reporter = session.reporter();
    if args.edit {
        return edit(session, &args.which.symbols, reporter.as_mut());
    }
    let (project, mut store) = session.open(reporter.as_mut())?;
    let mut wanted = args.which.select(&project)?;
    if args.approve {
        return approve(&project, &wanted, session);
    }
    if args.learn {
        drop(store);
        return learn::learn(session, project, reporter);
    }
    if args.new {
        return new(&project, &wanted, session);
    }
    if args.which.all {
        wanted.retain(|p| p.judgeable.contract().is_some());
    }
    let judge = Judge::new(&project, &session.interrupt);
    if !args.check {
        let values: Vec<Value> = wanted.iter().map(|p| as_json(p, judge.points(p))).collect();
        session.screen.result("contract", &json!({ "symbols": values }), || {
            wanted.iter().map(|p| explained(&project, p, judge.points(p))).collect::<Vec<_>>().join("\n")
        });
        return Ok(ExitCode::Ok);
    }
    if let Some((name, why)) = wanted.iter().find_map(|p| match &p.judgeable {
        Judgeable::NotYet(why) => Some((&p.function.name, why)),
        Judgeable::Yes(_) => None,
    }) {
        return Err(Error::new(ErrorKind::Usage, format!("`{name}` has no contract to check: {why}"))
            .help(format!("if a driver calls it: cargo implfuzz drivers --check {name}")));
    }
    let seconds = args.seconds.unwrap_or(project.config.grade.mutant_seconds);
    let mut judging = Judging { judge: &judge, store: &mut store, reporter: reporter.as_mut(), run: None };
    let all = judging.measure_harnesses(&wanted, seconds, Faults::Kept)?;
    drop(reporter);
    let asked = &project.config.grade;
    let values: Vec<Value> = all.iter().map(|a| measured_json(a, asked)).collect();
    session.screen.result("contract-check", &json!({ "symbols": values }), || measured(&all, asked));
    let is_sound = all.iter().all(|adequacy| adequacy.shortcomings(asked).is_empty());
    Ok(if is_sound { ExitCode::Ok } else { ExitCode::Incomplete })
}

fn approve(project: &Project, wanted: &[&FunctionPlan], session: &Session) -> Result<ExitCode> {
    let mut transaction = project.workspace.transaction();
    for planned in wanted {
        let name = planned.function.name.as_str();
        let (contract, aim) = (project.contract_path(name), project.target_path(name));
        let text = |path: &Path| fs_err::read_to_string(path).ok();
        // A generated contract names the target's author, so it is written again.
        let contract_text = text(&contract).filter(|text| file::is_edited(text));
        let contract_text = contract_text.and_then(|text| file::approved(&text));
        let target_text = text(&aim).and_then(|text| fuzz_target::approved(&text));
        if contract_text.is_none() && target_text.is_none() {
            let text = format!("no model has proposed the contract of `{name}`");
            return Err(
                Error::new(ErrorKind::Usage, text).help("only contracts that a model proposed need approval")
            );
        }
        for (path, text) in [(contract, contract_text), (aim, target_text)] {
            text.map(|text| transaction.add(path, text)).transpose()?;
        }
    }
    transaction.commit()?;
    let names: Vec<&str> = wanted.iter().map(|planned| planned.function.name.as_str()).collect();
    session.screen.result("contract-approved", &json!({ "symbols": names }), || {
        format!("approved; now: cargo implfuzz verify {}\n", names.join(" "))
    });
    Ok(ExitCode::Ok)
}

/// Writes the fuzz targets from which a person starts.
fn new(project: &Project, wanted: &[&FunctionPlan], session: &Session) -> Result<ExitCode> {
    let mut transaction = project.workspace.transaction();
    for planned in wanted {
        let name = planned.function.name.as_str();
        let path = project.target_path(name);
        if path.exists() {
            let text = format!("`{name}` already has a fuzz target: {}", path.display());
            return Err(Error::new(ErrorKind::Usage, text).help("edit it, or remove it first"));
        }
        if let Some(why) = project.without_target(planned) {
            let text = format!("no fuzz target can judge `{name}`: {why}");
            return Err(Error::new(ErrorKind::Usage, text)
                .help("a driver that calls it can judge it: cargo implfuzz drivers"));
        }
        transaction.add(path, new_target::starting(planned))?;
    }
    let paths: Vec<String> = transaction.paths().iter().map(|path| path.display().to_string()).collect();
    transaction.commit()?;
    let names: Vec<&str> = wanted.iter().map(|planned| planned.function.name.as_str()).collect();
    session.screen.result("contract-new", &json!({ "symbols": names, "files": paths }), || {
        format!(
            "written: {}\nwrite in it how the function is called ({}), then: cargo implfuzz contract --check {}\n",
            paths.join(", "),
            Page::FuzzTargets,
            names.join(" ")
        )
    });
    Ok(ExitCode::Ok)
}

fn as_json(planned: &FunctionPlan, points: Option<u64>) -> Value {
    let name = &planned.function.name;
    match &planned.judgeable {
        Judgeable::NotYet(why) => json!({ "symbol": name, "reason": why }),
        Judgeable::Yes(contract) => {
            let params = contract.params.iter();
            let params: Vec<Value> =
                params.map(|p| json!({ "name": p.name, "role": role(p), "reason": p.reason })).collect();
            json!({ "symbol": name, "edited": planned.edited, "harness": contract.harness, "proposed_by": contract.proposed_by, "params": params, "returns": contract.returns.word(), "elements": contract.returns.elements(), "errno": contract.errno, "require": contract.require, "points": points, "equivalent": contract.equivalent, "chance": contract.chance, "globals": contract.globals, "sequence": contract.sequence })
        }
    }
}

fn explained(project: &Project, planned: &FunctionPlan, points: Option<u64>) -> String {
    let function = &planned.function;
    let place = format!("{}:{}", function.place.file, function.place.line);
    match &planned.judgeable {
        Judgeable::NotYet(why) => {
            let (name, why) = (&function.name, printable(why));
            let target = match project.without_target(planned) {
                Some(_) => String::new(),
                None => format!("  to write a fuzz target for it: cargo implfuzz contract --new {name}\n"),
            };
            format!(
                "{name} ({place})\n  no harness: {why}\n  a driver that calls it can judge it: cargo implfuzz drivers\n{target}"
            )
        }
        Judgeable::Yes(contract) => {
            let path = project.contract_path(function.name.as_str());
            let path = path.strip_prefix(project.workspace.root()).unwrap_or(&path).display().to_string();
            let edited = match &contract.proposed_by {
                Some(model) => format!(", proposed by {}, not approved", printable(model)),
                None if planned.edited => ", edited by hand".to_owned(),
                None => String::new(),
            };
            let space =
                points.map_or(String::new(), |n| format!("{n} inputs, few enough to run every one\n"));
            let (roles, globals) = (roles(project, contract), globals(contract));
            let (returned, compared) = (returned(function, contract), compared(contract));
            format!(
                "{} ({place}; {path}{edited})\n{roles}{globals}{returned}{compared}{space}",
                function.name
            )
        }
    }
}

fn roles(project: &Project, contract: &Contract) -> String {
    if !contract.harness.is_inferred() {
        let path = project.target_path(contract.symbol.as_str());
        let path = path.strip_prefix(project.workspace.root()).unwrap_or(&path).display().to_string();
        return format!("  called by the fuzz target {path}\n");
    }
    let table = Table::of(&contract.params)
        .left("parameter", |p| p.name.clone())
        .left("role", |p| role(p))
        .left("from", |p| p.reason.clone());
    if table.is_empty() { "  no parameters\n".to_owned() } else { table.text() }
}

/// The library's variables that the function reaches.
fn globals(contract: &Contract) -> String {
    let values = |used: &GlobalUse| match (used.vary, used.values.as_slice()) {
        (false, _) => "what C starts with".to_owned(),
        (true, []) => "any value".to_owned(),
        (true, values) => format!("one of {values:?}"),
    };
    let table = Table::of(&contract.globals)
        .left("variable", |used| used.name.to_string())
        .left("tried with", |used| values(used))
        .left("from", |used| used.reason.clone());
    if table.is_empty() { String::new() } else { table.text() }
}

/// The inferred meaning of a returned pointer, and the C line that shows it.
fn returned(function: &Function, contract: &Contract) -> String {
    let what = match contract.returns {
        Returns::Memory => "a new block".to_owned(),
        Returns::Address => "a pointer into memory that it gets".to_owned(),
        Returns::Table(elements) => format!("a table of {elements} elements"),
        Returns::Nothing | Returns::Value | Returns::StaticString | Returns::Handle => return String::new(),
    };
    let place = &function.place;
    let is_return = |(line, _): &(&str, u32)| identifiers(line).contains(&"return");
    let line = function.text.lines().zip(place.line..).find(is_return);
    let from = line.map_or_else(String::new, |(text, line)| {
        format!(" ({}:{line}: {})", place.file, printable(text.trim()))
    });
    format!("returns {what}, or null{from}\n")
}

fn compared(contract: &Contract) -> String {
    if !contract.harness.is_inferred() {
        return "compared: the return value of each call, all memory that it gets, and all memory that pointers lead to\n"
            .into();
    }
    let mut parts = Vec::new();
    match contract.returns {
        Returns::Nothing => {}
        Returns::Memory => parts.push("the returned block, as far as C has written it".to_owned()),
        Returns::Table(n) => parts.push(format!("the {n} elements that the returned pointer points to")),
        Returns::Address => parts.push("the place that the returned pointer points to".to_owned()),
        Returns::Value | Returns::StaticString | Returns::Handle => parts.push("the return value".to_owned()),
    }
    if contract.hands_over() {
        parts.push("which blocks are freed".to_owned());
    }
    let any = |is: &dyn Fn(&Role) -> bool| contract.params.iter().any(|param| is(&param.role));
    if any(&|role| role.direction().is_some() || role.handle().is_some() || role.lent().is_some()) {
        parts.push("all memory that it gets, to its whole capacity".to_owned());
    }
    if any(&|role| role.callback().is_some()) {
        parts.push("every call to a callback with its arguments".to_owned());
    }
    if contract.errno {
        parts.push("errno".to_owned());
    }
    if contract.chance {
        parts.push("the number of calls for random numbers and clocks".to_owned());
    }
    if !contract.globals.is_empty() {
        parts.push("the variables".to_owned());
    }
    let mut text =
        format!("compared: {}\n", if parts.is_empty() { "nothing".into() } else { parts.join(", ") });
    if let Some(sequence) = &contract.sequence {
        let list = |names: &[SymbolName]| {
            let names: Vec<&str> = names.iter().map(SymbolName::as_str).collect();
            if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
        };
        text +=
            "also compared: all memory that can be reached from the handle, blocks that are never freed\n";
        text += &format!("the handle is made by: {}\n", list(&sequence.makers));
        text += &format!("before and after the call: {}\n", list(&sequence.operations));
        text += &format!("ended by: {}\n", list(&sequence.enders));
        for (pointer, length) in &sequence.buffers {
            text += &format!("given memory by the caller: {pointer}, of {length} bytes\n");
        }
    }
    for condition in &contract.require {
        text += &format!("only inputs with: {}\n", printable(condition));
    }
    for equivalent in &contract.equivalent {
        text += &format!("mutant {} is equivalent: {}\n", equivalent.mutant, printable(&equivalent.reason));
    }
    text
}

fn measured_json(adequacy: &Adequacy, asked: &Grades) -> Value {
    let mut value = json!(adequacy);
    let kills = adequacy.kills();
    value["killed"] = json!(kills.value().map(|share| share.reached));
    value["to_kill"] = json!(kills.value().map(|share| share.total));
    value["shortcomings"] = json!(adequacy.shortcomings(asked));
    value
}

fn measured(all: &[Adequacy], asked: &Grades) -> String {
    let killed = |share: &Share| format!("{}/{}", share.reached, share.total);
    let mut text = Table::of(all)
        .left("symbol", |a| a.symbol.to_string())
        .right("C accepts", |a| cells::percent(a.accept_rate))
        .right("executions/s", |a| cells::number(a.executions_per_second))
        .right("killed", |a| cells::known(a.kills().value(), killed))
        .left("remarks", |a| a.shortcomings(asked).join("; "))
        .text();
    for adequacy in all {
        let survivors: Vec<_> = adequacy.mutants.iter().filter(|m| m.fate == Fate::Survived).collect();
        if !survivors.is_empty() {
            text += &format!("\nsurvivors of {}:\n", adequacy.symbol);
        }
        for tried in survivors {
            let mutant = &tried.mutant;
            text +=
                &format!("  {}  {}:{}: {}\n", mutant.id, adequacy.file, mutant.line, printable(&mutant.what));
        }
    }
    let sound = all.iter().filter(|a| a.shortcomings(asked).is_empty()).count();
    text + &format!(
        "\n{sound} of {} harnesses are sound: C never differs from itself, accepts at least {:.0} % of the inputs, and at least {:.0} % of its mutants are killed\n",
        all.len(),
        asked.accept_rate * 100.0,
        asked.kills * 100.0
    )
}
