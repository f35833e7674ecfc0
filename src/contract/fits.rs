//! Whether the roles of a contract fit the types of C, in the words of its file: rustc would say it of the generated harness.

use super::flat::flat;
use super::types::{Contract, Parameter, Returns, Role};
use crate::symbol::{CType, Function, Library, TypeKind};

/// What does not fit, if anything does. The parameters are those of C, in order.
pub fn misfit(library: &Library, function: &Function, contract: &Contract) -> Option<String> {
    let params = contract.params.iter().zip(&function.params);
    let of_params = params.filter_map(|(param, of)| Some((param, &of.ty, needs(library, param, &of.ty)?)));
    let mut complaints = of_params.map(|(param, ty, needs)| {
        format!("parameter `{}`: {needs}, and in C it is `{}`", param.name, ty.spelling)
    });
    complaints.next().or_else(|| {
        let needs = result_needs(library, contract.returns, &function.ret)?;
        Some(format!(
            "returns = \"{}\": {needs}, and C returns `{}`",
            contract.returns.word(),
            function.ret.spelling
        ))
    })
}

/// What the role needs and the type is not.
fn needs(library: &Library, param: &Parameter, ty: &CType) -> Option<&'static str> {
    let to = target(ty);
    let to_flat = to.is_some_and(|to| flat(library, to));
    // What `void *` leads to is bytes.
    let to_void = to.is_some_and(|to| to.kind == TypeKind::Void);
    let to_struct = to.is_some_and(|to| matches!(to.kind, TypeKind::Record(_)));
    let to_byte = to.is_some_and(|to| matches!(to.kind, TypeKind::Int { bits: 8, .. }));
    let is_number = |ty: &CType| matches!(ty.kind, TypeKind::Int { .. } | TypeKind::Enum { .. });
    let is_scalar = is_number(ty) || matches!(ty.kind, TypeKind::Bool | TypeKind::Float { .. });
    let (fits, what) = match &param.role {
        Role::Value { min: None, max: None } => {
            (flat(library, ty) && to.is_none(), "role \"value\" needs a number, or a struct of numbers")
        }
        Role::Value { .. } => (is_scalar, "`min` and `max` need a number"),
        Role::OneOf { values } => {
            (is_number(ty) && !values.is_empty(), "role \"one-of\" needs `values` of an integer or an enum")
        }
        Role::Length => {
            let counts = |ty: &CType| matches!(ty.kind, TypeKind::Int { .. });
            (counts(ty) || to.is_some_and(counts), "role \"length\" needs an integer, or a pointer to one")
        }
        Role::Buffer { .. } | Role::Room { .. } => {
            (to_flat || to_void, "this role needs a pointer to numbers, or to structs of numbers")
        }
        Role::CString { .. } => (to_byte || to_void, "role \"c-string\" needs a pointer to `char`"),
        Role::Pointer { .. } => {
            (to_flat || to_void, "role \"pointer\" needs a pointer to a number, or to a struct of numbers")
        }
        Role::FixedArray { len, .. } => (
            (to_flat || to_void) && *len > 0,
            "role \"fixed-array\" needs a pointer to numbers, and `len` of at least 1",
        ),
        Role::Elements { .. } => (to_flat || to_void, "role \"elements\" needs a pointer to memory"),
        Role::Callback { .. } => {
            (super::callback::prototype(ty).is_some(), "role \"callback\" needs a pointer to a function")
        }
        Role::Handle { .. } => (to.is_some(), "role \"handle\" needs a pointer"),
        Role::Lent { .. } => (to_struct, "role \"lent\" needs a pointer to a struct"),
        Role::UserData => (to.is_some(), "role \"token\" needs a pointer"),
        Role::Given { .. } => (to.is_some(), "role \"given\" needs a pointer"),
    };
    (!fits).then_some(what)
}

/// What the kind of result needs and the type is not.
fn result_needs(library: &Library, returns: Returns, ty: &CType) -> Option<&'static str> {
    let to = target(ty);
    let to_byte = to.is_some_and(|to| matches!(to.kind, TypeKind::Int { bits: 8, .. }));
    let (fits, what) = match returns {
        Returns::Nothing => (ty.kind == TypeKind::Void, "it needs `void`"),
        Returns::Value => (to.is_none() && flat(library, ty), "it needs a number, or a struct of numbers"),
        Returns::StaticString => (to_byte, "it needs a pointer to `char`"),
        Returns::Handle | Returns::Address | Returns::Memory => (to.is_some(), "it needs a pointer"),
        Returns::Table(_) => (to.is_some_and(|to| flat(library, to)), "it needs a pointer to numbers"),
    };
    (!fits).then_some(what)
}

/// What a pointer, or a parameter that is declared as an array, leads to.
fn target(ty: &CType) -> Option<&CType> {
    match &ty.kind {
        TypeKind::Pointer(to) | TypeKind::Array { of: to, .. } => Some(to),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::front_tests::load_into;
    use crate::contract::facts::FactTable;
    use crate::contract::fixture::contract;
    use crate::contract::infer::infer;
    use crate::contract::types::{Direction, Life};
    use camino::Utf8Path;

    fn library(root: &Utf8Path) -> Library {
        load_into(root, &root.join(".implfuzz"), "gcc").unwrap().library
    }

    #[test]
    fn a_role_that_a_type_cannot_have_is_told_in_the_words_of_the_contract() {
        let dir = tempfile::tempdir().unwrap();
        let c = "struct node { struct node *next; };\n\
            void f(int n, const char *s, struct node *list, unsigned *out) { *out = n + *s + !list; }\n";
        std::fs::write(dir.path().join("f.c"), c).unwrap();
        let library = library(Utf8Path::from_path(dir.path()).unwrap());
        let function = library.find("f").unwrap();
        let value = || Role::Value { min: None, max: None };
        let text = || Role::CString { max: 9, nullable: false };
        let list = || Role::Handle { life: Life::Uses, through: None, nullable: false };
        let out = || Role::Pointer { direction: Direction::Out, nullable: false };
        let told = |n: Role, s: Role, l: Role, o: Role, returns: Returns| {
            let roles = vec![("n", n), ("s", s), ("list", l), ("out", o)];
            let contract = Contract { returns, ..contract("f", roles) };
            misfit(&library, function, &contract).unwrap_or_default()
        };
        let right = told(value(), text(), list(), out(), Returns::Nothing);
        assert_eq!(right, "");
        for (wrong, said) in [
            (
                told(text(), text(), list(), out(), Returns::Nothing),
                "parameter `n`: role \"c-string\" needs a pointer to `char`, and in C it is `int`",
            ),
            (
                told(value(), value(), list(), out(), Returns::Nothing),
                "parameter `s`: role \"value\" needs a number",
            ),
            (
                told(value(), text(), out(), out(), Returns::Nothing),
                "parameter `list`: role \"pointer\" needs a pointer to a number",
            ),
            (
                told(value(), text(), list(), Role::OneOf { values: vec![1] }, Returns::Nothing),
                "parameter `out`: role \"one-of\" needs",
            ),
            (
                told(value(), text(), list(), out(), Returns::Memory),
                "returns = \"memory\": it needs a pointer, and C returns `void`",
            ),
        ] {
            assert!(wrong.contains(said), "{wrong}");
        }
    }

    #[test]
    fn what_is_inferred_fits() {
        for folder in ["fixtures/c-lib", "fixtures/traps"] {
            let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
            let scratch = tempfile::tempdir().unwrap();
            let scratch = Utf8Path::from_path(scratch.path()).unwrap().join("x");
            let library = load_into(&root, &scratch, "gcc").unwrap().library;
            let facts = FactTable::build(&library);
            let handles = crate::contract::handles::Handles::of(&library, &facts);
            let mut seen = 0;
            for function in &library.functions {
                let inferred = infer(&library, &facts, function).contract().cloned();
                let contract = inferred.or_else(|| handles.contract(function)?.ok());
                let Some(contract) = contract else { continue };
                assert_eq!(misfit(&library, function, &contract), None, "{}", function.name);
                seen += 1;
            }
            assert!(seen > 10, "{folder}: {seen}");
        }
    }
}
