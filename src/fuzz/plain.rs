//! Inputs and results as JSON, and the text that the fuzz process reads and writes in its place (`runtime/plain.rs`), which needs no
//! parser of JSON there. What a value means to a parameter is said there alone; here is the form.

use serde_json::{Map, Number, Value, json};

/// Bytes that a `repeat` may become.
const REPEATED: usize = 1 << 20;
/// Nothing is deeper; the fuzz process has the same limit.
const DEPTH: usize = 32;

/// As the fuzz process reads it.
///
/// # Errors
/// In words, for whoever wrote the JSON.
pub fn to_text(value: &Value) -> Result<String, String> {
    let mut text = String::new();
    write(value, &mut text, DEPTH)?;
    Ok(text)
}

fn write(value: &Value, text: &mut String, depth: usize) -> Result<(), String> {
    let depth = depth.checked_sub(1).ok_or("it is nested too deep")?;
    match value {
        Value::Null => text.push('~'),
        Value::Bool(is) => text.push_str(if *is { "i1;" } else { "i0;" }),
        Value::Number(number) => text.push_str(&number_text(number)),
        Value::String(string) => bytes(string.as_bytes(), text),
        Value::Array(list) => {
            text.push('[');
            list.iter().try_for_each(|one| write(one, text, depth))?;
            text.push(']');
        }
        Value::Object(fields) => {
            if let Some(special) = special(fields, depth)? {
                text.push_str(&special);
                return Ok(());
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
    Ok(())
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

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(bytes: &[u8], text: &mut String) {
    text.push('x');
    text.push_str(&hex(bytes));
    text.push(';');
}

/// Objects that say bytes, a float or a repetition; other objects are those of fields.
fn special(fields: &Map<String, Value>, depth: usize) -> Result<Option<String>, String> {
    let mut names = fields.keys().map(String::as_str);
    let (first, second, more) = (names.next(), names.next(), names.next().is_some());
    let string = |name: &str| fields.get(name).and_then(Value::as_str);
    Ok(match (first, second, more) {
        (Some("hex"), None, _) => string("hex").map(of_hex).transpose()?,
        (Some("float"), None, _) => string("float").map(of_float).transpose()?,
        (Some("bits"), None, _) => string("bits").map(of_bits).transpose()?,
        (Some("repeat"), Some("times"), false) | (Some("times"), Some("repeat"), false) => {
            Some(repeated(fields, depth)?)
        }
        _ => None,
    })
}

fn of_hex(digits: &str) -> Result<String, String> {
    let digits: String = digits.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    let is_hex = digits.len().is_multiple_of(2) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| format!("x{};", digits.to_ascii_lowercase())).ok_or_else(|| {
        let shown: String = digits.chars().take(20).collect();
        format!("`{shown}` is not an even number of hexadecimal digits")
    })
}

fn of_float(word: &str) -> Result<String, String> {
    let float = match word {
        "nan" => f64::NAN,
        "inf" => f64::INFINITY,
        "-inf" => f64::NEG_INFINITY,
        "-0.0" => -0.0,
        _ => return Err(format!("a float can be nan, inf, -inf or -0.0, not `{word}`")),
    };
    Ok(float_text(float))
}

fn of_bits(word: &str) -> Result<String, String> {
    let bits = word.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
    bits.map(|bits| format!("f{bits:x};")).ok_or_else(|| format!("`{word}` is not 0x and up to 16 digits"))
}

/// Bytes or elements, several times.
fn repeated(fields: &Map<String, Value>, depth: usize) -> Result<String, String> {
    let times = fields.get("times").and_then(Value::as_u64).ok_or("`times` is no number")?;
    let mut one = String::new();
    write(fields.get("repeat").unwrap_or(&Value::Null), &mut one, depth)?;
    let inner = match one.as_bytes() {
        [b'x', .., b';'] | [b'[', .., b']'] => &one[1..one.len() - 1],
        _ => return Err("`repeat` wants bytes or a list".into()),
    };
    let times = usize::try_from(times).unwrap_or(usize::MAX);
    if inner.len().checked_mul(times).is_none_or(|size| size > 2 * REPEATED) {
        return Err(format!("`repeat` becomes more than {REPEATED} bytes"));
    }
    Ok(format!("{}{}{}", &one[..1], inner.repeat(times), &one[one.len() - 1..]))
}

/// What the fuzz process wrote, in the one way in which the tool writes it.
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
        "f" => float(f64::from_bits(u64::from_str_radix(word(rest)?, 16).ok()?)),
        "x" => printable(&unhex(word(rest)?)?),
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
                let name = String::from_utf8(unhex(word(rest)?)?).ok()?;
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

/// Beyond 64 bits as digits.
fn integer(digits: &str) -> Option<Value> {
    let number: i128 = digits.parse().ok()?;
    let small = i64::try_from(number).map(Value::from).or_else(|_| u64::try_from(number).map(Value::from));
    Some(small.unwrap_or_else(|_| Value::from(digits)))
}

fn float(float: f64) -> Value {
    match Number::from_f64(float) {
        Some(number) if !(float == 0.0 && float.is_sign_negative()) => Value::Number(number),
        Some(_) => json!({ "float": "-0.0" }),
        None if float.is_nan() => json!({ "float": "nan" }),
        None => json!({ "float": if float > 0.0 { "inf" } else { "-inf" } }),
    }
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    let digits = digits.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// As a string where all of them are printable ASCII.
fn printable(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) => Value::from(text),
        _ => json!({ "hex": hex(bytes) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn back(value: &Value) -> Value {
        of_text(&to_text(value).unwrap()).unwrap()
    }

    #[test]
    fn every_kind_of_value_comes_back_in_the_canonical_way() {
        let same = [
            json!(null),
            json!(-7),
            json!(u64::MAX),
            json!("text"),
            json!({"hex": "00ff"}),
            json!([1, "a", [], {}]),
            json!({"a": 0.5, "$globals": {"x": 1}}),
            json!({"float": "nan"}),
            json!({"float": "-inf"}),
            json!({"float": "-0.0"}),
        ];
        for value in same {
            assert_eq!(back(&value), value);
        }
        let other = [
            (json!(true), json!(1)),
            (json!("é"), json!({"hex": "c3a9"})),
            (json!({"hex": "41 42"}), json!("AB")),
            (json!({"bits": "0x3ff8000000000000"}), json!(1.5)),
            (json!({"repeat": "ab", "times": 3}), json!("ababab")),
            (json!({"times": 2, "repeat": [1, null]}), json!([1, null, 1, null])),
            (json!({"repeat": {"hex": "00"}, "times": 0}), json!("")),
        ];
        for (given, canonical) in other {
            assert_eq!(back(&given), canonical, "{given}");
        }
        assert_eq!(of_text("i340282366920938463463374607431768211455;"), None, "no type has such numbers");
        assert_eq!(
            of_text("i-170141183460469231731687303715884105728;").unwrap(),
            json!("-170141183460469231731687303715884105728")
        );
    }

    #[test]
    fn what_is_wrong_is_said() {
        let wrong = [
            (json!({"hex": "0"}), "even number"),
            (json!({"float": "one"}), "not `one`"),
            (json!({"bits": "12"}), "0x"),
            (json!({"repeat": 1, "times": 2}), "bytes or a list"),
            (json!({"repeat": "aaaa", "times": 1_000_000}), "more than"),
            (json!({"repeat": "a", "times": -1}), "no number"),
        ];
        for (value, why) in wrong {
            assert!(to_text(&value).unwrap_err().contains(why), "{value}");
        }
        let deep = (0..40).fold(json!(1), |inner, _| json!([inner]));
        assert!(to_text(&deep).unwrap_err().contains("deep"));
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "[~ifx\\[\\]{};0-9a-f-]{0,60}") {
            if let Some(value) = of_text(&text) {
                prop_assert_eq!(back(&value), value);
            }
        }
    }
}
