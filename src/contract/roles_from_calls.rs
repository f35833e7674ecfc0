//! What real calls say against, or beyond, the C text about the memory behind a pointer. The calls are in
//! `contract::observed_calls`; the roles that follow from the C text alone come from `contract::infer`.

use super::length_inference::Size;
use super::observed_calls::{Observed, ObservedParam};
use super::types::{Direction, Parameter, Returns, Role};
use crate::symbol::{Function, Param, TypeKind};

/// Fewest calls from which more follows than that a role is wrong.
const FEW: u64 = 8;
/// Most elements of memory that always has as many.
const LONGEST: u64 = 1 << 20;

/// What in calls contradicts a role, if anything does.
fn contradiction(name: &str, role: &Role, seen: &ObservedParam) -> Option<String> {
    let most = most_of(seen);
    if seen.written > 0 && role.direction() == Some(Direction::In) {
        return Some(format!("C writes behind `{name}`, as calls that drivers make show"));
    }
    if seen.freed > 0 && role.given().is_none() && role.handle().is_none() {
        return Some(format!("C frees `{name}`, as calls that drivers make show"));
    }
    let beyond = |limit: u64| (most > limit).then(|| format!("{most} elements behind `{name}`"));
    let further = match role {
        Role::Buffer(buffer) => {
            let fit = seen.lengths.get(&buffer.length)?;
            (fit.exceeds > 0).then(|| format!("more than `{}` elements behind `{name}`", buffer.length))
        }
        Role::Pointer(_) => beyond(1),
        Role::FixedArray(array) => beyond(array.len as u64),
        // Memory of unknown size grows with what calls show, unless its size varies: then no invented memory is large
        // enough for each index, and C would read on in what lies behind.
        Role::Room(room) => beyond(if seen.varies { room.len as u64 } else { LONGEST })
            .map(|what| format!("{what}, of which no argument says how many there are")),
        // A pointer to a length leads to one number.
        Role::Length(_) => beyond(1),
        Role::CString(_) => {
            (seen.beyond_texts > 0).then(|| format!("bytes behind the NUL of the text `{name}`"))
        }
        _ => None,
    }?;
    Some(format!("C touches {further}, as calls that drivers make show"))
}

/// What in calls contradicts the role of this parameter, if anything does.
pub(super) fn contradicted(name: &str, role: &Role, calls: &Observed) -> Option<String> {
    contradiction(name, role, calls.params.get(name)?)
}

/// How much memory calls show, where the C text shows nothing or something that calls contradict.
fn size((function, numbers): (&Function, &[usize]), calls: &Observed, seen: &ObservedParam) -> Option<Size> {
    let [least, most] = seen.touched?;
    let known = seen.known;
    if known < FEW {
        return None;
    }
    // A flag is sometimes as large as a buffer is long, by chance.
    let is_length = |name: &str| {
        let param = function.params.iter().find(|param| param.name == name);
        param.is_some_and(|param| match &param.ty.kind {
            TypeKind::Int { bits, .. } => *bits >= 16,
            TypeKind::Pointer(_) => most_behind(calls, name) <= 1,
            _ => false,
        })
    };
    let lengths = seen.lengths.iter().filter(|(name, fit)| {
        fit.exceeds == 0 && fit.fits == known && fit.fills * 2 >= known && is_length(name)
    });
    let best = lengths.max_by_key(|(_, fit)| fit.fills);
    match best {
        Some((length, _)) if most > least => Some(Size::Length(length.clone())),
        // Both the number and the parameter may be the size.
        Some((_, fit)) if fit.fills == known => None,
        // C may go further in other calls, unless its text knows this number and no larger one.
        _ => {
            (least == most && (1..=LONGEST).contains(&most) && numbers.iter().max() == Some(&(most as usize)))
                .then_some(Size::Elements(most as usize))
        }
    }
}

/// The most elements that C touches behind a parameter.
fn most_behind(calls: &Observed, name: &str) -> u64 {
    calls.params.get(name).map_or(0, most_of)
}

fn most_of(seen: &ObservedParam) -> u64 {
    seen.touched.map_or(0, |[_, most]| most).max(seen.at_least)
}

/// How calls bear out the role of this parameter, in words.
pub fn borne_out(name: &str, role: &Role, calls: &Observed) -> Option<String> {
    let seen = calls.params.get(name)?;
    let most = seen.touched.map_or(0, |[_, most]| most);
    match role {
        Role::Value(_) => {
            let [least, most] = seen.values.filter(|[_, most]| *most < i64::MAX)?;
            Some(format!("in {} calls from {least} to {most}", calls.calls))
        }
        _ if seen.known == 0 => None,
        Role::Buffer(buffer) => {
            let fit = seen.lengths.get(&buffer.length)?;
            let (fits, fills) = (fit.fits, fit.fills);
            Some(format!("in {fits} calls C touches at most `{}` elements, in {fills} all", buffer.length))
        }
        Role::Pointer(_) | Role::FixedArray(_) | Role::Room(_) => {
            Some(format!("in {} calls C touches at most {most} elements", seen.known))
        }
        Role::CString(_) if seen.texts > 0 => {
            Some(format!("in {} calls C goes no further than the NUL", seen.texts))
        }
        _ => None,
    }
}

/// What contradicts the kind of result, if anything does.
pub(super) fn contradicted_result(observed: &Observed, returns: Returns) -> Option<&'static str> {
    let result = observed.result.as_ref()?;
    let within: u64 = result.within.values().sum();
    let is_contradicted = match returns {
        // A text in memory of the library stays there.
        Returns::StaticString => result.new + within > 0,
        Returns::Memory => within + result.constant + result.old > 0,
        Returns::Address => result.new + result.constant > 0,
        Returns::Table(_) => result.new + within + result.old > 0,
        Returns::Nothing | Returns::Value | Returns::Handle => false,
    };
    is_contradicted.then_some(
        "returns a pointer of another kind than the C text suggests, as calls that drivers make show",
    )
}

/// Whether calls show that a length is never below zero, and is the length of its buffers, so that slices can have it.
pub(super) fn allows_slices(observed: &Observed, name: &str, all: &[Parameter]) -> bool {
    let has_length = |param: &&Parameter| param.role.buffer().is_some_and(|buffer| buffer.length == name);
    let is_filled = |param: &Parameter| {
        let seen = observed.params.get(&param.name);
        let fit = seen.and_then(|seen| Some((seen.lengths.get(name)?, seen.known)));
        fit.is_some_and(|(fit, known)| known >= FEW && fit.exceeds == 0 && fit.fills * 2 >= known)
    };
    if !all.iter().filter(has_length).all(is_filled) {
        return false;
    }
    let values = observed.params.get(name).and_then(|seen| seen.values);
    observed.calls >= FEW && values.is_some_and(|[least, most]| least >= 0 && most > 0)
}

/// Puts into `sizes` what calls show of the parameters whose roles they contradict or the C text leaves open; whether
/// anything has changed. `numbers` are those of the C text.
pub(super) fn sizes(
    (function, numbers): (&Function, &[usize]),
    calls: &Observed,
    roles: &[Result<Role, String>],
    sizes: &mut [Option<Size>],
) -> bool {
    let before = sizes.to_vec();
    for ((role, param), own) in roles.iter().zip(&function.params).zip(&mut *sizes) {
        let Some(seen) = calls.params.get(&param.name) else { continue };
        let is_open = match role {
            Ok(role) => contradiction(&param.name, role, seen).is_some(),
            Err(_) => own.is_none(),
        };
        if is_open {
            *own = size((function, numbers), calls, seen);
        }
    }
    // A length has no length of its own.
    let lengths: Vec<String> = sizes.iter().flatten().filter_map(Size::length).cloned().collect();
    for (param, own) in function.params.iter().zip(&mut *sizes) {
        if lengths.contains(&param.name) {
            *own = None;
        }
    }
    *sizes != *before
}

/// The roles without those that calls contradict; memory of unknown size is at least as large as in calls.
pub(super) fn without_contradicted(
    function: &Function,
    calls: &Observed,
    roles: Vec<Result<Role, String>>,
) -> Vec<Result<Role, String>> {
    let check = |(role, param): (Result<Role, String>, &Param)| {
        let mut role = role?;
        if let Some(why) = contradicted(&param.name, &role, calls) {
            return Err(why);
        }
        if let Role::Room(room) = &mut role {
            room.len = room.len.max(most_behind(calls, &param.name) as usize);
        }
        Ok(role)
    };
    roles.into_iter().zip(&function.params).map(check).collect()
}

#[cfg(test)]
mod tests {
    use super::super::observed_calls::{Fit, ObservedResult};
    use super::*;
    use crate::contract::parameter_roles as roles;
    use crate::symbol::{CType, fixture};

    /// `void f(int *p, int a, int b, char flag)`
    fn function() -> Function {
        let int = |bits| CType {
            spelling: "int".into(),
            is_const: false,
            kind: TypeKind::Int { signed: true, bits, plain_char: false },
        };
        let pointer =
            CType { spelling: "int *".into(), is_const: false, kind: TypeKind::Pointer(Box::new(int(32))) };
        let param = |name: &str, ty| Param { name: name.into(), ty, uses: Vec::new() };
        let params =
            vec![param("p", pointer), param("a", int(32)), param("b", int(32)), param("flag", int(8))];
        Function { params, ..fixture::function("f") }
    }

    fn buffer(length: &str) -> Role {
        let (direction, length) = (Direction::InOut, length.to_owned());
        Role::Buffer(roles::Buffer { direction, length, max: 64, nullable: false })
    }

    /// Calls with `known` of them understood, in which C touches so many elements and lengths fit so: fits, fills, exceeds.
    fn calls(known: u64, touched: [u64; 2], fits: &[(&str, [u64; 3])]) -> Observed {
        let fit = |(name, [fits, fills, exceeds]): &(&str, [u64; 3])| {
            ((*name).to_owned(), Fit { fits: *fits, fills: *fills, exceeds: *exceeds })
        };
        let lengths = fits.iter().map(fit).collect();
        let seen = ObservedParam { known, touched: Some(touched), lengths, ..ObservedParam::default() };
        Observed { calls: known, params: [("p".to_owned(), seen)].into(), ..Observed::default() }
    }

    /// The size that `p` gets where the C text suggests this role and size.
    fn learned(calls: &Observed, role: Result<Role, String>, size: Option<Size>) -> Option<Size> {
        let value = || Ok(Role::Value(roles::Value::ANY));
        let (mut sizes, function) = ([size, None, None, None], function());
        super::sizes((&function, &[1, 12]), calls, &[role, value(), value(), value()], &mut sizes);
        sizes.into_iter().next().unwrap()
    }

    #[test]
    fn a_length_that_calls_exceed_gives_way_to_the_one_that_they_fill() {
        let length = |name: &str| Some(Size::Length(name.to_owned()));
        let seen = calls(20, [1, 9], &[("a", [15, 2, 5]), ("b", [20, 18, 0])]);
        assert_eq!(learned(&seen, Ok(buffer("a")), length("a")), length("b"));
        // One that nothing contradicts stays, even where another one fits better.
        let seen = calls(20, [1, 9], &[("a", [20, 0, 0]), ("b", [20, 18, 0])]);
        assert_eq!(learned(&seen, Ok(buffer("a")), length("a")), length("a"));
        // Neither few calls, nor chance, nor a flag make a length.
        for seen in [
            calls(7, [1, 9], &[("a", [2, 2, 5]), ("b", [7, 7, 0])]),
            calls(20, [1, 9], &[("a", [15, 2, 5]), ("b", [20, 9, 0])]),
            calls(20, [1, 9], &[("a", [15, 2, 5]), ("flag", [20, 18, 0])]),
            calls(20, [1, 9], &[("a", [15, 2, 5]), ("b", [19, 18, 0])]),
        ] {
            assert_eq!(learned(&seen, Ok(buffer("a")), length("a")), None, "{seen:?}");
        }
    }

    #[test]
    fn memory_of_which_c_always_touches_as_much_is_an_array() {
        let open = || Err("the C text does not show how much memory `p` points to".to_owned());
        assert_eq!(learned(&calls(8, [12, 12], &[]), open(), None), Some(Size::Elements(12)));
        assert_eq!(learned(&calls(8, [11, 12], &[]), open(), None), None);
        assert_eq!(learned(&calls(8, [0, 0], &[]), open(), None), None);
        // A length that is the same in all these calls.
        assert_eq!(learned(&calls(8, [12, 12], &[("a", [8, 8, 0])]), open(), None), None);
        assert_eq!(learned(&calls(8, [12, 12], &[("a", [8, 7, 0])]), open(), None), Some(Size::Elements(12)));
        // A larger number in the C text may be how far C goes in other calls; this text has 12.
        assert_eq!(learned(&calls(8, [11, 11], &[]), open(), None), None);
        // What works for memory of unknown size stays.
        let room = || Ok(Role::Room(roles::Room { direction: Direction::In, len: 64, nullable: false }));
        assert_eq!(learned(&calls(99, [12, 12], &[]), room(), None), None);
    }

    #[test]
    fn a_role_is_contradicted_by_one_call() {
        let array = |len| Role::FixedArray(roles::FixedArray { direction: Direction::In, len });
        let single = Role::Pointer(roles::Pointer { direction: Direction::In, nullable: false });
        let text = Role::CString(roles::CString { max: 9, nullable: false });
        let seen = calls(1, [4, 4], &[("a", [0, 0, 1])]);
        let wide = Role::Room(roles::Room { direction: Direction::In, len: 2, nullable: false });
        for (role, is_wrong) in [
            (wide, false),
            (Role::Length(roles::Length), true),
            (array(3), true),
            (array(4), false),
            (single, true),
            (buffer("a"), true),
            (buffer("b"), false),
            (text.clone(), false),
        ] {
            let why = contradicted("p", &role, &seen);
            assert_eq!(why.is_some(), is_wrong, "{role:?} {why:?}");
            assert!(why.is_none_or(|why| why.contains("`p`")));
        }
        // Memory of unknown size is as large as in all calls, but no size is large enough where it varies.
        let room = |len| Role::Room(roles::Room { direction: Direction::In, len, nullable: false });
        let mut varied = calls(2, [0, 9], &[]);
        assert_eq!(contradicted("p", &room(8), &varied), None);
        varied.params.get_mut("p").unwrap().varies = true;
        assert!(contradicted("p", &room(8), &varied).unwrap().contains("no argument says"));
        assert_eq!(contradicted("p", &room(9), &varied), None);
        // Where no more is known than how far C goes at least, that counts.
        let mut least = calls(0, [0, 0], &[]);
        least.params.get_mut("p").unwrap().at_least = 4;
        assert!(contradicted("p", &array(3), &least).is_some());
        assert_eq!(contradicted("p", &array(4), &least), None);
        let mut beyond = seen;
        beyond.params.get_mut("p").unwrap().beyond_texts = 1;
        assert!(contradicted("p", &text, &beyond).is_some());
        assert_eq!(contradicted("other", &array(1), &beyond), None);
    }

    #[test]
    fn the_kind_of_a_result_is_contradicted_by_another_kind() {
        let of = |result| Observed { result: Some(result), ..Observed::default() };
        let new = of(ObservedResult { new: 1, ..ObservedResult::default() });
        let within = of(ObservedResult { within: [("p".to_owned(), 1)].into(), ..ObservedResult::default() });
        let is_wrong = |calls, returns| contradicted_result(calls, returns).is_some();
        assert!(is_wrong(&new, Returns::StaticString) && is_wrong(&new, Returns::Address));
        assert!(!is_wrong(&new, Returns::Memory) && !is_wrong(&within, Returns::Address));
        assert!(is_wrong(&within, Returns::Memory) && is_wrong(&within, Returns::Table(3)));
        assert!(
            !is_wrong(&new, Returns::Value) && !is_wrong(&of(ObservedResult::default()), Returns::Memory)
        );
    }
}
