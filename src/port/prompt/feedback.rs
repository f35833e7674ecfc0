//! The feedback on a failed candidate for the next prompt: located, bounded, with a hint for its kind.
//!
//! `prompt` has the rest of the prompt; `supervisor` decides the next step.

mod hints;
pub mod undefined_names;

use crate::fuzz::build::fuzz_binary::Diagnostic;
use crate::llm::quoted::fenced;
use crate::verdict::{CallInPlace, Finding, FindingClass};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Largest number of errors shown.
const MAX_ERRORS: usize = 10;
/// Lines shown before and after the line of an error.
const AROUND: usize = 10;
/// Lines of rustc's own text for one error.
const MAX_RENDERED: usize = 16;
/// Linkers' phrases for a missing symbol.
const UNDEFINED: [&str; 4] =
    ["undefined reference to", "undefined symbol", "undefined hidden symbol", "undefined protected symbol"];
/// Largest number of characters of one value.
const MAX_VALUE: usize = 400;

/// A candidate with its position.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// The module's file, as in diagnostics.
    pub file: &'a str,
    /// The line of that file on which the text begins, from 1. All line numbers shown refer to the file.
    pub first_line: usize,
    pub text: &'a str,
}

/// A violation that the audit found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditNote {
    /// Line of the module's file, from 1.
    pub line: usize,
    /// The rule's name.
    pub rule: String,
    pub reason: String,
}

/// The kind of a failure; each has its own hint. The candidate never ran up to `Audit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    Syntax,
    Type,
    Borrow,
    UnresolvedName,
    Unsafe,
    UndefinedReference,
    OtherCompile,
    CompilerStopped,
    Audit,
    Mismatch,
    Panic,
    Abort,
    OutOfBounds,
    Leak,
    SystemCall,
    State,
    Timeout,
    OutOfMemory,
    NotCalled,
}

/// A description of the failure, for the next prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feedback {
    pub category: Category,
    /// Equal for equal failures; it contains no numbers.
    pub key: String,
    pub text: String,
}

impl Category {
    /// By rustc's code, else by the words of the message, which may be a linker's.
    fn of_diagnostic(diagnostic: &Diagnostic) -> Self {
        let message = diagnostic.message.as_str();
        match diagnostic.code.as_deref() {
            Some("E0133") => Self::Unsafe,
            Some("E0308" | "E0277" | "E0369" | "E0604" | "E0605" | "E0606" | "E0607" | "E0600" | "E0061") => {
                Self::Type
            }
            Some(
                "E0381" | "E0382" | "E0384" | "E0499" | "E0502" | "E0503" | "E0505" | "E0506" | "E0507"
                | "E0515" | "E0594" | "E0596" | "E0597" | "E0716" | "E0106" | "E0621",
            ) => Self::Borrow,
            Some(
                "E0405" | "E0412" | "E0422" | "E0423" | "E0424" | "E0425" | "E0432" | "E0433" | "E0531"
                | "E0560" | "E0599" | "E0609",
            ) => Self::UnresolvedName,
            Some(_) => Self::OtherCompile,
            None if UNDEFINED.iter().any(|words| message.contains(words)) => Self::UndefinedReference,
            None if message.starts_with("cannot find") => Self::UnresolvedName,
            None => Self::Syntax,
        }
    }

    fn of_finding(class: FindingClass) -> Self {
        match class {
            FindingClass::Mismatch => Self::Mismatch,
            FindingClass::Panic => Self::Panic,
            FindingClass::Abort | FindingClass::SilentExit => Self::Abort,
            FindingClass::Timeout => Self::Timeout,
            FindingClass::OutOfMemory => Self::OutOfMemory,
            FindingClass::OutOfBounds => Self::OutOfBounds,
            FindingClass::Leak => Self::Leak,
            FindingClass::SystemCall => Self::SystemCall,
            FindingClass::State => Self::State,
            // Classes of C faults, which never reach this prompt.
            FindingClass::HeapBufferOverflow
            | FindingClass::StackBufferOverflow
            | FindingClass::GlobalBufferOverflow
            | FindingClass::UseAfterFree
            | FindingClass::DoubleFree
            | FindingClass::NullDeref
            | FindingClass::IntegerUb
            | FindingClass::NonDeterminism => Self::OutOfBounds,
        }
    }
}

/// Feedback on a failed build; `errors` is not empty.
pub fn compiler(candidate: &Candidate, errors: &[Diagnostic]) -> Feedback {
    let mut text = format!("The candidate does not compile: {}.\n", count(errors.len(), "error"));
    for error in errors.iter().take(MAX_ERRORS) {
        let category = Category::of_diagnostic(error).word();
        let code = error.code.as_ref().map_or(String::new(), |code| format!("[{code}]"));
        put(
            &mut text,
            &format!(
                "\nerror{code} at {}:{} ({category}): {}",
                error.file,
                error.line,
                one_line(&error.message)
            ),
        );
        let rendered: Vec<&str> = error.rendered.lines().skip(1).take(MAX_RENDERED).collect();
        if !rendered.is_empty() {
            put(&mut text, &fenced(&rendered.join("\n"), "text"));
        }
    }
    left_out(&mut text, errors.len());
    let own = errors.iter().take(MAX_ERRORS).filter(|error| error.file.ends_with(candidate.file));
    windows(&mut text, candidate, &own.map(|error| error.line).collect());
    let categories: BTreeSet<Category> =
        errors.iter().take(MAX_ERRORS).map(Category::of_diagnostic).collect();
    hints(&mut text, &categories);
    let keys: BTreeSet<String> = errors
        .iter()
        .map(|e| normalised(&format!("{} {}", e.code.as_deref().unwrap_or("-"), e.message)))
        .collect();
    Feedback {
        category: errors.first().map_or(Category::OtherCompile, Category::of_diagnostic),
        key: keys.into_iter().collect::<Vec<_>>().join("; "),
        text,
    }
}

/// Feedback on an audit with violations; `notes` is not empty.
pub fn audit(candidate: &Candidate, notes: &[AuditNote]) -> Feedback {
    let mut text = format!("The candidate breaks {}, so it was not built.\n\n", count(notes.len(), "rule"));
    for note in notes.iter().take(MAX_ERRORS) {
        put(&mut text, &format!("- {}:{}: {} ({})", candidate.file, note.line, note.reason, note.rule));
    }
    left_out(&mut text, notes.len());
    windows(&mut text, candidate, &notes.iter().take(MAX_ERRORS).map(|note| note.line).collect());
    hints(&mut text, &BTreeSet::from([Category::Audit]));
    let keys: BTreeSet<String> =
        notes.iter().map(|note| normalised(&format!("{} {}", note.rule, note.reason))).collect();
    Feedback { category: Category::Audit, key: keys.into_iter().collect::<Vec<_>>().join("; "), text }
}

/// Feedback on a build whose object files reach forbidden symbols; `forbidden` is not empty.
pub fn linkage(forbidden: &[String]) -> Feedback {
    let mut text =
        "The candidate was built, but its compiled code leads to what no port may lead to:\n\n".to_owned();
    for what in forbidden.iter().take(MAX_ERRORS) {
        put(&mut text, &format!("- {what}"));
    }
    left_out(&mut text, forbidden.len());
    hints(&mut text, &BTreeSet::from([Category::Audit]));
    Feedback { category: Category::Audit, key: normalised(&forbidden.join("; ")), text }
}

/// Feedback on a run that refuted the candidate.
pub fn refuted(finding: &Finding) -> Feedback {
    let category = Category::of_finding(finding.class);
    let mut text = format!("The candidate is refuted ({}): {}\n", finding.class, one_line(&finding.what));
    if let Some(condition) = finding.place.as_ref().and_then(CallInPlace::condition) {
        put(&mut text, &format!("It differs in a call where {condition}; C met the same."));
    }
    let args = finding.args.iter().map(|(name, value)| format!("{name} = {}", clipped(value, 0)));
    let mut values = format!("Arguments:\n{}\n", list(args, "(none)"));
    let oracle = finding.oracle.iter().map(|part| beside(part, &finding.subject));
    put(&mut values, &format!("The C original:\n{}", list(oracle, "(nothing that is compared)")));
    let subject = finding.subject.iter().map(|part| beside(part, &finding.oracle));
    put(&mut values, &format!("The port:\n{}", list(subject, "(did not return)")));
    // In place, neither arguments nor all results have a text.
    if finding.place.is_none() || !finding.oracle.is_empty() {
        put(&mut text, &fenced(&values, "text"));
    }
    hints(&mut text, &BTreeSet::from([category]));
    Feedback { category, key: normalised(&format!("{} {}", finding.class, finding.what)), text }
}

/// Feedback on a refutation by the hidden gate: the class, and nothing about the input.
pub fn refuted_unseen(class: FindingClass) -> Feedback {
    let category = Category::of_finding(class);
    let mut text = format!(
        "The candidate agrees with the C original on every input that was tried in the open, and is refuted ({class}) by one that \
         is kept back. Compare it with the C text once more, case by case: limits of loops and lengths, widths and signs of types, \
         order of evaluation, what happens to memory that is not written.\n"
    );
    hints(&mut text, &BTreeSet::from([category]));
    Feedback { category, key: normalised(&format!("hidden {class}")), text }
}

/// Feedback on a difference that only the build for users shows. The inputs of its runs stay hidden, and what the finding says
/// could tell them.
pub fn refuted_as_shipped(class: FindingClass) -> Feedback {
    let category = Category::of_finding(class);
    let mut text = format!(
        "The candidate agrees with the C original in the build for fuzzing, and is refuted ({class}) as it ships. \
         It must do the same in every build, for every order of calls, and without any code of the C function.\n"
    );
    hints(&mut text, &BTreeSet::from([category]));
    Feedback { category, key: normalised(&format!("shipped {class}")), text }
}

/// Feedback on what only the build for users shows of a candidate.
pub fn refused_as_shipped(reason: &str) -> Feedback {
    let text = format!(
        "The candidate passes in the build for fuzzing, and is refused as it ships: {reason}. It must be the same in every build.\n"
    );
    Feedback { category: Category::Audit, key: normalised(&format!("shipped {reason}")), text }
}

/// One part of a result, marked if the other side's part differs.
fn beside((name, own): &(String, String), others: &[(String, String)]) -> String {
    match others.iter().find(|(other, _)| other == name) {
        Some((_, other)) if other != own => {
            format!("{name} = {}   <- differs", clipped(own, first_difference(own, other)))
        }
        _ => format!("{name} = {}", clipped(own, 0)),
    }
}

/// Feedback on a build that the compiler did not finish, for this reason.
pub fn stopped_compiler(reason: &str) -> Feedback {
    let mut text = format!("The candidate does not compile: {reason}.\n");
    hints(&mut text, &BTreeSet::from([Category::CompilerStopped]));
    Feedback { category: Category::CompilerStopped, key: normalised(reason), text }
}

/// Feedback on an inconclusive run, with the reason.
pub fn vacuous(reason: &str) -> Feedback {
    let mut text = format!("The run of the candidate says nothing: {reason}\n");
    hints(&mut text, &BTreeSet::from([Category::NotCalled]));
    Feedback { category: Category::NotCalled, key: normalised(&format!("vacuous {reason}")), text }
}

/// A message without the parts that vary between occurrences: numbers and spacing.
pub fn normalised(message: &str) -> String {
    let mut key = String::new();
    for word in message.split_whitespace() {
        if !key.is_empty() {
            key.push(' ');
        }
        let mut digits = false;
        let bare = word.trim_start_matches(|c: char| !c.is_alphanumeric());
        let is_code =
            bare.starts_with('E') && bare.len() >= 5 && bare[1..].starts_with(|c: char| c.is_ascii_digit());
        for c in word.chars() {
            if c.is_ascii_digit() && !is_code {
                if !digits {
                    key.push('#');
                }
                digits = true;
            } else {
                digits = false;
                key.push(c);
            }
        }
    }
    key
}

/// Numbered lines around `lines`: overlapping pieces are joined, the lines themselves and gaps are marked.
fn windows(text: &mut String, candidate: &Candidate, lines: &BTreeSet<usize>) {
    let all: Vec<&str> = candidate.text.lines().collect();
    let last = candidate.first_line + all.len();
    let own: BTreeSet<usize> =
        lines.iter().copied().filter(|line| (candidate.first_line..last).contains(line)).collect();
    let shown: BTreeSet<usize> = own
        .iter()
        .flat_map(|line| line.saturating_sub(AROUND).max(candidate.first_line)..(line + AROUND + 1).min(last))
        .collect();
    if shown.is_empty() {
        return;
    }
    let width = last.to_string().len();
    let mut window = String::new();
    let mut before = candidate.first_line - 1;
    for line in shown {
        if line > before + 1 {
            put(&mut window, "  …");
        }
        let mark = if own.contains(&line) { '>' } else { ' ' };
        put(&mut window, format!("{mark} {line:width$} | {}", all[line - candidate.first_line]).trim_end());
        before = line;
    }
    if before + 1 < last {
        put(&mut window, "  …");
    }
    put(text, &format!("\nThe lines around, numbered as in {}:", candidate.file));
    put(text, &fenced(&window, "text"));
}

fn hints(text: &mut String, categories: &BTreeSet<Category>) {
    put(text, "");
    for category in categories {
        put(text, &format!("Hint ({}): {}", category.word(), category.hint()));
    }
}

fn left_out(text: &mut String, all: usize) {
    if all > MAX_ERRORS {
        put(text, &format!("\n{} more are not shown.", all - MAX_ERRORS));
    }
}

/// At most [`MAX_VALUE`] characters of a value. A longer value starts a little before the character `from`.
fn clipped(value: &str, from: usize) -> String {
    let length = value.chars().count();
    if length <= MAX_VALUE {
        return value.to_owned();
    }
    let start = from.saturating_sub(MAX_VALUE / 4).min(length - MAX_VALUE);
    let part: String = value.chars().skip(start).take(MAX_VALUE).collect();
    let before = if start > 0 { format!("({start} characters before) …") } else { String::new() };
    let after = match length - start - MAX_VALUE {
        0 => String::new(),
        left => format!("… ({left} more characters)"),
    };
    format!("{before}{part}{after}")
}

/// A message in one line, so that it cannot begin a line of its own in the prompt.
fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn first_difference(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count()
}

fn list(lines: impl Iterator<Item = String>, none: &str) -> String {
    let lines: Vec<String> = lines.map(|line| format!("  {line}")).collect();
    if lines.is_empty() { format!("  {none}") } else { lines.join("\n") }
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn put(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a String takes all text");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(code: &str, line: usize, message: &str) -> Diagnostic {
        Diagnostic {
            code: (!code.is_empty()).then(|| code.to_owned()),
            message: message.into(),
            file: "src/sum.rs".into(),
            line,
            rendered: String::new(),
        }
    }

    fn numbered(lines: usize) -> String {
        (1..=lines).map(|n| format!("text {n}\n")).collect()
    }

    #[test]
    fn windows_join_where_they_meet_and_gaps_are_marked() {
        let text = numbered(100);
        let candidate = Candidate { file: "src/sum.rs", first_line: 1, text: &text };
        let told = compiler(
            &candidate,
            &[error("E0308", 30, "a"), error("E0425", 45, "b"), error("", 90, "expected `;`")],
        )
        .text;
        for line in ["> 30 | text 30", "> 45 | text 45", "  20 | text 20", "  55 | text 55", "> 90 | text 90"]
        {
            assert!(
                told.contains(
                    &format!("\n{line}\n")
                        .replace("  20", "   20")
                        .replace("> ", ">  ")
                        .replace("  55", "   55")
                ),
                "{line}: {told}"
            );
        }
        assert!(!told.contains("text 19\n") && !told.contains("text 56\n") && !told.contains("text 79\n"));
        assert_eq!(told.matches("  …").count(), 2, "{told}");
    }

    #[test]
    fn lines_are_those_of_the_file_and_others_are_not_shown() {
        let candidate = Candidate { file: "src/sum.rs", first_line: 50, text: "fn f() {\n    x\n}\n" };
        let told = compiler(&candidate, &[error("E0425", 51, "cannot find value `x`")]).text;
        assert!(told.contains("> 51 |     x\n"), "{told}");
        let other = compiler(&candidate, &[error("E0425", 7, "cannot find value `x`")]).text;
        assert!(!other.contains("numbered"), "{other}");
        let foreign = Diagnostic { file: "src/capi.rs".into(), ..error("E0308", 51, "m") };
        assert!(!compiler(&candidate, &[foreign]).text.contains("numbered"));
    }

    #[test]
    fn only_the_first_ten_errors_are_told() {
        let candidate = Candidate { file: "src/sum.rs", first_line: 1, text: "" };
        let errors: Vec<Diagnostic> =
            (1..=14).map(|n| error("E0308", n, &format!("error number {n}"))).collect();
        let told = compiler(&candidate, &errors).text;
        assert!(told.contains("number 10") && !told.contains("number 11"), "{told}");
        assert!(told.contains("4 more"), "{told}");
    }

    #[test]
    fn categories_follow_the_code_or_the_words() {
        for (code, message, category) in [
            ("E0308", "mismatched types", Category::Type),
            ("E0499", "cannot borrow", Category::Borrow),
            ("E0425", "cannot find value", Category::UnresolvedName),
            ("E0133", "call to unsafe function", Category::Unsafe),
            ("", "expected one of `;`", Category::Syntax),
            ("", "cannot find macro `foo` in this scope", Category::UnresolvedName),
            ("", "undefined reference to `kit_sum'", Category::UndefinedReference),
            ("E0728", "`await` is only allowed inside `async` functions", Category::OtherCompile),
            ("overflowing_literals", "literal out of range", Category::OtherCompile),
        ] {
            assert_eq!(Category::of_diagnostic(&error(code, 1, message)), category, "{message}");
        }
    }

    #[test]
    fn every_category_has_a_word_and_a_hint_of_its_own() {
        let all = [
            Category::Syntax,
            Category::Type,
            Category::Borrow,
            Category::UnresolvedName,
            Category::Unsafe,
            Category::UndefinedReference,
            Category::OtherCompile,
            Category::CompilerStopped,
            Category::Audit,
            Category::Mismatch,
            Category::Panic,
            Category::Abort,
            Category::OutOfBounds,
            Category::Leak,
            Category::SystemCall,
            Category::State,
            Category::Timeout,
            Category::OutOfMemory,
            Category::NotCalled,
        ];
        let different =
            |text: fn(Category) -> &'static str| all.map(text).into_iter().collect::<BTreeSet<_>>().len();
        assert_eq!((different(Category::word), different(Category::hint)), (all.len(), all.len()));
        let compiling = all.into_iter().filter(|category| category.is_of_compiling()).count();
        assert_eq!(compiling, 9);
    }

    #[test]
    fn the_key_of_a_failure_ignores_numbers_but_not_codes() {
        let candidate = Candidate { file: "src/sum.rs", first_line: 1, text: "" };
        let key = |code, message: &str| compiler(&candidate, &[error(code, 3, message)]).key;
        assert_eq!(key("E0308", "expected 3  arguments"), key("E0308", "expected 12 arguments"));
        assert_ne!(key("E0308", "mismatched"), key("E0309", "mismatched"));
        assert_eq!(normalised("buffer dst[17]"), "buffer dst[#]");
    }

    #[test]
    fn an_audit_rejection_names_line_rule_and_reason() {
        let candidate = Candidate { file: "src/sum.rs", first_line: 1, text: "fn f() {\n    todo!()\n}" };
        let note = AuditNote { line: 2, rule: "no-stub".into(), reason: "`todo!` is a stub".into() };
        let feedback = audit(&candidate, &[note]);
        assert!(feedback.text.contains("- src/sum.rs:2: `todo!` is a stub (no-stub)"), "{}", feedback.text);
        assert!(feedback.text.contains("> 2 |     todo!()"), "{}", feedback.text);
        assert_eq!(feedback.category, Category::Audit);
    }

    #[test]
    fn what_both_sides_met_in_a_call_is_told() {
        use crate::verdict::{Answered, OtherAnswer};
        let answer = OtherAnswer { function: "fwrite".into(), how: Answered::Failure };
        let mut place = CallInPlace { driver: "fuzz/a.c".into(), call: 3, failing: None, other_answer: None };
        let told = |place: &CallInPlace| {
            refuted(&Finding {
                place: Some(place.clone()),
                ..finding(FindingClass::Mismatch, "-1", Some("3"))
            })
            .text
        };
        assert!(!told(&place).contains("in a call where"));
        place.other_answer = Some(answer);
        assert!(
            told(&place).contains("It differs in a call where fwrite fails; C met the same."),
            "{}",
            told(&place)
        );
        place.failing = std::num::NonZeroU64::new(2);
        assert!(told(&place).contains("in a call where allocation 2 of the call fails"), "{}", told(&place));
    }

    fn finding(class: FindingClass, oracle: &str, subject: Option<&str>) -> Finding {
        let part =
            |value: &str| vec![("return".to_owned(), value.to_owned()), ("errno".to_owned(), "0".into())];
        Finding {
            class,
            what: "return value".into(),
            input: vec![1],
            args: vec![("n".into(), "2".into()), ("data".into(), "[1, 2]".into())],
            oracle: part(oracle),
            subject: subject.map(part).unwrap_or_default(),
            place: None,
        }
    }

    #[test]
    fn a_counterexample_shows_arguments_and_both_results() {
        let told = refuted(&finding(FindingClass::Mismatch, "7", Some("8"))).text;
        for line in [
            "  n = 2\n  data = [1, 2]\n", "  return = 7   <- differs\n", "  return = 8   <- differs\n",
            "  errno = 0\n",
        ] {
            assert!(told.contains(line), "{told}");
        }
    }

    #[test]
    fn a_panic_shows_its_message() {
        let mut finding = finding(FindingClass::Panic, "7", None);
        finding.what = "attempt to add with overflow".into();
        let feedback = refuted(&finding);
        assert!(feedback.text.contains("(panic): attempt to add with overflow"), "{}", feedback.text);
        assert!(feedback.text.contains("The port:\n  (did not return)\n"), "{}", feedback.text);
        assert_eq!(feedback.category, Category::Panic);
    }

    #[test]
    fn long_values_are_cut_around_the_difference() {
        let same = "a".repeat(3_000);
        let told = refuted(&finding(
            FindingClass::Mismatch,
            &format!("{same}X{same}"),
            Some(&format!("{same}Y{same}")),
        ))
        .text;
        assert!(told.contains('X') && told.contains("aY") && told.len() < 3_000, "{told}");
    }
}
