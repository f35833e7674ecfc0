//! A configuration as a person or a model writes it: only what is to be different.

use super::category::TestCategory;
use super::config::TestGenConfig;
use crate::error::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The field with a text for each category, of which only those that are named change.
const PROMPTS: &str = "category_prompts";

/// Fields of a [`TestGenConfig`] with values of the right types; those left out stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
pub struct TestGenConfigInput(Map<String, Value>);

impl TryFrom<Map<String, Value>> for TestGenConfigInput {
    type Error = serde_json::Error;

    /// A field that is null is left out.
    fn try_from(mut said: Map<String, Value>) -> serde_json::Result<Self> {
        said.retain(|_, value| !value.is_null());
        let config = merged(&TestGenConfig::default(), &said)?;
        // The fields in the order and the form that a configuration has.
        let mut fields = fields_of(&config);
        fields.retain(|key, _| said.contains_key(key));
        if let (Some(Value::Object(all)), Some(Value::Object(named))) =
            (fields.get_mut(PROMPTS), said.get(PROMPTS))
        {
            all.retain(|category, _| named.contains_key(category));
        }
        Ok(Self(fields))
    }
}

fn fields_of(config: &TestGenConfig) -> Map<String, Value> {
    match serde_json::to_value(config) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

fn merged(base: &TestGenConfig, said: &Map<String, Value>) -> serde_json::Result<TestGenConfig> {
    let mut fields = fields_of(base);
    for (key, value) in said {
        match (fields.get_mut(key), value) {
            (Some(Value::Object(texts)), Value::Object(said)) => texts.extend(said.clone()),
            _ => drop(fields.insert(key.clone(), value.clone())),
        }
    }
    serde_json::from_value(Value::Object(fields))
}

impl TestGenConfigInput {
    /// The value of a field, if it is said.
    pub fn get(&self, field: &str) -> Option<&Value> {
        self.0.get(field)
    }

    /// `base` with what is said here.
    ///
    /// Errors (`Config`): everything that is wrong with the result, in one message.
    pub fn apply(&self, base: &TestGenConfig) -> Result<TestGenConfig> {
        let config = self.over(base);
        let problems: Vec<String> = self.idle(base).into_iter().chain(config.problems()).collect();
        if problems.is_empty() {
            return Ok(config);
        }
        let text = format!("the configuration cannot be used: {}", problems.join("; "));
        Err(Error::new(ErrorKind::Config, text))
    }

    /// What is wrong with what is said here because nothing follows from it. (Configurations of before may have a text for a category
    /// that nobody is asked for.)
    pub(crate) fn idle(&self, base: &TestGenConfig) -> Vec<String> {
        let prompts = self.get(PROMPTS).and_then(Value::as_object).into_iter().flatten();
        let said = prompts
            .filter_map(|(category, text)| Some((category.parse::<TestCategory>().ok()?, text.as_str()?)));
        let idle = said.filter(|(category, text)| {
            !category.is_asked() && base.category_prompts.get(category).is_none_or(|known| known != text)
        });
        idle.map(|(category, _)| {
            format!(
                "category_prompts.{category} would change nothing: the tool makes these tests without a model"
            )
        })
        .collect()
    }

    /// As [`TestGenConfigInput::apply`], whether the result can be used or not.
    pub(crate) fn over(&self, base: &TestGenConfig) -> TestGenConfig {
        merged(base, &self.0).expect("the types of the fields were checked")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn input(value: Value) -> TestGenConfigInput {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn every_field_of_a_configuration_can_be_said_and_comes_through() {
        let base = TestGenConfig::default();
        let other = json!({
            "version": "2.3.4", "temperature": 0.3, "max_tokens": 1000, "min_tests_per_category": 3,
            "max_tests_per_category": 6, "max_rounds_per_category": 4, "environment_weight": 0.1,
            "anti_cheat_weight": 0.2, "precision_weight": 0.3,
            "category_order": ["boundary", "integration", "correctness", "existence", "anti_cheat"],
            "category_prompts": {"anti_cheat": "a", "correctness": "c", "boundary": "d", "integration": "e"},
            "anti_cheat_prompt": "f", "reflection_prompt": "g", "primary_model": "claude", "reflection_model": "claude",
            "min_comprehensiveness": 1.5, "target_comprehensiveness": 2.5, "min_total_tests": 1,
            "target_total_tests": 2, "max_total_rounds": 3, "max_total_tokens": 4, "max_total_seconds": 5,
            "global_refinement": false, "global_refinement_rounds": 7,
        });
        let fields = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(
            fields(&other),
            fields(&serde_json::to_value(&base).unwrap()),
            "no field is forgotten here"
        );
        let applied = input(other.clone()).apply(&base).unwrap();
        assert_eq!(serde_json::to_value(applied).unwrap(), other);
    }

    #[test]
    fn what_is_not_said_stays() {
        let base = TestGenConfig { temperature: Some(0.4), ..TestGenConfig::default() };
        assert_eq!(input(json!({})).apply(&base).unwrap(), base);
        let applied = input(json!({"category_prompts": {"boundary": "edges"}})).apply(&base).unwrap();
        assert_eq!(applied.prompt(TestCategory::Boundary), "edges");
        assert_eq!(applied.prompt(TestCategory::Integration), base.prompt(TestCategory::Integration));
        assert_eq!(serde_json::to_value(input(json!({"max_tokens": 9}))).unwrap(), json!({"max_tokens": 9}));
    }

    #[test]
    fn what_is_wrong_is_said_in_words() {
        let base = TestGenConfig::default();
        let error = input(json!({"max_tokens": 0, "precision_weight": 3})).apply(&base).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        let text = error.to_string();
        assert!(text.contains("max_tokens is 0") && text.contains("precision_weight 3"), "{text}");
        let existence = json!({"category_prompts": {"existence": "is it there?"}});
        let error = input(existence.clone()).apply(&base).unwrap_err().to_string();
        assert!(error.contains("category_prompts.existence would change nothing"), "{error}");
        let of_before = input(existence.clone()).over(&base);
        assert_eq!(input(existence).apply(&of_before).unwrap(), of_before, "what is there may stay");
        for unknown in [json!({"tempreature": 0.3}), json!({"id": 3}), json!({"config_hash": ""})] {
            assert!(serde_json::from_value::<TestGenConfigInput>(unknown).is_err());
        }
    }
}
