//! What the calls that drivers make look like, in numbers.

use super::{Report, Work};
use crate::contract::observed_calls::{Calls, Observed, ObservedParam, ObservedResult, text_of};
use crate::count::count;
use crate::error::Result;
use crate::event::{Event, Reporter};
use crate::in_place::candidates::Candidates;
use crate::in_place::run::{self, Number};
use crate::in_place::table::integers_before;
use crate::in_place::watched::{Call, Touched, Word};
use crate::platform::process::Interrupt;
use crate::project::Project;
use crate::symbol::{CType, Function, Global, Library, LibraryIndex, Param, TypeKind};
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use std::path::{Path, PathBuf};

/// Watched calls of one function with each driver.
const CALLS: u64 = 500;

/// What the calls of all functions look like that the drivers reach.
///
/// # Errors
/// `C` if the library cannot be built, those of running the drivers, and Ctrl-C.
pub fn observed(
    project: &Project,
    report: &Report,
    interrupt: &Interrupt,
    reporter: &mut dyn Reporter,
) -> Result<Calls> {
    let work = Work::of(project, interrupt)?;
    let step = "watching the calls that drivers make".into();
    reporter.event(Event::StepStarted { step, total: None });
    let entries = work.entries()?;
    let parts = work.parts(&entries, Candidates::Watched);
    let dir = work.dir("watched");
    let programs = work.programs(report, parts, &dir)?;
    let library = &project.library;
    let index = LibraryIndex::of(library);
    let one = |number: Number| {
        let mut calls = Vec::new();
        for (driven, program) in report.drivers.iter().zip(&programs) {
            let inputs = driven.judged_on(number)?;
            let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
            if !inputs.is_empty() {
                calls.extend(run::watch(program, number, &inputs, CALLS, interrupt)?);
            }
        }
        let function = &library.functions[number];
        Ok(summary(library, &index, function, &calls).map(|observed| (function.name.clone(), observed)))
    };
    let reached: Vec<Number> = report.reached().into_iter().collect();
    let all: Vec<Option<_>> = reached.into_par_iter().map(one).collect::<Result<_>>()?;
    let all = Calls(all.into_iter().flatten().collect());
    reporter.event(Event::StepFinished { message: count(all.0.len(), "function") });
    Ok(all)
}

/// The numbers of these calls; `None` where it is not known which register has which argument, or nothing was seen.
fn summary(library: &Library, index: &LibraryIndex, function: &Function, calls: &[Call]) -> Option<Observed> {
    let before = integers_before(library, function)?;
    let integers: Vec<&Param> =
        function.params.iter().filter(|param| !matches!(param.ty.kind, TypeKind::Float { .. })).collect();
    let has_variables = index.reached(function).any(|reached| {
        let mut globals = reached.globals_read.iter().chain(&reached.globals_written);
        globals.any(|key| index.global(key).is_none_or(Global::is_variable))
    });
    let mut observed = Observed {
        text: text_of(library, index, function),
        calls: calls.len() as u64,
        ..Observed::default()
    };
    for call in calls {
        let words = call.arguments.get(before..)?.iter().enumerate();
        let argument = |(at, word): (usize, _)| Argument {
            param: integers[at],
            word,
            touched: call.touched.iter().find(|touched| touched.argument == at + before),
            size: element_size(library, &integers[at].ty),
        };
        let arguments: Vec<Argument> = words.take(integers.len()).map(argument).collect();
        for (at, Argument { param, word, .. }) in arguments.iter().enumerate() {
            let seen = observed.params.entry(param.name.clone()).or_default();
            match &param.ty.kind {
                TypeKind::Pointer(_) | TypeKind::Array { .. } => {
                    seen.null += u64::from(word.value == 0);
                    seen.freed += u64::from(call.freed.contains(&(at + before)));
                    match way(at, &arguments, has_variables) {
                        _ if word.value == 0 => {}
                        Way::Alone => memory(seen, at, &arguments),
                        Way::Lowest => at_least(seen, at, &arguments),
                        Way::Unknown => {}
                    }
                }
                kind => number(seen, kind, word.value),
            }
        }
        if matches!(function.ret.kind, TypeKind::Pointer(_)) {
            result(observed.result.get_or_insert_default(), call, &arguments);
        }
    }
    (!calls.is_empty()).then_some(observed)
}

/// The value of a number in a register, of which only the lower bits are its own; `None` where it is none, or has no room.
fn value_of(kind: &TypeKind, word: u64) -> Option<i64> {
    let (signed, bits) = match kind {
        TypeKind::Int { signed, bits, .. } | TypeKind::Enum { signed, bits, .. } => (*signed, *bits),
        TypeKind::Bool => (false, 8),
        _ => return None,
    };
    let unused = 64u32.checked_sub(u32::from(bits))?;
    match signed {
        true => Some((word << unused).cast_signed() >> unused),
        false => i64::try_from(word << unused >> unused).ok(),
    }
}

fn number(seen: &mut ObservedParam, kind: &TypeKind, word: u64) {
    let value = value_of(kind, word).unwrap_or(i64::MAX);
    let [least, most] = seen.values.unwrap_or([value; 2]);
    seen.values = Some([least.min(value), most.max(value)]);
}

/// How C reaches what it touches behind an argument, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Through it alone.
    Alone,
    /// Through it alone up to the next of several pointers to numbers in one block, of which it is the lowest. Behind that
    /// one, nothing is known of either.
    Lowest,
    Unknown,
}

fn way(at: usize, arguments: &[Argument], has_variables: bool) -> Way {
    let own = &arguments[at];
    let is_start = own.word.block == Some(own.word.value);
    let others = arguments.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, other)| other);
    let ways: Vec<&Argument> =
        others.filter(|other| other.touches(own, arguments) || !is_start && other.leads_on()).collect();
    let is_above = |other: &&Argument| !other.leads_on() && other.word.value > own.word.value;
    match (is_start || !has_variables, ways.as_slice()) {
        (false, _) => Way::Unknown,
        (true, []) => Way::Alone,
        (true, ways) if !own.leads_on() && ways.iter().all(is_above) => Way::Lowest,
        (true, _) => Way::Unknown,
    }
}

/// An argument of one call.
struct Argument<'a> {
    param: &'a Param,
    word: &'a Word,
    touched: Option<&'a Touched>,
    /// Bytes of an element.
    size: u64,
}

impl Argument<'_> {
    /// Whether it leads to memory with pointers in it, perhaps.
    fn leads_on(&self) -> bool {
        let TypeKind::Pointer(to) = &self.param.ty.kind else { return false };
        let is_number = matches!(
            to.kind,
            TypeKind::Bool | TypeKind::Int { .. } | TypeKind::Enum { .. } | TypeKind::Float { .. }
        );
        !is_number && self.word.value != 0
    }

    /// Whether what C touches behind one of the two may go on behind the other.
    fn touches(&self, other: &Self, arguments: &[Argument]) -> bool {
        let [is_pointer, is_other] = [self, other].map(|one| {
            matches!(one.param.ty.kind, TypeKind::Pointer(_) | TypeKind::Array { .. }) && one.word.value != 0
        });
        let (low, high) = if self.word.value <= other.word.value { (self, other) } else { (other, self) };
        let end = low.word.value.saturating_add(low.touched.map_or(0, |touched| touched.bytes));
        // What lies in turns behind both would count as behind the higher one alone.
        let is_apart = end < high.word.value && self.is_counted(arguments) && other.is_counted(arguments);
        is_pointer && is_other && self.word.block == other.word.block && !is_apart
    }

    /// Whether C touches as many elements as another argument says.
    fn is_counted(&self, arguments: &[Argument]) -> bool {
        let elements = self.elements();
        let says = |other: &Argument| {
            length_of(&other.param.ty, other.word).and_then(|length| u64::try_from(length).ok())
                == Some(elements)
        };
        arguments.iter().any(says)
    }

    /// How many elements C touches.
    fn elements(&self) -> u64 {
        self.touched.map_or(0, |touched| touched.bytes).div_ceil(self.size)
    }
}

/// Bytes of what a pointer leads to; 1 where that is not known.
fn element_size(library: &Library, ty: &CType) -> u64 {
    match &ty.kind {
        TypeKind::Pointer(to) | TypeKind::Array { of: to, .. } => library.size_of(to).unwrap_or(1).max(1),
        _ => 1,
    }
}

fn memory(seen: &mut ObservedParam, at: usize, arguments: &[Argument]) {
    let Argument { word, touched, .. } = arguments[at];
    seen.known += 1;
    let bytes = touched.map_or(0, |touched| touched.bytes);
    seen.written += u64::from(touched.is_some_and(|touched| touched.written > 0));
    match (word.text, word.room) {
        (Some(text), _) => {
            seen.texts += u64::from(bytes <= text + 1);
            seen.beyond_texts += u64::from(bytes > text + 1);
        }
        (None, Some(_)) => seen.beyond_texts += u64::from(bytes > 0),
        (None, None) => {}
    }
    let elements = arguments[at].elements();
    let [least, most] = seen.touched.unwrap_or([elements; 2]);
    seen.varies |= elements > 0 && most > 0 && elements != most;
    seen.touched = Some([least.min(elements), most.max(elements)]);
    for (name, length) in lengths(arguments) {
        let fit = seen.lengths.entry(name).or_default();
        fit.fits += u64::from(elements <= length);
        fit.fills += u64::from(elements == length && length > 0);
        fit.exceeds += u64::from(elements > length);
    }
}

/// What C touches at least: it may contradict a size, and bears none out.
fn at_least(seen: &mut ObservedParam, at: usize, arguments: &[Argument]) {
    let elements = arguments[at].elements();
    seen.at_least = seen.at_least.max(elements);
    for (name, length) in lengths(arguments) {
        seen.lengths.entry(name).or_default().exceeds += u64::from(elements > length);
    }
}

/// The arguments that may be lengths. One below zero says nothing of the memory.
fn lengths(arguments: &[Argument]) -> impl Iterator<Item = (String, u64)> {
    arguments.iter().filter_map(|Argument { param, word, .. }| {
        let length = u64::try_from(length_of(&param.ty, word)?).ok()?;
        Some((param.name.clone(), length))
    })
}

/// A number that may be a length: itself, or what is behind a pointer to one.
fn length_of(ty: &CType, word: &Word) -> Option<i64> {
    match &ty.kind {
        TypeKind::Pointer(to) => match to.kind {
            TypeKind::Int { bits: 16.., .. } => value_of(&to.kind, word.behind?),
            _ => None,
        },
        TypeKind::Int { .. } => value_of(&ty.kind, word.value),
        _ => None,
    }
}

fn result(seen: &mut ObservedResult, call: &Call, arguments: &[Argument]) {
    let own = &call.result;
    let end = |word: &Word| Some(word.value + word.room?);
    let is_within = |word: &Word| match own.block {
        Some(_) => word.block == own.block,
        // One constant has one end.
        None => own.is_constant && word.is_constant && end(word) == end(own),
    };
    let within = arguments
        .iter()
        .find(|Argument { word, .. }| word.value != 0 && (is_within(word) || word.value == own.value));
    match within {
        _ if own.value == 0 => seen.null += 1,
        _ if call.is_new => seen.new += 1,
        Some(Argument { param, .. }) => *seen.within.entry(param.name.clone()).or_default() += 1,
        None if own.is_constant => seen.constant += 1,
        None => seen.old += 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointer(to: TypeKind) -> CType {
        let ty = |kind| CType { spelling: String::new(), is_const: false, kind };
        ty(TypeKind::Pointer(Box::new(ty(to))))
    }

    const INT: TypeKind = TypeKind::Int { signed: true, bits: 32, plain_char: false };

    /// What is known of what C touches behind the first of two pointers: each with its target, its address, its block, and
    /// the bytes that C touches.
    fn of(two: [(TypeKind, u64, Option<u64>, u64); 2], has_variables: bool) -> Way {
        let params =
            two.clone().map(|(to, ..)| Param { name: "p".into(), ty: pointer(to), uses: Vec::new() });
        let words = two.clone().map(|(_, value, block, _)| Word { value, block, ..Word::default() });
        let touched = two.map(|(.., bytes)| Touched { argument: 0, bytes, written: 0 });
        let int = crate::symbol::fixture::int("int", true, 32);
        let count = Param { name: "n".into(), ty: int, uses: Vec::new() };
        let ten = Word { value: 10, ..Word::default() };
        let argument = |at: usize| Argument {
            param: &params[at],
            word: &words[at],
            touched: Some(&touched[at]),
            size: 4,
        };
        let count = Argument { param: &count, word: &ten, touched: None, size: 1 };
        way(0, &[argument(0), argument(1), count], has_variables)
    }

    fn is_known(two: [(TypeKind, u64, Option<u64>, u64); 2], has_variables: bool) -> bool {
        of(two, has_variables) == Way::Alone
    }

    #[test]
    fn what_c_may_reach_in_another_way_says_nothing_of_a_pointer() {
        let record = || TypeKind::Record("r".into());
        // The start of a block of its own, whatever else there is.
        assert!(is_known([(INT, 100, Some(100), 40), (record(), 500, Some(500), 8)], true));
        // A part of a block, which C may reach through a struct or a variable.
        assert!(is_known([(INT, 108, Some(100), 40), (INT, 500, Some(500), 8)], false));
        assert!(!is_known([(INT, 108, Some(100), 40), (INT, 500, Some(500), 8)], true));
        assert!(!is_known([(INT, 108, Some(100), 40), (record(), 500, Some(500), 8)], false));
        assert!(is_known([(INT, 108, Some(100), 40), (record(), 0, None, 0)], false));
        // Two parts of one block, of which an argument says how long they are, with room between them and without.
        assert!(is_known([(INT, 100, Some(100), 40), (INT, 200, Some(100), 40)], false));
        assert!(!is_known([(INT, 100, Some(100), 40), (INT, 140, Some(100), 40)], false));
        assert!(!is_known([(INT, 100, Some(100), 4), (INT, 200, Some(100), 40)], false));
        assert!(!is_known([(INT, 100, Some(100), 100), (INT, 200, Some(100), 8)], false));
        assert!(!is_known([(INT, 200, Some(100), 8), (INT, 100, Some(100), 100)], false));
        // Up to the next pointer, what C touches behind the lower one is its own.
        let halves = [(INT, 100, Some(100), 48), (INT, 200, Some(100), 44)];
        assert_eq!(of(halves.clone(), true), Way::Lowest);
        let [low, high] = halves;
        assert_eq!(of([high, low.clone()], true), Way::Unknown);
        assert_eq!(of([low, (record(), 200, Some(100), 44)], true), Way::Unknown);
        // The same memory twice.
        assert!(!is_known([(INT, 100, Some(100), 40), (INT, 100, Some(100), 40)], false));
    }

    #[test]
    fn numbers_have_the_width_and_sign_of_their_type() {
        let int = |signed, bits| TypeKind::Int { signed, bits, plain_char: false };
        assert_eq!(value_of(&int(true, 32), 0xdead_0000_ffff_ffff), Some(-1));
        assert_eq!(value_of(&int(false, 8), 0x1234), Some(0x34));
        assert_eq!(value_of(&int(false, 64), u64::MAX), None);
        assert_eq!(value_of(&TypeKind::Bool, 0x101), Some(1));
        let behind = Word { value: 100, behind: Some(0xffff_0000_0000_0007), ..Word::default() };
        assert_eq!(length_of(&pointer(int(true, 32)), &behind), Some(7));
        assert_eq!(length_of(&pointer(int(false, 8)), &behind), None);
    }
}
