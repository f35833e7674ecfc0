//! A run of the generator as text.

use crate::report::one_line;
use crate::test_record::TestGenRun;
use crate::testgen::run::generate::Generated;
use crate::testgen::run::results::Written;
use crate::testgen::score::TestGenScore;
use std::fmt::Write;

/// Number of survivors and dropped inputs that are listed.
const LISTED: usize = 8;

/// A run after it was stored.
pub(super) struct StoredRun {
    pub(super) generated: Generated,
    /// The test files, if they were written.
    pub(super) written: Option<Written>,
}

/// One line.
pub(super) fn summary(run: &TestGenRun) -> String {
    let share =
        |share: Option<f64>| share.map_or("unmeasured".to_owned(), |share| format!("{:.0} %", share * 100.0));
    let score = run.score.map_or("no score".to_owned(), |score| format!("score {score}"));
    let (kills, branches) = (share(run.analysis.kill_rate), share(run.analysis.branch_coverage));
    format!("{score}: {} valid, {} kept, mutants {kills}, branches {branches}", run.proposed.valid, run.kept)
}

/// The result of a run in a few lines.
pub(super) fn kept(kept: &StoredRun) -> String {
    let StoredRun { generated, written } = kept;
    let run = &generated.run;
    let mut text = format!("{} ({}): {}\n", generated.symbol, run.run_id, summary(run));
    // Writing to a string never fails.
    _ = writeln!(text, "  score: {}", points(&generated.score));
    _ = writeln!(text, "  ended: {}", one_line(&generated.why));
    if let Some(why) = &generated.without_mutants {
        _ = writeln!(text, "  no mutants: {}", one_line(why));
    }
    let missed: Vec<&str> =
        generated.cheats.iter().filter(|cheat| !cheat.rejected).map(|cheat| cheat.name.as_str()).collect();
    let told = generated.cheats.len() - missed.len();
    let all = generated.cheats.len();
    let missed =
        if missed.is_empty() { String::new() } else { format!("; not detected: {}", missed.join(", ")) };
    _ = writeln!(text, "  cheats detected: {told} of {all}{missed}");
    list(&mut text, "survivors", generated.survivors.iter().map(|line| one_line(line).to_string()));
    let of_callees = generated.callee_survivors.iter().map(|line| one_line(line).to_string());
    list(&mut text, "survivors in callees", of_callees);
    let dropped = generated.suite.dropped.iter();
    list(&mut text, "dropped", dropped.map(|d| format!("{}: {}", one_line(&d.test.id), one_line(&d.why))));
    if let Some(of_run) = written {
        if of_run.run_id != run.run_id {
            _ = writeln!(
                text,
                "  the tests of {} stay, because they are at least as good; to write these: cargo implfuzz testgen export --run {}",
                of_run.run_id, run.run_id
            );
        }
        text += &self::written(of_run);
    }
    text
}

/// The files that were written for a run, and the tests left out.
pub(super) fn written(written: &Written) -> String {
    let mut text = String::new();
    let (tests, seeds) = (written.tests.len(), written.seeds);
    // Writing to a string never fails.
    _ = match (&written.file, &written.removed) {
        (Some(file), _) => writeln!(text, "  wrote {file} ({tests} tests), {seeds} new seeds"),
        (None, Some(file)) => writeln!(text, "  removed {file}, no test is left for it; {seeds} new seeds"),
        (None, None) => writeln!(text, "  no test file; {seeds} new seeds"),
    };
    let left_out = written.left_out.iter();
    list(
        &mut text,
        "not written as Rust",
        left_out.map(|(id, why)| format!("{}: {}", one_line(id), one_line(why))),
    );
    text
}

fn points(score: &TestGenScore) -> String {
    let part = |points: Option<f64>| points.map_or("unmeasured".to_owned(), |points| format!("{points:.0}"));
    format!(
        "{} = {} tests + {} balance + {} cheats + {} tokens",
        score.total.map_or("none".to_owned(), |total| total.to_string()),
        part(score.comprehensiveness),
        part(score.category_balance),
        part(score.anti_cheat_coverage),
        part(score.token_efficiency),
    )
}

fn list(text: &mut String, title: &str, lines: impl ExactSizeIterator<Item = String>) {
    let all = lines.len();
    if all == 0 {
        return;
    }
    _ = writeln!(text, "  {title}: {all}");
    lines.take(LISTED).for_each(|line| _ = writeln!(text, "    {line}"));
    if all > LISTED {
        _ = writeln!(text, "    …");
    }
}
