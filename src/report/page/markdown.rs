//! The summary of a library for a pull request, in GitHub's Markdown.

use super::marks;
use super::view::contract_origin;
use crate::count::count;
use crate::report::printable;
use crate::survey::{Known, Survey};
use crate::verdict::Grade;
use std::fmt::Write as _;

/// The numbers of all functions, the table of the ported ones, and the names of the others.
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
    let (ported, others): (Vec<&Known>, Vec<&Known>) = survey.functions.iter().partition(is_ported);
    if !ported.is_empty() {
        text += "\n| function | state | executions | remarks |\n|---|---|--:|---|\n";
    }
    for known in ported {
        let judgement = known.judgement.as_ref();
        let contract = judgement.and_then(contract_origin).map(|origin| format!("contract {origin}"));
        let remarks = judgement.and_then(|one| one.reason.clone()).into_iter().chain(contract);
        let remarks = remarks.collect::<Vec<_>>().join("; ");
        let runs = judgement
            .map(|one| one.executions.unwrap_or(0) + one.in_place.unwrap_or(0))
            .filter(|runs| *runs > 0);
        let _ = writeln!(
            text,
            "| `{}` | {} {} | {} | {} |",
            known.row.symbol,
            marks::sign(known),
            marks::word(known),
            runs.map(|runs| runs.to_string()).unwrap_or_default(),
            cell(&remarks)
        );
    }
    for (state, plural) in [("stub", "stubs"), ("not portable", "not portable")] {
        let names =
            others.iter().filter(|known| marks::word(known) == state).map(|known| known.row.symbol.as_str());
        text += &named(&names.collect::<Vec<_>>(), (state, plural));
    }
    text
}

fn is_ported(known: &&Known) -> bool {
    known.judgement.as_ref().is_some_and(|one| one.grade != Grade::Stub)
}

/// A line with the first of these names.
fn named(names: &[&str], (one, many): (&str, &str)) -> String {
    const SHOWN: usize = 12;
    if names.is_empty() {
        return String::new();
    }
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let word = if names.len() == 1 { one } else { many };
    format!("\n{} {word}: {}{more}\n", names.len(), shown.join(", "))
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
    fn many_names_are_cut_off() {
        let names = ["f"; 14];
        assert_eq!(super::named(&names[..1], ("stub", "stubs")), "\n1 stub: `f`\n");
        assert!(super::named(&names, ("stub", "stubs")).starts_with("\n14 stubs: `f`, "));
        assert!(super::named(&names, ("stub", "stubs")).ends_with("`f` and 2 more\n"));
        assert_eq!(super::named(&[], ("stub", "stubs")), "");
    }

    #[test]
    fn text_from_outside_stays_in_its_cell() {
        assert_eq!(
            super::cell("a|b\n<img> @me [x](y) \u{1b}"),
            "a\\|b &lt;img> &#64;me \\[x\\](y) \\\\u{1b}"
        );
    }
}
