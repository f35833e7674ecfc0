//! `cargo implfuzz list`

use crate::cli::session::Session;
use crate::cli::tables::symbol_tables;
use crate::contract::tier::Tier;
use crate::count::count;
use crate::drivers::{Reachability, known_reach};
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::project::init;
use crate::project::listing::{self, Kind, Listing, Row, Sort};
use crate::report::{Table, Verbosity, printable};
use crate::symbol::RelPath;
use clap::ValueEnum;
use serde_json::json;

/// List the functions of the C library in porting order, with their tiers
///
/// The tier says how a harness can call a function. From the easiest to the hardest: A: it decodes the arguments from the input;
/// B: it gets values from the library's own constructors; E: it needs heuristics (unknown sizes, callbacks, `void *`); C: the
/// C text does not show how to call it, so a person or a model must say; D: it cannot call the function. `-v` shows the reason
/// for each tier, and the full definition of each symbol that `--kind` lists.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show only symbols that match a pattern: a symbol, a C name, a file or file:name; `*` matches any text
    #[arg(value_name = "PATTERN")]
    patterns: Vec<String>,
    /// Show only functions of these tiers, as in A,B
    #[arg(long, value_name = "TIERS", value_delimiter = ',')]
    tier: Vec<Tier>,
    /// Show symbols of these kinds instead of functions, as in struct,macro
    #[arg(long, value_enum, value_name = "KINDS", value_delimiter = ',', conflicts_with_all = ["tier", "graph", "unsupported", "sort"])]
    kind: Vec<Kind>,
    /// Show what is unsupported, with the reasons: files that are left out; symbols that have no stub, no binding or no Rust
    /// static; and disagreements between libclang and the C compiler
    #[arg(long, conflicts_with_all = ["tier", "graph", "sort"])]
    unsupported: bool,
    /// Print the call graph for Graphviz instead
    #[arg(long, value_enum, value_name = "FORMAT")]
    graph: Option<Graph>,
    /// Sort the functions in this order
    #[arg(long, value_enum, value_name = "BY", default_value_t = Sort::Order)]
    sort: Sort,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Graph {
    Dot,
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    let (project, store) = session.look()?;
    init::warn(&project, session.reporter().as_mut());
    let mut listing = Listing::of(&project);
    listing.recall(&project, &store.ends()?);
    if let Some(known) = known_reach(&project)? {
        listing.drivers(&project, &|function| match known.of(function) {
            Reachability::Reached => "reached".to_owned(),
            Reachability::Unreached => "not reached".to_owned(),
            Reachability::NotRun => "not run yet".to_owned(),
            Reachability::NotJudged(why) => format!("not judged: {why}"),
        });
    }
    let all = listing.symbols.len();
    listing.definitions = listing::definitions(&project.library, &args.kind);
    if let Some(pattern) = listing.keep(&args.patterns) {
        let message = format!("nothing in the library matches `{pattern}`");
        return Err(Error::new(ErrorKind::Usage, message).help(project.nearest(pattern)));
    }
    listing.keep_tiers(&args.tier);
    listing.sort(args.sort);
    if args.graph == Some(Graph::Dot) {
        let dot = listing::dot(&listing.symbols);
        session.screen.result("graph", &json!({ "dot": dot }), || dot.clone());
    } else if !args.kind.is_empty() {
        listing.symbols.retain(|_| args.kind.contains(&Kind::Function));
        let whole = session.verbosity == Verbosity::Verbose;
        session.screen.result("list", &listing, || definitions(&listing, whole));
    } else if args.unsupported {
        listing.symbols.clear();
        session.screen.result("list", &listing, || unsupported(&listing));
    } else {
        let reasons = session.verbosity == Verbosity::Verbose;
        session.screen.result("list", &listing, || {
            let (rows, summary) = (functions(&listing.symbols, reasons), summary(&listing, all));
            let is_whole = listing.symbols.len() == all;
            let causes = if is_whole { symbol_tables::causes(&listing.causes) } else { String::new() };
            format!("{rows}\n{summary}\n{causes}")
        });
    }
    Ok(ExitCode::Ok)
}

/// One line per function.
fn functions(rows: &[Row], reasons: bool) -> String {
    let cycles = rows.iter().any(|row| row.cycle.is_some());
    let has_drivers = rows.iter().any(|row| row.drivers.is_some());
    let is_recalled = rows.iter().any(|row| row.last_run.is_some());
    let cycle = |row: &&Row| row.cycle.map_or_else(String::new, |cycle| cycle.to_string());
    Table::of(rows)
        .right("#", |row| row.order.to_string())
        .left("symbol", |row| row.symbol.to_string())
        .left("C", |row| format!("{}:{}", row.file, row.line))
        .left("tier", |row| row.tier.to_string())
        .right("in", |row| row.fan_in.to_string())
        .right("out", |row| row.fan_out.to_string())
        .right_if(cycles, "cycle", cycle)
        .left("Rust", |row| row.state.unwrap_or("-").to_owned())
        .left("harness", |row| row.harness.clone())
        .left_if(has_drivers, "drivers", |row| row.drivers.clone().unwrap_or_default())
        .left_if(is_recalled, "last run", |row| printable(row.last_run.as_deref().unwrap_or_default()))
        .left_if(reasons, "why this tier", |row| row.tier_reason.clone())
        .lines()
}

fn summary(listing: &Listing, all: usize) -> String {
    let shown = listing.symbols.len();
    let of_all = if shown == all { String::new() } else { format!(" of {all}") };
    let tiers: Vec<String> = listing.per_tier().iter().map(|(tier, n)| format!("{n} {tier}")).collect();
    let judged = listing.count(|row| row.judged);
    let ported = listing.count(|row| row.state == Some("ported"));
    let shown = if all == 1 { "1 function".to_owned() } else { format!("{shown}{of_all} functions") };
    format!("{shown}: {}; {judged} with a harness, {ported} ported", tiers.join(", "))
}

/// Number of characters of a definition that are shown without `-v`.
const TEXT: usize = 80;

fn first(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// One line per symbol, functions first.
fn definitions(listing: &Listing, whole: bool) -> String {
    let functions = listing.symbols.iter();
    let functions = functions
        .map(|row| ["function".into(), row.symbol.to_string(), place(&row.file, row.line), "".into()]);
    let others = listing.definitions.iter().map(|found| {
        let text = found.text.replace("\\\n", " ").split_whitespace().collect::<Vec<_>>().join(" ");
        let text = printable(&first(&text, if whole { usize::MAX } else { TEXT }));
        [found.kind.word().into(), found.name.clone(), place(&found.file, found.line), text]
    });
    let all: Vec<[String; 4]> = functions.chain(others).collect();
    let symbols = count(all.len(), "symbol");
    format!("{}\n{symbols}\n", four(["kind", "name", "C", "text"], all))
}

fn place(file: &RelPath, line: u32) -> String {
    format!("{file}:{line}")
}

/// A table of four columns of words.
fn four(headings: [&str; 4], rows: Vec<[String; 4]>) -> String {
    let column = |table: Table<_>, at: usize| table.left(headings[at], |row: &[String; 4]| row[at].clone());
    (0..4).fold(Table::of(rows), column).lines()
}

/// One line per symbol without a stub or binding, and per left-out file.
fn unsupported(listing: &Listing) -> String {
    let symbols = listing.unsupported.iter().map(|one| {
        [one.kind.word().into(), one.symbol.to_string(), place(&one.file, one.line), one.reason.clone()]
    });
    let files = listing.left_out.iter();
    let files = files.map(|left| ["file".into(), "-".into(), left.file.to_string(), left.reason.clone()]);
    let gaps = listing.gaps.iter();
    let gaps = gaps.map(|gap| ["gap".into(), gap.what.clone(), "-".into(), gap.reason.clone()]);
    let rows: Vec<[String; 4]> = symbols.chain(files).chain(gaps).collect();
    let of = |kind: Kind| listing.unsupported.iter().filter(|one| one.kind == kind).count();
    let counts = format!(
        "{}, {} without stub, binding or Rust static; {} left out, {}",
        count(of(Kind::Function), "function"),
        count(of(Kind::Global), "global"),
        count(listing.left_out.len(), "file"),
        count(listing.gaps.len(), "gap")
    );
    if rows.is_empty() {
        format!("{counts}\n")
    } else {
        format!("{}\n{counts}\n", four(["kind", "name", "C", "reason"], rows))
    }
}
