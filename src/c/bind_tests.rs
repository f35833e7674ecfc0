//! The declarations in `ffi.rs` for small pieces of C.

use super::bind::Bindings;
use super::front::Analysis;
use super::front_tests::{load, project, why};
use crate::platform::process::{Interrupt, Job};
use crate::symbol::*;

/// Loads a project and checks that `ffi.rs` compiles without other files.
fn bound(files: &[(&str, &str)]) -> (Library, Bindings) {
    let (_dir, root) = project(files);
    let Analysis { library, bindings, .. } = load(&root, "gcc").unwrap();
    let ffi = root.join("ffi.rs");
    fs_err::write(&ffi, &bindings.file).unwrap();
    let job = Job::new("rustc")
        .args([
            "--edition", "2024", "--crate-type", "lib", "--emit", "metadata", "-D", "warnings", "--out-dir",
        ])
        .arg(&root)
        .arg(&ffi);
    let output = job.run(&Interrupt::none()).unwrap();
    assert!(output.exit.success(), "{}\n{}", output.stderr_text(), bindings.file);
    (library, bindings)
}

#[test]
fn functions_are_linked_by_their_names_in_the_archive() {
    let (library, bindings) = bound(&[
        (
            "i/k.h",
            "typedef struct k k;\nenum kind { ONE, TWO } ;\nstatic inline int low(int x) { return x & 1; }\nint api(k *x, enum kind e);\nint printf(const char *, ...);\n",
        ),
        (
            "s/a.c",
            "#include \"k.h\"\nstruct k { int v; };\nstatic int same(k *x) { return low(x->v); }\nint api(k *x, enum kind e) { return same(x) + e; }\n",
        ),
        (
            "s/b.c",
            "#include \"k.h\"\nstruct mine { char c; };\nstatic int same(struct mine *m) { return m->c; }\nint match(struct mine *type) { return same(type); }\nint old() { return 1; }\nint var(int n, ...) { return n; }\n",
        ),
    ]);
    let link = |name: &str| {
        let f = &bindings.functions[&SymbolName::new(name)];
        let attr = &f.attrs[0];
        quote::quote!(#attr).to_string()
    };
    assert!(link("api").contains("\"c_api\""));
    assert!(link("a__same").contains("\"c_a__same__st\""));
    assert!(link("b__same").contains("\"c_b__same__st\""));
    assert!(link("low").contains("\"c_k__low__st\""));
    assert!(link("match_").contains("\"c_match\""));
    assert_eq!(bindings.functions.len(), library.functions.len());
    assert!(bindings.missing.is_empty() && bindings.conflicts.is_empty());
    assert!(!bindings.file.contains("printf"));
    assert!(bindings.functions[&SymbolName::new("old")].sig.variadic.is_none());
    assert!(bindings.functions[&SymbolName::new("var")].sig.variadic.is_some());
    assert!(bindings.types.contains("k") && bindings.file.contains("pub v: ::core::ffi::c_int"));
    assert!(bindings.file.contains("pub const TWO: kind = 1;"));
}

#[test]
fn globals_are_variables_and_never_values() {
    let (library, bindings) = bound(&[
        ("a.h", "extern const unsigned char tab[];\nextern int level;\n"),
        (
            "a.c",
            "#include \"a.h\"\nconst unsigned char tab[3] = {1,2,3};\nint level = 9;\nstatic const int K = 5;\n\
             static const char *name = \"x\"; const char text[] = \"hello\"; _Thread_local int tl;\n\
             static int (*hook)(const char *, long) ; double d = 1.5; typedef struct { int a; } S; static S all[2];\n\
             int use(void) { return level + K + (name != 0) + (hook != 0) + all[0].a; }\n",
        ),
    ]);
    let ty = |name: &str| {
        let s = &bindings.globals[&SymbolName::new(name)];
        let (ty, mutability) = (&s.ty, &s.mutability);
        quote::quote!(#mutability #ty).to_string().replace(' ', "")
    };
    assert!(ty("tab").starts_with("[u8;3"), "{}", ty("tab"));
    assert_eq!(ty("level"), "mut::core::ffi::c_int");
    assert_eq!(ty("K"), "i32");
    assert_eq!(ty("name"), "mut*const::core::ffi::c_char");
    assert!(ty("text").ends_with(";6usize]"), "{}", ty("text"));
    assert!(ty("hook").contains("unsafeextern\"C\"fn("), "{}", ty("hook"));
    assert!(ty("all").starts_with("mut[S;2"), "{}", ty("all"));
    assert_eq!(ty("d"), "mutf64");
    assert!(bindings.file.contains("#[link_name = \"c_a__K__st\"]"));
    let tl = library.globals.iter().find(|g| g.c_name == "tl").unwrap();
    assert_eq!(tl.unsupported.as_deref(), Some("thread-local"));
    assert!(!bindings.globals.contains_key(&tl.name));
}

#[test]
fn types_without_a_faithful_form_are_not_bound() {
    let (library, bindings) = bound(&[(
        "a.c",
        "typedef int v4 __attribute__((vector_size(16)));\n\
         struct wide { v4 v; long double l; int i; };\nstruct holder { struct wide *w; };\n\
         struct al { int x; } __attribute__((aligned(16)));\nstruct __attribute__((packed)) pk { char c; struct al a; };\n\
         v4 vec(v4 a) { return a; }\nint by_value(struct wide w) { return w.i; }\nint through(struct wide *w) { return w->i; }\n\
         int held(struct holder *h, struct pk *p) { return h->w->i + p->c; }\nint cb(long double (*f)(int)) { return f != 0; }\n",
    )]);
    let names: Vec<&str> = bindings.functions.keys().map(SymbolName::as_str).collect();
    assert_eq!(names, ["held", "through"]);
    for name in ["vec", "by_value", "cb"] {
        assert_ne!(why(&library, name), "", "{name}");
    }
    assert!(!bindings.file.contains("v4"), "{}", bindings.file);
}

#[test]
fn records_know_their_names_in_ffi_rs() {
    let (library, bindings) = bound(&[
        (
            "a.c",
            "struct node { int a; union { int i; struct { float f; } in; } u; struct { int x; }; struct part { int z; } p[2]; };\nstatic const struct { char c; } table[2];\nint a(struct node *n) { return n->a + n->x + table[0].c; }\n",
        ),
        (
            "b.c",
            "struct node { char *p; };\nstatic struct node last;\nint b(struct node *n) { last = *n; return n->p != 0; }\n",
        ),
    ]);
    assert_eq!(bindings.conflicts.len(), 1);
    for record in library.records.values() {
        assert!(bindings.types.contains(&record.rust_name), "{record:?}");
    }
    let names: std::collections::BTreeSet<&str> =
        library.records.values().map(|r| r.rust_name.as_str()).collect();
    assert_eq!(names.len(), library.records.len());
    assert!(names.contains("node_part"), "{names:?}");
    assert!(names.contains("b__node") && names.contains("node"));
    let b = &bindings.functions[&SymbolName::new("b")];
    assert!(quote::quote!(#b).to_string().contains("b__node"));
    assert!(bindings.file.contains("pub static mut last: b__node"));
}
