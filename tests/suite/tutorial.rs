//! `docs/tutorial.md` as a reader follows it: every command on the page is run, and what the page shows of its output comes.
//! Only the download is left out: the crate `bzip2-sys` carries the same files.

use crate::support::Repo;
use crate::support::clib::{copy_tree, vendored};
use std::path::Path;
use std::process::Command;

/// A fenced block: its language and its text.
type Block = (String, String);

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in page.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(language), None) => open = Some((language.to_owned(), String::new())),
            (None, Some((_, text))) => *text += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    blocks
}

/// Runs commands as a shell does; what they print. `cargo implfuzz` is the tool that is tested.
#[expect(clippy::disallowed_methods, reason = "the reader's shell")]
fn shell(repo: &Repo, commands: &str) -> String {
    let tool = Path::new(env!("CARGO_BIN_EXE_cargo-implfuzz")).parent().unwrap();
    let path = format!("{}:{}", tool.display(), std::env::var("PATH").unwrap());
    let who = ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"];
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{commands}")])
        .current_dir(repo.root())
        .envs(who.map(|name| (name, "reader@example.org")))
        .env("PATH", path)
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The port of a block, in the place of the function's stub or last port.
fn port(repo: &Repo, text: &str) {
    let name = text.split("fn ").nth(1).unwrap().split('(').next().unwrap();
    let file = if name == "add_pair_to_block" { "rust/src/bzlib.rs" } else { "rust/src/huffman.rs" };
    let mut module = repo.read(file);
    let starts = [format!("pub fn {name}("), format!("pub unsafe fn {name}(")];
    let start =
        starts.iter().find_map(|start| module.find(start)).unwrap_or_else(|| panic!("{name} in {file}"));
    let end = start + module[start..].find("\n}\n").unwrap() + 3;
    module.replace_range(start..end, text);
    repo.write(file, &module);
}

/// Parameters of the contract as a block has them, or a table for `implfuzz.toml`.
fn settings(repo: &Repo, text: &str) {
    if !text.starts_with("[[param]]") {
        return repo.write("implfuzz.toml", &format!("{}\n{text}", repo.read("implfuzz.toml")));
    }
    let path = "rust/contracts/BZ2_hbAssignCodes.toml";
    let mut contract = repo.read(path);
    for param in text.split("\n\n") {
        let (before, range) = param.trim_end().split_once("\nmin").unwrap();
        assert!(contract.contains(before), "{before} in {contract}");
        contract = contract.replace(before, &format!("{before}\nmin{range}"));
    }
    repo.write(path, &contract);
}

/// Whether a line of the page stands in the output; what `…` leaves out may be anything.
fn is_shown(line: &str, output: &str) -> bool {
    output.lines().any(|told| {
        let mut rest = told.trim_start();
        line.split('…').enumerate().all(|(at, part)| match rest.find(part.trim_end()) {
            Some(found) if at > 0 || found == 0 => {
                rest = &rest[found + part.trim_end().len()..];
                true
            }
            _ => false,
        })
    })
}

#[test]
#[ignore = "ten minutes: cargo test --test suite tutorial -- --ignored"]
fn every_command_of_the_tutorial_does_what_the_page_says() {
    let repo = Repo::empty();
    copy_tree(&vendored("bzip2-sys", "0.1.13").join("bzip2-1.0.8"), repo.root());
    let page = include_str!("../../docs/tutorial.md");
    let mut output = String::new();
    let (mut ran, mut shown) = (0, 0);
    for (language, text) in blocks(page) {
        match language.as_str() {
            "sh" => {
                let commands =
                    text.lines().filter(|line| !line.starts_with("curl ") && !line.starts_with("cd "));
                let commands: Vec<&str> = commands.collect();
                ran += commands.len();
                output = shell(&repo, &commands.join("\n"));
            }
            "text" => {
                for line in text.lines() {
                    assert!(is_shown(line, &output), "`{line}` is not in:\n{output}");
                    shown += 1;
                }
            }
            "rust" => port(&repo, &text),
            "toml" => settings(&repo, &text),
            other => panic!("a block in {other:?}"),
        }
    }
    assert!(ran > 15 && shown > 10, "{ran} commands, {shown} lines");
    // The hook stops a change without evidence.
    repo.replace("rust/src/huffman.rs", "vec <<= 1;", "vec *= 2;");
    let told = shell(&repo, "git add -A && git commit -qm changed || echo stopped");
    assert!(told.contains("stale") && told.contains("stopped"), "{told}");
}

#[test]
fn lines_of_the_page_may_leave_out_what_changes() {
    assert!(is_shown("f  verified …", "symbol\nf  verified  12000  90 %\n"));
    assert!(is_shown("a … c", "  a b c"));
    assert!(!is_shown("f  verified …", "f  weak  12000\n"));
    assert!(!is_shown("verified", "not verified"));
}
