//! Which signature the Rust function gets: a safe one, or C's.

use super::c_words::identifiers;
use super::length_inference::counts_behind;
use super::observed_calls::Observed;
use super::parameter_roles;
use super::roles_from_calls::allows_slices;
use super::types::{Parameter, Returns, Role, Signature};
use crate::c::text::words_where_null;
use crate::symbol::{Comparison, Function, Param, ParamUse, TypeKind, UseKind};

/// Safe if every role and the result allow it; `calls` are real ones.
pub(super) fn signature_of(
    function: &Function,
    params: &[Parameter],
    returns: Returns,
    calls: Option<&Observed>,
) -> Signature {
    let needs_c = |p: &Parameter| keeps_c(function, p, params, calls) || p.role.facts().needs_c;
    match returns.needs_c() || params.iter().any(needs_c) {
        true => Signature::C,
        false => Signature::Safe,
    }
}

/// Lengths that often mean another one, such as that of the text up to its NUL.
const MARKS: [&str; 6] = ["0", "(size_t)-1", "(size_t) -1", "-1", "SIZE_MAX", "~0"];

/// Whether a length keeps C's type. A slice has no negative length, a null slice has no length, and no length of a slice
/// stands for another one, so C's types stay where the C text looks at these.
fn keeps_c(function: &Function, parameter: &Parameter, all: &[Parameter], calls: Option<&Observed>) -> bool {
    if parameter.role.length().is_none() {
        return false;
    }
    let Some(param) = function.params.iter().find(|p| p.name == parameter.name) else { return false };
    if counts_behind(param) {
        return true;
    }
    let signed = matches!(param.ty.kind, TypeKind::Int { signed: true, .. });
    // Lines that check a buffer of this length for null: a length check on such a line distinguishes (null, 0) from
    // (null, n).
    let null = |p: &&Parameter| matches!(&p.role, Role::Buffer(parameter_roles::Buffer { length, nullable: true, .. }) if *length == param.name);
    let buffers = all.iter().filter(null).filter_map(|p| function.params.iter().find(|f| f.name == p.name));
    let buffers: Vec<&Param> = buffers.collect();
    let is_used_where_null = buffers
        .iter()
        .any(|buffer| words_where_null(function.text.as_bytes(), &buffer.name).contains(&param.name));
    let checked = |used: &ParamUse| matches!(used.kind, UseKind::NullCheck | UseKind::Compare { .. });
    let lines: Vec<u32> =
        buffers.iter().flat_map(|b| &b.uses).filter(|u| checked(u)).map(|u| u.line).collect();
    let truth = |used: &ParamUse| {
        matches!(&used.kind, UseKind::Compare { with, .. } if with == "0") && lines.contains(&used.line)
    };
    let edge = |c: &Comparison, edges: &[&str]| {
        let is = |side: &str, other: &str| {
            identifiers(side) == [param.name.as_str()] && edges.contains(&other.trim())
        };
        is(&c.left, &c.right) || is(&c.right, &c.left)
    };
    let compared = |edges: &[&str]| function.comparisons.iter().any(|c| edge(c, edges));
    let beside_null = function.comparisons.iter().any(|c| lines.contains(&c.line) && edge(c, &["0", "1"]));
    // `if (len == 0) len = strlen(text);`
    let is_equality = |op: &str| ["==", "!=", "!"].contains(&op);
    let is_asked = function.comparisons.iter().any(|c| is_equality(&c.op) && edge(c, &MARKS))
        || param.uses.iter().any(
            |used| matches!(&used.kind, UseKind::Compare { op, with } if is_equality(op) && with == "0"),
        );
    let is_mark = is_asked && param.uses.iter().any(|used| matches!(used.kind, UseKind::Reassigned));
    (param.uses.iter().any(truth) || beside_null || is_mark || is_used_where_null)
        || (signed && (may_compute_below_zero((function, all), param, calls) || compared(&["0", "1", "-1"])))
}

/// Whether C may compute something from a negative length that an empty slice cannot represent.
fn may_compute_below_zero(
    (function, all): (&Function, &[Parameter]),
    param: &Param,
    calls: Option<&Observed>,
) -> bool {
    let computes = |used: &ParamUse| {
        matches!(used.kind, UseKind::Arithmetic | UseKind::Returned | UseKind::Stored { .. } | UseKind::Other)
    };
    let is_known = |calls: &Observed| allows_slices(calls, &param.name, all) && !is_examined(function, param);
    param.uses.iter().any(computes) && !calls.is_some_and(is_known)
}

/// Whether C looks at the length, other than to count up to it: what it then does below zero is part of its behaviour.
fn is_examined(function: &Function, param: &Param) -> bool {
    let is_counter = |side: &str| {
        let name = side.trim();
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && name.starts_with(|c: char| c.is_ascii_lowercase());
        is_name && function.params.iter().all(|other| other.name != name)
    };
    let examines = |c: &Comparison| {
        let is_own = |side: &str| identifiers(side).contains(&param.name.as_str());
        is_own(&c.left) && !is_counter(&c.right) || is_own(&c.right) && !is_counter(&c.left)
    };
    function.comparisons.iter().any(examines)
        || param.uses.iter().any(|used| matches!(used.kind, UseKind::Argument { .. }))
}

/// The rules without which the lengths of a safe signature would have to be C's: real calls obey them.
pub(super) fn rules(function: &Function, params: &[Parameter], calls: Option<&Observed>) -> Vec<String> {
    let is_bound = |param: &&Param| {
        let is_length = params.iter().any(|p| p.name == param.name && p.role.length().is_some());
        let signed = matches!(param.ty.kind, TypeKind::Int { signed: true, .. });
        is_length
            && signed
            && may_compute_below_zero((function, params), param, None)
            && !may_compute_below_zero((function, params), param, calls)
    };
    function.params.iter().filter(is_bound).map(|param| format!("{} >= 0", param.name)).collect()
}
