//! The part of each contract parameter in a harness: what is decoded, passed and compared.

use crate::contract::types::{Contract, Direction, Role, Signature as Style};
use crate::rust::shims::Bound;
use crate::rust::signature::pointee;
use crate::symbol::{SymbolName, TypeKind};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

/// One parameter in a harness.
pub struct Slot<'a> {
    pub name: &'a Ident,
    /// Its position.
    pub at: usize,
    /// The name shown to people.
    pub label: &'a str,
    pub role: &'a Role,
    /// The C type, and its target type.
    pub ty: &'a syn::Type,
    pub target: syn::Type,
    /// The only part of variable length that needs no length in the input.
    pub last: bool,
    /// Shares its length with another buffer.
    pub shared: bool,
    /// Its length parameter, by its name in Rust.
    pub length: Option<&'a Ident>,
    /// An integer that limits can fold.
    pub integer: bool,
    /// The C type is signed: negative lengths are tried, too.
    pub signed: bool,
    /// A length behind a pointer, which the call may change.
    pub behind: bool,
    /// Functions that make the struct it points to.
    pub made_by: &'a [SymbolName],
    /// For functions in a call sequence: the values and texts that the C text compares it with.
    pub step: Option<(&'a [i64], &'a [String])>,
}

/// The parameters of a function with a contract, in C's order.
pub fn slots<'a>(bound: &Bound<'a>, contract: &'a Contract) -> Vec<Slot<'a>> {
    let shared = |role: &Role| match role {
        Role::Buffer { length, .. } => contract.buffers_of(length).count() > 1,
        _ => false,
    };
    let variable = |role: &Role| match role {
        Role::Buffer { direction, .. } => *direction != Direction::Out && !shared(role),
        Role::CString { .. } => true,
        _ => false,
    };
    let length_of = |role: &Role| match role {
        Role::Buffer { length, .. } => {
            let at = contract.params.iter().position(|p| p.name == *length)?;
            bound.c.params.get(at).map(|(name, _)| name)
        }
        _ => None,
    };
    // In a call sequence further steps follow, so no part may take the rest of the input.
    let is_step = contract.sequence.is_some();
    let last = contract.params.iter().rposition(|p| variable(&p.role)).filter(|_| !is_step);
    let make = |(at, (param, (name, ty))): (
        usize,
        (&'a crate::contract::types::Parameter, &'a (Ident, syn::Type)),
    )| {
        let kind = &bound.function.params[at].ty.kind;
        Slot {
            name,
            at,
            label: &param.name,
            role: &param.role,
            ty,
            target: pointee(ty),
            last: last == Some(at),
            shared: shared(&param.role),
            length: length_of(&param.role),
            integer: matches!(kind, TypeKind::Int { bits, .. } if *bits <= 64),
            signed: matches!(kind, TypeKind::Int { signed: true, .. }),
            behind: param.role == Role::Length && matches!(kind, TypeKind::Pointer(_)),
            made_by: &param.made_by,
            step: is_step.then_some((&param.likely, &param.texts)),
        }
    };
    contract.params.iter().zip(&bound.c.params).enumerate().map(make).collect()
}

impl Slot<'_> {
    /// Whether the function may write through it, so that its content is compared after the call.
    pub fn is_effect(&self) -> bool {
        match self.role {
            Role::Buffer { direction, .. }
            | Role::Pointer { direction, .. }
            | Role::FixedArray { direction, .. }
            | Role::Room { direction, .. }
            | Role::Elements { direction, .. } => *direction != Direction::In,
            _ => self.behind,
        }
    }

    /// Whether it is memory.
    pub fn is_memory(&self) -> bool {
        matches!(
            self.role,
            Role::Buffer { .. }
                | Role::Pointer { .. }
                | Role::FixedArray { .. }
                | Role::Room { .. }
                | Role::CString { .. }
                | Role::Elements { .. }
        ) || self.behind
    }

    /// Whether null is tried.
    pub fn nullable(&self) -> bool {
        self.role.is_nullable()
    }

    /// The local variable for a handle, a lent struct or a given block.
    pub fn handle(&self) -> Ident {
        format_ident!("{}_handle", self.name)
    }

    /// The local variable for one side's memory.
    pub fn region(&self) -> Ident {
        format_ident!("{}_memory", self.name)
    }

    /// The type of the elements of its memory.
    pub fn element(&self) -> TokenStream {
        match self.role {
            Role::CString { .. } | Role::Elements { .. } => quote!(u8),
            _ => {
                let target = &self.target;
                quote!(#target)
            }
        }
    }
}

/// The argument for C: a pointer into its memory, a value or a length.
pub fn c_argument(slot: &Slot) -> TokenStream {
    let (name, region) = (slot.name, slot.region());
    match slot.role {
        Role::Value { .. } | Role::OneOf { .. } => quote!(args.#name),
        Role::Handle { .. } | Role::Lent { .. } => {
            let handle = slot.handle();
            quote!(#handle as _)
        }
        Role::Given { .. } => {
            let handle = slot.handle();
            quote!(#handle.as_ref().map_or(core::ptr::null_mut(), |block| block.ptr()) as _)
        }
        Role::Length if slot.behind => quote!(#region.ptr() as _),
        Role::Length => {
            let length = format_ident!("{}_length", name);
            quote!(#length as _)
        }
        Role::Callback { .. } => {
            let function = format_ident!("{}_function", name);
            quote!(#function)
        }
        Role::UserData => {
            let at = slot.at;
            quote!(crate::runtime::callback::token(#at) as _)
        }
        _ if slot.nullable() => quote!(#region.as_ref().map_or(core::ptr::null_mut(), |m| m.ptr()) as _),
        _ => quote!(#region.ptr() as _),
    }
}

/// The argument for the inner Rust function; `None` for a length in a safe signature.
pub fn rust_argument(slot: &Slot, style: Style) -> Option<TokenStream> {
    if style == Style::C {
        return Some(c_argument(slot));
    }
    let (name, region) = (slot.name, slot.region());
    let of = |one: TokenStream, reference: TokenStream| match slot.nullable() {
        true => quote!(#region #reference.map(|m| #one)),
        false => quote!({ let m = &mut #region; #one }),
    };
    let shared = quote!(.as_ref());
    let unique = quote!(.as_mut());
    Some(match slot.role {
        Role::Value { .. } | Role::OneOf { .. } => quote!(args.#name),
        // These occur only in signatures of C.
        Role::Elements { .. }
        | Role::Callback { .. }
        | Role::UserData
        | Role::Lent { .. }
        | Role::Given { .. }
        | Role::Room { .. } => c_argument(slot),
        Role::Length | Role::Handle { .. } => return None,
        Role::Buffer { direction, .. } => {
            let below = format_ident!("{}_length", slot.length?);
            // A negative length becomes an empty slice for a safe port, as in the C-ABI shim.
            let take = quote!(usize::try_from(#below).unwrap_or(0).min(m.slice().len()));
            match direction {
                Direction::In => of(quote!({ let n = #take; &m.slice()[..n] }), shared),
                _ => of(quote!({ let n = #take; &mut m.slice_mut()[..n] }), unique),
            }
        }
        Role::CString { .. } => of(
            quote!(core::ffi::CStr::from_bytes_with_nul(m.slice()).expect("the harness ends strings")),
            shared,
        ),
        Role::Pointer { direction: Direction::In, .. } => of(quote!(&m.slice()[0]), shared),
        Role::Pointer { .. } => of(quote!(&mut m.slice_mut()[0]), unique),
        Role::FixedArray { direction: Direction::In, .. } => {
            quote!(<&[_; _]>::try_from(#region.slice()).expect("the harness allocates the array"))
        }
        Role::FixedArray { .. } => {
            quote!(<&mut [_; _]>::try_from(#region.slice_mut()).expect("the harness allocates the array"))
        }
    })
}
