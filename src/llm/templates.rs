//! Prompt templates: built-in, each replaceable by a user's file. The filters `fenced` and `span`, which wrap foreign
//! text, are always the same.

use super::quoted::{fenced, span};
use crate::error::{Error, ErrorKind, Result};
use minijinja::{Environment, UndefinedBehavior, Value};
use std::path::Path;

/// Earlier names of templates, with those of today.
const RENAMED: [(&str, &str); 5] = [
    ("crash.j2", "c_fault.j2"),
    ("enhancer.j2", "repair.j2"),
    ("prototyper.j2", "port.j2"),
    ("rules.j2", "port_rules.j2"),
    ("symbol.j2", "function.j2"),
];

/// Templates by their names.
#[derive(Debug)]
pub struct Templates {
    environment: Environment<'static>,
}

impl Templates {
    /// The built-in templates, name and text, each replaced by the file of the same name in `overrides` where there is one.
    ///
    /// # Errors
    /// `Config` when such a file is no template, or has the earlier name of one.
    pub fn load(built_in: &[(&'static str, &str)], overrides: Option<&Path>) -> Result<Self> {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.add_filter("fenced", |text: String, info: String| fenced(&text, &info));
        environment.add_filter("span", |text: String| span(&text));
        if let Some(dir) = overrides {
            earlier_names(dir)?;
        }
        for (name, built_in) in built_in {
            let file = overrides.map(|dir| dir.join(name)).filter(|file| file.is_file());
            let text = match &file {
                Some(file) => fs_err::read_to_string(file)?,
                None => (*built_in).to_owned(),
            };
            environment.add_template_owned(*name, text).map_err(|error| wrong(name, &error))?;
        }
        Ok(Self { environment })
    }

    /// One of them, filled.
    ///
    /// # Errors
    /// `Config` where it asks for what there is not.
    pub fn render(&self, name: &str, values: Value) -> Result<String> {
        let template = self.environment.get_template(name).map_err(|error| wrong(name, &error))?;
        let text = template.render(values).map_err(|error| wrong(name, &error))?;
        Ok(text.trim().to_owned())
    }
}

/// A file under an earlier name would replace nothing, and nobody would notice.
fn earlier_names(dir: &Path) -> Result<()> {
    let Some((old, new)) = RENAMED.iter().find(|(old, _)| dir.join(old).is_file()) else { return Ok(()) };
    let text = format!("prompt template {}: this template is called {new} now", dir.join(old).display());
    Err(Error::new(ErrorKind::Config, text).help(format!("rename the file to {new}, or remove it")))
}

fn wrong(name: &str, error: &minijinja::Error) -> Error {
    Error::new(ErrorKind::Config, format!("prompt template {name}: {error:#}"))
        .help(format!("correct or remove your own {name}; without it, the built-in one is used"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use minijinja::context;

    const BUILT_IN: [(&str, &str); 2] = [("a.j2", " {{ x | span }}\n"), ("b.j2", "{{ x | fenced('c') }}")];

    #[test]
    fn a_file_of_the_users_replaces_the_built_in_template_of_its_name() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.j2"), "own {{ x }}").unwrap();
        std::fs::write(dir.path().join("c.j2"), "{% nobody asks for it").unwrap();
        let text = |overrides, name| {
            Templates::load(&BUILT_IN, overrides).unwrap().render(name, context!(x => "1\n2")).unwrap()
        };
        assert_eq!(text(None, "a.j2"), "`1 2`");
        assert_eq!(text(Some(dir.path()), "a.j2"), "own 1\n2");
        assert_eq!(text(Some(dir.path()), "b.j2"), "```c\n1\n2\n```");
    }

    #[test]
    fn a_file_under_the_earlier_name_of_a_template_is_an_error_that_says_the_new_one() {
        for (old, new) in RENAMED {
            let dir = tempfile::tempdir().unwrap();
            std::fs::write(dir.path().join(old), "own").unwrap();
            let error = Templates::load(&BUILT_IN, Some(dir.path())).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Config);
            assert!(error.to_string().ends_with(&format!("this template is called {new} now")), "{error}");
            assert!(error.help_text().is_some_and(|help| help.contains(new)), "{error:?}");
        }
    }

    #[test]
    fn what_is_no_template_or_lacks_a_value_is_an_error_of_the_configuration() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.j2"), "{% if %}").unwrap();
        let error = Templates::load(&BUILT_IN, Some(dir.path())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        assert!(error.help_text().is_some_and(|help| help.contains("your own a.j2")), "{error:?}");
        let error = Templates::load(&BUILT_IN, None).unwrap().render("a.j2", context!()).unwrap_err();
        assert!(error.to_string().contains("prompt template a.j2"), "{error}");
    }
}
