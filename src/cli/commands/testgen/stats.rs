//! `cargo implfuzz testgen stats`

use super::{name, named};
use crate::cli::session::Session;
use crate::cli::tables::cells::{in_seconds, mean, number, share};
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::platform::workspace::write_atomic;
use crate::project::Project;
use crate::report::{Table, plot, printable};
use crate::store::{BestConfig, Store};
use crate::test_record::TestGenStats;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Show mean results by function, and the best configuration for each kind of function
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Plot the scores of the runs into this file
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

/// Checks that the file extension matches the format.
fn check_name(file: &Path) -> Result<()> {
    if file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg")) {
        return Ok(());
    }
    let text = format!("--plot {}: the plot is drawn as SVG", file.display());
    Err(Error::new(ErrorKind::Usage, text).help("give the file a name that ends in .svg"))
}

pub(super) fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    args.plot.as_deref().map(check_name).transpose()?;
    let (project, store) = session.look()?;
    let stats = store.testgen_stats()?;
    let best = store.testgen_bests()?;
    let drawn = args.plot.as_deref().map(|file| draw(&project, &stats, file)).transpose()?;
    let mut value = value(&project, &stats);
    value["best"] = json!(best);
    value["plot"] = match (drawn, &args.plot) {
        (Some(true), Some(file)) => file.display().to_string().into(),
        _ => Value::Null,
    };
    let versions = versions(&store)?;
    session.screen.result("testgen-stats", &value, || {
        let said = match (drawn, &args.plot) {
            (Some(true), Some(file)) => format!("\nplot: {}\n", printable(&file.display().to_string())),
            (Some(false), _) => "there is nothing to plot, and no file was written\n".into(),
            _ => String::new(),
        };
        text(&project, &stats, &best, &versions) + &said
    });
    Ok(ExitCode::Ok)
}

/// The version of each configuration, by its id.
pub(super) type Versions = std::collections::BTreeMap<i64, String>;

/// The versions of all configurations.
pub(super) fn versions(store: &Store) -> Result<Versions> {
    Ok(store.testgen_configs()?.into_iter().map(|row| (row.id.0, row.config.version)).collect())
}

/// A configuration by id and version, because two may have the same version.
pub(super) fn configuration(versions: &Versions, id: i64) -> String {
    match versions.get(&id) {
        Some(version) => format!("{id} ({})", printable(version)),
        None => id.to_string(),
    }
}

/// Writes the plot; returns whether there was anything to plot.
fn draw(project: &Project, stats: &TestGenStats, file: &Path) -> Result<bool> {
    match plot(&stats.over_time, |key| name(project, key)) {
        Some(svg) => write_atomic(file, svg.as_bytes()).map(|_| true),
        None => Ok(false),
    }
}

fn value(project: &Project, stats: &TestGenStats) -> Value {
    let mut value = json!(stats);
    value["symbols"] = stats.symbols.iter().map(|row| named(project, row)).collect();
    value["over_time"] = stats.over_time.iter().map(|run| named(project, run)).collect();
    value
}

fn text(project: &Project, stats: &TestGenStats, best: &[BestConfig], versions: &Versions) -> String {
    let TestGenStats { configs, evolutions, accepted_changes, tests, valid_tests, kept_tests, .. } = stats;
    let counts = format!(
        "configurations: {configs}; rounds of evolution: {evolutions}, accepted: {accepted_changes}\n\
         tests: {tests}, valid: {valid_tests}, kept: {kept_tests}\n"
    );
    if stats.overall.runs == 0 {
        return format!("no run of TestGen yet\n{counts}");
    }
    let mut text = format!("{}\n{counts}", means(project, stats));
    if !best.is_empty() {
        text += &format!("\n{}", best_configs(best, versions));
    }
    text
}

fn means(project: &Project, stats: &TestGenStats) -> String {
    let of_symbols = stats.symbols.iter().map(|row| (name(project, &row.symbol), &row.means));
    Table::of(of_symbols.chain([("all".to_owned(), &stats.overall)]))
        .left("mean of", |(name, _)| printable(name))
        .right("runs", |(_, means)| means.runs.to_string())
        .right("scored", |(_, means)| means.scored.to_string())
        .right("score", |(_, means)| mean(means.score))
        .right("best", |(_, means)| number(means.best_score))
        .right("comprehensiveness", |(_, means)| share(means.comprehensiveness))
        .right("balance", |(_, means)| share(means.category_balance))
        .right("anti-cheat", |(_, means)| share(means.anti_cheat_coverage))
        .right("discovery", |(_, means)| share(means.parameter_discovery))
        .right("reflection", |(_, means)| share(means.reflection_effectiveness))
        .right("efficiency", |(_, means)| share(means.token_efficiency))
        .right("tokens", |(_, means)| mean(means.tokens))
        .right("seconds", |(_, means)| in_seconds(means.duration_ms))
        .text()
}

fn best_configs(best: &[BestConfig], versions: &Versions) -> String {
    let note = |is: bool| if is { "differs from the best for all kinds".to_owned() } else { String::new() };
    Table::of(best)
        .left("kind of function", |best| printable(&best.task_type))
        .left("context", |best| best.context.to_string())
        .left("best configuration", |best| configuration(versions, best.config.0))
        .right("score", |best| mean(Some(best.score)))
        .left("passed", |best| format!("{} of {}", best.pass_count, best.total_runs))
        .left("best run", |best| best.run.to_string())
        .left("", |best| note(best.is_override))
        .text()
}
