//! Branches that a compiler proves impossible, so that coverage does not require them. The mapping defines a
//! branch as a sum of counters, and the optimised text shows where each counter is incremented. If the sum is
//! zero on every path through the function, the branch is never taken.

use super::mapping::{Counter, FunctionRecord, key_of};
use crate::libc_facts as libc;
use std::collections::{BTreeMap, HashMap};

/// Counters by number, each with its coefficient.
type Sum = BTreeMap<usize, i64>;

/// The counter increments of one function that are left after optimisation.
#[derive(Debug)]
pub struct Optimised {
    /// Hash of the function's shape; it must equal that in the coverage build.
    shape: u64,
    /// Every function with such increments: the function itself, and those into which it was inlined.
    graphs: Vec<Graph>,
}

/// The blocks of a function, the entry block first.
#[derive(Debug, Default)]
struct Graph {
    blocks: Vec<Block>,
    by_name: HashMap<String, usize>,
}

#[derive(Debug, Default)]
struct Block {
    /// Counters and the increments; `None` for an increment that is not constant.
    adds: Vec<(usize, Option<i64>)>,
    next: Vec<String>,
    returns: bool,
    /// The last function that it calls may leave by a jump.
    may_leave: bool,
}

impl Optimised {
    /// The function called `c_name` in LLVM's text; `None` if it is absent or if something other than
    /// incrementing is done with its counters.
    pub fn of(text: &str, c_name: &str) -> Option<Self> {
        let source =
            text.lines().find_map(|line| line.strip_prefix("source_filename = \"")?.strip_suffix('"'))?;
        // The names of static functions include the file, without folders (clang's counters) or with them
        // (LLVM's).
        let file = source.rsplit('/').next().unwrap_or(source);
        let own = [format!("{file}:{c_name}"), format!("{source};{c_name}")];
        let names = [key_of(c_name.as_bytes()), key_of(own[0].as_bytes()), key_of(own[1].as_bytes())];
        let (symbol, shape) = text.lines().find_map(|line| {
            let (symbol, key) = record(line)?;
            names.contains(&key.0).then_some((symbol, key.1))
        })?;
        let graphs: Vec<Graph> = functions(text).map(|body| graph(body, symbol)).collect::<Option<_>>()?;
        let graphs: Vec<Graph> =
            graphs.into_iter().filter(|graph| graph.blocks.iter().any(|b| !b.adds.is_empty())).collect();
        (!graphs.is_empty()).then_some(Self { shape, graphs })
    }

    /// Whether this count is zero in every run.
    pub fn never(&self, record: &FunctionRecord, counter: Counter) -> bool {
        let mut sum = Sum::new();
        record.key.1 == self.shape
            && add(&mut sum, record, counter, 1, record.expressions.len() + 1).is_some()
            && self.graphs.iter().all(|graph| graph.is_zero(&sum))
    }
}

/// Adds a count to a sum; `None` if an expression refers to nothing or to itself.
fn add(sum: &mut Sum, record: &FunctionRecord, counter: Counter, times: i64, depth: usize) -> Option<()> {
    let (number, sign) = match counter {
        Counter::Zero => return Some(()),
        Counter::Counted(number) => {
            let own = sum.entry(number).or_default();
            *own = own.checked_add(times)?;
            return Some(());
        }
        Counter::Minus(number) => (number, -1),
        Counter::Plus(number) => (number, 1),
    };
    let (a, b) = *record.expressions.get(number)?;
    let depth = depth.checked_sub(1)?;
    add(sum, record, a, times, depth)?;
    add(sum, record, b, times.checked_mul(sign)?, depth)
}

impl Graph {
    /// Whether the sum is zero on every path to a return, and does not change in any loop.
    fn is_zero(&self, sum: &Sum) -> bool {
        let mut before: Vec<Option<i64>> = vec![None; self.blocks.len()];
        let mut open = vec![(0, 0)];
        while let Some((at, value)) = open.pop() {
            match before[at] {
                Some(known) if known == value => continue,
                Some(_) => return false,
                None => before[at] = Some(value),
            }
            let block = &self.blocks[at];
            let of = |(counter, times): &(usize, Option<i64>)| match sum.get(counter) {
                None | Some(0) => Some(0),
                Some(meant) => times.and_then(|times| meant.checked_mul(times)),
            };
            let added = block.adds.iter().try_fold(value, |sum: i64, add| sum.checked_add(of(add)?));
            let Some(after) = added else { return false };
            if block.returns && after != 0 {
                return false;
            }
            for name in &block.next {
                let Some(next) = self.by_name.get(name) else { return false };
                open.push((*next, after));
            }
        }
        true
    }
}

/// The counters' symbol and the hashes of name and shape, if the line is the record of a function's counters.
fn record(line: &str) -> Option<(&str, (u64, u64))> {
    let rest = line.strip_prefix("@__profd_")?;
    let (symbol, rest) = rest.split_once(" = ")?;
    let (_, rest) = rest.split_once("} { i64 ")?;
    let (name, rest) = rest.split_once(", i64 ")?;
    let (shape, _) = rest.split_once(',')?;
    let number = |text: &str| text.parse::<i64>().ok().map(i64::cast_unsigned);
    Some((symbol, (number(name)?, number(shape)?)))
}

fn functions(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let mut lines = text.lines();
    std::iter::from_fn(move || {
        lines.find(|line| line.starts_with("define "))?;
        Some(lines.by_ref().take_while(|line| *line != "}").collect())
    })
}

/// `None` if anything other than incrementing is done with the counters.
fn graph(lines: Vec<&str>, symbol: &str) -> Option<Graph> {
    let mut graph = Graph { blocks: vec![Block::default()], ..Graph::default() };
    let counters = format!("@__profc_{symbol}");
    for line in lines {
        if let Some(name) = label(line) {
            // The entry block may have a label.
            let is_first = graph.blocks.len() == 1 && graph.by_name.is_empty() && graph.blocks[0].is_empty();
            if !is_first {
                graph.blocks.push(Block::default());
            }
            graph.by_name.insert(name.to_owned(), graph.blocks.len() - 1);
            continue;
        }
        let block = graph.blocks.last_mut().expect("there is one from the beginning");
        if mentions(line, &counters) {
            block.adds.push(addition(line, &counters)?);
        }
        let line = line.trim_start();
        block.returns |= line.starts_with("ret ") || line.starts_with("resume ");
        if let Some(called) = called(line) {
            block.may_leave = !libc::ends(called) && !called.starts_with("llvm.");
        }
        // After a call that does not return, a jump may leave the function and enter it again.
        block.returns |= line == "unreachable" && block.may_leave;
        block.next.extend(line.split("label %").skip(1).map(|rest| name_at(rest).to_owned()));
    }
    Some(graph)
}

impl Block {
    fn is_empty(&self) -> bool {
        self.adds.is_empty() && self.next.is_empty() && !self.returns
    }
}

/// The name in a line such as `12:                    ; preds = %3`.
fn label(line: &str) -> Option<&str> {
    let (name, _) = line.split_once(':')?;
    (!line.starts_with([' ', '\t', ';']) && !name.contains(' ')).then(|| name_at(name))
}

/// The name after `%`.
fn name_at(text: &str) -> &str {
    match text.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or_default(),
        None => text.split(|c: char| !is_part(c)).next().unwrap_or_default(),
    }
}

fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-')
}

/// The function that a line calls: `None` without a call, empty if the callee is not named.
fn called(line: &str) -> Option<&str> {
    let (front, rest) = line.split_once("call ")?;
    let is_call = front.is_empty() || front.ends_with("= ") || front.ends_with("tail ");
    let named = rest.split_once('@').filter(|(before, _)| !before.contains('('));
    is_call.then(|| named.map_or("", |(_, name)| name_at(name)))
}

fn mentions(line: &str, symbol: &str) -> bool {
    line.match_indices(symbol).any(|(at, _)| !line[at + symbol.len()..].starts_with(is_part))
}

/// The number of a counter and the increment, if it is constant.
fn addition(line: &str, counters: &str) -> Option<(usize, Option<i64>)> {
    let (_, rest) = line.split_once("atomicrmw add ptr ")?;
    let (number, rest) = match rest.strip_prefix(counters) {
        Some(rest) => (0, rest),
        None => {
            let (of, rest) = rest.strip_prefix("getelementptr ")?.split_once(counters)?;
            let (indices, rest) = rest.split_once(')')?;
            let last: usize = indices.rsplit("i64 ").next()?.parse().ok()?;
            match of {
                _ if of.ends_with("(i8, ptr ") && last.is_multiple_of(8) => (last / 8, rest),
                _ if of.ends_with(" x i64], ptr ") && indices.starts_with(", i64 0, ") => (last, rest),
                _ => return None,
            }
        }
    };
    let times = rest.strip_prefix(", i64 ")?.split(' ').next()?;
    Some((number, times.parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "source_filename = \"/x/a.c\"
@__profd_f = private global { i64, i64, ptr } { i64 NAME, i64 -7, ptr null }, section \"x\"

define i32 @f(i32 %0) {
  %2 = atomicrmw add ptr @__profc_f, i64 1 monotonic, align 8
  %3 = atomicrmw add ptr getelementptr inbounds nuw (i8, ptr @__profc_f, i64 8), i64 1 monotonic, align 8
  %4 = icmp eq i32 %0, 0
  br i1 %4, label %5, label %7

5:                                                ; preds = %1
  %6 = atomicrmw add ptr getelementptr inbounds ([4 x i64], ptr @__profc_f, i64 0, i64 2), i64 1 monotonic, align 8
  br label %7

7:                                                ; preds = %5, %1
  ret i32 0
}
";

    fn text() -> String {
        TEXT.replace("NAME", &key_of(b"f").cast_signed().to_string())
    }

    fn known() -> FunctionRecord {
        let counted = |n| Counter::Counted(n);
        let expressions =
            vec![(counted(0), counted(1)), (counted(0), counted(2)), (Counter::Minus(1), counted(1))];
        FunctionRecord { key: (0, (-7_i64).cast_unsigned()), files: vec![], expressions, regions: vec![] }
    }

    #[test]
    fn a_way_whose_counters_cancel_out_on_every_path_is_never_taken() {
        let (optimised, record) = (Optimised::of(&text(), "f").unwrap(), known());
        let never = |counter| optimised.never(&record, counter);
        // The compiler removed the increments of counter 3, and increments counters 0 and 1 together.
        assert!(never(Counter::Counted(3)) && never(Counter::Minus(0)));
        for taken in [Counter::Counted(0), Counter::Counted(1), Counter::Counted(2), Counter::Minus(1)] {
            assert!(!never(taken), "{taken:?}");
        }
        assert!(!never(Counter::Plus(2)) && !never(Counter::Minus(9)));
    }

    #[test]
    fn what_a_file_keeps_to_itself_is_found_by_its_name() {
        for name in ["/x/a.c;f", "a.c:f"] {
            let text = TEXT.replace("NAME", &key_of(name.as_bytes()).cast_signed().to_string());
            assert!(Optimised::of(&text, "f").unwrap().never(&known(), Counter::Counted(3)), "{name}");
        }
    }

    #[test]
    fn what_is_of_another_shape_or_not_understood_proves_nothing() {
        let record = FunctionRecord { key: (0, 8), ..known() };
        assert!(!Optimised::of(&text(), "f").unwrap().never(&record, Counter::Counted(3)));
        assert!(Optimised::of(&text(), "g").is_none());
        let moved = text().replace("icmp eq i32 %0, 0", "select i1 %a, ptr @__profc_f, ptr null");
        assert!(Optimised::of(&moved, "f").is_none());
        let other = text().replace("icmp eq i32 %0, 0", "load i64, ptr @__profc_f.g");
        assert!(Optimised::of(&other, "f").is_some());
    }

    #[test]
    fn what_is_added_by_a_condition_may_be_anything() {
        let step = text().replace("i64 0, i64 2), i64 1 ", "i64 0, i64 2), i64 %9 ");
        let (optimised, record) = (Optimised::of(&step, "f").unwrap(), known());
        assert!(
            !optimised.never(&record, Counter::Counted(2)) && !optimised.never(&record, Counter::Minus(1))
        );
        assert!(optimised.never(&record, Counter::Minus(0)) && optimised.never(&record, Counter::Counted(3)));
    }

    #[test]
    fn a_way_to_what_may_jump_back_is_taken_and_one_to_the_end_of_the_process_is_not() {
        let ending = |call: &str| text().replace("  br label %7\n", &format!("  {call}\n  unreachable\n"));
        for (call, is_never) in [
            ("call void @abort() #4", true),
            ("tail call void @__assert_fail(ptr @.str, ptr @.str.1, i32 3, ptr @f)", true),
            ("call void @fail(i32 %0) #4", false),
            ("%9 = tail call i32 %8()", false),
            ("call void (ptr, ...) @give_up(ptr @.str)", false),
        ] {
            let optimised = Optimised::of(&ending(call), "f").unwrap();
            assert_eq!(optimised.never(&known(), Counter::Counted(2)), is_never, "{call}");
        }
    }

    #[test]
    fn the_sum_round_a_loop_must_be_zero_too() {
        let looping = text().replace("  br label %7\n", "  br i1 %4, label %5, label %7\n");
        let (optimised, record) = (Optimised::of(&looping, "f").unwrap(), known());
        assert!(optimised.never(&record, Counter::Minus(0)));
        assert!(!optimised.never(&record, Counter::Minus(1)));
    }
}
