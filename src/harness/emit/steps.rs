//! Functions on handles: the additions to a call that is one step of a call sequence, and the plan of that
//! sequence.

use super::Emitter;
use crate::contract::parameter_roles::field_ident;
use crate::contract::types::{Returns, Sequence};
use crate::symbol::{CType, SymbolName, TypeKind};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

impl Emitter<'_> {
    fn sequence(&self) -> Option<&Sequence> {
        self.contract.sequence.as_deref()
    }

    /// Selects the handles for the arguments; a missing handle skips the call.
    pub(super) fn handles(&self) -> TokenStream {
        if self.sequence().is_none() {
            return TokenStream::new();
        }
        let room = (self.contract.returns == Returns::Handle).then(|| {
            quote!(if !world.has_room() {
                return Ok(None);
            })
        });
        // Structs are lent when all handles are there.
        let (handles, others): (Vec<_>, Vec<_>) =
            self.slots.iter().partition(|slot| slot.role.handle().is_some());
        let objects = handles.into_iter().chain(others).filter_map(|slot| slot.role.object(slot));
        quote!(#room #(#objects)*)
    }

    /// The call, with its allocations counted.
    pub(super) fn watched(&self, call: TokenStream) -> TokenStream {
        match self.is_watched() {
            false => call,
            true => quote!({ let _watch = ledger::Watch::on(); #call }),
        }
    }

    /// The same under the guard. The guard's jump skips destructors, so it ends the count itself.
    pub(super) fn counted(&self, call: TokenStream) -> TokenStream {
        match self.is_watched() {
            false => call,
            true => quote!(ledger::watch(true); #call ledger::watch(false);),
        }
    }

    fn is_watched(&self) -> bool {
        self.sequence().is_some() || self.contract.hands_over()
    }

    /// Compares a returned pointer in `slot` by its place. Without a call sequence, C must return a pointer into an
    /// argument, because no other place can be compared.
    pub(super) fn pointer(&self, is_c: bool) -> TokenStream {
        if self.contract.returns == Returns::Handle {
            return quote!(let __ret = !slot.is_null(); world.adopt(slot, NAME););
        }
        let places = self.slots.iter().filter(|s| s.is_memory()).map(|slot| {
            let (region, label) = (slot.region(), slot.label);
            match slot.nullable() {
                true => quote!(#region.as_ref().map(|m| (#label, m.ptr() as usize, size_of_val(m.slice())))),
                false => quote!(Some((#label, #region.ptr() as usize, size_of_val(#region.slice())))),
            }
        });
        match (self.sequence(), is_c) {
            (Some(_), _) => {
                let content = self.content_of_constant();
                let by = if is_c { quote!(ByC) } else { quote!(ByPort) };
                quote! {
                    let constant = (#content, crate::runtime::memory::Returned::#by);
                    let __ret = world.place(slot as usize, &[#(#places),*], constant);
                }
            }
            (None, true) => quote! {
                let Some(__ret) = crate::runtime::memory::place(slot as usize, &[#(#places),*]) else {
                    return Err(Broke("it returns a pointer into no argument".into()));
                };
                let __ret = crate::runtime::memory::Led::to(__ret);
            },
            (None, false) => quote! {
                let __ret = crate::runtime::memory::place(slot as usize, &[#(#places),*]);
                let __ret = crate::runtime::memory::Led::to(__ret.unwrap_or_else(|| "elsewhere".into()));
            },
        }
    }

    /// What of a constant that it returns is the same in C and in a port: a number or a string, no address.
    fn content_of_constant(&self) -> TokenStream {
        let target = self.bound.function.ret.target();
        let bytes = target.and_then(|to| match to.kind {
            TypeKind::Int { bits, .. } | TypeKind::Float { bits } | TypeKind::Enum { bits, .. } => {
                Some(usize::from(bits) / 8)
            }
            TypeKind::Bool => Some(1),
            _ => None,
        });
        let content = match bytes {
            _ if target.is_some_and(CType::is_char) => quote!(String),
            Some(bytes) => quote!(Number(#bytes)),
            None => quote!(Nothing),
        };
        quote!(crate::runtime::memory::Content::#content)
    }

    /// Collects the effects and updates the handles after the call.
    pub(super) fn done(&self, collect: TokenStream) -> TokenStream {
        if self.sequence().is_none() {
            return quote!(Ok(#collect));
        }
        let lives = self.slots.iter().filter_map(|slot| slot.role.handle()?.after(slot));
        let keeps = self.slots.iter().filter(|s| s.is_memory()).map(|slot| {
            let region = slot.region();
            match slot.nullable() {
                true => quote!(if let Some(region) = #region { world.keep(region); }),
                false => quote!(world.keep(#region);),
            }
        });
        quote! {
            let effects = #collect;
            #(#lives)*
            #(#keeps)*
            Ok(Some(effects))
        }
    }

    /// Sets all handles among the arguments to this one.
    pub(super) fn aim(&self) -> TokenStream {
        let handles = self.slots.iter().filter(|s| s.role.handle().is_some());
        let sets = handles.map(|slot| {
            let name = slot.name;
            if slot.nullable() { quote!(args.#name = Some(which);) } else { quote!(args.#name = which;) }
        });
        quote!(#(#sets)*)
    }

    /// The layouts of the lent structs.
    pub(super) fn forms(&self) -> TokenStream {
        let forms = self.slots.iter().filter_map(|slot| Some(slot.role.lent()?.layout(slot)));
        quote!(#(#forms)*)
    }

    /// The call sequence around the function when it is the one under test.
    pub(super) fn plan(&self, sequence: &Sequence) -> TokenStream {
        let of = format_ident!("{}", sequence.of);
        let entries = |names: &[SymbolName]| {
            let entries = names.iter().map(|name| {
                let module = format_ident!("{}", name.as_str());
                if *name == self.contract.symbol {
                    quote!(&OPERATION)
                } else {
                    quote!(&super::#module::OPERATION)
                }
            });
            let entries: Vec<TokenStream> = entries.collect();
            quote!(&[#(#entries),*])
        };
        let (makers, others, enders) =
            (entries(&sequence.makers), entries(&sequence.operations), entries(&sequence.enders));
        let makes = sequence.makers.contains(&self.contract.symbol);
        let file = match &sequence.file {
            Some(name) => quote!(Some(#name)),
            None => quote!(None),
        };
        let fails = sequence.fail_allocations;
        let by_caller = if sequence.by_caller { quote!(size_of::<ffi::#of>()) } else { quote!(0) };
        let buffers = sequence.buffers.iter().map(|(pointer, length)| {
            let (at, size) = (field_ident(pointer), field_ident(length));
            quote!(Buffer {
                name: #pointer,
                pointer: core::mem::offset_of!(ffi::#of, #at),
                length: core::mem::offset_of!(ffi::#of, #size),
                width: size_behind(|s: &ffi::#of| &raw const s.#size),
            })
        });
        let texts = sequence.texts.iter().map(|field| {
            let field = field_ident(field);
            quote!(core::mem::offset_of!(ffi::#of, #field))
        });
        quote! {
            Plan {
                under: &OPERATION,
                makes: #makes,
                makers: #makers,
                others: #others,
                enders: #enders,
                shape: Shape { by_caller: #by_caller, buffers: &[#(#buffers),*], texts: &[#(#texts),*], file: #file, fails: #fails },
            }
        }
    }
}
