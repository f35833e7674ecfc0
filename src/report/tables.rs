//! Results as text: tables, findings, checks, errors. Pure functions; colours are ANSI escapes, which the streams
//! of `screen` and `progress` remove where they are not wanted.

use super::shorten;
use crate::error::Error;
use crate::platform::doctor::{Check, Status};
use crate::symbol::SymbolName;
use crate::verdict::{CFaultKind, Finding};
use anstyle::{AnsiColor, Style};
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use std::fmt::Write;

pub(super) const BOLD: Style = Style::new().bold();
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(super) const WARN: Style = AnsiColor::Yellow.on_default().bold();
pub(super) const FAINT: Style = Style::new().dimmed();

/// The alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    /// For numbers.
    Right,
}

/// Heading and alignment of a column.
#[derive(Debug, Clone, Copy)]
pub struct Column<'a> {
    pub heading: &'a str,
    pub align: Align,
}

impl<'a> Column<'a> {
    /// A column of words.
    pub fn left(heading: &'a str) -> Self {
        Self { heading, align: Align::Left }
    }

    /// A column of numbers.
    pub fn right(heading: &'a str) -> Self {
        Self { heading, align: Align::Right }
    }
}

/// A table without borders, so that lines can be cut and searched. Long cells wrap at `width` columns; `None`: the
/// terminal's width, or no wrapping without a terminal.
pub fn table(columns: &[Column], rows: &[Vec<String>], width: Option<u16>) -> String {
    let mut table = filled(columns, rows, printable);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    if let Some(width) = width {
        table.set_width(width);
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}

/// A table with one line per row: lines longer than `width`, or the terminal's width, are cut with `…`.
pub fn lines(columns: &[Column], rows: &[Vec<String>], width: Option<u16>) -> String {
    let mut table = filled(columns, rows, |text| printable(&text.replace('\n', " ")));
    table.set_content_arrangement(ContentArrangement::Disabled);
    let width = width.or_else(|| table.width()).map_or(usize::MAX, usize::from);
    table.lines().map(|line| cut(line.trim_end(), width) + "\n").collect()
}

fn filled(columns: &[Column], rows: &[Vec<String>], shown: impl Fn(&str) -> String) -> Table {
    let mut table = Table::new();
    let cell = |text: &str, column: Option<&Column>| {
        let right = column.is_some_and(|column| column.align == Align::Right);
        let align = if right { CellAlignment::Right } else { CellAlignment::Left };
        Cell::new(shown(text)).set_alignment(align)
    };
    table.load_style(presets::NOTHING);
    table.set_header(columns.iter().map(|column| cell(column.heading, Some(column))));
    for row in rows {
        table.add_row(row.iter().enumerate().map(|(i, text)| cell(text, columns.get(i))));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table
}

/// At most `max` characters of a text; if it is longer, the last one is `…`.
fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some(_) => text.chars().take(max.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// An error as `error: …` and `  help: …`.
pub fn error(error: &Error) -> String {
    let mut text = format!("{BAD}error:{BAD:#} {}\n", printable(&error.to_string()));
    if let Some(help) = error.help_text() {
        text += &format!("  {BOLD}help:{BOLD:#} {}\n", printable(help));
    }
    text
}

/// The lines of `doctor`.
pub fn checks(checks: &[Check]) -> String {
    let name_width = checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for check in checks {
        let (style, word, detail) = match &check.status {
            Status::Found { path, version } if version.is_empty() => {
                (GOOD, "ok     ", path.display().to_string())
            }
            Status::Found { path, version } => (GOOD, "ok     ", format!("{version} ({})", path.display())),
            Status::Unfit { path, reason } => {
                (BAD, "unfit  ", format!("{}: {reason}; it {}", path.display(), check.why))
            }
            Status::Missing if check.need.is_optional() => (BOLD, "absent ", format!("it {}", check.why)),
            Status::Missing => (BAD, "missing", format!("it {}", check.why)),
        };
        let name = check.name;
        // Writing into a string does not fail.
        let _ = writeln!(text, "{style}{word}{style:#} {name:name_width$}  {}", printable(&detail));
    }
    text
}

/// A finding: the arguments one per line, then the results of both sides next to each other.
pub fn finding(symbol: &SymbolName, finding: &Finding, width: Option<u16>) -> String {
    compared(symbol, finding, ["C original", "port"], (Values::Short, width))
}

/// A finding with all values unshortened.
pub fn finding_whole(symbol: &SymbolName, finding: &Finding) -> String {
    compared(symbol, finding, ["C original", "port"], (Values::Whole, None))
}

/// Whether values are shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// Shortened to a line.
    Short,
    Whole,
}

/// A finding about C alone: the kind of fault, the arguments, two differing runs, the sanitizer's report.
pub fn c_fault(
    symbol: &SymbolName,
    (fault, finding, report): (CFaultKind, &Finding, &str),
    values: Values,
) -> String {
    let mut text = compared(symbol, finding, ["one run of C", "another one"], (values, None));
    let _ = writeln!(text, "{}", fault.told());
    report.lines().for_each(|line| text += &format!("    {}\n", printable(line)));
    text
}

fn compared(
    symbol: &SymbolName,
    finding: &Finding,
    sides: [&str; 2],
    (values, width): (Values, Option<u16>),
) -> String {
    let Finding { class, what, args, oracle, subject, .. } = finding;
    let mut text = format!("{BAD}{class}{BAD:#} in {BOLD}{symbol}{BOLD:#}: {}\n", printable(what));
    for (name, value) in args {
        let value = printable(value);
        let value = if values == Values::Whole { value } else { shorten::argument(&value) };
        let _ = writeln!(text, "    {} = {value}", printable(name));
    }
    let part = |side: &[(String, String)], name: &str| {
        side.iter().find(|(part, _)| part == name).map(|(_, value)| value.clone())
    };
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in oracle.iter().chain(subject) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let rows: Vec<Vec<String>> = names
        .iter()
        .map(|name| {
            let (c, rust) = (part(oracle, name), part(subject, name));
            let mark = if c == rust { "" } else { "differs" };
            let absent = if subject.is_empty() { "did not return" } else { "-" };
            let (c, rust) = (printable(&c.unwrap_or("-".into())), printable(&rust.unwrap_or(absent.into())));
            let (c, rust) = if values == Values::Whole { (c, rust) } else { shorten::results(&c, &rust) };
            vec![(*name).clone(), c, rust, mark.into()]
        })
        .collect();
    if !rows.is_empty() {
        let columns =
            [Column::left("result"), Column::left(sides[0]), Column::left(sides[1]), Column::left("")];
        let table = table(&columns, &rows, width.map(|width| width.saturating_sub(4)));
        table.lines().for_each(|line| text += &format!("    {line}\n"));
    }
    text
}

/// Makes text from C, a model or the database safe for a terminal: escapes control characters other than line
/// breaks, and characters that reverse the text direction or are invisible.
pub fn printable(text: &str) -> String {
    let is_hidden = |c: char| matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let steers = |c: char| c.is_control() && c != '\n' || is_hidden(c);
    if !text.contains(steers) {
        return text.to_owned();
    }
    let show = |c: char| if steers(c) { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(show).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::platform::doctor::Need;
    use crate::platform::toolchain::BuildTool;
    use crate::verdict::FindingClass;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn tables_have_no_borders_and_numbers_stand_right() {
        let rows = [vec!["adler32".into(), "7".into()], vec!["f".into(), "1234".into()]];
        let text = table(&[Column::left("symbol"), Column::right("calls")], &rows, None);
        assert_eq!(text, "symbol   calls\nadler32      7\nf         1234\n");
    }

    #[test]
    fn long_cells_are_wrapped_at_the_width() {
        let rows = [vec!["f".into(), "many words that do not fit into it".into()]];
        let text = table(&[Column::left("a"), Column::left("b")], &rows, Some(20));
        assert!(text.lines().count() > 2 && text.lines().all(|line| line.len() <= 20), "{text}");
    }

    #[test]
    fn lines_stay_lines() {
        let rows = [vec!["f".into(), "many words\nthat do not fit".into()], vec!["g".into(), "few".into()]];
        let columns = [Column::left("a"), Column::left("b")];
        assert_eq!(lines(&columns, &rows, Some(16)), "a  b\nf  many words t…\ng  few\n");
        assert_eq!(lines(&columns, &rows, None), "a  b\nf  many words that do not fit\ng  few\n");
    }

    #[test]
    fn errors_say_what_and_help() {
        let e = Error::new(ErrorKind::Io, "no disk").context("saving").help("buy one");
        assert_eq!(plain(&error(&e)), "error: saving: no disk\n  help: buy one\n");
        assert_eq!(plain(&error(&Error::interrupted())), "error: interrupted\n");
    }

    #[test]
    fn a_finding_shows_arguments_and_both_results() {
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        let mut f = Finding {
            class: FindingClass::Mismatch,
            what: "return value".into(),
            input: vec![1],
            args: vec![pair("buf", "[1, 2]"), pair("len", "2")],
            oracle: vec![pair("return value", "5"), pair("errno", "0")],
            subject: vec![pair("return value", "6"), pair("errno", "0")],
        };
        let text = plain(&finding(&SymbolName::new("sum"), &f, None));
        let expected = "mismatch in sum: return value\n    buf = [1, 2]\n    len = 2\n    \
             result        C original  port\n    \
             return value  5           6     differs\n    \
             errno         0           0\n";
        assert_eq!(text, expected);
        f.class = FindingClass::Panic;
        f.subject.clear();
        let text = plain(&finding(&SymbolName::new("sum"), &f, None));
        assert!(text.contains("return value  5           did not return  differs"), "{text}");
    }

    #[test]
    fn long_values_are_cut_unless_they_are_wanted_whole() {
        let (value, pair) =
            ("7, ".repeat(100), |name: &str, value: &str| (name.to_owned(), value.to_owned()));
        let f = Finding {
            class: FindingClass::Mismatch,
            what: "`d`".into(),
            input: vec![],
            args: vec![pair("d", &format!("{value}fill: 17"))],
            oracle: vec![pair("d", &format!("{value}8"))],
            subject: vec![pair("d", &format!("{value}9"))],
        };
        let name = SymbolName::new("sum");
        let short = plain(&finding(&name, &f, None));
        assert!(short.contains("7, 7,…, 7") && short.contains("7, 7, fill: 17"), "{short}");
        let whole = plain(&finding_whole(&name, &f));
        assert!(whole.contains("fill: 17") && whole.contains(&format!("{value}8  {value}9")), "{whole}");
        let of_c = plain(&c_fault(&name, (CFaultKind::Breaks, &f, ""), Values::Whole));
        assert!(of_c.contains("fill: 17") && !of_c.contains('…'), "{of_c}");
    }

    #[test]
    fn checks_say_what_is_missing_and_why() {
        let check = |status| Check { need: Need::Ar, name: "ar", status, why: "packs" };
        let optional = Check {
            need: Need::Build(BuildTool::Make),
            name: "make",
            status: Status::Missing,
            why: "prints",
        };
        assert_eq!(plain(&checks(&[optional])), "absent  make  it prints\n");
        let found = Status::Found { path: "/bin/ar".into(), version: "2.40".into() };
        let unfit = Status::Unfit { path: "/bin/ar".into(), reason: "old".into() };
        let text = plain(&checks(&[check(found), check(unfit), check(Status::Missing)]));
        assert_eq!(
            text,
            "ok      ar  2.40 (/bin/ar)\nunfit   ar  /bin/ar: old; it packs\nmissing ar  it packs\n"
        );
    }

    #[test]
    fn terminal_sequences_from_outside_are_shown_not_obeyed() {
        assert_eq!(printable("a\u{1b}[2Jb\nc\u{7}"), "a\\u{1b}[2Jb\nc\\u{7}");
        let e = Error::new(ErrorKind::C, "in \u{1b}]0;x\u{7}.c");
        assert!(!plain(&error(&e)).contains('\u{1b}'));
    }
}
