use super::in_driver::InDriver;
use super::rules::for_pointers;
use super::{Code, Facts, Form, Keys, Notation, ParameterContext, Rules, Slot, Typed};
use proc_macro2::TokenStream;
use quote::quote;
use serde_json::Value as Json;

/// A block of at most `max` bytes from each side's own allocator, which the function may free or keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    pub max: usize,
    pub nullable: bool,
}

impl Given {
    pub(super) fn read(keys: &Keys) -> Result<Self, String> {
        Ok(Self { max: keys.max()?, nullable: keys.nullable })
    }
}

impl Rules for Given {
    fn facts(&self) -> Facts<'_> {
        Facts {
            kind: Some("blocks to free"),
            is_nullable: self.nullable,
            needs_c: true,
            input_bytes: self.max as u64 + 8,
            ..Facts::of(Err("it is given a block to free"))
        }
    }

    fn nullable(&mut self) -> Option<&mut bool> {
        Some(&mut self.nullable)
    }

    fn write(&self, keys: &mut Keys) {
        keys.max = Some(self.max as i64);
    }

    fn needs(&self, of: &Typed) -> (bool, &'static str) {
        (of.target().is_some(), "role \"given\" needs a pointer")
    }

    fn propose(&mut self, is_pointer: bool, _: usize) -> Result<(), &'static str> {
        self.max = self.max.max(1);
        for_pointers(is_pointer)
    }

    /// It stays allocated where the function neither frees nor keeps it.
    fn in_driver(&self, place: &ParameterContext, _: &str) -> Option<InDriver> {
        Some(InDriver::pointer(place, &format!("driver_given({})", self.max)))
    }

    fn summary(&self) -> String {
        format!("block to free, of at most {} bytes", self.max)
    }

    fn describe(&self, place: &ParameterContext) -> String {
        format!(
            "a block of 0 to {} bytes that `malloc` made{}; whether it is freed is compared (`libc::free`), and what stands in it where it is not",
            self.max,
            place.null()
        )
    }

    fn expect(&self, _: &ParameterContext, notation: &mut Notation) -> String {
        notation.uses(Form::Bytes);
        format!("an allocated block: a buffer of 0 to {} bytes", self.max)
    }

    fn example(&self, _: &ParameterContext, _: &Notation) -> Option<Json> {
        Some(Notation::text(self.max))
    }

    fn object(&self, slot: &Slot) -> Option<TokenStream> {
        let (name, handle) = (slot.name, slot.handle());
        Some(match self.nullable {
            true => quote!(let #handle = args.#name.as_ref().map(|value| Given::new(value));),
            false => quote!(let #handle = Some(Given::new(&args.#name));),
        })
    }

    /// It holds the block's content.
    fn code(&self, slot: &Slot) -> Code {
        let (max, handle) = (self.max, slot.handle());
        Code {
            rank: 3,
            decode: quote!(decode_buffer::<u8>(__reader, #max, false)),
            encode: quote!(encode_buffer(writer, value, #max, false);),
            show: quote!(format!("a block with {}", show_slice(value))),
            read: slot.read(&quote!(Plain::bytes)),
            plain: quote!(Plain::Bytes(value.clone())),
            boundaries: quote!(boundary_buffers::<u8>(#max, &[])),
            argument: quote!(#handle.as_ref().map_or(core::ptr::null_mut(), |block| block.ptr()) as _),
            ..Code::of(quote!(Vec<u8>), slot)
        }
    }
}
