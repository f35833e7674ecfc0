use super::super::translate::{Compiler, PLAIN};
use super::*;
use crate::platform::process::Interrupt;
use crate::platform::toolchain::{Search, Toolchain};
use crate::symbol::{CType, RelPath, SourceRange, SymbolKey, SymbolName, TypeKind, Unit};
use camino::Utf8Path;
use std::collections::BTreeMap;
use std::path::Path;

fn global(file: &str, name: &str, linkage: Linkage) -> Global {
    let module = Utf8Path::new(file).file_stem().unwrap().to_owned();
    Global {
        key: SymbolKey(format!("{file}@{name}")),
        name: SymbolName::new(name),
        c_name: name.into(),
        module,
        place: SourceRange { file: RelPath(file.into()), start: 0, end: 0, line: 1, end_line: 1 },
        linkage,
        ty: CType { spelling: "int".into(), is_const: false, kind: TypeKind::Void },
        is_const: false,
        is_thread_local: false,
        never_written: false,
        is_in_each_unit: false,
        local_to: None,
        unsupported: None,
    }
}

/// Compiles a unit, which is below `root`, and reads its globals.
pub(crate) fn of_unit(
    cc: &str,
    root: &Utf8Path,
    unit: &Unit,
    globals: &[Global],
) -> BTreeMap<SymbolKey, std::result::Result<Data, String>> {
    let statics = globals.iter().filter(|g| g.linkage == Linkage::Static);
    let lines = statics.map(|g| {
        let (name, second) = (&g.c_name, alias(&g.module, &g.c_name));
        format!("extern __typeof__({name}) {second} __attribute__((alias(\"{name}\")));")
    });
    let lines: Vec<String> = lines.collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let interrupt = Interrupt::none();
    let compiler = Compiler {
        root,
        cc: Path::new(cc),
        scratch: root.as_std_path(),
        flags: PLAIN,
        interrupt: &interrupt,
    };
    let translation = compiler.translate(unit, &lines).unwrap().unwrap();
    let values = super::values(&translation.object, &globals.iter().collect::<Vec<_>>());
    globals.iter().map(|g| g.key.clone()).zip(values).collect()
}

/// The values of the globals of a unit with this text; `=` marks an external one.
fn values(cc: &str, text: &str, globals: &[&str]) -> Vec<std::result::Result<Data, String>> {
    let dir = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(dir.path()).unwrap();
    std::fs::write(root.join("a.c"), text).unwrap();
    let unit = Unit { file: RelPath("a.c".into()), module: "unit".into(), flags: vec!["-DTWO=2".into()] };
    let global = |name: &&str| match name.strip_prefix('=') {
        Some(name) => global("a.c", name, Linkage::External),
        None => global("a.c", name, Linkage::Static),
    };
    let globals: Vec<Global> = globals.iter().map(global).collect();
    let mut read = of_unit(cc, root, &unit, &globals);
    globals.iter().map(|g| read.remove(&g.key).unwrap()).collect()
}

fn bytes(value: &std::result::Result<Data, String>) -> &[u8] {
    &value.as_ref().unwrap().bytes
}

fn text(text: &str) -> Target {
    Target::Text(text.into())
}

/// gcc, and the compiler that the tool would choose on this machine: the newest clang if there is one.
pub(crate) fn compilers() -> [String; 2] {
    let toolchain = Toolchain::find(&Search::from_env(), &Interrupt::none()).unwrap();
    ["gcc".into(), toolchain.cc.path.to_str().unwrap().into()]
}

#[test]
fn statics_externals_zeros_and_flags() {
    let c = "static const unsigned short table[] = { 1, TWO, 3 };\nint shared = -1;\nstatic long unused = 7;\n\
        static char zeros[5];\nint tentative;\nint f(void) { static int local = 9; return local; }\n";
    for cc in &compilers() {
        let globals = ["table", "=shared", "unused", "zeros", "=tentative"];
        let got = values(cc, c, &globals);
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
        let globals = ["=names", "=cursor", "=call", "=out", "=at", "=anonymous"];
        let got: Vec<_> = values(cc, c, &globals).into_iter().map(|v| v.unwrap().targets).collect();
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
        let got = values(cc, c, &["count", "where"]);
        let expected = Target::Symbol { name: "count".into(), addend: 0 };
        assert_eq!(got[1].as_ref().unwrap().targets[&0], expected, "{cc}");
    }
}

#[test]
fn what_cannot_be_read_is_a_reason_of_that_global_alone() {
    let c = "static const int real = 4;\n#define real (1 + 1)\nstatic const int other = 6;\nint fine = 2;\n";
    for cc in &compilers() {
        let got = values(cc, c, &["real", "other", "=fine", "=gone"]);
        assert_eq!(bytes(&got[1]), [6, 0, 0, 0], "{cc}");
        assert_eq!(bytes(&got[2]), [2, 0, 0, 0]);
        assert_eq!(got[3].as_ref().unwrap_err(), "the C compiler emits no variable for gone");
    }
}
