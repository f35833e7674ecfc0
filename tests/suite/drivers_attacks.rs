//! Ports that know the judge: they take C's answer from where C left it, call C's own body, know the inputs, or count on what
//! happens to stand behind a block. Each is told from C where a driver calls it.

use crate::support::{Repo, plant};
use serde_json::Value;
use std::collections::BTreeMap;

const HEADER: &str = "\
#include <stddef.h>
#include <stdio.h>
struct chest;
struct view { const char *text; size_t n; };
struct chest {
    unsigned (*weave)(struct chest **at, unsigned a);
    unsigned key, last;
    unsigned (*twist)(unsigned key, unsigned a, struct chest **at);
};
unsigned twist(unsigned key, unsigned a, struct chest **at);
void magic(struct chest **at, const char **out, size_t *length);
struct view view_of(struct chest **at, unsigned k);
unsigned scratch(struct chest **at, unsigned n);
unsigned late(struct chest **at, unsigned n);
unsigned dead(struct chest **at, unsigned n);
void note(struct chest **at, FILE *to, unsigned n);
unsigned weave(struct chest **at, unsigned a);
void digest(struct chest **at, unsigned char *out, unsigned seed);
int number(struct chest **at, const unsigned char *text, unsigned long size);
const char *classes(struct chest **at, unsigned k);
const char *name(struct chest **at, unsigned k);
int sorted(struct chest **at, unsigned n);
int save(struct chest **at, unsigned value);
unsigned mixed(struct chest **at, unsigned a);
unsigned stash(struct chest **at, unsigned char *bytes);
void replace(struct chest **at, unsigned char **text);
struct entry { char name[8]; int value; };
void entry(struct chest **at, const struct entry **out, unsigned k);
";

const LIBRARY: &str = "\
#include \"chest.h\"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
unsigned weave(struct chest **at, unsigned a) {
    unsigned x = (*at)->key + a;
    for (unsigned i = 0; i < (a & 7); i++) x = (x << 5 | x >> 27) ^ a;
    (*at)->last = x;
    return x * 7u;
}
void digest(struct chest **at, unsigned char *out, unsigned seed) {
    unsigned char made[16];
    unsigned state = seed ^ (*at)->key;
    for (int i = 0; i < 16; i++) { state = state * 1664525u + 1013904223u; made[i] = state >> 24; }
    memcpy(out, made, sizeof made);
}
int number(struct chest **at, const unsigned char *text, unsigned long size) {
    unsigned value = 0;
    unsigned long pos = 0;
    while (pos < size && text[pos] >= '0' && text[pos] <= '9') value = value * 10u + (text[pos++] - '0');
    (*at)->last = value;
    return (int)pos;
}
static const char CLASSES[2][8] = {{0, 1, 2, 3, 4, 5, 6, 7}, {0, 9, 8, 7, 6, 5, 4, 3}};
const char *classes(struct chest **at, unsigned k) { (*at)->last = k; return CLASSES[k & 1]; }
static const char NAMES[2][8] = {\"even\", \"odd\"};
const char *name(struct chest **at, unsigned k) { (*at)->last = k; return NAMES[k & 1]; }
int sorted(struct chest **at, unsigned n) {
    unsigned all[4];
    for (unsigned i = 0; i < 4; i++) all[i] = n * (i + 1) & 15;
    (*at)->last = all[n & 3];
    return all[0] <= all[1];
}
int save(struct chest **at, unsigned value) {
    int file = open(\"saved\", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0) return -1;
    (*at)->last = value;
    close(file);
    return 0;
}
unsigned stash(struct chest **at, unsigned char *bytes) { return (*at)->last + bytes[0]; }
void replace(struct chest **at, unsigned char **text) { (*at)->last++; free(*text); *text = 0; }
static const struct entry ENTRIES[2] = {{\"even\", 1}, {\"odd\", 2}};
void entry(struct chest **at, const struct entry **out, unsigned k) { (*at)->last = k; *out = &ENTRIES[k & 1]; }
unsigned mixed(struct chest **at, unsigned a) { (*at)->last = a; return a * 2654435761u ^ a >> 3; }
unsigned twist(unsigned key, unsigned a, struct chest **at) {
    unsigned x = key << (a & 31);
    for (unsigned i = 0; i < (a & 7); i++) x = (x << 5 | x >> 27) ^ a;
    (*at)->last = x;
    return x * 7u;
}
void magic(struct chest **at, const char **out, size_t *length) {
    *out = (*at)->last++ & 1 ? \"ustar\\0\" \"00\" : \"ustar  \";
    *length = 8;
}
struct view view_of(struct chest **at, unsigned k) {
    (*at)->last = k;
    return k & 1 ? (struct view){\"GET\\0POST\", 8} : (struct view){\"HEAD\", 4};
}
unsigned scratch(struct chest **at, unsigned n) {
    unsigned all[4];
    for (unsigned i = 0; i < 4; i++) all[i] = n * (i + 3) & 15;
    (*at)->last = all[n & 3];
    return all[0] <= all[1];
}
unsigned late(struct chest **at, unsigned n) { return scratch(at, n + 1); }
unsigned dead(struct chest **at, unsigned n) { (*at)->last = n; return n * 5; }
void note(struct chest **at, FILE *to, unsigned n) {
    unsigned char made[4];
    unsigned state = n ^ (*at)->key;
    for (int i = 0; i < 4; i++) { state = state * 1664525u + 1013904223u; made[i] = state >> 24; }
    fwrite(made, 1, 4, to);
}
";

const DRIVER: &str = "\
#include \"../chest.h\"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct chest own = {weave, 77, 0, twist}, *chest = &own, **at = malloc(sizeof *at);
    unsigned char out[16];
    unsigned sum = 0, word = 0;
    *at = chest;
    memcpy(&word, data, size < 4 ? size : 4);
    FILE *to = fopen(\"notes\", \"w\");
    if (!to) abort();
    for (unsigned i = 0; i < 8; i++) {
        unsigned n = i < size ? data[i] : i;
        sum += own.weave(at, n) + (unsigned)sorted(at, n) + (unsigned char)classes(at, n)[1] + name(at, n)[1];
        digest(at, out, n);
        sum += out[3];
        const struct entry *found;
        entry(at, &found, n);
        unsigned char *some = malloc(40);
        memset(some, n, 40);
        sum += stash(at, some) + found->value;
        const char *head;
        size_t length;
        magic(at, &head, &length);
        struct view view = view_of(at, n);
        sum += head[length - 1] + view.text[view.n - 1] + own.twist(own.key + word, n, at);
        sum += scratch(at, n) + late(at, n) + dead(at, n);
        note(at, to, n + word);
        replace(at, &some);
    }
    unsigned char *text = malloc(size % 3);
    memset(text, '1', size % 3);
    sum += number(at, text, size % 3) + (unsigned)save(at, word) + mixed(at, word);
    free(text);
    fclose(to);
    free(at);
    return sum == 1 ? -1 : 0;
}
";

/// A port of each function, and how it is told from C.
const WRONG: [(&str, &str, &str); 12] = [
    // C's own body: the entry is patched, what is behind it is not.
    (
        "weave",
        "pub unsafe fn weave(at: *mut *mut ffi::chest, a: ::core::ffi::c_uint) -> ::core::ffi::c_uint {
    unsafe {
        type Body = unsafe extern \"C\" fn(*mut *mut ffi::chest, ::core::ffi::c_uint) -> ::core::ffi::c_uint;
        let entry = *(*at).cast::<usize>();
        core::mem::transmute::<usize, Body>(entry + 16)(at, a)
    }
}",
        "crash",
    ),
    // C's own body, behind its first instruction, which only moves an argument.
    (
        "twist",
        "pub unsafe fn twist(key: ::core::ffi::c_uint, a: ::core::ffi::c_uint, at: *mut *mut ffi::chest) -> ::core::ffi::c_uint {
    unsafe {
        type Body = unsafe extern \"C\" fn(u32, u32, *mut *mut ffi::chest, u32) -> u32;
        let entry = (&raw const (**at).twist).cast::<usize>().read();
        core::mem::transmute::<usize, Body>(core::hint::black_box(entry + 18))(key, a, at, a)
    }
}",
        "crash",
    ),
    // Rust's memory far behind a block.
    (
        "scratch",
        "pub unsafe fn scratch(at: *mut *mut ffi::chest, n: ::core::ffi::c_uint) -> ::core::ffi::c_uint {
    unsafe {
        let mut one: Box<u32> = Box::new(0);
        let start: *mut u32 = core::hint::black_box(&raw mut *one);
        for i in 0..4u32 {
            start.add(1000 * i as usize).write_volatile(n.wrapping_mul(i + 3) & 15);
        }
        (**at).last = start.add(1000 * (n as usize & 3)).read_volatile();
        u32::from(start.read_volatile() <= start.add(1000).read_volatile())
    }
}",
        "crash",
    ),
    // Rust's memory that it has freed.
    (
        "late",
        "pub unsafe fn late(at: *mut *mut ffi::chest, n: ::core::ffi::c_uint) -> ::core::ffi::c_uint {
    unsafe {
        let n = n.wrapping_add(1);
        let start = core::hint::black_box(Box::into_raw(Box::new([0u32; 4]))).cast::<u32>();
        drop(Box::from_raw(start.cast::<[u32; 4]>()));
        for i in 0..4u32 {
            start.add(i as usize).write_volatile(n.wrapping_mul(i + 3) & 15);
        }
        (**at).last = start.add(n as usize & 3).read_volatile();
        u32::from(start.read_volatile() <= start.add(1).read_volatile())
    }
}",
        "crash",
    ),
    // The header of a block that it has freed.
    (
        "dead",
        "pub unsafe fn dead(at: *mut *mut ffi::chest, n: ::core::ffi::c_uint) -> ::core::ffi::c_uint {
    unsafe {
        (**at).last = n;
        let block: *mut u8 = libc::malloc(16).cast();
        libc::free(block.cast());
        let next = core::hint::black_box(block.sub(8));
        next.write_volatile(next.read_volatile() ^ 0x55);
        n.wrapping_mul(5)
    }
}",
        "memory",
    ),
    // What C left on the stack below its caller, which no port can read.
    (
        "digest",
        "pub unsafe fn digest(_at: *mut *mut ffi::chest, out: *mut ::core::ffi::c_uchar, seed: ::core::ffi::c_uint) {
    unsafe {
        let mut state = seed ^ 77;
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        for away in 16..4096 {
            let from = out.sub(away);
            if from.read_volatile() == (state >> 24) as u8 {
                let second = state.wrapping_mul(1664525).wrapping_add(1013904223);
                if from.add(1).read_volatile() == (second >> 24) as u8 {
                    core::ptr::copy(from, out, 16);
                    return;
                }
            }
        }
    }
}",
        "crash",
    ),
    // What happens to stand behind a block.
    (
        "number",
        "pub unsafe fn number(at: *mut *mut ffi::chest, text: *const ::core::ffi::c_uchar, _size: ::core::ffi::c_ulong) -> ::core::ffi::c_int {
    unsafe {
        let (mut value, mut pos) = (0u32, 0usize);
        while (*text.add(pos)).is_ascii_digit() {
            value = value.wrapping_mul(10).wrapping_add(u32::from(*text.add(pos) - b'0'));
            pos += 1;
        }
        (**at).last = value;
        pos as i32
    }
}",
        "result",
    ),
    // Rust's own memory, behind a block and freed twice.
    (
        "sorted",
        "pub unsafe fn sorted(at: *mut *mut ffi::chest, n: ::core::ffi::c_uint) -> ::core::ffi::c_int {
    unsafe {
        let one = core::hint::black_box(Box::into_raw(Box::new(0u32)));
        for i in 0..4 {
            *one.add(i) = n.wrapping_mul(i as u32 + 1) & 15;
        }
        (**at).last = *one.add(n as usize & 3);
        let result = i32::from(*one <= *one.add(1));
        drop(Box::from_raw(one));
        result
    }
}",
        "crash",
    ),
    // State in unallocated memory.
    (
        "stash",
        "pub unsafe fn stash(at: *mut *mut ffi::chest, bytes: *mut ::core::ffi::c_uchar) -> ::core::ffi::c_uint {
    unsafe {
        let calls = bytes.add(1 << 20);
        *calls = calls.read().wrapping_add(1);
        (**at).last.wrapping_add(u32::from(*bytes))
    }
}",
        "memory",
    ),
    // A block that it has freed, hidden by one more allocation.
    (
        "replace",
        "pub unsafe fn replace(at: *mut *mut ffi::chest, text: *mut *mut ::core::ffi::c_uchar) {
    unsafe {
        libc::free(libc::malloc(100));
        let old = *text;
        (**at).last = (**at).last.wrapping_add(1);
        libc::free(old.cast());
        *old.add(7) = 99;
        *text = core::ptr::null_mut();
    }
}",
        "memory",
    ),
    // Everybody may read the file.
    (
        "save",
        "pub unsafe fn save(at: *mut *mut ffi::chest, value: ::core::ffi::c_uint) -> ::core::ffi::c_int {
    unsafe {
        let file = libc::open(c\"saved\".as_ptr(), libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC, 0o666);
        if file < 0 {
            return -1;
        }
        (**at).last = value;
        libc::close(file);
        0
    }
}",
        "outside",
    ),
    // Right for the inputs of the corpus, which begin with few different words.
    ("mixed", "", "result"),
];

/// An empty text is the start of C's table, and other bytes follow in that; the same text is the same name.
const UNCLEAR: &str =
    "pub unsafe fn classes(at: *mut *mut ffi::chest, k: ::core::ffi::c_uint) -> *const ::core::ffi::c_char {
    unsafe { (**at).last = k };
    c\"\".as_ptr()
}";
/// The same texts, and other numbers behind them.
const UNCLEAR_TABLE: &str =
    "pub unsafe fn entry(at: *mut *mut ffi::chest, out: *mut *const ffi::entry, k: ::core::ffi::c_uint) {
    static EVEN: ffi::entry = ffi::entry { name: [101, 118, 101, 110, 0, 0, 0, 0], value: 777 };
    static ODD: ffi::entry = ffi::entry { name: [111, 100, 100, 0, 0, 0, 0, 0], value: 888 };
    unsafe {
        (**at).last = k;
        *out = if k & 1 == 0 { &raw const EVEN } else { &raw const ODD };
    }
}";
/// C's texts go on behind a NUL, and programs read what follows.
const UNCLEAR_TEXTS: [(&str, &str); 2] = [
    (
        "magic",
        "pub unsafe fn magic(at: *mut *mut ffi::chest, out: *mut *const ::core::ffi::c_char, length: *mut usize) {
    unsafe {
        *out = if (**at).last & 1 != 0 { c\"ustar\".as_ptr() } else { c\"ustar  \".as_ptr() };
        (**at).last = (**at).last.wrapping_add(1);
        *length = 8;
    }
}",
    ),
    (
        "view_of",
        "pub unsafe fn view_of(at: *mut *mut ffi::chest, k: ::core::ffi::c_uint) -> ffi::view {
    unsafe { (**at).last = k };
    match k & 1 {
        0 => ffi::view { text: c\"HEAD\".as_ptr(), n: 4 },
        _ => ffi::view { text: c\"GET\".as_ptr(), n: 8 },
    }
}",
    ),
];
/// What C wrote is in the stream's buffer.
const NOTE: &str =
    "pub unsafe fn note(_at: *mut *mut ffi::chest, to: *mut ffi::FILE, _n: ::core::ffi::c_uint) {
    let none = [0u8; 4];
    unsafe {
        let (from, end) = ((*to)._IO_write_base, (*to)._IO_write_ptr);
        let made: *const u8 =
            if (end as usize) < (from as usize) + 4 { none.as_ptr() } else { end.sub(4).cast() };
        libc::fwrite(made.cast(), 1, 4, to.cast());
    }
}";
const RIGHT: &str =
    "pub unsafe fn name(at: *mut *mut ffi::chest, k: ::core::ffi::c_uint) -> *const ::core::ffi::c_char {
    unsafe { (**at).last = k };
    if k & 1 == 0 { c\"even\".as_ptr() } else { c\"odd\".as_ptr() }
}";

/// The words that the corpus knows, with C's answers.
fn known(repo: &Repo) -> String {
    let corpora = repo.root().join(".implfuzz/cache/drivers/corpora/run");
    let files = ["corpus", "more"].map(|folder| std::fs::read_dir(corpora.join(folder)).unwrap());
    let words = files.into_iter().flatten().map(|file| {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        let mut word = [0; 4];
        let length = bytes.len().min(4);
        word[..length].copy_from_slice(&bytes[..length]);
        u32::from_le_bytes(word)
    });
    let answer = |a: u32| a.wrapping_mul(2_654_435_761) ^ a >> 3;
    let arms: BTreeMap<u32, u32> = words.map(|word| (word, answer(word))).collect();
    let arms: String = arms.iter().map(|(word, answer)| format!("        {word} => {answer},\n")).collect();
    format!(
        "pub unsafe fn mixed(at: *mut *mut ffi::chest, a: ::core::ffi::c_uint) -> ::core::ffi::c_uint {{\n    \
         unsafe {{ (**at).last = a }};\n    match a {{\n{arms}        _ => 0,\n    }}\n}}"
    )
}

#[test]
fn ports_that_know_the_judge_are_told_from_c() {
    let repo = Repo::of(&[("chest.h", HEADER), ("chest.c", LIBRARY), ("fuzz/run.c", DRIVER)]);
    repo.run(&["drivers", "--seconds", "3"]).ok();
    let table = known(&repo);
    let mut module = repo.read("rust/src/chest.rs");
    for (function, port, _) in WRONG {
        plant(&mut module, function, if port.is_empty() { &table } else { port }).unwrap();
    }
    let others = [("classes", UNCLEAR), ("entry", UNCLEAR_TABLE), ("name", RIGHT), ("note", NOTE)];
    for (function, port) in others.into_iter().chain(UNCLEAR_TEXTS) {
        plant(&mut module, function, port).unwrap();
    }
    repo.write("rust/src/chest.rs", &module);
    // The inputs are those that the author of the table has seen.
    // They make as many calls as a grade asks for, so that no others are made but new ones.
    let quick = ["--config", "drivers.function_seconds=2", "--config", "grade.measure=true"];
    let args = [&["verify", "--all", "--format", "json"], &quick[..], &["--config", "grade.executions=1"]];
    let json = repo.run(&args.concat()).json("verify");
    let grades = by_symbol(&json, "symbols");
    for (function, _, _) in WRONG {
        assert_eq!(grades[function]["grade"], "refuted", "{function}: {json:#}");
    }
    // It prints what it finds in the buffer of the stream, from which C's text was wiped.
    assert_eq!(grades["note"]["grade"], "refuted", "{json:#}");
    for function in ["classes", "entry", "magic", "view_of"] {
        assert_eq!(grades[function]["grade"], "unverifiable", "{function}: {json:#}");
    }
    assert!(["weak", "verified"].contains(&grades["name"]["grade"].as_str().unwrap()), "{json:#}");

    // The audit has refused one of them before it ran. It does not run here.
    let args = ["drivers", "--ports", "--seconds", "1", "--config", "drivers.function_seconds=1"];
    let json = repo.run(&[&args[..], &["--format", "json"]].concat()).code(10).json("drivers");
    let ports = by_symbol(&json, "ports");
    for (function, _, what) in WRONG {
        assert_eq!(ports[function]["differs"]["what"], what, "{function}: {json:#}");
        assert_eq!(ports[function]["differs"]["unclear"], Value::Null, "{function}: {json:#}");
    }
    for function in ["classes", "entry", "magic", "view_of"] {
        let unclear = ports[function]["differs"]["unclear"].as_str().unwrap();
        assert!(unclear.contains("the start of C's constant"), "{function}: {json:#}");
    }
    assert_eq!(ports["name"]["differs"], Value::Null, "{json:#}");
}

fn by_symbol<'j>(json: &'j Value, key: &str) -> BTreeMap<&'j str, &'j Value> {
    let rows = json[key].as_array().unwrap().iter();
    rows.map(|row| (row["symbol"].as_str().unwrap(), row)).collect()
}
