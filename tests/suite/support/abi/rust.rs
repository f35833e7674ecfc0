//! The Rust side of the check: the tool's `ffi.rs`, and in its scope one check per function, with exactly the
//! signatures of the bindings.

use super::Probe;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use std::collections::BTreeMap;
use syn::{FnArg, ReturnType, Type};

/// `ffi.rs` with the checks behind it.
pub fn checks(ffi: &str, probes: &[&Probe<'_>]) -> String {
    let file = syn::parse_file(ffi).unwrap();
    let types = Types::of(&file);
    let (marks, declared) = (types.marks(), probes.iter().map(|probe| declaration(probe)));
    let calls = probes.iter().map(|probe| call(probe, &types));
    let checks = quote! {
        #(#marks)*
        unsafe extern "C" { #(#declared)* }
        pub fn implfuzz_checks() { #(#calls)* }
    };
    format!("{ffi}\n{checks}\n")
}

/// The binding, with the probe instead of the function; and the caller in C.
fn declaration(probe: &Probe<'_>) -> TokenStream {
    let mut binding = probe.binding.clone();
    let (name, call) = names(probe);
    binding.attrs.clear();
    binding.sig.ident = name;
    // The probe of a function that never returns does return.
    if matches!(&binding.sig.output, ReturnType::Type(_, ty) if matches!(**ty, Type::Never(_))) {
        binding.sig.output = ReturnType::Default;
    }
    quote!(#binding pub fn #call();)
}

fn names(probe: &Probe<'_>) -> (syn::Ident, syn::Ident) {
    let name = probe.function.name.as_str();
    (format_ident!("implfuzz_probe_{name}"), format_ident!("implfuzz_call_{name}"))
}

fn call(probe: &Probe<'_>, types: &Types) -> TokenStream {
    let (name, call) = names(probe);
    let said = probe.function.name.as_str();
    let params = probe.binding.sig.inputs.iter().map(|input| match input {
        FnArg::Typed(typed) => (*typed.ty).clone(),
        FnArg::Receiver(_) => unreachable!("foreign functions have no self"),
    });
    let result = match &probe.binding.sig.output {
        ReturnType::Type(_, ty) if !matches!(**ty, Type::Never(_)) => Some((**ty).clone()),
        _ => None,
    };
    let mut wanted = Vec::new();
    let mut passed = Vec::new();
    for (index, ty) in params.chain(result.clone()).enumerate() {
        let seed = probe.seed + u32::try_from(index).unwrap();
        let bits = probe.bits.get(index).copied().unwrap_or_default();
        let mark = types.mark(&ty);
        wanted.push(quote!(crate::wanted::<#ty>(#seed, #bits, #mark)));
        passed.push(quote!(crate::filled::<#ty>(#seed, #bits)));
    }
    passed.truncate(probe.binding.sig.inputs.len());
    let heard = result.map(|_| quote!(crate::heard(&result);));
    quote! {
        crate::check(#said, &[#(#wanted),*], || unsafe { #call() }, || unsafe {
            let result = #name(#(#passed),*);
            #heard
        });
    }
}

/// The records and aliases of `ffi.rs`: which bytes of a value are its fields'.
#[derive(Default)]
struct Types {
    records: BTreeMap<String, syn::FieldsNamed>,
    aliases: BTreeMap<String, Type>,
}

impl Types {
    fn of(file: &syn::File) -> Self {
        let mut types = Self::default();
        for item in &file.items {
            match item {
                syn::Item::Struct(s) if s.generics.params.is_empty() => {
                    if let syn::Fields::Named(fields) = &s.fields {
                        types.records.insert(s.ident.to_string(), fields.clone());
                    }
                }
                syn::Item::Union(u) => drop(types.records.insert(u.ident.to_string(), u.fields.clone())),
                syn::Item::Type(t) => drop(types.aliases.insert(t.ident.to_string(), (*t.ty).clone())),
                syn::Item::Use(u) => {
                    if let syn::UseTree::Path(path) = &u.tree
                        && let syn::UseTree::Rename(rename) = &*path.tree
                    {
                        let from = &rename.ident;
                        types.aliases.insert(rename.rename.to_string(), syn::parse_quote!(#from));
                    }
                }
                _ => {}
            }
        }
        types
    }

    /// One function per record that marks the bytes of its fields.
    fn marks(&self) -> impl Iterator<Item = TokenStream> {
        self.records.iter().map(|(name, fields)| {
            let (record, mark) = (format_ident!("{name}"), format_ident!("implfuzz_mark_{name}"));
            let fields = fields.named.iter().map(|field| {
                let (ident, mark) = (field.ident.as_ref().unwrap(), self.mark(&field.ty));
                quote!((#mark)(mask, at + ::core::mem::offset_of!(#record, #ident));)
            });
            quote! {
                fn #mark(mask: &mut [::core::primitive::bool], at: ::core::primitive::usize) { #(#fields)* }
            }
        })
    }

    /// What marks the bytes of a value of this type.
    fn mark(&self, ty: &Type) -> TokenStream {
        match ty {
            Type::Array(array) => {
                let (element, len) = (&array.elem, &array.len);
                let mark = self.mark(element);
                quote!(|mask: &mut [::core::primitive::bool], at: ::core::primitive::usize| for i in 0..#len {
                    (#mark)(mask, at + i * ::core::mem::size_of::<#element>());
                })
            }
            Type::Path(path) => match path.path.get_ident().map(ToString::to_string) {
                Some(name) if self.records.contains_key(&name) => {
                    let mark = format_ident!("implfuzz_mark_{name}");
                    quote!(#mark)
                }
                Some(name) if self.aliases.contains_key(&name) => self.mark(&self.aliases[&name]),
                _ => quote!(crate::whole::<#ty>),
            },
            _ => quote!(crate::whole::<#ty>),
        }
    }
}
