//! Variables that C may change and that are pointers or have some.

use super::*;

#[test]
fn pointers_of_variables_are_pointers() {
    let c = "struct node { struct node *next; const char *name; int value; };\n\
        static struct node *first; static struct node list = { 0, \"one\", 7 };\n\
        static const struct node *const *rows[12]; static const void *any;\n";
    let records = vec![record(
        "node",
        24,
        &[("next", pointer("struct node *", named("node"))), ("name", text()), ("value", int("int"))],
    )];
    let node = CType { is_const: true, ..named("node") };
    let row = CType { is_const: true, ..pointer("const struct node *const", node) };
    let nothing = CType { is_const: true, ..ty("const void", TypeKind::Void) };
    let library = library(
        vec![
            ("mut first", pointer("struct node *", named("node"))),
            ("mut list", named("node")),
            ("mut rows", array(pointer("const struct node *const *", row), 12)),
            ("mut any", pointer("const void *", nothing)),
        ],
        records,
    );
    let dir = tempfile::tempdir().unwrap();
    let dir = Utf8Path::from_path(dir.path()).unwrap();
    let (text, missing) = emitted(dir, c, &library);
    assert_eq!(missing, BTreeMap::new());
    fs_err::write(dir.join("globals.rs"), &text).unwrap();
    let main = "mod globals;\npub mod ffi { #[allow(non_camel_case_types)] pub struct node {
        pub next: *mut node, pub name: *const core::ffi::c_char, pub value: i32 } }
        fn main() { unsafe {
            globals::first = &raw mut globals::list;
            let name = core::ffi::CStr::from_ptr((*globals::first).name);
            let (value, row) = (globals::list.value, globals::rows[11]);
            println!(\"{name:?} {value} {}\", row.is_null() && { globals::any }.is_null());
        } }";
    rustc(dir, main, &["-o", "main"]);
    let output = Job::new(dir.join("main")).run(&Interrupt::none()).unwrap();
    assert_eq!(output.stdout_text(), "\"one\" 7 true\n", "{text}");
}
