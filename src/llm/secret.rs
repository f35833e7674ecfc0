//! API keys: their sources, and their removal from every text.

use crate::error::{Error, ErrorKind, Result};
use secrecy::{ExposeSecret, SecretString};

/// The key in the environment variable `name`. `Err` when it is unset or empty; only the name is shown.
pub(super) fn from_env(name: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<SecretString> {
    match env(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty()) {
        Some(value) => Ok(SecretString::from(value)),
        None => Err(Error::new(ErrorKind::Config, format!("the environment variable {name} holds no key"))
            .help(format!("export {name}=…   (or name another variable with llm.api_key_env)"))),
    }
}

/// Takes keys out of texts that come from outside: servers and programs sometimes echo them.
#[derive(Debug, Clone, Default)]
pub(super) struct Redactor(Vec<SecretString>);

impl Redactor {
    /// Redacts these keys. Very short ones are left alone: they would tear up ordinary text.
    pub fn new(keys: impl IntoIterator<Item = SecretString>) -> Self {
        Self(keys.into_iter().filter(|key| key.expose_secret().len() >= 6).collect())
    }

    /// The text without keys.
    pub fn clean(&self, text: String) -> String {
        self.0.iter().fold(text, |text, key| match text.contains(key.expose_secret()) {
            true => text.replace(key.expose_secret(), "[redacted]"),
            false => text,
        })
    }
}

/// A URL without user name, password and query, for messages.
pub(super) fn shown_url(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or(url);
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit('@').next().unwrap_or(host);
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_from_the_named_variable_only() {
        let env = |name: &str| (name == "KEY").then(|| " sk-canary\n".to_owned());
        assert_eq!(from_env("KEY", &env).unwrap().expose_secret(), "sk-canary");
        let error = from_env("OTHER", &env).unwrap_err();
        assert!(error.to_string().contains("OTHER") && !error.to_string().contains("canary"));
    }

    #[test]
    fn a_redactor_cleans_and_does_not_tell() {
        let redactor = Redactor::new([SecretString::from("sk-canary"), SecretString::from("a")]);
        assert_eq!(redactor.clean("a sk-canary, sk-canary".into()), "a [redacted], [redacted]");
        assert!(!format!("{redactor:?}").contains("canary"));
    }

    #[test]
    fn urls_are_shown_without_credentials() {
        assert_eq!(shown_url("https://me:pw@h:1/v1/x?key=k#f"), "https://h:1/v1/x");
        assert_eq!(shown_url("http://h"), "http://h");
        assert_eq!(shown_url("nonsense"), "nonsense");
    }
}
