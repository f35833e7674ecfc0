//! `cargo implfuzz testgen export`

use super::{name, named, shown};
use crate::cli::session::Session;
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::event::{Event, Reporter};
use crate::judge::Judge;
use crate::project::{FunctionPlan, Project};
use crate::store::Store;
use crate::test_record::{RecordedTest, RunId, TestGenRun};
use crate::testgen::run::results::{self, Which, Written};
use serde_json::json;

/// Run kept tests on C again, and write those with unchanged results as Rust tests (`rust/tests/testgen_<symbol>.rs`) and as
/// seeds
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Functions; exports the best run of each (with --valid, the last run if no run kept a test)
    #[arg(required_unless_present_any = ["run", "all"])]
    symbols: Vec<String>,
    /// Export this run
    #[arg(long, value_name = "RUN_ID", conflicts_with_all = ["symbols", "all"])]
    run: Option<RunId>,
    /// Select all functions that have a run
    #[arg(long, conflicts_with = "symbols")]
    all: bool,
    /// Export all valid tests, even those that add nothing to the suite
    #[arg(long)]
    valid: bool,
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    let mut reporter = session.reporter();
    let (project, store) = session.open_to_run(reporter.as_mut())?;
    let which = if args.valid { Which::Valid } else { Which::Kept };
    let wanted = runs(&project, &store, args)?;
    let wanted = with_tests((&project, &store), wanted, (args.all, which), reporter.as_mut())?;
    let judge = Judge::new(&project, &session.interrupt);
    let planned: Vec<&FunctionPlan> = wanted.iter().map(|wanted| wanted.planned).collect();
    let binary = judge.harnesses(&planned, reporter.as_mut())?;
    let mut all: Vec<(TestGenRun, Written)> = Vec::new();
    for Wanted { run, planned, tests } in wanted {
        let campaign = judge.campaign(&binary, planned);
        let (same, differing) =
            results::confirmed((&project.library, &judge), planned, &campaign, (tests, which))?;
        let mut written =
            results::write((&project, &judge), planned, &campaign, (&run.run_id, &same, which))?;
        written.left_out.extend(differing);
        all.push((run, written));
    }
    drop(reporter);
    let value = |(run, written): &(TestGenRun, Written)| {
        named(&project, &json!({ "run_id": run.run_id, "symbol": run.symbol, "written": written }))
    };
    let values: Vec<_> = all.iter().map(value).collect();
    session.screen.result("testgen-export", &json!({ "runs": values }), || {
        let one = |(run, written): &(TestGenRun, Written)| {
            format!("{} ({})\n{}", name(&project, &run.symbol), run.run_id, shown::written(written))
        };
        all.iter().map(one).collect()
    });
    Ok(ExitCode::Ok)
}

/// A run whose tests are to be written.
struct Wanted<'p> {
    run: TestGenRun,
    planned: &'p FunctionPlan,
    tests: Vec<RecordedTest>,
}

/// All runs to be written, read before anything is written. A run without tests is an error if it was named, else a
/// note.
fn with_tests<'p>(
    (project, store): (&'p Project, &Store),
    runs: Vec<TestGenRun>,
    (all, which): (bool, Which),
    reporter: &mut dyn Reporter,
) -> Result<Vec<Wanted<'p>>> {
    let mut wanted = Vec::new();
    for run in runs {
        let planned = project.planned.iter().find(|planned| planned.function.key == run.symbol);
        let planned = planned.ok_or_else(|| {
            let text = format!("{}: the library has no such function any more", run.symbol.0);
            Error::new(ErrorKind::Usage, text).help("cargo implfuzz testgen runs")
        })?;
        let tests = store.testgen_tests(&run.run_id)?;
        if tests.iter().any(|test| which.wants(test)) {
            wanted.push(Wanted { run, planned, tests });
            continue;
        }
        let text = format!("the run {} on {} has kept no test", run.run_id, planned.function.name);
        if !all {
            return Err(Error::new(ErrorKind::Usage, text).help("cargo implfuzz testgen runs"));
        }
        reporter.event(Event::Note { text: format!("{text}, and is left out") });
    }
    Ok(wanted)
}

fn runs(project: &Project, store: &Store, args: &Args) -> Result<Vec<TestGenRun>> {
    if let Some(id) = &args.run {
        let found = store.testgen_run(id)?;
        let none = || {
            Error::new(ErrorKind::Usage, format!("there is no run {id}")).help("cargo implfuzz testgen runs")
        };
        return Ok(vec![found.ok_or_else(none)?]);
    }
    let best = |name: &String| {
        let planned = project.find(name)?;
        store.best_testgen_run(&planned.function.key)?.ok_or_else(|| {
            Error::new(ErrorKind::Usage, format!("{name} has no tests yet"))
                .help(format!("cargo implfuzz testgen generate {name}"))
        })
    };
    if args.all {
        let bests = project.planned.iter().map(|planned| store.best_testgen_run(&planned.function.key));
        return Ok(bests.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect());
    }
    args.symbols.iter().map(best).collect()
}
