//! Results as text: findings, checks, errors. Pure functions; colours are ANSI escapes, which the streams
//! of `screen` and `progress` remove where they are not wanted.

use super::printable::printable;
use super::shorten;
use super::table::Table;
use crate::count::count;
use crate::error::Error;
use crate::platform::doctor::{Check, Status};
use crate::symbol::SymbolName;
use crate::verdict::{CFaultKind, CallInPlace, Finding};
use anstyle::{AnsiColor, Style};
use std::fmt::Write;

pub(super) const BOLD: Style = Style::new().bold();
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();
pub(super) const WARN: Style = AnsiColor::Yellow.on_default().bold();
pub(super) const FAINT: Style = Style::new().dimmed();

/// An error as `error[CODE]: …` and `  help: …`.
pub fn error(error: &Error) -> String {
    let code = error.kind().code().word();
    let mut text = format!("{BAD}error[{code}]:{BAD:#} {}\n", printable(&error.to_string()));
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

/// Whether values are shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// Shortened to a line.
    Short,
    Whole,
}

/// A finding: the arguments one per line, then the results of both sides next to each other.
pub fn finding(symbol: &SymbolName, finding: &Finding, values: Values) -> String {
    compared(symbol, finding, ["C original", "port"], values)
}

/// A finding about C alone: the kind of fault, the arguments, two differing runs, the sanitizer's report.
pub fn c_fault(
    symbol: &SymbolName,
    (fault, finding, report): (CFaultKind, &Finding, &str),
    values: Values,
) -> String {
    let mut text = compared(symbol, finding, ["one run of C", "another one"], values);
    let _ = writeln!(text, "{}", fault.told());
    report.lines().for_each(|line| text += &format!("    {}\n", printable(line)));
    text
}

fn compared(symbol: &SymbolName, finding: &Finding, sides: [&str; 2], values: Values) -> String {
    let Finding { class, what, args, oracle, subject, place, .. } = finding;
    let mut text = format!("{BAD}{class}{BAD:#} in {BOLD}{symbol}{BOLD:#}: {}\n", printable(what));
    if let Some(place) = place {
        let CallInPlace { driver, call, .. } = place;
        let what =
            if *call == 0 { "at the end of a run".to_owned() } else { format!("in call {call} of a run") };
        let condition = place.condition().map(|words| format!(", where {}", printable(&words)));
        let bytes = count(finding.input.len(), "byte");
        let _ = writeln!(
            text,
            "    {what} of the driver {} on an input of {bytes}{}",
            printable(driver),
            condition.unwrap_or_default()
        );
    }
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
    let results = names.into_iter().map(|name| {
        let (c, rust) = (part(oracle, name), part(subject, name));
        let mark = if c == rust { "" } else { "differs" };
        let absent = if subject.is_empty() { "did not return" } else { "-" };
        let (c, rust) = (printable(&c.unwrap_or("-".into())), printable(&rust.unwrap_or(absent.into())));
        let (c, rust) = if values == Values::Whole { (c, rust) } else { shorten::results(&c, &rust) };
        (name, c, rust, mark)
    });
    let table = Table::of(results)
        .left("result", |(name, ..)| (*name).clone())
        .left(sides[0], |(_, c, ..)| c.clone())
        .left(sides[1], |(_, _, rust, _)| rust.clone())
        .left("", |(.., mark)| (*mark).to_owned());
    if !table.is_empty() {
        table.text().lines().for_each(|line| text += &format!("    {line}\n"));
    }
    text
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
    fn errors_say_what_and_help() {
        let e = Error::new(ErrorKind::Io, "no disk").context("saving").help("buy one");
        assert_eq!(plain(&error(&e)), "error[E0008]: saving: no disk\n  help: buy one\n");
        assert_eq!(plain(&error(&Error::interrupted())), "error[E0011]: interrupted\n");
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
            place: None,
        };
        let text = plain(&finding(&SymbolName::new("sum"), &f, Values::Short));
        let expected = "mismatch in sum: return value\n    buf = [1, 2]\n    len = 2\n    \
             result        C original  port\n    \
             return value  5           6     differs\n    \
             errno         0           0\n";
        assert_eq!(text, expected);
        f.class = FindingClass::Panic;
        f.subject.clear();
        let text = plain(&finding(&SymbolName::new("sum"), &f, Values::Short));
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
            place: None,
        };
        let name = SymbolName::new("sum");
        let short = plain(&finding(&name, &f, Values::Short));
        assert!(short.contains("7, 7,…, 7") && short.contains("7, 7, fill: 17"), "{short}");
        let whole = plain(&finding(&name, &f, Values::Whole));
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
        let e = Error::new(ErrorKind::C, "in \u{1b}]0;x\u{7}.c");
        assert!(!plain(&error(&e)).contains('\u{1b}'));
    }
}
