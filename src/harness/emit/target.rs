//! The harness around a fuzz target that a model wrote: how the target's one call reaches C or the port. The target
//! only builds the arguments. The callee, the guard and the comparison are here and in the runtime (`target_side`),
//! where the target cannot change them.

use super::Emitter;
use crate::contract::types::Returns;
use crate::rust::shims::{Bound, call_as_c};
use crate::rust::signature::ident;
use crate::symbol::{CType, Function, TypeKind};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// The path of a symbol's fuzz target below `rust/`.
pub fn target_file(symbol: &str) -> String {
    format!("fuzz/targets/{symbol}.rs")
}

impl Emitter<'_> {
    /// The whole module; `krate` is the port crate.
    pub(super) fn around_target(&self, krate: &Ident, helpers: &[Bound]) -> TokenStream {
        let name = self.contract.symbol.as_str();
        let path = format!("../../targets/{name}.rs");
        let (uses, state, original) = (self.state_uses(), self.state(krate), self.original());
        let (chosen, held) = (self.globals_field("Chosen"), self.globals_field("Held"));
        let (chance, drawn_field) = (self.chance_bytes(), self.drawn_field());
        let (case, call) = (self.target_case(), self.call_of_target(krate));
        let helpers = helpers.iter().map(helper);
        quote! {
            #![allow(warnings)]
            use crate::runtime::codec::*;
            use crate::runtime::driver::{Case, Target};
            use crate::runtime::target_side::{self, Callee, Left, Stop};
            use crate::runtime::guard::{self, Broke};
            use crate::runtime::plain::Plain;
            use crate::runtime::record::Record;
            use crate::runtime::report::Parts;
            use crate::runtime::{heap, ledger};
            use crate::side::{self, slice as implfuzz_slice, slice_mut as implfuzz_slice_mut};
            use crate::value::*;
            use #krate::ffi;
            #uses

            #[path = #path]
            mod target;
            use crate::side::Input;
            type Side<'g> = side::Side<'g, Harness>;

            pub const TARGET: Target = Target::of::<Harness>(#name);
            pub struct Harness;
            #[derive(Clone)]
            pub struct Args { #chosen #chance bytes: Vec<u8> }
            pub struct Effects { #held #drawn_field left: Left }
            #state

            fn run(args: &Args, callee: Callee, is_original: bool) -> Result<Left, Stop> {
                target_side::run(callee, is_original, &mut |ground| {
                    target::target(&mut Input::new(&args.bytes), &mut side::over(ground));
                })
            }

            impl side::Side<'_, Harness> { #call #(#helpers)* }
            impl Case for Harness { #case fn original() -> *const core::ffi::c_void { #original } }
        }
    }

    fn target_case(&self) -> TokenStream {
        let (globals, chance) = (!self.contract.globals.is_empty(), self.contract.chance);
        let globals = globals.then(|| quote!(__globals,));
        let chance = chance.then(|| quote!(__chance,));
        let (decode_globals, decode_chance) = (self.decode_globals(), self.decode_chance());
        let (encode_globals, encode_chance) = (self.encode_globals(), self.encode_chance());
        let (show_globals, show_chance) = (self.show_globals(), self.show_chance());
        let (boundary_globals, boundary_chance) = (
            globals.as_ref().map(|_| quote!(let __globals = __state().boundaries()[0].clone();)),
            chance
                .as_ref()
                .map(|_| quote!(let __chance = crate::runtime::chance::boundaries().swap_remove(0);)),
        );
        let copies = globals.as_ref().map(|_| quote!(__globals: __globals.clone(),));
        let draws = chance.as_ref().map(|_| quote!(__chance: __chance.clone(),));
        let around = &self.contract.interesting;
        let (oracle, subject) = (self.target_run("C"), self.target_run("Port"));
        let (global, draw) = (self.differing_global(), self.differing_draw());
        let (globals_left, drawn_parts) = (self.globals_left(), self.drawn_parts());
        let (named, drawn) = (self.globals_named(), self.drawn_name());
        let (record_globals, record_drawn) = (self.record_globals(), self.record_drawn());
        let (plain, of_plain) = self.target_plain();
        quote! {
            type Args = Args;
            type Effects = Effects;
            fn decode(__reader: &mut Reader) -> Args {
                #decode_globals
                #decode_chance
                let bytes = __reader.take(__reader.left()).to_vec();
                Args { #globals #chance bytes }
            }
            fn encode(args: &Args, writer: &mut Writer) {
                #encode_globals
                #encode_chance
                writer.put(&args.bytes);
            }
            fn show(args: &Args) -> Parts {
                let mut parts = Parts::new();
                #show_globals
                #show_chance
                if let Ok(left) = run(args, Callee::Nobody, false) { parts.extend(left.shown()); }
                parts
            }
            fn plain(args: &Args) -> Plain { #plain }
            fn of_plain(__plain: &Plain) -> Result<Args, String> { #of_plain }
            fn boundaries() -> Vec<Args> {
                #boundary_globals
                #boundary_chance
                boundary_bytes(1, 512, &[#(#around),*]).into_iter().map(|bytes| Args { #copies #draws bytes }).collect()
            }
            fn admits(_: &Args) -> bool { true }
            fn oracle(args: &Args, callee: *const core::ffi::c_void) -> Result<Effects, Broke> {
                let is_original = callee == Self::original();
                let callee = Callee::C(callee);
                #oracle
                let left = ran.map_err(|stop| Broke(stop.text()))?;
                Ok(Effects { #named #drawn left })
            }
            fn subject(args: &Args) -> Result<Effects, String> {
                let (callee, is_original) = (Callee::Port, false);
                #subject
                let left = ran.map_err(|stop| match stop { Stop::Damage(place) | Stop::Broke(place) => place })?;
                Ok(Effects { #named #drawn left })
            }
            fn differs(oracle: &Effects, subject: &Effects) -> Option<String> {
                if let Some(what) = oracle.left.differs(&subject.left) {
                    return Some(what);
                }
                #global
                #draw
                None
            }
            fn effects(effects: &Effects) -> Parts {
                let mut parts = effects.left.parts();
                #globals_left
                #drawn_parts
                parts
            }
            fn left(effects: &Effects) -> Plain { Plain::of_parts(Self::effects(effects)) }
            fn record(effects: &Effects) -> Record {
                let Effects { #named #drawn left } = effects;
                let mut __record = Record::default();
                left.record(&mut __record);
                #record_globals
                #record_drawn
                __record
            }
        }
    }

    /// The run of one side, between setting and reading the state.
    fn target_run(&self, side: &str) -> TokenStream {
        let (enter, leave) = (self.enter(side), self.leave(side));
        let (draw, drawn) = (self.draw(), self.drawn());
        quote! {
            #enter
            #draw
            let ran = run(args, callee, is_original);
            #drawn
            #leave
        }
    }

    /// `Side::call`, with C's types on either side.
    fn call_of_target(&self, krate: &Ident) -> TokenStream {
        let bound = self.bound;
        let params = bound.c.params.iter().map(|(name, ty)| quote!(#name: #ty));
        let types = bound.c.params.iter().map(|(_, ty)| ty);
        let names = bound.c.params.iter().map(|(name, _)| name);
        let ret = bound.c.ret.as_ref().map(|ty| quote!(-> #ty));
        let given = bound.c.params.iter().zip(&bound.function.params).map(|((name, _), param)| {
            let label = &param.name;
            match &param.ty.kind {
                _ if leads_to_memory(&param.ty) => {
                    Some(quote!(side::given_pointer(self, #label, #name as *const core::ffi::c_void);))
                }
                TypeKind::Bool | TypeKind::Int { .. } | TypeKind::Float { .. } | TypeKind::Enum { .. } => {
                    Some(quote!(side::given(self, #label, &#name);))
                }
                _ => None,
            }
        });
        let pointers = bound.c.params.iter().zip(&bound.function.params);
        let pointers = pointers.filter(|(_, param)| leads_to_memory(&param.ty)).map(|((name, _), _)| name);
        let (module, inner) = (format_ident!("{}", bound.function.module), ident(bound.function));
        let port = call_as_c(bound, &quote!(#krate::#module::#inner));
        let errno = self.contract.errno || self.leaves_errno();
        let (read, see_errno) = (
            errno.then(|| quote!(__errno = guard::errno();)),
            errno.then(|| quote!(self.see("errno", __errno);)),
        );
        let see = match self.contract.returns {
            Returns::Nothing => TokenStream::new(),
            Returns::Value => quote!(self.see("return value", __returned);),
            Returns::StaticString => quote!(self.see_text("returned string", __returned);),
            // Handles, new blocks and tables are judged by inferred harnesses, not here.
            Returns::Handle | Returns::Address | Returns::Memory | Returns::Table(_) => {
                quote!(self.see_pointer(__returned);)
            }
        };
        quote! {
            #[allow(unused_unsafe)]
            pub fn call(&mut self #(, #params)*) #ret {
                let (mut __slot, mut __errno) = (None, 0);
                #(side::handed(self, #pointers as *const core::ffi::c_void);)*
                match side::callee(self) {
                    Callee::C(__callee) => {
                        // SAFETY: the original, or a mutant of it with the same signature.
                        let __callee: unsafe extern "C" fn(#(#types),*) #ret = unsafe { core::mem::transmute(__callee) };
                        // SAFETY: what the target gives it; the guard takes what C cannot.
                        let __ran = guard::guarded(|| {
                            ledger::watch(true);
                            guard::enter();
                            __slot = Some(unsafe { __callee(#(#names),*) });
                            #read
                            ledger::watch(false);
                        });
                        ledger::watch(false);
                        side::ended(self, __ran);
                    }
                    Callee::Port => {
                        let _watch = ledger::Watch::on();
                        let _port = heap::port();
                        guard::enter();
                        __slot = Some({ #port });
                        #read
                    }
                    Callee::Nobody => {
                        #(#given)*
                        side::nobody(self)
                    }
                }
                let __returned = __slot.expect("a call that did not return ended the run of the target");
                #see
                #see_errno
                side::called(self);
                __returned
            }
        }
    }
}

/// Whether a value is a pointer to data that may be in a side's memory.
fn leads_to_memory(ty: &CType) -> bool {
    match &ty.kind {
        TypeKind::Pointer(target) => !matches!(target.kind, TypeKind::Function { .. }),
        TypeKind::Array { .. } => true,
        _ => false,
    }
}

/// The name under which a target calls another function of the library.
pub fn helper_name(function: &Function) -> Ident {
    format_ident!("c_{}", function.name.as_str())
}

/// Another function of the library, which always runs as C: its result is not compared.
fn helper(bound: &Bound) -> TokenStream {
    let (name, original) = (helper_name(bound.function), ident(bound.function));
    let params = bound.c.params.iter().map(|(name, ty)| quote!(#name: #ty));
    let names = bound.c.params.iter().map(|(name, _)| name);
    let ret = bound.c.ret.as_ref().map(|ty| quote!(-> #ty));
    let made = leads_to_memory(&bound.function.ret)
        .then(|| quote!(side::handed(self, __returned as *const core::ffi::c_void);));
    quote! {
        pub fn #name(&mut self #(, #params)*) #ret {
            let mut __slot = None;
            // SAFETY: as above.
            side::helped(self, || __slot = Some(unsafe { ffi::#original(#(#names),*) }));
            let __returned = __slot.expect("a call that did not return ended the run of the target");
            #made
            __returned
        }
    }
}
