//! What differs behind several pointers, for people: the verdict does not depend on it.

use super::difference::{MemoryDifference, Way};
use super::values::{Differing, values};
use crate::in_place::passing::param_in;
use crate::in_place::pointee_type::{Spot, behind};
use crate::symbol::{CType, Function, Library};

/// The first place to which types lead over pointers: `parent->child->prev`, or `return value->size`.
pub(super) fn differing(
    library: &Library,
    function: &Function,
    places: &[MemoryDifference],
) -> Option<Differing> {
    places.iter().find_map(|place| {
        let (path, ty, into) = field(library, function, place.way.as_ref()?)?;
        Some(Differing { path, values: place.words.and_then(|words| values(ty, into, &words)) })
    })
}

fn field<'l>(library: &'l Library, function: &'l Function, way: &Way) -> Option<(String, &'l CType, u64)> {
    let (mut path, mut ty) = match way.argument {
        Some(register) => {
            let param = param_in(library, function, register)?;
            (param.name.clone(), &param.ty)
        }
        None => ("return value".to_owned(), &function.ret),
    };
    let (last, pointers) = way.offsets.split_last()?;
    for offset in pointers {
        match behind(library, &path, ty, *offset) {
            Spot::Field { path: next, ty: pointer, into: 0 } if pointer.is_pointer() => {
                (path, ty) = (next, pointer);
            }
            Spot::Field { .. } | Spot::Padding | Spot::Unknown => return None,
        }
    }
    match behind(library, &path, ty, *last) {
        Spot::Field { path, ty, into } => Some((path, ty, into)),
        Spot::Padding | Spot::Unknown => None,
    }
}
