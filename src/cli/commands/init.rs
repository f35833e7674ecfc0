//! `cargo implfuzz init`

use crate::c::flags::FlagSource;
use crate::cli::session::Session;
use crate::count::count;
use crate::error::{ExitCode, Page, Result};
use crate::project::{Project, init};
use crate::report::printable;
use crate::symbol::RelPath;
use serde_json::json;
use std::path::PathBuf;

/// Read a C library and write the port crate with a stub for every function
///
/// Finds headers, sources and flags by itself (implfuzz.toml, else compile_commands.json, else cmake, else `make -n`, else
/// the #include lines). Run it again after any change in the C sources: it rewrites only outdated files and keeps your edits.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Directory of the C library [default: the current directory]
    dir: Option<PathBuf>,
}

/// Runs the command.
pub fn run(session: &Session, args: &Args) -> Result<ExitCode> {
    let mut reporter = session.reporter();
    let dir = args.dir.clone().or_else(|| session.options.dir.clone()).unwrap_or_else(|| PathBuf::from("."));
    let (project, summary) = init::init(&dir, &session.options, &session.interrupt, reporter.as_mut())?;
    drop(session.store(&project)?);
    let functions = project.library.functions.len();
    let judgeable = project.planned.iter().filter(|p| p.judgeable.contract().is_some()).count();
    let unsupported = functions - project.planned.len();
    let left_out: Vec<_> = project.library.left_out.iter().map(|l| json!(l)).collect();
    let changed: Vec<String> = summary.changed.iter().map(|p| p.display().to_string()).collect();
    let globals: Vec<_> =
        summary.globals_left_out.iter().map(|(name, why)| json!({ "name": name, "reason": why })).collect();
    let flags = json!({ "from": project.flags.key(), "file": project.flags.file() });
    let in_library = |file: &&RelPath| project.library.units.iter().any(|unit| unit.file == **file);
    let read: Vec<&RelPath> = project.read.iter().filter(in_library).collect();
    let value = json!({
        "functions": functions, "stubs_or_ports": project.planned.len(), "judgeable": judgeable,
        "flags": flags, "left_out": left_out, "globals_left_out": globals, "outdated": summary.outdated, "changed": changed,
        "read": read, "gaps": project.library.gaps,
    });
    session.screen.result("init", &value, || {
        let mut text = format!(
            "{} in {}: {judgeable} with a harness, {} without, {unsupported} not portable\n",
            count(functions, "function"),
            count(project.library.units.len(), "C file"),
            project.planned.len() - judgeable,
        );
        text += &format!("flags: from {}\n", project.flags);
        let left_out = project.library.left_out.iter().map(|l| format!("left out: {}: {}", l.file, l.reason));
        text += &some_of(left_out.collect());
        text += to_add_sources(&project);
        let globals = summary.globals_left_out.iter();
        text += &some_of(globals.map(|(name, why)| format!("no Rust static for `{name}`: {why}")).collect());
        let gaps = project.library.gaps.iter();
        text += &some_of(gaps.map(|gap| format!("{}: {}", gap.what, gap.reason)).collect());
        text += &format!("analysed {} of {}\n", read.len(), count(project.library.units.len(), "C file"));
        text += &match changed.len() {
            0 => "nothing changed\n".to_owned(),
            n => format!("{} written under {}/\n", count(n, "file"), project.config.rust.dir),
        };
        if project.planned.len() > judgeable {
            text += &format!(
                "without a harness: {}; a driver can judge most of them: `cargo implfuzz drivers --new calls` (see {})\n",
                count(project.planned.len() - judgeable, "function"),
                Page::Drivers
            );
        }
        text += "next: `cargo implfuzz list`, then `cargo implfuzz port <symbol>`, or write a function by hand and `cargo implfuzz verify <symbol>`\n";
        text
    });
    Ok(ExitCode::Ok)
}

/// How to add the sources that the library's default build does not compile; empty if it compiles all.
fn to_add_sources(project: &Project) -> &'static str {
    let not_compiled = project.flags.not_compiled();
    if !project.library.left_out.iter().any(|left| left.reason == not_compiled) {
        return "";
    }
    match project.flags {
        FlagSource::Cmake(_) => {
            "  help: to add such a file, turn on its option (`cmake -S . -B build -DOPTION=ON \
             -DCMAKE_EXPORT_COMPILE_COMMANDS=ON`), delete `from` under [c] in implfuzz.toml, and run init again\n"
        }
        FlagSource::Make(_) => {
            "  help: to add such a file, let a build that compiles it write compile_commands.json (such as \
             `bear -- make TARGET`), delete `from` under [c] in implfuzz.toml, and run init again\n"
        }
        FlagSource::CompileCommands(_) => {
            "  help: to add such a file, let a build that compiles it write this file, and run init again\n"
        }
        FlagSource::Settings | FlagSource::IncludeGuess => "",
    }
}

/// The first lines of a list that may be long.
fn some_of(lines: Vec<String>) -> String {
    const SHOWN: usize = 10;
    let more = lines.len().saturating_sub(SHOWN);
    let mut text: String = lines.iter().take(SHOWN).map(|line| format!("{}\n", printable(line))).collect();
    if more > 0 {
        text += &format!("  and {more} more: `cargo implfuzz list --unsupported`\n");
    }
    text
}
