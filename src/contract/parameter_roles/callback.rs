use super::in_driver::InDriver;
use super::{Code, Facts, Form, Keys, Notation, ParameterContext, Rules, Slot, Typed};
use crate::contract::constructors::is_named;
use crate::symbol::{CType, TypeKind};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use serde_json::{Value as Json, json};

/// A callback. Its calls are compared, and its results come from the input; with `order`, it is a total order of the
/// values behind its two pointers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callback {
    pub order: bool,
    pub nullable: bool,
}

impl Callback {
    pub(super) fn read(keys: &Keys) -> Result<Self, String> {
        Ok(Self { order: keys.order, nullable: keys.nullable })
    }

    /// The function that both sides get, as the callback number `index` of the harness.
    pub fn function(&self, slot: &Slot, index: usize) -> Option<TokenStream> {
        let (params, ret) = prototype(slot.c)?;
        let (name, label) = (called(slot), slot.label);
        let names: Vec<_> = (0..params.len()).map(|at| format_ident!("a{at}")).collect();
        let types = params.iter().map(erased);
        let result = (ret.kind != TypeKind::Void).then(|| erased(ret));
        let result = result.iter();
        let body = match self.order {
            true => {
                let size = element_size(&params[0]);
                quote!(order(#index, #label, a0, a1, #size) as _)
            }
            false => {
                let seen = names.iter().zip(params).enumerate().map(|(at, (name, ty))| {
                    let next = names.get(at + 1).zip(params.get(at + 1)).filter(|(_, ty)| is_integer(ty));
                    seen(name, ty, next)
                });
                let answer = answer(index, ret);
                quote!(record(#label, [#(#seen),*]); #answer)
            }
        };
        Some(quote! {
            unsafe extern "C" fn #name(#(#names: #types),*) #(-> #result)* {
                use crate::runtime::callback::*;
                called(|| { #body })
            }
        })
    }

    /// The local variable with the pointer to that function.
    pub fn pointer(&self, slot: &Slot) -> TokenStream {
        let (ty, function, called) = (slot.ty, local(slot), called(slot));
        let (params, ret) = prototype(slot.c).expect("the role says that it is a function");
        let types = params.iter().map(erased);
        let result = (ret.kind != TypeKind::Void).then(|| erased(ret));
        let result = result.iter();
        let name = slot.name;
        let given = if self.nullable { quote!(args.#name.is_some()) } else { quote!(true) };
        quote! {
            // SAFETY: the same prototype, pointers apart, which are all alike.
            let #function: #ty = unsafe {
                core::mem::transmute::<Option<unsafe extern "C" fn(#(#types),*) #(-> #result)*>, _>(
                    if #given { Some(#called) } else { None },
                )
            };
        }
    }

    /// The bytes of its results.
    pub fn answers(&self, slot: &Slot) -> TokenStream {
        let name = slot.name;
        match self.nullable {
            true => quote!(args.#name.clone().unwrap_or_default()),
            false => quote!(args.#name.clone()),
        }
    }
}

impl Rules for Callback {
    fn facts(&self) -> Facts<'_> {
        Facts {
            kind: Some("callbacks"),
            is_nullable: self.nullable,
            needs_c: true,
            input_bytes: 128,
            ..Facts::of(Err("it calls back"))
        }
    }

    fn write(&self, keys: &mut Keys) {
        keys.order = self.order;
    }

    fn needs(&self, of: &Typed) -> (bool, &'static str) {
        (prototype(of.ty).is_some(), "role \"callback\" needs a pointer to a function")
    }

    /// The C text determines the role; otherwise it is unknown.
    fn propose(&mut self, _: bool, _: usize) -> Result<(), &'static str> {
        Err("callbacks, and what they get, cannot be proposed")
    }

    fn in_driver(&self, place: &ParameterContext, unique: &str) -> Option<InDriver> {
        let (params, ret) = prototype(place.ty)?;
        let is_number =
            |ty: &CType| matches!(ty.kind, TypeKind::Int { .. } | TypeKind::Bool | TypeKind::Enum { .. });
        let is_pointer = |at: usize| matches!(params.get(at).map(|ty| &ty.kind), Some(TypeKind::Pointer(_)));
        // The name of the parameter, or else of its type, says what the library expects of it.
        let is_about = |name: &str| match (is_pointer(0), is_pointer(1)) {
            (true, true) if is_named(name, &["equal", "equals", "eq"]) => Some("is_equal(a0, a1)"),
            (true, true) if is_named(name, &["compare", "comparator", "cmp"]) => Some("compare(a0, a1)"),
            (true, false) if is_named(name, &["hash"]) => Some("hash(a0)"),
            _ => None,
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let named = is_about(&place.param.name)
            .or_else(|| is_about(&place.ty.spelling).filter(|_| place.ty.spelling.chars().all(is_name)));
        let answer = match &ret.kind {
            TypeKind::Void => String::new(),
            _ if !is_number(ret) => return None,
            _ if self.order && params.len() >= 2 => "return driver_order(a0, a1);".to_owned(),
            _ => format!("return ({})driver_{};", ret.spelling, named.unwrap_or("answer()")),
        };
        let named = params.iter().enumerate().map(|(at, ty)| format!("{} a{at}", ty.spelling));
        let named = if params.is_empty() { "void".to_owned() } else { named.collect::<Vec<_>>().join(", ") };
        let unused: String = (0..params.len()).map(|at| format!("(void)a{at}; ")).collect();
        let function = format!("static {} {unique}({named})\n{{\n    {unused}{answer}\n}}", ret.spelling);
        let argument =
            if self.nullable { format!("driver_is_null() ? NULL : {unique}") } else { unique.to_owned() };
        Some(InDriver { functions: vec![function], argument, ..InDriver::default() })
    }

    fn summary(&self) -> String {
        if self.order { "callback that orders".into() } else { "callback".into() }
    }

    fn describe(&self, place: &ParameterContext) -> String {
        let what = match self.order {
            true => "a function that orders what its two pointers point to",
            false => "a function that answers anything",
        };
        format!(
            "{what}{}; its calls are compared with C's: how many, in which order, with which arguments",
            place.null()
        )
    }

    fn expect(&self, _: &ParameterContext, notation: &mut Notation) -> String {
        if self.order {
            return "a function that orders what two pointers point to: the number of an order, 0 to 7"
                .into();
        }
        notation.uses(Form::Bytes);
        "a function that is called back: {\"answers\": <buffer of bytes>}, from which its results are taken"
            .into()
    }

    fn example(&self, _: &ParameterContext, _: &Notation) -> Option<Json> {
        Some(if self.order { json!(1) } else { json!({"answers": [0, 1]}) })
    }

    /// It holds the results.
    fn code(&self, slot: &Slot) -> Code {
        let (order, function) = (self.order, local(slot));
        let common = Code {
            read: slot.read(&quote!(|plain| crate::runtime::plain::answers(plain, #order))),
            plain: quote!(crate::runtime::plain::plain_answers(value, #order)),
            argument: quote!(#function),
            ..Code::of(quote!(Vec<u8>), slot)
        };
        match order {
            true => Code {
                rank: 1,
                decode: quote!(__reader.array::<1>().to_vec()),
                encode: quote!(writer.put(&value[..1]);),
                show: quote!(format!("order {}", value[0] & 7)),
                boundaries: quote!((0..8u8).map(|n| vec![n]).collect::<Vec<_>>()),
                ..common
            },
            false => Code {
                rank: 2,
                decode: quote!(decode_buffer::<u8>(__reader, crate::runtime::callback::ANSWERS, false)),
                encode: quote!(encode_buffer(writer, value, crate::runtime::callback::ANSWERS, false);),
                show: quote!(format!("answers {}", show_slice(value))),
                boundaries: quote!(crate::runtime::callback::boundary_answers()),
                ..common
            },
        }
    }
}

/// The parameters and the result of the function that a pointer points to.
pub fn prototype(ty: &CType) -> Option<(&[CType], &CType)> {
    match &ty.kind {
        TypeKind::Pointer(target) => prototype(target),
        TypeKind::Function { params, ret, variadic: false } => Some((params, ret)),
        _ => None,
    }
}

fn local(slot: &Slot) -> Ident {
    format_ident!("{}_function", slot.name)
}

fn called(slot: &Slot) -> Ident {
    format_ident!("__called_{}", slot.name)
}

/// The Rust type with the same ABI; all pointer types become one.
fn erased(ty: &CType) -> TokenStream {
    match &ty.kind {
        TypeKind::Bool => quote!(bool),
        TypeKind::Int { signed, bits, .. } | TypeKind::Enum { signed, bits, .. } => {
            let name = format_ident!("{}{bits}", if *signed { "i" } else { "u" });
            quote!(#name)
        }
        TypeKind::Float { bits } => {
            let name = format_ident!("f{bits}");
            quote!(#name)
        }
        _ => quote!(*const core::ffi::c_void),
    }
}

/// What is recorded of an argument; `next` is the integer behind it, which may be the length of what it points to.
fn seen(name: &Ident, ty: &CType, next: Option<(&Ident, &CType)>) -> TokenStream {
    let TypeKind::Pointer(target) = &ty.kind else { return quote!(crate::erased::seen(#name)) };
    let seen = match &target.kind {
        TypeKind::Int { plain_char: true, .. } if target.is_const => {
            match next {
                Some((length, next)) if is_size(next) => quote!(Seen::text(#name, Some(#length as usize))),
                // Another integer may mean anything: the text ends at its NUL.
                Some(_) => quote!(Seen::text(#name, Some(Seen::readable(#name)))),
                None => quote!(Seen::text(#name, None)),
            }
        }
        TypeKind::Int { .. } | TypeKind::Float { .. } if target.is_const => {
            let of = erased(target);
            let one = quote!(crate::erased::seen_behind::<#of>(#name));
            match next.filter(|(_, next)| leads_to_bytes(ty) || is_length_of(next, ty)) {
                // There may be no element.
                Some((length, _)) => quote!(if #length == 0 { Seen::place(#name) } else { #one }),
                None => one,
            }
        }
        _ => quote!(Seen::place(#name)),
    };
    match next.filter(|_| leads_to_bytes(ty)) {
        Some((length, next)) => {
            let is_length = is_length_of(next, ty);
            quote!({ #seen }.with_run(#name, usize::try_from(#length).unwrap_or(0), #is_length))
        }
        None => seen,
    }
}

fn leads_to_bytes(ty: &CType) -> bool {
    matches!(&ty.kind, TypeKind::Pointer(target) if matches!(target.kind, TypeKind::Int { bits: 8, .. }))
}

/// Whether this integer behind a pointer to bytes is their number. An `int` may be anything, as may what follows a string.
fn is_length_of(integer: &CType, bytes: &CType) -> bool {
    let is_text = bytes.target().is_some_and(|target| target.is_const && target.is_char());
    !is_text && is_size(integer)
}

fn is_size(integer: &CType) -> bool {
    integer.spelling.split_whitespace().any(|word| word == "size_t")
}

fn is_integer(ty: &CType) -> bool {
    matches!(ty.kind, TypeKind::Int { bits: 16.., .. })
}

/// The number of bytes that a comparison reads, where the pointer type determines it.
fn element_size(pointer: &CType) -> TokenStream {
    match &pointer.kind {
        TypeKind::Pointer(target) if target.kind != TypeKind::Void => {
            let of = erased(target);
            quote!(Some(size_of::<#of>()))
        }
        _ => quote!(None),
    }
}

fn answer(index: usize, ret: &CType) -> TokenStream {
    match &ret.kind {
        TypeKind::Void => TokenStream::new(),
        TypeKind::Enum { values, .. } if !values.is_empty() => {
            let values = values.iter().map(|(_, value)| Literal::i128_unsuffixed(*value));
            let of = erased(ret);
            quote!({
                let all: &[#of] = &[#(#values),*];
                all[usize::from(crate::erased::answer::<u8>(#index)) % all.len()]
            })
        }
        _ => {
            let of = erased(ret);
            quote!(crate::erased::answer::<#of>(#index))
        }
    }
}
