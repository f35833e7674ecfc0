//! `cargo implfuzz port`

mod dry_run;
mod explain;

use crate::cli::commands::drivers::write::{json as written_json, table as written_text};
use crate::cli::filter::Narrow;
use crate::cli::session::Session;
use crate::cli::session::Which;
use crate::cli::tables::overview::overview as overview_text;
use crate::cli::tables::symbol_tables;
use crate::config::{Maker, Workflow};
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::platform::process::Interrupt;
use crate::port::function::result::End;
use crate::port::plan::redo::Redo;
use crate::port::run::rounds::{self, Done, Request};
use crate::project::init;
use crate::project::{FunctionPlan, Options, Project, Settings};
use crate::report::{Values, finding, finding_json};
use crate::verdict::Grade;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde_json::json;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Port functions with a model or c2rust, and judge each port by fuzzing it against the C original
///
/// Writes a port into the tree only if it passes audit, build and fuzzing; otherwise the tree stays unchanged.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
    /// Write every exchange with the model into this directory, for the `replay` provider
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// Port up to N functions concurrently; builds and fuzzing share the cores
    #[arg(short, long, value_name = "N", default_value = "1")]
    jobs: NonZeroUsize,
    #[command(flatten)]
    narrow: Narrow,
    /// Port functions again; keep the old port unless the new one is accepted with a grade that is no worse
    #[arg(long)]
    redo: bool,
    /// With --redo: port again only functions whose ports have `unsafe` code; keep the old port unless the new one has less of
    /// it and a grade that is no worse
    #[arg(long, requires = "redo")]
    safer: bool,
    /// First let a model write drivers for functions that have no harness and that no driver reaches, as `drivers --write` does
    #[arg(long, conflicts_with = "dry_run")]
    write_drivers: bool,
    /// Try these candidate sources in this order (`c2rust`, `model`); overrides `candidates`
    #[arg(long = "candidate", value_name = "SOURCES", value_delimiter = ',', value_parser = maker)]
    candidates: Vec<Maker>,
    /// Ask the model for the port only (unified), or for a fuzz target and the port in separate exchanges (three-step);
    /// in both, ask for a contract first if the C text does not show how the function is called; overrides port.workflow
    #[arg(long, value_name = "NAME", value_parser = workflow())]
    workflow: Option<Workflow>,
    /// Print the order and the sizes of the first prompts, and port nothing
    #[arg(long, conflicts_with = "record")]
    dry_run: bool,
    /// Limit the cost of the run, in the currency of llm.prices; overrides llm.max_cost
    #[arg(long, value_name = "AMOUNT", value_parser = amount)]
    max_cost: Option<f64>,
    /// Limit the tokens of the run, sent and received; overrides llm.max_tokens_per_run
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Print each step of the last run on these functions, with the reason for it, and port nothing
    #[arg(long, conflicts_with_all = ["record", "dry_run", "redo", "safer", "write_drivers", "only", "skip", "max_cost", "max_tokens", "candidates", "workflow"])]
    explain: bool,
}

impl Args {
    /// The session's options, with the settings from these arguments, which have priority.
    fn options(&self, session: &Options) -> Result<Options> {
        let settings = Settings {
            record_dir: self.record.as_ref().map(std::path::absolute).transpose()?,
            candidates: self.candidates.clone(),
            workflow: self.workflow,
            max_cost: self.max_cost,
            max_tokens: self.max_tokens,
        };
        Ok(Options { settings, ..session.clone() })
    }

    fn wanted<'p>(&self, project: &'p Project) -> Result<Vec<&'p FunctionPlan>> {
        let mut wanted = self.which.select(project)?;
        self.narrow.keep(project, &mut wanted)?;
        if wanted.is_empty() {
            return Err(Error::new(ErrorKind::Usage, "the library has no function that can be ported")
                .help("`cargo implfuzz list` shows why"));
        }
        Ok(wanted)
    }

    fn redo(&self) -> Redo {
        match (self.redo, self.safer) {
            (false, _) => Redo::No,
            (true, false) => Redo::All,
            (true, true) => Redo::Safer,
        }
    }

    /// The command for the store.
    fn words(&self) -> String {
        let redo = match self.redo() {
            Redo::No => "",
            Redo::All => " --redo",
            Redo::Safer => " --redo --safer",
        };
        let workflow = self.workflow.map_or_else(String::new, |flow| format!(" --workflow {}", flow.word()));
        let candidates: Vec<&str> = self.candidates.iter().map(|maker| maker.word()).collect();
        let candidates = match candidates.is_empty() {
            true => String::new(),
            false => format!(" --candidate {}", candidates.join(",")),
        };
        let drivers = if self.write_drivers { " --write-drivers" } else { "" };
        self.which.words("port") + &self.narrow.words() + redo + drivers + &workflow + &candidates
    }
}

fn maker(text: &str) -> std::result::Result<Maker, String> {
    let known = [Maker::C2rust, Maker::Model];
    known.into_iter().find(|maker| maker.word() == text).ok_or_else(|| "neither c2rust nor model".to_owned())
}

fn workflow() -> impl TypedValueParser<Value = Workflow> {
    let known = [Workflow::Unified, Workflow::ThreeStep];
    let find = move |name: String| known.into_iter().find(|flow| flow.word() == name).unwrap_or_default();
    PossibleValuesParser::new(known.map(Workflow::word)).map(find)
}

fn amount(text: &str) -> std::result::Result<f64, String> {
    let amount: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if amount.is_finite() && amount >= 0.0 { Ok(amount) } else { Err("not an amount of money".to_owned()) }
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    if args.explain {
        return explain::run(session, &args.which);
    }
    let session = Session { options: args.options(&session.options)?, ..session.clone() };
    let mut reporter = session.reporter();
    if args.dry_run {
        let project = Project::open(&session.options, &session.interrupt)?;
        init::warn(&project, reporter.as_mut());
        let store = session.store(&project)?;
        return dry_run::run(&session, (&project, &store), &args.wanted(&project)?, args.redo());
    }
    let opened = session.open_to_run(reporter.as_mut())?;
    let request = Request {
        command: &args.words(),
        wanted: &|project| args.wanted(project),
        redo: args.redo(),
        write_drivers: args.write_drivers,
        jobs: args.jobs.get(),
        reopen: &|trial, reporter| match trial {
            Some(_) => session.open_with(trial, reporter),
            // Restores the tree even after Ctrl-C; a second Ctrl-C ends the process.
            None => Session { interrupt: Interrupt::none(), ..session.clone() }.open_with(None, reporter),
        },
        interrupt: &session.interrupt,
    };
    let Done { results, totals, drivers, overview } = rounds::port(opened, &request, reporter.as_mut())?;
    drop(reporter);
    let functions = overview.functions;
    let findings: Vec<_> = results
        .iter()
        .filter_map(|r| Some(json!({ "symbol": r.symbol, "finding": finding_json(r.finding.as_ref()?) })))
        .collect();
    session.screen.result(
        "port",
        &json!({
            "symbols": results, "library": overview, "findings": findings,
            "drivers": drivers.as_ref().map(|written| written_json(written, functions)),
            "model": symbol_tables::spent_json(&totals),
        }),
        || {
            let mut text =
                drivers.as_ref().map(|written| written_text(written, functions)).unwrap_or_default();
            for (result, found) in results.iter().filter_map(|r| Some((r, r.finding.as_ref()?))) {
                text += &finding(&result.symbol, found, Values::Short);
                text += &format!("all findings: cargo implfuzz findings list {}\n\n", result.symbol);
            }
            let whole = if args.which.all { overview_text(&overview) } else { String::new() };
            if results.is_empty() {
                text += dry_run::NOTHING_SAFER;
            }
            format!("{text}{}\n{whole}{}\n", symbol_tables::ports(&results), symbol_tables::spent(&totals))
        },
    );
    let failed = |end: End| results.iter().any(|r| r.end == end);
    let refuted = results
        .iter()
        .any(|r| r.end == End::Failed && r.finding.is_some() || r.grade == Some(Grade::Refuted));
    Ok(match () {
        () if failed(End::Budget) || drivers.as_ref().is_some_and(|written| written.is_budget) => {
            ExitCode::Budget
        }
        () if refuted => ExitCode::Divergence,
        () if failed(End::CFault) => ExitCode::CFault,
        () if failed(End::Failed)
            || failed(End::Skipped)
            || failed(End::NoLongerHolds)
            || (failed(End::NotJudgeable) && !args.which.all) =>
        {
            ExitCode::Incomplete
        }
        () => ExitCode::Ok,
    })
}
