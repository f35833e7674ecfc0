//! The structure of JSON without its values: every field, with the types of its values.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Fields whose content is of no fixed shape: inputs, results, and settings by name.
const FREE: [&str; 6] =
    ["input", "predicted_output", "expected_output", "changes", "category_distribution", "category_prompts"];

type Fields = BTreeMap<String, BTreeSet<&'static str>>;

/// A line for each field, of lists over all their elements.
pub fn shape(value: &Value) -> String {
    let mut fields = Fields::new();
    collect(value, "", &mut fields);
    let line = |(path, kinds): (String, BTreeSet<&str>)| {
        format!("{path}: {}\n", kinds.into_iter().collect::<Vec<_>>().join(" or "))
    };
    fields.into_iter().map(line).collect()
}

/// The shape; fails where a field is not named in `docs/formats.md`.
#[track_caller]
pub fn documented(value: &Value) -> String {
    let docs = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/formats.md")).unwrap();
    let mut fields = Fields::new();
    collect(value, "", &mut fields);
    for path in fields.keys() {
        let name = path.rsplit('.').next().unwrap().trim_end_matches("[]");
        let is_named =
            name.is_empty() || ["", "[]"].iter().any(|list| docs.contains(&format!("`{name}{list}`")));
        assert!(is_named, "docs/formats.md does not name `{name}` ({path})");
    }
    shape(value)
}

fn collect(value: &Value, path: &str, fields: &mut Fields) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "truth",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    };
    if !path.is_empty() {
        fields.entry(path.to_owned()).or_default().insert(kind);
    }
    let name = path.rsplit('.').next().unwrap_or_default();
    match value {
        Value::Array(list) => list.iter().for_each(|one| collect(one, &format!("{path}[]"), fields)),
        Value::Object(object) if !FREE.contains(&name) => {
            let front = if path.is_empty() { String::new() } else { format!("{path}.") };
            object.iter().for_each(|(name, one)| collect(one, &format!("{front}{name}"), fields));
        }
        _ => {}
    }
}
