//! Every command line of the tool in the documentation, and every option in it, exists: clap's parser reads them all.

use cargo_implfuzz::cli::command;
use clap::error::ErrorKind;
use std::path::{Path, PathBuf};

/// A command line in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    words: Vec<String>,
    /// It stands in a sentence, and may leave arguments out.
    in_text: bool,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The README, the changelog and all pages.
fn documents() -> Vec<PathBuf> {
    let pages = ["docs", "docs/errors"].map(|folder| std::fs::read_dir(root().join(folder)).unwrap());
    let pages = pages.into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut all: Vec<PathBuf> =
        pages.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect();
    all.extend(["README.md", "CHANGELOG.md", "DESIGN.md"].map(|name| root().join(name)));
    all
}

/// The command lines in a document: in fenced blocks, and in code within sentences.
fn lines(text: &str) -> Vec<Line> {
    let (mut found, mut prose, mut fenced) = (Vec::new(), String::new(), None::<String>);
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        match &mut fenced {
            _ if is_fence => fenced = if fenced.is_some() { None } else { Some(String::new()) },
            Some(open) => match line.trim_start().strip_suffix('\\') {
                Some(part) => open.push_str(part),
                None => {
                    let whole = std::mem::take(open) + line.trim_start();
                    let whole = whole.strip_prefix("$ ").unwrap_or(&whole);
                    found.extend(
                        whole
                            .starts_with("cargo implfuzz ")
                            .then(|| Line { words: words(whole), in_text: false }),
                    );
                }
            },
            None => prose = prose + line + "\n",
        }
    }
    let spans = prose.split('`').skip(1).step_by(2).map(|span| span.replace('\n', " "));
    found.extend(spans.filter_map(|span| {
        let words = words(&span);
        let is_ours = words.first().is_some_and(|word| word == "cargo")
            && words.get(1).is_some_and(|word| word == "implfuzz");
        // A name alone is a word of the language before it is a command.
        let is_short = words.len() > 1
            && words.iter().any(|word| word.starts_with('-'))
            && command().find_subcommand(&words[0]).is_some();
        match () {
            () if is_ours && words.len() > 2 => Some(Line { words, in_text: true }),
            () if is_short => {
                let words = ["cargo", "implfuzz"].map(str::to_owned).into_iter().chain(words).collect();
                Some(Line { words, in_text: true })
            }
            () => None,
        }
    }));
    found
}

/// The words of a line as a shell splits them, up to a pipe or the next command, with placeholders filled in.
fn words(line: &str) -> Vec<String> {
    let ends =
        |word: &String| ["&&", "||", "|", ";", "…", "..."].contains(&word.as_str()) || word.starts_with('>');
    let filled = |word: String| {
        let is_placeholder =
            word.chars().all(|c| c.is_ascii_uppercase()) || word.starts_with('<') && word.ends_with('>');
        if is_placeholder && (word.len() > 1 || word == "N") { "1".to_owned() } else { word }
    };
    let all = shlex::split(line).unwrap_or_default();
    all.into_iter().take_while(|word| !ends(word)).map(filled).collect()
}

/// What clap's parser has against a line.
fn problem(line: &Line) -> Option<String> {
    let args = std::iter::once("cargo-implfuzz").chain(line.words[2..].iter().map(String::as_str));
    let error = command().try_get_matches_from(args).err()?;
    let lacks = [
        ErrorKind::MissingRequiredArgument,
        ErrorKind::MissingSubcommand,
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
        ErrorKind::InvalidValue,
    ];
    let shows = [ErrorKind::DisplayHelp, ErrorKind::DisplayVersion];
    // `InvalidValue` is also an option whose value is left out.
    let left_out = error.kind() != ErrorKind::InvalidValue
        || error
            .get(clap::error::ContextKind::InvalidValue)
            .is_some_and(|value| value.to_string().is_empty());
    let is_fine = shows.contains(&error.kind()) || line.in_text && lacks.contains(&error.kind()) && left_out;
    (!is_fine).then(|| format!("{}: {}", line.words.join(" "), error.render()))
}

#[test]
fn every_command_in_the_documentation_exists() {
    let (mut seen, mut problems) = (0, String::new());
    for path in documents() {
        let found = lines(&std::fs::read_to_string(&path).unwrap());
        seen += found.len();
        for problem in found.iter().filter_map(problem) {
            problems += &format!("{}: {problem}\n", path.strip_prefix(root()).unwrap().display());
        }
    }
    assert!(problems.is_empty(), "{problems}");
    assert!(seen > 150, "only {seen} commands were found");
}

#[test]
fn commands_are_found_in_blocks_and_in_sentences() {
    let text = "Run `cargo implfuzz\nlist -v`, `verify --stale` or `list`; `port` alone is a word.\n```console\n\
                $ cargo implfuzz port NAME -j 8   # why\n  cargo implfuzz list \\\n    --graph dot | dot -Tsvg >x\n\
                ok 12\n```\n`verify --all <x>`\n";
    let found: Vec<String> = lines(text).iter().map(|line| line.words[2..].join(" ")).collect();
    assert_eq!(found, ["port 1 -j 8", "list --graph dot", "list -v", "verify --stale", "verify --all 1"]);
}

#[test]
fn unknown_commands_options_and_values_are_problems() {
    let all = [
        "cargo implfuzz prot f",
        "cargo implfuzz verify f --stael",
        "cargo implfuzz list --graph svg",
        "cargo implfuzz port --safer",
    ];
    for text in all {
        let [line] = &lines(&format!("```sh\n{text}\n```\n"))[..] else { panic!("{text}") };
        assert!(problem(line).is_some(), "{text}");
    }
    // A sentence need not name what a command is about.
    let [line] = &lines("Run `port --safer`.\n")[..] else { panic!() };
    assert_eq!(problem(line), None);
    let [line] = &lines("Run `port --sfaer`.\n")[..] else { panic!() };
    assert!(problem(line).is_some());
}
