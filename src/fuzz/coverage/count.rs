//! Combines regions with counters: how often each line, condition and block of a function ran.

use super::bytes::{Malformed, Read};
use super::mapping::{Counter, FunctionRecord, Region, RegionKind, Span};
use super::share_of;
use super::unreachable::Optimised;
use crate::verdict::Share;
use std::collections::{BTreeMap, HashMap};

/// The coverage of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// The number of calls.
    pub entered: u64,
    /// Lines with code, each with its execution count.
    pub lines: BTreeMap<u32, u64>,
    /// Conditions. Empty for Rust, because rustc on stable does not report them.
    pub branches: Vec<Branch>,
    /// Parts with separate counts, in order.
    pub blocks: Vec<Block>,
}

/// A condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branch {
    /// Its position in the function; for a condition in a macro, the position where the macro is used.
    pub span: Span,
    pub in_macro: bool,
    /// How often it was true; `None` if the compiler knows that it never is. For a `case`, true means that it
    /// is taken.
    pub held: Option<u64>,
    /// How often it was false; `None` if the compiler knows that it never is.
    pub failed: Option<u64>,
    /// Whether the optimiser alone showed that it is never true, and that it is never false.
    pub removed: (bool, bool),
}

/// A part of a function that runs as a whole or not at all, such as an arm of `if` or `match`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The position of its first region.
    pub span: Span,
    pub count: u64,
}

impl Reached {
    /// The share of lines with code that ran.
    pub fn line_share(&self) -> Share {
        share_of(self.lines.values().map(|count| *count > 0))
    }

    /// The share of possible outcomes of conditions that occurred.
    pub fn branch_share(&self) -> Share {
        let ways = self.branches.iter().flat_map(|branch| [branch.held, branch.failed]);
        share_of(ways.flatten().map(|count| count > 0))
    }

    /// Whether a possible outcome never occurred or a line did not run.
    pub fn has_missed(&self) -> bool {
        let (branches, lines) = (self.branch_share(), self.line_share());
        branches.reached < branches.total || lines.reached < lines.total
    }

    /// The share of blocks that ran.
    pub fn block_share(&self) -> Share {
        share_of(self.blocks.iter().map(|block| block.count > 0))
    }
}

/// The index of the record's file that contains the function itself, not a macro's text.
pub fn own_file(record: &FunctionRecord) -> Option<usize> {
    let expanded = |file: &usize| record.regions.iter().any(|r| r.kind == RegionKind::Expansion(*file));
    (0..record.files.len()).find(|file| !expanded(file))
}

/// The line on which a record's code begins.
pub fn first_line(record: &FunctionRecord) -> Option<u32> {
    let own = own_file(record)?;
    record.regions.iter().filter(|r| r.file == own).map(|r| r.span.start.0).min()
}

/// How a region contributes to line counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Code,
    Gap,
    Skipped,
}

/// How often a condition had one outcome; `count` is `None` if it is impossible.
#[derive(Debug, Clone, Copy, Default)]
struct Taken {
    count: Option<u64>,
    /// For a copy of the condition, the optimiser showed that this outcome is impossible.
    dead: bool,
}

impl Taken {
    fn add(&mut self, counter: Counter, times: u64, is_dead: &dyn Fn(Counter) -> bool) {
        match counter {
            Counter::Zero => {}
            counter if is_dead(counter) => self.dead = true,
            _ => self.count = Some(self.count.unwrap_or(0).saturating_add(times)),
        }
    }

    fn is_removed(self) -> bool {
        self.dead && self.count.is_none()
    }
}

/// The sum of the records of one function: its copies in several units, and closures in it.
#[derive(Debug, Clone, Default)]
pub struct Parts {
    regions: BTreeMap<(Span, Role), u64>,
    /// By position: the uses of macros from the outermost on, then the condition itself.
    branches: BTreeMap<Vec<Span>, [Taken; 2]>,
    blocks: BTreeMap<Span, u64>,
}

impl Parts {
    /// Adds a record with its counters; `counters` is empty for a function that ran in no process.
    pub fn add(
        &mut self,
        record: &FunctionRecord,
        counters: &[u64],
        optimised: Option<&Optimised>,
    ) -> Read<()> {
        let Some(own) = own_file(record) else { return Ok(()) };
        let values = Values::of(record, counters)?;
        // Code that ran is not dead, whatever the optimiser's text says.
        let is_dead = |counter: Counter| {
            values.get(counter) == 0 && optimised.is_some_and(|optimised| optimised.never(record, counter))
        };
        let mut blocks: BTreeMap<Counter, Span> = BTreeMap::new();
        for region in &record.regions {
            let role = match region.kind {
                RegionKind::Branch(held, failed) => {
                    let place = place(record, region, own);
                    let sums = self.branches.entry(place).or_default();
                    for (way, counter) in sums.iter_mut().zip([held, failed]) {
                        way.add(counter, values.get(counter), &is_dead);
                    }
                    continue;
                }
                RegionKind::Decision => continue,
                RegionKind::Code(counter) | RegionKind::Gap(counter) if is_dead(counter) => Role::Skipped,
                RegionKind::Code(_) | RegionKind::Expansion(_) => Role::Code,
                RegionKind::Gap(_) => Role::Gap,
                RegionKind::Skipped => Role::Skipped,
            };
            if region.file != own {
                continue;
            }
            if let RegionKind::Code(counter) = region.kind {
                let first = blocks.entry(counter).or_insert(region.span);
                *first = region.span.min(*first);
            }
            let sum = self.regions.entry((region.span, role)).or_default();
            *sum = sum.saturating_add(values.region(record, region));
        }
        for (counter, span) in blocks {
            let sum = self.blocks.entry(span).or_default();
            *sum = sum.saturating_add(values.get(counter));
        }
        Ok(())
    }

    /// The coverage; `None` if nothing was added.
    pub fn reached(self) -> Option<Reached> {
        let is_code = |((_, role), _): &(&(Span, Role), &u64)| *role == Role::Code;
        let entered = *self.regions.iter().find(is_code)?.1;
        let branch = |(places, [held, failed]): (Vec<Span>, [Taken; 2])| Branch {
            span: places[0],
            in_macro: places.len() > 1,
            held: held.count,
            failed: failed.count,
            removed: (held.is_removed(), failed.is_removed()),
        };
        Some(Reached {
            entered,
            lines: lines(&self.regions),
            branches: self.branches.into_iter().map(branch).collect(),
            blocks: self.blocks.into_iter().map(|(span, count)| Block { span, count }).collect(),
        })
    }
}

/// The uses of the macro that contains a region, from the function's own text inwards, and then the region
/// itself.
fn place(record: &FunctionRecord, region: &Region, own: usize) -> Vec<Span> {
    let (mut place, mut file) = (vec![region.span], region.file);
    // Macros cannot expand themselves; the number of files bounds the loop even for malformed data.
    for _ in 0..record.files.len() {
        let user = record.regions.iter().find(|r| r.kind == RegionKind::Expansion(file));
        let Some(user) = user.filter(|_| file != own) else { break };
        place.insert(0, user.span);
        file = user.file;
    }
    place
}

/// Line counts by the rules of `llvm-cov`: the count of a line is that of the region that continues from the
/// line before, or of the most frequent region that begins on it, whichever is larger.
fn lines(regions: &BTreeMap<(Span, Role), u64>) -> BTreeMap<u32, u64> {
    let first = regions.keys().map(|(span, _)| span.start.0).min().unwrap_or(1);
    let last = regions.keys().map(|(span, _)| span.end.0).max().unwrap_or(0);
    let mut lines = BTreeMap::new();
    for line in first..=last {
        // Regions are nested; the innermost one begins last and ends first.
        let goes_on = regions.iter().filter(|((span, _), _)| span.start.0 < line && span.end.0 >= line);
        let goes_on = goes_on.max_by_key(|((span, _), _)| (span.start, std::cmp::Reverse(span.end)));
        let goes_on = goes_on.filter(|((_, role), _)| *role != Role::Skipped).map(|(_, count)| *count);
        let begin: Vec<(Role, u64)> = regions
            .iter()
            .filter(|((span, _), _)| span.start.0 == line)
            .map(|((_, role), count)| (*role, *count))
            .collect();
        let is_skipped = begin.first().is_some_and(|(role, _)| *role == Role::Skipped);
        // After skipped text, a gap alone does not make the line code.
        let is_code = |role: Role| role == Role::Code || role == Role::Gap && !is_skipped;
        let has_code = begin.iter().any(|(role, _)| is_code(*role));
        if has_code || (goes_on.is_some() && !is_skipped) {
            let most = begin.iter().filter(|(role, _)| *role == Role::Code).map(|(_, count)| *count).max();
            lines.insert(line, most.max(goes_on).unwrap_or(0));
        }
    }
    lines
}

struct Values<'a> {
    counters: &'a [u64],
    expressions: Vec<i128>,
}

impl<'a> Values<'a> {
    fn of(record: &FunctionRecord, counters: &'a [u64]) -> Read<Self> {
        let mut known: HashMap<usize, i128> = HashMap::new();
        let value = |counter: Counter, known: &HashMap<usize, i128>| match counter {
            Counter::Zero => Ok(0),
            Counter::Counted(n) => Ok(i128::from(counters.get(n).copied().unwrap_or(0))),
            Counter::Minus(n) | Counter::Plus(n) => known.get(&n).copied().ok_or(n),
        };
        // Only the uses of an expression say whether it is a sum or a difference.
        let mut used: HashMap<usize, bool> = HashMap::new();
        let sides = record.expressions.iter().flat_map(|(a, b)| [*a, *b]);
        let of_regions = record.regions.iter().flat_map(|region| match region.kind {
            RegionKind::Code(counter) | RegionKind::Gap(counter) => [counter, Counter::Zero],
            RegionKind::Branch(held, failed) => [held, failed],
            _ => [Counter::Zero; 2],
        });
        for counter in sides.chain(of_regions) {
            match counter {
                Counter::Minus(n) => drop(used.insert(n, false)),
                Counter::Plus(n) => drop(used.insert(n, true)),
                _ => {}
            }
        }
        let mut todo: Vec<usize> = used.keys().copied().collect();
        let mut steps = 0_usize;
        while let Some(next) = todo.last().copied() {
            steps += 1;
            let sides = record.expressions.get(next);
            let (Some((a, b)), true) = (sides, steps <= 4 * (record.expressions.len() + 1)) else {
                return Err(Malformed("an expression of counters leads nowhere, or in a circle".into()));
            };
            match (value(*a, &known), value(*b, &known)) {
                (Ok(a), Ok(b)) => {
                    known.insert(next, if used[&next] { a + b } else { a - b });
                    todo.pop();
                }
                (a, b) => todo.extend([a.err(), b.err()].into_iter().flatten()),
            }
        }
        let all = 0..record.expressions.len();
        Ok(Self { counters, expressions: all.map(|n| known.get(&n).copied().unwrap_or(0)).collect() })
    }

    fn get(&self, counter: Counter) -> u64 {
        match counter {
            Counter::Zero => 0,
            Counter::Counted(n) => self.counters.get(n).copied().unwrap_or(0),
            // A difference can be negative if the function was left in the middle.
            Counter::Minus(n) | Counter::Plus(n) => {
                u64::try_from(self.expressions[n].max(0)).unwrap_or(u64::MAX)
            }
        }
    }

    /// The use of a macro has the count of the macro's first region.
    fn region(&self, record: &FunctionRecord, region: &Region) -> u64 {
        let mut kind = region.kind;
        for _ in 0..=record.files.len() {
            match kind {
                RegionKind::Code(counter) | RegionKind::Gap(counter) => return self.get(counter),
                RegionKind::Expansion(file) => {
                    let is_first = |r: &&Region| {
                        r.file == file && matches!(r.kind, RegionKind::Code(_) | RegionKind::Expansion(_))
                    };
                    let Some(first) = record.regions.iter().find(is_first) else { return 0 };
                    kind = first.kind;
                }
                _ => return 0,
            }
        }
        0
    }
}
