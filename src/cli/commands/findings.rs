//! `cargo implfuzz findings`

use crate::cli::filter;
use crate::cli::session::Session;
use crate::cli::tables::source_diagnostics::places;
use crate::count::count;
use crate::error::{ExitCode, Result};
use crate::fuzz::confirm::Once;
use crate::judge::Judge;
use crate::judge::findings::{self, Again, Kept};
use crate::report::{Table, Values, Verbosity, c_fault, finding, finding_json, printable};
use crate::store::Side;
use crate::verdict::Reachability;
use serde_json::{Value, json};

/// List, show or replay counterexamples and C faults
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// List findings; findings that differ only in numbers appear once
    List {
        /// List only findings on these functions
        symbols: Vec<String>,
        /// List C faults instead: inputs on which C crashes, hangs or disagrees with itself
        #[arg(long)]
        c_bugs: bool,
        /// With --c-bugs: list only C faults that a model has judged in this way; the tool has not checked the model's opinion
        #[arg(long, value_enum, value_name = "WHAT", requires = "c_bugs")]
        verdict: Option<Said>,
    },
    /// Show the arguments of a finding and the results of C and the port
    Show {
        /// Number of the finding, as `findings list` shows it
        id: i64,
    },
    /// Run the input of a finding through the C original and the current port; the exit code is 10 if they still differ and
    /// 13 if a C fault still occurs
    Replay {
        /// Number of the finding, as `findings list` shows it
        id: i64,
    },
}

/// A model's verdict on a C fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Said {
    /// Callers can cause the fault
    Feasible,
    /// No caller can cause it
    Infeasible,
    /// It happens in real use
    Reachable,
    /// It matters for security
    Security,
    /// No model was asked, or none answered
    Unknown,
}

impl Said {
    fn is_of(self, said: Option<&Reachability>) -> bool {
        match (self, said) {
            (Self::Unknown, said) => said.is_none(),
            (_, None) => false,
            (Self::Feasible, Some(said)) => said.feasible,
            (Self::Infeasible, Some(said)) => !said.feasible,
            (Self::Reachable, Some(said)) => said.reachable == Some(true),
            (Self::Security, Some(said)) => said.security == Some(true),
        }
    }
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    match &args.what {
        What::List { symbols, c_bugs, verdict } => {
            list(session, symbols, (if *c_bugs { Side::C } else { Side::Port }, *verdict))
        }
        What::Show { id } => show(session, *id),
        What::Replay { id } => replay(session, *id),
    }
}

fn list(session: &Session, symbols: &[String], (side, verdict): (Side, Option<Said>)) -> Result<ExitCode> {
    let (project, store) = session.look()?;
    let wanted = filter::named(&project, symbols)?;
    let wanted = (!symbols.is_empty()).then_some(wanted.as_slice());
    let mut all = findings::list(&project, &store, wanted, side)?;
    all.retain(|kept| verdict.is_none_or(|said| said.is_of(kept.row.reachability.as_ref())));
    let of_c = match side {
        Side::Port => findings::list(&project, &store, wanted, Side::C)?.len(),
        Side::C => 0,
    };
    let values: Vec<Value> = all.iter().map(kept_json).collect();
    session.screen.result("findings", &json!({ "findings": values }), || {
        let state = |kept: &Kept| match (&kept.row.reachability, kept.state) {
            (Some(said), _) => printable(&said.text()),
            (None, Some(state)) => state.text().to_owned(),
            (None, None) => String::new(),
        };
        let table = Table::of(&all)
            .right("id", |kept| kept.row.id.0.to_string())
            .left("symbol", |kept| kept.symbol.to_string())
            .left("class", |kept| kept.row.finding.class.to_string())
            .left("what", |kept| printable(&kept.row.finding.what))
            .right("inputs", |kept| kept.inputs.to_string())
            .left(if side == Side::C { "a model says" } else { "state" }, |kept| state(kept));
        let more = match of_c {
            0 => String::new(),
            n => format!("{}: cargo implfuzz findings list --c-bugs\n", count(n, "C fault")),
        };
        match all.is_empty() {
            true if of_c > 0 => format!("no finding about a port; {more}"),
            true => "no findings\n".to_owned(),
            false => {
                let which = if side == Side::C { "\na C fault is a bug in C, or an input that callers must not pass; the tool does not decide which; to exclude inputs: cargo implfuzz contract --edit <symbol>" } else { "" };
                format!("{}{which}\nshow one: cargo implfuzz findings show <id>; run it again: cargo implfuzz findings replay <id>\n{more}", table.text())
            }
        }
    });
    Ok(ExitCode::Ok)
}

fn show(session: &Session, id: i64) -> Result<ExitCode> {
    let (project, store) = session.look()?;
    let kept = findings::find(&project, &store, id)?;
    session.screen.result("finding", &kept_json(&kept), || {
        let (symbol, found) = (&kept.symbol, &kept.row.finding);
        let values = if session.verbosity == Verbosity::Verbose { Values::Whole } else { Values::Short };
        let text = match kept.row.fault {
            Some(fault) => c_fault(symbol, (fault, found, &kept.row.report), values),
            None => finding(symbol, found, values),
        };
        let explained = kept.row.explanation.as_ref().map(|text| {
            let lines: Vec<String> = text.lines().map(|line| format!("  {}\n", printable(line))).collect();
            format!("a model's explanation, which the tool has not checked:\n{}", lines.concat())
        });
        let places = places(&project, symbol, &found.what);
        format!("{text}{places}{}{}\n", explained.unwrap_or_default(), reproduce(id))
    });
    Ok(ExitCode::Ok)
}

fn replay(session: &Session, id: i64) -> Result<ExitCode> {
    let mut reporter = session.reporter();
    let (project, store) = session.open_to_run(reporter.as_mut())?;
    let kept = findings::find(&project, &store, id)?;
    let judge = Judge::new(&project, &session.interrupt);
    let came = findings::replay(&judge, &kept, reporter.as_mut())?;
    drop(reporter);
    let (word, reason, code) = match &came {
        Again::Port(Once::Same) | Again::C(None) => ("same", None, ExitCode::Ok),
        Again::Port(Once::Rejected(reason)) => ("rejected", Some(reason), ExitCode::Incomplete),
        Again::Port(Once::Differs(_)) => ("differs", None, ExitCode::Divergence),
        Again::C(Some(found)) => (found.kind.word(), None, ExitCode::CFault),
    };
    let now = match &came {
        Again::Port(Once::Differs(found)) => Some(found),
        Again::C(Some(found)) => Some(&found.finding),
        _ => None,
    };
    let value = json!({
        "id": id, "symbol": kept.symbol, "outcome": word, "reason": reason, "finding": now.map(finding_json),
    });
    session.screen.result("finding-replay", &value, || match &came {
        Again::Port(Once::Differs(found)) => {
            format!("{}finding {id} still differs\n", finding(&kept.symbol, found, Values::Short))
        }
        Again::Port(Once::Same) => {
            let name = &kept.symbol;
            format!("finding {id}: `{name}` now agrees with the C original; cargo implfuzz verify {name} judges it as it ships\n")
        }
        Again::Port(Once::Rejected(reason)) => {
            format!("finding {id} no longer applies: its input is rejected ({})\n", printable(reason))
        }
        Again::C(Some(found)) => {
            let text = c_fault(&kept.symbol, (found.kind, &found.finding, &found.report), Values::Short);
            format!("{text}finding {id} is still there\n")
        }
        Again::C(None) => {
            format!(
                "finding {id}: the C original of `{}` returns, always with the same result\n",
                kept.symbol
            )
        }
    });
    Ok(code)
}

/// The command that replays a finding.
pub fn reproduce(id: i64) -> String {
    format!("reproduce: cargo implfuzz findings replay {id}")
}

fn kept_json(kept: &Kept) -> Value {
    json!({
        "id": kept.row.id.0, "symbol": kept.symbol, "inputs": kept.inputs, "found": kept.row.created.to_string(),
        "side": kept.row.side.word(), "fault": kept.row.fault,
        "report": kept.row.fault.map(|_| &kept.row.report), "explanation": kept.row.explanation,
        "reachability": kept.row.reachability, "state": kept.state, "finding": finding_json(&kept.row.finding), "reproduce": format!("cargo implfuzz findings replay {}", kept.row.id.0),
    })
}
