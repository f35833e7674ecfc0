//! Drivers and libraries that use the system in unusual ways are judged like others: constructors, functions that may be
//! missing, hooks, calls through pointers, blocked signals, jumps, and blocks of the system's own.

use crate::support::{Repo, plant};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const HEADER: &str = "\
#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>
struct trunk { unsigned char *bytes; char *text; unsigned count; jmp_buf back; };
unsigned add(struct trunk *at, size_t where);
unsigned nested(struct trunk *at, unsigned depth);
void forget(struct trunk *at);
unsigned hooked(struct trunk *at);
void leave(struct trunk *at);
unsigned hook(unsigned value);
size_t parts(struct trunk *at, FILE *stream);
";

const LIBRARY: &str = "\
#include \"trunk.h\"
#include <stdlib.h>
unsigned add(struct trunk *at, size_t where) { at->bytes[where] += 3; return at->count += at->bytes[where + 1]; }
unsigned nested(struct trunk *at, unsigned depth) {
    jmp_buf here;
    at->count++;
    if (!setjmp(here)) longjmp(here, 1);
    return depth ? nested(at, depth - 1) + 1 : 0;
}
void forget(struct trunk *at) { free(at->text); at->text = NULL; }
unsigned hooked(struct trunk *at) { return at->count = hook(at->count); }
size_t parts(struct trunk *at, FILE *stream) { return fread(at->bytes, 0, 3, stream) + fread(at->bytes, 4, 100, stream); }
void leave(struct trunk *at) { at->count++; longjmp(at->back, 1); }
";

const DRIVER: &str = "\
#define _GNU_SOURCE
#include \"../trunk.h\"
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
__attribute__((constructor)) static void begin(void) { setenv(\"TZ\", \"UTC\", 1); }
__attribute__((weak)) size_t not_there(uint8_t *data);
unsigned hook(unsigned value) { return value * 3 + 1; }
static struct { ssize_t (*some)(int, const struct iovec *, int); } calls = {readv};
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct trunk *own = calloc(1, sizeof *own);
    int file = open(\"/proc/self/stat\", O_RDONLY);
    sigset_t all, before;
    own->bytes = calloc(1, 4 << 20);
    if (not_there) abort();
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    for (unsigned at = 0; at < 20; at++) {
        size_t where = at * 4096 + (size ? data[0] : 0);
        struct iovec part = {own->bytes + where + (1 << 20), 8};
        add(own, where);
        if (calls.some(file, &part, 1) != 8) abort();
        if (nested(own, at % 3) != at % 3) abort();
        if (asprintf(&own->text, \"%u\", at) < 0) abort();
        forget(own);
        hooked(own);
        if (setjmp(own->back) == 0) leave(own);
        FILE *name = fopen(\"/proc/self/comm\", \"r\");
        if (parts(own, name) == 0) abort();
        fclose(name);
        add(own, where);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(file);
    free(own->bytes);
    free(own);
    return 0;
}
";

/// The text of a port with this body.
fn port(name: &str, arguments: &str, result: &str, body: &str) -> String {
    format!(
        "pub unsafe fn {name}(at: *mut ffi::trunk{arguments}){result} {{
    // SAFETY: as in C.
    unsafe {{ {body} }}
}}"
    )
}

#[test]
#[ignore = "half a minute: cargo test --test suite drivers_system -- --ignored"]
fn unusual_drivers_run_and_judge() {
    let repo = Repo::of(&[("trunk.h", HEADER), ("trunk.c", LIBRARY), ("fuzz/run.c", DRIVER)]);
    let config = repo.read("implfuzz.toml");
    repo.write("implfuzz.toml", &format!("{config}\n[drivers]\nfunction_seconds = 1\n"));
    let mut module = repo.read("rust/src/trunk.rs");
    let uint = " -> ::core::ffi::c_uint";
    let add = "*(*at).bytes.add(where_) = (*(*at).bytes.add(where_)).wrapping_add(3);
        (*at).count = (*at).count.wrapping_add(u32::from(*(*at).bytes.add(where_ + 1)));
        (*at).count";
    for (name, arguments, result, body) in [
        ("add", ", where_: usize", uint, add),
        ("hooked", "", uint, "(*at).count = (*at).count.wrapping_mul(3).wrapping_add(1); (*at).count"),
        // Items of no bytes, and one that ends early.
        (
            "parts",
            ", stream: *mut ffi::FILE",
            " -> usize",
            "libc::fread((*at).bytes.cast(), 0, 3, stream.cast()) + libc::fread((*at).bytes.cast(), 4, 100, stream.cast())",
        ),
        // It does not give the text back.
        ("forget", "", "", "(*at).text = core::ptr::null_mut();"),
    ] {
        let text = port(name, arguments, result, body);
        plant(&mut module, name, &text).unwrap_or_else(|| panic!("{module}"));
    }
    repo.write("rust/src/trunk.rs", &module);
    let ran = repo.run(&["drivers", "--seconds", "1", "--ports", "--check", "--format", "json"]);
    let json = ran.code(11).json("drivers");
    let of = |list: &str| -> BTreeMap<String, Value> {
        let all = json[list].as_array().unwrap().iter();
        all.map(|one| (one["symbol"].as_str().unwrap().to_owned(), one.clone())).collect()
    };
    let (ports, checked) = (of("ports"), of("in_place"));
    // The port has no binding of the program's function, so it does not call it.
    assert_eq!(ports["hooked"]["differs"]["what"], "callbacks", "{json:#}");
    for name in ["add", "parts"] {
        assert_eq!(
            (&ports[name]["differs"], &ports[name]["broke"]),
            (&Value::Null, &Value::Null),
            "{json:#}"
        );
        assert!(ports[name]["judged"].as_u64().unwrap() >= 10, "{json:#}");
    }
    for (name, why) in [("forget", "free"), ("nested", "longjmp"), ("leave", "longjmp")] {
        let checked = &checked[name];
        assert_eq!(checked["outside"].as_str().unwrap().trim_start_matches('_'), why, "{name}: {json:#}");
        assert_eq!((&checked["judged"], &checked["differs"]), (&json!(0), &Value::Null), "{name}: {json:#}");
    }
    assert_eq!(ports["forget"]["judged"], json!(0), "{json:#}");
}

/// What `drivers --ports` says of this port of a function, on inputs that the driver reads in `body`.
fn of_port((header, library): (&str, &str), body: &str, (name, port): (&str, &str)) -> Value {
    let driver = format!(
        "#include \"../symbols.h\"\n#include <stdint.h>\n\
         int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {{\n    \
         for (size_t at = 0; at < size; at++) {{ {body} }}\n    return 0;\n}}\n"
    );
    let header = format!("#include <stddef.h>\n{header}");
    let library = format!("#include \"symbols.h\"\n{library}");
    let repo = Repo::of(&[("symbols.h", &header), ("symbols.c", &library), ("fuzz/run.c", &driver)]);
    let config = repo.read("implfuzz.toml");
    let seconds = "\n[drivers]\nseconds = 1\nfunction_seconds = 1\n";
    repo.write(
        "implfuzz.toml",
        &(config.replace("[c]\n", "[c]\nflags = [\"-std=c99\", \"-w\"]\n") + seconds),
    );
    repo.run(&["init"]).ok();
    let mut module = repo.read("rust/src/symbols.rs");
    plant(&mut module, name, port).unwrap_or_else(|| panic!("{module}"));
    repo.write("rust/src/symbols.rs", &module);
    let json = repo.run(&["drivers", "--ports", "--format", "json"]).json("drivers");
    json["ports"][0].clone()
}

/// Strict standards give glibc's `signal` another name.
#[test]
fn names_with_underscores_are_what_they_mean() {
    let text = "#include <signal.h>\nvoid heed(int on) { signal(SIGUSR1, on ? SIG_IGN : SIG_DFL); }\n";
    let nothing = "pub unsafe fn heed(on: i32) {\n    let _ = on;\n}";
    let port = of_port(("void heed(int on);\n", text), "heed(data[at] & 1);", ("heed", nothing));
    assert_eq!((&port["judged"], &port["outside"]), (&json!(0), &json!("signal")), "{port:#}");
}

/// A hook that the library declares weak, and of which the program has none.
#[test]
fn hooks_may_be_missing() {
    let header = "void traced(unsigned value) __attribute__((weak));\nunsigned trace(unsigned value);\n";
    let text = "unsigned trace(unsigned value) {\n    if (traced) traced(value);\n    return value * 5;\n}\n";
    let trace = "pub unsafe fn trace(value: u32) -> u32 {\n    value.wrapping_mul(5)\n}";
    let port = of_port((header, text), "trace(data[at] * 77u);", ("trace", trace));
    assert_eq!((&port["differs"], &port["outside"]), (&Value::Null, &Value::Null), "{port:#}");
    assert!(port["judged"].as_u64() > Some(10), "{port:#}");
}

/// Functions of the library's own with names of the system's.
#[test]
fn names_of_the_system_may_be_the_librarys_own() {
    let header = "char *strndup(const char *text, size_t most);\nint daemon(int stays, int keeps);\n\
                  unsigned setbuffer(unsigned with);\nunsigned first(unsigned byte);\n";
    let text = "#include <stdlib.h>
char *strndup(const char *text, size_t most) {
    char *copy = malloc(most + 1);
    if (!copy) return NULL;
    for (size_t at = 0; at < most; at++) copy[at] = text[at];
    copy[most] = 7;
    return copy;
}
int daemon(int stays, int keeps) { return stays * 3 + keeps; }
unsigned setbuffer(unsigned with) { return with + 1; }
unsigned first(unsigned byte) {
    char text[1] = {(char)byte};
    char *copy = strndup(text, 1);
    unsigned first = copy ? (unsigned char)copy[0] + (unsigned)copy[1] : 0;
    free(copy);
    return setbuffer(first) + (unsigned)daemon(2, 1);
}
";
    let first = "pub fn first(byte: u32) -> u32 {\n    (byte & 255) + 15\n}";
    let body = "first(data[at]); strndup(\"ab\", 1 + at % 2); daemon(data[at], 1);";
    let port = of_port((header, text), body, ("first", first));
    assert_eq!((&port["differs"], &port["outside"]), (&Value::Null, &Value::Null), "{port:#}");
    assert!(port["judged"].as_u64() > Some(10), "{port:#}");
}
