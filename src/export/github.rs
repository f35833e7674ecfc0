//! The workflow of GitHub Actions that checks the evidence and verifies stale ports.

use super::render::render;
use crate::error::{Page, Result};
use minijinja::context;
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
    let values = context!(within, shards, list => list.join(", "), page => Page::Ci.to_string(), home => env!("CARGO_PKG_REPOSITORY"));
    render("workflow", include_str!("../../templates/export/github.yml.j2"), values)
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
