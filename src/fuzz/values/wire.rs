//! Converts inputs and results between JSON and the simpler text of the fuzz process (`runtime/plain.rs`),
//! which has no JSON parser. This module handles the syntax only; `plain.rs` interprets a value for a
//! parameter.

use crate::fuzz::values::json::{self as json, Many, hex, unhex};
use serde_json::{Map, Number, Value};

/// Maximum number of bytes or elements of a buffer.
const REPEATED: usize = 1 << 20;
/// Maximum nesting depth; the fuzz process has the same limit.
const DEPTH: usize = 32;
/// Maximum size of a text in bytes. Nested or numerous repetitions are small as JSON but large here.
const TEXT: usize = 16 << 20;

/// Converts a value to the text that the fuzz process reads.
///
/// # Errors
/// The reason, for the author of the JSON.
pub fn to_text(value: &Value) -> Result<String, String> {
    let mut text = String::new();
    write(value, &mut text, DEPTH)?;
    Ok(text)
}

fn write(value: &Value, text: &mut String, depth: usize) -> Result<(), String> {
    let depth = depth.checked_sub(1).ok_or("it is nested too deeply")?;
    within(text, 0)?;
    match value {
        Value::Null => text.push('~'),
        Value::Bool(is) => text.push_str(if *is { "i1;" } else { "i0;" }),
        Value::Number(number) => text.push_str(&number_text(number)),
        Value::String(string) => bytes(string.as_bytes(), text)?,
        Value::Array(list) => {
            text.push('[');
            list.iter().try_for_each(|one| write(one, text, depth))?;
            text.push(']');
        }
        Value::Object(fields) => {
            // The parameter's role decides between the two forms, so write both.
            if let Some(meant) = meant(value, fields) {
                text.push('?');
                write_meant(meant, text, depth)?;
            }
            text.push('{');
            for (name, value) in fields {
                text.push_str(&hex(name.as_bytes()));
                text.push(';');
                write(value, text, depth)?;
            }
            text.push('}');
        }
    }
    within(text, 0)
}

/// Checks that the text stays within its limit with this number of additional bytes.
fn within(text: &str, more: usize) -> Result<(), String> {
    match text.len().saturating_add(more) <= TEXT {
        true => Ok(()),
        false => Err(format!("it becomes more than {} MiB", TEXT >> 20)),
    }
}

fn number_text(number: &Number) -> String {
    if let Some(number) = number.as_i64() {
        return format!("i{number};");
    }
    if let Some(number) = number.as_u64() {
        return format!("i{number};");
    }
    float_text(number.as_f64().unwrap_or(f64::NAN))
}

fn float_text(float: f64) -> String {
    format!("f{:x};", float.to_bits())
}

fn bytes(bytes: &[u8], text: &mut String) -> Result<(), String> {
    within(text, bytes.len().saturating_mul(2))?;
    text.push('x');
    text.push_str(&hex(bytes));
    text.push(';');
    Ok(())
}

/// The special meaning of an object.
enum Meant {
    Float(f64),
    Many(Many),
}

/// The special meaning of an object that may denote bytes, elements or a float, or why it is invalid as such.
fn meant(value: &Value, fields: &Map<String, Value>) -> Option<Result<Meant, String>> {
    match json::named_float(fields) {
        Some(float) => Some(float.map(Meant::Float)),
        None => Some(json::many(value, REPEATED)?.map(Meant::Many)),
    }
}

/// Writes the special form; its error, if it is invalid, is part of the text. `Err` is about the whole text.
fn write_meant(meant: Result<Meant, String>, text: &mut String, depth: usize) -> Result<(), String> {
    match meant {
        Ok(Meant::Float(float)) => text.push_str(&float_text(float)),
        Ok(Meant::Many(Many::Bytes(content))) => bytes(&content, text)?,
        // The nesting is at most that of the object itself.
        Ok(Meant::Many(Many::Elements(list))) => write(&Value::Array(list), text, depth)?,
        Err(why) => text.push_str(&format!("!{};", hex(why.as_bytes()))),
    }
    Ok(())
}

/// Converts the fuzz process's text to canonical JSON.
pub fn of_text(text: &str) -> Option<Value> {
    let mut rest = text;
    let value = read(&mut rest, DEPTH)?;
    rest.is_empty().then_some(value)
}

fn read(rest: &mut &str, depth: usize) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    let kind = take(rest, 1)?;
    Some(match kind {
        "~" => Value::Null,
        "i" => integer(word(rest)?)?,
        "f" => json::of_float(f64::from_bits(u64::from_str_radix(word(rest)?, 16).ok()?)),
        "x" => json::of_bytes(&unhex(word(rest)?).ok()?),
        "[" => {
            let mut list = Vec::new();
            while !rest.starts_with(']') {
                list.push(read(rest, depth)?);
            }
            take(rest, 1)?;
            Value::Array(list)
        }
        "{" => {
            let mut fields = Map::new();
            while !rest.starts_with('}') {
                let name = String::from_utf8(unhex(word(rest)?).ok()?).ok()?;
                fields.insert(name, read(rest, depth)?);
            }
            take(rest, 1)?;
            Value::Object(fields)
        }
        _ => return None,
    })
}

fn take<'a>(rest: &mut &'a str, n: usize) -> Option<&'a str> {
    let (head, tail) = rest.split_at_checked(n)?;
    *rest = tail;
    Some(head)
}

fn word<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let (word, tail) = rest.split_once(';')?;
    *rest = tail;
    Some(word)
}

/// An integer; beyond 64 bits as a string of digits.
fn integer(digits: &str) -> Option<Value> {
    let number: i128 = digits.parse().ok()?;
    let small = i64::try_from(number).map(Value::from).or_else(|_| u64::try_from(number).map(Value::from));
    Some(small.unwrap_or_else(|_| Value::from(digits)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn text(value: Value) -> String {
        to_text(&value).unwrap()
    }

    #[test]
    fn every_kind_of_value_has_a_text_and_comes_back_in_the_canonical_way() {
        let same = [
            json!(null),
            json!(-7),
            json!(u64::MAX),
            json!("text"),
            json!([1, "a", [], {}]),
            json!({"a": 0.5, "$globals": {"x": 1}}),
        ];
        for value in same {
            assert_eq!(of_text(&to_text(&value).unwrap()), Some(value));
        }
        assert_eq!((text(json!(true)), text(json!("é"))), ("i1;".into(), "xc3a9;".into()));
        for (text, value) in [
            ("x00ff;", json!({"hex": "00ff"})),
            ("x4142;", json!("AB")),
            ("f7ff8000000000000;", json!({"float": "nan"})),
            ("f7ff8000000000001;", json!({"bits": "0x7ff8000000000001"})),
            ("f8000000000000000;", json!({"float": "-0.0"})),
            ("i-170141183460469231731687303715884105728;", json!("-170141183460469231731687303715884105728")),
        ] {
            assert_eq!(of_text(text), Some(value));
        }
        assert_eq!(of_text("i340282366920938463463374607431768211455;"), None, "no type has such numbers");
    }

    #[test]
    fn an_object_that_may_say_bytes_elements_or_a_float_is_told_as_both() {
        for (value, meant) in [
            (json!({"hex": "41 42"}), "x4142;"),
            (json!({"float": "-inf"}), "ffff0000000000000;"),
            (json!({"bits": "0x3ff8000000000000"}), "f3ff8000000000000;"),
            (json!({"repeat": "ab", "times": 3}), "x616261626162;"),
            (json!({"times": 2, "repeat": [1, null]}), "[i1;~i1;~]"),
            (json!({"repeat": {"hex": "00"}, "times": 2}), "x0000;"),
        ] {
            assert!(text(value.clone()).starts_with(&format!("?{meant}{{")), "{value}");
        }
        assert_eq!(text(json!({"hex": "00"})), "?x00;{686578;x3030;}");
        assert_eq!(text(json!({"hex": 7, "more": 1})), "{686578;i7;6d6f7265;i1;}");
        assert_eq!(text(json!({"bits": 3})), "{62697473;i3;}");
        let wrong = text(json!({"hex": "0"}));
        assert!(wrong.starts_with(&format!("?!{}", hex(b"`0` is not an even number"))), "{wrong}");
        let deep = (0..40).fold(json!(1), |inner, _| json!([inner]));
        assert!(to_text(&deep).unwrap_err().contains("deep"));
        let nested = (0..15).fold(json!("a"), |inner, _| json!({"repeat": inner, "times": 2}));
        assert!(text(nested).starts_with(&format!("?x{}", "61".repeat(1 << 15))));
    }

    #[test]
    fn what_is_small_as_json_is_not_let_grow_without_end() {
        let long = json!({"repeat": "a", "times": 1_000_000});
        for large in [json!({"repeat": [long], "times": 100_000}), Value::Array(vec![long.clone(); 1000])] {
            let told = to_text(&json!({ "data": large })).map(|text| text.len());
            assert_eq!(told, Err("it becomes more than 16 MiB".to_owned()));
        }
        assert!(to_text(&json!([long])).is_ok());
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "[~ifx\\[\\]{};0-9a-f-]{0,60}") {
            if let Some(value) = of_text(&text) {
                prop_assert!(to_text(&value).is_ok());
            }
        }
    }
}
