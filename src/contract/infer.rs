//! Infers roles from facts: the contract of a function, or why there is none yet.

use super::borrowed;
use super::callback;
use super::element_sizes;
use super::errno::sets_errno;
use super::flat::{flat, may_be_longer};
use super::length_inference::{Size, free_lengths, inferred_max, length_partners, most_of_step};
use super::parameter_roles::{self, MAX, most, prototype};
use super::pointer_facts::{FactTable, Facts, direction};
use super::returned::{self, returns_of};
use super::roles_from_calls;
use super::safe_signature::{rules, signature_of};
use super::state;
use super::types::{Contract, Direction, Harness, Judgeable, Parameter, Role, Signature};
use crate::c::text::integers;
use crate::libc_facts::is_answered;
use crate::symbol::{CType, Function, Library, Param, TypeKind};

/// Larger constants of the C text do not widen buffers.
const MAX_INTERESTING: usize = 16_384;

/// Bytes of the largest load or store that clang reports.
const REPORTED: u64 = 16;

/// Elements of an array; more memory is given as such whose size nothing says.
const MOST_OF_ARRAY: usize = 4096;

/// Infers the contract of `function`.
pub fn infer(library: &Library, facts: &FactTable, function: &Function) -> Judgeable {
    match try_infer(library, facts, function) {
        Ok(contract) => Judgeable::Yes(contract),
        Err(reason) => Judgeable::NotYet(reason),
    }
}

fn try_infer(library: &Library, facts: &FactTable, function: &Function) -> Result<Contract, String> {
    if let Some(reason) = &function.unsupported {
        return Err(reason.clone());
    }
    let globals = state::globals(library, &facts.index, function)?;
    if let Some(why) = state::unfilled(library, &facts.index, (function, &globals)) {
        return Err(why);
    }
    let interesting = constants(library, function);
    let max = inferred_max(&interesting);
    let mut roles = roles(library, facts, function, max).into_iter().collect::<Result<Vec<_>, _>>()?;
    free_lengths(facts, function, &mut roles);
    let mut params = Vec::new();
    for (index, role) in roles.into_iter().enumerate() {
        let param = &function.params[index];
        let reason = reason_of(facts, function, index, &role);
        let (likely, texts, made_by) = Default::default();
        params.push(Parameter { name: param.name.clone(), role, likely, texts, made_by, reason });
    }
    callback::measured(function, &params)?;
    let returns = returns_of(library, facts, function)?;
    let calls = facts.observed(function);
    let signature = signature_of(function, &params, returns, calls);
    let require = match signature {
        Signature::Safe => rules(function, &params, calls),
        Signature::C => Vec::new(),
    };
    let errno = sets_errno(&facts.index, function);
    let chance = facts.index.reached(function).any(|f| f.externs.iter().any(|name| is_answered(name)));
    Ok(Contract {
        symbol: function.name.clone(),
        harness: Harness::Inferred,
        signature,
        params,
        returns,
        errno,
        chance,
        require,
        interesting,
        equivalent: Vec::new(),
        proposed_by: None,
        globals,
        sequence: None,
    })
}

/// The role of each parameter, with buffers of at most `max`, or the obstacle to one.
pub(super) fn roles(
    library: &Library,
    facts: &FactTable,
    function: &Function,
    max: usize,
) -> Vec<Result<Role, String>> {
    roles_where(library, facts, function, (max, false))
}

/// As [`roles`]. With `kept`, C may keep a pointer after the call, because its memory outlives the call.
pub(super) fn roles_where(
    library: &Library,
    facts: &FactTable,
    function: &Function,
    (max, kept): (usize, bool),
) -> Vec<Result<Role, String>> {
    let observed = facts.observed(function);
    let roles = |sizes: &[Option<Size>]| -> Vec<Result<Role, String>> {
        let role = |(index, param): (usize, &Param)| {
            let mut own = facts.of(function, index);
            own.stored &= !kept;
            // The C text does not show each write. Whether C reads first is not known then.
            let seen = observed.and_then(|calls| calls.params.get(&param.name));
            if !own.writes && seen.is_some_and(|seen| seen.written > 0) {
                (own.reads, own.writes) = (true, true);
            }
            let role = role_of(library, function, param, &own, sizes, (index, max), facts);
            if kept { role.map(|role| within_step(role, param)) } else { role }
        };
        function.params.iter().enumerate().map(role).collect()
    };
    let mut sizes: Vec<_> =
        length_partners(facts, function).into_iter().map(|length| length.map(Size::Length)).collect();
    let from_text = roles(&sizes);
    let Some(calls) = observed else { return from_text };
    let roles =
        match roles_from_calls::sizes((function, &numbers(library, function)), calls, &from_text, &mut sizes)
        {
            true => roles(&sizes),
            false => from_text,
        };
    roles_from_calls::without_contradicted(function, calls, roles)
}

/// The role of a parameter in a step of a call sequence.
fn within_step(role: Role, param: &Param) -> Role {
    match role {
        Role::Buffer(buffer) => {
            Role::Buffer(parameter_roles::Buffer { max: buffer.max.min(most_of_step(&param.ty)), ..buffer })
        }
        role => role,
    }
}

fn role_of(
    library: &Library,
    function: &Function,
    param: &Param,
    facts: &Facts,
    sizes: &[Option<Size>],
    (index, max): (usize, usize),
    all_facts: &FactTable,
) -> Result<Role, String> {
    if let Some(role) = sized(function, index, all_facts) {
        return Ok(role);
    }
    if sizes.iter().flatten().any(|size| size.length() == Some(&param.name)) {
        return Ok(Role::Length(parameter_roles::Length));
    }
    let name = &param.name;
    match &param.ty.kind {
        TypeKind::Bool | TypeKind::Int { .. } | TypeKind::Float { .. } => {
            Ok(Role::Value(parameter_roles::Value::ANY))
        }
        TypeKind::Enum { values, .. } if !values.is_empty() => one_of(values).ok_or_else(|| wide(name)),
        TypeKind::Record(_) if flat(library, &param.ty) => Ok(Role::Value(parameter_roles::Value::ANY)),
        TypeKind::Record(_) => Err(format!("`{name}` is a struct with pointers, unions or bit-fields")),
        TypeKind::Array { of, len: Some(len) } if flat(library, of) => {
            let (direction, len) = (direction(facts), *len as usize);
            Ok(match facts.null_checked {
                true => Role::Room(parameter_roles::Room { direction, len, nullable: true }),
                false => Role::FixedArray(parameter_roles::FixedArray { direction, len }),
            })
        }
        TypeKind::Pointer(target) | TypeKind::Array { of: target, .. } => {
            pointer(library, function, param, target, facts, (sizes[index].as_ref(), max))
        }
        _ => Err(format!("`{name}` has the type `{}`", param.ty.spelling)),
    }
}

fn calls_back(param: &Param) -> bool {
    prototype(&param.ty).is_some()
}

/// The role of a parameter in a group of memory, element count and element size.
fn sized(function: &Function, index: usize, facts: &FactTable) -> Option<Role> {
    let found = (0..function.params.len()).find_map(|at| {
        let (count, size) = element_sizes::elements(facts, function, at)?;
        Some((at, count, size))
    });
    let (at, count, size) = found?;
    let param = &function.params[index];
    if index != at {
        return [&count, &size].contains(&&param.name).then_some(Role::Length(parameter_roles::Length));
    }
    // C may also write through local variables, which the facts do not follow.
    let TypeKind::Pointer(target) = &param.ty.kind else { return None };
    let direction = if target.is_const { Direction::In } else { Direction::InOut };
    Some(Role::Elements(parameter_roles::Elements { direction, count, size, max: element_sizes::ELEMENTS }))
}

fn wide(name: &str) -> String {
    format!("`{name}` is an enum with values beyond 64 bits")
}

fn one_of(values: &[(String, i128)]) -> Option<Role> {
    let mut values = values.iter().map(|(_, v)| i64::try_from(*v).ok()).collect::<Option<Vec<_>>>()?;
    values.sort_unstable();
    values.dedup();
    Some(Role::OneOf(parameter_roles::OneOf { values }))
}

fn pointer(
    library: &Library,
    function: &Function,
    param: &Param,
    target: &CType,
    facts: &Facts,
    (size, max): (Option<&Size>, usize),
) -> Result<Role, String> {
    let name = &param.name;
    let nullable = facts.null_checked;
    if facts.called || matches!(target.kind, TypeKind::Function { .. }) {
        return callback::role(param, facts);
    }
    if callback::is_token(&param.ty, facts) {
        let given = returned::freed_by_name(function).filter(|_| !function.params.iter().any(calls_back));
        return Ok(given.unwrap_or(Role::UserData(parameter_roles::UserData)));
    }
    if matches!(target.kind, TypeKind::Pointer(_)) {
        return Err(format!("`{name}` is a pointer to a pointer"));
    }
    if facts.freed {
        let given = returned::given(target, facts);
        return given.ok_or_else(|| format!("the function frees `{name}`, as a handle's destructor does"));
    }
    if facts.stored {
        return Err(format!("the pointer `{name}` is stored, or its address is taken"));
    }
    // An unknown callee that is a callback of the harness only reads constant memory, and what all callbacks get as constant.
    let calls_back = || function.params.iter().any(calls_back);
    let read_only = |callee: &&String| {
        *callee == "?" && calls_back() && (target.is_const || callback::only_read(function, target))
    };
    if let Some(callee) = facts.escapes.as_ref().filter(|callee| !read_only(callee)) {
        return Err(format!("`{name}` is passed to `{callee}`, whose effects are unknown"));
    }
    let is_void = target.kind == TypeKind::Void;
    if !is_void && !flat(library, target) {
        return Err(format!("`{name}` points to `{}`, which a harness cannot create", target.spelling));
    }
    if may_be_longer(library, target) {
        return Err(format!(
            "`{name}` points to `{}`, which ends in an array that may be longer",
            target.spelling
        ));
    }
    if facts.before {
        return Err(format!("`{name}` leads to memory before it"));
    }
    let direction = direction(facts);
    let room = || borrowed::room(library, param, facts);
    match size {
        Some(Size::Length(length)) => {
            let counted = function.params.iter().find(|param| param.name == *length);
            let max = max.min(most(counted.map(|param| &param.ty)));
            let length = length.clone();
            return Ok(Role::Buffer(parameter_roles::Buffer { direction, length, max, nullable }));
        }
        // Larger elements may be copied without a report.
        Some(Size::Elements(_)) if !is_void && library.size_of(target).is_none_or(|size| size > REPORTED) => {
        }
        Some(Size::Elements(1)) if !is_void => {
            return Ok(Role::Pointer(parameter_roles::Pointer { direction, nullable }));
        }
        // Null is a value of its own, which arrays do not have.
        Some(Size::Elements(len)) if !is_void && !nullable && *len <= MOST_OF_ARRAY => {
            return Ok(Role::FixedArray(parameter_roles::FixedArray { direction, len: *len }));
        }
        Some(Size::Elements(len)) if is_void => {
            return Ok(Role::Room(parameter_roles::Room { direction, len: *len, nullable }));
        }
        Some(Size::Elements(_)) | None => {}
    }
    if is_void {
        return room()
            .ok_or_else(|| format!("the C text does not show what the `void *` `{name}` points to"));
    }
    let text = target.is_char();
    let ends_at_nul = facts.is_text() && matches!(target.kind, TypeKind::Int { bits: 8, .. });
    if !facts.writes && (facts.string || ends_at_nul || text && target.is_const && !facts.returned) {
        return Ok(Role::CString(parameter_roles::CString { max: max.min(MAX), nullable }));
    }
    if facts.returned {
        return Err(format!("a pointer into `{name}` is returned"));
    }
    if facts.walks || facts.several {
        return room().ok_or_else(|| format!("the C text does not show how much memory `{name}` points to"));
    }
    match facts.constant_index {
        Some(last) if last > 0 => {
            let len = last as usize + 1;
            Ok(match nullable {
                true => Role::Room(parameter_roles::Room { direction, len, nullable }),
                false => Role::FixedArray(parameter_roles::FixedArray { direction, len }),
            })
        }
        _ if facts.dereferenced || facts.fields || facts.constant_index.is_some() => {
            Ok(Role::Pointer(parameter_roles::Pointer { direction, nullable }))
        }
        _ if function.params.len() == 1 || !facts.reads && !facts.writes => {
            Ok(Role::Pointer(parameter_roles::Pointer { direction, nullable }))
        }
        _ => room().ok_or_else(|| format!("the C text does not show how much memory `{name}` points to")),
    }
}

/// The C line that a role came from, or the parameter's type; and what real calls say.
pub(super) fn reason_of(facts: &FactTable, function: &Function, index: usize, role: &Role) -> String {
    let param = &function.params[index];
    let observed = facts.observed(function);
    let borne_out = observed.and_then(|observed| roles_from_calls::borne_out(&param.name, role, observed));
    let facts = facts.of(function, index);
    let file = &function.place.file;
    let reason = match facts.lengths.values().next().or(facts.line.as_ref()) {
        Some(line) => {
            let text = function.text.lines().nth(line.saturating_sub(function.place.line) as usize);
            format!("{file}:{line}: {}", text.unwrap_or_default().trim())
        }
        None => format!("{file}:{}: `{}`", function.place.line, param.ty.spelling),
    };
    let reason = match borne_out {
        Some(calls) => format!("{}; {calls}", reason.trim_end_matches(';')),
        None => reason,
    };
    // TOML would write a tab as an escape.
    reason.replace('\t', " ")
}

/// Integer constants of the function and its macros.
fn numbers(library: &Library, function: &Function) -> Vec<usize> {
    let macros = library.macros.iter().filter(|m| function.macros.contains(&m.name)).map(|m| m.text.as_str());
    let texts = std::iter::once(function.text.as_str()).chain(macros);
    let all = texts.flat_map(|text| integers(text.as_bytes()));
    all.filter_map(|number| usize::try_from(number).ok()).collect()
}

/// Those at which behaviour may change with length.
pub(super) fn constants(library: &Library, function: &Function) -> Vec<usize> {
    let mut found = numbers(library, function);
    found.retain(|n| (16..=MAX_INTERESTING).contains(n));
    found.sort_unstable();
    found.dedup();
    found.truncate(12);
    found
}
