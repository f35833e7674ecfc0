//! Selects the provider of a role: from the configuration, else from the environment.

use super::anthropic::{self, Anthropic};
use super::command::Command;
use super::model::Model;
use super::openai::{self, OpenAi};
use super::record::Recorder;
use super::replay::Replay;
use super::secret::{self, Redactor};
use crate::config::{Config, Llm, ModelSettings, Provider, RoleModel};
use crate::error::{Error, ErrorKind, Result};
use crate::platform::process::Interrupt;
use secrecy::SecretString;
use std::path::{Path, PathBuf};
use std::time::Duration;

type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

const ANTHROPIC_KEY: &str = "ANTHROPIC_API_KEY";
const OPENAI_KEY: &str = "OPENAI_API_KEY";
/// Where Ollama listens.
const LOCAL_SERVER: &str = "http://localhost:11434/v1";
/// How long a server of this machine may take to list its models.
const PROBE: Duration = Duration::from_secs(2);

/// A provider ready to be asked, with the settings it was made from; `settings.provider` is always there.
pub struct Chosen {
    /// Nobody else can ask it: every call goes by [`super::ask`], which asks the budget first.
    pub(super) model: Box<dyn Model>,
    pub settings: ModelSettings,
}

impl Chosen {
    /// Provider and model, for people: `anthropic/claude-…`.
    pub fn name(&self) -> String {
        self.model.name()
    }
}

/// Makes the providers of `role`, from the cheapest to the strongest. `root` is the target repository: commands run and
/// relative directories start there. May ask a local server which models it has. `Err` (kind `Config`) says what is missing.
pub fn select(
    config: &Config,
    root: &Path,
    role: &str,
    env: &dyn Fn(&str) -> Option<String>,
    interrupt: &Interrupt,
) -> Result<Vec<Chosen>> {
    let all = config.llm.models_of(role)?;
    all.into_iter().map(|settings| choose(settings, root, env, LOCAL_SERVER, interrupt)).collect()
}

/// The variables that may hold a key, so that programs can be started without them.
pub fn key_variables(llm: &Llm) -> Vec<String> {
    let of_roles = llm.roles.values().filter_map(|role| match role {
        RoleModel::Settings(settings) => settings.api_key_env.clone(),
        RoleModel::Profile(_) | RoleModel::Profiles(_) => None,
    });
    let of_profiles = llm.profiles.values().filter_map(|profile| profile.api_key_env.clone());
    let known = [ANTHROPIC_KEY, OPENAI_KEY].map(str::to_owned);
    known.into_iter().chain(llm.api_key_env.clone()).chain(of_profiles).chain(of_roles).collect()
}

fn choose(
    mut settings: ModelSettings,
    root: &Path,
    env: Env,
    local_server: &str,
    interrupt: &Interrupt,
) -> Result<Chosen> {
    let provider = match settings.provider {
        Some(provider) => provider,
        None => guess(&mut settings, env, local_server, interrupt)?,
    };
    settings.provider = Some(provider);
    let key = key(&settings, provider, env)?;
    let keys = all_keys(key.clone(), env);
    let model: Box<dyn Model> = match provider {
        Provider::Anthropic => {
            settings.model.get_or_insert_with(|| anthropic::MODEL.into());
            Box::new(Anthropic::new(&settings, key))
        }
        Provider::OpenAi => {
            if settings.model.is_none() {
                settings.model = Some(openai_model(&settings, key.clone(), interrupt)?);
            }
            Box::new(OpenAi::new(&settings, key))
        }
        Provider::Command => Box::new(Command::new(&settings, root, keys.clone()).ok_or_else(|| {
            Error::new(ErrorKind::Config, "llm.provider is \"command\", but llm.command is empty")
                .help("--config 'llm.command=[\"program\", \"argument\"]'")
        })?),
        Provider::Replay => Box::new(Replay::new(replay_dir(&settings, root)?)),
    };
    let model = match &settings.record_dir {
        Some(dir) => Box::new(Recorder::new(model, root.join(dir), Redactor::new(keys))),
        None => model,
    };
    Ok(Chosen { model, settings })
}

/// The provider where none is configured: by what else is configured, by key, by a local server.
fn guess(
    settings: &mut ModelSettings,
    env: Env,
    local_server: &str,
    interrupt: &Interrupt,
) -> Result<Provider> {
    let has = |name: &str| env(name).is_some_and(|value| !value.trim().is_empty());
    if !settings.command.is_empty() {
        return Ok(Provider::Command);
    }
    if settings.replay_dir.is_some() {
        return Ok(Provider::Replay);
    }
    if settings.base_url.is_some() {
        return Ok(Provider::OpenAi);
    }
    if has(ANTHROPIC_KEY) {
        return Ok(Provider::Anthropic);
    }
    if has(OPENAI_KEY) {
        return Ok(Provider::OpenAi);
    }
    let local = ModelSettings { base_url: Some(local_server.into()), ..settings.clone() };
    if listed_models(&local, None, interrupt).is_ok() {
        settings.base_url = local.base_url;
        return Ok(Provider::OpenAi);
    }
    interrupt.check()?;
    Err(no_model())
}

fn no_model() -> Error {
    Error::new(ErrorKind::Config, "no language model is configured, and none was found").help(format!(
        "one of these: export {ANTHROPIC_KEY}=… · export {OPENAI_KEY}=… · start Ollama ({LOCAL_SERVER}) · \
         --config 'llm.base_url=\"http://host:port/v1\"' for another compatible server · \
         --config 'llm.command=[\"program\"]' for your own program · --config 'llm.replay_dir=\"DIR\"' for recordings"
    ))
}

/// The key that the configuration names; without a name, the provider's usual variable, but only for the provider's
/// own server.
fn key(settings: &ModelSettings, provider: Provider, env: Env) -> Result<Option<SecretString>> {
    let usual = match provider {
        Provider::Anthropic => ANTHROPIC_KEY,
        Provider::OpenAi => OPENAI_KEY,
        Provider::Command | Provider::Replay => return Ok(None),
    };
    match (&settings.api_key_env, &settings.base_url) {
        (Some(name), _) => secret::from_env(name, env).map(Some),
        (None, None) => secret::from_env(usual, env).map(Some),
        (None, Some(_)) => Ok(None),
    }
}

/// Every key that might appear in output.
fn all_keys(key: Option<SecretString>, env: Env) -> Vec<SecretString> {
    let usual = [ANTHROPIC_KEY, OPENAI_KEY].into_iter().filter_map(|name| secret::from_env(name, env).ok());
    key.into_iter().chain(usual).collect()
}

/// OpenAI's own default, or the first model that another server offers.
fn openai_model(
    settings: &ModelSettings,
    key: Option<SecretString>,
    interrupt: &Interrupt,
) -> Result<String> {
    let Some(url) = &settings.base_url else { return Ok(openai::MODEL.into()) };
    listed_models(settings, key, interrupt)?.into_iter().next().ok_or_else(|| {
        Error::new(ErrorKind::Config, format!("{} offers no model", secret::shown_url(url)))
            .help("load one (Ollama: `ollama pull NAME`), or set llm.model")
    })
}

fn listed_models(
    settings: &ModelSettings,
    key: Option<SecretString>,
    interrupt: &Interrupt,
) -> Result<Vec<String>> {
    let probe = ModelSettings { timeout: PROBE, retries: 0, ..settings.clone() };
    OpenAi::new(&probe, key).models(interrupt).map_err(|error| {
        Error::from(error).context("llm.model is not set, and the server was asked for its models")
    })
}

fn replay_dir(settings: &ModelSettings, root: &Path) -> Result<PathBuf> {
    let Some(dir) = &settings.replay_dir else {
        return Err(Error::new(
            ErrorKind::Config,
            "llm.provider is \"replay\", but llm.replay_dir is not set",
        )
        .help("--config 'llm.replay_dir=\"DIR\"'"));
    };
    let dir = root.join(dir);
    if !dir.is_dir() {
        return Err(Error::new(
            ErrorKind::Config,
            format!("llm.replay_dir: {} is not a directory", dir.display()),
        )
        .help("record one: run once with a real provider and `--record DIR`"));
    }
    if settings.record_dir.as_ref().is_some_and(|record| root.join(record) == dir) {
        return Err(Error::new(
            ErrorKind::Config,
            "llm.record_dir and llm.replay_dir are the same directory",
        )
        .help("record into another directory"));
    }
    Ok(dir)
}

#[cfg(test)]
mod tests {
    use super::super::server::{Server, Step};
    use super::*;

    const DEAD: &str = "http://127.0.0.1:9/v1";

    fn name(settings: ModelSettings, env: &[(&str, &str)], local: &str) -> Result<String> {
        let env = |name: &str| env.iter().find(|(key, _)| *key == name).map(|(_, v)| (*v).to_owned());
        let chosen = choose(settings, Path::new("/"), &env, local, &Interrupt::none())?;
        assert!(chosen.settings.provider.is_some());
        Ok(chosen.model.name())
    }

    #[test]
    fn every_variable_that_may_hold_a_key_is_known() {
        let text =
            "api_key_env = 'A'\n[profiles.big]\napi_key_env = 'B'\n[roles]\nenhancer = { api_key_env = 'C' }";
        let llm: Llm = toml::from_str(text).unwrap();
        assert_eq!(key_variables(&llm), [ANTHROPIC_KEY, OPENAI_KEY, "A", "B", "C"]);
    }

    #[test]
    fn the_environment_decides_where_nothing_is_configured() {
        let none = ModelSettings::default;
        let both = [(OPENAI_KEY, "k-openai"), (ANTHROPIC_KEY, "k-anthropic")];
        assert!(name(none(), &both, DEAD).unwrap().starts_with("anthropic/"));
        assert!(name(none(), &both[..1], DEAD).unwrap().starts_with("openai/"));
        let server = Server::start([Step::json(r#"{"data":[{"id":"local-1"},{"id":"local-2"}]}"#)]);
        assert_eq!(name(none(), &[(OPENAI_KEY, " ")], &server.url("/v1")).unwrap(), "openai/local-1");
        assert!(!server.requests().concat().contains("authorization"));
    }

    #[test]
    fn nothing_at_all_lists_the_choices() {
        let error = name(ModelSettings::default(), &[], DEAD).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        for choice in [ANTHROPIC_KEY, OPENAI_KEY, "11434", "llm.command", "llm.replay_dir", "llm.base_url"] {
            assert!(error.help_text().unwrap().contains(choice), "{choice}");
        }
    }

    #[test]
    fn what_is_configured_wins() {
        let env = [(ANTHROPIC_KEY, "k-anthropic")];
        let command = ModelSettings { command: vec!["sh".into()], ..ModelSettings::default() };
        assert_eq!(name(command, &env, DEAD).unwrap(), "command/sh");
        let replay = ModelSettings { replay_dir: Some("tmp".into()), ..ModelSettings::default() };
        assert_eq!(name(replay, &env, DEAD).unwrap(), "replay//tmp");
    }

    #[test]
    fn no_key_goes_to_a_server_that_it_was_not_named_for() {
        let server = Server::start([Step::json(r#"{"data":[{"id":"m"}]}"#)]);
        let settings = ModelSettings { base_url: Some(server.url("/v1")), ..ModelSettings::default() };
        name(settings, &[(OPENAI_KEY, "k-openai-canary")], DEAD).unwrap();
        assert!(!server.requests().concat().contains("canary"));
    }

    #[test]
    fn what_is_missing_is_said() {
        let with = |provider| ModelSettings { provider: Some(provider), ..ModelSettings::default() };
        let text = |settings| name(settings, &[], DEAD).unwrap_err().to_string();
        assert!(text(with(Provider::Command)).contains("llm.command"));
        assert!(text(with(Provider::Replay)).contains("llm.replay_dir"));
        assert!(text(with(Provider::Anthropic)).contains(ANTHROPIC_KEY));
        let mut named = with(Provider::OpenAi);
        named.api_key_env = Some("MY_KEY".into());
        assert!(text(named).contains("MY_KEY"));
        let mut gone = with(Provider::Replay);
        gone.replay_dir = Some("no/such/dir".into());
        assert!(text(gone).contains("/no/such/dir"));
    }
}
