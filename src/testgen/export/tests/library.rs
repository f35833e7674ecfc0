//! A small hand-made library, and a case: a function, its contract, and the export of its tests.

use super::super::*;
use crate::contract::file::parse;
use crate::rust::signature::CSignature;
use crate::symbol::fixture::{self, place};
use crate::symbol::{
    CType, Field, Function, Global, Linkage, Param, Record, SymbolKey, SymbolName, TypeKind,
};

pub(super) fn ty(spelling: &str, kind: TypeKind) -> CType {
    CType { spelling: spelling.into(), is_const: false, kind }
}

pub(super) fn int(signed: bool, bits: u16) -> CType {
    ty("an integer", TypeKind::Int { signed, bits, plain_char: bits == 8 && signed })
}

pub(super) fn double() -> CType {
    ty("double", TypeKind::Float { bits: 64 })
}

pub(super) fn pointer(to: CType) -> CType {
    ty("a pointer", TypeKind::Pointer(Box::new(to)))
}

pub(super) fn point() -> CType {
    ty("point", TypeKind::Record("point".into()))
}

pub(super) fn void() -> CType {
    ty("void", TypeKind::Void)
}

/// A function with the parameter names of `signature`, its binding.
pub(super) fn function(signature: &str, params: Vec<CType>, ret: CType) -> (Function, CSignature) {
    let signature: syn::Signature = syn::parse_str(signature).unwrap();
    let c = CSignature::of(&signature, []);
    assert_eq!(c.params.len(), params.len());
    let params = c.params.iter().zip(params);
    let params = params.map(|((name, _), ty)| Param { name: name.to_string(), ty, uses: vec![] });
    let name = signature.ident.to_string();
    let function = Function { params: params.collect(), ret, ..fixture::function(&name) };
    (function, c)
}

/// A library with `struct point { int tag; double x; unsigned char to[2]; }` and the variable `mode`.
pub(super) fn library() -> Library {
    let field = |name: &str, ty| Field { name: name.into(), ty, bits: None, offset: None };
    let of = Box::new(int(false, 8));
    let record = Record {
        rust_name: "point".into(),
        c_name: "struct point".into(),
        is_union: false,
        complete: true,
        opaque: false,
        size: 24,
        align: 8,
        fields: vec![
            field("tag", int(true, 32)),
            field("x", double()),
            field("to", ty("bytes", TypeKind::Array { of, len: Some(2) })),
        ],
    };
    let mode = Global {
        key: SymbolKey("mode".into()),
        name: SymbolName::new("mode"),
        c_name: "mode".into(),
        module: "a".into(),
        place: place(1),
        linkage: Linkage::Static,
        ty: int(true, 32),
        is_const: false,
        is_thread_local: false,
        never_written: false,
        is_in_each_unit: false,
        local_to: None,
        unsupported: None,
    };
    Library { records: [("point".into(), record)].into(), globals: vec![mode], ..Library::default() }
}

/// A contract with these lines.
pub(super) fn contract(symbol: &str, returns: &str, rest: &str) -> Contract {
    let text =
        format!("version = 1\nsymbol = \"{symbol}\"\nsignature = \"c\"\nreturns = \"{returns}\"\n{rest}");
    parse(&text, "a contract").unwrap()
}

pub(super) fn params(params: &[(&str, &str)]) -> String {
    params.iter().map(|(name, role)| format!("[[param]]\nname = \"{name}\"\n{role}\n")).collect()
}

pub(super) struct Case {
    function: Function,
    c: CSignature,
    contract: Contract,
}

impl Case {
    pub(super) fn new((function, c): (Function, CSignature), returns: &str, rest: &str) -> Self {
        let contract = contract(function.name.as_str(), returns, rest);
        Self { function, c, contract }
    }

    pub(super) fn bound(&self) -> Bound<'_> {
        Bound { function: &self.function, contract: Some(&self.contract), c: &self.c, shared: &[] }
    }

    pub(super) fn try_exported(
        &self,
        others: &[&Self],
        tests: &[(Value, Value)],
    ) -> Result<Exported, String> {
        let library = library();
        let others: Vec<Bound> = others.iter().map(|case| case.bound()).collect();
        let source = Source { krate: "my-port", library: &library, bound: self.bound(), others: &others };
        let tests = tests.iter().enumerate().map(|(at, (input, left))| GeneratedTest {
            reasoning: "Because.".into(),
            input: input.clone(),
            expected_output: Some(left.clone()),
            ..GeneratedTest::new(format!("t{at}"), TestCategory::Correctness)
        });
        let tests: Vec<GeneratedTest> = tests.collect();
        exported(&source, &tests.iter().collect::<Vec<_>>())
    }

    /// The text of one test, with normalised white space.
    pub(super) fn text(&self, input: Value, left: Value) -> String {
        let exported = self.try_exported(&[], &[(input, left)]).unwrap();
        assert_eq!(exported.left_out, []);
        exported.text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Why one test is left out.
    pub(super) fn refused(&self, input: Value, left: Value) -> String {
        let exported = self.try_exported(&[], &[(input, left)]).unwrap();
        assert_eq!((exported.text.as_str(), exported.tests.len()), ("", 0));
        exported.left_out.into_iter().next().unwrap().1
    }
}

#[track_caller]
pub(super) fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}

pub(super) fn add() -> Case {
    let c = function("fn add(a: u32, b: f64) -> f64", vec![int(false, 32), double()], double());
    Case::new(c, "value", &params(&[("a", "role = \"value\""), ("b", "role = \"value\"")]))
}

pub(super) fn copy() -> Case {
    let types = vec![pointer(int(false, 8)), pointer(int(false, 16)), int(false, 64)];
    let c = function("fn copy(out: *mut u8, from: *const u16, n: usize)", types, void());
    let out = "role = \"buffer\"\ndirection = \"out\"\nlength = \"n\"\nmax = 9";
    let from = "role = \"buffer\"\ndirection = \"in\"\nlength = \"n\"\nmax = 9\nnullable = true";
    Case::new(c, "nothing", &params(&[("out", out), ("from", from), ("n", "role = \"length\"")]))
}
