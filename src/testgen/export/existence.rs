//! Tests that a function exists with C's types and layouts, which the compiler and the linker check.

use super::Source;
use crate::rust::signature::ident;
use crate::test_record::GeneratedTest;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use serde_json::Value;

/// The statements of such a test. It has few comparisons: its main point is that it compiles and links.
pub(super) fn statements(source: &Source, test: &GeneratedTest) -> Result<Vec<TokenStream>, String> {
    match test.input.get("check").and_then(Value::as_str) {
        Some("signature") => Ok(vec![signature(source)]),
        Some("layout") => layout(source, test).map(|statement| vec![statement]),
        _ => Err(format!("`{}` is not a known check", test.input)),
    }
}

fn signature(source: &Source) -> TokenStream {
    let (name, c) = (ident(source.bound.function), source.bound.c);
    let params = c.params.iter().map(|(_, ty)| ty);
    let ret = c.ret.iter();
    quote! {
        let function: unsafe extern "C" fn(#(#params),*) #(-> #ret)* = capi::#name;
        assert_ne!(function as usize, 0, "the function is linked");
    }
}

fn layout(source: &Source, test: &GeneratedTest) -> Result<TokenStream, String> {
    let of = test.input.get("of").and_then(Value::as_str).unwrap_or_default();
    // Some records have no name in `ffi.rs`.
    let is_known = !of.is_empty() && source.library.records.values().any(|record| record.rust_name == of);
    let left = test.expected_output.as_ref().unwrap_or(&Value::Null);
    let number = |name: &str| left.get(name).and_then(Value::as_u64).map(Literal::u64_unsuffixed);
    let (Some(size), Some(align), true) = (number("size"), number("align"), is_known) else {
        return Err(format!("`{of}` is not a struct with a size and an alignment"));
    };
    let of = format_ident!("{of}");
    Ok(quote! {
        assert_eq!(size_of::<ffi::#of>(), #size, "size");
        assert_eq!(align_of::<ffi::#of>(), #align, "alignment");
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rust::shims::Bound;
    use crate::rust::signature::CSignature;
    use crate::symbol::{Library, Record, fixture};
    use crate::test_record::TestCategory;
    use serde_json::json;

    #[test]
    fn a_layout_is_that_of_a_struct_with_a_name() {
        let record = |rust_name: &str| Record {
            rust_name: rust_name.into(),
            c_name: String::new(),
            is_union: false,
            complete: true,
            opaque: false,
            size: 24,
            align: 8,
            fields: Vec::new(),
        };
        let records =
            [("struct point".to_owned(), record("point")), ("a union in it".to_owned(), record(""))];
        let library = Library { records: records.into(), ..Library::default() };
        let function = fixture::function("f");
        let c = CSignature::of(&syn::parse_str("fn f(p: *const point)").unwrap(), []);
        let bound = Bound { function: &function, contract: None, c: &c, shared: &[] };
        let source = Source { krate: "my-port", library: &library, bound, others: &[] };
        let text = |input: Value, left: Value| {
            let test = GeneratedTest::new("t", TestCategory::Existence);
            let test = GeneratedTest { input, expected_output: Some(left), ..test };
            statements(&source, &test).map(|all| all.iter().map(ToString::to_string).collect::<String>())
        };
        let (size, layout) =
            (json!({"size": 24, "align": 8}), |of: &str| json!({"check": "layout", "of": of}));
        let written = text(layout("point"), size.clone()).unwrap();
        let wanted = quote! {
            assert_eq!(size_of::<ffi::point>(), 24, "size");
            assert_eq!(align_of::<ffi::point>(), 8, "alignment");
        };
        assert_eq!(written, wanted.to_string());
        let written = text(json!({"check": "signature"}), Value::Null).unwrap();
        assert!(written.contains("capi :: f") && written.contains("(* const ffi :: point)"), "{written}");
        for (input, left, why) in [
            (layout(""), size.clone(), "`` is not a struct"),
            (json!({"check": "layout"}), size.clone(), "`` is not a struct"),
            (layout("line"), size, "`line` is not a struct"),
            (layout("point"), json!({"size": 24}), "`point` is not a struct with a size and an alignment"),
            (json!({"check": "colour"}), Value::Null, "is not a known check"),
        ] {
            let said = text(input, left).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }
}
