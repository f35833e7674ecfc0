//! What the front end reads from small pieces of C.

use super::analysis_cache::Tools;
use super::build_system::{BuildSystems, Programs};
use super::flags::clang_arguments;
use super::front::{self, Analysis};
use super::source_discovery::{canonical, discover};
use super::{merge, parse_unit, porting_order, workers};
use crate::config;
use crate::platform::process::Interrupt;
use crate::platform::toolchain::BuildTool;
use crate::store::Store;
use crate::symbol::*;
use camino::{Utf8Path, Utf8PathBuf};
use strum::IntoEnumIterator;

/// A project on disk; dropping the value removes the folder.
pub(super) fn project(files: &[(&str, &str)]) -> (tempfile::TempDir, Utf8PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(dir.path()).unwrap().canonicalize_utf8().unwrap();
    for (path, text) in files {
        fs_err::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        fs_err::write(root.join(path), text).unwrap();
    }
    (dir, root)
}

fn programs(cc: &str) -> Programs {
    Programs {
        cc: cc.into(),
        build_tools: BuildTool::iter().map(|tool| (tool, tool.name().into())).collect(),
    }
}

/// The tools of this machine; they write into `scratch`.
pub(super) fn tools<'a>(scratch: &'a Utf8Path, interrupt: &'a Interrupt) -> BuildSystems<'a> {
    BuildSystems { programs: programs("cc"), scratch: scratch.as_std_path(), interrupt, identity: "" }
}

/// The library without its bindings, which take most of the time to make.
fn parsed(root: &Utf8Path) -> crate::error::Result<Library> {
    let interrupt = Interrupt::none();
    let root = canonical(root)?;
    let discovery = discover(&root, &config::C::default(), &tools(&root.join(".implfuzz"), &interrupt))?;
    let outcomes = workers::map(&discovery.units, |unit| {
        Ok(parse_unit::read(&root, &unit.file.0, &clang_arguments(&root, unit)))
    })?;
    let mut merged = merge::merge(discovery, outcomes);
    porting_order::order(&mut merged.library);
    Ok(merged.library)
}

pub(super) fn library(files: &[(&str, &str)]) -> Library {
    let (_dir, root) = project(files);
    parsed(&root).unwrap()
}

/// The library of these files after a full load, with no `.implfuzz` left.
pub(crate) fn loaded(files: &[(&str, &str)]) -> Library {
    let (_dir, root) = project(files);
    load(&root, "gcc").unwrap().library
}

/// A full load, with the cache of earlier calls in `.implfuzz`.
pub(super) fn load(root: &Utf8Path, cc: &str) -> crate::error::Result<Analysis> {
    load_into(root, &root.join(".implfuzz"), cc)
}

/// A full load as in a command, with its cache in `private`.
pub(crate) fn load_into(root: &Utf8Path, private: &Utf8Path, cc: &str) -> crate::error::Result<Analysis> {
    let mut store = Store::open(private.join("state.db").as_std_path()).unwrap();
    let interrupt = Interrupt::none();
    let programs = || Ok(programs(cc));
    let scratch = private.join("cache");
    let tools =
        Tools { identity: "", programs: &programs, scratch: scratch.as_std_path(), interrupt: &interrupt };
    front::load(root, &config::C::default(), tools, &mut store)
}

fn uses(library: &Library, function: &str, param: &str) -> Vec<UseKind> {
    let f = library.find(function).unwrap();
    let p = f.params.iter().find(|p| p.name == param).unwrap();
    p.uses.iter().map(|u| u.kind.clone()).collect()
}

pub(super) fn why(library: &Library, function: &str) -> String {
    library.find(function).unwrap().unsupported.clone().unwrap_or_default()
}

#[test]
fn what_is_asserted_is_no_check_for_null() {
    let text = "#include <assert.h>\n#include <stddef.h>\nint of(const int *p) { assert(p && \"given\"); return *p; }\n\
        int or_none(const int *p) { assert(sizeof *p == 4); return p ? *p : 0; }\n";
    let lib = library(&[("a.c", text)]);
    assert_eq!(uses(&lib, "of", "p"), [UseKind::Deref(Access::Read)]);
    assert_eq!(uses(&lib, "or_none", "p"), [UseKind::NullCheck, UseKind::Deref(Access::Read)]);
}

#[test]
fn uses_of_parameters() {
    let lib = library(&[(
        "a.c",
        "#include <stddef.h>\n#include <string.h>\n\
        struct s { int a; int arr[3]; };\n\
        int sum(const unsigned char *buf, size_t n, int *out) {\n\
          const unsigned char *p = buf; int t = 0;\n\
          if (!out || buf == NULL) return -1;\n\
          while (n--) t += *p++;\n\
          for (size_t i = 0; i < n; i++) t += buf[i];\n\
          t += buf[3]; t += *(buf + 2);\n\
          *out = t; return t; }\n\
        void set(struct s *s, void *raw, char *dst, const char *src) {\n\
          s->a = 1; s->arr[2] += 4; memset(s->arr, 0, sizeof s->arr);\n\
          unsigned char *b = raw; b[0] = 1;\n\
          memcpy(dst, (const void *)src, 5); }\n\
        int twice(int (*f)(int), int x) { x = f(x); return f(x); }\n",
    )]);
    let constant = |index: &str, n, access| UseKind::Index { index: index.into(), constant: Some(n), access };
    let p = uses(&lib, "sum", "buf");
    for expected in [
        UseKind::NullCheck,
        UseKind::Advance,
        UseKind::Deref(Access::Read),
        UseKind::Index { index: "i".into(), constant: None, access: Access::Read },
        constant("3", 3, Access::Read),
        constant("2", 2, Access::Read),
    ] {
        assert!(p.contains(&expected), "{expected:?} missing in {p:?}");
    }
    assert_eq!(p.len(), 6, "{p:?}");
    let n = uses(&lib, "sum", "n");
    assert_eq!(n, [UseKind::Advance, UseKind::Compare { op: ">".into(), with: "i".into() }]);
    assert_eq!(uses(&lib, "sum", "out"), [UseKind::NullCheck, UseKind::Deref(Access::Write)]);
    let field = |name: &str, access| UseKind::Field { name: name.into(), access };
    assert_eq!(uses(&lib, "set", "s"), [field("a", Access::Write), field("arr", Access::ReadWrite)]);
    let raw = uses(&lib, "set", "raw");
    assert_eq!(raw, [UseKind::Cast { to: "unsigned char *".into() }, constant("0", 0, Access::Write)]);
    let src = uses(&lib, "set", "src");
    assert_eq!(src[0], UseKind::Cast { to: "const void *".into() });
    assert!(
        matches!(&src[1], UseKind::Argument { callee, position: 1, args } if callee == "memcpy" && args[2] == "5"),
        "{src:?}"
    );
    assert!(uses(&lib, "twice", "f").iter().all(|u| *u == UseKind::Called));
    assert!(uses(&lib, "twice", "x").contains(&UseKind::Reassigned));
    let sum = lib.find("sum").unwrap();
    assert_eq!(sum.returns, [Returned::Local("t".into()), Returned::Constant("-1".into())]);
    assert!(sum.macros.contains(&"NULL".to_owned()));
    assert!(sum.comparisons.iter().any(|c| c.left == "i" && c.op == "<" && c.right == "n"));
    assert!(sum.text.starts_with("int sum(") && sum.text.ends_with('}'));
    assert_eq!(lib.find("set").unwrap().externs, ["memcpy", "memset"]);
    assert_eq!(lib.find("twice").unwrap().indirect_calls, 2);
}

#[test]
fn static_variables_that_nothing_writes_to_are_constants() {
    let lib = library(&[(
        "a.c",
        "#include <stddef.h>\n\
         static const char *names[] = {\"a\", \"b\"}; static int table[2] = {1, 2}; static int own = 7;\n\
         static int counted, given, lent[2], pointed, shared[2]; static volatile int bell; int open = 1;\n\
         static int *const at = &pointed; void take(int *p); int see(const int *p);\n\
         const char *name(int i) { return names[i & 1]; }\n\
         int sum(int i) { int s = 0; for (size_t k = 0; k < sizeof table / sizeof *table; k++) s += table[k]; return s + own; }\n\
         int count(void) { return ++counted; }\n\
         int give(void) { take(&given); return given; }\n\
         int lend(void) { return see(lent); }\n\
         int point(void) { return *at; }\n\
         int share(int i) { const int *p = &shared[i & 1]; return *p + bell + open; }\n\
         int local(int i) { static const char *words[] = {\"x\", \"y\"}; static int state; return words[i & 1][0] + state++; }\n\
         int fixed(int i) { static int digits[2] = {3, 4}; return digits[i & 1]; }\n\
         int passed(int i) { static int digits[2] = {3, 4}; return see(digits) + i; }\n",
    )]);
    let settled: Vec<&str> = lib
        .globals
        .iter()
        .filter(|global| global.never_written)
        .map(|global| global.c_name.as_str())
        .collect();
    assert_eq!(settled, ["names", "table", "own"]);
    let statics = |name: &str| -> Vec<String> {
        let own = lib.statics_of(lib.find(name).unwrap()).into_iter();
        own.map(|global| global.c_name.clone()).collect()
    };
    assert_eq!((statics("local"), statics("fixed")), (vec!["state".to_owned()], vec![]));
    assert_eq!(statics("passed"), ["digits"]);
}

#[test]
fn accesses_of_volatile_and_atomic_memory_are_seen_through_typedefs_fields_and_builtins() {
    let lib = library(&[(
        "a.c",
        "typedef volatile unsigned reg; struct dev { reg bell; int plain; }; _Atomic int count;\n\
         void ring(struct dev *d) { d->bell = 1; }\n\
         void wipe(char *p) { *(volatile char *)p = 0; }\n\
         int add(void) { return count++; }\n\
         int swap(int *p) { return __sync_lock_test_and_set(p, 1); }\n\
         int load(int *p) { return __atomic_load_n(p, 5); }\n\
         #include <stdatomic.h>\n\
         #define STORE(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)\n\
         #define PUBLISH(p) STORE(p, LATEST)\n\
         #define LATEST 1\n\
         void publish(int *p) { PUBLISH(p); }\n\
         void standard(int *p) { atomic_store((_Atomic int *)p, 1); }\n\
         int plain(struct dev *d, reg *r) { return d->plain + (r == 0) + LATEST; }\n",
    )]);
    for name in ["ring", "wipe", "add", "swap", "load", "publish", "standard"] {
        assert!(lib.find(name).unwrap().volatile, "{name}");
    }
    assert!(!lib.find("plain").unwrap().volatile);
}

#[test]
fn an_assignment_reads_before_it_writes() {
    let lib = library(&[("a.c", "struct s { int n; }; void f(struct s *s) { s->n = s->n * 5; }\n")]);
    let field = |access| UseKind::Field { name: "n".into(), access };
    assert_eq!(uses(&lib, "f", "s"), [field(Access::Read), field(Access::Write)]);
}

#[test]
fn a_local_that_also_gets_something_else_is_no_copy() {
    let lib = library(&[("a.c", "int g; int f(int *p, int *q) { int *l = p; l = q; *l = 1; return *p; }\n")]);
    assert!(!uses(&lib, "f", "p").contains(&UseKind::Deref(Access::Write)));
    assert!(uses(&lib, "f", "p").contains(&UseKind::Deref(Access::Read)));
}

#[test]
fn globals_and_calls() {
    let lib = library(&[
        (
            "h.h",
            "static inline int twice(int x) { return 2 * x; }\nextern int shared;\nextern const int tab[];\n",
        ),
        (
            "a.c",
            "#include \"h.h\"\nint shared; const int tab[3] = {1,2,3};\nstatic int n; static int m[4];\n\
             static int helper(int x) { n++; return twice(x); }\n\
             /* Says a. */\nint a(int x) { static int calls; calls++; m[1] = x; return helper(x) + shared; }\n",
        ),
        (
            "b.c",
            "#include \"h.h\"\nstatic int helper(int x) { return twice(x) + tab[x]; }\n\
             int b(int x);\nint c(int x) { return x ? b(x - 1) : 0; }\nint b(int x) { return x ? c(x - 1) : helper(x); }\n\
             int (*pick(void))(int) { return helper; }\n",
        ),
    ]);
    let names: Vec<&str> = lib.functions.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["twice", "a__helper", "a", "b__helper", "b", "c", "pick"]);
    assert_eq!(lib.cycles.len(), 1);
    assert_eq!(lib.find("twice").unwrap().module, "h");
    assert_eq!(lib.find("b.c:helper").unwrap().name.as_str(), "b__helper");
    let globals = |keys: &[SymbolKey]| -> Vec<String> {
        keys.iter().map(|k| lib.global(k).unwrap().c_name.clone()).collect()
    };
    let a = lib.find("a").unwrap();
    assert_eq!(globals(&a.globals_read), ["shared", "calls"]);
    assert_eq!(globals(&a.globals_written), ["calls", "m"]);
    assert_eq!(a.comment, "/* Says a. */");
    let helper = lib.find("a__helper").unwrap();
    assert_eq!(globals(&helper.globals_written), ["n"]);
    assert_eq!(globals(&helper.globals_read), ["n"]);
    assert_eq!(lib.find("pick").unwrap().address_taken, [lib.find("b__helper").unwrap().key.clone()]);
    let all: Vec<&str> = lib.globals.iter().map(|g| g.name.as_str()).collect();
    assert_eq!(all, ["shared", "tab", "n", "m", "a__calls"]);
    assert!(lib.globals[1].is_const && !lib.globals[2].is_const);
}

#[test]
fn what_cannot_be_ported_says_why() {
    let lib = library(&[(
        "a.c",
        "#include <stdarg.h>\n#include <setjmp.h>\n\
        int v(int n, ...) { return n; }\nlong double ld(long double x) { return x; }\n\
        double inner(double x) { return (double)(x * 1.0L); }\n\
        void asmf(void) { __asm__(\"nop\"); }\njmp_buf j; int sj(void) { return setjmp(j); }\n\
        int cg(void) { void *p = &&l; goto *p; l: return 1; }\n\
        int kr(c) char c; { return c; }\nint kr_ok(c) int c; { return c; }\nint none() { return 1; }\n\
        #define MAKE(name) int name(void) { return 1; }\nMAKE(made)\n\
        typedef int v4 __attribute__((vector_size(16)));\nv4 ve(v4 a) { return a; }\n\
        inline int bare(int x) { return x; }\n\
        double _Complex co(double _Complex x) { return x; }\nint va(va_list l) { return va_arg(l, int); }\n\
        __int128 big(__int128 x) { return x; }\nint fine(int a[9]) { return a[0]; }\n",
    )]);
    for (name, word) in [
        ("v", "variadic"),
        ("ld", "long double"),
        ("inner", "long double"),
        ("asmf", "assembly"),
        ("sj", "setjmp"),
        ("cg", "goto"),
        ("kr", "old-style"),
        ("made", "macro"),
        ("ve", "vector"),
        ("bare", "inline"),
        ("co", "complex"),
        ("va", "va_list"),
        ("big", "__int128"),
    ] {
        assert!(why(&lib, name).contains(word), "{name}: {}", why(&lib, name));
    }
    for name in ["fine", "kr_ok", "none"] {
        assert_eq!(why(&lib, name), "", "{name}");
    }
    assert!(lib.find("kr_ok").unwrap().is_kr && !lib.find("fine").unwrap().is_kr);
    assert!(lib.find("none").unwrap().is_kr && !lib.find("none").unwrap().is_variadic);
    let fine = &lib.find("fine").unwrap().params[0].ty;
    assert!(matches!(fine.kind, TypeKind::Array { len: Some(9), .. }), "{fine:?}");
}

#[test]
fn types_and_records() {
    let lib = library(&[(
        "a.c",
        "#include <stdint.h>\ntypedef enum mode { OFF = -1, ON = 5 } mode;\n\
        typedef struct { uint8_t tag; union { int i; float f; } u; unsigned bit : 3; struct node *next; } thing;\n\
        mode f(thing *t, const char *s, int (*cb)(const void *, int), struct opaque *o) { return t && s && cb && o ? ON : OFF; }\n",
    )]);
    let f = lib.find("f").unwrap();
    assert_eq!(
        f.ret.kind,
        TypeKind::Enum {
            name: "mode".into(),
            signed: true,
            bits: 32,
            values: vec![("OFF".into(), -1), ("ON".into(), 5)]
        }
    );
    let TypeKind::Pointer(thing) = &f.params[0].ty.kind else { panic!() };
    let TypeKind::Record(key) = &thing.kind else { panic!() };
    let record = &lib.records[key];
    assert_eq!((record.rust_name.as_str(), record.complete, record.size), ("thing", true, 24));
    assert_eq!(record.fields[2].bits, Some(3));
    assert_eq!(record.fields[0].ty.spelling, "uint8_t");
    let TypeKind::Record(inner) = &record.fields[1].ty.kind else { panic!() };
    assert!(lib.records[inner].is_union);
    let TypeKind::Pointer(s) = &f.params[1].ty.kind else { panic!() };
    assert!(s.is_const && matches!(s.kind, TypeKind::Int { plain_char: true, signed: _, bits: 8 }));
    let TypeKind::Pointer(cb) = &f.params[2].ty.kind else { panic!() };
    assert!(matches!(&cb.kind, TypeKind::Function { params, variadic: false, .. } if params.len() == 2));
    let TypeKind::Pointer(o) = &f.params[3].ty.kind else { panic!() };
    let TypeKind::Record(o) = &o.kind else { panic!() };
    assert!(!lib.records[o].complete);
}

#[test]
fn a_long_chain_of_records_stays_exact() {
    let mut text = String::from("struct s0 { double d; };\n");
    for i in 1..60 {
        text += &format!("struct s{i} {{ struct s{} *p; double d; }};\n", i - 1);
    }
    text += "double f(struct s59 *s) { return s->d; }\n";
    let lib = library(&[("a.c", &text)]);
    assert_eq!(lib.records.len(), 60);
    let is_double =
        |r: &Record| matches!(r.fields.last().map(|f| &f.ty.kind), Some(TypeKind::Float { bits: 64 }));
    assert!(lib.records.values().all(is_double));
}

#[test]
fn broken_units_are_left_out() {
    let files = [
        ("a.c", "int a(void) { return 1; }\n"),
        ("b.c", "#include \"missing.h\"\nint b(void) { return 1; }\n"),
        ("m.c", "int a2(void) { return 1; }\nint main(void) { return a2(); }\n"),
        ("n.c", "int n(void) { return 1; }\n#ifdef PROGRAM\nint main(void) { return n(); }\n#endif\n"),
        ("z.c", "int a(void) { return 2; }\n"),
    ];
    let lib = library(&files);
    let reason = |file: &str| &lib.left_out.iter().find(|l| l.file.0 == file).unwrap().reason;
    assert!(reason("b.c").starts_with("b.c:1:10: "), "{}", reason("b.c"));
    assert!(reason("b.c").contains("missing.h"));
    assert!(reason("m.c").contains("main"));
    assert!(reason("z.c").contains("a.c"));
    let names: Vec<&str> = lib.functions.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["a", "n"]);
    let (_dir, root) = project(&files[1..2]);
    let error = load(&root, "gcc").unwrap_err();
    assert!(error.to_string().contains("missing.h"), "{error}");
    assert!(error.help_text().is_some());
}
