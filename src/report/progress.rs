//! Events for people: lines on standard error, with progress bars where it is a terminal.

use super::bars::Bars;
use super::ci::inert;
use super::printable::printable;
use super::settle;
use super::text::{self, BAD, BOLD, FAINT, GOOD, Values, WARN};
use crate::event::{Event, Reporter};
use crate::symbol::SymbolName;
use crate::verdict::{Grade, RunStats};
use anstyle::Style;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// The amount of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Verbosity {
    /// `-q`: only warnings and findings.
    Quiet,
    #[default]
    Normal,
    /// `-v`: every step, even without progress bars.
    Verbose,
}

/// Without bars, a line at least this often shows that a function is fuzzed.
const QUIET: Duration = Duration::from_secs(20);

/// Writes events to standard error.
pub struct Terminal {
    out: Box<dyn Write>,
    verbosity: Verbosity,
    /// A runner of GitHub reads the lines.
    github: bool,
    bars: Option<Bars>,
    /// Symbols in work, with the kind of work; if there are several, each line names its symbol.
    open: BTreeMap<SymbolName, &'static str>,
    /// When the last line was written.
    last: Instant,
    /// C faults so far, which one line at the end counts.
    c_faults: BTreeSet<i64>,
}

impl Terminal {
    /// Writes to standard error: bars on a terminal, colours unless `NO_COLOR` is set.
    pub fn stderr(verbosity: Verbosity, github: bool) -> Self {
        let bars = std::io::stderr().is_terminal() && verbosity > Verbosity::Quiet;
        let mut terminal = Self::to(Box::new(anstream::stderr()), verbosity);
        (terminal.bars, terminal.github) = (bars.then(Bars::new), github);
        terminal
    }

    /// Writes to any stream as plain lines with ANSI colours.
    pub fn to(out: Box<dyn Write>, verbosity: Verbosity) -> Self {
        Self {
            out,
            verbosity,
            github: false,
            bars: None,
            open: BTreeMap::new(),
            last: Instant::now(),
            c_faults: BTreeSet::new(),
        }
    }

    fn say(&mut self, at: Verbosity, text: &str) {
        if self.verbosity < at {
            return;
        }
        self.last = Instant::now();
        let text = if self.github { &inert(text) } else { text };
        let out = &mut self.out;
        let mut print = || settle(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
        match &self.bars {
            Some(bars) => bars.suspend(print),
            None => print(),
        }
    }

    /// Shows a line of the running step in its bar. Without bars it is printed in verbose mode, or if no line was for a while.
    fn progress(&mut self, message: &str) {
        let message = printable(message);
        let at = if self.last.elapsed() < QUIET { Verbosity::Verbose } else { Verbosity::Normal };
        match &mut self.bars {
            Some(bars) => bars.progress(&message),
            None => self.say(at, &format!("  {FAINT}{message}{FAINT:#}\n")),
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let count = self.c_faults.len();
        if count > 0 {
            let inputs = if count == 1 { "input" } else { "inputs" };
            self.event(Event::Warning {
                text: format!(
                    "{count} {inputs} found on which C itself crashes, hangs or disagrees with itself"
                ),
                help: Some("cargo implfuzz findings list --c-bugs".into()),
            });
        }
    }
}

impl Reporter for Terminal {
    fn event(&mut self, event: Event) {
        use Verbosity::{Normal, Quiet};
        match event {
            Event::StepStarted { step, total } => match &mut self.bars {
                Some(bars) => bars.step(&printable(&step), total),
                None => self.say(Normal, &format!("{}\n", printable(&step))),
            },
            Event::StepProgress { done, total } => match &mut self.bars {
                Some(bars) => bars.step_at(done),
                None => self.progress(&format!("{done} of {total}")),
            },
            Event::StepFinished { message } => {
                self.bars.iter_mut().for_each(Bars::end_step);
                if !message.is_empty() {
                    self.say(Normal, &format!("  {}\n", printable(&message)));
                }
            }
            Event::Note { text } => self.say(Normal, &format!("  {}\n", printable(&text))),
            Event::Warning { text, help } => {
                let help = help.map(|help| format!("  {BOLD}help:{BOLD:#} {}\n", printable(&help)));
                let text = printable(&text);
                self.say(Quiet, &format!("{WARN}warning:{WARN:#} {text}\n{}", help.unwrap_or_default()));
            }
            Event::SymbolStarted { symbol, work, index, total } => {
                self.say(Normal, &format!("[{index}/{total}] {work}: {BOLD}{symbol}{BOLD:#}\n"));
                self.bars.iter_mut().for_each(|bars| bars.symbol(symbol.as_str(), index, total));
                self.open.insert(symbol, work);
            }
            Event::SymbolStep { symbol, attempt, step } => {
                let is_alone = self.open.keys().eq([&symbol]);
                let whose = if is_alone { String::new() } else { format!("{symbol}, ") };
                let step = printable(&step);
                self.say(Normal, &format!("  {FAINT}{whose}attempt {attempt}:{FAINT:#} {step}\n"));
            }
            Event::Fuzzing { symbol, stats } => self.progress(&format!("{symbol}: {}", fuzzing(&stats))),
            Event::Found { symbol, finding } => {
                let text = text::finding(&symbol, &finding, Values::Short);
                let indented: String = text.lines().map(|line| format!("  {line}\n")).collect();
                self.say(Quiet, &indented);
            }
            Event::CFault { symbol, id, what } => {
                self.c_faults.insert(id);
                self.say(Verbosity::Verbose, &format!("  {symbol}: C fault {id}: {}\n", printable(&what)));
            }
            Event::TestGen { event, .. } => {
                let (verbosity, text) = super::testgen::line(&event);
                self.say(verbosity, &format!("  {text}\n"));
            }
            Event::Evolved { round, rounds } => {
                let text = super::testgen::evolved(&round, rounds);
                self.say(Normal, &format!("{text}\n"));
            }
            Event::SymbolFinished { symbol, ok, grade, summary } => {
                self.bars.iter_mut().for_each(Bars::symbol_done);
                let work = self.open.remove(&symbol).unwrap_or_default();
                let (style, word) = finished(ok, grade, work);
                let summary = printable(&summary);
                let at = if ok { Normal } else { Quiet };
                self.say(at, &format!("  {style}{word}{style:#} {symbol}: {summary}\n"));
            }
        }
    }
}

/// How work on a symbol ended, in a word: the grade says it best.
fn finished(ok: bool, grade: Option<Grade>, work: &str) -> (Style, &'static str) {
    match grade {
        Some(grade @ (Grade::Verified | Grade::Exhaustive)) => (GOOD, grade.word()),
        Some(grade @ Grade::Weak) => (WARN, grade.word()),
        Some(grade) => (BAD, grade.word()),
        None if ok => (GOOD, "ok"),
        None if work == "harness" => (WARN, "not sound"),
        None => (BAD, "not done"),
    }
}

fn fuzzing(stats: &RunStats) -> String {
    let seconds = stats.millis as f64 / 1000.0;
    let edges = stats.edges.map_or(String::new(), |edges| format!(", {edges} edges"));
    let accepted =
        stats.accept_rate().map_or(String::new(), |rate| format!(", {:.0} % accepted", rate * 100.0));
    format!("fuzzing: {} executions in {seconds:.1} s{edges}{accepted}", stats.executions)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::symbol::SymbolName;
    use crate::verdict::{Finding, FindingClass};
    use std::cell::RefCell;
    use std::rc::Rc;

    /// A stream whose content tests can read.
    #[derive(Clone, Default)]
    pub(in crate::report) struct Buffer(Rc<RefCell<Vec<u8>>>);

    impl Buffer {
        pub(in crate::report) fn text(&self) -> String {
            String::from_utf8(self.0.borrow().clone()).unwrap()
        }
    }

    impl Write for Buffer {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    pub(in crate::report) fn all_events() -> Vec<Event> {
        let symbol = SymbolName::new("f");
        let finding = Finding {
            class: FindingClass::Mismatch,
            what: "return value".into(),
            input: vec![0, 255],
            args: vec![],
            oracle: vec![("return value".into(), "1".into())],
            subject: vec![("return value".into(), "2".into())],
            place: None,
        };
        vec![
            Event::StepStarted { step: "parse".into(), total: Some(3) },
            Event::StepFinished { message: "3 files".into() },
            Event::Note { text: "wrote lib.rs".into() },
            Event::Warning { text: "odd \u{1b}[2J".into(), help: Some("look".into()) },
            Event::SymbolStarted { symbol: symbol.clone(), work: "port", index: 1, total: 2 },
            Event::SymbolStep { symbol: symbol.clone(), attempt: 1, step: "audit".into() },
            Event::Fuzzing {
                symbol: symbol.clone(),
                stats: RunStats { executions: 7, millis: 1500, ..RunStats::default() },
            },
            Event::Found { symbol: symbol.clone(), finding: Box::new(finding) },
            Event::CFault { symbol: symbol.clone(), id: 7, what: "reads past the end".into() },
            Event::CFault { symbol: symbol.clone(), id: 8, what: "divides by 0".into() },
            Event::CFault { symbol: symbol.clone(), id: 7, what: "reads past the end".into() },
            Event::SymbolFinished { symbol, ok: false, grade: None, summary: "gave up".into() },
        ]
    }

    fn shown(verbosity: Verbosity) -> String {
        let buffer = Buffer::default();
        let mut terminal = Terminal::to(Box::new(buffer.clone()), verbosity);
        all_events().into_iter().for_each(|event| terminal.event(event));
        drop(terminal);
        anstream::adapter::strip_str(&buffer.text()).to_string()
    }

    #[test]
    fn plain_lines_tell_the_story() {
        insta::assert_snapshot!(shown(Verbosity::Normal), @r"
        parse
          3 files
          wrote lib.rs
        warning: odd \u{1b}[2J
          help: look
        [1/2] port: f
          attempt 1: audit
          mismatch in f: return value
              result        C original  port
              return value  1           2     differs
          not done f: gave up
        warning: 2 inputs found on which C itself crashes, hangs or disagrees with itself
          help: cargo implfuzz findings list --c-bugs
        ");
    }

    #[test]
    fn steps_of_several_symbols_say_whose_they_are() {
        let buffer = Buffer::default();
        let mut terminal = Terminal::to(Box::new(buffer.clone()), Verbosity::Normal);
        let symbol = |name: &str| SymbolName::new(name);
        let step = |name: &str| Event::SymbolStep { symbol: symbol(name), attempt: 1, step: "audit".into() };
        let started =
            |name: &str, index| Event::SymbolStarted { symbol: symbol(name), work: "port", index, total: 2 };
        let finished = |name: &str| Event::SymbolFinished {
            symbol: symbol(name),
            ok: true,
            grade: None,
            summary: "".into(),
        };
        terminal.event(started("f", 1));
        terminal.event(step("f"));
        terminal.event(started("g", 2));
        terminal.event(step("f"));
        terminal.event(finished("f"));
        terminal.event(step("g"));
        // What no work has begun on is named, too.
        terminal.event(step("h"));
        terminal.event(finished("g"));
        terminal.event(step("h"));
        let text = anstream::adapter::strip_str(&buffer.text()).to_string();
        assert_eq!(text.matches("f, attempt 1: audit").count(), 1, "{text}");
        assert_eq!(text.matches("h, attempt 1: audit").count(), 2, "{text}");
        assert_eq!(text.matches("  attempt 1: audit").count(), 2, "{text}");
    }

    #[test]
    fn the_grade_is_the_word_and_a_refuted_port_is_called_so() {
        let word = |ok, grade| finished(ok, grade, "port").1;
        assert_eq!(finished(false, None, "harness").1, "not sound");
        assert_eq!((word(true, None), word(false, None)), ("ok", "not done"));
        assert_eq!(word(true, Some(Grade::Weak)), "weak");
        assert_eq!(word(false, Some(Grade::Refuted)), "refuted");
        assert_eq!(word(true, Some(Grade::Verified)), "verified");
    }

    #[test]
    fn quiet_keeps_what_must_be_seen() {
        let text = shown(Verbosity::Quiet);
        assert!(text.starts_with("warning: odd \\u{1b}[2J\n  help: look\n"), "{text}");
        assert!(text.contains("mismatch in f") && text.contains("not done f: gave up"), "{text}");
        assert!(!text.contains("parse") && !text.contains("attempt"), "{text}");
    }

    #[test]
    fn verbose_shows_the_progress_that_bars_would() {
        let text = shown(Verbosity::Verbose);
        assert!(text.contains("f: fuzzing: 7 executions in 1.5 s, 100 % accepted"), "{text}");
    }

    #[test]
    fn bars_do_not_lose_lines() {
        let buffer = Buffer::default();
        let mut terminal = Terminal::to(Box::new(buffer.clone()), Verbosity::Normal);
        terminal.bars = Some(Bars::new());
        all_events().into_iter().for_each(|event| terminal.event(event));
        let text = buffer.text();
        assert!(text.contains("wrote lib.rs") && text.contains("gave up"), "{text}");
    }
}
