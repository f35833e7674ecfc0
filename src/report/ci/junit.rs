//! JUnit XML: one test case for each ported function.

use super::{PortProblem, PortResult};
use crate::report::printable;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// The results of a command, such as `check`.
pub fn junit(command: &str, results: &[PortResult]) -> String {
    let name = format!("cargo implfuzz {command}");
    let mut suite = TestSuite::new(name.as_str());
    suite.add_test_cases(results.iter().map(case));
    if results.iter().any(|result| result.time.is_some()) {
        suite.set_time(results.iter().filter_map(|result| result.time).sum());
    }
    let mut report = Report::new(name);
    report.add_test_suite(suite);
    report.to_string().expect("quick-junit leaves out what XML does not allow, and memory takes every byte")
}

fn case(result: &PortResult) -> TestCase {
    let status =
        result.problem.as_ref().map_or_else(TestCaseStatus::success, |problem| failure(result, problem));
    let mut case = TestCase::new(result.symbol.as_str(), status);
    case.set_classname(class(&result.file));
    case.extra.insert("file".into(), result.file.as_str().into());
    case.extra.insert("line".into(), result.line.to_string().into());
    if let Some(time) = result.time {
        case.set_time(time);
    }
    if let Some(grade) = result.grade {
        case.add_property(("grade", grade.word()));
    }
    case
}

fn failure(result: &PortResult, problem: &PortProblem) -> TestCaseStatus {
    let PortProblem { rule, reason, help, details } = problem;
    let reason = printable(reason);
    let details = details.as_ref().map(|text| format!("\n{}", printable(text))).unwrap_or_default();
    let PortResult { symbol, file, line, .. } = result;
    let text = format!("{file}:{line}: {symbol}: {}: {reason}\nhelp: {help}\n{details}", rule.id());
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    // An attribute has no line breaks.
    status.set_type(rule.id()).set_message(reason.replace('\n', " ")).set_description(text);
    status
}

/// Servers group test cases by the parts of a name with points.
fn class(file: &str) -> String {
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    stem.replace('/', ".")
}

#[cfg(test)]
mod tests {
    use super::super::tests::results;
    use super::*;

    #[test]
    fn every_port_is_a_test_case_with_its_place() {
        insta::assert_snapshot!(junit("verify", &results()));
    }

    #[test]
    fn what_is_written_reads_back_with_the_same_counts_and_texts() {
        let report = Report::deserialize_from_str(&junit("check", &results())).unwrap();
        assert_eq!((report.tests, report.failures, report.errors), (3, 2, 0));
        let cases = &report.test_suites[0].test_cases;
        assert_eq!(cases[0].status, TestCaseStatus::success());
        assert_eq!(cases[0].properties[0].value.as_str(), "verified");
        let TestCaseStatus::NonSuccess { ty, description, .. } = &cases[1].status else {
            panic!("{cases:?}")
        };
        assert_eq!(ty.as_ref().unwrap().as_str(), "refuted");
        let text = description.as_ref().unwrap().as_str();
        assert!(text.contains("`<x>` & 100 %") && text.contains("    ]]>"), "{text}");
    }

    #[test]
    fn without_ports_there_is_an_empty_suite() {
        let report = Report::deserialize_from_str(&junit("check", &[])).unwrap();
        assert_eq!((report.tests, report.test_suites.len()), (0, 1));
    }
}
