//! One call in a test: its memory and its arguments.

use super::expected::EACH;
use super::json::Whole;
use super::literals::{Types, array, byte_array, bytes, is_byte, number, text};
use crate::contract::parameter_roles::{Parameter, Shape, pointee};
use crate::contract::types::Contract;
use crate::rust::shims::Bound;
use crate::symbol::{CType, TypeKind};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A call, as an input and a result describe it.
pub(super) struct Call<'a> {
    pub types: Types<'a>,
    pub bound: Bound<'a>,
    pub contract: &'a Contract,
    pub args: &'a Map<String, Value>,
    pub left: &'a Value,
    /// Name of the call in messages.
    pub title: String,
    /// Suffix that makes the names of its local variables unique.
    pub suffix: String,
    /// Handles among the arguments, by position.
    pub handles: BTreeMap<usize, TokenStream>,
    /// Further places that a returned pointer may point to: the name in results, and the address.
    pub places: Vec<(String, TokenStream)>,
    /// The local variable for the return value, if not the usual one.
    pub keep: Option<Ident>,
}

/// The text of a call.
#[derive(Default)]
pub(super) struct Written {
    pub statements: Vec<TokenStream>,
    /// The comparisons after them.
    pub comparisons: Vec<TokenStream>,
}

/// The memory behind an argument of a call.
pub(super) struct Memory<'a> {
    pub param: &'a Parameter,
    /// The expression that reads its content.
    pub place: TokenStream,
    pub of: &'a CType,
    /// Number of elements; `None` for a single value.
    pub length: Option<usize>,
    /// The expression for its address.
    pub pointer: TokenStream,
    /// Whether it is compared after the call.
    pub is_written: bool,
}

/// The parts of a call that exist so far.
#[derive(Default)]
struct Made<'a> {
    statements: Vec<TokenStream>,
    memories: Vec<Memory<'a>>,
    arguments: BTreeMap<usize, TokenStream>,
}

impl<'a> Made<'a> {
    /// Adds a local variable with memory, and its address as an argument.
    fn keep(&mut self, at: usize, (lets, memory): (TokenStream, Memory<'a>)) {
        self.statements.push(lets);
        let pointer = &memory.pointer;
        self.arguments.insert(at, quote!(#pointer as _));
        self.memories.push(memory);
    }
}

/// Names reserved for generated code.
const TAKEN: [&str; 18] = [
    "returned", "returned_table", "wanted", "errno", "clear_errno", "last_errno", "text_at", "joined",
    "exact", "Exact", "alone", "Aligned", "Alone", "Running", "BEGUN", "Kept", "ALONE", "_alone",
];

impl<'a> Call<'a> {
    /// Everything from the first local variable to the last comparison; `Err` says why it cannot be written.
    pub fn write(&self) -> Result<Written, String> {
        let (statements, memories) = self.statements()?;
        Ok(Written { statements, comparisons: self.comparisons(&memories)? })
    }

    /// Everything up to the call itself, and its memory.
    pub fn statements(&self) -> Result<(Vec<TokenStream>, Vec<Memory<'_>>), String> {
        let params = &self.contract.params;
        let complete =
            params.len() == self.bound.function.params.len() && params.len() == self.bound.c.params.len();
        if !complete {
            return Err("its contract does not say what its parameters are for".to_owned());
        }
        self.knows_all()?;
        let mut made = Made { arguments: self.handles.clone(), ..Made::default() };
        for (at, param) in params.iter().enumerate() {
            self.argument(at, param, &mut made).map_err(|why| format!("`{}`: {why}", param.name))?;
        }
        let lengths = params.iter().enumerate().filter(|(_, param)| param.role.length().is_some());
        for (at, param) in lengths {
            self.length(at, param, &mut made).map_err(|why| format!("`{}`: {why}", param.name))?;
        }
        let Made { mut statements, memories, arguments } = made;
        if arguments.len() != params.len() {
            return Err("a handle is not known".to_owned());
        }
        let arguments: Vec<TokenStream> = arguments.into_values().collect();
        statements.extend(self.call(&arguments));
        Ok((statements, memories))
    }

    /// Adds an argument other than a length, with its memory.
    fn argument(&self, at: usize, param: &'a Parameter, made: &mut Made<'a>) -> Result<(), String> {
        let given = self.args.get(&param.name);
        match param.role.facts().shape? {
            Shape::Elsewhere => {}
            Shape::Value => {
                let value = self.types.value(self.ty(at), given.ok_or("no value is given")?)?;
                made.arguments.insert(at, value);
            }
            _ if given.is_some_and(Value::is_null) => {
                if !param.role.is_nullable() {
                    return Err("it may not be null".to_owned());
                }
                made.arguments.insert(at, null(&self.bound.c.params[at].1)?);
            }
            shape => {
                let of = self.ty(at).target().ok_or("its type hides a pointer")?;
                made.keep(at, self.memory((at, param), shape, of)?);
            }
        }
        Ok(())
    }

    /// Checks that every part of the input and the result is used in the test.
    fn knows_all(&self) -> Result<(), String> {
        let known = |key: &String| self.contract.params.iter().any(|param| param.name == *key);
        let is_result = |key: &String| matches!(key.as_str(), "return" | "errno" | "$globals") || known(key);
        let mut left = self.left.as_object().into_iter().flat_map(Map::keys);
        let unknown = self.args.keys().find(|key| !known(key));
        match unknown.or_else(|| left.find(|key| !is_result(key))) {
            Some(unknown) => Err(format!("`{unknown}` cannot be written as Rust")),
            None => Ok(()),
        }
    }

    fn ty(&self, at: usize) -> &'a CType {
        &self.bound.function.params[at].ty
    }

    /// The name of this parameter's local variable.
    fn local(&self, at: usize) -> Ident {
        let name = self.bound.c.params[at].0.to_string();
        let is_taken = TAKEN.contains(&name.as_str())
            || ["handle_", "room_", EACH].iter().any(|own| name.starts_with(own));
        let own = if is_taken { "_" } else { "" };
        format_ident!("{name}{own}{}", self.suffix)
    }

    /// The local variable behind a pointer.
    fn memory(
        &self,
        (at, param): (usize, &'a Parameter),
        shape: Shape,
        of: &'a CType,
    ) -> Result<(TokenStream, Memory<'a>), String> {
        let given = self.args.get(&param.name);
        let missing = || "no content is given".to_owned();
        let content = |room| match param.role.is_output() {
            true => self.types.prepared(of, given, room),
            false => given.cloned().ok_or_else(missing),
        };
        match shape {
            Shape::Text => {
                let (local, text) = (self.local(at), text(&bytes(given.ok_or_else(missing)?)?)?);
                let (place, pointer) = (quote!(#local), quote!(#local.as_ptr()));
                // A copy: equal literals may share an address.
                let lets = quote!(let #local = #text.to_owned(););
                Ok((lets, Memory { param, place, of, length: None, pointer, is_written: false }))
            }
            Shape::One => {
                let value = match given {
                    Some(given) => self.types.value(of, given)?,
                    None if param.role.is_output() => quote!(core::mem::zeroed()),
                    None => return Err(missing()),
                };
                Ok(self.single(at, param, of, value))
            }
            Shape::Counted { length } => self.array(at, param, (of, None), &content(self.room(length))?),
            Shape::Exactly { len } | Shape::Room { len } => {
                self.array(at, param, (of, Some(len)), &content(Some(len))?)
            }
            Shape::Value | Shape::Elsewhere => Err("it is not memory".to_owned()),
        }
    }

    /// The number of elements of an output that shares its length: the given length, or that of the other buffers.
    fn room(&self, length: &str) -> Option<usize> {
        let told = self.args.get(length).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        told.or_else(|| {
            let is_input =
                |param: &Parameter| param.role.facts().lengths == [length] && !param.role.is_output();
            let params = self.contract.params.iter().enumerate();
            let others = params.filter(|(_, param)| is_input(param));
            let sizes = others.filter_map(|(at, param)| {
                let given = self.args.get(&param.name).filter(|given| !given.is_null())?;
                let of = self.ty(at).target()?;
                Some(self.types.elements(of, given).ok()?.len())
            });
            sizes.min()
        })
    }

    /// A local variable with one value.
    fn single(
        &self,
        at: usize,
        param: &'a Parameter,
        of: &'a CType,
        value: TokenStream,
    ) -> (TokenStream, Memory<'a>) {
        let (local, ty) = (self.local(at), self.element(at, of, false));
        let is_written = param.role.is_effect(self.ty(at));
        let (lets, pointer) = match is_written {
            true => (quote!(let mut #local: #ty = #value;), quote!(&raw mut #local)),
            false => (quote!(let #local: #ty = #value;), quote!(&raw const #local)),
        };
        (lets, Memory { param, place: quote!(#local), of, length: None, pointer, is_written })
    }

    /// A local variable with elements; their number may follow from the contract.
    fn array(
        &self,
        at: usize,
        param: &'a Parameter,
        (of, wanted): (&'a CType, Option<usize>),
        content: &Value,
    ) -> Result<(TokenStream, Memory<'a>), String> {
        let (value, length) = if is_byte(of) {
            let bytes = bytes(content)?;
            (byte_array(&bytes), bytes.len())
        } else {
            let elements = self.types.elements(of, content)?;
            (array(&elements), elements.len())
        };
        if let Some(wanted) = wanted.filter(|wanted| *wanted != length) {
            return Err(format!("{length} of {wanted} elements are given"));
        }
        let (local, ty, size) =
            (self.local(at), self.element(at, of, true), Literal::usize_unsuffixed(length));
        let is_written = param.role.is_effect(self.ty(at));
        let (ty, value, place) = match param.role.facts().shape? {
            // The function may store data there that needs a stricter alignment than the elements.
            Shape::Room { .. } => (quote!(Aligned<[#ty; #size]>), quote!(Aligned(#value)), quote!(#local.0)),
            _ => (quote!([#ty; #size]), value, quote!(#local)),
        };
        let (lets, pointer) = match is_written {
            true => (quote!(let mut #local: #ty = #value;), quote!(#place.as_mut_ptr())),
            false => (quote!(let #local: #ty = #value;), quote!(#place.as_ptr())),
        };
        Ok((lets, Memory { param, place, of, length: Some(length), pointer, is_written }))
    }

    /// The element type of a local variable: byte arrays are unsigned, like byte literals.
    fn element(&self, at: usize, of: &CType, many: bool) -> syn::Type {
        match is_byte(of) && many {
            true => syn::parse_quote!(u8),
            false => pointee(&self.bound.c.params[at].1),
        }
    }

    /// A length: the size of its buffers, or the given value where no buffer contradicts it.
    fn length(&self, at: usize, param: &'a Parameter, made: &mut Made<'a>) -> Result<(), String> {
        let counted =
            made.memories.iter().filter(|memory| memory.param.role.facts().lengths == [&param.name]);
        let counted = counted.filter_map(|memory| memory.length).min();
        let told = self.args.get(&param.name).map(Whole::read).transpose()?;
        let whole = match (counted, told) {
            (None, None) => return Err("its value is unknown".to_owned()),
            (Some(counted), None) => Whole { negative: false, magnitude: counted as u128 },
            (Some(counted), Some(told)) if !told.negative && told.magnitude != counted as u128 => {
                return Err(format!("it is {} where the buffers have {counted}", told.digits()));
            }
            (_, Some(told)) => told,
        };
        let ty = self.ty(at);
        let of = if let TypeKind::Pointer(to) = &ty.kind { to } else { ty };
        self.types.value(of, &Value::String(whole.digits()))?;
        let value = number(whole);
        if matches!(ty.kind, TypeKind::Pointer(_)) {
            made.keep(at, self.single(at, param, of, value));
        } else {
            made.arguments.insert(at, value);
        }
        Ok(())
    }
}

/// A null pointer of this type.
pub(super) fn null(ty: &syn::Type) -> Result<TokenStream, String> {
    match ty {
        syn::Type::Ptr(pointer) if matches!(pointer.mutability, syn::PointerMutability::Const(_)) => {
            Ok(quote!(core::ptr::null()))
        }
        syn::Type::Ptr(_) => Ok(quote!(core::ptr::null_mut())),
        _ => Err("its type hides a pointer".to_owned()),
    }
}
