//! Tests of category Existence. Nobody is asked for them: that the function is there, with C's types, is a matter of compiling and
//! linking, and how large things are the C compiler has asserted when the library was read.

use crate::harness::values::records_of;
use crate::project::Planned;
use crate::rust::emit::pretty;
use crate::symbol::Library;
use crate::testgen::{GeneratedTest, TestCategory};
use quote::quote;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The type of the function, then size and alignment of each struct that it takes or returns.
pub fn tests(library: &Library, planned: &Planned) -> Vec<GeneratedTest> {
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
        records_of(library, ty, &mut keys);
    }
    let records = keys.iter().filter_map(|key| library.records.get(key)).filter(|record| record.align > 0);
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

fn test(id: &str, input: Value, expected: Value, reasoning: &str) -> GeneratedTest {
    GeneratedTest {
        id: id.to_owned(),
        input,
        predicted_output: None,
        expected_output: Some(expected),
        reasoning: reasoning.to_owned(),
        category: TestCategory::Existence,
        confidence: None,
    }
}
