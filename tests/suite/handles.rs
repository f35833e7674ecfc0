//! Functions on handles: each is judged inside a call sequence that constructs and destroys the handle. Right ports
//! pass; ports that leave a wrong state, leak or free twice are refuted; C never differs from itself.

use crate::support::Repo;
use serde_json::Value;
use std::collections::BTreeMap;

/// Bodies that do what the C functions do, on C's own structs.
const RIGHT: &[(&str, &str)] = &[
    (
        "stack_new",
        "if cap == 0 || cap > 64 { return core::ptr::null_mut(); }
         let s: *mut ffi::stack = libc::malloc(size_of::<ffi::stack>()).cast();
         // The other way round than in C: the order of allocations is nobody's business.
         (*s).pushed = 0;
         (*s).cap = cap;
         (*s).len = 0;
         (*s).values = libc::malloc(cap * 4).cast();
         s",
    ),
    (
        "stack_push",
        "let s = &mut *s;
         if s.len == s.cap { return -1; }
         *s.values.add(s.len) = value;
         s.len += 1;
         s.pushed = s.pushed.wrapping_add(1);
         0",
    ),
    (
        "stack_pop",
        "let s = &mut *s;
         if s.len == 0 { return -1; }
         s.len -= 1;
         *out = *s.values.add(s.len);
         0",
    ),
    ("stack_len", "(*s).len"),
    (
        "stack_grow",
        "let s = &mut *s;
         if s.cap >= 256 { return -1; }
         s.values = libc::realloc(s.values.cast(), 8 * s.cap).cast();
         s.cap *= 2;
         0",
    ),
    (
        "stack_state",
        "let s = &*s;
         (if s.len == 0 { c\"empty\" } else if s.len == s.cap { c\"full\" } else { c\"some\" }).as_ptr()",
    ),
    (
        "stack_top",
        "let s = &*s;
         if s.len == 0 { core::ptr::null_mut() } else { s.values.add(s.len - 1) }",
    ),
    ("stack_free", "if !s.is_null() { libc::free((*s).values.cast()); libc::free(s.cast()); }"),
    (
        "rot_init",
        "let r = &mut *r;
         r.msg = core::ptr::null();
         r.state = core::ptr::null_mut();
         if *version != b'v' as core::ffi::c_char || !(1..=25).contains(&key) {
             r.msg = c\"bad key\".as_ptr();
             return -1;
         }
         r.state = libc::malloc(size_of::<ffi::rot_state>()).cast();
         (*r.state).owner = r;
         (*r.state).total = 0;
         (*r.state).key = key;
         (*r.state).note = core::ptr::null_mut();
         0",
    ),
    (
        "turned",
        "let state = &mut *state;
         state.total = state.total.wrapping_add(1);
         if c.is_ascii_lowercase() { b'a' + ((i32::from(c - b'a') + state.key) % 26) as u8 } else { c }",
    ),
    (
        "rot_run",
        "let r = &mut *r;
         if r.state.is_null() { return -1; }
         while r.avail_in > 0 && r.avail_out > 0 {
             *r.next_out = turned(r.state, *r.next_in);
             r.next_out = r.next_out.add(1);
             r.next_in = r.next_in.add(1);
             r.avail_in -= 1;
             r.avail_out -= 1;
         }
         r.msg = if r.avail_in > 0 { c\"no room\" } else { c\"done\" }.as_ptr();
         r.avail_in as i32",
    ),
    (
        "rot_note",
        "let r = &mut *r;
         if r.state.is_null() { return -1; }
         (*r.state).note = note;
         if !note.is_null() && !(*note).text.is_null() && (*note).text_len > 1 {
             *(*note).text = turned(r.state, *(*note).text);
             (*note).flags |= 2;
         }
         0",
    ),
    (
        "rot_copy",
        "let r = &mut *r;
         if r.state.is_null() { return -1; }
         let n = (*r.state).total.min(1000);
         for i in 0..n { *seen.add(i as usize) = i.wrapping_add((*r.state).key as u32) as u8; }
         n as i32",
    ),
    (
        "rot_end",
        "let r = &mut *r;
         if r.state.is_null() { return -1; }
         libc::free(r.state.cast());
         r.state = core::ptr::null_mut();
         0",
    ),
];

/// What is wrong, in which function, the change to its right body, and what the finding must name. Each list is planted at
/// once: while one function is judged, all others run as C.
const WRONG: &[&[(&str, &str, &str, &str)]] = &[
    &[
        (
            "stack_new",
            "(*s).cap = cap;",
            "(*s).cap = cap; core::hint::black_box(libc::malloc(8));",
            "never freed",
        ),
        ("stack_push", "s.pushed = s.pushed.wrapping_add(1);", "", "handle"),
        (
            "stack_pop",
            "s.len -= 1;\n         *out = *s.values.add(s.len);",
            "*out = *s.values.add(s.len - 1);",
            "handle",
        ),
        ("stack_len", "(*s).len", "(*s).len.max(1)", "return value"),
        ("stack_grow", "libc::realloc(s.values.cast(), 8 * s.cap)", "libc::malloc(8 * s.cap)", ""),
        ("stack_state", "c\"some\"", "c\"part\"", "returned string"),
        ("stack_top", "s.values.add(s.len - 1)", "s.values", "returned pointer"),
        ("stack_free", "libc::free((*s).values.cast());", "", "never freed"),
        ("rot_init", "c\"bad key\"", "c\"bad keys\"", "text"),
        ("turned", "state.total = state.total.wrapping_add(1);", "", "handle"),
        ("rot_run", "r.avail_out -= 1;", "r.avail_out -= u32::from(r.avail_in != 7);", "handle"),
        ("rot_end", "r.state = core::ptr::null_mut();", "", ""),
        ("rot_note", "(*r.state).note = note;", "", "handle"),
        ("rot_copy", "{ *seen", "{ *seen.add(n as usize) = 0; *seen", "`seen"),
    ],
    &[
        ("stack_new", "(*s).pushed = 0;", "(*s).pushed = 1;", "handle"),
        ("stack_push", "{ return -1; }", "{ return 0; }", "return value"),
        ("stack_pop", "if s.len == 0 { return -1; }", "if s.len == 0 { *out = 0; return -1; }", "`out`"),
        ("stack_grow", "s.cap *= 2;", "s.cap = 2 * s.cap - 1;", "handle"),
        (
            "stack_free",
            "libc::free(s.cast());",
            "libc::free((*s).values.cast()); libc::free(s.cast());",
            "freed twice",
        ),
        ("rot_init", "(*r.state).key = key;", "(*r.state).key = key + 26;", "handle"),
        ("rot_run", "*r.next_out = ", "*r.next_out = 1 ^ ", "handle"),
        ("rot_end", "libc::free(r.state.cast());", "", "never freed"),
        ("rot_note", "(*note).flags |= 2;", "", "handle"),
        ("rot_copy", ".min(1000)", ".min(999)", "return value"),
    ],
    &[
        // Right for the calls after which all memory is looked at one by one.
        (
            "stack_push",
            "s.pushed = s.pushed.wrapping_add(1);",
            "if s.pushed < 4 { s.pushed += 1; }",
            "at the end",
        ),
        // A block too short for what C writes into it.
        (
            "rot_init",
            "libc::malloc(size_of::<ffi::rot_state>())",
            "libc::calloc(1, size_of::<ffi::rot_state>() - 8)",
            "",
        ),
    ],
];

fn library() -> Repo {
    let repo = Repo::empty();
    repo.write("box.h", include_str!("handles/box.h"));
    repo.write("stack.c", include_str!("handles/stack.c"));
    repo.write("rot.c", include_str!("handles/rot.c"));
    repo.run(&["init"]).ok();
    repo
}

/// Puts a body in the place of a stub.
fn port(repo: &Repo, symbol: &str, body: &str) {
    let module = if symbol.starts_with("stack") { "stack" } else { "rot" };
    let body = format!("// SAFETY: a live handle of the library.\n    unsafe {{ {body} }}");
    repo.replace(&format!("rust/src/{module}.rs"), &format!("unimplemented!(\"{symbol}\")"), &body);
}

/// Rows and findings of `verify --all` by symbol.
fn verify(repo: &Repo) -> (BTreeMap<String, Value>, BTreeMap<String, Value>) {
    let quick = ["verify", "--all", "--runs", "6000", "--seconds", "5", "--format", "json"];
    let json = repo.run(&quick).json("verify");
    let by_symbol = |list: &str| {
        let rows = json[list].as_array().unwrap().iter();
        rows.map(|row| (row["symbol"].as_str().unwrap().to_owned(), row.clone())).collect()
    };
    (by_symbol("symbols"), by_symbol("findings"))
}

const PALETTE: &str = "\
#include <stdlib.h>
struct pal { unsigned level, uses; unsigned char *work; };
static const unsigned char ROWS[4][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 16}};
struct pal *pal_new(void) {
    struct pal *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->work = calloc(1, 16);
    if (!p->work) { free(p); return NULL; }
    return p;
}
void pal_free(struct pal *p) { free(p->work); free(p); }
struct label { char name[8]; int value; };
static const struct label LABELS[2] = {{\"even\", 1}, {\"odd\", 2}};
char *pal_label(struct pal *p, unsigned k) { p->uses += 1; return (char *)LABELS[k & 1].name; }
const unsigned char *pal_row(struct pal *p, unsigned k) {
    p->uses += 1;
    if (k > 1000) return NULL;
    p->level = p->level * 5 + k;
    p->work[k & 15] = (unsigned char)(p->level + 7);
    return ROWS[p->level & 3];
}
";

/// A constant that a function on a handle returns is compared by its first number, or as a string, and not by its address.
#[test]
fn constants_that_functions_on_handles_return_are_compared() {
    let repo = Repo::of(&[("pal.c", PALETTE)]);
    let stubs = repo.read("rust/src/pal.rs");
    let right = "ROWS[((*p).level & 3) as usize].as_ptr()";
    let wrong_row = "ROWS[(((*p).level & 3) ^ 1) as usize].as_ptr()";
    for (returned, grade) in
        [(right, "weak"), (wrong_row, "refuted"), ("core::ptr::without_provenance(8)", "refuted")]
    {
        let port = format!(
            "pub unsafe fn pal_row(p: *mut ffi::pal, k: ::core::ffi::c_uint) -> *const ::core::ffi::c_uchar {{
    static ROWS: [[u8; 4]; 4] = [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 16]];
    unsafe {{
        (*p).uses = (*p).uses.wrapping_add(1);
        if k > 1000 {{
            return core::ptr::null();
        }}
        (*p).level = (*p).level.wrapping_mul(5).wrapping_add(k);
        *(*p).work.add(k as usize & 15) = (*p).level.wrapping_add(7) as u8;
        {returned}
    }}
}}"
        );
        let row = repo.judged(("pal", &stubs), "pal_row", &port);
        assert_eq!(row["grade"], grade, "{returned}: {row:#}");
    }
    // What lies behind a string is nothing of it.
    for (odd, grade) in [("c\"odd\"", "weak"), ("c\"od\"", "refuted")] {
        let port = format!(
            "pub unsafe fn pal_label(p: *mut ffi::pal, k: ::core::ffi::c_uint) -> *mut ::core::ffi::c_char {{
    unsafe {{ (*p).uses = (*p).uses.wrapping_add(1) }};
    if k & 1 == 0 {{ c\"even\".as_ptr().cast_mut() }} else {{ {odd}.as_ptr().cast_mut() }}
}}"
        );
        let row = repo.judged(("pal", &stubs), "pal_label", &port);
        assert_eq!(row["grade"], grade, "{odd}: {row:#}");
    }
}

#[test]
#[ignore = "half a minute: cargo test --test suite handles -- --ignored"]
fn right_ports_on_handles_are_unrefuted() {
    let repo = library();
    for (symbol, body) in RIGHT {
        port(&repo, symbol, body);
    }
    let (judged, findings) = verify(&repo);
    assert_eq!(findings, BTreeMap::new());
    assert_eq!(judged.len(), RIGHT.len());
    for row in judged.values() {
        assert_eq!(row["grade"], "weak", "{row:#}");
        assert!(row["accept_rate"].as_f64().unwrap() > 0.5, "{row:#}");
    }
}

#[test]
#[ignore = "a minute: cargo test --test suite handles -- --ignored"]
fn ports_that_leave_a_wrong_handle_are_refuted() {
    for list in WRONG {
        let repo = library();
        for (symbol, from, to, _) in *list {
            let (_, right) = RIGHT.iter().find(|(name, _)| name == symbol).unwrap();
            assert_eq!(right.matches(from).count(), 1, "{symbol}: {from}");
            port(&repo, symbol, &right.replace(from, to));
        }
        // `rot_run` calls it in its own module.
        if let Some((helper, body)) =
            RIGHT.iter().find(|(name, _)| *name == "turned" && list.iter().all(|w| w.0 != *name))
        {
            port(&repo, helper, body);
        }
        let (judged, findings) = verify(&repo);
        let mut wrong = Vec::new();
        for (symbol, _, to, what) in *list {
            let finding = findings.get(*symbol).map(|f| f["finding"].clone()).unwrap_or_default();
            let named = finding["what"].as_str().is_some_and(|text| text.contains(what));
            // The report says which handle a constructor made, and which one a call got.
            let has = |row: &str, handle: u8| {
                finding["oracle"].to_string().contains(&format!("{row}\",\"value\":\"handle {handle}\""))
            };
            let says = match finding["args"].to_string().contains("turned(state = handle 0") {
                true => has("1. rot_init: makes", 1) && has("2. turned: uses instead", 1),
                false => has(": makes", 0) || has(": makes", 1),
            };
            if judged[*symbol]["grade"] != "refuted" || !named || !says {
                wrong.push(format!(
                    "{symbol} with {to:?}: wanted {what:?}, got {finding} {}",
                    judged[*symbol]
                ));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

#[test]
#[ignore = "half a minute: cargo test --test suite handles -- --ignored"]
fn harnesses_on_handles_kill_the_mutants_of_c() {
    let repo = library();
    let told = repo.run(&["contract", "--check", "--all", "--seconds", "5", "--format", "json"]);
    let told = told.json("contract-check");
    let symbols = told["symbols"].as_array().unwrap();
    assert_eq!(symbols.len(), RIGHT.len());
    let mut all = (0, 0);
    for symbol in symbols {
        assert_eq!(symbol["difference"], Value::Null, "{symbol:#}");
        assert!(symbol["accept_rate"].as_f64().unwrap() > 0.5, "{symbol:#}");
        let (killed, total) = (symbol["killed"].as_u64().unwrap(), symbol["to_kill"].as_u64().unwrap());
        assert!(killed * 2 >= total, "{symbol:#}");
        all = (all.0 + killed, all.1 + total);
    }
    assert!(all.0 * 10 >= all.1 * 8, "{all:?} {symbols:#?}");
}

#[test]
fn the_contract_says_who_makes_and_ends_a_handle_and_edits_win() {
    let repo = library();
    let shown = repo.run(&["contract", "stack_push", "rot_run", "turned"]);
    shown.ok().shows("the handle is made by: stack_new").shows("ended by: stack_free");
    shown
        .shows("before and after the call: stack_")
        .shows("given memory by the caller: next_in, of avail_in bytes");
    shown.shows("handle that it uses, by its field state");
    // A list that names what has no harness is told, with the file.
    repo.replace("rust/contracts/stack_push.toml", "makers = [\"stack_new\"]", "makers = [\"stack_old\"]");
    repo.run(&["contract", "stack_push"]).fails(2, &["rust/contracts/stack_push.toml", "stack_old"]);
}

/// A list of which functions take items out.
const LIST_HEADER: &str = "\
struct node { struct node *next, *child; int value; };
struct node *node_new(int value);
void node_delete(struct node *node);
int node_add(struct node *list, int value);
struct node *node_take(struct node *list, struct node *item);
void node_delete_at(struct node *list, int at);
";

const LIST: &str = "\
#include \"list.h\"
#include <stdlib.h>
struct node *node_new(int value) {
    struct node *node = calloc(1, sizeof *node);
    if (node) node->value = value;
    return node;
}
void node_delete(struct node *node) {
    while (node) { struct node *next = node->next; node_delete(node->child); free(node); node = next; }
}
int node_add(struct node *list, int value) {
    struct node *node = node_new(value);
    if (!node) return 0;
    node->next = list->child;
    list->child = node;
    return 1;
}
struct node *node_take(struct node *list, struct node *item) {
    if (list == NULL || item == NULL) return NULL;
    for (struct node **at = &list->child; *at; at = &(*at)->next)
        if (*at == item) { *at = item->next; item->next = NULL; return item; }
    return NULL;
}
static struct node *find(struct node *list, int at) {
    struct node *node = list->child;
    while (node && at > 0) { node = node->next; at--; }
    return node;
}
static struct node *node_take_at(struct node *list, int at) { return node_take(list, find(list, at)); }
void node_delete_at(struct node *list, int at) { node_delete(node_take_at(list, at)); }
";

#[test]
fn a_function_that_takes_items_out_neither_makes_nor_ends_what_they_were_in() {
    let repo = Repo::of(&[("list.h", LIST_HEADER), ("list.c", LIST)]);
    let life = |function: &str| {
        let text = repo.read(&format!("rust/contracts/{function}.toml"));
        text.lines().find(|line| line.contains("life")).unwrap().to_owned()
    };
    for function in ["node_delete_at", "node_take"] {
        assert!(life(function).contains("\"uses\""), "{function}: {}", life(function));
    }
    assert!(life("node_delete").contains("\"ends\""), "{}", life("node_delete"));
}

/// The same with a function that copies, one that keeps what it gets, and one that frees through a variable.
const COPIED_HEADER: &str = "\
struct node *node_copy(const struct node *node);
int node_push(struct node *list, struct node *item);
void node_free(void *block);
void node_frees_with(void (*own)(void *));
";

const COPIED: &str = "\
static void (*give)(void *) = free;
void node_frees_with(void (*own)(void *)) { give = own ? own : free; }
void node_free(void *block) { give(block); }
static struct node *copy_of(const struct node *node) {
    if (!node) return NULL;
    struct node *made = node_new(node->value);
    if (!made) return NULL;
    made->child = copy_of(node->child);
    return made;
}
struct node *node_copy(const struct node *node) { return copy_of(node); }
int node_push(struct node *list, struct node *item) {
    if (list == NULL || item == NULL || list == item) return 0;
    item->next = list->child;
    list->child = item;
    return 1;
}
";

#[test]
#[ignore = "half a minute: cargo test --test suite handles -- --ignored"]
fn a_copy_is_new_and_a_driver_ends_nothing_that_another_object_keeps() {
    let header = format!("{LIST_HEADER}{COPIED_HEADER}");
    let repo = Repo::of(&[("list.h", &header), ("list.c", &format!("{LIST}{COPIED}"))]);
    let contract = repo.read("rust/contracts/node_copy.toml");
    assert!(contract.contains("returns = \"handle\"") && contract.contains("life = \"uses\""), "{contract}");
    assert!(repo.read("rust/contracts/node_free.toml").contains("role = \"given\""));
    repo.run(&["drivers", "--new", "calls"]).ok();
    let driver = repo.read("fuzz/calls.c");
    for line in [
        "*driver_made = (void *)node_copy(arg_node);",
        "(void)node_push(arg_list, arg_item);\n        if (arg_item) *arg_item_place = NULL;\n        break;",
        "node_free(arg_block);",
        "driver_given(64)",
    ] {
        assert!(driver.contains(line), "{line}\n{driver}");
    }
    let json = repo.run(&["drivers", "--seconds", "4", "--format", "json"]).ok().json("drivers");
    // That `node_delete_at` reads behind a null list is a fault of this C.
    let faults = json["faults"].as_array().unwrap();
    assert!(faults.iter().all(|fault| fault["what"] == "SEGV"), "{json:#}");

    // What the copy has in it is compared.
    let stub = "unimplemented!(\"node_copy\")";
    let mut text = stub.to_owned();
    let mut is_refuted = |body: &str| {
        let next = format!("// SAFETY: a node or null.\n    unsafe {{ {body} }}");
        repo.replace("rust/src/list.rs", &text, &next);
        text = next;
        let verify = ["verify", "node_copy", "--runs", "3000", "--seconds", "4", "--format", "json"];
        let judged = repo.run(&verify).json("verify");
        judged["symbols"][0]["grade"] == "refuted"
    };
    assert!(!is_refuted("copy_of(node)"));
    assert!(is_refuted("if node.is_null() { core::ptr::null_mut() } else { node_new((*node).value) }"));
}

#[test]
#[ignore = "half a minute: cargo test --test suite handles -- --ignored"]
fn a_port_can_be_asked_to_survive_what_c_survives_without_memory() {
    let repo = library();
    let (_, right) = RIGHT.iter().find(|(name, _)| *name == "rot_init").unwrap();
    port(&repo, "rot_init", right);
    let verify = ["verify", "rot_init", "--runs", "3000", "--seconds", "5", "--format", "json"].as_slice();
    assert_eq!(repo.run(verify).json("verify")["symbols"][0]["grade"], "weak");
    repo.replace("rust/contracts/rot_init.toml", "makers = ", "fail-allocations = true\nmakers = ");
    repo.run(&["init"]).ok();
    let judged = repo.run(verify).json("verify");
    assert_eq!(judged["symbols"][0]["grade"], "refuted", "{judged:#}");
    let checked = right.replace(
        "(*r.state).owner = r;",
        "if r.state.is_null() { return -2; }\n         (*r.state).owner = r;",
    );
    repo.replace("rust/src/rot.rs", right, &checked);
    let judged = repo.run(verify).json("verify");
    assert_eq!(judged["symbols"][0]["grade"], "weak", "{judged:#}");
}
