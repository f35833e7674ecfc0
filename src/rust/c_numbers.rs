//! C's number types under Rust's own names: the `i32` that `core::ffi::c_int` is an alias of. The tool and what it builds
//! run on the same machine, and a port crate for another machine does not compile, because its layouts are asserted.

use std::ffi;
use syn::visit_mut::{self, VisitMut};

/// Rust's name of a type of `core::ffi`. `c_char` is left out: it marks text, and its sign depends on the machine.
pub fn rust_number(name: &str) -> Option<&'static str> {
    let signed = |bytes: usize| ["i8", "i16", "i32", "i64"].get(bytes.ilog2() as usize).copied();
    let unsigned = |bytes: usize| ["u8", "u16", "u32", "u64"].get(bytes.ilog2() as usize).copied();
    match name {
        "c_schar" => signed(size_of::<ffi::c_schar>()),
        "c_short" => signed(size_of::<ffi::c_short>()),
        "c_int" => signed(size_of::<ffi::c_int>()),
        "c_long" => signed(size_of::<ffi::c_long>()),
        "c_longlong" => signed(size_of::<ffi::c_longlong>()),
        "c_uchar" => unsigned(size_of::<ffi::c_uchar>()),
        "c_ushort" => unsigned(size_of::<ffi::c_ushort>()),
        "c_uint" => unsigned(size_of::<ffi::c_uint>()),
        "c_ulong" => unsigned(size_of::<ffi::c_ulong>()),
        "c_ulonglong" => unsigned(size_of::<ffi::c_ulonglong>()),
        "c_float" => Some("f32"),
        "c_double" => Some("f64"),
        _ => None,
    }
}

/// Writes `::core::ffi::c_int` as `i32`, and `::core::ffi::c_void` as `core::ffi::c_void`, everywhere in a type.
pub fn with_rust_numbers(ty: &mut syn::Type) {
    struct Numbers;
    impl VisitMut for Numbers {
        fn visit_path_mut(&mut self, path: &mut syn::Path) {
            visit_mut::visit_path_mut(self, path);
            let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let (["core" | "std", "ffi", name] | ["std", "os", "raw", name]) = names[..] else { return };
            match rust_number(name) {
                Some(number) => *path = syn::Ident::new(number, proc_macro2::Span::call_site()).into(),
                None => path.leading_colon = None,
            }
        }
    }
    Numbers.visit_type_mut(ty);
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::ToTokens;

    #[test]
    fn numbers_have_rusts_names_and_text_and_own_types_keep_theirs() {
        let short = |text: &str| {
            let mut ty = syn::parse_str(text).unwrap();
            with_rust_numbers(&mut ty);
            ty.to_token_stream().to_string().replace(' ', "")
        };
        assert_eq!(short("*mut ::core::ffi::c_int"), "*muti32");
        assert_eq!(short("[std::os::raw::c_ushort; 4]"), "[u16;4]");
        assert_eq!(
            short("Option<unsafe extern \"C\" fn(core::ffi::c_double)>"),
            "Option<unsafeextern\"C\"fn(f64)>"
        );
        assert_eq!(short("*const ::core::ffi::c_char"), "*constcore::ffi::c_char");
        assert_eq!(short("ffi::c_int"), "ffi::c_int", "a type of the library");
        assert_eq!(short("core::ffi::c_void"), "core::ffi::c_void");
    }

    #[test]
    fn the_names_are_aliases_for_the_compiler_too() {
        fn same<T>(_: T, _: T) {}
        same(0 as ffi::c_int, 0i32);
        same(0 as ffi::c_uint, 0u32);
        same(0 as ffi::c_short, 0i16);
        same(0 as ffi::c_uchar, 0u8);
        same(0.0 as ffi::c_double, 0f64);
        assert_eq!(rust_number("c_long"), Some(if size_of::<ffi::c_long>() == 8 { "i64" } else { "i32" }));
    }
}
