//! Pointers that a function returns, and blocks that it gets to free: what a harness can compare of both.

use super::c_words::{identifiers, without_subscripts};
use super::constructors::is_named;
use super::file::TABLE;
use super::flat::flat;
use super::parameter_roles;
use super::pointer_facts::{FactTable, Facts};
use super::roles_from_calls::contradicted_result;
use super::types::{Returns, Role};
use crate::libc_facts as libc;
use crate::symbol::{CType, Function, Library, Returned, SymbolKey, TypeKind, UseKind};

/// Depth to which callees are followed to find an allocation.
const DEPTH: usize = 4;

/// Size in bytes of a block that is given to a function.
const GIVEN: usize = 64;
const BLOCK: Role = Role::Given(parameter_roles::Given { max: GIVEN, nullable: true });

/// What a harness compares of the result, or why it cannot.
pub(super) fn returns_of(
    library: &Library,
    facts: &FactTable,
    function: &Function,
) -> Result<Returns, String> {
    let returns = from_text(library, facts, function)?;
    match facts.observed(function).and_then(|calls| contradicted_result(calls, returns)) {
        Some(why) => Err(why.to_owned()),
        None => Ok(returns),
    }
}

/// What the C text shows of it.
fn from_text(library: &Library, facts: &FactTable, function: &Function) -> Result<Returns, String> {
    let strange = || Err(format!("returns `{}`", function.ret.spelling));
    match &function.ret.kind {
        TypeKind::Void => Ok(Returns::Nothing),
        TypeKind::Pointer(target) if target.is_const && target.is_char() => {
            let elsewhere =
                |r: &Returned| matches!(r, Returned::Param(_) | Returned::Local(_) | Returned::Call(_));
            // Without a pointer to come from, a local one leads to what the library has.
            let into_argument = |r: &Returned| match r {
                Returned::Expression(text) => is_about_pointer(function, text),
                Returned::InsideLocal(_) => function.params.iter().any(|param| leads_on(&param.ty)),
                _ => false,
            };
            match () {
                () if function.returns.iter().any(elsewhere) => {
                    Err("returns a string that it may not own".into())
                }
                () if !function.returns.iter().any(into_argument) => Ok(Returns::StaticString),
                () if leads_back(facts, function) => Ok(Returns::Address),
                () => Err("returns a string that may be a constant or part of an argument".into()),
            }
        }
        // Pointers to structs may be handles.
        TypeKind::Pointer(target) if target.kind != TypeKind::Void && !is_number(target) => strange(),
        TypeKind::Pointer(target) => {
            let table = table(facts, function, target).map(Returns::Table);
            let memory = || allocates(library, facts, function, DEPTH).then_some(Returns::Memory);
            let address = || leads_back(facts, function).then_some(Returns::Address);
            table.or_else(memory).or_else(address).map_or_else(strange, Ok)
        }
        _ if flat(library, &function.ret) => Ok(Returns::Value),
        _ => strange(),
    }
}

fn is_number(ty: &CType) -> bool {
    matches!(ty.kind, TypeKind::Bool | TypeKind::Int { .. } | TypeKind::Float { .. })
}

/// The number of elements of a constant array that is the only result of the function.
fn table(facts: &FactTable, function: &Function, target: &CType) -> Option<usize> {
    let [Returned::Global(name)] = &function.returns[..] else { return None };
    let mut read = function.globals_read.iter().chain(&function.globals_written);
    let global = read.find_map(|key| facts.index.global(key).filter(|global| global.c_name == *name))?;
    let TypeKind::Array { of, len: Some(len) } = &global.ty.kind else { return None };
    let len = usize::try_from(*len).ok().filter(|len| (1..=TABLE).contains(len))?;
    (!global.is_variable() && is_number(of) && of.kind == target.kind).then_some(len)
}

/// Whether the function returns only null or a block that it has just allocated. The harness discards inputs on
/// which it does not.
fn allocates(library: &Library, facts: &FactTable, function: &Function, depth: usize) -> bool {
    let through = |name: &str| {
        let callee = facts.resolve(function, name);
        libc::allocates(name)
            || depth > 0 && callee.is_some_and(|callee| allocates(library, facts, callee, depth - 1))
    };
    let called = |name: &&String| libc::allocates(name);
    let replaced = replaced(library, facts, function);
    let own = function.externs.iter().any(|name| called(&name)) || !replaced.is_empty();
    let inner =
        |key| facts.index.function(key).is_some_and(|f| depth > 0 && allocates(library, facts, f, depth - 1));
    let makes = own || function.calls.iter().any(inner);
    let is_known = |returned: &Returned| match returned {
        Returned::Constant(_) => true,
        // `(*get)(n)` has no name.
        Returned::Call(name) if name == "?" => !replaced.is_empty(),
        Returned::Call(name) => replaced.contains(&name.as_str()) || through(name),
        Returned::Local(_) => makes && !returns_argument(facts, function),
        Returned::Expression(text) => identifiers(text).iter().any(|word| replaced.contains(word)),
        Returned::Param(_) | Returned::InsideLocal(_) | Returned::Global(_) | Returned::StringLiteral => {
            false
        }
    };
    let is_some = |returned: &Returned| !matches!(returned, Returned::Constant(_));
    function.returns.iter().all(is_known) && function.returns.iter().any(is_some)
}

/// The variables of a function through which it allocates, where programs can replace the allocator.
fn replaced<'l>(library: &'l Library, facts: &FactTable<'l>, function: &Function) -> Vec<&'l str> {
    let allocates = |key: &&SymbolKey| {
        library
            .allocators
            .get(*key)
            .is_some_and(|functions| functions.iter().any(|name| libc::allocates(name)))
    };
    let read = if function.indirect_calls > 0 { &function.globals_read[..] } else { &[] };
    let found = read.iter().filter(allocates).filter_map(|key| facts.index.global(key));
    found.map(|global| global.c_name.as_str()).collect()
}

fn returns_argument(facts: &FactTable, function: &Function) -> bool {
    (0..function.params.len()).any(|index| facts.of(function, index).returned)
}

/// Whether a pointer into an argument is returned.
fn returns_inside(facts: &FactTable, function: &Function) -> bool {
    (0..function.params.len()).any(|index| facts.of(function, index).leads_back)
}

fn is_about_pointer(function: &Function, text: &str) -> bool {
    let text = without_subscripts(text);
    let words = without_members(&text);
    function.params.iter().any(|param| leads_on(&param.ty) && words.contains(&param.name.as_str()))
}

fn leads_on(ty: &CType) -> bool {
    matches!(ty.kind, TypeKind::Pointer(_) | TypeKind::Array { .. })
}

/// The names in a C text, without those of members.
fn without_members(text: &str) -> Vec<&str> {
    let is_member = |name: &&str| {
        let before = text[..name.as_ptr().addr() - text.as_ptr().addr()].trim_end();
        before.ends_with('.') || before.ends_with("->")
    };
    identifiers(text).into_iter().filter(|name| !is_member(name)).collect()
}

/// Whether the function returns only null or a pointer into an argument. The harness discards inputs on which it
/// does not.
fn leads_back(facts: &FactTable, function: &Function) -> bool {
    let goes_first = |name: &str| {
        let mut uses = function.params.iter().flat_map(|param| &param.uses);
        uses.any(|used| matches!(&used.kind, UseKind::Argument { callee, position: 0, .. } if callee == name))
    };
    let is_known = |returned: &Returned| match returned {
        Returned::Constant(_) | Returned::Param(_) => true,
        Returned::Call(name) => libc::leads_back(name) && goes_first(name),
        Returned::Expression(text) => returns_argument(facts, function) || is_about_pointer(function, text),
        Returned::Local(_) => returns_argument(facts, function),
        Returned::InsideLocal(_) => returns_inside(facts, function),
        Returned::Global(_) | Returned::StringLiteral => false,
    };
    let is_some = |returned: &Returned| !matches!(returned, Returned::Constant(_));
    function.returns.iter().all(is_known) && function.returns.iter().any(is_some)
}

/// The role of memory that the function frees and does not otherwise use.
pub(super) fn given(target: &CType, facts: &Facts) -> Option<Role> {
    let is_touched = facts.reads
        || facts.writes
        || facts.dereferenced
        || facts.walks
        || facts.fields
        || facts.string
        || facts.constant_index.is_some();
    let goes_on = facts.stored || facts.called || facts.returned || facts.escapes.is_some();
    let is_plain = target.kind == TypeKind::Void || is_number(target);
    (is_plain && !is_touched && !goes_on).then_some(BLOCK)
}

/// The role of a pointer that goes to a variable of the library, if the function's name says that it is freed there:
/// `cJSON_free(object)` calls what `global_hooks` names.
pub(super) fn freed_by_name(function: &Function) -> Option<Role> {
    is_named(&function.c_name, &["free"]).then_some(BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_behind_a_local_may_be_part_of_an_argument() {
        let text = "#include <string.h>\n\
            static const char *const names[] = { \"one\", \"two\" };\n\
            const char *direct(const char *s) { return s[0] == '/' ? s + 1 : 0; }\n\
            const char *local(const char *s) { const char *p = s; while (*p && *p != '/') p++; return *p ? p + 1 : 0; }\n\
            const char *found(const char *s) { const char *p = strchr(s, '/'); return p ? p + 1 : 0; }\n\
            const char *element(const char *s) { const char *p = s; while (*p == '/') p++; return &p[1]; }\n\
            const char *either(const char *s, int n) { const char *p = n ? s : \"none\"; return p + 1; }\n\
            const char *mixed(const char *s) { const char *p = s; return *p ? p + 1 : \"none\"; }\n\
            const char *of_table(int n) { const char *name = names[n & 1]; return name + 1; }\n\
            const char *fixed(const char *s) { return names[*s & 1]; }\n";
        let library = crate::c::front_tests::loaded(&[("a.c", text)]);
        let facts = FactTable::build(&library);
        let of = |name: &str| returns_of(&library, &facts, library.find(name).unwrap()).ok();
        for name in ["direct", "local", "found", "element"] {
            assert_eq!(of(name), Some(Returns::Address), "{name}");
        }
        assert_eq!([of("either"), of("mixed")], [None, None]);
        assert_eq!([of("of_table"), of("fixed")], [Some(Returns::StaticString); 2]);
    }
}
