//! Callback parameters: which of them a harness can supply.

use super::parameter_roles::{self, prototype};
use super::pointer_facts::Facts;
use super::types::{Parameter, Role};
use crate::symbol::{CType, Function, Param, TypeKind};

/// The role of a function pointer; `Err` names the obstacle.
pub(super) fn role(param: &Param, facts: &Facts) -> Result<Role, String> {
    let name = &param.name;
    let Some((params, ret)) = prototype(&param.ty) else {
        return Err(format!("`{name}` is a callback of an unknown kind"));
    };
    if facts.stored || facts.freed {
        return Err(format!("the callback `{name}` is stored"));
    }
    if let Some(callee) = facts.escapes.as_ref().filter(|callee| *callee != "?") {
        return Err(format!("the callback `{name}` is passed to `{callee}`, whose effects are unknown"));
    }
    let nullable = facts.null_checked;
    if is_order(params, ret) {
        return Ok(Role::Callback(parameter_roles::Callback { order: true, nullable }));
    }
    if let Some(what) = params.iter().find_map(foreign).or_else(|| result(ret)) {
        return Err(format!("the callback `{name}` {what}"));
    }
    // A single `void *` can carry user data; a second one would point to unknown data that C reads or writes.
    let blind = params.iter().filter(|ty| points_to_void(ty)).count();
    if blind > 1 {
        return Err(format!(
            "the C text does not show what the {blind} `void *` of the callback `{name}` points to"
        ));
    }
    Ok(Role::Callback(parameter_roles::Callback { order: false, nullable }))
}

/// Whether the type is a comparison, `int (*)(const T *, const T *)`. The harness must supply a total order, or C's
/// algorithms may run out of bounds.
fn is_order(params: &[CType], ret: &CType) -> bool {
    let [a, b] = params else { return false };
    let element = |ty: &CType| match &ty.kind {
        TypeKind::Pointer(target) if target.is_const => match target.kind {
            TypeKind::Void | TypeKind::Int { plain_char: false, .. } | TypeKind::Float { .. } => {
                Some(target.kind.clone())
            }
            _ => None,
        },
        _ => None,
    };
    let signed = matches!(ret.kind, TypeKind::Int { signed: true, bits: 32.., .. });
    signed && element(a).is_some_and(|kind| element(b) == Some(kind))
}

/// Whether the type is a comparison of values of any kind, which may get user data, too. Without an order, trees lose what
/// they hold.
pub(super) fn orders_any(params: &[CType], ret: &CType) -> bool {
    let ([a, b] | [a, b, _]) = params else { return false };
    let values = |ty: &CType| match &ty.kind {
        TypeKind::Pointer(target) if target.is_const => Some(target.kind.clone()),
        _ => None,
    };
    let signed = matches!(ret.kind, TypeKind::Int { signed: true, bits: 32.., .. });
    signed && values(a).is_some() && values(a) == values(b) && params.get(2).is_none_or(points_to_void)
}

pub(super) fn points_to_void(ty: &CType) -> bool {
    matches!(&ty.kind, TypeKind::Pointer(target) if target.kind == TypeKind::Void)
}

/// Why the harness cannot record an argument of this type.
fn foreign(ty: &CType) -> Option<String> {
    match &ty.kind {
        TypeKind::Bool | TypeKind::Float { .. } => None,
        TypeKind::Int { bits: 8..=64, .. } | TypeKind::Enum { bits: 8..=64, .. } => None,
        TypeKind::Pointer(target) if target.kind == TypeKind::Void => None,
        TypeKind::Pointer(target) => match target.kind {
            TypeKind::Int { .. } | TypeKind::Float { .. } if target.is_const => None,
            TypeKind::Int { .. } | TypeKind::Float { .. } => Some(format!(
                "gets a `{}`, and the C text does not show what it should write there",
                ty.spelling
            )),
            _ => Some(format!("gets a `{}`, which the harness cannot record", ty.spelling)),
        },
        _ => Some(format!("gets a `{}`, which the harness cannot record", ty.spelling)),
    }
}

fn result(ret: &CType) -> Option<String> {
    match ret.kind {
        TypeKind::Void | TypeKind::Bool | TypeKind::Float { .. } => None,
        TypeKind::Int { bits: 8..=64, .. } | TypeKind::Enum { bits: 8..=64, .. } => None,
        _ => Some(format!("returns `{}`", ret.spelling)),
    }
}

/// For a program that only calls the function: a callback that orders or that the input answers, or what it gets.
pub(super) fn any(param: &Param) -> Option<Role> {
    match prototype(&param.ty) {
        Some((params, ret)) => {
            let order = orders_any(params, ret);
            Some(Role::Callback(parameter_roles::Callback { order, nullable: false }))
        }
        None => points_to_void(&param.ty).then_some(Role::UserData(parameter_roles::UserData)),
    }
}

/// Whether the callbacks of a function get pointers to values of this type, and only to constant ones.
pub(super) fn only_read(function: &Function, target: &CType) -> bool {
    let given =
        function.params.iter().filter_map(|param| prototype(&param.ty)).flat_map(|(params, _)| params);
    let mut given = given.filter_map(CType::target).filter(|other| other.kind == target.kind).peekable();
    given.peek().is_some() && given.all(|target| target.is_const)
}

/// Whether a `void *` is passed to callbacks and used nowhere else.
pub(super) fn is_token(ty: &CType, facts: &Facts) -> bool {
    let untouched = !facts.dereferenced
        && !facts.walks
        && !facts.fields
        && !facts.string
        && !facts.reads
        && !facts.writes;
    points_to_void(ty)
        && untouched
        && !(facts.stored || facts.freed || facts.called || facts.returned)
        && facts.escapes.as_deref() == Some("?")
}

/// A comparison of `void *` needs elements of a known size.
pub(super) fn measured(function: &Function, params: &[Parameter]) -> Result<(), String> {
    if params.iter().any(|param| matches!(param.role, Role::Elements(_))) {
        return Ok(());
    }
    let blind = |param: &&Param| {
        let orders = params.iter().any(|p| {
            p.name == param.name
                && matches!(p.role, Role::Callback(parameter_roles::Callback { order: true, .. }))
        });
        orders && prototype(&param.ty).is_some_and(|(params, _)| params.iter().any(points_to_void))
    };
    if let Some(param) = function.params.iter().find(blind) {
        return Err(format!(
            "the C text does not show how many bytes the callback `{}` compares",
            param.name
        ));
    }
    // Without user data to pass on, it points to data of C's that the callback reads or writes.
    let passes_on = params.iter().any(|param| matches!(param.role, Role::UserData(_) | Role::Given(_)));
    let is_lost = |param: &&Param| {
        let is_callback = params.iter().any(|p| p.name == param.name && p.role.callback().is_some());
        !passes_on
            && is_callback
            && prototype(&param.ty).is_some_and(|(params, _)| params.iter().any(points_to_void))
    };
    match function.params.iter().find(is_lost) {
        Some(param) => Err(format!(
            "the C text does not show what the `void *` of the callback `{}` points to",
            param.name
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use crate::contract::infer::infer;
    use crate::contract::parameter_roles::{Direction, Role};
    use crate::contract::pointer_facts::FactTable;
    use crate::contract::types::Judgeable;

    #[test]
    fn elements_that_a_callback_only_compares_stay_a_buffer() {
        let of = |text: &str| {
            let library = crate::c::front_tests::loaded(&[("a.c", text)]);
            infer(&library, &FactTable::build(&library), library.find("sort").unwrap())
        };
        let sort = |ty: &str| {
            of(&format!(
                "void sort(int *a, int n, int (*cmp)({ty} *, {ty} *)) {{\n\
                for (int i = 1; i < n; i++) for (int j = i; j > 0 && cmp(&a[j - 1], &a[j]) > 0; j--) {{\n\
                int t = a[j]; a[j] = a[j - 1]; a[j - 1] = t; }} }}\n"
            ))
        };
        let Judgeable::Yes(contract) = sort("const int") else { panic!("{:?}", sort("const int")) };
        let [a, _, cmp] = &contract.params[..] else { panic!("{contract:?}") };
        let is_buffer =
            matches!(&a.role, Role::Buffer(of) if of.direction == Direction::InOut && of.length == "n");
        let is_order = matches!(&cmp.role, Role::Callback(of) if of.order);
        assert!(is_buffer && is_order, "{contract:?}");
        // This one may change them; and this one is not what gets them.
        assert!(!matches!(sort("int"), Judgeable::Yes(_)));
        let table = "static void twice(int *a, int n) { while (n--) a[n] *= 2; }\n\
            static void (*const steps[])(int *, int) = { twice };\n\
            int sort(int *a, int n, int (*pick)(int)) { steps[0](a, n); return pick(n); }\n";
        assert!(!matches!(of(table), Judgeable::Yes(_)), "{:?}", of(table));
    }
}
