//! Values that differ, as people write them.

use crate::in_place::difference::Words;
use crate::symbol::{CType, TypeKind};

/// A value of C and of the port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Values {
    pub c: String,
    pub port: String,
}

/// What differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Differing {
    /// `store->size`, or `return value`.
    pub path: String,
    pub values: Option<Values>,
}

/// The values of this type, of which the place of `words` is so many bytes `into` one. `None` where they are no numbers, or
/// do not lie in the words.
pub(super) fn values(ty: &CType, into: u64, words: &Words) -> Option<Values> {
    let start = u64::from(words.at).checked_sub(into)?;
    let start = usize::try_from(start).ok()?;
    let of = |word: &[u8; 8]| word.get(start..).and_then(|bytes| value(ty, bytes));
    let (c, mut port) = (of(&words.c)?, of(&words.own)?);
    if matches!(ty.kind, TypeKind::Pointer(_)) {
        port = beside(&words.own, &words.c).unwrap_or(port);
    }
    (c != port).then_some(Values { c, port })
}

/// Farther away, an address of the port tells nothing about C's.
const NEAR: u64 = 0x1_0000;

/// Where a port's address lies, if that is near C's; addresses alone tell a reader nothing.
fn beside(own: &[u8; 8], c: &[u8; 8]) -> Option<String> {
    let (own, c) = (u64::from_le_bytes(*own), u64::from_le_bytes(*c));
    if own == 0 || c == 0 || own == c {
        return None;
    }
    let bytes = |distance: u64| if distance == 1 { "1 byte".to_owned() } else { format!("{distance} bytes") };
    Some(match own.abs_diff(c) {
        distance if distance > NEAR => "an address far from C's".to_owned(),
        distance if own > c => format!("{} after C's", bytes(distance)),
        distance => format!("{} before C's", bytes(distance)),
    })
}

fn value(ty: &CType, bytes: &[u8]) -> Option<String> {
    match &ty.kind {
        TypeKind::Bool => Some(number(bytes, 1)?.to_string()),
        TypeKind::Int { bits, signed, .. } | TypeKind::Enum { bits, signed, .. } => {
            let size = usize::from(*bits / 8);
            let value = number(bytes, size)?;
            let unused = 64 - u32::from(*bits);
            // The sign is the highest bit of the type.
            let negative = (value << unused).cast_signed() >> unused;
            Some(if *signed { negative.to_string() } else { value.to_string() })
        }
        TypeKind::Float { bits: 32 } => {
            Some(f32::from_le_bytes(bytes.get(..4)?.try_into().ok()?).to_string())
        }
        TypeKind::Float { bits: 64 } => {
            Some(f64::from_le_bytes(bytes.get(..8)?.try_into().ok()?).to_string())
        }
        TypeKind::Pointer(_) => Some(if number(bytes, 8)? == 0 { "NULL" } else { "an address" }.to_owned()),
        TypeKind::Void
        | TypeKind::Float { .. }
        | TypeKind::Array { .. }
        | TypeKind::Record(_)
        | TypeKind::Function { .. }
        | TypeKind::Unsupported(_) => None,
    }
}

/// An unsigned number of 1 to 8 bytes; both machines begin with the lowest.
fn number(bytes: &[u8], size: usize) -> Option<u64> {
    let own = bytes.get(..size).filter(|own| (1..=8).contains(&own.len()))?;
    let mut word = [0; 8];
    word[..size].copy_from_slice(own);
    Some(u64::from_le_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(kind: TypeKind, into: u64, at: u8, c: u64, own: u64) -> Option<(String, String)> {
        let ty = CType { spelling: String::new(), is_const: false, kind };
        let words = Words { at, c: c.to_le_bytes(), own: own.to_le_bytes() };
        values(&ty, into, &words).map(|values| (values.c, values.port))
    }

    fn pair(c: &str, port: &str) -> Option<(String, String)> {
        Some((c.to_owned(), port.to_owned()))
    }

    #[test]
    fn numbers_have_the_sign_and_the_width_of_their_type() {
        let int = |signed, bits| TypeKind::Int { signed, bits, plain_char: false };
        assert_eq!(shown(int(true, 32), 1, 5, 0xffff_ffff_0000_0000, 4 << 32), pair("-1", "4"));
        assert_eq!(shown(int(false, 16), 0, 2, 0xffff_0000, 0), pair("65535", "0"));
        assert_eq!(shown(int(true, 8), 0, 7, 0x80 << 56, 0x7f << 56), pair("-128", "127"));
        assert_eq!(shown(int(false, 64), 3, 3, u64::MAX, 1), pair("18446744073709551615", "1"));
        assert_eq!(shown(TypeKind::Bool, 0, 0, 1, 0), pair("1", "0"));
        assert_eq!(shown(TypeKind::Float { bits: 64 }, 0, 0, 1.5f64.to_bits(), 0), pair("1.5", "0"));
        let float = u64::from((-2f32).to_bits()) << 32;
        assert_eq!(shown(TypeKind::Float { bits: 32 }, 2, 6, float, 0), pair("-2", "0"));
    }

    #[test]
    fn what_lies_across_words_has_no_value_and_addresses_have_a_distance() {
        let int = TypeKind::Int { signed: true, bits: 32, plain_char: false };
        assert_eq!(shown(int.clone(), 3, 1, 1, 2), None);
        assert_eq!(shown(int, 0, 6, 1 << 48, 2 << 48), None);
        let void = CType { spelling: String::new(), is_const: false, kind: TypeKind::Void };
        let pointer = TypeKind::Pointer(Box::new(void));
        assert_eq!(shown(pointer.clone(), 0, 0, 0x1000, 0x1000), None);
        let at = |own| shown(pointer.clone(), 0, 0, 0x2000, own);
        assert_eq!(at(0x2001), pair("an address", "1 byte after C's"));
        assert_eq!(at(0x1ff0), pair("an address", "16 bytes before C's"));
        assert_eq!(at(0x10_2000), pair("an address", "an address far from C's"));
        assert_eq!(shown(pointer, 0, 0, 0x1000, 0), pair("an address", "NULL"));
    }
}
