//! `cargo implfuzz coverage`

use crate::cli::session::Session;
use crate::cli::session::Which;
use crate::error::{ExitCode, Result};
use crate::fuzz::coverage_replay::{ENDS, Inputs};
use crate::judge::Judge;
use crate::judge::coverage::{self, Covered, Missed, Reach, Side, Way, by_drivers};
use crate::judge::findings;
use crate::report::{Table, printable};
use crate::verdict::Share;
use serde_json::{Value, json};

/// Show the coverage of C functions and their ports, and the branches that no input reaches
///
/// Replays the inputs of the last campaign, the boundary inputs and the kept counterexamples in a build with coverage
/// counters. Coverage of C counts each direction of a branch; coverage of Rust counts blocks, such as the arms of a `match`.
/// For a function without a harness, the command counts the parts of C that the calls of drivers reach.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    which: Which,
    /// Fuzz for N seconds first if no campaign has left inputs
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Fuzz first even if there are inputs
    #[arg(long)]
    fresh: bool,
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    let mut reporter = session.reporter();
    let (project, store) = session.open_to_run(reporter.as_mut())?;
    let mut wanted = args.which.select(&project)?;
    if args.which.all {
        wanted.retain(|p| p.judgeable.contract().is_some());
    }
    let judge = Judge::new(&project, &session.interrupt);
    coverage::provide(&judge, &wanted, args.seconds, args.fresh, reporter.as_mut())?;
    let mut all = coverage::of_symbols(&judge, &wanted, reporter.as_mut())?;
    by_drivers::complete(&judge, (&wanted, &mut all), reporter.as_mut())?;
    drop(reporter);
    let faults = wanted.iter().map(|planned| findings::known_breaks(&store, planned).map(|ways| ways.len()));
    let faults = faults.collect::<Result<Vec<_>>>()?;
    let values: Vec<Value> = all.iter().zip(&faults).map(|(reach, faults)| as_json(reach, *faults)).collect();
    session.screen.result("coverage", &json!({ "symbols": values }), || shown(&all, &faults));
    let is_measured =
        |reach: &Reach| reach.c.share().value().is_some() && reach.rust.share().value().is_some();
    Ok(if all.iter().all(is_measured) { ExitCode::Ok } else { ExitCode::Incomplete })
}

fn as_json(reach: &Reach, faults: usize) -> Value {
    let mut value = json!(reach);
    value["c_faults"] = json!(faults);
    value["parity"] = json!(reach.parity());
    value
}

fn shown(all: &[Reach], faults: &[usize]) -> String {
    let mut text = Table::of(all)
        .left("symbol", |reach| reach.symbol.to_string())
        .right("inputs", |reach| reach.inputs.replayed.to_string())
        .right("C branches", |reach| part(&reach.c, |m| m.branches))
        .right("C lines", |reach| part(&reach.c, |m| Some(m.lines)))
        .right("Rust blocks", |reach| part(&reach.rust, |m| m.blocks))
        .right("Rust lines", |reach| part(&reach.rust, |m| Some(m.lines)))
        .left("remarks", remarks)
        .text();
    for (reach, faults) in all.iter().zip(faults) {
        let sides = [(&reach.c, &reach.file), (&reach.rust, &reach.rust_file)];
        let lines: String = sides.iter().map(|(side, file)| missed(side, file)).collect();
        if !lines.is_empty() {
            text += &format!("\nno input of {} reaches:\n{lines}", reach.symbol);
            if *faults > 0 {
                let name = &reach.symbol;
                text += &format!(
                    "  C faults: {faults}; what C does on such inputs does not count as reached: cargo implfuzz findings list --c-bugs {name}\n"
                );
            }
        }
    }
    text
}

fn part(side: &Side, part: fn(&Covered) -> Option<Share>) -> String {
    match side {
        Side::Unmeasured { .. } => "unmeasured".to_owned(),
        Side::Measured(m) => match part(m) {
            None => "-".to_owned(),
            Some(share) if share.total == 0 => "none".to_owned(),
            Some(Share { reached, total }) => format!("{reached}/{total}"),
        },
    }
}

fn remarks(reach: &&Reach) -> String {
    let mut remarks: Vec<String> = reach.parity().into_iter().collect();
    match (&reach.c, &reach.rust) {
        (Side::Unmeasured { why: c }, Side::Unmeasured { why }) if c == why => remarks.push(printable(why)),
        sides => {
            for (name, side) in [("C", sides.0), ("Rust", sides.1)] {
                if let Side::Unmeasured { why } = side {
                    remarks.push(format!("{name}: {}", printable(why)));
                }
            }
        }
    }
    remarks.extend(differences(reach));
    remarks.join("; ")
}

/// What a person who judges the port should look at.
fn differences(reach: &Reach) -> Option<String> {
    let Inputs { accepted, returned, differed, crashed, .. } = reach.inputs;
    let what = match (crashed, accepted - returned, differed) {
        _ if matches!(reach.rust, Side::Unmeasured { .. }) && returned == 0 && crashed == 0 => return None,
        (0, 0, 0) => return None,
        (0, 0, n) => format!("the port differs on {n} inputs"),
        (0, n, _) => format!("the port does not return from {n} inputs"),
        (n, ..) => {
            format!("{n} inputs end the process or take too long (after {ENDS} the port is left out)")
        }
    };
    Some(format!("{what}: `cargo implfuzz verify {}`", reach.symbol))
}

/// A line for each place; a condition that no input reached gets one line.
fn missed(side: &Side, file: &str) -> String {
    let Side::Measured(Covered { missed, .. }) = side else { return String::new() };
    let is_same = |a: &Missed, b: &Missed| {
        (a.line, a.column, a.in_macro, a.impossible) == (b.line, b.column, b.in_macro, b.impossible)
            && a.way != b.way
    };
    let mut lines = String::new();
    for place in missed.chunk_by(is_same) {
        let what = match (place, place[0].way) {
            ([_, _, ..], _) => "never came to",
            (_, Way::True) => "never true",
            (_, Way::False) => "never false",
            (_, Way::Run) => "never run",
        };
        let Missed { line, code, in_macro, impossible, .. } = &place[0];
        let of = if *in_macro { "a condition in " } else { "" };
        let why = if *impossible { " (the compiler proves it impossible: not counted)" } else { "" };
        lines += &format!("  {file}:{line}: {what}: {of}{}{why}\n", printable(code));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbol::SymbolName;

    #[test]
    fn what_c_faults_hide_is_told_where_something_is_missed() {
        let missed = vec![Missed {
            line: 7,
            column: 1,
            code: "n > 9".into(),
            way: Way::True,
            in_macro: false,
            impossible: false,
        }];
        let lines = Share { reached: 1, total: 2 };
        let covered = Covered { entered: 1, lines, branches: Some(lines), blocks: None, missed };
        let reach = Reach {
            symbol: SymbolName::new("f"),
            file: "f.c".into(),
            line: 5,
            rust_file: "f.rs".into(),
            inputs: Inputs::default(),
            c: Side::Measured(covered),
            rust: Side::Unmeasured { why: "a stub".into() },
        };
        let all = [reach];
        assert!(shown(&all, &[0]).ends_with("  f.c:7: never true: n > 9\n"));
        assert!(
            shown(&all, &[2]).contains("C faults: 2; what C does on such inputs does not count as reached")
        );
    }
}
