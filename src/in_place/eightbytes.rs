//! The words of eight bytes of a value ("eightbytes" in the System V ABI, 3.2.3), and what each of them holds.

use crate::symbol::{CType, Library, TypeKind};

/// What a word of eight bytes holds; as in `in_place.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Integer,
    /// One number of four bytes, or two.
    Floats,
    Double,
}

/// A word of a value, and the bits of it that are no padding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word {
    pub class: Class,
    pub mask: u64,
}

/// The words of a struct of so many bytes, each as far as it holds one class, with the bits that surely have a value. `None`
/// if something is not where its alignment asks for, or unknown.
pub(super) fn words(library: &Library, ty: &CType, size: u64) -> Option<Vec<(Option<Word>, u64)>> {
    let mut leaves = Vec::new();
    add(library, ty, 0, &mut leaves)?;
    Some((0..size.div_ceil(8)).map(|at| word(&leaves, at)).collect())
}

pub(super) fn low(bits: u16) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// A number or a pointer in a struct: its first bit, and how many it has.
#[derive(Clone, Copy)]
struct Leaf {
    from: u64,
    bits: u16,
    class: Class,
    /// Not in a union, of whose members one alone has a value.
    is_certain: bool,
}

/// Adds all leaves of a value that begins at this bit; `None` if something is not where its alignment asks for, or unknown.
fn add(library: &Library, ty: &CType, at: u64, leaves: &mut Vec<Leaf>) -> Option<()> {
    let mut leaf = |bits: u16, class| {
        leaves.push(Leaf { from: at, bits, class, is_certain: true });
        at.is_multiple_of(u64::from(bits)).then_some(())
    };
    match &ty.kind {
        TypeKind::Bool => leaf(8, Class::Integer),
        TypeKind::Int { bits, .. } | TypeKind::Enum { bits, .. } if *bits <= 64 => {
            leaf(*bits, Class::Integer)
        }
        TypeKind::Float { bits: 32 } => leaf(32, Class::Floats),
        TypeKind::Float { bits: 64 } => leaf(64, Class::Double),
        TypeKind::Pointer(_) => leaf(64, Class::Integer),
        TypeKind::Array { of: element, len } => {
            let bits = library.size_of(element)? * 8;
            (0..(*len)?).try_for_each(|index| add(library, element, at + index * bits, leaves))
        }
        TypeKind::Record(key) => {
            let record = library.records.get(key).filter(|record| record.complete && !record.opaque)?;
            let begin = leaves.len();
            for field in &record.fields {
                match field.bits {
                    None => add(library, &field.ty, at + field.offset?, leaves)?,
                    // Compilers do not agree on what an unnamed one is.
                    Some(bits) if field.name.is_empty() => (bits == 0).then_some(())?,
                    Some(bits) => leaves.push(Leaf {
                        from: at + field.offset?,
                        bits: u16::try_from(bits).ok()?,
                        class: Class::Integer,
                        is_certain: true,
                    }),
                }
            }
            if record.is_union {
                leaves[begin..].iter_mut().for_each(|leaf| leaf.is_certain = false);
                leaves.extend(common(&leaves[begin..], at, record.fields.len()));
            }
            Some(())
        }
        _ => None,
    }
}

/// The bits with which all members of a union begin.
fn common(leaves: &[Leaf], at: u64, members: usize) -> Option<Leaf> {
    let first = leaves.iter().filter(|leaf| leaf.from == at);
    let least = first.clone().min_by_key(|leaf| leaf.bits)?;
    (first.count() == members).then_some(Leaf { is_certain: true, ..*least })
}

/// The word with this number, if it holds one class of numbers, or integers among them; and the bits that surely have a
/// value.
fn word(leaves: &[Leaf], number: u64) -> (Option<Word>, u64) {
    let begin = number * 64;
    let inside = |leaf: &&Leaf| leaf.from < begin + 64 && leaf.from + u64::from(leaf.bits) > begin;
    let inside: Vec<&Leaf> = leaves.iter().filter(inside).collect();
    // A bit-field may lie in two words.
    let mask = |leaf: &&Leaf| match leaf.from.checked_sub(begin) {
        Some(from) => low(leaf.bits) << from,
        None => low(leaf.bits) >> (begin - leaf.from),
    };
    let certain = inside.iter().filter(|leaf| leaf.is_certain);
    let mask = certain.map(mask).fold(0, |all, one| all | one);
    let has = |class| inside.iter().any(|leaf| leaf.class == class);
    let class = match (has(Class::Integer), has(Class::Floats), has(Class::Double)) {
        (true, _, _) => Some(Class::Integer),
        (false, true, false) => Some(Class::Floats),
        (false, false, true) => Some(Class::Double),
        (false, true, true) | (false, false, false) => None,
    };
    (class.map(|class| Word { class, mask }), mask)
}
