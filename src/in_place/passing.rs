//! Where arguments and small structs are when a function is called or returns, on x86-64: chapter 3.2.3 of the System V
//! ABI. Elsewhere, structs by value are left out.

use super::eightbytes::{Class, Word, low, words};
use crate::symbol::{CType, Function, Library, Param, TypeKind};

/// Structs of more bytes are returned in memory of the caller, on x86-64 and aarch64.
pub(super) const IN_REGISTERS: u64 = 16;
/// Registers for arguments: integers and floating point.
pub(super) const INTEGERS: usize = if cfg!(target_arch = "x86_64") { 6 } else { 8 };
const VECTORS: usize = 8;
/// The most words of a struct by value that tells calls apart.
const WORDS: usize = 16;

/// Where a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Register(Class),
    Stack,
}

/// A word of an argument or of a result: the register of its kind, or the word on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    place: Place,
    at: usize,
    mask: u64,
    /// The bytes of the struct that it points to, if it does.
    behind: u64,
}

impl Part {
    /// As a `struct implfuzz_part`.
    pub fn in_c(&self) -> String {
        let place = match self.place {
            Place::Register(Class::Integer) => "PART_INTEGER",
            Place::Register(Class::Floats) => "PART_FLOATS",
            Place::Register(Class::Double) => "PART_DOUBLE",
            Place::Stack => "PART_STACK",
        };
        format!("{{{place}, {}, {:#x}u, {}}}", self.at, self.mask, self.behind)
    }
}

/// How a value is passed.
enum Passed {
    Words(Vec<Word>),
    /// On the stack; the masks of its words.
    Stack(Vec<u64>),
    Unknown,
}

/// The words of a function's arguments, as far as it is known where they are.
pub(super) fn arguments(library: &Library, function: &Function) -> Vec<Part> {
    // The address of a result in memory is the first argument.
    let hidden = cfg!(target_arch = "x86_64") && is_in_memory(library, &function.ret);
    let mut taken = Taken { integers: usize::from(hidden), vectors: 0, stack: 0 };
    let mut parts: Vec<Part> = hidden.then(|| register(Class::Integer, 0, u64::MAX)).into_iter().collect();
    for param in &function.params {
        match passed(library, &param.ty) {
            Passed::Words(words) => {
                let behind = struct_behind(library, &param.ty);
                parts.extend(taken.place(&words).into_iter().map(|part| Part { behind, ..part }));
            }
            Passed::Stack(masks) => parts.extend(taken.put_on_stack(&masks)),
            // Elsewhere, structs are left out.
            Passed::Unknown if cfg!(target_arch = "x86_64") => break,
            Passed::Unknown => {}
        }
    }
    parts
}

/// The parameter that an integer register has whole, if it is known where all before it are.
pub(super) fn param_in<'l>(library: &Library, function: &'l Function, register: usize) -> Option<&'l Param> {
    let hidden = cfg!(target_arch = "x86_64") && is_in_memory(library, &function.ret);
    let mut taken = Taken { integers: usize::from(hidden), vectors: 0, stack: 0 };
    for param in &function.params {
        match passed(library, &param.ty) {
            Passed::Words(words) => {
                let parts = taken.place(&words);
                let is_it =
                    |part: &Part| part.place == Place::Register(Class::Integer) && part.at == register;
                if parts.iter().any(is_it) {
                    return Some(param).filter(|_| parts.len() == 1);
                }
            }
            Passed::Stack(masks) => drop(taken.put_on_stack(&masks)),
            Passed::Unknown => return None,
        }
    }
    None
}

/// The bytes of a struct to which a parameter points; 0 where there is none.
fn struct_behind(library: &Library, ty: &CType) -> u64 {
    let TypeKind::Pointer(to) = &ty.kind else { return 0 };
    let is_struct = matches!(to.kind, TypeKind::Record(_));
    library.size_of(to).filter(|size| is_struct && u32::try_from(*size).is_ok()).unwrap_or(0)
}

/// The words of a struct that is returned in registers; `None` where that is not known.
pub(super) fn result(library: &Library, ty: &CType) -> Option<Vec<Part>> {
    if !matches!(ty.kind, TypeKind::Record(_)) || holds_union(library, ty) {
        return None;
    }
    match passed(library, ty) {
        Passed::Words(words) => Some(Taken { integers: 0, vectors: 0, stack: 0 }.place(&words)),
        Passed::Stack(_) | Passed::Unknown => None,
    }
}

/// Whether the caller gives the address where the result goes.
pub(super) fn is_in_memory(library: &Library, ty: &CType) -> bool {
    let TypeKind::Record(key) = &ty.kind else { return false };
    library.records.get(key).is_some_and(|record| record.complete && record.size > IN_REGISTERS)
}

/// Of a union, it is not known which bytes have a value.
fn holds_union(library: &Library, ty: &CType) -> bool {
    match &ty.kind {
        TypeKind::Record(key) => library.records.get(key).is_none_or(|record| {
            record.is_union || record.fields.iter().any(|field| holds_union(library, &field.ty))
        }),
        TypeKind::Array { of, .. } => holds_union(library, of),
        _ => false,
    }
}

fn register(class: Class, at: usize, mask: u64) -> Part {
    Part { place: Place::Register(class), at, mask, behind: 0 }
}

/// The registers and the words of the stack that arguments so far have.
struct Taken {
    integers: usize,
    vectors: usize,
    stack: usize,
}

impl Taken {
    /// A value that has registers, if there are enough for all of it.
    fn place(&mut self, words: &[Word]) -> Vec<Part> {
        let integers = words.iter().filter(|word| word.class == Class::Integer).count();
        let vectors = words.len() - integers;
        if self.integers + integers > INTEGERS || self.vectors + vectors > VECTORS {
            let masks: Vec<u64> = words.iter().map(|word| word.mask).collect();
            return self.put_on_stack(&masks);
        }
        let place = |word: &Word| {
            let next = match word.class {
                Class::Integer => &mut self.integers,
                Class::Floats | Class::Double => &mut self.vectors,
            };
            *next += 1;
            register(word.class, *next - 1, word.mask)
        };
        words.iter().map(place).collect()
    }

    fn put_on_stack(&mut self, masks: &[u64]) -> Vec<Part> {
        let from = self.stack;
        self.stack = from + masks.len();
        let part =
            |(at, mask): (usize, &u64)| Part { place: Place::Stack, at: from + at, mask: *mask, behind: 0 };
        masks.iter().enumerate().map(part).filter(|part| part.mask != 0).collect()
    }
}

fn passed(library: &Library, ty: &CType) -> Passed {
    let one = |class, bits: u16| Passed::Words(vec![Word { class, mask: low(bits) }]);
    match &ty.kind {
        TypeKind::Bool => one(Class::Integer, 8),
        TypeKind::Int { bits, .. } | TypeKind::Enum { bits, .. } => one(Class::Integer, *bits),
        TypeKind::Float { bits: 32 } => one(Class::Floats, 32),
        TypeKind::Float { bits: 64 } => one(Class::Double, 64),
        TypeKind::Pointer(_) | TypeKind::Array { .. } | TypeKind::Function { .. } => one(Class::Integer, 64),
        TypeKind::Record(key) if cfg!(target_arch = "x86_64") => {
            let Some(record) = library.records.get(key).filter(|record| record.complete) else {
                return Passed::Unknown;
            };
            // What is aligned to more than a word begins at an even one.
            if record.align > 8 {
                return Passed::Unknown;
            }
            // So large a struct tells no calls apart.
            if record.size > 8 * WORDS as u64 {
                return Passed::Stack(vec![0; record.size.div_ceil(8) as usize]);
            }
            let Some(words) = words(library, ty, record.size) else { return Passed::Unknown };
            let (words, masks): (Vec<Option<Word>>, Vec<u64>) = words.into_iter().unzip();
            match words.into_iter().collect::<Option<Vec<Word>>>() {
                _ if record.size > IN_REGISTERS => Passed::Stack(masks),
                Some(words) => Passed::Words(words),
                None => Passed::Unknown,
            }
        }
        TypeKind::Record(_) | TypeKind::Void | TypeKind::Float { .. } | TypeKind::Unsupported(_) => {
            Passed::Unknown
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::symbol::fixture::{self, int};
    use crate::symbol::{Field, Param, Record};
    use std::collections::BTreeMap;

    fn ty(kind: TypeKind) -> CType {
        CType { spelling: String::new(), is_const: false, kind }
    }

    fn named(key: &str) -> CType {
        ty(TypeKind::Record(key.into()))
    }

    fn float(bits: u16) -> CType {
        ty(TypeKind::Float { bits })
    }

    /// With these fields at these bytes.
    fn record(key: &str, size: u64, fields: Vec<(CType, u64)>) -> (String, Record) {
        let field = |(ty, at): (CType, u64)| Field { name: "f".into(), ty, bits: None, offset: Some(at * 8) };
        let fields = fields.into_iter().map(field).collect();
        let (rust_name, c_name) = (key.to_owned(), format!("struct {key}"));
        let (is_union, complete, opaque, align) = (false, true, false, 8);
        (key.into(), Record { rust_name, c_name, is_union, complete, opaque, size, align, fields })
    }

    fn library() -> Library {
        let word = || int("int", true, 32);
        let records = [
            record("tag", 8, vec![(int("char", true, 8), 0), (word(), 4)]),
            record("point", 8, vec![(float(32), 0), (float(32), 4)]),
            record("mixed", 16, vec![(float(64), 0), (word(), 8)]),
            record("large", 24, vec![(float(64), 0), (float(64), 8), (int("char", true, 8), 16)]),
            record("tagged", 16, vec![(word(), 0), (named("either"), 8)]),
            record("packed", 5, vec![(int("char", true, 8), 0), (word(), 1)]),
        ];
        let mut records: BTreeMap<String, Record> = records.into();
        let (_, either) = record("either", 8, vec![(int("char", true, 8), 0), (int("long", true, 64), 0)]);
        records.insert("either".into(), Record { is_union: true, ..either });
        Library { records, ..Library::default() }
    }

    fn of_arguments(params: Vec<CType>) -> Vec<String> {
        let param = |ty| Param { name: "p".into(), ty, uses: Vec::new() };
        let params = params.into_iter().map(param).collect();
        let function = Function { params, ..fixture::function("f") };
        arguments(&library(), &function).iter().map(Part::in_c).collect()
    }

    #[test]
    fn arguments_are_where_the_abi_says_without_padding() {
        let all = ["tag", "point", "mixed", "large"].map(named);
        let told = of_arguments([&all[..], &[int("int", true, 32), float(32)]].concat());
        let expected = [
            "{PART_INTEGER, 0, 0xffffffff000000ffu, 0}",
            "{PART_FLOATS, 0, 0xffffffffffffffffu, 0}",
            "{PART_DOUBLE, 1, 0xffffffffffffffffu, 0}",
            "{PART_INTEGER, 1, 0xffffffffu, 0}",
            "{PART_STACK, 0, 0xffffffffffffffffu, 0}",
            "{PART_STACK, 1, 0xffffffffffffffffu, 0}",
            "{PART_STACK, 2, 0xffu, 0}",
            "{PART_INTEGER, 2, 0xffffffffu, 0}",
            "{PART_FLOATS, 2, 0xffffffffu, 0}",
        ];
        assert_eq!(told, expected);
        // The sixth register is free, and the struct needs one; the next one is on the stack.
        let told = of_arguments([vec![int("long", true, 64); 5], vec![named("tag"), named("tag")]].concat());
        assert_eq!(
            told[5..],
            ["{PART_INTEGER, 5, 0xffffffff000000ffu, 0}", "{PART_STACK, 0, 0xffffffff000000ffu, 0}"]
        );
        // Of a union, only the bits with which all members begin are sure to have a value.
        assert_eq!(
            of_arguments(vec![named("tagged")]),
            ["{PART_INTEGER, 0, 0xffffffffu, 0}", "{PART_INTEGER, 1, 0xffu, 0}"]
        );
        let pointer =
            |to| CType { spelling: String::new(), is_const: false, kind: TypeKind::Pointer(Box::new(to)) };
        assert_eq!(
            of_arguments(vec![pointer(named("large")), pointer(float(64))]),
            ["{PART_INTEGER, 0, 0xffffffffffffffffu, 24}", "{PART_INTEGER, 1, 0xffffffffffffffffu, 0}"]
        );
        // Behind what is not known, nothing is.
        assert_eq!(of_arguments(vec![named("packed"), float(64)]), [""; 0]);
    }

    #[test]
    fn small_structs_are_returned_in_registers_of_both_kinds() {
        let told = |key| {
            result(&library(), &named(key)).map(|parts| parts.iter().map(Part::in_c).collect::<Vec<_>>())
        };
        let mixed = ["{PART_DOUBLE, 0, 0xffffffffffffffffu, 0}", "{PART_INTEGER, 0, 0xffffffffu, 0}"];
        assert_eq!(told("mixed").unwrap(), mixed);
        assert!(["large", "packed", "tagged"].iter().all(|key| told(key).is_none()));
    }
}
