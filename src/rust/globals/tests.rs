use super::*;
use crate::c::data::tests::of_unit;
use crate::platform::process::{Interrupt, Job};
use crate::symbol::{CType, Field, Linkage, Record, RelPath, SourceRange, SymbolName, TypeKind, Unit};
use camino::Utf8Path;

fn ty(spelling: &str, kind: TypeKind) -> CType {
    CType { spelling: spelling.into(), is_const: spelling.starts_with("const "), kind }
}

fn int(spelling: &str) -> CType {
    let (bits, signed) = match spelling.trim_start_matches("const ") {
        "char" => return ty(spelling, TypeKind::Int { signed: true, bits: 8, plain_char: true }),
        "uint8_t" => (8, false),
        "short" => (16, true),
        "int" => (32, true),
        "uint32_t" => (32, false),
        "long" => (64, true),
        "size_t" => (64, false),
        other => panic!("{other}"),
    };
    ty(spelling, TypeKind::Int { signed, bits, plain_char: false })
}

fn array(of: CType, len: u64) -> CType {
    ty("array", TypeKind::Array { of: Box::new(of), len: Some(len) })
}

fn pointer(spelling: &str, to: CType) -> CType {
    // A leading `const` belongs to the target type.
    CType { is_const: false, ..ty(spelling, TypeKind::Pointer(Box::new(to))) }
}

fn text() -> CType {
    pointer("const char *", int("const char"))
}

fn float(spelling: &str, bits: u16) -> CType {
    ty(spelling, TypeKind::Float { bits })
}

fn record(name: &str, size: u64, fields: &[(&str, CType)]) -> (String, Record) {
    let fields = fields.iter().map(|(name, ty)| Field {
        name: (*name).into(),
        ty: ty.clone(),
        bits: None,
        offset: None,
    });
    let record = Record {
        rust_name: name.into(),
        c_name: String::new(),
        is_union: false,
        complete: true,
        opaque: false,
        size,
        align: 1,
        fields: fields.collect(),
    };
    (name.into(), record)
}

fn named(name: &str) -> CType {
    ty(name, TypeKind::Record(name.into()))
}

/// A library of one file with these globals: static and constant unless the name begins with `mut `.
fn library(globals: Vec<(&str, CType)>, records: Vec<(String, Record)>) -> Library {
    let globals = globals.into_iter().enumerate().map(|(at, (name, ty))| {
        let c_name = name.trim_start_matches("mut ");
        Global {
            key: SymbolKey(c_name.into()),
            name: SymbolName::new(c_name),
            c_name: c_name.into(),
            module: "a".into(),
            place: SourceRange {
                file: RelPath("src/a.c".into()),
                start: 0,
                end: 0,
                line: at as u32 + 1,
                end_line: 1,
            },
            linkage: Linkage::Static,
            ty,
            is_const: c_name == name,
            is_thread_local: false,
            never_written: false,
            is_in_each_unit: false,
            local_to: None,
            unsupported: None,
        }
    });
    let unit = Unit { file: RelPath("src/a.c".into()), module: "a".into(), flags: vec![] };
    Library {
        units: vec![unit],
        globals: globals.collect(),
        records: records.into_iter().collect(),
        ..Library::default()
    }
}

/// The `globals.rs` for this C text.
fn emitted(dir: &Utf8Path, c: &str, library: &Library) -> (String, BTreeMap<String, String>) {
    fs_err::create_dir_all(dir.join("src")).unwrap();
    fs_err::write(dir.join("src/a.c"), c).unwrap();
    let data = of_unit("gcc", dir, &library.units[0], &library.globals);
    let (text, missing) = globals_file(library, &data);
    (text, missing.into_iter().map(|(key, why)| (key.0, why)).collect())
}

fn rustc(dir: &Utf8Path, main: &str, arguments: &[&str]) {
    fs_err::write(dir.join("main.rs"), main).unwrap();
    let job = Job::new("rustc").dir(dir.as_std_path()).args(["--edition", "2024", "-Dwarnings", "main.rs"]);
    let output = job.args(arguments).run(&Interrupt::none()).unwrap();
    assert!(output.exit.success(), "{}", output.stderr_text());
}

#[test]
fn rust_has_the_values_of_c_byte_for_byte() {
    let c = "#include <stdint.h>\n#include <stddef.h>\n#include <stdbool.h>\n#include <math.h>\n\
        struct pair { char tag; int value; short type; };\n\
        struct outer { uint8_t head[3]; struct pair in[2]; double ratio; };\n\
        enum color { RED = -1, BLUE = 2 };\n\
        static const uint32_t crc[256] = { 1, 0xfffffffe, [255] = 77 };\n\
        static const int grid[2][3] = { { 1, -2, 3 }, { -4, 5, -2147483647 - 1 } };\n\
        static const long extremes[2] = { -9223372036854775807L - 1, 9223372036854775807L };\n\
        static const char digits[] = \"0123\\\"x\";\n\
        static uint8_t scratch[5000];\n\
        static const double reals[] = { 0.1, -0.0, INFINITY, 5e-324, NAN, 1e300 };\n\
        static const float small[] = { 0.1f, 16777217.0f, -INFINITY };\n\
        static const bool flags[] = { true, false };\n\
        static const enum color colors[] = { BLUE, RED };\n\
        static const size_t sizes[] = { 1, SIZE_MAX };\n\
        static const struct outer table[2] = { { { 1, 2 }, { { 'a', -7, 9 } }, 2.5 }, { .ratio = -1 } };\n\
        static const struct pair same[20];\n\
        static const uint8_t zero_grid[20][30];\n";
    let color = TypeKind::Enum { name: "color".into(), signed: true, bits: 32, values: vec![] };
    let pair = record("pair", 12, &[("tag", int("char")), ("value", int("int")), ("type", int("short"))]);
    let head = array(int("uint8_t"), 3);
    let outer = record(
        "outer",
        40,
        &[("head", head), ("in", array(named("pair"), 2)), ("ratio", float("double", 64))],
    );
    let open = ty("char[]", TypeKind::Array { of: Box::new(int("const char")), len: None });
    let globals = vec![
        ("crc", array(int("uint32_t"), 256)),
        ("grid", array(array(int("int"), 3), 2)),
        ("extremes", array(int("long"), 2)),
        ("digits", open),
        ("mut scratch", array(int("uint8_t"), 5000)),
        ("reals", array(float("double", 64), 6)),
        ("small", array(float("float", 32), 3)),
        ("flags", array(ty("bool", TypeKind::Bool), 2)),
        ("colors", array(ty("enum color", color), 2)),
        ("sizes", array(int("const size_t"), 2)),
        ("table", array(named("outer"), 2)),
        ("same", array(named("pair"), 20)),
        ("zero_grid", array(array(int("uint8_t"), 30), 20)),
    ];
    let names: Vec<&str> = globals.iter().map(|(name, _)| name.trim_start_matches("mut ")).collect();
    let library = library(globals.clone(), vec![pair, outer]);
    let dir = tempfile::tempdir().unwrap();
    let dir = Utf8Path::from_path(dir.path()).unwrap();
    let (text, missing) = emitted(dir, c, &library);
    assert_eq!(missing, BTreeMap::new(), "{text}");
    syn::parse_file(&text).unwrap();
    fs_err::write(dir.join("globals.rs"), &text).unwrap();

    // The Rust program writes the bytes of every static; the object file has C's. Padding is zero in both.
    let ffi = "pub mod ffi { #[repr(C)] pub struct pair { pub tag: core::ffi::c_char, pub value: i32, pub type_: i16 }
        #[repr(C)] pub struct outer { pub head: [u8; 3], pub in_: [pair; 2], pub ratio: f64 } }";
    let writes: String = names
        .iter()
        .map(|name| format!("show(core::ptr::addr_of!(globals::{name}) as *const u8, size_of_val(unsafe {{ &*core::ptr::addr_of!(globals::{name}) }}));\n"))
        .collect();
    let main = format!(
        "#![allow(non_camel_case_types)]\nmod globals;\n{ffi}\nfn show(start: *const u8, len: usize) {{\n\
         let bytes = unsafe {{ core::slice::from_raw_parts(start, len) }};\nprintln!(\"{{bytes:?}}\");\n}}\n\
         #[allow(unused_unsafe)]\nfn main() {{\n{writes}}}\n"
    );
    rustc(dir, &main, &["-o", "main"]);
    let output = Job::new(dir.join("main")).run(&Interrupt::none()).unwrap();
    let data = of_unit("gcc", dir, &library.units[0], &library.globals);
    let expected: Vec<String> =
        library.globals.iter().map(|g| format!("{:?}", data[&g.key].as_ref().unwrap().bytes)).collect();
    let got = output.stdout_text();
    let got: Vec<&str> = got.lines().collect();
    assert_eq!(got.len(), expected.len());
    for ((got, expected), name) in got.iter().zip(&expected).zip(names) {
        assert_eq!(got, expected, "{name}");
    }
}

#[test]
fn the_text_is_readable_and_says_where_it_comes_from() {
    let c = "static const unsigned table[16] = { 1, 2, 3, 0xedb88320 };\n\
        static const char *const names[] = { \"ok\", 0, \"no \\\"space\\\"\\n\" };\n\
        static int mode = -3;\nstatic const char hex[] = \"0123456789abcdef\";\n";
    let library = library(
        vec![
            ("table", array(int("uint32_t"), 16)),
            ("names", array(text(), 3)),
            ("mut mode", int("int")),
            ("hex", array(int("const char"), 17)),
        ],
        vec![],
    );
    let dir = tempfile::tempdir().unwrap();
    let dir = Utf8Path::from_path(dir.path()).unwrap();
    let (text, missing) = emitted(dir, c, &library);
    assert_eq!(missing, BTreeMap::new());
    let expected = r#"// Generated by cargo-implfuzz from the C sources; do not edit: it is written anew.
//! Globals and tables of the C library, with their initial values.

#![allow(clippy::all, non_upper_case_globals, non_camel_case_types, dead_code)]

/// `table` at src/a.c:1.
#[rustfmt::skip]
pub static table: [u32; 16] = [
    0x00000001, 0x00000002, 0x00000003, 0xedb88320, 0x00000000, 0x00000000, 0x00000000, 0x00000000,
    0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000, 0x00000000,
];

/// `names` at src/a.c:2.
/// C has pointers to `char` where this has optional strings; a null pointer is `None`.
#[rustfmt::skip]
pub static names: [Option<&'static core::ffi::CStr>; 3] = [
    Some(c"ok"), None, Some(c"no \"space\"\n"),
];

/// `mode` at src/a.c:3.
pub static mut mode: i32 = -3;

/// `hex` at src/a.c:4.
/// The text `"0123456789abcdef"`.
#[rustfmt::skip]
pub static hex: [core::ffi::c_char; 17] = [
    48, 49, 50, 51, 52, 53, 54, 55,
    56, 57, 97, 98, 99, 100, 101, 102,
    0,
];
"#;
    assert_eq!(text, expected);
    fs_err::write(dir.join("globals.rs"), &text).unwrap();
    rustc(dir, "pub mod globals;\npub mod ffi {}\n", &["--crate-type", "lib", "--emit", "metadata"]);
}

#[test]
fn a_constant_pointer_to_char_is_a_string_only_where_it_points_to_one() {
    let c = "static char buffer[4] = \"abc\";\nstatic char *const good[] = { \"x\" };\n\
        static char *const bad[] = { buffer };\nstatic char *open = \"y\";\n";
    let element = CType { is_const: true, ..pointer("char *const", int("char")) };
    let library = library(
        vec![
            ("good", array(element.clone(), 1)),
            ("bad", array(element, 1)),
            ("mut open", pointer("char *", int("char"))),
        ],
        vec![],
    );
    let dir = tempfile::tempdir().unwrap();
    let (text, missing) = emitted(Utf8Path::from_path(dir.path()).unwrap(), c, &library);
    assert_eq!(missing.keys().collect::<Vec<_>>(), ["bad"]);
    assert!(text.contains("[Some(c\"x\")];"), "{text}");
    assert!(
        text.contains("pub static mut open: *mut core::ffi::c_char = c\"y\".as_ptr().cast_mut();"),
        "{text}"
    );
}

#[test]
fn a_struct_with_strings_gets_a_twin_that_has_them() {
    let c = "struct point { int x, y; };\nstruct entry { const char *name; struct point at; char type; };\n\
        struct group { struct entry entries[2]; };\n\
        static const struct group groups[1] = { { { { \"one\", { 1, -2 }, 'a' }, { 0, { 3, 4 }, 'b' } } } };\n";
    let records = vec![
        record("point", 8, &[("x", int("int")), ("y", int("int"))]),
        record("entry", 24, &[("name", text()), ("at", named("point")), ("type", int("char"))]),
        record("group", 48, &[("entries", array(named("entry"), 2))]),
    ];
    let library = library(vec![("groups", array(named("group"), 1))], records);
    let dir = tempfile::tempdir().unwrap();
    let dir = Utf8Path::from_path(dir.path()).unwrap();
    let (text, missing) = emitted(dir, c, &library);
    assert_eq!(missing, BTreeMap::new());
    assert_eq!(text.matches("pub struct").count(), 2, "{text}");
    fs_err::write(dir.join("globals.rs"), &text).unwrap();
    let main = "mod globals;\npub mod ffi { #[derive(Debug, Clone, Copy)] #[allow(non_camel_case_types)]
        pub struct point { pub x: i32, pub y: i32 } }
        fn main() { for e in &globals::groups[0].entries { println!(\"{:?} {} {} {}\", e.name, e.at.x, e.at.y, e.type_); } }";
    rustc(dir, main, &["-o", "main"]);
    let output = Job::new(dir.join("main")).run(&Interrupt::none()).unwrap();
    assert_eq!(output.stdout_text(), "Some(\"one\") 1 -2 97\nNone 3 4 98\n", "{text}");
}

#[test]
fn what_rust_cannot_have_is_a_reason_and_spoils_no_other() {
    let c = "typedef struct { int a; } __attribute__((aligned(16))) wide;\n\
        typedef struct { char a; _Alignas(2) char b; int c; } shifted;\n\
        typedef struct { unsigned a : 3; } bits;\ntypedef union { int a; } either;\n\
        typedef struct { const char *name; void *data; } entry;\nstatic int f(void) { return 0; }\n\
        static int (*const call)(void) = f;\nstatic char buffer[4];\nstatic const char *cursor = buffer + 1;\n\
        static int *nothing;\nstatic const wide w = { 1 };\nstatic const shifted s = { 1, 2, 3 };\n\
        static const bits b = { 1 };\nstatic const either e = { 1 };\nstatic const entry n = { \"x\" };\n\
        static const int short_one[2];\nstatic const int fine = 1;\n\
        static _Thread_local int each;\nstatic const long address = (long)&fine;\n";
    let function =
        ty("int (void)", TypeKind::Function { params: vec![], ret: Box::new(int("int")), variadic: false });
    let mut bits = record("bits", 4, &[("a", int("uint32_t"))]);
    bits.1.fields[0].bits = Some(3);
    let mut either = record("either", 4, &[("a", int("int"))]);
    either.1.is_union = true;
    let records = vec![
        record("wide", 16, &[("a", int("int"))]),
        record("shifted", 8, &[("a", int("char")), ("b", int("char")), ("c", int("int"))]),
        bits,
        either,
        record("entry", 16, &[("name", text()), ("data", pointer("void *", ty("void", TypeKind::Void)))]),
    ];
    let mut library = library(
        vec![
            ("call", pointer("int (*)(void)", function)),
            ("mut cursor", text()),
            ("mut nothing", pointer("int *", int("int"))),
            ("w", named("wide")),
            ("s", named("shifted")),
            ("b", named("bits")),
            ("e", named("either")),
            ("n", named("entry")),
            ("short_one", array(int("int"), 3)),
            ("mut each", int("int")),
            ("address", int("long")),
            ("fine", int("int")),
        ],
        records,
    );
    library.globals.iter_mut().find(|g| g.c_name == "each").unwrap().is_thread_local = true;
    let dir = tempfile::tempdir().unwrap();
    let (text, missing) = emitted(Utf8Path::from_path(dir.path()).unwrap(), c, &library);
    let expected = [
        ("call", "a function pointer in it leads to f"),
        ("cursor", "a pointer in it points into buffer"),
        ("w", "wide has 16 bytes where its fields make 4: packed or aligned"),
        ("s", "the fields of shifted are not where the C rules put them"),
        ("b", "bits has bit-fields"),
        ("e", "either is a union"),
        ("n", "a pointer that is not a constant string (void *) (entry.data)"),
        ("short_one", "its type has 12 bytes and its value 8"),
        ("each", "thread-local"),
        ("address", "an integer in it holds an address"),
    ];
    let expected: BTreeMap<String, String> =
        expected.into_iter().map(|(name, why)| (name.into(), why.into())).collect();
    assert_eq!(missing, expected);
    assert!(text.ends_with("pub static fine: i32 = 1;\n"), "{text}");
}

#[test]
fn variables_that_lead_to_the_allocator_are_statics() {
    let c = "#include <stdlib.h>\ntypedef void *(*get_fn)(size_t);\nstatic get_fn get = malloc;\n\
        static void (*drop)(void *) = free;\nstatic struct hooks { get_fn get; void (*drop)(void *); int count; } hooks = { malloc, free, 3 };\n\
        static void (*line)(const char *) = 0;\nstatic unsigned (*odd)(void *) = (unsigned (*)(void *))free;\n";
    let function = |spelling: &str, params: Vec<CType>, ret: CType| {
        let kind = TypeKind::Function { params, ret: Box::new(ret), variadic: false };
        pointer(spelling, ty("function", kind))
    };
    let void = || ty("void", TypeKind::Void);
    let block = || pointer("void *", void());
    let get = || function("get_fn", vec![int("size_t")], block());
    let drop = || function("void (*)(void *)", vec![block()], void());
    let records = vec![record("hooks", 24, &[("get", get()), ("drop", drop()), ("count", int("int"))])];
    let library = library(
        vec![
            ("mut get", get()),
            ("mut drop", drop()),
            ("mut hooks", named("hooks")),
            ("mut line", function("void (*)(const char *)", vec![text()], void())),
            ("mut odd", function("unsigned (*)(void *)", vec![block()], int("uint32_t"))),
        ],
        records,
    );
    let dir = tempfile::tempdir().unwrap();
    let (text, missing) = emitted(Utf8Path::from_path(dir.path()).unwrap(), c, &library);
    for line in [
        "pub static mut get: Option<unsafe extern \"C\" fn(usize) -> *mut core::ffi::c_void> = Some(libc::malloc);",
        "pub static mut drop: Option<unsafe extern \"C\" fn(*mut core::ffi::c_void)> = Some(libc::free);",
        "pub static mut line: Option<unsafe extern \"C\" fn(*const core::ffi::c_char)> = None;",
    ] {
        assert!(text.replace("\n    ", " ").contains(line), "{line}: {text}");
    }
    assert_eq!(missing, BTreeMap::from([("odd".into(), "a function pointer in it leads to free".into())]));
    assert_eq!(replaceable(&text), ["free", "malloc"].map(str::to_owned).into());
}

#[test]
fn names_that_rust_keeps_for_itself_get_an_underscore() {
    assert_eq!(["match", "gen", "crc32", "a$b"].map(identifier), ["match_", "gen_", "crc32", "a_b"]);
}

mod pointers;
