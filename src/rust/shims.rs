//! The two layers around an inner function: the C-ABI shim that replaces the original (`capi`), and the shim
//! through which ports call a C function that is not ported yet (`callee`).

use super::signature::{CSignature, ident, inner};
use crate::contract::parameter_roles::Slot;
use crate::contract::slots::slots;
use crate::contract::types::{Contract, Returns, Signature as Style};
use crate::rust::globals::identifier;
use crate::symbol::{Function, Linkage, SymbolName};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// A function with the information that the generators need.
#[derive(Debug, Clone, Copy)]
pub struct Bound<'a> {
    pub function: &'a Function,
    pub contract: Option<&'a Contract>,
    pub c: &'a CSignature,
    /// The variables that C code reached from here may change and that both sides have.
    pub shared: &'a [SymbolName],
}

impl Bound<'_> {
    /// Whether a call of the inner function has the same form as C's, apart from `unsafe`.
    pub fn is_plain(&self) -> bool {
        self.safe().is_none_or(|contract| {
            let mut roles = contract.params.iter().map(|param| &param.role);
            contract.returns != Returns::StaticString
                && roles.all(|role| {
                    role.direction().is_none() && role.length().is_none() && !role.facts().needs_c
                })
        })
    }

    /// Its contract, if that makes the inner signature safe.
    pub fn safe(&self) -> Option<&Contract> {
        self.contract.filter(|c| c.signature == Style::Safe)
    }

    /// The parameters with the roles of this contract.
    pub fn slots<'s>(&'s self, contract: &'s Contract) -> Vec<Slot<'s>> {
        slots(contract, self.function, &self.c.params)
    }

    fn path(&self) -> TokenStream {
        let module = format_ident!("{}", self.function.module);
        let name = ident(self.function);
        quote!(crate::#module::#name)
    }
}

/// How a C-ABI shim is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Export {
    /// Under the C name.
    CName,
    /// Under the C name; each call is reported under this number.
    Counting(u32),
    /// As the candidate with this number, under which each call is reported, for C code that is led to it.
    CountingCandidate(u32),
    /// As the candidate with this number, beside the C function; statics, too.
    Candidate(usize),
    /// Under no name: ports take its address.
    Inside,
}

/// The linker's name of a candidate.
pub fn candidate(number: usize) -> String {
    format!("implfuzz_port_{number}")
}

/// The C-ABI shim, which feature `capi` exports.
pub fn capi(bound: &Bound, export: Export) -> TokenStream {
    let name = ident(bound.function);
    let path = bound.path();
    let params = bound.c.params.iter().map(|(name, ty)| quote!(#name: #ty));
    let ret = bound.c.ret.iter();
    let call = call_as_c(bound, &path);
    let count = match export {
        Export::Counting(number) | Export::CountingCandidate(number) => {
            Some(quote!(unsafe { implfuzz_dropin_call(#number) };))
        }
        Export::CName | Export::Candidate(_) | Export::Inside => None,
    };
    let exported = match export {
        Export::Candidate(number) => Some(candidate(number)),
        Export::CountingCandidate(number) => Some(candidate(number as usize)),
        Export::Inside => None,
        Export::CName | Export::Counting(_) => {
            (bound.function.linkage == Linkage::External).then(|| bound.function.c_name.clone())
        }
    };
    let export = exported.map(|name| quote!(#[cfg_attr(feature = "capi", unsafe(export_name = #name))]));
    quote! {
        #export
        pub unsafe extern "C" fn #name(#(#params),*) #(-> #ret)* { #count #call }
    }
}

/// A call of the inner function at `path` with C's arguments, which are in scope under their names; it evaluates to
/// C's result. It needs `implfuzz_slice` and `implfuzz_slice_mut`, which take a start and a length.
pub fn call_as_c(bound: &Bound, path: &TokenStream) -> TokenStream {
    let args: Vec<TokenStream> = match bound.safe() {
        None => bound.c.params.iter().map(|(name, _)| quote!(#name)).collect(),
        Some(contract) => {
            let slots = bound.slots(contract);
            slots.iter().filter_map(|slot| Some(slot.role.safe(slot)?.of_c)).collect()
        }
    };
    match bound.safe() {
        None => quote!(unsafe { #path(#(#args),*) }),
        Some(contract) if contract.returns == Returns::StaticString => {
            quote! {
                #[allow(unused_unsafe)]
                let text = unsafe { #path(#(#args),*) };
                text.map_or(core::ptr::null(), core::ffi::CStr::as_ptr)
            }
        }
        Some(_) => quote!(unsafe { #path(#(#args),*) }),
    }
}

/// A function `name` with C's signature that calls the inner one at `path`.
pub fn from_c(bound: &Bound, name: &Ident, path: &TokenStream) -> TokenStream {
    let params = bound.c.params.iter().map(|(name, ty)| quote!(#name: #ty));
    let (ret, call) = (bound.c.ret.iter(), call_as_c(bound, path));
    quote!(unsafe fn #name(#(#params),*) #(-> #ret)* { #call })
}

/// The helper functions that make slices from C's pointers and lengths. Parameters and functions of C may be called `slice`.
pub fn slices() -> [TokenStream; 2] {
    [
        quote! {
            unsafe fn implfuzz_slice<'a, T>(start: *const T, len: usize) -> &'a [T] {
                if start.is_null() || len == 0 { &[] } else { unsafe { core::slice::from_raw_parts(start, len) } }
            }
        },
        quote! {
            unsafe fn implfuzz_slice_mut<'a, T>(start: *mut T, len: usize) -> &'a mut [T] {
                if start.is_null() || len == 0 { &mut [] } else { unsafe { core::slice::from_raw_parts_mut(start, len) } }
            }
        },
    ]
}

/// The path to a callee: the Rust function where it is ported, else a shim to the C function. A shim is never
/// inlined: in the object files it is the only place that may call C.
pub fn callee(bound: &Bound, ported: bool) -> TokenStream {
    let name = ident(bound.function);
    if ported {
        let path = bound.path();
        return quote!(pub use #path;);
    }
    // Rust cannot pass on a variable number of arguments.
    if bound.function.is_variadic {
        return quote!(pub use crate::ffi::#name;);
    }
    let (signature, body) = around(bound, &quote!(ffi::#name), lent(bound));
    quote!(#[inline(never)] pub #signature { #body })
}

/// A function with the inner signature that calls `target`, which has C's signature, after running `first`.
pub fn around(
    bound: &Bound,
    target: &TokenStream,
    first: Option<TokenStream>,
) -> (syn::Signature, TokenStream) {
    let mut signature = inner(bound.function, bound.contract, bound.c);
    let Some(contract) = bound.safe() else {
        let args = bound.c.params.iter().map(|(name, _)| name);
        return (signature, quote!(#first unsafe { #target(#(#args),*) }));
    };
    for input in &mut signature.inputs {
        // An `Option<&mut …>` must be reborrowed.
        if let syn::FnArg::Typed(typed) = input
            && {
                let ty = &typed.ty;
                quote!(#ty)
            }
            .to_string()
            .starts_with("Option < & mut")
            && let syn::Pat::Ident(pat) = &mut *typed.pat
        {
            pat.mutability = Some(Default::default());
        }
    }
    let slots = bound.slots(contract);
    let lengths = slots.iter().filter(|slot| slot.role.length().is_some()).map(|length| {
        let name = length.name;
        let has_it = |slot: &&Slot| slot.length.is_some_and(|(of, _)| of == name);
        let each = slots.iter().filter(has_it).map(|slot| {
            let buffer = slot.name;
            match slot.nullable() {
                true => quote!(#buffer.as_ref().map_or(usize::MAX, |b| b.len())),
                false => quote!(#buffer.len()),
            }
        });
        quote! {
            let #name = [#(#each),*].into_iter().min().unwrap_or(0);
            let #name = if #name == usize::MAX { 0 } else { #name };
        }
    });
    let args = slots.iter().map(|slot| {
        let name = slot.name;
        slot.role.safe(slot).map_or(quote!(#name as _), |safe| safe.to_c)
    });
    let call = quote!(unsafe { #target(#(#args),*) });
    let call = match contract.returns {
        Returns::StaticString => quote! {
            let text = #call;
            if text.is_null() { None } else { Some(unsafe { core::ffi::CStr::from_ptr(text) }) }
        },
        _ => call,
    };
    (signature, quote!(#(#lengths)* #first #call))
}

/// Copies the port's values of shared variables to C before the call, and C's changes back after it.
fn lent(bound: &Bound) -> Option<TokenStream> {
    let pairs = bound.shared.iter().map(|name| {
        let name = format_ident!("{}", identifier(name.as_str()));
        quote!(Pair::of(&raw mut globals::#name, &raw mut ffi::#name))
    });
    (!bound.shared.is_empty()).then(|| quote!(let _lent = Lent::to_c([#(#pairs),*]);))
}

/// The types that the code of `lent` uses.
pub fn lending() -> TokenStream {
    quote! {
        /// One variable: the port's copy and C's.
        struct Pair {
            port: *mut u8,
            c: *mut u8,
            size: usize,
            given: Vec<u8>,
        }

        impl Pair {
            fn of<T, U>(port: *mut T, c: *mut U) -> Self {
                const { assert!(size_of::<T>() == size_of::<U>()) };
                Self { port: port.cast(), c: c.cast(), size: size_of::<T>(), given: Vec::new() }
            }
        }

        /// Variables that C has for the time of a call.
        struct Lent<const N: usize>([Pair; N]);

        impl<const N: usize> Lent<N> {
            fn to_c(mut pairs: [Pair; N]) -> Self {
                for pair in &mut pairs {
                    // SAFETY: two variables of this size; nothing else runs.
                    unsafe {
                        pair.given = core::slice::from_raw_parts(pair.port, pair.size).to_vec();
                        core::ptr::copy_nonoverlapping(pair.port, pair.c, pair.size);
                    }
                }
                Self(pairs)
            }
        }

        impl<const N: usize> Drop for Lent<N> {
            fn drop(&mut self) {
                for pair in &self.0 {
                    for (at, given) in pair.given.iter().enumerate() {
                        // Only what C changed: it may have written to the port's copy too, through a pointer.
                        // SAFETY: as above, within the size.
                        unsafe {
                            let now = pair.c.add(at).read();
                            if now != *given {
                                pair.port.add(at).write(now);
                            }
                        }
                    }
                }
            }
        }
    }
}
