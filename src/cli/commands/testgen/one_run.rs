//! Shows one TestGen run in full.

use super::cells::{UNMEASURED, count, date, known, mean, seconds, share};
use super::{Session, name, named};
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::project::Project;
use crate::report::{Column, cell, one_line, printable, table};
use crate::test_record::{RecordedTest, RunId, TestGenConfigChange, TestGenRun};
use crate::testgen::score::TestGenScore;
use serde_json::json;

/// Shows the run with this id.
///
/// Errors (`Usage`): the id is malformed, or there is no such run.
pub(super) fn show(session: &Session, id: &str) -> Result<ExitCode> {
    let id: RunId = id.parse()?;
    let project = Project::look(&session.options, &session.interrupt)?;
    let store = session.store(&project)?;
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
        seconds(Some(millis)),
        proposed.valid,
        proposed.dropped,
        proposed.duplicates,
        run.kept,
    )
}

/// The score and its components.
fn points(run: &TestGenRun, score: &TestGenScore) -> String {
    let columns = [Column::left("score"), Column::right(""), Column::left("")];
    let row = |name: &str, points: Option<f64>, most: u32| {
        vec![format!("  {name}"), mean(points), format!("of {most}")]
    };
    let rows = [
        row("comprehensiveness", score.comprehensiveness, 400),
        row("balance", score.category_balance, 200),
        row("anti-cheat", score.anti_cheat_coverage, 200),
        row("efficiency", score.token_efficiency, 200),
        vec!["in total".into(), count(run.score), "of 1000".into()],
    ];
    let missing = match score.unmeasured.as_slice() {
        [] => String::new(),
        names => format!("no score, because this was not measured: {}\n", names.join(", ")),
    };
    table(&columns, &rows, None) + &missing
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
    let rows = rows.map(|(name, value)| vec![format!("  {name}"), share(value)]);
    let text = table(&[Column::left("measured"), Column::right("")], &rows, None);
    format!("{text}valid tests: {}\n", distribution.join(", "))
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
    let columns = [
        Column::left("category"),
        Column::left("test"),
        Column::left("input"),
        Column::left("what C left"),
        Column::right("kills"),
        Column::right("cheats"),
        Column::left("end"),
    ];
    let row = |recorded: &RecordedTest| {
        let test = &recorded.test;
        let end = match (&recorded.dropped, recorded.kept) {
            (Some(why), _) => format!("dropped: {}", one_line(why)),
            (None, true) => "kept".into(),
            (None, false) => "valid, not kept".into(),
        };
        vec![
            test.category.to_string(),
            one_line(&test.id),
            cell(&printable(&test.input.to_string())),
            known(test.expected_output.as_ref(), |left| cell(&printable(&left.to_string()))),
            known(recorded.kills.as_ref(), |kills| kills.len().to_string()),
            known(recorded.cheats.as_ref(), |cheats| cheats.len().to_string()),
            end,
        ]
    };
    table(&columns, &tests.iter().map(row).collect::<Vec<_>>(), None)
}
