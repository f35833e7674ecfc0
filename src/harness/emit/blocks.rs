//! Blocks of memory that change owners in a harness: made before a call, inspected and freed after it. The harness
//! of a function without such blocks has none of this code.

use super::Emitter;
use crate::contract::parameter_roles::Slot;
use crate::contract::types::Returns;
use proc_macro2::TokenStream;
use quote::quote;

impl Emitter<'_> {
    fn with_blocks(&self, code: TokenStream) -> TokenStream {
        if self.contract.hands_over() { code } else { TokenStream::new() }
    }

    fn given(&self) -> impl Iterator<Item = &Slot<'_>> {
        self.slots.iter().filter(|slot| slot.role.given().is_some())
    }

    pub(super) fn block_uses(&self) -> TokenStream {
        self.with_blocks(quote!(
            use crate::runtime::blocks::{self, Blocks, Given};
            use crate::runtime::ledger;
        ))
    }

    /// Makes the given blocks before a call.
    pub(super) fn hand_over(&self) -> TokenStream {
        let lets = self.given().filter_map(|slot| slot.role.object(slot));
        self.with_blocks(quote!(blocks::begin(); #(#lets)*))
    }

    /// After a crash of C: frees the blocks that C has left.
    pub(super) fn dropped(&self) -> TokenStream {
        self.with_blocks(quote!(if __ran.is_err() {
            ledger::release();
        }))
    }

    /// Collects the blocks after a call. C must return a block that it allocated; another one cannot be compared.
    pub(super) fn taken_back(&self, is_c: bool) -> TokenStream {
        let given = self.given().map(|slot| {
            let (label, handle) = (slot.label, slot.handle());
            quote!((#label, #handle.as_ref()))
        });
        let returned = match self.contract.returns {
            Returns::Memory => quote!(slot),
            _ => quote!(core::ptr::null()),
        };
        let check = is_c.then(|| {
            quote!(if !__blocks.is_own() {
                return Err(Broke("it returns memory that it has not allocated".into()));
            })
        });
        self.with_blocks(quote!(let __blocks = blocks::end(&[#(#given),*], #returned); #check))
    }

    pub(super) fn blocks_field(&self) -> TokenStream {
        self.with_blocks(quote!(__blocks: Blocks,))
    }

    pub(super) fn blocks_name(&self) -> TokenStream {
        self.with_blocks(quote!(__blocks,))
    }

    pub(super) fn differing_blocks(&self) -> TokenStream {
        self.with_blocks(quote! {
            if let Some(what) = oracle.__blocks.differs(&subject.__blocks) {
                return Some(what);
            }
        })
    }

    pub(super) fn blocks_left(&self) -> TokenStream {
        self.with_blocks(quote!(parts.extend(effects.__blocks.shown());))
    }

    pub(super) fn record_blocks(&self) -> TokenStream {
        self.with_blocks(quote!(__blocks.put(&mut __record);))
    }
}
