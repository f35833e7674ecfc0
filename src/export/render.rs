//! Fills in templates whose own text has braces.

use crate::error::{Error, ErrorKind, Result};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Value};

/// The text of a built-in template, called `what` in an error message.
pub(super) fn render(what: &str, template: &str, values: Value) -> Result<String> {
    let internal =
        |error: minijinja::Error| Error::new(ErrorKind::Internal, format!("the built-in {what}: {error:#}"));
    let mut environment = Environment::new();
    environment.set_syntax(syntax().map_err(internal)?);
    environment.render_str(template, values).map_err(internal)
}

/// Not the usual braces, which shells and GitHub use for their own expressions.
fn syntax() -> std::result::Result<SyntaxConfig, minijinja::Error> {
    let mut builder = SyntaxConfig::builder();
    builder.block_delimiters("<%", "%>").variable_delimiters("<<", ">>").comment_delimiters("<#", "#>");
    builder.trim_blocks(true).keep_trailing_newline(true).build()
}
