//! Callbacks that a side gets: their C prototypes, their results, and the trace of their calls. The harness of a
//! function without callbacks has none of this code.

use super::Emitter;
use crate::contract::callback::prototype;
use crate::contract::types::Role;
use crate::harness::plan::Slot;
use crate::symbol::{CType, TypeKind};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

impl Emitter<'_> {
    fn callbacks(&self) -> impl Iterator<Item = (usize, &Slot<'_>)> {
        self.slots.iter().filter(|slot| matches!(slot.role, Role::Callback { .. })).enumerate()
    }

    fn with_callbacks(&self, code: impl FnOnce() -> TokenStream) -> TokenStream {
        if self.callbacks().next().is_some() { code() } else { TokenStream::new() }
    }

    /// A function for each callback; both sides get the same one.
    pub(super) fn called(&self) -> TokenStream {
        let each = self.callbacks().map(|(index, slot)| {
            let Some((params, ret)) = self.prototype(slot) else { return TokenStream::new() };
            let (name, label) = (format_ident!("__called_{}", slot.name), slot.label);
            let names: Vec<_> = (0..params.len()).map(|at| format_ident!("a{at}")).collect();
            let types = params.iter().map(erased);
            let result = (ret.kind != TypeKind::Void).then(|| erased(ret));
            let result = result.iter();
            let body = match slot.role {
                Role::Callback { order: true, .. } => {
                    let size = element_size(&params[0]);
                    quote!(order(#index, #label, a0, a1, #size) as _)
                }
                _ => {
                    let seen = names.iter().zip(params).map(|(name, ty)| seen(name, ty));
                    let answer = answer(index, ret);
                    quote!(record(#label, [#(#seen),*]); #answer)
                }
            };
            quote! {
                unsafe extern "C" fn #name(#(#names: #types),*) #(-> #result)* {
                    use crate::runtime::callback::*;
                    called(|| { #body })
                }
            }
        });
        quote!(#(#each)*)
    }

    fn prototype(&self, slot: &Slot) -> Option<(&[CType], &CType)> {
        let param = self.bound.function.params.iter().find(|param| param.name == slot.label)?;
        prototype(&param.ty)
    }

    /// Before a call: sets the results of the callbacks, and the memory that this side knows.
    pub(super) fn begin(&self, is_c: bool) -> TokenStream {
        self.with_callbacks(|| {
            let functions = self.callbacks().map(|(_, slot)| {
                let (name, ty) = (slot.name, slot.ty);
                let (function, called) = (format_ident!("{name}_function"), format_ident!("__called_{name}"));
                let (params, ret) = self.prototype(slot).expect("the role says that it is a function");
                let types = params.iter().map(erased);
                let result = (ret.kind != TypeKind::Void).then(|| erased(ret));
                let result = result.iter();
                let given = if slot.nullable() { quote!(args.#name.is_some()) } else { quote!(true) };
                quote! {
                    // SAFETY: the same prototype, pointers apart, which are all alike.
                    let #function: #ty = unsafe {
                        core::mem::transmute::<Option<unsafe extern "C" fn(#(#types),*) #(-> #result)*>, _>(
                            if #given { Some(#called) } else { None },
                        )
                    };
                }
            });
            let answers = self.callbacks().map(|(_, slot)| {
                let name = slot.name;
                if slot.nullable() {
                    quote!(args.#name.clone().unwrap_or_default())
                } else {
                    quote!(args.#name.clone())
                }
            });
            let known = self.slots.iter().filter(|slot| slot.is_memory()).map(|slot| {
                let (region, label) = (slot.region(), slot.label);
                match slot.nullable() {
                    true => quote!(known.extend(#region.as_ref().map(|m| m.known(#label)));),
                    false => quote!(known.push(#region.known(#label));),
                }
            });
            let sized = self.slots.iter().find(|slot| matches!(slot.role, Role::Elements { .. }));
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

/// The Rust type with the same ABI; all pointer types become one.
fn erased(ty: &CType) -> TokenStream {
    match &ty.kind {
        TypeKind::Bool => quote!(bool),
        TypeKind::Int { signed, bits, .. } | TypeKind::Enum { signed, bits, .. } => {
            let name = format_ident!("{}{bits}", if *signed { "i" } else { "u" });
            quote!(#name)
        }
        TypeKind::Float { bits } => {
            let name = format_ident!("f{bits}");
            quote!(#name)
        }
        _ => quote!(*const core::ffi::c_void),
    }
}

fn seen(name: &proc_macro2::Ident, ty: &CType) -> TokenStream {
    let TypeKind::Pointer(target) = &ty.kind else { return quote!(crate::erased::seen(#name)) };
    match &target.kind {
        TypeKind::Int { plain_char: true, .. } if target.is_const => quote!(Seen::text(#name)),
        TypeKind::Int { .. } | TypeKind::Float { .. } if target.is_const => {
            let of = erased(target);
            quote!(crate::erased::seen_behind::<#of>(#name))
        }
        _ => quote!(Seen::place(#name)),
    }
}

/// The number of bytes that a comparison reads, where the pointer type determines it.
fn element_size(pointer: &CType) -> TokenStream {
    match &pointer.kind {
        TypeKind::Pointer(target) if target.kind != TypeKind::Void => {
            let of = erased(target);
            quote!(Some(size_of::<#of>()))
        }
        _ => quote!(None),
    }
}

fn answer(index: usize, ret: &CType) -> TokenStream {
    match &ret.kind {
        TypeKind::Void => TokenStream::new(),
        TypeKind::Enum { values, .. } if !values.is_empty() => {
            let values = values.iter().map(|(_, value)| Literal::i128_unsuffixed(*value));
            let of = erased(ret);
            quote!({
                let all: &[#of] = &[#(#values),*];
                all[usize::from(crate::erased::answer::<u8>(#index)) % all.len()]
            })
        }
        _ => {
            let of = erased(ret);
            quote!(crate::erased::answer::<#of>(#index))
        }
    }
}
