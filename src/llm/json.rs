//! JSON as models write it: with trailing commas, comments, hexadecimal numbers, line feeds in strings, and cut off.
//!
//! Unambiguous text is read; other text is reported with its position and never panics.

use serde_json::{Map, Number, Value, json};

/// Nothing is nested deeper than the fuzz process reads, and a little for what is around it.
const DEPTH: usize = 40;

/// Why no value begins at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wrong {
    /// Bytes from the start of the text.
    pub at: usize,
    pub what: &'static str,
}

/// Bytes of a comment: looking for the ends of many that have none would take long.
const COMMENT: usize = 1_000;

/// The text ends within a value.
pub const CUT_OFF: &str = "the reply ends in the middle of it";

/// The value that begins at this byte of the text, and where it ends.
pub fn value_at(text: &str, at: usize) -> Result<(Value, usize), Wrong> {
    let mut reader = Reader { text, at };
    let value = reader.value(DEPTH)?;
    Ok((value, reader.at))
}

/// The next byte at or behind this one that is neither white space nor in a comment.
pub fn skip(text: &str, at: usize) -> usize {
    let mut reader = Reader { text, at };
    reader.blank();
    reader.at
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

type Of<T> = Result<T, Wrong>;

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn wrong<T>(&self, what: &'static str) -> Of<T> {
        Err(Wrong { at: self.at, what: if self.peek().is_none() { CUT_OFF } else { what } })
    }

    fn blank(&mut self) {
        loop {
            let rest = self.rest();
            let start = rest.trim_start();
            self.at += rest.len() - start.len();
            let near = &start[..start.floor_char_boundary(COMMENT)];
            let comment = match near.as_bytes() {
                [b'/', b'/', ..] => near.find('\n').or((near.len() == start.len()).then_some(near.len())),
                [b'/', b'*', ..] => near.find("*/").map(|end| end + 2),
                _ => None,
            };
            match comment {
                Some(length) => self.at += length,
                None => return,
            }
        }
    }

    fn value(&mut self, depth: usize) -> Of<Value> {
        let Some(depth) = depth.checked_sub(1) else { return self.wrong("it is nested too deeply") };
        self.blank();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => self.string().map(Value::String),
            _ => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Of<Value> {
        let mut fields = Map::new();
        self.at += 1;
        loop {
            self.blank();
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Value::Object(fields));
                }
                Some(b'"') => {}
                _ => return self.wrong("a key in double quotes is missing"),
            }
            let key = self.string()?;
            self.blank();
            if self.peek() != Some(b':') {
                return self.wrong("a colon is missing after a key");
            }
            self.at += 1;
            let value = self.value(depth)?;
            fields.insert(key, value);
            self.separator(b'}')?;
        }
    }

    fn list(&mut self, depth: usize) -> Of<Value> {
        let mut list = Vec::new();
        self.at += 1;
        loop {
            self.blank();
            if self.peek() == Some(b']') {
                self.at += 1;
                return Ok(Value::Array(list));
            }
            list.push(self.value(depth)?);
            self.separator(b']')?;
        }
    }

    /// A comma, or nothing before `end`.
    fn separator(&mut self, end: u8) -> Of<()> {
        self.blank();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(())
            }
            Some(byte) if byte == end => Ok(()),
            _ => self.wrong("a comma is missing"),
        }
    }

    fn string(&mut self) -> Of<String> {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut end = start + 1;
        loop {
            match bytes.get(end) {
                None => return Err(Wrong { at: bytes.len(), what: CUT_OFF }),
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(_) => end += 1,
            }
        }
        self.at = end + 1;
        // What serde does not take is escaped: models break long strings into lines.
        let quoted = self.text.get(start..self.at).unwrap_or_default();
        let quoted = quoted.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t");
        serde_json::from_str(&quoted).map_err(|_| Wrong { at: start, what: "a string has a wrong escape" })
    }

    /// A number, or one of JSON's words, or one of JavaScript's.
    fn word(&mut self) -> Of<Value> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
        let word: &str = self.rest().split(|c| !is_part(c)).next().unwrap_or_default();
        let value = match word {
            "" => return self.wrong("a value is missing"),
            "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "NaN" => json!({ "float": "nan" }),
            "Infinity" => json!({ "float": "inf" }),
            "-Infinity" => json!({ "float": "-inf" }),
            _ => match number(word) {
                Some(value) => value,
                None => return self.wrong("it is not a JSON value"),
            },
        };
        self.at += word.len();
        Ok(value)
    }
}

/// Whole numbers of more than 64 bits as their digits.
fn number(word: &str) -> Option<Value> {
    let small = |number: i128| {
        let signed = i64::try_from(number).map(Value::from).ok();
        signed
            .or_else(|| u64::try_from(number).map(Value::from).ok())
            .unwrap_or_else(|| number.to_string().into())
    };
    // As a float is meant it is one of its own; as an integer is meant it is 0 all the same.
    if word == "-0" {
        return Some((-0.0).into());
    }
    if let Some(digits) = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        return i128::from_str_radix(digits, 16).ok().map(small);
    }
    if let Ok(number) = word.parse::<i128>() {
        return Some(small(number));
    }
    serde_json::from_str::<Number>(word).ok().map(Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Value {
        value_at(text, 0).unwrap().0
    }

    #[test]
    fn what_models_write_beyond_json_is_read() {
        for (text, value) in [
            ("[1, 2,]", json!([1, 2])),
            ("{\"a\": 1,\n}", json!({"a": 1})),
            ("{ // n\n \"a\" /* x */ : 0x1F }", json!({"a": 31})),
            ("\"a\nb\\u00e9\\n\"", json!("a\nbé\n")),
            ("[NaN, -Infinity, -0.0, 1e3]", json!([{"float": "nan"}, {"float": "-inf"}, -0.0, 1000.0])),
            ("-0", json!(-0.0)),
            ("18446744073709551615", json!(u64::MAX)),
            ("340282366920938463463374607431768211", json!("340282366920938463463374607431768211")),
            ("-9223372036854775809", json!("-9223372036854775809")),
        ] {
            assert_eq!(read(text), value, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, at, what) in [
            ("{\"a\": 1", 7, CUT_OFF),
            ("[1, \"ab", 7, CUT_OFF),
            ("[1 2]", 3, "a comma is missing"),
            ("{\"a\" 1}", 5, "a colon is missing after a key"),
            ("{a: 1}", 1, "a key in double quotes is missing"),
            ("[maybe]", 1, "it is not a JSON value"),
            ("[\"\\q\"]", 1, "a string has a wrong escape"),
            ("[,]", 1, "a value is missing"),
        ] {
            assert_eq!(value_at(text, 0), Err(Wrong { at, what }), "{text}");
        }
        let deep = "[".repeat(100_000);
        assert_eq!(value_at(&deep, 0).unwrap_err().what, "it is nested too deeply");
    }

    proptest! {
        #[test]
        fn json_is_read_as_serde_reads_it(text in "([\\[\\]{},:]|\"[a-z\\\\n]{0,3}\"|-?[0-9]{1,4}|null|true| ){0,20}") {
            if let Ok(value) = serde_json::from_str::<Value>(&text) {
                prop_assert_eq!(value_at(&text, 0).map(|(value, _)| value), Ok(value));
            }
        }

        #[test]
        fn nothing_panics(text in any::<String>(), at in 0usize..20) {
            if text.is_char_boundary(at) {
                let _ = value_at(&text, at);
                skip(&text, at);
            }
        }
    }
}
