//! From what `check` and `verify` found to the results of ports.

use super::{PortProblem, PortResult, Rule};
use crate::config::Least;
use crate::evidence::grade::is_enough;
use crate::evidence::status::{Checked, Complaint, Passed, Status, SymbolStatus, Trouble, below_least};
use crate::judge::verify::Judgement;
use crate::report::{Values, c_fault, finding};
use crate::verdict::Grade;
use std::path::Path;
use std::time::Duration;

/// The results of `check`. `within` is the target repository, relative to the root of the git repository.
pub fn of_check(checked: &Checked, within: &Path) -> Vec<PortResult> {
    let failed = |c: &Complaint| {
        let (rule, reason, help) = (c.trouble.into(), c.reason.clone(), c.help.clone());
        PortResult {
            symbol: c.symbol.clone(),
            file: joined(within, &c.file),
            line: c.line,
            grade: None,
            time: None,
            problem: Some(PortProblem { rule, reason, help, details: None }),
        }
    };
    let passed = |p: &Passed| PortResult {
        symbol: p.symbol.clone(),
        file: joined(within, &p.file),
        line: p.line,
        grade: Some(p.grade),
        time: None,
        problem: None,
    };
    checked.symbols.iter().map(failed).chain(checked.passed.iter().map(passed)).collect()
}

/// The results of `verify`, which accepts the grade `least` and better ones. `status`, taken after it, knows where each
/// port is; a judgement has only the place of the C function.
pub fn of_verify(all: &[Judgement], status: &Status, least: Least, within: &Path) -> Vec<PortResult> {
    let result = |judgement: &Judgement| {
        let of = status.of(judgement.symbol.as_str());
        let c_line = usize::try_from(judgement.line).unwrap_or(1);
        let (file, line) = match of {
            Some(of) => (&of.file, of.problem.as_ref().and_then(|problem| problem.line).unwrap_or(of.line)),
            None => (&judgement.file, c_line),
        };
        PortResult {
            symbol: judgement.symbol.to_string(),
            file: joined(within, file),
            line,
            grade: Some(judgement.grade),
            time: judgement.millis.map(Duration::from_millis),
            problem: problem(judgement, of, least),
        }
    };
    all.iter().map(result).collect()
}

/// What makes the exit code of `verify` another than 0.
fn problem(judgement: &Judgement, status: Option<&SymbolStatus>, least: Least) -> Option<PortProblem> {
    let Judgement { symbol, grade, .. } = judgement;
    let trouble = status.and_then(|status| status.problem.as_ref()).map(|problem| problem.trouble);
    let rule = match grade {
        Grade::Refuted if trouble == Some(Trouble::Audit) => Rule::Audit,
        Grade::Refuted => Rule::Refuted,
        _ if judgement.c_fault => Rule::CFault,
        _ if is_enough(*grade, least) => return None,
        Grade::Stub => Rule::Stub,
        Grade::Unjudged => Rule::Unjudged,
        Grade::Stale => Rule::Stale,
        Grade::Unverifiable => Rule::Unverifiable,
        Grade::Weak | Grade::Verified | Grade::Exhaustive => Rule::BelowLeast,
    };
    let help = match rule {
        Rule::Refuted | Rule::Audit => Trouble::Refuted.help(symbol.as_str()),
        Rule::Stub | Rule::Missing => format!("cargo implfuzz port {symbol}"),
        Rule::Stale | Rule::Unjudged => Trouble::Stale.help(symbol.as_str()),
        Rule::BelowLeast | Rule::Unverifiable => below_least(symbol.as_str(), "grade"),
        Rule::CFault => format!("cargo implfuzz findings list --c-bugs {symbol}"),
    };
    let reason = match (&judgement.reason, rule) {
        (Some(why), Rule::BelowLeast) => format!("its grade is `{grade}`: {why}"),
        (Some(why), _) => why.clone(),
        (None, _) => format!("its grade is `{grade}`"),
    };
    Some(PortProblem { rule, reason, help, details: details(judgement) })
}

/// The inputs that the run found, without colours.
fn details(judgement: &Judgement) -> Option<String> {
    let symbol = &judgement.symbol;
    let of_port = judgement.finding.iter().map(|(_, found)| finding(symbol, found, Values::Short));
    let of_c = judgement
        .c_faults
        .iter()
        .map(|(_, fault)| c_fault(symbol, (fault.kind, &fault.finding, &fault.report), Values::Short));
    let text: String = of_port.chain(of_c).collect();
    (!text.is_empty()).then(|| anstream::adapter::strip_str(&text).to_string())
}

fn joined(within: &Path, file: &str) -> String {
    within.join(file).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::status::Problem;
    use crate::project::ported::Ported;
    use crate::store::FindingId;
    use crate::symbol::SymbolName;
    use crate::verdict::{Finding, FindingClass};

    fn judgement(grade: Grade, reason: &str) -> Judgement {
        let (symbol, file) = (SymbolName::new("f"), "f.c".to_owned());
        Judgement { symbol, file, line: 4, grade, reason: Some(reason.into()), ..Judgement::default() }
    }

    fn one(judgement: &Judgement, least: Least) -> PortResult {
        let mut all = of_verify(std::slice::from_ref(judgement), &Status::default(), least, Path::new("lib"));
        all.remove(0)
    }

    fn rule(judgement: &Judgement, least: Least) -> Option<Rule> {
        one(judgement, least).problem.map(|problem| problem.rule)
    }

    #[test]
    fn a_port_passes_exactly_if_the_exit_code_of_verify_allows_it() {
        let of = |grade, least| rule(&judgement(grade, "why"), least);
        assert_eq!(of(Grade::Verified, Least::Verified), None);
        assert_eq!(of(Grade::Weak, Least::Weak), None);
        assert_eq!(of(Grade::Unverifiable, Least::Unverifiable), None);
        assert_eq!(of(Grade::Weak, Least::Verified), Some(Rule::BelowLeast));
        assert_eq!(of(Grade::Unverifiable, Least::Weak), Some(Rule::Unverifiable));
        assert_eq!(of(Grade::Refuted, Least::Unverifiable), Some(Rule::Refuted));
        assert_eq!(of(Grade::Stub, Least::Unverifiable), Some(Rule::Stub));
        let fault = Judgement { c_fault: true, ..judgement(Grade::Unverifiable, "why") };
        assert_eq!(rule(&fault, Least::Unverifiable), Some(Rule::CFault));
    }

    #[test]
    fn a_rejected_port_is_shown_at_the_line_that_the_audit_rejects() {
        let problem = Problem { trouble: Trouble::Audit, line: Some(12), reason: "extern".into() };
        let of = SymbolStatus {
            file: "rust/src/f.rs".into(),
            line: 9,
            state: Ported::Yes,
            entry: None,
            problem: Some(problem),
        };
        let status = Status { symbols: [("f".to_owned(), of)].into() };
        let refuted = judgement(Grade::Refuted, "the audit rejects it: extern");
        let all = of_verify(&[refuted], &status, Least::Weak, Path::new(""));
        assert_eq!((all[0].file.as_str(), all[0].line), ("rust/src/f.rs", 12));
        assert_eq!(all[0].problem.as_ref().unwrap().rule, Rule::Audit);
    }

    #[test]
    fn a_finding_is_told_without_colours() {
        let pair = |value: &str| vec![("x".to_owned(), value.to_owned())];
        let found = Finding {
            class: FindingClass::Mismatch,
            what: "return value".into(),
            input: vec![1],
            args: pair("7"),
            oracle: pair("1"),
            subject: pair("2"),
            place: None,
        };
        let refuted = Judgement {
            finding: Some((FindingId(1), found)),
            ..judgement(Grade::Refuted, "mismatch: return value")
        };
        let result = one(&refuted, Least::Weak);
        assert_eq!((result.file.as_str(), result.line), ("lib/f.c", 4));
        let details = result.problem.unwrap().details.unwrap();
        assert!(details.starts_with("mismatch in f: return value\n    x = 7\n"), "{details}");
    }
}
