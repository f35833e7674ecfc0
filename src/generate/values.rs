//! Inputs and results as JSON, changed and compared: what tests and planted cheats need to know of them. What a value means to the
//! harness is not known here.

use crate::testgen::json::{Many, hex, many};
use serde_json::{Map, Value, json};

/// No contract lets a buffer have more elements.
const LONGEST: usize = 1 << 20;

/// The elements of a buffer, however it is written; none where it is no buffer.
pub fn elements(value: &Value) -> Option<Vec<Value>> {
    Some(match many(value, LONGEST)?.ok()? {
        Many::Bytes(bytes) => bytes.into_iter().map(Value::from).collect(),
        Many::Elements(elements) => elements,
    })
}

/// Elements of a buffer in the form that `like` has: what was written as bytes stays bytes, whatever numbers C makes of them.
pub fn written_as(like: &Value, elements: Vec<Value>) -> Value {
    let bytes = match like {
        Value::String(_) | Value::Object(_) => {
            let bytes = elements.iter().map(|byte| u8::try_from(byte.as_u64()?).ok());
            bytes.collect::<Option<Vec<u8>>>()
        }
        _ => None,
    };
    match bytes {
        Some(bytes) => json!({ "hex": hex(&bytes) }),
        None => Value::Array(elements),
    }
}

/// Whether both say the same, bytes written as bytes or as a string.
pub fn same(a: &Value, b: &Value) -> bool {
    if a == b {
        return true;
    }
    match (elements(a), elements(b)) {
        (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| same(a, b)),
        (None, None) => same_fields(a, b),
        _ => false,
    }
}

fn same_fields(a: &Value, b: &Value) -> bool {
    let (Value::Object(a), Value::Object(b)) = (a, b) else { return false };
    a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| same(a, b)))
}

/// The arguments in an input: of a life those of the function under test.
pub fn arguments(input: &Value) -> Option<&Map<String, Value>> {
    let fields = input.as_object()?;
    match fields.get("args") {
        Some(args) => args.as_object(),
        None => Some(fields),
    }
}

/// The same, to be changed.
pub fn arguments_mut(input: &mut Value) -> Option<&mut Map<String, Value>> {
    let fields = input.as_object_mut()?;
    if fields.contains_key("args") {
        return fields.get_mut("args")?.as_object_mut();
    }
    Some(fields)
}

/// What the function under test, and all calls after it, left: of a life without the calls before it, which no port of this function
/// decides.
pub fn answer<'a>(input: &Value, left: &'a Value) -> Vec<&'a Value> {
    let Some(steps) = left.get("steps").and_then(Value::as_array) else { return vec![left] };
    let before = input.get("before").and_then(Value::as_array).map_or(0, Vec::len);
    let at = before + usize::from(input.get("make").is_some());
    steps.iter().skip(at).map(|step| step.get("left").unwrap_or(&Value::Null)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_the_same_however_they_are_written() {
        assert!(same(&json!("AB"), &json!({"hex": "4142"})));
        assert!(same(&json!("AB"), &json!([65, 66])));
        assert!(same(&json!("ABAB"), &json!({"repeat": "AB", "times": 2})));
        assert!(same(&json!({"s": "A", "n": 1}), &json!({"n": 1, "s": [65]})));
        assert!(!same(&json!("AB"), &json!([65])));
        assert!(!same(&json!({"n": 1}), &json!({"n": 1, "m": 2})));
        assert!(!same(&json!(1), &json!("1")));
        assert_eq!(elements(&json!({"hex": "0g"})), None);
        assert_eq!(elements(&json!(7)), None);
    }

    #[test]
    fn elements_are_written_in_the_form_that_they_had() {
        for (like, is_hex) in
            [(json!("ab"), true), (json!({"hex": "ff"}), true), (json!([1]), false), (json!([-1]), false)]
        {
            let elements = vec![json!(255), json!(0)];
            let wanted = if is_hex { json!({"hex": "ff00"}) } else { json!([255, 0]) };
            assert_eq!(written_as(&like, elements), wanted, "{like}");
        }
    }

    #[test]
    fn the_answer_of_a_life_begins_with_the_call_under_test() {
        let input =
            json!({"make": {"call": "new"}, "before": [{"call": "put"}], "args": {"k": 1}, "after": []});
        let left = json!({"steps": [{"left": 1}, {"left": 2}, {"left": 3}, null]});
        assert_eq!(answer(&input, &left), [&json!(3), &json!(null)]);
        assert_eq!(arguments(&input).unwrap().len(), 1);
        let plain = json!({"a": 1});
        assert_eq!(answer(&plain, &json!({"return": 2})), [&json!({"return": 2})]);
        assert_eq!(arguments(&plain).unwrap()["a"], 1);
    }
}
