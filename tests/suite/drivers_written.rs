//! Drivers that a model writes: what stays, what is rejected and why, and what the next prompt says. Scripts are the model
//! here, to go through the branches.

use crate::drivers::{right_port, store};
use crate::support::{Repo, assert_same, reply};
use serde_json::{Value, json};

/// The library with the driver that reaches all but two functions.
fn library() -> Repo {
    let repo = store();
    std::fs::remove_file(repo.root().join("fuzz/words.cc")).unwrap();
    repo
}

fn driver(body: &str) -> String {
    format!(
        "```c driver\n#include <stdint.h>\n#include <stdlib.h>\n#include \"store.h\"\n\n\
         int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)\n{{\n{body}\n    return 0;\n}}\n```\n"
    )
}

/// Merges two stores; on inputs that begin with `broken`, it does so with none.
fn merging(broken: Option<char>) -> String {
    let from = broken.map_or("two".to_owned(), |c| format!("(size && data[0] == '{c}' ? NULL : two)"));
    driver(&format!(
        "    struct store *one = store_new(NULL, NULL), *two = store_new(NULL, NULL);\n    \
         if (one && two) {{\n        store_add(two, (const char *)data, size);\n        \
         store_merge(one, {from});\n    }}\n    if (one) store_free(one);\n    if (two) store_free(two);"
    ))
}

fn written(repo: &Repo) -> Value {
    repo.run(&["drivers", "--write", "--seconds", "1", "--format", "json"]).json("drivers-written")
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_written -- --ignored"]
fn only_a_driver_that_reaches_something_new_stays() {
    let repo = library();
    repo.model(&[
        &driver("    store_merge(one, two);"),
        &driver("    system(\"true\");"),
        &driver("    struct store *one = store_new(NULL, NULL);\n    if (one) store_free(one);"),
        &merging(None),
    ]);
    let json = written(&repo);
    let one = &json["written"][0];
    assert_eq!(
        (&one["function"], &one["driver"]),
        (&json!("store_merge"), &json!("fuzz/store_merge.c")),
        "{json:#}"
    );
    assert_eq!(one["new"], json!(["merge_item", "store_merge"]), "{json:#}");
    assert_eq!((&one["breaking"], &one["calls"]), (&Value::Null, &json!(4)), "{json:#}");
    assert_eq!(json["reached"].as_u64().unwrap() - json["reached_before"].as_u64().unwrap(), 2, "{json:#}");
    assert!(
        repo.read("fuzz/store_merge.c").starts_with("/* A driver that reaches `store_merge`; written by")
    );

    // The first prompt shows the function, the header and a call; each later one shows what was wrong.
    let first = repo.prompt(1);
    for told in [
        "# The function to reach: `store_merge`",
        "merge_item",
        "#include \\\"store.h\\\"`:",
        "`fuzz/names.c`, from line",
    ] {
        assert!(first.contains(told), "{told}: {first}");
    }
    assert!(repo.prompt(2).contains("use of undeclared identifier 'one'"), "{}", repo.prompt(2));
    assert!(repo.prompt(3).contains("a driver may not use `system`"), "{}", repo.prompt(3));
    let fourth = repo.prompt(4);
    assert!(fourth.contains("reached only functions that other drivers reach, too: "), "{fourth}");
    assert!(fourth.contains("`store_merge` was not called."), "{fourth}");

    let trace = repo.run(&["port", "store_merge", "--explain", "--format", "json"]).json("trace");
    let steps = trace["symbols"][0]["steps"].as_array().unwrap().clone();
    let steps: Vec<_> =
        steps.iter().map(|s| (s["step"].as_str().unwrap(), s["outcome"].as_str().unwrap())).collect();
    let expected = [
        ("ask-driver-writer", "answered"),
        ("try-driver", "not-kept"),
        ("ask-driver-enhancer", "answered"),
        ("try-driver", "not-kept"),
        ("ask-driver-enhancer", "answered"),
        ("try-driver", "not-kept"),
        ("ask-driver-enhancer", "answered"),
        ("try-driver", "kept"),
    ];
    assert_eq!(steps, expected);

    // It is a driver like any other, and there is nothing left to ask.
    let again = written(&repo);
    assert_eq!((&again["written"], &again["reached"]), (&json!([]), &json["reached"]), "{again:#}");
    assert_eq!(repo.asked(), 4);
}

#[test]
fn a_function_that_no_driver_can_reach_is_asked_about_once() {
    let repo = library();
    repo.model(&["```text notes\nNobody can.\n```\n"]);
    let before = repo.tree();
    let ran = repo.run(&["drivers", "--write", "--seconds", "1", "--format", "json"]);
    ran.code(11);
    let json = ran.json("drivers-written");
    assert_eq!(json["written"][0]["end"], "no driver: Nobody can.", "{json:#}");
    assert_same(&before, &repo.tree());
    // Only this function leads to the other one.
    assert_eq!((repo.asked(), json["written"].as_array().unwrap().len()), (1, 1), "{json:#}");
    assert_eq!(json["behind"], json!(["merge_item"]), "{json:#}");
    let again = written(&repo);
    assert_eq!((repo.asked(), &again["given_up"]), (1, &json!(["store_merge"])), "{again:#}");
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_written -- --ignored"]
fn where_c_breaks_the_model_says_who_is_wrong() {
    let repo = library();
    repo.model(&[&merging(Some('a')), &merging(None)]);
    let one = written(&repo)["written"][0].clone();
    let told = repo.prompt(2);
    assert!(told.contains("AddressSanitizer") && told.contains("store_merge"), "{told}");
    assert!(told.contains("```toml verdict"), "{told}");
    // The better driver takes the place of the first one.
    assert_eq!((&one["driver"], &one["breaking"]), (&json!("fuzz/store_merge_2.c"), &Value::Null), "{one:#}");
    assert_eq!(one["new"], json!(["merge_item", "store_merge"]), "{one:#}");
    assert!(!repo.root().join("fuzz/store_merge.c").exists());

    let repo = library();
    repo.model(&[&merging(Some('a')), "```toml verdict\nwrong = \"c\"\nevidence = [\"store.c:9\"]\n```\n"]);
    let one = written(&repo)["written"][0].clone();
    assert_eq!(one["driver"], "fuzz/store_merge.c");
    assert!(one["end"].as_str().unwrap().ends_with("C is wrong, says the model: store.c:9"), "{one:#}");
    assert!(one["breaking"]["report"].as_str().unwrap().contains("AddressSanitizer"), "{one:#}");
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_written -- --ignored"]
fn port_has_a_driver_written_where_nothing_could_judge_the_port() {
    let repo = store();
    std::fs::remove_dir_all(repo.root().join("fuzz")).unwrap();
    let config = repo.read("implfuzz.toml");
    repo.write("implfuzz.toml", &format!("{config}seconds = 2\n[grade]\nexecutions = 300\n"));
    let adding = driver(
        "    struct store *store = store_new(NULL, NULL);\n    if (store) {\n        for (size_t at = 0; at < size; at += 3)\n            \
         store_add(store, (const char *)data + at, size - at < 3 ? size - at : 3);\n        store_free(store);\n    }",
    );
    repo.model(&[&adding, &reply(&right_port("link_item"))]);
    let json = repo.run(&["port", "link_item", "--write-drivers", "--format", "json"]).ok().json("port");
    let written = &json["drivers"]["written"];
    assert_eq!(written[0]["driver"], "fuzz/link_item.c", "{json:#}");
    let port = &json["symbols"][0];
    assert_eq!((&port["end"], &port["grade"]), (&json!("accepted"), &json!("verified")), "{json:#}");
    assert!(port["in_place"].as_u64().unwrap() >= 300, "{json:#}");
    // Drivers and ports are one run, with one budget, and functions with a harness need no driver.
    assert_eq!(
        (repo.asked(), repo.count("SELECT count(*) FROM runs WHERE command LIKE 'port%drivers'")),
        (2, 1)
    );
    assert_eq!(json["library"]["by_drivers"], 1, "{json:#}");
    repo.run(&["port", "link_item", "--write-drivers", "--candidate", "c2rust"])
        .fails(2, &["--write-drivers asks a model"]);
}
