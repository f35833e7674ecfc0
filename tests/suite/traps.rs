//! `fixtures/traps` holds C constructs that are known to mislead a front end. Every function that the compiler sees is
//! bound or listed with a reason, every binding links, and C and Rust agree on its calling convention. Each known
//! defect of the front end has a test that must fail, named after the case.

use crate::support::{abi, clib, compiled};
use cargo_implfuzz::c::bind::Bindings;
use cargo_implfuzz::config;
use cargo_implfuzz::symbol::{Library, SymbolName, TypeKind};
use std::path::{Path, PathBuf};

/// Every function that cannot be ported, with a word of the reason, in name order.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("add_lanes", "vector"),
    ("add_three", "defined through a macro"),
    ("add_two", "defined through a macro"),
    ("apply_wide", "long double in the signature"),
    ("barrier", "inline assembly"),
    ("conjugate", "complex number"),
    ("first_lane", "vector"),
    ("frame_end", "by value in the signature"),
    ("guarded", "setjmp"),
    ("jump_table", "computed goto"),
    ("leave", "longjmp"),
    ("multiply_wide", "__int128"),
    ("old_promoted", "old-style definition"),
    ("only_for_inlining", "inline without an external definition"),
    ("real_name", "defined through a macro"),
    ("real_part", "complex number"),
    ("renamed_symbol", "its symbol is called other_symbol"),
    ("scale_wide", "long double in the signature"),
    ("shared_double", "its text has different meanings in src/stack_double.c and src/stack_int.c"),
    ("shared_push", "its text has different meanings in"),
    ("sliver_kind", "sliver, which Rust cannot lay out, by value"),
    ("sum_behind", "va_list"),
    ("sum_list", "va_list"),
    ("sum_of", "variadic"),
    ("swap_bytes", "the C compiler has no such static"),
    ("traps_prefixed", "defined through a macro"),
    ("wide_reset", "long double"),
    ("wide_tag", "long double in wide in the signature"),
    ("with_macro_body", "defined through a macro"),
    ("without_definition", "inline without an external definition"),
];

/// Those of them that have no binding either, because it would be wrong or lead nowhere.
const UNBOUND: &[&str] = &[
    "add_lanes", "apply_wide", "conjugate", "first_lane", "frame_end", "multiply_wide", "old_promoted",
    "only_for_inlining", "real_part", "renamed_symbol", "scale_wide", "shared_double", "shared_push",
    "sliver_kind", "sum_behind", "sum_list", "swap_bytes", "wide_tag", "without_definition",
];

/// What the compiler makes and the front end does not list: second names of functions that are listed.
const SECOND_NAMES: &[&str] =
    &["src/asm_label.c: other_symbol", "src/linkage.c: second_name", "src/linkage.c: weak_name"];

/// What is listed, though the compiler makes nothing of that name.
const NOT_COMPILED: &[&str] = &[
    "src/asm_label.c: renamed_symbol",
    "src/gnu_inline.c: only_for_inlining",
    "src/inlines.c: without_definition",
];

/// The library after `init` for this compiler, in a directory of its own for each test.
fn port(name: &str, compiler: &Path) -> (clib::Port, Library, Bindings) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/traps");
    let port = clib::Port::init(name, &from, compiler, &[]);
    let (library, bindings) = clib::read(&port.root, &config::C::default(), compiler);
    (port, library, bindings)
}

fn system_compiler() -> PathBuf {
    clib::compilers().swap_remove(0).1
}

#[test]
fn every_function_is_bound_or_says_why_not() {
    let (port, library, bindings) = port("traps-list", &system_compiler());
    let left_out: Vec<_> = library.left_out.iter().map(|left| (left.file.0.as_str(), &left.reason)).collect();
    let reason = |file: &str| left_out.iter().find(|(found, _)| *found == file).unwrap().1;
    assert!(reason("src/broken.c").contains("'traps/not_there.h' file not found"), "{left_out:?}");
    assert!(reason("tests/test_traps.c").contains("tests"), "{left_out:?}");
    assert_eq!(left_out.len(), 2, "{left_out:?}");

    let objects = compiled::units("traps-objects", &port.root, &library);
    let (unlisted, without) = compiled::differences(&library, &objects);
    assert_eq!(unlisted, SECOND_NAMES);
    assert_eq!(sorted(without), NOT_COMPILED);
    assert!(library.functions.len() > 120, "{} functions", library.functions.len());

    let unsupported =
        library.functions.iter().filter_map(|f| Some((f.name.as_str(), f.unsupported.as_ref()?)));
    let unsupported = sorted(unsupported.collect());
    let names: Vec<&str> = unsupported.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, UNSUPPORTED.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    for ((name, reason), (_, word)) in unsupported.iter().zip(UNSUPPORTED) {
        assert!(reason.contains(word), "{name}: {reason}");
    }
    let unbound = library.functions.iter().filter(|f| !bindings.functions.contains_key(&f.name));
    assert_eq!(sorted(unbound.map(|f| f.name.as_str()).collect()), UNBOUND);

    let unbound = library.globals.iter().filter(|g| g.local_to.is_none());
    let unbound = unbound.filter(|g| !bindings.globals.contains_key(&g.name));
    let unbound = unbound.map(|g| (g.name.as_str(), g.unsupported.as_deref().unwrap()));
    let own = ("shared_state", "each file that includes its header has its own");
    assert_eq!(
        sorted(unbound.collect()),
        [("last_error", "thread-local"), ("last_place", "thread-local"), own]
    );
}

fn sorted<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort();
    list
}

#[test]
fn what_bindgen_loses_is_kept() {
    let (_port, library, bindings) = port("traps-kept", &system_compiler());
    for (function, extent) in [("sum9", Some(9)), ("sum4", Some(4)), ("trace", Some(3))] {
        let ty = &library.find(function).unwrap().params[0].ty;
        assert!(matches!(ty.kind, TypeKind::Array { len, .. } if len == extent), "{function}: {ty:?}");
    }
    // An array without a size has nothing to lose.
    assert!(library.find("open_end").unwrap().params[0].ty.is_pointer());
    let ty = |name: &str| {
        let ty = &bindings.globals[&SymbolName::new(name)].ty;
        quote::quote!(#ty).to_string().replace(' ', "")
    };
    for (table, end) in [("powers", ";5usize]"), ("nibbles", ";16usize]"), ("primes", ";5usize]")] {
        assert!(ty(table).ends_with(end), "{table}: {}", ty(table));
    }
    // Complete in one unit, so complete for all; what is never complete stays opaque.
    for (name, field) in [("store", "size"), ("first_named_here", "weight"), ("hidden_tag", "of")] {
        let fields = fields_of(&bindings, name);
        assert!(fields.iter().any(|found| found == field), "{name}: {fields:?}");
    }
    assert_eq!(fields_of(&bindings, "never"), ["_unused"]);
    // Different things of one name are kept apart.
    for name in ["item", "node", "small", "state"] {
        assert!(
            bindings.types.contains(name) && bindings.types.contains(&format!("twins_b__{name}")),
            "{name}"
        );
    }
    for name in ["LIMIT", "LABEL", "IDLE", "BUSY"] {
        assert!(bindings.conflicts.iter().any(|said| said.starts_with(name)), "{:?}", bindings.conflicts);
    }
}

fn fields_of(bindings: &Bindings, record: &str) -> Vec<String> {
    let file = syn::parse_file(&bindings.file).unwrap();
    let found = file.items.iter().find_map(|item| match item {
        syn::Item::Struct(s) if s.ident == record => Some(s),
        _ => None,
    });
    let fields = found.unwrap_or_else(|| panic!("no {record} in ffi.rs")).fields.iter();
    fields.filter_map(|field| field.ident.as_ref()).map(ToString::to_string).collect()
}

#[test]
#[ignore = "a minute: cargo test --test suite traps -- --ignored"]
fn everything_that_is_bound_links_and_is_called_as_c_calls_it() {
    for (name, compiler) in clib::compilers() {
        let (port, library, bindings) = port(&format!("traps-{name}"), &compiler);
        port.links(&bindings, (name, &compiler));
        let report = abi::check(&format!("traps-abi-{name}"), &port.root, &library, &bindings, &compiler);
        report.assert_agrees(bindings.functions.len());
        assert_eq!(report.unchecked, [("sum_of".to_owned(), "variadic".to_owned())]);
    }
}

#[test]
#[ignore = "half a minute: cargo test --test suite traps -- --ignored"]
fn a_port_made_for_one_compiler_builds_with_the_other() {
    let (port, _, _) = port("traps-other", &clib::compilers().pop().unwrap().1);
    for (name, compiler) in clib::compilers() {
        port.builds((name, &compiler));
    }
}

#[test]
#[ignore = "half a minute: cargo test --test suite traps -- --ignored"]
fn every_harness_compiles_whatever_its_records_hold() {
    let (port, library, _) = port("traps-harnesses", &system_compiler());
    port.harnesses_compile();
    let is_opaque = |name: &str| library.records.values().any(|r| r.rust_name == name && r.opaque);
    assert!(is_opaque("frame") && !is_opaque("tight"));
}
