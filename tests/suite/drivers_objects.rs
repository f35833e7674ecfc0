//! New drivers and the objects that functions make, lend, keep and end: none is used after its owner.

use crate::support::Repo;
use serde_json::json;

const HEADER: &str = r#"
#include <stdbool.h>
#include <stddef.h>
typedef struct item { const char *name; struct item *next; } item;
const item *items_parse(char *text, item memory[], unsigned count);
const item *item_next(const item *of);
size_t item_length(const item *of);

typedef struct node { struct node *next; int value; } node;
typedef struct { node *first; unsigned count; } list;
typedef struct { list *of; node *at; } walk;
list *list_new(void);
void list_free(list *old);
node *node_new(int value);
node *list_push(list *to, node *one);
node *list_first(list *of);
void list_remove(list *from, node *one);
void list_clear(list *of);
walk *walk_new(list *of);
node *walk_next(walk *of);
unsigned walk_left(const walk *of);
void walk_free(walk *old);

enum { PORT_OK, PORT_FAILED };
struct port { char *data; int (*read)(struct port *); };
int port_open(struct port *port, const char *name);
int port_read(struct port *port);
void port_close(struct port *port);

struct part { const char *begin; size_t size; };
bool part_first(const char *path, struct part *part);
bool part_next(struct part *part);
"#;

const SOURCE: &str = r#"
#include "objects.h"
#include <stdlib.h>
#include <string.h>
typedef struct pool pool;
struct pool { item *(*next)(pool *); item *memory; unsigned count, used; };
static item *pool_next(pool *from) { return from->used < from->count ? &from->memory[from->used++] : NULL; }
static const item *parse(char *text, pool *from)
{
    item *first = NULL;
    while (*text) {
        item *one = from->next(from);
        if (!one) return NULL;
        one->name = text;
        one->next = first;
        first = one;
        text += strcspn(text, " ");
        if (*text) *text++ = 0;
    }
    return first;
}
const item *items_parse(char *text, item memory[], unsigned count)
{
    pool from = { pool_next, memory, count, 0 };
    return parse(text, &from);
}
const item *item_next(const item *of) { return of->next; }
size_t item_length(const item *of) { return strlen(of->name); }

list *list_new(void) { return calloc(1, sizeof(list)); }
void list_clear(list *of)
{
    while (of->first) {
        node *next = of->first->next;
        free(of->first);
        of->first = next;
    }
    of->count = 0;
}
void list_free(list *old)
{
    list_clear(old);
    free(old);
}
node *node_new(int value)
{
    node *new = malloc(sizeof(node));
    if (!new) return NULL;
    new->next = NULL;
    new->value = value;
    return new;
}
node *list_push(list *to, node *one)
{
    if (!one) return NULL;
    one->next = to->first;
    to->first = one;
    to->count++;
    return one;
}
node *list_first(list *of) { return of->first; }
void list_remove(list *from, node *one)
{
    node **at = &from->first;
    while (*at != one) at = &(*at)->next;
    *at = one->next;
    from->count--;
    free(one);
}
walk *walk_new(list *of)
{
    walk *new = malloc(sizeof(walk));
    if (!new) return NULL;
    new->of = of;
    new->at = NULL;
    return new;
}
node *walk_next(walk *of) { return of->of->first; }
unsigned walk_left(const walk *of) { return of->of->count; }
void walk_free(walk *old)
{
    if (old->of->count > 1000) abort();
    free(old);
}

static int port_text(struct port *port) { return port->data[0]; }
int port_open(struct port *port, const char *name)
{
    memset(port, 0, sizeof *port);
    port->read = port_text;
    if (name[0] != 'a') return PORT_FAILED;
    port->data = malloc(strlen(name) + 1);
    if (!port->data) return PORT_FAILED;
    strcpy(port->data, name);
    return PORT_OK;
}
int port_read(struct port *port) { return port->data[0] + port->read(port); }
void port_close(struct port *port) { free(port->data); }

static bool start(const char *path, struct part *part)
{
    part->begin = path;
    part->size = strcspn(path, "/");
    return part->size > 0;
}
bool part_first(const char *path, struct part *part) { return start(path, part); }
bool part_next(struct part *part)
{
    const char *end = part->begin + part->size;
    return *end ? start(end + 1, part) : false;
}
"#;

#[test]
fn objects_end_once_and_after_what_was_made_from_them() {
    let repo = Repo::of(&[("objects.h", HEADER), ("objects.c", SOURCE)]);
    repo.run(&["drivers", "--new", "calls"]).ok().shows("functions of objects.h that it calls: 19");
    let text = repo.read("fuzz/calls.c");
    for line in [
        "size_t arg_count = driver_length(64);",
        "int driver_worked = port_open(arg_port, arg_name) == PORT_OK;\n        if (!driver_worked) break;",
        "int driver_worked = part_first(arg_path, arg_part) != 0;\n        if (!driver_worked) break;",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let call = |name: &str| {
        let from = text.find(&format!(": {{ /* {name} */")).unwrap_or_else(|| panic!("{name} in {text}"));
        text[from..].split_once("break;\n    }").unwrap().0
    };
    assert!(!call("port_open").contains("arg_port->data ="), "a constructor sets it: {text}");
    assert!(call("list_first").contains("driver_borrow("), "{text}");
    assert!(call("node_new").contains("driver_keep("), "{text}");
    assert!(call("list_clear").contains("driver_return_lent();"), "{text}");
    assert!(call("list_push").contains("driver_own("), "a list keeps the node: {text}");
    assert!(call("list_remove").contains("driver_part((const int[]){1}, 1, arg_from)"), "{text}");
    assert!(call("list_free").contains("if (driver_has("), "not while a walk needs it: {text}");
    let end = |name: &str| text.rfind(&format!("{name}(driver_objects")).unwrap();
    assert!(end("walk_free") < end("list_free"), "{text}");
    let json = repo.run(&["drivers", "--seconds", "6", "--format", "json"]).ok().json("drivers");
    let driver = &json["drivers"][0];
    assert_eq!(
        (driver["reached"].as_array().unwrap().len(), &driver["breaking"], &json["unreached"]),
        (23, &json!([]), &json!([])),
        "{driver}"
    );

    // What is measured can be chosen.
    let ran = repo.run(&["drivers", "--seconds", "1", "--check", "list_remove", "--format", "json"]);
    let measured = ran.ok().json("drivers")["in_place"].clone();
    assert_eq!(measured.as_array().unwrap().len(), 1, "{measured:#}");
    assert_eq!(measured[0]["symbol"], "list_remove");
    repo.run(&["drivers", "list_remove"]).code(2).shows("--check");
}
