//! Signatures: the one in C, and the inner Rust function's, which the contract determines.

use super::c_numbers::with_rust_numbers;
use crate::contract::slots::slots;
use crate::contract::types::{Contract, Returns, Signature as Style};
use crate::symbol::{Function, Library, TypeKind};
use proc_macro2::{Ident, Span};
use quote::{format_ident, quote};
use syn::visit_mut::VisitMut;

/// A C function's signature in Rust types: Rust's own numbers, and bindgen's types under `ffi::`.
#[derive(Debug, Clone)]
pub struct CSignature {
    pub params: Vec<(Ident, syn::Type)>,
    /// `None` for `void`.
    pub ret: Option<syn::Type>,
}

impl CSignature {
    /// Made from bindgen's declaration, with the parameter names of the definition (`names`, as in contracts).
    /// Bindgen uses the names of a declaration, which headers often omit.
    pub fn of<'n>(signature: &syn::Signature, names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut names = names.into_iter();
        let mut params = Vec::new();
        for (index, input) in signature.inputs.iter().enumerate() {
            let syn::FnArg::Typed(typed) = input else { continue };
            let name = match (names.next(), &*typed.pat) {
                (Some(name), _) => clean(name),
                (None, syn::Pat::Ident(pat)) if pat.ident != "_" => clean(&pat.ident.to_string()),
                (None, _) => format!("arg{index}"),
            };
            params.push((Ident::new(&name, Span::call_site()), qualified(&typed.ty)));
        }
        let ret = match &signature.output {
            syn::ReturnType::Default => None,
            syn::ReturnType::Type(_, ty) => Some(qualified(ty)),
        };
        Self { params, ret }
    }

    /// Replaces type names that hide a pointer, or `void`, by the pointer type of `function`'s parameters.
    pub fn spelled_out(mut self, function: &Function, library: &Library) -> Self {
        for ((_, ty), param) in self.params.iter_mut().zip(&function.params) {
            let TypeKind::Pointer(to) = &param.ty.kind else { continue };
            let is_pointer = matches!(ty, syn::Type::Ptr(_));
            if is_pointer && is_void(ty) {
                continue;
            }
            let Some(target) = target(&to.kind, is_pointer, library) else { continue };
            *ty =
                if to.is_const { syn::parse_quote!(*const #target) } else { syn::parse_quote!(*mut #target) };
        }
        self
    }
}

/// The target type of a pointer, where its Rust type does not show it.
fn target(kind: &TypeKind, is_pointer: bool, library: &Library) -> Option<syn::Type> {
    match kind {
        TypeKind::Void => Some(syn::parse_quote!(::core::ffi::c_void)),
        _ if is_pointer => None,
        TypeKind::Record(key) => {
            let name = format_ident!("{}", library.records.get(key)?.rust_name);
            Some(syn::parse_quote!(ffi::#name))
        }
        _ => number(kind),
    }
}

/// Rust's own name of a number type.
pub fn number(kind: &TypeKind) -> Option<syn::Type> {
    let name = match kind {
        TypeKind::Bool => "bool".to_owned(),
        TypeKind::Int { signed, bits, .. } => format!("{}{bits}", if *signed { "i" } else { "u" }),
        TypeKind::Float { bits } => format!("f{bits}"),
        _ => return None,
    };
    let name = format_ident!("{name}");
    Some(syn::parse_quote!(#name))
}

/// A parameter name that does not clash with names in generated code.
fn clean(name: &str) -> String {
    let name = name.trim_start_matches("r#");
    let reserved = matches!(
        name,
        "ffi" | "callee" | "globals" | "capi" | "core" | "self" | "Self" | "super" | "crate"
            // As parameters, these would be patterns of the prelude.
            | "Some" | "None" | "Ok" | "Err"
    );
    // The parser takes it for a name, but Rust 2024 does not.
    let reserved = reserved || name == "gen" || syn::parse_str::<Ident>(name).is_err();
    if reserved { format!("{name}_") } else { name.to_owned() }
}

/// The type, with Rust's own names of numbers, and `ffi::` before bindgen's names.
fn qualified(ty: &syn::Type) -> syn::Type {
    struct Qualify;
    impl VisitMut for Qualify {
        fn visit_type_path_mut(&mut self, path: &mut syn::TypePath) {
            syn::visit_mut::visit_type_path_mut(self, path);
            let single = path.qself.is_none() && path.path.leading_colon.is_none();
            if single && path.path.segments.len() == 1 {
                let name = path.path.segments[0].ident.to_string();
                if !is_primitive(&name) {
                    let rest = &path.path;
                    *path = syn::parse_quote!(ffi::#rest);
                }
            }
        }
    }
    let mut ty = ty.clone();
    Qualify.visit_type_mut(&mut ty);
    with_rust_numbers(&mut ty);
    ty
}

/// The type without insignificant parts: trailing commas, names of a function pointer's parameters, C's names of numbers.
pub fn bare(ty: &syn::Type) -> syn::Type {
    struct Bare;
    impl VisitMut for Bare {
        fn visit_type_fn_ptr_mut(&mut self, function: &mut syn::TypeFnPtr) {
            syn::visit_mut::visit_type_fn_ptr_mut(self, function);
            function.inputs.pop_punct();
            function.inputs.iter_mut().for_each(|input| input.name = None);
        }
        fn visit_angle_bracketed_generic_arguments_mut(
            &mut self,
            list: &mut syn::AngleBracketedGenericArguments,
        ) {
            syn::visit_mut::visit_angle_bracketed_generic_arguments_mut(self, list);
            list.args.pop_punct();
        }
    }
    let mut ty = ty.clone();
    Bare.visit_type_mut(&mut ty);
    with_rust_numbers(&mut ty);
    ty
}

fn is_primitive(name: &str) -> bool {
    const NAMES: [&str; 18] = [
        "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "u128", "i128", "usize", "isize", "f32", "f64",
        "bool", "char", "str", "Self",
    ];
    NAMES.contains(&name)
}

fn is_void(pointer: &syn::Type) -> bool {
    quote!(#pointer).to_string().ends_with("c_void")
}

/// The name of the inner function.
pub fn ident(function: &Function) -> Ident {
    format_ident!("{}", rust_name(function.name.as_str()))
}

/// A symbol's name in Rust.
pub fn rust_name(symbol: &str) -> String {
    clean(symbol)
}

/// The inner function's signature: safe where the contract says so, else C's types and `unsafe`.
pub fn inner(function: &Function, contract: Option<&Contract>, c: &CSignature) -> syn::Signature {
    let name = ident(function);
    let safe = contract.filter(|contract| contract.signature == Style::Safe);
    let Some(contract) = safe else {
        let params = c.params.iter().map(|(name, ty)| quote!(#name: #ty));
        let ret = c.ret.iter();
        return syn::parse_quote!(unsafe fn #name(#(#params),*) #(-> #ret)*);
    };
    let slots = slots(contract, function, &c.params);
    let params = slots.iter().filter_map(|slot| {
        let (name, ty) = (slot.name, slot.role.safe(slot)?.ty);
        Some(quote!(#name: #ty))
    });
    let ret = match contract.returns {
        Returns::StaticString => Some(syn::parse_quote!(Option<&'static core::ffi::CStr>)),
        // Pointers occur only in signatures of C.
        Returns::Nothing
        | Returns::Value
        | Returns::Handle
        | Returns::Address
        | Returns::Memory
        | Returns::Table(_) => c.ret.clone(),
    };
    let ret = ret.iter();
    syn::parse_quote!(fn #name(#(#params),*) #(-> #ret)*)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(signature: &str) -> String {
        let signature: syn::Signature = syn::parse_str(signature).unwrap();
        let c = CSignature::of(&signature, []);
        let types = c.params.iter().map(|(name, ty)| quote!(#name: #ty).to_string());
        types.collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn commas_and_names_in_function_pointers_decide_nothing() {
        let same = |a: &str, b: &str| bare(&syn::parse_str(a).unwrap()) == bare(&syn::parse_str(b).unwrap());
        assert!(same("Option<fn(a: u8, b: i8,) -> u8,>", "Option<fn(u8, x: i8) -> u8>"));
        assert!(!same("Option<fn(u8)>", "Option<fn(i8)>"));
        assert!(same("*mut ::core::ffi::c_int", "*mut i32"));
    }

    #[test]
    fn bindgens_types_are_named_under_ffi_and_primitives_are_not() {
        let got = text("fn f(a: *const kit_point, n: usize, c: ::core::ffi::c_int, t: uLong)");
        assert_eq!(got, "a : * const ffi :: kit_point, n : usize, c : i32, t : ffi :: uLong");
    }

    #[test]
    fn the_definition_names_the_parameters() {
        let signature: syn::Signature = syn::parse_str("fn f(arg1: u8, other: u8)").unwrap();
        let c = CSignature::of(&signature, ["len", "type"]);
        let names = c.params.iter().map(|(name, _)| name.to_string());
        assert_eq!(names.collect::<Vec<_>>(), ["len", "type_"]);
    }

    #[test]
    fn a_parameter_called_like_a_module_gets_another_name() {
        assert_eq!(text("fn f(ffi: u8, r#type: u8)"), "ffi_ : u8, type_ : u8");
    }
}
