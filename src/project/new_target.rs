//! `cargo implfuzz contract --new`: the fuzz target that a person starts from. It compiles, and calls the function with something
//! of each type; what the function may be called with, only a person can say.

use super::FunctionPlan;
use super::fuzz_target::IMPORT;
use crate::contract::parameter_roles::pointee;
use crate::error::Page;
use crate::symbol::{CType, TypeKind};
use quote::quote;

/// The file's text.
pub fn starting(planned: &FunctionPlan) -> String {
    let function = &planned.function;
    let head =
        function.text.split('{').next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let (mut lines, mut arguments) = (String::new(), Vec::new());
    for (at, ((_, ty), param)) in planned.c.params.iter().zip(&function.params).enumerate() {
        let name = format!("arg{at}");
        lines += &format!("    // {}: {}\n", param.name, param.ty.spelling);
        lines += &format!("    let {name} = {};\n", value(ty, &param.ty));
        arguments.push(if is_pointer(&param.ty) { format!("{name}.cast()") } else { name });
    }
    let call = format!("side.call({})", arguments.join(", "));
    let helpers: Vec<&str> = planned.helpers.iter().map(|name| name.as_str()).collect();
    let also = match helpers.as_slice() {
        [] => String::new(),
        names => format!("    // The target may also call, as C on both sides: c_{}\n", names.join(", c_")),
    };
    format!(
        "// Fuzz target of `{name}`: what one call of it is. All that `input` and `side` offer:\n\
         // {page}\n\
         // Then: cargo implfuzz contract --check {name}\n\
         // {head}\n{IMPORT}\n\npub fn target(input: &mut Input, side: &mut Side) {{\n{lines}{also}    {call};\n}}\n",
        name = function.name,
        page = Page::FuzzTargets
    )
}

fn is_pointer(ty: &CType) -> bool {
    ty.target().is_some_and(|to| !matches!(to.kind, TypeKind::Function { .. }))
}

/// An expression for something of this type.
fn value(rust: &syn::Type, ty: &CType) -> String {
    let Some(to) = ty.target() else {
        return match &ty.kind {
            TypeKind::Enum { values, .. } if !values.is_empty() => {
                let values: Vec<String> = values.iter().map(|(_, value)| value.to_string()).collect();
                format!("input.one_of(&[{}])", values.join(", "))
            }
            _ => "input.value()".to_owned(),
        };
    };
    let element = pointee(rust);
    match &to.kind {
        TypeKind::Function { .. } => "None".to_owned(),
        TypeKind::Int { plain_char: true, .. } => "side.text(&input.text(60))".to_owned(),
        TypeKind::Int { .. } | TypeKind::Float { .. } => {
            let element = quote!(#element).to_string().replace(' ', "");
            format!("side.memory(&input.values::<{element}>(64))")
        }
        TypeKind::Pointer(inner) if inner.is_char() => {
            "{\n        let text = side.text(&input.text(60));\n        side.memory(&[text])\n    }"
                .to_owned()
        }
        TypeKind::Pointer(_) => "side.memory(&[core::ptr::null_mut::<u8>()])".to_owned(),
        TypeKind::Record(_) => {
            let element = quote!(#element).to_string().replace(' ', "");
            format!("side.zeroed::<{element}>(1)")
        }
        _ => "side.memory(&input.bytes(64))".to_owned(),
    }
}
