//! Planted cheats: ports that do not implement the function. Only the saturating one is compiled. The answer of any
//! other cheat to an input equals C's answer to a changed input or to another test, so C itself provides it.

use super::values::{answer, arguments, arguments_mut, elements, filled, same, written_as};
use crate::contract::parameter_roles::{Parameter, Role, Shape, buffers_of};
use crate::contract::types::Contract;
use crate::fuzz::evaluate_inputs::Left;
use crate::symbol::{CType, Function, TypeKind};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// A kind of cheat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cheat {
    /// It always gives the answer to the first visible test.
    Constant,
    /// It returns its first argument.
    FirstArgument,
    /// It ignores everything after the beginning of a long input.
    LongInput,
    /// It ignores the last element of an input.
    LastElement,
    /// It ignores what earlier calls or variables have changed.
    StaleState,
    /// It answers the visible tests from a table, and every other input like the first of them.
    RecordedAnswers,
    /// Unsigned arithmetic saturates instead of wrapping. This cheat is compiled, with the mutants.
    Saturating,
}

/// Number of elements up to which an input is not long.
const LONG: usize = 16;

impl Cheat {
    /// All cheats, in the order of reports.
    pub const ALL: [Self; 7] = [
        Self::Constant,
        Self::FirstArgument,
        Self::LongInput,
        Self::LastElement,
        Self::Saturating,
        Self::StaleState,
        Self::RecordedAnswers,
    ];

    /// The words in reports and in the store.
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

    /// Whether the cheat makes sense for a function with this contract. The saturating cheat is known by its mutant
    /// alone.
    pub fn applies(self, contract: &Contract) -> bool {
        let reads = |longer: usize| {
            parameters(contract)
                .iter()
                .any(|param| param.role.facts().elements_read.is_some_and(|max| max > longer))
        };
        match self {
            Self::Constant | Self::RecordedAnswers => true,
            Self::FirstArgument => {
                parameters(contract).first().is_some_and(|param| param.role.facts().shape == Ok(Shape::Value))
            }
            Self::LongInput => reads(LONG),
            Self::LastElement => reads(0),
            Self::StaleState => {
                contract.sequence.is_some() || contract.globals.iter().any(|global| global.vary)
            }
            Self::Saturating => false,
        }
    }

    /// The input whose answer by C is the cheat's answer to this one; `None` where the cheat answers as C does, or
    /// without C.
    pub fn changed(self, contract: &Contract, input: &Value) -> Option<Value> {
        let mut changed = input.clone();
        let is_other = match self {
            Self::LongInput => cut(&mut changed, contract, &|n| n.min(LONG)),
            Self::LastElement => cut(&mut changed, contract, &|n| n.saturating_sub(1)),
            Self::StaleState => forget(&mut changed, contract),
            _ => false,
        };
        is_other.then_some(changed)
    }
}

/// The named parameters of inputs; none where only a fuzz target decodes the bytes.
pub fn parameters(contract: &Contract) -> &[Parameter] {
    if !contract.harness.is_inferred() { &[] } else { &contract.params }
}

/// Shortens all inputs that have a length.
fn cut(input: &mut Value, contract: &Contract, keep: &dyn Fn(usize) -> usize) -> bool {
    let Some(args) = arguments_mut(contract, input) else { return false };
    let is_read = |param: &&Parameter| {
        param.role.facts().elements_read.is_some() && args.get(&param.name).and_then(elements).is_some()
    };
    let lengths: BTreeSet<&String> =
        parameters(contract).iter().filter(is_read).filter_map(length_of).collect();
    // Outputs that share a length with a shortened input follow it.
    let follows = |param: &Parameter| {
        param.role.facts().elements_read.is_some()
            || length_of(param).is_some_and(|name| lengths.contains(name))
    };
    shorten(args, contract, &follows, keep)
}

/// The length parameter of a buffer.
fn length_of(param: &Parameter) -> Option<&String> {
    param.role.buffer().map(|buffer| &buffer.length)
}

/// Shortens some of the parameters, and removes their lengths, which then follow. Returns whether anything changed.
fn shorten(
    args: &mut Map<String, Value>,
    contract: &Contract,
    which: &dyn Fn(&Parameter) -> bool,
    keep: &dyn Fn(usize) -> usize,
) -> bool {
    let mut is_other = false;
    for param in parameters(contract).iter().filter(|param| which(param)) {
        let Some(shorter) = args.get(&param.name).and_then(|value| shorter(value, keep)) else { continue };
        args.insert(param.name.clone(), shorter);
        length_of(param).and_then(|length| args.remove(length));
        is_other = true;
    }
    is_other
}

/// A shorter buffer or output; `None` if it cannot be shorter, or is neither.
fn shorter(value: &Value, keep: &dyn Fn(usize) -> usize) -> Option<Value> {
    if let Some(room) = room(value) {
        let mut shorter = value.clone();
        *shorter.get_mut("room")? = json!(keep(room));
        return (keep(room) < room).then_some(shorter);
    }
    let mut list = elements(value)?;
    let kept = keep(list.len());
    (kept < list.len()).then(|| {
        list.truncate(kept);
        written_as(value, list)
    })
}

/// The size of an output, in elements.
fn room(value: &Value) -> Option<usize> {
    usize::try_from(value.get("room")?.as_u64()?).ok()
}

/// Removes what happened before the call: values of variables, and the calls before it that do not make a handle.
fn forget(input: &mut Value, contract: &Contract) -> bool {
    let life = contract.sequence.as_ref().zip(input.get_mut("before").and_then(Value::as_array_mut));
    let had_steps = life.is_some_and(|(sequence, steps)| {
        let had = steps.len();
        let name = |step: &Value| step.get("call").and_then(Value::as_str).map(str::to_owned);
        let makes = |name: String| sequence.makers.iter().any(|maker| maker.as_str() == name);
        steps.retain(|step| name(step).is_some_and(makes));
        steps.len() < had
    });
    let Some(args) = arguments_mut(contract, input) else { return had_steps };
    let globals = args.remove("$globals");
    had_steps || globals.is_some_and(|set| set.as_object().is_some_and(|set| !set.is_empty()))
}

/// A test as a cheat knows it.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    pub input: &'a Value,
    pub left: &'a Left,
    /// No prompt shows it.
    pub hidden: bool,
    /// Whether later calls show an effect of the call under test; `None` where that was not checked.
    pub shows_effect: Option<bool>,
}

impl<'a> Asked<'a> {
    /// The effects of the call under test; `None` if it has none.
    fn own(&self, contract: &Contract) -> Option<&'a Value> {
        let left = answer(contract, self.input, &self.left.value).into_iter().next()?;
        let is_empty = left.is_null() || left.as_object().is_some_and(Map::is_empty);
        (!is_empty).then_some(left)
    }
}

/// Whether any of the tests distinguishes from C a cheat that answers from known answers or from its argument and
/// does nothing else. The effects of the call under test alone decide, or what later calls show. `None` where the
/// cheat needs other answers of C, or where calls without effects make a decision impossible.
///
/// `bits`: width of the integer that the function returns, if it returns one.
pub fn told_by_answers(
    cheat: Cheat,
    of: (&Function, &Contract),
    bits: Option<u32>,
    tests: &[Asked],
) -> Option<bool> {
    let first = tests.iter().find(|test| !test.hidden).or(tests.first())?;
    let contract = of.1;
    let nothing = json!({});
    let recorded = first.own(contract).unwrap_or(&nothing);
    let is_other = |test: &Asked| {
        let (left, mut recorded) = (test.own(contract).unwrap_or(&nothing), recorded.clone());
        put_back(of, (test.input, first.input), left, &mut recorded);
        !same(left, &recorded)
    };
    let is_seen = tests.iter().any(|test| test.shows_effect == Some(true));
    let is_silent = |test: &Asked| test.own(contract).is_none() && test.shows_effect.is_none();
    match cheat {
        // A function that returns no integer cannot return its argument.
        Cheat::FirstArgument if bits.is_none() => None,
        Cheat::Constant | Cheat::RecordedAnswers if tests.iter().all(is_silent) => None,
        Cheat::Constant | Cheat::FirstArgument | Cheat::RecordedAnswers if is_seen => Some(true),
        Cheat::Constant => Some(tests.iter().any(is_other)),
        Cheat::RecordedAnswers => Some(tests.iter().filter(|test| test.hidden).any(is_other)),
        Cheat::FirstArgument => {
            let name = &parameters(contract).first()?.name;
            // Converted as in C.
            let mask = u128::MAX.checked_shr(128 - bits?)?;
            let pairs = tests.iter().map(|test| {
                let first = integer(arguments(contract, test.input)?.get(name)?)?;
                let ret = integer(test.own(contract)?.get("return")?)?;
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

/// Whether C's answer to the changed input differs from its answer to the test. The number of elements does not
/// count, but the content of the memory that the test provides does.
pub fn tells(of: (&Function, &Contract), test: (&Value, &Value), changed: (&Value, &Value)) -> bool {
    let mine = answer(of.1, test.0, test.1);
    let mut theirs: Vec<Value> = answer(of.1, changed.0, changed.1).into_iter().cloned().collect();
    // Later calls got the same in both cases.
    if let (Some(mine), Some(theirs)) = (mine.first(), theirs.first_mut()) {
        put_back(of, (test.0, changed.0), mine, theirs);
    }
    !all_same(&mine, &theirs.iter().collect::<Vec<_>>())
}

/// Restores parts that C did not change on the other input, or had no room for, to their values before the test: a
/// port that answers as on the other input does not change them either.
fn put_back<'a>(
    (function, contract): (&Function, &Contract),
    (input, changed): (&'a Value, &'a Value),
    mine: &Value,
    theirs: &mut Value,
) {
    let (Some(args), Some(other)) = (arguments(contract, input), arguments(contract, changed)) else {
        return;
    };
    let Some(theirs) = theirs.as_object_mut() else { return };
    for param in parameters(contract).iter().filter(|param| param.role.pointer().is_some()) {
        let name = &param.name;
        untouched(theirs.get_mut(name), mine.get(name), (args.get(name), other.get(name)));
    }
    let of = |args: &'a Map<String, Value>, name: &str| args.get("$globals")?.get(name);
    for (name, value) in theirs.get_mut("$globals").and_then(Value::as_object_mut).into_iter().flatten() {
        let mine = mine.get("$globals").and_then(|all| all.get(name));
        untouched(Some(value), mine, (of(args, name), of(other, name)));
    }
    let is_buffer = |role: &Role| {
        matches!(role.facts().shape, Ok(Shape::Counted { .. } | Shape::Exactly { .. } | Shape::Room { .. }))
    };
    for (at, param) in parameters(contract).iter().enumerate().filter(|(_, param)| is_buffer(&param.role)) {
        let Some(end) = mine.get(&param.name).and_then(elements) else {
            theirs.remove(&param.name);
            continue;
        };
        let mut list = theirs.get(&param.name).and_then(elements).unwrap_or_default();
        let ty = function.params.get(at).map(|param| &param.ty);
        let stood = |args: &Map<String, Value>| stood(&param.role, ty, args.get(&param.name)?);
        // Where the initial content is unknown, only common elements are compared.
        let before = stood(args).unwrap_or(end.clone());
        let others = stood(other).unwrap_or_default();
        for ((element, other), before) in list.iter_mut().zip(&others).zip(&before) {
            if element == other {
                element.clone_from(before);
            }
        }
        list.extend(before.into_iter().skip(list.len()));
        list.truncate(end.len());
        theirs.insert(param.name.clone(), Value::Array(list));
    }
}

/// The same for one value: if C left it as it was in the other input, it is as it was in this input. If its initial
/// value is unknown, C's result is used.
fn untouched(theirs: Option<&mut Value>, mine: Option<&Value>, stood: (Option<&Value>, Option<&Value>)) {
    let Some(theirs) = theirs else { return };
    if stood.1.is_some_and(|other| same(other, theirs))
        && let Some(before) = stood.0.or(mine)
    {
        theirs.clone_from(before);
    }
}

/// The elements of a buffer before the call.
fn stood(role: &Role, ty: Option<&CType>, value: &Value) -> Option<Vec<Value>> {
    let room = match (role.is_output(), role.facts().shape.ok()?) {
        (true, Shape::Counted { .. }) => room(value)?,
        (true, Shape::Room { len }) => len,
        _ => return elements(value),
    };
    let of = match &ty?.kind {
        TypeKind::Pointer(of) | TypeKind::Array { of, .. } => of,
        _ => return None,
    };
    let fill: Option<Vec<u8>> =
        elements(value.get("fill")?)?.iter().map(|byte| u8::try_from(byte.as_u64()?).ok()).collect();
    filled(of, fill?.try_into().ok()?, room)
}

/// The input with another input's value for one parameter; lengths follow. `None` if the value is the same.
pub fn with_constant(contract: &Contract, name: &str, input: &Value, constant: &Value) -> Option<Value> {
    let role = contract.role(name)?;
    let mut changed = input.clone();
    let args = arguments_mut(contract, &mut changed)?;
    let mine = args.get(name)?;
    if same(mine, constant) {
        return None;
    }
    let buffer = role.buffer();
    let shared = buffer.is_some_and(|buffer| buffers_of(&contract.params, &buffer.length).count() > 1);
    let value = match (shared, elements(mine), elements(constant)) {
        // It keeps its number of elements, so that other buffers with this length still fit.
        (true, Some(mine), Some(other)) if !other.is_empty() => {
            written_as(constant, other.into_iter().cycle().take(mine.len()).collect())
        }
        _ => constant.clone(),
    };
    if same(mine, &value) {
        return None;
    }
    args.insert(name.to_owned(), value);
    role.facts().lengths.into_iter().for_each(|length| drop(args.remove(length)));
    Some(changed)
}

/// The input with at most this many elements in buffers with this length; `None` if nothing changes.
pub fn with_length(contract: &Contract, name: &str, input: &Value, most: usize) -> Option<Value> {
    let mut changed = input.clone();
    let args = arguments_mut(contract, &mut changed)?;
    let has_it = |param: &Parameter| length_of(param).is_some_and(|length| length == name);
    let is_cut = shorten(args, contract, &has_it, &|n| n.min(most));
    // If its buffers are null, or if it is negative, a length is an independent number.
    let said = args.get(name).and_then(Value::as_i64);
    let is_more = said.is_some_and(|said| usize::try_from(said).map_or(true, |said| said > most));
    if is_more {
        args.remove(name);
        if !buffers_of(&contract.params, name)
            .any(|param| args.get(&param.name).is_some_and(|value| !value.is_null()))
        {
            args.insert(name.to_owned(), json!(most));
        }
    }
    (is_cut || is_more).then_some(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::fixture::{contract as plain, sequence};
    use crate::contract::parameter_roles::{self, Direction};
    use crate::testgen::fixture::{buffer, digest, function, int, pointer, record};

    fn left(value: Value) -> Left {
        Left { given: Value::Null, value, record: Vec::new() }
    }

    /// Whether these tests distinguish the cheat by answers; each test has a hidden flag, an input and a result.
    fn told(cheat: Cheat, bits: Option<u32>, tests: &[(bool, Value, Value)]) -> Option<bool> {
        told_of(
            &plain("f", vec![("n", Role::Value(parameter_roles::Value { min: None, max: None }))]),
            cheat,
            bits,
            tests,
        )
    }

    fn told_of(
        contract: &Contract,
        cheat: Cheat,
        bits: Option<u32>,
        tests: &[(bool, Value, Value)],
    ) -> Option<bool> {
        let lefts: Vec<Left> = tests.iter().map(|(.., value)| left(value.clone())).collect();
        let asked: Vec<Asked> = tests
            .iter()
            .zip(&lefts)
            .map(|((hidden, input, _), left)| Asked { input, left, hidden: *hidden, shows_effect: None })
            .collect();
        told_by_answers(cheat, (&digest().0, contract), bits, &asked)
    }

    /// The contract of a function `push` on handles.
    fn push() -> Contract {
        Contract { sequence: Some(Box::new(sequence("s"))), ..plain("push", vec![]) }
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
    fn the_same_answer_beside_more_room_is_the_same_answer() {
        let (_, contract) = digest();
        let given = |hidden: bool, room: usize, fill: &str, left: &str| {
            let dst = json!({"room": room, "fill": fill});
            (hidden, json!({"dst": dst, "mode": 1}), json!({"return": 1, "dst": left}))
        };
        for cheat in [Cheat::Constant, Cheat::RecordedAnswers] {
            let told = |tests: &[_]| told_of(&contract, cheat, Some(32), tests);
            let first = || given(false, 2, "ZZZZ", "xZ");
            assert_eq!(told(&[first(), given(true, 3, "ABCD", "xBC")]), Some(false), "{cheat:?}");
            assert_eq!(told(&[first(), given(true, 3, "ABCD", "yBC")]), Some(true), "{cheat:?}");
            assert_eq!(told(&[first(), given(true, 3, "ABCD", "xBx")]), Some(true), "{cheat:?}");
        }
    }

    #[test]
    fn the_same_answer_in_a_longer_life_is_the_same_answer() {
        let life = |hidden: bool, others: usize, left: Value| {
            let step = |name: &str| json!({"call": name, "left": {"return": 1}});
            let mut steps = vec![step("new"); 1 + others];
            steps.push(json!({"call": "push", "left": left}));
            steps.extend(vec![step("free"); 1 + others]);
            let input =
                json!({"make": {"call": "new"}, "before": vec![json!({"call": "new"}); others], "args": {}});
            (hidden, input, json!({ "steps": steps }))
        };
        for cheat in [Cheat::Constant, Cheat::RecordedAnswers] {
            let told = |tests: &[_]| told_of(&push(), cheat, Some(32), tests);
            let zero = || json!({"return": 0});
            assert_eq!(told(&[life(false, 0, zero()), life(true, 1, zero())]), Some(false), "{cheat:?}");
            let one = json!({"return": 1});
            assert_eq!(told(&[life(false, 0, zero()), life(true, 1, one)]), Some(true), "{cheat:?}");
            // A call without effects has no answer to record.
            assert_eq!(told(&[life(false, 0, json!({})), life(true, 1, json!({}))]), None, "{cheat:?}");
        }
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
        let (function, contract) = digest();
        let name = |role: &dyn Fn(&Role) -> bool| {
            contract.params.iter().find(|param| role(&param.role)).map(|param| param.name.clone()).unwrap()
        };
        let read = name(&|role| {
            matches!(role, Role::Buffer(parameter_roles::Buffer { direction: Direction::In, .. }))
        });
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
        // C gives the same answer to the shortened input, so the test does not reveal the cheat.
        let changed = Cheat::LastElement.changed(&contract, &input).unwrap();
        let same = (json!({"return": 7}), json!({"return": 7}));
        let of = (&function, &contract);
        assert!(!tells(of, (&input, &same.0), (&changed, &same.1)));
        assert!(tells(of, (&input, &same.0), (&changed, &json!({"return": 8}))));
    }

    /// For `f(dst, src, n)`, both buffers of `n` elements: whether a test reveals the cheat that ignores the last
    /// element.
    fn copied(dst: CType, input: &Value, left: Value, of_less: Value) -> bool {
        let src = pointer("const uint8_t *", int("uint8_t", false, 8));
        let function = function("f", "", vec![("dst", dst), ("src", src), ("n", int("size_t", false, 64))]);
        let roles = [buffer(Direction::Out, "n", true), buffer(Direction::In, "n", true)];
        let [dst, src] = roles;
        let contract =
            plain("f", vec![("dst", dst), ("src", src), ("n", Role::Length(parameter_roles::Length))]);
        let changed = Cheat::LastElement.changed(&contract, input).unwrap();
        assert_eq!((&changed["src"], changed.get("n")), (&json!({"hex": "6162"}), None));
        tells(
            (&function, &contract),
            (input, &json!({ "dst": left })),
            (&changed, &json!({ "dst": of_less })),
        )
    }

    #[test]
    fn an_output_that_is_cut_with_an_input_tells_by_what_is_in_it() {
        let input = json!({"dst": {"room": 3, "fill": {"hex": "01020304"}}, "src": "abc", "n": 3});
        let bytes = || pointer("uint8_t *", int("uint8_t", false, 8));
        let told = |left, of_less| copied(bytes(), &input, left, of_less);
        assert!(!told(json!({"hex": "780203"}), json!({"hex": "7802"})), "C writes the first one alone");
        assert!(told(json!("xyz"), json!("xy")), "C writes the last one, too");
        assert!(told(json!({"hex": "780203"}), json!({"hex": "7902"})));
        let words = || pointer("uint16_t *", int("uint16_t", false, 16));
        let told = |left, of_less| copied(words(), &input, left, of_less);
        assert!(!told(json!([7, 0x403, 0x201]), json!([7, 0x403])));
        assert!(told(json!([7, 0x403, 9]), json!([7, 0x403])));
        // The content of structs is unknown: only common elements are compared.
        let points = || pointer("struct p *", record("struct p"));
        let [one, two] = [json!({"x": 1}), json!({"x": 2})];
        assert!(!copied(points(), &input, json!([one, two, one]), json!([one, two])));
        assert!(copied(points(), &input, json!([one, two, one]), json!([two, two])));
        // Null on one side alone is not an answer.
        let null = json!({"dst": null, "src": "abc", "n": 3});
        let changed = json!({"src": "ab"});
        let (function, contract) = digest();
        let lefts = (json!({"return": 1}), json!({"return": 1, "dst": "a"}));
        assert!(!tells((&function, &contract), (&null, &lefts.0), (&changed, &lefts.1)));
    }

    #[test]
    fn what_is_written_in_place_keeps_what_c_has_not_touched() {
        let byte = || pointer("uint8_t *", int("uint8_t", false, 8));
        let function = function("f", "", vec![("data", byte()), ("n", int("size_t", false, 64))]);
        let room = Role::Room(parameter_roles::Room { direction: Direction::InOut, len: 3, nullable: false });
        for (role, less) in
            [(room, json!({"hex": "616200"})), (buffer(Direction::InOut, "n", false), json!("ab"))]
        {
            let contract = plain("f", vec![("data", role), ("n", Role::Length(parameter_roles::Length))]);
            let (input, changed) = (json!({"data": "abc"}), json!({ "data": less }));
            let told = |left: Value, of_less: Value| {
                let (left, of_less) = (json!({ "data": left }), json!({ "data": of_less }));
                tells((&function, &contract), (&input, &left), (&changed, &of_less))
            };
            assert!(!told(
                json!("xbc"),
                written_as(&less, [&[json!(120)], &elements(&less).unwrap()[1..]].concat())
            ));
            assert!(told(
                json!("xbz"),
                written_as(&less, [&[json!(120)], &elements(&less).unwrap()[1..]].concat())
            ));
        }
    }

    #[test]
    fn where_a_target_alone_reads_its_bytes_nothing_is_cut() {
        let (_, contract) = digest();
        let model = Contract { harness: crate::config::Harness::Model, ..contract };
        for cheat in [Cheat::LongInput, Cheat::LastElement, Cheat::FirstArgument] {
            assert!(!cheat.applies(&model), "{cheat:?}");
        }
        assert!(Cheat::Constant.applies(&model) && Cheat::StaleState.applies(&model));
        assert_eq!(parameters(&model), []);
        assert_eq!(Cheat::LastElement.changed(&model, &json!({"bytes": "abc"})), None);
        let set = json!({"bytes": "abc", "$globals": {"table": 1}});
        assert_eq!(Cheat::StaleState.changed(&model, &set), Some(json!({"bytes": "abc"})));
    }

    #[test]
    fn bytes_stay_bytes_in_what_is_changed() {
        let (_, mut contract) = digest();
        let high = json!({"hex": "ff80feff80feff80feff80feff80feff80fe"});
        let input = json!({ "data": high });
        let data = |changed: Option<Value>| changed.map(|changed| changed["data"].clone());
        let cut = data(Cheat::LongInput.changed(&contract, &input));
        assert_eq!(cut, Some(json!({"hex": "ff80feff80feff80feff80feff80feff"})));
        let shorter = with_length(&contract, "n", &input, 2);
        assert_eq!(data(shorter), Some(json!({"hex": "ff80"})));
        // A buffer that shares its length gets as many elements of the constant as it had.
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
        let (function, contract) = digest();
        let life = json!({"make": {"call": "new"}, "before": [{"call": "put"}], "args": {}, "after": [{"call": "get"}]});
        let changed = Cheat::StaleState.changed(&push(), &life).unwrap();
        assert_eq!(changed["before"], json!([]));
        let fresh = json!({"make": {"call": "new"}, "before": [], "args": {}});
        assert_eq!(Cheat::StaleState.changed(&push(), &fresh), None);
        let mut pair = push();
        pair.sequence.as_mut().unwrap().makers.push(crate::symbol::SymbolName::new("new"));
        let two = json!({"make": {}, "before": [{"call": "new"}, {"call": "push"}], "args": {"s": 1}});
        let kept = Cheat::StaleState.changed(&pair, &two).unwrap();
        assert_eq!(kept["before"], json!([{"call": "new"}]), "there is no handle 1 without it");
        let set = json!({"n": 1, "$globals": {"x": 3}});
        assert_eq!(Cheat::StaleState.changed(&contract, &set), Some(json!({"n": 1})));
        assert_eq!(Cheat::StaleState.changed(&contract, &json!({"n": 1, "$globals": {}})), None);
        let named = json!({"before": [1], "args": "-l"});
        assert_eq!(Cheat::StaleState.changed(&contract, &named), None, "these are parameters");
        // The step before the call does not count, nor do the destructor calls.
        let left = json!({"steps": [{"left": 1}, {"left": 2}, {"left": 3}, {"left": 4}, {"left": {}}]});
        let other = json!({"steps": [{"left": 1}, {"left": 3}, {"left": 4}]});
        let of = (&function, &push());
        assert!(!tells(of, (&life, &left), (&changed, &other)));
        let later = json!({"steps": [{"left": 1}, {"left": 3}, {"left": 5}]});
        assert!(tells(of, (&life, &left), (&changed, &later)), "the call after it is compared");
    }

    #[test]
    fn what_c_leaves_alone_tells_no_answer_from_another() {
        let reads = plain(
            "f",
            vec![
                ("dst", buffer(Direction::Out, "n", true)),
                ("n", Role::Length(parameter_roles::Length)),
                (
                    "at",
                    Role::Pointer(parameter_roles::Pointer { direction: Direction::InOut, nullable: false }),
                ),
                (
                    "key",
                    Role::FixedArray(parameter_roles::FixedArray { direction: Direction::InOut, len: 2 }),
                ),
            ],
        );
        let given = |dst: Value, at: i64, key: &str, global: i64| {
            let left = json!({"dst": dst.clone(), "at": at, "key": key, "$globals": {"mode": global}});
            let mut left = left;
            if dst.is_null() {
                left.as_object_mut().unwrap().remove("dst");
            } else {
                left["dst"] = json!("Z");
            }
            let dst = if dst.is_null() { dst } else { json!({"room": 1, "fill": "ZZZZ"}) };
            (false, json!({"dst": dst, "at": at, "key": key, "$globals": {"mode": global}}), left)
        };
        let first = || given(json!(1), 1, "ab", 3);
        let constant = |tests: &[_]| told_of(&reads, Cheat::Constant, None, tests);
        assert_eq!(constant(&[first(), given(json!(1), 2, "cd", 4)]), Some(false), "other inputs alone");
        assert_eq!(constant(&[first(), given(Value::Null, 1, "ab", 3)]), Some(false), "no output to compare");
        for (name, value) in [("at", json!(9)), ("key", json!("xd")), ("$globals", json!({"mode": 9}))] {
            let mut other = given(json!(1), 2, "cd", 4);
            other.2[name] = value;
            assert_eq!(constant(&[first(), other]), Some(true), "{name} was written");
        }
    }

    #[test]
    fn what_is_no_integer_is_no_first_argument() {
        let (_, input, value) = returns(false, 1, 7);
        let left = left(value);
        let seen = Asked { input: &input, left: &left, hidden: false, shows_effect: Some(true) };
        let contract = plain("f", vec![("n", Role::Value(parameter_roles::Value { min: None, max: None }))]);
        let told = |bits| told_by_answers(Cheat::FirstArgument, (&digest().0, &contract), bits, &[seen]);
        assert_eq!((told(None), told(Some(32))), (None, Some(true)));
    }

    #[test]
    fn an_operand_is_replaced_with_what_follows_from_it() {
        let (_, contract) = digest();
        let input = json!({"data": "abc", "n": 3});
        let changed = with_constant(&contract, "data", &input, &json!("zz")).unwrap();
        assert!(changed.get("n").is_none(), "the length follows");
        assert_eq!(with_constant(&contract, "data", &input, &json!([97, 98, 99])), None, "the same bytes");
        let shorter = with_length(&contract, "n", &input, 1).unwrap();
        assert_eq!(elements(&shorter["data"]).unwrap().len(), 1);
        assert_eq!(with_length(&contract, "n", &input, 9), None);
        assert_eq!(with_length(&contract, "cap", &input, 1), None, "it is the length of another");
    }

    #[test]
    fn the_mutant_of_a_length_cuts_what_has_this_length_alone() {
        let text = Role::CString(parameter_roles::CString { max: 9, nullable: false });
        let room = Role::Room(parameter_roles::Room { direction: Direction::In, len: 3, nullable: false });
        let contract = plain(
            "find",
            vec![
                ("hay", buffer(Direction::In, "nhay", true)),
                ("nhay", Role::Length(parameter_roles::Length)),
                ("needle", buffer(Direction::In, "nneedle", false)),
                ("nneedle", Role::Length(parameter_roles::Length)),
                ("out", buffer(Direction::Out, "cap", false)),
                ("cap", Role::Length(parameter_roles::Length)),
                ("text", text),
                ("room", room),
            ],
        );
        let out = |room: usize| json!({"room": room, "fill": "ZZZZ"});
        let input = json!({
            "hay": "abc", "nhay": 3, "needle": [1, 2, 3], "nneedle": 3, "out": out(3), "cap": 3, "text": "abc", "room": "abc",
        });
        for (length, buffer, wanted) in [
            ("nhay", "hay", json!({"hex": "6162"})),
            ("nneedle", "needle", json!([1, 2])),
            ("cap", "out", out(2)),
        ] {
            let mut other = input.clone();
            other[buffer] = wanted;
            other.as_object_mut().unwrap().remove(length);
            assert_eq!(with_length(&contract, length, &input, 2), Some(other), "{length}");
            assert_eq!(with_length(&contract, length, &input, 3), None, "{length}");
        }
        // The length is an independent number.
        let null = |n: i64| json!({"hay": null, "nhay": n});
        let mut other = null(7);
        other["text"] = json!("a");
        let changed = with_constant(&contract, "text", &other, &json!("b")).unwrap();
        assert_eq!(changed, json!({"hay": null, "nhay": 7, "text": "b"}), "only its own length follows");
        assert_eq!(with_length(&contract, "nhay", &null(7), 2), Some(null(2)));
        assert_eq!(with_length(&contract, "nhay", &null(-7), 2), Some(null(2)));
        assert_eq!(with_length(&contract, "nhay", &null(2), 2), None);
        let below = json!({"hay": "a", "nhay": -2});
        assert_eq!(with_length(&contract, "nhay", &below, 2), Some(json!({"hay": "a"})));
    }
}
