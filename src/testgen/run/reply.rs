//! Reads the tests in a model's reply.
//!
//! Tests are objects with an `input`, in any position: in a bare array, in an object with other keys, in fenced
//! blocks of any kind, with prose around them. So fences need no parsing, and of a truncated array the complete
//! part is used. A wrong entry is reported with its number and never affects the others. A reflection is prose,
//! from which only the self-assessment is read.

use crate::llm::after_thoughts;
use crate::llm::json::{CUT_OFF, skip, value_at};
use crate::test_record::{GeneratedTest, TestCategory, make_ids_unique};
use serde_json::{Map, Value};

/// Largest number of tests from one reply.
pub const MOST_ENTRIES: usize = 64;
/// Largest number of bytes of a reply that are read.
pub const LONGEST: usize = 1 << 20;
/// Largest number of bytes of an id, and of a reasoning, that are kept.
const ID: usize = 80;
const REASONING: usize = 1_000;
/// Models' names for an input.
const INPUT: [&str; 3] = ["input", "inputs", "arguments"];
/// Largest number of problems that are reported, since a model does not read more.
const TOLD: usize = 32;

/// The content of a reply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Entries {
    /// Tests with unique ids. Their inputs are not yet checked against the contract.
    pub tests: Vec<GeneratedTest>,
    /// Unusable parts, in words for the next prompt. Entries are counted from 1.
    pub problems: Vec<String>,
    /// For each unreadable entry, the reason.
    pub unreadable: Vec<String>,
}

/// Reads a reply. All tests get the category that was `asked` for, whatever the reply says.
pub fn read(text: &str, asked: TestCategory) -> Entries {
    let mut scan = Scan { found: Entries::default(), asked, number: 0, lost: false };
    let mut text = after_thoughts(text);
    if text.len() > LONGEST {
        scan.problem(format!("the reply has {} bytes; {LONGEST} of them were read", text.len()));
        text = &text[..text.floor_char_boundary(LONGEST)];
    }
    scan.over(text);
    let mut found = scan.found;
    make_ids_unique(&mut found.tests);
    if found.tests.is_empty() && found.problems.is_empty() {
        found.problems.push("the reply has no JSON array of tests".into());
    }
    found
}

struct Scan {
    found: Entries,
    asked: TestCategory,
    /// Number of the last entry.
    number: usize,
    /// The last entry could not be read: further objects without an input are parts of it.
    lost: bool,
}

impl Scan {
    /// Scans from object to object.
    fn over(&mut self, text: &str) {
        let mut at = 0;
        while let Some(next) = text[at..].find('{').map(|next| at + next) {
            at = next + 1;
            if !is_object(text, next) {
                continue;
            }
            match value_at(text, next) {
                Ok((value, end)) => {
                    at = end;
                    let mut entries = Vec::new();
                    collect(value, &mut entries);
                    for fields in entries {
                        if self.number >= MOST_ENTRIES {
                            return self.too_many();
                        }
                        self.entry(fields);
                    }
                }
                Err(_) if opens_list(text, next) => {}
                Err(wrong) if !self.lost => {
                    if self.number >= MOST_ENTRIES {
                        return self.too_many();
                    }
                    self.number += 1;
                    self.lost = true;
                    let line = text[..text.floor_char_boundary(wrong.at)].matches('\n').count() + 1;
                    let place = if wrong.what == CUT_OFF { String::new() } else { format!(" (line {line})") };
                    self.unreadable(&format!("{}{place}", wrong.what));
                }
                Err(_) => {}
            }
        }
    }

    fn too_many(&mut self) {
        self.problem(format!("only the first {MOST_ENTRIES} entries were read"));
    }

    fn entry(&mut self, mut fields: Map<String, Value>) {
        let input = take(&mut fields, &INPUT);
        if input.is_none() && (self.lost || is_empty_list(&fields)) {
            return;
        }
        self.number += 1;
        match input.map(object) {
            Some(Some(input)) => {
                self.lost = false;
                let test = self.test(input, fields);
                self.found.tests.push(test);
            }
            // A parameter may be called `input`.
            Some(None) if self.lost => self.number -= 1,
            Some(None) => self.unreadable("`input` is not an object"),
            None => self.unreadable("it has no `input`"),
        }
    }

    fn test(&self, input: Value, mut fields: Map<String, Value>) -> GeneratedTest {
        let said = |value: Option<Value>, most: usize| {
            let text = match value {
                Some(Value::String(text)) => text,
                Some(Value::Number(number)) => number.to_string(),
                _ => String::new(),
            };
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            text[..text.floor_char_boundary(most)].to_owned()
        };
        let id = said(take(&mut fields, &["id", "name"]), ID);
        let predicted =
            take(&mut fields, &["predicted_output", "prediction", "predicted", "expected_output"]);
        GeneratedTest {
            input,
            predicted_output: predicted.or_else(|| take(&mut fields, &["expected", "output"])),
            reasoning: said(take(&mut fields, &["reasoning", "reason", "rationale", "purpose"]), REASONING),
            confidence: take(&mut fields, &["confidence"]).and_then(|value| confidence(&value)),
            ..GeneratedTest::new(id, self.asked)
        }
    }

    /// Records that the last entry is unreadable.
    fn unreadable(&mut self, why: &str) {
        let why = format!("entry {}: {why}", self.number);
        self.problem(why.clone());
        self.found.unreadable.push(why);
    }

    fn problem(&mut self, what: String) {
        if self.found.problems.len() < TOLD {
            self.found.problems.push(what);
        }
    }
}

/// Whether an object begins here, with a quoted key and a colon. C initialisers and placeholders in prose have
/// none.
pub(crate) fn is_object(text: &str, at: usize) -> bool {
    let is_in_list = || text[..at].trim_end().ends_with(['[', ',']);
    key(text, at).is_some() || text[at + 1..].starts_with('}') && is_in_list()
}

/// The first key of an object, and the position of its value.
fn key(text: &str, at: usize) -> Option<(String, usize)> {
    let (key, end) = value_at(text, skip(text, at + 1)).ok()?;
    let Value::String(key) = key else { return None };
    let colon = skip(text, end);
    (text.as_bytes().get(colon) == Some(&b':')).then(|| (key, skip(text, colon + 1)))
}

/// Collects the entries of a complete value: an object without an input counts by the tests inside it, if there are
/// any.
fn collect(value: Value, entries: &mut Vec<Map<String, Value>>) {
    match value {
        Value::Array(list) => list.into_iter().for_each(|value| collect(value, entries)),
        Value::Object(fields) if has_input(&fields) || !fields.values().any(holds_test) => {
            entries.push(fields)
        }
        Value::Object(fields) => {
            // The other fields are not lists of tests.
            let around = fields.into_iter().map(|(_, value)| value).filter(holds_test);
            around.for_each(|value| collect(value, entries));
        }
        _ => {}
    }
}

/// Whether it contains an object with an input.
fn holds_test(value: &Value) -> bool {
    match value {
        Value::Array(list) => list.iter().any(holds_test),
        Value::Object(fields) => has_input(fields) || fields.values().any(holds_test),
        _ => false,
    }
}

/// Whether its keys make it a test. A list called `inputs` or `arguments` is a list of tests.
fn has_input(fields: &Map<String, Value>) -> bool {
    let [input, others @ ..] = INPUT;
    let has = |(key, value): (&String, &Value)| {
        plain(key) == input || others.contains(&plain(key).as_str()) && !value.is_array()
    };
    fields.iter().any(has)
}

/// Whether the object says that there are no tests: `{"tests": []}`.
fn is_empty_list(fields: &Map<String, Value>) -> bool {
    let is_empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
    fields.values().any(is_empty)
        && fields.values().all(|value| is_empty(value) || !(value.is_array() || value.is_object()))
}

/// Whether an incomplete object has a list of objects before any input, so that it contains tests.
fn opens_list(text: &str, at: usize) -> bool {
    let mut next = key(text, at);
    while let Some((_, value)) = next.filter(|(key, _)| plain(key) != INPUT[0]) {
        let first = skip(text, value + 1);
        if text[value..].starts_with('[') && text.as_bytes().get(first) == Some(&b'{') {
            return true;
        }
        let Ok((_, end)) = value_at(text, value) else { return false };
        let comma = skip(text, end);
        next = if text[comma..].starts_with(',') { key(text, comma) } else { None };
    }
    false
}

/// A key in lower case, without word separators.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase()
}

/// Takes the first of these keys that exists, with any word separators.
fn take(fields: &mut Map<String, Value>, names: &[&str]) -> Option<Value> {
    let key = names.iter().find_map(|name| fields.keys().find(|key| plain(key) == plain(name)))?.clone();
    fields.remove(&key).filter(|value| !value.is_null())
}

/// An input, which some models write as a string with JSON in it.
fn object(value: Value) -> Option<Value> {
    match value {
        Value::Object(_) => Some(value),
        Value::String(text) => value_at(&text, 0).ok().map(|(value, _)| value).filter(Value::is_object),
        _ => None,
    }
}

/// A confidence from 0 to 1; also from a string or a percentage.
fn confidence(value: &Value) -> Option<f64> {
    let share = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => match text.trim().strip_suffix('%') {
            Some(percents) => percents.trim().parse::<f64>().ok()? / 100.0,
            None => text.trim().parse().ok()?,
        },
        _ => return None,
    };
    (!share.is_nan()).then(|| share.clamp(0.0, 1.0))
}

/// A model's assessment of the tests so far, 0 to 10, from a line of its reflection such as `self-assessment: 7`.
/// The last such line counts; `None` if there is none with a number.
pub fn self_assessment(text: &str) -> Option<f64> {
    let of_line = |line: &str| {
        let line = line.to_lowercase();
        let keys = ["self-assessment", "self assessment", "self_assessment"];
        let said = keys.iter().find_map(|key| Some(line.split_once(key)?.1))?;
        // If the line repeats the scale, the number comes after it.
        let said = said.rsplit_once(':').map_or(said, |(_, said)| said);
        let number = said.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '-');
        let end = number.find(|c: char| !matches!(c, '-' | '.' | '0'..='9')).unwrap_or(number.len());
        let value: f64 = number[..end].trim_end_matches('.').parse().ok()?;
        Some(value.clamp(0.0, 10.0))
    };
    after_thoughts(text).lines().rev().find_map(of_line)
}

#[cfg(test)]
mod tests;
