//! Callbacks that a side gets: their results, and the trace of their calls. The harness of a
//! function without callbacks has none of this code.

use super::Emitter;
use crate::contract::parameter_roles::{Callback, Slot};
use proc_macro2::TokenStream;
use quote::quote;

impl Emitter<'_> {
    fn callbacks(&self) -> impl Iterator<Item = (&Slot<'_>, &Callback)> {
        self.slots.iter().filter_map(|slot| Some((slot, slot.role.callback()?)))
    }

    fn with_callbacks(&self, code: impl FnOnce() -> TokenStream) -> TokenStream {
        if self.callbacks().next().is_some() { code() } else { TokenStream::new() }
    }

    /// A function for each callback; both sides get the same one.
    pub(super) fn called(&self) -> TokenStream {
        let each =
            self.callbacks().enumerate().filter_map(|(index, (slot, role))| role.function(slot, index));
        quote!(#(#each)*)
    }

    /// Before a call: sets the results of the callbacks, and the memory that this side knows.
    pub(super) fn begin(&self, is_c: bool) -> TokenStream {
        self.with_callbacks(|| {
            let functions = self.callbacks().map(|(slot, role)| role.pointer(slot));
            let answers = self.callbacks().map(|(slot, role)| role.answers(slot));
            let known = self.slots.iter().filter(|slot| slot.is_memory()).map(|slot| {
                let (region, label) = (slot.region(), slot.label);
                match slot.nullable() {
                    true => quote!(known.extend(#region.as_ref().map(|m| m.known(#label)));),
                    false => quote!(known.push(#region.known(#label));),
                }
            });
            let sized = self.slots.iter().find(|slot| slot.role.elements().is_some());
            let element = sized.map_or(quote!(0), |slot| {
                let name = slot.name;
                quote!(args.#name.0)
            });
            quote! {
                let mut known = Vec::new();
                #(#known)*
                crate::runtime::callback::begin(#is_c, vec![#(#answers),*], known, #element);
                #(#functions)*
            }
        })
    }

    /// After a call: takes the trace.
    pub(super) fn end(&self) -> TokenStream {
        self.with_callbacks(|| quote!(let __trace = crate::runtime::callback::end();))
    }

    /// The trace's field in the struct of effects.
    pub(super) fn trace_field(&self) -> TokenStream {
        self.with_callbacks(|| quote!(__trace: crate::runtime::callback::Trace,))
    }

    pub(super) fn trace(&self) -> TokenStream {
        self.with_callbacks(|| quote!(__trace,))
    }

    pub(super) fn differing_call(&self) -> TokenStream {
        self.with_callbacks(|| {
            quote! {
                if let Some(what) = crate::runtime::callback::differs(&oracle.__trace, &subject.__trace) {
                    return Some(what);
                }
            }
        })
    }

    pub(super) fn record_trace(&self) -> TokenStream {
        self.with_callbacks(|| quote!(crate::runtime::callback::put(__trace, &mut __record);))
    }

    pub(super) fn calls_made(&self) -> TokenStream {
        self.with_callbacks(|| quote!(parts.extend(crate::runtime::callback::shown(&effects.__trace));))
    }
}
