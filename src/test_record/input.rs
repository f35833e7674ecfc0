//! A configuration as a person or a model writes it: only what is to be different.

use super::category::TestCategory;
use super::config::{ModelType, TestGenConfig};
use crate::error::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The fields of [`TestGenConfig`]; those left out stay as they are. Of `category_prompts` only the categories that are
/// named change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TestGenConfigInput {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_tests_per_category: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tests_per_category: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_rounds_per_category: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment_weight: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anti_cheat_weight: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision_weight: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category_order: Option<Vec<TestCategory>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category_prompts: Option<BTreeMap<TestCategory, String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anti_cheat_prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reflection_prompt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary_model: Option<ModelType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reflection_model: Option<ModelType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_comprehensiveness: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_comprehensiveness: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_total_tests: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_total_tests: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_total_rounds: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_total_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_total_seconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub global_refinement: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub global_refinement_rounds: Option<u32>,
}

/// Copies the fields that are there.
macro_rules! overlay {
    ($from:ident onto $onto:ident: $($field:ident)*) => {
        $(if let Some(value) = &$from.$field {
            $onto.$field = value.clone();
        })*
    };
}

impl TestGenConfigInput {
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
        let said = self.category_prompts.iter().flatten().filter(|(category, text)| {
            !category.is_asked() && base.category_prompts.get(category) != Some(text)
        });
        said.map(|(category, _)| {
            format!(
                "category_prompts.{category} would change nothing: the tool makes these tests without a model"
            )
        })
        .collect()
    }

    /// As [`TestGenConfigInput::apply`], whether the result can be used or not.
    pub(crate) fn over(&self, base: &TestGenConfig) -> TestGenConfig {
        let mut config = base.clone();
        overlay!(self onto config: version max_tokens min_tests_per_category max_tests_per_category
            max_rounds_per_category environment_weight anti_cheat_weight precision_weight category_order
            anti_cheat_prompt reflection_prompt primary_model reflection_model min_comprehensiveness
            target_comprehensiveness min_total_tests target_total_tests max_total_rounds max_total_tokens
            max_total_seconds global_refinement global_refinement_rounds);
        config.temperature = self.temperature.or(config.temperature);
        config.category_prompts.extend(self.category_prompts.clone().unwrap_or_default());
        config
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
