//! The summary of a library for a pull request, in GitHub's Markdown.

use super::marks;
use crate::count::count;
use crate::report::printable;
use crate::survey::{Known, Survey};
use crate::verdict::Grade;
use std::fmt::Write as _;

/// The table of all functions that are not verified, and the numbers of all.
pub fn markdown(survey: &Survey) -> String {
    let of = &survey.overview;
    let mut text = format!("## cargo-implfuzz: {}\n\n", cell(&survey.name));
    let grades: Vec<String> = of.grades.iter().rev().map(|(grade, n)| format!("{n} {grade}")).collect();
    let _ = writeln!(
        text,
        "**{} of {} ported**{}{}",
        of.ported,
        count(of.functions, "function"),
        if grades.is_empty() { "" } else { ": " },
        grades.join(", ")
    );
    let is_done = |known: &&Known| {
        known.judgement.as_ref().is_some_and(|one| matches!(one.grade, Grade::Verified | Grade::Exhaustive))
    };
    let open: Vec<&Known> = survey.functions.iter().filter(|known| !is_done(known)).collect();
    if !open.is_empty() {
        text += "\n| function | state | what it lacks |\n|---|---|---|\n";
    }
    for known in open {
        let lacks = known.judgement.as_ref().and_then(|one| one.reason.as_deref());
        let _ = writeln!(
            text,
            "| `{}` | {} {} | {} |",
            known.row.symbol,
            marks::sign(known),
            marks::word(known),
            cell(lacks.unwrap_or_default())
        );
    }
    text
}

/// Text from outside in one cell: without line breaks, links, HTML and mentions.
fn cell(text: &str) -> String {
    let mut cell = String::new();
    for c in printable(text).chars() {
        match c {
            '\n' => cell.push(' '),
            '<' => cell += "&lt;",
            '@' => cell += "&#64;",
            '|' | '\\' | '[' | ']' | '`' | '*' | '_' | '#' | '!' => cell.extend(['\\', c]),
            c => cell.push(c),
        }
    }
    cell
}

#[cfg(test)]
mod tests {
    #[test]
    fn text_from_outside_stays_in_its_cell() {
        assert_eq!(
            super::cell("a|b\n<img> @me [x](y) \u{1b}"),
            "a\\|b &lt;img> &#64;me \\[x\\](y) \\\\u{1b}"
        );
    }
}
