//! Decides from runs of the C original alone whether the port or C is at fault. It runs nothing;
//! `c_alone` does.
//!
//! The port is at fault if C always returns the same result. In every other case the port is not blamed.

use super::report::Parts;
use crate::verdict::{Attribution, CFaultKind, FindingClass};

/// The result of one run of the C original alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CRun {
    /// It returned: the hashes of its effects, and the effects for people.
    Returned { record: Parts, shown: Parts },
    /// A sanitizer stopped it, or it ended the process.
    Broke(String),
    /// It exceeded its limit of processor time.
    Hung,
    /// It exceeded its limit of wall time, which alone says nothing on a busy machine.
    Late,
    /// The contract excludes the input, so neither side was called.
    RuledOut,
}

/// Who is at fault, from all runs of C on one input.
pub fn attribute(runs: &[CRun]) -> Attribution {
    if runs.iter().any(|run| matches!(run, CRun::Broke(_))) {
        return Attribution::CFault(CFaultKind::Breaks);
    }
    if runs.contains(&CRun::RuledOut) {
        return Attribution::Port;
    }
    let returned = runs.iter().any(|run| matches!(run, CRun::Returned { .. }));
    let hung = runs.contains(&CRun::Hung);
    match returned {
        false if runs.is_empty() => Attribution::Port,
        false => Attribution::CFault(CFaultKind::Hangs),
        true if hung || disagree(runs).is_some() => Attribution::CFault(CFaultKind::Differs),
        true => Attribution::Port,
    }
}

/// Two runs with different results, and the first part that differs; `None` if there are no such runs.
pub fn disagree(runs: &[CRun]) -> Option<(&Parts, &Parts, String)> {
    fn returned(run: &CRun) -> Option<(&Parts, &Parts)> {
        match run {
            CRun::Returned { record, shown } => Some((record, shown)),
            CRun::Broke(_) | CRun::Hung | CRun::Late | CRun::RuledOut => None,
        }
    }
    let mut all = runs.iter().filter_map(returned);
    let (first, shown) = all.next()?;
    all.find(|(record, _)| *record != first).map(|(record, other)| {
        let part = first.iter().zip(record).find(|(a, b)| a != b).map(|((name, _), _)| name.clone());
        (shown, other, part.unwrap_or_else(|| "what is compared".to_owned()))
    })
}

/// The class of a C fault, from the harness's reason and the sanitizer's report.
pub fn class(reason: &str, report: &str) -> FindingClass {
    use FindingClass::*;
    let ubsan: &[(&str, FindingClass)] = &[
        ("out_of_bounds", OutOfBounds),
        ("nonnull", NullDeref),
        ("unreachable", Abort),
        ("missing_return", Abort),
        ("type_mismatch", Abort),
        ("pointer_overflow", Abort),
    ];
    let asan: &[(&str, FindingClass)] = &[
        ("heap-buffer-overflow", HeapBufferOverflow),
        ("container-overflow", HeapBufferOverflow),
        ("stack-buffer-overflow", StackBufferOverflow),
        ("stack-buffer-underflow", StackBufferOverflow),
        ("dynamic-stack-buffer-overflow", StackBufferOverflow),
        ("global-buffer-overflow", GlobalBufferOverflow),
        ("heap-use-after-free", UseAfterFree),
        ("stack-use-after-", UseAfterFree),
        ("use-after-poison", UseAfterFree),
        ("attempting double-free", DoubleFree),
        ("negative-size-param", OutOfBounds),
        ("out-of-memory", OutOfMemory),
        ("allocation-size-too-big", OutOfMemory),
        ("FPE", IntegerUb),
    ];
    if let Some(kind) = reason.strip_prefix("ubsan ") {
        // `shift_out_of_bounds` is about integers.
        let known = ubsan.iter().find(|(word, _)| kind.starts_with(word));
        return known.map_or(IntegerUb, |(_, class)| *class);
    }
    if matches!(reason, "hang" | "calls back without end") {
        return Timeout;
    }
    if reason == "SIGFPE" {
        return IntegerUb;
    }
    let said = |text: &str| text.split("AddressSanitizer: ").nth(1).map(str::to_owned);
    let Some(said) = said(report).or_else(|| said(reason)) else { return Abort };
    if said.starts_with("SEGV") && report.contains("zero page") {
        return NullDeref;
    }
    asan.iter().find(|(word, _)| said.starts_with(word)).map_or(Abort, |(_, class)| *class)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn returned(value: &str) -> CRun {
        let part = vec![("return value".to_owned(), value.to_owned())];
        CRun::Returned { record: part.clone(), shown: part }
    }

    #[test]
    fn every_row_of_the_table() {
        let broke = || CRun::Broke("asan store1".into());
        let (same, other) = (|| returned("1"), || returned("2"));
        let table = [
            // C always returns the same result: a bug of the port, whether it differs, panics, aborts or
            // hangs.
            (vec![same(), same(), same()], Attribution::Port),
            (vec![same()], Attribution::Port),
            // One sanitizer report is enough.
            (vec![broke(), broke(), broke()], Attribution::CFault(CFaultKind::Breaks)),
            (vec![same(), broke(), same()], Attribution::CFault(CFaultKind::Breaks)),
            (vec![CRun::Hung, broke()], Attribution::CFault(CFaultKind::Breaks)),
            (vec![same(), other(), broke()], Attribution::CFault(CFaultKind::Breaks)),
            // Two runs disagree.
            (vec![same(), other()], Attribution::CFault(CFaultKind::Differs)),
            (vec![same(), same(), other()], Attribution::CFault(CFaultKind::Differs)),
            (vec![same(), CRun::Hung], Attribution::CFault(CFaultKind::Differs)),
            // C hangs.
            (vec![CRun::Hung], Attribution::CFault(CFaultKind::Hangs)),
            (vec![CRun::Hung, CRun::Hung], Attribution::CFault(CFaultKind::Hangs)),
            // A busy machine is not C's fault, but exceeding the wall time in every run is.
            (vec![same(), CRun::Late], Attribution::Port),
            (vec![same(), other(), CRun::Late], Attribution::CFault(CFaultKind::Differs)),
            (vec![CRun::Late, CRun::Hung], Attribution::CFault(CFaultKind::Hangs)),
            (vec![CRun::Late, CRun::Late], Attribution::CFault(CFaultKind::Hangs)),
            // If C was never called, nothing speaks for the port.
            (vec![CRun::RuledOut, CRun::RuledOut], Attribution::Port),
            (vec![CRun::RuledOut, CRun::Hung], Attribution::Port),
            (vec![], Attribution::Port),
        ];
        for (runs, expected) in table {
            assert_eq!(attribute(&runs), expected, "{runs:?}");
        }
    }

    #[test]
    fn runs_that_disagree_are_named_with_the_part() {
        let runs = [returned("1"), CRun::Hung, returned("1"), returned("2")];
        let (first, second, part) = disagree(&runs).unwrap();
        assert_eq!((first[0].1.as_str(), second[0].1.as_str(), part.as_str()), ("1", "2", "return value"));
        assert_eq!(disagree(&[returned("1"), CRun::Hung]), None);
    }

    #[test]
    fn every_class_is_read_from_the_report() {
        use FindingClass::*;
        let asan = |text: &str| format!("==7==ERROR: AddressSanitizer: {text}\n    #0 f x.c:3\n");
        for (reason, report, expected) in [
            ("asan store1", asan("heap-buffer-overflow on address 0x1"), HeapBufferOverflow),
            ("asan load4", asan("stack-buffer-overflow on address 0x1"), StackBufferOverflow),
            ("asan load_n", asan("global-buffer-overflow on address 0x1"), GlobalBufferOverflow),
            ("asan memcpy", asan("heap-use-after-free on address 0x1"), UseAfterFree),
            ("bad free", asan("attempting double-free on 0x1"), DoubleFree),
            (
                "SIGSEGV",
                asan("SEGV on unknown address 0x0\nHint: address points to the zero page."),
                NullDeref,
            ),
            ("SIGSEGV", asan("SEGV on unknown address 0x99"), Abort),
            ("AddressSanitizer: heap-buffer-overflow in strcat", String::new(), HeapBufferOverflow),
            ("ubsan add_overflow at x.c:7", String::new(), IntegerUb),
            ("ubsan shift_out_of_bounds at x.c:7", String::new(), IntegerUb),
            ("ubsan divrem_overflow at x.c:7", String::new(), IntegerUb),
            ("ubsan out_of_bounds at x.c:7", String::new(), OutOfBounds),
            ("ubsan nonnull_arg at x.c:7", String::new(), NullDeref),
            ("SIGFPE", String::new(), IntegerUb),
            ("hang", String::new(), Timeout),
            ("exit", String::new(), Abort),
        ] {
            assert_eq!(class(reason, &report), expected, "{reason} {report}");
        }
    }
}
