//! `cargo implfuzz verify`

mod watch;

use self::watch::watch;
use crate::cli::ci_files::{CiFiles, within_git};
use crate::cli::commands::findings::reproduce;
use crate::cli::session::Session;
use crate::cli::session::Which;
use crate::cli::shard::Shard;
use crate::cli::tables::overview::overview;
use crate::cli::tables::source_diagnostics::{places, rejected};
use crate::cli::tables::symbol_tables;
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::event::{Event, Reporter};
use crate::evidence::status::{SymbolStatus, status};
use crate::fuzz::build::standalone::Standalone;
use crate::fuzz::campaign::Budget;
use crate::judge::mutation_score::{self, port::PortMutants};
use crate::judge::verify::{Judgement, Overview, known};
use crate::judge::{Judge, Judging};
use crate::project::ported::Ported;
use crate::project::{FunctionPlan, Project};
use crate::report::ci::PortResult;
use crate::report::{Values, ci, finding, finding_json, printable};
use crate::store::Store;
use crate::symbol::SymbolName;
use crate::verdict::{Grade, Measured, Share};
use serde_json::json;
use std::collections::BTreeSet;

/// Audit, build and fuzz ports against the C original
///
/// If the repository has drivers (see `cargo implfuzz drivers`), ports are also judged at the calls that drivers make.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
    /// Select ports that are stale, unjudged or rejected by the audit
    #[arg(long, group = "Which")]
    stale: bool,
    /// Judge only part I of N, to share the work among N machines
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Fuzz each port for N seconds [default: fuzz.accept_seconds]
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// End each campaign after N executions
    #[arg(long, value_name = "N")]
    runs: Option<u64>,
    /// Also run mutants of the Rust text of each unrefuted port, for up to grade.mutant_seconds, and list those that
    /// survive
    #[arg(long)]
    mutants: bool,
    /// Judge again after each change of the port crate or implfuzz.toml, until Ctrl-C
    #[arg(long, conflicts_with = "shard")]
    watch: bool,
    #[command(flatten)]
    files: CiFiles,
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    if args.watch { watch(session, &|| once(session, args)) } else { once(session, args) }
}

fn once(session: &Session, args: &Args) -> Result<ExitCode> {
    let mut reporter = session.reporter();
    let (project, mut store) = session.open_to_run(reporter.as_mut())?;
    let mut wanted = args.which.select(&project)?;
    if args.which.all {
        wanted.retain(|p| project.ported(&p.function) == Ported::Yes);
        if wanted.is_empty() {
            return Err(Error::new(
                ErrorKind::Usage,
                "no function has a body in Rust yet: there is nothing to verify",
            )
            .help("`cargo implfuzz port <symbol>`, or write a function in place of its stub"));
        }
    }
    let judge = Judge::new(&project, &session.interrupt);
    judge.forget_gone()?;
    if args.stale {
        wanted = stale(&project)?;
    }
    if let Some(shard) = args.shard {
        shard.keep(&mut wanted, |planned| planned.function.name.as_str());
    }
    let normal = judge.acceptance_budget();
    let budget = Budget {
        seconds: args.seconds.unwrap_or(normal.seconds),
        executions: args.runs.or(normal.executions),
    };
    let command = if args.stale { "verify --stale".to_owned() } else { args.which.words("verify") };
    let mut judging = Judging { judge: &judge, store: &mut store, reporter: reporter.as_mut(), run: None };
    let all = judging.verify(&wanted, &command, Some(budget))?;
    let mutants = match args.mutants {
        true => port_mutants(&judge, &wanted, &all, reporter.as_mut())?,
        false => Vec::new(),
    };
    let standalone = args.which.all.then(|| standalone(&project, &judge, reporter.as_mut())).transpose()?;
    let whole = match args.which.all {
        true => Some(whole(&project, &store)?),
        false => None,
    };
    drop(reporter);
    let rejections = rejections(&judge, &wanted, &all)?;
    let results = results(&project, &all)?;
    let written = args.files.write("verify", &results);
    let findings: Vec<_> = all
        .iter()
        .filter_map(|j| Some((j, j.finding.as_ref()?)))
        .map(|(j, (id, found))| json!({ "symbol": j.symbol, "id": id.0, "finding": finding_json(found) }))
        .collect();
    let c_faults: Vec<_> = all
        .iter()
        .flat_map(|j| j.c_faults.iter().map(move |kept| (j, kept)))
        .map(|(j, (id, c_fault))| {
            let found = finding_json(&c_fault.finding);
            json!({ "symbol": j.symbol, "id": id.0, "fault": c_fault.kind, "finding": found })
        })
        .collect();
    session.screen.result(
        "verify",
        &json!({
            "symbols": all, "findings": findings, "findings_of_c": c_faults, "mutants": mutants, "library": whole,
            "standalone": standalone,
        }),
        || {
            let mut text = rejections;
            for (judgement, (id, found)) in all.iter().filter_map(|j| Some((j, j.finding.as_ref()?))) {
                text += &finding(&judgement.symbol, found, Values::Short);
                text += &places(&project, &judgement.symbol, &found.what);
                text += &format!("{}\n\n", reproduce(id.0));
            }
            let whole = whole.as_ref().map(overview).unwrap_or_default();
            let survivors: String = mutants.iter().map(survivors).collect();
            let alone = match &standalone {
                Some(Standalone { links: true, .. }) => "standalone: yes\n".to_owned(),
                Some(Standalone { why, .. }) => {
                    format!("standalone: no: {}\n", why.as_deref().unwrap_or("unknown"))
                }
                None => String::new(),
            };
            match all.is_empty() {
                true => "nothing to verify\n".to_owned(),
                false => {
                    format!("{text}{}\n{}\n{whole}{alone}{survivors}", symbol_tables::judgements(&all), symbol_tables::counts(&all))
                }
            }
        },
    );
    session.screen.annotations(&results);
    written?;
    Ok(super::status::code(&all, &project))
}

/// What the audit says of the ports that it rejects.
fn rejections(judge: &Judge, wanted: &[&FunctionPlan], all: &[Judgement]) -> Result<String> {
    let is_rejected = |planned: &&&FunctionPlan| {
        let own = all.iter().find(|judgement| judgement.symbol == planned.function.name);
        own.is_some_and(|own| own.grade == Grade::Refuted && own.finding.is_none())
    };
    let texts = wanted.iter().filter(is_rejected).map(|planned| rejected(judge, planned));
    let texts: Vec<String> = texts.collect::<Result<_>>()?;
    Ok(texts.into_iter().filter(|text| !text.is_empty()).map(|text| text + "\n").collect())
}

/// The functions that `check` wants judged again.
fn stale(project: &Project) -> Result<Vec<&FunctionPlan>> {
    let status = status(project.workspace.root(), &project.config, None)?;
    let asks =
        |plan: &&FunctionPlan| status.of(plan.function.name.as_str()).is_some_and(SymbolStatus::is_stale);
    Ok(project.planned.iter().filter(asks).collect())
}

/// The judgements for CI servers.
fn results(project: &Project, all: &[Judgement]) -> Result<Vec<PortResult>> {
    let (root, config) = (project.workspace.root(), &project.config);
    let status = status(root, config, None)?;
    Ok(ci::of_verify(all, &status, config.grade.least, within_git(root)))
}

/// The state of the port of the whole library.
fn whole(project: &Project, store: &Store) -> Result<Overview> {
    let all: Vec<&FunctionPlan> = project.planned.iter().collect();
    Overview::of(project, store, &known(project, store, &all)?)
}

/// Whether the port works without the C original.
fn standalone(project: &Project, judge: &Judge, reporter: &mut dyn Reporter) -> Result<Standalone> {
    let left = project.planned.iter().filter(|p| project.ported(&p.function) != Ported::Yes).count();
    if left > 0 {
        let (noun, verb) = if left == 1 { ("function", "is") } else { ("functions", "are") };
        return Ok(Standalone::no(format!("{left} {noun} {verb} not ported")));
    }
    reporter
        .event(Event::StepStarted { step: "linking the port without the C original".into(), total: None });
    let standalone = judge.standalone()?;
    let message = match standalone.links {
        true => "the port links without the C original",
        false => "the port does not link without the C original",
    };
    reporter.event(Event::StepFinished { message: message.into() });
    Ok(standalone)
}

/// Runs the mutants of existing ports.
fn port_mutants(
    judge: &Judge,
    wanted: &[&FunctionPlan],
    all: &[Judgement],
    reporter: &mut dyn Reporter,
) -> Result<Vec<PortMutants>> {
    let named: BTreeSet<&SymbolName> = all.iter().filter(|j| j.grade.holds()).map(|j| &j.symbol).collect();
    let standing: Vec<&FunctionPlan> =
        wanted.iter().copied().filter(|p| named.contains(&p.function.name)).collect();
    let seconds = judge.project.config.grade.mutant_seconds;
    mutation_score::port::of_ports(judge, &standing, seconds, reporter)
}

/// The mutation score, and the survivors by line, as text.
fn survivors(of: &PortMutants) -> String {
    let mut text = match of.kills() {
        Measured::Yes(Share { reached, total }) => {
            format!("\n{}: {reached} of {total} mutants of Rust killed\n", of.symbol)
        }
        Measured::No(why) => format!("\n{}: mutants of Rust: {}\n", of.symbol, printable(&why)),
    };
    for tried in mutation_score::port::survivors(of) {
        let mutant = &tried.mutant;
        text +=
            &format!("  {}  {}:{}: {} survived\n", mutant.id, of.file, mutant.line, printable(&mutant.what));
    }
    text
}
