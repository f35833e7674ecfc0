//! The five kinds of tests, and which of them are asked for.

use crate::error::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// What a test is to show.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::Display,
    strum::IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum TestCategory {
    /// A port that does not do the work fails: recorded answers, a constant, an early return.
    AntiCheat,
    /// The function is there with C's ABI.
    Existence,
    /// Typical values over all parameters.
    Correctness,
    /// Extremes of each parameter, and the constants of branches, one to each side.
    Boundary,
    /// Sequences of calls, callees together, round trips.
    Integration,
}

impl TestCategory {
    /// All, in the order in which they are asked for where nobody says otherwise.
    pub const ALL: [Self; 5] =
        [Self::AntiCheat, Self::Existence, Self::Correctness, Self::Boundary, Self::Integration];

    /// One word, as in tables, JSON and the database.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// Whether a model is asked for its tests; those of the others the tool makes.
    pub fn is_asked(self) -> bool {
        self != Self::Existence
    }
}

impl FromStr for TestCategory {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let asked = text.trim().replace('-', "_");
        Self::ALL.into_iter().find(|category| category.word() == asked).ok_or_else(|| {
            let known = Self::ALL.map(Self::word).join(", ");
            Error::new(
                ErrorKind::Usage,
                format!("`{text}` is not a category of tests; the categories are {known}"),
            )
        })
    }
}

/// Who wants the tests, which decides the categories. One text in JSON and on the command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum TestGenContext {
    /// All categories.
    Benchmark,
    /// What a person at work wants to see.
    Commander,
    /// What a program that repairs code wants to see.
    MechaCoder,
    /// These, whatever their order and however often one is named.
    Custom(Vec<TestCategory>),
}

impl TestGenContext {
    /// The categories, each once, in the order of [`TestCategory::ALL`].
    pub fn categories(&self) -> Vec<TestCategory> {
        use TestCategory::{Boundary, Correctness, Existence};
        let wanted: &[TestCategory] = match self {
            Self::Benchmark => &TestCategory::ALL,
            Self::Commander => &[Existence, Correctness, Boundary],
            Self::MechaCoder => &[Correctness, Boundary],
            Self::Custom(categories) => categories,
        };
        TestCategory::ALL.into_iter().filter(|category| wanted.contains(category)).collect()
    }
}

impl fmt::Display for TestGenContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Benchmark => f.write_str("benchmark"),
            Self::Commander => f.write_str("commander"),
            Self::MechaCoder => f.write_str("mecha_coder"),
            Self::Custom(_) => {
                f.write_str(&self.categories().iter().map(|c| c.word()).collect::<Vec<_>>().join(","))
            }
        }
    }
}

impl FromStr for TestGenContext {
    type Err = Error;

    /// `benchmark`, `commander`, `mecha_coder`, or categories with commas between them.
    fn from_str(text: &str) -> Result<Self> {
        match text.trim().replace('-', "_").as_str() {
            "benchmark" => Ok(Self::Benchmark),
            "commander" => Ok(Self::Commander),
            "mecha_coder" | "mechacoder" => Ok(Self::MechaCoder),
            list => {
                let categories: Result<Vec<TestCategory>> = list.split(',').map(str::parse).collect();
                categories.map(Self::Custom).map_err(|error| {
                    error
                        .help("use benchmark, commander, mecha_coder, or categories with commas between them")
                })
            }
        }
    }
}

impl TryFrom<String> for TestGenContext {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<TestGenContext> for String {
    fn from(context: TestGenContext) -> Self {
        context.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TestCategory::*;

    #[test]
    fn a_category_has_one_word_everywhere() {
        for category in TestCategory::ALL {
            assert_eq!(serde_json::to_value(category).unwrap(), category.word());
            assert_eq!(category.word().parse::<TestCategory>().unwrap(), category);
            assert_eq!(serde_json::from_value::<TestCategory>(category.word().into()).unwrap(), category);
        }
        assert_eq!(" anti-cheat ".parse::<TestCategory>().unwrap(), AntiCheat);
        let error = "speed".parse::<TestCategory>().unwrap_err().to_string();
        assert!(error.contains("`speed`") && error.contains("boundary, integration"), "{error}");
        let mut sorted = TestCategory::ALL;
        sorted.sort();
        assert_eq!(sorted, TestCategory::ALL);
        let asked = TestCategory::ALL.map(TestCategory::is_asked);
        assert_eq!(asked, [true, false, true, true, true], "existence is a matter of compiling");
    }

    #[test]
    fn a_context_decides_the_categories() {
        for (text, wanted) in [
            ("benchmark", &TestCategory::ALL[..]),
            ("commander", &[Existence, Correctness, Boundary]),
            ("mecha_coder", &[Correctness, Boundary]),
            ("mecha-coder", &[Correctness, Boundary]),
            ("boundary", &[Boundary]),
            ("integration, anti-cheat,integration", &[AntiCheat, Integration]),
        ] {
            let context: TestGenContext = text.parse().unwrap();
            assert_eq!(context.categories(), wanted, "{text}");
            let back: TestGenContext =
                serde_json::from_value(serde_json::to_value(&context).unwrap()).unwrap();
            assert_eq!(back.categories(), wanted, "{text}");
        }
        let docs = include_str!("../../docs/testgen.md");
        for context in [TestGenContext::Benchmark, TestGenContext::Commander, TestGenContext::MechaCoder] {
            let categories = context.categories().iter().map(|c| c.word()).collect::<Vec<_>>().join(", ");
            assert!(docs.contains(&format!("\n| `{context}` | {categories} |\n")), "{context}");
        }
        for wrong in ["", "all", "boundary,", "benchmark,boundary"] {
            assert!(wrong.parse::<TestGenContext>().is_err(), "{wrong:?}");
        }
        assert_eq!(TestGenContext::Custom(vec![]).categories(), []);
    }
}
