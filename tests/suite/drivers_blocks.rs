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
