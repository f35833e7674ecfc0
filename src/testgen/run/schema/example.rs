//! A small input of the right form. It may violate preconditions between parameters, which are listed beside it.

use super::{Sources, values};
use crate::contract::types::{Contract, Direction, Role};
use crate::symbol::{CType, Function, Library, SymbolName, TypeKind};
use serde_json::{Map, Value, json};

/// Number of elements of a buffer in an example.
const FEW: usize = 3;
/// Largest nesting of structs; deeper ones would not help a reader.
const DEPTH: usize = 4;

/// An example for the function.
pub(super) fn input(sources: &Sources) -> Value {
    let (library, contract) = (sources.library, sources.contract);
    let own = arguments(library, (sources.function, contract));
    let Some(sequence) = &contract.sequence else {
        let mut own = if !contract.harness.is_inferred() { bytes_only() } else { own };
        own.extend(around(sources));
        return Value::Object(own);
    };
    let step = |name: &SymbolName| {
        let (function, contract) = (sources.other)(name)?;
        Some(json!({"call": name.as_str(), "args": arguments(library, (function, contract))}))
    };
    let makes = sequence.makers.contains(&contract.symbol);
    let mut input = Map::new();
    if let Some(make) = sequence.makers.first().filter(|_| !makes).and_then(step) {
        input.insert("make".into(), make);
    }
    let before = sequence.operations.iter().find_map(step).filter(|_| !makes);
    input.insert("before".into(), before.into_iter().collect());
    let mut own = own;
    own.extend(around(sources));
    input.insert("args".into(), Value::Object(own));
    let after = sequence.enders.iter().filter(|name| **name != contract.symbol).find_map(step);
    input.insert("after".into(), after.into_iter().collect());
    Value::Object(input)
}

fn bytes_only() -> Map<String, Value> {
    [("bytes".to_owned(), json!({"hex": "0102037f80ff"}))].into_iter().collect()
}

/// Example values of variables and randomness.
fn around(sources: &Sources) -> Map<String, Value> {
    let mut all = Map::new();
    let varied = sources.contract.globals.iter().find(|used| used.vary).and_then(|used| {
        let global = sources.library.globals.iter().find(|global| global.name == used.name)?;
        let value = match used.values.first() {
            Some(value) => json!(value),
            None => value(sources.library, &global.ty, DEPTH),
        };
        Some((used.name.to_string(), value))
    });
    if let Some((name, value)) = varied {
        all.insert("$globals".into(), json!({ name: value }));
    }
    if sources.contract.chance {
        all.insert("$chance".into(), json!({"hex": "2a07"}));
    }
    all
}

fn arguments(library: &Library, (function, contract): (&Function, &Contract)) -> Map<String, Value> {
    let typed = contract.params.iter().zip(&function.params);
    let one = |(param, c): (&crate::contract::types::Parameter, &crate::symbol::Param)| {
        Some((param.name.clone(), argument(library, &param.role, &c.ty)?))
    };
    typed.filter_map(one).collect()
}

/// An example argument; `None` for one that may be left out.
fn argument(library: &Library, role: &Role, ty: &CType) -> Option<Value> {
    let of = values::target(ty);
    Some(match role {
        Role::Length | Role::UserData | Role::Handle { .. } => return None,
        Role::Value { min, max } => match (min, max) {
            (None, None) => value(library, ty, DEPTH),
            _ => json!(1.max(min.unwrap_or(1)).min(max.unwrap_or(i64::MAX))),
        },
        Role::OneOf { values } => json!(values.first().copied().unwrap_or(0)),
        Role::Buffer { direction: Direction::Out, max, .. } => json!(FEW.min(*max)),
        Role::Buffer { max, .. } => buffer(library, of, FEW.min(*max), DEPTH),
        Role::CString { max, .. } | Role::Given { max, .. } => text(FEW.min(*max)),
        Role::Pointer { .. } => value(library, of, DEPTH),
        Role::FixedArray { len, .. } => buffer(library, of, *len, DEPTH),
        Role::Room { direction: Direction::Out, .. } => json!({"fill": {"hex": "5a5a5a5a"}}),
        Role::Room { len, .. } => buffer(library, of, FEW.min(*len), DEPTH),
        Role::Elements { .. } => json!({"size": 2, "bytes": {"hex": "010002000300"}}),
        Role::Callback { order: true, .. } => json!(1),
        Role::Callback { .. } => json!({"answers": [0, 1]}),
        Role::Lent { pointers, numbers, .. } => {
            let pointers = pointers.iter().map(|(name, _)| (name.clone(), text(FEW)));
            Value::Object(pointers.chain(numbers.iter().map(|name| (name.clone(), json!(1)))).collect())
        }
    })
}

fn text(len: usize) -> Value {
    json!("abc"[..len.min(3)])
}

fn buffer(library: &Library, of: &CType, len: usize, depth: usize) -> Value {
    match (values::is_byte(of), len) {
        (true, 0..=FEW) => text(len),
        (true, _) => json!({"repeat": {"hex": "07"}, "times": len}),
        (false, 0..=FEW) => vec![value(library, of, depth); len].into(),
        (false, _) => json!({"repeat": [value(library, of, depth)], "times": len}),
    }
}

fn value(library: &Library, ty: &CType, depth: usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else { return json!({}) };
    match &ty.kind {
        TypeKind::Float { .. } => json!(1.5),
        TypeKind::Enum { values, .. } => {
            json!(values.first().and_then(|(_, value)| i64::try_from(*value).ok()).unwrap_or(0))
        }
        TypeKind::Array { of, len } => {
            buffer(library, of, len.and_then(|len| usize::try_from(len).ok()).unwrap_or(0), depth)
        }
        TypeKind::Record(key) => {
            let fields = library.records.get(key).map(|record| &record.fields[..]).unwrap_or_default();
            Value::Object(fields.iter().map(|f| (f.name.clone(), value(library, &f.ty, depth))).collect())
        }
        _ => json!(1),
    }
}
