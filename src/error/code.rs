//! Stable codes of what a user can meet and act on: kinds of errors, problems of ports, classes of findings. Each code has
//! a page in `docs/errors/`.

use serde::Serialize;
use strum::{EnumIter, EnumString, IntoStaticStr};

/// A code. Its number never changes, and no other code ever gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, EnumIter, EnumString, IntoStaticStr)]
#[serde(into = "&'static str")]
#[strum(ascii_case_insensitive)]
pub enum Code {
    // Kinds of errors.
    #[strum(serialize = "E0001")]
    Environment,
    #[strum(serialize = "E0002")]
    Usage,
    #[strum(serialize = "E0003")]
    Config,
    #[strum(serialize = "E0004")]
    C,
    #[strum(serialize = "E0005")]
    Build,
    #[strum(serialize = "E0006")]
    Model,
    #[strum(serialize = "E0007")]
    Store,
    #[strum(serialize = "E0008")]
    Io,
    #[strum(serialize = "E0009")]
    Budget,
    #[strum(serialize = "E0010")]
    Internal,
    #[strum(serialize = "E0011")]
    Interrupted,
    // Problems of ports.
    #[strum(serialize = "E0101")]
    Unjudged,
    #[strum(serialize = "E0102")]
    Stale,
    #[strum(serialize = "E0103")]
    Stub,
    #[strum(serialize = "E0104")]
    Missing,
    #[strum(serialize = "E0105")]
    Refuted,
    #[strum(serialize = "E0106")]
    Audit,
    #[strum(serialize = "E0107")]
    BelowLeast,
    // Classes of findings about a port; some of them also of C faults.
    #[strum(serialize = "E0201")]
    Mismatch,
    #[strum(serialize = "E0202")]
    Panic,
    #[strum(serialize = "E0203")]
    Abort,
    #[strum(serialize = "E0204")]
    Timeout,
    #[strum(serialize = "E0205")]
    OutOfMemory,
    #[strum(serialize = "E0206")]
    OutOfBounds,
    #[strum(serialize = "E0207")]
    Leak,
    #[strum(serialize = "E0208")]
    SystemCall,
    #[strum(serialize = "E0209")]
    State,
    #[strum(serialize = "E0210")]
    SilentExit,
    // Classes of C faults alone.
    #[strum(serialize = "E0301")]
    Sanitizer,
    #[strum(serialize = "E0302")]
    NonDeterminism,
}

impl Code {
    /// The code itself, such as `E0102`.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// The heading of its page, without the code.
    pub fn title(self) -> &'static str {
        let heading = self.page().lines().next().unwrap_or_default();
        heading.split_once(": ").map_or(heading, |(_, title)| title)
    }

    /// What it means, with an example, and how to mend it, as Markdown.
    pub fn page(self) -> &'static str {
        match self {
            Self::Environment => include_str!("../../docs/errors/E0001.md"),
            Self::Usage => include_str!("../../docs/errors/E0002.md"),
            Self::Config => include_str!("../../docs/errors/E0003.md"),
            Self::C => include_str!("../../docs/errors/E0004.md"),
            Self::Build => include_str!("../../docs/errors/E0005.md"),
            Self::Model => include_str!("../../docs/errors/E0006.md"),
            Self::Store => include_str!("../../docs/errors/E0007.md"),
            Self::Io => include_str!("../../docs/errors/E0008.md"),
            Self::Budget => include_str!("../../docs/errors/E0009.md"),
            Self::Internal => include_str!("../../docs/errors/E0010.md"),
            Self::Interrupted => include_str!("../../docs/errors/E0011.md"),
            Self::Unjudged => include_str!("../../docs/errors/E0101.md"),
            Self::Stale => include_str!("../../docs/errors/E0102.md"),
            Self::Stub => include_str!("../../docs/errors/E0103.md"),
            Self::Missing => include_str!("../../docs/errors/E0104.md"),
            Self::Refuted => include_str!("../../docs/errors/E0105.md"),
            Self::Audit => include_str!("../../docs/errors/E0106.md"),
            Self::BelowLeast => include_str!("../../docs/errors/E0107.md"),
            Self::Mismatch => include_str!("../../docs/errors/E0201.md"),
            Self::Panic => include_str!("../../docs/errors/E0202.md"),
            Self::Abort => include_str!("../../docs/errors/E0203.md"),
            Self::Timeout => include_str!("../../docs/errors/E0204.md"),
            Self::OutOfMemory => include_str!("../../docs/errors/E0205.md"),
            Self::OutOfBounds => include_str!("../../docs/errors/E0206.md"),
            Self::Leak => include_str!("../../docs/errors/E0207.md"),
            Self::SystemCall => include_str!("../../docs/errors/E0208.md"),
            Self::State => include_str!("../../docs/errors/E0209.md"),
            Self::SilentExit => include_str!("../../docs/errors/E0210.md"),
            Self::Sanitizer => include_str!("../../docs/errors/E0301.md"),
            Self::NonDeterminism => include_str!("../../docs/errors/E0302.md"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use strum::IntoEnumIterator;

    #[test]
    fn each_code_has_a_page_of_its_own_that_names_it() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/errors");
        let files = fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let files: BTreeSet<String> = files.map(|name| name.into_string().unwrap()).collect();
        let mut known = BTreeSet::new();
        for code in Code::iter() {
            let word = code.word();
            let is_number = word[1..].parse::<u32>().is_ok();
            assert!(word.starts_with('E') && word.len() == 5 && is_number, "{word}");
            assert!(known.insert(format!("{word}.md")), "{word} is the code of two things");
            assert!(code.page().starts_with(&format!("# {word}: {}\n\n", code.title())), "{word}");
            assert!(code.page().contains("```console\n"), "{word} has no example");
            let others = Code::iter().filter(|other| *other != code && other.title() == code.title());
            assert_eq!(others.count(), 0, "{word}");
            assert_eq!(word.to_lowercase().parse(), Ok(code));
        }
        assert_eq!(known, files);
    }
}
