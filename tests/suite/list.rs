//! `list` through the binary: columns, tiers, cycles, selection, unsupported functions, the graph, JSON.

use crate::support::Repo;
use serde_json::Value;

/// A function of every tier, a cycle, a taken address, and things that cannot be bound.
const SOURCE: &str = r#"#include <stdarg.h>
#include <stdlib.h>
#define STEP 2
struct node { struct node *next; int value; };
struct hidden;
static int count;
_Thread_local int mine;

static int step(int x) { return x + STEP; }
int odd(int n);
int even(int n) { return n ? odd(n - 1) : 1; }
int odd(int n) { return n ? even(n - 1) : 0; }
int apply(int (*f)(int), int x) { return f(x); }
int bump(int x) { count += apply(step, x); return step(count); }
struct node *node_new(int value) {
    struct node *node = malloc(sizeof *node);
    if (node) { node->next = 0; node->value = value; }
    return node;
}
int node_value(const struct node *node) { return node->value; }
int is_null(struct hidden *hidden) { return !hidden; }
int total(int n, ...) { va_list list; va_start(list, n); n += va_arg(list, int); va_end(list); return n; }
"#;

fn repo() -> Repo {
    let repo = Repo::empty();
    repo.write("all.c", SOURCE);
    repo.write("torn.c", "int torn( { ;;\n");
    repo.run(&["init"]).ok();
    repo
}

/// The symbols of a JSON listing, in its order.
#[track_caller]
fn symbols(repo: &Repo, args: &[&str]) -> Vec<String> {
    let ran = repo.run(&[&["list", "--format", "json"], args].concat());
    let value = ran.ok().json("list");
    let rows = value["symbols"].as_array().unwrap();
    rows.iter().map(|row| row["symbol"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn people_get_a_line_per_function() {
    let repo = repo();
    let ran = repo.run(&["list"]);
    insta::assert_snapshot!(ran.ok().stdout, @r"
    #  symbol      C         tier  in  out  cycle  Rust  harness
    1  apply       all.c:13  E      1    0         stub  yes, with C's signature
    2  step        all.c:9   A      1    0         stub  yes
    3  bump        all.c:14  A      0    2         stub  yes
    4  even        all.c:11  A      1    1      1  stub  yes
    5  odd         all.c:12  A      1    1      1  stub  yes
    6  is_null     all.c:21  C      0    0         stub  not yet: `hidden` points to `struct hidden`, which a harness cannot create
    7  node_new    all.c:15  B      0    0         stub  yes, with C's signature
    8  node_value  all.c:20  B      0    0         stub  yes, with C's signature
    9  total       all.c:22  D      0    0         -     not portable: variadic

    9 functions: 4 A, 2 B, 1 E, 1 C, 1 D; 7 with a harness, 0 ported
    ");
    // No terminal, so nothing is cut.
    let ran = repo.run(&["list", "-v", "node_value"]);
    ran.ok().shows("`node` is made by `node_new`").shows("1 of 9 functions");
}

#[test]
fn programs_get_everything() {
    let value = repo().run(&["list", "--format", "json"]).ok().json("list");
    assert_eq!(value["symbols"].as_array().unwrap().len(), 9);
    let row = |name: &str| {
        let row = value["symbols"].as_array().unwrap().iter().find(|row| row["symbol"] == name).unwrap();
        serde_json::to_string_pretty(row).unwrap()
    };
    insta::assert_snapshot!(row("bump"), @r#"
    {
      "symbol": "bump",
      "kind": "function",
      "c_name": "bump",
      "file": "all.c",
      "line": 14,
      "end_line": 14,
      "order": 3,
      "cycle": null,
      "tier": "A",
      "tier_reason": "decoded directly: values",
      "fan_in": 0,
      "fan_out": 2,
      "calls": [
        "apply",
        "step"
      ],
      "address_taken": [
        "step"
      ],
      "externs": [],
      "globals_read": [
        "count"
      ],
      "globals_written": [
        "count"
      ],
      "macros": [],
      "linkage": "external",
      "state": "stub",
      "judged": true,
      "harness": "yes",
      "last_run": null
    }
    "#);
    insta::assert_snapshot!(row("total"), @r#"
    {
      "symbol": "total",
      "kind": "function",
      "c_name": "total",
      "file": "all.c",
      "line": 22,
      "end_line": 22,
      "order": 9,
      "cycle": null,
      "tier": "D",
      "tier_reason": "variadic",
      "fan_in": 0,
      "fan_out": 0,
      "calls": [],
      "address_taken": [],
      "externs": [
        "__builtin_va_end",
        "__builtin_va_start"
      ],
      "globals_read": [],
      "globals_written": [],
      "macros": [
        "va_arg",
        "va_end",
        "va_start"
      ],
      "linkage": "external",
      "state": null,
      "judged": false,
      "harness": "not portable: variadic",
      "last_run": null
    }
    "#);
    let rest = serde_json::json!({ "unsupported": value["unsupported"], "left_out": value["left_out"] });
    insta::assert_snapshot!(serde_json::to_string_pretty(&rest).unwrap(), @r#"
    {
      "unsupported": [
        {
          "symbol": "total",
          "kind": "function",
          "c_name": "total",
          "file": "all.c",
          "line": 22,
          "reason": "variadic"
        },
        {
          "symbol": "mine",
          "kind": "global",
          "c_name": "mine",
          "file": "all.c",
          "line": 7,
          "reason": "thread-local"
        }
      ],
      "left_out": [
        {
          "file": "torn.c",
          "reason": "not among the `sources` of implfuzz.toml",
          "broken": false
        }
      ]
    }
    "#);
    let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["type", "version", "symbols", "unsupported", "left_out", "gaps", "definitions", "causes"]
    );
}

#[test]
fn members_of_a_cycle_are_one_unit() {
    let value = repo().run(&["list", "--format", "json"]).ok().json("list");
    let in_cycle: Vec<&Value> =
        value["symbols"].as_array().unwrap().iter().filter(|r| r["cycle"] == 1).collect();
    assert_eq!(in_cycle.len(), 2, "{value}");
    assert_eq!((&in_cycle[0]["symbol"], &in_cycle[1]["symbol"]), (&"even".into(), &"odd".into()));
    let orders: Vec<u64> = in_cycle.iter().map(|row| row["order"].as_u64().unwrap()).collect();
    assert_eq!(orders[0] + 1, orders[1]);
}

#[test]
fn tiers_patterns_and_orders_select() {
    let repo = repo();
    assert_eq!(symbols(&repo, &["--tier", "b"]), ["node_new", "node_value"]);
    assert_eq!(symbols(&repo, &["--tier", "E,C"]), ["apply", "is_null"]);
    assert_eq!(symbols(&repo, &["node_*", "odd"]), ["odd", "node_new", "node_value"]);
    assert_eq!(symbols(&repo, &["all.c:*e*", "--tier", "A", "--sort", "name"]), ["even", "step"]);
    assert_eq!(symbols(&repo, &["all.c"]).len(), 9);
    let by_tier = symbols(&repo, &["--sort", "tier"]);
    assert_eq!(by_tier[by_tier.len() - 3..], ["apply", "is_null", "total"]);
    assert_eq!(symbols(&repo, &["--sort", "fan-in", "step", "bump", "odd"])[2], "bump");
    repo.run(&["list", "nodes"]).fails(2, &["nothing in the library matches `nodes`", "did you mean"]);
    repo.run(&["list", "--tier", "A,F"]).code(2).shows("the tiers are A, B, E, C and D");
}

#[test]
fn what_cannot_be_bound_is_listed_with_its_reason() {
    let repo = repo();
    let ran = repo.run(&["list", "--unsupported"]);
    insta::assert_snapshot!(ran.ok().stdout, @r"
    kind      name   C         reason
    function  total  all.c:22  variadic
    global    mine   all.c:7   thread-local
    file      -      torn.c    not among the `sources` of implfuzz.toml

    1 function, 1 global without stub, binding or Rust static; 1 file left out, 0 gaps
    ");
    let named = "c.sources=[\"all.c\", \"torn.c\"]";
    let ran = repo.run(&["list", "--unsupported", "torn.c", "--config", named]);
    ran.ok()
        .shows("torn.c:1:")
        .shows("0 functions, 0 globals without stub, binding or Rust static; 1 file left out");
    let ran = repo.run(&["list", "--unsupported", "mine"]);
    assert!(!ran.ok().stdout.contains("total"), "{ran}");
    assert_eq!(symbols(&repo, &["--unsupported"]), [""; 0]);
    repo.run(&["list", "--unsupported", "--tier", "A"]).code(2).shows("cannot be used with");
}

#[test]
fn the_graph_is_for_graphviz() {
    let repo = repo();
    let ran = repo.run(&["list", "--graph", "dot"]);
    insta::assert_snapshot!(ran.ok().stdout, @r#"
    digraph functions {
      rankdir=LR;
      node [shape=box];
      subgraph cluster_1 {
        label="cycle 1";
        "even" [label="even\nA"];
        "odd" [label="odd\nA"];
      }
      "apply" [label="apply\nE"];
      "step" [label="step\nA"];
      "bump" [label="bump\nA"];
      "is_null" [label="is_null\nC"];
      "node_new" [label="node_new\nB"];
      "node_value" [label="node_value\nB"];
      "total" [label="total\nD"];
      "bump" -> "apply";
      "bump" -> "step";
      "bump" -> "step" [style=dashed];
      "even" -> "odd";
      "odd" -> "even";
    }
    "#);
    assert_eq!(repo.run(&["list", "--graph", "dot", "--format", "json"]).json("graph")["dot"], ran.stdout);
    let some = repo.run(&["list", "--graph", "dot", "step", "bump"]);
    assert!(some.ok().stdout.contains("\"bump\" -> \"step\";") && !some.stdout.contains("apply"), "{some}");
}

#[test]
fn skipped_functions_keep_their_tier_and_ports_are_counted() {
    let repo = Repo::initialised();
    repo.write(
        "implfuzz.toml",
        &format!("{}\n[symbols.twice]\nskip = true\nreason = \"mine\"\n", repo.read("implfuzz.toml")),
    );
    repo.run(&["list", "twice"]).ok().shows("skipped in implfuzz.toml: mine").shows("1 of 3 functions: 1 A");
    let module = repo.read("rust/src/sum.rs");
    let stub = module.find("unimplemented!(").unwrap();
    let end = stub + module[stub..].find('\n').unwrap();
    repo.write("rust/src/sum.rs", &format!("{}x{}", &module[..stub], &module[end..]));
    repo.run(&["list"]).ok().shows("3 functions: 3 A, 0 B, 0 E, 0 C, 0 D; 2 with a harness, 1 ported");
}

#[test]
fn port_and_verify_without_a_symbol_speak_of_all() {
    let repo = Repo::empty();
    for command in ["port", "verify"] {
        repo.run(&[command]).code(2).shows("--all");
        repo.run(&[command, "--all", "f"]).code(2).shows("cannot be used with");
    }
}

#[test]
fn types_globals_and_macros_are_listed_by_kind() {
    let repo = repo();
    let ran = repo.run(&["list", "--kind", "struct,global,macro"]);
    insta::assert_snapshot!(ran.ok().stdout, @r"
    kind    name    C        text
    macro   STEP    all.c:3  STEP 2
    struct  node    all.c:4  struct node { struct node *next; int value; }
    struct  hidden  all.c:5  struct hidden
    global  count   all.c:6  int
    global  mine    all.c:7  int

    5 symbols
    ");
    let ran = repo.run(&["list", "--kind", "macro", "--format", "json"]);
    let value = ran.ok().json("list");
    let step = &value["definitions"][0];
    assert_eq!((&step["name"], &step["line"], &step["text"]), (&"STEP".into(), &3.into(), &"STEP 2".into()));
    assert!(step["key"].as_str().unwrap().ends_with("@all.c"), "{step}");
    assert_eq!(value["symbols"].as_array().unwrap().len(), 0);
}

#[test]
fn a_library_of_one_header_is_read_and_ported() {
    let repo = Repo::empty();
    repo.write(
        "one.h",
        "#ifndef ONE_H\n#define ONE_H\nunsigned one_add(unsigned a, unsigned b);\n#endif\n\
         #ifdef ONE_IMPLEMENTATION\nstatic unsigned one_twice(unsigned a) { return a * 2; }\n\
         unsigned one_add(unsigned a, unsigned b) { return one_twice(a) + b; }\n#endif\n",
    );
    repo.write(
        "tests/test.c",
        "#define ONE_IMPLEMENTATION\n#include \"../one.h\"\nint main(void) { return one_add(1, 2) != 4; }\n",
    );
    repo.run(&["init"]).ok();
    assert_eq!(symbols(&repo, &[]), ["one_twice", "one_add"]);
    repo.replace("rust/src/one.rs", "unimplemented!(\"one_add\")", "a.wrapping_mul(2).wrapping_add(b)");
    repo.run(&["verify", "one_add", "--runs", "2000", "--config", "grade.measure=false"])
        .ok()
        .shows("1 weak");
}
