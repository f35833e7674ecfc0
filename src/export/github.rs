//! The workflow of GitHub Actions that checks the evidence and verifies stale ports.

use crate::error::{Error, ErrorKind, Result};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, context};
use serde_json::json;
use std::path::Path;

/// Where GitHub looks for it, relative to the root of the git repository.
pub const PATH: &str = ".github/workflows/implfuzz.yml";

/// The workflow. `within` is the target repository, relative to the root of the git repository; `shards` is the number
/// of machines that verify.
pub fn workflow(within: &Path, shards: usize) -> Result<String> {
    // A JSON string is a YAML string, too.
    let within = match within.as_os_str().is_empty() {
        true => String::new(),
        false => json!(within.display().to_string()).to_string(),
    };
    let list: Vec<String> = (1..=shards).map(|shard| shard.to_string()).collect();
    let values = context!(within, shards, list => list.join(", "), home => env!("CARGO_PKG_REPOSITORY"));
    let internal = |error: minijinja::Error| {
        Error::new(ErrorKind::Internal, format!("the built-in workflow: {error:#}"))
    };
    let mut environment = Environment::new();
    environment.set_syntax(syntax().map_err(internal)?);
    environment.render_str(include_str!("../../templates/export/github.yml.j2"), values).map_err(internal)
}

/// Not the usual braces, which GitHub uses for its own expressions.
fn syntax() -> std::result::Result<SyntaxConfig, minijinja::Error> {
    let mut builder = SyntaxConfig::builder();
    builder.block_delimiters("<%", "%>").variable_delimiters("<<", ">>").comment_delimiters("<#", "#>");
    builder.trim_blocks(true).keep_trailing_newline(true).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workflow_of_a_repository() {
        insta::assert_snapshot!(workflow(Path::new(""), 4).unwrap());
    }

    #[test]
    fn a_folder_of_the_git_repository_is_where_the_commands_run() {
        let text = workflow(Path::new("lib/\"x\" y"), 2).unwrap();
        assert_eq!(text.matches("working-directory: \"lib/\\\"x\\\" y\"\n").count(), 2, "{text}");
        assert!(text.contains("shard: [1, 2]") && text.contains("SHARD: ${{ matrix.shard }}/2"), "{text}");
        assert!(!workflow(Path::new(""), 2).unwrap().contains("working-directory"));
    }
}
