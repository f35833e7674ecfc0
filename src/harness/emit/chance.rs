//! Randomness and clocks in a harness: values come from the input, and the number of queries of each side is
//! compared. The harness of a function without them has none of this code.

use super::Emitter;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

impl Emitter<'_> {
    fn with_chance(&self, code: TokenStream) -> TokenStream {
        if self.contract.chance { code } else { TokenStream::new() }
    }

    /// The field's name in `Args`; no parameter can have this name.
    pub(super) fn chance_name(&self) -> Option<Ident> {
        self.contract.chance.then(|| format_ident!("__chance"))
    }

    pub(super) fn chance_bytes(&self) -> TokenStream {
        self.with_chance(quote!(__chance: Vec<u8>,))
    }

    pub(super) fn decode_chance(&self) -> TokenStream {
        self.with_chance(quote! {
            let __chance = decode_buffer::<u8>(__reader, crate::runtime::chance::BYTES, false);
        })
    }

    pub(super) fn encode_chance(&self) -> TokenStream {
        self.with_chance(quote! {
            encode_buffer(writer, &args.__chance, crate::runtime::chance::BYTES, false);
        })
    }

    pub(super) fn show_chance(&self) -> TokenStream {
        self.with_chance(quote!(parts.push(("chance and clocks".into(), show_slice(&args.__chance)));))
    }

    pub(super) fn chance_boundaries(&self) -> TokenStream {
        self.with_chance(quote!(let __chance = crate::runtime::chance::boundaries();))
    }

    /// Before a call: provides the values.
    pub(super) fn draw(&self) -> TokenStream {
        self.with_chance(quote!(crate::runtime::chance::begin(&args.__chance);))
    }

    /// After a call: takes the record of queries.
    pub(super) fn drawn(&self) -> TokenStream {
        self.with_chance(quote!(let __drawn = crate::runtime::chance::end();))
    }

    pub(super) fn drawn_field(&self) -> TokenStream {
        self.with_chance(quote!(__drawn: crate::runtime::chance::Drawn,))
    }

    pub(super) fn drawn_name(&self) -> TokenStream {
        self.with_chance(quote!(__drawn,))
    }

    pub(super) fn differing_draw(&self) -> TokenStream {
        self.with_chance(quote! {
            if let Some(what) = oracle.__drawn.differs(&subject.__drawn) {
                return Some(what);
            }
        })
    }

    pub(super) fn drawn_parts(&self) -> TokenStream {
        self.with_chance(quote!(parts.extend(effects.__drawn.shown());))
    }

    pub(super) fn record_drawn(&self) -> TokenStream {
        self.with_chance(quote!(__drawn.put(&mut __record);))
    }
}
