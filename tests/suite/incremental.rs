//! After an edit of one C file, only its dependents are read again and only their evidence becomes stale. Everything
//! else keeps its bytes and its modification time.

use crate::support::{Repo, Tree, assert_same};
use serde_json::Value;
use std::path::Path;

/// Two units; what the second one does depends on the first.
fn repo() -> Repo {
    let repo = Repo::empty();
    repo.write("low.h", "#include <stdint.h>\n#define STEP 3u\nuint32_t low(uint32_t x);\n");
    repo.write("low.c", "#include \"low.h\"\nuint32_t low(uint32_t x) { return x + STEP; }\n");
    repo.write("high.c", "#include \"low.h\"\nuint32_t high(uint32_t x) { return low(x) ^ 1u; }\n");
    repo.write("alone.c", "#include <stdint.h>\nuint32_t alone(uint32_t x) { return x / 2u; }\n");
    repo.run(&["init"]).ok();
    repo
}

#[track_caller]
fn read(repo: &Repo) -> Vec<String> {
    let value = repo.run(&["init", "--format", "json"]).ok().json("init");
    value["read"].as_array().unwrap().iter().map(|file| file.as_str().unwrap().to_owned()).collect()
}

fn port_by_hand(repo: &Repo, name: &str, body: &str) {
    let stub = format!("{{\n    unimplemented!(\"{name}\")\n}}");
    repo.replace(&format!("rust/src/{name}.rs"), &stub, &format!("{{\n    {body}\n}}"));
}

fn grades(repo: &Repo) -> [Value; 3] {
    ["low", "high", "alone"].map(|name| repo.status(name)["grade"].clone())
}

/// The generated files and the modules, without what a build leaves.
fn tree(repo: &Repo) -> Tree {
    let mut tree = repo.all_files();
    // A contract names the lines that its roles were inferred from.
    let own = Path::new("rust/contracts/alone.toml");
    tree.retain(|path, _| path.starts_with("rust") && !path.starts_with("rust/target") && path != own);
    tree
}

#[test]
fn an_edit_reaches_what_depends_on_it_and_nothing_else() {
    let repo = repo();
    port_by_hand(&repo, "low", "x.wrapping_add(3)");
    port_by_hand(&repo, "high", "low(x) ^ 1");
    port_by_hand(&repo, "alone", "x / 2");
    repo.replace("rust/src/high.rs", "low(x)", "crate::callee::low(x)");
    repo.run(&["verify", "--all", "--runs", "3000", "--seconds", "3"]).ok();
    let fresh = Value::from("weak");
    assert!(grades(&repo).iter().all(|grade| *grade == fresh), "{:?}", grades(&repo));

    assert_eq!(read(&repo), [""; 0]);
    let before = tree(&repo);
    repo.write(
        "alone.c",
        "#include <stdint.h>\n/* Halves. */\nuint32_t alone(uint32_t x) { return x / 2u; }\n",
    );
    assert_eq!(read(&repo), ["alone.c"]);
    assert!(grades(&repo).iter().all(|grade| *grade == fresh), "a comment changes nothing");
    assert_eq!(tree(&repo), before);

    repo.write("alone.c", "#include <stdint.h>\nuint32_t alone(uint32_t x) { return x / 4u; }\n");
    assert_eq!(read(&repo), ["alone.c"]);
    assert_eq!(grades(&repo), [fresh.clone(), fresh.clone(), "stale".into()]);

    repo.replace("low.h", "STEP 3u", "STEP 5u");
    assert_eq!(read(&repo), ["high.c", "low.c"]);
    assert_eq!(grades(&repo), ["stale", "stale", "stale"].map(Value::from));
}

#[test]
fn nothing_is_kept_that_a_fresh_copy_would_not_have() {
    let repo = repo();
    repo.write("high.c", "#include \"low.h\"\nuint64_t high(uint64_t x) { return low((uint32_t)x) ^ 2u; }\n");
    repo.write("more.c", "int more(int a) { return a; }\n");
    repo.replace("implfuzz.toml", "\"low.c\"]", "\"low.c\", \"more.c\"]");
    assert_eq!(read(&repo), ["high.c", "more.c"]);
    // What is generated is all that is in these folders: the modules are new in both.
    let generated = |repo: &Repo| -> Tree {
        repo.all_files().into_iter().filter(|(path, _)| path.starts_with("rust")).collect()
    };
    std::fs::remove_dir_all(repo.root().join("rust/src")).unwrap();
    repo.run(&["init"]).ok();
    let kept = generated(&repo);
    std::fs::remove_dir_all(repo.root().join("rust")).unwrap();
    std::fs::remove_dir_all(repo.root().join(".implfuzz")).unwrap();
    repo.run(&["init"]).ok();
    let fresh = generated(&repo);
    let contents =
        |tree: &Tree| tree.iter().map(|(p, (_, text))| (p.clone(), text.clone())).collect::<Vec<_>>();
    assert_eq!(contents(&kept).len(), contents(&fresh).len());
    for ((path, kept), (other, fresh)) in contents(&kept).iter().zip(&contents(&fresh)) {
        assert_eq!(path, other);
        assert_eq!(String::from_utf8_lossy(kept), String::from_utf8_lossy(fresh), "{}", path.display());
    }
}

#[test]
fn what_is_deleted_or_edited_among_the_generated_files_comes_back() {
    let repo = repo();
    let before = tree(&repo);
    let ffi = Path::new("rust/src/ffi.rs");
    std::fs::remove_file(repo.root().join(ffi)).unwrap();
    repo.replace("rust/c_units.rs", "const LINK: &[&str] = &[];", "const LINK: &[&str] = &[\"m\"];");
    assert_eq!(read(&repo), [""; 0], "no C file changed");
    let contents =
        |tree: &Tree| tree.iter().map(|(p, (_, text))| (p.clone(), text.clone())).collect::<Vec<_>>();
    assert_eq!(contents(&tree(&repo)), contents(&before));
}

#[test]
fn a_file_that_breaks_is_shouted_about_and_costs_nothing() {
    let repo = repo();
    let before = tree(&repo);
    let text = repo.read("low.c");
    repo.write("low.c", "#include \"low.h\"\nuint32_t low(uint32_t x) { return x + ; }\n");
    for command in ["init", "list", "status"] {
        let ran = repo.run(&[command]);
        assert!(ran.stderr.contains("low.c cannot be read, so its functions are missing: low.c:2:"), "{ran}");
    }
    let value = repo.run(&["list", "--format", "json"]).ok().json("list");
    assert_eq!(value["left_out"][0]["broken"], true, "{value}");
    assert!(repo.root().join("rust/contracts/low.toml").exists());
    repo.write("low.c", &text);
    repo.run(&["init"]).ok();
    let contents =
        |tree: &Tree| tree.iter().map(|(p, (_, text))| (p.clone(), text.clone())).collect::<Vec<_>>();
    assert_eq!(contents(&tree(&repo)), contents(&before));
}

#[test]
fn a_function_that_left_the_library_is_told_and_kept() {
    let repo = repo();
    port_by_hand(&repo, "alone", "x / 2");
    repo.write("alone.c", "#include <stdint.h>\nuint32_t other(uint32_t x) { return x / 2u; }\n");
    let ran = repo.run(&["init"]);
    assert!(ran.stderr.contains("alone.rs: `alone` is no longer in the C library"), "{ran}");
    assert!(repo.read("rust/src/alone.rs").contains("x / 2"));
}

#[test]
fn files_of_an_older_runtime_leave_the_crate() {
    let repo = Repo::initialised();
    let before = repo.tree();
    repo.write("rust/fuzz/runtime/src/of_before.rs", "//! A module that this release does not have.\n");
    repo.run(&["init"]).ok();
    assert_same(&before, &repo.tree());
}
