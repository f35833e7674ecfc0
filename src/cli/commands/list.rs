//! `cargo implfuzz list`

use super::Session;
use crate::contract::tier::Tier;
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::project::Project;
use crate::project::init;
use crate::project::listing::{self, Kind, Listing, Row, Sort};
use crate::report::{Column, Verbosity, lines, printable};
use clap::ValueEnum;
use serde_json::json;

/// List the functions of the C library in porting order, with their tiers
///
/// The tier says how a harness can call a function. A: it decodes the arguments from the input; B: it gets values from the
/// library's own constructors; E: it needs heuristics (unknown sizes, callbacks, `void *`); C: it needs hints from a person;
/// D: it cannot call the function.
/// `-v` shows the reason for each tier, and the full definition of each symbol that `--kind` lists.
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
    /// Show symbols without a stub, binding or Rust static, left-out files, and disagreements between libclang and
    /// the C compiler, each with the reason
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
    let project = Project::look(&session.options, &session.interrupt)?;
    init::warn(&project, session.reporter().as_mut());
    let mut listing = Listing::of(&project);
    listing.recall(&project, &session.store(&project)?.ends()?);
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
            format!("{}\n{}\n", functions(&listing.symbols, reasons), summary(&listing, all))
        });
    }
    Ok(ExitCode::Ok)
}

/// One line per function.
fn functions(rows: &[Row], reasons: bool) -> String {
    let cycles = rows.iter().any(|row| row.cycle.is_some());
    let mut columns =
        vec![Column::right("#"), Column::left("symbol"), Column::left("C"), Column::left("tier")];
    columns.extend([Column::right("in"), Column::right("out")]);
    columns.extend(cycles.then(|| Column::left("unit")));
    columns.extend([Column::left("Rust"), Column::left("harness")]);
    let is_recalled = rows.iter().any(|row| row.last_run.is_some());
    columns.extend(is_recalled.then(|| Column::left("last run")));
    columns.extend(reasons.then(|| Column::left("why this tier")));
    let cells = |row: &Row| {
        let mut cells =
            vec![row.order.to_string(), row.symbol.to_string(), format!("{}:{}", row.file, row.line)];
        cells.extend([row.tier.to_string(), row.fan_in.to_string(), row.fan_out.to_string()]);
        cells.extend(cycles.then(|| row.cycle.map_or_else(String::new, |cycle| format!("cycle {cycle}"))));
        cells.extend([row.state.unwrap_or("-").to_owned(), row.harness.clone()]);
        cells.extend(is_recalled.then(|| printable(row.last_run.as_deref().unwrap_or_default())));
        cells.extend(reasons.then(|| row.tier_reason.clone()));
        cells
    };
    lines(&columns, &rows.iter().map(cells).collect::<Vec<_>>(), None)
}

fn summary(listing: &Listing, all: usize) -> String {
    let shown = listing.symbols.len();
    let of_all = if shown == all { String::new() } else { format!(" of {all}") };
    let tiers: Vec<String> = listing.per_tier().iter().map(|(tier, n)| format!("{n} {tier}")).collect();
    let judged = listing.count(|row| row.judged);
    let ported = listing.count(|row| row.state == Some("ported"));
    format!("{shown}{of_all} functions: {}; {judged} with a harness, {ported} ported", tiers.join(", "))
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
    let columns = [Column::left("kind"), Column::left("name"), Column::left("C"), Column::left("text")];
    let functions = listing.symbols.iter().map(|row| {
        vec!["function".into(), row.symbol.to_string(), format!("{}:{}", row.file, row.line), String::new()]
    });
    let others = listing.definitions.iter().map(|found| {
        let place = format!("{}:{}", found.file, found.line);
        let text = found.text.replace("\\\n", " ").split_whitespace().collect::<Vec<_>>().join(" ");
        vec![
            found.kind.word().into(),
            found.name.clone(),
            place,
            printable(&first(&text, if whole { usize::MAX } else { TEXT })),
        ]
    });
    let rows: Vec<Vec<String>> = functions.chain(others).collect();
    format!("{}\n{} symbols\n", lines(&columns, &rows, None), rows.len())
}

/// One line per symbol without a stub or binding, and per left-out file.
fn unsupported(listing: &Listing) -> String {
    let columns = [Column::left("kind"), Column::left("name"), Column::left("C"), Column::left("reason")];
    let symbols = listing.unsupported.iter().map(|one| {
        vec![
            one.kind.word().into(),
            one.symbol.to_string(),
            format!("{}:{}", one.file, one.line),
            one.reason.clone(),
        ]
    });
    let files = listing
        .left_out
        .iter()
        .map(|left| vec!["file".into(), "-".into(), left.file.to_string(), left.reason.clone()]);
    let gaps = listing.gaps.iter();
    let gaps = gaps.map(|gap| vec!["gap".into(), gap.what.clone(), "-".into(), gap.reason.clone()]);
    let rows: Vec<Vec<String>> = symbols.chain(files).chain(gaps).collect();
    let count = |kind: Kind| listing.unsupported.iter().filter(|one| one.kind == kind).count();
    let counts = format!(
        "{} functions, {} globals without stub, binding or Rust static; {} files left out, {} gaps",
        count(Kind::Function),
        count(Kind::Global),
        listing.left_out.len(),
        listing.gaps.len()
    );
    if rows.is_empty() {
        format!("{counts}\n")
    } else {
        format!("{}\n{counts}\n", lines(&columns, &rows, None))
    }
}
