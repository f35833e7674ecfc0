//! Real C libraries from crates of the registry: the front end lists every function that the compiler sees, the
//! crate with all stubs builds and links, and C and Rust agree on how every bound function is called.

#![expect(clippy::print_stdout, reason = "with --nocapture a test says what it counted")]

use crate::support::real::{self, RealLib};
use crate::support::{abi, clib, compiled};
use cargo_implfuzz::symbol::{Library, RelPath};

fn passes(lib: &RealLib) {
    let package = lib.package;
    let source = lib.source();
    let arguments = lib.arguments();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    for (name, compiler) in clib::compilers() {
        let port = clib::Port::init(&format!("{package}-{name}"), &source, &compiler, &arguments);
        let (library, bindings) = clib::read(&port.root, &lib.settings(), &compiler);
        if name == "cc" {
            everything_is_listed(lib, &port, &library);
        }
        let mut reasons: Vec<String> = Vec::new();
        for function in library.functions.iter().filter(|f| !bindings.functions.contains_key(&f.name)) {
            let reason = function.unsupported.as_deref();
            reasons.push(format!("{}: {}", function.name, reason.expect("a reason why it is not bound")));
        }
        let (all, bound) = (library.functions.len(), bindings.functions.len());
        println!("{package} with {name}: {all} functions, {bound} bound");
        println!("{reasons:#?} {:#?}", library.gaps);
        let dir = format!("{package}-abi-{name}");
        let report = abi::check(&dir, &port.root, &library, &bindings, &compiler);
        println!("{} checked, not checked: {:#?}", report.checked.len(), report.unchecked);
        report.assert_agrees(bound);
        port.links(&bindings, (name, &compiler));
    }
}

fn everything_is_listed(lib: &RealLib, port: &clib::Port, library: &Library) {
    let units: Vec<&RelPath> = library.units.iter().map(|unit| &unit.file).collect();
    // What the table excludes needs no second list.
    let by_itself = library.left_out.iter().filter(|left| !left.reason.starts_with("excluded by"));
    let left_out: Vec<_> = by_itself.map(|left| (left.file.0.as_str(), &left.reason)).collect();
    assert_eq!(left_out.len(), lib.left_out.len(), "{left_out:#?}");
    for ((file, reason), (expected, word)) in left_out.iter().zip(lib.left_out) {
        assert!(file == expected && reason.contains(word), "{file}: {reason}");
    }
    let compiled = compiled::units(&format!("{}-objects", lib.package), &port.root, library);
    let count: usize = compiled.values().map(|unit| unit.functions.len()).sum();
    assert!(count >= lib.at_least, "{count} functions compiled of {units:?}");
    let (mut unlisted, without) = compiled::differences(library, &compiled);
    for (name, _) in lib.unlisted {
        assert!(unlisted.iter().any(|found| found == name), "{name} is listed by now");
    }
    unlisted.retain(|found| lib.unlisted.iter().all(|(name, _)| found != name));
    assert_eq!(unlisted, Vec::<String>::new(), "compiled, but not listed");
    assert_eq!(without, Vec::<String>::new(), "listed, but not compiled");
}

#[test]
#[ignore = "half a minute: cargo test --test suite real_libs -- --ignored"]
fn zlib() {
    passes(&real::ZLIB);
}

#[test]
#[ignore = "minutes: cargo test --test suite real_libs -- --ignored"]
fn bzip2() {
    passes(&real::BZIP2);
}

/// For gcc `XXH_swap32` is a macro, for clang a static function: the compiler decides.
#[test]
#[ignore = "minutes: cargo test --test suite real_libs -- --ignored"]
fn lz4() {
    passes(&real::LZ4);
}

#[test]
#[ignore = "minutes: cargo test --test suite real_libs -- --ignored"]
fn zstd() {
    passes(&real::ZSTD);
}

#[test]
#[ignore = "minutes: cargo test --test suite real_libs -- --ignored"]
fn sqlite() {
    passes(&real::SQLITE);
}

#[test]
#[ignore = "minutes: cargo test --test suite real_libs -- --ignored"]
fn libdeflate() {
    passes(&real::LIBDEFLATE);
}
