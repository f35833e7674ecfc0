//! Results of ports for CI servers: JUnit XML, SARIF, and annotations of GitHub. Pure functions from results to text.

mod annotations;
mod junit;
mod results;
mod rule;
mod sarif;

pub use annotations::{annotations, inert};
pub use junit::junit;
pub use results::{of_check, of_verify};
pub use rule::Rule;
pub use sarif::sarif;

use crate::verdict::Grade;
use std::time::Duration;

/// The result of one port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortResult {
    pub symbol: String,
    /// Relative to the root of the git repository.
    pub file: String,
    pub line: usize,
    /// Unknown where only the problem counts.
    pub grade: Option<Grade>,
    /// The time of the campaign, if it ran just now.
    pub time: Option<Duration>,
    /// Absent if the port passed.
    pub problem: Option<PortProblem>,
}

/// Why a port did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortProblem {
    pub rule: Rule,
    pub reason: String,
    /// The command that mends it.
    pub help: String,
    /// The input that shows the difference, and both results, in lines.
    pub details: Option<String>,
}

/// The ports that did not pass, each with its problem.
fn problems(results: &[PortResult]) -> impl Iterator<Item = (&PortResult, &PortProblem)> {
    results.iter().filter_map(|result| Some((result, result.problem.as_ref()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A port that passed, and ports with problems whose texts have characters that each format must escape.
    pub(super) fn results() -> Vec<PortResult> {
        let result = |symbol: &str, line, problem| PortResult {
            symbol: symbol.into(),
            file: "lib/rust/src/a b,c:d.rs".into(),
            line,
            grade: None,
            time: None,
            problem,
        };
        let problem = |rule, reason: &str, details: Option<&str>| PortProblem {
            rule,
            reason: reason.into(),
            help: "cargo implfuzz verify it".into(),
            details: details.map(str::to_owned),
        };
        let time = Some(Duration::from_millis(1500));
        let passed = PortResult { grade: Some(Grade::Verified), time, ..result("fine", 3, None) };
        let differs = problem(
            Rule::Refuted,
            "mismatch: `<x>` & 100 %,\r\nthen \u{1b}[31m",
            Some("    x = 0\n    ]]>\n"),
        );
        let changed = problem(Rule::Stale, "since it was judged, the contract changed", None);
        vec![passed, result("wrong", 7, Some(differs)), result("old", 1, Some(changed))]
    }
}
