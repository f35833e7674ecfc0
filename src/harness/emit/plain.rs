//! Arguments and effects in the text form that is exchanged with the parent process.

use super::Emitter;
use crate::contract::types::Returns;
use proc_macro2::TokenStream;
use quote::quote;

/// Keys besides those of parameters; no C name can equal them.
const GLOBALS: &str = "$globals";
const CHANCE: &str = "$chance";

impl Emitter<'_> {
    /// Reads arguments from the parent's text.
    pub(super) fn of_plain(&self) -> TokenStream {
        let labels = self.slots.iter().map(|slot| slot.label);
        let known = labels.chain(self.extra());
        let lets = self.slots.iter().map(|slot| {
            let (name, read) = (slot.name, slot.role.code(slot).read);
            quote!(let #name = #read;)
        });
        let lengths = self.slots.iter().filter(|slot| slot.role.length().is_some()).map(|slot| {
            let (name, label) = (slot.name, slot.label);
            let sizes = self.sizes(slot);
            quote!(args.#name = __fields.length(#label, &[#(#sizes),*])?;)
        });
        let (surroundings, fields) = self.surroundings();
        let names = self.slots.iter().map(|slot| slot.name);
        quote! {
            let __fields = __plain.fields(&[#(#known),*])?;
            #surroundings
            #(#lets)*
            let mut args = Args { #fields #(#names),* };
            #(#lengths)*
            Ok(args)
        }
    }

    /// Writes arguments as text.
    pub(super) fn plain(&self) -> TokenStream {
        let lengths = self.lengths();
        let parts = self.slots.iter().filter(|slot| slot.role.user_data().is_none()).map(|slot| {
            let (name, label, plain) = (slot.name, slot.label, slot.role.code(slot).plain);
            if slot.role.length().is_some() {
                return quote!(parts.push((#label.to_owned(), #plain)););
            }
            match slot.nullable() {
                true => quote!(parts.push((#label.to_owned(), args.#name.as_ref().map_or(Plain::Null, |value| #plain)));),
                false => quote!(parts.push((#label.to_owned(), { let value = &args.#name; #plain }));),
            }
        });
        let surroundings = self.plain_surroundings();
        quote!(#lengths let mut parts: Vec<(String, Plain)> = Vec::new(); #(#parts)* #surroundings Plain::Object(parts))
    }

    fn extra(&self) -> impl Iterator<Item = &str> {
        let globals = (!self.contract.globals.is_empty()).then_some(GLOBALS);
        globals.into_iter().chain(self.contract.chance.then_some(CHANCE))
    }

    /// The reading of variables and chance, and their fields of `Args`.
    fn surroundings(&self) -> (TokenStream, TokenStream) {
        let globals = (!self.contract.globals.is_empty()).then(|| {
            quote! {
                let __names = __state().names();
                let __nothing = Plain::Object(Vec::new());
                let __globals = __fields.get(#GLOBALS).unwrap_or(&__nothing);
                let __globals = __globals.fields(&__names).and_then(|fields| __state().of_plain(&fields))
                    .map_err(|why| format!("`{}`: {why}", #GLOBALS))?;
            }
        });
        let field = globals.as_ref().map(|_| quote!(__globals,));
        let drawn = self.chance_name();
        let chance = drawn
            .as_ref()
            .map(|_| quote!(let __chance = __fields.read_or(#CHANCE, Vec::new, Plain::bytes)?;));
        let drawn = drawn.map(|name| quote!(#name,));
        (quote!(#globals #chance), quote!(#field #drawn))
    }

    fn plain_surroundings(&self) -> TokenStream {
        let globals = (!self.contract.globals.is_empty())
            .then(|| quote!(parts.push((#GLOBALS.to_owned(), __state().plain(&args.__globals)));));
        let chance = self
            .contract
            .chance
            .then(|| quote!(parts.push((#CHANCE.to_owned(), Plain::Bytes(args.__chance.clone())));));
        quote!(#globals #chance)
    }

    /// Writing and reading of arguments where a fuzz target written by a model decodes the bytes.
    pub(super) fn target_plain(&self) -> (TokenStream, TokenStream) {
        let known = ["bytes"].into_iter().chain(self.extra());
        let ((surroundings, fields), written) = (self.surroundings(), self.plain_surroundings());
        let plain = quote! {
            let mut parts: Vec<(String, Plain)> = vec![("bytes".to_owned(), Plain::Bytes(args.bytes.clone()))];
            #written
            Plain::Object(parts)
        };
        let of_plain = quote! {
            let __fields = __plain.fields(&[#(#known),*])?;
            #surroundings
            let bytes = __fields.read("bytes", Plain::bytes)?;
            Ok(Args { #fields bytes })
        };
        (plain, of_plain)
    }

    /// Writes the effects of a call.
    pub(super) fn left(&self) -> TokenStream {
        let ret = match self.contract.returns {
            Returns::Nothing | Returns::Memory => None,
            Returns::Value => Some(quote!(effects.__ret.plain())),
            Returns::Table(_) | Returns::StaticString => {
                Some(quote!(effects.__ret.as_ref().map_or(Plain::Null, |list| plain_slice(list))))
            }
            Returns::Handle => Some(quote!(effects.__ret.plain())),
            Returns::Address => Some(quote!(Plain::Bytes(effects.__ret.place.clone().into_bytes()))),
        };
        let ret = ret.map(|ret| quote!(parts.push(("return".to_owned(), #ret));));
        let outs = self.slots.iter().filter(|s| s.is_effect()).map(|slot| {
            let (name, label) = (slot.name, slot.label);
            let one = slot.is_behind() || slot.role.pointer().is_some();
            let plain = if one { quote!(m[0].plain()) } else { quote!(plain_slice(m)) };
            quote!(if let Some(m) = &effects.#name { parts.push((#label.to_owned(), #plain)); })
        });
        let errno =
            self.contract.errno.then(|| quote!(parts.push(("errno".to_owned(), effects.__errno.plain()));));
        let globals = (!self.contract.globals.is_empty())
            .then(|| quote!(parts.push((#GLOBALS.to_owned(), __state().plain_left(&effects.__globals)));));
        let (calls, drawn, blocks) = (self.calls_made(), self.drawn_parts(), self.blocks_left());
        let others = (!(calls.is_empty() && drawn.is_empty() && blocks.is_empty())).then(|| {
            quote! {
                let others = {
                    let mut parts = crate::runtime::report::Parts::new();
                    #calls #drawn #blocks
                    parts
                };
                parts.push(("$others".to_owned(), Plain::of_parts(others)));
            }
        });
        quote!(let mut parts: Vec<(String, Plain)> = Vec::new(); #ret #(#outs)* #errno #globals #others Plain::Object(parts))
    }
}
