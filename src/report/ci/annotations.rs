//! Annotations of GitHub: commands to the runner, one per line of standard output.

use super::{PortResult, problems};
use crate::report::printable;

/// An error annotation for each port that did not pass.
pub fn annotations(results: &[PortResult]) -> String {
    let line = |(result, problem): (&PortResult, &super::PortProblem)| {
        let title = format!("{}: {}", result.symbol, problem.rule.id());
        let message = printable(&format!("{}\nhelp: {}", problem.reason, problem.help));
        format!(
            "::error file={},line={},title={}::{}\n",
            property(&result.file),
            result.line,
            property(&title),
            data(&message)
        )
    };
    problems(results).map(line).collect()
}

/// Text from C, a port or a model with lines that the runner would obey, made into lines that it does not.
pub fn inert(text: &str) -> String {
    let line = |line: &str| {
        let indent = line.len() - line.trim_start().len();
        match line[indent..].chars().next() {
            Some(first @ (':' | '#'))
                if ["::", "##["].iter().any(|mark| line[indent..].starts_with(mark)) =>
            {
                format!("{}{first} {}", &line[..indent], &line[indent + 1..])
            }
            _ => line.to_owned(),
        }
    };
    text.split_inclusive(['\n', '\r']).map(line).collect()
}

/// Text behind `::`, which ends with the line.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property, which also ends at `,` and `:`.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::super::tests::results;
    use super::*;

    #[test]
    fn every_problem_is_one_line_that_the_runner_can_read_back() {
        insta::assert_snapshot!(annotations(&results()));
    }

    #[test]
    fn no_text_ends_a_command_or_a_property_early() {
        assert_eq!(data("50 %\r\n::x"), "50 %25%0D%0A::x");
        assert_eq!(property("a,b:c%\n"), "a%2Cb%3Ac%25%0A");
    }

    #[test]
    fn text_from_outside_is_no_command() {
        assert_eq!(
            inert("a ::b\n  ::error::x\r::debug::y\n##[group]\n"),
            "a ::b\n  : :error::x\r: :debug::y\n# #[group]\n"
        );
        assert_eq!(inert(": one\n# two"), ": one\n# two");
    }

    #[test]
    fn ports_that_passed_have_none() {
        assert_eq!(annotations(&results()[..1]), "");
    }
}
