//! Whether the roles of a contract fit the types of C, in the words of its file: rustc would say it of the generated harness.

use super::flat::flat;
use super::parameter_roles::Typed;
use super::types::{Contract, Returns};
use crate::symbol::{Function, Library, TypeKind};

/// What does not fit, if anything does. The parameters are those of C, in order.
pub fn misfit(library: &Library, function: &Function, contract: &Contract) -> Option<String> {
    let params = contract.params.iter().zip(&function.params);
    let mut complaints = params.filter_map(|(param, of)| {
        let (fits, needs) = param.role.needs(&Typed { library, ty: &of.ty });
        (!fits).then(|| format!("parameter `{}`: {needs}, and in C it is `{}`", param.name, of.ty.spelling))
    });
    complaints.next().or_else(|| {
        let needs = result_needs(&Typed { library, ty: &function.ret }, contract.returns)?;
        Some(format!(
            "returns = \"{}\": {needs}, and C returns `{}`",
            contract.returns.word(),
            function.ret.spelling
        ))
    })
}

/// What the kind of result needs and the type is not.
fn result_needs(of: &Typed, returns: Returns) -> Option<&'static str> {
    let (fits, what) = match returns {
        Returns::Nothing => (of.ty.kind == TypeKind::Void, "it needs `void`"),
        Returns::Value => (of.is_flat(), "it needs a number, or a struct of numbers"),
        Returns::StaticString => (of.leads_to_bytes(), "it needs a pointer to `char`"),
        Returns::Handle | Returns::Address | Returns::Memory => (of.target().is_some(), "it needs a pointer"),
        Returns::Table(_) => {
            (of.target().is_some_and(|to| flat(of.library, to)), "it needs a pointer to numbers")
        }
    };
    (!fits).then_some(what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::front_tests::load_into;
    use crate::contract::fixture::contract;
    use crate::contract::infer::infer;
    use crate::contract::parameter_roles;
    use crate::contract::pointer_facts::FactTable;
    use crate::contract::types::{Direction, Life, Role};
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
        let value = || Role::Value(parameter_roles::Value { min: None, max: None });
        let text = || Role::CString(parameter_roles::CString { max: 9, nullable: false });
        let list =
            || Role::Handle(parameter_roles::Handle { life: Life::Uses, through: None, nullable: false });
        let out = || Role::Pointer(parameter_roles::Pointer { direction: Direction::Out, nullable: false });
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
                told(
                    value(),
                    text(),
                    list(),
                    Role::OneOf(parameter_roles::OneOf { values: vec![1] }),
                    Returns::Nothing,
                ),
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
