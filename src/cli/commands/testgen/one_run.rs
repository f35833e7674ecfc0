//! Shows one TestGen run in full.

use super::{name, named};
use crate::cli::session::Session;
use crate::cli::tables::cells::{UNMEASURED, date, in_seconds, known, mean, number, share};
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::project::Project;
use crate::report::{Table, cell, one_line, printable};
use crate::test_record::{RecordedTest, RunId, TestGenConfigChange, TestGenRun};
use crate::testgen::score::TestGenScore;
use serde_json::{Value, json};

/// Shows the run with this id.
///
/// Errors (`Usage`): the id is malformed, or there is no such run.
pub(super) fn show(session: &Session, id: &str) -> Result<ExitCode> {
    let id: RunId = id.parse()?;
    let (project, store) = session.look()?;
    let run = store.testgen_run(&id)?.ok_or_else(|| {
        Error::new(ErrorKind::Usage, format!("there is no TestGen run {id}"))
            .help("`cargo implfuzz testgen runs` lists the runs")
    })?;
    let tests = store.testgen_tests(&id)?;
    let score = TestGenScore::of(&run.analysis);
    let config = store.testgen_config(run.config)?;
    let version = config.as_ref().map(|row| row.config.version.as_str());
    let value =
        json!({ "run": named(&project, &run), "config_version": version, "score": score, "tests": tests });
    session.screen.result("testgen-run", &value, || {
        let mut text = head(&project, &run, version.unwrap_or(UNMEASURED));
        text += &format!("\n{}\n{}", points(&run, &score), measured(&run));
        text += &run.proposed_change.as_ref().map(|change| proposed(&run, change)).unwrap_or_default();
        text + "\n" + &cases(&tests)
    });
    Ok(ExitCode::Ok)
}

fn head(project: &Project, run: &TestGenRun, version: &str) -> String {
    let best = if run.is_best { ", the best one of this function" } else { "" };
    let kind = run.task_type.as_deref().unwrap_or(UNMEASURED);
    let (proposed, millis) = (run.proposed, run.duration_ms as f64);
    format!(
        "{} on {}, {} UTC{best}\nconfiguration: {} ({}); context: {}; kind of function: {}\n\
         rounds: {}; reflections: {}; tokens: {}; seconds: {}\n\
         tests: {} valid, {} dropped, {} duplicate; {} kept\n",
        run.run_id,
        printable(&name(project, &run.symbol)),
        date(run.created_at),
        run.config.0,
        printable(version),
        run.context,
        printable(kind),
        run.rounds,
        run.reflections,
        run.tokens,
        in_seconds(Some(millis)),
        proposed.valid,
        proposed.dropped,
        proposed.duplicates,
        run.kept,
    )
}

/// The score and its components.
fn points(run: &TestGenRun, score: &TestGenScore) -> String {
    let part = |name: &str, points: Option<f64>, most: u32| (format!("  {name}"), mean(points), most);
    let parts = [
        part("comprehensiveness", score.comprehensiveness, 400),
        part("balance", score.category_balance, 200),
        part("anti-cheat", score.anti_cheat_coverage, 200),
        part("efficiency", score.token_efficiency, 200),
        ("in total".into(), number(run.score), 1_000),
    ];
    let table = Table::of(parts)
        .left("score", |(name, ..)| name.clone())
        .right("", |(_, points, _)| points.clone())
        .left("", |(.., most)| format!("of {most}"));
    let missing = match score.unmeasured.as_slice() {
        [] => String::new(),
        names => format!("no score, because this was not measured: {}\n", names.join(", ")),
    };
    table.text() + &missing
}

/// The measurements.
fn measured(run: &TestGenRun) -> String {
    let analysis = &run.analysis;
    let distribution: Vec<String> = analysis
        .category_distribution
        .iter()
        .map(|(category, count)| format!("{category} {count}"))
        .collect();
    let rows = [
        ("comprehensiveness (0 to 10)", analysis.comprehensiveness),
        ("mutants of C killed", analysis.kill_rate),
        ("mutants of callees killed", analysis.callee_kill_rate),
        ("branches of C reached", analysis.branch_coverage),
        ("balance of categories", Some(analysis.category_balance)),
        ("planted cheats rejected", analysis.anti_cheat_coverage),
        ("parameters discovered", analysis.parameter_discovery),
        ("effect of reflections", analysis.reflection_effectiveness),
        ("token efficiency", analysis.token_efficiency),
        ("valid proposals", analysis.valid_share),
        ("duplicate proposals", analysis.duplicate_share),
        ("predictions that agree with C", analysis.prediction_agreement),
        ("Brier score of confidence", analysis.brier_score),
        ("the model's own assessment (0 to 10)", run.self_assessment),
    ];
    let table = Table::of(rows)
        .left("measured", |(name, _)| format!("  {name}"))
        .right("", |(_, value)| share(*value));
    format!("{}valid tests: {}\n", table.text(), distribution.join(", "))
}

fn proposed(run: &TestGenRun, change: &TestGenConfigChange) -> String {
    let who = run.meta_model.as_deref().unwrap_or("a model");
    let end = match run.change_accepted {
        Some(true) => "accepted",
        Some(false) => "not accepted",
        None => "not decided",
    };
    let (kind, why) = (change.kind.word(), one_line(&change.reasoning));
    format!("\nchange proposed by {} after this run, {end}: {kind}: {why}\n", one_line(who))
}

fn cases(tests: &[RecordedTest]) -> String {
    if tests.is_empty() {
        return "no tests\n".into();
    }
    let end = |test: &RecordedTest| match (&test.dropped, test.kept) {
        (Some(why), _) => format!("dropped: {}", one_line(why)),
        (None, true) => "kept".into(),
        (None, false) => "valid, not kept".into(),
    };
    let json = |value: &Value| cell(&printable(&value.to_string()));
    let count = |names: &Vec<String>| names.len().to_string();
    Table::of(tests)
        .left("category", |recorded| recorded.test.category.to_string())
        .left("test", |recorded| one_line(&recorded.test.id))
        .left("input", |recorded| json(&recorded.test.input))
        .left("what C left", |recorded| known(recorded.test.expected_output.as_ref(), json))
        .right("kills", |recorded| known(recorded.kills.as_ref(), count))
        .right("cheats", |recorded| known(recorded.cheats.as_ref(), count))
        .left("end", |recorded| end(recorded))
        .text()
}
