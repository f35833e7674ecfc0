//! Example changes for prompts, one that the guardrails accept and one that they refuse. They are made for the
//! current configuration, so that a model which copies one gets the predicted answer.

use crate::test_record::{ChangeType, TestGenConfig, TestGenConfigChange, TestGenConfigInput};
use serde_json::{Value, json};

/// Well within the allowed step of a weight.
const STEP: f64 = 0.05;

/// A change within the guardrails, whatever the configuration is.
pub fn valid(config: &TestGenConfig) -> TestGenConfigChange {
    let weight = config.precision_weight;
    let next = if weight + STEP <= 1.0 { weight + STEP } else { weight - STEP };
    let rounded = (next * 1_000.0).round() / 1_000.0;
    TestGenConfigChange {
        kind: ChangeType::UpdateWeights,
        changes: changes(json!({ "precision_weight": rounded })),
        reasoning: "what the numbers above say, and why this follows".into(),
        expected_improvement: Some(10.0),
    }
}

/// A change beyond the guardrails: too large a step, and a field of another type.
pub fn invalid(config: &TestGenConfig) -> TestGenConfigChange {
    let far = config.max_tests_per_category.saturating_add(3);
    let weight = if config.precision_weight > 0.5 { 0.0 } else { 1.0 };
    TestGenConfigChange {
        kind: ChangeType::UpdateParams,
        changes: changes(json!({ "max_tests_per_category": far, "precision_weight": weight })),
        reasoning: "more of everything".into(),
        expected_improvement: Some(100.0),
    }
}

fn changes(fields: Value) -> TestGenConfigInput {
    serde_json::from_value(fields).expect("the fields are those of a configuration")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_record::ModelType;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_guardrails_take_one_and_refuse_the_other(precision_weight in 0.0..=1.0_f64, most in 2_u32..50) {
            let config = TestGenConfig { precision_weight, max_tests_per_category: most, ..TestGenConfig::default() };
            for profiles in [&[][..], &[ModelType::Local, ModelType::Claude]] {
                let next = valid(&config).apply(&config, profiles).unwrap();
                prop_assert!(next != config);
                let reasons = invalid(&config).apply(&config, profiles).unwrap_err().reasons;
                prop_assert!(reasons.len() >= 3, "{:?}", reasons);
            }
        }
    }

    #[test]
    fn at_the_ends_of_the_range_too() {
        for precision_weight in [0.0, 0.05, 0.5, 0.95, 0.999, 1.0] {
            let config = TestGenConfig { precision_weight, ..TestGenConfig::default() };
            assert!(valid(&config).apply(&config, &[]).is_ok(), "{precision_weight}");
            assert!(invalid(&config).apply(&config, &[]).is_err(), "{precision_weight}");
        }
    }
}
