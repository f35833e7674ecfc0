//! Blocks that grow: the system's `realloc` moves some of them and leaves others where they are, and so does the judge's.

use crate::support::{Repo, plant};

const HEADER: &str = "\
#include <stddef.h>
typedef struct row { int *items; size_t used, room; } row;
int row_add(row *to, int item);
";

const LIBRARY: &str = "\
#include \"row.h\"
#include <stdlib.h>
int row_add(row *to, int item)
{
    if (to->used == to->room) {
        size_t room = to->room ? 2 * to->room : 4;
        int *items = realloc(to->items, room * sizeof *items);
        if (!items) return -1;
        to->items = items;
        to->room = room;
    }
    to->items[to->used++] = item;
    return 0;
}
";

const DRIVER: &str = "\
#include \"../row.h\"
#include <stdint.h>
#include <stdlib.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    row own = {0};
    for (size_t at = 0; at < size; at++) row_add(&own, data[at]);
    free(own.items);
    return 0;
}
";

#[test]
fn ports_that_are_right_only_where_blocks_move_or_stay_are_refuted() {
    let repo = Repo::of(&[("row.h", HEADER), ("row.c", LIBRARY), ("fuzz/run.c", DRIVER)]);
    let stubs = repo.read("rust/src/row.rs");
    let at = stubs.find("pub unsafe fn row_add(").unwrap();
    let head = &stubs[at..at + stubs[at..].find('{').unwrap()];
    let port = |moved: &str| {
        format!(
            "if (*to).used == (*to).room {{ let room = if (*to).room == 0 {{ 4 }} else {{ 2 * (*to).room }}; let old = (*to).items; \
             let items = libc::realloc(old.cast(), room as usize * 4).cast::<::core::ffi::c_int>(); if items.is_null() {{ return -1; }} \
             {moved} }} *(*to).items.add((*to).used as usize) = item; (*to).used += 1; 0"
        )
    };
    let right = "(*to).items = items; (*to).room = room;";
    for (moved, code) in [
        (right.to_owned(), 0),
        (format!("{right} if items == old {{ (*to).used = 0; }}"), 10),
        ("(*to).items = items; (*to).room = if items == old { room } else { room - 1 };".to_owned(), 10),
    ] {
        let mut module = stubs.clone();
        plant(&mut module, "row_add", &format!("{head}{{\n    unsafe {{ {} }}\n}}", port(&moved))).unwrap();
        repo.write("rust/src/row.rs", &module);
        let quick = ["drivers", "--ports", "--seconds", "2", "--config", "drivers.function_seconds=1"];
        let ran = repo.run(&[&quick[..], &["--format", "json"]].concat());
        let json = ran.code(code).json("drivers");
        let port = &json["ports"][0];
        assert!(port["judged"].as_u64().unwrap() > 0, "{moved}: {port:#}");
        assert!(!port["differs"]["unclear"].is_string(), "{moved}: {port:#}");
    }
}

const RENEWED: &str = "\
#include <stdlib.h>
struct buf { unsigned char *data; size_t len, cap; };
void buf_renew(struct buf **at) {
    struct buf *buf = *at;
    free(buf->data);
    buf->data = malloc(buf->cap);
    buf->len = 0;
}
";

const RENEWING: &str = "\
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
struct buf { unsigned char *data; size_t len, cap; };
void buf_renew(struct buf **at);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct buf own = {malloc(64), 0, 64}, *buf = &own, **at = malloc(sizeof *at);
    *at = buf;
    for (size_t i = 0; i < size; i++) { memset(own.data, data[i], 64); own.len = data[i]; buf_renew(at); }
    free(own.data);
    free(at);
    return 0;
}
";

/// C leaves the bytes of a new block without a value, also if it gets the block that it has just freed.
#[test]
fn bytes_of_a_block_that_c_frees_and_gets_again_have_no_value() {
    let repo = Repo::of(&[("buf.c", RENEWED), ("fuzz/run.c", RENEWING)]);
    let stubs = repo.read("rust/src/buf.rs");
    for (made, code) in [("libc::calloc((*buf).cap as usize, 1)", 0), ("(*buf).data.wrapping_add(1)", 10)] {
        let port = format!(
            "pub unsafe fn buf_renew(at: *mut *mut ffi::buf) {{
    unsafe {{
        let buf = *at;
        libc::free((*buf).data.cast());
        (*buf).data = {made}.cast();
        (*buf).len = 0;
    }}
}}"
        );
        let mut module = stubs.clone();
        plant(&mut module, "buf_renew", &port).unwrap();
        repo.write("rust/src/buf.rs", &module);
        let quick = ["drivers", "--ports", "--seconds", "1", "--config", "drivers.function_seconds=1"];
        let json = repo.run(&[&quick[..], &["--format", "json"]].concat()).code(code).json("drivers");
        let port = &json["ports"][0];
        assert!(port["judged"].as_u64().unwrap() > 0, "{made}: {port:#}");
        assert_eq!(port["differs"].is_null(), code == 0, "{made}: {port:#}");
    }
}
