//! New drivers bring about what takes many calls: lists that begin with a null pointer, tables that grow, and output that is
//! larger than the input.

use crate::support::{Repo, plant};
use serde_json::Value;

const LIST_H: &str = "\
typedef struct Node Node;
Node *list_push(Node **list, void *data);
Node *list_next(Node *node);
void *list_data(Node *node);
void list_set_data(Node *node, void *data);
int list_remove(Node **list, Node *node);
void list_free(Node *list);
";

const LIST: &str = "\
#include \"list.h\"
#include <stdlib.h>
struct Node { void *data; Node *next; };
Node *list_push(Node **list, void *data)
{
    Node *node = malloc(sizeof *node);
    if (!node) return NULL;
    node->data = data, node->next = *list;
    return *list = node;
}
Node *list_next(Node *node) { return node ? node->next : NULL; }
void *list_data(Node *node) { return node->data; }
void list_set_data(Node *node, void *data) { if (node) node->data = data; }
static void forget(Node **at, Node *node) { *at = node->next; free(node); }
int list_remove(Node **list, Node *node)
{
    Node **at = list;
    if (!node) return 0;
    while (*at && *at != node) at = &(*at)->next;
    if (!*at) return 0;
    forget(at, node);
    return 1;
}
void list_free(Node *list)
{
    while (list) { Node *next = list->next; free(list); list = next; }
}
";

const TABLE_H: &str = "\
typedef struct Table Table;
Table *table_new(unsigned (*hash)(void *), int (*equal)(void *, void *));
int table_put(Table *table, void *key);
int table_has(Table *table, void *key);
void table_free(Table *table);
";

const TABLE: &str = "\
#include \"table.h\"
#include <stdlib.h>
struct Table { unsigned (*hash)(void *); int (*equal)(void *, void *); void **keys; unsigned room, count, found; };
Table *table_new(unsigned (*hash)(void *), int (*equal)(void *, void *))
{
    Table *table = malloc(sizeof *table);
    if (!table) return NULL;
    table->hash = hash, table->equal = equal, table->room = 128, table->count = table->found = 0;
    table->keys = calloc(table->room, sizeof *table->keys);
    if (table->keys) return table;
    free(table);
    return NULL;
}
static void **place(Table *table, void *key)
{
    unsigned at = table->hash(key) % table->room;
    while (table->keys[at] && !table->equal(table->keys[at], key)) at = (at + 1) % table->room;
    return &table->keys[at];
}
static void enlarge(Table *table)
{
    void **old = table->keys, **keys = calloc(2 * table->room, sizeof *keys);
    unsigned room = table->room;
    if (!keys) return;
    table->keys = keys, table->room *= 2;
    for (unsigned at = 0; at < room; at++)
        if (old[at]) *place(table, old[at]) = old[at];
    free(old);
}
static int found(Table *table) { return ++table->found > 0; }
int table_put(Table *table, void *key)
{
    if (table->count >= table->room / 2) enlarge(table);
    if (table->count >= table->room - 1) return -1;
    void **at = place(table, key);
    table->count += !*at;
    *at = key;
    return (int)table->count;
}
int table_has(Table *table, void *key)
{
    void *there = *place(table, key);
    return there && found(table);
}
void table_free(Table *table) { free(table->keys); free(table); }
";

const PACK_H: &str = "\
#include <stddef.h>
size_t pack_bound(size_t size);
size_t pack_state_size(void);
size_t pack(const unsigned char *src, unsigned char *dst, size_t size, void *state);
size_t swell(const unsigned char *src, unsigned char *dst, size_t size);
";

const PACK: &str = "\
#include \"pack.h\"
#include <string.h>
size_t pack_bound(size_t size) { return 5 * size + 3000; }
size_t pack_state_size(void) { return 65536; }
static size_t finish(unsigned char *dst, size_t size) { dst[size] = 0xff; return size + 1; }
size_t pack(const unsigned char *src, unsigned char *dst, size_t size, void *state)
{
    unsigned short *last = state;
    memset(last, 0, 65536);
    memset(dst, 1, 2999);
    for (size_t at = 0; at < size; at++) {
        memset(dst + 2999 + 5 * at, src[at], 5);
        last[src[at]] = (unsigned short)at;
    }
    return finish(dst, 2999 + 5 * size);
}
static size_t end(unsigned char *dst, size_t size) { dst[size] = 0; return size + 1; }
size_t swell(const unsigned char *src, unsigned char *dst, size_t size)
{
    for (size_t at = 0; at < size; at++) dst[2 * at] = src[at], dst[2 * at + 1] = (unsigned char)~src[at];
    return end(dst, 2 * size);
}
";

/// What 6 seconds of a new driver reach, and its text.
fn reached(files: &[(&str, &str)]) -> (Vec<String>, String) {
    let repo = Repo::of(files);
    repo.run(&["drivers", "--new", "calls"]).ok();
    reached_by(&repo)
}

fn reached_by(repo: &Repo) -> (Vec<String>, String) {
    let json = repo.run(&["drivers", "--seconds", "6", "--format", "json"]).ok().json("drivers");
    let reached = json["drivers"][0]["reached"].as_array().unwrap().iter();
    let reached = reached.filter_map(Value::as_str).map(str::to_owned).collect();
    (reached, repo.read("fuzz/calls.c"))
}

#[test]
fn a_list_begins_with_a_null_pointer() {
    let (reached, text) = reached(&[("list.h", LIST_H), ("list.c", LIST)]);
    for name in ["list_push", "list_next", "list_data", "list_set_data", "list_remove", "forget", "list_free"]
    {
        assert!(reached.contains(&name.to_owned()), "{name}: {reached:?}\n{text}");
    }
}

#[test]
fn a_table_grows_and_finds_what_was_put_there() {
    let (reached, text) = reached(&[("table.h", TABLE_H), ("table.c", TABLE)]);
    for name in ["enlarge", "found", "table_free"] {
        assert!(reached.contains(&name.to_owned()), "{name}: {reached:?}\n{text}");
    }
}

#[test]
fn what_is_written_may_be_larger_than_what_is_read() {
    let (reached, text) = reached(&[("pack.h", PACK_H), ("pack.c", PACK)]);
    for name in ["finish", "end"] {
        assert!(reached.contains(&name.to_owned()), "{name}: {reached:?}\n{text}");
    }
    assert!(text.contains("(size_t)pack_bound(arg_size), (size_t)pack_state_size()"), "{text}");
}

/// All of it is in a header: a driver that includes it has definitions of its own.
const SCAN: &str = "\
#ifndef SCAN_H
#define SCAN_H
#include <stddef.h>
typedef struct { unsigned at, depth; } scanner;
void scanner_init(scanner *scanner);
int scan(scanner *scanner, const char *text, size_t size);
static int opened(scanner *scanner) { return ++scanner->depth > 3; }
void scanner_init(scanner *scanner) { scanner->at = scanner->depth = 0; }
int scan(scanner *scanner, const char *text, size_t size)
{
    int deep = 0;
    for (size_t at = 0; at < size; at++, scanner->at++)
        if (text[at] == '[') deep |= opened(scanner);
    return \"no\\0yes\"[scanner->at < 4096 ? deep * 3 : 1000000 * scanner->depth];
}
#endif
";

const SCAN_PORT: &str = "pub fn scan(scanner: &mut ffi::scanner, text: &[core::ffi::c_char]) -> i32 {
    let mut deep = 0;
    for byte in text {
        if *byte == b'[' as core::ffi::c_char {
            scanner.depth = scanner.depth.wrapping_add(1);
            deep |= usize::from(scanner.depth > 3);
        }
        scanner.at = scanner.at.wrapping_add(1);
    }
    i32::from(b\"no\\0yes\"[deep * 3])
}
";

#[test]
fn a_library_in_a_header_is_judged_with_what_its_functions_set_up() {
    let repo = Repo::of(&[("scan.h", SCAN)]);
    repo.run(&["drivers", "--new", "calls"]).ok();
    let text = repo.read("fuzz/calls.c");
    assert!(text.contains("scanner * arg_scanner = *arg_scanner_place;"), "{text}");
    let json = repo.run(&["drivers", "--seconds", "4", "--format", "json"]).ok().json("drivers");
    let reached = json["drivers"][0]["reached"].as_array().unwrap().iter().filter_map(Value::as_str);
    assert!(reached.collect::<Vec<_>>().contains(&"opened"), "{json:#}\n{text}");
    let stub = repo.read("rust/src/scan.rs");
    for (port, differs) in
        [(SCAN_PORT.to_owned(), false), (SCAN_PORT.replace("depth > 3", "depth > 4"), true)]
    {
        let mut module = stub.clone();
        plant(&mut module, "scan", &port).unwrap();
        repo.write("rust/src/scan.rs", &module);
        let json = repo.run(&["drivers", "--seconds", "1", "--ports", "--format", "json"]).json("drivers");
        let one = &json["ports"][0];
        assert_eq!((one["symbol"].as_str(), !one["differs"].is_null()), (Some("scan"), differs), "{json:#}");
        assert!(differs || one["judged"].as_u64().unwrap() > 100, "{json:#}");
    }
}

const SAY_H: &str = "\
#include <stddef.h>
int say(char *to, size_t room, const char *format, ...);
int sum(int count, ...);
";

const SAY: &str = "\
#include \"say.h\"
#include <stdarg.h>
#include <stdio.h>
static int said;
static int count(const char *to) { return to[0] == '[' ? ++said : 0; }
int say(char *to, size_t room, const char *format, ...)
{
    va_list list;
    if (room < 2) return -1;
    va_start(list, format);
    vsnprintf(to, room, format, list);
    va_end(list);
    return count(to);
}
int sum(int count, ...)
{
    int sum = 0;
    va_list list;
    va_start(list, count);
    while (count-- > 0) sum += va_arg(list, int);
    va_end(list);
    return sum;
}
";

#[test]
fn what_takes_a_format_is_called_for_the_sake_of_its_callees() {
    let repo = Repo::of(&[("say.h", SAY_H), ("say.c", SAY)]);
    repo.run(&["drivers", "--new", "calls"]).ok().shows("it does not call sum: variadic");
    let (reached, text) = reached_by(&repo);
    assert!(reached.contains(&"count".to_owned()), "{reached:?}\n{text}");
}
