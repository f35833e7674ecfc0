//! Lengths: which number gives the size of the memory behind a pointer parameter.

use super::c_words::identifiers;
use super::length_names::{length_like, names_length_of, size_like};
use super::parameter_roles::{self, MAX};
use super::pointer_facts::FactTable;
use super::types::{Direction, Role};
use crate::symbol::{CType, Function, Param, TypeKind};

/// How much memory is behind a pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Size {
    /// As many elements as this parameter says.
    Length(String),
    /// Always so many elements.
    Elements(usize),
}

impl Size {
    /// The parameter that says it.
    pub fn length(&self) -> Option<&String> {
        if let Self::Length(length) = self { Some(length) } else { None }
    }
}

/// Bytes of the largest buffer of numbers of one step, whose input others share; of structs, their number.
pub(super) const MAX_OF_STEP: usize = 1024;

/// Elements of the largest buffer behind this pointer in one step. A step may make an object of each element, and objects
/// are compared after each call.
pub(super) fn most_of_step(pointer: &CType) -> usize {
    let bits = match &pointer.kind {
        TypeKind::Pointer(to) => match to.kind {
            TypeKind::Int { bits, .. } | TypeKind::Float { bits } | TypeKind::Enum { bits, .. } => bits,
            _ => 8,
        },
        _ => 8,
    };
    MAX_OF_STEP / (bits as usize / 8).max(1)
}

/// The `max` that buffers get where the C text has these constants.
pub(super) fn inferred_max(interesting: &[usize]) -> usize {
    interesting.iter().max().map_or(MAX, |n| MAX.max(n + 64))
}

/// For each parameter, its length parameter.
pub(super) fn length_partners(facts: &FactTable, function: &Function) -> Vec<Option<String>> {
    let found = function.params.iter().enumerate();
    let mut found: Vec<_> = found.map(|(index, param)| partner(facts, function, index, param)).collect();
    // A length has no length of its own.
    for (index, param) in function.params.iter().enumerate() {
        if found.iter().flatten().any(|length| *length == param.name) {
            found[index] = None;
        }
    }
    found
}

/// The integer parameter that gives the size of the memory behind parameter `index`.
pub(super) fn partner(facts: &FactTable, function: &Function, index: usize, param: &Param) -> Option<String> {
    let TypeKind::Pointer(target) = &param.ty.kind else { return None };
    let all = facts;
    let facts = facts.of(function, index);
    let is_length = |p: &&Param| is_integer(p) && length_like(&p.name) && !bounds_range(function, &p.name);
    // A pointer to the length: C reads the capacity there and writes the used length back.
    if let Some(next) =
        function.params.get(index + 1).filter(|next| counts_behind(next) && length_like(&next.name))
        && all.of(function, index + 1).reads
        && !all.of(function, index + 1).walks
        && !facts.string
    {
        return Some(next.name.clone());
    }
    if let Some(named) =
        function.params.iter().find(|p| is_integer(p) && names_length_of(&p.name, &param.name))
    {
        return Some(named.name.clone());
    }
    // The number may cut the text, but does not say how much memory there is: a text that fills it would have no NUL.
    if facts.is_text() && matches!(target.kind, TypeKind::Int { bits: 8, .. }) {
        return None;
    }
    // (output, text, length): a text that C reads to its NUL needs no length; the length belongs to the output, as
    // in `strlcpy`.
    if (facts.string || facts.text.reach_nul())
        && is_text(param, true)
        && index > 0
        && is_text(&function.params[index - 1], false)
    {
        return None;
    }
    // The convention (pointer, length) is stronger than a comparison: C often walks an output with the input's
    // index.
    if let Some(next) = function.params.get(index + 1).filter(is_length)
        && (facts.walks
            || facts.lengths.contains_key(&next.name)
            || facts.several && size_like(&next.name) && is_compared(function, &next.name)
            || !facts.dereferenced && !facts.fields && !facts.several && facts.constant_index.is_none())
    {
        return Some(next.name.clone());
    }
    let text = target.is_char();
    // A `const char *` without a length directly after it is a string, whatever its index is compared with.
    if !facts.walks || text && (target.is_const || facts.string) {
        return None;
    }
    let compared = || facts.lengths.keys().filter(|name| !bounds_range(function, name));
    if let Some(name) = compared().find(|name| length_like(name)).or_else(|| compared().next()) {
        return Some(name.clone());
    }
    let near = |offset: isize| {
        let at = index.checked_add_signed(offset)?;
        function.params.get(at).filter(is_length).map(|p| p.name.clone())
    };
    near(-1).or_else(|| near(2)).or_else(|| near(3))
}

fn is_compared(function: &Function, name: &str) -> bool {
    let mut sides = function.comparisons.iter().flat_map(|comparison| [&comparison.left, &comparison.right]);
    sides.any(|side| identifiers(side).contains(&name))
}

/// Whether it is a pointer to characters whose constness is `constant`.
fn is_text(param: &Param, constant: bool) -> bool {
    matches!(&param.ty.kind, TypeKind::Pointer(to)
        if to.is_const == constant && to.is_char())
}

fn is_integer(param: &Param) -> bool {
    matches!(param.ty.kind, TypeKind::Int { bits, .. } if bits >= 8)
}

/// Whether it is one end of a range of values, such as `minLen` and `maxLen`: neither says how much there is.
fn bounds_range(function: &Function, name: &str) -> bool {
    let rest = |name: &str, start: &str| Some(name.to_ascii_lowercase().strip_prefix(start)?.to_owned());
    let has = |start: &str, wanted: String| {
        function.params.iter().any(|p| rest(&p.name, start).is_some_and(|rest| rest == wanted))
    };
    match (rest(name, "min"), rest(name, "max")) {
        (Some(of), _) => has("max", of),
        (None, Some(of)) => has("min", of),
        (None, None) => false,
    }
}

/// Turns lengths without a buffer into values or pointers: the memory that they seemed to measure has another role.
pub(super) fn free_lengths(facts: &FactTable, function: &Function, roles: &mut [Role]) {
    let owned: Vec<String> = roles.iter().flat_map(|role| role.facts().lengths).cloned().collect();
    for (index, (param, role)) in function.params.iter().zip(roles).enumerate() {
        if role.length().is_some() && !owned.contains(&param.name) {
            *role = match param.ty.kind {
                TypeKind::Pointer(_) => {
                    let nullable = facts.of(function, index).null_checked;
                    Role::Pointer(parameter_roles::Pointer { direction: Direction::InOut, nullable })
                }
                _ => Role::Value(parameter_roles::Value::ANY),
            };
        }
    }
}

/// Whether it is a pointer to an integer that can hold a count.
pub(super) fn counts_behind(param: &Param) -> bool {
    matches!(&param.ty.kind, TypeKind::Pointer(to) if matches!(to.kind, TypeKind::Int { bits, plain_char: false, .. } if bits >= 16))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_elements_are_fewer_in_a_step() {
        let to = |kind| CType {
            kind: TypeKind::Pointer(Box::new(CType { kind, is_const: true, spelling: String::new() })),
            is_const: false,
            spelling: String::new(),
        };
        let int = |bits| TypeKind::Int { signed: true, bits, plain_char: false };
        let most = |kind| most_of_step(&to(kind));
        assert_eq!([most(int(8)), most(int(32)), most(TypeKind::Float { bits: 64 })], [1024, 256, 128]);
        assert_eq!([most(TypeKind::Bool), most(TypeKind::Void)], [1024, 1024]);
    }

    #[test]
    fn a_length_may_name_its_pointer() {
        for (length, pointer) in [("srcSize", "src"), ("dst_capacity", "dst"), ("in_buf_len", "in_buf")] {
            assert!(names_length_of(length, pointer), "{length} of {pointer}");
        }
        for (length, pointer) in [("srcSize", "dst"), ("size", ""), ("source", "s"), ("targetDstSize", "dst")]
        {
            assert!(!names_length_of(length, pointer), "{length} of {pointer}");
        }
    }

    #[test]
    fn names_of_lengths_are_told_from_other_names() {
        for yes in ["n", "len", "src_len", "dstCapacity", "count", "n_items", "avail_in"] {
            assert!(length_like(yes), "{yes}");
        }
        for no in ["crc", "value", "adler", "mode", "seed", "x"] {
            assert!(!length_like(no), "{no}");
        }
    }

    #[test]
    fn a_range_of_values_and_a_value_that_is_searched_for_are_no_lengths() {
        let text = "void assign(int *code, unsigned char *length, int minLen, int maxLen, int alphaSize) {\n\
            for (int n = minLen; n <= maxLen; n++)\n\
                for (int i = 0; i < alphaSize; i++) if (length[i] == n) code[i] = n; }\n\
            int find(int wanted, int *table) {\n\
            int low = 0, high = 256, mid;\n\
            do { mid = (low + high) >> 1; if (wanted >= table[mid]) low = mid; else high = mid; } while (high - low != 1);\n\
            return low; }\n\
            int fill(char *out, int max) { for (int i = 0; i < max; i++) out[i] = 1; return max; }\n";
        let library = crate::c::front_tests::loaded(&[("a.c", text)]);
        let facts = FactTable::build(&library);
        let partners = |name: &str| length_partners(&facts, library.find(name).unwrap());
        let size = || Some("alphaSize".to_owned());
        assert_eq!(partners("assign"), [size(), size(), None, None, None]);
        assert_eq!(partners("find"), [None, None]);
        assert_eq!(partners("fill"), [Some("max".to_owned()), None]);
    }
}
