//! Bytes, floats and elements in the JSON of `docs/testgen.md`: strings, `{"hex": …}`, `{"float": …}`,
//! `{"bits": …}`, `{"repeat": …, "times": n}`. The role of the parameter decides whether an object is one of
//! these or a struct.

use serde_json::{Map, Number, Value, json};

/// Maximum size in characters of the JSON to which a repetition of elements expands.
const REPEATED: usize = 4 << 20;

/// The content of a buffer.
#[derive(Debug, Clone, PartialEq)]
pub enum Many {
    Bytes(Vec<u8>),
    Elements(Vec<Value>),
}

/// Decodes a string, `{"hex": …}`, an array, or `{"repeat": …, "times": n}`, of at most `most` bytes or
/// elements; `None` if the value has none of these forms.
pub fn many(value: &Value, most: usize) -> Option<Result<Many, String>> {
    let many = match value {
        Value::String(text) => Ok(Many::Bytes(text.clone().into_bytes())),
        Value::Array(elements) => Ok(Many::Elements(elements.clone())),
        Value::Object(fields) => match (fields.len(), fields.get("hex"), fields.get("repeat")) {
            (1, Some(Value::String(digits)), _) => unhex(digits).map(Many::Bytes),
            (2, _, Some(piece)) => repeated(piece, fields.get("times")?, most),
            _ => return None,
        },
        _ => return None,
    };
    let length = |many: &Many| match many {
        Many::Bytes(bytes) => bytes.len(),
        Many::Elements(elements) => elements.len(),
    };
    Some(many.and_then(|many| within(length(&many), most).map(|()| many)))
}

fn repeated(piece: &Value, times: &Value, most: usize) -> Result<Many, String> {
    let times = times.as_u64().ok_or("`times` is not a number")?;
    let times = usize::try_from(times).unwrap_or(usize::MAX);
    Ok(match many(piece, most).unwrap_or_else(|| Err("`repeat` needs bytes or a list".into()))? {
        Many::Bytes(piece) => {
            within(piece.len().saturating_mul(times), most)?;
            Many::Bytes(if piece.is_empty() { piece } else { piece.repeat(times) })
        }
        Many::Elements(piece) => {
            let all = piece.len().saturating_mul(times);
            within(all, most)?;
            // Elements may be large, and may contain repetitions that are already expanded.
            let text: usize = piece.iter().map(|element| element.to_string().len()).sum();
            if all > 0 && text.saturating_mul(times) > REPEATED {
                return Err(format!("`repeat` becomes more than {REPEATED} characters"));
            }
            Many::Elements(piece.into_iter().cycle().take(all).collect())
        }
    })
}

fn within(length: usize, most: usize) -> Result<(), String> {
    match length <= most {
        true => Ok(()),
        false => Err(format!("{length} elements are too many; the limit is {most}")),
    }
}

/// Decodes `{"float": …}` or `{"bits": …}`; `None` for any other object.
pub fn named_float(fields: &Map<String, Value>) -> Option<Result<f64, String>> {
    let string = |name: &str| fields.get(name).filter(|_| fields.len() == 1)?.as_str();
    let bits = |word: &str| {
        let bits = word.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
        bits.map(f64::from_bits).ok_or_else(|| format!("`{word}` is not 0x and up to 16 digits"))
    };
    let float = |word: &str| match word {
        "nan" => Ok(f64::NAN),
        "inf" => Ok(f64::INFINITY),
        "-inf" => Ok(f64::NEG_INFINITY),
        "-0.0" => Ok(-0.0),
        _ => Err(format!("a float can be nan, inf, -inf or -0.0, not `{word}`")),
    };
    string("float").map(float).or_else(|| string("bits").map(bits))
}

/// A float in canonical JSON, which keeps all its bits.
pub fn of_float(float: f64) -> Value {
    let named = |name: &str| json!({ "float": name });
    match Number::from_f64(float) {
        Some(number) if !(float == 0.0 && float.is_sign_negative()) => Value::Number(number),
        Some(_) => named("-0.0"),
        None if float.is_infinite() => named(if float > 0.0 { "inf" } else { "-inf" }),
        None if float.to_bits() == f64::NAN.to_bits() => named("nan"),
        None => json!({ "bits": format!("{:#x}", float.to_bits()) }),
    }
}

/// Bytes in canonical JSON: a string if all are printable ASCII.
pub fn of_bytes(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) => Value::from(text),
        _ => json!({ "hex": hex(bytes) }),
    }
}

/// Two hexadecimal digits per byte.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The inverse of [`hex`]; ignores spaces between the digits.
pub fn unhex(digits: &str) -> Result<Vec<u8>, String> {
    let shown: String = digits.chars().take(20).collect();
    let bad = || format!("`{shown}` is not an even number of hexadecimal digits");
    let digit = |c: char| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()).ok_or_else(bad);
    let digits = digits.chars().filter(|c| !c.is_ascii_whitespace()).map(digit);
    let digits: Vec<u8> = digits.collect::<Result<_, _>>()?;
    match digits.as_chunks() {
        (pairs, []) => Ok(pairs.iter().map(|[high, low]| high << 4 | low).collect()),
        _ => Err(bad()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(value: Value) -> Many {
        many(&value, 100).unwrap().unwrap()
    }

    #[test]
    fn buffers_come_in_four_ways() {
        assert_eq!(read(json!("hé")), Many::Bytes("hé".into()));
        assert_eq!(read(json!({"hex": "00 fF"})), Many::Bytes(vec![0, 255]));
        assert_eq!(read(json!([1, 2])), Many::Elements(vec![json!(1), json!(2)]));
        assert_eq!(read(json!({"repeat": "ab", "times": 2})), Many::Bytes(b"abab".to_vec()));
        assert_eq!(read(json!({"repeat": {"hex": "00"}, "times": 0})), Many::Bytes(vec![]));
        assert_eq!(read(json!({"times": 2, "repeat": [1, null]})), read(json!([1, null, 1, null])));
        assert_eq!(read(json!({"repeat": "", "times": u64::MAX})), Many::Bytes(vec![]));
    }

    #[test]
    fn what_is_wrong_is_said_and_what_is_something_else_is_not() {
        let large = json!("x".repeat(1000));
        for (value, why) in [
            (json!({"hex": "0"}), "even number"),
            (json!({"hex": "0g"}), "even number"),
            (json!({"hex": "é"}), "even number"),
            (json!({"repeat": 1, "times": 2}), "bytes or a list"),
            (json!({"repeat": "a", "times": -1}), "not a number"),
            (json!({"repeat": "a", "times": 101}), "too many"),
            (json!({"repeat": {"repeat": "a", "times": 100}, "times": u64::MAX}), "too many"),
            (json!({"repeat": [vec![large.clone(); 50]], "times": 99}), "more than"),
            (json!({"repeat": {"repeat": [vec![large; 49]], "times": 10}, "times": 9}), "more than"),
        ] {
            assert!(many(&value, 100).unwrap().unwrap_err().contains(why), "{value}");
        }
        for other in [
            json!(3),
            json!(null),
            json!({}),
            json!({"hex": 3}),
            json!({"repeat": "a"}),
            json!({"bits": "0x0"}),
        ] {
            assert_eq!(many(&other, 100), None, "{other}");
        }
        let float = |value: Value| named_float(value.as_object().unwrap());
        assert!(float(json!({"float": "one"})).unwrap().unwrap_err().contains("not `one`"));
        assert!(float(json!({"bits": "12"})).unwrap().unwrap_err().contains("0x"));
        for other in [json!({"bits": 3}), json!({"float": "nan", "bits": "0x1"}), json!({"hex": "00"})] {
            assert_eq!(float(other), None);
        }
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            prop_assert_eq!(unhex(&hex(&bytes)), Ok(bytes.clone()));
            prop_assert_eq!(read(of_bytes(&bytes)), Many::Bytes(bytes));
        }

        #[test]
        fn floats_come_back_with_all_their_bits(
            bits in prop_oneof![any::<u64>(), 0x7ff0_0000_0000_0000_u64..=0x7fff_ffff_ffff_ffff, Just(0x8000_0000_0000_0000)],
        ) {
            let float = match of_float(f64::from_bits(bits)) {
                Value::Object(fields) => named_float(&fields).unwrap().unwrap(),
                number => number.as_f64().unwrap(),
            };
            prop_assert_eq!(float.to_bits(), bits);
        }
    }
}
