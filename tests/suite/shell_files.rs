//! What the tool prints for shells, `man` and coding agents: completions, manual pages, the guide.

use crate::support::Repo;
use crate::support::git::{program, ran};
use crate::support::shape::documented;
use serde_json::json;
use std::path::Path;

/// Whether the machine has this program.
fn has(name: &str) -> bool {
    std::env::split_paths(&std::env::var_os("PATH").unwrap()).any(|dir| dir.join(name).is_file())
}

#[test]
fn completions_know_every_command() {
    let repo = Repo::empty();
    let commands = cargo_implfuzz::cli::command();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = repo.run(&["completions", shell]);
        for command in commands.get_subcommands() {
            ran.ok().shows(command.get_name());
        }
        assert!(ran.stdout.contains("cargo-implfuzz") && ran.stdout.contains("dry-run"), "{ran}");
    }
    repo.run(&["completions", "tcsh"]).code(2).shows("possible values: bash");
    let json = repo.run(&["completions", "bash", "--format", "json"]).ok().json("completions");
    assert_eq!(json["shell"], "bash");
    documented(&json);
}

#[test]
fn bash_loads_its_completions_and_completes() {
    if !has("bash") {
        return;
    }
    let repo = Repo::empty();
    repo.write("complete", &repo.run(&["completions", "bash"]).ok().stdout);
    ran(&mut program("bash", repo.root(), &["-n", "complete"])).ok();
    let script = "source ./complete; COMP_WORDS=(cargo-implfuzz verify --sta); COMP_CWORD=2; \
                  $(complete -p cargo-implfuzz | sed 's/.*-F \\([^ ]*\\).*/\\1/') cargo-implfuzz --sta verify; echo \"${COMPREPLY[@]}\"";
    let completed = ran(&mut program("bash", repo.root(), &["-c", script]));
    assert_eq!(completed.ok().stdout, "--stale\n", "{completed}");
}

#[test]
fn every_command_has_a_manual_page() {
    let repo = Repo::empty();
    let main = repo.run(&["man"]);
    assert!(main.ok().stdout.contains("\n.TH cargo-implfuzz 1 "), "{main}");
    let json = repo.run(&["man", "--out", "pages/man1", "--format", "json"]).ok().json("man");
    documented(&json);
    assert_eq!(json["dir"], json!("pages/man1"));
    let files: Vec<&str> =
        json["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap()).collect();
    for name in ["cargo-implfuzz.1", "cargo-implfuzz-port.1", "cargo-implfuzz-findings-show.1"] {
        assert!(files.contains(&name), "{json:#}");
    }
    assert_eq!(repo.read("pages/man1/cargo-implfuzz.1"), main.stdout);
    for file in files {
        let text = repo.read(&format!("pages/man1/{file}"));
        assert!(text.contains("\n.TH cargo-implfuzz"), "{file}: {text}");
        // What a reader types.
        assert!(text.contains("cargo implfuzz"), "{file}: {text}");
        render(repo.root(), &format!("pages/man1/{file}"));
    }
}

/// Renders a page without a warning, with the reader that the machine has.
fn render(dir: &Path, file: &str) {
    let rendered = match () {
        () if has("mandoc") => ran(&mut program("mandoc", dir, &["-T", "ascii", file])),
        () if has("man") && has("groff") => ran(program("man", dir, &["--warnings", "-l", file])
            .env("MANPAGER", "cat")
            .env("LC_ALL", "C.UTF-8")),
        () => return,
    };
    assert!(rendered.ok().stdout.contains("NAME") && rendered.stderr.is_empty(), "{file}: {rendered}");
}

#[test]
fn the_guide_for_agents_is_the_page_of_the_documentation() {
    let repo = Repo::empty();
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/agent-guide.md")).unwrap();
    assert_eq!(repo.run(&["agent-guide"]).ok().stdout, page);
    let json = repo.run(&["agent-guide", "--format", "json"]).ok().json("agent-guide");
    assert_eq!(json["text"], json!(page));
    documented(&json);
}
