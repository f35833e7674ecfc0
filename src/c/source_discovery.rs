//! The sources of a library and their flags: from the settings, else from `compile_commands.json`,
//! CMake or make, else guessed from the `#include` lines.

use super::build_system::{self, BuildSystems};
use super::flags::{Discovery, FlagSource, Warning, common_flags};
use super::kept_flags::Command;
use super::project_paths::ProjectPaths;
use super::sources::Tree;
use super::{compdb, header_only, include_guess, modules, sources};
use crate::config::{self, FlagsFrom};
use crate::error::{Error, ErrorKind, Result};
use crate::symbol::{LeftOut, RelPath, Unit};
use camino::{Utf8Path, Utf8PathBuf};
use std::collections::BTreeSet;

/// The reason for a source that the settings do not list.
const UNNAMED: &str = "not among the `sources` of implfuzz.toml";

/// The result of one way of finding sources.
struct Found {
    source: FlagSource,
    files: Vec<(RelPath, Vec<String>)>,
    left_out: Vec<LeftOut>,
}

/// Finds the sources under `root` and their flags, or the headers if there is no source. Files with a `main`
/// are detected later, by `parse`, because only the preprocessor knows whether `main` is compiled.
///
/// # Errors
/// `C` when there is no C source, a listed source is missing, `compile_commands.json` is malformed, or the
/// way that the settings name fails; `Environment` when its program is missing; and Ctrl-C.
pub fn discover(root: &Utf8Path, settings: &config::C, tools: &BuildSystems) -> Result<Discovery> {
    let root = &canonical(root)?;
    let tree = sources::walk(root, &settings.exclude)?;
    let mut warnings = Vec::new();
    let found = search(root, settings, tools, &tree, &mut warnings)?;
    Ok(with_flags((root, settings), &tree, found, warnings))
}

/// The headers of a library without a C file; `None` if there is no header. The units found before are left
/// out.
pub(super) fn headers(
    root: &Utf8Path,
    settings: &config::C,
    tree: &Tree,
    before: &Discovery,
) -> Option<Discovery> {
    let files = header_only::units(root, &tree.headers);
    let is_asked = before.source == FlagSource::Settings;
    let programs = before.units.iter();
    let programs = programs.map(|unit| LeftOut::because(&unit.file, "a program: the library is in headers"));
    let left_out = before.left_out.iter().cloned().chain(programs).collect();
    let found = Found { source: FlagSource::IncludeGuess, files, left_out };
    (!found.files.is_empty() && !is_asked)
        .then(|| with_flags((root, settings), tree, found, before.warnings.clone()))
}

/// Adds all flags to the units.
fn with_flags(
    (root, settings): (&Utf8Path, &config::C),
    tree: &Tree,
    found: Found,
    warnings: Vec<Warning>,
) -> Discovery {
    let Found { source, files, mut left_out } = found;
    let names: Vec<RelPath> = files.iter().map(|(f, _)| f.clone()).collect();
    let guessed = match source.file() {
        None if settings.include_dirs.is_empty() => include_guess::include_dirs(root, &names, &tree.headers),
        _ => Vec::new(),
    };
    let common = common_flags(settings, &guessed);
    let modules = modules::names(&names);
    let units = files
        .into_iter()
        .map(|(file, mut flags)| {
            flags.extend(common.iter().cloned());
            Unit { module: modules[&file].clone(), file, flags }
        })
        .collect();
    left_out.sort_by(|a, b| a.file.cmp(&b.file));
    left_out.dedup_by(|a, b| a.file == b.file);
    let takes_programs = source == FlagSource::Settings;
    Discovery { units, left_out, source, warnings, takes_programs }
}

/// The result of the first way that finds something, or of the one that the settings name.
fn search(
    root: &Utf8Path,
    settings: &config::C,
    tools: &BuildSystems,
    tree: &Tree,
    warnings: &mut Vec<Warning>,
) -> Result<Found> {
    use FlagsFrom::{Cmake, CompileCommands, Includes, Make};
    if !settings.sources.is_empty() {
        if settings.from.is_some() {
            return Err(Error::new(ErrorKind::Config, "[c] has both `sources` and `from`")
                .help("remove one of them from [c] in implfuzz.toml"));
        }
        let files = named(root, settings)?;
        let mut left_out = tree.left_out.clone();
        left_out.extend(tree.sources.iter().map(|f| LeftOut::because(f, UNNAMED)));
        left_out.retain(|left| !files.iter().any(|(f, _)| *f == left.file));
        return Ok(Found { source: FlagSource::Settings, left_out, files });
    }
    let forced = settings.from;
    let ways = forced.map_or_else(|| vec![CompileCommands, Cmake, Make, Includes], |way| vec![way]);
    let mut left_out = tree.left_out.clone();
    for way in ways {
        let found = match try_way(way, root, settings, tools, tree) {
            Ok(found) => found,
            // The search ends on Ctrl-C, and on an error in `compile_commands.json`, which the user provides
            // for tools like this one.
            Err(error)
                if forced.is_some() || way == CompileCommands || error.kind() == ErrorKind::Interrupted =>
            {
                return Err(error);
            }
            Err(error) => {
                let help = error.help_text().map(str::to_owned);
                warnings.push(Warning { text: error.to_string(), help });
                continue;
            }
        };
        match found {
            Some(found) if !found.files.is_empty() => return Ok(found),
            Some(found) => {
                if found.source.file().is_some() {
                    let text = format!("{} compiles no C source of the library", found.source);
                    warnings.push(Warning { text, help: None });
                }
                left_out = found.left_out;
            }
            None => {}
        }
    }
    let files = header_only::units(root, &tree.headers);
    if !files.is_empty() && forced.is_none_or(|way| way == Includes) {
        return Ok(Found { source: FlagSource::IncludeGuess, files, left_out });
    }
    Err(match forced {
        Some(way) if left_out.is_empty() || way != Includes => not_there(root, way),
        _ => no_source(root, &left_out),
    })
}

/// What this way finds; `None` if the project does not use it.
fn try_way(
    way: FlagsFrom,
    root: &Utf8Path,
    settings: &config::C,
    tools: &BuildSystems,
    tree: &Tree,
) -> Result<Option<Found>> {
    let (source, commands) = match way {
        FlagsFrom::CompileCommands => {
            let Some(file) = compdb::find(root) else { return Ok(None) };
            let commands = compdb::read(&ProjectPaths { root, copy: None }, &file)?;
            (FlagSource::CompileCommands(file), commands)
        }
        FlagsFrom::Cmake => match build_system::ask_cmake(root, tools)? {
            Some(answer) => (FlagSource::Cmake(answer.file), answer.commands),
            None => return Ok(None),
        },
        FlagsFrom::Make => match build_system::ask_make(root, tools)? {
            Some(answer) => (FlagSource::Make(answer.file), answer.commands),
            None => return Ok(None),
        },
        FlagsFrom::Includes => {
            let files = tree.sources.iter().map(|f| (f.clone(), Vec::new())).collect();
            let left_out = tree.left_out.clone();
            return Ok(Some(Found { source: FlagSource::IncludeGuess, files, left_out }));
        }
    };
    Ok(Some(sort_out(root, settings, tree, source, commands)))
}

/// Separates the library's sources from other files that a build compiles.
fn sort_out(
    root: &Utf8Path,
    settings: &config::C,
    tree: &Tree,
    source: FlagSource,
    commands: Vec<Command>,
) -> Found {
    let mut left_out = tree.left_out.clone();
    let mut files = Vec::new();
    for Command { file, flags } in commands {
        match why_not_this_one(root, &file, &settings.exclude) {
            Some(reason) => left_out.push(LeftOut::because(&file, reason)),
            None => files.push((file, flags)),
        }
    }
    let listed: BTreeSet<&RelPath> = files.iter().map(|(f, _)| f).collect();
    let others = tree.sources.iter().filter(|f| !listed.contains(f));
    left_out.extend(others.map(|f| LeftOut::because(f, source.not_compiled())));
    Found { source, files, left_out }
}

fn why_not_this_one(root: &Utf8Path, file: &RelPath, exclude: &[String]) -> Option<String> {
    match file.0.extension() {
        Some("c") if file.0.starts_with(".implfuzz") || !root.join(&file.0).is_file() => {
            Some("generated by the build".into())
        }
        Some("c") => sources::why_left_out(&file.0, exclude),
        Some("s" | "S") => Some("assembly is not ported".into()),
        _ => Some("C++ is not ported".into()),
    }
}

/// The root without symbolic links, because libclang names files that way.
pub(super) fn canonical(root: &Utf8Path) -> Result<Utf8PathBuf> {
    root.canonicalize_utf8().map_err(|error| {
        Error::new(ErrorKind::C, format!("the C project {root} cannot be opened: {error}"))
            .help("give the folder of the C library")
    })
}

fn no_source(root: &Utf8Path, left_out: &[LeftOut]) -> Error {
    let also = match left_out {
        [] => String::new(),
        [first, ..] => format!(" ({} left out, such as {}: {})", left_out.len(), first.file, first.reason),
    };
    Error::new(ErrorKind::C, format!("no C source found under {root}{also}"))
        .help("name the sources under [c] sources = [\"…\"] in implfuzz.toml")
}

fn not_there(root: &Utf8Path, way: FlagsFrom) -> Error {
    let what = match way {
        FlagsFrom::CompileCommands => "no compile_commands.json",
        FlagsFrom::Cmake => "no CMakeLists.txt",
        FlagsFrom::Make => "no makefile",
        FlagsFrom::Includes => "no source",
    };
    let message = format!("[c] from = \"{}\": {root} has {what} that lists C of the library", way.word());
    Error::new(ErrorKind::C, message).help("delete `from` under [c] in implfuzz.toml to let the tool choose")
}

fn named(root: &Utf8Path, settings: &config::C) -> Result<Vec<(RelPath, Vec<String>)>> {
    let mut files = Vec::new();
    for source in &settings.sources {
        let path = root.join(source);
        let found = path.canonicalize_utf8().ok().filter(|p| p.is_file()).ok_or_else(|| {
            Error::new(ErrorKind::C, format!("the source {source} does not exist under {root}"))
                .help("correct [c] sources in implfuzz.toml")
        })?;
        let inside = found.strip_prefix(root).map_err(|_| {
            Error::new(ErrorKind::C, format!("the source {source} lies outside {root}"))
                .help("correct [c] sources in implfuzz.toml")
        })?;
        let file = RelPath(inside.to_owned());
        if !files.iter().any(|(f, _)| *f == file) {
            let own = header_only::own_flags(root, &file.0);
            files.push((file, own));
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::flags::clang_arguments;
    use crate::c::front_tests::{project, tools};
    use crate::platform::process::Interrupt;

    /// Like `super::discover`, with the tools of this machine.
    fn discover(root: &Utf8Path, settings: &config::C) -> Result<Discovery> {
        let interrupt = Interrupt::none();
        super::discover(root, settings, &tools(&root.join(".implfuzz/cache"), &interrupt))
    }

    fn units(discovery: &Discovery) -> Vec<&str> {
        discovery.units.iter().map(|u| u.file.0.as_str()).collect()
    }

    #[test]
    fn guesses_the_folder_before_the_header() {
        let (_dir, root) = project(&[
            ("src/a.c", "#include \"k/a.h\"\n#include \"b.h\"\n#include <string.h>\n#include <k/c.h>\n"),
            ("src/b.h", ""),
            ("include/k/a.h", ""),
            ("include/k/c.h", ""),
            ("compat/string.h", ""),
            ("tests/t.c", "int main(void){return 0;}"),
            ("rust/x.c", ""),
            (".git/y.c", ""),
        ]);
        let found = discover(&root, &config::C::default()).unwrap();
        assert_eq!(found.source, FlagSource::IncludeGuess);
        assert_eq!(units(&found), ["src/a.c"]);
        assert_eq!(found.units[0].flags, ["-Iinclude"]);
        assert_eq!(found.left_out.len(), 1);
        assert_eq!(found.left_out[0].file.0, "tests/t.c");
        let arguments = clang_arguments(&root, &found.units[0]);
        assert!(arguments.contains(&format!("-I{root}/include")), "{arguments:?}");
    }

    #[test]
    fn settings_stand_above_all() {
        let (_dir, root) = project(&[("a.c", ""), ("tests/b.c", ""), ("compile_commands.json", "broken")]);
        let settings = config::C {
            sources: vec!["tests/b.c".into(), "./tests/b.c".into()],
            defines: vec!["X=1".into()],
            ..config::C::default()
        };
        let found = discover(&root, &settings).unwrap();
        assert_eq!(found.source, FlagSource::Settings);
        assert_eq!(units(&found), ["tests/b.c"]);
        assert_eq!(found.units[0].flags, ["-DX=1"]);
        let gone = config::C { sources: vec!["no.c".into()], ..config::C::default() };
        let error = discover(&root, &gone).unwrap_err();
        assert!(error.to_string().contains("no.c"));
        assert_eq!(error.kind(), ErrorKind::C);
    }

    #[test]
    fn nothing_to_do_is_an_error_that_says_so() {
        let (_dir, root) = project(&[("a.txt", ""), ("tests/b.c", "")]);
        let error = discover(&root, &config::C::default()).unwrap_err();
        assert!(error.to_string().contains("no C source found under"));
        assert!(error.to_string().contains("tests/b.c"));
        assert!(error.help_text().unwrap().contains("implfuzz.toml"));
        assert!(discover(&root.join("gone"), &config::C::default()).is_err());
    }

    const MAKEFILE: (&str, &str) =
        ("Makefile", "all:\n\tcc -DMAKE -c a.c\n\tcc -c tests/t.c\n\tcc -c gen.c\n");
    const LISTS: (&str, &str) = (
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.5)\nproject(x C)\nadd_library(x a.c)\n\
            target_compile_definitions(x PRIVATE CMAKE)\n",
    );

    #[test]
    fn cmake_is_asked_before_make_unless_the_settings_say_which() {
        let (_dir, root) = project(&[MAKEFILE, LISTS, ("a.c", ""), ("b.c", ""), ("tests/t.c", "")]);
        let found = discover(&root, &config::C::default()).unwrap();
        assert_eq!(found.source, FlagSource::Cmake("CMakeLists.txt".into()));
        assert_eq!((units(&found), &found.units[0].flags[..]), (vec!["a.c"], &["-DCMAKE".to_owned()][..]));
        assert_eq!(found.source.to_string(), "`cmake` (CMakeLists.txt)");

        let way = |from| config::C { from: Some(from), ..config::C::default() };
        let found = discover(&root, &way(FlagsFrom::Make)).unwrap();
        assert_eq!(found.source, FlagSource::Make("Makefile".into()));
        assert_eq!(found.units[0].flags, ["-DMAKE"]);
        let reasons: Vec<String> =
            found.left_out.iter().map(|l| format!("{}: {}", l.file, l.reason)).collect();
        assert_eq!(
            reasons,
            [
                "b.c: not in `make -n` (Makefile)",
                "gen.c: generated by the build",
                "tests/t.c: in a folder called `tests`"
            ]
        );
        assert_eq!(units(&discover(&root, &way(FlagsFrom::Includes)).unwrap()), ["a.c", "b.c"]);
        let error = discover(&root, &way(FlagsFrom::CompileCommands)).unwrap_err();
        assert!(error.to_string().contains("no compile_commands.json"), "{error}");
        let both = config::C { sources: vec!["a.c".into()], ..way(FlagsFrom::Make) };
        assert_eq!(discover(&root, &both).unwrap_err().kind(), ErrorKind::Config);
    }

    #[test]
    fn what_does_not_work_is_a_warning_unless_it_is_forced() {
        let (_dir, root) = project(&[MAKEFILE, ("CMakeLists.txt", "nonsense("), ("a.c", "")]);
        let found = discover(&root, &config::C::default()).unwrap();
        assert_eq!(found.source, FlagSource::Make("Makefile".into()));
        assert!(found.warnings[0].text.starts_with("cmake cannot configure"), "{:?}", found.warnings);
        let forced = config::C { from: Some(FlagsFrom::Cmake), ..config::C::default() };
        assert_eq!(discover(&root, &forced).unwrap_err().kind(), ErrorKind::C);

        let (_dir, root) = project(&[("Makefile", "all:\n\techo none\n"), ("a.c", "")]);
        let found = discover(&root, &config::C::default()).unwrap();
        assert_eq!((found.source, found.warnings.len()), (FlagSource::IncludeGuess, 1));
    }

    #[test]
    fn other_languages_are_listed() {
        let json = r#"[{"directory":".","file":"a.c","command":"cc -c a.c"},
            {"directory":".","file":"b.cpp","command":"c++ -c b.cpp"},
            {"directory":".","file":"c.S","command":"cc -c c.S"}]"#;
        let (_dir, root) = project(&[("a.c", "")]);
        let json = json.replace("\".\"", &format!("{:?}", root.as_str()));
        fs_err::write(root.join("compile_commands.json"), json).unwrap();
        let found = discover(&root, &config::C::default()).unwrap();
        assert_eq!(units(&found), ["a.c"]);
        let reasons: Vec<&str> = found.left_out.iter().map(|l| l.reason.as_str()).collect();
        assert_eq!(reasons, ["C++ is not ported", "assembly is not ported"]);
    }

    #[test]
    fn excluded_files_are_listed() {
        let (_dir, root) = project(&[("a.c", ""), ("old/b.c", "")]);
        let settings = config::C { exclude: vec!["old".into()], ..config::C::default() };
        let found = discover(&root, &settings).unwrap();
        assert_eq!(units(&found), ["a.c"]);
        assert!(found.left_out[0].reason.contains("old"));
    }
}
