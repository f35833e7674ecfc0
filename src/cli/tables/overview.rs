//! The state of the port of a whole library as text; `port --all`, `verify --all` and `status` end with it.

use crate::count::count;
use crate::judge::verify::Overview;
use crate::project::listing::Cause;
use crate::report::printable;
use crate::symbol::SymbolName;

/// Largest number of reasons, and of functions for each, in text; JSON has all.
const REASONS: usize = 8;
const NAMES: usize = 5;

/// A few lines; nothing while no function is ported.
pub fn overview(of: &Overview) -> String {
    if of.ported == 0 {
        return String::new();
    }
    let grades: Vec<String> =
        of.grades.iter().rev().map(|(grade, count)| format!("{count} {grade}")).collect();
    let judged = [
        (of.by_harness, "by their harnesses"),
        (of.by_drivers, "at the calls of drivers"),
        (of.by_both, "by both"),
    ];
    let judged = judged.iter().filter(|(count, _)| *count > 0);
    let judged: Vec<String> = judged.map(|(count, how)| format!("{count} {how}")).collect();
    let mut text =
        format!("ported: {} of {}: {}\n", of.ported, count(of.functions, "function"), grades.join(", "));
    if !judged.is_empty() {
        text += &format!("judged: {}\n", judged.join(", "));
    }
    text += &format!(
        "unsafe: {}, in {}; safe signatures: {}\n",
        if of.unsafe_count == 1 {
            "1 block or function".to_owned()
        } else {
            format!("{} blocks and functions", of.unsafe_count)
        },
        count(of.with_unsafe, "port"),
        of.safe_signatures
    );
    text + &missing(of)
}

fn missing(of: &Overview) -> String {
    let left: usize = of.missing.iter().map(|one| one.functions.len()).sum();
    if left == 0 {
        return "missing for a port without C: nothing\n".to_owned();
    }
    let mut text = format!("missing for a port without C: {}\n", count(left, "function"));
    for one in of.missing.iter().take(REASONS) {
        text += &format!("{:>5}  {}: {}\n", one.functions.len(), printable(&one.cause), names(one));
    }
    if of.missing.len() > REASONS {
        let more = count(of.missing.len() - REASONS, "more reason");
        text += &format!("       {more}: `cargo implfuzz list` shows all functions\n");
    }
    text
}

fn names(one: &Cause) -> String {
    let mut names: Vec<&str> = one.functions.iter().take(NAMES).map(SymbolName::as_str).collect();
    if one.functions.len() > NAMES {
        names.push("...");
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Grade;

    #[test]
    fn a_whole_port_says_how_it_is_proved() {
        let of = Overview {
            functions: 2,
            ported: 2,
            grades: [(Grade::Verified, 2)].into(),
            ..Overview::default()
        };
        insta::assert_snapshot!(overview(&of));
        assert_eq!(overview(&Overview { functions: 2, ..Overview::default() }), "");
    }

    #[test]
    fn what_is_missing_is_named_with_its_reason() {
        let many = (0..7).map(|at| SymbolName::new(format!("f{at}"))).collect();
        let missing = vec![
            Cause { cause: "no driver reaches it".into(), functions: many },
            Cause { cause: "variadic".into(), functions: vec![SymbolName::new("log")] },
        ];
        let of = Overview {
            functions: 12,
            ported: 4,
            grades: [(Grade::Weak, 1), (Grade::Verified, 3)].into(),
            by_harness: 2,
            by_drivers: 1,
            by_both: 1,
            safe_signatures: 3,
            unsafe_count: 5,
            with_unsafe: 2,
            missing,
        };
        insta::assert_snapshot!(overview(&of));
    }
}
