//! The types behind bytes that differ: where they lie, as a path that people know, and whether they count. Bytes of
//! padding have no value, and a port may allocate in another order than C; both can differ although the port is right.

use super::run::{Difference, Excuse, Place, Told};
use crate::symbol::{CType, Function, Library, Record, TypeKind};

/// Whether a difference shows that the port is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// It does; with the path of what differs, where that is known.
    Wrong(Option<String>),
    /// It may be wrong, with the reason why that is not certain.
    Unclear(&'static str),
}

impl Meaning {
    /// Why the end of a whole run shows nothing for certain: blocks and their contents may be others by then.
    pub const WHOLE: &str =
        "a driver ends with another result, other variables or other blocks with it in C's place";
}

/// What a difference of a port of this function means.
pub fn meaning(library: &Library, function: &Function, told: &Told) -> Meaning {
    match (told.difference, told.excuse) {
        (Difference::Whole, _) => Meaning::Unclear(Meaning::WHOLE),
        (_, Some(Excuse::Moved)) => Meaning::Unclear(MOVED),
        (Difference::Result, Some(Excuse::OtherConstant)) if is_text(&function.ret) => Meaning::Wrong(None),
        (_, Some(Excuse::OtherConstant)) => Meaning::Unclear(CONSTANT),
        (Difference::Memory | Difference::Stack, None) => memory(library, function, &told.places),
        (Difference::Variable, None) => {
            let is_value = told.places.iter().any(|place| place.is_whole);
            let padded = !is_value && library.globals.iter().any(|global| is_padded(library, &global.ty));
            if padded { Meaning::Unclear(PADDING) } else { Meaning::Wrong(None) }
        }
        (
            Difference::Result
            | Difference::Errno
            | Difference::Allocation
            | Difference::Crash
            | Difference::Hang
            | Difference::Exit
            | Difference::Outside
            | Difference::RustHeap,
            None,
        ) => Meaning::Wrong(None),
    }
}

/// Whether a pointer leads to characters, so that other bytes are another text.
fn is_text(ty: &CType) -> bool {
    let TypeKind::Pointer(to) = &ty.kind else { return false };
    matches!(to.kind, TypeKind::Int { bits: 8, plain_char: true, .. })
}

/// Whether values of a type have padding.
fn is_padded(library: &Library, ty: &CType) -> bool {
    match &ty.kind {
        TypeKind::Record(key) => library.records.get(key).is_none_or(|record| {
            has_padding(library, record) || record.fields.iter().any(|field| is_padded(library, &field.ty))
        }),
        TypeKind::Array { of, .. } => is_padded(library, of),
        _ => false,
    }
}

const MOVED: &str = "it allocates in another way than C, so addresses differ, which may be right";
const CONSTANT: &str = "it points to a constant or a function of its own, which may be right";
const PADDING: &str = "the bytes may be padding, which has no value";

fn memory(library: &Library, function: &Function, places: &[Place]) -> Meaning {
    let mut is_certain = !library.records.values().any(|record| has_padding(library, record));
    for (argument, offset) in places.iter().filter_map(|place| place.at) {
        match path(library, function, argument, offset) {
            Spot::Field(path) => return Meaning::Wrong(Some(path)),
            Spot::Padding | Spot::Unknown => {}
        }
    }
    is_certain |= places.is_empty() || places.iter().any(|place| place.is_whole);
    if is_certain { Meaning::Wrong(None) } else { Meaning::Unclear(PADDING) }
}

/// What lies at a place.
enum Spot {
    /// A value, with its path.
    Field(String),
    Padding,
    Unknown,
}

/// What lies so many bytes behind the pointer in this integer register.
fn path(library: &Library, function: &Function, register: usize, offset: u64) -> Spot {
    let in_registers = |ty: &CType| match ty.kind {
        TypeKind::Float { .. } => Some(false),
        TypeKind::Record(_) | TypeKind::Unsupported(_) => None,
        _ => Some(true),
    };
    let mut integers = Vec::new();
    for param in &function.params {
        match in_registers(&param.ty) {
            Some(true) => integers.push(param),
            Some(false) => {}
            None => return Spot::Unknown,
        }
    }
    let Some(param) = integers.get(register) else { return Spot::Unknown };
    let TypeKind::Pointer(pointer) = &param.ty.kind else { return Spot::Unknown };
    let key = match &pointer.kind {
        TypeKind::Record(key) => key,
        TypeKind::Bool
        | TypeKind::Int { .. }
        | TypeKind::Enum { .. }
        | TypeKind::Float { .. }
        | TypeKind::Pointer(_) => {
            let size = size_of(library, pointer).unwrap_or(1).max(1);
            return Spot::Field(format!("{}[{}]", param.name, offset / size));
        }
        _ => return Spot::Unknown,
    };
    let Some(record) = library.records.get(key).filter(|record| is_known(record)) else {
        return Spot::Unknown;
    };
    // Behind the first one may lie others, or something else.
    match offset < record.size {
        true => within(library, record, offset, format!("{}->", param.name)),
        false => Spot::Unknown,
    }
}

fn is_known(record: &Record) -> bool {
    record.complete && !record.opaque && !record.is_union && record.size > 0
}

fn within(library: &Library, record: &Record, offset: u64, before: String) -> Spot {
    for field in &record.fields {
        let Some(start) = field.offset.map(|bits| bits / 8) else { return Spot::Unknown };
        if field.bits.is_some() {
            return Spot::Unknown;
        }
        let Some(size) = size_of(library, &field.ty) else { return Spot::Unknown };
        if (start..start + size).contains(&offset) {
            let path = format!("{before}{}", field.name);
            let (inner, offset, path) = match &field.ty.kind {
                TypeKind::Array { of, .. } => {
                    let size = size_of(library, of).unwrap_or(1).max(1);
                    (&of.kind, (offset - start) % size, format!("{path}[{}]", (offset - start) / size))
                }
                inner => (inner, offset - start, path),
            };
            return match inner {
                TypeKind::Record(key) => match library.records.get(key).filter(|record| is_known(record)) {
                    Some(inner) => within(library, inner, offset, format!("{path}.")),
                    None => Spot::Unknown,
                },
                _ => Spot::Field(path),
            };
        }
    }
    Spot::Padding
}

fn has_padding(library: &Library, record: &Record) -> bool {
    let sizes =
        record.fields.iter().map(|field| size_of(library, &field.ty).filter(|_| field.bits.is_none()));
    let used = sizes.sum::<Option<u64>>();
    !is_known(record) || used != Some(record.size)
}

/// Bytes; `None` where that is not certain.
fn size_of(library: &Library, ty: &CType) -> Option<u64> {
    match &ty.kind {
        TypeKind::Bool => Some(1),
        TypeKind::Int { bits, .. } | TypeKind::Enum { bits, .. } => Some(u64::from(*bits) / 8),
        TypeKind::Float { bits: bits @ (32 | 64) } => Some(u64::from(*bits) / 8),
        TypeKind::Pointer(_) => Some(8),
        TypeKind::Array { of, len } => Some(size_of(library, of)? * (*len)?),
        TypeKind::Record(key) => {
            library.records.get(key).filter(|record| record.complete).map(|record| record.size)
        }
        TypeKind::Void | TypeKind::Float { .. } | TypeKind::Function { .. } | TypeKind::Unsupported(_) => {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbol::{Field, Param, fixture};
    use std::collections::BTreeMap;

    fn ty(kind: TypeKind) -> CType {
        CType { spelling: String::new(), is_const: false, kind }
    }

    fn int(bits: u16) -> CType {
        ty(TypeKind::Int { signed: true, bits, plain_char: false })
    }

    /// `struct pair { char tag; int number; struct inner { short a, b; } many[2]; }`, padded behind `tag`.
    fn library() -> Library {
        let record = |size, fields: Vec<(&str, CType, u64)>| Record {
            rust_name: String::new(),
            c_name: String::new(),
            is_union: false,
            complete: true,
            opaque: false,
            size,
            align: 4,
            fields: fields
                .into_iter()
                .map(|(name, ty, at)| Field { name: name.into(), ty, bits: None, offset: Some(at * 8) })
                .collect(),
        };
        let many = ty(TypeKind::Array { of: Box::new(ty(TypeKind::Record("inner".into()))), len: Some(2) });
        let records = BTreeMap::from([
            (
                "pair".to_owned(),
                record(16, vec![("tag", int(8), 0), ("number", int(32), 4), ("many", many, 8)]),
            ),
            ("inner".to_owned(), record(4, vec![("a", int(16), 0), ("b", int(16), 2)])),
        ]);
        Library { records, ..Library::default() }
    }

    /// `void f(double d, int n, struct pair *pair)`
    fn function() -> Function {
        let pointer = ty(TypeKind::Pointer(Box::new(ty(TypeKind::Record("pair".into())))));
        let params = [("d", ty(TypeKind::Float { bits: 64 })), ("n", int(32)), ("pair", pointer)];
        let params = params.map(|(name, ty)| Param { name: name.into(), ty, uses: Vec::new() });
        Function { params: params.into(), ret: ty(TypeKind::Void), ..fixture::function("f") }
    }

    fn of(difference: Difference, excuse: Option<Excuse>, places: &[Option<(usize, u64)>]) -> Meaning {
        let places = places.iter().map(|at| Place { at: *at, is_whole: false });
        let told = Told {
            difference,
            input: "input".into(),
            call: 1,
            excuse,
            places: places.collect(),
            said: String::new(),
        };
        meaning(&library(), &function(), &told)
    }

    #[test]
    fn values_are_told_by_path_and_padding_is_no_difference() {
        let memory = |places: &[Option<(usize, u64)>]| of(Difference::Memory, None, places);
        let path = |text: &str| Meaning::Wrong(Some(text.to_owned()));
        assert_eq!(memory(&[Some((1, 0))]), path("pair->tag"));
        assert_eq!(memory(&[Some((1, 6))]), path("pair->number"));
        assert_eq!(memory(&[Some((1, 14))]), path("pair->many[1].b"));
        assert_eq!(memory(&[Some((1, 2))]), Meaning::Unclear(PADDING));
        // What lies behind the struct is not known, but one value is enough.
        assert_eq!(memory(&[None, Some((1, 16)), Some((0, 1))]), Meaning::Unclear(PADDING));
        assert_eq!(memory(&[Some((1, 3)), Some((1, 4))]), path("pair->number"));
    }

    #[test]
    fn other_addresses_are_no_difference() {
        let moved = Some(Excuse::Moved);
        assert_eq!(of(Difference::Memory, moved, &[]), Meaning::Unclear(MOVED));
        assert_eq!(of(Difference::Result, Some(Excuse::OtherConstant), &[]), Meaning::Unclear(CONSTANT));
        assert_eq!(of(Difference::Variable, None, &[]), Meaning::Wrong(None));
        assert_eq!(of(Difference::Result, None, &[]), Meaning::Wrong(None));
        assert_eq!(of(Difference::Crash, None, &[]), Meaning::Wrong(None));
        assert_eq!(of(Difference::Whole, None, &[]), Meaning::Unclear(Meaning::WHOLE));
    }
}
