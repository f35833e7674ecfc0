//! Reads what a model answers to the question for a driver.

use crate::llm::{Blocks, Label, Reply};
use crate::port::proposals::{gist, is_complete};
use serde::Deserialize;

/// The meaning of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    Driver(String),
    /// The driver is right, and C breaks: places in C's text.
    CIsWrong(Vec<String>),
    /// There can be no driver, in the model's words.
    Never(String),
    Unusable(String),
}

/// The block of a reply that says who is wrong.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Verdict {
    wrong: Side,
    #[serde(default)]
    evidence: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Side {
    C,
    Driver,
}

/// Reads a reply; where C breaks on an input of the last driver, it may say who is wrong.
pub(super) fn read(reply: &Reply, breaks: bool) -> Answer {
    if !is_complete(reply) {
        return Answer::Unusable("The reply was not complete.".into());
    }
    read_text(&reply.text, breaks)
}

fn read_text(text: &str, breaks: bool) -> Answer {
    match Blocks::parse(text, &[Label::Driver]) {
        Ok(Blocks { driver: Some(text), .. }) => Answer::Driver(text),
        Ok(_) => Answer::Unusable("The reply has no driver.".into()),
        Err(problem) => match Blocks::parse(text, &[]) {
            Ok(Blocks { verdict: Some(verdict), .. }) if breaks => who_is_wrong(&verdict),
            Ok(Blocks { notes: Some(notes), .. }) => Answer::Never(gist(&notes)),
            _ => Answer::Unusable(problem.to_string()),
        },
    }
}

fn who_is_wrong(verdict: &str) -> Answer {
    let is_place = |text: &String| text.rsplit_once(':').is_some_and(|(_, line)| line.parse::<u32>().is_ok());
    match toml::from_str::<Verdict>(verdict) {
        Ok(Verdict { wrong: Side::Driver, .. }) => {
            Answer::Unusable("If the driver is wrong, answer with a better one.".into())
        }
        Ok(Verdict { wrong: Side::C, evidence }) if evidence.iter().any(is_place) => {
            Answer::CIsWrong(evidence)
        }
        Ok(_) => Answer::Unusable("`evidence` names no place of the text, as in [\"file.c:12\"].".into()),
        Err(error) => Answer::Unusable(format!("The verdict cannot be read: {}", error.message())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRIVER: &str = "int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { return 0; }\n";

    #[test]
    fn a_reply_has_a_driver_or_a_verdict_or_a_reason() {
        let driver = format!("```c driver\n{DRIVER}```");
        assert_eq!(read_text(&driver, false), Answer::Driver(DRIVER.into()));
        let never = "```text notes\nIt needs a terminal.\n```";
        assert_eq!(read_text(never, false), Answer::Never("It needs a terminal.".into()));
        let verdict = "```toml verdict\nwrong = \"c\"\nevidence = [\"src/a.c:7\"]\n```";
        assert_eq!(read_text(verdict, true), Answer::CIsWrong(vec!["src/a.c:7".into()]));
        for (text, breaks) in [
            (verdict, false),
            ("```toml verdict\nwrong = \"c\"\n```", true),
            ("```toml verdict\nwrong = \"driver\"\n```", true),
            ("```toml verdict\nwrong = \"me\"\n```", true),
            ("Sorry.", true),
        ] {
            assert!(matches!(read_text(text, breaks), Answer::Unusable(_)), "{text}");
        }
    }
}
