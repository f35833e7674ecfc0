//! What a model sees before it writes a driver: the public API, the way to the function, examples of the repository, and
//! the functions that no driver reaches.

use super::goals::Goal;
use crate::c::text::{Surface, body, without_comments};
use crate::drivers::{Report, Unreached, public_headers};
use crate::error::Result;
use crate::in_place::driver::files;
use crate::in_place::run::Number;
use crate::project::Project;
use crate::symbol::{Function, Library, Linkage};
use camino::{Utf8Path, Utf8PathBuf};
use fs_err as fs;
use serde::Serialize;
use std::collections::BTreeSet;

/// Bytes of a header that are shown as they are; longer ones lose their comments.
const WHOLE_HEADER: usize = 8_000;
/// Bytes of all headers.
const HEADERS: usize = 20_000;
/// Bytes of the C texts on the way to the function.
const WAY: usize = 8_000;
/// Bytes of comments above definitions of public functions.
const COMMENTS: usize = 4_000;
/// Bytes of the C texts of functions that it leads to.
const BELOW: usize = 8_000;
/// Lines before and after the call that an example is about, and the number of examples.
const AROUND: usize = 12;
const EXAMPLES: usize = 3;
/// Bytes of a file that may have examples.
const LARGEST: u64 = 1 << 20;
/// How many unreached functions are listed.
const LISTED: usize = 40;
/// How drivers begin that a model wrote.
pub(super) const MARK: &str = "/* A driver that reaches ";
/// Endings of files with code or text for people.
const WITH_EXAMPLES: [&str; 12] = ["c", "cc", "cpp", "cxx", "h", "hpp", "md", "txt", "rst", "html", "1", "3"];

/// A piece of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Excerpt {
    pub file: String,
    pub line: usize,
    pub text: String,
}

/// A function that no driver reaches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Listed {
    pub name: String,
    pub is_public: bool,
    /// The nearest caller that a driver reaches.
    pub caller: Option<String>,
}

/// The public API of a library.
#[derive(Debug, Clone, Default)]
pub(super) struct Api {
    /// The headers: path and text.
    headers: Vec<(String, String)>,
    /// The functions that these declare, as far as one can see.
    pub functions: BTreeSet<Number>,
}

impl Api {
    /// The API of an opened library.
    ///
    /// # Errors
    /// `Io` where headers cannot be read.
    pub fn of(project: &Project) -> Result<Self> {
        let (library, root) = (&project.library, project.root()?);
        let external = library.functions.iter().filter(|function| function.linkage == Linkage::External);
        let names: Vec<&str> = external.map(|function| function.c_name.as_str()).collect();
        let sources: Vec<&Utf8Path> = library.units.iter().map(|unit| unit.file.0.as_path()).collect();
        let choices = public_headers(root, &sources, &names)?;
        let is_one_choice = choices.len() == 1;
        let mut headers: Vec<(String, String)> = Vec::new();
        for path in choices.into_iter().flatten() {
            let text = fs::read(root.join(&path))?;
            headers.push((path, String::from_utf8_lossy(&text).into_owned()));
        }
        if !is_one_choice {
            headers = without_private(headers);
        }
        let words: BTreeSet<String> =
            headers.iter().flat_map(|(_, text)| Surface::of(text.as_bytes()).words).collect();
        let is_public = |function: &Function| {
            function.linkage == Linkage::External && (headers.is_empty() || words.contains(&function.c_name))
        };
        let all = library.functions.iter().enumerate();
        let functions = all.filter(|(_, function)| is_public(function)).map(|(at, _)| at).collect();
        Ok(Self { headers, functions })
    }

    /// The headers, shortened where they are long: first those that name one of these functions.
    fn shown(&self, functions: &[&Function]) -> Vec<Excerpt> {
        let is_about = |text: &str| {
            let words = Surface::of(text.as_bytes()).words;
            functions.iter().any(|function| words.contains(&function.c_name))
        };
        let (first, then): (Vec<_>, Vec<_>) = self.headers.iter().partition(|(_, text)| is_about(text));
        let (mut shown, mut room) = (Vec::new(), HEADERS);
        for (path, text) in first.into_iter().chain(then) {
            let text = if text.len() > WHOLE_HEADER { without_comments(text) } else { text.clone() };
            let text = cut(&text, room);
            room -= text.len().min(room);
            shown.push(Excerpt { file: path.clone(), line: 1, text });
        }
        shown
    }

    fn has(&self, library: &Library, function: &Function) -> bool {
        self.functions.iter().any(|at| library.functions[*at].key == function.key)
    }
}

/// What a prompt for a driver shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Context {
    pub name: String,
    pub is_public: bool,
    /// The private header that declares it, if it is not public but other files can call it.
    pub private_header: Option<String>,
    pub headers: Vec<Excerpt>,
    /// Heads of functions on the way that no shown header has.
    pub heads: Vec<String>,
    pub way: Vec<Excerpt>,
    /// Heads of public functions with the comments above their definitions, where no shown header has these.
    pub comments: String,
    /// Texts of functions that it leads to, as far as there is room.
    pub below: Vec<Excerpt>,
    pub leads_to: Vec<String>,
    pub examples: Vec<Excerpt>,
    pub unreached: Vec<Listed>,
    pub more_unreached: usize,
}

impl Context {
    /// The context of a goal.
    ///
    /// # Errors
    /// `Io` where files of the repository cannot be read.
    pub fn of(project: &Project, (api, report): (&Api, &Report), goal: &Goal) -> Result<Self> {
        let library = &project.library;
        let of = |all: &[Number]| all.iter().map(|at| &library.functions[*at]).collect::<Vec<&Function>>();
        let (function, way, below) = (&library.functions[goal.function], of(&goal.way), of(&goal.leads_to));
        let headers = api.shown(&way.iter().chain(&below).copied().collect::<Vec<_>>());
        let is_shown = |one: &&&Function| headers.iter().any(|header| header.text.contains(&one.c_name));
        let heads = way.iter().filter(|one| api.has(library, one) && !is_shown(one));
        let heads: Vec<String> = heads.map(|one| head(one)).collect();
        let is_told = |one: &Listed| way.iter().chain(&below).any(|told| told.name.as_str() == one.name);
        let all = report.unreached.iter().map(|one| listed((library, api), one));
        let all: Vec<Listed> = all.filter(|one| !is_told(one)).collect();
        let public: Vec<&str> = api.functions.iter().map(|at| &*library.functions[*at].c_name).collect();
        Ok(Self {
            name: function.c_name.clone(),
            is_public: api.functions.contains(&goal.function),
            private_header: private_header(project, api, function)?,
            heads,
            comments: comments((library, api), &headers),
            examples: examples(project, api, &way, &public)?,
            way: texts(&way, WAY),
            below: texts_that_fit(&below, BELOW),
            leads_to: below.iter().map(|one| one.name.to_string()).take(LISTED).collect(),
            more_unreached: all.len().saturating_sub(LISTED),
            unreached: all.into_iter().take(LISTED).collect(),
            headers,
        })
    }
}

/// The header of the repository that declares a function which is not public.
fn private_header(project: &Project, api: &Api, function: &Function) -> Result<Option<String>> {
    if function.linkage != Linkage::External || api.has(&project.library, function) {
        return Ok(None);
    }
    let root = project.root()?;
    for path in files(root)?.into_iter().filter(|path| path.extension() == Some("h")) {
        let text = without_comments(&String::from_utf8_lossy(&fs::read(root.join(&path))?));
        if declares(&text, &function.c_name) {
            return Ok(Some(path.to_string()));
        }
    }
    Ok(None)
}

/// Whether a text has this word, and a parenthesis behind it.
fn declares(text: &str, name: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        !text[..at].ends_with(is_word) && text[at + name.len()..].trim_start().starts_with('(')
    })
}

/// Without the headers that include another one of them, as private headers do; all of them if none is left.
fn without_private(headers: Vec<(String, String)>) -> Vec<(String, String)> {
    let names: Vec<String> = headers
        .iter()
        .filter_map(|(path, _)| Some(format!("{}\"", Utf8Path::new(path).file_name()?)))
        .collect();
    let includes = |text: &str| {
        let mut lines =
            text.lines().map(str::trim).filter(|line| line.starts_with('#') && line.contains("include"));
        lines.any(|line| names.iter().any(|name| line.ends_with(name.as_str())))
    };
    let public: Vec<_> = headers.iter().filter(|(_, text)| !includes(text)).cloned().collect();
    if public.is_empty() { headers } else { public }
}

fn listed((library, api): (&Library, &Api), one: &Unreached) -> Listed {
    let function = library.functions.iter().find(|function| function.name == one.symbol);
    Listed {
        name: one.symbol.to_string(),
        is_public: function.is_some_and(|function| api.has(library, function)),
        caller: one.caller.as_ref().map(|(caller, _)| caller.to_string()),
    }
}

/// As many whole lines as there is room for.
fn cut(text: &str, room: usize) -> String {
    if text.len() <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    for line in text.split_inclusive('\n') {
        if kept.len() + line.len() > room {
            break;
        }
        kept += line;
    }
    kept + "/* the rest is left out */\n"
}

/// The comments of public functions that no header shows.
fn comments((library, api): (&Library, &Api), headers: &[Excerpt]) -> String {
    let (mut text, mut room) = (String::new(), COMMENTS);
    for function in api.functions.iter().map(|at| &library.functions[*at]) {
        let comment = function.comment.trim();
        let is_shown = |header: &Excerpt| header.text.contains(comment);
        let one = format!("{comment}\n{}\n", head(function));
        if !comment.is_empty() && !headers.iter().any(is_shown) && one.len() <= room {
            room -= one.len();
            text += &one;
        }
    }
    text
}

/// A function's definition up to its body, as a declaration.
fn head(function: &Function) -> String {
    let end = body(&function.text).map_or(0, |end| end.saturating_sub(1));
    format!("{};", function.text[..end].trim())
}

/// The texts of functions, the last one first of all, those before it as far as there is room.
fn texts(functions: &[&Function], mut room: usize) -> Vec<Excerpt> {
    let mut texts: Vec<Excerpt> = Vec::new();
    for function in functions.iter().rev() {
        let text = cut(&with_comment(function), room);
        room -= text.len().min(room);
        texts.push(excerpt(function, text));
    }
    texts.reverse();
    texts
}

/// The texts of those functions for which there is room.
fn texts_that_fit(functions: &[&Function], mut room: usize) -> Vec<Excerpt> {
    let mut texts = Vec::new();
    for function in functions {
        let text = with_comment(function);
        if text.len() <= room {
            room -= text.len();
            texts.push(excerpt(function, text));
        }
    }
    texts
}

fn with_comment(function: &Function) -> String {
    [function.comment.as_str(), &function.text].join("\n").trim_start().to_owned()
}

fn excerpt(function: &Function, text: String) -> Excerpt {
    Excerpt { file: function.place.file.to_string(), line: function.place.line as usize, text }
}

/// Calls in tests, programs, documents and people's drivers: of the function itself, or of what leads to it, or of any
/// public one.
fn examples(project: &Project, api: &Api, way: &[&Function], public: &[&str]) -> Result<Vec<Excerpt>> {
    let root = project.root()?;
    let units = project.library.units.iter().map(|unit| unit.file.0.as_path());
    let shown = api.headers.iter().map(|(path, _)| Utf8Path::new(path));
    let own: BTreeSet<&Utf8Path> = units.chain(shown).collect();
    let is_read = |path: &Utf8PathBuf| {
        path.extension().is_some_and(|ending| WITH_EXAMPLES.contains(&ending))
            && !own.contains(path.as_path())
    };
    let mut texts = Vec::new();
    for path in files(root)?.into_iter().filter(is_read) {
        let full = root.join(&path);
        if full.metadata()?.len() <= LARGEST {
            let text = String::from_utf8_lossy(&fs::read(full)?).into_owned();
            texts.extend((!text.starts_with(MARK)).then_some((path, text)));
        }
    }
    let wanted = way.iter().rev().map(|function| &*function.c_name).chain(public.iter().copied());
    let mut found: Vec<Excerpt> = Vec::new();
    for name in wanted {
        for (path, text) in &texts {
            if found.len() == EXAMPLES {
                return Ok(found);
            }
            let is_new = found.iter().all(|one| one.file != *path);
            found.extend(call(text, name).filter(|_| is_new).map(|(line, text)| Excerpt {
                file: path.to_string(),
                line,
                text,
            }));
        }
    }
    Ok(found)
}

/// The first call of a function in a text, with the lines around it. A declaration is none.
fn call(text: &str, name: &str) -> Option<(usize, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let is_call = |line: &str| {
        line.match_indices(name).any(|(at, _)| {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let before = &line[..at];
            let is_declared = before.trim_end().ends_with(|c: char| is_word(c) || c == '*')
                && !before.trim_end().ends_with("return");
            !before.ends_with(is_word)
                && !is_declared
                && line[at + name.len()..].trim_start().starts_with('(')
        })
    };
    let at = lines.iter().position(|line| is_call(line))?;
    let from = at.saturating_sub(AROUND);
    let to = (at + AROUND + 1).min(lines.len());
    Some((from + 1, lines[from..to].join("\n")))
}

/// Whether the function with this number is worth a driver of its own.
pub(super) fn can_be_judged(report: &Report, library: &Library, at: Number) -> bool {
    !report.not_judged.contains_key(&library.functions[at].name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_lines() {
        assert_eq!(cut("one\ntwo\nthree\n", 9), "one\ntwo\n/* the rest is left out */\n");
        assert_eq!(cut("one\n", 9), "one\n");
    }

    #[test]
    fn calls_are_examples_and_declarations_are_none() {
        let text = "int parse(const char *t);\nchar *parse (int);\n\nint main(void)\n{\n    return parse(\"x\");\n}\n";
        let (line, shown) = call(text, "parse").unwrap();
        assert_eq!(line, 1);
        assert!(shown.contains("return parse(\"x\");"), "{shown}");
        assert_eq!(call("int reparse(int);\nx = reparse(1);\n", "parse"), None);
        assert_eq!(call("extern int parse(const char *t);\n", "parse"), None);
    }

    #[test]
    fn a_declaration_has_the_name_as_a_word_and_parameters() {
        assert!(declares("void Z__fail ( int code );", "Z__fail") && declares("int f(void);", "f"));
        for other in ["int off(void);", "int f2(void);", "#define g f", "f"] {
            assert!(!declares(other, "f"), "{other}");
        }
    }
}
