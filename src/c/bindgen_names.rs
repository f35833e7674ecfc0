//! Names of C as bindgen writes them in Rust.

/// Names to which bindgen appends `_`, beyond those that no Rust identifier may have (`rust_mangle` in bindgen's
/// `ir/context.rs`).
const APPENDED: [&str; 23] = [
    "alignof", "bool", "f32", "f64", "gen", "i128", "i16", "i32", "i64", "i8", "isize", "offsetof", "proc",
    "pure", "sizeof", "str", "u128", "u16", "u32", "u64", "u8", "usize", "_",
];

/// The name of a field.
pub fn bindgen_name(name: &str) -> String {
    let plain = name.replace('$', "_");
    let is_appended =
        plain != name || APPENDED.contains(&name) || syn::parse_str::<syn::Ident>(name).is_err();
    if is_appended { format!("{plain}_") } else { plain }
}

#[cfg(test)]
mod tests {
    use super::bindgen_name;

    #[test]
    fn names_are_those_of_bindgen() {
        let names = ["type", "str", "gen", "u8", "name", "union", "self", "_", "a$b"].map(bindgen_name);
        assert_eq!(names, ["type_", "str_", "gen_", "u8_", "name", "union", "self_", "__", "a_b_"]);
    }
}
