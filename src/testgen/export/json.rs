//! Values in the JSON of `docs/testgen.md`: numbers of any width, special floats, bytes and elements.

use crate::fuzz::values::json::{self as json, Many};
use serde_json::Value;

/// Largest number of elements of a literal: people read test files, and the local variables are on a thread's
/// stack.
pub(super) const LONGEST: usize = 16_384;

/// Default content of memory that is only written.
const FILL: [u8; 4] = [0x5a; 4];

/// An integer of up to 128 bits with a sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Whole {
    pub negative: bool,
    pub magnitude: u128,
}

impl Whole {
    /// Reads a number, its digits as a string, or a boolean.
    pub fn read(value: &Value) -> Result<Self, String> {
        let read = match value {
            Value::Bool(value) => Some(Self { negative: false, magnitude: u128::from(*value) }),
            Value::Number(number) => Self::from_digits(&number.to_string()),
            Value::String(digits) => Self::from_digits(digits),
            _ => None,
        };
        read.ok_or_else(|| format!("{} is not a whole number", shown(value)))
    }

    fn from_digits(digits: &str) -> Option<Self> {
        let (minus, digits) = digits.strip_prefix('-').map_or((false, digits), |rest| (true, rest));
        // `parse` would accept a plus sign.
        let magnitude = digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        Some(Self { negative: minus && magnitude != 0, magnitude })
    }

    /// Whether the value fits an integer of this width.
    pub fn fits(self, signed: bool, bits: u16) -> bool {
        let all = u128::MAX >> (128 - u32::from(bits.clamp(1, 128)));
        match (signed, self.negative) {
            (false, negative) => !negative && self.magnitude <= all,
            (true, true) => self.magnitude <= all / 2 + 1,
            (true, false) => self.magnitude <= all / 2,
        }
    }

    /// Its low byte in two's complement.
    pub fn low_byte(self) -> u8 {
        let [low, ..] = self.magnitude.to_le_bytes();
        if self.negative { low.wrapping_neg() } else { low }
    }

    /// Reads bytes in memory order, the lowest first.
    pub fn from_memory(bytes: &[u8], signed: bool) -> Self {
        let magnitude = bytes.iter().rev().fold(0, |number, byte| number << 8 | u128::from(*byte));
        let width = 8 * u32::try_from(bytes.len()).unwrap_or(16).clamp(1, 16);
        let negative = signed && magnitude >> (width - 1) == 1;
        let magnitude =
            if negative { magnitude.wrapping_neg() & u128::MAX >> (128 - width) } else { magnitude };
        Self { negative, magnitude }
    }

    /// The digits, with a minus sign if negative.
    pub fn digits(self) -> String {
        format!("{}{}", if self.negative { "-" } else { "" }, self.magnitude)
    }
}

/// Whether a handle was made: a boolean, or 1 and 0.
pub(super) fn is_made(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(made) => Some(*made),
        _ => value.as_u64().filter(|number| *number < 2).map(|number| number == 1),
    }
}

/// A number, `{"float": …}` or `{"bits": …}`.
pub(super) fn float(value: &Value) -> Result<f64, String> {
    let read = match value {
        Value::Number(number) => number.as_f64().map(Ok),
        Value::Object(object) => json::named_float(object),
        _ => None,
    };
    read.unwrap_or_else(|| Err(format!("{} is no float", shown(value))))
}

/// A string, `{"hex": …}`, an array, or `{"repeat": …, "times": n}`.
pub(super) fn many(value: &Value) -> Result<Many, String> {
    json::many(value, LONGEST).unwrap_or_else(|| Err(format!("{} is no buffer", shown(value))))
}

/// Checks that this many elements fit into a literal.
pub(super) fn within(length: usize) -> Result<(), String> {
    if length <= LONGEST {
        return Ok(());
    }
    Err(format!("{length} elements are too many for a literal; the limit is {LONGEST}"))
}

/// Memory that is only written: its number of elements, if given, and its content before the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Prepared {
    pub room: Option<usize>,
    pub fill: [u8; 4],
}

impl Prepared {
    /// The default.
    pub const PLAIN: Self = Self { room: None, fill: FILL };

    /// Reads a number, or an object with `room` and `fill`; `None` where the value is a content.
    pub fn read(value: &Value) -> Result<Option<Self>, String> {
        let bad = || format!("{} does not describe an output", shown(value));
        let count = |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok());
        match value {
            Value::Number(_) => Ok(Some(Self { room: Some(count(value).ok_or_else(bad)?), ..Self::PLAIN })),
            Value::Object(object) if object.keys().all(|key| key == "room" || key == "fill") => {
                let room = object.get("room").map(|room| count(room).ok_or_else(bad)).transpose()?;
                let fill = object.get("fill").map_or(Some(FILL), four).ok_or_else(bad)?;
                Ok(Some(Self { room, fill }))
            }
            _ => Ok(None),
        }
    }
}

/// Four bytes, in any notation of bytes.
fn four(value: &Value) -> Option<[u8; 4]> {
    let bytes = match many(value).ok()? {
        Many::Bytes(bytes) => bytes,
        Many::Elements(elements) => {
            let byte = |element: &Value| element.as_u64().and_then(|byte| u8::try_from(byte).ok());
            elements.iter().map(byte).collect::<Option<Vec<u8>>>()?
        }
    };
    bytes.try_into().ok()
}

/// The beginning of a value, for messages.
pub(super) fn shown(value: &Value) -> String {
    let text = value.to_string();
    let short: String = text.chars().take(40).collect();
    if short.len() < text.len() { format!("`{short}…`") } else { format!("`{short}`") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn whole(value: Value) -> Result<String, String> {
        Whole::read(&value).map(Whole::digits)
    }

    #[test]
    fn whole_numbers_come_as_numbers_or_as_digits() {
        assert_eq!(whole(json!(-7)).unwrap(), "-7");
        assert_eq!(whole(json!(u64::MAX)).unwrap(), u64::MAX.to_string());
        assert_eq!(whole(json!(u128::MAX.to_string())).unwrap(), u128::MAX.to_string());
        assert_eq!(whole(json!("-170141183460469231731687303715884105728")).unwrap(), i128::MIN.to_string());
        assert_eq!(whole(json!(true)).unwrap(), "1");
        assert_eq!(whole(json!("-0")).unwrap(), "0");
        for bad in [
            json!(1.5),
            json!(1e30),
            json!("+1"),
            json!(""),
            json!("-"),
            json!("0x1"),
            json!(null),
            json!([1]),
        ] {
            assert!(Whole::read(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn limits_are_those_of_the_type() {
        let fits = |text: &str, signed, bits| Whole::read(&json!(text)).unwrap().fits(signed, bits);
        assert!(fits("255", false, 8) && !fits("256", false, 8) && !fits("-1", false, 8));
        assert!(
            fits("127", true, 8) && !fits("128", true, 8) && fits("-128", true, 8) && !fits("-129", true, 8)
        );
        assert!(fits(&u128::MAX.to_string(), false, 128) && fits(&i128::MIN.to_string(), true, 128));
        assert!(!fits(&u128::MAX.to_string(), true, 128) && fits("1", false, 1) && !fits("2", false, 1));
    }

    #[test]
    fn floats_have_names_where_json_has_none() {
        assert!(float(&json!({"float": "nan"})).unwrap().is_nan());
        assert_eq!(float(&json!({"float": "-inf"})).unwrap(), f64::NEG_INFINITY);
        assert_eq!(float(&json!({"float": "-0.0"})).unwrap().to_bits(), (-0.0f64).to_bits());
        assert_eq!(float(&json!({"bits": "0x3ff8000000000000"})).unwrap(), 1.5);
        assert_eq!(float(&json!(3)).unwrap(), 3.0);
        for bad in [
            json!("nan"),
            json!({"float": "NaN"}),
            json!({"bits": "12"}),
            json!({"bits": "0x1", "float": "nan"}),
        ] {
            assert!(float(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn buffers_come_in_four_ways() {
        assert_eq!(many(&json!("hé")).unwrap(), Many::Bytes("hé".into()));
        assert_eq!(many(&json!({"hex": "00fF"})).unwrap(), Many::Bytes(vec![0, 255]));
        assert_eq!(many(&json!([1, 2])).unwrap(), Many::Elements(vec![json!(1), json!(2)]));
        assert_eq!(many(&json!({"repeat": "ab", "times": 2})).unwrap(), Many::Bytes(b"abab".to_vec()));
        assert_eq!(
            many(&json!({"repeat": [1, 2], "times": 2})).unwrap(),
            many(&json!([1, 2, 1, 2])).unwrap()
        );
        assert_eq!(many(&json!({"repeat": "", "times": u64::MAX})).unwrap(), Many::Bytes(vec![]));
        let long = json!({"repeat": "a", "times": LONGEST + 1});
        assert!(many(&long).unwrap_err().contains("too many"));
        assert!(many(&json!({"repeat": {"repeat": "a", "times": LONGEST}, "times": u64::MAX})).is_err());
        for bad in [
            json!(3),
            json!(null),
            json!({"hex": "0"}),
            json!({"hex": "0g"}),
            json!({"hex": "é"}),
            json!({"repeat": "a"}),
        ] {
            assert!(many(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_output_is_a_number_or_says_what_stands_there() {
        let read = |value| Prepared::read(&value);
        assert_eq!(read(json!(3)), Ok(Some(Prepared { room: Some(3), fill: [0x5a; 4] })));
        for fill in [json!({"hex": "31323334"}), json!("1234"), json!([0x31, 0x32, 0x33, 0x34])] {
            let both = json!({"room": 2, "fill": fill});
            assert_eq!(read(both), Ok(Some(Prepared { room: Some(2), fill: *b"1234" })));
        }
        assert_eq!(read(json!({})), Ok(Some(Prepared::PLAIN)));
        assert_eq!(read(json!("abc")), Ok(None));
        assert!(read(json!(-1)).is_err() && read(json!({"fill": "123"})).is_err());
    }

    proptest! {
        #[test]
        fn hex_comes_back(bytes: Vec<u8>) {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            prop_assert_eq!(many(&json!({"hex": digits})), Ok(Many::Bytes(bytes)));
        }

        #[test]
        fn numbers_come_back(number: i128) {
            prop_assert_eq!(whole(json!(number.to_string())), Ok(number.to_string()));
            prop_assert_eq!(Whole::from_memory(&number.to_le_bytes(), true).digits(), number.to_string());
        }

        #[test]
        fn memory_is_read_as_the_machine_does(bytes: [u8; 4]) {
            let signed = Whole::from_memory(&bytes, true);
            prop_assert_eq!(signed.digits(), i32::from_le_bytes(bytes).to_string());
            prop_assert_eq!(signed.low_byte(), bytes[0]);
            prop_assert!(signed.fits(true, 32));
            prop_assert_eq!(Whole::from_memory(&bytes, false).digits(), u32::from_le_bytes(bytes).to_string());
        }

        #[test]
        fn bits_of_floats_come_back(bits: u64) {
            let read = float(&json!({"bits": format!("{bits:#x}")})).unwrap();
            prop_assert_eq!(read.to_bits(), bits);
        }

        #[test]
        fn no_json_panics(text in "[\\[\\]{}\"a-f0-9:,.-]{0,24}") {
            if let Ok(value) = serde_json::from_str::<Value>(&text) {
                drop((Whole::read(&value), float(&value), many(&value), Prepared::read(&value)));
            }
        }
    }
}
