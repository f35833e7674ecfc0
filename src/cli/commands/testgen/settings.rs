//! Settings of a configuration from a person: a file, overridden by `KEY=VALUE`.

use crate::config::misread;
use crate::error::{Error, ErrorKind, Result};
use crate::test_record::{TestGenConfig, TestGenConfigInput};
use serde_json::{Map, Value};
use std::path::Path;

/// The key whose value may be null, for the provider's default.
const MAY_BE_NULL: &str = "temperature";

/// The settings of a person.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Settings {
    pub(super) input: TestGenConfigInput,
    /// Resets the temperature to the provider's default. A model cannot do this, because null in a proposal means
    /// no change.
    unsets_temperature: bool,
}

impl Settings {
    /// `base` with these settings.
    ///
    /// Errors (`Config`): the result is invalid.
    pub(super) fn apply(&self, mut base: TestGenConfig) -> Result<TestGenConfig> {
        if self.unsets_temperature {
            base.temperature = None;
        }
        self.input.apply(&base)
    }
}

/// The settings of the file, overridden by each text in order. `category_prompts.boundary` is a valid key, too.
///
/// Errors (`Config`): an unknown key, with the nearest known one; a value of the wrong type, with its key.
pub(super) fn read(file: Option<&Path>, texts: &[String]) -> Result<Settings> {
    let mut all = Map::new();
    if let Some(file) = file {
        let place = file.display().to_string();
        for (key, value) in of_file(file, &place)? {
            put(&mut all, &key, value, &format!("{place}: {key}"))?;
        }
    }
    for text in texts {
        let (key, value) = pair(text)?;
        put(&mut all, key, value, &format!("--set {key}"))?;
    }
    let unsets_temperature = all.get(MAY_BE_NULL).is_some_and(Value::is_null);
    let input = serde_json::from_value(all.into()).map_err(|error| explained(&error, "the settings"))?;
    Ok(Settings { input, unsets_temperature })
}

fn of_file(file: &Path, place: &str) -> Result<Map<String, Value>> {
    let text = fs_err::read_to_string(file)?;
    let wrong = |what: String| {
        Error::new(ErrorKind::Config, format!("{place}: {what}"))
            .help("one JSON object, as in {\"max_tokens\": 4096, \"precision_weight\": 0.7}")
    };
    match serde_json::from_str(&text) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(wrong("it holds no JSON object".into())),
        Err(error) => Err(wrong(format!("it is not valid JSON: {error}"))),
    }
}

/// A key and its value in JSON or TOML, which agree on numbers and strings.
fn pair(text: &str) -> Result<(&str, Value)> {
    let wrong = |what: String| {
        Error::new(ErrorKind::Config, format!("--set {text}: {what}"))
            .help("write it as --set 'primary_model=\"claude\"' or --set max_tokens=4096")
    };
    let (key, value) = text.split_once('=').ok_or_else(|| wrong("there is no `=` in it".into()))?;
    let (key, value) = (key.trim(), value.trim());
    let of_toml = || value.parse::<toml::Value>().ok().and_then(|value| serde_json::to_value(value).ok());
    match serde_json::from_str(value).ok().or_else(of_toml) {
        // TOML has numbers, such as infinity, that JSON lacks.
        Some(Value::Null) if value != "null" => Err(wrong(format!("`{value}` is not a valid value"))),
        Some(value) => Ok((key, value)),
        None => Err(wrong(format!("`{value}` is neither JSON nor TOML; write text in \"quotes\""))),
    }
}

fn put(all: &mut Map<String, Value>, key: &str, value: Value, place: &str) -> Result<()> {
    if value.is_null() && key != MAY_BE_NULL {
        return Err(Error::new(ErrorKind::Config, format!("{place}: null is not a valid value"))
            .help("leave the key out to keep its value"));
    }
    let (field, value) = match key.split_once('.') {
        Some((field, part)) => (field, Value::Object(Map::from_iter([(part.to_owned(), value)]))),
        None => (key, value),
    };
    // One at a time, because serde does not name the key of a wrong value.
    let alone = Value::Object(Map::from_iter([(field.to_owned(), value.clone())]));
    serde_json::from_value::<TestGenConfigInput>(alone).map_err(|error| explained(&error, place))?;
    match (all.get_mut(field), value) {
        (Some(Value::Object(old)), Value::Object(new)) => old.extend(new),
        (_, value) => drop(all.insert(field.to_owned(), value)),
    }
    Ok(())
}

fn explained(error: &serde_json::Error, place: &str) -> Error {
    misread(&error.to_string(), place).help("`cargo implfuzz testgen config show` has every key with a value")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read_texts(texts: &[&str]) -> Result<Settings> {
        read(None, &texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn values_are_json_or_toml_and_the_last_one_counts() {
        let input = read_texts(&[
            "max_tokens=1",
            "max_tokens = 4_096",
            "primary_model='claude'",
            "reflection_model=\"local\"",
            "precision_weight=0.25",
            "global_refinement=false",
            "anti_cheat_prompt=\"a=b\"",
            "category_prompts={\"boundary\": \"edges\"}",
            "category_prompts.existence=\"there\"",
        ]);
        let input = input.unwrap().input;
        let wanted = json!({
            "max_tokens": 4_096, "precision_weight": 0.25,
            "category_prompts": {"existence": "there", "boundary": "edges"}, "anti_cheat_prompt": "a=b",
            "primary_model": "claude", "reflection_model": "local", "global_refinement": false,
        });
        assert_eq!(json!(input), wanted);
        assert_eq!(read_texts(&[]).unwrap(), Settings::default());
    }

    #[test]
    fn null_leaves_the_temperature_to_the_provider() {
        let base = TestGenConfig { temperature: Some(0.3), ..TestGenConfig::default() };
        let temperature =
            |texts: &[&str]| read_texts(texts).unwrap().apply(base.clone()).unwrap().temperature;
        assert_eq!(temperature(&["max_tokens=9"]), Some(0.3));
        assert_eq!(temperature(&["temperature=0.5", "temperature=null"]), None);
        assert_eq!(temperature(&["temperature=null", "temperature=0.5"]), Some(0.5));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_key() {
        for (text, says, help) in [
            ("max_token=1", "--set max_token: unknown key `max_token`", "did you mean `max_tokens`?"),
            ("zzz=1", "unknown key `zzz`", "known keys here: version, temperature"),
            ("max_tokens=-1", "--set max_tokens: invalid value", "config show"),
            ("max_tokens=\"many\"", "--set max_tokens: invalid type", "config show"),
            ("temperature=nan", "`nan` is not a valid value", "--set max_tokens=4096"),
            ("max_tokens=null", "--set max_tokens: null is not a valid value", "leave the key out"),
            ("temperature.x=1", "--set temperature.x: invalid type", "config show"),
            ("primary_model=claude", "`claude` is neither JSON nor TOML", "'primary_model=\"claude\"'"),
            ("primary_model=\"cloud\"", "--set primary_model: unknown variant", "did you mean `claude`?"),
            ("category_prompts.boundry=\"x\"", "unknown variant `boundry`", "did you mean `boundary`?"),
            ("max_tokens", "there is no `=`", "--set max_tokens=4096"),
            ("max_tokens=1\nversion=2", "neither JSON nor TOML", "--set max_tokens=4096"),
        ] {
            let error = read_texts(&[text]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Config);
            assert!(error.to_string().contains(says), "{text}: {error}");
            assert!(error.help_text().is_some_and(|line| line.contains(help)), "{text}: {error:?}");
        }
    }

    #[test]
    fn texts_stand_over_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("base.json");
        std::fs::write(&file, r#"{"max_tokens": 1, "max_total_rounds": 3}"#).unwrap();
        let input = read(Some(&file), &["max_tokens=2".into()]).unwrap().input;
        assert_eq!(json!(input), json!({"max_tokens": 2, "max_total_rounds": 3}));
        for (text, says) in [
            ("[]", "no JSON object"),
            ("{", "not valid JSON"),
            (r#"{"max_rounds": 1}"#, "base.json: max_rounds: unknown key"),
            (r#"{"max_tokens": null}"#, "base.json: max_tokens: null is not a valid value"),
        ] {
            std::fs::write(&file, text).unwrap();
            let error = read(Some(&file), &[]).unwrap_err();
            assert!(error.to_string().contains(says), "{error}");
        }
        let error = read(Some(&dir.path().join("none.json")), &[]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
    }
}
