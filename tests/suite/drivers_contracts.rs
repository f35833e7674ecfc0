//! Drivers that are made from contracts: `drivers --new NAME` with nothing else.

use crate::drivers::store;
use crate::support::Repo;
use crate::support::clib::copy_tree;
use serde_json::json;
use std::path::Path;

/// The number of functions that the drivers of a repository reach, of all.
fn reached(repo: &Repo, seconds: &str) -> usize {
    let json = repo.run(&["drivers", "--seconds", seconds, "--format", "json"]).ok().json("drivers");
    json["drivers"][0]["reached"].as_array().unwrap().len()
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_contracts -- --ignored"]
fn a_driver_calls_what_contracts_describe() {
    let repo = Repo::empty();
    copy_tree(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/c-lib"), repo.root());
    repo.run(&["init"]).ok();
    let json = repo.run(&["drivers", "--new", "calls", "--format", "json"]).ok().json("driver-new");
    assert!(json["functions"].as_u64().unwrap() >= 50, "{json}");
    // Of 64, and most of the others are `static` behind rare conditions.
    let reached = reached(&repo, "8");
    assert!(reached >= 55, "{reached}");
    // It is a C file like any other.
    let text = repo.read("fuzz/calls.c");
    assert!(text.contains("#include \"../include/kit/map.h\"\n") && text.contains("case 0: { /* "), "{text}");
}

#[test]
fn a_driver_calls_functions_that_no_harness_can_compare() {
    let repo = store();
    std::fs::remove_dir_all(repo.root().join("fuzz")).unwrap();
    repo.run(&["drivers", "--new", "calls"]).ok().shows("functions of store.h that it calls: 11");
    let text = repo.read("fuzz/calls.c");
    // Objects are made, used, and ended in the end; a callback is one that the driver defines.
    for line in [
        "*driver_made = (void *)store_new(driver_store_new_watch, arg_context);",
        "(void)store_add(arg_store, arg_name, arg_length);",
        "store_free(driver_objects[0][at]);",
        "\"[%s] %i %u%%\", driver_word, driver_int, driver_size);",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert_eq!(reached(&repo, "4"), 16);
    repo.run(&["drivers", "--new", "calls"]).fails(2, &["fuzz/calls.c exists already"]);
}

const GUESSED_HEADER: &str = "#include <stddef.h>\n#include <stdio.h>\ntypedef char *word;\n\
    struct item { const char *name; size_t length; };\nunion key { char bytes[4]; int number; };\n\
    struct tagged { union key key; int value; };\n\
    word word_new(const char *text);\nword word_double(word old);\nsize_t word_length(const word of);\n\
    void word_free(word old);\n\
    int item_split(const char *text, const char **name, size_t *length);\n\
    int items_read(const char *text, struct item *items, size_t *item_count);\n\
    int items_count(const char *name, const struct item *items, int item_count);\n\
    int tagged_read(struct tagged *to, const char *text);\n\
    int stream_lines(FILE *from);\ndouble half_power(double of);\n";
const GUESSED_SOURCE: &str = r#"
#include "guess.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* The length stands in front of the text. */
word word_new(const char *text)
{
    size_t length = strlen(text), *block = malloc(sizeof(size_t) + length + 1);
    if (!block) return NULL;
    *block = length;
    return memcpy(block + 1, text, length + 1);
}
word word_double(word old)
{
    size_t length = word_length(old);
    char *text = malloc(2 * length + 1);
    word twice;
    if (!text) return NULL;
    memcpy(text, old, length);
    memcpy(text + length, old, length + 1);
    twice = word_new(text);
    free(text);
    word_free(old);
    return twice;
}
size_t word_length(const word of) { return ((const size_t *)of)[-1]; }
void word_free(word old) { if (old) free((size_t *)old - 1); }
int item_split(const char *text, const char **name, size_t *length)
{
    const char *found = strchr(text, ':');
    if (!found) return -1;
    *name = text;
    *length = (size_t)(found - text);
    return 0;
}
int items_read(const char *text, struct item *items, size_t *item_count)
{
    size_t most = *item_count, at = 0;
    for (*item_count = 0; *text && at < most; at++) {
        items[at].name = text;
        items[at].length = strcspn(text, ",");
        text += items[at].length;
        if (*text) text++;
    }
    *item_count = at;
    return 0;
}
static int scan(const char *text, const char *format, ...)
{
    va_list all;
    va_start(all, format);
    for (; *format; format++) *va_arg(all, int *) = (int)strtol(text, NULL, 10);
    va_end(all);
    return *text != 0;
}
int tagged_read(struct tagged *to, const char *text)
{
    return scan(text, "dd", &to->key.number, &to->value) && to->key.number == to->value;
}
struct table { const struct item *items; int count; };
static int find(const struct table *table, const char *name)
{
    int found = 0;
    for (int at = 0; at < table->count; at++)
        if (strcmp(table->items[at].name, name) == 0) found++;
    return found;
}
int items_count(const char *name, const struct item *items, int item_count)
{
    struct table table;
    table.items = items;
    table.count = item_count;
    return find(&table, name);
}
int stream_lines(FILE *from)
{
    char line[16];
    int count = 0;
    while (fgets(line, sizeof line, from)) count++;
    return count;
}
double half_power(double of) { return pow(of, 0.5); }
"#;

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_contracts -- --ignored"]
fn what_no_contract_describes_is_made_up() {
    let repo = Repo::of(&[("guess.h", GUESSED_HEADER), ("guess.c", GUESSED_SOURCE)]);
    repo.run(&["drivers", "--new", "calls"]).ok().shows("functions of guess.h that it calls: 10");
    let text = repo.read("fuzz/calls.c");
    for line in [
        // An object that a function frees and makes anew.
        "*driver_made = (void *)word_double(arg_old);",
        "if (arg_old) *arg_old_place = NULL;",
        "word_free(driver_objects[0][at]);",
        "void **arg_name = driver_zeros(sizeof(void *));",
        "void *arg_items = driver_zeros(64 * sizeof(struct item));",
        "void *arg_item_count = driver_number_at(sizeof(size_t), driver_count(64));",
        "(void)items_count(arg_name, NULL, 0);",
        "void *arg_to = driver_zeros(1 * sizeof(struct tagged));",
        "void *arg_from = driver_stream();",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let json = repo.run(&["drivers", "--seconds", "6", "--format", "json"]).ok().json("drivers");
    let driver = &json["drivers"][0];
    assert_eq!(driver["reached"].as_array().unwrap().len(), 12, "{driver}");
}

const STACK_HEADER: &str = r#"
#include <stddef.h>
typedef struct stack stack;
struct stack_options { int level; const char *name; };
int stack_open(const char *path, stack **out);
int stack_open_with(const struct stack_options *options, stack **out);
int stack_push(stack *f, const char *text);
size_t stack_count(const stack *f);
int stack_next(stack *f, const char **text, size_t *length);
char *stack_token(char *text, const char *separators, char **save);
void stack_close(stack **f);
int stack_each(stack *f, int (*visit)(void *data, const char *text), void *data);
int stack_sum(int count, char **argv);
"#;
const STACK_SOURCE: &str = r#"
#include "stack.h"
#include <stdlib.h>
#include <string.h>
struct stack { size_t count, at; char *texts[8]; };
int stack_open(const char *path, stack **out)
{
    if (!path || !out) return -1;
    *out = calloc(1, sizeof(stack));
    return *out ? 0 : -1;
}
int stack_open_with(const struct stack_options *options, stack **out)
{
    if (options->level < 0) return -1;
    return stack_open(options->name, out);
}
int stack_push(stack *f, const char *text)
{
    if (f->count == 8) return -1;
    f->texts[f->count] = strdup(text);
    return (int)f->count++;
}
size_t stack_count(const stack *f) { return f->count; }
int stack_next(stack *f, const char **text, size_t *length)
{
    if (f->at >= f->count) return 0;
    *text = f->texts[f->at++];
    *length = strlen(*text);
    return 1;
}
char *stack_token(char *text, const char *separators, char **save)
{
    if (!text) text = *save;
    text += strspn(text, separators);
    char *end = text + strcspn(text, separators);
    if (end == text) end = NULL;
    if (!end) {
        *save = text;
        return NULL;
    }
    if (*end) *end++ = 0;
    *save = end;
    return text;
}
void stack_close(stack **f)
{
    if (!f || !*f) return;
    for (size_t i = 0; i < (*f)->count; i++) free((*f)->texts[i]);
    free(*f);
    *f = NULL;
}
int stack_each(stack *f, int (*visit)(void *, const char *), void *data)
{
    for (size_t i = 0; i < f->count; i++)
        if (visit(data, f->texts[i])) return 1;
    return 0;
}
int stack_sum(int count, char **argv)
{
    int s = 0;
    for (int i = 0; i < count; i++) s += (int)strlen(argv[i]);
    return s;
}
"#;

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_contracts -- --ignored"]
fn objects_that_are_left_at_an_address_are_used_and_ended() {
    let repo = Repo::of(&[("stack.h", STACK_HEADER), ("stack.c", STACK_SOURCE)]);
    repo.run(&["drivers", "--new", "calls"]).ok().shows("functions of stack.h that it calls: 9");
    let text = repo.read("fuzz/calls.c");
    for line in [
        "driver_keep(0, *arg_out);",
        "void **arg_f_place = driver_old((const int[]){0}, 1);",
        "stack_close((void *)&driver_objects[0][at]);",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let json = repo.run(&["drivers", "--seconds", "4", "--format", "json"]).ok().json("drivers");
    let driver = &json["drivers"][0];
    assert_eq!(
        (driver["reached"].as_array().unwrap().len(), &driver["breaking"]),
        (9, &json!([])),
        "{driver}"
    );
}

#[test]
fn a_driver_that_breaks_on_the_input_that_libfuzzer_begins_with_is_fuzzed() {
    let repo = Repo::of(&[
        ("one.h", "unsigned one(unsigned a);\n"),
        ("one.c", "#include \"one.h\"\nunsigned one(unsigned a) { return a + 1; }\n"),
        (
            "fuzz/one.c",
            "#include \"../one.h\"\n#include <stddef.h>\n#include <stdint.h>\n#include <stdlib.h>\n\
             int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {\n    \
             if (size == 0 || data[0] == '\\n') abort();\n    one(data[0]);\n    return 0;\n}\n",
        ),
    ]);
    assert_eq!(reached(&repo, "2"), 1);
}

/// `use_it` breaks in a process in which nothing has called `prepare`, as libFuzzer's processes soon have.
const PREPARED: &str = "#include \"one.h\"\n#include <stdlib.h>\nstatic int is_ready;\nvoid prepare(void) { is_ready = 1; }\n\
    unsigned use_it(unsigned a) { if (!is_ready) abort(); return a * 3u; }\n";
const PREPARING: &str = "#include \"../one.h\"\n#include <stddef.h>\n#include <stdint.h>\n\
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {\n    if (size < 2) return 0;\n    \
    switch (data[0] % 4) {\n    case 0: prepare(); use_it(data[1]); break;\n    \
    case 1: use_it(data[1] + 256u); use_it(7); break;\n    default: prepare();\n    }\n    return 0;\n}\n";

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_contracts -- --ignored"]
fn inputs_that_need_what_earlier_ones_left_end_no_judgement() {
    let repo = Repo::of(&[
        ("one.h", "void prepare(void);\nunsigned use_it(unsigned a);\n"),
        ("one.c", PREPARED),
        ("fuzz/one.c", PREPARING),
    ]);
    repo.replace("rust/src/one.rs", "unimplemented!(\"use_it\")", "a.wrapping_mul(3)");
    let ran = repo.run(&["drivers", "--seconds", "3", "--format", "json"]);
    let json = ran.ok().json("drivers");
    let driver = &json["drivers"][0];
    assert!(!driver["breaking"].as_array().unwrap().is_empty(), "{driver}");
    assert!(ran.json("warning")["text"].as_str().unwrap().contains("it ends early there: signal 6"));
    let json = repo.run(&["drivers", "--ports", "--seconds", "3", "--format", "json"]).ok().json("drivers");
    let port = &json["ports"][0];
    assert_eq!((&port["differs"], &port["broke"]), (&json!(null), &json!(null)), "{port}");
    assert!(port["judged"].as_u64().unwrap() > 20, "{port}");
}

#[test]
fn headers_choose_what_a_driver_calls() {
    let repo = store();
    std::fs::remove_dir_all(repo.root().join("fuzz")).unwrap();
    repo.write("less.h", "struct store;\nvoid store_free(struct store *store);\nint store_new(int wrong);\n");
    // What a header declares in another way does not compile, and is left out.
    let new = ["drivers", "--new", "less", "--header", "less.h", "--format", "json"];
    let json = repo.run(&new).ok().json("driver-new");
    assert_eq!((&json["functions"], &json["refused"]), (&json!(1), &json!(["store_new"])), "{json}");
    assert!(repo.read("fuzz/less.c").contains("#include \"../less.h\""));
    repo.run(&["drivers", "--new", "none", "--header", "none.h"]).fails(2, &["no header none.h"]);
    repo.run(&["drivers", "--header", "less.h"]).code(2).shows("--new");
}

#[test]
fn all_public_headers_are_called_but_no_private_one() {
    let header = |name: &str| format!("unsigned {name}_one(unsigned a);\nunsigned {name}_two(unsigned a);\n");
    let body = |name: &str| {
        format!(
            "#include \"{name}.h\"\nunsigned {name}_one(unsigned a) {{ return a + 1; }}\nunsigned {name}_two(unsigned a) {{ return a ^ 5; }}\n"
        )
    };
    let inner = format!("#include \"left.h\"\n{}", header("inner"));
    let repo = Repo::of(&[
        ("left.h", &header("left")),
        ("left.c", &body("left")),
        ("right.h", &header("right")),
        ("right.c", &body("right")),
        ("inner.h", &inner),
        ("inner.c", &body("inner")),
    ]);
    let json = repo.run(&["drivers", "--new", "both", "--format", "json"]).ok().json("driver-new");
    assert_eq!(json["functions"], 4, "{json:#}");
    let text = repo.read("fuzz/both.c");
    assert!(
        text.contains("left_one(") && text.contains("right_two(") && !text.contains("inner_one("),
        "{text}"
    );
}

/// What contracts and C allow, and what would be wrong C text if it were pasted.
#[test]
fn drivers_keep_to_limits_and_survive_odd_names() {
    let repo = Repo::empty();
    repo.write("odd.h", ODD_HEADER);
    repo.write("odd.c", ODD);
    repo.run(&["init"]).ok();
    let contract = repo.read("rust/contracts/share.toml");
    let required = contract.replacen("[[param]]", "require = [\"whole / part > 2\"]\n\n[[param]]", 1);
    repo.write("rust/contracts/share.toml", &required);
    let json = repo.run(&["drivers", "--new", "odd", "--format", "json"]).ok().json("driver-new");
    let text = repo.read("fuzz/odd.c");
    // Inputs must not choose what is killed or removed, nor close the fuzzer's streams.
    for name in ["stop(", "forget(", "finish("] {
        assert!(!text.contains(&format!("){name}")), "{name} {text}");
    }
    assert_eq!(json["functions"], json!(4), "{text}");
    // The functions abort where they are called in another way.
    let json = repo.run(&["drivers", "--seconds", "3", "--format", "json"]).ok().json("drivers");
    assert_eq!(json["drivers"][0]["breaking"], json!([]), "{text}");
    assert_eq!(json["drivers"][0]["reached"].as_array().unwrap().len(), 4, "{json:#}");
}

const ODD_HEADER: &str = "
typedef struct point { long x, y, z; } point;
typedef struct pot { char *text; int size; } pot;
long move(point *point);
int share(unsigned whole, unsigned part);
pot *pot_new(int size);
void pot_init(pot *pot);
void pot_free(pot *pot);
int stop(int pid);
int forget(const char *path);
int finish(int fd);
";

const ODD: &str = "
#include \"odd.h\"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

long move(point *point) { return point->x++ + point->y++ + point->z++; }

int share(unsigned whole, unsigned part)
{
    if (part == 0 || whole / part <= 2)
        abort();
    return (int)(whole / part);
}

pot *pot_new(int size)
{
    pot *pot = malloc(sizeof *pot);
    if (!pot)
        return NULL;
    pot->size = size & 255;
    pot->text = malloc((size_t)pot->size + 1);
    if (!pot->text) {
        free(pot);
        return NULL;
    }
    return pot;
}

void pot_init(pot *pot)
{
    pot->text = NULL;
    pot->size = 0;
}

void pot_free(pot *pot)
{
    free(pot->text);
    free(pot);
}

int stop(int pid) { return kill(pid, SIGKILL); }
int forget(const char *path) { return remove(path); }
int finish(int fd) { return close(fd); }
";

#[test]
fn types_of_c_files_are_not_those_of_drivers() {
    let repo = Repo::empty();
    repo.write("mix.h", "#include <stddef.h>\n#include <stdint.h>\nuint32_t mix(const uint8_t *bytes, size_t count, uint32_t seed);\nint same(const uint8_t one[4], const uint8_t other[4]);\n");
    repo.write(
        "mix.c",
        "#include \"mix.h\"\ntypedef uint8_t byte;\ntypedef size_t many;\ntypedef uint32_t word_t;\n\
         word_t mix(const byte *bytes, many count, word_t seed)\n{\n    for (many i = 0; i < count; i++)\n        seed = seed * 31 + bytes[i];\n    return seed;\n}\n\
         int same(const byte one[4], const byte other[4])\n{\n    int equal = 1;\n    for (int i = 0; i < 4; i++)\n        equal &= one[i] == other[i];\n    return equal;\n}\n",
    );
    repo.run(&["init"]).ok();
    repo.run(&["drivers", "--new", "calls"]).ok().shows("functions of mix.h that it calls: 2");
    assert_eq!(reached(&repo, "2"), 2);
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_contracts -- --ignored"]
fn drivers_are_asked_about_what_the_harness_does_not_refute() {
    let repo = Repo::empty();
    repo.write("k.h", "#include <stddef.h>\nunsigned twice(unsigned x);\n");
    repo.write("k.c", "#include \"k.h\"\nunsigned twice(unsigned x) { return 2 * x; }\n");
    let driver = "#include \"../k.h\"\nint LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {\n\
        for (size_t at = 0; at < size; at++) twice(data[at]);\n    return 0;\n}\n";
    repo.write("fuzz/calls.c", driver);
    repo.run(&["init"]).ok();
    let files = "\n[drivers]\nfiles = [\"fuzz/calls.c\"]\nseconds = 2\n";
    repo.write("implfuzz.toml", &(repo.read("implfuzz.toml") + files));
    let verify = ["verify", "twice", "--seconds", "2", "--format", "json"];

    repo.replace("rust/src/k.rs", "unimplemented!(\"twice\")", "x.wrapping_add(x | 1)");
    let ran = repo.run(&verify);
    assert_eq!(ran.code(10).json("verify")["symbols"][0]["grade"], "refuted");
    assert!(!repo.root().join(".implfuzz/cache/drivers").exists(), "no driver was built");

    repo.replace("rust/src/k.rs", "x.wrapping_add(x | 1)", "x.wrapping_add(x)");
    let json = repo.run(&verify).json("verify");
    assert!(json["symbols"][0]["in_place"].as_u64().unwrap() > 0, "{json:#}");
}
