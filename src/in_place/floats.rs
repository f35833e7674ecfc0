//! Where floating-point numbers are, behind the arguments and the result of a function: all NaNs there are one value, but
//! neither C nor Rust says which bits a NaN has.

use super::padding::is_known;
use super::passing::{INTEGERS, is_in_memory, param_in};
use crate::symbol::{CType, Field, Function, Library, TypeKind};

/// The most kinds of places of a function, numbers in one struct, and structs in structs whose pointers are followed.
const MOST: usize = 4096;
const MOST_IN_STRUCT: usize = 1024;
const DEPTH: usize = 4;
/// The most elements of an array in a struct whose pointers are followed.
const MOST_OF_POINTERS: u64 = 64;

/// Numbers at the same place in each element of an array, as in `in_place.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Lane {
    /// The register with the array's address; `None` for the result.
    argument: Option<usize>,
    /// Where the address is not there itself: its place in a struct of so many bytes to which the register leads.
    through: Option<(u64, u64)>,
    /// Bytes of an element, the place of the number in it, and the bytes of the number.
    size: u64,
    at: u64,
    width: u64,
    /// Whether elements are nothing but such numbers, so that a block of them is an array. Behind one of other structs may
    /// lie something else.
    is_whole: bool,
}

impl Lane {
    fn in_c(&self) -> String {
        let argument = self.argument.map_or(-1, |register| register as i64);
        let (through, step) = self.through.map_or((-1, 1), |(at, step)| (at as i64, step));
        let Self { size, at, width, is_whole, .. } = self;
        format!("{{{argument}, {through}, {step}, {size}, {at}, {width}, {}}}", u8::from(*is_whole))
    }
}

/// The places as a list in C: its name, their number, and its definition.
pub(super) fn lanes(library: &Library, function: &Function, name: String) -> (String, usize, String) {
    let lanes = all(library, function);
    if lanes.is_empty() {
        return ("0".to_owned(), 0, String::new());
    }
    let rows: Vec<String> = lanes.iter().map(Lane::in_c).collect();
    let text = format!("static const struct implfuzz_lane {name}[] = {{{}}};\n", rows.join(", "));
    (name, rows.len(), text)
}

fn all(library: &Library, function: &Function) -> Vec<Lane> {
    let arguments = (0..INTEGERS)
        .filter_map(|register| Some((Some(register), &param_in(library, function, register)?.ty)));
    let mut lanes = Vec::new();
    // On x86-64 the address of such a result is the first argument.
    if cfg!(target_arch = "x86_64") && is_in_memory(library, &function.ret) {
        add(library, &function.ret, (Some(0), None), &mut lanes);
    }
    for (argument, ty) in arguments.chain([(None, &function.ret)]) {
        let TypeKind::Pointer(to) = &ty.kind else { continue };
        add(library, to, (argument, None), &mut lanes);
        let Some(step) = library.size_of(to) else { continue };
        for (at, target) in pointers(library, to, DEPTH) {
            add(library, target, (argument, Some((at, step))), &mut lanes);
        }
    }
    let fits = |bytes: u64| u32::try_from(bytes).is_ok_and(|bytes| bytes > 0);
    lanes.retain(|lane| fits(lane.size) && lane.through.is_none_or(|(_, step)| fits(step)));
    lanes.truncate(MOST);
    lanes
}

/// Adds the numbers in an array of these elements.
fn add(
    library: &Library,
    element: &CType,
    (argument, through): (Option<usize>, Option<(u64, u64)>),
    lanes: &mut Vec<Lane>,
) {
    let Some(size) = library.size_of(element) else { return };
    let mut places = Vec::new();
    numbers(library, element, 0, &mut places);
    let is_whole = places.iter().map(|(_, width)| width).sum::<u64>() == size && !is_open(library, element);
    lanes.extend(places.into_iter().map(|(at, width)| Lane { argument, through, size, at, width, is_whole }));
}

/// Whether more elements of another type may follow a value: its last field is an array without a length.
fn is_open(library: &Library, ty: &CType) -> bool {
    match &ty.kind {
        TypeKind::Array { len, .. } => len.is_none_or(|len| len == 0),
        TypeKind::Record(key) => {
            let last = library.records.get(key).and_then(|record| record.fields.last());
            last.is_some_and(|field| is_open(library, &field.ty))
        }
        _ => false,
    }
}

/// The numbers in a value that begins at `start`, each with its bytes.
fn numbers(library: &Library, ty: &CType, start: u64, found: &mut Vec<(u64, u64)>) {
    match &ty.kind {
        TypeKind::Float { bits: bits @ (32 | 64) } if found.len() < MOST_IN_STRUCT => {
            found.push((start, u64::from(*bits) / 8));
        }
        TypeKind::Array { of, len: Some(len) } => {
            let Some(size) = library.size_of(of).filter(|size| *size > 0) else { return };
            for index in 0..(*len).min(MOST_IN_STRUCT as u64) {
                numbers(library, of, start + index * size, found);
            }
        }
        TypeKind::Record(key) => {
            let Some(record) = library.records.get(key).filter(|record| is_known(record)) else { return };
            for field in record.fields.iter().filter(|field| field.bits.is_none()) {
                if let Some(offset) = field.offset {
                    numbers(library, &field.ty, start + offset / 8, found);
                }
            }
        }
        _ => {}
    }
}

/// The pointers in a value, and what they point to; in structs in structs down to this depth.
fn pointers<'l>(library: &'l Library, ty: &'l CType, depth: usize) -> Vec<(u64, &'l CType)> {
    match &ty.kind {
        TypeKind::Pointer(to) => vec![(0, to)],
        TypeKind::Array { of, len: Some(len) } => {
            let size = library.size_of(of).unwrap_or(0);
            let places = (0..(*len).min(MOST_OF_POINTERS)).map(|index| index * size);
            places
                .flat_map(|at| {
                    pointers(library, of, depth).into_iter().map(move |(into, to)| (at + into, to))
                })
                .collect()
        }
        TypeKind::Record(key) if depth > 0 => {
            let record = library.records.get(key).filter(|record| is_known(record));
            let fields = record.into_iter().flat_map(|record| &record.fields);
            let of_field = |field: &'l Field| {
                let start = field.offset? / 8;
                Some(
                    pointers(library, &field.ty, depth - 1).into_iter().map(move |(at, to)| (start + at, to)),
                )
            };
            fields.filter_map(of_field).flatten().collect()
        }
        _ => Vec::new(),
    }
}
