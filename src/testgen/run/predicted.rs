//! Compares models' predictions with C's effects by value, because models write one value in many ways.

use super::values::same_by;
use crate::fuzz::values::json;
use serde_json::{Number, Value};

/// Whether there is a prediction. An empty object, as in the reply's form, is not one.
pub fn says_something(predicted: &Value) -> bool {
    predicted.as_object().is_none_or(|fields| !fields.is_empty())
}

/// Whether C's effects agree with the prediction; keys that the prediction omits do not count.
pub fn bears_out(left: &Value, predicted: &Value) -> bool {
    let Some(results) = left.as_object() else { return is_same(left, predicted) };
    let holds = |name: &str, said: &Value| results.get(name).is_some_and(|left| is_same(left, said));
    match predicted.as_object() {
        Some(fields) if fields.keys().any(|name| results.contains_key(name)) => {
            fields.iter().all(|(name, said)| holds(name, said))
        }
        // Models often predict only the return value.
        _ => holds("return", predicted),
    }
}

/// Turns a boolean into a number, and a named float into the tool's form; other values stay.
fn plain(value: &Value) -> Value {
    let float = || json::named_float(value.as_object()?)?.ok();
    match value {
        Value::Bool(is) => Value::from(u8::from(*is)),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() => json::of_float(float),
            _ => value.clone(),
        },
        _ => float().map_or_else(|| value.clone(), json::of_float),
    }
}

/// Whether two values are equal: numbers by value, bytes in any notation.
fn is_same(left: &Value, said: &Value) -> bool {
    same_by(&is_same_number, left, said)
}

/// Whether two values without parts are equal; `None` for others.
fn is_same_number(left: &Value, said: &Value) -> Option<bool> {
    let (left, said) = (&plain(left), &plain(said));
    match (left, said) {
        (Value::Number(left), Value::Number(said)) => Some(left == said || worth(left) == worth(said)),
        (Value::Number(number), Value::String(digits)) => {
            Some(Worth::of_digits(digits) == Some(worth(number)))
        }
        // The tool writes integers beyond 64 bits as digits; other digits are a text.
        (Value::String(digits), Value::Number(number)) => {
            Some(worth(number).is_wide() && Worth::of_digits(digits) == Some(worth(number)))
        }
        _ => (left == said).then_some(true),
    }
}

/// The value of a number: 1.0 is 1.
#[derive(PartialEq)]
enum Worth {
    Whole(i128),
    Float(f64),
}

fn worth(number: &Number) -> Worth {
    let whole = number.as_i64().map(i128::from).or(number.as_u64().map(i128::from));
    whole.map_or_else(|| Worth::of_float(number.as_f64().unwrap_or(f64::NAN)), Worth::Whole)
}

impl Worth {
    fn of_float(float: f64) -> Self {
        // A double without a fraction is exactly a whole number.
        let is_whole = float.fract() == 0.0 && float.abs() < 2f64.powi(126);
        if is_whole { Self::Whole(float as i128) } else { Self::Float(float) }
    }

    fn is_wide(&self) -> bool {
        let fits = |whole: &i128| i64::try_from(*whole).is_ok() || u64::try_from(*whole).is_ok();
        matches!(self, Self::Whole(whole) if !fits(whole))
    }

    fn of_digits(text: &str) -> Option<Self> {
        let text = text.trim();
        let float = || text.parse().ok().filter(|float: &f64| float.is_finite()).map(Self::of_float);
        text.parse().ok().map(Self::Whole).or_else(float)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_prediction_is_compared_by_value_however_it_is_written() {
        let left = json!({"return": 1, "out": "aaa", "at": {"hex": "ff00"}, "x": 0.5, "wide": "18446744073709551616"});
        for (predicted, wanted) in [
            (json!({"return": 1}), true),
            (json!({"return": 1.0}), true),
            (json!({"return": "1"}), true),
            (json!({"return": " 1.0 "}), true),
            (json!({"return": true}), true),
            (json!({"return": 1.5}), false),
            (json!({"return": "one"}), false),
            (json!({"return": 2}), false),
            (json!({"return": null}), false),
            (json!({"return": [1]}), false),
            (json!({"out": {"hex": "616161"}}), true),
            (json!({"out": {"hex": "61 61 61"}}), true),
            (json!({"out": {"repeat": "a", "times": 3}}), true),
            (json!({"out": [97, 97.0, 97]}), true),
            (json!({"out": "aa"}), false),
            (json!({"at": [255, 0]}), true),
            (json!({"at": {"hex": "FF00"}}), true),
            (json!({"x": {"bits": "0x3fe0000000000000"}}), true),
            (json!({"x": "0.5"}), true),
            (json!({"wide": 18_446_744_073_709_551_616.0_f64}), true),
            (json!({"wide": "18446744073709551616"}), true),
            (json!({"wide": 18_446_744_073_709_551_615_u64}), false),
            (json!({"return": 1, "out": "aab"}), false),
            (json!({"return": 1, "other": 1}), false),
            (json!({"other": 1}), false),
            (json!(1), true),
            (json!("1"), true),
            (json!(2), false),
        ] {
            assert_eq!(bears_out(&left, &predicted), wanted, "{predicted}");
        }
    }

    #[test]
    fn the_form_as_it_was_given_is_no_prediction() {
        assert!(!says_something(&json!({})));
        for said in [json!({"return": 1}), json!(0), json!(null), json!([])] {
            assert!(says_something(&said), "{said}");
        }
    }

    #[test]
    fn what_is_returned_may_be_said_alone_and_floats_are_what_they_are() {
        for (left, predicted, wanted) in [
            (json!({"return": {"hex": "00ff"}}), json!({"hex": "00FF"}), true),
            (json!({"return": {"x": 1, "y": 2}}), json!({"x": 1, "y": 2.0}), true),
            (json!({"return": {"x": 1, "y": 2}}), json!({"x": 1}), false),
            (json!({"return": {"float": "nan"}}), json!({"float": "nan"}), true),
            (json!({"return": {"float": "-0.0"}}), json!({"return": -0.0}), true),
            (json!({"return": {"float": "-0.0"}}), json!({"return": 0}), false),
            (json!({"return": {"float": "inf"}}), json!({"return": {"bits": "0x7ff0000000000000"}}), true),
            (json!({"return": "7"}), json!({"return": 7}), false), // a text that C left is no number
            (
                json!({"steps": [{"call": "f", "left": {"return": 1}}, null]}),
                json!({"steps": [{"call": "f", "left": {"return": "1"}}, null]}),
                true,
            ),
            (json!({}), json!({"return": 1}), false),
            (json!({"dst": "a"}), json!("a"), false),
        ] {
            assert_eq!(bears_out(&left, &predicted), wanted, "{left} {predicted}");
        }
    }
}
