//! New drivers from contracts: the calls of those functions that headers declare, as far as they compile.

use super::Work;
use super::from_contracts::{Call, Callable, callables, calls, text};
use crate::error::Result;
use crate::in_place::build::flags;
use crate::in_place::candidates::Candidates;
use crate::in_place::driver::{Language, files};
use crate::in_place::place::Place;
use crate::platform::process::{Interrupt, time_limits};
use crate::project::Project;
use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;
use std::collections::BTreeSet;

/// Where drivers are written.
pub const FOLDER: &str = "fuzz";

/// Strict enough that a call of what no header declares does not compile.
const CHECKED: [&str; 7] = [
    "-fsyntax-only",
    "-w",
    "-fno-color-diagnostics",
    "-ferror-limit=0",
    "-Werror=implicit-function-declaration",
    "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion",
];
/// How many headers are tried.
const MOST_HEADERS: usize = 4;
/// Each time, what does not compile is left out.
const ROUNDS: usize = 6;

/// A driver that was made from contracts.
#[derive(Debug)]
pub struct Skeleton {
    pub text: String,
    /// The functions that it calls.
    pub called: usize,
    /// The headers that it includes, relative to the root.
    pub headers: Vec<String>,
}

/// A driver with calls of the functions that these headers declare, or of the public ones; `None` if there are none.
///
/// # Errors
/// `Environment` without a C compiler, and Ctrl-C.
pub fn from_contracts(
    project: &Project,
    headers: &[String],
    interrupt: &Interrupt,
) -> Result<Option<Skeleton>> {
    let work = Work::of(project, interrupt)?;
    let all = callables(&project.library, &project.planned);
    let calls = calls(&all);
    let choices = match headers {
        [] => public_headers(work.root, &calls)?,
        named => vec![named.to_vec()],
    };
    let mut found = Vec::new();
    for headers in choices {
        found.extend(that_compiles(&work, &all, (headers, calls.clone()))?);
    }
    // Private headers include public ones.
    let names: Vec<String> =
        found.iter().flat_map(|one| one.headers.iter().map(|path| name_of(path))).collect();
    let includes = |path: &String| {
        let text = fs::read(work.root.join(path)).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let mut lines =
            text.lines().filter(|line| line.trim_start().starts_with('#') && line.contains("include"));
        lines.any(|line| names.iter().any(|name| line.contains(name)))
    };
    let (private, public): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|one| one.headers.iter().any(includes));
    let found = if public.is_empty() { private } else { public };
    Ok(found.into_iter().rev().max_by_key(|one| one.called))
}

fn name_of(path: &str) -> String {
    Utf8Path::new(path).file_name().unwrap_or(path).to_owned()
}

/// A driver with those of these headers and calls that compile.
fn that_compiles(
    work: &Work,
    all: &[Callable],
    (mut headers, mut calls): (Vec<String>, Vec<Call>),
) -> Result<Option<Skeleton>> {
    for _ in 0..ROUNDS {
        if calls.is_empty() || headers.is_empty() {
            return Ok(None);
        }
        let included: Vec<String> = headers.iter().map(|header| format!("../{header}")).collect();
        let text = text(all, &included, &calls)?;
        let wrong = wrong_lines(work, &text)?;
        if wrong.is_empty() {
            return Ok(Some(Skeleton { called: calls.len(), text, headers }));
        }
        let bad = Bad::of(&text, &wrong);
        if bad.headers.is_empty() && bad.calls.is_empty() {
            return Ok(None);
        }
        headers.retain(|header| !bad.headers.contains(&format!("../{header}")));
        calls.retain(|call| !bad.calls.contains(&call.name));
    }
    Ok(None)
}

/// The lines of the text in which, or in whose `#include`, the compiler finds an error.
fn wrong_lines(work: &Work, text: &str) -> Result<BTreeSet<usize>> {
    let dir = work.dir("new");
    fs::create_dir_all(&dir)?;
    let place: Place = work.place(&dir)?;
    let entries = work.entries()?;
    let parts = work.parts(&entries, Candidates::None);
    let job = place.compiler(Language::C).dir(work.root).timeout(time_limits::COMPILE_C);
    let job = job.args(CHECKED).args(flags(parts)).args(["-iquote", FOLDER, "-x", "c", "-"]);
    let output = job.stdin(text.to_owned()).env("LC_ALL", "C").run(work.interrupt)?;
    Ok(lines_of(&output.stderr_text()))
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
    fn of(text: &str, lines: &BTreeSet<usize>) -> Self {
        let (mut bad, mut call) = (Self::default(), None);
        for (line, number) in text.lines().zip(1..) {
            if let Some(name) = line.trim().strip_prefix("case ").and_then(|rest| rest.split("/* ").nth(1)) {
                call = name.strip_suffix(" */");
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

/// The headers that programs include, as far as one can see: those in folders `include`, or else one of those that name
/// most of the functions.
fn public_headers(root: &Utf8Path, calls: &[Call]) -> Result<Vec<Vec<String>>> {
    let mut all: Vec<(usize, Utf8PathBuf)> = Vec::new();
    for path in files(root)?.into_iter().filter(|path| path.extension() == Some("h")) {
        let text = fs::read(root.join(&path))?;
        let text = String::from_utf8_lossy(&text);
        let words: BTreeSet<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let count = calls.iter().filter(|call| words.contains(&*call.name)).count();
        all.extend((count > 0).then_some((count, path)));
    }
    let is_public = |path: &Utf8Path| path.components().any(|part| part.as_str() == "include");
    let public: Vec<String> =
        all.iter().filter(|(_, path)| is_public(path)).map(|(_, path)| path.to_string()).collect();
    if !public.is_empty() {
        return Ok(vec![public]);
    }
    all.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    Ok(all.into_iter().take(MOST_HEADERS).map(|(_, path)| vec![path.into_string()]).collect())
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
