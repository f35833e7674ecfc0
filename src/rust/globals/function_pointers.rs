//! Pointers to functions in variables: null, or a function of libc's allocator, as in a library that lets programs
//! replace `malloc` and `free`.

use crate::c::data::{Data, Target};
use crate::symbol::{CType, Record, TypeKind};
use std::collections::{BTreeMap, BTreeSet};

/// The structs of a library by key.
type Records = BTreeMap<String, Record>;
/// The Rust type of a number.
type Number<'a> = &'a dyn Fn(&CType) -> Option<String>;

/// The allocator: each function with the type of a pointer to it.
const ALLOCATOR: [(&str, &str); 4] = [
    ("malloc", "Option<unsafe extern \"C\" fn(usize) -> *mut core::ffi::c_void>"),
    ("calloc", "Option<unsafe extern \"C\" fn(usize, usize) -> *mut core::ffi::c_void>"),
    ("realloc", "Option<unsafe extern \"C\" fn(*mut core::ffi::c_void, usize) -> *mut core::ffi::c_void>"),
    ("free", "Option<unsafe extern \"C\" fn(*mut core::ffi::c_void)>"),
];

/// The type of a pointer to a function, as bindgen has it; `None` for another type.
pub(super) fn rust_type(records: &Records, number: Number, ty: &CType) -> Option<Result<String, String>> {
    let TypeKind::Pointer(to) = &ty.kind else { return None };
    let TypeKind::Function { params, ret, variadic } = &to.kind else { return None };
    let unknown = || format!("a function pointer ({})", ty.spelling);
    if *variadic {
        return Some(Err(unknown()));
    }
    let all = params.iter().map(|param| passed(records, number, param).ok_or_else(unknown));
    Some(all.collect::<Result<Vec<_>, _>>().and_then(|params| {
        let ret = match ret.kind {
            TypeKind::Void => String::new(),
            _ => format!(" -> {}", passed(records, number, ret).ok_or_else(unknown)?),
        };
        Ok(format!("Option<unsafe extern \"C\" fn({}){ret}>", params.join(", ")))
    }))
}

/// The type of an argument or a result: a number or a pointer.
pub(super) fn passed(records: &Records, number: Number, ty: &CType) -> Option<String> {
    match &ty.kind {
        TypeKind::Pointer(to) => {
            let target = match &to.kind {
                TypeKind::Void => "core::ffi::c_void".to_owned(),
                TypeKind::Function { .. } => return rust_type(records, number, ty)?.ok(),
                TypeKind::Record(key) => {
                    let name = &records.get(key)?.rust_name;
                    (!name.is_empty()).then(|| format!("crate::ffi::{name}"))?
                }
                _ => passed(records, number, to)?,
            };
            Some(format!("{} {target}", if to.is_const { "*const" } else { "*mut" }))
        }
        TypeKind::Bool | TypeKind::Int { .. } | TypeKind::Enum { .. } | TypeKind::Float { .. } => number(ty),
        _ => None,
    }
}

/// The value of a pointer to a function of this type; `number` is what is there if it leads nowhere.
pub(super) fn value(ty: &str, target: Option<&Target>, number: u64) -> Result<String, String> {
    match target {
        None if number == 0 => Ok("None".into()),
        None => Err("a function pointer in it is a plain number".into()),
        Some(Target::Symbol { name, addend: 0 }) if ALLOCATOR.contains(&(name.as_str(), ty)) => {
            Ok(format!("Some(libc::{name})"))
        }
        Some(Target::Symbol { name, .. }) => Err(format!("a function pointer in it leads to {name}")),
        Some(Target::Text(_) | Target::Unnamed(_)) => {
            Err("a function pointer in it leads to no function".into())
        }
    }
}

/// The functions of the allocator to which a variable leads, if it leads to nothing else and has only numbers beside.
pub(super) fn allocator(records: &Records, data: &Data, ty: &CType) -> Option<BTreeSet<String>> {
    let function = |target: &Target| match target {
        Target::Symbol { name, .. } => ALLOCATOR.iter().any(|(known, _)| known == name).then(|| name.clone()),
        Target::Text(_) | Target::Unnamed(_) => None,
    };
    let found = data.targets.values().map(function).collect::<Option<BTreeSet<_>>>()?;
    (!found.is_empty() && has_only_functions(records, ty)).then_some(found)
}

/// Whether all pointers in a type are pointers to functions.
fn has_only_functions(records: &Records, ty: &CType) -> bool {
    match &ty.kind {
        TypeKind::Pointer(to) => matches!(to.kind, TypeKind::Function { .. }),
        TypeKind::Array { of, .. } => has_only_functions(records, of),
        TypeKind::Record(key) => {
            let fields = records.get(key).map(|record| &record.fields);
            fields.is_some_and(|fields| fields.iter().all(|field| has_only_functions(records, &field.ty)))
        }
        _ => true,
    }
}
