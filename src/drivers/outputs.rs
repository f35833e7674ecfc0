//! What a call of a driver makes for later ones: bytes and texts that the library writes or returns, as a program passes
//! on what it got.

use super::callable::Callable;
use super::rooms::{Rooms, variable_of};
use crate::contract::handles::Guess;
use crate::contract::parameter_roles::in_driver::{variable, variable_type};
use crate::contract::parameter_roles::{Direction, Role};
use crate::contract::types::Returns;
use crate::symbol::{CType, Param, TypeKind};

/// The lines behind a call that keep what it made; `result` is a variable with its result, if one of them reads it.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    pub lines: Vec<String>,
    pub result: Option<&'static str>,
}

/// The variable with the result of a call.
pub(super) const RESULT: &str = "driver_result";

/// What a call makes, besides objects.
pub(super) fn outputs(one: &Callable, rooms: &Rooms) -> Outputs {
    let mut outputs = Outputs::default();
    for (at, param) in one.function.params.iter().enumerate() {
        if let Some(line) = at_place(one, at) {
            outputs.lines.push(line);
        }
        outputs.memory((one, rooms), (at, param));
    }
    if one.makes_text && one.contract.returns != Returns::Handle {
        outputs.lines.push(format!("driver_keep_text({RESULT});"));
        outputs.result = Some("const char *");
    }
    outputs
}

/// The bytes at whose address the call leaves a pointer, if it leaves their number, too; or a text.
fn at_place(one: &Callable, at: usize) -> Option<String> {
    let params = &one.function.params;
    if one.guesses.get(&at) != Some(&Guess::Place) {
        return None;
    }
    let of = params[at].ty.target().and_then(CType::target).filter(|of| is_byte(of))?;
    let name = variable(&params[at].name);
    let size = size_beside(params, at).map(|size| &params[size]);
    match size {
        Some(size) => {
            let (number, ty) = (variable(&size.name), variable_type(size.ty.target()?));
            Some(format!("driver_keep_output(*{name}, {number} ? (size_t)*({ty} *){number} : 0);"))
        }
        None if of.is_char() => Some(format!("driver_keep_text(*{name});")),
        None => None,
    }
}

/// The parameter at which a call leaves how many bytes there are behind the pointer that it leaves at this one.
fn size_beside(params: &[Param], at: usize) -> Option<usize> {
    let is_size = |at: &usize| {
        let of = params.get(*at).and_then(|param| param.ty.target());
        of.is_some_and(|of| matches!(of.kind, TypeKind::Int { bits: 32.., .. }) && !of.is_const)
    };
    let before = at.checked_sub(1);
    [Some(at + 1), before].into_iter().flatten().find(is_size)
}

/// Whether a parameter is where a call finds and leaves the number of bytes behind a pointer that is null before it.
pub(super) fn is_size_of_place(one: &Callable, at: usize) -> bool {
    let params = &one.function.params;
    let mut places = (0..params.len()).filter(|place| one.guesses.get(place) == Some(&Guess::Place));
    places.any(|place| {
        let is_bytes = params[place].ty.target().and_then(CType::target).is_some_and(is_byte);
        is_bytes && size_beside(params, place) == Some(at)
    })
}

impl Outputs {
    /// Bytes that the call writes to memory of the driver, as many as it returns or leaves in their length.
    fn memory(&mut self, (one, rooms): (&Callable, &Rooms), (at, param): (usize, &Param)) {
        let role = &one.contract.params[at].role;
        let is_bytes = param.ty.target().is_some_and(|of| is_byte(of) || of.kind == TypeKind::Void);
        if !is_bytes || one.guesses.contains_key(&at) {
            return;
        }
        let (direction, room, length) = match role {
            Role::Buffer(buffer) => {
                let room = format!("{}_count", variable(&buffer.length));
                (buffer.direction, room, Some(&buffer.length))
            }
            Role::Room(room) => (room.direction, room.len.to_string(), None),
            Role::FixedArray(array) => (array.direction, array.len.to_string(), None),
            _ => return,
        };
        if direction == Direction::In {
            return;
        }
        let room = if rooms.contains_key(&at) { variable_of(&param.name) } else { room };
        let counts = length.and_then(|name| one.function.params.iter().find(|param| param.name == *name));
        let is_behind = counts.is_some_and(|param| param.ty.target().is_some());
        let is_returned = matches!(one.function.ret.kind, TypeKind::Int { bits: 32.., .. })
            && !matches!(role, Role::FixedArray(_));
        let written = match length {
            Some(length) if is_behind => format!("(size_t){}_value", variable(length)),
            _ if is_returned => {
                self.result = Some("long long");
                format!("{RESULT} < 0 ? 0 : (size_t){RESULT}")
            }
            _ => room.clone(),
        };
        self.lines.push(format!("driver_keep_part({}, {room}, {written});", variable(&param.name)));
    }
}

fn is_byte(ty: &CType) -> bool {
    matches!(ty.kind, TypeKind::Int { bits: 8, .. })
}
