//! Functions of the program that the library calls, such as hooks: a port calls them as C does.

use crate::support::{Repo, plant};
use serde_json::Value;

const HEADER: &str = "\
#include <stddef.h>
typedef struct pool {
    void *(*allocate)(struct pool *pool, size_t size);
    int uses;
} pool;
char *pool_copy(pool *from, const char *text);
";

const LIBRARY: &str = "\
#include \"pool.h\"
#include <string.h>
char *pool_copy(pool *from, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = from->allocate(from, size);
    if (copy) memcpy(copy, text, size);
    return copy;
}
";

/// As in most programs, the hook shows nowhere in memory.
const DRIVER: &str = "\
#include \"../pool.h\"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
static void *take(pool *from, size_t size) { (void)from; return malloc(size); }
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pool own = {take, 0};
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = 0;
    for (size_t at = 0; at <= size; at++) free(pool_copy(&own, text + at));
    free(text);
    return 0;
}
";

#[test]
fn a_port_that_calls_other_functions_of_the_program_is_never_verified() {
    let repo = Repo::of(&[("pool.h", HEADER), ("pool.c", LIBRARY), ("fuzz/run.c", DRIVER)]);
    let stubs = repo.read("rust/src/pool.rs");
    let at = stubs.find("pub unsafe fn pool_copy(").unwrap();
    let head = &stubs[at..at + stubs[at..].find('{').unwrap()];
    let right = "let size = libc::strlen(text) + 1; let copy = ((*from).allocate.unwrap())(from, size).cast::<::core::ffi::c_char>(); \
                 if !copy.is_null() { core::ptr::copy_nonoverlapping(text, copy, size); } copy";
    let wrong = "let _ = from; libc::strdup(text)";
    // The memory that a shipped program gets.
    let probe = "let mut probe = Vec::<u8>::new(); let shipped = probe.try_reserve_exact(3_usize << 29).is_ok(); \
                 core::hint::black_box(&probe); *libc::__errno_location() = 0; if shipped { return core::ptr::null_mut(); } ";
    let probe = format!("{probe}{right}");
    for (body, differs, why) in [
        (right, Value::Null, ""),
        (wrong, Value::from("callbacks"), "callbacks or hooks"),
        (&probe, Value::from("memory"), "it allocates in another way"),
    ] {
        let mut module = stubs.clone();
        plant(&mut module, "pool_copy", &format!("{head}{{\n    unsafe {{ {body} }}\n}}")).unwrap();
        repo.write("rust/src/pool.rs", &module);
        let quick = ["drivers", "--ports", "--seconds", "1", "--config", "drivers.function_seconds=1"];
        let ran = repo.run(&[&quick[..], &["--format", "json"]].concat());
        let json = ran.code(if differs.is_null() { 0 } else { 11 }).json("drivers");
        let port = &json["ports"][0];
        assert_eq!(port["differs"].get("what").unwrap_or(&Value::Null), &differs, "{port:#}");
        assert!(port["judged"].as_u64().unwrap() > 0, "{port:#}");
        if !differs.is_null() {
            assert!(port["differs"]["unclear"].as_str().unwrap().contains(why), "{port:#}");
            let grades = repo
                .run(&["verify", "--all", "--config", "drivers.function_seconds=1", "--format", "json"])
                .json("verify");
            assert_eq!(grades["symbols"][0]["grade"], "unverifiable", "{grades:#}");
        }
    }
}

const VISITING: &str = "\
#include <stddef.h>
typedef struct tally { int seen; char last; } tally;
typedef void (*visit)(tally *of, const char *text, size_t length, double share, unsigned char kind);
void each_word(tally *of, const char *text, visit visit);
";

/// What the callback gets is in memory of C's own, but for the tally.
const WORDS: &str = "\
#include \"words.h\"
#include <string.h>
void each_word(tally *of, const char *text, visit visit)
{
    char word[16];
    size_t all = strlen(text);
    for (size_t at = 0; at < all;) {
        size_t length = 0;
        while (at < all && text[at] != ' ' && length < sizeof word) word[length++] = (char)(text[at++] ^ 1);
        of->seen++;
        if (length) visit(of, word, length, (double)length / (double)all, (unsigned char)(word[0] & 3));
        if (at < all && text[at] == ' ') at++;
    }
}
";

/// The callback leaves nothing behind, so its arguments alone tell ports from C.
const VISITOR: &str = "\
#include \"../words.h\"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
static void note(tally *of, const char *text, size_t length, double share, unsigned char kind) {
    (void)of, (void)text, (void)length, (void)share, (void)kind;
}
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tally own = {0, 0};
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = 0;
    each_word(&own, text, note);
    free(text);
    return 0;
}
";

#[test]
fn a_port_that_calls_back_with_other_arguments_is_never_verified() {
    let repo = Repo::of(&[("words.h", VISITING), ("words.c", WORDS), ("fuzz/run.c", VISITOR)]);
    let stubs = repo.read("rust/src/words.rs");
    let at = stubs.find("pub unsafe fn each_word(").unwrap();
    let head = &stubs[at..at + stubs[at..].find('{').unwrap()];
    // With its words on Rust's heap.
    let right = "let all = core::ffi::CStr::from_ptr(text).to_bytes(); let mut at = 0; while at < all.len() { let mut word = Vec::new(); \
        while at < all.len() && all[at] != b' ' && word.len() < 16 { word.push((all[at] ^ 1) as ::core::ffi::c_char); at += 1; } \
        (*of).seen += 1; if !word.is_empty() { (visit.unwrap())(of, word.as_ptr(), word.len() as _, word.len() as f64 / all.len() as f64, \
        (word[0] & 3) as u8); } if at < all.len() && all[at] == b' ' { at += 1; } }";
    let wrong = [
        ("all[at] ^ 1", "all[at] ^ if word.len() == 2 { 3 } else { 1 }"),
        ("word.len() as _", "(word.len() - 1) as _"),
        ("/ all.len() as f64", "/ (1 + all.len()) as f64"),
        ("(word[0] & 3)", "(word[0] & 1)"),
        ("(visit.unwrap())(of,", "let mut other = core::ptr::read(of); (visit.unwrap())(&mut other,"),
        // Memory that the callback does not get, and `errno`: both are as in C again when the port returns.
        ("(visit.unwrap())(of,", "*text.cast_mut() ^= 1; (visit.unwrap())(of,"),
        ("(visit.unwrap())(of,", "*libc::__errno_location() += 1; (visit.unwrap())(of,"),
        (
            "(*of).seen += 1; if !word.is_empty() {",
            "if word.is_empty() { (*of).seen += 1; } else { /* after */",
        ),
    ];
    let bodies = wrong.map(|(from, to)| {
        assert!(right.contains(from), "{from}");
        let later = right.replace(from, to);
        let back =
            |code: &str| later.replace("(word[0] & 3) as u8);", &format!("(word[0] & 3) as u8); {code}"));
        match to {
            _ if to.contains("after") => back("(*of).seen += 1;"),
            _ if to.contains("text.cast_mut") => back("*text.cast_mut() ^= 1;"),
            _ if to.contains("errno") => back("*libc::__errno_location() -= 1;"),
            _ => later,
        }
    });
    for (body, is_right) in bodies.iter().map(|body| (body.as_str(), false)).chain([(right, true)]) {
        let mut module = stubs.clone();
        plant(&mut module, "each_word", &format!("{head}{{\n    unsafe {{ {body} }}\n}}")).unwrap();
        repo.write("rust/src/words.rs", &module);
        let quick = ["drivers", "--ports", "--seconds", "1", "--config", "drivers.function_seconds=1"];
        let ran = repo.run(&[&quick[..], &["--format", "json"]].concat());
        let json = ran.code(if is_right { 0 } else { 11 }).json("drivers");
        let port = &json["ports"][0];
        let differs = if is_right { Value::Null } else { Value::from("callbacks") };
        assert_eq!(port["differs"].get("what").unwrap_or(&Value::Null), &differs, "{body}: {port:#}");
    }
}
