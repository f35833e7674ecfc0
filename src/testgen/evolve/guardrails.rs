//! Limits for one change of the configuration. A change is applied as a whole or not at all.

use crate::test_record::{
    ChangeType, GuardrailViolation, ModelType, TestGenConfig, TestGenConfigChange, version,
};
use serde_json::{Value, json};

/// The largest step of each number that may change.
const STEPS: [(&str, f64); 7] = [
    ("temperature", 0.1),
    ("environment_weight", 0.1),
    ("anti_cheat_weight", 0.1),
    ("precision_weight", 0.1),
    ("min_tests_per_category", 1.0),
    ("max_tests_per_category", 1.0),
    ("max_rounds_per_category", 1.0),
];
/// Tolerance for differences of decimal fractions, which binary arithmetic can make slightly too large.
const EPSILON: f64 = 1e-9;

impl TestGenConfigChange {
    /// The configuration after the change, with the last number of its version increased. `Keep` is always valid
    /// and gives `current`, whatever its other fields are. `profiles` are the models with a configured provider.
    pub fn apply(
        &self,
        current: &TestGenConfig,
        profiles: &[ModelType],
    ) -> Result<TestGenConfig, GuardrailViolation> {
        if self.kind == ChangeType::Keep {
            return Ok(current.clone());
        }
        let mut next = self.changes.over(current);
        let (before, after) = (json!(current), json!(next));
        let mut reasons = fields(self.kind, &before, &after);
        reasons.extend(steps(&before, &after));
        reasons.extend(self.changes.idle(current));
        if self.changes.get("temperature").is_some() && current.temperature.is_none() {
            reasons.push("temperature is left to the provider, and only a person changes that".into());
        }
        for (name, before, after) in [
            ("primary_model", current.primary_model, next.primary_model),
            ("reflection_model", current.reflection_model, next.reflection_model),
        ] {
            if before != after && !profiles.contains(&after) {
                reasons.push(format!("{name} `{}` has no configured profile", after.word()));
            }
        }
        settle(&mut next);
        reasons.extend(next.problems());
        if !reasons.is_empty() {
            return Err(GuardrailViolation { reasons });
        }
        next.version = raised(&current.version);
        Ok(next)
    }
}

/// Errors in the choice of fields: fields that this type of change may not touch, or no fields.
fn fields(kind: ChangeType, before: &Value, after: &Value) -> Vec<String> {
    let names = after.as_object().into_iter().flat_map(|fields| fields.keys());
    let changed: Vec<&String> = names.filter(|name| before[name.as_str()] != after[name.as_str()]).collect();
    if changed.is_empty() {
        return vec![format!("{} changes nothing; `keep` does that", kind.word())];
    }
    let foreign = changed.into_iter().filter(|name| !kind.fields().contains(&name.as_str()));
    foreign.map(|name| format!("{} may not change {name}", kind.word())).collect()
}

/// Numbers that change by more than one step.
fn steps(before: &Value, after: &Value) -> Vec<String> {
    let too_far = |(name, most): (&str, f64)| {
        let (before, after) = (before[name].as_f64()?, after[name].as_f64()?);
        ((after - before).abs() > most + EPSILON)
            .then(|| format!("{name} goes from {before} to {after}, by more than {most}"))
    };
    STEPS.into_iter().filter_map(too_far).collect()
}

/// Moves numbers that leave their range by at most [`EPSILON`] to its end.
fn settle(config: &mut TestGenConfig) {
    let weights =
        [&mut config.environment_weight, &mut config.anti_cheat_weight, &mut config.precision_weight];
    let weights = weights.into_iter().map(|weight| (weight, 1.0));
    for (value, most) in weights.chain(config.temperature.as_mut().map(|temperature| (temperature, 2.0))) {
        if (-EPSILON..=most + EPSILON).contains(value) {
            *value = value.clamp(0.0, most);
        }
    }
}

/// The next version.
fn raised(text: &str) -> String {
    let [major, minor, patch] = version(text).unwrap_or([1, 0, 0]);
    format!("{major}.{minor}.{}", patch.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: &[ModelType] = &[ModelType::Local, ModelType::Claude];

    fn change(kind: &str, changes: Value) -> TestGenConfigChange {
        serde_json::from_value(json!({"type": kind, "changes": changes})).unwrap()
    }

    /// The default configuration with these fields.
    fn config(changes: Value) -> TestGenConfig {
        serde_json::from_value::<crate::test_record::TestGenConfigInput>(changes)
            .unwrap()
            .over(&TestGenConfig::default())
    }

    fn reasons(current: &TestGenConfig, kind: &str, changes: Value) -> Vec<String> {
        change(kind, changes).apply(current, ALL).map_or_else(|violation| violation.reasons, |_| vec![])
    }

    #[test]
    fn steps_are_taken_up_to_their_limit() {
        let near = 1e-10;
        let far = 1e-8;
        // Field, type, before, after, whether the change is accepted.
        let table: Vec<(&str, &str, Value, Value, bool)> = vec![
            ("temperature", "update_params", json!(0.5), json!(0.55), true),
            ("temperature", "update_params", json!(0.5), json!(0.6), true),
            ("temperature", "update_params", json!(0.5), json!(0.6 + near), true),
            ("temperature", "update_params", json!(0.5), json!(0.6 + far), false),
            ("temperature", "update_params", json!(0.5), json!(0.4), true),
            ("temperature", "update_params", json!(0.5), json!(0.4 - far), false),
            ("temperature", "update_params", json!(1.95), json!(2.0), true),
            ("temperature", "update_params", json!(1.95), json!(2.0 + near), true),
            ("temperature", "update_params", json!(1.95), json!(2.0 + far), false),
            ("temperature", "update_params", json!(0.05), json!(0.0), true),
            ("temperature", "update_params", json!(0.05), json!(-near), true),
            ("temperature", "update_params", json!(0.05), json!(-far), false),
            ("min_tests_per_category", "update_params", json!(3), json!(4), true),
            ("min_tests_per_category", "update_params", json!(3), json!(5), false),
            ("min_tests_per_category", "update_params", json!(3), json!(2), true),
            ("min_tests_per_category", "update_params", json!(2), json!(1), false),
            ("min_tests_per_category", "update_params", json!(4), json!(2), false),
            ("max_tests_per_category", "update_params", json!(5), json!(6), true),
            ("max_tests_per_category", "update_params", json!(5), json!(7), false),
            ("max_tests_per_category", "update_params", json!(5), json!(4), true),
            ("max_tests_per_category", "update_params", json!(5), json!(3), false),
            ("max_tests_per_category", "update_params", json!(2), json!(1), false),
            ("max_rounds_per_category", "update_params", json!(3), json!(4), true),
            ("max_rounds_per_category", "update_params", json!(3), json!(5), false),
            ("max_rounds_per_category", "update_params", json!(3), json!(2), true),
            ("max_rounds_per_category", "update_params", json!(3), json!(1), false),
            ("max_rounds_per_category", "update_params", json!(1), json!(0), false),
        ];
        for (field, kind, before, after, is_taken) in table {
            let current = config(json!({field: before}));
            let found = reasons(&current, kind, json!({field: after}));
            assert_eq!(found.is_empty(), is_taken, "{field} {before} {after}: {found:?}");
            assert!(
                is_taken || found.iter().all(|reason| reason.contains("tests") || reason.contains(field))
            );
        }
    }

    #[test]
    fn each_weight_has_its_step_and_its_range() {
        for field in ["environment_weight", "anti_cheat_weight", "precision_weight"] {
            for (before, after, is_taken) in [
                (0.5, 0.6, true),
                (0.7, 0.8, true), // the difference is a little more than 0.1 in binary
                (0.5, 0.6 + 1e-10, true),
                (0.5, 0.6 + 1e-8, false),
                (0.5, 0.4, true),
                (0.5, 0.4 - 1e-8, false),
                (0.95, 1.0, true),
                (0.95, 1.0 + 1e-10, true),
                (0.95, 1.0 + 1e-8, false),
                (0.05, 0.0, true),
                (0.05, -1e-10, true),
                (0.05, -1e-8, false),
            ] {
                let found = reasons(&config(json!({field: before})), "update_weights", json!({field: after}));
                assert_eq!(found.is_empty(), is_taken, "{field} {before} {after}: {found:?}");
            }
        }
    }

    #[test]
    fn what_is_over_by_a_rounding_error_is_at_the_end() {
        let current = config(json!({"precision_weight": 0.95, "temperature": 0.05}));
        let next =
            change("update_weights", json!({"precision_weight": 1.0 + 1e-10})).apply(&current, ALL).unwrap();
        assert_eq!(next.precision_weight.to_bits(), 1.0_f64.to_bits());
        let next = change("update_params", json!({"temperature": -1e-10})).apply(&current, ALL).unwrap();
        assert_eq!(next.temperature.map(f64::to_bits), Some(0.0_f64.to_bits()));
    }

    #[test]
    fn the_most_stays_at_or_above_the_least() {
        let current = config(json!({"min_tests_per_category": 3, "max_tests_per_category": 3}));
        for (changes, is_taken) in [
            (json!({"min_tests_per_category": 4}), false),
            (json!({"max_tests_per_category": 2}), false),
            (json!({"min_tests_per_category": 4, "max_tests_per_category": 4}), true),
            (json!({"min_tests_per_category": 2, "max_tests_per_category": 2}), true),
        ] {
            assert_eq!(reasons(&current, "update_params", changes.clone()).is_empty(), is_taken, "{changes}");
        }
    }

    #[test]
    fn only_a_person_sets_a_temperature() {
        let found = reasons(&TestGenConfig::default(), "update_params", json!({"temperature": 0.1}));
        assert!(found.len() == 1 && found[0].contains("only a person"), "{found:?}");
    }

    #[test]
    fn a_model_has_a_profile() {
        let current = TestGenConfig::default();
        for field in ["primary_model", "reflection_model"] {
            let change = change("update_params", json!({field: "claude"}));
            assert!(change.apply(&current, ALL).is_ok());
            let violation = change.apply(&current, &[ModelType::Local]).unwrap_err();
            assert_eq!(violation.reasons, [format!("{field} `claude` has no configured profile")]);
        }
        let other = change("update_params", json!({"max_rounds_per_category": 4}));
        assert!(other.apply(&current, &[]).is_ok(), "who is not changed needs no profile here");
    }

    #[test]
    fn prompts_have_a_length() {
        let current = TestGenConfig::default();
        for (length, is_taken) in [(0, false), (1, true), (4_000, true), (4_001, false)] {
            let text = "é".repeat(length);
            for changes in [
                json!({"anti_cheat_prompt": text}),
                json!({"reflection_prompt": text}),
                json!({"category_prompts": {"boundary": text}}),
            ] {
                assert_eq!(reasons(&current, "update_prompts", changes).is_empty(), is_taken, "{length}");
            }
        }
    }

    #[test]
    fn the_type_fits_the_fields() {
        let current = config(json!({"temperature": 0.5}));
        let fields = [
            ("update_params", json!({"temperature": 0.6})),
            ("update_params", json!({"max_tests_per_category": 6})),
            ("update_params", json!({"primary_model": "claude"})),
            ("update_prompts", json!({"reflection_prompt": "think"})),
            ("update_prompts", json!({"category_prompts": {"correctness": "is it right?"}})),
            ("update_weights", json!({"environment_weight": 0.6})),
        ];
        for (own, changes) in &fields {
            for kind in ["update_params", "update_prompts", "update_weights"] {
                let found = reasons(&current, kind, changes.clone());
                assert_eq!(found.is_empty(), *own == kind, "{kind} {changes}: {found:?}");
            }
        }
        for foreign in [
            json!({"max_tokens": 4096}),
            json!({"version": "9.0.0"}),
            json!({"max_total_rounds": 13}),
            json!({"max_total_tokens": 1_000_000}),
            json!({"min_comprehensiveness": 1.0}),
            json!({"global_refinement": false}),
            json!({"category_order": ["existence", "anti_cheat", "correctness", "boundary", "integration"]}),
        ] {
            for kind in ["update_params", "update_prompts", "update_weights"] {
                assert_eq!(reasons(&current, kind, foreign.clone()).len(), 1, "{kind} {foreign}");
            }
        }
    }

    #[test]
    fn a_prompt_for_what_nobody_is_asked_for_is_refused() {
        let changes = json!({"category_prompts": {"existence": "is it there?"}});
        let found = reasons(&TestGenConfig::default(), "update_prompts", changes);
        assert!(found.len() == 1 && found[0].starts_with("category_prompts.existence would"), "{found:?}");
    }

    #[test]
    fn what_changes_nothing_is_keep() {
        let current = TestGenConfig::default();
        for (kind, changes) in
            [("update_params", json!({})), ("update_weights", json!({"precision_weight": 0.6}))]
        {
            let found = reasons(&current, kind, changes);
            assert!(found.len() == 1 && found[0].contains("changes nothing"), "{found:?}");
        }
        let named = change("update_weights", json!({"precision_weight": 0.7, "max_tokens": 2_048}));
        assert!(named.apply(&current, ALL).is_ok(), "a field that keeps its value is not changed");
    }

    #[test]
    fn keep_is_always_valid() {
        let broken = config(json!({"max_tokens": 0}));
        for current in [TestGenConfig::default(), broken] {
            assert_eq!(TestGenConfigChange::keep("").apply(&current, &[]).unwrap(), current);
            let odd = change("keep", json!({"temperature": 9.0}));
            assert_eq!(odd.apply(&current, &[]).unwrap(), current);
        }
    }

    #[test]
    fn a_change_is_rejected_as_a_whole_with_every_reason() {
        let changes =
            json!({"max_tests_per_category": 9, "max_rounds_per_category": 4, "precision_weight": 0.9});
        let violation = change("update_params", changes).apply(&TestGenConfig::default(), ALL).unwrap_err();
        let text = violation.to_string();
        for word in [
            "may not change precision_weight",
            "max_tests_per_category goes from 5 to 9",
            "precision_weight goes",
        ] {
            assert!(text.contains(word), "{word}: {text}");
        }
        assert_eq!(violation.reasons.len(), 3);
    }

    #[test]
    fn an_accepted_change_raises_the_version_and_nothing_else() {
        let current = config(json!({"version": "1.2.9"}));
        let next = change("update_weights", json!({"precision_weight": 0.7})).apply(&current, ALL).unwrap();
        assert_eq!(next.version, "1.2.10");
        assert_eq!(
            next,
            TestGenConfig { version: next.version.clone(), precision_weight: 0.7, ..current.clone() }
        );
        assert_ne!(next.config_hash(), current.config_hash());
    }

    proptest! {
        #[test]
        fn what_is_let_through_can_be_used_and_is_one_step_away(
            min in 1..5_u32, max in 3..8_u32, rounds in 1..6_u32, start in 0.0..=2.0_f64, step in -0.15..0.15_f64,
        ) {
            let current = config(json!({"temperature": start}));
            let changes = json!({"min_tests_per_category": min, "max_tests_per_category": max,
                "max_rounds_per_category": rounds, "temperature": start + step});
            if let Ok(next) = change("update_params", changes).apply(&current, ALL) {
                prop_assert_eq!(next.problems(), [""; 0]);
                prop_assert!(min.abs_diff(2) <= 1 && max.abs_diff(5) <= 1 && rounds.abs_diff(3) <= 1);
                prop_assert!((next.temperature.unwrap() - start).abs() <= 0.1 + 2.0 * EPSILON);
            }
        }
    }
}
