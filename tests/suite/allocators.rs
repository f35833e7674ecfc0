//! Libraries that let programs replace the allocator through variables, which lead to `malloc` and `free` at first.

use crate::support::{Ran, Repo};
use serde_json::json;
use std::collections::BTreeMap;

/// Bodies that do what the C functions do.
const RIGHT: [(&str, &str); 4] = [
    (
        "stack_new",
        "unsafe {
             let Some(get) = globals::do_get else { return core::ptr::null_mut() };
             let stack = get(size_of::<ffi::stack>()).cast::<ffi::stack>();
             if !stack.is_null() {
                 (*stack).top = core::ptr::null_mut();
                 (*stack).depth = 0;
             }
             stack
         }",
    ),
    (
        "stack_push",
        "unsafe {
             let node = match globals::do_get {
                 Some(get) => get(size_of::<ffi::node>()).cast::<ffi::node>(),
                 None => return -1,
             };
             if node.is_null() {
                 return -1;
             }
             (*node).below = (*stack).top;
             (*node).value = value;
             (*stack).top = node;
             (*stack).depth += 1;
             (*stack).depth
         }",
    ),
    ("stack_pop", POP),
    (
        "stack_free",
        "unsafe {
             while !(*stack).top.is_null() {
                 callee::stack_pop(stack, 0);
             }
             if let Some(drop) = globals::hooks.drop {
                 drop(stack.cast());
             }
         }",
    ),
];

const POP: &str = "unsafe {
     let node = (*stack).top;
     if node.is_null() {
         return fallback;
     }
     let value = (*node).value;
     (*stack).top = (*node).below;
     (*stack).depth -= 1;
     if let Some(drop) = globals::hooks.drop {
         drop(node.cast());
     }
     value
 }";

fn library() -> Repo {
    let repo = Repo::empty();
    repo.write("pool.h", include_str!("allocators/pool.h"));
    repo.write("pool.c", include_str!("allocators/pool.c"));
    repo.run(&["init"]).ok();
    repo
}

fn port(repo: &Repo, symbol: &str, body: &str) {
    repo.replace("rust/src/pool.rs", &format!("unimplemented!(\"{symbol}\")"), body);
}

#[test]
#[ignore = "half a minute: cargo test --test suite allocators -- --ignored"]
fn functions_that_allocate_through_variables_are_judged() {
    let repo = library();
    let globals = repo.read("rust/src/globals.rs");
    assert!(
        globals.contains("Some(libc::malloc)") && globals.contains("drop: Some(libc::free)"),
        "{globals}"
    );
    for (symbol, body) in RIGHT {
        port(&repo, symbol, body);
    }
    let (judged, findings) = repo.verified(&["--all"], 0);
    assert_eq!(findings, BTreeMap::new());
    for (symbol, _) in RIGHT {
        assert_eq!(judged[symbol]["grade"], "weak", "{}", judged[symbol]);
        assert!(judged[symbol]["executions"].as_u64().unwrap() > 1000, "{}", judged[symbol]);
    }

    // It does not free what C frees, or replaces the allocator itself.
    for (wrong, told) in [("", "memory"), ("globals::hooks.drop = None;", "global `hooks`")] {
        let body = POP.replace(
            "drop(node.cast());",
            &format!("if !{}.is_empty() {{ drop(node.cast()); }} {wrong}", json!(wrong)),
        );
        repo.replace("rust/src/pool.rs", POP, &body);
        let (_, findings) = repo.verified(&["stack_pop"], 10);
        let what = findings["stack_pop"]["finding"]["what"].as_str().unwrap();
        assert!(what.contains(told) || told == "memory" && what.contains("free"), "{what}");
        repo.replace("rust/src/pool.rs", &body, POP);
    }
}

#[test]
#[ignore = "half a minute: cargo test --test suite allocators -- --ignored"]
fn a_port_that_goes_past_the_variable_is_refused() {
    let repo = library();
    port(&repo, "stack_pop", &POP.replace("drop(node.cast());", "libc::free(node.cast()); let _ = drop;"));
    let (judged, _) = repo.verified(&["stack_pop"], 10);
    let reason = judged["stack_pop"]["reason"].as_str().unwrap();
    assert!(reason.contains("programs can replace `free` for this library"), "{reason}");
    // The same by object code, in builds that allow a test to switch the audit off.
    if cfg!(debug_assertions) {
        let mut command = repo.command(&["verify", "stack_pop", "--seconds", "1"]);
        let ran = Ran::of(command.env("IMPLFUZZ_TEST_WITHOUT_AUDIT", "1"));
        ran.code(10).shows("leads to `free`, not through the variable by which programs can replace it");
    }
}
