//! Planted cheats: ports that do not do the work. None is compiled but the one that saturates: what the others would answer to an
//! input is what C answers to a changed one, or has answered to another, so that C measures them, too.

use super::values::{answer, arguments, arguments_mut, elements, same, written_as};
use crate::contract::types::{Contract, Direction, Role};
use crate::fuzz::measure::Left;
use serde_json::Value;

/// A way to get by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cheat {
    /// Always the answer to the first visible test.
    Constant,
    /// The first argument is what comes back.
    FirstArgument,
    /// Of a long input only the beginning is looked at.
    LongInput,
    /// The last element of an input is not looked at.
    LastElement,
    /// What calls before, or variables, have changed is not looked at.
    StaleState,
    /// The visible tests are answered from a table, all others as the first of them.
    RecordedAnswers,
    /// Unsigned arithmetic ends at its limit instead of wrapping. It is compiled, with the mutants.
    Saturating,
}

/// Elements of an input that is not long.
const LONG: usize = 16;

impl Cheat {
    /// All, in the order of reports.
    pub const ALL: [Self; 7] = [
        Self::Constant,
        Self::FirstArgument,
        Self::LongInput,
        Self::LastElement,
        Self::Saturating,
        Self::StaleState,
        Self::RecordedAnswers,
    ];

    /// As in reports and in the store.
    pub fn word(self) -> &'static str {
        match self {
            Self::Constant => "constant return",
            Self::FirstArgument => "identity of the first argument",
            Self::LongInput => "early return on long input",
            Self::LastElement => "last element ignored",
            Self::StaleState => "stale state between calls",
            Self::RecordedAnswers => "recorded answers",
            Self::Saturating => "saturating instead of wrapping",
        }
    }

    /// Whether a port of a function with this contract could get by with it. What saturates is known by its mutant alone.
    pub fn applies(self, contract: &Contract) -> bool {
        let reads = |longer: usize| {
            contract.params.iter().any(|param| length_limit(&param.role).is_some_and(|max| max > longer))
        };
        match self {
            Self::Constant | Self::RecordedAnswers => true,
            Self::FirstArgument => matches!(
                contract.params.first().map(|param| &param.role),
                Some(Role::Value { .. } | Role::OneOf { .. })
            ),
            Self::LongInput => reads(LONG),
            Self::LastElement => reads(0),
            Self::StaleState => {
                contract.sequence.is_some() || contract.globals.iter().any(|global| global.vary)
            }
            Self::Saturating => false,
        }
    }

    /// The input that the cheat would answer in the place of this one; none where it answers as C does, or asks nobody.
    pub fn changed(self, contract: &Contract, input: &Value) -> Option<Value> {
        let mut changed = input.clone();
        let is_other = match self {
            Self::LongInput => cut(&mut changed, contract, &|n| n.min(LONG)),
            Self::LastElement => cut(&mut changed, contract, &|n| n.saturating_sub(1)),
            Self::StaleState => forget(&mut changed),
            _ => false,
        };
        is_other.then_some(changed)
    }
}

/// The most elements of what is read, where it has a length.
fn length_limit(role: &Role) -> Option<usize> {
    match role {
        Role::Buffer { direction: Direction::In | Direction::InOut, max, .. } | Role::CString { max, .. } => {
            Some(*max)
        }
        Role::Room { direction: Direction::In | Direction::InOut, len, .. } => Some(*len),
        _ => None,
    }
}

/// Shortens everything that is read and has a length; lengths are left to follow.
fn cut(input: &mut Value, contract: &Contract, keep: &dyn Fn(usize) -> usize) -> bool {
    let Some(args) = arguments_mut(input) else { return false };
    let mut is_other = false;
    for param in contract.params.iter().filter(|param| length_limit(&param.role).is_some()) {
        let Some(value) = args.get_mut(&param.name) else { continue };
        let Some(mut list) = elements(value) else { continue };
        let kept = keep(list.len());
        is_other |= kept < list.len();
        list.truncate(kept);
        *value = written_as(value, list);
    }
    // Rooms that share a length with what was cut follow it, too.
    for param in &contract.params {
        match &param.role {
            Role::Length => drop(args.remove(&param.name)),
            Role::Buffer { direction: Direction::Out, length, .. } => {
                let others = contract.buffers_of(length).filter(|other| length_limit(&other.role).is_some());
                let n = others
                    .filter_map(|other| args.get(&other.name).and_then(elements))
                    .map(|list| list.len())
                    .min();
                if let (Some(n), Some(Value::Object(room))) = (n, args.get_mut(&param.name)) {
                    room.insert("room".into(), n.into());
                }
            }
            _ => {}
        }
    }
    is_other
}

/// What was before the call is gone: the calls of a life, the variables.
fn forget(input: &mut Value) -> bool {
    let Some(fields) = input.as_object_mut() else { return false };
    let steps = fields.get_mut("before").and_then(Value::as_array_mut);
    let had_steps = steps.is_some_and(|steps| {
        let had = !steps.is_empty();
        steps.clear();
        had
    });
    let Some(args) = arguments_mut(input) else { return had_steps };
    let globals = args.remove("$globals");
    had_steps || globals.is_some_and(|set| set.as_object().is_some_and(|set| !set.is_empty()))
}

/// A test as a cheat sees it.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    pub input: &'a Value,
    pub left: &'a Left,
    /// No prompt shows it.
    pub hidden: bool,
}

/// Whether any of the tests tells a cheat that answers from what it has seen, or from its argument. Nothing where the cheat asks C
/// something else, or cannot be asked.
///
/// `bits`: of the integer that the function returns, if it returns one.
pub fn told_by_answers(
    cheat: Cheat,
    contract: &Contract,
    bits: Option<u32>,
    tests: &[Asked],
) -> Option<bool> {
    let first = tests.iter().find(|test| !test.hidden).or(tests.first())?;
    let recorded = answer(first.input, &first.left.value);
    let is_other = |test: &Asked| !all_same(&answer(test.input, &test.left.value), &recorded);
    match cheat {
        Cheat::Constant => Some(tests.iter().any(is_other)),
        Cheat::RecordedAnswers => Some(tests.iter().filter(|test| test.hidden).any(is_other)),
        Cheat::FirstArgument => {
            let name = &contract.params.first()?.name;
            // As C converts it.
            let mask = u128::MAX.checked_shr(128 - bits?)?;
            let pairs = tests.iter().map(|test| {
                let first = integer(arguments(test.input)?.get(name)?)?;
                let ret = integer(answer(test.input, &test.left.value).first()?.get("return")?)?;
                Some((first ^ ret).cast_unsigned() & mask != 0)
            });
            let pairs: Vec<bool> = pairs.flatten().collect();
            (!pairs.is_empty()).then(|| pairs.contains(&true))
        }
        _ => None,
    }
}

fn integer(value: &Value) -> Option<i128> {
    value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from))
}

fn all_same(a: &[&Value], b: &[&Value]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
}

/// Whether what C left on the changed input, with what the change has cut off put back, is another answer than C's to the test.
pub fn tells(contract: &Contract, test: (&Value, &Value), changed: (&Value, &Value)) -> bool {
    let mine = answer(test.0, test.1);
    let theirs: Vec<Value> = answer(changed.0, changed.1).into_iter().cloned().collect();
    let restored: Vec<Value> =
        theirs.into_iter().map(|left| restored(contract, test.0, changed.0, left)).collect();
    !all_same(&mine, &restored.iter().collect::<Vec<_>>())
}

/// A buffer that is written, too, and was cut keeps its end as it was: a port that does not look at it does not change it.
fn restored(contract: &Contract, input: &Value, changed: &Value, mut left: Value) -> Value {
    let (Some(args), Some(other)) = (arguments(input), arguments(changed)) else { return left };
    for param in contract.params.iter().filter(|param| length_limit(&param.role).is_some()) {
        let whole = args.get(&param.name).and_then(elements);
        let cut = other.get(&param.name).and_then(elements);
        let (Some(whole), Some(cut)) = (whole, cut) else { continue };
        if let Some(value) = left.get_mut(&param.name)
            && let Some(mut list) = elements(value)
        {
            list.extend(whole.into_iter().skip(cut.len()));
            *value = Value::Array(list);
        }
    }
    left
}

/// The same input with what another one has in the place of one parameter; lengths follow. None where it has that anyway.
pub fn with_constant(contract: &Contract, name: &str, input: &Value, constant: &Value) -> Option<Value> {
    let role = contract.role(name)?;
    let mut changed = input.clone();
    let args = arguments_mut(&mut changed)?;
    let mine = args.get(name)?;
    if same(mine, constant) {
        return None;
    }
    let shared = match role {
        Role::Buffer { length, .. } => contract.buffers_of(length).count() > 1,
        _ => false,
    };
    let value = match (shared, elements(mine), elements(constant)) {
        // As long as it was, so that the others that have this length still do.
        (true, Some(mine), Some(other)) if !other.is_empty() => {
            written_as(constant, other.into_iter().cycle().take(mine.len()).collect())
        }
        _ => constant.clone(),
    };
    if same(mine, &value) {
        return None;
    }
    args.insert(name.to_owned(), value);
    for param in contract.params.iter().filter(|param| param.role == Role::Length) {
        args.remove(&param.name);
    }
    Some(changed)
}

/// The same input, no longer than the length that a parameter has in another one; none where that changes nothing.
pub fn with_length(contract: &Contract, name: &str, input: &Value, constant: &Value) -> Option<Value> {
    let most = usize::try_from(constant.as_i64()?).ok()?;
    let mut changed = input.clone();
    cut(&mut changed, contract, &|n| n.min(most))
        .then_some(changed)
        .filter(|_| contract.role(name) == Some(&Role::Length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::fixture::digest;
    use serde_json::json;

    fn left(value: Value) -> Left {
        Left { given: Value::Null, value, record: Vec::new() }
    }

    /// The cheats that these tests tell by their answers; each is hidden or not, has an input and a result.
    fn told(cheat: Cheat, bits: Option<u32>, tests: &[(bool, Value, Value)]) -> Option<bool> {
        let (_, mut contract) = digest();
        contract.params[0] = crate::contract::types::Parameter {
            name: "n".into(),
            role: Role::Value { min: None, max: None },
            ..contract.params[0].clone()
        };
        let lefts: Vec<Left> = tests.iter().map(|(.., value)| left(value.clone())).collect();
        let asked: Vec<Asked> = tests
            .iter()
            .zip(&lefts)
            .map(|((hidden, input, _), left)| Asked { input, left, hidden: *hidden })
            .collect();
        told_by_answers(cheat, &contract, bits, &asked)
    }

    fn returns(hidden: bool, n: i64, ret: i64) -> (bool, Value, Value) {
        (hidden, json!({ "n": n }), json!({ "return": ret }))
    }

    #[test]
    fn a_constant_is_told_by_two_answers() {
        assert_eq!(told(Cheat::Constant, None, &[]), None);
        assert_eq!(told(Cheat::Constant, None, &[returns(false, 1, 7)]), Some(false));
        assert_eq!(told(Cheat::Constant, None, &[returns(false, 1, 7), returns(false, 2, 7)]), Some(false));
        assert_eq!(told(Cheat::Constant, None, &[returns(false, 1, 7), returns(true, 2, 8)]), Some(true));
    }

    #[test]
    fn recorded_answers_are_told_by_what_no_prompt_shows() {
        let shown = [returns(false, 1, 7), returns(false, 2, 8)];
        assert_eq!(told(Cheat::RecordedAnswers, None, &shown), Some(false));
        let hidden = [returns(false, 1, 7), returns(true, 2, 8)];
        assert_eq!(told(Cheat::RecordedAnswers, None, &hidden), Some(true));
        let same = [returns(false, 1, 7), returns(true, 2, 7)];
        assert_eq!(told(Cheat::RecordedAnswers, None, &same), Some(false));
    }

    #[test]
    fn the_first_argument_is_told_as_c_converts_it() {
        let first = Cheat::FirstArgument;
        assert_eq!(told(first, Some(32), &[returns(false, 5, 5)]), Some(false));
        assert_eq!(told(first, Some(32), &[returns(false, 5, 5), returns(false, 6, 7)]), Some(true));
        assert_eq!(told(first, Some(32), &[returns(false, -1, 4_294_967_295)]), Some(false), "as a uint32_t");
        assert_eq!(told(first, Some(64), &[returns(false, -1, 4_294_967_295)]), Some(true), "as a uint64_t");
        assert_eq!(told(first, Some(8), &[returns(false, 300, 44)]), Some(false), "as a uint8_t");
        assert_eq!(told(first, None, &[returns(false, 5, 6)]), None, "it returns no integer");
        let text = (false, json!({ "n": "a" }), json!({ "return": 6 }));
        assert_eq!(told(first, Some(32), &[text]), None);
    }

    #[test]
    fn other_inputs_are_cut_at_the_end_and_what_is_only_written_keeps_its_end() {
        let (_, contract) = digest();
        let name = |role: &dyn Fn(&Role) -> bool| {
            contract.params.iter().find(|param| role(&param.role)).map(|param| param.name.clone()).unwrap()
        };
        let read = name(&|role| matches!(role, Role::Buffer { direction: Direction::In, .. }));
        let input = json!({ read.as_str(): "abcdefghijklmnopqrstuvwxyz" });
        let cut = |cheat: Cheat| {
            let changed = cheat.changed(&contract, &input)?;
            Some(elements(&changed[read.as_str()])?.len())
        };
        assert_eq!(
            (cut(Cheat::LastElement), cut(Cheat::LongInput), cut(Cheat::StaleState)),
            (Some(25), Some(16), None)
        );
        let short = json!({ read.as_str(): "" });
        assert_eq!(Cheat::LastElement.changed(&contract, &short), None);
        // The same answer to less: the test does not tell the cheat.
        let changed = Cheat::LastElement.changed(&contract, &input).unwrap();
        let same = (json!({"return": 7}), json!({"return": 7}));
        assert!(!tells(&contract, (&input, &same.0), (&changed, &same.1)));
        assert!(tells(&contract, (&input, &same.0), (&changed, &json!({"return": 8}))));
    }

    #[test]
    fn bytes_stay_bytes_in_what_is_changed() {
        let (_, mut contract) = digest();
        let high = json!({"hex": "ff80feff80feff80feff80feff80feff80fe"});
        let input = json!({ "data": high });
        let data = |changed: Option<Value>| changed.map(|changed| changed["data"].clone());
        let cut = data(Cheat::LongInput.changed(&contract, &input));
        assert_eq!(cut, Some(json!({"hex": "ff80feff80feff80feff80feff80feff"})));
        let shorter = with_length(&contract, "n", &input, &json!(2));
        assert_eq!(data(shorter), Some(json!({"hex": "ff80"})));
        // A buffer that shares its length takes as much of the constant as it had.
        let mut twin = contract.params.iter().find(|param| param.name == "data").unwrap().clone();
        twin.name = "twin".into();
        contract.params.push(twin);
        let constant = with_constant(&contract, "data", &json!({"data": "abc"}), &json!({"hex": "ff80"}));
        assert_eq!(data(constant), Some(json!({"hex": "ff80ff"})));
        let numbers = json!({ "data": [1, -2, 3] });
        assert_eq!(data(Cheat::LastElement.changed(&contract, &numbers)), Some(json!([1, -2])));
    }

    #[test]
    fn what_was_before_the_call_is_forgotten() {
        let (_, contract) = digest();
        let life = json!({"make": {"call": "new"}, "before": [{"call": "put"}], "args": {}, "after": []});
        let changed = Cheat::StaleState.changed(&contract, &life).unwrap();
        assert_eq!(changed["before"], json!([]));
        let fresh = json!({"make": {"call": "new"}, "before": [], "args": {}});
        assert_eq!(Cheat::StaleState.changed(&contract, &fresh), None);
        let set = json!({"n": 1, "$globals": {"x": 3}});
        assert_eq!(Cheat::StaleState.changed(&contract, &set), Some(json!({"n": 1})));
        assert_eq!(Cheat::StaleState.changed(&contract, &json!({"n": 1, "$globals": {}})), None);
        // The step before the call counts for neither side.
        let left = json!({"steps": [{"left": 1}, {"left": 2}, {"left": 3}]});
        let other = json!({"steps": [{"left": 1}, {"left": 3}]});
        assert!(!tells(&contract, (&life, &left), (&changed, &other)));
    }

    #[test]
    fn an_operand_is_replaced_with_what_follows_from_it() {
        let (_, contract) = digest();
        let buffer =
            contract.params.iter().find(|p| matches!(p.role, Role::Buffer { direction: Direction::In, .. }));
        let name = &buffer.unwrap().name;
        let length = contract.params.iter().find(|p| p.role == Role::Length).map(|p| p.name.clone()).unwrap();
        let input = json!({ name.as_str(): "abc", length.as_str(): 3 });
        let changed = with_constant(&contract, name, &input, &json!("zz")).unwrap();
        assert!(changed.get(&length).is_none(), "the length follows");
        assert_eq!(with_constant(&contract, name, &input, &json!([97, 98, 99])), None, "the same bytes");
        let shorter = with_length(&contract, &length, &input, &json!(1)).unwrap();
        assert_eq!(elements(&shorter[name.as_str()]).unwrap().len(), 1);
        assert_eq!(with_length(&contract, &length, &input, &json!(9)), None);
    }
}
