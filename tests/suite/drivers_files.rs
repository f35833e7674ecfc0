//! Functions that read and write files are judged where a driver calls them: what C asks the system for happens once, and a
//! port is answered in the same way if it asks for the same.

use crate::support::{Change, Repo, judged_in_place, plant};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What is said of the ports with these changes.
fn judged(changes: &[Change], code: i32) -> BTreeMap<String, Value> {
    judged_in_place("drivers_files", ("records", include_str!("drivers_files/right.rs")), changes, code)
}

#[test]
fn right_ports_ask_the_system_for_what_c_asks_for() {
    let mut ports = judged(&[], 11);
    assert_eq!(ports.len(), 6);
    // What `access` reads is not known, so its calls are not judged.
    let exists = ports.remove("record_exists").unwrap();
    assert_eq!((&exists["outside"], &exists["judged"]), (&json!("access"), &json!(0)), "{exists}");
    for (name, port) in &ports {
        assert_eq!((&port["differs"], &port["broke"]), (&Value::Null, &Value::Null), "{name}: {port}");
        assert_eq!((&port["outside"], &port["unsteady"]), (&Value::Null, &json!(0)), "{name}: {port}");
        assert!(port["judged"].as_u64().unwrap() > 20, "{name}: {port}");
    }
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_files -- --ignored"]
fn ports_that_ask_for_something_else_differ() {
    // Another byte, a call too few, other lengths, and one too many.
    let changes: [&[Change]; 2] = [
        &[
            ("record_write", "fputc(10", "fputc(13"),
            ("record_read", "libc::ungetc(next, stream);", ""),
            ("record_sum", "(items.cast(), 2, count,", "(items.cast(), 1, count,"),
            ("record_size", "        size\n", "        libc::fflush(stream);\n        size\n"),
            ("record_note", "c\"sum %zu\\n\"", "c\"sum %zd \\n\""),
        ],
        &[
            ("record_write", "libc::ferror(stream) != 0 || ", ""),
            ("record_read", "libc::fgets(text, size,", "libc::fgets(text, size - 1,"),
            ("record_sum", "usize::from(*item)", "usize::from(*item as u8)"),
            ("record_size", "libc::SEEK_SET", "libc::SEEK_CUR"),
            ("record_note", "c\"a multiple of 3\"", "c\"a multiple of 4\""),
        ],
    ];
    for changes in changes {
        let mut ports = judged(changes, 10);
        ports.remove("record_exists");
        for (name, port) in &ports {
            let what =
                if changes.iter().any(|(_, old, _)| *old == "usize::from(*item)") && name == "record_sum" {
                    "result"
                } else {
                    "outside"
                };
            assert_eq!(port["differs"]["what"], json!(what), "{name}: {port}");
            // The call is named.
            let said = port["differs"]["said"].as_str().unwrap();
            assert_eq!(what == "outside", said.contains("calls "), "{name}: {port}");
        }
    }
}

/// The system writes to memory that a judged call left alone, between such calls and in a function of the driver that
/// `pull` calls.
const BIG_DRIVER: &str = "\
#include \"../store.h\"
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
static int file;
static long more(unsigned char *at) { return read(file, at, 8); }
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t bytes = 4 << 20, at = size ? data[0] * 4096 : 0;
    struct store *store = malloc(sizeof *store);
    file = open(\"/proc/self/stat\", O_RDONLY);
    store->bytes = calloc(1, bytes);
    store->more = more;
    for (unsigned call = 0; call < 16; call++) {
        touch(store, at + call);
        memset(store->bytes + at, 1, 8);
        if (pull(store, at + 65536) != 8) abort();
        if (read(file, store->bytes + at + 131072, 8) != 8) abort();
        touch(store, at + 196608);
        if (fstat(file, (struct stat *)(store->bytes + at + 262144)) != 0) abort();
    }
    close(file);
    free(store->bytes);
    free(store);
    return 0;
}
";

const TOUCH: &str = "pub unsafe fn touch(at: *mut ffi::store, where_: usize) -> ::core::ffi::c_uint {
    // SAFETY: as in C.
    unsafe {
        let byte = (*at).bytes.add(where_);
        *byte = (*byte).wrapping_add(3);
        ::core::ffi::c_uint::from(*byte.add(1))
    }
}";

const PULL: &str = "pub unsafe fn pull(at: *mut ffi::store, where_: usize) -> ::core::ffi::c_long {
    // SAFETY: as in C.
    unsafe {
        match (*at).more {
            Some(more) => more((*at).bytes.add(where_)),
            None => -1,
        }
    }
}";

/// What is said of `touch` and of `pull`, ported like this.
fn judged_in_large_memory(pull: &str, code: i32) -> [Value; 2] {
    let header = "#include <stddef.h>
struct store { unsigned char *bytes; long (*more)(unsigned char *at); };
unsigned touch(struct store *at, size_t where);
long pull(struct store *at, size_t where);
";
    let library = "#include \"store.h\"
unsigned touch(struct store *at, size_t where) { at->bytes[where] += 3; return at->bytes[where + 1]; }
long pull(struct store *at, size_t where) { return at->more ? at->more(at->bytes + where) : -1; }
";
    let repo = Repo::of(&[("store.h", header), ("store.c", library), ("fuzz/big.c", BIG_DRIVER)]);
    let mut module = repo.read("rust/src/store.rs");
    plant(&mut module, "touch", TOUCH).unwrap();
    plant(&mut module, "pull", pull).unwrap();
    repo.write("rust/src/store.rs", &module);
    let ran = repo.run(&["drivers", "--seconds", "1", "--ports", "--format", "json"]);
    let json = ran.code(code).json("drivers");
    let of = |name: &str| {
        let ports = json["ports"].as_array().unwrap();
        ports.iter().find(|port| port["symbol"] == json!(name)).unwrap().clone()
    };
    [of("touch"), of("pull")]
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_files -- --ignored"]
fn the_system_writes_to_large_memory_around_and_in_judged_calls() {
    for port in judged_in_large_memory(PULL, 0) {
        assert_eq!((&port["differs"], &port["broke"]), (&Value::Null, &Value::Null), "{port}");
        assert_eq!(port["outside"], Value::Null, "{port}");
        assert!(port["judged"].as_u64().unwrap() > 10, "{port}");
    }
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_files -- --ignored"]
fn what_a_port_asks_of_the_system_through_the_driver_counts() {
    let twice = PULL.replace("more((*at)", "more((*at).bytes) + more((*at)");
    let [touch, pull] = judged_in_large_memory(&twice, 10);
    assert_eq!(touch["differs"], Value::Null, "{touch}");
    assert_eq!(pull["differs"]["what"], json!("outside"), "{pull}");
}
