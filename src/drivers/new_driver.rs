//! New drivers from contracts: the calls of those functions that headers declare, as far as they compile.

use super::Work;
use super::callable::{Callable, callables, public};
use super::contract_calls::{Call, calls, text};
use super::example_texts::example_texts;
use super::public_headers::{PUBLIC_PART, public_headers};
use crate::c::text::Surface;
use crate::error::{Error, ErrorKind, Result};
use crate::in_place::build::flags;
use crate::in_place::driver::Language;
use crate::platform::process::{Interrupt, time_limits};
use crate::project::Project;
use crate::symbol::Linkage;
use camino::Utf8Path;
use fs_err as fs;
use std::collections::BTreeSet;

/// Where drivers are written.
pub const FOLDER: &str = "fuzz";

/// Strict enough that a call of what no header declares does not compile.
const CHECKED: [&str; 7] = [
    "-fsyntax-only",
    "-Wno-everything",
    "-fno-color-diagnostics",
    "-ferror-limit=0",
    "-Werror=implicit-function-declaration",
    "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion",
];
/// A driver that was made from contracts.
#[derive(Debug)]
pub struct NewDriver {
    pub text: String,
    /// The functions that it calls.
    pub called: usize,
    /// Public functions that the headers name and that it does not call, because no contract says how.
    pub left_out: Vec<String>,
    /// Those of which the calls do not compile.
    pub refused: Vec<String>,
    /// The headers that it includes, relative to the root.
    pub headers: Vec<String>,
    /// The names of the files that these include.
    included: Vec<String>,
}

/// A driver with calls of the functions that these headers declare, or of the public ones; `None` if there are none.
///
/// # Errors
/// `C` if a named header does not compile, `Environment` without a C compiler, and Ctrl-C.
pub fn from_contracts(
    project: &Project,
    headers: &[String],
    interrupt: &Interrupt,
) -> Result<Option<NewDriver>> {
    let work = Work::of(project, interrupt)?;
    let all = callables(&project.library, &project.planned);
    let calls = calls(&all);
    let choices = match headers {
        [] => {
            // Private headers have functions of their own, so these choose none unless there are no others.
            let called = |one: &&Callable| calls.iter().any(|call| call.symbol == one.function.name);
            let (external, own): (Vec<&Callable>, Vec<&Callable>) =
                all.iter().filter(called).partition(|one| one.function.linkage == Linkage::External);
            let of = if external.is_empty() { own } else { external };
            let names: Vec<&str> = of.iter().map(|one| one.function.c_name.as_str()).collect();
            let units = project.library.units.iter().map(|unit| unit.file.0.as_path());
            public_headers(work.root, &units.collect::<Vec<_>>(), &names)?
        }
        named => vec![named.to_vec()],
    };
    let named = !headers.is_empty();
    let mut found = Vec::new();
    for headers in choices {
        found.extend(that_compiles(&work, &all, (headers, calls.clone()), named)?);
    }
    found.sort_by_key(|one| std::cmp::Reverse(one.called));
    let is_private = |one: &NewDriver| found.iter().any(|other| one.includes(other));
    let at = found.iter().position(|one| !is_private(one)).unwrap_or(0);
    let Some(best) = found.get(at) else { return Ok(None) };
    // Some libraries have several public headers, none of which includes another one.
    let is_beside = |one: &&NewDriver| {
        one.headers != best.headers
            && !is_private(one)
            && !best.includes(one)
            && one.called * PUBLIC_PART >= best.called
    };
    let beside = found.iter().filter(is_beside).flat_map(|one| &one.headers);
    let together: Vec<String> = best.headers.iter().chain(beside).cloned().collect();
    let all_of_them = match named || together.len() == best.headers.len() {
        true => None,
        // Where they do not go together, one alone does.
        false => match that_compiles(&work, &all, (together, calls), named) {
            Err(error) if error.kind() == ErrorKind::C => None,
            tried => tried?,
        },
    };
    let is_more = |one: &NewDriver| one.called > best.called;
    Ok(all_of_them.filter(is_more).or_else(|| found.into_iter().nth(at)))
}

impl NewDriver {
    /// Whether one of its headers includes one of the other's, which declares a good part of its functions.
    fn includes(&self, other: &Self) -> bool {
        let names: Vec<&str> =
            other.headers.iter().filter_map(|path| Utf8Path::new(path).file_name()).collect();
        self.included.iter().any(|name| names.contains(&name.as_str()))
            && other.called * PUBLIC_PART >= self.called
    }
}

/// A driver with those of these headers and calls that compile.
fn that_compiles(
    work: &Work,
    all: &[Callable],
    (mut headers, mut calls): (Vec<String>, Vec<Call>),
    named: bool,
) -> Result<Option<NewDriver>> {
    let all_calls: BTreeSet<String> = calls.iter().map(|call| call.name.clone()).collect();
    let examples = example_texts(work.root, &work.project.library)?;
    // Each time, what does not compile is left out.
    while !calls.is_empty() && !headers.is_empty() {
        let checked: Vec<String> =
            headers.iter().map(|header| work.root.join(header).into_string()).collect();
        let text_checked = text(all, &checked, &calls, &examples)?;
        let said = match errors(work, &text_checked)? {
            None => {
                let relative: Vec<String> = headers.iter().map(|header| format!("../{header}")).collect();
                let text = text(all, &relative, &calls, &examples)?;
                let included = headers.iter().flat_map(|header| included(work.root, header)).collect();
                let left_out = left_out(work, &headers, &calls)?;
                let (refused, left_out) = left_out.into_iter().partition(|name| all_calls.contains(name));
                return Ok(Some(NewDriver {
                    called: calls.len(),
                    left_out,
                    refused,
                    text,
                    headers,
                    included,
                }));
            }
            Some(said) => said,
        };
        let bad = Bad::of(&text_checked, &lines_of(&said));
        let broken = |header: &&String| bad.headers.contains(work.root.join(header).as_str());
        if let Some(header) = headers.iter().find(|header| named && broken(header)) {
            let text = format!("{header} does not compile by itself:\n  {}", first_error(&said));
            return Err(Error::new(ErrorKind::C, text)
                .help("give the headers that it needs before it, each with --header; `flags` under [drivers] are used"));
        }
        if bad.headers.is_empty() && bad.calls.is_empty() {
            let text = format!("a new driver does not compile:\n  {}", first_error(&said));
            return Err(
                Error::new(ErrorKind::C, text).help("cargo implfuzz drivers --new NAME --header FILE")
            );
        }
        headers.retain(|header| !bad.headers.contains(work.root.join(header).as_str()));
        let tried_anew = |call: Call| match bad.calls.contains(&call.name) {
            true => call.without_sizes.map(|plain| *plain),
            false => Some(call),
        };
        calls = calls.into_iter().filter_map(tried_anew).collect();
    }
    Ok(None)
}

/// The public functions that these headers name, without those that are called.
fn left_out(work: &Work, headers: &[String], calls: &[Call]) -> Result<Vec<String>> {
    let mut words = BTreeSet::new();
    for header in headers {
        words.extend(Surface::of(&fs::read(work.root.join(header))?).words);
    }
    let public = public(&work.project.library).filter(|one| words.contains(&one.c_name));
    let is_called = |name: &String| calls.iter().any(|call| call.name == *name);
    Ok(public.map(|one| one.c_name.clone()).filter(|name| !is_called(name)).collect())
}

/// What the compiler says of a text that does not compile.
fn errors(work: &Work, text: &str) -> Result<Option<String>> {
    let place = work.place(work.root.as_std_path())?;
    let flags = flags(&work.project.library, &work.project.config.drivers);
    let job = place.compiler(Language::C).dir(work.root).timeout(time_limits::COMPILE_C);
    let job = job.args(CHECKED).args(flags).args(["-x", "c", "-"]);
    let output = job.stdin(text.to_owned()).env("LC_ALL", "C").run(work.interrupt)?;
    Ok((!output.exit.success()).then(|| output.stderr_text()))
}

fn first_error(said: &str) -> &str {
    said.lines().find(|line| line.contains("error")).unwrap_or("the compiler does not say why")
}

/// The names of the files that a header includes.
fn included(root: &Utf8Path, header: &str) -> Vec<String> {
    let text = fs::read(root.join(header)).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let path = |line: &str| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?;
        let path = rest.trim().trim_start_matches(['"', '<']).split(['"', '>']).next()?;
        Utf8Path::new(path).file_name().map(str::to_owned)
    };
    text.lines().filter_map(path).collect()
}

/// Lines of standard input that a compiler names in errors: those of `#include` stand before an error in a header.
fn lines_of(said: &str) -> BTreeSet<usize> {
    let (mut lines, mut included) = (BTreeSet::new(), None);
    let number = |text: &str| text.split(':').next()?.trim_end_matches(',').parse::<usize>().ok();
    for line in said.lines() {
        if let Some((_, at)) = line.split_once("from <stdin>:") {
            included = number(at);
        } else if line.contains("error: ") {
            match line.strip_prefix("<stdin>:") {
                Some(at) => lines.extend(number(at)),
                None => lines.extend(included),
            }
        }
    }
    lines
}

/// What does not compile.
#[derive(Debug, Default, PartialEq, Eq)]
struct Bad {
    headers: BTreeSet<String>,
    calls: BTreeSet<String>,
}

impl Bad {
    /// The functions stand in comments before what belongs to them: callbacks, the call, and what ends objects.
    fn of(text: &str, lines: &BTreeSet<usize>) -> Self {
        let (mut bad, mut call) = (Self::default(), None);
        for (line, number) in text.lines().zip(1..) {
            let marked = line
                .trim()
                .split_once("/* ")
                .filter(|(before, _)| before.is_empty() || before.starts_with("case "));
            if let Some(name) = marked.and_then(|(_, rest)| rest.strip_suffix(" */")) {
                call = Some(name);
            }
            if !lines.contains(&number) {
                continue;
            }
            match line.strip_prefix("#include \"") {
                Some(header) => drop(bad.headers.insert(header.trim_end_matches('"').to_owned())),
                None => bad.calls.extend(call.map(str::to_owned)),
            }
        }
        bad
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_compile_is_found_by_its_lines() {
        let said = "<stdin>:7:9: error: call to undeclared function 'g'\n\
                    In file included from <stdin>:2:\nIn file included from a.h:1:\n../b.h:3:1: error: unknown type\n";
        let lines = lines_of(said);
        assert_eq!(lines, BTreeSet::from([2, 7]));
        let text = "#include <stddef.h>\n#include \"../a.h\"\n\n    switch (x) {\n    case 0: { /* f */\n        f();\n        g();\n    case 1: { /* h */\n        h();\n";
        let bad = Bad::of(text, &lines);
        assert_eq!((bad.headers, bad.calls), (["../a.h".to_owned()].into(), ["f".to_owned()].into()));
    }
}
