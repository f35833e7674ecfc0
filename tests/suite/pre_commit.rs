//! The hooks of `.pre-commit-hooks.yaml` under the real pre-commit, which is installed with pip.

use crate::support::git::{program, ran, tool_folder};
use crate::support::python::tools;
use crate::support::{Ran, Repo};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The folder of `pre-commit`. The first test that asks installs it, the others wait.
fn pre_commit() -> &'static Path {
    static BIN: OnceLock<PathBuf> = OnceLock::new();
    BIN.get_or_init(|| tools("pre-commit-venv", &["pre-commit"], &["pre-commit"]))
}

/// A program with pre-commit and the tool under test on PATH.
fn run(repo: &Repo, bin: &Path, name: &str, args: &[&str]) -> Ran {
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{}:{path}", bin.display(), tool_folder().display());
    let mut command = program(name, repo.root(), args);
    command.env("PATH", path).env("PRE_COMMIT_HOME", repo.aside().join("home"));
    ran(&mut command)
}

/// A git repository that has the hooks file of this one and nothing else, and its one commit.
fn hooks(repo: &Repo) -> (PathBuf, String) {
    let dir = repo.aside().join("hooks");
    std::fs::create_dir_all(&dir).unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(".pre-commit-hooks.yaml");
    std::fs::copy(file, dir.join(".pre-commit-hooks.yaml")).unwrap();
    for args in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "hooks"]] {
        ran(&mut program("git", &dir, args)).ok();
    }
    let head = ran(&mut program("git", &dir, &["rev-parse", "HEAD"]));
    (dir, head.stdout.trim().to_owned())
}

/// pre-commit's configuration with one hook of a repository.
fn config(repository: &Path, rev: &str, id: &str) -> String {
    format!("repos:\n  - repo: {}\n    rev: {rev}\n    hooks:\n      - id: {id}\n", repository.display())
}

#[test]
fn the_hooks_block_what_check_lists_and_verify_mends_it() {
    let bin = pre_commit();
    let repo = Repo::initialised();
    let (hooks, rev) = hooks(&repo);
    let config = |id: &str| config(&hooks, &rev, id);
    let text = repo.read("implfuzz.toml") + "\n[grade]\nmeasure = false\nleast = \"weak\"\n";
    repo.write("implfuzz.toml", &text);
    repo.write(".pre-commit-config.yaml", &config("implfuzz-check-system"));
    let git = |args: &[&str]| run(&repo, bin, "git", args);
    git(&["init", "-q"]).ok();
    run(&repo, bin, "pre-commit", &["install"]).ok();
    git(&["add", "."]).ok();
    git(&["commit", "-q", "-m", "stubs"]).ok();

    repo.replace("rust/src/sum.rs", "unimplemented!(\"twice\")", "x << 1");
    git(&["add", "."]).ok();
    let refused = git(&["commit", "-q", "-m", "port"]);
    refused.code(1).shows("twice: unjudged").shows("help: cargo implfuzz verify twice");

    // The other hook judges it; like every hook that writes, it asks for what it wrote to be added.
    repo.write(".pre-commit-config.yaml", &config("implfuzz-verify-system"));
    git(&["add", "."]).ok();
    git(&["commit", "-q", "-m", "port"]).code(1).shows("files were modified by this hook");
    git(&["add", "."]).ok();
    git(&["commit", "-q", "-m", "port"]).ok();
    repo.replace("rust/src/sum.rs", "x << 1", "x.saturating_mul(2)");
    git(&["add", "."]).ok();
    git(&["commit", "-q", "-m", "wrong"]).code(1).shows("mismatch: return value");

    git(&["checkout", "-q", "HEAD", "."]).ok();
    repo.write(".pre-commit-config.yaml", &config("implfuzz-check-system"));
    repo.replace("rust/src/sum.rs", "x << 1", "todo!()");
    git(&["add", "."]).ok();
    git(&["commit", "-q", "-m", "stub"]).code(1).shows("is a stub now");
}

/// What a commit holds beside C, Rust and TOML decides, too: evidence, inputs, build files.
#[test]
#[ignore = "half a minute: cargo test --test suite pre_commit -- --ignored"]
fn a_commit_of_any_kind_of_file_runs_the_hook() {
    let bin = pre_commit();
    let repo = Repo::initialised();
    let (hooks, rev) = hooks(&repo);
    repo.write(".pre-commit-config.yaml", &config(&hooks, &rev, "implfuzz-check-system"));
    let git = |args: &[&str]| run(&repo, bin, "git", args);
    git(&["init", "-q"]).ok();
    // Committed before there was a hook: a port that nothing judged.
    repo.replace("rust/src/sum.rs", "unimplemented!(\"twice\")", "x << 1");
    git(&["add", "."]).ok();
    git(&["commit", "-q", "-m", "before"]).ok();
    run(&repo, bin, "pre-commit", &["install"]).ok();
    for (path, text) in [
        ("implfuzz.lock", "version = 1\n"),
        ("rust/fuzz/seeds/twice/one", "\u{1}"),
        ("CMakeLists.txt", "project(sum C)\n"),
    ] {
        repo.write(path, text);
        git(&["add", path]).ok();
        git(&["commit", "-q", "-m", path]).code(1).shows("twice: unjudged");
        git(&["reset", "-q", "--hard"]).ok();
    }
}

/// pre-commit does not notice what git is told to assume of the working tree; the hook judges the index.
#[test]
fn what_git_assumes_of_the_working_tree_is_not_what_the_hook_checks() {
    let bin = pre_commit();
    let repo = Repo::initialised();
    let (hooks, rev) = hooks(&repo);
    repo.write(".pre-commit-config.yaml", &config(&hooks, &rev, "implfuzz-check-system"));
    let git = |args: &[&str]| run(&repo, bin, "git", args);
    git(&["init", "-q"]).ok();
    run(&repo, bin, "pre-commit", &["install"]).ok();
    git(&["add", "."]).ok();
    git(&["commit", "-q", "-m", "stubs"]).ok();
    let module = "rust/src/sum.rs";
    let stub = repo.read(module);
    repo.replace(module, "unimplemented!(\"twice\")", "x << 1");
    git(&["add", module]).ok();
    git(&["update-index", "--assume-unchanged", module]).ok();
    repo.write(module, &stub);
    git(&["commit", "-q", "-m", "a port that nothing judged"]).code(1).shows("twice: unjudged");
}

/// The hooks that build the tool: pre-commit installs it from a checkout of this repository.
#[test]
#[ignore = "compiles the tool anew; minutes"]
fn the_hook_that_builds_the_tool_checks_a_commit() {
    let bin = pre_commit();
    let repo = Repo::initialised();
    let tool = env!("CARGO_MANIFEST_DIR");
    let head = ran(&mut program("git", Path::new(tool), &["rev-parse", "HEAD"])).stdout;
    let rev = head.trim();
    repo.write(".pre-commit-config.yaml", &config(Path::new(tool), rev, "implfuzz-check"));
    let git = |args: &[&str]| run(&repo, bin, "git", args);
    git(&["init", "-q"]).ok();
    run(&repo, bin, "pre-commit", &["install"]).ok();
    git(&["add", "."]).ok();
    git(&["commit", "-q", "-m", "stubs"]).ok();
    repo.replace("rust/src/sum.rs", "unimplemented!(\"twice\")", "x << 1");
    git(&["add", "."]).ok();
    git(&["commit", "-q", "-m", "port"]).code(1).shows("twice: unjudged");
}

#[test]
fn every_hook_is_there_twice() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(".pre-commit-hooks.yaml"))
        .unwrap();
    let ids: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("- id: ")).collect();
    assert_eq!(ids, ["implfuzz-check", "implfuzz-verify", "implfuzz-check-system", "implfuzz-verify-system"]);
    assert_eq!(text.matches("pass_filenames: false\n  require_serial: true\n").count(), 4);
    assert_eq!(text.matches("always_run: true").count(), 4);
}
