//! How large memory must be that a call writes to, where its contract does not know: compressed bytes may be more than the
//! bytes that are compressed, and functions such as `compressBound` say how many.

use super::callable::Callable;
use crate::contract::parameter_roles::in_driver::variable;
use crate::contract::parameter_roles::{Direction, Role};
use crate::symbol::{CType, Linkage, Param, TypeKind};
use std::collections::BTreeMap;

/// Parts of the names of functions that return a number of bytes.
const SIZES: [&str; 4] = ["bound", "size", "max", "worst"];

/// What makes memory for C.
const MAKERS: [&str; 5] = ["driver_data(", "driver_block(", "driver_room(", "driver_some(", "driver_chars("];

/// For each parameter that gets such memory, by position: the calls of the functions that say how much, as C text.
pub(super) type Rooms = BTreeMap<usize, Vec<String>>;

/// The rooms of a call.
pub(super) fn rooms(all: &[Callable], one: &Callable) -> Rooms {
    if one.is_edited {
        return Rooms::new();
    }
    let doubtful = (0..one.contract.params.len()).filter_map(|at| {
        let length = match &one.contract.params[at].role {
            Role::Buffer(buffer)
                if buffer.direction != Direction::In && is_also_of_input(one, &buffer.length) =>
            {
                Some(&*buffer.length)
            }
            Role::Room(room) if room.direction != Direction::In => None,
            Role::Pointer(pointer) if pointer.direction != Direction::Out => only_input(one),
            _ => return None,
        };
        let to = match &one.function.params[at].ty.kind {
            TypeKind::Pointer(of) => Some(of),
            _ => None,
        };
        let is_bytes = to.is_some_and(|of| is_byte(of) && !of.is_const);
        let sizes: Vec<String> = all.iter().filter_map(|size| call(size, one, length)).collect();
        // Memory of unknown size is meant to be large enough.
        let is_shared = one.contract.params[at].role.buffer().is_some();
        (is_bytes && (is_shared || !sizes.is_empty())).then_some((at, sizes))
    });
    doubtful.collect()
}

/// The length of the bytes that a function reads, if it reads only one buffer.
fn only_input<'a>(one: &'a Callable) -> Option<&'a str> {
    let mut buffers = one.contract.params.iter().filter_map(|param| param.role.buffer());
    let first = buffers.find(|buffer| buffer.direction == Direction::In)?;
    buffers.next().is_none().then_some(&*first.length)
}

/// Whether a length counts what is read from another argument, too.
fn is_also_of_input(one: &Callable, length: &str) -> bool {
    let mut buffers = one.contract.params.iter().filter_map(|param| param.role.buffer());
    buffers.any(|buffer| buffer.length == length && buffer.direction == Direction::In)
}

/// The call of a function that returns a size, with numbers that another function gets.
fn call(size: &Callable, one: &Callable, length: Option<&str>) -> Option<String> {
    let function = size.function;
    let name = function.c_name.to_ascii_lowercase();
    let is_size = SIZES.iter().any(|part| name.contains(part))
        && matches!(function.ret.kind, TypeKind::Int { bits: 32.., .. })
        && function.linkage == Linkage::External
        && function.name != one.function.name;
    let numbers: Vec<&Param> =
        one.function.params.iter().filter(|param| matches!(param.ty.kind, TypeKind::Int { .. })).collect();
    let argument = |param: &Param| {
        let same = numbers.iter().find(|number| number.name == param.name).map(|number| &*number.name);
        let only = length.filter(|_| function.params.len() == 1);
        matches!(param.ty.kind, TypeKind::Int { .. }).then_some(same.or(only)?).map(variable)
    };
    let arguments: Option<Vec<String>> = function.params.iter().map(argument).collect();
    arguments
        .filter(|_| is_size)
        .map(|arguments| format!("(size_t){}({})", function.c_name, arguments.join(", ")))
}

/// The lines of an argument, with more memory: its size first.
pub(super) fn with_room(line: &str, param: &str, sizes: &[String]) -> Option<[String; 2]> {
    let (maker, at) = MAKERS.iter().find_map(|maker| Some((maker, line.find(maker)?)))?;
    let bytes = line[at + maker.len()..].strip_suffix(");")?;
    let room = variable_of(param);
    let known = match sizes {
        [] => "NULL, 0".to_owned(),
        sizes => format!("(const size_t[]){{{}}}, {}", sizes.join(", "), sizes.len()),
    };
    Some([
        format!("size_t {room} = driver_needed({bytes}, {known});"),
        format!("{}driver_roomy({room}, {bytes});", &line[..at]),
    ])
}

/// The variable with the size of that memory.
pub(super) fn variable_of(param: &str) -> String {
    format!("{}_room", variable(param))
}

fn is_byte(ty: &CType) -> bool {
    matches!(ty.kind, TypeKind::Int { bits: 8, .. } | TypeKind::Void)
}
