//! Reads a model's reply as a proposed change. A change is exactly one object; an ambiguous reply is an error.

use crate::llm::after_thoughts;
use crate::llm::json::value_at;
use crate::test_record::TestGenConfigChange;
use crate::testgen::run::reply::{LONGEST, is_object};
use serde_json::{Map, Value};

/// Largest number of bytes of a reasoning that are kept.
const REASONING: usize = 2_000;

/// Reads a reply; `Err` says why it cannot be used.
pub fn read(text: &str) -> Result<TestGenConfigChange, String> {
    let text = after_thoughts(text);
    if text.len() > LONGEST {
        return Err(format!("it has {} bytes, and {LONGEST} are the most", text.len()));
    }
    let mut fields = only_object(text)?;
    // Models write null for fields that stay unchanged.
    fields.retain(|_, value| !value.is_null());
    let mut change: TestGenConfigChange =
        serde_json::from_value(Value::Object(fields)).map_err(|error| error.to_string())?;
    change.reasoning.truncate(change.reasoning.floor_char_boundary(REASONING));
    Ok(change)
}

/// The only object in a text: in a fence, in prose, or in a list of one.
fn only_object(text: &str) -> Result<Map<String, Value>, String> {
    let mut found = None;
    let mut at = 0;
    while let Some(next) = text[at..].find('{').map(|next| at + next) {
        at = next + 1;
        if !is_object(text, next) {
            continue;
        }
        match value_at(text, next) {
            // An object inside a broken object is not a proposal.
            Err(wrong) => {
                let line = text[..text.floor_char_boundary(wrong.at)].matches('\n').count() + 1;
                return Err(format!("{} (line {line})", wrong.what));
            }
            Ok((Value::Object(fields), end)) => {
                if found.replace(fields).is_some() {
                    return Err("it has more than one object".into());
                }
                at = end;
            }
            Ok((_, end)) => at = end,
        }
    }
    found.ok_or_else(|| "it has no JSON object".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_record::{ChangeType, TestGenConfigInput};
    use proptest::prelude::*;

    const CHANGE: &str = r#"{"type": "update_weights", "changes": {"precision_weight": 0.7}, "reasoning": "edges", "expected_improvement": 12}"#;

    #[test]
    fn one_object_is_read_wherever_it_stands() {
        for text in [
            CHANGE.to_owned(),
            format!("Weights first.\n\n```json\n{CHANGE}\n```\nThat is {{x}} all; {{}} too."),
            format!("```\n[{CHANGE}]\n```"),
            format!("<think>{{\"type\": \"keep\"}}</think>{CHANGE}"),
            CHANGE.replace("0.7}", "0.7, /* more */ \"temperature\": null,}"),
            CHANGE.replace("\"expected_improvement\": 12", "\"expected_improvement\": 12.0,"),
        ] {
            let change = read(&text).unwrap();
            let changes: TestGenConfigInput =
                serde_json::from_value(serde_json::json!({"precision_weight": 0.7})).unwrap();
            assert_eq!((change.kind, change.changes), (ChangeType::UpdateWeights, changes), "{text}");
            assert_eq!((change.reasoning.as_str(), change.expected_improvement), ("edges", Some(12.0)));
        }
        let keep = read(r#"{"type": "keep", "changes": null, "expected_improvement": null}"#).unwrap();
        assert_eq!(keep, TestGenConfigChange::keep(""));
        let long = format!(r#"{{"type": "keep", "reasoning": "{}"}}"#, "é".repeat(5_000));
        assert_eq!(read(&long).unwrap().reasoning, "é".repeat(1_000));
    }

    fn refused(text: &str) -> String {
        read(text).unwrap_err()
    }

    #[test]
    fn replies_without_an_object_are_refused() {
        let long = "x".repeat(LONGEST + 1);
        for text in [
            "", " \n", "Keep it as it is.", "```json\n```", "[]", "null", "int x[] = {1, 2};", "{type: keep}",
        ] {
            assert_eq!(refused(text), "it has no JSON object", "{text}");
        }
        assert!(refused(&long).contains("bytes"));
    }

    #[test]
    fn replies_with_two_objects_are_refused() {
        for text in [
            format!("{CHANGE}\n{CHANGE}"),
            format!("[{CHANGE}, {CHANGE}]"),
            format!("Either\n```json\n{CHANGE}\n```\nor\n```json\n{{\"type\": \"keep\"}}\n```"),
            format!("It is {{\"precision_weight\": 0.6}} now. {CHANGE}"),
        ] {
            assert_eq!(refused(&text), "it has more than one object", "{text}");
        }
    }

    #[test]
    fn objects_of_another_form_are_refused() {
        for (text, why) in [
            (r#"{"changes": {"precision_weight": 0.7}}"#, "missing field `type`"),
            (r#"{"type": "rewrite"}"#, "unknown variant `rewrite`"),
            (r#"{"type": "update_weights", "precision_weight": 0.7}"#, "unknown field `precision_weight`"),
            (r#"{"type": "update_weights", "changes": {"precision": 0.7}}"#, "unknown field `precision`"),
            (r#"{"type": "update_weights", "changes": {"precision_weight": "0.7"}}"#, "invalid type"),
            (r#"{"type": "update_weights", "changes": {"precision_weight": NaN}}"#, "invalid type"),
            (r#"{"type": "update_params", "changes": {"max_tests_per_category": -1}}"#, "invalid value"),
            (r#"{"type": "update_params", "changes": {"max_tests_per_category": 5.5}}"#, "invalid type"),
            (r#"{"type": "update_params", "changes": {"primary_model": "gpt"}}"#, "unknown variant `gpt`"),
            (r#"{"type": "keep", "expected_improvement": "much"}"#, "invalid type"),
            (r#"{"change": {"type": "keep"}}"#, "unknown field `change`"),
            (&CHANGE[..60], "the reply ends in the middle of it (line 1)"),
            ("{\"type\": \"keep\",\n \"reasoning\" \"x\"}", "a colon is missing after a key (line 2)"),
            (r#"{"a": oops, "b": {"type": "keep"}}"#, "it is not a JSON value (line 1)"),
        ] {
            assert!(refused(text).contains(why), "{text}: {}", refused(text));
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(text in any::<String>(), before in ".{0,9}", cut in 0usize..140) {
            let _ = read(&text);
            let _ = read(&format!("{before}{}", &CHANGE[..cut.min(CHANGE.len())]));
        }
    }
}
