//! What a role says of itself. The defaults are those of a single value that the input decodes, without null.
//!
//! In the code for a harness, `value` is a reference to what the input holds for the parameter, if it is not null;
//! `m` is a reference to its memory on one side.

use super::in_driver::InDriver;
use super::{Direction, Keys, Notation, ParameterContext, Part, Shape, Slot, Typed};
use proc_macro2::TokenStream;
use quote::quote;
use serde_json::Value as Json;

/// What differs from role to role.
pub trait Rules {
    /// What holds wherever the parameter stands.
    fn facts(&self) -> Facts<'_>;

    /// Whether null is included, where the role can include it.
    fn nullable(&mut self) -> Option<&mut bool> {
        None
    }

    /// Sets its keys in the contract file.
    fn write(&self, keys: &mut Keys);

    /// Whether the C type fits, and what the role needs.
    fn needs(&self, ty: &Typed) -> (bool, &'static str);

    /// Checks a role that a model proposes, and widens it to `most` elements. No proposal may exclude inputs.
    fn propose(&mut self, is_pointer: bool, _most: usize) -> Result<(), &'static str> {
        for_pointers(is_pointer)
    }

    /// In the words of `contract`, without null.
    fn summary(&self) -> String;

    /// In the words of prompts for ports.
    fn describe(&self, place: &ParameterContext) -> String;

    /// The parameter's JSON in an input, in words, without null.
    fn expect(&self, place: &ParameterContext, notation: &mut Notation) -> String;

    /// Its JSON in an example; `None` for one that may be left out.
    fn example(&self, place: &ParameterContext, notation: &Notation) -> Option<Json>;

    /// The JSON of the argument that an empty input has; `None` where it depends on more than the role.
    fn empty(&self, _place: &ParameterContext) -> Option<Json> {
        None
    }

    /// The argument in a generated driver; `unique` can be the name of a function there. `None` where none can be made.
    fn in_driver(&self, _place: &ParameterContext, _unique: &str) -> Option<InDriver> {
        None
    }

    /// The code of a harness.
    fn code(&self, slot: &Slot) -> Code;

    /// The code around a safe inner function; `None` for a parameter that it does not have.
    fn safe(&self, slot: &Slot) -> Option<Safe> {
        let (name, ty) = (slot.name, slot.ty.clone());
        Some(Safe { ty, of_c: quote!(#name), to_c: quote!(#name), argument: self.code(slot).argument })
    }

    /// The type of an element of its memory, or of its value.
    fn element(&self, slot: &Slot) -> TokenStream {
        let target = &slot.target;
        quote!(#target)
    }

    /// Its part of an enumeration of all inputs.
    fn digit(&self, _slot: &Slot) -> Option<Part> {
        None
    }

    /// Its own preconditions.
    fn conditions(&self, _slot: &Slot) -> Vec<TokenStream> {
        Vec::new()
    }

    /// Its number in preconditions.
    fn number(&self, _slot: &Slot) -> Option<TokenStream> {
        None
    }

    /// Its number of elements, as far as the parameter `length` counts them.
    fn counted(&self, _slot: &Slot, _length: &str) -> Option<TokenStream> {
        None
    }

    /// How long an input can make it after decoding.
    fn extent(&self, _slot: &Slot) -> Option<Extent> {
        None
    }

    /// Gives what is at `place` the length `n`.
    fn fit(&self, _place: &TokenStream, _n: &TokenStream) -> Option<TokenStream> {
        None
    }

    /// The local variable `slot.handle()`, for what must exist before the memory of the call.
    fn object(&self, _slot: &Slot) -> Option<TokenStream> {
        None
    }

    /// Of memory: one side's copy; C's is exactly as long as promised.
    fn memory(&self, slot: &Slot, is_c: bool) -> TokenStream {
        slot.region_of(is_c, &quote!(value))
    }

    /// Of memory: whether it is as it was.
    fn unchanged(&self) -> TokenStream {
        quote!(slices_same(m.slice(), value))
    }
}

/// What holds of a role wherever it stands.
pub struct Facts<'a> {
    /// What a function with such arguments is said to decode, if anything.
    pub kind: Option<&'static str>,
    /// Of memory with elements or a value that the call gets: which way data goes.
    pub direction: Option<Direction>,
    /// The pointer may be null.
    pub is_nullable: bool,
    /// No safe Rust type can express the role.
    pub needs_c: bool,
    /// The parameters that measure it; all must have the role of a length.
    pub lengths: Vec<&'a String>,
    /// Room for it in an input.
    pub input_bytes: u64,
    /// The most elements of an input that C reads up to a length or an end.
    pub elements_read: Option<usize>,
    /// What a generated test has for the argument, or why it can have nothing.
    pub shape: Result<Shape<'a>, &'static str>,
}

impl<'a> Facts<'a> {
    /// The facts of a value with this shape.
    pub(super) fn of(shape: Result<Shape<'a>, &'static str>) -> Self {
        Self {
            kind: None,
            direction: None,
            is_nullable: false,
            needs_c: false,
            lengths: Vec::new(),
            input_bytes: 64,
            elements_read: None,
            shape,
        }
    }
}

/// The code of a harness for one parameter.
pub struct Code {
    /// The type of what an input holds for it.
    pub held: TokenStream,
    /// Its place in an input. Parts of fixed size are first, so that a mutation of a buffer moves nothing else.
    pub rank: u8,
    /// Takes it from the bytes of an input.
    pub decode: TokenStream,
    /// Writes it into the bytes of an input.
    pub encode: TokenStream,
    /// Its text for people.
    pub show: TokenStream,
    /// Reads it from the fields of the text exchanged with the parent process.
    pub read: TokenStream,
    /// Writes it as that text.
    pub plain: TokenStream,
    /// The values at its edges.
    pub boundaries: TokenStream,
    /// The argument for C and for a port with C's signature.
    pub argument: TokenStream,
}

impl Code {
    /// The code of a value of this type; the argument is a pointer to its memory.
    pub(super) fn of(held: TokenStream, slot: &Slot) -> Self {
        let region = slot.region();
        Self {
            boundaries: quote!(<#held as Value>::boundaries()),
            held,
            rank: 0,
            decode: quote!(Value::decode(__reader)),
            encode: quote!(value.encode(writer);),
            show: quote!(value.show()),
            read: slot.read(&quote!(Value::of_plain)),
            plain: quote!(value.plain()),
            argument: match slot.nullable() {
                true => quote!(#region.as_ref().map_or(core::ptr::null_mut(), |m| m.ptr()) as _),
                false => quote!(#region.ptr() as _),
            },
        }
    }

    /// The code of elements in variable number.
    pub(super) fn elements(slot: &Slot) -> Self {
        let element = slot.element();
        Self {
            rank: if slot.last { 4 } else { 3 },
            show: quote!(show_slice(value)),
            read: slot.read(&quote!(buffer_of::<#element>)),
            plain: quote!(plain_slice(value)),
            ..Self::of(quote!(Vec<#element>), slot)
        }
    }
}

/// The code around a safe inner function for one parameter.
pub struct Safe {
    pub ty: syn::Type,
    /// C's argument as the inner function's.
    pub of_c: TokenStream,
    /// The inner function's argument as C's.
    pub to_c: TokenStream,
    /// The argument from the memory of a harness.
    pub argument: TokenStream,
}

/// How long an input can make a part after decoding.
pub struct Extent {
    pub max: usize,
    /// The longest length, where neither a person nor a type limits it.
    pub longest: Option<usize>,
    pub is_output: bool,
}

/// Refuses a role that is for pointers alone.
pub(super) fn for_pointers(is_pointer: bool) -> Result<(), &'static str> {
    if is_pointer { Ok(()) } else { Err("this role is for pointers") }
}
