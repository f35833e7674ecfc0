//! The check that compares how C and Rust call a function, on a library where every binding is right, and with bindings
//! that are wrong on purpose.

use crate::support::{abi, clib};
use camino::Utf8Path;
use cargo_implfuzz::c::bind::Bindings;
use cargo_implfuzz::config;
use cargo_implfuzz::symbol::{Library, SymbolName};

#[test]
fn every_function_of_the_small_library_is_called_as_c_calls_it() {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/c-lib");
    for (name, compiler) in clib::compilers() {
        let (library, bindings) = clib::read(&root, &config::C::default(), &compiler);
        let report = abi::check(&format!("abi-c-lib-{name}"), &root, &library, &bindings, &compiler);
        report.assert_agrees(bindings.functions.len());
        assert!(report.checked.len() >= 50, "{} checked", report.checked.len());
    }
}

/// One function per way in which a binding can be wrong.
const SOURCE: &str = "
struct pair { short tag; double value; };
unsigned wide(unsigned a, char b) { return a + b; }
int sign(int a) { return -a; }
long swapped(short a, long b) { return a + b; }
double floating(long a, double b) { return a + b; }
double by_value(struct pair p) { return p.value; }
struct pair returned(short tag) { struct pair p = {tag, 1.0}; return p; }
_Bool flag(_Bool a) { return !a; }
int several(int a, int b, int c) { return a + b + c; }
int right(struct pair p, const char *text, int n) { return p.tag + text[n]; }
";

fn small() -> (tempfile::TempDir, camino::Utf8PathBuf, Library, Bindings) {
    let dir = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(dir.path()).unwrap().canonicalize_utf8().unwrap();
    std::fs::write(root.join("a.c"), SOURCE).unwrap();
    let (library, bindings) = clib::read(&root, &config::C::default(), &clib::compilers()[0].1);
    (dir, root, library, bindings)
}

#[test]
fn a_wrong_binding_is_named() {
    let (_dir, root, library, mut bindings) = small();
    let corrupt = |bindings: &mut Bindings, signature: &str| {
        let wrong: syn::ForeignItemFn = syn::parse_str(signature).unwrap();
        let name = SymbolName::new(wrong.sig.ident.to_string());
        let old = bindings.functions.insert(name, wrong.clone()).unwrap();
        assert_ne!(old.sig, wrong.sig, "nothing is wrong with {signature}");
    };
    for (name, compiler) in clib::compilers() {
        let report = abi::check(&format!("abi-right-{name}"), &root, &library, &bindings, &compiler);
        report.assert_agrees(9);
        assert_eq!(report.checked.len(), 9);
    }
    for signature in [
        "pub fn wide(a: u64, b: i8) -> u32;",
        "pub fn sign(a: u32) -> i32;",
        "pub fn swapped(a: i64, b: i16) -> i64;",
        "pub fn floating(a: f64, b: i64) -> f64;",
        "pub fn by_value(p: *mut pair) -> f64;",
        "pub fn returned(tag: i16) -> *mut pair;",
        "pub fn flag(a: bool) -> u8;",
        "pub fn several(a: i32, b: i32) -> i32;",
    ] {
        corrupt(&mut bindings, signature);
    }
    let (name, compiler) = &clib::compilers()[0];
    let report = abi::check(&format!("abi-wrong-{name}"), &root, &library, &bindings, compiler);
    let mut named: Vec<&str> = report.mismatches.iter().map(|line| line.split(':').next().unwrap()).collect();
    named.sort_unstable();
    named.dedup();
    assert_eq!(
        named,
        ["by_value", "flag", "floating", "returned", "several", "sign", "swapped", "wide"],
        "{:#?}",
        report.mismatches
    );
}

#[test]
fn a_record_laid_out_otherwise_is_seen() {
    let (_dir, root, library, mut bindings) = small();
    // Same size and same classes as a whole, but the fields travel in other registers.
    let text = &bindings.file;
    let start = text.find("pub struct pair").unwrap();
    let end = start + text[start..].find('}').unwrap();
    let swapped = text[start..end].replace("c_short", "c_longlong").replace("f64", "i64");
    assert_ne!(swapped, text[start..end]);
    let file = format!("{}{swapped}{}", &text[..start], &text[end..]);
    bindings.file = file;
    let (name, compiler) = &clib::compilers()[0];
    let report = abi::check(&format!("abi-record-{name}"), &root, &library, &bindings, compiler);
    let named = |name: &str| report.mismatches.iter().any(|line| line.starts_with(&format!("{name}:")));
    assert!(named("by_value") && named("returned") && !named("sign"), "{:#?}", report.mismatches);
}
