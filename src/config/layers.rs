//! The layers of the configuration: defaults, file, environment, command line. Each is parsed alone first, so that
//! an error can name its layer and line (the crates `config` and `figment` know no lines); then they are merged as TOML
//! tables.

use super::llm::{DRIVER_ROLES, OF_ONE_PROVIDER, PORT_ROLES, TEST_ROLES};
use super::suggest::nearest_help;
use super::{Config, Maker, VERSION};
use crate::error::{Error, ErrorKind, Result};
use std::path::Path;
use toml::{Table, Value};

/// Environment variables and the keys of `[llm]` that they set.
const ENVIRONMENT: [(&str, &str); 3] = [
    ("IMPLFUZZ_LLM_PROVIDER", "provider"),
    ("IMPLFUZZ_LLM_MODEL", "model"),
    ("IMPLFUZZ_LLM_BASE_URL", "base_url"),
];

pub(super) fn load(
    path: &Path,
    overrides: &[String],
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<Config> {
    let mut merged = file_layer(path)?;
    lay_over(&mut merged, environment_layer(env)?);
    lay_over(&mut merged, command_line_layer(overrides)?);
    let config: Config = merged.try_into().map_err(|error: toml::de::Error| {
        // Every layer was valid alone, so this is a contradiction between two of them.
        Error::new(ErrorKind::Config, format!("the merged configuration is wrong: {}", error.message()))
    })?;
    validate(&config, path)?;
    Ok(config)
}

fn file_layer(path: &Path) -> Result<Table> {
    let text = match fs_err::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Table::new()),
        Err(error) => return Err(error.into()),
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    parse_layer(text, &path.display().to_string(), true)
}

fn environment_layer(env: &dyn Fn(&str) -> Option<String>) -> Result<Table> {
    let mut layer = Table::new();
    for (variable, key) in ENVIRONMENT {
        if let Some(value) = env(variable).filter(|v| !v.is_empty()) {
            let text = format!("llm.{key} = {}", Value::String(value));
            merge(&mut layer, parse_layer(&text, variable, false)?);
        }
    }
    Ok(layer)
}

fn command_line_layer(overrides: &[String]) -> Result<Table> {
    let mut layer = Table::new();
    for text in overrides {
        let origin = format!("--config '{text}'");
        if !text.contains('=') || text.contains('\n') {
            return Err(Error::new(ErrorKind::Config, format!("{origin}: not of the form key.path=value"))
                .help("write it like this: --config 'llm.model=\"name\"'"));
        }
        merge(&mut layer, parse_layer(text, &origin, false)?);
    }
    Ok(layer)
}

/// Parses one layer and checks it against the types. `lines`: whether the line number helps the reader.
fn parse_layer(text: &str, origin: &str, lines: bool) -> Result<Table> {
    let place = |error: &toml::de::Error| match error.span() {
        Some(span) if lines => {
            let line = text.get(..span.start).unwrap_or("").matches('\n').count() + 1;
            format!("{origin}:{line}")
        }
        _ => origin.to_owned(),
    };
    let table: Table = toml::from_str(text).map_err(|error| {
        Error::new(ErrorKind::Config, format!("{}: not valid TOML: {}", place(&error), one_line(&error)))
            .help("a TOML value: text in \"quotes\", lists in [brackets], numbers and true/false bare")
    })?;
    match toml::from_str::<Config>(text) {
        Ok(_) => Ok(table),
        Err(error) => Err(misread(&one_line(&error), &place(&error))),
    }
}

/// What serde says of keys and values that do not fit a type, with the nearest that would.
pub(crate) fn misread(message: &str, place: &str) -> Error {
    let (is_key, is_value) = (message.starts_with("unknown field"), message.starts_with("unknown variant"));
    if !is_key && !is_value {
        return Error::new(ErrorKind::Config, format!("{place}: {message}"));
    }
    // serde's wording: unknown field `a`, expected one of `b`, `c`
    let mut names = message.split('`').skip(1).step_by(2);
    let key = names.next().unwrap_or_default();
    let known: Vec<&str> = names.collect();
    if is_value {
        let all = format!("known values here: {}", known.join(", "));
        return Error::new(ErrorKind::Config, format!("{place}: {message}"))
            .help(nearest_help(key, &known, &all));
    }
    let all = format!("known keys here: {}", known.join(", "));
    Error::new(ErrorKind::Config, format!("{place}: unknown key `{key}`"))
        .help(nearest_help(key, &known, &all))
}

fn one_line(error: &toml::de::Error) -> String {
    error.message().replace('\n', ", ")
}

/// Merges a layer of higher rank into `base`. A layer that names another provider also takes away what belongs to
/// the old one, so that no key goes to a server that it was not meant for.
fn lay_over(base: &mut Table, top: Table) {
    let llm = |table: &Table, key: &str| table.get("llm").and_then(|l| l.get(key)).cloned();
    let provider =
        llm(&top, "provider").is_some_and(|new| llm(base, "provider").is_some_and(|old| old != new));
    let server = llm(&top, "base_url").is_some_and(|new| llm(base, "base_url") != Some(new));
    if let Some(Value::Table(old)) = base.get_mut("llm")
        && (provider || server)
    {
        old.retain(|key, _| !OF_ONE_PROVIDER.contains(&key));
    }
    merge(base, top);
}

/// Tables are merged key by key, anything else is replaced.
pub(crate) fn merge(base: &mut Table, top: Table) {
    for (key, value) in top {
        match (base.get_mut(&key), value) {
            (Some(Value::Table(old)), Value::Table(new)) => merge(old, new),
            (_, value) => drop(base.insert(key, value)),
        }
    }
}

/// Checks what the types do not say.
pub(crate) fn validate(config: &Config, path: &Path) -> Result<()> {
    let wrong = |message: String| Error::new(ErrorKind::Config, message);
    if config.version != VERSION {
        return Err(wrong(format!(
            "{}: version {} of the format, but this tool reads version {VERSION}",
            path.display(),
            config.version
        ))
        .help("use the cargo-implfuzz that wrote it, or set version = 1"));
    }
    match config.candidates.as_slice() {
        [Maker::Model | Maker::C2rust] | [Maker::C2rust, Maker::Model] => {}
        // A model's fixes end with its limits, after which c2rust could only say what was known before.
        _ => {
            return Err(wrong("candidates: each at most once, and c2rust before the model".into())
                .help("candidates = [\"c2rust\", \"model\"], or one of them"));
        }
    }
    for role in config.llm.roles.keys() {
        let known = [&PORT_ROLES[..], &DRIVER_ROLES, &TEST_ROLES].concat();
        if !known.contains(&role.as_str()) {
            let all = format!("roles: {}", known.join(", "));
            return Err(
                wrong(format!("llm.roles: there is no role `{role}`")).help(nearest_help(role, &known, &all))
            );
        }
        config.llm.models_of(role)?;
    }
    let positive = [
        ("fuzz.loop_executions", config.fuzz.loop_executions),
        ("fuzz.loop_seconds", config.fuzz.loop_seconds),
        ("fuzz.accept_seconds", config.fuzz.accept_seconds),
        ("fuzz.call_timeout_ms", config.fuzz.call_timeout_ms),
        ("fuzz.max_len", config.fuzz.max_len),
        ("fuzz.rss_limit_mb", config.fuzz.rss_limit_mb),
        ("fuzz.seed", config.fuzz.seed.into()),
        ("grade.executions", config.grade.executions),
        ("grade.mutant_seconds", config.grade.mutant_seconds),
        ("dropin.timeout", config.dropin.timeout),
        ("drivers.seconds", config.drivers.seconds),
        ("drivers.function_seconds", config.drivers.function_seconds),
    ];
    if config.fuzz.exhaustive_points > 1 << 32 {
        return Err(wrong("fuzz.exhaustive_points is at most 4294967296 (2^32)".into()));
    }
    if let Some((key, _)) = positive.iter().find(|(_, value)| *value == 0) {
        return Err(wrong(format!("{key} must be at least 1")).help("leave it out for the default"));
    }
    if config.dropin.build.iter().chain(&config.dropin.run).any(Vec::is_empty) {
        return Err(wrong("a command in [dropin] has no program".into())
            .help("a command is a list of words, such as [\"make\", \"test\"]"));
    }
    if let Some(path) = config.dropin.write.iter().find(|path| !path.is_absolute()) {
        return Err(wrong(format!("dropin.write: `{path}` is not an absolute path"))
            .help("the commands may write to their copy of the library and to $TMPDIR anyway"));
    }
    let grade = &config.grade;
    let shares = [
        ("grade.accept_rate", grade.accept_rate),
        ("grade.kills", grade.kills),
        ("grade.branches", grade.branches),
    ];
    // With nothing to show, everything would be verified.
    match shares.iter().find(|(_, share)| !(*share > 0.0 && *share <= 1.0)) {
        Some((key, share)) => Err(wrong(format!("{key} = {share}: it must be above 0 and at most 1"))
            .help("leave it out for the default")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Provider, Signature};
    use super::*;

    fn load_text(text: &str, overrides: &[&str], env: &[(&str, &str)]) -> Result<Config> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("implfuzz.toml");
        std::fs::write(&path, text).unwrap();
        let overrides: Vec<String> = overrides.iter().map(|s| (*s).to_owned()).collect();
        load(&path, &overrides, &|name| {
            env.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn no_file_means_defaults() {
        let config = load(Path::new("/nonexistent/implfuzz.toml"), &[], &|_| None).unwrap();
        assert_eq!(config, Config::default());
        assert_eq!((config.rust.dir.as_str(), config.rust.signature), ("rust", Signature::Safe));
    }

    #[test]
    fn what_the_file_names_is_set_and_the_rest_is_as_without_it() {
        let mut config = Config::default();
        config.c.sources = vec!["src/a.c".into()];
        config.llm.provider = Some(Provider::OpenAi);
        let text = "version = 1\n[c]\nsources = ['src/a.c']\n[llm]\nprovider = 'openai'\n";
        assert_eq!(load_text(text, &[], &[]).unwrap(), config);
    }

    #[test]
    fn command_line_beats_environment_beats_file() {
        let file = "[llm]\nmodel = 'file'\nmax_tokens = 1\n";
        let env = [("IMPLFUZZ_LLM_MODEL", "env \"quoted\""), ("IMPLFUZZ_LLM_PROVIDER", "")];
        let config = load_text(file, &[], &env).unwrap();
        assert_eq!(config.llm.model.as_deref(), Some("env \"quoted\""));
        let config = load_text(file, &["llm.model='cli'", "fuzz.max_len=7"], &env).unwrap();
        assert_eq!((config.llm.model.as_deref(), config.llm.max_tokens), (Some("cli"), Some(1)));
        assert_eq!((config.fuzz.max_len, config.fuzz.loop_seconds), (7, 10));
    }

    #[test]
    fn an_unknown_key_names_file_line_and_nearest() {
        let error = load_text("version = 1\n\n[llm]\nmodle = 'x'\n", &[], &[]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        let text = error.to_string();
        assert!(text.ends_with("implfuzz.toml:4: unknown key `modle`"), "{text}");
        assert_eq!(error.help_text(), Some("did you mean `model`?"));
    }

    #[test]
    fn an_unknown_value_gets_the_nearest() {
        let error = load_text("[c]\nfrom = 'cmak'\n", &[], &[]).unwrap_err();
        assert!(error.to_string().contains("implfuzz.toml:2: unknown variant `cmak`"), "{error}");
        assert_eq!(error.help_text(), Some("did you mean `cmake`?"));
        let config = load_text("[c]\nfrom = 'compile-commands'\n", &[], &[]).unwrap();
        assert_eq!(config.c.from.map(|from| from.word()), Some("compile-commands"));
    }

    #[test]
    fn unknown_keys_deep_inside_are_found() {
        for text in [
            "[llm.prices]\ninputt = 1.0",
            "[llm.profiles.a]\ninputt = 1",
            "[llm.roles.enhancer]\ninputt = 1",
            "[symbols.f]\ninputt = 1",
            "inputt = 1",
        ] {
            let error = load_text(text, &[], &[]).unwrap_err();
            assert!(error.to_string().contains("unknown key `inputt`"), "{text}: {error}");
            assert!(error.help_text().is_some(), "{text}");
        }
    }

    #[test]
    fn a_wrong_override_names_itself() {
        let error = load_text("", &["llm.modle=\"x\""], &[]).unwrap_err();
        assert_eq!(error.to_string(), "--config 'llm.modle=\"x\"': unknown key `modle`");
        for bad in ["llm.model", "llm.model=bare", "=1", ""] {
            let error = load_text("", &[bad], &[]).unwrap_err();
            assert!(error.to_string().starts_with(&format!("--config '{bad}'")), "{error}");
            assert!(error.help_text().is_some());
        }
    }

    #[test]
    fn a_wrong_type_names_file_and_line() {
        let error = load_text("[fuzz]\nmax_len = 'long'\n", &[], &[]).unwrap_err();
        assert!(error.to_string().contains("implfuzz.toml:2: invalid type"), "{error}");
        let error = load_text("[llm]\nprovider = 'oracle'\n", &[], &[]).unwrap_err();
        assert!(error.to_string().contains("`oracle`"), "{error}");
    }

    #[test]
    fn a_wrong_environment_variable_names_itself() {
        let error = load_text("", &[], &[("IMPLFUZZ_LLM_PROVIDER", "oracle")]).unwrap_err();
        assert!(error.to_string().starts_with("IMPLFUZZ_LLM_PROVIDER: "), "{error}");
    }

    #[test]
    fn another_provider_on_top_takes_the_old_key_away() {
        let file = "[llm]\nprovider = 'anthropic'\nmodel = 'm'\napi_key_env = 'KEY'\nmax_tokens = 5\n";
        let config = load_text(file, &["llm.model='new'", "llm.provider='openai'"], &[]).unwrap();
        assert_eq!((config.llm.api_key_env, config.llm.model.as_deref()), (None, Some("new")));
        assert_eq!(config.llm.max_tokens, Some(5));
        let config = load_text(file, &["llm.provider='anthropic'"], &[]).unwrap();
        assert_eq!(config.llm.api_key_env.as_deref(), Some("KEY"));
    }

    #[test]
    fn roles_versions_and_zeros_are_checked() {
        let error = load_text("[llm.roles]\nenhanser = 'x'", &[], &[]).unwrap_err();
        assert_eq!(error.help_text(), Some("did you mean `enhancer`?"));
        assert!(load_text("version = 2", &[], &[]).is_err());
        assert!(load_text("[fuzz]\nseed = 0", &[], &[]).is_err());
        assert!(load_text("[llm.roles]\nenhancer = 'ghost'", &[], &[]).is_err());
    }

    #[test]
    fn candidates_come_from_c2rust_before_models() {
        let makers = |text: &str| load_text(text, &[], &[]).map(|config| config.candidates);
        assert_eq!(makers("").unwrap(), [Maker::Model]);
        assert_eq!(makers("candidates = ['c2rust']").unwrap(), [Maker::C2rust]);
        assert_eq!(makers("candidates = ['c2rust', 'model']").unwrap(), [Maker::C2rust, Maker::Model]);
        for wrong in ["[]", "['model', 'c2rust']", "['model', 'model']"] {
            let error = makers(&format!("candidates = {wrong}")).unwrap_err();
            assert!(error.help_text().unwrap().contains("[\"c2rust\", \"model\"]"), "{wrong}: {error}");
        }
        let error = makers("candidates = ['c2rst']").unwrap_err();
        assert_eq!(error.help_text(), Some("did you mean `c2rust`?"));
    }

    #[test]
    fn a_whole_table_can_be_overridden() {
        let config = load_text("", &["llm.command=[\"sh\", \"x.sh\"]", "c.sources=['a.c']"], &[]).unwrap();
        assert_eq!(config.llm.command, Some(vec!["sh".to_owned(), "x.sh".to_owned()]));
        assert_eq!(config.c.sources, ["a.c"]);
    }
}
