//! New drivers from contracts: the calls of those functions that headers declare, as far as they compile.

use super::Work;
use super::from_contracts::{Call, Callable, callables, calls, text};
use crate::c::text::Surface;
use crate::error::{Error, ErrorKind, Result};
use crate::in_place::build::flags;
use crate::in_place::driver::{Language, files};
use crate::platform::process::{Interrupt, time_limits};
use crate::project::Project;
use crate::symbol::Linkage;
use camino::{Utf8Path, Utf8PathBuf};
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
/// How many headers are tried.
const MOST_HEADERS: usize = 4;
/// A header that includes another one is private, unless the other declares less than this part of its functions.
const PUBLIC_PART: usize = 4;

/// A driver that was made from contracts.
#[derive(Debug)]
pub struct Skeleton {
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
) -> Result<Option<Skeleton>> {
    let work = Work::of(project, interrupt)?;
    let all = callables(&project.library, &project.planned);
    let calls = calls(&all);
    let choices = match headers {
        [] => {
            let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
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
    let is_private = |one: &Skeleton| found.iter().any(|other| one.includes(other));
    let at = found.iter().position(|one| !is_private(one)).unwrap_or(0);
    let Some(best) = found.get(at) else { return Ok(None) };
    // Some libraries have several public headers, none of which includes another one.
    let is_beside = |one: &&Skeleton| {
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
    let is_more = |one: &Skeleton| one.called > best.called;
    Ok(all_of_them.filter(is_more).or_else(|| found.into_iter().nth(at)))
}

impl Skeleton {
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
) -> Result<Option<Skeleton>> {
    let all_calls: BTreeSet<String> = calls.iter().map(|call| call.name.clone()).collect();
    // Each time, what does not compile is left out.
    while !calls.is_empty() && !headers.is_empty() {
        let checked: Vec<String> =
            headers.iter().map(|header| work.root.join(header).into_string()).collect();
        let text_checked = text(all, &checked, &calls)?;
        let said = match errors(work, &text_checked)? {
            None => {
                let relative: Vec<String> = headers.iter().map(|header| format!("../{header}")).collect();
                let text = text(all, &relative, &calls)?;
                let included = headers.iter().flat_map(|header| included(work.root, header)).collect();
                let left_out = left_out(work, &headers, &calls)?;
                let (refused, left_out) = left_out.into_iter().partition(|name| all_calls.contains(name));
                return Ok(Some(Skeleton {
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
        calls.retain(|call| !bad.calls.contains(&call.name));
    }
    Ok(None)
}

/// The public functions that these headers name, without those that are called.
fn left_out(work: &Work, headers: &[String], calls: &[Call]) -> Result<Vec<String>> {
    let mut words = BTreeSet::new();
    for header in headers {
        words.extend(Surface::of(&fs::read(work.root.join(header))?).words);
    }
    let functions = work.project.library.functions.iter();
    let public = functions.filter(|one| one.linkage == Linkage::External && words.contains(&one.c_name));
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

/// The headers that programs include, as far as one can see: those in folders `include`, or those that C++ can include,
/// or else any of those that name most of these functions. `sources` are the library's C files.
///
/// # Errors
/// `Io` where a file cannot be read.
pub fn public_headers(
    root: &Utf8Path,
    sources: &[&Utf8Path],
    functions: &[&str],
) -> Result<Vec<Vec<String>>> {
    let mut all: Vec<Header> = Vec::new();
    for path in files(root)?.into_iter().filter(|path| path.extension() == Some("h")) {
        let text = fs::read(root.join(&path))?;
        let text = String::from_utf8_lossy(&text);
        let words: BTreeSet<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let count = functions.iter().filter(|name| words.contains(**name)).count();
        // Tests and programs have headers of their own.
        let is_above = |source: &&Utf8Path| path.parent().is_some_and(|folder| source.starts_with(folder));
        let is_for_cpp = words.contains("__cplusplus") && sources.iter().any(is_above);
        let is_included = path.components().any(|part| part.as_str() == "include");
        // The build may leave out a C file with its header, which mentions functions of others.
        let own = path.with_extension("c");
        let is_left_out = root.join(&own).is_file() && !sources.contains(&own.as_path());
        all.extend((count > 0).then_some(Header { path, count, is_included, is_for_cpp, is_left_out }));
    }
    all.sort_by_key(|header| std::cmp::Reverse(header.count));
    let kept = all.iter().find(|header| !header.is_left_out).map_or(0, |header| header.count);
    all.retain(|header| !header.is_left_out || header.count >= kept);
    let those = |is_public: fn(&Header) -> bool| -> Vec<String> {
        all.iter().filter(|header| is_public(header)).map(|header| header.path.to_string()).collect()
    };
    let included = those(|header| header.is_included);
    if !included.is_empty() {
        return Ok(vec![included]);
    }
    // Private headers are rarely written for C++; nor are some public ones.
    let most =
        |headers: &mut dyn Iterator<Item = &Header>| headers.map(|header| header.count).max().unwrap_or(0);
    let guarded = most(&mut all.iter().filter(|header| header.is_for_cpp));
    if guarded > 0 && guarded * PUBLIC_PART >= most(&mut all.iter()) {
        return Ok(vec![those(|header| header.is_for_cpp)]);
    }
    Ok(all.into_iter().take(MOST_HEADERS).map(|header| vec![header.path.into_string()]).collect())
}

/// A header that names functions of the library.
struct Header {
    path: Utf8PathBuf,
    /// How many of them.
    count: usize,
    is_included: bool,
    is_for_cpp: bool,
    is_left_out: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_headers_are_those_for_cpp_unless_others_declare_far_more() {
        let dir = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(dir.path()).unwrap();
        let found = |files: &[(&str, &str)], sources: &[&str]| {
            for (path, text) in files {
                fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
                fs::write(root.join(path), text).unwrap();
            }
            let sources: Vec<&Utf8Path> = sources.iter().copied().map(Utf8Path::new).collect();
            let found = public_headers(root, &sources, &["one", "two", "three", "four", "five"]).unwrap();
            for (path, _) in files {
                fs::remove_file(root.join(path)).unwrap();
            }
            found
        };
        let guarded = "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint one(int);\nint two(int);\n";
        let private = "int one(int);\nint two(int);\nint three(int);\nint four(int);\n";
        let both = [("src/lib.h", guarded), ("src/private.h", private), ("test/check.h", guarded)];
        assert_eq!(found(&both, &["src/a.c"]), [["src/lib.h"]]);
        // The public header may be above the sources.
        assert_eq!(found(&[("lib.h", guarded), ("src/private.h", private)], &["src/a.c"]), [["lib.h"]]);
        // A guarded helper is not the API.
        let large = private.to_owned() + "int five(int);\n";
        let helper = "#ifdef __cplusplus\n#endif\nint one(int);\n";
        assert_eq!(found(&[("lib.h", &large), ("helper.h", helper)], &["a.c"]), [["lib.h"], ["helper.h"]]);
        let left_out = [("a.h", guarded), ("more.h", helper), ("more.c", "")];
        assert_eq!(found(&left_out, &["a.c"]), [["a.h"]]);
        assert_eq!(found(&left_out[1..], &["a.c"]), [["more.h"]]);
        assert_eq!(found(&[("include/lib.h", helper), ("lib.h", guarded)], &["a.c"]), [["include/lib.h"]]);
    }

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
