//! The plain git hook on real repositories: it blocks bad commits, checks the staged files, and keeps existing hooks.

use crate::support::git::git;
use crate::support::{Ran, Repo, Tree};
use std::os::unix::fs::PermissionsExt;

const MODULE: &str = "rust/src/sum.rs";

fn commit(repo: &Repo) -> Ran {
    git(repo, &["commit", "-q", "-m", "x"])
}

/// Everything but what git keeps.
fn files(repo: &Repo) -> Tree {
    let mut tree = repo.tree();
    tree.retain(|path, _| !path.starts_with(repo.root().join(".git")));
    tree
}

/// The commit is refused with these words, and nothing of the working tree changes.
#[track_caller]
fn blocked(repo: &Repo, says: &[&str]) {
    let before = files(repo);
    let ran = commit(repo);
    ran.code(1);
    for text in says {
        ran.shows(text);
    }
    assert!(before == files(repo), "the hook changed the working tree");
}

fn judge(repo: &Repo) {
    repo.run(&["verify", "twice", "--runs", "3000", "--seconds", "3"]).ok();
}

#[test]
fn a_commit_is_judged_by_what_is_staged() {
    let repo = Repo::initialised();
    git(&repo, &["init", "-q"]).ok();
    repo.run(&["hook", "install"]).ok().shows("git runs `cargo implfuzz check` before every commit");
    repo.run(&["hook", "install"]).ok().shows("exists already");
    git(&repo, &["add", "."]).ok();
    // Stubs that were never ported do not stand in the way.
    commit(&repo).ok();

    repo.replace(MODULE, "unimplemented!(\"twice\")", "x << 1");
    git(&repo, &["add", "."]).ok();
    let line = format!("{MODULE}:7: twice: ");
    blocked(
        &repo,
        &[&line, "unjudged: implfuzz.lock has no evidence for it", "help: cargo implfuzz verify twice"],
    );
    judge(&repo);
    blocked(
        &repo,
        &[
            "unjudged",
            "the evidence fits the working tree, but not everything is staged",
            "git add implfuzz.lock",
        ],
    );
    git(&repo, &["add", "."]).ok();
    commit(&repo).ok();

    // A constant of C changes: blocked while it is staged, and not while it is only in the working tree.
    repo.replace("sum.c", "x * 2u", "x * 2u * 1u");
    repo.write("notes.txt", "one\n");
    git(&repo, &["add", "notes.txt"]).ok();
    commit(&repo).ok();
    git(&repo, &["add", "sum.c"]).ok();
    blocked(&repo, &["twice: stale", "`twice` in sum.c changed", "cargo implfuzz verify twice"]);
    repo.replace("sum.c", "x * 2u * 1u", "x * 2u");
    blocked(&repo, &["twice: stale"]);
    git(&repo, &["reset", "-q", "--hard"]).ok();

    // What git is to assume of the working tree is not what is committed.
    for flag in ["assume-unchanged", "skip-worktree"] {
        repo.replace(MODULE, "x << 1", "x << 2");
        git(&repo, &["add", MODULE]).ok();
        repo.replace(MODULE, "x << 2", "x << 1");
        git(&repo, &["update-index", &format!("--{flag}"), MODULE]).ok();
        blocked(&repo, &["twice: stale", "the Rust text changed"]);
        git(&repo, &["update-index", &format!("--no-{flag}"), MODULE]).ok();
        git(&repo, &["reset", "-q", "--hard"]).ok();
    }

    repo.replace(MODULE, "x << 1", "unimplemented!(\"twice\")");
    git(&repo, &["add", "."]).ok();
    blocked(
        &repo,
        &[&line, "implfuzz.lock lists it as ported, but it is a stub now", "cargo implfuzz port twice"],
    );
    repo.replace(MODULE, "unimplemented!(\"twice\")", "unsafe { ffi::twice(x) }");
    git(&repo, &["add", "."]).ok();
    blocked(
        &repo,
        &[
            &format!("{MODULE}:8: twice: the audit rejects it"),
            "is the C original",
            "correct it, then cargo implfuzz verify twice",
        ],
    );
    // `-a` stages in an index of its own.
    git(&repo, &["reset", "-q", "--hard"]).ok();
    repo.replace(MODULE, "x << 1", "todo!()");
    git(&repo, &["commit", "-q", "-a", "-m", "x"]).code(1).shows("is a stub now");
    let left = git(&repo, &["stash", "list"]);
    assert_eq!(left.stdout, "", "nothing is stashed");
    repo.run(&["hook", "uninstall"]).ok();
    git(&repo, &["commit", "-q", "-a", "-m", "x"]).ok();
}

#[test]
fn the_hook_of_somebody_else_is_kept_and_runs_first() {
    let repo = Repo::empty();
    repo.write("lib/implfuzz.toml", "version = 1\n");
    repo.write("lib/it's/implfuzz.toml", "version = 1\n");
    let at = |dir: &str, args: &[&str]| repo.run(&[&["-C", dir, "hook"], args].concat());
    at("lib", &["install"]).fails(1, &["not a git repository"]);
    git(&repo, &["init", "-q"]).ok();
    git(&repo, &["config", "core.hooksPath", "my hooks"]).ok();
    let theirs = "#!/bin/sh\necho theirs >>seen\n[ ! -e bad ]\n";
    repo.write("my hooks/pre-commit", theirs);
    let path = repo.root().join("my hooks/pre-commit");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();

    at("lib", &["install"]).fails(2, &["exists already", "--force"]);
    assert_eq!(repo.read("my hooks/pre-commit"), theirs);
    at("lib", &["uninstall"]).ok().shows("nothing to do");
    at("lib/it's", &["install", "--force"]).ok().shows("runs first");
    repo.write("a", "");
    git(&repo, &["add", "a"]).ok();
    repo.write("bad", "");
    assert!(!commit(&repo).status.success());
    assert_eq!(repo.read("seen"), "theirs\n");
    std::fs::remove_file(repo.root().join("bad")).unwrap();
    // Theirs agrees; ours runs in the right folder, where no library is.
    commit(&repo).code(1).shows("c_units.rs").shows("cargo implfuzz init");
    assert_eq!(repo.read("seen"), "theirs\ntheirs\n");
    at("lib/it's", &["uninstall"]).ok();
    assert_eq!(repo.read("my hooks/pre-commit"), theirs);
    assert_eq!(std::fs::read_dir(repo.root().join("my hooks")).unwrap().count(), 1);
    commit(&repo).ok();
}

#[test]
fn a_repository_with_several_ports_checks_each_of_them_on_branches_that_have_it() {
    let repo = Repo::empty();
    git(&repo, &["init", "-q"]).ok();
    for dir in ["a", "b"] {
        repo.write(&format!("{dir}/sum.c"), "unsigned twice(unsigned x) { return x * 2; }\n");
        repo.run(&["-C", dir, "init"]).ok();
        repo.run(&["-C", dir, "hook", "install"]).ok().shows("written");
    }
    repo.run(&["-C", "a", "hook", "install"]).ok().shows("exists already");
    git(&repo, &["add", "."]).ok();
    commit(&repo).ok();
    for dir in ["a", "b"] {
        let module = format!("{dir}/rust/src/sum.rs");
        repo.replace(&module, "unimplemented!(\"twice\")", "x << 1");
        git(&repo, &["add", "."]).ok();
        blocked(&repo, &["twice: unjudged"]);
        git(&repo, &["reset", "-q", "--hard"]).ok();
    }
    // What takes the settings away takes the check away.
    git(&repo, &["rm", "-q", "--cached", "a/implfuzz.toml"]).ok();
    blocked(&repo, &["this commit removes a/implfuzz.toml"]);
    git(&repo, &["reset", "-q", "--hard"]).ok();
    // A branch without the ports has nothing to check.
    git(&repo, &["checkout", "-q", "--orphan", "pages"]).ok();
    git(&repo, &["rm", "-q", "-r", "-f", "."]).ok();
    repo.write("index.html", "");
    git(&repo, &["add", "index.html"]).ok();
    commit(&repo).ok();
    let branch = git(&repo, &["for-each-ref", "--format=%(refname:short)", "refs/heads"]).stdout;
    let first = branch.lines().find(|name| *name != "pages").unwrap().to_owned();
    git(&repo, &["checkout", "-q", "-f", &first]).ok();
    // One goes, the other stays.
    repo.run(&["-C", "a", "hook", "uninstall"]).ok().shows("taken away");
    repo.replace("b/rust/src/sum.rs", "unimplemented!(\"twice\")", "x << 1");
    git(&repo, &["add", "."]).ok();
    blocked(&repo, &["twice: unjudged"]);
    repo.run(&["-C", "a", "hook", "uninstall"]).ok().shows("nothing to do");
    repo.run(&["-C", "b", "hook", "uninstall"]).ok();
    commit(&repo).ok();
}
