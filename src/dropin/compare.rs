//! Compares the results of both sides.

use super::side::{Ran, last_lines};
use crate::platform::process::Exit;

/// Number of lines of each side that a difference shows.
const SHOWN: usize = 5;

/// A command, and its exit with C alone and with the port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    pub command: Vec<String>,
    pub c: Exit,
    pub port: Exit,
    /// Number of lines that C alone prints.
    pub lines: usize,
    pub difference: Option<Difference>,
}

/// The first difference of two outputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Number of the first differing line of standard output, from 1; `None` if only the exits differ.
    pub line: Option<usize>,
    /// The lines from there on.
    pub c: Vec<String>,
    pub port: Vec<String>,
    /// The end of standard error with the port.
    pub stderr: String,
}

impl Compared {
    /// Compares exit and standard output.
    pub fn of(command: &[String], c: &Ran, port: &Ran) -> Self {
        let [ours, theirs] = [c, port].map(|ran| String::from_utf8_lossy(&ran.stdout));
        let (ours, theirs): (Vec<&str>, Vec<&str>) = (ours.lines().collect(), theirs.lines().collect());
        let same = c.exit == port.exit && c.stdout == port.stdout && c.exit != Exit::TimedOut;
        let difference = (!same).then(|| {
            let longest = ours.len().max(theirs.len());
            let at = (0..longest).find(|at| ours.get(*at) != theirs.get(*at));
            let from = |lines: &[&str]| {
                let lines = at.map_or(&[][..], |at| lines.get(at..).unwrap_or_default());
                lines.iter().take(SHOWN).map(|line| (*line).to_owned()).collect()
            };
            let stderr = last_lines(&port.stderr, SHOWN);
            Difference { line: at.map(|at| at + 1), c: from(&ours), port: from(&theirs), stderr }
        });
        Self { command: command.to_vec(), c: c.exit, port: port.exit, lines: ours.len(), difference }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(code: i32, stdout: &str) -> Ran {
        Ran { exit: Exit::Code(code), stdout: stdout.into(), stderr: "a\n\nb\n".into() }
    }

    #[test]
    fn the_first_line_that_differs_is_told() {
        let compared = Compared::of(&[], &ran(0, "one\ntwo\nthree\n"), &ran(0, "one\n2\n"));
        let difference = compared.difference.unwrap();
        assert_eq!((difference.line, difference.stderr.as_str()), (Some(2), "  a\n  b"));
        assert_eq!(
            (difference.c, difference.port),
            (vec!["two".into(), "three".into()], vec!["2".to_owned()])
        );
    }

    #[test]
    fn the_end_counts_as_much_as_the_output() {
        assert_eq!(Compared::of(&[], &ran(2, "x\n"), &ran(2, "x\n")).difference, None);
        let difference = Compared::of(&[], &ran(0, "x\n"), &ran(1, "x\n")).difference.unwrap();
        assert_eq!((difference.line, difference.c.len()), (None, 0));
        let late = Ran { exit: Exit::TimedOut, ..ran(0, "x\n") };
        assert!(Compared::of(&[], &late, &late).difference.is_some());
        // Even a missing final line break is a difference.
        assert!(Compared::of(&[], &ran(0, "x\n"), &ran(0, "x")).difference.is_some());
    }
}
