//! The models for tests: the profile that a configuration names, with its temperature and length.

use crate::config::{Config, RoleModel};
use crate::test_record::{ModelType, TestGenConfig};

/// The repository's configuration with TestGen's roles set. A person's settings for a role have priority over the
/// profile of the model type (`[llm.profiles.local]`, `[llm.profiles.claude]`); without a profile, `[llm]` applies.
pub fn settings(config: &Config, tests: &TestGenConfig) -> Config {
    let mut config = config.clone();
    let roles = [
        ("testgen", tests.primary_model),
        ("testgen-reflect", tests.reflection_model),
        ("testgen-config", tests.reflection_model),
    ];
    for (role, model) in roles {
        let named = |name: &str| config.llm.profiles.get(name).cloned();
        let mut own = match config.llm.roles.get(role) {
            Some(RoleModel::Settings(settings)) => (**settings).clone(),
            Some(RoleModel::Profile(name)) => named(name).unwrap_or_default(),
            Some(RoleModel::Profiles(names)) => {
                names.first().and_then(|name| named(name)).unwrap_or_default()
            }
            None => named(model.word()).unwrap_or_default(),
        };
        own.max_tokens = Some(u64::from(tests.max_tokens));
        own.temperature = tests.temperature.or(own.temperature);
        config.llm.roles.insert(role.to_owned(), RoleModel::Settings(Box::new(own)));
    }
    config
}

/// The model types with a profile: a change of the configuration may name no other.
pub fn configured(config: &Config) -> Vec<ModelType> {
    let has = |model: &ModelType| config.llm.profiles.contains_key(model.word());
    [ModelType::Local, ModelType::Claude].into_iter().filter(has).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Config {
        Config { llm: toml::from_str(text).unwrap(), ..Config::default() }
    }

    fn model_of(config: &Config, role: &str) -> (Option<String>, u64, Option<f64>) {
        let settings = config.llm.for_role(role).unwrap();
        (settings.model, settings.max_tokens, settings.temperature)
    }

    #[test]
    fn the_model_type_chooses_the_profile_and_the_configuration_its_limits() {
        let config = config(
            "model = 'plain'\n[profiles.local]\nmodel = 'small'\ntemperature = 0.2\n[profiles.claude]\nmodel = 'large'",
        );
        let tests =
            TestGenConfig { reflection_model: ModelType::Claude, max_tokens: 99, ..TestGenConfig::default() };
        let set = settings(&config, &tests);
        assert_eq!(model_of(&set, "testgen"), (Some("small".into()), 99, Some(0.2)));
        assert_eq!(model_of(&set, "testgen-reflect"), (Some("large".into()), 99, None));
        assert_eq!(model_of(&set, "testgen-config").0.as_deref(), Some("large"));
        assert_eq!(model_of(&set, "prototyper").0.as_deref(), Some("plain"));
        let warmer = TestGenConfig { temperature: Some(0.9), ..tests };
        assert_eq!(model_of(&settings(&config, &warmer), "testgen").2, Some(0.9));
        assert_eq!(configured(&config), [ModelType::Local, ModelType::Claude]);
    }

    #[test]
    fn a_role_of_a_persons_stands_before_the_model_type() {
        let own =
            config("model = 'plain'\n[profiles.local]\nmodel = 'small'\n[roles.testgen]\nmodel = 'own'");
        let set = settings(&own, &TestGenConfig::default());
        assert_eq!(model_of(&set, "testgen").0.as_deref(), Some("own"));
        assert_eq!(model_of(&set, "testgen-reflect").0.as_deref(), Some("small"));
        let bare = config("model = 'plain'");
        assert_eq!(
            model_of(&settings(&bare, &TestGenConfig::default()), "testgen").0.as_deref(),
            Some("plain")
        );
        assert_eq!(configured(&bare), []);
    }
}
