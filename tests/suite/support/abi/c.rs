//! The C side of the check: the unit itself, then a probe and a caller for each function.

use super::Probe;
use camino::Utf8Path;
use cargo_implfuzz::symbol::{CType, Function, Record, TypeKind, Unit};
use std::collections::BTreeMap;

/// Only words that no library gives another meaning. The classes are those of `runtime.rs`.
const PRELUDE: &str = "
extern void implfuzz_heard(int type_class, __SIZE_TYPE__ size, const void *from);
extern void implfuzz_fill(unsigned seed, int bits, __SIZE_TYPE__ size, void *to);
#define IMPLFUZZ_HEARD(x) implfuzz_heard(_Generic((x), _Bool: 'b', \\
    char: (char)-1 < 0 ? 'i' : 'u', signed char: 'i', short: 'i', int: 'i', long: 'i', long long: 'i', \\
    unsigned char: 'u', unsigned short: 'u', unsigned: 'u', unsigned long: 'u', unsigned long long: 'u', \\
    float: 'f', double: 'f', default: __builtin_classify_type(x) == 5 ? 'p' : 's'), sizeof (x), (const void *)&(x))
#define IMPLFUZZ_FILL(x, seed, bits) implfuzz_fill(seed, bits, sizeof (x), (void *)&(x))
";

/// Parameters in order, then the result.
pub fn parts(function: &Function) -> impl Iterator<Item = &CType> {
    function.params.iter().map(|param| &param.ty).chain([&function.ret])
}

/// Why no probe can be written.
pub fn why_not(function: &Function) -> Option<String> {
    if function.is_variadic {
        return Some("variadic".into());
    }
    let nameless = parts(function).find(|ty| ty.spelling.contains("unnamed") || ty.spelling.contains(" at "));
    nameless.map(|ty| format!("a type without a name in C: {}", ty.spelling))
}

/// Whether some bytes of a value may only be 0 or 1.
pub fn holds_bool(ty: &CType, records: &BTreeMap<String, Record>) -> bool {
    match &ty.kind {
        TypeKind::Bool => true,
        TypeKind::Record(key) => records[key].fields.iter().any(|field| holds_bool(&field.ty, records)),
        TypeKind::Array { of, .. } => holds_bool(of, records),
        _ => false,
    }
}

/// The text that is compiled in place of a unit.
pub fn probes(root: &Utf8Path, unit: &Unit, probes: &[Probe<'_>]) -> String {
    let mut text = format!("#include \"{}\"\n{PRELUDE}", root.join(&unit.file.0));
    for probe in probes {
        text += &one(probe);
    }
    text
}

fn one(probe: &Probe<'_>) -> String {
    let Probe { function, seed, bits, .. } = probe;
    let (name, c_name) = (&function.name, &function.c_name);
    let ret = format!("__typeof__({})", function.ret.spelling);
    let types: Vec<String> = function.params.iter().map(|param| parameter(&param.ty)).collect();
    let declared: Vec<String> = types.iter().enumerate().map(|(i, ty)| format!("{ty} p{i}")).collect();
    let declared = if declared.is_empty() { "void".to_owned() } else { declared.join(", ") };
    let each = |line: &dyn Fn(usize) -> String| (0..types.len()).map(line).collect::<String>();
    let heard = each(&|i| format!("    IMPLFUZZ_HEARD(p{i});\n"));
    let filled = each(&|i| {
        let (ty, seed, bits) = (&types[i], seed + i as u32, u8::from(bits[i]));
        format!("    {ty} p{i};\n    IMPLFUZZ_FILL(p{i}, {seed}u, {bits});\n")
    });
    let passed: Vec<String> = (0..types.len()).map(|i| format!("p{i}")).collect();
    let passed = passed.join(", ");
    let is_void = matches!(function.ret.kind, TypeKind::Void);
    let (result, taken) = if is_void {
        (String::new(), format!("    call({passed});\n"))
    } else {
        let (seed, bits) = (seed + types.len() as u32, u8::from(bits[types.len()]));
        (
            format!("    {ret} r;\n    IMPLFUZZ_FILL(r, {seed}u, {bits});\n    return r;\n"),
            format!("    {ret} r = call({passed});\n    IMPLFUZZ_HEARD(r);\n"),
        )
    };
    format!(
        "#undef {c_name}\n\
         {ret} implfuzz_probe_{name}({declared}) {{\n{heard}{result}}}\n\
         _Static_assert(__builtin_types_compatible_p(__typeof__({c_name}), __typeof__(implfuzz_probe_{name})), \"{name}\");\n\
         void implfuzz_call_{name}(void) {{\n    \
         __typeof__(implfuzz_probe_{name}) *volatile call = implfuzz_probe_{name};\n{filled}{taken}}}\n"
    )
}

/// The type of a parameter as it is passed: arrays and functions are pointers.
fn parameter(ty: &CType) -> String {
    let spelling = &ty.spelling;
    match &ty.kind {
        TypeKind::Array { .. } if has_constant_extents(spelling) => {
            format!("__typeof__(&(*(__typeof__({spelling}) *)0)[0])")
        }
        TypeKind::Array { of, .. } => format!("__typeof__({}) *", element(of)),
        TypeKind::Function { .. } => format!("__typeof__({spelling}) *"),
        _ => format!("__typeof__({spelling})"),
    }
}

/// `[static 4]` and `[n]` mean something in a list of parameters only.
fn has_constant_extents(spelling: &str) -> bool {
    let extents = spelling.split('[').skip(1).map(|rest| rest.split(']').next().unwrap_or_default());
    extents.into_iter().all(|extent| extent.bytes().all(|b| b.is_ascii_digit()))
}

fn element(ty: &CType) -> String {
    match &ty.kind {
        TypeKind::Array { of, len } => {
            format!("__typeof__({}[{}])", element(of), len.map_or(String::new(), |len| len.to_string()))
        }
        _ => format!("__typeof__({})", ty.spelling),
    }
}
