//! The rules that a port can violate: their ids, which alerts of a CI server are kept under, and what they mean.

use crate::evidence::status::Trouble;

/// Why a port does not pass. An id that was published once keeps its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Rule {
    Refuted,
    Audit,
    Stub,
    Missing,
    Stale,
    Unjudged,
    BelowLeast,
    Unverifiable,
    CFault,
}

impl From<Trouble> for Rule {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Refuted => Self::Refuted,
            Trouble::Audit => Self::Audit,
            Trouble::Stub => Self::Stub,
            Trouble::Missing => Self::Missing,
            Trouble::Stale => Self::Stale,
            Trouble::Unjudged => Self::Unjudged,
            Trouble::BelowLeast => Self::BelowLeast,
        }
    }
}

impl Rule {
    /// The id; for a trouble, its word in the JSON of `check`.
    pub fn id(self) -> &'static str {
        self.into()
    }

    /// In one sentence.
    pub(super) fn sentence(self) -> &'static str {
        match self {
            Self::Refuted => "The port differs from the C original.",
            Self::Audit => "The audit rejects the port.",
            Self::Stub => "The function is a stub.",
            Self::Missing => "The port does not exist any more.",
            Self::Stale => "The evidence does not fit the tree.",
            Self::Unjudged => "No run has judged the port.",
            Self::BelowLeast => "The grade of the port is too low.",
            Self::Unverifiable => "The port could not be judged.",
            Self::CFault => "The C original crashes, hangs or disagrees with itself.",
        }
    }

    /// What it means, and what to do.
    pub(super) fn explanation(self) -> &'static str {
        match self {
            Self::Refuted => {
                "An input shows a difference between the port and the C original, or the linkage proof rejects it. \
                 Correct the port, then run `cargo implfuzz verify` on it."
            }
            Self::Audit => {
                "The Rust text has something that a port must not contain, such as a placeholder, `extern`, \
                 assembly, or a way to C, to state or to the system. Correct it, then run `cargo implfuzz verify` \
                 on it."
            }
            Self::Stub => {
                "Its Rust body is a stub. If it was ported before, write the port again; if it is to stay a stub, \
                 `cargo implfuzz verify` on it removes the old evidence."
            }
            Self::Missing => {
                "implfuzz.lock lists the function as ported, but the crate does not have it. \
                 `cargo implfuzz init` brings the stub back; then run `cargo implfuzz verify --stale`."
            }
            Self::Stale => {
                "Something that the verdict depends on has changed since the port was judged, such as the C text, \
                 the contract or the Rust text. Run `cargo implfuzz verify --stale` and commit implfuzz.lock."
            }
            Self::Unjudged => {
                "implfuzz.lock has no evidence for the port. Run `cargo implfuzz verify --stale` and commit \
                 implfuzz.lock."
            }
            Self::BelowLeast => {
                "No input shows a difference, but the grade lacks something. `cargo implfuzz status` shows what; \
                 `check.least` and `grade.least` in implfuzz.toml set the lowest accepted grade."
            }
            Self::Unverifiable => {
                "Neither a harness nor a driver could judge the port. `cargo implfuzz contract` shows how the \
                 function may be called; a contract, a fuzz target or a driver can make it possible to judge it."
            }
            Self::CFault => {
                "On an input that the contract allows, C itself fails, so that the port could not be judged: a bug \
                 in C or a missing precondition. The port is not to blame. `cargo implfuzz findings list --c-bugs` \
                 shows the input."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strum::VariantArray;

    #[test]
    fn the_ids_never_change() {
        let ids: Vec<&str> = Rule::VARIANTS.iter().map(|rule| rule.id()).collect();
        let published = [
            "refuted", "audit", "stub", "missing", "stale", "unjudged", "below-least", "unverifiable",
            "c-fault",
        ];
        assert_eq!(ids, published);
    }

    #[test]
    fn every_rule_is_documented() {
        let page = include_str!("../../../docs/ci.md");
        let table = page.split_once("\n### Rules\n").unwrap().1.split("\n#").next().unwrap();
        let rows = table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        assert_eq!(rows.collect::<Vec<_>>(), Rule::VARIANTS.iter().map(|rule| rule.id()).collect::<Vec<_>>());
    }

    #[test]
    fn a_trouble_has_the_same_word_everywhere() {
        for trouble in [Trouble::BelowLeast, Trouble::Unjudged, Trouble::Stale, Trouble::Stub] {
            assert_eq!(Rule::from(trouble).id(), trouble.word());
        }
        for trouble in [Trouble::Missing, Trouble::Refuted, Trouble::Audit] {
            assert_eq!(Rule::from(trouble).id(), trouble.word());
        }
    }
}
