//! Generated tests as they come, in words.

use super::Verbosity::{self, Normal, Quiet, Verbose};
use super::render::{BAD, FAINT, GOOD, printable};
use crate::testgen::{TestGenEvent, TestVerdict};

/// A line for an event, and who wants to see it.
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
            let id = printable(id);
            match verdict {
                TestVerdict::Valid { kills } => {
                    (Normal, format!("  {GOOD}valid{GOOD:#} {id} ({category}): kills {kills}"))
                }
                TestVerdict::Duplicate => {
                    (Verbose, format!("  {FAINT}there already{FAINT:#} {id} ({category})"))
                }
                TestVerdict::Dropped { why } => {
                    (Normal, format!("  {BAD}dropped{BAD:#} {id} ({category}): {}", printable(why)))
                }
            }
        }
        TestGenEvent::Reflection { text } => {
            let text = printable(text);
            let first: String = text.chars().take(160).collect();
            (Normal, format!("  {FAINT}reflection:{FAINT:#} {}", first.replace('\n', " ")))
        }
        TestGenEvent::Complete { run_id, score, tests, kept } => {
            let score = score.map_or("none".to_owned(), |score| score.to_string());
            (Normal, format!("{FAINT}run {run_id}:{FAINT:#} {tests} tests, {kept} kept, score {score}"))
        }
        TestGenEvent::Error { why } => (Quiet, format!("{BAD}stopped:{BAD:#} {}", printable(why))),
    }
}
