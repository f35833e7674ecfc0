//! What glibc's headers make of `isdigit`, `tolower`, `assert` and the like, and functions of `math.h`: the crate `libc` names
//! neither. The candidate calls functions and methods instead, or panics.

use proc_macro2::TokenStream;
use quote::quote;
use std::collections::BTreeMap;
use syn::Expr;

/// Name of the helper with the properties of a character.
const PROPERTIES: &str = "ctype_b";

/// The bits of glibc's `ctype.h` on little-endian machines, with the functions that tell them.
const BITS: [(&str, u16); 12] = [
    ("isupper", 0x100),
    ("islower", 0x200),
    ("isalpha", 0x400),
    ("isdigit", 0x800),
    ("isxdigit", 0x1000),
    ("isspace", 0x2000),
    ("isprint", 0x4000),
    ("isgraph", 0x8000),
    ("isblank", 0x1),
    ("iscntrl", 0x2),
    ("ispunct", 0x4),
    ("isalnum", 0x8),
];

/// Functions of `math.h` that the crate `libc` does not name, with the method of `f64` or `f32` that calls them.
const MATH: [(&str, &str); 24] = [
    ("acos", "acos"),
    ("asin", "asin"),
    ("atan", "atan"),
    ("atan2", "atan2"),
    ("ceil", "ceil"),
    ("cos", "cos"),
    ("cosh", "cosh"),
    ("exp", "exp"),
    ("exp2", "exp2"),
    ("fabs", "abs"),
    ("floor", "floor"),
    ("fma", "mul_add"),
    ("hypot", "hypot"),
    ("log", "ln"),
    ("log10", "log10"),
    ("log1p", "ln_1p"),
    ("log2", "log2"),
    ("pow", "powf"),
    ("round", "round"),
    ("sin", "sin"),
    ("sinh", "sinh"),
    ("sqrt", "sqrt"),
    ("tan", "tan"),
    ("trunc", "trunc"),
];

/// The method that a function of `math.h` is in Rust.
pub fn method(name: &str) -> Option<syn::Path> {
    let of = |name: &str| MATH.iter().find(|(function, _)| *function == name).map(|(_, method)| *method);
    let (ty, method) = match (of(name), name.strip_suffix('f').and_then(of)) {
        (Some(method), _) => ("f64", method),
        (None, Some(method)) => ("f32", method),
        (None, None) => return None,
    };
    syn::parse_str(&format!("{ty}::{method}")).ok()
}

/// Replaces `*(*__ctype_b_loc()).offset(c)` and its like by a call, and the call of a failed assertion by a panic. Adds the
/// helper that it needs to `items`.
pub fn without_own_names(expr: &mut Expr, items: &mut BTreeMap<String, TokenStream>) {
    if is_failed_assertion(expr) {
        *expr = syn::parse_quote!(panic!("an assertion failed"));
        return;
    }
    let Some((table, index)) = read(expr) else { return };
    let call = match table.as_str() {
        "__ctype_b_loc" => {
            items.insert(PROPERTIES.to_owned(), properties());
            quote!(ctype_b(#index))
        }
        "__ctype_tolower_loc" => quote!(libc::tolower(#index as ::core::ffi::c_int)),
        "__ctype_toupper_loc" => quote!(libc::toupper(#index as ::core::ffi::c_int)),
        _ => return,
    };
    *expr = syn::parse_quote!(#call);
}

fn is_failed_assertion(expr: &Expr) -> bool {
    let Expr::Call(call) = expr else { return false };
    matches!(&*call.func, Expr::Path(function) if function.path.is_ident("__assert_fail"))
}

/// The function whose table an expression reads, and the index.
fn read(expr: &Expr) -> Option<(String, Expr)> {
    let Expr::MethodCall(offset) = pointee(expr)? else { return None };
    let receiver = match &*offset.receiver {
        Expr::Paren(inner) => &inner.expr,
        other => other,
    };
    let Expr::Call(call) = pointee(receiver)? else { return None };
    let Expr::Path(function) = &*call.func else { return None };
    let is_read = offset.method == "offset" && call.args.is_empty();
    let name = function.path.get_ident().filter(|_| is_read)?.to_string();
    Some((name, offset.args.first()?.clone()))
}

fn pointee(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::Unary(syn::ExprUnary { op: syn::UnOp::Deref(_), expr, .. }) => Some(expr),
        _ => None,
    }
}

fn properties() -> TokenStream {
    let bits = BITS.map(|(function, bit)| {
        let function = quote::format_ident!("{function}");
        quote!(if libc::#function(c) != 0 { #bit } else { 0 })
    });
    quote! {
        unsafe fn ctype_b(c: isize) -> u16 {
            let c = c as ::core::ffi::c_int;
            #((#bits))|*
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::ToTokens;

    #[test]
    fn reads_of_the_tables_are_calls() {
        let mut items = BTreeMap::new();
        let mut made = |text: &str| {
            let mut expr = syn::parse_str(text).unwrap();
            without_own_names(&mut expr, &mut items);
            expr.to_token_stream().to_string().replace(' ', "")
        };
        assert_eq!(made("*(*__ctype_b_loc()).offset(c as isize)"), "ctype_b(casisize)");
        assert_eq!(made("*(*__ctype_tolower_loc()).offset(c)"), "libc::tolower(cas::core::ffi::c_int)");
        assert_eq!(made("*(*other()).offset(c)"), "*(*other()).offset(c)");
        assert_eq!(made("*table.offset(c)"), "*table.offset(c)");
        assert_eq!(made("__assert_fail(text, file, 7, name)"), "panic!(\"anassertionfailed\")");
        assert_eq!(items.len(), 1);
    }

    #[test]
    fn functions_of_numbers_are_methods() {
        let path = |name: &str| method(name).map(|path| path.to_token_stream().to_string().replace(' ', ""));
        assert_eq!(path("fabs").as_deref(), Some("f64::abs"));
        assert_eq!(path("powf").as_deref(), Some("f32::powf"));
        assert_eq!([path("f"), path("strlen"), path("fmod")], [None, None, None]);
    }

    #[test]
    fn the_bits_are_those_of_this_system() {
        unsafe extern "C" {
            fn __ctype_b_loc() -> *const *const u16;
        }
        // SAFETY: the table has the indices -128 to 255, for each of which these functions are defined.
        unsafe {
            let functions = [
                libc::isupper,
                libc::islower,
                libc::isalpha,
                libc::isdigit,
                libc::isxdigit,
                libc::isspace,
                libc::isprint,
                libc::isgraph,
                libc::isblank,
                libc::iscntrl,
                libc::ispunct,
                libc::isalnum,
            ];
            for c in 0..256 {
                let bits: u16 =
                    functions.iter().zip(BITS).map(|(is, (_, bit))| if is(c) != 0 { bit } else { 0 }).sum();
                assert_eq!(*(*__ctype_b_loc()).offset(c as isize), bits, "{c}");
            }
        }
    }
}
