//! `cargo implfuzz testgen stats`

use super::cells::{count, mean, seconds, share};
use super::{Session, name, named};
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::platform::workspace::write_atomic;
use crate::project::Project;
use crate::report::{Column, plot, printable, table};
use crate::store::{BestConfig, Store};
use crate::test_record::{Means, TestGenStats};
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
    let project = Project::look(&session.options, &session.interrupt)?;
    let store = session.store(&project)?;
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
    let numbers = [
        "runs", "scored", "score", "best", "comprehensiveness", "balance", "anti-cheat", "discovery",
        "reflection", "efficiency", "tokens", "seconds",
    ];
    let columns: Vec<Column> =
        std::iter::once(Column::left("mean of")).chain(numbers.map(Column::right)).collect();
    let of_symbols = stats.symbols.iter().map(|row| line(&name(project, &row.symbol), &row.means));
    let rows: Vec<_> = of_symbols.chain([line("all", &stats.overall)]).collect();
    table(&columns, &rows, None)
}

fn line(name: &str, means: &Means) -> Vec<String> {
    vec![
        printable(name),
        means.runs.to_string(),
        means.scored.to_string(),
        mean(means.score),
        count(means.best_score),
        share(means.comprehensiveness),
        share(means.category_balance),
        share(means.anti_cheat_coverage),
        share(means.parameter_discovery),
        share(means.reflection_effectiveness),
        share(means.token_efficiency),
        mean(means.tokens),
        seconds(means.duration_ms),
    ]
}

fn best_configs(best: &[BestConfig], versions: &Versions) -> String {
    let columns = [
        Column::left("kind of function"),
        Column::left("context"),
        Column::left("best configuration"),
        Column::right("score"),
        Column::left("passed"),
        Column::left("best run"),
        Column::left(""),
    ];
    let row = |best: &BestConfig| {
        vec![
            printable(&best.task_type),
            best.context.to_string(),
            configuration(versions, best.config.0),
            mean(Some(best.score)),
            format!("{} of {}", best.pass_count, best.total_runs),
            best.run.to_string(),
            if best.is_override { "differs from the best for all kinds".into() } else { String::new() },
        ]
    };
    table(&columns, &best.iter().map(row).collect::<Vec<_>>(), None)
}
