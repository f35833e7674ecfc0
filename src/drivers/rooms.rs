//! How large memory must be that a call writes to, where its contract does not know: compressed bytes may be more than the
//! bytes that are compressed, and functions such as `compressBound` say how many.

use super::callable::Callable;
use crate::contract::constructors::is_named;
use crate::contract::parameter_roles::in_driver::variable;
use crate::contract::parameter_roles::{Direction, Role};
use crate::symbol::{CType, Linkage, Param, TypeKind};
use std::collections::BTreeMap;

/// Words in the names of functions that return a number of bytes.
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
    let needs = |at: usize| {
        let room = Room::of(one, at)?;
        let sizes: Vec<String> = all.iter().filter_map(|size| size_call(size, one, room.length)).collect();
        (room.is_shared || !sizes.is_empty()).then_some((at, sizes))
    };
    (0..one.contract.params.len()).filter_map(needs).collect()
}

/// Memory for bytes that may have to be larger than the contract says.
#[derive(Debug)]
struct Room<'a> {
    /// The number of bytes that the call reads.
    length: Option<&'a str>,
    /// Whether that is the memory's own length as well. Else its size is unknown, and what the contract says is much.
    is_shared: bool,
}

impl<'a> Room<'a> {
    fn of(one: &'a Callable, at: usize) -> Option<Self> {
        match &one.function.params[at].ty.kind {
            TypeKind::Pointer(of) if is_byte_or_void(of) && !of.is_const => {}
            _ => return None,
        }
        match &one.contract.params[at].role {
            Role::Buffer(buffer) => {
                let is_shared = buffer.direction != Direction::In && is_also_of_input(one, &buffer.length);
                is_shared.then_some(Self { length: Some(&buffer.length), is_shared })
            }
            Role::Room(room) if room.direction != Direction::In => {
                Some(Self { length: None, is_shared: false })
            }
            Role::Pointer(pointer) if pointer.direction != Direction::Out => {
                Some(Self { length: only_input(one), is_shared: false })
            }
            _ => None,
        }
    }
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

/// The call of a function that returns a size and does nothing else, with numbers that another function gets.
fn size_call(size: &Callable, one: &Callable, length: Option<&str>) -> Option<String> {
    let function = size.function;
    let is_size = is_named(&function.c_name, &SIZES)
        && matches!(function.ret.kind, TypeKind::Int { bits: 32.., .. })
        && function.linkage == Linkage::External
        && function.globals_written.is_empty()
        && function.externs.is_empty()
        && size.contract.require.is_empty()
        && function.name != one.function.name;
    let is_number = |param: &&Param| matches!(param.ty.kind, TypeKind::Int { .. });
    let argument = |param: &Param| {
        let same = one.function.params.iter().filter(is_number).find(|number| number.name == param.name);
        let only = length.filter(|_| function.params.len() == 1);
        is_number(&param).then_some(same.map(|number| &*number.name).or(only)?).map(variable)
    };
    let arguments: Option<Vec<String>> = function.params.iter().map(argument).collect();
    let arguments = arguments.filter(|_| is_size)?.join(", ");
    Some(format!("(size_t){}({arguments})", function.c_name))
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
        format!("{}driver_enlarged({maker}{bytes}), {bytes}, {room});", &line[..at]),
    ])
}

/// The variable with the size of that memory.
pub(super) fn variable_of(param: &str) -> String {
    format!("{}_room", variable(param))
}

fn is_byte_or_void(ty: &CType) -> bool {
    matches!(ty.kind, TypeKind::Int { bits: 8, .. } | TypeKind::Void)
}
