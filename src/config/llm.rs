//! `[llm]`: providers, profiles, roles, prices and budgets, and the settings of each role.
//!
//! `crate::llm` applies them.

use crate::error::{Error, ErrorKind, Result};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The roles that ask a model for a port and what belongs to it.
pub const PORT_ROLES: [&str; 6] =
    ["analyzer", "target-writer", "prototyper", "enhancer", "crash-analyzer", "feasibility"];
/// Those that ask one for drivers.
pub const DRIVER_ROLES: [&str; 2] = ["driver-writer", "driver-enhancer"];
/// Those that ask one for tests, for what the tests lack, and for a better configuration.
pub const TEST_ROLES: [&str; 3] = ["testgen", "testgen-reflect", "testgen-config"];

/// Settings that belong to one provider's account or server and must not be carried over to another one: a key
/// meant for one server would otherwise be sent to the next.
pub(super) const OF_ONE_PROVIDER: [&str; 4] = ["model", "base_url", "api_key_env", "prices"];

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "kebab-case")]
pub enum Provider {
    /// Anthropic's Messages API.
    Anthropic,
    /// Chat Completions, of OpenAI or any server that speaks them.
    #[strum(serialize = "openai")]
    OpenAi,
    /// A program of the user's.
    Command,
    /// Recorded replies.
    Replay,
}

impl Provider {
    /// The word in the configuration.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// Money per million tokens, in a currency of the user's choice. An absent price is unknown, not 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Prices {
    pub input: Option<f64>,
    pub output: Option<f64>,
    pub cache_read: Option<f64>,
    pub cache_write: Option<f64>,
}

/// `[llm]`: the settings of every role that has none of its own, the budgets, profiles and roles.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Llm {
    /// Who answers; chosen by what the environment offers where absent.
    pub provider: Option<Provider>,
    /// The model's name at the provider.
    pub model: Option<String>,
    /// The server, up to but without `/v1/messages` (anthropic) or `/chat/completions` (openai).
    pub base_url: Option<String>,
    /// Name of the environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// Program and arguments of the `command` provider.
    pub command: Option<Vec<String>>,
    /// Directory of recordings for the `replay` provider, relative to the repository.
    pub replay_dir: Option<PathBuf>,
    /// Directory that every exchange is recorded to, relative to the repository.
    pub record_dir: Option<PathBuf>,
    /// Most tokens of a reply; 8192 where absent.
    pub max_tokens: Option<u64>,
    /// Not sent where absent: newer models refuse it.
    pub temperature: Option<f64>,
    /// Passed on to OpenAI-compatible servers; no other provider uses it.
    pub reasoning_effort: Option<String>,
    /// Send `max_tokens` instead of `max_completion_tokens`, for older local servers; for `openai` alone.
    pub legacy_max_tokens: Option<bool>,
    /// Time for one answer; 600 where absent.
    pub timeout_seconds: Option<u64>,
    /// How often a failed request is sent again; 5 where absent.
    pub retries: Option<u32>,
    /// What the model costs; unknown where absent.
    pub prices: Option<Prices>,
    /// Most tokens, sent and received, that one symbol may use in a run.
    pub max_tokens_per_symbol: Option<u64>,
    /// Most tokens of a run.
    pub max_tokens_per_run: Option<u64>,
    /// Most money of a run, in the currency of `prices`.
    pub max_cost: Option<f64>,
    /// Named settings that roles can point to.
    pub profiles: BTreeMap<String, Profile>,
    /// Which profile, or which differing settings, a role uses.
    pub roles: BTreeMap<String, RoleModel>,
}

/// `[llm.profiles.<name>]`: settings that differ from `[llm]`; the fields mean the same.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    pub provider: Option<Provider>,
    pub model: Option<String>,
    pub base_url: Option<String>,
    pub api_key_env: Option<String>,
    pub command: Option<Vec<String>>,
    pub replay_dir: Option<PathBuf>,
    pub record_dir: Option<PathBuf>,
    pub max_tokens: Option<u64>,
    pub temperature: Option<f64>,
    pub reasoning_effort: Option<String>,
    pub legacy_max_tokens: Option<bool>,
    pub timeout_seconds: Option<u64>,
    pub retries: Option<u32>,
    pub prices: Option<Prices>,
}

/// `[llm.roles]`: a profile's name, settings that differ from `[llm]`, or the names of several profiles.
#[derive(Debug, Clone, PartialEq)]
pub enum RoleModel {
    Profile(String),
    Settings(Box<Profile>),
    /// From the cheapest to the strongest: where one comes to an end, the next one is asked.
    Profiles(Vec<String>),
}

impl<'de> Deserialize<'de> for RoleModel {
    // By hand, because serde's untagged enums lose which key was unknown.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = RoleModel;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a profile, a list of such names, or a table of settings")
            }

            fn visit_str<E>(self, name: &str) -> std::result::Result<RoleModel, E> {
                Ok(RoleModel::Profile(name.into()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<RoleModel, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = list.next_element()? {
                    names.push(name);
                }
                Ok(RoleModel::Profiles(names))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> std::result::Result<RoleModel, A::Error> {
                let settings = Profile::deserialize(MapAccessDeserializer::new(map))?;
                Ok(RoleModel::Settings(Box::new(settings)))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// What one role uses, with the defaults filled in. `provider` is absent when nothing is configured.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSettings {
    pub provider: Option<Provider>,
    pub model: Option<String>,
    pub base_url: Option<String>,
    pub api_key_env: Option<String>,
    pub command: Vec<String>,
    pub replay_dir: Option<PathBuf>,
    pub record_dir: Option<PathBuf>,
    pub max_tokens: u64,
    pub temperature: Option<f64>,
    pub reasoning_effort: Option<String>,
    pub legacy_max_tokens: bool,
    pub timeout: Duration,
    pub retries: u32,
    pub prices: Prices,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Profile::default().into_settings()
    }
}

impl Llm {
    /// The settings of each model of `role`, from the cheapest to the strongest: `[llm]` with the role's profiles or settings
    /// over it. `Err` when the role points to a profile that does not exist, or to none.
    pub fn models_of(&self, role: &str) -> Result<Vec<ModelSettings>> {
        let base = self.base();
        let profile = |name: &String| match self.profiles.get(name) {
            Some(profile) => Ok(profile.over(base.clone()).into_settings()),
            None => Err(self.no_profile(role, name)),
        };
        match self.roles.get(role) {
            None => Ok(vec![base.into_settings()]),
            Some(RoleModel::Settings(settings)) => Ok(vec![settings.over(base).into_settings()]),
            Some(RoleModel::Profile(name)) => Ok(vec![profile(name)?]),
            Some(RoleModel::Profiles(names)) if names.is_empty() => {
                Err(Error::new(ErrorKind::Config, format!("llm.roles.{role}: an empty list names no model"))
                    .help("leave it out for the model of [llm], or name profiles, the cheapest first"))
            }
            Some(RoleModel::Profiles(names)) => names.iter().map(profile).collect(),
        }
    }

    /// The settings of the model of `role` that is asked first.
    pub fn for_role(&self, role: &str) -> Result<ModelSettings> {
        Ok(self.models_of(role)?.swap_remove(0))
    }

    fn no_profile(&self, role: &str, name: &str) -> Error {
        let known: Vec<&str> = self.profiles.keys().map(String::as_str).collect();
        Error::new(ErrorKind::Config, format!("llm.roles.{role}: there is no profile `{name}`"))
            .help(super::suggest::nearest_help(name, &known, &format!("add [llm.profiles.{name}]")))
    }

    fn base(&self) -> Profile {
        let llm = self.clone();
        Profile {
            provider: llm.provider,
            model: llm.model,
            base_url: llm.base_url,
            api_key_env: llm.api_key_env,
            command: llm.command,
            replay_dir: llm.replay_dir,
            record_dir: llm.record_dir,
            max_tokens: llm.max_tokens,
            temperature: llm.temperature,
            reasoning_effort: llm.reasoning_effort,
            legacy_max_tokens: llm.legacy_max_tokens,
            timeout_seconds: llm.timeout_seconds,
            retries: llm.retries,
            prices: llm.prices,
        }
    }
}

impl Profile {
    /// These settings where they are given, else those of `base`; but not the base's server, key, model and prices
    /// when this is about another provider or another server.
    fn over(&self, base: Profile) -> Profile {
        let top = self.clone();
        let same_provider = top.provider.is_none() || top.provider == base.provider;
        let same_server = same_provider && (top.base_url.is_none() || top.base_url == base.base_url);
        Profile {
            provider: top.provider.or(base.provider),
            model: top.model.or(base.model.filter(|_| same_server)),
            base_url: top.base_url.or(base.base_url.filter(|_| same_provider)),
            api_key_env: top.api_key_env.or(base.api_key_env.filter(|_| same_server)),
            prices: top.prices.or(base.prices.filter(|_| same_server && self.model.is_none())),
            command: top.command.or(base.command),
            replay_dir: top.replay_dir.or(base.replay_dir),
            record_dir: top.record_dir.or(base.record_dir),
            max_tokens: top.max_tokens.or(base.max_tokens),
            temperature: top.temperature.or(base.temperature),
            reasoning_effort: top.reasoning_effort.or(base.reasoning_effort),
            legacy_max_tokens: top.legacy_max_tokens.or(base.legacy_max_tokens),
            timeout_seconds: top.timeout_seconds.or(base.timeout_seconds),
            retries: top.retries.or(base.retries),
        }
    }

    fn into_settings(self) -> ModelSettings {
        ModelSettings {
            provider: self.provider,
            model: self.model,
            base_url: self.base_url,
            api_key_env: self.api_key_env,
            command: self.command.unwrap_or_default(),
            replay_dir: self.replay_dir,
            record_dir: self.record_dir,
            max_tokens: self.max_tokens.unwrap_or(8_192),
            temperature: self.temperature,
            reasoning_effort: self.reasoning_effort,
            legacy_max_tokens: self.legacy_max_tokens.unwrap_or(false),
            timeout: Duration::from_secs(self.timeout_seconds.unwrap_or(600)),
            retries: self.retries.unwrap_or(5),
            prices: self.prices.unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn llm(text: &str) -> Llm {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn defaults_are_filled_in() {
        let settings = Llm::default().for_role("prototyper").unwrap();
        assert_eq!((settings.max_tokens, settings.timeout.as_secs(), settings.retries), (8_192, 600, 5));
        assert_eq!(settings.provider, None);
    }

    #[test]
    fn a_role_takes_its_profile_over_the_base() {
        let llm = llm(
            "provider = 'anthropic'\nmax_tokens = 100\n[profiles.big]\nmodel = 'b'\n[roles]\nenhancer = 'big'",
        );
        let settings = llm.for_role("enhancer").unwrap();
        assert_eq!((settings.model.as_deref(), settings.max_tokens), (Some("b"), 100));
        assert_eq!(settings.provider, Some(Provider::Anthropic));
        assert_eq!(llm.for_role("prototyper").unwrap().model, None);
    }

    #[test]
    fn another_provider_never_inherits_the_key_the_server_or_the_prices() {
        let llm = llm(
            "provider = 'anthropic'\nmodel = 'm'\nbase_url = 'https://a'\napi_key_env = 'KEY'\nprices = { input = 3.0 }\n\
             [roles.enhancer]\nprovider = 'openai'",
        );
        let settings = llm.for_role("enhancer").unwrap();
        assert_eq!((settings.model, settings.base_url, settings.api_key_env), (None, None, None));
        assert_eq!(settings.prices, Prices::default());
    }

    #[test]
    fn another_server_of_the_same_provider_never_inherits_the_key() {
        let llm = llm("provider = 'openai'\nbase_url = 'https://a'\napi_key_env = 'KEY'\n\
             [roles.enhancer]\nbase_url = 'http://localhost:1'");
        assert_eq!(llm.for_role("enhancer").unwrap().api_key_env, None);
    }

    #[test]
    fn a_role_may_have_several_models_the_cheapest_first() {
        let llm = llm("model = 'plain'\n[profiles.cheap]\nmodel = 'a'\n[profiles.strong]\nmodel = 'b'\n\
             [roles]\nenhancer = ['cheap', 'strong']");
        let names = |role: &str| -> Vec<String> {
            llm.models_of(role).unwrap().into_iter().map(|settings| settings.model.unwrap()).collect()
        };
        assert_eq!(
            (names("enhancer"), names("prototyper")),
            (vec!["a".into(), "b".into()], vec!["plain".into()])
        );
        assert_eq!(llm.for_role("enhancer").unwrap().model.as_deref(), Some("a"));
        for (wrong, help) in [("[]", "the cheapest first"), ("['cheap', 'stong']", "did you mean `strong`?")]
        {
            let mut llm = llm.clone();
            let role: Llm = toml::from_str(&format!("[roles]\nenhancer = {wrong}")).unwrap();
            llm.roles = role.roles;
            let error = llm.models_of("enhancer").unwrap_err();
            assert!(error.help_text().unwrap().contains(help), "{error}");
        }
    }

    #[test]
    fn a_missing_profile_is_an_error_with_the_nearest_name() {
        let llm = llm("[profiles.local]\n[roles]\nenhancer = 'locale'");
        let error = llm.for_role("enhancer").unwrap_err();
        assert!(error.to_string().contains("`locale`"), "{error}");
        assert_eq!(error.help_text(), Some("did you mean `local`?"));
    }
}
