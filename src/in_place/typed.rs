//! The types behind bytes that differ: where they lie, as a path that people know, and whether they count. Bytes of
//! padding have no value, and a port may allocate in another order than C; both can differ although the port is right.

use super::padding::{is_known, is_padded, padding_known_to};
use super::values::{Differing, values};
use crate::in_place::difference::{Difference, Excuse, MemoryDifference, Told, Words};
use crate::in_place::nested_difference;
use crate::in_place::passing::param_in;
use crate::in_place::pointee_type::{Spot, behind, within};
use crate::symbol::{CType, Function, Library, TypeKind};

/// Whether a difference shows that the port is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// It does; with what differs, where that is known.
    Wrong(Option<Differing>),
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
    if let Some(differing) = other_number(library, function, told) {
        return Meaning::Wrong(Some(differing));
    }
    match (told.difference, told.excuse) {
        (Difference::Whole, _) => Meaning::Unclear(Meaning::WHOLE),
        (_, Some(Excuse::Moved)) => Meaning::Unclear(MOVED),
        (Difference::Result, Some(Excuse::OtherConstant)) if is_text(&function.ret) => Meaning::Wrong(None),
        (_, Some(Excuse::OtherConstant)) => Meaning::Unclear(CONSTANT),
        (_, Some(Excuse::SameStart)) => Meaning::Unclear(SAME_START),
        (_, Some(Excuse::AtEnd)) => Meaning::Unclear(AT_END),
        (_, Some(Excuse::OtherMemory)) => Meaning::Unclear(OTHER_MEMORY),
        (_, Some(Excuse::OtherNans)) => Meaning::Unclear(OTHER_NANS),
        (Difference::Callbacks, _) | (_, Some(Excuse::OtherCalls)) => Meaning::Unclear(OTHER_CALLS),
        (Difference::Memory | Difference::Stack, None) => match memory(library, function, &told.places) {
            Meaning::Wrong(None) => {
                Meaning::Wrong(nested_difference::differing(library, function, &told.places))
            }
            meaning => meaning,
        },
        (Difference::Variable, None) => {
            let padded = library.globals.iter().any(|global| is_padded(library, &global.ty));
            let is_certain = !padded || has_value(library, function, &mut told.places.iter());
            if is_certain { Meaning::Wrong(None) } else { Meaning::Unclear(PADDING) }
        }
        (Difference::Result, None) => {
            let values = told.results.and_then(|words| values(&function.ret, 0, &words));
            Meaning::Wrong(
                values.map(|values| Differing { path: "return value".to_owned(), values: Some(values) }),
            )
        }
        (
            Difference::Errno
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
    to.is_char()
}

const MOVED: &str = "it allocates in another way than C, so addresses differ, which may be right";
const CONSTANT: &str = "it points to a constant or a function of its own, which may be right";
const SAME_START: &str =
    "it points to a text that is the start of C's constant, and other bytes follow, which may be right";
const AT_END: &str =
    "it leaves other memory than C where both end the program, which may be right if nothing reads it then";
const OTHER_CALLS: &str = "it calls other functions of the program than C (callbacks or hooks), or in another order or number, or with \
    other arguments, which may be right if the program does not care";
const OTHER_MEMORY: &str = "while a function of the program runs that it calls (a callback or a hook), memory or errno is not as C has \
    it then, which may be right if the program does not look";
const OTHER_NANS: &str =
    "it leaves a NaN of other bits than C, or, if no floating-point number is there, another integer";
const PADDING: &str = "the bytes may be padding, which has no value";

fn memory(library: &Library, function: &Function, places: &[MemoryDifference]) -> Meaning {
    let mut unknown = Vec::new();
    for place in places {
        match spot(library, function, place) {
            Spot::Field { path, ty, into } => {
                let values = place.words.and_then(|words| values(ty, into, &words));
                return Meaning::Wrong(Some(Differing { path, values }));
            }
            Spot::Padding => {}
            Spot::Unknown => unknown.push(place),
        }
    }
    let is_certain = places.is_empty() || has_value(library, function, &mut unknown.into_iter());
    if is_certain { Meaning::Wrong(None) } else { Meaning::Unclear(PADDING) }
}

/// Whether a byte differs that is padding in no struct that the function knows, wherever such a struct may lie.
fn has_value(
    library: &Library,
    function: &Function,
    places: &mut dyn Iterator<Item = &MemoryDifference>,
) -> bool {
    let bytes = places.fold(0, |all, place| all | place.bytes);
    bytes != 0 && bytes & !padding_known_to(library, function) != 0
}

/// A number that differs, although both look like addresses of constants, or like NaNs.
fn other_number(library: &Library, function: &Function, told: &Told) -> Option<Differing> {
    match told.difference {
        Difference::Memory | Difference::Stack | Difference::Variable => {
            let is_known: fn(&CType) -> bool =
                if told.excuse == Some(Excuse::OtherNans) { is_integer } else { is_number };
            told.excused.iter().find_map(|place| number_at(library, function, place, is_known))
        }
        Difference::Result if matches!(told.excuse, Some(Excuse::OtherConstant | Excuse::SameStart)) => {
            number_in_result(library, &function.ret, told.results.as_ref()?)
        }
        _ => None,
    }
}

/// A number at a place, if all arguments that lead to it for certain say that such a one is there.
fn number_at(
    library: &Library,
    function: &Function,
    place: &MemoryDifference,
    is_such: fn(&CType) -> bool,
) -> Option<Differing> {
    let mut found = None;
    for (argument, offset) in &place.at {
        match path(library, function, *argument, *offset) {
            // What a pointer to numbers leads to may be one alone, and end there.
            Spot::Field { path, .. } if !path.contains("->") && !path.ends_with("[0]") => {}
            Spot::Field { path, ty, into } if is_such(ty) => {
                let values = || place.words.and_then(|words| values(ty, into, &words));
                found.get_or_insert_with(|| Differing { path, values: values() });
            }
            Spot::Field { .. } | Spot::Padding => return None,
            Spot::Unknown => {}
        }
    }
    found
}

/// A number in a struct of one or two words that is returned; of the second word it is not known which bytes differ.
fn number_in_result(library: &Library, ty: &CType, words: &Words) -> Option<Differing> {
    let TypeKind::Record(key) = &ty.kind else { return None };
    let record = library.records.get(key).filter(|record| is_known(record))?;
    let number = |at: u64| match within(library, record, at, "return value.".to_owned()) {
        Spot::Field { path, ty, into } if is_number(ty) => Some((path, ty, into)),
        Spot::Field { .. } | Spot::Padding | Spot::Unknown => None,
    };
    match words.c.iter().zip(&words.own).position(|(c, own)| c != own) {
        Some(at) => {
            let (path, ty, into) = number(at as u64)?;
            let values = values(ty, into, &Words { at: at as u8, ..*words });
            Some(Differing { path, values })
        }
        None => (8..record.size)
            .all(|at| number(at).is_some())
            .then(|| Differing { path: "return value".to_owned(), values: None }),
    }
}

/// Whether a type has numbers, which are no addresses; bytes may be a part of anything.
fn is_number(ty: &CType) -> bool {
    match ty.kind {
        TypeKind::Int { bits, .. } => bits > 8 && !matches!(ty.spelling.as_str(), "uintptr_t" | "intptr_t"),
        TypeKind::Bool | TypeKind::Enum { .. } | TypeKind::Float { .. } => true,
        _ => false,
    }
}

fn is_integer(ty: &CType) -> bool {
    is_number(ty) && !matches!(ty.kind, TypeKind::Float { .. })
}

/// What lies at a place. The nearest pointer may lead to a part of a struct to whose start another one leads.
fn spot<'l>(library: &'l Library, function: &'l Function, place: &MemoryDifference) -> Spot<'l> {
    let mut pointers = place.at.iter();
    let of = |(argument, offset): &(usize, u64)| path(library, function, *argument, *offset);
    match pointers.next().map_or(Spot::Unknown, of) {
        Spot::Unknown => {}
        spot => return spot,
    }
    let is_in_struct = |spot: &Spot| match spot {
        Spot::Field { path, .. } => path.contains("->"),
        Spot::Padding => true,
        Spot::Unknown => false,
    };
    pointers.map(of).find(is_in_struct).unwrap_or(Spot::Unknown)
}

/// What lies so many bytes behind the pointer in this integer register.
fn path<'l>(library: &'l Library, function: &'l Function, register: usize, offset: u64) -> Spot<'l> {
    param_in(library, function, register)
        .map_or(Spot::Unknown, |param| behind(library, &param.name, &param.ty, offset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbol::{Field, Param, Record, fixture};
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

    /// `void f(struct pair *pair, struct inner *inner)`
    fn two_pointers() -> Function {
        let pointer = |to: &str| ty(TypeKind::Pointer(Box::new(ty(TypeKind::Record(to.into())))));
        let params =
            ["pair", "inner"].map(|name| Param { name: name.into(), ty: pointer(name), uses: Vec::new() });
        Function { params: params.into(), ret: ty(TypeKind::Void), ..fixture::function("f") }
    }

    fn of(difference: Difference, excuse: Option<Excuse>, places: &[Option<(usize, u64)>]) -> Meaning {
        // The second byte, which is padding in a `pair`.
        let places = places.iter().map(|at| MemoryDifference {
            at: at.iter().copied().collect(),
            bytes: 2,
            words: None,
            way: None,
        });
        let told = Told {
            difference,
            input: "input".into(),
            call: 1,
            failing: None,
            other_answer: None,
            excuse,
            places: places.collect(),
            excused: Vec::new(),
            results: None,
            said: String::new(),
        };
        meaning(&library(), &function(), &told)
    }

    #[test]
    fn values_are_told_by_path_and_padding_is_no_difference() {
        let memory = |places: &[Option<(usize, u64)>]| of(Difference::Memory, None, places);
        let path = |text: &str| Meaning::Wrong(Some(Differing { path: text.to_owned(), values: None }));
        assert_eq!(memory(&[Some((1, 0))]), path("pair->tag"));
        assert_eq!(memory(&[Some((1, 6))]), path("pair->number"));
        assert_eq!(memory(&[Some((1, 14))]), path("pair->many[1].b"));
        assert_eq!(memory(&[Some((1, 2))]), Meaning::Unclear(PADDING));
        // What lies behind the struct is not known, but one value is enough.
        assert_eq!(memory(&[None, Some((1, 16)), Some((0, 1))]), Meaning::Unclear(PADDING));
        assert_eq!(memory(&[Some((1, 3)), Some((1, 4))]), path("pair->number"));
        // A pointer into the struct says nothing of what lies behind it, but the one to its start does.
        let place = |at: &[(usize, u64)]| {
            let place = MemoryDifference { at: at.to_vec(), bytes: 2, words: None, way: None };
            super::memory(&library(), &two_pointers(), &[place])
        };
        assert_eq!(place(&[(1, 4), (0, 14)]), path("pair->many[1].b"));
        assert_eq!(place(&[(1, 4), (0, 2)]), Meaning::Unclear(PADDING));
        assert_eq!(place(&[(1, 4), (0, 16)]), Meaning::Unclear(PADDING));
        assert_eq!(place(&[(1, 2), (0, 12)]), path("inner->b"));
    }

    #[test]
    fn bytes_that_are_padding_nowhere_are_values() {
        let memory = |bytes| {
            memory(
                &library(),
                &function(),
                &[MemoryDifference { at: Vec::new(), bytes, words: None, way: None }],
            )
        };
        // `tag` is aligned to 4 and followed by three bytes of padding.
        assert_eq!(memory(0b1110_1110), Meaning::Unclear(PADDING));
        assert_eq!(memory(0b0001_0000), Meaning::Wrong(None));
        assert_eq!(memory(0b1000_0001), Meaning::Wrong(None));
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

    /// A word at these places, `0x400010` in C and three more in the port, which may be an address.
    fn excused(function: &Function, at: &[(usize, u64)]) -> Meaning {
        let words = Words { at: 0, c: 0x40_0010u64.to_le_bytes(), own: 0x40_0013u64.to_le_bytes() };
        let told = Told {
            difference: Difference::Memory,
            input: "input".into(),
            call: 1,
            failing: None,
            other_answer: None,
            excuse: Some(Excuse::OtherConstant),
            places: Vec::new(),
            excused: vec![MemoryDifference { at: at.to_vec(), bytes: 0, words: Some(words), way: None }],
            results: Some(words),
            said: String::new(),
        };
        meaning(&library(), function, &told)
    }

    #[test]
    fn numbers_are_no_addresses() {
        let pointer = |to| ty(TypeKind::Pointer(Box::new(to)));
        let function = |to: CType| {
            let params = [pointer(to), pointer(ty(TypeKind::Record("pair".into())))];
            let params = params.map(|ty| Param { name: "p".into(), ty, uses: Vec::new() });
            Function { params: params.into(), ..fixture::function("f") }
        };
        let is_wrong = |to: CType, at: &[(usize, u64)]| match excused(&function(to), at) {
            Meaning::Wrong(differing) => Some(differing.unwrap().path),
            Meaning::Unclear(why) => (why != CONSTANT).then(|| why.to_owned()),
        };
        assert_eq!(is_wrong(int(64), &[(1, 4)]).as_deref(), Some("p->number"));
        assert_eq!(is_wrong(int(64), &[(0, 0)]).as_deref(), Some("p[0]"));
        // What lies far behind a number, bytes, and what two pointers say otherwise, may be an address.
        assert_eq!(is_wrong(int(64), &[(0, 8)]), None);
        assert_eq!(is_wrong(int(8), &[(0, 0)]), None);
        assert_eq!(is_wrong(pointer(int(8)), &[(0, 0), (1, 4)]), None);
        assert_eq!(is_wrong(int(64), &[]), None);
        let address = CType { spelling: "uintptr_t".into(), ..int(64) };
        assert_eq!(is_wrong(address, &[(0, 0)]), None);
    }

    #[test]
    fn numbers_in_structs_that_are_returned_are_no_addresses() {
        let mut library = library();
        let number = Field { name: "size".into(), ty: int(64), bits: None, offset: Some(0) };
        let pointer = CType { kind: TypeKind::Pointer(Box::new(int(8))), ..number.ty.clone() };
        let pointer = Field { name: "data".into(), ty: pointer, bits: None, offset: Some(64) };
        let record = library.records["inner"].clone();
        let piece = Record { size: 16, align: 8, fields: vec![number, pointer], ..record };
        library.records.insert("piece".into(), piece);
        let of = |c: u64, own: u64| {
            let words = Words { at: 0, c: c.to_le_bytes(), own: own.to_le_bytes() };
            number_in_result(&library, &ty(TypeKind::Record("piece".into())), &words).map(|one| one.path)
        };
        assert_eq!(of(0x40_0010, 0x40_0013).as_deref(), Some("return value.size"));
        assert_eq!(of(1, 1), None);
    }
}
