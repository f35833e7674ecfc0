//! What decides how tests are generated, every knob with its meaning.

use super::category::{TestCategory, TestGenContext};
use super::default_prompts::{self, MOST_PROMPT_CHARS};
use crate::digest::sha256;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Number of a configuration in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConfigId(pub i64);

/// Who is asked. Each stands for a provider profile of `implfuzz.toml`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, strum::IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ModelType {
    Local,
    Claude,
}

impl ModelType {
    /// One word, as in tables, JSON and the database.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// A configuration, complete: prompts that nobody has changed are written out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestGenConfig {
    /// Three numbers; an accepted change raises the last one.
    pub version: String,
    /// Of the model, 0 to 2. Absent: the provider's own, since some refuse to be told.
    pub temperature: Option<f64>,
    /// Tokens of one answer, at most.
    pub max_tokens: u32,
    /// Valid tests that each category should have, and should not have more of. See [`TestGenConfig::wanted`].
    pub min_tests_per_category: u32,
    pub max_tests_per_category: u32,
    /// Times that the model is asked for tests of one category.
    pub max_rounds_per_category: u32,
    /// 0 to 1: how much of the files and callers around the function a prompt carries.
    pub environment_weight: f64,
    /// 0 to 1: how many tests there are of category `AntiCheat`, between the least and the most.
    pub anti_cheat_weight: f64,
    /// 0 to 1: how many tests there are of category `Boundary`, between the least and the most.
    pub precision_weight: f64,
    /// All categories, in the order in which they are asked for.
    pub category_order: Vec<TestCategory>,
    /// What is demanded of the tests of each category that a model is asked for.
    pub category_prompts: BTreeMap<TestCategory, String>,
    /// Which shortcuts of ports the tests are to find out.
    pub anti_cheat_prompt: String,
    /// What the model is asked after a round that left mutants or branches.
    pub reflection_prompt: String,
    /// Who proposes tests.
    pub primary_model: ModelType,
    /// Who reflects, and proposes changes of the configuration.
    pub reflection_model: ModelType,
    /// 0 to 10. Below the least a run has not passed, and goes on when it has `target_total_tests`; from the target on there is
    /// nothing to refine.
    pub min_comprehensiveness: f64,
    pub target_comprehensiveness: f64,
    /// Valid tests of a run. Below the least refinement goes on; at the target generation ends, but for a run that is known to be
    /// below `min_comprehensiveness`.
    pub min_total_tests: u32,
    pub target_total_tests: u32,
    /// Rounds of all categories and refinements together.
    pub max_total_rounds: u32,
    /// Tokens of all calls of a run, input and output. The answer that goes over it is used, then generation ends.
    pub max_total_tokens: u64,
    /// Wall time of a run, from the first question on.
    pub max_total_seconds: u64,
    /// Whether rounds are aimed at the largest gap after all categories had theirs.
    pub global_refinement: bool,
    /// How many of them.
    pub global_refinement_rounds: u32,
}

impl Default for TestGenConfig {
    fn default() -> Self {
        let prompt = |category| Some((category, default_prompts::of_category(category)?.to_owned()));
        Self {
            version: "1.0.0".into(),
            temperature: None,
            max_tokens: 2_048,
            min_tests_per_category: 2,
            max_tests_per_category: 5,
            max_rounds_per_category: 3,
            environment_weight: 0.7,
            anti_cheat_weight: 0.8,
            precision_weight: 0.6,
            category_order: TestCategory::ALL.to_vec(),
            category_prompts: TestCategory::ALL.into_iter().filter_map(prompt).collect(),
            anti_cheat_prompt: default_prompts::ANTI_CHEAT.into(),
            reflection_prompt: default_prompts::REFLECTION.into(),
            primary_model: ModelType::Local,
            reflection_model: ModelType::Local,
            min_comprehensiveness: 7.0,
            target_comprehensiveness: 8.5,
            min_total_tests: 15,
            target_total_tests: 30,
            max_total_rounds: 12,
            max_total_tokens: 100_000,
            max_total_seconds: 180,
            global_refinement: true,
            global_refinement_rounds: 2,
        }
    }
}

impl TestGenConfig {
    /// What makes two configurations the same: SHA-256 of their JSON, keys sorted, without spaces. The number in the store,
    /// the date and whether it is current are not in it; the version is.
    pub fn config_hash(&self) -> String {
        // The store knows one zero.
        let plain = |number: f64| number + 0.0;
        let config = Self {
            temperature: self.temperature.map(plain),
            environment_weight: plain(self.environment_weight),
            anti_cheat_weight: plain(self.anti_cheat_weight),
            precision_weight: plain(self.precision_weight),
            min_comprehensiveness: plain(self.min_comprehensiveness),
            target_comprehensiveness: plain(self.target_comprehensiveness),
            ..self.clone()
        };
        let mut value = serde_json::to_value(config).expect("numbers and texts have a form in JSON");
        value.sort_all_objects();
        sha256(value.to_string())
    }

    /// The categories of a context in this configuration's order.
    pub fn ordered(&self, context: &TestGenContext) -> Vec<TestCategory> {
        let wanted = context.categories();
        self.category_order.iter().copied().filter(|category| wanted.contains(category)).collect()
    }

    /// How many valid tests of a category are enough: of `AntiCheat` and `Boundary` as many as their weights say, of the
    /// others the most.
    pub fn wanted(&self, category: TestCategory) -> usize {
        let (least, most) = (self.min_tests_per_category as usize, self.max_tests_per_category as usize);
        match category {
            TestCategory::AntiCheat => by_weight(self.anti_cheat_weight, least, most),
            TestCategory::Boundary => by_weight(self.precision_weight, least, most),
            TestCategory::Existence | TestCategory::Correctness | TestCategory::Integration => most,
        }
    }

    /// The demand on a category's tests; empty where nobody is asked for them.
    pub fn prompt(&self, category: TestCategory) -> &str {
        let own = self.category_prompts.get(&category).map(String::as_str);
        own.or(default_prompts::of_category(category)).unwrap_or_default()
    }

    /// Everything that is wrong with it, in words; empty when it can be used.
    pub fn problems(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut check = |holds: bool, text: String| {
            if !holds {
                wrong.push(text);
            }
        };
        let within = |value: f64, most: f64| (0.0..=most).contains(&value);
        check(version(&self.version).is_some(), format!("version `{}` is not three numbers", self.version));
        if let Some(temperature) = self.temperature {
            check(within(temperature, 2.0), format!("temperature {temperature} is not between 0 and 2"));
        }
        for (name, weight) in [
            ("environment_weight", self.environment_weight),
            ("anti_cheat_weight", self.anti_cheat_weight),
            ("precision_weight", self.precision_weight),
        ] {
            check(within(weight, 1.0), format!("{name} {weight} is not between 0 and 1"));
        }
        for (name, value) in [
            ("min_comprehensiveness", self.min_comprehensiveness),
            ("target_comprehensiveness", self.target_comprehensiveness),
        ] {
            check(within(value, 10.0), format!("{name} {value} is not between 0 and 10"));
        }
        let least = self.min_tests_per_category;
        check(least >= 2, format!("min_tests_per_category {least} is below 2"));
        for (name, least, most) in [
            ("tests_per_category", f64::from(least), f64::from(self.max_tests_per_category)),
            ("comprehensiveness", self.min_comprehensiveness, self.target_comprehensiveness),
            ("total_tests", self.min_total_tests.into(), self.target_total_tests.into()),
        ] {
            check(
                most >= least,
                format!("{name}: the maximum or target {most} is below the minimum {least}"),
            );
        }
        for (name, value) in [
            ("max_tokens", u64::from(self.max_tokens)),
            ("max_rounds_per_category", self.max_rounds_per_category.into()),
            ("target_total_tests", self.target_total_tests.into()),
            ("max_total_rounds", self.max_total_rounds.into()),
            ("max_total_tokens", self.max_total_tokens),
            ("max_total_seconds", self.max_total_seconds),
        ] {
            check(value > 0, format!("{name} is 0"));
            // The store's integers have a sign.
            check(i64::try_from(value).is_ok(), format!("{name} {value} is more than {}", i64::MAX));
        }
        let named: BTreeSet<_> = self.category_order.iter().collect();
        let is_whole = named.len() == TestCategory::ALL.len() && self.category_order.len() == named.len();
        check(is_whole, "category_order does not name each of the five categories once".into());
        for (name, prompt) in self.all_prompts() {
            let length = prompt.chars().count();
            check(!prompt.trim().is_empty(), format!("{name} is empty"));
            check(
                length <= MOST_PROMPT_CHARS,
                format!("{name} has {length} characters; the limit is {MOST_PROMPT_CHARS}"),
            );
        }
        wrong
    }

    /// Every prompt with the name of its field.
    fn all_prompts(&self) -> impl Iterator<Item = (String, &String)> {
        let of_categories = self.category_prompts.iter();
        let of_categories =
            of_categories.map(|(category, text)| (format!("category_prompts.{category}"), text));
        of_categories.chain([
            ("anti_cheat_prompt".into(), &self.anti_cheat_prompt),
            ("reflection_prompt".into(), &self.reflection_prompt),
        ])
    }
}

/// The three numbers of a version.
pub(crate) fn version(text: &str) -> Option<[u64; 3]> {
    let numbers: Option<Vec<u64>> = text.split('.').map(|part| part.parse().ok()).collect();
    numbers?.try_into().ok()
}

/// A weight from 0 to 1 as a count: `least + round(weight × (most − least))`.
pub fn by_weight(weight: f64, least: usize, most: usize) -> usize {
    let room = most.saturating_sub(least);
    least + (weight.clamp(0.0, 1.0) * room as f64).round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use TestCategory::*;

    #[test]
    fn the_defaults_are_those_of_the_documentation_and_hold() {
        let config = TestGenConfig::default();
        assert_eq!(config.problems(), [""; 0]);
        let value = serde_json::to_value(&config).unwrap();
        for (name, wanted) in [
            ("version", serde_json::json!("1.0.0")),
            ("temperature", serde_json::json!(null)),
            ("max_tokens", 2048.into()),
            ("min_tests_per_category", 2.into()),
            ("max_tests_per_category", 5.into()),
            ("max_rounds_per_category", 3.into()),
            ("environment_weight", 0.7.into()),
            ("anti_cheat_weight", 0.8.into()),
            ("precision_weight", 0.6.into()),
            ("min_comprehensiveness", 7.0.into()),
            ("target_comprehensiveness", 8.5.into()),
            ("min_total_tests", 15.into()),
            ("target_total_tests", 30.into()),
            ("max_total_rounds", 12.into()),
            ("max_total_tokens", 100_000.into()),
            ("max_total_seconds", 180.into()),
            ("global_refinement", true.into()),
            ("global_refinement_rounds", 2.into()),
        ] {
            assert_eq!(value[name], wanted, "{name}");
        }
        assert_eq!(serde_json::from_value::<TestGenConfig>(value).unwrap(), config);
    }

    #[test]
    fn every_key_is_documented_with_its_default() {
        let docs = include_str!("../../docs/testgen.md");
        let (_, table) = docs.split_once("## The configuration\n").unwrap();
        let (table, _) = table.split_once("\n## ").unwrap();
        let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
        let rows: Vec<(&str, &str)> = rows
            .map(|row| {
                let (key, rest) = row.split_once("` | ").unwrap();
                (key, rest.split_once(" | ").unwrap().0)
            })
            .collect();
        let value = serde_json::to_value(TestGenConfig::default()).unwrap();
        let fields = value.as_object().unwrap();
        assert_eq!(rows.iter().map(|(key, _)| *key).collect::<Vec<_>>(), fields.keys().collect::<Vec<_>>());
        for (key, said) in rows {
            let wanted = match key {
                "category_prompts" => "a text for each".to_owned(),
                "anti_cheat_prompt" | "reflection_prompt" => "a text".to_owned(),
                _ => format!("`{}`", fields[key]),
            };
            assert_eq!(said, wanted, "{key}");
        }
    }

    #[test]
    fn a_weight_is_a_count_between_the_least_and_the_most() {
        for (weight, least, most, count) in [
            (0.0, 2, 5, 2),
            (0.6, 2, 5, 4), // 2 + round(1.8)
            (0.8, 2, 5, 4), // 2 + round(2.4)
            (0.9, 2, 5, 5), // 2 + round(2.7)
            (1.0, 2, 5, 5),
            (0.5, 2, 3, 3), // halves go up
            (0.5, 4, 4, 4),
            (0.7, 0, 100, 70),
            (1.0, 5, 2, 5),
        ] {
            assert_eq!(by_weight(weight, least, most), count, "{weight} {least} {most}");
        }
    }

    #[test]
    fn weights_decide_how_many_tests_of_two_categories_are_wanted() {
        let counts = |anti_cheat_weight, precision_weight| {
            let config = TestGenConfig { anti_cheat_weight, precision_weight, ..TestGenConfig::default() };
            TestCategory::ALL.map(|category| config.wanted(category))
        };
        assert_eq!(counts(0.0, 0.0), [2, 5, 5, 2, 5]);
        assert_eq!(counts(1.0, 0.0), [5, 5, 5, 2, 5]);
        assert_eq!(counts(0.0, 1.0), [2, 5, 5, 5, 5]);
    }

    #[test]
    fn categories_come_in_the_order_of_the_configuration() {
        let category_order = vec![Boundary, Correctness, Integration, Existence, AntiCheat];
        let config = TestGenConfig { category_order, ..TestGenConfig::default() };
        assert_eq!(config.ordered(&TestGenContext::Commander), [Boundary, Correctness, Existence]);
    }

    #[test]
    fn the_hash_is_of_every_field_and_of_nothing_else() {
        let config = TestGenConfig::default();
        let hash = config.config_hash();
        assert_eq!(hash.len(), 64);
        assert_eq!(config.clone().config_hash(), hash);
        let fields = serde_json::to_value(&config).unwrap();
        for (name, value) in fields.as_object().unwrap() {
            let other = match value {
                serde_json::Value::Number(n) if n.is_f64() => (n.as_f64().unwrap() / 2.0).into(),
                serde_json::Value::Number(n) => (n.as_u64().unwrap() + 1).into(),
                serde_json::Value::Null => 0.5.into(),
                serde_json::Value::Bool(is) => (!is).into(),
                serde_json::Value::Array(_) => serde_json::json!(["boundary"]),
                serde_json::Value::Object(_) => serde_json::json!({"boundary": "other"}),
                serde_json::Value::String(text) if text == "local" => "claude".into(),
                serde_json::Value::String(text) => format!("{text}0").into(),
            };
            let mut changed = fields.clone();
            changed[name] = other;
            let changed: TestGenConfig = serde_json::from_value(changed).unwrap();
            assert_ne!(changed.config_hash(), hash, "{name}");
        }
    }

    #[test]
    fn there_is_one_zero() {
        let of = |zero| TestGenConfig {
            temperature: Some(zero),
            environment_weight: zero,
            anti_cheat_weight: zero,
            precision_weight: zero,
            min_comprehensiveness: zero,
            target_comprehensiveness: zero,
            ..TestGenConfig::default()
        };
        assert_eq!(of(-0.0).config_hash(), of(0.0).config_hash());
    }

    #[test]
    fn the_hash_is_of_json_with_sorted_keys() {
        let mut value = serde_json::to_value(TestGenConfig::default()).unwrap();
        value.sort_all_objects();
        let text = value.to_string();
        assert!(text.starts_with(r#"{"anti_cheat_prompt":"A port must"#), "{text}");
        assert_eq!(TestGenConfig::default().config_hash(), sha256(text));
    }

    #[test]
    fn everything_that_is_wrong_is_said_at_once() {
        let good = TestGenConfig::default;
        let long = "é".repeat(MOST_PROMPT_CHARS);
        let only = TestGenConfig { anti_cheat_prompt: long.clone(), temperature: Some(2.0), ..good() };
        assert_eq!(only.problems(), [""; 0], "characters count, not bytes");
        for (config, word) in [
            (TestGenConfig { version: "1.0".into(), ..good() }, "three numbers"),
            (TestGenConfig { version: "1.0.x".into(), ..good() }, "three numbers"),
            (TestGenConfig { temperature: Some(2.1), ..good() }, "temperature 2.1"),
            (TestGenConfig { temperature: Some(-0.1), ..good() }, "temperature -0.1"),
            (TestGenConfig { temperature: Some(f64::NAN), ..good() }, "temperature NaN"),
            (TestGenConfig { environment_weight: 1.1, ..good() }, "environment_weight 1.1"),
            (TestGenConfig { anti_cheat_weight: -0.1, ..good() }, "anti_cheat_weight -0.1"),
            (TestGenConfig { precision_weight: f64::NAN, ..good() }, "precision_weight NaN"),
            (TestGenConfig { min_tests_per_category: 1, ..good() }, "below 2"),
            (TestGenConfig { max_tests_per_category: 1, ..good() }, "tests_per_category: the maximum"),
            (TestGenConfig { target_comprehensiveness: 10.5, ..good() }, "not between 0 and 10"),
            (TestGenConfig { target_comprehensiveness: 6.0, ..good() }, "comprehensiveness: the maximum"),
            (TestGenConfig { target_total_tests: 14, ..good() }, "total_tests: the maximum"),
            (TestGenConfig { max_tokens: 0, ..good() }, "max_tokens is 0"),
            (TestGenConfig { max_rounds_per_category: 0, ..good() }, "max_rounds_per_category is 0"),
            (TestGenConfig { max_total_rounds: 0, ..good() }, "max_total_rounds is 0"),
            (TestGenConfig { max_total_tokens: 0, ..good() }, "max_total_tokens is 0"),
            (TestGenConfig { max_total_seconds: 0, ..good() }, "max_total_seconds is 0"),
            (TestGenConfig { max_total_tokens: u64::MAX, ..good() }, "more than 9223372036854775807"),
            (TestGenConfig { max_total_seconds: 1 << 63, ..good() }, "max_total_seconds 9223372036854775808"),
            (TestGenConfig { category_order: vec![Boundary; 5], ..good() }, "category_order"),
            (TestGenConfig { category_order: vec![Boundary], ..good() }, "category_order"),
            (TestGenConfig { reflection_prompt: " ".into(), ..good() }, "reflection_prompt is empty"),
            (TestGenConfig { anti_cheat_prompt: long + "!", ..good() }, "4001 characters"),
        ] {
            let problems = config.problems();
            assert!(problems.len() == 1 && problems[0].contains(word), "{word}: {problems:?}");
        }
        let all = TestGenConfig { max_tokens: 0, version: String::new(), ..good() };
        assert_eq!(all.problems().len(), 2);
    }
}
