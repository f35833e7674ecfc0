//! Tests of category Existence. No model is asked for them: compiling and linking show that the function exists
//! with C's types, and the C compiler asserted the sizes when the library was read.

use crate::project::FunctionPlan;
use crate::rust::pretty::pretty;
use crate::symbol::{CType, Library, TypeKind};
use crate::test_record::{GeneratedTest, TestCategory};
use quote::quote;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Tests of the function's type, and of size and alignment of each struct in its signature, also behind a pointer,
/// and of the structs in those.
pub fn tests(library: &Library, planned: &FunctionPlan) -> Vec<GeneratedTest> {
    let c = &planned.c;
    let params = c.params.iter().map(|(_, ty)| ty);
    let ret = c.ret.iter();
    let text = pretty(quote!(type F = unsafe extern "C" fn(#(#params),*) #(-> #ret)*;));
    let ty = text.trim().trim_start_matches("type F = ").trim_end_matches(';');
    let ty = ty.split_whitespace().collect::<Vec<_>>().join(" ");
    let signature = test(
        "signature",
        json!({ "check": "signature" }),
        json!({ "type": ty }),
        "the item is there with C's types and links",
    );
    let mut keys = BTreeSet::new();
    let function = &planned.function;
    for ty in function.params.iter().map(|param| &param.ty).chain([&function.ret]) {
        let behind = match &ty.kind {
            TypeKind::Pointer(target) => target,
            _ => ty,
        };
        named(library, behind, &mut keys);
    }
    let records = keys.iter().filter_map(|key| library.records.get(key));
    // A test cannot name a type that has no name in `ffi.rs`.
    let records = records.filter(|record| record.align > 0 && !record.rust_name.is_empty());
    let layouts = records.map(|record| {
        test(
            &format!("layout-of-{}", record.rust_name),
            json!({ "check": "layout", "of": record.rust_name }),
            json!({ "size": record.size, "align": record.align }),
            "callers in C pass it as C lays it out",
        )
    });
    std::iter::once(signature).chain(layouts).collect()
}

/// Collects the record that a type is or contains by value, and those that it contains by value. Records behind
/// further pointers do not count.
fn named(library: &Library, ty: &CType, found: &mut BTreeSet<String>) {
    match &ty.kind {
        TypeKind::Array { of, .. } => named(library, of, found),
        TypeKind::Record(key) if found.insert(key.clone()) => {
            for field in library.records.get(key).into_iter().flat_map(|record| &record.fields) {
                named(library, &field.ty, found);
            }
        }
        _ => {}
    }
}

fn test(id: &str, input: Value, expected: Value, reasoning: &str) -> GeneratedTest {
    GeneratedTest {
        input,
        expected_output: Some(expected),
        reasoning: reasoning.to_owned(),
        ..GeneratedTest::new(id, TestCategory::Existence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::types::Judgeable;
    use crate::rust::signature::CSignature;
    use crate::symbol::{Field, Record};
    use crate::testgen::fixture::{function, int, pointer, record};

    #[test]
    fn layouts_are_those_that_the_signature_names_and_what_they_hold() {
        let list = |of| CType {
            spelling: "list".into(),
            is_const: false,
            kind: TypeKind::Array { of, len: Some(2) },
        };
        let made = |name: &str, types: Vec<CType>| {
            let field = |ty| Field { name: "x".into(), ty, bits: None, offset: Some(0) };
            let record = Record {
                rust_name: name.into(),
                c_name: String::new(),
                is_union: false,
                complete: true,
                opaque: false,
                size: 8,
                align: u64::from(name != "unknown") * 4,
                fields: types.into_iter().map(field).collect(),
            };
            (format!("struct {}", if name.is_empty() { "nameless" } else { name }), record)
        };
        let records = [
            made(
                "outer",
                vec![
                    record("struct nameless"),
                    list(Box::new(record("struct cell"))),
                    pointer("*", record("struct far")),
                ],
            ),
            made("", vec![record("struct within"), int("int", true, 32)]),
            made("within", vec![]),
            made("cell", vec![record("struct unknown")]),
            made("unknown", vec![]),
            made("far", vec![]),
            made("given", vec![pointer("*", record("struct given"))]),
            made("further", vec![]),
            made("returned", vec![]),
        ];
        let library = Library { records: records.into(), ..Library::default() };
        let params = vec![
            ("a", pointer("*", record("struct outer"))),
            ("b", pointer("**", pointer("*", record("struct further")))),
            ("c", record("struct given")),
        ];
        let mut function = function("f", "", params);
        function.ret = pointer("*", record("struct returned"));
        let c = "fn f(a: *mut outer, b: *mut *mut further, c: given) -> *mut returned";
        let planned = FunctionPlan {
            function,
            c: CSignature::of(&syn::parse_str(c).unwrap(), []),
            judgeable: Judgeable::NotYet("it is a test".into()),
            edited: false,
            learned: false,
            target: None,
            wants_target: false,
            helpers: Vec::new(),
            shared: Vec::new(),
        };
        let tests = tests(&library, &planned);
        let ids: Vec<&str> = tests.iter().map(|test| test.id.as_str()).collect();
        assert_eq!(
            ids,
            [
                "signature", "layout-of-cell", "layout-of-given", "layout-of-outer", "layout-of-returned",
                "layout-of-within"
            ]
        );
        assert_eq!(tests[1].expected_output, Some(json!({"size": 8, "align": 4})));
    }
}
