//! One test: what a model proposed, what C answered, and what became of it.

use super::category::TestCategory;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// A test. The model gives the input and a prediction; what is expected is what C returned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GeneratedTest {
    /// Once in a run, see [`make_ids_unique`].
    #[serde(default)]
    pub id: String,
    /// Values by parameter, see `docs/testgen.md`.
    pub input: Value,
    /// What the model thinks that C returns. It decides nothing, it is only compared.
    #[serde(default)]
    pub predicted_output: Option<Value>,
    /// What C returned, twice. Absent until it ran.
    #[serde(default)]
    pub expected_output: Option<Value>,
    #[serde(default)]
    pub reasoning: String,
    pub category: TestCategory,
    /// How sure the model is of its prediction, 0 to 1; absent where it does not say.
    #[serde(default, deserialize_with = "clamped")]
    pub confidence: Option<f64>,
}

impl GeneratedTest {
    /// A test of which nothing else is known: its input is null.
    pub fn new(id: impl Into<String>, category: TestCategory) -> Self {
        Self {
            id: id.into(),
            input: Value::Null,
            predicted_output: None,
            expected_output: None,
            reasoning: String::new(),
            category,
            confidence: None,
        }
    }

    /// As it comes from a model: an output that it expects is a prediction, and nothing else.
    #[must_use]
    pub fn as_proposal(mut self) -> Self {
        let expected = self.expected_output.take();
        self.predicted_output = self.predicted_output.or(expected);
        self
    }
}

/// Moves a confidence into 0 to 1.
fn clamped<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let confidence = Option::<f64>::deserialize(deserializer)?;
    Ok(confidence.filter(|share| !share.is_nan()).map(|share| share.clamp(0.0, 1.0)))
}

/// A test and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedTest {
    #[serde(flatten)]
    pub test: GeneratedTest,
    /// Why it is not valid: its input does not fit the contract, C breaks on it, it is there already. Absent: it is valid.
    pub dropped: Option<String>,
    /// Names of the mutants of C that it tells from C; absent when none was run, or C did not answer beside them.
    pub kills: Option<Vec<String>>,
    /// Names of the planted cheats that it tells from C; absent of a test that was not run.
    pub cheats: Option<Vec<String>>,
    /// It is among the tests that are written out.
    pub kept: bool,
}

impl RecordedTest {
    /// A test that was not run, with the reason if it is not valid.
    pub fn unrun(test: GeneratedTest, dropped: Option<String>) -> Self {
        let kept = dropped.is_none();
        Self { test, dropped, kills: None, cheats: None, kept }
    }
}

/// An id that is not taken: this one where it is free, else with a number behind it; without one the test is called after its category.
pub fn free_id(id: &str, category: TestCategory, is_taken: &dyn Fn(&str) -> bool) -> String {
    let id = id.trim();
    if !id.is_empty() && !is_taken(id) {
        return id.to_owned();
    }
    let (stem, first) = if id.is_empty() { (category.word(), 1) } else { (id, 2) };
    let free = (first..).map(|n| format!("{stem}-{n}")).find(|id| !is_taken(id));
    free.expect("numbers do not end before the tests do")
}

/// Gives each test an id of its own: the first with an id keeps it.
pub fn make_ids_unique(tests: &mut [GeneratedTest]) {
    let given: BTreeSet<String> = tests.iter().map(|test| test.id.trim().to_owned()).collect();
    let mut seen = BTreeSet::new();
    for test in tests {
        let own = test.id.trim();
        let is_taken = |id: &str| seen.contains(id) || id != own && given.contains(id);
        test.id = free_id(own, test.category, &is_taken);
        seen.insert(test.id.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn test(id: &str) -> GeneratedTest {
        serde_json::from_value(json!({"id": id, "input": {"n": 1}, "category": "boundary"})).unwrap()
    }

    #[test]
    fn confidence_is_clamped_and_absent_where_nothing_was_said() {
        for (said, kept) in [
            (json!(0.25), Some(0.25)),
            (json!(-3), Some(0.0)),
            (json!(1.5), Some(1.0)),
            (json!(1), Some(1.0)),
            (json!(null), None),
        ] {
            let entry = json!({"input": {}, "category": "existence", "confidence": said});
            assert_eq!(serde_json::from_value::<GeneratedTest>(entry).unwrap().confidence, kept, "{said}");
        }
        assert_eq!(test("a").confidence, None);
        assert!(serde_json::from_value::<GeneratedTest>(json!({"category": "existence"})).is_err());
    }

    #[test]
    fn what_a_model_expects_is_a_prediction() {
        let said = |predicted, expected| GeneratedTest {
            predicted_output: predicted,
            expected_output: expected,
            ..test("a")
        };
        for (before, predicted) in [
            (said(None, Some(json!(1))), Some(json!(1))),
            (said(Some(json!(2)), Some(json!(1))), Some(json!(2))),
            (said(None, None), None),
        ] {
            let after = before.as_proposal();
            assert_eq!((after.predicted_output, after.expected_output), (predicted, None));
        }
    }

    #[test]
    fn the_first_keeps_its_id() {
        let mut tests = ["a", "a", "", "a-2", " a ", "boundary-1", ""].map(test);
        make_ids_unique(&mut tests);
        let ids = tests.map(|test| test.id);
        assert_eq!(ids, ["a", "a-3", "boundary-2", "a-2", "a-4", "boundary-1", "boundary-3"]);
    }

    #[test]
    fn a_recorded_test_is_one_object() {
        let recorded =
            RecordedTest { test: test("a"), dropped: None, kills: Some(vec![]), cheats: None, kept: true };
        let value = serde_json::to_value(&recorded).unwrap();
        assert_eq!(
            (&value["id"], &value["kept"], &value["dropped"]),
            (&json!("a"), &json!(true), &json!(null))
        );
        assert_eq!(serde_json::from_value::<RecordedTest>(value).unwrap(), recorded);
    }

    proptest! {
        #[test]
        fn no_two_ids_are_the_same(ids in prop::collection::vec("(a|b|a-2|)( ?)", 0..12)) {
            let mut tests: Vec<_> = ids.iter().map(|id| test(id)).collect();
            make_ids_unique(&mut tests);
            let unique: BTreeSet<_> = tests.iter().map(|test| test.id.as_str()).collect();
            prop_assert_eq!(unique.len(), ids.len());
            prop_assert!(unique.iter().all(|id| !id.is_empty()));
            let once = tests.clone();
            make_ids_unique(&mut tests);
            prop_assert_eq!(tests, once);
        }
    }
}
