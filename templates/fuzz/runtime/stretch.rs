//! Inputs with chosen lengths: beyond the usual limits, or numbers with which the C text or the port
//! compares. Such an input is an ordinary one with a [`Tail`], so it stays small however long its parts
//! become.
//! Written by cargo-implfuzz.

use super::codec::{Reader, Tail};
use super::driver::Case;
use super::function::Function;
use super::guard;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

/// A part of the arguments with a variable length.
pub struct Extent {
    /// The limit in ordinary inputs.
    pub max: usize,
    /// The limit in long inputs; equal to `max` if a person or a type sets it.
    pub longest: usize,
    pub is_output: bool,
}

impl Extent {
    fn is_stretchable(&self) -> bool {
        self.longest > self.max
    }

    fn limit(&self, is_long: bool) -> usize {
        if is_long { self.longest } else { self.max }
    }
}

/// The same input with a tail that changes only the `errno` before its calls: from zero to another value, or
/// the other way round. `parts` is the number of parts with a variable length.
pub fn with_other_errno(input: &[u8], parts: usize) -> Option<Vec<u8>> {
    let is_zero = |input: &[u8]| {
        guard::choose_errno(input);
        guard::errno_on_entry() == 0
    };
    let (before, (code, _)) = (is_zero(input), nothing(parts));
    let mut others = (0..64).map(|n| Tail { is_long: false, lengths: [(code, n); 2] }.behind(input));
    others.find(|other| is_zero(other) != before)
}

static IS_LONG: AtomicBool = AtomicBool::new(false);

/// Whether the current input is a long one.
pub fn is_long() -> bool {
    IS_LONG.load(Ordering::Relaxed)
}

/// The arguments of an input.
pub fn args<C: Case>(input: &[u8]) -> C::Args {
    let (head, tail) = Tail::split(input);
    IS_LONG.store(tail.is_some_and(|tail| tail.is_long), Ordering::Relaxed);
    let mut args = C::decode(&mut Reader::new(head));
    if let Some(tail) = tail {
        stretch::<C>(&mut args, tail);
    }
    args
}

/// The parts to which a length applies: one by its number, all, all with outputs four times as long, or none.
enum Which {
    One(usize),
    All,
    Roomy,
    Nothing,
}

impl Which {
    fn of(code: u8, parts: usize) -> Self {
        match usize::from(code) % (parts + 3) {
            one if one < parts => Self::One(one),
            code if code == parts => Self::All,
            code if code == parts + 1 => Self::Roomy,
            _ => Self::Nothing,
        }
    }

    fn code(&self, parts: usize) -> u8 {
        let code = match self {
            Self::One(part) => *part,
            Self::All => parts,
            Self::Roomy => parts + 1,
            Self::Nothing => parts + 2,
        };
        u8::try_from(code).expect("no function has so many parameters")
    }
}

fn stretch<C: Case>(args: &mut C::Args, tail: Tail) {
    let extents = C::extents();
    for (code, length) in tail.lengths {
        let which = Which::of(code, extents.len());
        for (part, extent) in extents.iter().enumerate() {
            let length = length as usize;
            let n = match which {
                Which::One(one) if one != part => continue,
                Which::Nothing => continue,
                Which::Roomy if extent.is_output => length.saturating_mul(4),
                _ => length,
            };
            C::resize(args, part, n.min(extent.limit(tail.is_long)));
        }
    }
}

/// Lengths at which 16 bits overflow, and one far beyond.
const LONG: [usize; 4] = [65_535, 65_536, 65_537, 70_000];
/// Maximum number of inputs for pairs of lengths.
const PAIRS: usize = 256;
/// Number of short inputs that get tails, and their maximum length.
const BASES: usize = 8;
const SHORT: usize = 512;

/// Inputs with lengths beyond the usual limits, if a part allows them.
pub(super) fn long(function: &dyn Function, boundaries: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let parts = function.extents().len();
    let usual = function.extents().iter().filter(|e| e.is_stretchable()).map(|e| e.max).min();
    let Some(usual) = usual else { return Vec::new() };
    let lengths: Vec<usize> = LONG.into_iter().chain(around_literals().filter(|n| *n > usual)).collect();
    let mut tails: Vec<_> = singles(function, &lengths, true).into_iter().map(|one| [one, nothing(parts)]).collect();
    if parts > 1 {
        let both = [Which::All, Which::Roomy].map(|which| which.code(parts));
        let both = both.into_iter().flat_map(|code| lengths.iter().map(move |n| (code, *n as u32)));
        tails.extend(both.map(|both| [both, nothing(parts)]));
    }
    tails.extend(pairs(function, true));
    let bases = bases(boundaries);
    let all = tails.iter().flat_map(|lengths| bases.iter().map(|base| behind(function, base, *lengths, true)));
    all.flatten().collect()
}

/// Inputs whose lengths are numbers in the C text or the port, or next to one; for several parts, also pairs
/// of them.
pub(super) fn at_literals(function: &dyn Function, boundaries: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let parts = function.extents().len();
    let lengths: Vec<usize> = around_literals().collect();
    let single = singles(function, &lengths, false).into_iter().map(|one| [one, nothing(parts)]);
    let tails = single.chain(pairs(function, false));
    let bases = bases(boundaries);
    tails.zip(bases.iter().cycle()).filter_map(|(lengths, base)| behind(function, base, lengths, false)).collect()
}

fn nothing(parts: usize) -> (u8, u32) {
    (Which::Nothing.code(parts), 0)
}

/// Each part with each of these lengths that it allows.
fn singles(function: &dyn Function, lengths: &[usize], is_long: bool) -> BTreeSet<(u8, u32)> {
    let parts = function.extents().iter().enumerate().filter(|(_, extent)| !is_long || extent.is_stretchable());
    let each = parts.flat_map(|(part, extent)| {
        let fitting = lengths.iter().map(move |n| if is_long { (*n).min(extent.longest) } else { *n });
        fitting.filter(move |n| *n <= extent.limit(is_long)).map(move |n| (part as u8, n as u32))
    });
    each.collect()
}

/// Two parts with two literals, the most important first. In long inputs, one length exceeds the usual limit.
fn pairs(function: &dyn Function, is_long: bool) -> Vec<[(u8, u32); 2]> {
    let (extents, literals) = (function.extents(), literals());
    let mut ranks: Vec<(usize, usize)> =
        (0..literals.len()).flat_map(|a| (0..literals.len()).map(move |b| (a, b))).collect();
    ranks.sort_by_key(|(a, b)| *a.max(b));
    let mut all = Vec::new();
    for (a, b) in ranks {
        let (a, b) = (literals[a], literals[b]);
        for (second, other) in extents.iter().enumerate() {
            for (first, one) in extents[..second].iter().enumerate() {
                let fits = |is_long| a <= one.limit(is_long) && b <= other.limit(is_long);
                if fits(is_long) && !(is_long && fits(false)) {
                    all.push([(first as u8, a as u32), (second as u8, b as u32)]);
                }
            }
        }
    }
    all.truncate(PAIRS);
    all
}

/// A selection of short inputs from the whole list.
fn bases(boundaries: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let short: Vec<&Vec<u8>> = boundaries.iter().filter(|input| input.len() <= SHORT).collect();
    let step = short.len().div_ceil(BASES).max(1);
    let mut bases: Vec<Vec<u8>> = short.into_iter().step_by(step).cloned().collect();
    if bases.is_empty() {
        bases.push(vec![b'a'; 64]);
    }
    bases
}

/// The input with these lengths, if the contract admits it.
fn behind(function: &dyn Function, base: &[u8], lengths: [(u8, u32); 2], is_long: bool) -> Option<Vec<u8>> {
    let input = Tail { is_long, lengths }.behind(base);
    function.admits(&*function.args(&input)).then_some(input)
}

/// Numbers in the C text and the port, the most important first.
fn literals() -> Vec<usize> {
    let text = std::env::var("IMPLFUZZ_LITERALS").unwrap_or_default();
    text.split(',').filter_map(|number| number.parse().ok()).collect()
}

fn around_literals() -> impl Iterator<Item = usize> {
    literals().into_iter().flat_map(|n: usize| [n.saturating_sub(1), n, n + 1])
}
