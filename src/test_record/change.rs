//! A change of the configuration, as a model proposes it.

use super::input::TestGenConfigInput;
use serde::{Deserialize, Serialize};

/// What kind of change it is, which says what it may touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ChangeType {
    /// Nothing.
    Keep,
    /// Temperature, tests and rounds per category, models.
    UpdateParams,
    /// The texts.
    UpdatePrompts,
    /// The three weights.
    UpdateWeights,
}

impl ChangeType {
    /// One word, as in JSON and the database.
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// The fields of a configuration that it may touch.
    pub fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Keep => &[],
            Self::UpdateParams => &[
                "temperature", "min_tests_per_category", "max_tests_per_category", "max_rounds_per_category",
                "primary_model", "reflection_model",
            ],
            Self::UpdatePrompts => &["category_prompts", "anti_cheat_prompt", "reflection_prompt"],
            Self::UpdateWeights => &["environment_weight", "anti_cheat_weight", "precision_weight"],
        }
    }
}

/// A proposal: `{"type": "update_weights", "changes": {"precision_weight": 0.7}, "reasoning": "…"}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestGenConfigChange {
    #[serde(rename = "type")]
    pub kind: ChangeType,
    /// Fields with the values that they are to have.
    #[serde(default)]
    pub changes: TestGenConfigInput,
    #[serde(default)]
    pub reasoning: String,
    /// Points of the score that the model expects of it; it decides nothing.
    #[serde(default)]
    pub expected_improvement: Option<f64>,
}

impl TestGenConfigChange {
    /// Leave everything as it is.
    pub fn keep(reasoning: impl Into<String>) -> Self {
        Self {
            kind: ChangeType::Keep,
            changes: TestGenConfigInput::default(),
            reasoning: reasoning.into(),
            expected_improvement: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, from_value, json, to_value};

    #[test]
    fn a_change_is_read_as_a_model_writes_it() {
        let text = json!({"type": "update_params", "changes": {"max_tests_per_category": 6},
            "reasoning": "more", "expected_improvement": 12.5});
        let change: TestGenConfigChange = from_value(text.clone()).unwrap();
        assert_eq!((change.kind, change.expected_improvement), (ChangeType::UpdateParams, Some(12.5)));
        assert_eq!(to_value(&change).unwrap(), text);
        let keep: TestGenConfigChange = from_value(json!({"type": "keep"})).unwrap();
        assert_eq!(keep, TestGenConfigChange::keep(""));
        for wrong in [
            json!({"type": "rewrite"}),
            json!({"changes": {}}),
            json!({"type": "keep", "temperature": 1}),
            json!({"type": "update_params", "changes": {"max_tests": 6}}),
            json!({"type": "update_params", "changes": {"max_tests_per_category": -1}}),
        ] {
            assert!(from_value::<TestGenConfigChange>(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_fields_that_a_change_may_touch_exist_and_belong_to_one_type() {
        use ChangeType::*;
        let config = to_value(super::super::TestGenConfig::default()).unwrap();
        let all: Vec<&str> = [Keep, UpdateParams, UpdatePrompts, UpdateWeights]
            .iter()
            .flat_map(|kind| kind.fields())
            .copied()
            .collect();
        assert!(all.iter().all(|field| config.get(field).is_some()));
        let unique: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!((unique.len(), all.len()), (12, 12));
        for kind in [Keep, UpdateParams, UpdatePrompts, UpdateWeights] {
            assert_eq!(to_value(kind).unwrap(), Value::from(kind.word()));
        }
    }
}
