//! `cargo implfuzz testgen config`

use super::settings;
use crate::cli::session::Session;
use crate::cli::tables::cells::date;
use crate::error::{Error, ErrorKind, ExitCode, Result};
use crate::event::Event;
use crate::report::{Table, printable};
use crate::store::{ConfigRow, Store};
use crate::test_record::{ConfigId, ModelType, TestGenConfig, TestGenConfigInput};
use crate::testgen::run::models::configured;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The word for the built-in configuration.
const DEFAULTS: &str = "defaults";
/// Number of digits of a hash in tables, enough to identify it.
const SHOWN: usize = 12;

/// List, show, create or select configurations of the test generator
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Show one configuration in full
    Show {
        /// Number, hash prefix or `defaults` [default: the current configuration, or else `defaults`]
        #[arg(value_name = "ID")]
        id: Option<String>,
    },
    /// List configurations, oldest first
    List,
    /// Create a configuration without making it current
    Create {
        /// Change a setting; the value is JSON or TOML: 'max_tokens=4096', 'primary_model="claude"'
        #[arg(long, value_name = "KEY=VALUE")]
        set: Vec<String>,
        /// Configuration to start from, as for `show` [default: the current one, or else `defaults`]
        #[arg(long, value_name = "ID")]
        from: Option<String>,
        /// Read changed settings from a JSON object; `--set` overrides them
        #[arg(long, value_name = "FILE.json")]
        file: Option<PathBuf>,
    },
    /// Use this configuration for new runs
    SetCurrent {
        /// Number, hash prefix or `defaults`
        #[arg(value_name = "ID")]
        id: String,
    },
}

pub(super) fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    // Configurations are only in the store, which serialises writers, so the workspace needs no lock.
    let (project, mut store) = session.look()?;
    match &args.what {
        What::Show { id } => show(session, &store, id.as_deref()),
        What::List => list(session, &store),
        What::Create { set, from, file } => {
            let settings = settings::read(file.as_deref(), set)?;
            let config = settings.apply(base(&store, from.as_deref())?.config()).map_err(|error| {
                error.help("`cargo implfuzz testgen config show` lists every key with a valid value")
            })?;
            warn(session, &settings.input, &configured(&project.config));
            create(session, &mut store, &config)
        }
        What::SetCurrent { id } => set_current(session, &mut store, id),
    }
}

/// A stored configuration, or the built-in one.
enum Chosen {
    Kept(Box<ConfigRow>),
    Defaults,
}

impl Chosen {
    fn config(&self) -> TestGenConfig {
        match self {
            Self::Kept(row) => row.config.clone(),
            Self::Defaults => TestGenConfig::default(),
        }
    }

    /// The fields of a [`ConfigRow`]; id and date are null for the built-in configuration.
    fn value(&self) -> Value {
        let (mut value, config) = (json!({}), self.config());
        let kept = match self {
            Self::Kept(row) => Some(row),
            Self::Defaults => None,
        };
        value["id"] = json!(kept.map(|row| row.id));
        value["config_hash"] = config.config_hash().into();
        value["is_current"] = kept.is_some_and(|row| row.is_current).into();
        value["created_at"] = json!(kept.map(|row| row.created_at.to_string()));
        if let (Value::Object(fields), Value::Object(of_config)) = (&mut value, json!(config)) {
            fields.extend(of_config);
        }
        value
    }
}

fn base(store: &Store, text: Option<&str>) -> Result<Chosen> {
    match text {
        Some(DEFAULTS) => Ok(Chosen::Defaults),
        Some(text) => find(store, text).map(|row| Chosen::Kept(Box::new(row))),
        None => {
            let current = store.current_testgen_config()?;
            Ok(current.map_or(Chosen::Defaults, |row| Chosen::Kept(Box::new(row))))
        }
    }
}

/// The configuration with this id, or else with a hash that begins with the text.
pub(super) fn find(store: &Store, text: &str) -> Result<ConfigRow> {
    if let Ok(id) = text.parse()
        && let Some(row) = store.testgen_config(ConfigId(id))?
    {
        return Ok(row);
    }
    let begin = text.to_ascii_lowercase();
    let mut rows = store.testgen_configs()?;
    // Fewer digits are more likely an id that does not exist.
    rows.retain(|row| begin.len() >= 4 && row.config_hash.starts_with(&begin));
    let wrong = |text: String| {
        Error::new(ErrorKind::Usage, text).help("`cargo implfuzz testgen config list` shows all")
    };
    match rows.len() {
        0 => Err(wrong(format!("there is no TestGen configuration {text}"))),
        1 => Ok(rows.remove(0)),
        n => Err(wrong(format!("the hashes of {n} TestGen configurations begin with {text}"))),
    }
}

fn show(session: &Session, store: &Store, id: Option<&str>) -> Result<ExitCode> {
    let chosen = base(store, id)?;
    session.screen.result("testgen-config", &json!({ "config": chosen.value() }), || text(&chosen));
    Ok(ExitCode::Ok)
}

fn text(chosen: &Chosen) -> String {
    let config = chosen.config();
    let head = match chosen {
        Chosen::Kept(row) => {
            let current = if row.is_current { ", current" } else { "" };
            format!("configuration {}{current}, of {} UTC", row.id.0, date(row.created_at))
        }
        Chosen::Defaults => "the built-in defaults, which have no number".into(),
    };
    let (mut rows, mut prompts) = (Vec::new(), String::new());
    let mut prompt = |name: &str, text: &str| {
        let lines: String = text.lines().map(|line| format!("  {}\n", printable(line))).collect();
        prompts += &format!("\n{name}:\n{lines}");
    };
    let value = json!(config);
    for (key, value) in value.as_object().into_iter().flatten() {
        match value {
            Value::Object(texts) => texts
                .iter()
                .for_each(|(part, text)| prompt(&format!("{key}.{part}"), text.as_str().unwrap_or_default())),
            Value::String(text) if key.ends_with("_prompt") => prompt(key, text),
            Value::Null => rows.push((key.clone(), "- (the provider's default)".into())),
            other => rows.push((key.clone(), other.to_string())),
        }
    }
    let table = Table::of(rows).left("key", |(key, _)| key.clone()).left("value", |(_, value)| value.clone());
    format!("{head}\nhash: {}\n\n{}{prompts}", config.config_hash(), table.text())
}

fn list(session: &Session, store: &Store) -> Result<ExitCode> {
    let rows = store.testgen_configs()?;
    session.screen.result("testgen-configs", &json!({ "configs": rows }), || {
        if rows.is_empty() {
            return "no configuration is stored; runs use the defaults: cargo implfuzz testgen config show\n"
                .into();
        }
        let current = |row: &ConfigRow| if row.is_current { "current".to_owned() } else { String::new() };
        Table::of(&rows)
            .right("id", |row| row.id.0.to_string())
            .left("version", |row| printable(&row.config.version))
            .left("hash", |row| row.config_hash.chars().take(SHOWN).collect())
            .left("date (UTC)", |row| date(row.created_at))
            .left("", |row| current(row))
            .text()
    });
    Ok(ExitCode::Ok)
}

fn create(session: &Session, store: &mut Store, config: &TestGenConfig) -> Result<ExitCode> {
    let is_new = store.testgen_config_by_hash(&config.config_hash())?.is_none();
    let id = store.save_testgen_config(config)?;
    let row = store.stored_testgen_config(id)?;
    let value = json!({ "created": is_new, "config": row });
    session.screen.result("testgen-config-created", &value, || {
        let hash: String = row.config_hash.chars().take(SHOWN).collect();
        let made = if is_new { "made" } else { "exists already" };
        let next = match row.is_current {
            true => "it is current".to_owned(),
            false => format!("to use it for new runs: cargo implfuzz testgen config set-current {}", id.0),
        };
        format!("configuration {}, {hash}: {made}\n{next}\n", id.0)
    });
    Ok(ExitCode::Ok)
}

/// Warns of a model without a profile, because another configured model would answer.
fn warn(session: &Session, input: &TestGenConfigInput, profiles: &[ModelType]) {
    for key in ["primary_model", "reflection_model"] {
        let is_configured = |word: &&str| profiles.iter().any(|model| model.word() == *word);
        let Some(word) = input.get(key).and_then(Value::as_str).filter(|word| !is_configured(word)) else {
            continue;
        };
        let text = format!(
            "{key} is `{word}`, but there is no [llm.profiles.{word}]: the model of the role or of [llm] is used instead"
        );
        let help = format!("add [llm.profiles.{word}] with `provider` and `model` to implfuzz.toml");
        session.reporter().event(Event::Warning { text, help: Some(help) });
    }
}

fn set_current(session: &Session, store: &mut Store, text: &str) -> Result<ExitCode> {
    let id = match base(store, Some(text))? {
        Chosen::Kept(row) => row.id,
        Chosen::Defaults => store.save_testgen_config(&TestGenConfig::default())?,
    };
    store.set_current_testgen_config(id)?;
    let row = store.stored_testgen_config(id)?;
    session.screen.result("testgen-config-current", &json!({ "config": row }), || {
        format!("configuration {}, version {}, is current\n", id.0, printable(&row.config.version))
    });
    Ok(ExitCode::Ok)
}
