//! Which results are cached and which are computed again; and that the C compiler decides where libclang
//! disagrees with it.

use super::front_tests::{load, project};
use crate::symbol::*;
use camino::Utf8Path;
use std::os::unix::fs::PermissionsExt;

fn write(root: &Utf8Path, path: &str, text: &str) {
    fs_err::write(root.join(path), text).unwrap();
}

#[test]
fn only_what_an_edit_touches_is_read_again() {
    let (_dir, root) = project(&[
        ("a.c", "#include \"a.h\"\nint f(int x) { return x + A; }\n"),
        ("b.c", "#include \"b.h\"\nint f(int x);\nint g(int x) { return f(x) * B; }\n"),
        ("a.h", "#define A 1\n"),
        ("b.h", "#define B 1\n"),
    ]);
    let read = || {
        let analysis = load(&root, "gcc").unwrap();
        (analysis.read.iter().map(ToString::to_string).collect::<Vec<_>>(), analysis)
    };
    let (first, whole) = read();
    assert_eq!(first, ["a.c", "b.c"]);
    let (none, same) = read();
    assert_eq!(none, [] as [&str; 0]);
    assert_eq!((&same.library, &same.bindings.file), (&whole.library, &whole.bindings.file));
    assert_eq!(same.fingerprint, whole.fingerprint);
    assert_eq!(same.bindings.functions, whole.bindings.functions);

    write(&root, "b.c", "int f(int x);\nlong g(int x) { return f(x) * 2; }\n");
    let (edited, library) = read();
    assert_eq!(edited, ["b.c"]);
    assert_ne!(library.fingerprint, whole.fingerprint);
    assert_eq!(library.library.find("g").unwrap().ret.spelling, "long");
    assert!(library.bindings.file.contains("pub fn g(x: ::core::ffi::c_int) -> ::core::ffi::c_long"));
    assert_eq!(library.library.find("f"), whole.library.find("f"));

    write(&root, "a.h", "#define A 2\n");
    assert_eq!(read().0, ["a.c"]);
    write(&root, "b.h", "#define B 2\n");
    assert_eq!(read().0, [] as [&str; 0], "nothing includes it any longer");
    write(&root, "new.h", "");
    assert_eq!(read().0, ["a.c", "b.c"], "a header that appears may hide another one");
    fs_err::remove_file(root.join("b.c")).unwrap();
    let (gone, library) = read();
    assert_eq!((gone, library.library.functions.len()), (vec![], 1));
}

#[test]
fn a_unit_with_errors_is_tried_again_and_the_others_are_not() {
    let (_dir, root) = project(&[("a.c", "int f(void) { return 1; }\n"), ("b.c", "#include <none.h>\n")]);
    let first = load(&root, "gcc").unwrap();
    assert!(first.library.left_out[0].reason.contains("none.h"));
    let second = load(&root, "gcc").unwrap();
    assert_eq!(second.read, [RelPath("b.c".into())]);
    assert_eq!(second.library, first.library);
}

#[test]
fn a_header_that_only_the_compiler_reads_counts_too() {
    let c = "#ifndef __clang__\n#include \"g.h\"\n#else\nstruct s { int a; };\n#endif\n\
        int f(struct s *s) { return s->a; }\n";
    let (_dir, root) = project(&[("a.c", c), ("g.h", "struct s { int a; };\n")]);
    assert_eq!(load(&root, "gcc").unwrap().library.find("f").unwrap().unsupported, None);
    write(&root, "g.h", "struct s { char first; int a; };\n");
    let why = load(&root, "gcc").unwrap().library.find("f").unwrap().unsupported.clone();
    assert_eq!(why.as_deref(), Some("the C compiler and libclang disagree about the layout of struct s"));
}

#[test]
fn a_build_file_that_appears_or_changes_is_asked() {
    let (_dir, root) = project(&[
        ("a.c", "int f(void) { return N; }\n"),
        ("config.mak", "DEFS = -DN=1\n"),
        ("src/Makefile", "include ../config.mak\na.o: ../a.c\n\tcc $(DEFS) -c ../a.c\n"),
    ]);
    let flags = || load(&root, "gcc").unwrap().library.units[0].flags.clone();
    assert_eq!(flags(), ["-DN=1"]);
    write(&root, "config.mak", "DEFS = -DN=2\n");
    assert_eq!(flags(), ["-DN=2"]);
    write(&root, "Makefile", "a.o: a.c\n\tcc -DN=3 -c a.c\n");
    assert_eq!(flags(), ["-DN=3"]);
    write(
        &root,
        "compile_commands.json",
        &format!(r#"[{{"directory":"{root}","file":"a.c","command":"cc -DN=4 -c a.c"}}]"#),
    );
    assert_eq!(flags(), ["-DN=4"]);
}

/// A C compiler that is called with additional arguments.
fn compiler(root: &Utf8Path, arguments: &str) -> String {
    let path = root.join(".cc");
    write(root, ".cc", &format!("#!/bin/sh\nexec gcc {arguments} \"$@\"\n"));
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.into_string()
}

#[test]
fn a_static_that_only_libclang_sees_is_not_bound() {
    let c = "#ifdef ONLY_THE_COMPILER\n#define twice(x) ((x) * 2)\nint more(void) { return 7; }\n#else\n\
        static int twice(int x) { return x * 2; }\nint gone(void) { return 1; }\n#endif\n\
        int f(int x) { return twice(x); }\n";
    let (_dir, root) = project(&[("a.c", c)]);
    let cc = compiler(&root, "-DONLY_THE_COMPILER");
    let analysis = load(&root, &cc).unwrap();
    let why = |name: &str| analysis.library.find(name).unwrap().unsupported.clone();
    assert!(why("twice").unwrap().starts_with("the C compiler has no such static: "), "{:?}", why("twice"));
    assert_eq!(why("gone").unwrap(), "the C compiler emits no function for it");
    assert_eq!(why("f"), None);
    assert!(!analysis.bindings.file.contains("fn twice") && !analysis.bindings.file.contains("fn gone"));
    assert_eq!(analysis.library.alias_lines[&RelPath("a.c".into())], [] as [String; 0]);
    let gap = &analysis.library.gaps[0];
    assert_eq!(gap.what, "more");
    assert!(gap.reason.contains("libclang does not see"), "{gap:?}");
}

#[test]
fn a_record_that_the_compiler_lays_out_otherwise_is_in_no_binding() {
    let c = "struct odd { char a; int b; };\nstruct holder { struct odd *inner; };\n\
        struct even { int a, b; };\n\
        int f(struct holder *h) { return h->inner->b; }\nint g(struct even *e) { return e->b; }\n\
        struct odd table[2];\n";
    let (_dir, root) = project(&[("a.c", c)]);
    let fine = load(&root, "gcc").unwrap();
    assert_eq!(fine.library.gaps, []);
    let lines = &fine.library.alias_lines[&RelPath("a.c".into())];
    let odd = "_Static_assert(sizeof(struct odd) == 8 && __alignof__(struct odd) == 4 \
        && __builtin_offsetof(struct odd, a) == 0 && __builtin_offsetof(struct odd, b) == 4, \"layout of struct odd\");";
    assert!(lines.iter().any(|line| line == odd), "{lines:?}");

    fs_err::remove_dir_all(root.join(".implfuzz")).unwrap();
    let packed = load(&root, &compiler(&root, "-fpack-struct")).unwrap();
    let reason = "the C compiler and libclang disagree about the layout of struct odd";
    let holder = "the C compiler and libclang disagree about the layout of struct holder";
    assert_eq!(packed.library.find("f").unwrap().unsupported.as_deref(), Some(holder));
    assert_eq!(packed.library.globals[0].unsupported.as_deref(), Some(reason));
    assert!(!packed.bindings.file.contains("fn f(") && !packed.bindings.file.contains("static mut table"));
    assert_eq!(packed.library.gaps.iter().filter(|gap| gap.what == "struct odd").count(), 1);
}

#[test]
fn a_unit_that_the_compiler_refuses_is_left_out_with_its_words() {
    let c = "#ifdef ONLY_THE_COMPILER\n#error not here\n#endif\nint f(void) { return 1; }\n";
    let (_dir, root) = project(&[("a.c", c), ("b.c", "int g(void) { return 2; }\n")]);
    let analysis = load(&root, &compiler(&root, "-DONLY_THE_COMPILER")).unwrap();
    assert!(analysis.library.find("f").is_none() && analysis.library.find("g").is_some());
    let left = &analysis.library.left_out[0];
    assert!(left.file.0 == "a.c" && left.reason.contains("#error not here"), "{left:?}");
}

#[test]
fn types_and_macros_are_symbols_with_their_places() {
    let h = "/* A point. */\ntypedef struct point { int x; struct inner { int z; } in; } point;\n\
        typedef struct { int a; } plain;\ntypedef struct point *handle;\ntypedef unsigned int u32;\n\
        enum color { RED, BLUE };\nenum { FIRST = 1 };\nstruct hidden;\nunion either { int i; float f; };\n\
        /* How many. */\n#define COUNT 3\n#define MAX(a, b) ((a) > (b) ? (a) : (b))\n";
    let c = "#include \"t.h\"\nstruct hidden *make(void) { return 0; }\n";
    let (_dir, root) =
        project(&[("a.c", c), ("b.c", "#include \"t.h\"\nint g(void) { return COUNT; }\n"), ("t.h", h)]);
    let library = load(&root, "gcc").unwrap().library;
    let types: Vec<(&str, TypeForm)> = library.types.iter().map(|t| (t.name.as_str(), t.form)).collect();
    assert_eq!(
        types,
        [
            ("point", TypeForm::Struct),
            ("inner", TypeForm::Struct),
            ("plain", TypeForm::Struct),
            ("handle", TypeForm::Typedef),
            ("u32", TypeForm::Typedef),
            ("color", TypeForm::Enum),
            ("enum { FIRST, … }", TypeForm::Enum),
            ("hidden", TypeForm::Struct),
            ("either", TypeForm::Union),
        ]
    );
    let point = &library.types[0];
    assert_eq!((point.comment.as_str(), point.place.line), ("/* A point. */", 2));
    assert_eq!(point.text, "struct point { int x; struct inner { int z; } in; }");
    assert!(point.key.0.ends_with("@t.h"));
    assert!(!library.types[7].complete);
    let macros: Vec<(&str, &str)> =
        library.macros.iter().map(|m| (m.name.as_str(), m.comment.as_str())).collect();
    assert_eq!(macros, [("COUNT", "/* How many. */"), ("MAX", "")]);
    assert_eq!(library.macros[0].place.line, 11);
}

#[test]
fn a_text_with_other_macros_in_another_unit_is_not_bound_and_nor_is_what_calls_it_there() {
    let h = "static int hs(int x) { return x + STEP; }\nstatic int top(int x) { return hs(x) * 2; }\n";
    let (_dir, root) = project(&[
        ("s.h", h),
        ("a.c", "#define STEP 1\n#include \"s.h\"\nint a(int x) { return top(x); }\n"),
        ("b.c", "#define STEP 100\n#include \"s.h\"\nint b(int x) { return top(x); }\n"),
    ]);
    let analysis = load(&root, "gcc").unwrap();
    for name in ["hs", "top"] {
        let why = analysis.library.find(name).unwrap().unsupported.clone().unwrap_or_default();
        assert!(why.contains("different meanings in a.c and b.c"), "{name}: {why}");
        assert!(!analysis.bindings.file.contains(&format!("fn {name}(")));
    }
    assert_eq!(analysis.library.find("b").unwrap().unsupported, None);
}

#[test]
fn names_and_records_that_rust_cannot_have_are_refused_one_by_one() {
    let c = "typedef struct { int x; } *ptr_t; int by_pointer(ptr_t p) { return p->x; }\n\
        int dollar$(int a$b) { return a$b; }\nint param(int a$b) { return a$b; }\n\
        struct s$t { int a$b; }; int field(struct s$t *p) { return p->a$b; }\nint na\u{ef}ve(int x) { return x; }\n\
        struct __attribute__((packed, aligned(4))) odd { char c; int i; }; int of_odd(struct odd a) { return a.i; }\n";
    let (_dir, root) = project(&[("a.c", c)]);
    let analysis = load(&root, "gcc").unwrap();
    let why = |name: &str| analysis.library.find(&format!("a.c:{name}")).unwrap().unsupported.clone();
    for name in ["dollar$", "na\u{ef}ve"] {
        assert_eq!(why(name).as_deref(), Some("its name cannot be linked from Rust"));
    }
    assert!(why("of_odd").unwrap().contains("odd, which Rust cannot lay out"), "{:?}", why("of_odd"));
    assert_eq!((why("param"), why("by_pointer")), (None, None));
    assert_eq!(analysis.library.find("param").unwrap().params[0].name, "arg0");
    assert!(!analysis.bindings.file.contains('$') && analysis.bindings.file.is_ascii());
}
