use super::*;
use crate::symbol::{CType, Place, RelPath, SymbolName, TypeKind};
use crate::toolchain::{Search, Toolchain};

fn global(file: &str, name: &str, linkage: Linkage) -> Global {
    let module = Utf8Path::new(file).file_stem().unwrap().to_owned();
    Global {
        key: SymbolKey(format!("{file}@{name}")),
        name: SymbolName::new(name),
        c_name: name.into(),
        module,
        place: Place { file: RelPath(file.into()), start: 0, end: 0, line: 1, end_line: 1 },
        linkage,
        ty: CType { spelling: "int".into(), is_const: false, kind: TypeKind::Void },
        is_const: false,
        is_thread_local: false,
        unsupported: None,
    }
}

/// Writes the files, compiles those that end in `.c` and reads the globals, each `file name`; `=` marks an external one.
fn values(cc: &str, files: &[(&str, &str)], globals: &[&str]) -> Vec<std::result::Result<Data, String>> {
    let dir = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(dir.path()).unwrap();
    for (path, text) in files {
        fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        fs::write(root.join(path), text).unwrap();
    }
    let scratch = root.join("scratch");
    fs::create_dir(&scratch).unwrap();
    let sources = files.iter().filter(|(path, _)| path.ends_with(".c"));
    let units = sources.map(|(path, _)| Unit {
        file: RelPath((*path).into()),
        module: Utf8Path::new(path).file_stem().unwrap().into(),
        flags: vec!["-Iinc".into(), "-DTWO=2".into()],
    });
    let globals: Vec<Global> = globals
        .iter()
        .map(|spec| match spec.split_once(" =") {
            Some((file, name)) => global(file, name, Linkage::External),
            None => {
                let (file, name) = spec.split_once(' ').unwrap();
                global(file, name, Linkage::Static)
            }
        })
        .collect();
    let library = Library { units: units.collect(), globals: globals.clone(), ..Library::default() };
    let mut read = read(root, &library, Path::new(cc), scratch.as_std_path(), &Interrupt::none()).unwrap();
    assert_eq!(read.len(), globals.len());
    globals.iter().map(|g| read.remove(&g.key).unwrap()).collect()
}

fn bytes(value: &std::result::Result<Data, String>) -> &[u8] {
    &value.as_ref().unwrap().bytes
}

fn text(text: &str) -> Target {
    Target::Text(text.into())
}

/// gcc, and the compiler that the tool would take on this machine: the newest clang where there is one.
fn compilers() -> [String; 2] {
    let toolchain = Toolchain::find(&Search::from_env(), &Interrupt::none()).unwrap();
    ["gcc".into(), toolchain.cc.path.to_str().unwrap().into()]
}

#[test]
fn statics_externals_zeros_and_flags() {
    let c = "static const unsigned short table[] = { 1, TWO, 3 };\nint shared = -1;\nstatic long unused = 7;\n\
        static char zeros[5];\nint tentative;\nint f(void) { static int local = 9; return local; }\n";
    for cc in &compilers() {
        let globals =
            ["src/a.c table", "src/a.c =shared", "src/a.c unused", "src/a.c zeros", "src/a.c =tentative"];
        let got = values(cc, &[("src/a.c", c)], &globals);
        assert_eq!(bytes(&got[0]), [1, 0, 2, 0, 3, 0], "{cc}");
        assert_eq!(bytes(&got[1]), [255; 4]);
        assert_eq!(bytes(&got[2]), [7, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes(&got[3]), [0; 5]);
        assert_eq!(bytes(&got[4]), [0; 4]);
    }
}

#[test]
fn pointers_say_what_they_point_to() {
    let c = "static const char name[] = \"own\";\nstatic char buffer[8];\nint f(void) { return 0; }\n\
        const char *const names[] = { \"zero\", 0, name, \"a\" \"b\" };\n\
        char *cursor = buffer + 3;\nint (*call)(void) = f;\nextern int far;\nint *out = &far + 1;\n\
        static const int list[] = { 1, 2 };\nconst int *at = &list[1];\nconst int *anonymous = (const int[]){ 5, 0 };\n";
    for cc in &compilers() {
        let globals = ["a.c =names", "a.c =cursor", "a.c =call", "a.c =out", "a.c =at", "a.c =anonymous"];
        let got: Vec<_> =
            values(cc, &[("a.c", c)], &globals).into_iter().map(|v| v.unwrap().targets).collect();
        let names = [(0, text("zero")), (16, text("own")), (24, text("ab"))];
        assert_eq!(got[0], BTreeMap::from(names), "{cc}");
        let symbol = |name: &str, addend| BTreeMap::from([(0, Target::Symbol { name: name.into(), addend })]);
        assert_eq!(got[1], symbol("buffer", 3), "{cc}");
        assert_eq!(got[2], symbol("f", 0));
        assert_eq!(got[3], symbol("far", 4));
        assert_eq!(got[4], symbol("list", 4));
        assert!(!matches!(got[5][&0], Target::Text(_)), "{cc}: {:?}", got[5]);
    }
}

#[test]
fn a_pointer_to_a_static_names_the_static_and_not_its_alias() {
    let c = "static int count = 3;\nstatic int *const where = &count;\n";
    for cc in &compilers() {
        let got = values(cc, &[("a.c", c)], &["a.c count", "a.c where"]);
        let expected = Target::Symbol { name: "count".into(), addend: 0 };
        assert_eq!(got[1].as_ref().unwrap().targets[&0], expected, "{cc}");
    }
}

#[test]
fn tables_of_headers_come_from_a_unit_that_has_them() {
    let files = [
        ("src/a.c", "#include \"t.h\"\n"),
        ("src/b.c", "int nothing;\n"),
        ("src/c.c", "#define WITH 5\n#include \"t.h\"\nint own = 1;\n"),
        ("inc/t.h", "#ifdef WITH\nstatic const char five[] = { WITH };\n#endif\n"),
        ("inc/lost.h", "static const int lost = 1;\n"),
    ];
    let got = values("gcc", &files, &["inc/t.h five", "src/c.c =own", "inc/lost.h lost"]);
    assert_eq!(bytes(&got[0]), [5]);
    assert_eq!(bytes(&got[1]), [1, 0, 0, 0]);
    assert_eq!(got[2].as_ref().unwrap_err(), "no unit of the library includes inc/lost.h");
}

#[test]
fn what_cannot_be_read_is_a_reason_of_that_global_alone() {
    let files = [
        ("broken.c", "static int x = nothing_here;\n"),
        ("macro.c", "static const int real = 4;\n#define real (1 + 1)\nstatic const int other = 6;\n"),
        ("good.c", "int fine = 2;\n"),
    ];
    let got = values(
        "gcc",
        &files,
        &["broken.c x", "macro.c real", "macro.c other", "good.c =fine", "good.c =gone"],
    );
    let why = got[0].as_ref().unwrap_err();
    assert!(why.starts_with("broken.c does not compile: ") && why.contains("nothing_here"), "{why}");
    assert_eq!(bytes(&got[1]), [4, 0, 0, 0]);
    assert_eq!(bytes(&got[2]), [6, 0, 0, 0]);
    assert_eq!(bytes(&got[3]), [2, 0, 0, 0]);
    assert_eq!(got[4].as_ref().unwrap_err(), "gone is not in the object file of good.c");
}

#[test]
fn a_missing_compiler_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(dir.path()).unwrap();
    fs::write(root.join("a.c"), "int x;").unwrap();
    let unit = Unit { file: RelPath("a.c".into()), module: "a".into(), flags: vec![] };
    let library = Library {
        units: vec![unit],
        globals: vec![global("a.c", "x", Linkage::External)],
        ..Library::default()
    };
    let error = read(root, &library, Path::new("no-such-cc"), dir.path(), &Interrupt::none()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Environment);
}

#[test]
fn rules_of_make_are_split_where_make_splits_them() {
    let rule = "x: /a/b.c inc/a\\ b.h \\\n  c$$d.h\\\n e.h\n";
    assert_eq!(dependencies(rule), ["/a/b.c", "inc/a b.h", "c$d.h", "e.h"]);
    assert_eq!(dependencies(""), Vec::<String>::new());
}
