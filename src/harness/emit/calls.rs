//! Calls of both sides: each side has its own memory, and C runs under the guard.

use super::Emitter;
use crate::contract::types::{Returns, Signature as Style};
use crate::rust::signature::ident;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

impl Emitter<'_> {
    /// The memory of one side.
    fn regions(&self, is_c: bool) -> TokenStream {
        let lets = self.slots.iter().filter(|s| s.role.direction().is_some()).map(|slot| {
            let (name, region, values) = (slot.name, slot.region(), slot.role.memory(slot, is_c));
            if slot.nullable() {
                quote!(let mut #region = args.#name.as_ref().map(|value| #values);)
            } else {
                quote!(let mut #region = { let value = &args.#name; #values };)
            }
        });
        quote!(#(#lets)*)
    }

    /// The lengths, and memory for lengths behind pointers.
    fn placed(&self, is_c: bool) -> TokenStream {
        let (lengths, make) = (self.lengths(), format_ident!("{}", if is_c { "exact" } else { "padded" }));
        let behind = self.slots.iter().filter(|s| s.is_behind()).map(|slot| {
            let (length, region) = (format_ident!("{}_length", slot.name), slot.region());
            quote!(let mut #region = Region::#make(&[#length]);)
        });
        quote!(#lengths #(#behind)*)
    }

    /// The effects, read from the memory after the call.
    fn collect(&self) -> TokenStream {
        let ret = self.has_ret().then(|| quote!(__ret,));
        let errno = self.compares_errno().then(|| quote!(__errno,));
        let outs = self.slots.iter().filter(|s| s.is_effect()).map(|slot| {
            let (name, region) = (slot.name, slot.region());
            match slot.nullable() {
                true => quote!(#name: #region.as_ref().map(|m| m.slice().to_vec())),
                false => quote!(#name: Some(#region.slice().to_vec())),
            }
        });
        let globals = (!self.contract.globals.is_empty()).then(|| quote!(__globals,));
        let trace = self.trace();
        let (drawn, blocks) = (self.drawn_name(), self.blocks_name());
        quote!(Effects { #ret #errno #globals #trace #drawn #blocks #(#outs),* })
    }

    /// The address of the C original.
    pub(super) fn original(&self) -> TokenStream {
        let name = ident(self.bound.function);
        quote!(ffi::#name as *const core::ffi::c_void)
    }

    /// The test whether a returned text lies outside the program's image, so that it may not stay valid, as the
    /// contract promises. Text from a handle is compared by its content alone.
    fn is_no_constant(&self) -> TokenStream {
        match self.contract.sequence {
            Some(_) => quote!((|_: *const core::ffi::c_char| false)),
            None => quote!(
                (|at: *const core::ffi::c_char| !at.is_null()
                    && !crate::runtime::ledger::in_program(at as usize))
            ),
        }
    }

    pub(super) fn oracle(&self) -> TokenStream {
        let (regions, lengths, collect) = (self.regions(true), self.placed(true), self.collect());
        let types = self.slots.iter().map(|slot| slot.ty);
        let ret = self.bound.c.ret.as_ref().map(|ty| quote!(-> #ty));
        let arguments = self.slots.iter().map(|slot| slot.role.code(slot).argument);
        let call = quote!(unsafe { callee(#(#arguments),*) });
        let is_no_constant = self.is_no_constant();
        let (before, assign, after) = match self.contract.returns {
            Returns::Nothing => (quote!(), quote!(#call;), quote!()),
            Returns::Value => (
                quote!(let mut slot = None;),
                quote!(slot = Some(#call);),
                quote!(let __ret = slot.expect("the guard says that the call returned");),
            ),
            Returns::StaticString => (
                quote!(let (mut text, mut size) = (core::ptr::null::<core::ffi::c_char>(), 0);),
                quote! {
                    text = #call;
                    // Under the guard too: a string without an end is an input on which C breaks.
                    // SAFETY: the contract says that C returns null or a string that stays.
                    size = if text.is_null() { 0 } else { unsafe { libc::strlen(text) } };
                },
                quote! {
                    if #is_no_constant(text) {
                        return Err(Broke("it returns a text that is no constant".into()));
                    }
                    // SAFETY: so many bytes were read just now.
                    let __ret = (!text.is_null()).then(|| unsafe { core::slice::from_raw_parts(text.cast::<u8>(), size) }.to_vec());
                },
            ),
            Returns::Handle | Returns::Address => (
                quote!(let mut slot = core::ptr::null_mut();),
                quote!(slot = #call as *mut core::ffi::c_void;),
                self.pointer(true),
            ),
            Returns::Memory => (
                quote!(let mut slot = core::ptr::null_mut();),
                quote!(slot = #call as *mut core::ffi::c_void;),
                quote!(),
            ),
            Returns::Table(elements) => {
                let element = self.element();
                (
                    quote!(let mut table = crate::runtime::memory::Table::<#element>::with_room(#elements);),
                    // SAFETY: the contract says that C returns null or so many elements.
                    quote!(unsafe { table.read(#call as *const #element) };),
                    quote!(let __ret = table.content();),
                )
            }
        };
        let errno = self.compares_errno();
        let read = errno.then(|| quote!(__errno = guard::errno();));
        let declare = errno.then(|| quote!(let mut __errno = 0;));
        let (enter, leave) = (self.enter("C"), self.leave("C"));
        let (begin, end) = (self.begin(true), self.end());
        let (draw, drawn) = (self.draw(), self.drawn());
        let (handles, assign) = (self.handles(), self.counted(assign));
        let done = self.done(collect);
        let (given, dropped, taken) = (self.hand_over(), self.dropped(), self.taken_back(true));
        // Where memory begins at an odd address, the sanitizer does not see the bytes before it.
        let checks = self.bounded(|label| quote!(Broke(format!("it writes outside of `{}`", #label))));
        // Where C changes it, the contract is wrong, and what else changes there is not compared.
        let frozen = self.frozen(|label| {
            quote!(Broke(format!("it changes `{}`, which the contract declares constant", #label)))
        });
        quote! {
            // SAFETY: the original, or a mutant of it with the same signature.
            let callee: unsafe extern "C" fn(#(#types),*) #ret = unsafe { core::mem::transmute(callee) };
            #handles
            #regions
            #lengths
            #before
            #declare
            #enter
            #begin
            #draw
            #given
            let __ran = guard::guarded(|| { guard::enter(); #assign #read });
            #drawn
            #dropped
            __ran?;
            #after
            #taken
            #leave
            #end
            #checks
            #frozen
            #done
        }
    }

    /// The test that nothing was written beside memory.
    fn bounded(&self, error: impl Fn(&str) -> TokenStream) -> TokenStream {
        let tests = self.slots.iter().filter(|s| s.is_memory()).map(|slot| {
            let (region, error) = (slot.region(), error(slot.label));
            let intact = match slot.nullable() {
                true => quote!(#region.as_ref().is_none_or(|m| m.intact())),
                false => quote!(#region.intact()),
            };
            quote!(if !#intact { return Err(#error); })
        });
        quote!(#(#tests)*)
    }

    /// The test that constant memory is unchanged after the call.
    fn frozen(&self, error: impl Fn(&str) -> TokenStream) -> TokenStream {
        let constant = self.slots.iter().filter(|s| s.is_memory() && !s.is_effect());
        let tests = constant.map(|slot| {
            let (name, region, error) = (slot.name, slot.region(), error(slot.label));
            let same = slot.role.unchanged();
            let test = match slot.nullable() {
                true => quote!(#region.as_ref().zip(args.#name.as_ref()).is_none_or(|(m, value)| #same)),
                false => quote!({ let (m, value) = (&#region, &args.#name); #same }),
            };
            quote!(if !#test { return Err(#error); })
        });
        quote!(#(#tests)*)
    }

    pub(super) fn subject(&self, krate: &proc_macro2::Ident) -> TokenStream {
        let (regions, lengths, collect) = (self.regions(false), self.placed(false), self.collect());
        let module = format_ident!("{}", self.bound.function.module);
        let name = ident(self.bound.function);
        let style = self.contract.signature;
        let arguments = self.slots.iter().filter_map(|slot| match style {
            Style::C => Some(slot.role.code(slot).argument),
            Style::Safe => Some(slot.role.safe(slot)?.argument),
        });
        let call = quote!(#krate::#module::#name(#(#arguments),*));
        let call = if style == Style::C { quote!(unsafe { #call }) } else { call };
        let call = self.watched(quote!({ let __port = crate::runtime::heap::port(); #call }));
        let is_no_constant = self.is_no_constant();
        let no_constant = Literal::byte_string(b"a text that is no constant");
        let read = self.compares_errno().then(|| quote!(let __errno = guard::errno();));
        // What finds out where a pointer leads may change `errno`.
        let is_read = matches!(self.contract.returns, Returns::Handle | Returns::Address);
        let take = match (self.contract.returns, style) {
            (Returns::Handle | Returns::Address, _) => {
                let pointer = self.pointer(false);
                quote!(let slot = #call as *mut core::ffi::c_void; #read #pointer)
            }
            (Returns::Memory, _) => quote!(let slot = #call as *mut core::ffi::c_void;),
            // Results of the port are read as the port's own accesses, here and below.
            (Returns::Table(elements), _) => {
                let element = self.element();
                quote! {
                    let mut table = crate::runtime::memory::Table::<#element>::with_room(#elements);
                    let found = #call as *const #element;
                    let __ret = { let __port = crate::runtime::heap::port(); unsafe { table.read(found) }; table.content() };
                }
            }
            (Returns::Nothing, _) => quote!(#call;),
            (Returns::Value, _) => quote!(let __ret = #call;),
            // The sanitizer reports text that is already freed.
            (Returns::StaticString, Style::Safe) => quote! {
                let __ret = {
                    let __port = crate::runtime::heap::port();
                    match #call {
                        Some(text) if #is_no_constant(text.as_ptr()) => Some(#no_constant.to_vec()),
                        text => text.map(|s| s.to_bytes().to_vec()),
                    }
                };
            },
            (Returns::StaticString, Style::C) => quote! {
                let text = #call;
                let __ret = match text.is_null() {
                    true => None,
                    false if #is_no_constant(text) => Some(#no_constant.to_vec()),
                    false => Some(unsafe { core::ffi::CStr::from_ptr(text) }.to_bytes().to_vec()),
                };
            },
        };
        let read = read.filter(|_| !is_read);
        let checks = self.bounded(|label| quote!(format!("`{}`", #label)));
        let (enter, leave) = (self.enter("Port"), self.leave("Port"));
        let (begin, end) = (self.begin(false), self.end());
        let (draw, drawn) = (self.draw(), self.drawn());
        let (handles, done) = (self.handles(), self.done(collect));
        let (given, taken) = (self.hand_over(), self.taken_back(false));
        // With `unsafe`, a port of either signature could write to it.
        let frozen = self.frozen(|label| quote!(format!("its bounds: it changed the constant `{}`", #label)));
        quote! {
            #handles
            #regions
            #lengths
            #enter
            #begin
            #draw
            #given
            guard::enter();
            #take
            #read
            #drawn
            #taken
            #leave
            #end
            #checks
            #frozen
            #done
        }
    }
}
