//! Effects of a call: stored, compared and shown.

use super::Emitter;
use crate::contract::parameter_roles::pointee;
use crate::contract::types::Returns;
use crate::rust::signature::number;
use crate::symbol::TypeKind;
use proc_macro2::TokenStream;
use quote::quote;

impl Emitter<'_> {
    /// Whether the effects have a field for the return value.
    pub(super) fn has_ret(&self) -> bool {
        !matches!(self.contract.returns, Returns::Nothing | Returns::Memory)
    }

    /// The type behind a returned pointer.
    pub(super) fn element(&self) -> TokenStream {
        let known = match &self.bound.function.ret.kind {
            TypeKind::Pointer(to) => number(&to.kind),
            _ => None,
        };
        let element = known.or_else(|| self.bound.c.ret.as_ref().map(pointee));
        quote!(#element)
    }

    /// The struct of all effects of a call.
    pub(super) fn effects_struct(&self) -> TokenStream {
        let ret = self.bound.c.ret.as_ref();
        let ret = match self.contract.returns {
            Returns::Nothing | Returns::Memory => None,
            Returns::Table(_) => {
                let element = self.element();
                Some(quote!(__ret: Option<Vec<#element>>,))
            }
            Returns::Value => Some(quote!(__ret: #ret,)),
            Returns::StaticString => Some(quote!(__ret: Option<Vec<u8>>,)),
            Returns::Handle => Some(quote!(__ret: bool,)),
            Returns::Address => Some(quote!(__ret: crate::runtime::memory::Led,)),
        };
        let outs = self.slots.iter().filter(|s| s.is_effect()).map(|slot| {
            let (name, element) = (slot.name, slot.element());
            quote!(#name: Option<Vec<#element>>)
        });
        let errno = self.compares_errno().then(|| quote!(__errno: i32,));
        let globals = self.globals_field("Held");
        let trace = self.trace_field();
        let (drawn, blocks) = (self.drawn_field(), self.blocks_field());
        quote!(struct Effects { #ret #errno #globals #trace #drawn #blocks #(#outs),* })
    }

    pub(super) fn differs(&self) -> TokenStream {
        let ret = match self.contract.returns {
            Returns::Nothing | Returns::Memory => None,
            Returns::Table(_) => Some(quote! {
                match (&oracle.__ret, &subject.__ret) {
                    (None, None) => {}
                    (Some(a), Some(b)) => {
                        if let Some(at) = a.iter().zip(b).position(|(a, b)| !a.same(b)) {
                            return Some(format!("element {at} of the returned table"));
                        }
                    }
                    _ => return Some("returned pointer".into()),
                }
            }),
            Returns::Value => Some(quote!(if !oracle.__ret.same(&subject.__ret) {
                return Some("return value".into());
            })),
            Returns::StaticString => Some(quote!(if oracle.__ret != subject.__ret {
                return Some("returned string".into());
            })),
            Returns::Handle | Returns::Address => Some(quote!(if oracle.__ret != subject.__ret {
                return Some("returned pointer".into());
            })),
        };
        let outs = self.slots.iter().filter(|s| s.is_effect()).map(|slot| {
            let (name, label) = (slot.name, slot.label);
            quote! {
                if let (Some(a), Some(b)) = (&oracle.#name, &subject.#name)
                    && !slices_same(a, b)
                    && let Some(at) = a.iter().zip(b).position(|(a, b)| !a.same(b))
                {
                    return Some(if a.len() == 1 { format!("`{}`", #label) } else { format!("`{}[{at}]`", #label) });
                }
            }
        });
        let errno = self.compares_errno().then(|| {
            quote!(if oracle.__errno != subject.__errno {
                return Some("errno".into());
            })
        });
        let global = self.differing_global();
        let call = self.differing_call();
        let (draw, block) = (self.differing_draw(), self.differing_blocks());
        quote!(#ret #(#outs)* #errno #global #call #draw #block None)
    }

    pub(super) fn effect_parts(&self) -> TokenStream {
        let ret = match self.contract.returns {
            Returns::Nothing | Returns::Memory => None,
            Returns::Table(_) => Some(quote!(parts.push((
                "returned table".into(),
                effects.__ret.as_ref().map_or("NULL".into(), |t| show_slice(t)),
            ));)),
            Returns::Value => Some(quote!(parts.push(("return value".into(), effects.__ret.show()));)),
            Returns::StaticString => Some(quote!(parts.push((
                "returned string".into(),
                effects.__ret.as_ref().map_or("NULL".into(), |s| show_slice(s)),
            ));)),
            Returns::Handle => Some(quote!(parts.push((
                "return value".into(),
                if effects.__ret { "a handle" } else { "NULL" }.to_owned(),
            ));)),
            Returns::Address => Some(quote!(parts.push(("return value".into(), effects.__ret.shown()));)),
        };
        let outs = self.slots.iter().filter(|s| s.is_effect()).map(|slot| {
            let (name, label) = (slot.name, slot.label);
            let one = slot.is_behind() || slot.role.pointer().is_some();
            let text = if one { quote!(m[0].show()) } else { quote!(show_slice(m)) };
            quote!(if let Some(m) = &effects.#name { parts.push((#label.into(), #text)); })
        });
        let show = quote!(parts.push(("errno".into(), effects.__errno.to_string())););
        let errno = match (self.contract.errno, self.compares_errno()) {
            (true, _) => Some(show),
            // C never touches `errno` here: show it only if the port changed it.
            (false, true) => Some(quote!(if effects.__errno != guard::errno_on_entry() { #show })),
            (false, false) => None,
        };
        let globals = self.globals_left();
        let (calls, drawn, blocks) = (self.calls_made(), self.drawn_parts(), self.blocks_left());
        quote!(let mut parts = Parts::new(); #ret #(#outs)* #errno #globals #calls #drawn #blocks parts)
    }

    /// Everything that `differs` compares, as a record. The pattern names every field, so that a forgotten field
    /// does not compile.
    pub(super) fn record(&self) -> TokenStream {
        let ret = self.has_ret().then(|| quote!(__ret,));
        let errno = self.compares_errno().then(|| quote!(__errno,));
        let outs: Vec<_> = self.slots.iter().filter(|s| s.is_effect()).collect();
        let names = outs.iter().map(|slot| slot.name);
        let put_ret = match self.contract.returns {
            Returns::Nothing | Returns::Memory => None,
            Returns::Table(_) => {
                Some(quote!(__record.put("returned table", crate::erased::hashed_all(__ret.as_deref()));))
            }
            Returns::Value => Some(quote!(__record.put("return value", crate::erased::hashed(__ret));)),
            Returns::StaticString => {
                Some(quote!(__record.put("returned string", crate::erased::hashed_all(__ret.as_deref()));))
            }
            Returns::Handle => Some(quote!(__record.put("return value", crate::erased::hashed(__ret));)),
            Returns::Address => Some(
                quote!(__record.put("return value", crate::erased::hashed_all(Some(__ret.place.as_bytes())));),
            ),
        };
        let put_outs = outs.iter().map(|slot| {
            let (name, label) = (slot.name, format!("`{}`", slot.label));
            quote!(__record.put(#label, crate::erased::hashed_all(#name.as_deref()));)
        });
        let put_errno =
            self.compares_errno().then(|| quote!(__record.put("errno", crate::erased::hashed(__errno));));
        let (globals, put_globals) = (self.globals_named(), self.record_globals());
        let (trace, put_trace) = (self.trace(), self.record_trace());
        let (drawn, put_drawn) = (self.drawn_name(), self.record_drawn());
        let (blocks, put_blocks) = (self.blocks_name(), self.record_blocks());
        quote! {
            let Effects { #ret #errno #globals #trace #drawn #blocks #(#names),* } = effects;
            let mut __record = Record::default();
            #put_ret
            #(#put_outs)*
            #put_errno
            #put_globals
            #put_trace
            #put_drawn
            #put_blocks
            __record
        }
    }
}
