//! The library's variables in a harness: set from the input before a call, compared after it. The harness of a
//! function that reaches no variable has none of this code.

use super::Emitter;
use crate::contract::parameter_roles::literals;
use crate::rust::globals::identifier;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

impl Emitter<'_> {
    fn with_globals(&self, code: TokenStream) -> TokenStream {
        if self.contract.globals.is_empty() { TokenStream::new() } else { code }
    }

    pub(super) fn state_uses(&self) -> TokenStream {
        self.with_globals(quote!(
            use crate::runtime::state::{Chosen, Global, Held, Side, State};
        ))
    }

    /// Both copies of each variable, and C's initial values.
    pub(super) fn state(&self, krate: &Ident) -> TokenStream {
        let globals = self.contract.globals.iter().map(|global| {
            let (label, vary) = (global.name.as_str(), global.vary);
            let (name, values) = (format_ident!("{}", identifier(label)), literals(&global.values));
            if global.functions {
                return quote!(Global::of_functions(#label, (&raw mut ffi::#name, &raw mut #krate::globals::#name)));
            }
            quote!(crate::erased::global(#label, (&raw mut ffi::#name, &raw mut #krate::globals::#name), #vary, &[#(#values),*]))
        });
        self.with_globals(quote! {
            fn __state() -> &'static State {
                static STATE: std::sync::OnceLock<State> = std::sync::OnceLock::new();
                STATE.get_or_init(|| State::of(vec![#(#globals),*]))
            }
        })
    }

    /// The field of `Args` and of `Effects`; no parameter can have this name.
    pub(super) fn globals_field(&self, ty: &str) -> TokenStream {
        let ty = format_ident!("{ty}");
        self.with_globals(quote!(__globals: #ty,))
    }

    /// Before a call: sets the variables of this side.
    pub(super) fn enter(&self, side: &str) -> TokenStream {
        let side = format_ident!("{side}");
        self.with_globals(quote!(__state().enter(Side::#side, &args.__globals);))
    }

    /// After a call and all other reads: takes the variables of this side.
    pub(super) fn leave(&self, side: &str) -> TokenStream {
        let side = format_ident!("{side}");
        self.with_globals(quote!(let __globals = __state().leave(Side::#side);))
    }

    pub(super) fn decode_globals(&self) -> TokenStream {
        self.with_globals(quote!(let __globals = __state().decode(__reader);))
    }

    pub(super) fn encode_globals(&self) -> TokenStream {
        self.with_globals(quote!(__state().encode(&args.__globals, writer);))
    }

    pub(super) fn show_globals(&self) -> TokenStream {
        self.with_globals(quote!(parts.extend(__state().shown(&args.__globals));))
    }

    pub(super) fn differing_global(&self) -> TokenStream {
        self.with_globals(quote! {
            if let Some(what) = __state().differs(&oracle.__globals, &subject.__globals) {
                return Some(what);
            }
        })
    }

    /// The field in a pattern that names all fields.
    pub(super) fn globals_named(&self) -> TokenStream {
        self.with_globals(quote!(__globals,))
    }

    pub(super) fn record_globals(&self) -> TokenStream {
        self.with_globals(quote!(__state().record(__globals, &mut __record);))
    }

    pub(super) fn globals_left(&self) -> TokenStream {
        self.with_globals(quote!(parts.extend(__state().left(&effects.__globals));))
    }
}
