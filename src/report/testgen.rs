//! Progress messages of TestGen.

use super::Verbosity::{self, Normal, Quiet, Verbose};
use super::printable::printable;
use super::text::{BAD, FAINT, GOOD};
use crate::test_record::{EvolutionRound, TestGenEvent, TestVerdict};

/// A model's text in one line, so that its line breaks cannot imitate lines of this tool.
pub fn one_line(text: &str) -> String {
    printable(&text.replace(['\n', '\r'], " "))
}

/// The line for an event, and the verbosity from which it is shown.
pub(super) fn line(event: &TestGenEvent) -> (Verbosity, String) {
    match event {
        TestGenEvent::Start { run_id, config, categories } => {
            let words: Vec<&str> = categories.iter().map(|category| category.word()).collect();
            (Normal, format!("{FAINT}run {run_id}, configuration {config}:{FAINT:#} {}", words.join(", ")))
        }
        TestGenEvent::Progress { category, round, total_rounds, refinement } => {
            let what = if *refinement { "refinement" } else { "round" };
            (Normal, format!("{FAINT}{total_rounds}.{FAINT:#} asking for {category} tests, {what} {round}"))
        }
        TestGenEvent::Test { id, category, verdict } => {
            let id = one_line(id);
            match verdict {
                TestVerdict::Valid { kills } => {
                    (Normal, format!("  {GOOD}valid{GOOD:#} {id} ({category}): kills {kills}"))
                }
                TestVerdict::Duplicate => (Verbose, format!("  {FAINT}duplicate{FAINT:#} {id} ({category})")),
                TestVerdict::Dropped { why } => {
                    (Normal, format!("  {BAD}dropped{BAD:#} {id} ({category}): {}", one_line(why)))
                }
            }
        }
        TestGenEvent::Reflection { text } => {
            let first: String = one_line(text).chars().take(160).collect();
            (Normal, format!("  {FAINT}reflection:{FAINT:#} {first}"))
        }
        TestGenEvent::Complete { run_id, score, tests, kept } => {
            let score = score.map_or("none".to_owned(), |score| score.to_string());
            (Normal, format!("{FAINT}run {run_id}:{FAINT:#} {tests} tests, {kept} kept, score {score}"))
        }
        TestGenEvent::Error { why } => (Quiet, format!("{BAD}stopped:{BAD:#} {}", one_line(why))),
    }
}

/// The line for a round of evolution.
pub(super) fn evolved(round: &EvolutionRound, rounds: u32) -> String {
    let to = round.to.as_ref().map_or(String::new(), |to| format!(" → {}", to.version));
    let (style, word) = match (round.accepted, &round.violation, &round.to) {
        (true, ..) => (GOOD, "accepted"),
        (false, Some(_), _) => (BAD, "against the guardrails"),
        (false, None, Some(_)) => (BAD, "reverted"),
        (false, None, None) => (FAINT, "kept"),
    };
    let (kind, reason) = (round.change.kind.word(), one_line(&round.reason));
    let (number, from) = (round.round, &round.from.version);
    format!("[{number}/{rounds}] {kind}, {from}{to}: {style}{word}{style:#}: {reason}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_record::{ConfigId, ConfigRef, GuardrailViolation, TestGenConfigChange};

    #[test]
    fn an_event_is_told_in_one_line() {
        let category = crate::test_record::TestCategory::Boundary;
        let text = || "a\nvalid b\rc".to_owned();
        let dropped = TestVerdict::Dropped { why: text() };
        for (event, wanted) in [
            (
                TestGenEvent::Test { id: text(), category, verdict: dropped },
                "  dropped a valid b c (boundary): a valid b c",
            ),
            (TestGenEvent::Reflection { text: text() }, "  reflection: a valid b c"),
            (TestGenEvent::Error { why: text() }, "stopped: a valid b c"),
        ] {
            assert_eq!(anstream::adapter::strip_str(&line(&event).1).to_string(), wanted);
        }
    }

    #[test]
    fn a_round_is_told_in_one_line() {
        let named = |id, version: &str| ConfigRef { id: ConfigId(id), version: version.into() };
        let kept = EvolutionRound {
            round: 1,
            model: "a model".into(),
            change: TestGenConfigChange::keep("it is good"),
            violation: None,
            from: named(1, "1.0.0"),
            to: None,
            scores: vec![],
            mean_gain: None,
            lower_bound: None,
            quality_delta: None,
            accepted: false,
            reason: "it is\r\ngood\u{1b}".into(),
        };
        let told = |round: &EvolutionRound| anstream::adapter::strip_str(&evolved(round, 3)).to_string();
        assert_eq!(told(&kept), "[1/3] keep, 1.0.0: kept: it is  good\\u{1b}");
        let reverted =
            EvolutionRound { to: Some(named(2, "1.0.1")), reason: "no gain".into(), ..kept.clone() };
        assert_eq!(told(&reverted), "[1/3] keep, 1.0.0 → 1.0.1: reverted: no gain");
        let accepted = EvolutionRound { accepted: true, ..reverted.clone() };
        assert!(told(&accepted).contains("accepted"));
        let violation = Some(GuardrailViolation { reasons: vec![] });
        assert!(told(&EvolutionRound { violation, ..kept }).contains("against the guardrails"));
    }
}
