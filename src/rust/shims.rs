//! The two layers around an inner function: the C-ABI shim that replaces the original (`capi`), and the shim
//! through which ports call a C function that is not ported yet (`callee`).

use super::signature::{CSignature, ident, inner, pointee};
use crate::contract::types::{Contract, Direction, Parameter, Returns, Role, Signature as Style};
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
        let plain =
            |role: &Role| matches!(role, Role::Value { .. } | Role::OneOf { .. } | Role::Handle { .. });
        self.safe().is_none_or(|contract| {
            contract.returns != Returns::StaticString
                && contract.params.iter().all(|param| plain(&param.role))
        })
    }

    /// Its contract, if that makes the inner signature safe.
    pub fn safe(&self) -> Option<&Contract> {
        self.contract.filter(|c| c.signature == Style::Safe)
    }

    fn path(&self) -> TokenStream {
        let module = format_ident!("{}", self.function.module);
        let name = ident(self.function);
        quote!(crate::#module::#name)
    }
}

/// The C-ABI shim; feature `capi` exports it under the C name. With a `counter`, each call is reported under that
/// number.
pub fn capi(bound: &Bound, counter: Option<u32>) -> TokenStream {
    let name = ident(bound.function);
    let path = bound.path();
    let params = bound.c.params.iter().map(|(name, ty)| quote!(#name: #ty));
    let ret = bound.c.ret.iter();
    let call = call_as_c(bound, &path);
    let count = counter.map(|number| quote!(unsafe { implfuzz_dropin_call(#number) };));
    let export = (bound.function.linkage == Linkage::External).then(|| {
        let c_name = &bound.function.c_name;
        quote!(#[cfg_attr(feature = "capi", unsafe(export_name = #c_name))])
    });
    quote! {
        #export
        pub unsafe extern "C" fn #name(#(#params),*) #(-> #ret)* { #count #call }
    }
}

/// A call of the inner function at `path` with C's arguments, which are in scope under their names; it evaluates to
/// C's result. It needs `slice` and `slice_mut`, which take a start and a length.
pub fn call_as_c(bound: &Bound, path: &TokenStream) -> TokenStream {
    let args: Vec<TokenStream> = match bound.safe() {
        None => bound.c.params.iter().map(|(name, _)| quote!(#name)).collect(),
        Some(contract) => contract
            .params
            .iter()
            .zip(&bound.c.params)
            .filter_map(|(param, c)| to_inner(contract, param, c, bound.c))
            .collect(),
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

/// The helper functions that make slices from C's pointers and lengths.
pub fn slices() -> [TokenStream; 2] {
    [
        quote! {
            unsafe fn slice<'a, T>(start: *const T, len: usize) -> &'a [T] {
                if start.is_null() || len == 0 { &[] } else { unsafe { core::slice::from_raw_parts(start, len) } }
            }
        },
        quote! {
            unsafe fn slice_mut<'a, T>(start: *mut T, len: usize) -> &'a mut [T] {
                if start.is_null() || len == 0 { &mut [] } else { unsafe { core::slice::from_raw_parts_mut(start, len) } }
            }
        },
    ]
}

/// Converts C's argument to the inner function's; `None` for a length.
fn to_inner(
    contract: &Contract,
    param: &Parameter,
    (name, ty): &(Ident, syn::Type),
    c: &CSignature,
) -> Option<TokenStream> {
    let target = pointee(ty);
    let length = |of: &str| {
        let at = contract.params.iter().position(|p| p.name == of);
        at.map(|at| &c.params[at].0).map(|name| quote!(usize::try_from(#name).unwrap_or(0)))
    };
    let value = match &param.role {
        Role::Value { .. } | Role::OneOf { .. } | Role::Handle { .. } => quote!(#name),
        // These occur only in signatures of C, which pass them on unchanged.
        Role::Elements { .. }
        | Role::Callback { .. }
        | Role::UserData
        | Role::Lent { .. }
        | Role::Given { .. }
        | Role::Room { .. } => quote!(#name),
        Role::Length => return None,
        Role::Buffer { direction, length: of, nullable, .. } => {
            let length = length(of)?;
            let made = match direction {
                Direction::In => quote!(slice(#name as *const #target, #length)),
                _ => quote!(slice_mut(#name as *mut #target, #length)),
            };
            if *nullable { quote!(if #name.is_null() { None } else { Some(#made) }) } else { made }
        }
        Role::CString { nullable, .. } => {
            let made = quote!(core::ffi::CStr::from_ptr(#name as *const _));
            if *nullable { quote!(if #name.is_null() { None } else { Some(#made) }) } else { made }
        }
        Role::Pointer { direction: Direction::In, nullable: true } => {
            quote!((#name as *const #target).as_ref())
        }
        Role::Pointer { nullable: true, .. } => quote!((#name as *mut #target).as_mut()),
        Role::Pointer { direction: Direction::In, .. } => quote!(&*(#name as *const #target)),
        Role::Pointer { .. } => quote!(&mut *(#name as *mut #target)),
        Role::FixedArray { direction: Direction::In, len } => quote!(&*(#name as *const [#target; #len])),
        Role::FixedArray { len, .. } => quote!(&mut *(#name as *mut [#target; #len])),
    };
    Some(value)
}

/// The path to a callee: the Rust function where it is ported, else a shim to the C function. A shim is never
/// inlined: in the object files it is the only place that may call C.
pub fn callee(bound: &Bound, ported: bool) -> TokenStream {
    let name = ident(bound.function);
    if ported {
        let path = bound.path();
        return quote!(pub use #path;);
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
    let lengths = contract.params.iter().zip(&bound.c.params).filter(|(p, _)| p.role == Role::Length);
    let lengths = lengths.map(|(param, (name, _))| {
        let each = contract.params.iter().zip(&bound.c.params).filter_map(|(p, (buffer, _))| match &p.role {
            Role::Buffer { length, nullable: true, .. } if *length == param.name => {
                Some(quote!(#buffer.as_ref().map_or(usize::MAX, |b| b.len())))
            }
            Role::Buffer { length, .. } if *length == param.name => Some(quote!(#buffer.len())),
            _ => None,
        });
        quote! {
            let #name = [#(#each),*].into_iter().min().unwrap_or(0);
            let #name = if #name == usize::MAX { 0 } else { #name };
        }
    });
    let args = contract.params.iter().zip(&bound.c.params).map(|(param, c)| to_c(param, c));
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

/// Converts the inner function's argument to C's.
fn to_c(param: &Parameter, (name, _): &(Ident, syn::Type)) -> TokenStream {
    match &param.role {
        Role::Value { .. } | Role::OneOf { .. } | Role::Handle { .. } => quote!(#name),
        Role::Elements { .. }
        | Role::Callback { .. }
        | Role::UserData
        | Role::Lent { .. }
        | Role::Given { .. }
        | Role::Room { .. } => quote!(#name),
        Role::Length => quote!(#name as _),
        Role::Buffer { direction: Direction::In, nullable: true, .. } => {
            quote!(#name.map_or(core::ptr::null(), |b| b.as_ptr()) as _)
        }
        Role::Buffer { nullable: true, .. } => {
            quote!(#name.as_deref_mut().map_or(core::ptr::null_mut(), |b| b.as_mut_ptr()) as _)
        }
        Role::Buffer { direction: Direction::In, .. } | Role::FixedArray { direction: Direction::In, .. } => {
            quote!(#name.as_ptr() as _)
        }
        Role::Buffer { .. } | Role::FixedArray { .. } => quote!(#name.as_mut_ptr() as _),
        Role::CString { nullable: true, .. } => quote!(#name.map_or(core::ptr::null(), |s| s.as_ptr()) as _),
        Role::CString { .. } => quote!(#name.as_ptr() as _),
        Role::Pointer { direction: Direction::In, nullable: true } => {
            quote!(#name.map_or(core::ptr::null(), |r| core::ptr::from_ref(r)) as _)
        }
        Role::Pointer { nullable: true, .. } => {
            quote!(#name.as_deref_mut().map_or(core::ptr::null_mut(), |r| core::ptr::from_mut(r)) as _)
        }
        Role::Pointer { direction: Direction::In, .. } => quote!(core::ptr::from_ref(#name) as _),
        Role::Pointer { .. } => quote!(core::ptr::from_mut(#name) as _),
    }
}
