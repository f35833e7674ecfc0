//! The parameters of a contract in their places: for descriptions, and for generated code.

use super::length_inference::{MAX_OF_STEP, inferred_max, most_of_step};
use super::parameter_roles::{ParameterContext, Slot, most, pointee};
use super::types::{Contract, Signature};
use crate::symbol::Function;
use proc_macro2::Ident;

/// The parameters with their C types, in order.
pub fn places<'a>(
    contract: &'a Contract,
    function: &'a Function,
) -> impl Iterator<Item = ParameterContext<'a>> {
    let (params, is_safe) = (&contract.params[..], contract.signature == Signature::Safe);
    let place = move |(param, of): (_, &'a crate::symbol::Param)| ParameterContext {
        params,
        param,
        ty: &of.ty,
        is_safe,
    };
    params.iter().zip(&function.params).map(place)
}

/// The parameters with their C types and `c`, their names and types in Rust, in order.
pub fn slots<'a>(
    contract: &'a Contract,
    function: &'a Function,
    c: &'a [(Ident, syn::Type)],
) -> Vec<Slot<'a>> {
    let params = &contract.params[..];
    let inferred_max = |place: &ParameterContext| match (&contract.sequence, place.param.role.buffer()) {
        (None, _) => inferred_max(&contract.interesting),
        // As contracts had it for all elements; edited ones still have.
        (Some(_), Some(buffer)) if buffer.max == MAX_OF_STEP => MAX_OF_STEP,
        (Some(_), _) => most_of_step(place.ty),
    };
    let length = |name: &str| {
        let at = params.iter().position(|param| param.name == name)?;
        let of_type = function.params.iter().find(|param| param.name == name).map(|param| &param.ty);
        Some((&c.get(at)?.0, most(of_type)))
    };
    let mut slots: Vec<Slot> = places(contract, function)
        .zip(c)
        .enumerate()
        .map(|(at, (place, (name, ty)))| Slot {
            params,
            param: place.param,
            at,
            role: &place.param.role,
            label: &place.param.name,
            name,
            c: place.ty,
            ty,
            target: pointee(ty),
            length: place.param.role.buffer().and_then(|buffer| length(&buffer.length)),
            last: false,
            interesting: &contract.interesting,
            inferred_max: inferred_max(&place),
            handle_of: contract.sequence.as_ref().map(|sequence| sequence.of.as_str()),
        })
        .collect();
    // In a call sequence further steps follow, so no part may take the rest of the input.
    if contract.sequence.is_none() {
        let grows = |slot: &Slot| slot.role.extent(slot).is_some_and(|extent| !extent.is_output);
        if let Some(last) = slots.iter().rposition(|slot| grows(slot) && !slot.is_shared()) {
            slots[last].last = true;
        }
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::infer::infer;
    use crate::contract::pointer_facts::FactTable;
    use crate::contract::types::Judgeable;

    #[test]
    fn memory_for_enums_holds_enumerators() {
        let text = "enum kind { ONE = 1, TEN = 10 };\n\
            int all(enum kind *one, const enum kind *many, int n, enum kind *out, int size, int *plain, enum kind *last, enum kind pair[2]) {\n\
                *last = ONE; pair[0] = ONE; pair[1] = TEN;\n\
                *one = *one == TEN ? ONE : TEN; for (int i = 0; i < size; i++) out[i] = ONE;\n\
                for (int i = 0; i < n; i++) *plain += many[i]; return *plain; }\n";
        let library = crate::c::front_tests::loaded(&[("a.c", text)]);
        let function = library.find("all").unwrap();
        let Judgeable::Yes(contract) = infer(&library, &FactTable::build(&library), function) else {
            panic!()
        };
        let types: Vec<(Ident, syn::Type)> = function
            .params
            .iter()
            .map(|param| (quote::format_ident!("{}", param.name), syn::parse_quote!(*mut u32)))
            .collect();
        let held = slots(&contract, function, &types);
        let held = held.iter().map(|slot| slot.to_enumerators(&quote::quote!(value)).is_some());
        assert_eq!(held.collect::<Vec<_>>(), [true, true, false, false, false, false, false, false]);
    }
}
