//! Changes and compares inputs and results in JSON for tests and planted cheats. Only the contract decides whether
//! an input is a call sequence, because any key could also be a parameter's name.

use super::schema::BEFORE;
use crate::contract::types::Contract;
use crate::fuzz::values::json::{Many, hex, many, of_float};
use crate::symbol::{CType, TypeKind};
use serde_json::{Map, Value, json};

/// Upper limit of elements in any contract.
const LONGEST: usize = 1 << 20;

/// The elements of a buffer in any notation; `None` for another value.
pub fn elements(value: &Value) -> Option<Vec<Value>> {
    Some(match many(value, LONGEST)?.ok()? {
        Many::Bytes(bytes) => bytes.into_iter().map(Value::from).collect(),
        Many::Elements(elements) => elements,
    })
}

/// Elements of a buffer in the notation of `like`: bytes stay in a notation for bytes.
pub fn written_as(like: &Value, elements: Vec<Value>) -> Value {
    let bytes = match like {
        Value::String(_) | Value::Object(_) => {
            let bytes = elements.iter().map(|byte| u8::try_from(byte.as_u64()?).ok());
            bytes.collect::<Option<Vec<u8>>>()
        }
        _ => None,
    };
    match bytes {
        Some(bytes) => json!({ "hex": hex(&bytes) }),
        None => Value::Array(elements),
    }
}

/// Whether both values are equal, whatever the notation of bytes.
pub fn same(a: &Value, b: &Value) -> bool {
    same_by(&|a, b| (a == b).then_some(true), a, b)
}

/// Whether both values are equal, element by element and field by field, where `plain` does not decide.
pub fn same_by(plain: &dyn Fn(&Value, &Value) -> Option<bool>, a: &Value, b: &Value) -> bool {
    if let Some(is_same) = plain(a, b) {
        return is_same;
    }
    match (elements(a), elements(b), a, b) {
        (Some(a), Some(b), ..) => a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| same_by(plain, a, b)),
        (None, None, Value::Object(a), Value::Object(b)) => {
            let is_same = |(name, a): (&String, &Value)| b.get(name).is_some_and(|b| same_by(plain, a, b));
            a.len() == b.len() && a.iter().all(is_same)
        }
        _ => false,
    }
}

/// The arguments in an input; for a call sequence, those of the function under test.
pub fn arguments<'a>(contract: &Contract, input: &'a Value) -> Option<&'a Map<String, Value>> {
    match contract.sequence {
        Some(_) => input.get("args")?.as_object(),
        None => input.as_object(),
    }
}

/// Like [`arguments`], mutable.
pub fn arguments_mut<'a>(contract: &Contract, input: &'a mut Value) -> Option<&'a mut Map<String, Value>> {
    match contract.sequence {
        Some(_) => input.get_mut("args")?.as_object_mut(),
        None => input.as_object_mut(),
    }
}

/// The effects of the function under test, then those of all calls after it. Calls before it do not count, because
/// no port of this function affects them, nor do the destructor calls that the harness adds.
pub fn answer<'a>(contract: &Contract, input: &Value, left: &'a Value) -> Vec<&'a Value> {
    if contract.sequence.is_none() {
        return vec![left];
    }
    let Some(steps) = left.get("steps").and_then(Value::as_array) else { return Vec::new() };
    let own = steps.iter().skip(before(input)).take(1 + count(input, "after"));
    own.map(|step| step.get("left").unwrap_or(&Value::Null)).collect()
}

/// Number of steps in a part of a call sequence.
fn count(input: &Value, part: &str) -> usize {
    input.get(part).and_then(Value::as_array).map_or(0, Vec::len)
}

/// Number of calls before the one under test.
fn before(input: &Value) -> usize {
    count(input, "before") + usize::from(input.get("make").is_some())
}

/// The call sequence with the later calls moved before the call under test, where they run as if it did not exist;
/// `None` if there are no later calls.
pub fn without_call(contract: &Contract, input: &Value) -> Option<Value> {
    contract.sequence.as_ref()?;
    let mut changed = input.clone();
    let sequence = changed.as_object_mut()?;
    let Some(Value::Array(after)) = sequence.remove("after") else { return None };
    let steps = sequence.entry("before").or_insert_with(|| json!([])).as_array_mut()?;
    let moved = moved(input);
    steps.extend(after.into_iter().take(moved));
    (moved > 0).then_some(changed)
}

/// Number of later calls that can be moved before the call under test: limited by the space there.
fn moved(input: &Value) -> usize {
    count(input, "after").min(BEFORE.saturating_sub(count(input, "before")))
}

/// Whether later calls show an effect of the call under test: their results differ from C's steps on
/// [`without_call`].
pub fn shows_effect(input: &Value, left: &Value, without: &Value) -> bool {
    let steps = |left: &Value, at: usize| -> Vec<Value> {
        let steps = left.get("steps").and_then(Value::as_array).into_iter().flatten();
        let own = steps.skip(at).take(moved(input));
        own.map(|step| step.get("left").cloned().unwrap_or_default()).collect()
    };
    let (with, without) = (steps(left, before(input) + 1), steps(without, before(input)));
    with.len() != without.len() || with.iter().zip(&without).any(|(a, b)| !same(a, b))
}

/// This many elements filled with four repeated bytes, as the harness reads them; `None` for elements that are not
/// numbers.
pub fn filled(ty: &CType, fill: [u8; 4], n: usize) -> Option<Vec<Value>> {
    let bits = match &ty.kind {
        TypeKind::Void | TypeKind::Bool => 8,
        TypeKind::Int { bits, .. } | TypeKind::Enum { bits, .. } | TypeKind::Float { bits } => *bits,
        _ => return None,
    };
    let width = usize::from(bits / 8);
    if !matches!(width, 1 | 2 | 4 | 8) {
        return None;
    }
    let mut bytes = fill.into_iter().cycle();
    let mut next = || (0..width).fold(0, |all, at| all | u64::from(bytes.next().unwrap_or(0)) << (8 * at));
    let value = |word: u64| match &ty.kind {
        TypeKind::Bool => json!(word & 1),
        TypeKind::Float { bits: 32 } => of_float(f64::from(f32::from_bits(word as u32))),
        TypeKind::Float { .. } => of_float(f64::from_bits(word)),
        TypeKind::Int { signed: true, .. } | TypeKind::Enum { signed: true, .. } if width > 1 => {
            let unused = 64 - 8 * width;
            json!((word << unused).cast_signed() >> unused)
        }
        // Bytes have no sign.
        _ => json!(word),
    };
    Some((0..n.min(LONGEST)).map(|_| value(next())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::fixture::contract;
    use crate::testgen::fixture::int;

    #[test]
    fn bytes_are_the_same_however_they_are_written() {
        assert!(same(&json!("AB"), &json!({"hex": "4142"})));
        assert!(same(&json!("AB"), &json!([65, 66])));
        assert!(same(&json!("ABAB"), &json!({"repeat": "AB", "times": 2})));
        assert!(same(&json!({"s": "A", "n": 1}), &json!({"n": 1, "s": [65]})));
        assert!(!same(&json!("AB"), &json!([65])));
        assert!(!same(&json!({"n": 1}), &json!({"n": 1, "m": 2})));
        assert!(!same(&json!(1), &json!("1")));
        assert_eq!(elements(&json!({"hex": "0g"})), None);
        assert_eq!(elements(&json!(7)), None);
    }

    #[test]
    fn elements_are_written_in_the_form_that_they_had() {
        for (like, is_hex) in
            [(json!("ab"), true), (json!({"hex": "ff"}), true), (json!([1]), false), (json!([-1]), false)]
        {
            let elements = vec![json!(255), json!(0)];
            let wanted = if is_hex { json!({"hex": "ff00"}) } else { json!([255, 0]) };
            assert_eq!(written_as(&like, elements), wanted, "{like}");
        }
    }

    fn sequence() -> Contract {
        let sequence = crate::contract::fixture::sequence("s");
        Contract { sequence: Some(Box::new(sequence)), ..contract("push", vec![]) }
    }

    #[test]
    fn the_answer_of_a_life_is_that_of_the_call_under_test_and_of_the_calls_after_it() {
        let input = json!({
            "make": {"call": "new"}, "before": [{"call": "put"}], "args": {"k": 1}, "after": [{"call": "get"}],
        });
        let step = |name: &str, left: i64| json!({"call": name, "left": left});
        let [new, put, push, end] = [step("new", 1), step("put", 2), step("push", 3), step("free", 4)];
        // The remaining handles are ended, however many there are.
        for enders in 0..3 {
            let mut steps = vec![new.clone(), put.clone(), push.clone(), Value::Null];
            steps.extend(vec![end.clone(); enders]);
            let left = json!({ "steps": steps });
            assert_eq!(answer(&sequence(), &input, &left), [&json!(3), &json!(null)]);
        }
        assert_eq!(arguments(&sequence(), &input).unwrap().len(), 1);
    }

    #[test]
    fn a_call_shows_by_what_comes_after_it_that_it_did_something() {
        let input = json!({"make": {"call": "new"}, "before": [1], "args": {}, "after": [{"call": "get"}, {"call": "len"}]});
        let wanted =
            json!({"make": {"call": "new"}, "before": [1, {"call": "get"}, {"call": "len"}], "args": {}});
        assert_eq!(without_call(&sequence(), &input), Some(wanted));
        let plain = contract("run", vec![]);
        assert_eq!(without_call(&plain, &input), None);
        for none in [json!({"make": {}, "args": {}}), json!({"make": {}, "args": {}, "after": []})] {
            assert_eq!(without_call(&sequence(), &none), None, "{none}");
        }
        let steps = |left: &[i64]| json!({"steps": left.iter().map(|left| json!({"call": "f", "left": left})).collect::<Vec<_>>()});
        // New, put, the call, get, len, and the destructor; without the call: new, put, get, len, and the call.
        let with = steps(&[1, 2, 3, 4, 5, 9]);
        assert!(!shows_effect(&input, &with, &steps(&[1, 2, 4, 5, 7, 9, 9])));
        assert!(shows_effect(&input, &with, &steps(&[1, 2, 4, 6, 3, 9])));
        assert!(shows_effect(&input, &with, &steps(&[1, 2])), "C did not come so far");
        // As many as fit.
        let full = json!({"make": {}, "before": vec![1; BEFORE - 1], "args": {}, "after": [2, 3]});
        assert_eq!(without_call(&sequence(), &full).unwrap()["before"].as_array().unwrap().len(), BEFORE);
        let left = |last: i64| steps(&[&[0; BEFORE][..], &[7, 5, last]].concat());
        assert!(!shows_effect(&full, &left(1), &steps(&[&[0; BEFORE][..], &[5, 7]].concat())));
    }

    #[test]
    fn parameters_that_are_called_like_the_parts_of_a_life_are_parameters() {
        let plain = contract("run", vec![]);
        let mut input = json!({"args": "-l", "before": [1], "make": {"call": 1}});
        let left = json!({"return": 2, "steps": [1, 2]});
        assert_eq!(answer(&plain, &input, &left), [&left]);
        assert_eq!(arguments(&plain, &input).unwrap()["args"], "-l");
        assert_eq!(arguments_mut(&plain, &mut input).unwrap().len(), 3);
    }

    #[test]
    fn what_stands_in_an_output_is_read_by_its_type() {
        let of = |ty: CType| filled(&ty, [1, 2, 0xff, 0x80], 3).map(Value::Array);
        assert_eq!(of(int("char", true, 8)), Some(json!([1, 2, 255])), "bytes have no sign");
        assert_eq!(of(int("short", true, 16)), Some(json!([0x201, -32513, 0x201])));
        assert_eq!(of(int("uint16_t", false, 16)), Some(json!([0x201, 0x80ff, 0x201])));
        assert_eq!(
            of(int("long", true, 64)).unwrap()[2],
            i64::from_le_bytes([1, 2, 0xff, 0x80, 1, 2, 0xff, 0x80])
        );
        let float = |bits| CType { spelling: "f".into(), is_const: false, kind: TypeKind::Float { bits } };
        let single = f64::from(f32::from_le_bytes([1, 2, 0xff, 0x80]));
        assert_eq!(of(float(32)), Some(json!([single, single, single])));
        assert!(of(float(64)).is_some());
        assert_eq!(of(crate::testgen::fixture::record("struct p")), None);
    }
}
